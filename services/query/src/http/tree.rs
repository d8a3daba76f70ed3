//! An expression → the tree that `parse_query` shows, field by field as Prometheus' own API has it.

use promql::ast::{
    At, Binary, Cardinality, Duration, Expr, ExprKind, MatchOp, Matcher, Matching, Modifiers,
    Smoothing, ValueType, VectorSelector,
};
use serde_json::{Value, json};

use crate::http::json;

/// The JSON tree of `expr`; fields stand in alphabetical order.
pub(super) fn tree(expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Number(value) | ExprKind::Seconds(value) => {
            json!({"type": "numberLiteral", "val": number(*value)})
        }
        ExprKind::String(text) => json!({"type": "stringLiteral", "val": text}),
        ExprKind::Paren(inner) => json!({"expr": tree(inner), "type": "parenExpr"}),
        ExprKind::Unary { negate, expr } => {
            let op = if *negate { "-" } else { "+" };
            json!({"expr": tree(expr), "op": op, "type": "unaryExpr"})
        }
        ExprKind::Binary(binary) => binary_tree(binary),
        ExprKind::Aggregate(aggregate) => json!({
            "expr": tree(&aggregate.expr),
            "grouping": aggregate.labels,
            "op": aggregate.op.name(),
            "param": aggregate.param.as_ref().map(tree),
            "type": "aggregation",
            "without": aggregate.without,
        }),
        ExprKind::Call(call) => {
            let types: Vec<&str> = call
                .function
                .arg_types
                .iter()
                .map(|kind| word(*kind))
                .collect();
            json!({
                "args": call.args.iter().map(tree).collect::<Vec<_>>(),
                "func": {
                    "argTypes": types,
                    "name": call.function.name,
                    "returnType": word(call.function.return_type),
                    "variadic": call.function.variadic,
                },
                "type": "call",
            })
        }
        ExprKind::Vector(selector) => selector_tree(selector, None),
        ExprKind::Matrix(matrix) => selector_tree(&matrix.selector, Some(&matrix.range)),
        ExprKind::Subquery(subquery) => {
            let (offset, timestamp, bound) = modifiers(&subquery.modifiers);
            json!({
                "expr": tree(&subquery.expr),
                "offset": offset,
                "range": millis(&subquery.range),
                "startOrEnd": bound,
                "step": subquery.step.as_ref().map_or(0, millis),
                "timestamp": timestamp,
                "type": "subquery",
            })
        }
    }
}

fn binary_tree(binary: &Binary) -> Value {
    json!({
        "bool": binary.returns_bool,
        "lhs": tree(&binary.left),
        "matching": binary.matching.as_ref().map(matching_tree),
        "op": binary.op.symbol(),
        "rhs": tree(&binary.right),
        "type": "binaryExpr",
    })
}

fn matching_tree(matching: &Matching) -> Value {
    let card = match matching.card {
        Cardinality::OneToOne => "one-to-one",
        Cardinality::ManyToOne => "many-to-one",
        Cardinality::OneToMany => "one-to-many",
        Cardinality::ManyToMany => "many-to-many",
    };
    let mut tree = json!({
        "card": card,
        "include": matching.include,
        "labels": matching.labels,
        "on": matching.on,
    });
    // Later than Prometheus 3.5: where it is not used, clients see the tree that they know.
    if matching.fill_left.is_some() || matching.fill_right.is_some() {
        tree["fillValues"] = json!({"lhs": matching.fill_left, "rhs": matching.fill_right});
    }
    tree
}

fn selector_tree(selector: &VectorSelector, range: Option<&Duration>) -> Value {
    let (offset, timestamp, bound) = modifiers(&selector.modifiers);
    let mut tree = json!({
        "matchers": selector.matchers.iter().map(matcher_tree).collect::<Vec<_>>(),
        "name": selector.name.as_deref().unwrap_or_default(),
        "offset": offset,
    });
    if let Some(range) = range {
        tree["range"] = json!(millis(range));
    }
    // Later than Prometheus 3.5, as above.
    if selector.smoothing != Smoothing::None {
        tree["anchored"] = json!(selector.smoothing == Smoothing::Anchored);
        tree["smoothed"] = json!(selector.smoothing == Smoothing::Smoothed);
    }
    tree["startOrEnd"] = json!(bound);
    tree["timestamp"] = json!(timestamp);
    tree["type"] = json!(if range.is_some() {
        "matrixSelector"
    } else {
        "vectorSelector"
    });
    tree
}

