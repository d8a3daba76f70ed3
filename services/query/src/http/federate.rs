//! `/federate`: the latest sample of every series that matches, as Prometheus' text format.

use std::cmp::Reverse;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use promql::labels::{Labels, METRIC_NAME};
use promql::select::Selection;
use promql::series::{Series, SeriesSet, is_stale};

use crate::app::App;
use crate::http::form::Form;
use crate::http::json::{self, Out};
use crate::http::params;
use crate::http::reader::Reader;
use crate::http::reply::{Failure, Plain};

/// Media type of the text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/// A series' name, its other labels, and its latest sample.
type Latest = (Labels, i64, f64);

/// Answers `/federate`.
pub(super) async fn federate(
    State(app): State<App>,
    reader: Reader,
    form: Form,
) -> Result<Response, Plain> {
    form.check()?;
    let mut selectors = params::selectors(&form).map_err(Failure::bad_data)?;
    // `{}` finds nothing here.
    selectors.retain(|matchers| !matchers.is_empty());
    let now = jiff::Timestamp::now().as_millisecond();
    let lookback = i64::try_from(app.config.lookback.as_millis()).unwrap_or(i64::MAX);
    let selections: Vec<Selection> = selectors
        .into_iter()
        .map(|matchers| Selection::window(matchers, now.saturating_sub(lookback), now))
        .collect();
    let (_turn, budget) = app.admit(&reader).await?;
    let fetched = app
        .fetcher
        .fetch(&reader.scope, &selections, &budget)
        .await?;
    let text = tokio::task::spawn_blocking(move || exposition(fetched.into_sets()))
        .await
        .map_err(Failure::internal)?;
    Ok(([(header::CONTENT_TYPE, TEXT)], text).into_response())
}

/// The text of all series of `sets`: by name, each series once, series that have ended left out.
fn exposition(sets: Vec<SeriesSet>) -> Out {
    let mut latest: Vec<Latest> = sets
        .into_iter()
        .flat_map(|set| set.series)
        .filter_map(|series| last_of(&series))
        .collect();
    latest.sort_by(|left, right| {
        (left.0.name(), &left.0, Reverse(left.1)).cmp(&(right.0.name(), &right.0, Reverse(right.1)))
    });
    latest.dedup_by(|later, earlier| later.0 == earlier.0);
    let mut out = Out::new();
    for family in latest.chunk_by(|one, next| one.0.name() == next.0.name()) {
        let name = family.first().map_or("", |first| first.0.name());
        out.extend_from_slice(format!("# TYPE {} untyped\n", quoted_name(name)).as_bytes());
        for (labels, time, value) in family {
            line(&mut out, labels, *time, *value);
        }
    }
    out
}

/// The latest float of `series`; `None` for one that has ended, and for native histograms, which the
/// text format cannot show.
fn last_of(series: &Series) -> Option<Latest> {
    let (time, value) = (*series.floats.ts.last()?, *series.floats.values.last()?);
    let ended = is_stale(value)
        || series
            .histograms
            .ts
            .last()
            .is_some_and(|later| *later > time);
    (!ended).then(|| (series.labels.clone(), time, value))
}

fn line(out: &mut Out, labels: &Labels, time: i64, value: f64) {
    let name = labels.name();
    let plain = is_plain(name);
    let mut pairs: Vec<String> = Vec::with_capacity(labels.len() + 1);
    if !plain {
        pairs.push(escaped(name));
    }
    let others = labels.iter().filter(|(label, _)| &***label != METRIC_NAME);
    pairs.extend(others.map(|(label, value)| {
        let label = if is_plain(label) {
            label.to_string()
        } else {
            escaped(label)
        };
        format!("{label}={}", escaped(value))
    }));
    // Whoever scrapes this must not put its own instance on series of others.
    if labels.get("instance").is_empty() {
        pairs.push("instance=\"\"".to_owned());
    }
    let name = if plain { name } else { "" };
    out.extend_from_slice(format!("{name}{{{}}} ", pairs.join(",")).as_bytes());
    json::number(out, value);
    out.extend_from_slice(format!(" {time}\n").as_bytes());
}

fn quoted_name(name: &str) -> String {
    if is_plain(name) {
        name.to_owned()
    } else {
        escaped(name)
    }
}

/// Whether a name may stand without quotes.
fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, '_' | ':'))
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':'))
}

/// A label value of the text format, in its quotes.
fn escaped(text: &str) -> String {
    format!(
        "\"{}\"",
        text.replace('\\', "\\\\")
            .replace('\n', "\\n")
            .replace('"', "\\\"")
    )
}

#[cfg(test)]
mod tests {
    use promql::series::{Floats, STALE_NAN};

    use super::*;

    fn series(labels: &[(&str, &str)], samples: &[(i64, f64)]) -> Series {
        Series {
            labels: Labels::from_pairs(labels.iter().copied()),
            floats: Floats {
                ts: samples.iter().map(|sample| sample.0).collect(),
                values: samples.iter().map(|sample| sample.1).collect(),
                starts: vec![],
            },
            ..Series::default()
        }
    }

    #[test]
    fn the_latest_sample_of_each_living_series_is_written_once_by_name() {
        let a = series(
            &[("__name__", "a"), ("x", "q\"\\\n")],
            &[(1000, 1.0), (2000, 2.5)],
        );
        let b = series(
            &[("__name__", "b"), ("instance", "i")],
            &[(1500, f64::INFINITY)],
        );
        let ended = series(
            &[("__name__", "c")],
            &[(1000, 1.0), (2000, f64::from_bits(STALE_NAN))],
        );
        let sets = vec![
            SeriesSet {
                series: vec![b.clone(), ended],
            },
            SeriesSet { series: vec![a, b] },
        ];
        assert_eq!(
            String::from_utf8(exposition(sets)).unwrap(),
            "# TYPE a untyped\na{x=\"q\\\"\\\\\\n\",instance=\"\"} 2.5 2000\n\
             # TYPE b untyped\nb{instance=\"i\"} +Inf 1500\n"
        );
    }

    #[test]
    fn a_name_of_other_characters_is_quoted() {
        let dotted = series(&[("__name__", "a.b"), ("c.d", "1")], &[(1, 3.0)]);
        assert_eq!(
            String::from_utf8(exposition(vec![SeriesSet {
                series: vec![dotted]
            }]))
            .unwrap(),
            "# TYPE \"a.b\" untyped\n{\"a.b\",\"c.d\"=\"1\",instance=\"\"} 3 1\n"
        );
    }
}
