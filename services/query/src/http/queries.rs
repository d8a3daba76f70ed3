//! `query`, `query_range`, `query_exemplars`, `format_query` and `parse_query`.

use axum::extract::State;
use axum::response::Response;
use promql::parse::parse;
use promql::select::{Params, Plan};

use crate::app::App;
use crate::execute;
use crate::http::around::Cost;
use crate::http::form::Form;
use crate::http::reader::Reader;
use crate::http::reply::{Failure, success};
use crate::http::tree::tree as tree_of;
use crate::http::{answer, json, params};
use crate::plan::Question;

/// `query`: one evaluation.
pub(super) async fn instant(
    State(app): State<App>,
    reader: Reader,
    form: Form,
) -> Result<Response, Failure> {
    let now = jiff::Timestamp::now().as_millisecond();
    let question = params::instant(&form, &app.config, now)?;
    ask(&app, &reader, &question).await
}

/// `query_range`: evaluations at every step.
pub(super) async fn range(
    State(app): State<App>,
    reader: Reader,
    form: Form,
) -> Result<Response, Failure> {
    let question = params::range(&form, &app.config)?;
    ask(&app, &reader, &question).await
}

async fn ask(app: &App, reader: &Reader, question: &Question) -> Result<Response, Failure> {
    let executed = execute::run(app, reader, question).await?;
    let cost = Cost {
        samples: executed.answer.total_samples,
        series: executed.series,
    };
    let mut response = answer::respond(executed, question.limit, question.stats);
    response.extensions_mut().insert(cost);
    Ok(response)
}

/// `format_query`: the same expression, laid out for reading.
pub(super) async fn format(_: Reader, form: Form) -> Result<Response, Failure> {
    let expr = parse(form.get("query")).map_err(|why| Failure::parameter("query", why))?;
    Ok(success(&[], |out| {
        json::string(out, &promql::format::pretty(&expr))
    }))
}

/// `parse_query`: the expression as a tree.
pub(super) async fn tree(_: Reader, form: Form) -> Result<Response, Failure> {
    let expr = parse(form.get("query")).map_err(|why| Failure::parameter("query", why))?;
    Ok(success(&[], |out| {
        out.extend_from_slice(tree_of(&expr).to_string().as_bytes());
    }))
}

/// `query_exemplars`: no exemplars are kept yet, so a valid question has an empty answer, and one without
/// a selector has none.
pub(super) async fn exemplars(
    State(app): State<App>,
    _: Reader,
    form: Form,
) -> Result<Response, Failure> {
    let (start, end) = params::exemplar_times(&form)?;
    if end < start {
        let why = "end timestamp must not be before start timestamp";
        return Err(Failure::bad_data(why));
    }
    let expr = parse(form.get("query")).map_err(|why| Failure::bad_data(why.to_string()))?;
    let params = Params {
        max_selections: app.config.max_selectors,
        ..Params::instant(0)
    };
    let selects = !Plan::new(expr, params)?.selections().is_empty();
    Ok(success(&[], |out| {
        out.extend_from_slice(if selects { b"[]" } else { b"null" })
    }))
}