fn matcher_tree(matcher: &Matcher) -> Value {
    let op = match matcher.op {
        MatchOp::Equal => "=",
        MatchOp::NotEqual => "!=",
        MatchOp::Regex => "=~",
        MatchOp::NotRegex => "!~",
    };
    json!({"name": matcher.name, "type": op, "value": matcher.value})
}

/// Offset in milliseconds, `@` time in milliseconds, `@ start()` or `@ end()`.
fn modifiers(modifiers: &Modifiers) -> (i64, Option<i64>, Option<&'static str>) {
    let offset = modifiers.offset.as_ref().map_or(0, millis);
    match modifiers.at {
        None => (offset, None, None),
        Some(At::Time(time)) => (offset, Some(time), None),
        Some(At::Start) => (offset, None, Some("start")),
        Some(At::End) => (offset, None, Some("end")),
    }
}

/// A duration that needs the query's range to be known shows as 0, as in Prometheus.
fn millis(duration: &Duration) -> i64 {
    match duration {
        Duration::Millis(millis) => *millis,
        Duration::Expr(_) => 0,
    }
}

fn word(kind: ValueType) -> &'static str {
    match kind {
        ValueType::Scalar => "scalar",
        ValueType::String => "string",
        ValueType::Vector => "vector",
        ValueType::Matrix => "matrix",
    }
}

fn number(value: f64) -> String {
    let mut out = Vec::new();
    json::plain(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use promql::parse::parse;

    use super::*;

    fn shown(query: &str) -> String {
        tree(&parse(query).unwrap()).to_string()
    }

    #[test]
    fn a_call_over_a_range_shows_types_matchers_and_milliseconds() {
        assert_eq!(
            shown("rate(a{b!=\"c\"}[5m] offset 1m @ end())"),
            r#"{"args":[{"matchers":[{"name":"b","type":"!=","value":"c"},{"name":"__name__","type":"=","value":"a"}],"name":"a","offset":60000,"range":300000,"startOrEnd":"end","timestamp":null,"type":"matrixSelector"}],"func":{"argTypes":["matrix"],"name":"rate","returnType":"vector","variadic":0},"type":"call"}"#
        );
    }

    #[test]
    fn an_operator_shows_how_its_sides_meet() {
        let text = shown("a / on (x) group_left (y) sum by (x) (b) > bool 1e21");
        let tree: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(tree["op"], ">");
        assert_eq!(tree["bool"], true);
        assert_eq!(tree["matching"], Value::Null);
        assert_eq!(tree["rhs"]["val"], "1000000000000000000000");
        assert_eq!(tree["lhs"]["matching"]["card"], "many-to-one");
        assert_eq!(tree["lhs"]["matching"]["include"], json!(["y"]));
        assert_eq!(tree["lhs"]["rhs"]["grouping"], json!(["x"]));
    }

    #[test]
    fn what_prometheus_3_5_does_not_know_is_shown_where_it_is_used() {
        let text = shown("rate(a[5m] anchored) + fill_left(2) b");
        let tree: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            tree["matching"]["fillValues"],
            json!({"lhs": 2.0, "rhs": null})
        );
        let selector = &tree["lhs"]["args"][0];
        assert_eq!(
            (&selector["anchored"], &selector["smoothed"]),
            (&json!(true), &json!(false))
        );
        assert!(tree["rhs"].get("anchored").is_none(), "{text}");
        assert!(!shown("a + b").contains("fillValues"));
    }

    #[test]
    fn subqueries_literals_and_signs_are_shown() {
        let tree: Value = serde_json::from_str(&shown("-(max_over_time(a[1h:5m] @ 12))")).unwrap();
        assert_eq!(
            (&tree["type"], &tree["op"]),
            (&json!("unaryExpr"), &json!("-"))
        );
        let subquery = &tree["expr"]["expr"]["args"][0];
        assert_eq!(
            (&subquery["range"], &subquery["step"]),
            (&json!(3_600_000), &json!(300_000))
        );
        assert_eq!(subquery["timestamp"], 12_000);
        assert_eq!(shown("\"a\""), r#"{"type":"stringLiteral","val":"a"}"#);
    }
}
