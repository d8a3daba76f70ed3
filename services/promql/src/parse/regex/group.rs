//! Groups and flags of a regex.

use super::{Level, Translator, fault, read};

impl Translator<'_> {
    /// A group opens, or flags are set.
    pub(super) fn group(&mut self) -> Result<(), String> {
        let before = self.rest;
        if !before.starts_with("(?") {
            self.skip(1);
            self.opened("(");
            return Ok(());
        }
        if before.starts_with("(?P<") && before.len() > 4 {
            return self.named(4);
        }
        if before.starts_with("(?<") && before.len() > 3 {
            return self.named(3);
        }
        self.flags()
    }

    fn opened(&mut self, text: &str) {
        self.out.push_str(text);
        self.open.push(self.level);
        self.level = Level::default();
    }

    /// The group closes and becomes one atom.
    pub(super) fn close(&mut self) -> Result<(), String> {
        let Some(outer) = self.open.pop() else {
            return fault("unexpected )", self.whole);
        };
        self.skip(1);
        self.out.push(')');
        let repeats = self.level.repeats.max(1);
        self.level = Level {
            atom: Some(repeats),
            repeats: outer.repeats.max(repeats),
        };
        Ok(())
    }

    fn named(&mut self, start: usize) -> Result<(), String> {
        let before = self.rest;
        let Some(end) = before.find('>') else {
            return fault("invalid named capture", before);
        };
        let name = before.get(start..end).unwrap_or_default();
        self.skip(end + 1);
        let valid = name
            .bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        if name.is_empty() || !valid {
            return fault("invalid named capture", read(before, self.rest));
        }
        // Rust takes neither a leading digit nor a name twice.
        if name.starts_with(|first: char| first.is_ascii_digit()) || self.names.contains(&name) {
            self.opened("(");
        } else {
            self.names.push(name);
            self.opened(&format!("(?P<{name}>"));
        }
        Ok(())
    }

    /// `(?flags)`, `(?flags:` or `(?:`.
    fn flags(&mut self) -> Result<(), String> {
        let before = self.rest;
        self.skip(2);
        let (mut on, mut off) = (String::new(), String::new());
        let (mut negated, mut any) = (false, false);
        while let Some(flag) = self.rest.chars().next() {
            self.skip(flag.len_utf8());
            match flag {
                'i' | 'm' | 's' | 'U' => {
                    let list = if negated { &mut off } else { &mut on };
                    if !list.contains(flag) {
                        list.push(flag);
                    }
                    any = true;
                }
                '-' if !negated => (negated, any) = (true, false),
                ':' | ')' if any || !negated => {
                    on.retain(|flag| !off.contains(flag));
                    self.flagged(&on, &off, flag);
                    return Ok(());
                }
                _ => break,
            }
        }
        fault(
            "invalid or unsupported Perl syntax",
            read(before, self.rest),
        )
    }

    fn flagged(&mut self, on: &str, off: &str, end: char) {
        let minus = if off.is_empty() { "" } else { "-" };
        let text = format!("(?{on}{minus}{off}{end}");
        if end == ':' {
            self.opened(&text);
        } else if text != "(?)" {
            self.late.push_str(&text);
        }
    }
}
