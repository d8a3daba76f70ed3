//! The names under which a stored series shows: a number as itself, a histogram as its classic or its
//! native view.

use std::sync::Arc;

use promql::ast::{MatchOp, Matcher};
use promql::labels::METRIC_NAME;
use promql::select::MatcherSet;
use schemas::rows::SeriesKind;

/// One way in which a stored series shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum View {
    /// A number under its own name.
    Number,
    /// A histogram as native samples under its own name.
    Native,
    /// `…_bucket` with `le`.
    Bucket,
    /// `…_count`.
    Count,
    /// `…_sum`.
    Sum,
}

/// Views with the names under which they show.
pub(crate) type Views = Vec<(View, Arc<str>)>;

impl View {
    const CLASSIC: &'static [Self] = &[Self::Bucket, Self::Count, Self::Sum];
    const OF_HISTOGRAMS: &'static [Self] = &[Self::Native, Self::Bucket, Self::Count, Self::Sum];

    /// What is added to the stored name.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Number | Self::Native => "",
            Self::Bucket => "_bucket",
            Self::Count => "_count",
            Self::Sum => "_sum",
        }
    }

    /// The name under which `metric` shows in this view.
    pub(crate) fn name(self, metric: &Arc<str>) -> Arc<str> {
        match self.suffix() {
            "" => Arc::clone(metric),
            suffix => format!("{metric}{suffix}").into(),
        }
    }
}

/// The views that a selector without an exact name sees, and that label lists show: what a Prometheus
/// would have stored.
pub(crate) const fn default_views(kind: SeriesKind) -> &'static [View] {
    match kind {
        SeriesKind::Number => &[View::Number],
        SeriesKind::ExplicitHistogram => View::CLASSIC,
        SeriesKind::ExponentialHistogram => &[View::Native],
    }
}

/// All views of a kind of series; a selector that names one exactly finds it.
const fn all_views(kind: SeriesKind) -> &'static [View] {
    match kind {
        SeriesKind::Number => &[View::Number],
        SeriesKind::ExplicitHistogram | SeriesKind::ExponentialHistogram => View::OF_HISTOGRAMS,
    }
}

/// What the conditions on `__name__` say.
#[derive(Clone, Debug)]
pub(crate) struct NameRule<'a> {
    exact: Option<&'a str>,
    both_views: bool,
    matchers: &'a MatcherSet,
}

impl<'a> NameRule<'a> {
    /// Reads the conditions; `compiled` are the same ones, compiled. With `both_views` a selector without an
    /// exact name sees every view of a histogram.
    pub(crate) fn of(matchers: &'a [Matcher], compiled: &'a MatcherSet, both_views: bool) -> Self {
        let exact = matchers
            .iter()
            .find(|one| {
                one.name == METRIC_NAME && one.op == MatchOp::Equal && !one.value.is_empty()
            })
            .map(|one| one.value.as_str());
        Self {
            exact,
            both_views,
            matchers: compiled,
        }
    }

    /// The stored metrics that an exact name can come from; `None` where all metrics have to be looked at.
    pub(crate) fn sources(&self) -> Option<Vec<Arc<str>>> {
        let name = self.exact?;
        let families = View::CLASSIC
            .iter()
            .filter_map(|view| name.strip_suffix(view.suffix()));
        Some(
            std::iter::once(name)
                .chain(families.filter(|family| !family.is_empty()))
                .map(Arc::from)
                .collect(),
        )
    }

    /// In which views, under which names, series of `metric` and `kind` can match.
    pub(crate) fn views(&self, metric: &Arc<str>, kind: SeriesKind) -> Views {
        let candidates = if self.exact.is_some() || self.both_views {
            all_views(kind)
        } else {
            default_views(kind)
        };
        candidates
            .iter()
            .map(|view| (*view, view.name(metric)))
            .filter(|(_, name)| self.matchers.matches_value(METRIC_NAME, name))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(selector: &str, metric: &str, kind: SeriesKind) -> Vec<String> {
        seen_in(false, selector, metric, kind)
    }

    fn seen_in(both: bool, selector: &str, metric: &str, kind: SeriesKind) -> Vec<String> {
        let matchers = promql::parse::parse_metric_selector(selector).unwrap();
        let compiled = MatcherSet::new(&matchers).unwrap();
        let rule = NameRule::of(&matchers, &compiled, both);
        rule.views(&metric.into(), kind)
            .into_iter()
            .map(|(_, name)| name.to_string())
            .collect()
    }

    fn sources(selector: &str) -> Option<Vec<String>> {
        let matchers = promql::parse::parse_metric_selector(selector).unwrap();
        let compiled = MatcherSet::new(&matchers).unwrap();
        let sources = NameRule::of(&matchers, &compiled, false).sources()?;
        Some(sources.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn an_exact_name_can_be_a_metric_or_a_part_of_a_histogram() {
        assert_eq!(
            sources("cog_runtime_slot_count"),
            Some(vec![
                "cog_runtime_slot_count".into(),
                "cog_runtime_slot".into()
            ])
        );
        assert_eq!(sources("up"), Some(vec!["up".into()]));
        assert_eq!(sources("_sum"), Some(vec!["_sum".into()]));
        assert_eq!(sources(r#"{__name__=~"up"}"#), None);
        assert_eq!(sources(r#"{app="x"}"#), None);
    }

    #[test]
    fn an_exact_name_finds_any_view() {
        use SeriesKind::{ExplicitHistogram, ExponentialHistogram, Number};
        assert_eq!(seen("h", "h", ExplicitHistogram), ["h"]);
        assert_eq!(seen("h_bucket", "h", ExponentialHistogram), ["h_bucket"]);
        assert_eq!(seen("h_sum", "h", ExplicitHistogram), ["h_sum"]);
        assert_eq!(seen("h_count", "h", Number), [""; 0]);
        assert_eq!(seen("h_count", "h_count", Number), ["h_count"]);
        assert_eq!(seen("h_count", "h_count", ExplicitHistogram), ["h_count"]);
    }

    #[test]
    fn other_selectors_see_the_default_view() {
        use SeriesKind::{ExplicitHistogram, ExponentialHistogram, Number};
        assert_eq!(
            seen(r#"{app="x"}"#, "h", ExplicitHistogram),
            ["h_bucket", "h_count", "h_sum"]
        );
        assert_eq!(
            seen(r#"{__name__=~"h.*m"}"#, "h", ExplicitHistogram),
            ["h_sum"]
        );
        assert_eq!(
            seen(r#"{__name__=~"h.*"}"#, "h", ExponentialHistogram),
            ["h"]
        );
        assert_eq!(seen(r#"{__name__!="h"}"#, "h", Number), [""; 0]);
    }

    #[test]
    fn a_tenant_may_choose_to_see_both_views() {
        use SeriesKind::{ExplicitHistogram, ExponentialHistogram, Number};
        for kind in [ExplicitHistogram, ExponentialHistogram] {
            assert_eq!(
                seen_in(true, r#"{app="x"}"#, "h", kind),
                ["h", "h_bucket", "h_count", "h_sum"]
            );
        }
        assert_eq!(seen_in(true, r#"{app="x"}"#, "h", Number), ["h"]);
        assert_eq!(seen_in(true, "h_sum", "h", ExplicitHistogram), ["h_sum"]);
    }
}
