//! A regex as Go and Prometheus read it in, the same regex for Rust's engine out, or Go's own error text.
//!
//! Both engines know nearly the same language, but write it differently: in Go `[a[b]` is a class of three
//! characters, `a{` is two literals, `\d` is ASCII, `\Q…\E` quotes. So the text is read by Go's rules
//! (package `regexp/syntax`, Perl flags) and written anew.

mod class;
mod escape;
mod group;

use regex::{Regex, RegexBuilder};

/// Go's bound on a repetition, and on the product of nested ones.
const MAX_REPEAT: u32 = 1000;

/// The sizes in bytes that a compiled regex is told to stay within, one after the other; beyond the last it is
/// too large.
const SIZES: [usize; 5] = [4 << 10, 32 << 10, 256 << 10, 2 << 20, 10 << 20];

/// What the compiled regexes of one query may take together, in bytes. A few characters such as `\pL{1000}`
/// become megabytes and take long to compile, and a query has room for thousands of them.
pub(super) const MAX_BYTES: usize = 32 << 20;

/// Compiles a regex as Prometheus runs it: over the whole value, `.` matching line breaks.
///
/// # Errors
///
/// Go's text: ``error parsing regexp: missing closing ): `a(` ``.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    within(pattern, &mut SIZES.iter().sum())
}

/// [`compile`], the size of what is compiled taken off `left`.
///
/// # Errors
///
/// As [`compile`], and where less is left than it takes.
pub(super) fn within(pattern: &str, left: &mut usize) -> Result<Regex, String> {
    let fault = |what: &str| format!("error parsing regexp: {what}: `{pattern}`");
    let translated =
        translate(pattern).map_err(|error| format!("error parsing regexp: {error}"))?;
    let anchored = format!("^(?s:{translated})$");
    for size in SIZES {
        // What did not fit was work as well.
        *left = left
            .checked_sub(size)
            .ok_or_else(|| fault("the regexes of the query are too large together"))?;
        match RegexBuilder::new(&anchored).size_limit(size).build() {
            Ok(regex) => return Ok(regex),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(_) => return Err(fault("expression nests too deeply")),
        }
    }
    Err(fault("expression too large"))
}

/// Whether the regex matches the empty text; false for what is no regex.
pub(super) fn matches_empty(pattern: &str) -> bool {
    compile(pattern).is_ok_and(|regex| regex.is_match(""))
}

fn translate(pattern: &str) -> Result<String, String> {
    let mut translator = Translator {
        whole: pattern,
        rest: pattern,
        out: String::new(),
        open: Vec::new(),
        level: Level::default(),
        names: Vec::new(),
        late: String::new(),
    };
    translator.run()?;
    Ok(translator.out)
}

/// Reads `rest`, writes `out`.
#[derive(Debug)]
struct Translator<'p> {
    whole: &'p str,
    rest: &'p str,
    out: String,
    /// The levels around the open group.
    open: Vec<Level>,
    level: Level,
    /// Names of groups so far; Rust wants them unique.
    names: Vec<&'p str>,
    /// Flags that are set behind the last atom. In Go a repetition behind them repeats the atom, in Rust it
    /// repeats nothing, so they are written when the next atom comes.
    late: String,
}

/// What is known of the current group.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// How often the last atom may repeat by the repetitions inside it, if there is one to repeat.
    atom: Option<u32>,
    /// The greatest such number in the group.
    repeats: u32,
}

/// `what: ` and the offending part in back quotes.
fn fault<T>(what: &str, part: &str) -> Result<T, String> {
    Err(format!("{what}: `{part}`"))
}

/// What of `from` was read until only `rest` is left.
fn read<'p>(from: &'p str, rest: &str) -> &'p str {
    from.get(..from.len() - rest.len()).unwrap_or(from)
}

