//! Remarks about how a value came about: collected by text, shown with the place in the query.

use std::collections::HashMap;
use std::fmt::Display;

use crate::number::{general, quote, rounded};

/// A remark before its place in the query is known as line and column.
#[derive(Clone, Debug)]
struct Remark {
    /// Byte offset in the query text.
    at: usize,
    detail: Detail,
}

/// What is added to a remark's text at the end, merged over all its occurrences.
#[derive(Clone, Debug)]
enum Detail {
    None,
    /// Bucket counts of a classic histogram had to be made to rise.
    Monotonicity(Forced),
    /// How many windows had start times before earlier samples.
    Overlap {
        count: u64,
    },
}

/// Where and by how much bucket counts had to be raised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Forced {
    pub(crate) min_bucket: f64,
    pub(crate) max_bucket: f64,
    pub(crate) max_diff: f64,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) samples: u64,
}

/// All remarks of one evaluation, each text once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Annotations {
    order: Vec<String>,
    remarks: HashMap<String, Remark>,
}

/// The most texts that are kept; a query can make one per step and series. The API shows ten of a kind.
const MAX_REMARKS: usize = 1000;

const WARNING: &str = "PromQL warning: ";
const INFO: &str = "PromQL info: ";

impl Annotations {
    /// A remark that something is probably wrong.
    pub(crate) fn warn(&mut self, at: usize, text: impl Display) {
        self.add(
            format!("{WARNING}{text}"),
            Remark {
                at,
                detail: Detail::None,
            },
        );
    }

    /// A remark that something may be worth a look.
    pub(crate) fn info(&mut self, at: usize, text: impl Display) {
        self.add(
            format!("{INFO}{text}"),
            Remark {
                at,
                detail: Detail::None,
            },
        );
    }

    /// The bucket counts given to a quantile fell with a rising bound.
    pub(crate) fn forced_monotonicity(&mut self, at: usize, metric: &str, forced: Forced) {
        let text = with_metric(
            "input to histogram_quantile needed to be fixed for monotonicity (see \
             https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)",
            metric,
        );
        self.add(
            format!("{INFO}{text}"),
            Remark {
                at,
                detail: Detail::Monotonicity(forced),
            },
        );
    }

    /// A sample says it started counting before an earlier sample of other start.
    pub(crate) fn start_overlap(&mut self, at: usize, metric: &str) {
        let text = format!(
            "{WARNING}sample has start time that overlaps with previous sample timestamp for metric {}",
            quote(metric)
        );
        self.add(
            text,
            Remark {
                at,
                detail: Detail::Overlap { count: 1 },
            },
        );
    }

    /// The last place wins for plain remarks, the first for those with details, as in Prometheus.
    fn add(&mut self, text: String, remark: Remark) {
        if let Some(known) = self.remarks.get_mut(&text) {
            match (&mut known.detail, remark.detail) {
                (Detail::Monotonicity(known), Detail::Monotonicity(new)) => known.merge(new),
                (Detail::Overlap { count }, Detail::Overlap { count: new }) => *count += new,
                _ => known.at = remark.at,
            }
            return;
        }
        if self.order.len() >= MAX_REMARKS {
            return;
        }
        self.order.push(text.clone());
        self.remarks.insert(text, remark);
    }

    /// Warnings and infos with their places; `query` is the text the offsets refer to, where known.
    pub(crate) fn render(&self, query: Option<&str>) -> (Vec<String>, Vec<String>) {
        let texts = self.order.iter().filter_map(|text| {
            let remark = self.remarks.get(text)?;
            let place = place(query, remark.at);
            Some(match &remark.detail {
                Detail::None => format!("{text} ({place})"),
                Detail::Overlap { count } if *count > 1 => {
                    format!("{text} ({count} occurrences) ({place})")
                }
                Detail::Overlap { .. } => format!("{text} ({place})"),
                Detail::Monotonicity(forced) => format!("{text}{} ({place})", forced.text()),
            })
        });
        texts.partition(|text| text.starts_with(WARNING))
    }
}

impl Forced {
    fn merge(&mut self, other: Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.min_bucket = self.min_bucket.min(other.min_bucket);
        self.max_bucket = self.max_bucket.max(other.max_bucket);
        self.max_diff = self.max_diff.max(other.max_diff);
        self.samples += other.samples;
    }

    fn text(&self) -> String {
        format!(
            ", from buckets {} to {}, with a max diff of {}, over {} samples from {} to {}",
            general(self.min_bucket),
            general(self.max_bucket),
            rounded(self.max_diff, 2),
            self.samples,
            crate::civil::rfc3339(self.first),
            crate::civil::rfc3339(self.last)
        )
    }
}

/// A text that names the metric where there is a name.
pub(crate) fn with_metric(text: &str, metric: &str) -> String {
    if metric.is_empty() {
        text.to_owned()
    } else {
        format!("{text} for metric name {}", quote(metric))
    }
}

/// `line:column` of a byte offset, both from 1.
fn place(query: Option<&str>, at: usize) -> String {
    let before = query.and_then(|query| query.as_bytes().get(..at));
    let Some(before) = before else {
        return format!("1:{}", at + 1);
    };
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before
        .iter()
        .rev()
        .take_while(|byte| **byte != b'\n')
        .count()
        + 1;
    format!("{line}:{column}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_kept_once_with_its_last_place() {
        let mut all = Annotations::default();
        all.warn(0, "a");
        all.info(3, "b");
        all.warn(7, "a");
        let (warnings, infos) = all.render(Some("xxxx\nyyyy"));
        assert_eq!(warnings, ["PromQL warning: a (2:3)"]);
        assert_eq!(infos, ["PromQL info: b (1:4)"]);
    }

    #[test]
    fn forced_monotonicity_reports_the_whole_span() {
        let mut all = Annotations::default();
        let forced = Forced {
            min_bucket: 0.1,
            max_bucket: 0.1,
            max_diff: 0.0456,
            first: 0,
            last: 0,
            samples: 1,
        };
        all.forced_monotonicity(9, "", forced);
        all.forced_monotonicity(
            9,
            "",
            Forced {
                max_bucket: 10.0,
                last: 60_000,
                ..forced
            },
        );
        let (_, infos) = all.render(None);
        assert_eq!(
            infos[0],
            "PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see \
             https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile), from \
             buckets 0.1 to 10, with a max diff of 0.046, over 2 samples from 1970-01-01T00:00:00Z to \
             1970-01-01T00:01:00Z (1:10)"
        );
    }
}
