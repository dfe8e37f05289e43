//! Points in time as integers: a date with a time of day, with an offset from UTC or without one.

use serde::{Deserialize, Serialize};

use crate::cell::{Unit, date, moved, parse_date};

/// Nanoseconds of a day.
const DAY: i128 = 86_400 * SECOND;
/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;

/// The unit of a column of timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Seconds.
    #[serde(rename = "s")]
    Second,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Millisecond,
    /// Microseconds.
    #[serde(rename = "us")]
    Microsecond,
}

impl TimeUnit {
    /// All units, the longest first.
    pub(crate) const ALL: [TimeUnit; 3] =
        [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond];

    /// The number of decimal places of a second.
    pub(crate) fn places(self) -> u32 {
        match self {
            TimeUnit::Second => 0,
            TimeUnit::Millisecond => 3,
            TimeUnit::Microsecond => 6,
        }
    }

    /// The number of nanoseconds in the unit.
    pub(crate) fn nanoseconds(self) -> i128 {
        10i128.pow(9 - self.places())
    }
}

/// A point in time: nanoseconds since 1970-01-01T00:00:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp {
    pub(crate) nanoseconds: i128,
    /// Whether it was written with its offset from UTC, and so is in UTC; otherwise it is a local
    /// time.
    pub(crate) utc: bool,
}

impl Timestamp {
    /// The beginning of a day, in local time.
    pub(crate) fn of_day(days: i128) -> Option<Self> {
        Some(Timestamp { nanoseconds: days.checked_mul(DAY)?, utc: false })
    }

    /// Reads `YYYY-MM-DDTHH:MM[:SS[.FRACTION]]`, followed by `Z`, `+HH:MM` or `-HH:MM` or by
    /// nothing; a space may stand for the `T`. `None` for other texts, including leap seconds, and
    /// for times that in UTC are not in the years 0 to 9999.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (day, rest) = text.split_at_checked(10)?;
        let rest = rest.strip_prefix(['T', ' '])?;
        let (clock, offset) = match rest.find(['Z', '+', '-']) {
            Some(end) => (&rest[..end], Some(offset(&rest[end..])?)),
            None => (rest, None),
        };
        let (clock, fraction) = match clock.split_once('.') {
            Some((clock, fraction)) if clock.len() == 8 => (clock, nanoseconds(fraction)?),
            Some(_) => return None,
            None => (clock, 0),
        };
        let minutes = time(clock.get(..5)?)?;
        let seconds = match clock.get(5..)? {
            "" => 0,
            rest => two(rest.strip_prefix(':')?, 60)?,
        };
        let seconds = 60 * (minutes - offset.unwrap_or(0)) + seconds;
        let nanoseconds = parse_date(day)? * DAY + seconds * SECOND + fraction;
        // Less its offset it may be before the year 0 or after 9999, which no such text can state.
        let year = date(nanoseconds.div_euclid(DAY))?.year();
        (0..=9999).contains(&year).then_some(Timestamp { nanoseconds, utc: offset.is_some() })
    }

    /// The number of units, if it is an integer.
    pub(crate) fn exactly(self, unit: TimeUnit) -> Option<i128> {
        let length = unit.nanoseconds();
        (self.nanoseconds % length == 0).then(|| self.nanoseconds / length)
    }

    /// The point in time moved by an interval of the calendar.
    pub(crate) fn moved(self, by: i64, unit: Unit) -> Option<Self> {
        let nanoseconds = match unit {
            Unit::Hour => self.nanoseconds.checked_add(i128::from(by) * 3600 * SECOND)?,
            Unit::Minute => self.nanoseconds.checked_add(i128::from(by) * 60 * SECOND)?,
            Unit::Second => self.nanoseconds.checked_add(i128::from(by) * SECOND)?,
            unit => {
                let (days, rest) =
                    (self.nanoseconds.div_euclid(DAY), self.nanoseconds.rem_euclid(DAY));
                moved(days, by, unit)? * DAY + rest
            }
        };
        date(nanoseconds.div_euclid(DAY)).map(|_| Timestamp { nanoseconds, ..self })
    }
}

/// A number of units since 1970 as text.
pub(crate) fn text(code: i128, unit: TimeUnit, utc: bool) -> String {
    let per_second = 10i128.pow(unit.places());
    let (seconds, fraction) = (code.div_euclid(per_second), code.rem_euclid(per_second));
    let Some(day) = date(seconds.div_euclid(86_400)) else { return code.to_string() };
    let clock = seconds.rem_euclid(86_400);
    let fraction = match unit.places() {
        0 => String::new(),
        places => format!(".{fraction:0>0$}", places as usize),
    };
    let zone = if utc { "Z" } else { "" };
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{day}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
}