impl<'p> Translator<'p> {
    fn run(&mut self) -> Result<(), String> {
        let mut repeated: Option<&'p str> = None;
        while let Some(first) = self.rest.chars().next() {
            let before = self.rest;
            let is_repetition = match first {
                '*' | '+' | '?' => {
                    self.skip(1);
                    self.repetition(before, repeated, None)?;
                    true
                }
                '{' => self.counted(before, repeated)?,
                _ => {
                    self.atom(first)?;
                    false
                }
            };
            repeated = is_repetition.then_some(before);
        }
        if self.open.is_empty() {
            Ok(())
        } else {
            fault("missing closing )", self.whole)
        }
    }

    fn atom(&mut self, first: char) -> Result<(), String> {
        self.write_late();
        match first {
            '(' => return self.group(),
            ')' => return self.close(),
            '|' => {
                self.skip(1);
                self.out.push('|');
                self.level.atom = None;
                return Ok(());
            }
            '^' | '$' | '.' => {
                self.skip(1);
                self.out.push(first);
            }
            '[' => self.class()?,
            '\\' => return self.escaped(),
            _ => {
                self.skip(first.len_utf8());
                self.literal(first);
            }
        }
        self.level.atom = Some(1);
        Ok(())
    }

    fn write_late(&mut self) {
        let late = std::mem::take(&mut self.late);
        self.out.push_str(&late);
    }

    fn literal(&mut self, character: char) {
        self.out
            .push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
        self.level.atom = Some(1);
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// `{n}`, `{n,}`, `{n,m}`, or a literal brace; says which.
    fn counted(&mut self, before: &'p str, repeated: Option<&'p str>) -> Result<bool, String> {
        let Some((least, most, rest)) = counts(before) else {
            self.skip(1);
            self.write_late();
            self.literal('{');
            return Ok(false);
        };
        self.rest = rest;
        let (Some(least), Some(most)) = (least, most) else {
            return fault("invalid repeat count", read(before, rest));
        };
        if most.is_some_and(|most| most < least) {
            return fault("invalid repeat count", read(before, rest));
        }
        self.repetition(before, repeated, Some((least, most)))?;
        Ok(true)
    }

    /// Writes a repetition whose text starts at `before`; `repeated` is where another one right before it
    /// starts.
    fn repetition(
        &mut self,
        before: &'p str,
        repeated: Option<&'p str>,
        counts: Option<(u32, Option<u32>)>,
    ) -> Result<(), String> {
        if self.rest.starts_with('?') {
            self.skip(1);
        }
        if let Some(repeated) = repeated {
            return fault(
                "invalid nested repetition operator",
                read(repeated, self.rest),
            );
        }
        let text = read(before, self.rest);
        let Some(inner) = self.level.atom else {
            return fault("missing argument to repetition operator", text);
        };
        let times = counts.map_or(1, |(least, most)| most.unwrap_or(least));
        // Nothing of an atom that stands zero times counts.
        let repeats = if times == 0 {
            1
        } else {
            inner.saturating_mul(times)
        };
        let counted =
            counts.is_some_and(|(least, most)| least >= 2 || most.is_some_and(|most| most >= 2));
        if counted && repeats > MAX_REPEAT {
            return fault("invalid repeat count", text);
        }
        self.level.atom = Some(repeats);
        self.level.repeats = self.level.repeats.max(repeats);
        self.out.push_str(text);
        Ok(())
    }
}

/// The counts of a repetition and what follows it. The outer `None`: a number is too great. The inner one of
/// the second: there is no upper count.
type Counts<'p> = (Option<u32>, Option<Option<u32>>, &'p str);

/// Reads `{n}`, `{n,}` or `{n,m}`; `None` where the text is none of them.
fn counts(text: &str) -> Option<Counts<'_>> {
    let (least, rest) = count(text.strip_prefix('{')?)?;
    let Some(rest) = rest.strip_prefix(',') else {
        return Some((least, least.map(Some), rest.strip_prefix('}')?));
    };
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((least, Some(None), rest));
    }
    let (most, rest) = count(rest)?;
    Some((least, most.map(Some), rest.strip_prefix('}')?))
}

/// Reads a number without leading zeros; the inner `None` is one beyond [`MAX_REPEAT`].
fn count(text: &str) -> Option<(Option<u32>, &str)> {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((
        digits.parse().ok().filter(|count| *count <= MAX_REPEAT),
        rest,
    ))
}
