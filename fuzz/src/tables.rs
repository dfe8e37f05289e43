//! Schemas, queries, plans, changes and tables in the clear, from anybody.

use std::sync::OnceLock;

use everlevel_tables::{Answer, Change, Data, Edit, Kind, Plan, Query, Schema};

/// The longest input that is looked at, in bytes.
const MAX_TEXT: usize = 4096;

/// What queries without a schema of their own are run on: a column of each type.
const SCHEMA: &str = r#"{"columns": [
    {"name": "kind", "type": "category", "values": ["tea", "cake", "PROMO tea"]},
    {"name": "price", "type": "decimal", "scale": 2, "low": "-0.05", "high": "999.99"},
    {"name": "count", "type": "integer", "low": -3, "high": 9223372036854775807},
    {"name": "sold", "type": "date", "low": "1992-01-01", "high": "1998-12-31", "nullable": true,
     "index": true},
    {"name": "paid", "type": "boolean"},
    {"name": "note", "type": "text", "bytes": 20, "nullable": true},
    {"name": "share", "type": "integer", "low": 0, "high": 9, "nullable": true}]}"#;

fn schema() -> &'static Schema {
    static KNOWN: OnceLock<Schema> = OnceLock::new();
    KNOWN.get_or_init(|| Schema::from_json(SCHEMA).expect("a schema"))
}

/// Rows at the bounds of the columns, and between them.
fn rows(schema: &Schema) -> Option<Data> {
    let entries = |(low, high): (i128, i128)| vec![low, high, low + (high - low) / 2, high, low];
    // Columns of an index, which follow the one that they are of, are made from its codes.
    let fields = schema.fields();
    let of_index = |i: usize| {
        let same = i > 0 && fields[i].name() == fields[i - 1].name();
        same && !matches!(fields[i].kind(), Kind::Text { .. })
    };
    let fields = (0..fields.len()).filter(|i| !of_index(*i)).map(move |i| &fields[i]);
    let columns = fields.map(|field| match (field.kind(), field.bounds()) {
        // Other codes may be those of no text.
        (Kind::Text { .. }, (least, _)) => entries((least, least)),
        (_, bounds) => entries(bounds),
    });
    let columns = columns.collect();
    Data::from_columns(columns, schema).ok()
}

/// Reads a statement, behind a NUL the schema that it is for; as a plan, as a schema and as a table
/// as well. Whether it is a query or a change.
pub fn tables(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    if text.len() > MAX_TEXT {
        return false;
    }
    let (statement, own) = match text.split_once('\0') {
        Some((statement, own)) => (statement, Schema::from_json(own).ok()),
        None => (text, None),
    };
    if let Some(own) = &own {
        let back = own.to_json().and_then(|json| Schema::from_json(&json));
        assert_eq!(back.as_ref(), Ok(own), "schemas are read as they are written");
    }
    let schema = own.as_ref().unwrap_or_else(|| schema());
    if let Ok(plan) = Plan::from_json(text) {
        assert_eq!(Plan::from_json(&plan.to_json().expect("JSON")), Ok(plan));
    }
    if let Ok(data) = Data::from_csv(text.as_bytes(), schema) {
        let written = data.to_csv(schema).expect("CSV");
        if schema.columns().count() > 1 || schema.fields()[0].null().is_none() {
            assert_eq!(Data::from_csv(written.as_bytes(), schema).as_ref(), Ok(&data));
        }
    }
    let Some(data) = rows(schema) else { return false };
    asked(statement, schema, &data) | changed(statement, schema)
}

/// A query is a plan that survives, and has an answer or is refused.
fn asked(text: &str, schema: &Schema, data: &Data) -> bool {
    let Ok(query) = Query::parse(text, schema) else { return false };
    let plan = Plan::new(text, schema).expect("a query is a plan");
    assert_eq!(Plan::from_json(&plan.to_json().expect("JSON")).as_ref(), Ok(&plan));
    let constants: Vec<i128> =
        query.parameters.iter().map(|p| schema.fields()[p.column].values().1).collect();
    if let Ok(answer) = Answer::plain_with(&query, schema, data, &constants) {
        assert!(answer.rows.iter().all(|row| row.len() == answer.names.len()));
        answer.to_csv().expect("CSV");
        answer.to_json(&query.output_types(schema));
    }
    true
}

/// What a change sets is a column of its schema, once.
fn changed(text: &str, schema: &Schema) -> bool {
    let Ok(change) = Change::parse(text, schema) else { return false };
    if let Edit::Update(_, columns) = change.edit() {
        let mut places: Vec<usize> = columns.iter().map(|a| a.column).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() == columns.len() && !places.is_empty());
        assert!(places.iter().all(|place| *place < schema.fields().len()));
    }
    true
}
