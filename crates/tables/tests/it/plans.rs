//! Plans and schemas as text from anybody.

use everlevel_tables::{
    Kind, OutputType, PLAN_BYTES, Plan, Query, SCHEMA_BYTES, Schema, TablesError,
};

use crate::shop;

fn code<T>(result: Result<T, TablesError>) -> &'static str {
    result.err().expect("it is refused").code()
}

#[test]
fn plans_survive() {
    let (schema, _) = shop();
    let plan = Plan::new("select sum(price) from shop where kind = 'tea'", &schema).unwrap();
    let text = plan.to_json().unwrap();
    let back = Plan::from_json(&text).unwrap();
    assert_eq!(back, plan);
    assert_eq!(back.to_json().unwrap(), text);
    assert_eq!(back.id().unwrap(), plan.id().unwrap());
    assert_eq!(Schema::from_json(&schema.to_json().unwrap()).unwrap(), schema);
}

#[test]
fn plans_that_are_none() {
    let (schema, _) = shop();
    let text = Plan::new("select count(*) from shop", &schema).unwrap().to_json().unwrap();
    for (from, to, expected) in [
        ("everlevel table plan", "everlevel table", "table.plan"),
        ("\"version\":2", "\"version\":1", "table.plan"),
        ("\"version\":2", "\"version\":2e0", "table.plan"),
        ("\"version\":2", "\"version\":2,\"version\":2", "table.plan"),
        ("\"version\":2", "\"version\":2,\"more\":1", "table.plan"),
        ("\"question\"", "\"answer\"", "table.plan"),
        ("select count(*)", "select stddev(price)", "table.unsupported"),
        ("select count(*)", "drop table", "table.syntax"),
        ("\"high\":500", "\"high\":5e2", "table.plan"),
        ("\"high\":500", "\"high\":-500", "table.plan"),
        ("\"high\":500", "\"high\":99999999999999999999", "table.plan"),
        ("\"high\":500", "\"high\":500,\"high\":501", "table.plan"),
        ("\"high\":500", "\"high\":500,\"higher\":501", "table.plan"),
        ("\"scale\":2", "\"scale\":2000000000", "table.plan"),
        ("\"0.05\"", "\"NaN\"", "table.plan"),
        ("\"0.05\"", &format!("\"{}\"", "9".repeat(100_000)), "table.plan"),
        ("\"name\":\"kind\"", "\"name\":\"\"", "table.plan"),
        ("\"name\":\"kind\"", "\"name\":\"a\\u001b[2Jb\"", "table.plan"),
        ("\"name\":\"kind\"", &format!("\"name\":\"{}\"", "k".repeat(65)), "table.plan"),
        ("\"name\":\"kind\"", "\"name\":\"PRICE\"", "table.plan"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let error = Plan::from_json(&changed).expect_err(to);
        let told = error.to_string();
        assert_eq!(error.code(), expected, "{from} -> {to:.80}: {told:.200}");
    }
    for length in 0..text.len() {
        assert_eq!(code(Plan::from_json(&text[..length])), "table.plan");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(code(Plan::from_json(&deep)), "table.plan");
    assert_eq!(code(Schema::from_json(&deep)), "table.data");
}

/// Six bytes of JSON for each character that it escapes, in the query and in the categories.
#[test]
fn what_is_written_can_be_read() {
    let schema = |characters: usize| {
        let values = vec!["a".into(), format!("b{}c", "\u{1}".repeat(characters))];
        Schema::new([("c".to_string(), Kind::Category { values })]).unwrap()
    };
    let asked = |schema: &Schema| {
        let text = format!("select count(*) from t where c = '{}'", "\u{1}".repeat(65_000));
        Plan::new(&text, schema).unwrap()
    };
    let most = (SCHEMA_BYTES as usize - 200) / 6;
    let large = schema(most);
    assert_eq!(Schema::from_json(&large.to_json().unwrap()), Ok(large.clone()));
    let plan = asked(&large);
    let text = plan.to_json().unwrap() + "\n";
    assert!(text.len() > SCHEMA_BYTES as usize - 300 + 6 * 65_000);
    assert_eq!(Plan::from_json(&text), Ok(plan));
    // A schema that cannot be read, in a plan that could not be either.
    let larger = schema(most + 6_000);
    assert_eq!(code(larger.to_json()), "table.data");
    assert_eq!(code(asked(&larger).to_json()), "table.data");
    assert_eq!(code(asked(&larger).id()), "table.data");
    // A text that is too long, whatever is in it.
    let padded = format!("{text}{}", " ".repeat(PLAN_BYTES as usize - text.len()));
    Plan::from_json(&padded).unwrap();
    assert_eq!(code(Plan::from_json(&(padded + " "))), "table.plan");
}

#[test]
fn schemas_of_any_size_are_answered_at_once() {
    // As many categories, and as many columns, as a file may hold.
    let values: Vec<String> = (0..140_000).map(|i| format!("\"{i:05x}\"")).collect();
    let column =
        format!(r#"{{"name": "c", "type": "category", "values": [{}]}}"#, values.join(","));
    let schema = Schema::from_json(&format!(r#"{{"columns": [{column}]}}"#));
    assert_eq!(code(schema), "table.data");
    let columns: Vec<_> =
        (0..20_000).map(|i| format!(r#"{{"name":"{i}","type":"boolean"}}"#)).collect();
    let schema = Schema::from_json(&format!(r#"{{"columns": [{}]}}"#, columns.join(",")));
    assert_eq!(code(schema), "table.data");
    let values = values[..100_000].join(",");
    let column = format!(r#"{{"name":"c","type":"category","values":[{values}]}}"#);
    let schema = Schema::from_json(&format!(r#"{{"columns": [{column}]}}"#)).unwrap();
    assert_eq!(schema.fields()[0].bounds(), (0, 99_999));
    // More groups than sums are computed for: rows are listed, and no group is counted up before.
    let query = Query::parse("select count(*) from t group by c", &schema).unwrap();
    assert_eq!(query.listed, Some(vec![0]));
    assert!(query.group_codes(&schema).is_empty());
}

/// Expressions as deep as they are long would end the process where it has little stack.
#[test]
fn long_queries_do_not_exhaust_the_stack() {
    let (schema, _) = shop();
    let queries = [
        format!("select sum({}count) from t", "count + ".repeat(30_000)),
        format!("select sum({}count) from t", "count + ".repeat(7_000)),
        format!("select count(*) from t where {}paid", "paid and ".repeat(7_000)),
        format!("select count(*) from t where paid{}", " is true".repeat(7_000)),
        format!("select count(*) from t where paid{}", " isnull".repeat(7_000)),
        format!("select count(*) from t where paid{}", " at time zone 'x'".repeat(3_000)),
        format!("select count(*) from t where paid{}", "::int".repeat(9_000)),
        format!("select count(*) from t where {}paid", "not ".repeat(9_000)),
        format!("select sum({}count) from t", "- ".repeat(9_000)),
        format!("select count(*) from t{}", " union select 1".repeat(4_000)),
        // As many as there may be words, or operators.
        format!("select count(*) from t{}", " union select 1".repeat(490)),
        format!("select count(*) from t{}", " intersect select 1".repeat(990)),
        format!("select count(*) from t{}", " except select 1".repeat(990)),
        format!("select count(*) from t where paid{}", " ilike paid".repeat(990)),
        format!("select count(*) from t where paid{}", " rlike paid".repeat(990)),
        format!("select count(*) from t where paid{}", " overlaps paid".repeat(990)),
        format!("select count(*) from t where paid{}", " similar to paid".repeat(660)),
        format!("select count(*) from t{}", ", t".repeat(9_000)),
        format!("select count(*) from t{}", " join t".repeat(7_000)),
        format!("select count(*) from {}t", "t.".repeat(9_000)),
        format!("select count(*) from t where paid{}", "[1]".repeat(9_000)),
        "select".repeat(5_000),
        "(".repeat(60_000),
    ];
    for sql in queries {
        let shown = sql[..60].to_string();
        let schema = schema.clone();
        let ask = move || Query::parse(&sql, &schema).map(|_| ()).map_err(|e| e.to_string());
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(ask).unwrap();
        assert!(thread.join().unwrap().is_err(), "{shown}");
    }
    // The longest ones that are answered.
    for sql in [
        format!("select sum({}count) from t", "count + ".repeat(490)),
        format!("select count(*) from t where {}paid", "not paid or ".repeat(240)),
        format!("select count(*) from t where count in ({}7)", "1, 2, 3, ".repeat(2_000)),
    ] {
        let schema = schema.clone();
        let ask = move || Query::parse(&sql, &schema).map(|_| ());
        let thread = std::thread::Builder::new().stack_size(1 << 21).spawn(ask).unwrap();
        assert_eq!(thread.join().unwrap(), Ok(()));
    }
}

#[test]
fn answers_have_types() {
    let (schema, data) = shop();
    let sql = "select kind, paid, count(*), sum(price), avg(price), sum(count) from shop \
                    group by kind, paid order by 1, 2 limit 1";
    let plan = Plan::new(sql, &schema).unwrap();
    let types = plan.query().output_types(&schema);
    let decimal = |scale| OutputType::Decimal { scale };
    let integer = OutputType::Integer;
    let expected =
        [OutputType::Text, OutputType::Boolean, integer, decimal(2), decimal(8), integer];
    assert_eq!(types, expected);
    let answer = everlevel_tables::Answer::plain(plan.query(), &schema, &data).unwrap();
    let json = answer.to_json(&types);
    assert_eq!(json["rows"][0].as_array().unwrap().len(), 6);
    assert_eq!(json["types"][3], serde_json::json!({"type": "decimal", "scale": 2}));
}

#[test]
fn schemas_from_data() {
    let csv = "id,age,balance,change,born,member,region,zip,note,kin,flag,when,nobody
1,44,1034.50,-20,1980-02-29,true,north,01234,first,,0,1980-02-29,
2,101,0.5,45,2001-12-31,FALSE,south,99999,second,x,1,nothing,
";
    let (schema, told) = Schema::infer(csv.as_bytes()).unwrap();
    let kind = |name: &str| schema.fields()[schema.place(name).unwrap()].kind().clone();
    assert_eq!(kind("id"), Kind::Integer { low: 0, high: 15 });
    assert_eq!(kind("age"), Kind::Integer { low: 0, high: 255 });
    let decimal =
        |scale, low: &str, high: &str| Kind::Decimal { scale, low: low.into(), high: high.into() };
    assert_eq!(kind("balance"), decimal(2, "0.00", "10485.75"));
    assert_eq!(kind("change"), Kind::Integer { low: -128, high: 127 });
    let date = Kind::Date { low: "1980-01-01".into(), high: "2001-12-31".into() };
    assert_eq!(kind("born"), date);
    assert_eq!(kind("member"), Kind::Boolean);
    assert_eq!(kind("flag"), Kind::Integer { low: 0, high: 1 });
    // A number with zeros before it is a text.
    assert_eq!(kind("zip"), Kind::Category { values: vec!["01234".into(), "99999".into()] });
    assert_eq!(
        kind("when"),
        Kind::Category { values: vec!["1980-02-29".into(), "nothing".into()] }
    );
    // A column with an empty cell may have empty cells; one in which nothing is, is left out.
    let kin = &schema.fields()[schema.place("kin").unwrap()];
    assert!(kin.null().is_some() && *kin.kind() == Kind::Category { values: vec!["x".into()] });
    assert_eq!(schema.fields().iter().filter(|f| f.null().is_some()).count(), 1);
    assert_eq!(code(schema.place("nobody")), "table.name");
    let nobody = told.iter().find(|t| t.column == "nobody").unwrap();
    assert!(!nobody.kept && nobody.told.contains("empty"), "{nobody:?}");
    // The data fit the schema that was made of them.
    let data = everlevel_tables::Data::from_csv(csv.as_bytes(), &schema).unwrap();
    assert_eq!(data.rows(), 2);

    // Telephone numbers are texts, of which one would lose its sign as a number.
    let numbers: String = (0..20).map(|i| format!("{i},+49301230{i:02}\n")).collect();
    let (schema, told) = Schema::infer(format!("n,phone\n{numbers}").as_bytes()).unwrap();
    assert_eq!(schema.columns().map(|f| f.name()).collect::<Vec<_>>(), ["n"]);
    let phone = told.iter().find(|t| t.column == "phone").unwrap();
    assert!(phone.told.contains("\"type\": \"text\", \"bytes\": 11"), "{phone:?}");

    // Names of people are no categories.
    let names: String = (0..100).map(|i| format!("{},person {i}\n", i % 3)).collect();
    let (schema, told) = Schema::infer(format!("n,name\n{names}").as_bytes()).unwrap();
    assert_eq!(schema.fields().len(), 1);
    assert!(told.iter().any(|t| t.column == "name" && t.told.contains("100 different texts")));
    for csv in ["", "a,b\n", "a\nx y\n\"", "a,a\n1,2\n", "a\n1\n2,3\n", ",b\n1,2\n"] {
        let found = code(Schema::infer(csv.as_bytes()));
        assert!(["table.data", "table.schema"].contains(&found), "{csv:?}: {found}");
    }
}
