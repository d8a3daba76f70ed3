//! A segment's number ⇄ the names of its files; the order of names is the order of creation.

use std::ffi::OsStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Folder of set-aside segments, in the spool's folder.
pub(super) const ASIDE: &str = "aside";

/// Ending of a segment that nothing is added to any more.
const SEALED: &str = "seg";
/// Ending of the segment that is being written.
const OPEN: &str = "open";
/// Ending of the file that says why a segment was set aside.
const NOTE: &str = "json";

/// What a file is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Still being written, or left by a process that ended at that.
    Open,
    /// Complete.
    Sealed,
}

pub(super) fn open(number: u64) -> String {
    format!("{number:016x}.{OPEN}")
}

pub(super) fn sealed(number: u64) -> String {
    format!("{number:016x}.{SEALED}")
}

pub(super) fn note(number: u64) -> String {
    format!("{number:016x}.{NOTE}")
}

/// The number and kind of a segment's file; `None` for other files.
pub(super) fn parse(name: &OsStr) -> Option<(u64, Kind)> {
    let (stem, ending) = name.to_str()?.split_once('.')?;
    let kind = match ending {
        OPEN => Kind::Open,
        SEALED => Kind::Sealed,
        _ => return None,
    };
    Some((number(stem)?, kind))
}

/// The number in a name without ending.
pub(super) fn number(stem: &str) -> Option<u64> {
    let digits = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (stem.len() == 16 && stem.as_bytes().iter().all(digits))
        .then(|| u64::from_str_radix(stem, 16).ok())?
}

/// The number after `previous`: the microseconds since 1970, so that a new number is greater than those of
/// segments long gone, unless the clock went back. `None` after the last number there is.
pub(super) fn after(previous: u64, now: SystemTime) -> Option<u64> {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = u64::try_from(since.as_micros()).unwrap_or(0);
    Some(micros.max(previous.checked_add(1)?))
}

/// When the segment was begun, as far as its number tells.
pub(super) fn begun(number: u64) -> SystemTime {
    UNIX_EPOCH
        .checked_add(Duration::from_micros(number))
        .unwrap_or(UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_numbers_do_and_other_names_are_none() {
        let mut numbers = [1, 0x1_0000, u64::MAX, 0x0006_0123_4567_89ab];
        numbers.sort_unstable();
        let names = numbers.map(sealed);
        assert!(names.is_sorted(), "{names:?}");
        for (name, number) in names.iter().zip(numbers) {
            assert_eq!(parse(OsStr::new(name)), Some((number, Kind::Sealed)));
        }
        assert_eq!(parse(OsStr::new(&open(7))), Some((7, Kind::Open)));
        for other in [
            "sluice.lock",
            "7.seg",
            "000000000000000g.seg",
            "+00000000000000a.seg",
            "000000000000000A.seg",
            "000000000000000a.json",
            "000000000000000a.seg.bak",
        ] {
            assert_eq!(parse(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn numbers_rise_even_when_the_clock_does_not() {
        let now = UNIX_EPOCH + Duration::from_secs(1);
        assert_eq!(after(0, now), Some(1_000_000));
        assert_eq!(after(1_000_000, now), Some(1_000_001));
        assert_eq!(after(5, UNIX_EPOCH - Duration::from_secs(1)), Some(6));
        assert_eq!(after(u64::MAX, now), None);
        assert_eq!(begun(1_000_000), now);
    }
}
