//! Label conditions, compiled: labels in, whether they match out.

use regex::Regex;

use crate::ast::{MatchOp, Matcher};
use crate::error::EvalError;
use crate::labels::Labels;

/// A list of conditions that must all hold. An absent label has the value `""`.
#[derive(Clone, Debug)]
pub struct MatcherSet(Vec<Compiled>);

#[derive(Clone, Debug)]
struct Compiled {
    name: String,
    value: String,
    /// `None` for a comparison of texts.
    regex: Option<Regex>,
    /// Whether a hit means "does not match".
    negate: bool,
}

impl MatcherSet {
    /// Compiles the conditions; regexes are anchored and `.` matches a line break.
    ///
    /// # Errors
    ///
    /// [`EvalError::BadData`] for a regex that does not compile.
    pub fn new(matchers: &[Matcher]) -> Result<Self, EvalError> {
        matchers
            .iter()
            .map(compile)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether all conditions hold.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|one| one.matches(labels.get(&one.name)))
    }

    /// Whether all conditions on the label `name` hold for `value`.
    #[must_use]
    pub fn matches_value(&self, name: &str, value: &str) -> bool {
        self.0
            .iter()
            .filter(|one| one.name == name)
            .all(|one| one.matches(value))
    }

    /// Whether all conditions hold for a series without labels.
    pub(crate) fn matches_empty(&self) -> bool {
        self.0.iter().all(|one| one.matches(""))
    }
}

impl Compiled {
    fn matches(&self, value: &str) -> bool {
        let hit = match &self.regex {
            Some(regex) => regex.is_match(value),
            None => self.value == value,
        };
        hit != self.negate
    }
}

fn compile(matcher: &Matcher) -> Result<Compiled, EvalError> {
    let regex = match matcher.op {
        MatchOp::Equal | MatchOp::NotEqual => None,
        MatchOp::Regex | MatchOp::NotRegex => Some(anchored(&matcher.value)?),
    };
    Ok(Compiled {
        name: matcher.name.clone(),
        value: matcher.value.clone(),
        regex,
        negate: matches!(matcher.op, MatchOp::NotEqual | MatchOp::NotRegex),
    })
}

/// The regex as Prometheus runs it: read by Go's rules, over the whole value, `.` matching line breaks.
pub(crate) fn anchored(pattern: &str) -> Result<Regex, EvalError> {
    crate::parse::regex::compile(pattern).map_err(EvalError::BadData)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, op: MatchOp, value: &str) -> MatcherSet {
        MatcherSet::new(&[Matcher {
            name: name.into(),
            op,
            value: value.into(),
        }])
        .unwrap()
    }

    #[test]
    fn an_absent_label_is_an_empty_value() {
        let labels = Labels::from_pairs([("a", "x")]);
        assert!(set("b", MatchOp::Equal, "").matches(&labels));
        assert!(set("b", MatchOp::Regex, ".*").matches(&labels));
        assert!(!set("b", MatchOp::Regex, ".+").matches(&labels));
        assert!(!set("b", MatchOp::NotEqual, "").matches(&labels));
    }

    #[test]
    fn regexes_cover_the_whole_value_and_line_breaks() {
        let labels = Labels::from_pairs([("a", "x\ny")]);
        assert!(set("a", MatchOp::Regex, "x.y").matches(&labels));
        assert!(!set("a", MatchOp::Regex, "x").matches(&labels));
        assert!(set("a", MatchOp::NotRegex, "x|y").matches(&labels));
        assert!(!set("a", MatchOp::Regex, "z|x.").matches(&labels));
    }
}
