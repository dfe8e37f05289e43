//! Texts of cells, for sources of rows that hold numbers instead of texts.

use crate::cell::format_decimal;

/// A number of units of 10^-scale.
pub fn decimal(units: i128, scale: u32) -> String {
    format_decimal(units, scale)
}

/// A day, counted from 1970-01-01; none outside of the calendar.
pub fn date(days: i128) -> Option<String> {
    crate::cell::date(days).map(|date| date.to_string())
}

/// A point in time, counted in units of 10^-places seconds from 1970-01-01T00:00:00, with as many
/// decimal places as necessary; the number itself if it is outside of the calendar.
pub fn timestamp(count: i128, places: u32, utc: bool) -> String {
    let per_second = 10i128.pow(places.min(9));
    let (seconds, fraction) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    let Some(day) = date(seconds.div_euclid(86_400)) else { return count.to_string() };
    let clock = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    let fraction = format!(".{fraction:0>0$}", places as usize);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let zone = if utc { "Z" } else { "" };
    format!("{day}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn timestamps() {
        for (count, places, utc, text) in [
            (0, 3, false, "1970-01-01T00:00:00"),
            (-1, 3, true, "1969-12-31T23:59:59.999Z"),
            (1_700_000_000_120_000, 6, false, "2023-11-14T22:13:20.12"),
            (1_700_000_000, 0, true, "2023-11-14T22:13:20Z"),
            (1, 9, false, "1970-01-01T00:00:00.000000001"),
            (i128::from(i64::MAX), 3, false, "9223372036854775807"),
        ] {
            assert_eq!(super::timestamp(count, places, utc), text);
        }
        assert_eq!(super::date(10_561).as_deref(), Some("1998-12-01"));
        assert_eq!(super::date(i128::from(i32::MAX)), None);
        assert_eq!(super::decimal(-7, 38).len(), 41);
    }
}
