//! The load generator against a real `sluice`: what it pushes is there once, and what is wrong it finds.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tests::process::{Finished, Group, run, until};
use tests::stack::Stack;

/// Longest wait for anything here.
const BOUND: Duration = Duration::from_secs(120);

/// `LOADTEST_BIN`, or the program that the same build made.
fn program() -> Command {
    let path = std::env::var_os("LOADTEST_BIN").map_or_else(beside_the_test, PathBuf::from);
    assert!(
        path.is_file(),
        "there is no loadtest at {}: run tests/run, which builds everything, or set LOADTEST_BIN",
        path.display()
    );
    Command::new(path)
}

/// `target/PROFILE/loadtest`, two folders above `target/PROFILE/deps/TEST`.
fn beside_the_test() -> PathBuf {
    let test = std::env::current_exe().expect("cannot find the test's own file");
    test.ancestors()
        .nth(2)
        .expect("a test lies in target/PROFILE/deps")
        .join("loadtest")
}

/// `loadtest` with these words, credentials of the stack and further options.
fn loadtest(stack: &Stack, words: &str, options: &[(&str, &Path)]) -> Command {
    let mut command = program();
    command
        .args(words.split_whitespace())
        .arg("--credentials")
        .arg(stack.data().join("credentials.json"));
    for (name, value) in options {
        command.arg(name).arg(value);
    }
    command
}

fn finished(command: Command) -> Finished {
    run(command, b"")
}

/// Asserts the exit code and that the output has all of `words`.
fn says(found: &Finished, code: i32, words: &[&str]) {
    let all = format!("{}\n{}", found.stdout, found.stderr);
    assert_eq!(found.code, Some(code), "{all}");
    for word in words {
        assert!(found.stdout.contains(word), "{word}: {all}");
    }
}

#[tokio::test]
async fn every_scenario_is_there_exactly_once() {
    let stack = Stack::start().await;
    let size = "--apps 6 --apps-per-push 3 --rounds 6 --churn 1000 --connections 4";
    for (scenario, samples) in [
        ("cerebrium", 6 * 6 * 77),
        ("crusoe", 6 * 6 * 157),
        ("sdk", 6 * 6 * 70),
    ] {
        let found = finished(loadtest(&stack, &format!("run {scenario} {size}"), &[]));
        let intact = format!("{} of {0} acknowledged", grouped(samples));
        says(
            &found,
            0,
            &[&intact, "0 lost, 0 doubled, 0 changed, 0 unexpected"],
        );
    }
}

fn grouped(number: u32) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

#[tokio::test]
async fn an_open_loop_of_many_tenants_and_keys_is_there_exactly_once() {
    let mut stack = Stack::prepare();
    let folder = stack.data();
    let mut prepare = program();
    prepare
        .arg("prepare")
        .arg(&folder)
        .args("--tenants 5 --keys 3 --profile crusoe".split_whitespace());
    says(&finished(prepare), 0, &["loadtest-keys.json"]);
    stack.run().await;
    let mut command = program();
    command
        .args("run crusoe --apps 10 --apps-per-push 1 --rate 40 --duration 1".split_whitespace())
        .arg("--keys")
        .arg(folder.join("loadtest-keys.json"))
        .args(["--url", &stack.url(4318), "--query-url", &stack.url(9090)]);
    let found = finished(command);
    says(
        &found,
        0,
        &["40 accepted, 0 failed", "6,280 of 6,280 acknowledged"],
    );
}

/// Scenario: the state file says that a push was accepted which was never sent, and that one was refused
/// which is there; then the same times are pushed with other values.
/// Guarantees: verification sees a loss, a sample from nowhere and changed values, and says where.
#[tokio::test]
async fn losses_strays_and_changes_are_found() {
    let stack = Stack::start().await;
    let state = stack.root().join("state");
    let run = "run cerebrium --apps 4 --apps-per-push 1 --rounds 3 --run-id x --start-ms";
    let run = format!(
        "{run} {}",
        tests::clock::this_second() / 60_000 * 60_000 - 600_000
    );
    says(
        &finished(loadtest(&stack, &run, &[("--state", &state)])),
        0,
        &["924 of 924"],
    );
    // Sent again, the same points are the same points.
    says(&finished(loadtest(&stack, &run, &[])), 0, &["924 of 924"]);

    let honest = std::fs::read_to_string(&state).unwrap();
    let verify = |text: &str| {
        let told = stack.root().join("told");
        std::fs::write(&told, text).unwrap();
        let mut command = program();
        command
            .arg("verify")
            .arg(told)
            .args(["--within", "0", "--credentials"])
            .arg(stack.data().join("credentials.json"));
        finished(command)
    };
    says(&verify(&honest), 0, &["924 of 924"]);
    let refused = honest.replace("accepted 5\n", "refused 5\n");
    says(
        &verify(&refused),
        1,
        &["0 lost, 0 doubled, 0 changed, 77 unexpected", "refused"],
    );
    let other_times = honest
        .replace("\"rounds\":3", "\"rounds\":4")
        .replace("end\n", "accepted 12\nend\n");
    says(
        &verify(&other_times),
        1,
        &["77 lost, 0 doubled, 0 changed, 0 unexpected", "nothing at"],
    );

    let found = finished(loadtest(&stack, &format!("{run} --seed 2"), &[]));
    assert_eq!(found.code, Some(1), "{}", found.stdout);
    assert!(
        !found.stdout.contains(" 0 changed, 0 unexpected;"),
        "{}",
        found.stdout
    );
}

#[tokio::test]
async fn a_restart_in_the_middle_of_a_run_loses_and_doubles_nothing() {
    let mut stack = Stack::start().await;
    let state = stack.root().join("state");
    let words = "run cerebrium --apps 20 --apps-per-push 2 --rate 20 --duration 5 --connections 2 --retry-for 100 --within 60";
    let mut command = loadtest(&stack, words, &[("--state", &state)]);
    let output = stack.root().join("output");
    command
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&output).unwrap());
    let mut running = Group::spawn(command);
    until(BOUND, "twenty answers", async || {
        let text = std::fs::read_to_string(&state).unwrap_or_default();
        (text.lines().count() > 20).then_some(())
    })
    .await;
    stack.stop().await;
    stack.run().await;
    let status = running.wait(BOUND).await;
    let text = std::fs::read_to_string(&output).unwrap();
    assert_eq!(status.code(), Some(0), "{text}");
    assert!(text.contains("100 accepted, 0 failed"), "{text}");
    assert!(
        text.contains("connection refused"),
        "the run was over before the restart: {text}"
    );
}
