//! `absent` and `absent_over_time`: nothing in, a one out, with the labels that were asked for.

use crate::ast::{MatchOp, Matcher};
use crate::eval::grid::{Column, Steps};
use crate::labels::{Labels, METRIC_NAME};

/// A series of ones at the steps where no column has anything; none where there is no such step.
pub(crate) fn column(matchers: &[Matcher], columns: &[Column], steps: Steps) -> Option<Column> {
    let mut column = Column::filled(labels(matchers), vec![1.0; steps.count]);
    column.drop_name = true;
    for found in columns {
        column.floats.remove(&found.presence());
    }
    column.floats.any().then_some(column)
}

/// The labels that a selector asks for by equality, once each.
fn labels(matchers: &[Matcher]) -> Labels {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for matcher in matchers
        .iter()
        .filter(|matcher| matcher.name != METRIC_NAME)
    {
        if matcher.op == MatchOp::Equal && !seen.contains(&matcher.name.as_str()) {
            pairs.push((&matcher.name, &matcher.value));
            seen.push(&matcher.name);
        } else {
            pairs.retain(|(name, _)| *name != matcher.name);
        }
    }
    Labels::from_pairs(pairs)
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
}
