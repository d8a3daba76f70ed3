//! A push's number → when it is due.

use std::time::Duration;

/// When pushes are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// At a rate, whatever the answers: latency counts from the scheduled time, so a slow answer shows
    /// in every push that it delays.
    Open {
        /// Pushes a second.
        rate: f64,
    },
    /// Each connection as fast as it is answered.
    Closed,
}

impl Pace {
    /// When the push is due after the start.
    #[expect(
        clippy::cast_precision_loss,
        reason = "push numbers stay far below 2^53"
    )]
    pub(crate) fn due(self, number: u64) -> Duration {
        match self {
            Self::Open { rate } => {
                Duration::try_from_secs_f64(number as f64 / rate).unwrap_or(Duration::MAX)
            }
            Self::Closed => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_loop_has_its_times_before_it_starts() {
        let pace = Pace::Open { rate: 50.0 };
        let due: Vec<u128> = [0, 1, 50, 125]
            .map(|number| pace.due(number).as_millis())
            .to_vec();
        assert_eq!(due, [0, 20, 1000, 2500]);
    }

    #[test]
    fn a_closed_loop_sends_at_once() {
        assert_eq!(Pace::Closed.due(1_000_000), Duration::ZERO);
    }
}
