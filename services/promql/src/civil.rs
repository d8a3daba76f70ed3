//! Seconds since the Unix epoch in, calendar fields in UTC out.

/// A moment as fields of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// 1 to 12.
    pub(crate) month: i64,
    /// 1 to 31.
    pub(crate) day: i64,
    /// 1 to 366.
    pub(crate) day_of_year: i64,
    /// 0 (Sunday) to 6.
    pub(crate) weekday: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

const DAY: i64 = 86_400;
/// Days in 400 years.
const ERA: i64 = 146_097;
/// Days from the first of March of the year -292,277,022,400 to 1970. Go's package `time`, and with it
/// Prometheus, counts seconds from then in 64 bits without a sign, which wrap round some 292 billion years away.
const BEFORE_1970: u64 = 106_751_991_073_400;

impl Civil {
    /// The fields of a time in seconds. Years count from March inside, which puts the leap day last.
    pub(crate) fn of(seconds: i64) -> Self {
        let absolute = seconds
            .cast_unsigned()
            .wrapping_add(BEFORE_1970 * DAY.unsigned_abs());
        let (days, rest) = (
            (absolute / DAY.unsigned_abs()).cast_signed() - BEFORE_1970.cast_signed(),
            (absolute % DAY.unsigned_abs()).cast_signed(),
        );
        let shifted = days.saturating_add(719_468);
        let era = shifted.div_euclid(ERA);
        let in_era = shifted.rem_euclid(ERA);
        let year_of_era = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * in_year + 2) / 153;
        let day = in_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let before_month: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
        Self {
            year,
            month,
            day,
            day_of_year: before_month + day,
            weekday: (days.rem_euclid(7) + 4).rem_euclid(7),
            hour: rest / 3600,
            minute: rest % 3600 / 60,
            second: rest % 60,
        }
    }
}

/// How many days a month has.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A time in milliseconds as `1970-01-01T00:00:00Z`.
pub(crate) fn rfc3339(millis: i64) -> String {
    let Civil {
        year,
        month,
        day,
        hour,
        minute,
        second,
        ..
    } = Civil::of(millis / 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_have_their_fields() {
        let leap = Civil::of(1_709_210_096);
        assert_eq!(
            (leap.year, leap.month, leap.day, leap.day_of_year),
            (2024, 2, 29, 60)
        );
        assert_eq!(
            (leap.weekday, leap.hour, leap.minute, leap.second),
            (4, 12, 34, 56)
        );
        let before = Civil::of(-1);
        assert_eq!(
            (before.year, before.month, before.day, before.weekday),
            (1969, 12, 31, 3)
        );
        assert_eq!(before.day_of_year, 365);
        assert_eq!(days_in_month(1900, 2), 28);
        assert_eq!(days_in_month(2000, 2), 29);
    }

    #[test]
    fn beyond_the_calendar_seconds_wrap_round_as_in_go() {
        // What Prometheus answers to hour(), minute() and so on of these.
        let clock = |seconds| {
            let at = Civil::of(seconds);
            (at.hour, at.minute)
        };
        assert_eq!(clock(i64::MIN), (15, 30));
        assert_eq!(clock(9_000_000_000_000_000_000), (16, 0));
        let far = Civil::of(9_000_000_000_000_000_000);
        assert_eq!((far.year, far.weekday), (285_198_648_531, 6));
        assert_eq!(Civil::of(9_200_000_000_000_000_000).day_of_year, 244);
        assert_eq!(Civil::of(-9_000_000_000_000_000_000).year, -285_198_644_592);
    }

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(rfc3339(1_700_000_000_123), "2023-11-14T22:13:20Z");
    }
}
