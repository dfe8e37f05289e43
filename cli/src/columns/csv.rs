//! One integer column of a CSV file.

use crate::console::errors::CliError;

/// The largest CSV file in bytes.
pub const MAX_BYTES: u64 = 32 << 20;

/// What to do with values outside of 0..p.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Refuse them.
    Exact,
    /// -v stands for p - v, for |v| <= (p - 1)/2.
    Signed,
    /// Take them modulo p.
    Reduce,
}

/// The values of the column modulo p. At most `slots` of them.
pub fn parse(
    text: &str,
    source: &str,
    p: u64,
    slots: usize,
    range: Range,
) -> Result<Vec<u64>, CliError> {
    let mut values = Vec::new();
    let mut seen_header = false;
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line_number = i + 1;
        let at =
            |problem: String| CliError::usage(format!("{source}, line {line_number}: {problem}"));
        let cell = line.trim();
        if cell.is_empty() {
            continue;
        }
        if cell.contains([',', ';', '\t']) {
            return Err(at(format!(
                "expected one column, found {:?}: keep one column of the file",
                shorten(cell)
            )));
        }
        let cell = cell.trim_matches('"').trim();
        match cell.parse::<i128>() {
            Ok(v) => values.push(in_range(v, p, range).map_err(at)?),
            Err(_) if values.is_empty() && !seen_header && !looks_numeric(cell) => {
                seen_header = true
            }
            Err(_) => return Err(at(format!("expected an integer, found {:?}", shorten(cell)))),
        }
        if values.len() > slots {
            return Err(at(format!(
                "expected at most {slots} values, one a slot: shorten the file or take a set with \
                 more slots"
            )));
        }
    }
    if values.is_empty() {
        return Err(CliError::usage(format!(
            "{source}: expected a column of integers, found no value"
        )));
    }
    Ok(values)
}

/// A value modulo p, or what is wrong with it.
pub fn in_range(v: i128, p: u64, range: Range) -> Result<u64, String> {
    let t = i128::from(p);
    let half = (t - 1) / 2;
    let ok = match range {
        Range::Exact => (0..t).contains(&v),
        Range::Signed => (-half..=half).contains(&v),
        Range::Reduce => true,
    };
    if ok {
        return Ok(v.rem_euclid(t) as u64);
    }
    Err(match range {
        Range::Signed => format!(
            "expected a value from -{half} to {half}, found {v}: take --reduce for values modulo \
             {p}"
        ),
        _ => format!(
            "expected a value from 0 to {}, found {v}: take --signed for values of ±{half} or \
             --reduce for values modulo {p}",
            t - 1
        ),
    })
}

/// Numbers that are no integers are no header either.
fn looks_numeric(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
}

fn shorten(cell: &str) -> String {
    cell.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, range: Range) -> Result<Vec<u64>, String> {
        parse(text, "t.csv", 17, 4, range).map_err(|e| match e {
            CliError::Usage(m) => m.text,
            other => panic!("expected a usage error, found {other:?}"),
        })
    }

    #[test]
    fn columns_with_and_without_header() {
        assert_eq!(run("1\n2\n", Range::Exact).unwrap(), [1, 2]);
        assert_eq!(run("\u{feff}reading\r\n\r\n 1 \r\n\"2\"\r\n", Range::Exact).unwrap(), [1, 2]);
        assert_eq!(run("-1\n8\n-8", Range::Signed).unwrap(), [16, 8, 9]);
        assert_eq!(
            run("-1\n170000000000000000000001", Range::Reduce).unwrap(),
            [16, (170000000000000000000001u128 % 17) as u64]
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, range, part) in [
            ("", Range::Exact, "no value"),
            ("reading\n", Range::Exact, "no value"),
            ("a\nb\n", Range::Exact, "line 2: expected an integer"),
            ("1.5\n", Range::Exact, "line 1: expected an integer"),
            ("1\n\nx\n", Range::Exact, "line 3: expected an integer"),
            ("1,2\n", Range::Exact, "one column"),
            ("17\n", Range::Exact, "0 to 16, found 17"),
            ("-1\n", Range::Exact, "--signed"),
            ("9\n", Range::Signed, "-8 to 8, found 9"),
            ("1\n1\n1\n1\n1\n", Range::Exact, "at most 4 values"),
            (
                "99999999999999999999999999999999999999999999\n",
                Range::Reduce,
                "expected an integer",
            ),
        ] {
            let message = run(text, range).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
