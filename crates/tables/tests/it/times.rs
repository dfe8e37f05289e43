//! Columns of dates with times of day.

use everlevel_tables::{Answer, Data, OutputType, Plan, Query, Schema, TableKey, TimeUnit};

use crate::Bench;
use crate::roles::{PARTIES, code, quiet, run};

const SCHEMA: &str = r#"{"columns": [
    {"name": "at", "type": "timestamp", "unit": "ms",
     "low": "2024-01-01T00:00:00", "high": "2024-12-31T23:59:59.999"},
    {"name": "until", "type": "timestamp", "unit": "ms", "nullable": true,
     "low": "2024-01-01T00:00:00", "high": "2025-12-31T23:59:59.999"},
    {"name": "seen", "type": "timestamp", "unit": "us", "utc": true,
     "low": "2024-01-01T00:00:00Z", "high": "2024-12-31T23:59:59.999999Z"},
    {"name": "n", "type": "integer", "low": 0, "high": 15}]}"#;

const ROWS: &str = "at,until,seen,n\n\
    2024-01-01T00:00:00,2024-01-01T00:00:00.001,2024-01-01T00:00:00Z,1\n\
    2024-02-29 12:30:00.500,,2024-03-01T01:00:00.000001+01:00,2\n\
    2024-12-31T23:59:59.999,2024-06-01T00:00,2024-12-31T23:59:59.999999Z,3\n\
    2024-06-01T00:00:00,2025-12-31T23:59:59.999,2024-06-30T18:00:00-06:00,4\n";

fn table() -> (Schema, Data) {
    let schema = Schema::from_json(SCHEMA).unwrap();
    let data = Data::from_csv(ROWS.as_bytes(), &schema).unwrap();
    (schema, data)
}

#[test]
fn answers_about_times() {
    let (bench, (schema, data)) = (Bench::new("insecure_bgv-65537-n11"), table());
    for (condition, rows) in [
        ("at >= timestamp '2024-02-29 12:30:00.5'", "2 3 4"),
        ("at > timestamp '2024-02-29 12:30:00.5'", "3 4"),
        // Between two codes.
        ("at > timestamp '2024-02-29 12:30:00.4999'", "2 3 4"),
        ("at >= timestamp '2024-02-29 12:30:00.5001'", "3 4"),
        ("at <= timestamp '2024-02-29 12:30:00.5001'", "1 2"),
        ("at < timestamp '2024-02-29 12:30:00.5001'", "1 2"),
        ("at = timestamp '2024-02-29 12:30:00.5001'", ""),
        ("at <> timestamp '2024-02-29 12:30:00.5001'", "1 2 3 4"),
        ("timestamp '2024-12-31 23:59:59.9989' < at", "3"),
        ("at = '2024-06-01T00:00:00'", "4"),
        ("at < '2023-12-31T23:59:59'", ""),
        ("at < '2031-12-31T23:59:59'", "1 2 3 4"),
        // A day begins at midnight.
        ("at >= date '2024-06-01'", "3 4"),
        ("at < date '2024-06-01' and at > timestamp '2024-01-01'", "2"),
        ("at between timestamp '2024-01-31 10:00' + interval '1' month and date '2024-03-01'", "2"),
        ("at >= timestamp '2024-02-29 11:30:00.5' + interval '1 hour'", "2 3 4"),
        ("at in (timestamp '2024-01-01', '2024-06-01T00:00')", "1 4"),
        ("until is null", "2"),
        ("until > at", "1 4"),
        ("not until > at", "3"),
        ("seen = timestamptz '2024-03-01 00:00:00.000001Z'", "2"),
        ("seen = timestamp with time zone '2024-03-01 02:00:00.000001+02:00'", "2"),
        ("seen >= '2024-07-01T00:00:00Z'", "3 4"),
    ] {
        let sql = format!("select n from t where {condition} order by n");
        let found = bench.ask(&sql, &schema, &data);
        let query = Query::parse(&sql, &schema).unwrap();
        assert_eq!(found, Answer::plain(&query, &schema, &data).unwrap(), "{sql}");
        let found: Vec<String> = found.rows.iter().map(|row| row[0].to_string()).collect();
        assert_eq!(found.join(" "), rows, "{condition}");
    }
    let sql = "select min(at), max(until), max(seen), count(distinct until) from t";
    let answer = bench.ask(sql, &schema, &data);
    assert_eq!(
        answer.to_csv().unwrap().lines().nth(1).unwrap(),
        "2024-01-01T00:00:00.000,2025-12-31T23:59:59.999,2024-12-31T23:59:59.999999Z,3"
    );
    let query = Query::parse(sql, &schema).unwrap();
    let types = query.output_types(&schema);
    assert_eq!(types[2], OutputType::Timestamp { unit: TimeUnit::Microsecond, utc: true });
    assert_eq!(
        answer.to_json(&types)["types"][0],
        serde_json::json!({"type": "timestamp", "unit": "ms", "utc": false})
    );
}

