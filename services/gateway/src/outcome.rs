//! Counts what became of every point of a push and words it for the sender.

use crate::translate::{Reason, Warning};

/// Longest text in a partial success, bytes.
pub const MAX_MESSAGE_BYTES: usize = 2048;

/// Most sentences that belong to no point.
pub const MAX_NOTES: usize = 8;

/// Longest excerpt of a sender's own text in a message, bytes.
const MAX_EXCERPT_BYTES: usize = 120;

/// One kind of incident: how often, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    points: u64,
    sample: String,
}

/// Every point of a push, counted exactly once: accepted, or rejected with a [`Reason`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a point that nobody counts is a point that was silently lost"]
pub struct Tally {
    received: u64,
    accepted: u64,
    rejected: [Count; Reason::ALL.len()],
    warned: [Count; Warning::ALL.len()],
    notes: Vec<String>,
}

impl Tally {
    /// An empty tally of a push with `received` points.
    pub fn expecting(received: u64) -> Self {
        Self {
            received,
            accepted: 0,
            rejected: Default::default(),
            warned: Default::default(),
            notes: Vec::new(),
        }
    }

    /// Counts one point that is stored.
    pub fn accept(&mut self) {
        self.accepted += 1;
    }

    /// Counts `points` points of `metric` that are not stored. `detail` says what was wrong with the
    /// first of them; it is asked only for the first of each reason.
    pub fn reject(
        &mut self,
        reason: Reason,
        points: u64,
        metric: &str,
        detail: impl FnOnce() -> String,
    ) {
        add(&mut self.rejected[reason as usize], points, metric, detail);
    }

    /// Counts `points` points of `metric` that were stored with a change or a doubt.
    pub fn warn(
        &mut self,
        warning: Warning,
        points: u64,
        metric: &str,
        detail: impl FnOnce() -> String,
    ) {
        add(&mut self.warned[warning as usize], points, metric, detail);
    }

    /// Adds a sentence for the sender that belongs to no point; the same one once, and no more than
    /// [`MAX_NOTES`] of them.
    pub fn note(&mut self, sentence: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }

    /// Points that the push had.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Points that are stored.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Points that are not stored, whatever the reason.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected.iter().map(|count| count.points).sum()
    }

    /// Points that are not stored for `reason`.
    #[must_use]
    pub fn rejected_for(&self, reason: Reason) -> u64 {
        self.rejected[reason as usize].points
    }

    /// Points stored with `warning`.
    #[must_use]
    pub fn warned_of(&self, warning: Warning) -> u64 {
        self.warned[warning as usize].points
    }

    /// The reasons that occurred, with their points.
    pub fn reasons(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        Reason::ALL
            .into_iter()
            .zip(&self.rejected)
            .filter_map(|(reason, count)| (count.points > 0).then_some((reason, count.points)))
    }

    /// The warnings that occurred, with their points.
    pub fn warnings(&self) -> impl Iterator<Item = (Warning, u64)> + '_ {
        Warning::ALL
            .into_iter()
            .zip(&self.warned)
            .filter_map(|(warning, count)| (count.points > 0).then_some((warning, count.points)))
    }

    /// Checks that every point was counted once; a fault of this program, so tests stop here.
    pub fn close(self) -> Self {
        debug_assert_eq!(
            self.accepted + self.rejected(),
            self.received,
            "every point is accepted or rejected, once"
        );
        self
    }

    /// Rejected points and a text of at most [`MAX_MESSAGE_BYTES`] for OTLP's `partial_success`;
    /// `None` when there is nothing to say. Warnings alone come with 0 points.
    #[must_use]
    pub fn partial_success(&self) -> Option<(i64, String)> {
        let mut parts = Vec::new();
        for (reason, count) in Reason::ALL.into_iter().zip(&self.rejected) {
            if count.points > 0 {
                parts.push(sentence("rejected", count, reason.name(), reason.remedy()));
            }
        }
        for (warning, count) in Warning::ALL.into_iter().zip(&self.warned) {
            if count.points > 0 {
                parts.push(sentence(
                    "accepted with a warning",
                    count,
                    warning.name(),
                    warning.remedy(),
                ));
            }
        }
        parts.extend(self.notes.iter().cloned());
        if parts.is_empty() {
            return None;
        }
        let message = cut(&parts.join(" | "), MAX_MESSAGE_BYTES);
        Some((i64::try_from(self.rejected()).unwrap_or(i64::MAX), message))
    }
}