/// Two digits of a number below a limit.
fn two(text: &str, limit: i128) -> Option<i128> {
    let digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|n| digits && *n < limit)
}

/// The minutes of `HH:MM`.
fn time(text: &str) -> Option<i128> {
    let (hours, minutes) = text.split_once(':')?;
    Some(60 * two(hours, 24)? + two(minutes, 60)?)
}

/// The offset from UTC in minutes.
fn offset(text: &str) -> Option<i128> {
    match text.split_at_checked(1)? {
        ("Z", "") => Some(0),
        ("+", rest) => time(rest),
        ("-", rest) => time(rest).map(|minutes| -minutes),
        _ => None,
    }
}

/// The nanoseconds of a fraction of a second, if they represent it exactly.
fn nanoseconds(fraction: &str) -> Option<i128> {
    let kept = fraction.trim_end_matches('0');
    let digits = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    if !digits || kept.len() > 9 {
        return None;
    }
    format!("{kept:0<9}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (text, seconds, fraction, utc) in [
            ("1970-01-01T00:00:00", 0, 0, false),
            ("1970-01-01 00:00", 0, 0, false),
            ("1970-01-01T00:00:00Z", 0, 0, true),
            ("1970-01-01T01:00:00+01:00", 0, 0, true),
            ("1969-12-31T22:30:00.25-01:30", 0, 250_000_000, true),
            ("1969-12-31T23:59:59.999999999", -1, 999_999_999, false),
            ("2024-02-29T23:59:59.500000000000", 1_709_251_199, 500_000_000, false),
        ] {
            let found = Timestamp { nanoseconds: seconds * SECOND + fraction, utc };
            assert_eq!(Timestamp::parse(text), Some(found), "{text}");
        }
        for text in [
            "",
            "1970-01-01",
            "1970-01-01T",
            "1970-01-01T00",
            "1970-01-01T24:00:00",
            "1970-01-01T00:60:00",
            "1970-01-01T23:59:60",
            "1970-01-01T00:00:00.",
            "1970-01-01T00:00.5",
            "1970-01-01T00:00:00.0000000001",
            "1970-01-01T00:00:00z",
            "1970-01-01T00:00:00 Z",
            "1970-01-01T00:00:00+1",
            "1970-01-01T00:00:00+24:00",
            "1970-01-01T00:00:00[Europe/Zurich]",
            "1970-01-01t00:00:00",
            "1970-02-30T00:00:00",
            "1970-01-01T+1:00:00",
            "1970-01-01T0\u{e9}:00:00",
            "1970-01-0\u{e9}T00:00:00",
            "9999-12-31T23:59:59-01:00",
            "0000-01-01T00:59:59.999999999+01:00",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn units() {
        for (written, unit, utc) in [
            ("1969-12-31T23:59:59", TimeUnit::Second, false),
            ("2024-02-29T12:30:00.125", TimeUnit::Millisecond, false),
            ("9999-12-31T23:59:59.999999Z", TimeUnit::Microsecond, true),
            ("0001-01-01T00:00:00.000001Z", TimeUnit::Microsecond, true),
            ("0000-01-01T00:00:00Z", TimeUnit::Second, true),
        ] {
            let code = Timestamp::parse(written).and_then(|t| t.exactly(unit)).unwrap();
            assert_eq!(text(code, unit, utc), written);
        }
        let fine = Timestamp::parse("2024-01-01T00:00:00.001").unwrap();
        assert_eq!(fine.exactly(TimeUnit::Second), None);
    }

    #[test]
    fn intervals() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        for (from, by, unit, to) in [
            ("2024-01-31T10:00:00", 1, Unit::Month, "2024-02-29T10:00:00"),
            ("2024-01-31T23:30:00", 1, Unit::Hour, "2024-02-01T00:30:00"),
            ("1970-01-01T00:00:00Z", -1, Unit::Second, "1969-12-31T23:59:59Z"),
            ("2024-03-01T00:00:00", -1, Unit::Day, "2024-02-29T00:00:00"),
            ("2024-01-01T00:00:00", 90, Unit::Minute, "2024-01-01T01:30:00"),
        ] {
            assert_eq!(at(from).moved(by, unit), Some(at(to)), "{from} {by} {unit:?}");
        }
        assert_eq!(at("2024-01-01T00:00:00").moved(i64::MAX, Unit::Hour), None);
        assert_eq!(at("9999-12-31T23:59:59").moved(1, Unit::Second), None);
    }
}
