//! Process ids → CPU seconds and peak memory of the processes and their children, from `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Ticks of `/proc/PID/stat` in a second, on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// A process that is watched, with its children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    /// Name in the report.
    pub(crate) name: String,
    /// Process id.
    pub(crate) pid: u32,
}

/// CPU time and memory of one watched process and its children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Name in the report.
    pub(crate) name: String,
    /// User and system time while pushes were sent, seconds.
    pub(crate) cpu_seconds: f64,
    /// The same until the processes were quiet again: merges belong to the pushes that made them due.
    pub(crate) cpu_seconds_settled: f64,
    /// Most resident memory of each process since it started, added up, bytes.
    pub(crate) peak_bytes: u64,
    /// The same of each process alone.
    pub(crate) parts: Vec<Part>,
}

/// One process of a watched tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Program and first argument.
    pub(crate) what: String,
    /// User and system time until it was quiet, seconds.
    pub(crate) cpu_seconds: f64,
    /// Most resident memory, bytes.
    pub(crate) peak_bytes: u64,
}

/// What each process of a tree has used so far, by process id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot(BTreeMap<u32, Sight>);

#[derive(Clone, Debug, PartialEq)]
struct Sight {
    what: String,
    cpu_seconds: f64,
    peak_bytes: u64,
}

impl Snapshot {
    /// Looks at a process and everything below it.
    pub(crate) fn of(pid: u32) -> Self {
        Self::below(Path::new("/proc"), pid)
    }

    /// Looks at this process alone: what it has started may be what it measures.
    pub(crate) fn own() -> Self {
        let pid = std::process::id();
        let seen = sight(&Path::new("/proc").join(pid.to_string()));
        Self(seen.map(|sight| (pid, sight)).into_iter().collect())
    }

    fn below(proc: &Path, root: u32) -> Self {
        let parents = parents(proc);
        let mut tree = vec![root];
        let mut next = 0;
        while let Some(parent) = tree.get(next).copied() {
            let children = parents
                .iter()
                .filter(|(pid, above)| **above == parent && **pid != parent);
            tree.extend(children.map(|(pid, _)| *pid));
            next += 1;
        }
        let seen = tree
            .into_iter()
            .filter_map(|pid| Some((pid, sight(&proc.join(pid.to_string()))?)));
        Self(seen.collect())
    }

    /// All CPU seconds.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.0.values().map(|sight| sight.cpu_seconds).sum()
    }

    /// CPU seconds since an earlier look. A process that ended in between counts no more.
    pub(crate) fn since(&self, before: &Self) -> f64 {
        self.parts(before).iter().map(|part| part.cpu_seconds).sum()
    }

    /// Each process with its CPU seconds since an earlier look.
    pub(crate) fn parts(&self, before: &Self) -> Vec<Part> {
        let used = |pid: &u32| before.0.get(pid).map_or(0.0, |sight| sight.cpu_seconds);
        let part = |(pid, sight): (&u32, &Sight)| Part {
            what: sight.what.clone(),
            cpu_seconds: (sight.cpu_seconds - used(pid)).max(0.0),
            peak_bytes: sight.peak_bytes,
        };
        self.0.iter().map(part).collect()
    }

    /// Peak memory, added up.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.0.values().map(|sight| sight.peak_bytes).sum()
    }
}

/// Every process and its parent.
fn parents(proc: &Path) -> BTreeMap<u32, u32> {
    let Ok(entries) = fs::read_dir(proc) else {
        return BTreeMap::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let parent = stat(&entry.path())?.get(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect()
}

/// The fields of `stat` from the state on: the name before may hold anything.
fn stat(folder: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(folder.join("stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    Some(fields.split_whitespace().map(ToOwned::to_owned).collect())
}

fn sight(folder: &Path) -> Option<Sight> {
    let fields = stat(folder)?;
    let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
    // utime and stime are fields 14 and 15 of the file, the state is the third.
    let used = f64::from(ticks(11)?) + f64::from(ticks(12)?);
    Some(Sight {
        what: command(folder),
        cpu_seconds: used / TICKS,
        peak_bytes: peak(folder).unwrap_or(0),
    })
}

/// Program and first argument, without their folders.
fn command(folder: &Path) -> String {
    let line = fs::read(folder.join("cmdline")).unwrap_or_default();
    let words = line
        .split(|byte| *byte == 0)
        .take(2)
        .filter(|word| !word.is_empty());
    let names: Vec<String> = words
        .map(|word| {
            let text = String::from_utf8_lossy(word).into_owned();
            text.rsplit('/').next().unwrap_or_default().to_owned()
        })
        .collect();
    names.join(" ")
}

/// `VmHWM`, bytes.
fn peak(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(proc: &Path, pid: u32, parent: u32, (user, system): (u32, u32)) {
        let folder = proc.join(pid.to_string());
        fs::create_dir_all(&folder).unwrap();
        let stat =
            format!("{pid} (a) b) S {parent} 1 1 0 -1 0 0 0 0 0 {user} {system} 7 8 20 0 1 0");
        fs::write(folder.join("stat"), stat).unwrap();
        fs::write(folder.join("cmdline"), b"/usr/bin/sluice\0up\0--x\0").unwrap();
        fs::write(folder.join("status"), "Name:\ta\nVmHWM:\t    100 kB\n").unwrap();
    }

    #[test]
    fn a_process_is_measured_with_its_children_and_theirs() {
        let folder = tempfile::tempdir().unwrap();
        process(folder.path(), 10, 1, (100, 50));
        process(folder.path(), 11, 10, (10, 0));
        process(folder.path(), 12, 11, (0, 20));
        process(folder.path(), 13, 1, (5000, 0));
        let before = Snapshot::below(folder.path(), 10);
        assert!((before.cpu_seconds() - 1.8).abs() < 1e-9);
        assert_eq!(before.peak_bytes(), 3 * 102_400);

        process(folder.path(), 12, 11, (0, 120));
        let after = Snapshot::below(folder.path(), 10);
        assert!((after.since(&before) - 1.0).abs() < 1e-9);
        assert_eq!(after.parts(&before)[0].what, "sluice up");
    }

    #[test]
    fn a_process_that_is_not_there_has_used_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Snapshot::below(folder.path(), 10).0.is_empty());
    }

    #[test]
    fn this_process_is_seen() {
        assert!(Snapshot::own().peak_bytes() > 0);
        assert!(Snapshot::of(std::process::id()).peak_bytes() > 0);
    }
}
