//! Raw parameters → typed, bounded requests, or Prometheus' own error texts.

use std::num::IntErrorKind;
use std::time::Duration;

use promql::ast::Matcher;
use promql::parse::parse_metric_selector;
use promql::select::MatcherSet;

use crate::config::Config;
use crate::http::form::Form;
use crate::http::reply::Failure;
use crate::http::time::{MAX_TIME, MIN_TIME, parse_duration, parse_time};
use crate::plan::{Question, Times};

/// Most `match[]` parameters that one request may have.
const MAX_SELECTORS: usize = 1000;

/// The parameters of `query`; `now` is milliseconds since the epoch.
pub(crate) fn instant(form: &Form, config: &Config, now: i64) -> Result<Question, Failure> {
    let limit = limit(form)?;
    let time = time(form, "time", Some(now))?;
    let timeout = timeout(form, config)?;
    question(
        form,
        config,
        Times {
            start: time,
            end: time,
            step: 0,
        },
        (limit, timeout),
    )
}

/// The parameters of `query_range`.
pub(crate) fn range(form: &Form, config: &Config) -> Result<Question, Failure> {
    let limit = limit(form)?;
    let start = time(form, "start", None)?;
    let end = time(form, "end", None)?;
    if end < start {
        return Err(Failure::parameter(
            "end",
            "end timestamp must not be before start time",
        ));
    }
    let step = parse_duration(form.get("step")).map_err(|why| Failure::parameter("step", why))?;
    if step <= 0 {
        let why = "zero or negative query resolution step widths are not accepted. Try a positive integer";
        return Err(Failure::parameter("step", why));
    }
    if (i128::from(end) - i128::from(start)) / i128::from(step) > i128::from(config.max_points) {
        return Err(Failure::bad_data(format!(
            "exceeded maximum resolution of {} points per timeseries. Try decreasing the query resolution (?step=XX)",
            thousands(config.max_points)
        )));
    }
    let timeout = timeout(form, config)?;
    question(form, config, Times { start, end, step }, (limit, timeout))
}

fn question(
    form: &Form,
    config: &Config,
    times: Times,
    (limit, timeout): (Option<usize>, Duration),
) -> Result<Question, Failure> {
    let lookback = match form.get("lookback_delta") {
        "" => i64::try_from(config.lookback.as_millis()).unwrap_or(i64::MAX),
        text => parse_duration(text).map_err(|why| {
            Failure::bad_data(format!("error parsing lookback delta duration: {why}"))
        })?,
    };
    Ok(Question {
        text: form.get("query").to_owned(),
        times,
        // Prometheus reads 0 and less as "not given".
        lookback: if lookback > 0 {
            lookback
        } else {
            i64::try_from(config.lookback.as_millis()).unwrap_or(i64::MAX)
        },
        timeout,
        limit,
        stats: !form.get("stats").is_empty(),
    })
}

/// `11000` → `11,000`.
fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time parameter in milliseconds; `missing` stands for an absent one, which is an error otherwise.
fn time(form: &Form, name: &str, missing: Option<i64>) -> Result<i64, Failure> {
    match (form.get(name), missing) {
        ("", Some(time)) => Ok(time),
        (text, None) => parse_time(text).map_err(|why| Failure::parameter(name, why)),
        (text, Some(_)) => parse_time(text).map_err(|why| {
            Failure::parameter(name, format_args!("invalid time value for '{name}': {why}"))
        }),
    }
}

/// The service's time limit, or the request's where it is shorter.
fn timeout(form: &Form, config: &Config) -> Result<Duration, Failure> {
    match form.get("timeout") {
        "" => Ok(config.timeout),
        text => {
            let millis = parse_duration(text).map_err(|why| Failure::parameter("timeout", why))?;
            Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)).min(config.timeout))
        }
    }
}

/// A whole number, or the words of `strconv.FUNCTION`.
pub(crate) fn number(function: &str, text: &str) -> Result<i64, String> {
    text.parse().map_err(|why: std::num::ParseIntError| {
        let why = match why.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.{function}: parsing {text:?}: {why}")
    })
}

/// The most entries that an answer may have; absent and 0 mean no limit.
fn limit(form: &Form) -> Result<Option<usize>, Failure> {
    let text = form.get("limit");
    if text.is_empty() {
        return Ok(None);
    }
    let limit = number("Atoi", text).map_err(|why| Failure::parameter("limit", why))?;
    if limit < 0 {
        return Err(Failure::parameter("limit", "limit must be non-negative"));
    }
    Ok(usize::try_from(limit).ok().filter(|limit| *limit > 0))
}

/// The times of `query_exemplars`.
pub(crate) fn exemplar_times(form: &Form) -> Result<(i64, i64), Failure> {
    Ok((
        time(form, "start", Some(MIN_TIME))?,
        time(form, "end", Some(MAX_TIME))?,
    ))
}

