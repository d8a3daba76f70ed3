//! One question to two systems → nothing, or the first difference of their answers.

use std::collections::{BTreeMap, BTreeSet};

use auth::tenant::Limits;
use auth::translation::{NamingStrategy, Profile};
use futures::StreamExt as _;
use serde_json::Value;
use tests::ask::{Ask, Labels, seconds};
use tests::keys::{Directory, Keys};
use tests::oracle::{Oracle, Track, otlp_bodies};
use tests::push::{Answer, Ingest, PROTOBUF};
use tests::stack::Stack;

/// Questions in flight: as many as a small machine has use for.
const AT_ONCE: usize = 4;
/// Times that Prometheus is asked again where it differs.
const AGAIN: usize = 12;

/// One query and its times, milliseconds.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    Instant {
        query: String,
        at: i64,
    },
    Range {
        query: String,
        start: i64,
        end: i64,
        step: i64,
    },
}

impl Question {
    async fn ask(&self, ask: &Ask) -> Answer {
        match self {
            Self::Instant { query, at } => {
                let parameters = [("query", query.as_str()), ("time", &seconds(*at))];
                ask.post("/api/v1/query", &parameters).await
            }
            Self::Range {
                query,
                start,
                end,
                step,
            } => {
                let parameters = [
                    ("query", query.as_str()),
                    ("start", &seconds(*start)),
                    ("end", &seconds(*end)),
                    ("step", &seconds(*step)),
                ];
                ask.post("/api/v1/query_range", &parameters).await
            }
        }
    }

    /// What a person reads to ask it again.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Instant { query, at } => format!("{query} at {}", seconds(*at)),
            Self::Range {
                query,
                start,
                end,
                step,
            } => format!(
                "{query} from {} to {} step {}",
                seconds(*start),
                seconds(*end),
                seconds(*step)
            ),
        }
    }
}

/// A gateway and a Prometheus with the same samples.
pub(crate) struct Pair {
    pub(crate) stack: Stack,
    pub(crate) keys: Keys,
    /// Another tenant, without samples.
    pub(crate) spare: Keys,
    pub(crate) oracle: Oracle,
}

impl Pair {
    /// Starts both and gives both `tracks`; `None` where there is no Prometheus.
    pub(crate) async fn start(tracks: &[Track]) -> Option<Self> {
        let (stack, [keys, spare]) =
            Stack::with(|directory| ["pair", "spare"].map(|slug| roomy(directory, slug))).await;
        let oracle = Oracle::start(stack.http()).await?;
        oracle.write(tracks).await;
        push(&stack.ingest_with(&keys.ingest), tracks).await;
        Some(Self {
            stack,
            keys,
            spare,
            oracle,
        })
    }

    /// Asks both sides everything; answers the differences by position.
    pub(crate) async fn differences(&self, questions: &[Question]) -> BTreeMap<usize, String> {
        let ask = self.stack.ask_with(&self.keys.tenant, &self.keys.query);
        differences(&ask, &self.oracle.ask(), questions).await
    }
}

/// Asks both sides everything; answers the differences by position.
pub(crate) async fn differences(
    ours: &Ask,
    theirs: &Ask,
    questions: &[Question],
) -> BTreeMap<usize, String> {
    futures::stream::iter(questions.iter().enumerate())
        .map(async |(position, question)| {
            let (left, right) = tokio::join!(question.ask(ours), question.ask(theirs));
            let (left, right) = (Body::of(&left), Body::of(&right));
            let what = compare(&left, &right).err()?;
            let settled = unsettled(question, theirs, &left, &right).await;
            (!settled).then_some((position, what))
        })
        .buffer_unordered(AT_ONCE)
        .filter_map(async |found| found)
        .collect()
        .await
}

/// A tenant that takes points of any age, with a key that leaves names alone.
pub(crate) fn roomy(directory: &mut Directory, slug: &str) -> Keys {
    use auth::key::KeyClass;
    use auth::scope::Scope;
    let years = std::time::Duration::from_secs(50 * 365 * 24 * 3600);
    let limits = Limits {
        max_future: years,
        max_past: years,
        retention_days: 20_000,
        ..Limits::unlimited()
    };
    directory.limited_tenant(slug, limits);
    Keys {
        tenant: slug.to_owned(),
        ingest: directory.ingest_naming(slug, NamingStrategy::NoTranslation),
        query: directory.key(slug, KeyClass::Query, Scope::Query, Profile::Generic),
    }
}

/// Pushes `tracks` as numbers.
pub(crate) async fn push(ingest: &Ingest, tracks: &[Track]) {
    for body in otlp_bodies(tracks) {
        let call = ingest.call("/v1/metrics").header("content-type", PROTOBUF);
        let answer = call.body(body).send().await;
        assert_eq!(answer.partial(), (0, String::new()));
    }
}

/// An answer, read.
struct Body {
    status: u16,
    value: Value,
}

impl Body {
    fn of(answer: &Answer) -> Self {
        Self {
            status: answer.status,
            value: answer.value(),
        }
    }
}

