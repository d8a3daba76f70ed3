//! `absent` and `absent_over_time`: nothing in, a one out, with the labels that were asked for.

use crate::ast::{MatchOp, Matcher};
use crate::eval::grid::{Column, Steps};
use crate::labels::{Labels, METRIC_NAME};
use crate::parse::matches_empty;

/// A series of ones at the steps where no column has anything; none where there is no such step.
pub(crate) fn column(matchers: &[Matcher], columns: &[Column], steps: Steps) -> Option<Column> {
    let mut column = Column::filled(labels(matchers), vec![1.0; steps.count]);
    column.drop_name = true;
    for found in columns {
        column.floats.remove(&found.presence());
    }
    column.floats.any().then_some(column)
}

/// The labels that a selector asks for by equality, once each; other matchers of a label take it away again.
///
/// Prometheus goes through the matchers after its storage has sorted them: those that only rule series out stand
/// last, otherwise they stay as they were written.
fn labels(matchers: &[Matcher]) -> Labels {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let (subtracting, intersecting): (Vec<&Matcher>, Vec<&Matcher>) = matchers
        .iter()
        .filter(|matcher| matcher.name != METRIC_NAME)
        .partition(|matcher| subtracts(matcher, matchers));
    for matcher in intersecting.into_iter().chain(subtracting) {
        if matcher.op == MatchOp::Equal && !seen.contains(&matcher.name.as_str()) {
            pairs.push((&matcher.name, &matcher.value));
            seen.push(&matcher.name);
        } else {
            pairs.retain(|(name, _)| *name != matcher.name);
        }
    }
    Labels::from_pairs(pairs)
}

/// Whether a matcher rules out series with its label: those without it pass, or no matcher asks for the label.
fn subtracts(matcher: &Matcher, all: &[Matcher]) -> bool {
    let asked_for = all
        .iter()
        .any(|other| other.name == matcher.name && !matches_empty(other));
    let negative = matches!(matcher.op, MatchOp::NotEqual | MatchOp::NotRegex);
    !asked_for || (negative && matches_empty(matcher))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labels_asked_for_exactly_once_by_equality_are_known() {
        let matcher = |name: &str, op, value: &str| Matcher {
            name: name.into(),
            op,
            value: value.into(),
        };
        let matchers = [
            matcher("__name__", MatchOp::Equal, "up"),
            matcher("job", MatchOp::Equal, "a"),
            matcher("job", MatchOp::Equal, "b"),
            matcher("foo", MatchOp::Equal, "bar"),
            matcher("re", MatchOp::Regex, "x"),
        ];
        assert_eq!(labels(&matchers), Labels::from_pairs([("foo", "bar")]));
    }

    #[test]
    fn a_matcher_that_only_rules_out_takes_the_label_away_wherever_it_stands() {
        let matcher = |op, value: &str| Matcher {
            name: "a".into(),
            op,
            value: value.into(),
        };
        let (equal, not) = (
            matcher(MatchOp::Equal, "x"),
            matcher(MatchOp::NotRegex, "y.*"),
        );
        assert_eq!(labels(&[equal.clone(), not.clone()]), Labels::empty());
        assert_eq!(labels(&[not, equal.clone()]), Labels::empty());
        let some = matcher(MatchOp::Regex, ".+");
        assert_eq!(
            labels(&[some, equal]),
            Labels::from_pairs([("a", "x")]),
            "this one asks for the label and stands first"
        );
    }
}
