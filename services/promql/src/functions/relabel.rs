//! `label_replace` and `label_join`: series in, the same series under other labels out.

use crate::error::EvalError;
use crate::eval::grid::Column;
use crate::labels::METRIC_NAME;
use crate::select::matcher::anchored;

/// The longest label value that is made here, in bytes. Calls nest, and each may multiply the length.
const MAX_VALUE_BYTES: usize = 64 * 1024;

/// `label_replace` with its arguments `dst, replacement, src, regex`.
pub(crate) fn label_replace(columns: &mut [Column], args: &[&str]) -> Result<(), EvalError> {
    let [target, replacement, source, pattern] = *args else {
        return Err(EvalError::Execution(
            "label_replace needs four texts".to_owned(),
        ));
    };
    let regex = anchored(pattern).map_err(|_| {
        EvalError::Execution(format!(
            "invalid regular expression in label_replace(): {pattern}"
        ))
    })?;
    check_name("destination", "label_replace", target)?;
    for column in columns {
        let Some(captures) = regex.captures(column.labels.get(source)) else {
            continue;
        };
        let mut value = String::new();
        expand(replacement, &captures, &mut value);
        check_length("label_replace", value.len())?;
        relabel(column, target, &value);
    }
    Ok(())
}

/// `label_join` with its arguments `dst, separator, src…`.
pub(crate) fn label_join(columns: &mut [Column], args: &[&str]) -> Result<(), EvalError> {
    let [target, separator, sources @ ..] = args else {
        return Err(EvalError::Execution(
            "label_join needs two texts".to_owned(),
        ));
    };
    for source in sources {
        check_name("source", "label_join", source)?;
    }
    check_name("destination", "label_join", target)?;
    for column in columns {
        let values: Vec<&str> = sources
            .iter()
            .map(|source| column.labels.get(source))
            .collect();
        let separators = separator.len().saturating_mul(values.len());
        let length: usize = values.iter().map(|value| value.len()).sum();
        check_length("label_join", length.saturating_add(separators))?;
        let value = values.join(separator);
        relabel(column, target, &value);
    }
    Ok(())
}

fn relabel(column: &mut Column, target: &str, value: &str) {
    column.labels = column.labels.with(target, value);
    if target == METRIC_NAME {
        column.drop_name = false;
    }
}

fn check_length(function: &str, bytes: usize) -> Result<(), EvalError> {
    if bytes > MAX_VALUE_BYTES {
        let text = format!(
            "{function}() makes a label value of {bytes} bytes or more, at most {MAX_VALUE_BYTES} are allowed"
        );
        return Err(EvalError::Execution(text));
    }
    Ok(())
}

fn check_name(which: &str, function: &str, name: &str) -> Result<(), EvalError> {
    if name.is_empty() {
        let text = format!("invalid {which} label name in {function}(): {name}");
        return Err(EvalError::Execution(text));
    }
    Ok(())
}

/// Writes `template` with `$1`, `$name`, `${name}` and `$$` replaced; a `$` before anything else stays.
/// Stops behind [`MAX_VALUE_BYTES`].
fn expand(template: &str, captures: &regex::Captures<'_>, out: &mut String) {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        if out.len() > MAX_VALUE_BYTES {
            return;
        }
        out.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let Some((name, after)) = group_name(after) else {
            out.push('$');
            rest = after;
            continue;
        };
        rest = after;
        let group = match name.parse::<usize>() {
            Ok(number) => captures.get(number),
            Err(_) => captures.name(name),
        };
        out.push_str(group.map_or("", |group| group.as_str()));
    }
    out.push_str(rest);
}

/// The name of a group after `$`, and what follows it.
fn group_name(text: &str) -> Option<(&str, &str)> {
    if let Some(braced) = text.strip_prefix('{') {
        let (name, rest) = braced.split_once('}')?;
        return is_name(name).then_some((name, rest));
    }
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (!name.is_empty()).then_some((name, rest))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_word)
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;

    #[test]
    fn groups_expand_by_number_and_by_name() {
        let regex = anchored("(?P<first>a+)(b)?").unwrap();
        let captures = regex.captures("aa").unwrap();
        let mut out = String::new();
        expand("x-$1-${first}-$2-$$-$-${}-$1x", &captures, &mut out);
        assert_eq!(out, "x-aa-aa--$-$-${}-");
    }

    #[test]
    fn a_series_whose_label_does_not_match_stays_as_it_is() {
        let labels = Labels::from_pairs([("__name__", "m"), ("src", "v-10")]);
        let mut columns = [Column::filled(labels, vec![1.0])];
        label_replace(&mut columns, &["dst", "$1", "src", "(.*)-(.*)"]).unwrap();
        assert_eq!(columns[0].labels.get("dst"), "v");
        label_replace(&mut columns, &["dst", "other", "src", "x.*"]).unwrap();
        assert_eq!(columns[0].labels.get("dst"), "v");
        label_join(&mut columns, &["dst", "/", "src", "none"]).unwrap();
        assert_eq!(columns[0].labels.get("dst"), "v-10/");
    }
}
