//! A question → an expression that says what it needs to be fetched.

use std::time::Duration;

use promql::ast::ValueType;
use promql::error::EvalError;
use promql::parse::parse;
use promql::select::{Features, Params, Plan};

use crate::config::Config;
use crate::http::reply::Failure;

/// The step of subqueries that name none, milliseconds.
const SUBQUERY_STEP: i64 = 60_000;

/// What `query` and `query_range` are asked.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// The expression.
    pub(crate) text: String,
    /// When it is to be evaluated.
    pub(crate) times: Times,
    /// How far instant selectors look back, milliseconds.
    pub(crate) lookback: i64,
    /// How long it may take.
    pub(crate) timeout: Duration,
    /// Most series of the answer.
    pub(crate) limit: Option<usize>,
    /// Whether statistics are wanted.
    pub(crate) stats: bool,
}

/// Evaluation times in milliseconds; `step` 0 is an instant query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) step: i64,
}

/// Parses and plans `question`.
pub(crate) fn make(question: &Question, config: &Config) -> Result<Plan, Failure> {
    let expr = parse(&question.text).map_err(|why| Failure::parameter("query", why))?;
    if question.times.step > 0 {
        check_type(expr.value_type())?;
    }
    let params = Params {
        start: question.times.start,
        end: question.times.end,
        step: question.times.step,
        lookback: question.lookback,
        default_subquery_step: SUBQUERY_STEP,
        max_samples: config.max_samples,
        max_selections: config.max_selectors,
        features: Features::default(),
    };
    let plan = Plan::new(expr, params).map_err(|why| match why {
        EvalError::BadData(text) => Failure::parameter("query", text),
        other => other.into(),
    })?;
    Ok(plan.with_text(&question.text))
}

/// A range query has a number or nothing for each series and step.
fn check_type(kind: ValueType) -> Result<(), Failure> {
    let word = match kind {
        ValueType::Scalar | ValueType::Vector => return Ok(()),
        ValueType::Matrix => "range vector",
        ValueType::String => "string",
    };
    let why = format_args!(
        "invalid expression type {word:?} for range query, must be Scalar or instant Vector"
    );
    Err(Failure::parameter("query", why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str, step: i64) -> String {
        let times = Times {
            start: 0,
            end: step * 10,
            step,
        };
        let question = Question {
            text: text.to_owned(),
            times,
            lookback: 300_000,
            timeout: Duration::from_secs(1),
            limit: None,
            stats: false,
        };
        make(&question, &Config::default())
            .unwrap_err()
            .text
            .into_owned()
    }

    #[test]
    fn what_cannot_be_parsed_or_planned_is_a_faulty_query_parameter() {
        assert_eq!(
            refusal("", 0),
            "invalid parameter \"query\": unknown position: parse error: no expression found in input"
        );
        assert_eq!(
            refusal("sum(", 0),
            "invalid parameter \"query\": 1:5: parse error: unclosed left parenthesis"
        );
        assert_eq!(
            refusal("up[5m]", 1000),
            "invalid parameter \"query\": invalid expression type \"range vector\" for range query, must be Scalar or instant Vector"
        );
    }
}