/// Whether Prometheus gives several answers to one question, or ours on another try. Between the parts of a
/// range query it holds series in a map, so that what depends on their order changes from run to run.
async fn unsettled(question: &Question, theirs: &Ask, ours: &Body, first: &Body) -> bool {
    for _ in 0..AGAIN {
        let again = Body::of(&question.ask(theirs).await);
        if compare(&again, first).is_err() || compare(ours, &again).is_ok() {
            return true;
        }
    }
    false
}

/// Words of an error that later versions say in another order: of two series that should be one, 3.5 names
/// the second first, the corpus of 3.14 wants them in order.
fn error(body: &Value) -> String {
    let text = body["error"].as_str().unwrap_or_default();
    let parts = text
        .split_once(" hand-side of the operation: [")
        .and_then(|(before, rest)| Some((before, rest.split_once("];")?)));
    let Some((before, (pair, after))) = parts else {
        return text.to_owned();
    };
    let mut pair: Vec<&str> = pair
        .split("}, {")
        .map(|one| one.trim_matches(['{', '}']))
        .collect();
    pair.sort_unstable();
    format!("{before} {pair:?} {after}")
}

fn compare(left: &Body, right: &Body) -> Result<(), String> {
    let (ours, theirs) = (left.status, right.status);
    let (left, right) = (&left.value, &right.value);
    for field in ["status", "errorType", "error"] {
        let same = match field {
            "error" => error(left) == error(right),
            _ => left[field] == right[field],
        };
        if !same {
            return Err(format!(
                "{field}: {} {} {}, not {} {} {}",
                left[field],
                left["errorType"],
                left["error"],
                right[field],
                right["errorType"],
                right["error"]
            ));
        }
    }
    if ours != theirs {
        return Err(format!("HTTP {ours}, not {theirs}"));
    }
    for field in ["warnings", "infos"] {
        let (left, right) = (notes(&left[field]), notes(&right[field]));
        if left != right {
            return Err(format!("{field}: {left:?}, not {right:?}"));
        }
    }
    let (left, right) = (&left["data"], &right["data"]);
    if left["resultType"] != right["resultType"] {
        return Err(format!(
            "{}, not {}",
            left["resultType"], right["resultType"]
        ));
    }
    if !matches!(left["resultType"].as_str(), Some("vector" | "matrix")) {
        return same(&left["result"], &right["result"]);
    }
    let ordered = left["resultType"] == "vector";
    let orders = [left, right].map(|data| order(&data["result"]));
    let (left, right) = (by_labels(&left["result"])?, by_labels(&right["result"])?);
    if let Some(set) = left.keys().find(|set| !right.contains_key(*set)) {
        return Err(format!("a series too many: {set:?} {}", left[set]));
    }
    for (set, expected) in &right {
        let Some(found) = left.get(set) else {
            return Err(format!("a series is missing: {set:?} {expected}"));
        };
        series(found, expected).map_err(|error| format!("{set:?} {error}"))?;
    }
    if ordered { in_order(&orders) } else { Ok(()) }
}

/// Whether two lists of the same label sets have them in the same places.
fn in_order([found, expected]: &[Vec<&Value>; 2]) -> Result<(), String> {
    let differs = found.iter().zip(expected).position(|(a, b)| a != b);
    differs.map_or(Ok(()), |place| {
        let (one, other, all) = (found[place], expected[place], found.len());
        Err(format!("place {place} of {all}: {one}, not {other}"))
    })
}

/// The label sets of a result as they stand.
fn order(result: &Value) -> Vec<&Value> {
    let entries = result.as_array().into_iter().flatten();
    entries.map(|entry| &entry["metric"]).collect()
}

/// One entry of a result: the values and times, bit by bit in the text that the API writes.
fn series(found: &Value, expected: &Value) -> Result<(), String> {
    let lists = [found, expected].map(|entry| match entry.get("values") {
        Some(values) => values.as_array().cloned().unwrap_or_default(),
        None => vec![entry["value"].clone()],
    });
    for (position, (found, expected)) in lists[0].iter().zip(&lists[1]).enumerate() {
        same(found, expected).map_err(|error| format!("value {position}: {error}"))?;
    }
    if lists[0].len() != lists[1].len() {
        return Err(format!("{} values, not {}", lists[0].len(), lists[1].len()));
    }
    let histograms = ["histogram", "histograms"];
    if histograms
        .iter()
        .any(|name| found.get(name) != expected.get(name))
    {
        return Err(format!("histograms: {found}, not {expected}"));
    }
    Ok(())
}

/// A time with its value.
fn same(found: &Value, expected: &Value) -> Result<(), String> {
    if found[0].as_f64() == expected[0].as_f64() && found[1] == expected[1] {
        return Ok(());
    }
    Err(format!("{found}, not {expected}"))
}

fn notes(list: &Value) -> BTreeSet<&str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        // Said since 3.6 only.
        .filter(|text| !text.contains("sort is ineffective for range queries"))
        .collect()
}

fn by_labels(result: &Value) -> Result<BTreeMap<Labels, &Value>, String> {
    let mut found = BTreeMap::new();
    for entry in result.as_array().ok_or("no result")? {
        let labels: Labels =
            serde_json::from_value(entry["metric"].clone()).map_err(|error| error.to_string())?;
        if found.insert(labels, entry).is_some() {
            return Err(format!("a label set twice: {entry}"));
        }
    }
    Ok(found)
}