/// What `series`, `labels` and `label/…/values` are asked for.
#[derive(Debug)]
pub(crate) struct Listing {
    /// One list of conditions for each `match[]`; none means everything.
    pub(crate) selectors: Vec<Vec<Matcher>>,
    /// First time of interest, milliseconds.
    pub(crate) start: i64,
    /// Last time of interest, milliseconds.
    pub(crate) end: i64,
    /// Most entries of the answer.
    pub(crate) limit: Option<usize>,
}

/// The parameters of `series`, which must select something.
pub(crate) fn series(form: &Form) -> Result<Listing, Failure> {
    form.check()?;
    if form.all("match[]").next().is_none() {
        return Err(Failure::bad_data("no match[] parameter provided"));
    }
    listed(form, |why| Failure::parameter("match[]", why))
}

/// The parameters of `labels` and `label/…/values`.
pub(crate) fn listing(form: &Form) -> Result<Listing, Failure> {
    listed(form, Failure::bad_data)
}

/// `refused` makes a failure of what is wrong with a selector.
fn listed(form: &Form, refused: fn(String) -> Failure) -> Result<Listing, Failure> {
    let limit = limit(form)?;
    let start = time(form, "start", Some(MIN_TIME))?;
    let end = time(form, "end", Some(MAX_TIME))?;
    let selectors = narrow_selectors(form).map_err(refused)?;
    Ok(Listing {
        selectors,
        start,
        end,
        limit,
    })
}

/// The selectors of `match[]`, each of which must say something about a label.
pub(crate) fn narrow_selectors(form: &Form) -> Result<Vec<Vec<Matcher>>, String> {
    let selectors = selectors(form)?;
    for matchers in &selectors {
        let compiled = MatcherSet::new(matchers).map_err(|why| why.to_string())?;
        if compiled.matches(&promql::labels::Labels::empty()) {
            return Err("match[] must contain at least one non-empty matcher".to_owned());
        }
    }
    Ok(selectors)
}

/// The selectors of `match[]`.
pub(crate) fn selectors(form: &Form) -> Result<Vec<Vec<Matcher>>, String> {
    let mut selectors = Vec::new();
    for text in form.all("match[]") {
        if selectors.len() == MAX_SELECTORS {
            return Err(format!(
                "at most {MAX_SELECTORS} match[] parameters are accepted"
            ));
        }
        selectors.push(parse_metric_selector(text).map_err(|why| why.to_string())?);
    }
    Ok(selectors)
}

/// The parameters of `metadata`.
#[derive(Debug)]
pub(crate) struct MetadataRequest {
    /// One metric alone.
    pub(crate) metric: Option<String>,
    /// Most metrics.
    pub(crate) limit: Option<usize>,
    /// Most entries for one metric.
    pub(crate) per_metric: Option<usize>,
}

/// The parameters of `metadata`; 0 and less mean no limit.
pub(crate) fn metadata(form: &Form) -> Result<MetadataRequest, Failure> {
    let number = |name: &str| match form.get(name) {
        "" => Ok(None),
        text => text
            .parse::<i64>()
            .map(|number| usize::try_from(number).ok().filter(|number| *number > 0))
            .map_err(|_| Failure::bad_data(format!("{name} must be a number"))),
    };
    Ok(MetadataRequest {
        metric: Some(form.get("metric").to_owned()).filter(|metric| !metric.is_empty()),
        limit: number("limit")?,
        per_metric: number("limit_per_metric")?,
    })
}

/// The name in `label/<name>/values`, percent-encoded; `U__…` names are unescaped.
pub(crate) fn label_name(segment: &str) -> Result<String, Failure> {
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(segment).collect();
    let Ok(segment) = std::str::from_utf8(&bytes) else {
        return Err(Failure::bad_data(format!(
            "invalid label name: {}",
            quoted(&bytes)
        )));
    };
    let name = match segment.strip_prefix("U__") {
        Some(escaped) => unescape(escaped).unwrap_or_else(|| segment.to_owned()),
        None => segment.to_owned(),
    };
    if name.is_empty() {
        return Err(Failure::bad_data(format!("invalid label name: {name:?}")));
    }
    Ok(name)
}

/// Bytes in quotes as Go prints them: those that are no text as `\xff`.
fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        out.extend(chunk.valid().escape_debug());
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    out.push('"');
    out
}

/// `http_2e_x` → `http.x`: `__` is an underscore, `_HEX_` a character. `None` where it is not escaped so.
fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('_') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('_') {
            out.push('_');
            rest = after;
            continue;
        }
        let (code, after) = after.split_once('_')?;
        if code.is_empty() || code.len() > 6 || code.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        out.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests;
