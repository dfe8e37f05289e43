//! One integer column of a CSV file.

use super::column::{Column, Header};
use super::named;
use crate::console::errors::CliError;

/// The largest CSV file in bytes.
pub const MAX_BYTES: u64 = 32 << 20;

/// What stands for a number that is none, or for a truth value, as [`plain_word`] leaves it: a
/// column that is called that takes `--header yes`.
const NO_NUMBERS: &[&str] = &[
    // No value.
    "na",
    "nv",
    "nd",
    "nil",
    "null",
    "none",
    "nothing",
    "nat",
    "missing",
    "empty",
    "blank",
    "void",
    "unset",
    "undef",
    "undefined",
    "unspecified",
    "unknown",
    "unk",
    "unavailable",
    "inapplicable",
    "invalid",
    "error",
    "err",
    "ka",
    "tba",
    "tbd",
    "notavailable",
    "notapplicable",
    "notassigned",
    "notdefined",
    "notgiven",
    "notknown",
    "notset",
    "notspecified",
    "noanswer",
    "nodata",
    "noresponse",
    "novalue",
    // No number.
    "nan",
    "qnan",
    "snan",
    "nanind",
    "nanquiet",
    "nansignaling",
    "notanumber",
    "inf",
    "infinity",
    "infty",
    "posinf",
    "neginf",
    "plusinf",
    "minusinf",
    "plusinfinity",
    "minusinfinity",
    // A truth value.
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
];

