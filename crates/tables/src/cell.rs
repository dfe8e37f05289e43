//! Texts of cells: decimals and dates as integers.

use jiff::civil::Date;

/// The value of a decimal number in units of 10^-scale; `None` for other texts, and for numbers
/// with more decimal places that are not 0.
pub fn parse_decimal(text: &str, scale: u32) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let (kept, rest) = fraction.split_at(fraction.len().min(scale as usize));
    if rest.bytes().any(|b| b != b'0') {
        return None;
    }
    let padding = "0".repeat(scale as usize - kept.len());
    let units: i128 = format!("0{whole}{kept}{padding}").parse().ok()?;
    Some(if negative { -units } else { units })
}

/// The number of decimal places of a number as text, without zeros at its end.
pub fn places(text: &str) -> u32 {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    fraction.trim_end_matches('0').len() as u32
}

/// A number of units of 10^-scale as text.
pub fn format_decimal(units: i128, scale: u32) -> String {
    if scale == 0 {
        return units.to_string();
    }
    let sign = if units < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", units.unsigned_abs(), scale as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale as usize);
    format!("{sign}{whole}.{fraction}")
}

/// Day 0.
const EPOCH: Date = Date::constant(1970, 1, 1);

/// The number of days from 1970-01-01 to a date `YYYY-MM-DD`.
pub fn parse_date(text: &str) -> Option<i128> {
    let plain = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let date: Date = text.parse().ok().filter(|_| plain)?;
    Some(i128::from(EPOCH.until(date).ok()?.get_days()))
}

/// The date `days` days after 1970-01-01; none outside of the calendar.
pub fn date(days: i128) -> Option<Date> {
    let days = i32::try_from(days).ok()?;
    EPOCH.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
}

/// A date moved by a number of days, months or years; if the month has no such day, its last day.
/// `None` for times of day.
pub fn moved(days: i128, by: i64, unit: Unit) -> Option<i128> {
    let span = jiff::Span::new();
    let span = match unit {
        Unit::Day => span.try_days(by),
        Unit::Month => span.try_months(by),
        Unit::Year => span.try_years(by),
        Unit::Hour | Unit::Minute | Unit::Second => return None,
    };
    let there = date(days)?.checked_add(span.ok()?).ok()?;
    Some(i128::from(EPOCH.until(there).ok()?.get_days()))
}

/// A unit of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Days.
    Day,
    /// Months.
    Month,
    /// Years.
    Year,
    /// Hours.
    Hour,
    /// Minutes.
    Minute,
    /// Seconds.
    Second,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        for (text, scale, units) in [
            ("1.5", 2, Some(150)),
            ("-0.07", 2, Some(-7)),
            ("+3", 0, Some(3)),
            ("1.500", 1, Some(15)),
            ("1.501", 2, None),
            (".5", 1, Some(5)),
            ("", 0, None),
            (".", 0, None),
            ("1e3", 0, None),
            ("nan", 2, None),
            ("--1", 0, None),
        ] {
            assert_eq!(parse_decimal(text, scale), units, "{text}");
        }
        for (units, scale, text) in
            [(150, 2, "1.50"), (-7, 2, "-0.07"), (0, 1, "0.0"), (42, 0, "42")]
        {
            assert_eq!(format_decimal(units, scale), text);
        }
        assert_eq!((places("1.50"), places("2"), places("0.125")), (1, 0, 3));
    }

    #[test]
    fn dates() {
        assert_eq!(parse_date("1970-01-01"), Some(0));
        assert_eq!(parse_date("1998-12-01"), Some(10_561));
        for bad in ["1998-13-01", "1998-02-29", "98-01-01", "1998-1-1", "1998-01-01T00", ""] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
        assert_eq!(date(10_561).unwrap().to_string(), "1998-12-01");
        assert_eq!(moved(10_561, -90, Unit::Day), parse_date("1998-09-02"));
        assert_eq!(
            moved(parse_date("2024-01-31").unwrap(), 1, Unit::Month),
            parse_date("2024-02-29")
        );
        assert_eq!(
            moved(parse_date("1994-01-01").unwrap(), 1, Unit::Year),
            parse_date("1995-01-01")
        );
    }
}
