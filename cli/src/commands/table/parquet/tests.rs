//! Files that PyArrow wrote, the same with bytes that somebody changed, and files of answers.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

use everlevel_tables::{Answer, Cell, Data, OutputType, Records, Schema, TablesError, TimeUnit};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::{ParquetRecords, answer, pages};

const SCHEMA: &str = r#"{"columns": [
    {"name": "ward", "type": "category", "values": ["north", "south", "west"]},
    {"name": "days", "type": "integer", "low": 0, "high": 14, "nullable": true},
    {"name": "cost", "type": "decimal", "scale": 2, "low": "0", "high": "999.99"},
    {"name": "rate", "type": "decimal", "scale": 2, "low": "0", "high": "1"},
    {"name": "admitted", "type": "date", "low": "2025-01-01", "high": "2025-12-31"},
    {"name": "seen", "type": "timestamp", "unit": "ms", "low": "2025-01-01T00:00:00",
     "high": "2025-12-31T23:59:59"},
    {"name": "left", "type": "timestamp", "unit": "s", "utc": true,
     "low": "2025-01-01T00:00:00Z", "high": "2025-12-31T23:59:59Z"},
    {"name": "paid", "type": "boolean"},
    {"name": "name", "type": "text", "bytes": 20}
]}"#;

fn place(name: &str) -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.join("tests/parquet").join(format!("{name}.parquet"))
}

fn open(name: &str) -> ParquetRecords {
    ParquetRecords::new(File::open(place(name)).unwrap()).unwrap()
}

/// What the script wrote that made the files.
fn expected(rows: usize) -> String {
    let line = |i: usize| {
        let ward = ["north", "south", "west"][i % 3];
        let days = if i % 7 == 3 { String::new() } else { (i % 15).to_string() };
        let cost = i * 37 % 100_000;
        let days_in = |month: usize| [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month];
        let (mut month, mut day) = (0, i % 365);
        while day >= days_in(month) {
            (month, day) = (month + 1, day - days_in(month));
        }
        format!(
            "{ward},{days},{}.{:02},{}.{:02},2025-{:02}-{:02},2025-01-01T00:00:{:02}.{}00,\
             2025-01-01T{:02}:00:00Z,{},name {i} é\n",
            cost / 100,
            cost % 100,
            i % 100 / 100,
            i % 100,
            month + 1,
            day + 1,
            i % 60,
            i % 2 * 5,
            i % 24,
            i.is_multiple_of(4)
        )
    };
    let names = "ward,days,cost,rate,admitted,seen,left,paid,name\n".to_string();
    names + &(0..rows).map(line).collect::<String>()
}

#[test]
fn files_hold_what_was_written() {
    let schema = Schema::from_json(SCHEMA).unwrap();
    for (name, rows) in [("snappy", 2500), ("gzip", 1200), ("none", 300), ("pages", 1200)] {
        let data = Data::from_records(open(name), &schema, &[]).unwrap();
        let csv = Data::from_csv(expected(rows).as_bytes(), &schema).unwrap();
        assert_eq!(data, csv, "{name}");
    }
    let names = open("snappy").names();
    assert_eq!(names.len(), 11);
}