/// The letters and digits of a cell in small letters, without decimal places: `N. A.` and `NA` are
/// one word, `null.0` and `null` are, `NO2` and `no` are two.
fn plain_word(cell: &str) -> String {
    let zeros = |places: &str| places.chars().all(|c| c.is_ascii_digit());
    let whole = cell.rsplit_once('.').filter(|(_, places)| zeros(places)).map_or(cell, |(w, _)| w);
    whole.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Reads a column: a value a line, with a header if `header` says so or, where it is up to the
/// first line, if that cannot be a value and looks like a name. A line that is empty is a value
/// that is missing, but at the end of the file.
pub fn parse(text: &str, source: &str, header: Header) -> Result<Column, CliError> {
    let text = text.trim_start_matches('\u{feff}').trim_end();
    let mut lines = text.lines().zip(1..).peekable();
    let at =
        |line: usize, problem: String| CliError::usage(format!("{source}, line {line}: {problem}"));
    let mut column = Column::of(source, "line");
    if let Some((first, _)) = lines.peek() {
        column.name = name(first, header).map_err(|problem| at(1, problem))?;
        if column.name.is_some() {
            column.first += 1;
            lines.next();
        }
    }
    for (line, number) in lines {
        let hint = if number == 1 { ", or --header yes for a header" } else { "" };
        column.values.push(value(line).map_err(|problem| at(number, problem + hint))?);
    }
    Ok(column)
}

/// The name that the first line is, if it is one.
fn name(line: &str, header: Header) -> Result<Option<String>, String> {
    let (cell, quoted) = cell(line)?;
    let is_value = cell.parse::<i128>().is_ok();
    match header {
        Header::No => Ok(None),
        Header::Yes if cell.is_empty() => Err("expected a header, found nothing".into()),
        Header::Yes => Ok(Some(cell.into())),
        Header::Auto if is_value && quoted => Err(format!(
            "{cell:?} in quotes can be a header or a value: state --header yes or --header no"
        )),
        Header::Auto if is_value => Ok(None),
        Header::Auto if misread(cell) => Err(format!(
            "{cell:?} can be a header or a mistyped number: correct it, or state \
             --header yes"
        )),
        Header::Auto if looks_like_a_name(cell) => Ok(Some(cell.into())),
        // What is wrong with it as a value is told.
        Header::Auto => Ok(None),
    }
}

/// Whether text that is no value can be the name of a column.
pub fn looks_like_a_name(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && cell.chars().count() <= 200
        && !cell.contains(['"', ',', ';'])
        && !cell.contains(char::is_control)
        && !NO_NUMBERS.contains(&plain_word(cell).as_str())
}

/// Whether text has digits and is a number once letters that look like some are read as such.
fn misread(cell: &str) -> bool {
    let digit = |c: char| match c {
        'o' | 'O' => '0',
        'l' | 'I' | 'i' => '1',
        'S' | 's' => '5',
        'B' => '8',
        c => c,
    };
    let read: String = cell.chars().map(digit).collect();
    cell.contains(|c: char| c.is_ascii_digit()) && read.parse::<i128>().is_ok()
}

/// What a line holds, without its quotes, and whether it has any.
fn cell(line: &str) -> Result<(&str, bool), String> {
    let cell = line.trim();
    let shown: String = cell.chars().take(40).collect();
    let inside = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let (inside, quoted) = inside.map_or((cell, false), |inside| (inside.trim(), true));
    if inside.contains('"') {
        return Err(format!("expected a value, found quotes inside of {shown:?}"));
    }
    if cell.contains([',', ';', '\t']) {
        return Err(format!(
            "expected one column, found {shown:?}: name one with --column NAME, or typed ones \
             with `encrypt --types`, or keep one column of the file"
        ));
    }
    Ok((inside, quoted))
}

/// The column of this name, of a file with a header.
pub fn named(text: &str, source: &str, name: &str) -> Result<Column, CliError> {
    let none = || Column::of(source, "line");
    Ok(all_named(text, source, &[name])?.pop().unwrap_or_else(none))
}

/// The columns of these names.
pub fn all_named(text: &str, source: &str, names: &[&str]) -> Result<Vec<Column>, CliError> {
    let of_name = |name: &&str| {
        let mut column = Column::of(source, "line");
        (column.name, column.first) = (Some((*name).into()), 2);
        column
    };
    let mut columns: Vec<Column> = names.iter().map(of_name).collect();
    let read = named::read(text, names, |place, line, cell| {
        let told = |problem| format!("line {line}, column {}: {problem}", names[place]);
        columns[place].values.push(integer(cell).map_err(told)?);
        Ok(())
    });
    read.map_err(|problem| CliError::usage(format!("{source}: {problem}")))?;
    Ok(columns)
}

fn value(line: &str) -> Result<i128, String> {
    integer(cell(line)?.0)
}

fn integer(cell: &str) -> Result<i128, String> {
    if cell.is_empty() {
        return Err("a value is missing: every line has to have one, as rows keep their places. \
                    Fill it in, or remove the row from all columns"
            .into());
    }
    let shown: String = cell.chars().take(40).collect();
    cell.parse().map_err(|_| format!("expected an integer, found {shown:?}: correct it"))
}

/// A column as text.
pub fn write(name: &str, values: &[i128]) -> String {
    // What could be taken for a value, or for more than one column.
    let header = match looks_like_a_name(name) {
        true => name.to_string(),
        false => {
            let kept: String = name.chars().filter(|c| !c.is_control() && *c != '"').collect();
            format!("\"{kept}\"")
        }
    };
    values.iter().fold(header + "\n", |text, v| text + &format!("{v}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, header: Header) -> Result<Column, String> {
        parse(text, "t.csv", header).map_err(|e| match e {
            CliError::Usage(m) => m.text,
            other => panic!("expected a usage error, found {other:?}"),
        })
    }

    #[test]
    fn columns_with_and_without_header() {
        let read = |text: &str, header| {
            let column = run(text, header).unwrap();
            (column.name, column.values)
        };
        let named = |name: &str, values: &[i128]| (Some(name.to_string()), values.to_vec());
        assert_eq!(read("1\n-2\n\n \r\n", Header::Auto), (None, vec![1, -2]));
        assert_eq!(
            read("\u{feff}reading\r\n 1 \r\n\"2\"\r\n", Header::Auto),
            named("reading", &[1, 2])
        );
        assert_eq!(read("\"x 1\"\n7", Header::Auto), named("x 1", &[7]));
        assert_eq!(read("2026\n7", Header::Yes), named("2026", &[7]));
        assert_eq!(read("2026\n7", Header::No), (None, vec![2026, 7]));
        assert_eq!(read("größe\n7", Header::Auto), named("größe", &[7]));
        assert_eq!(read("", Header::Auto), (None, vec![]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, header, part) in [
            ("a\nb\n", Header::Auto, "line 2: expected an integer"),
            ("1.5\n", Header::Auto, "line 1: expected an integer"),
            ("1\n\nx\n", Header::Auto, "line 2: a value is missing"),
            ("\n1\n", Header::Auto, "line 1: a value is missing"),
            ("v\n1\n\"\"\n2\n", Header::Auto, "line 3: a value is missing"),
            ("1,2\n", Header::Auto, "one column"),
            ("\"12\n3", Header::Auto, "quotes"),
            ("\"2026\"\n7", Header::Auto, "--header yes or --header no"),
            ("l00\n7", Header::Auto, "mistyped number"),
            ("O5\n7", Header::Auto, "mistyped number"),
            ("a\n7", Header::No, "line 1: expected an integer"),
            ("99999999999999999999999999999999999999999999\n", Header::Auto, "an integer"),
        ] {
            let message = run(text, header).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
        for missing in ["N/A", "NaN", "inf", "-inf", "None", "NULL", "?", "-", "1e3", "0x10", "#"] {
            let message = run(&format!("{missing}\n7\n"), Header::Auto).unwrap_err();
            assert!(message.contains("line 1: expected an integer"), "{message}");
        }
    }

    /// However a missing value is written: with points, blanks and decimal places, and in words.
    #[test]
    fn missing_values_are_no_names() {
        for missing in [
            "n.a.",
            "N.A.",
            "NA.",
            "N. A.",
            "n/d",
            "nd",
            "n.d.",
            "nat",
            "NaT",
            "not available",
            "Not-Available",
            "not_applicable",
            "undefined",
            "empty",
            "null.0",
            "NaN.00",
            "nil.",
            "nan(ind)",
            "(null)",
            "<NA>",
            "_na_",
            "No Data",
            "Infinity",
            "no value",
            "k.A.",
            "TBD",
            "unknown?",
            "True",
            "False.",
            "off",
            "\"n.a.\"",
        ] {
            let message = run(&format!("{missing}\n7\n"), Header::Auto).unwrap_err();
            assert!(message.contains("line 1: expected an integer"), "{missing}: {message}");
            assert!(message.contains("--header yes"), "{missing}: {message}");
            let named = run(&format!("{missing}\n7\n"), Header::Yes).unwrap();
            assert_eq!(named.values, [7], "{missing}");
        }
        // What only looks a little like one is a name.
        for name in ["NO2", "nationality", "y", "n", "t", "no_show", "empty_rooms", "error_code"] {
            let column = run(&format!("{name}\n7\n"), Header::Auto).unwrap();
            assert_eq!((column.name.as_deref(), &column.values[..]), (Some(name), &[7][..]));
        }
    }

    /// What is written is read again, whatever the name.
    #[test]
    fn names_do_not_become_values() {
        for name in ["v", "12", "a,b", "N/A", "\"", "", "x\ny"] {
            let text = write(name, &[5, -6]);
            if let Ok(column) = run(&text, Header::Auto) {
                assert_eq!(column.values, [5, -6], "{text:?}");
            }
            assert_eq!(run(&write("12", &[5]), Header::Yes).unwrap().values, [5]);
        }
    }
}