#[test]
fn times_that_are_refused() {
    let (schema, _) = table();
    for (condition, expected) in [
        // Offsets are neither made up nor left out.
        ("at > timestamptz '2024-01-01 00:00:00Z'", "table.type"),
        ("at > timestamp '2024-01-01 00:00:00Z'", "table.type"),
        ("at > '2024-01-01T00:00:00Z'", "table.type"),
        ("seen > timestamp '2024-01-01 00:00:00'", "table.type"),
        ("seen > timestamptz '2024-01-01 00:00:00'", "table.type"),
        ("seen > date '2024-01-01'", "table.type"),
        ("seen > at", "table.type"),
        ("at > 3", "table.type"),
        ("at > '2024-01-01'", "table.type"),
        ("at > timestamp '2024-01-01 24:00:00'", "table.type"),
        ("at > timestamp(3) '2024-01-01 00:00:00'", "table.type"),
        ("at > time '10:00'", "table.type"),
        ("at > date '2024-01-01' + interval '1 hour'", "table.unsupported"),
        ("at + interval '1 hour' > timestamp '2024-01-01'", "table.unsupported"),
        // Units behind the first one, and precisions, are not passed over.
        ("at > timestamp '2024-01-01' + interval '3' day to second", "table.unsupported"),
        ("at > timestamp '2024-01-01' + interval '3' second (1)", "table.unsupported"),
    ] {
        let sql = format!("select n from t where {condition}");
        let error = Query::parse(&sql, &schema).expect_err(condition);
        assert_eq!(error.code(), expected, "{condition}: {error}");
    }
    for cell in [
        "2024-01-01",
        "2023-12-31T23:59:59.999",
        "2025-01-01T00:00:00",
        "2024-01-01T00:00:00.0001",
        "2024-01-01T00:00:00Z",
        "1704067200000",
        "",
    ] {
        let rows = format!("at,until,seen,n\n{cell},,2024-01-01T00:00:00Z,1\n");
        assert_eq!(code(Data::from_csv(rows.as_bytes(), &schema)), "table.value", "{cell}");
    }
    for kind in [
        r#""unit": "ns", "low": "2024-01-01T00:00:00", "high": "2024-01-02T00:00:00""#,
        r#""unit": "s", "low": "2024-01-01T00:00:00", "high": "2024-01-02T00:00:00.5""#,
        r#""unit": "s", "low": "2024-01-01T00:00:00", "high": "2023-01-02T00:00:00""#,
        r#""unit": "s", "low": "2024-01-01T00:00:00Z", "high": "2024-01-02T00:00:00Z""#,
        r#""unit": "s", "utc": true, "low": "2024-01-01T00:00:00", "high": "2025-01-02T00:00:00""#,
        r#""low": "2024-01-01T00:00:00", "high": "2024-01-02T00:00:00""#,
        // In UTC outside of the years that a schema can state.
        r#""unit": "s", "utc": true, "low": "2024-01-01T00:00Z", "high": "9999-12-31T23:30-00:30""#,
        r#""unit": "s", "utc": true, "low": "0000-01-01T00:00+00:30", "high": "2024-01-01T00:00Z""#,
    ] {
        let schema = format!(r#"{{"columns": [{{"name": "a", "type": "timestamp", {kind}}}]}}"#);
        assert_eq!(code(Schema::from_json(&schema)), "table.data", "{kind}");
    }
}

/// The first and the last point in time that a schema can state, each with an offset.
#[test]
fn schemas_state_all_bounds_that_they_accept() {
    let schema = Schema::from_json(
        r#"{"columns": [{"name": "at", "type": "timestamp", "unit": "s", "utc": true,
            "low": "0000-01-01T00:30+00:30", "high": "9999-12-31T23:29:59-00:30"}]}"#,
    )
    .unwrap();
    let written = schema.to_json().unwrap();
    assert!(written.contains("0000-01-01T00:00:00Z"), "{written}");
    assert!(written.contains("9999-12-31T23:59:59Z"), "{written}");
    assert_eq!(Schema::from_json(&written).unwrap(), schema);
    for cell in ["0000-01-01T00:29:59+00:30", "9999-12-31T23:30:00-00:30"] {
        let rows = format!("at\n{cell}\n");
        assert_eq!(code(Data::from_csv(rows.as_bytes(), &schema)), "table.value", "{cell}");
    }
}

