//! Texts that are refused: what cannot be asked of them, and what is no text of its column.

use everlevel_tables::{Answer, Data, Plan, Query, Schema, TablesError};

use crate::roles::code;
use crate::texts::schema;

#[test]
fn what_is_refused() {
    let schema = schema();
    for sql in [
        "select count(*) from t where name < 'b'",
        "select count(*) from t where name between 'a' and 'b'",
        "select count(*) from t where name like 'A%'",
        "select count(*) from t where starts_with(name, 'A')",
        "select count(*) from t where name = note",
        "select count(*) from t where name = :name",
        "select count(*) from t where :name = name",
        "select count(*) from t where name in ('a', :name)",
        "select name, count(*) from t group by name",
        "select distinct name from t",
        "select distinct id, note from t",
        "select max(name) from t",
        "select count(distinct note) from t",
    ] {
        match Plan::new(sql, &schema) {
            Err(TablesError::Unsupported { remedy, .. }) => {
                assert!(remedy.contains("category"), "{sql}: {remedy}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
    for sql in ["select sum(name) from t", "select count(*) from t where name = 3"] {
        assert!(["table.type", "table.unsupported"].contains(&code(Plan::new(sql, &schema))));
    }
    for (bytes, nullable) in [(0u32, false), (1025, false), (u32::MAX, true)] {
        let text = format!(
            r#"{{"columns": [{{"name": "x", "type": "text", "bytes": {bytes},
                               "nullable": {nullable}}}]}}"#
        );
        assert_eq!(code(Schema::from_json(&text)), "table.data");
    }
    // All parts together are at most as many as columns.
    let column = |i: u32| format!(r#"{{"name": "x{i}", "type": "text", "bytes": 1024}}"#);
    let columns = (0..56).map(column).collect::<Vec<_>>().join(", ");
    assert_eq!(code(Schema::from_json(&format!(r#"{{"columns": [{columns}]}}"#))), "table.data");
    for (csv, column) in [
        ("id,name,note,paid\n1,twenty bytes to fill!,x,true\n", "name"),
        ("id,name,note,paid\n1,x,fifteen bytes !,true\n", "note"),
    ] {
        match Data::from_csv(csv.as_bytes(), &schema) {
            Err(TablesError::Value { line: 2, column: found, .. }) => assert_eq!(found, column),
            other => panic!("{other:?}"),
        }
    }
    let alone = r#"{"columns": [{"name": "x", "type": "text", "bytes": 4}]}"#;
    let alone = Schema::from_json(alone).unwrap();
    assert_eq!(code(Data::from_csv("x\na\n".as_bytes(), &alone)), "table.data");
    assert!(Data::from_csv("x,y\na,\n".as_bytes(), &alone).is_ok());
    // Parts that are of no text, from a table and from a server.
    let columns = vec![vec![1], vec![0xff], vec![0x62], vec![0], vec![1]];
    assert_eq!(code(Data::from_columns(columns, &schema)), "table.data");
    let query = Query::parse("select name from t", &schema).unwrap();
    let answer = Answer::new(&query, &schema, &[vec![0xff, 0x62]]);
    assert_eq!(code(answer), "scheme.not-decryptable");
    let key = r#"{"columns": [{"name": "x", "type": "text", "bytes": 4},
                              {"name": "y", "type": "boolean"}],
                  "foreign_keys": [{"column": "x", "table": "b", "key": "k", "include": ["y"]}]}"#;
    assert_eq!(code(Schema::from_json(key)), "table.data");
}
