//! What became of each push → a line each, on disk before it is counted, and back again after a crash.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;

/// What is known about a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Answered 2xx with nothing rejected: every point must be there.
    Accepted,
    /// Every answer was a refusal, or it was never sent: no point may be there.
    Refused,
    /// No answer, a 5xx, or some points rejected: points may be there or not.
    Unknown,
}

impl Fate {
    /// The word in the journal.
    const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::Accepted, Self::Refused, Self::Unknown]
            .into_iter()
            .find(|fate| fate.word() == word)
    }
}

/// The last line of a run that ended by itself: what has no line was never sent.
const END: &str = "end";

/// The fates of all pushes of a run, in memory and, when asked for, in a state file.
#[derive(Debug)]
pub(crate) struct Journal {
    fates: Vec<Option<Fate>>,
    file: Option<File>,
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Header {
    loadtest: u32,
    plan: Plan,
}

/// Version of the file's form.
const VERSION: u32 = 1;

impl Journal {
    /// An empty journal for the plan, in `file` when one is named.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn create(plan: &Plan, file: Option<&Path>) -> anyhow::Result<Self> {
        let pushes = usize::try_from(plan.pushes()).context("too many pushes")?;
        let mut journal = Self {
            fates: vec![None; pushes],
            file: None,
        };
        if let Some(path) = file {
            let created = File::create(path);
            journal.file =
                Some(created.with_context(|| format!("cannot create {}", path.display()))?);
            let header = Header {
                loadtest: VERSION,
                plan: plan.clone(),
            };
            journal.line(&serde_json::to_string(&header)?)?;
        }
        Ok(journal)
    }

    /// Notes what became of a push. The line has been handed to the system when this returns: it
    /// survives the end of this process, not that of the machine.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn note(&mut self, number: u64, fate: Fate) -> anyhow::Result<()> {
        self.line(&format!("{} {number}", fate.word()))?;
        self.set(number, fate);
        Ok(())
    }

    /// Notes that the run has ended: pushes without a line were never sent.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn end(&mut self) -> anyhow::Result<()> {
        self.line(END)?;
        if let Some(file) = &self.file {
            file.sync_all().context("cannot write the state file")?;
        }
        self.settle();
        Ok(())
    }

    /// What is known about a push; of one that is not in the plan, that it must not be there.
    pub(crate) fn fate(&self, number: u64) -> Fate {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.fates.get(at))
            .map_or(Fate::Refused, |fate| fate.unwrap_or(Fate::Unknown))
    }

    /// Reads a state file. A last line that a crash has cut is passed over.
    ///
    /// # Errors
    /// When the file cannot be read or is none.
    pub(crate) fn load(path: &Path) -> anyhow::Result<(Plan, Self)> {
        let shown = || format!("{} is not a state file of this version", path.display());
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut lines = BufReader::new(file).lines();
        let first = lines.next().with_context(shown)?.with_context(shown)?;
        let header: Header = serde_json::from_str(&first).with_context(shown)?;
        ensure!(header.loadtest == VERSION, "{}", shown());
        let mut journal = Self::create(&header.plan, None)?;
        let mut cut = None;
        for line in lines {
            let line = line.with_context(shown)?;
            if let Some(line) = cut.replace(line) {
                journal.read(&line)?;
            }
        }
        // Only the last line can be cut.
        if let Some(line) = cut {
            journal.read(&line).ok();
        }
        Ok((header.plan, journal))
    }

    fn read(&mut self, line: &str) -> anyhow::Result<()> {
        if line == END {
            self.settle();
            return Ok(());
        }
        let known = line
            .split_once(' ')
            .and_then(|(word, number)| Some((Fate::of(word)?, number.parse().ok()?)));
        let Some((fate, number)) = known else {
            bail!("the state file has the line {line:?}, which this version does not write");
        };
        self.set(number, fate);
        Ok(())
    }

    fn set(&mut self, number: u64, fate: Fate) {
        let slot = usize::try_from(number)
            .ok()
            .and_then(|at| self.fates.get_mut(at));
        if let Some(slot) = slot {
            *slot = Some(fate);
        }
    }

    fn settle(&mut self) {
        for fate in &mut self.fates {
            fate.get_or_insert(Fate::Refused);
        }
    }

    fn line(&mut self, text: &str) -> anyhow::Result<()> {
        if let Some(file) = &mut self.file {
            // One write a line: a kill between two lines cuts none.
            file.write_all(format!("{text}\n").as_bytes())
                .context("cannot write the state file")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Provider;
    use crate::plan::tests::small;

    fn state() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state");
        (folder, file)
    }

    #[test]
    fn what_was_noted_is_read_back() {
        let (_folder, file) = state();
        let plan = small(Provider::Cerebrium);
        let mut journal = Journal::create(&plan, Some(&file)).unwrap();
        journal.note(0, Fate::Accepted).unwrap();
        journal.note(5, Fate::Refused).unwrap();
        journal.note(3, Fate::Unknown).unwrap();
        let (read, back) = Journal::load(&file).unwrap();
        assert_eq!(read, plan);
        let fates: Vec<Fate> = [0, 5, 3, 1].map(|number| back.fate(number)).to_vec();
        assert_eq!(
            fates,
            [Fate::Accepted, Fate::Refused, Fate::Unknown, Fate::Unknown]
        );
    }

    #[test]
    fn after_an_orderly_end_what_has_no_line_was_never_sent() {
        let (_folder, file) = state();
        let mut journal = Journal::create(&small(Provider::Cerebrium), Some(&file)).unwrap();
        journal.note(0, Fate::Accepted).unwrap();
        journal.end().unwrap();
        assert_eq!(journal.fate(1), Fate::Refused);
        assert_eq!(Journal::load(&file).unwrap().1.fate(1), Fate::Refused);
    }

    #[test]
    fn a_last_line_that_was_cut_counts_for_nothing() {
        let (_folder, file) = state();
        let mut journal = Journal::create(&small(Provider::Cerebrium), Some(&file)).unwrap();
        journal.note(0, Fate::Accepted).unwrap();
        let mut text = std::fs::read_to_string(&file).unwrap();
        text.push_str("accep");
        std::fs::write(&file, text).unwrap();
        let (_, back) = Journal::load(&file).unwrap();
        assert_eq!(
            (back.fate(0), back.fate(1)),
            (Fate::Accepted, Fate::Unknown)
        );
    }

    #[test]
    fn a_strange_line_in_the_middle_is_an_error() {
        let (_folder, file) = state();
        let journal = Journal::create(&small(Provider::Cerebrium), Some(&file)).unwrap();
        drop(journal);
        let mut text = std::fs::read_to_string(&file).unwrap();
        text.push_str("nonsense\naccepted 1\n");
        std::fs::write(&file, text).unwrap();
        assert!(
            Journal::load(&file)
                .unwrap_err()
                .to_string()
                .contains("nonsense")
        );
    }
}