#[test]
fn what_is_refused() {
    let schema =
        |columns: &str| Schema::from_json(&format!(r#"{{"columns": [{columns}]}}"#)).unwrap();
    let refused = |name: &str, columns: &str| {
        Data::from_records(open(name), &schema(columns), &[]).unwrap_err()
    };
    let days = r#"{"name": "days", "type": "integer", "low": 0, "high": 14"#;
    let cases = [
        // A missing value where none may be.
        ("snappy", format!("{days}}}"), "table.value"),
        ("zstd", format!(r#"{days}, "nullable": true}}"#), "table.unsupported"),
        ("delta", format!(r#"{days}, "nullable": true}}"#), "table.unsupported"),
        ("snappy", r#"{"name": "tags", "type": "text", "bytes": 9}"#.into(), "table.unsupported"),
        ("snappy", r#"{"name": "none", "type": "boolean"}"#.into(), "table.data"),
        // NaN, an empty text in a nullable column, and a number that may have been rounded.
        (
            "edges",
            r#"{"name": "y", "type": "decimal", "scale": 1, "low": "0", "high": "9",
                "nullable": true}"#
                .into(),
            "table.value",
        ),
        (
            "edges",
            r#"{"name": "z", "type": "text", "bytes": 3, "nullable": true}"#.into(),
            "table.value",
        ),
        (
            "edges",
            r#"{"name": "i", "type": "integer", "low": 0, "high": 9223372036854775807}"#.into(),
            "table.value",
        ),
    ];
    for (name, columns, code) in cases {
        let e = refused(name, &columns);
        assert_eq!(e.code(), code, "{name}: {columns}: {e}");
        assert!(!e.to_string().is_empty());
    }
    // Midnights are days where days are asked for.
    let day = r#"{"name": "x", "type": "date", "low": "2025-01-01", "high": "2025-12-31"}"#;
    let single = r#"{"name": "f", "type": "decimal", "scale": 1, "low": "0", "high": "9"}"#;
    let schema = schema(&format!("{day}, {single}"));
    let data = Data::from_records(open("edges"), &schema, &[]).unwrap();
    let expected = "x,f\n2025-01-01,1.5\n2025-01-01,2.5\n2025-01-01,3.5\n";
    assert_eq!(data.to_csv(&schema).unwrap(), expected);
}

#[test]
fn schemas_are_inferred() {
    let (schema, told) = Schema::infer_records(open("gzip")).unwrap();
    let names: Vec<&str> = schema.columns().map(|field| field.name()).collect();
    assert_eq!(names, ["ward", "days", "cost", "rate", "admitted", "seen", "left", "paid"]);
    assert!(schema.fields()[1].null().is_some());
    let why = |column: &str| {
        let told = told.iter().find(|i| i.column == column && !i.kept);
        told.map(|i| &i.told[..]).unwrap_or_default()
    };
    assert!(why("name").contains("\"bytes\""));
    assert!(why("tags").contains("lists") && why("big").contains("63 bits"));
}

/// All rows, whatever is wrong with them.
fn read(file: File) -> Result<usize, TablesError> {
    let mut records = ParquetRecords::new(file)?;
    let places: Vec<_> = (0..records.names().len()).map(|place| (place, None)).collect();
    for place in &places {
        // What cannot be read is left out.
        let _ = records.choose(std::slice::from_ref(place));
    }
    let (mut rows, mut bytes) = (0, 0);
    while records.advance()? {
        bytes += places
            .iter()
            .filter_map(|(place, _)| records.cell(*place))
            .map(str::len)
            .sum::<usize>();
        rows += 1;
    }
    assert!(rows < 1 << 20 && bytes < 1 << 28, "{rows} rows of {bytes} bytes");
    Ok(rows)
}

/// Bytes that were changed, cut, doubled or taken from elsewhere: an error or other rows.
#[test]
fn changed_files_are_read_or_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("x.parquet");
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let (mut refused, mut passed) = (0, 0);
    for name in ["edges", "zstd", "delta", "gzip", "pages", "snappy"] {
        let bytes = fs::read(place(name)).unwrap();
        for round in 0..250 {
            let mut bytes = bytes.clone();
            let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
            for _ in 0..=below(3) {
                // Half of the changes are at the end, in what the file says of itself.
                let length = bytes.len();
                let at = if round % 2 == 0 {
                    below(length)
                } else {
                    length - 1 - below(length.min(3000))
                };
                match below(5) {
                    0 => bytes[at] ^= 1 << below(8),
                    1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
                    2 => drop(bytes.splice(at..(at + below(9)).min(length), [])),
                    3 => {
                        let from = below(length);
                        let piece = bytes[from..(from + below(40)).min(length)].to_vec();
                        drop(bytes.splice(at..at, piece));
                    }
                    _ => bytes.truncate(at.max(4)),
                }
            }
            fs::write(&path, &bytes).unwrap();
            match read(File::open(&path).unwrap()) {
                Ok(_) => passed += 1,
                Err(e) => {
                    assert!(["table.data", "table.unsupported"].contains(&e.code()), "{e}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 300 && passed > 50, "{refused} refused, {passed} read");
}

/// Sizes that lie are found before anything is allocated for them.
#[test]
fn pages_that_lie() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("x.parquet");
    let bytes = fs::read(place("gzip")).unwrap();
    // The first page begins behind the magic bytes: its type, and its size when it is read.
    assert_eq!((bytes[4], bytes[6]), (0x15, 0x15));
    let size_ends = 7 + bytes[7..].iter().position(|byte| *byte < 128).unwrap();
    let mut lies = 0;
    for size in [1u64, 2 << 20, 1 << 29, (1 << 31) - 1] {
        let mut varint = Vec::new();
        let mut rest = size << 1;
        while rest >= 128 {
            varint.push(rest as u8 | 128);
            rest >>= 7;
        }
        varint.push(rest as u8);
        // In as many bytes as there were, or the places of all others are wrong as well.
        if varint.len() > size_ends - 6 {
            lies += 1;
        }
        let mut forged = bytes.clone();
        drop(forged.splice(7..=size_ends, varint));
        fs::write(&path, &forged).unwrap();
        assert!(read(File::open(&path).unwrap()).is_err());
    }
    assert!(lies > 0);
}

const OF_ANSWER: &str = r#"{"columns": [
    {"name": "n", "type": "integer", "low": -9, "high": 9, "nullable": true},
    {"name": "cost", "type": "decimal", "scale": 2, "low": "-9.99", "high": "9.99"},
    {"name": "day", "type": "date", "low": "2025-01-01", "high": "2025-12-31"},
    {"name": "at", "type": "timestamp", "unit": "s", "utc": true,
     "low": "2023-01-01T00:00:00Z", "high": "2023-12-31T23:59:59Z"},
    {"name": "paid", "type": "boolean"},
    {"name": "name", "type": "text", "bytes": 9}
]}"#;

/// What is written is read back, with cells that are missing and whether there are rows or none.
#[test]
fn answers_are_written() {
    let types = [
        OutputType::Integer,
        OutputType::Decimal { scale: 2 },
        OutputType::Date,
        OutputType::Timestamp { unit: TimeUnit::Second, utc: true },
        OutputType::Boolean,
        OutputType::Text,
    ];
    let text = |text: &str, code: i128| Cell::Text(text.into(), code);
    let rows = vec![
        vec![
            text("-3", -3),
            Cell::Number(-150, 2),
            text("2025-01-30", 20_118),
            text("2023-11-14T22:13:20Z", 1_700_000_000),
            text("true", 1),
            text("Zoë", 0),
        ],
        vec![
            Cell::Null,
            text("0.07", 7),
            text("2025-01-01", 20_089),
            text("2023-01-01T00:00:00Z", 1_672_531_200),
            text("false", 0),
            text("x", 0),
        ],
    ];
    let names = ["n", "cost", "day", "at", "paid", "name"].map(String::from).to_vec();
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("x.parquet");
    let opened = |answer: &Answer| {
        fs::write(&path, answer::written(answer, &types).unwrap()).unwrap();
        ParquetRecords::new(File::open(&path).unwrap()).unwrap()
    };
    let answer = Answer { names: names.clone(), rows };
    let schema = Schema::from_json(OF_ANSWER).unwrap();
    let data = Data::from_records(opened(&answer), &schema, &[]).unwrap();
    let expected = "n,cost,day,at,paid,name\n\
                    -3,-1.50,2025-01-30,2023-11-14T22:13:20Z,true,Zoë\n\
                    ,0.07,2025-01-01,2023-01-01T00:00:00Z,false,x\n";
    assert_eq!(data.to_csv(&schema).unwrap(), expected);
    let mut empty = opened(&Answer { names: names.clone(), rows: Vec::new() });
    assert_eq!(empty.names(), names);
    assert!(!empty.advance().unwrap());
}

#[test]
fn answers_that_are_not_written() {
    let of = |names: &[&str], cell: Cell| {
        let names: Vec<String> = names.iter().map(|name| String::from(*name)).collect();
        let rows = vec![vec![cell; names.len()]];
        let types = vec![OutputType::Integer; names.len()];
        answer::written(&Answer { names, rows }, &types)
    };
    // Past 64 bits there are decimals, past 38 digits nothing.
    let most = 10i128.pow(38);
    for units in [0, 1 << 64, -(most - 1)] {
        of(&["n", "m"], Cell::Number(units, 0)).unwrap();
    }
    for (names, cell) in [(["n", "m"], Cell::Number(most, 0)), (["n", "n"], Cell::Number(1, 0))] {
        let e = of(&names, cell).unwrap_err();
        assert_eq!(e.code(), "table.unsupported", "{e}");
    }
}

/// What the reader would take otherwise than the check, which is made before it, takes it.
#[test]
fn headers_that_are_read_in_two_ways() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("x.parquet");
    let bytes = fs::read(place("gzip")).unwrap();
    let checked = |header: &[u8]| {
        let mut forged = bytes.clone();
        drop(forged.splice(4..18, header.iter().copied()));
        fs::write(&path, &forged).unwrap();
        let records = ParquetRecords::new(File::open(&path).unwrap()).unwrap();
        let chunk = records.reader.metadata().row_group(0).column(0);
        pages::check(&records.file, chunk)
    };
    // A dictionary of 26 bytes, 43 when it is compressed, with 3 plain values.
    let header = [0x15, 4, 0x15, 52, 0x15, 86, 0x4c, 0x15, 6, 0x15, 0, 0x12, 0, 0];
    assert_eq!(bytes[4..18], header);
    checked(&header).unwrap();
    let cases: [(&[u8], &str); 5] = [
        // 27 values, each of which the reader has room for before it looks for one.
        (&[0x15, 4, 0x15, 52, 0x15, 86, 0x4c, 0x15, 54, 0x15, 0, 0x12, 0, 0], "more values"),
        // Field 2^16 + 2, which in 16 bits is the size.
        (
            &[
                0x15, 4, 0x15, 52, 0x15, 86, 5, 0x84, 0x80, 8, 0xfe, 0xff, 0xff, 0xff, 15, 0x5c,
                0x15, 6, 0x15, 0, 0x12, 0, 0,
            ],
            "without a header",
        ),
        // A size that is a truth value.
        (&[0x15, 4, 0x15, 52, 0x11, 0x4c, 0x15, 6, 0x15, 0, 0x12, 0, 0], "without a header"),
        // 3 - 2^32 values, which in 32 bits are 3.
        (
            &[
                0x15, 4, 0x15, 52, 0x15, 86, 0x4c, 0x15, 0xf9, 0xff, 0xff, 0xff, 0x1f, 0x15, 0,
                0x12, 0, 0,
            ],
            "without a header",
        ),
        // A page of the first version with another encoding than that of the second version.
        (
            &[
                0x15, 0, 0x15, 52, 0x15, 86, 0x2c, 0x15, 6, 0x15, 10, 0x15, 6, 0x15, 6, 0, 0x3c,
                0x45, 0, 0, 0,
            ],
            "the encoding 5",
        ),
    ];
    for (header, why) in cases {
        let refused = checked(header).unwrap_err();
        assert!(refused.to_string().contains(why), "{header:?}: {refused}");
    }
}

/// A dictionary holds a text once, and every row is as long as it.
#[test]
fn long_texts_that_rows_repeat() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("x.parquet");
    let opened = |rows: usize| {
        let schema = parse_message_type("message rows { required binary text (UTF8); }").unwrap();
        let properties = WriterProperties::builder().set_dictionary_page_size_limit(1 << 24);
        let (file, properties) = (File::create(&path).unwrap(), Arc::new(properties.build()));
        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts = vec![ByteArray::from(vec![b'x'; 1 << 20]); rows];
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        assert!(fs::metadata(&path).unwrap().len() < 1 << 22);
        let mut records = ParquetRecords::new(File::open(&path).unwrap()).unwrap();
        records.choose(&[(0, None)]).unwrap();
        records
    };
    assert!(opened(3).advance().unwrap());
    let refused = opened(257).advance().unwrap_err();
    assert_eq!(refused.code(), "table.data");
    assert!(refused.to_string().contains("256 MiB"), "{refused}");
}
