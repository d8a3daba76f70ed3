//! `series`, `labels`, `label/…/values` and `metadata`.

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use crate::app::App;
use crate::fetch::Family;
use crate::http::form::Form;
use crate::http::json::{self, Out};
use crate::http::params;
use crate::http::reader::Reader;
use crate::http::reply::{Failure, TRUNCATED, success};

/// `series`: the labels of every series that matches.
pub(super) async fn series(
    State(app): State<App>,
    reader: Reader,
    form: Form,
) -> Result<Response, Failure> {
    let listing = params::series(&form)?;
    let (_turn, budget) = app.admit(&reader).await?;
    let found = app
        .fetcher
        .list_series(&reader.scope, &listing, &budget)
        .await?;
    let (warnings, shown) = cut(found.len(), listing.limit);
    Ok(success(&warnings, |out| {
        let all = found.iter().take(shown);
        list(out, all, json::labels);
    }))
}

/// `labels`: the names of labels.
pub(super) async fn names(
    State(app): State<App>,
    reader: Reader,
    form: Form,
) -> Result<Response, Failure> {
    let listing = params::listing(&form)?;
    let (_turn, budget) = app.admit(&reader).await?;
    let found = app
        .fetcher
        .list_names(&reader.scope, &listing, &budget)
        .await?;
    let (warnings, shown) = cut(found.len(), listing.limit);
    Ok(success(&warnings, |out| {
        json::strings(out, found.iter().take(shown))
    }))
}

/// `label/…/values`: the values of one label.
pub(super) async fn values(
    State(app): State<App>,
    reader: Reader,
    uri: Uri,
    form: Form,
) -> Result<Response, Failure> {
    // The router has matched `…/label/NAME/values`; the name need not be text.
    let (_, tail) = uri.path().split_once("/label/").unwrap_or_default();
    let name = params::label_name(tail.strip_suffix("/values").unwrap_or(tail))?;
    let listing = params::listing(&form)?;
    let (_turn, budget) = app.admit(&reader).await?;
    let found = app
        .fetcher
        .list_values(&reader.scope, &name, &listing, &budget)
        .await?;
    let (warnings, shown) = cut(found.len(), listing.limit);
    Ok(success(&warnings, |out| {
        json::strings(out, found.iter().take(shown))
    }))
}

/// How many of `found` entries are shown, and what is to be said about the others.
fn cut(found: usize, limit: Option<usize>) -> (Vec<String>, usize) {
    match limit {
        Some(limit) if limit < found => (vec![TRUNCATED.to_owned()], limit),
        _ => (Vec::new(), found),
    }
}

/// `metadata`: type, help and unit by metric family.
pub(super) async fn metadata(
    State(app): State<App>,
    reader: Reader,
    form: Form,
) -> Result<Response, Failure> {
    let asked = params::metadata(&form)?;
    let (_turn, budget) = app.admit(&reader).await?;
    let families = app
        .fetcher
        .list_metadata(&reader.scope, asked.metric.as_deref(), &budget)
        .await?;
    Ok(success(&[], |out| {
        out.push(b'{');
        let groups = families.chunk_by(|one, next| one.family == next.family);
        for (position, group) in groups.take(asked.limit.unwrap_or(usize::MAX)).enumerate() {
            if position > 0 {
                out.push(b',');
            }
            json::string(out, &group[0].family);
            out.push(b':');
            list(
                out,
                group.iter().take(asked.per_metric.unwrap_or(usize::MAX)),
                family,
            );
        }
        out.push(b'}');
    }))
}

fn family(out: &mut Out, family: &Family) {
    for (opening, text) in [
        (&b"{\"type\":"[..], &family.kind),
        (b",\"help\":", &family.help),
        (b",\"unit\":", &family.unit),
    ] {
        out.extend_from_slice(opening);
        json::string(out, text);
    }
    out.push(b'}');
}

/// A JSON list of what `write` makes of each entry.
fn list<'a, T: 'a>(
    out: &mut Out,
    entries: impl Iterator<Item = &'a T>,
    write: impl Fn(&mut Out, &T),
) {
    out.push(b'[');
    for (position, entry) in entries.enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write(out, entry);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_cuts_and_says_so() {
        assert_eq!(cut(3, None), (vec![], 3));
        assert_eq!(cut(3, Some(3)), (vec![], 3));
        assert_eq!(cut(3, Some(2)), (vec![TRUNCATED.to_owned()], 2));
    }

    #[test]
    fn a_family_shows_type_help_and_unit() {
        let mut out = Vec::new();
        let row = Family {
            family: "m".into(),
            kind: "counter".into(),
            unit: "seconds".into(),
            help: "a \"b\"".into(),
        };
        family(&mut out, &row);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"type":"counter","help":"a \"b\"","unit":"seconds"}"#
        );
    }
}
