//! Tables of typed columns: which columns of a file are read as what, and how results are written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use everlevel::Type;
use everlevel_tables::did_you_mean;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use zeroize::Zeroizing;

use super::Format;
use super::csv::MAX_BYTES;
use super::{named, npy};
use crate::console::errors::CliError;
use crate::console::files::{read_bytes, read_text};

/// A column with its name.
pub struct Named {
    /// The name.
    pub name: String,
    /// What it may hold.
    pub kind: Type,
    /// Its entries; for results one for a total.
    pub values: Zeroizing<Vec<i128>>,
    /// Whether it is a total.
    pub total: bool,
}

/// Whether all columns that are to have an index are among those of these types.
pub fn check_indexes(indexes: &[String], types: &[(String, Type)]) -> Result<(), CliError> {
    let names = || types.iter().map(|(name, _)| name.as_str());
    match indexes.iter().find(|index| !names().any(|name| name == index.as_str())) {
        None => Ok(()),
        Some(index) => Err(CliError::usage(format!(
            "--index {index}: --types has no column {index}{}",
            did_you_mean(index, names())
        ))),
    }
}

/// `age=u8,income=u32:0..5000000`: names, each with a type, a range, or a type and a range within
/// it.
pub fn types(text: &str) -> Result<Vec<(String, Type)>, CliError> {
    let wrong = |part: &str| {
        CliError::usage(format!(
            "--types: expected NAME=TYPE, NAME=LOW..HIGH or NAME=TYPE:LOW..HIGH, separated by \
             commas, found {part:?}"
        ))
    };
    let told = |e: everlevel::IntegersError| CliError::usage(e);
    let parsed = |name: &str, text: &str| {
        let ends =
            text.split_once("..").map(|(low, high)| (low.parse::<i128>(), high.parse::<i128>()));
        if let Some((Ok(low), Ok(high))) = ends
            && low > high
        {
            return Err(CliError::usage(format!(
                "--types: {name}: the lower bound {low} is above the upper bound {high}: \
                 exchange them"
            )));
        }
        text.parse::<Type>().map_err(told)
    };
    let mut out: Vec<(String, Type)> = Vec::new();
    for part in text.split(',') {
        let (name, kind) = part.split_once('=').ok_or_else(|| wrong(part))?;
        let (name, kind) = (name.trim(), kind.trim());
        let kind = match kind.split_once(':') {
            None => parsed(name, kind)?,
            Some((named, range)) => {
                let (named, range) = (parsed(name, named)?, parsed(name, range)?);
                if !named.interval().holds(range.interval()) {
                    return Err(CliError::usage(format!(
                        "--types: {name}: {range} is not within {named}: state a wider type, or \
                         the bounds alone, as in {name}=LOW..HIGH"
                    )));
                }
                range
            }
        };
        if name.is_empty() {
            return Err(wrong(part));
        }
        if out.iter().any(|(known, _)| known == name) {
            return Err(CliError::usage(format!("--types: {name} is given twice")));
        }
        out.push((name.into(), kind));
    }
    Ok(out)
}

/// The columns of a file that have types: of a CSV file with a header, of a JSON object of arrays,
/// or the only one of a NumPy file.
pub fn read(
    path: &Path,
    format: Option<Format>,
    types: &[(String, Type)],
) -> Result<Vec<Named>, CliError> {
    let shown = path.display();
    let what = "the columns";
    let wrong = |problem: String| CliError::usage(format!("{shown}: {problem}"));
    let columns = match Format::of(path, format)? {
        Format::Csv => csv_columns(&read_text(path, MAX_BYTES, what)?, types),
        Format::Json => json_columns(&read_text(path, MAX_BYTES, what)?, types),
        Format::Npy => match types {
            [_] => npy::read(&read_bytes(path, MAX_BYTES, what)?).map(|(_, v)| vec![v.into()]),
            _ => Err("a NumPy file holds one column: give one type".into()),
        },
    };
    let columns = columns.map_err(wrong)?;
    let length = columns.first().map_or(0, |v| v.len());
    if length == 0 {
        return Err(wrong("expected at least one row with values".into()));
    }
    let named = types.iter().zip(columns).map(|((name, kind), values)| {
        if values.len() != length {
            let found = values.len();
            return Err(wrong(format!(
                "column {name} has {found} values, and the first one {length}"
            )));
        }
        Ok(Named { name: name.clone(), kind: *kind, values, total: false })
    });
    named.collect()
}

/// What to do about a value that its type does not hold.
const WIDEN: &str = ": state a type or bounds that hold every value, such as i16 or LOW..HIGH, and \
                     write decimals in their smallest unit, cents say";

/// An integer, or a truth value.
fn integer(text: &str) -> Option<i128> {
    match text {
        "true" | "True" | "TRUE" => Some(1),
        "false" | "False" | "FALSE" => Some(0),
        _ => text.parse().ok(),
    }
}