#[test]
fn times_survive_encryption_and_changes() {
    let (schema, data) = table();
    assert_eq!(Schema::from_json(&schema.to_json().unwrap()).unwrap(), schema);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let table =
        everlevel_tables::EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    assert_eq!(table.decrypt(PARTIES.client.secret(), quiet).unwrap(), data);
    let sql = "select at, seen from t where until > at order by at";
    let plan = Plan::new(sql, &schema).unwrap();
    let answer = run(&table, &plan).unwrap().read(PARTIES.client.secret()).unwrap();
    assert_eq!(
        answer.to_csv().unwrap(),
        "at,seen\n2024-01-01T00:00:00.000,2024-01-01T00:00:00.000000Z\n\
         2024-06-01T00:00:00.000,2024-07-01T00:00:00.000000Z\n"
    );
    let set =
        |what: &str| everlevel_tables::Change::parse(&format!("update t set {what}"), &schema);
    for what in ["until = at", "at = timestamp '2024-05-05 05:05'", "at = '2024-05-05T05:05:00'"] {
        let change = set(what).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(table.changed(PARTIES.client.secret(), &change, &mut rng, quiet).is_ok(), "{what}");
    }
    for what in ["at = seen", "at = timestamp '2024-05-05 05:05:00.0001'", "at = date '2024-01-01'"]
    {
        assert_eq!(code(set(what)), "table.type", "{what}");
    }
    // Where the values of the other column are not within the bounds nothing is changed.
    let change = set("at = until").unwrap();
    let error = table.changed(PARTIES.client.secret(), &change, &mut rng, quiet).err().unwrap();
    assert_eq!(error.code(), "table.change");
}

#[test]
fn times_are_found_in_data() {
    let csv = "a,b,c,d\n2024-05-05 10:00:00,2024-05-05T10:00:00.25+02:00,2024-05-05T10:00,x\n\
               2023-05-05 10:00:00.000001,2024-01-01T00:00:00Z,2024-05-05T10:00Z,2024-05-05T10:00\n";
    let (schema, _) = Schema::infer(csv.as_bytes()).unwrap();
    let told: Vec<String> = schema.fields().iter().map(|f| f.expected_value()).collect();
    assert!(
        told[0].starts_with(
            "a date and time from 2023-01-01T00:00:00.000000 to 2024-12-31T23:59:59.999999 without"
        ),
        "{told:?}"
    );
    assert!(
        told[1].starts_with(
            "a date and time from 2024-01-01T00:00:00.000Z to 2024-12-31T23:59:59.999Z with"
        ),
        "{told:?}"
    );
    // Of some with an offset and some without nothing is guessed.
    assert!(told[2].starts_with("one of") && told[3].starts_with("one of"), "{told:?}");
    assert_eq!(Data::from_csv(csv.as_bytes(), &schema).unwrap().rows(), 2);
}