fn add(count: &mut Count, points: u64, metric: &str, detail: impl FnOnce() -> String) {
    if points == 0 {
        return;
    }
    if count.points == 0 {
        count.sample = format!("metric `{}`: {}", excerpt(metric), detail());
    }
    count.points += points;
}

fn sentence(what: &str, count: &Count, name: &str, remedy: &str) -> String {
    let noun = if count.points == 1 { "point" } else { "points" };
    format!(
        "{} {noun} {what}: {name}; first: {}; to do: {remedy}",
        count.points, count.sample
    )
}

/// A sender's own text, short enough to quote.
#[must_use]
pub fn excerpt(text: &str) -> String {
    cut(text, MAX_EXCERPT_BYTES)
}

/// `text` in at most `bytes` bytes (3 or more); what was cut at a character's boundary ends in `...`.
#[must_use]
pub fn cut(text: &str, bytes: usize) -> String {
    const DOTS: &str = "...";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes.saturating_sub(DOTS.len()));
    let mut kept = text.get(..end).unwrap_or_default().to_owned();
    kept.push_str(DOTS);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_say_is_no_partial_success() {
        let mut tally = Tally::expecting(1);
        tally.accept();
        assert_eq!(tally.close().partial_success(), None);
    }

    #[test]
    fn a_rejection_names_reason_count_first_metric_and_remedy() {
        let mut tally = Tally::expecting(4);
        tally.accept();
        tally.reject(Reason::TimestampZero, 1, "first", || {
            "timeUnixNano is 0".to_owned()
        });
        tally.reject(Reason::TimestampZero, 2, "second", || unreachable!());
        assert_eq!((tally.accepted(), tally.rejected()), (1, 3));
        assert_eq!(
            tally.reasons().collect::<Vec<_>>(),
            [(Reason::TimestampZero, 3)]
        );
        assert_eq!(
            tally.close().partial_success(),
            Some((
                3,
                "3 points rejected: timestamp_zero; first: metric `first`: timeUnixNano is 0; to do: \
                 set timeUnixNano on every point"
                    .to_owned()
            ))
        );
    }

    #[test]
    fn warnings_and_notes_come_with_no_rejected_points() {
        let mut tally = Tally::expecting(1);
        tally.accept();
        tally.warn(Warning::LabelValueCut, 1, "m", || {
            "1 label value was too long".to_owned()
        });
        tally.note("something else".to_owned());
        tally.note("something else".to_owned());
        let (rejected, message) = tally.close().partial_success().unwrap();
        assert_eq!(rejected, 0);
        assert!(
            message.starts_with("1 point accepted with a warning: label_value_cut;"),
            "{message}"
        );
        assert!(message.ends_with(" | something else"), "{message}");
        assert_eq!(message.matches("something else").count(), 1);
    }

    #[test]
    fn messages_stay_within_their_bound_whatever_the_sender_wrote() {
        let all = Reason::ALL.len();
        let mut tally = Tally::expecting(u64::try_from(all).unwrap());
        for reason in Reason::ALL {
            tally.reject(reason, 1, &"é".repeat(5_000), || "x".repeat(300));
        }
        let (rejected, message) = tally.close().partial_success().unwrap();
        assert_eq!(rejected, i64::try_from(all).unwrap());
        assert!(message.len() <= MAX_MESSAGE_BYTES && message.ends_with("..."));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "every point is accepted or rejected, once")]
    fn a_point_that_nobody_counted_stops_a_test() {
        drop(Tally::expecting(1).close());
    }

    #[test]
    fn text_is_cut_at_a_character() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abc...");
        assert_eq!(cut("ééééé", 6), "é...");
    }
}