fn csv_columns(text: &str, types: &[(String, Type)]) -> Result<Vec<Zeroizing<Vec<i128>>>, String> {
    let mut columns = vec![Zeroizing::new(Vec::new()); types.len()];
    let names: Vec<&str> = types.iter().map(|(name, _)| name.as_str()).collect();
    named::read(text, &names, |place, line, cell| {
        let (name, kind) = &types[place];
        let value = integer(cell).filter(|v| kind.interval().contains(*v)).ok_or_else(|| {
            let shown: String = cell.chars().take(40).collect();
            format!(
                "line {line}, column {name}: expected an integer of {kind}, found {shown:?}{WIDEN}"
            )
        })?;
        columns[place].push(value);
        Ok(())
    })?;
    Ok(columns)
}

fn json_columns(text: &str, types: &[(String, Type)]) -> Result<Vec<Zeroizing<Vec<i128>>>, String> {
    let Entries(json): Entries<serde_json::Value> = serde_json::from_str(text)
        .map_err(|e| format!("expected an object of arrays of integers: {e}"))?;
    let column = |(name, kind): &(String, Type)| {
        let array = json.get(name).and_then(|v| v.as_array());
        let array = array.ok_or_else(|| {
            let meant = did_you_mean(name, json.keys().map(String::as_str));
            format!("expected an array {name:?} in an object{meant}")
        })?;
        let value = |(i, v): (usize, &serde_json::Value)| {
            integer(&v.to_string()).filter(|v| kind.interval().contains(*v)).ok_or_else(|| {
                let shown: String = v.to_string().chars().take(40).collect();
                format!("{name}[{i}]: expected an integer of {kind}, found {shown}{WIDEN}")
            })
        };
        array.iter().enumerate().map(value).collect::<Result<Vec<_>, String>>().map(Zeroizing::new)
    };
    types.iter().map(column).collect()
}

/// A JSON object, of which no name is there twice.
pub struct Entries<V>(pub BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Self(BTreeMap::new()))
    }
}

impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some((name, value)) = map.next_entry::<String, V>()? {
            if self.0.contains_key(&name) {
                return Err(A::Error::custom(format!("{name:?} occurs twice")));
            }
            self.0.insert(name, value);
        }
        Ok(self)
    }
}

/// Results as the bytes of a file: CSV with a header, an object of arrays in which totals are
/// integers, or a NumPy array of the smallest integers that hold the types, of several columns a
/// structured one.
pub fn bytes(format: Format, columns: &[Named]) -> Result<Vec<u8>, CliError> {
    match format {
        Format::Csv => Ok(csv(columns).into_bytes()),
        Format::Json => {
            let mut text = json(columns)?;
            text.push('\n');
            Ok(text.into_bytes())
        }
        Format::Npy => numpy(columns),
    }
}

