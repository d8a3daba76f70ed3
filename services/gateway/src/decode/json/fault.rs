//! What went wrong in a JSON text, with the path to it put together on the way out.

/// A fault at one place of the text. Small, because every read may return one.
#[derive(Debug)]
pub(super) struct Fault(Box<Parts>);

#[derive(Debug)]
struct Parts {
    offset: usize,
    what: String,
    /// From the innermost outwards.
    path: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Field(String),
    Index(usize),
}

/// Longest path that is spelled out; unknown fields may nest deeper than any message.
const MAX_STEPS: usize = 32;

impl Fault {
    pub(super) fn new(offset: usize, what: String) -> Self {
        Self(Box::new(Parts {
            offset,
            what,
            path: Vec::new(),
        }))
    }

    /// The same fault, seen from the object that has it in field `key`.
    pub(super) fn in_field(mut self, key: &str) -> Self {
        self.0.path.push(Step::Field(crate::outcome::excerpt(key)));
        self
    }

    /// The same fault, seen from the list that has it at `index`.
    pub(super) fn at_index(mut self, index: usize) -> Self {
        self.0.path.push(Step::Index(index));
        self
    }

    /// Bytes from the start of the text.
    pub(super) fn offset(&self) -> usize {
        self.0.offset
    }

    /// The path (`resourceMetrics[0].resource`) unless the fault is at the root, and what is wrong.
    pub(super) fn into_parts(self) -> (Option<String>, String) {
        let Parts { what, path, .. } = *self.0;
        if path.is_empty() {
            return (None, what);
        }
        let mut spelled = String::new();
        for step in path.iter().rev().take(MAX_STEPS) {
            match step {
                Step::Field(key) if spelled.is_empty() => spelled.push_str(key),
                Step::Field(key) => {
                    spelled.push('.');
                    spelled.push_str(key);
                }
                Step::Index(index) => spelled.push_str(&format!("[{index}]")),
            }
        }
        (Some(spelled), what)
    }
}
