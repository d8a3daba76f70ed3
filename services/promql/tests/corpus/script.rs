//! The text of a corpus file becomes commands.

use promql::labels::Labels;

use crate::expect::{Expect, Expectations};
use crate::sequence::{self, Sample};

/// One command of a file.
pub(crate) enum Command {
    Clear,
    Load {
        with_nhcb: bool,
        series: Vec<Loaded>,
    },
    Eval(Box<Eval>),
}

/// One line of a `load`: a series and its samples with times in milliseconds.
pub(crate) struct Loaded {
    pub(crate) labels: Labels,
    pub(crate) samples: Vec<LoadedSample>,
}

pub(crate) struct LoadedSample {
    pub(crate) ts: i64,
    /// The start time; 0 where there is none.
    pub(crate) start: i64,
    pub(crate) sample: Sample,
}

/// One evaluation and what it shall give. Times are milliseconds.
pub(crate) struct Eval {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) expr: String,
    pub(crate) instant: bool,
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// 0 for an instant evaluation that gives an instant vector.
    pub(crate) step: i64,
    pub(crate) expect: Expectations,
}

/// The commands of a file in order.
pub(crate) fn commands(text: &str) -> Vec<Command> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .map(|line| if line.starts_with('#') { "" } else { line })
        .collect();
    let mut commands = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let body = &lines[at + 1..];
        let length = body
            .iter()
            .position(|line| line.is_empty() || starts_command(line));
        let body = &body[..length.unwrap_or(body.len())];
        let word = line.split_whitespace().next().unwrap_or_default();
        match word {
            "" => {}
            "clear" => commands.push(Command::Clear),
            "load" | "load_with_nhcb" => commands.push(load(line, body, word == "load_with_nhcb")),
            _ if word.starts_with("eval") => {
                commands.push(Command::Eval(Box::new(eval(at + 1, line, body))));
            }
            _ => panic!("line {}: unknown command {line:?}", at + 1),
        }
        at += 1 + if matches!(word, "" | "clear") {
            0
        } else {
            body.len()
        };
    }
    commands
}

fn starts_command(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    matches!(word, "load" | "load_with_nhcb" | "clear")
        || word == "eval"
        || word.starts_with("eval_")
}

fn load(line: &str, body: &[&str], with_nhcb: bool) -> Command {
    let step = duration(line.split_whitespace().nth(1).unwrap());
    let mut starts: Vec<Option<i64>> = Vec::new();
    let mut series = Vec::new();
    for line in body {
        let (metric, values) = sequence::split_series(line);
        if let Some(metric) = metric.strip_suffix("@st") {
            sequence::labels(metric);
            starts = sequence::start_times(values);
            continue;
        }
        let mut samples = Vec::new();
        for (position, value) in sequence::values(values).into_iter().enumerate() {
            let ts = step * i64::try_from(position).unwrap();
            let start = starts
                .get(position)
                .copied()
                .flatten()
                .map_or(0, |offset| ts + offset);
            if let Some(sample) = value {
                samples.push(LoadedSample { ts, start, sample });
            }
        }
        starts.clear();
        series.push(Loaded {
            labels: sequence::labels(metric),
            samples,
        });
    }
    Command::Load { with_nhcb, series }
}

fn eval(line: usize, text: &str, body: &[&str]) -> Eval {
    let (head, rest) = word(text);
    let (kind, rest) = word(rest);
    let mut expect = Expectations::default();
    match head {
        "eval_fail" => expect.fail = Some(Expect::Any),
        "eval_ordered" => expect.ordered = true,
        "eval_warn" => expect.warns.push(Expect::Any),
        "eval_info" => expect.infos.push(Expect::Any),
        _ => {}
    }
    let instant = kind == "instant";
    let (times, expr) = if instant {
        numbers(rest, ["at"])
    } else {
        range_numbers(rest)
    };
    let (start, end, step) = match times[..] {
        [at] => (at, at, 0),
        [start, end, step] => (start, end, step),
        _ => unreachable!("one or three times"),
    };
    let mut eval = Eval {
        line,
        expr: expr.to_owned(),
        instant,
        start,
        end,
        step,
        expect,
    };
    for line in body {
        if let Some(range) = line.strip_prefix("expect range vector ") {
            let (times, _) = range_numbers(range);
            (eval.start, eval.end, eval.step) = (times[0], times[1], times[2]);
        } else {
            eval.expect.line(line);
        }
    }
    eval
}

fn range_numbers(text: &str) -> (Vec<i64>, &str) {
    numbers(text, ["from", "to", "step"])
}

/// Reads `word duration` pairs and gives what follows them.
fn numbers<'t, const N: usize>(text: &'t str, words: [&str; N]) -> (Vec<i64>, &'t str) {
    let mut rest = text;
    let mut found = Vec::new();
    for wanted in words {
        let (name, after) = word(rest);
        assert_eq!(name, wanted, "in {text:?}");
        let (time, after) = word(after);
        found.push(duration(time));
        rest = after;
    }
    (found, rest)
}

/// The first word and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// A signed duration such as `-1h30m` or `0`, in milliseconds.
pub(crate) fn duration(text: &str) -> i64 {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut millis = 0;
    while !rest.is_empty() {
        let (count, tail) = rest.split_at(
            rest.find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len()),
        );
        let (unit, tail) = tail.split_at(
            tail.find(|c: char| c.is_ascii_digit())
                .unwrap_or(tail.len()),
        );
        let scale = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 7 * 86_400_000,
            "y" => 365 * 86_400_000,
            "" if count == "0" => 0,
            _ => panic!("not a duration: {text:?}"),
        };
        millis += count.parse::<i64>().unwrap() * scale;
        rest = tail;
    }
    sign * millis
}
