//! The lines under an `eval` become what is expected of it.

use promql::labels::Labels;
use regex::Regex;

use crate::sequence::{self, Sample};

/// What a text must look like.
pub(crate) enum Expect {
    Any,
    Text(String),
    Pattern(Regex),
}

impl Expect {
    pub(crate) fn holds(&self, found: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Text(text) => text == found,
            Self::Pattern(regex) => regex.is_match(found),
        }
    }
}

/// A series and its value at each step.
type ExpectedSeries = (Labels, Vec<Option<Sample>>);

/// All that an evaluation shall give.
#[derive(Default)]
pub(crate) struct Expectations {
    pub(crate) fail: Option<Expect>,
    pub(crate) ordered: bool,
    pub(crate) warns: Vec<Expect>,
    pub(crate) infos: Vec<Expect>,
    pub(crate) no_warn: bool,
    pub(crate) no_info: bool,
    pub(crate) text: Option<String>,
    pub(crate) scalar: Option<f64>,
    /// Series in the order of their lines, with a value for each step.
    pub(crate) series: Vec<ExpectedSeries>,
}

impl Expectations {
    pub(crate) fn line(&mut self, line: &str) {
        if let Some(text) = line.strip_prefix("expect string ") {
            self.text = Some(sequence::quoted(text));
        } else if let Some(rest) = line.strip_prefix("expect ") {
            self.directive(rest.trim());
        } else if let Some(value) = sequence::number(line) {
            self.scalar = Some(value);
        } else {
            let (metric, values) = sequence::split_series(line);
            self.series
                .push((sequence::labels(metric), sequence::values(values)));
        }
    }

    fn directive(&mut self, text: &str) {
        let (kind, detail) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let detail = detail.trim();
        let expect = if let Some(text) = detail.strip_prefix("msg:") {
            Expect::Text(text.trim().to_owned())
        } else if let Some(pattern) = detail.strip_prefix("regex:") {
            Expect::Pattern(Regex::new(pattern.trim()).unwrap())
        } else {
            Expect::Any
        };
        match kind {
            "ordered" => self.ordered = true,
            "fail" => self.fail = Some(expect),
            "warn" => self.warns.push(expect),
            "info" => self.infos.push(expect),
            "no_warn" => self.no_warn = true,
            "no_info" => self.no_info = true,
            other => panic!("unknown expectation {other:?}"),
        }
    }
}

/// Checks annotations of one kind: each expected one is there, and none is there that was not expected.
pub(crate) fn check_notes(
    kind: &str,
    expected: &[Expect],
    none: bool,
    found: &[String],
) -> Result<(), String> {
    if none && !found.is_empty() {
        return Err(format!("no {kind} expected, got {found:?}"));
    }
    if expected.is_empty() {
        return Ok(());
    }
    if !expected
        .iter()
        .all(|expect| found.iter().any(|text| expect.holds(text)))
    {
        return Err(format!("an expected {kind} is missing, got {found:?}"));
    }
    match found
        .iter()
        .find(|text| !expected.iter().any(|expect| expect.holds(text)))
    {
        Some(text) => Err(format!("unexpected {kind} {text:?}")),
        None => Ok(()),
    }
}
