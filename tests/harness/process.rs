//! A command → a process group that never outlives the test that started it.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a condition is looked at while a test waits for it.
const PAUSE: Duration = Duration::from_millis(20);

/// A running program with everything that it starts in its process group.
///
/// A test runner that loses patience kills the test and its group, which this one is not in. So a small
/// shell holds the other end of a pipe: when the test is gone, it ends the group.
#[derive(Debug)]
pub struct Group {
    leader: Child,
    guard: Child,
}

impl Group {
    /// Starts `command` as leader of a new process group.
    #[must_use]
    pub fn spawn(mut command: Command) -> Self {
        command.process_group(0);
        let leader = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let guard = Command::new("sh")
            .args(["-c", "cat >/dev/null; kill -s KILL -- -$0"])
            .arg(leader.id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("cannot start sh");
        Self { leader, guard }
    }

    /// Process id of the leader, which is also the id of the group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.leader.id()
    }

    /// How the leader ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.leader.try_wait().expect("cannot wait for a child")
    }

    /// Sends a signal (`TERM`, `INT`) to the leader alone, as a service manager does.
    pub fn signal(&self, name: &str) {
        kill(name, &self.id().to_string());
    }

    /// Waits until the leader has ended, at most `bound`.
    ///
    /// # Panics
    /// When it is still running after `bound`.
    pub async fn wait(&mut self, bound: Duration) -> ExitStatus {
        let id = self.id();
        until(bound, &format!("process {id} to end"), async || {
            self.ended()
        })
        .await
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Whatever the leader left behind is in its group, even when the leader itself is gone.
        kill("KILL", &format!("-{}", self.id()));
        self.leader.wait().ok();
        self.guard.kill().ok();
        self.guard.wait().ok();
    }
}

/// Sends signal `name` to a process, or to a group when `target` starts with `-`. A target that has
/// already ended is fine.
///
/// # Panics
/// When the signal could not be sent for another reason.
pub fn kill(name: &str, target: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", "kill -s \"$0\" -- \"$1\"", name, target]);
    let sent = run(command, b"");
    let gone = sent.stderr.to_ascii_lowercase().contains("no such process");
    assert!(sent.code == Some(0) || gone, "{}", sent.stderr);
}

/// Asks `look` until it answers, at most `bound`.
///
/// # Panics
/// When `bound` has passed, naming `what` was waited for.
pub async fn until<T>(bound: Duration, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(
            start.elapsed() < bound,
            "waited {bound:?} in vain for {what}"
        );
        tokio::time::sleep(PAUSE).await;
    }
}

/// Runs `command` to its end with `input` on its standard input; answers exit code, stdout and stderr.
///
/// # Panics
/// When the program cannot be started.
#[must_use]
pub fn run(mut command: Command, input: &[u8]) -> Finished {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    // A program that ends without reading its input is not a fault of the test.
    child.stdin.take().expect("piped").write_all(input).ok();
    let output = child.wait_with_output().expect("cannot wait for a child");
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// What a program said and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output as text.
    pub stdout: String,
    /// Standard error as text.
    pub stderr: String,
}

impl Finished {
    /// The same, after checking that it succeeded.
    ///
    /// # Panics
    /// When the exit code is not 0.
    #[must_use]
    pub fn success(self) -> Self {
        assert_eq!(
            self.code,
            Some(0),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }
}