fn csv(columns: &[Named]) -> String {
    let quoted = |name: &str| match name.contains([',', '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.into(),
    };
    let row = |cells: Vec<String>| cells.join(",") + "\n";
    let mut out = row(columns.iter().map(|c| quoted(&c.name)).collect());
    let rows = columns.iter().map(|c| c.values.len()).max().unwrap_or(0);
    for i in 0..rows {
        let cell = |c: &Named| c.values.get(i).map_or(String::new(), i128::to_string);
        out += &row(columns.iter().map(cell).collect());
    }
    out
}

/// Columns as one JSON object: integers of any size.
pub fn json(columns: &[Named]) -> Result<String, CliError> {
    let entry = |c: &Named| {
        let name = serde_json::to_string(&c.name).map_err(CliError::failure)?;
        let values: Vec<String> = c.values.iter().map(i128::to_string).collect();
        Ok(match c.total {
            true => format!("{name}:{}", values.join("")),
            false => format!("{name}:[{}]", values.join(",")),
        })
    };
    let entries = columns.iter().map(entry).collect::<Result<Vec<_>, CliError>>()?;
    Ok(format!("{{{}}}", entries.join(",")))
}

fn numpy(columns: &[Named]) -> Result<Vec<u8>, CliError> {
    let rows = columns.first().map_or(0, |c| c.values.len());
    let mut fields = Vec::with_capacity(columns.len());
    for c in columns {
        let (descr, size) = match Type::smallest(c.kind.interval()) {
            Some(Type::Bool) => ("|b1", 1),
            Some(Type::U8) => ("|u1", 1),
            Some(Type::I8) => ("|i1", 1),
            Some(Type::U16) => ("<u2", 2),
            Some(Type::I16) => ("<i2", 2),
            Some(Type::U32) => ("<u4", 4),
            Some(Type::I32) => ("<i4", 4),
            Some(Type::U64) => ("<u8", 8),
            Some(Type::I64) => ("<i8", 8),
            _ => {
                let problem = "no integer type of NumPy can hold its values: write .csv or .json";
                return Err(CliError::usage(format!("column {}: {problem}", c.name)));
            }
        };
        if c.values.len() != rows {
            return Err(CliError::usage(
                "the columns of a NumPy array have one length, and these differ: write .json",
            ));
        }
        if c.name.contains(['\'', '\\']) {
            return Err(CliError::usage(format!(
                "column {}: NumPy's names have no quotes: write .csv or .json",
                c.name
            )));
        }
        fields.push((c.name.as_str(), descr, size));
    }
    let data = (0..rows).flat_map(|i| {
        let field = |(c, (_, _, size)): (&Named, &(&str, &str, usize))| {
            c.values[i].to_le_bytes().into_iter().take(*size).collect::<Vec<u8>>()
        };
        columns.iter().zip(&fields).flat_map(field).collect::<Vec<u8>>()
    });
    let descr = match &fields[..] {
        [(_, descr, _)] => format!("'{descr}'"),
        several => {
            let each: Vec<String> =
                several.iter().map(|(name, descr, _)| format!("('{name}', '{descr}')")).collect();
            format!("[{}]", each.join(", "))
        }
    };
    Ok(npy::array(&descr, rows, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, kind: &str, values: &[i128], total: bool) -> Named {
        let kind = kind.parse().unwrap();
        Named { name: name.into(), kind, values: values.to_vec().into(), total }
    }

    #[test]
    fn types_are_read() {
        let found = types("age=u8, income=u32:0..5000000,d=-3..4").unwrap();
        let expected = [
            ("age", Type::U8),
            ("income", Type::ranged(0, 5_000_000).unwrap()),
            ("d", Type::ranged(-3, 4).unwrap()),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_string(), kind)));
        for text in ["", "age", "=u8", "age=u7", "a=u8,a=u8", "a=u8:0..256", "a=u8:4", "a=u8,"] {
            assert!(types(text).is_err(), "{text}");
        }
    }

    #[test]
    fn columns_are_found_by_name() {
        let types = types("age=u8,paid=bool").unwrap();
        let text = "\u{feff}name,paid,age\r\n\"Ba, Al\",true,3\r\n\"\"\"x\"\"\",0, 255 \r\n";
        let found = csv_columns(text, &types).unwrap();
        assert_eq!((&found[0][..], &found[1][..]), (&[3, 255][..], &[1, 0][..]));
        let text = r#"{"paid": [true, 0], "age": [3, 255]}"#;
        let found = json_columns(text, &types).unwrap();
        assert_eq!((&found[0][..], &found[1][..]), (&[3, 255][..], &[1, 0][..]));
        for (text, part) in [
            ("", "expected a header"),
            ("age\n1\n", "no column is named paid: there are age"),
            ("age,paid,age\n1,1,1\n", "age twice"),
            ("age,paid\n256,1\n", "line 2, column age: expected an integer of u8, found \"256\""),
            ("age,paid\n1,1\n3\n", "line 3 has 1 cells, and the header has 2"),
            ("name,age,paid\nAda,70,000,1\n", "line 2 has 4 cells, and the header has 3"),
            ("age,paid\n1,1\n\n3,1\n", "line 3 is empty"),
            ("age,paid\n,1\n", "line 2, column age: expected an integer of u8, found \"\""),
            ("age,paid\n1\"2\"3,1\n", "line 2: quotes inside of a cell"),
            ("age,paid\n5\",1\n", "line 2: quotes inside of a cell"),
            ("age,paid\n\"5\"1,1\n", "line 2: text follows the closing quotes of a cell"),
            ("age,paid\n\"5,1\n", "line 2: a cell with quotes does not end"),
            ("age,paid\n1.5,1\n", "found \"1.5\""),
        ] {
            let problem = csv_columns(text, &types).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
        let twice = r#"{"age": [1], "paid": [1], "age": [2]}"#;
        for text in ["[]", "{}", "{\"age\": 3}", "{\"age\": [1.5], \"paid\": [1]}", twice] {
            assert!(json_columns(text, &types).is_err(), "{text}");
        }
    }

    #[test]
    fn results_are_written() {
        let columns = [named("a", "u8", &[1, 200], false), named("b,c", "i16", &[-2, 5], false)];
        assert_eq!(bytes(Format::Csv, &columns).unwrap(), b"a,\"b,c\"\n1,-2\n200,5\n");
        assert_eq!(bytes(Format::Json, &columns).unwrap(), b"{\"a\":[1,200],\"b,c\":[-2,5]}\n");
        let array = bytes(Format::Npy, &columns).unwrap();
        let text = String::from_utf8_lossy(&array);
        assert!(text.contains("'descr': [('a', '|u1'), ('b,c', '<i2')]"), "{text}");
        assert!(array.ends_with(&[1, 0xfe, 0xff, 200, 5, 0]));
        let one = bytes(Format::Npy, &columns[1..]).unwrap();
        assert_eq!(npy::read(&one).unwrap().1, [-2, 5]);

        let total = [named("a", "u8", &[1, 2], false), named("n", "0..99", &[7], true)];
        assert_eq!(bytes(Format::Csv, &total).unwrap(), b"a,n\n1,7\n2,\n");
        assert_eq!(bytes(Format::Json, &total).unwrap(), b"{\"a\":[1,2],\"n\":7}\n");
        assert!(bytes(Format::Npy, &total).is_err());
        let wide = 1i128 << 100;
        let wide = [named("w", &format!("0..{wide}"), &[wide], true)];
        assert_eq!(
            bytes(Format::Json, &wide).unwrap(),
            format!("{{\"w\":{}}}\n", 1i128 << 100).as_bytes()
        );
        assert!(bytes(Format::Npy, &wide).is_err());
    }
}
