//! Answers of every shape, byte for byte.

use std::sync::Arc;
use std::time::Duration;

use promql::histogram::Histogram;
use promql::value::Answer;

use super::*;

fn executed(value: Value) -> Executed {
    Executed {
        answer: Answer {
            value,
            warnings: vec![],
            infos: vec![],
            total_samples: 7,
            peak_samples: 3,
        },
        timings: Timings::default(),
        series: 1,
    }
}

async fn text(response: Response) -> String {
    assert_eq!(response.headers()["content-type"], "application/json");
    let body = axum::body::to_bytes(response.into_body(), usize::MAX)
        .await
        .unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

async fn shown(value: Value) -> String {
    text(respond(executed(value), None, false)).await
}

fn labels() -> Labels {
    Labels::from_pairs([("__name__", "up"), ("app", "a\"b")])
}

fn sample(value: Point) -> VectorSample {
    VectorSample {
        labels: labels(),
        ts: 1_700_000_000_500,
        value,
    }
}

#[tokio::test]
async fn scalars_and_strings_are_a_time_and_a_text() {
    let scalar = shown(Value::Scalar {
        ts: 4500,
        value: 2.0,
    })
    .await;
    assert_eq!(
        scalar,
        r#"{"status":"success","data":{"resultType":"scalar","result":[4.5,"2"]}}"#
    );
    let string = shown(Value::String {
        ts: 4000,
        value: "a\nb".into(),
    })
    .await;
    assert_eq!(
        string,
        r#"{"status":"success","data":{"resultType":"string","result":[4,"a\nb"]}}"#
    );
}

#[tokio::test]
async fn vectors_list_one_sample_a_series() {
    let empty = shown(Value::Vector(vec![])).await;
    assert_eq!(
        empty,
        r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#
    );
    let float = shown(Value::Vector(vec![sample(Point::Float(f64::NAN))])).await;
    assert_eq!(
        float,
        r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","app":"a\"b"},"value":[1700000000.500,"NaN"]}]}}"#
    );
    let native = Histogram::from_explicit(Arc::from([2.0]), &[1, 1], 2, 5.0).unwrap();
    let histogram = shown(Value::Vector(vec![sample(Point::Histogram(Arc::new(
        native,
    )))]))
    .await;
    assert_eq!(
        histogram,
        r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","app":"a\"b"},"histogram":[1700000000.500,{"count":"2","sum":"5","buckets":[[3,"-Inf","2","1"],[0,"2","+Inf","1"]]}]}]}}"#
    );
}

#[tokio::test]
async fn matrices_list_values_and_histograms() {
    let series = MatrixSeries {
        labels: Labels::empty(),
        floats: vec![(1000, 1.0), (2000, f64::INFINITY)],
        histograms: vec![(3000, Arc::new(Histogram::default()))],
    };
    assert_eq!(
        shown(Value::Matrix(vec![series])).await,
        r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"1"],[2,"+Inf"]],"histograms":[[3,{"count":"0","sum":"0"}]]}]}}"#
    );
}

#[tokio::test]
async fn a_limit_cuts_series_and_says_so() {
    let two = Value::Vector(vec![sample(Point::Float(1.0)), sample(Point::Float(2.0))]);
    let cut = text(respond(executed(two.clone()), Some(1), false)).await;
    assert!(
        cut.ends_with(r#""1"]}]},"warnings":["results truncated due to limit"]}"#),
        "{cut}"
    );
    let whole = text(respond(executed(two), Some(2), false)).await;
    assert!(!whole.contains("warnings"), "{whole}");
}

#[tokio::test]
async fn more_than_ten_notes_are_counted() {
    let mut executed = executed(Value::Vector(vec![]));
    executed.answer.warnings = (0..12).map(|n| format!("w{n}")).collect();
    executed.answer.infos = vec!["i".into()];
    let shown = text(respond(executed, None, false)).await;
    assert!(
        shown.contains(r#""w9","2 more warning annotations omitted"],"infos":["i"]}"#),
        "{shown}"
    );
}

#[tokio::test]
async fn statistics_are_given_on_request() {
    let mut executed = executed(Value::Scalar { ts: 0, value: 1.0 });
    executed.timings = Timings {
        queue: Duration::ZERO,
        fetch: Duration::from_millis(1500),
        evaluate: Duration::ZERO,
    };
    let shown = text(respond(executed, None, true)).await;
    let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(json["data"]["stats"]["samples"]["totalQueryableSamples"], 7);
    assert_eq!(json["data"]["stats"]["samples"]["peakSamples"], 3);
    assert_eq!(json["data"]["stats"]["timings"]["execTotalTime"], 1.5);
}

#[tokio::test]
async fn large_answers_come_in_pieces_and_are_one_document() {
    let many = (0..5000).map(|_| sample(Point::Float(1.0))).collect();
    let mut pieces = Pieces::new(Value::Vector(many), b"}}".to_vec());
    let first = pieces.next().unwrap();
    assert!(
        first.len() >= PIECE && first.len() < PIECE + 200,
        "{}",
        first.len()
    );
    let mut all = first.to_vec();
    all.extend(pieces.flatten());
    let json: serde_json::Value = serde_json::from_slice(&all).unwrap();
    assert_eq!(json["data"]["result"].as_array().unwrap().len(), 5000);
}
