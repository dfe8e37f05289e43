//! Joins with tables whose columns are carried, against joins of the tables themselves.

use std::collections::BTreeMap;

use everlevel_tables::{Answer, Data, Partner, Plan, Query, Schema, TablesError};

use crate::Bench;
use crate::roles::code;

const ITEMS: &str = "number,price,bought_by\n\
    1,1.50,7\n2,20.00,3\n3,0.10,7\n4,99.99,5\n5,7.25,3\n6,7.25,7\n";
pub(crate) const ORDERS: &str = "key,priority,customer\n3,low,20\n5,high,10\n7,high,10\n8,low,20\n";
pub(crate) const CUSTOMERS: &str = "id,country,note\n10,CH,x\n20,,y\n30,FR,z\n";

pub(crate) fn schema() -> Schema {
    Schema::from_json(
        r#"{"columns": [
            {"name": "number", "type": "integer", "low": 0, "high": 255},
            {"name": "priority", "type": "category", "values": ["high", "low"]},
            {"name": "price", "type": "decimal", "scale": 2, "low": "0", "high": "99.99"},
            {"name": "bought_by", "type": "integer", "low": 0, "high": 15},
            {"name": "customer", "type": "integer", "low": 0, "high": 63},
            {"name": "country", "type": "category", "values": ["CH", "FR"], "nullable": true}],
          "foreign_keys": [
            {"column": "bought_by", "table": "orders", "key": "key",
             "include": ["priority", "customer"]},
            {"column": "customer", "table": "customers", "key": "id", "include": ["country"]}]}"#,
    )
    .unwrap()
}

pub(crate) fn partners(
    schema: &Schema,
    orders: &str,
    customers: &str,
) -> Result<Vec<Partner>, TablesError> {
    Ok(vec![
        Partner::from_csv(customers.as_bytes(), schema, "customers")?,
        Partner::from_csv(orders.as_bytes(), schema, "Orders")?,
    ])
}

fn joined(items: &str, orders: &str, customers: &str) -> Result<Data, TablesError> {
    let schema = schema();
    Data::from_csv_with(items.as_bytes(), &schema, &partners(&schema, orders, customers)?)
}

pub(crate) fn data() -> Data {
    joined(ITEMS, ORDERS, CUSTOMERS).unwrap()
}

/// The rows of a join, by the texts of the three tables: a nested loop.
fn rows() -> Vec<BTreeMap<String, String>> {
    let table = |text: &str| -> Vec<BTreeMap<String, String>> {
        let mut lines = text.lines().map(|line| line.split(','));
        let names: Vec<&str> = lines.next().unwrap().collect();
        let row = |cells| names.iter().map(|n| n.to_string()).zip(cells).collect();
        lines.map(|cells| row(cells.map(str::to_string).collect::<Vec<_>>())).collect()
    };
    let mut found = Vec::new();
    for item in table(ITEMS) {
        for order in table(ORDERS).iter().filter(|order| order["key"] == item["bought_by"]) {
            for customer in table(CUSTOMERS).iter().filter(|c| c["id"] == order["customer"]) {
                let all = item.iter().chain(order).chain(customer);
                found.push(all.map(|(n, v)| (n.clone(), v.clone())).collect());
            }
        }
    }
    found
}

fn cents(text: &str) -> i128 {
    text.replace('.', "").parse().unwrap()
}

/// All of a table, with what its rows carry: what its owner decrypts.
#[test]
fn all_of_a_table_has_what_rows_carry() {
    let (schema, data) = (schema(), data());
    let all = Answer::plain(&Query::of_all(&schema), &schema, &data).unwrap();
    assert_eq!(all.names, ["number", "priority", "price", "bought_by", "customer", "country"]);
    assert_eq!(all.to_csv().unwrap(), data.to_csv(&schema).unwrap());
}

const JOIN: &str = "items join orders on bought_by = key";
const BOTH: &str = "items i join orders o on i.bought_by = o.key \
                    join customers c on o.customer = c.id";

#[test]
fn answers_are_those_of_the_joined_tables() {
    let (bench, schema, data) = (Bench::new("insecure_bgv-65537-n11"), schema(), data());
    let ask = |text: &str| {
        let answer = bench.ask(text, &schema, &data);
        let query = Query::parse(text, &schema).unwrap();
        assert_eq!(answer, Answer::plain(&query, &schema, &data).unwrap(), "{text}");
        answer.to_csv().unwrap().lines().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    let rows = rows();
    assert_eq!(rows.len(), 6);
    // Groups by a column of an order, with a condition on the customer of the order.
    let mut groups: BTreeMap<&str, (i128, i128)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row["country"] == "CH") {
        let group = groups.entry(&row["priority"]).or_default();
        *group = (group.0 + 1, group.1 + cents(&row["price"]));
    }
    let expected: Vec<String> = groups
        .iter()
        .map(|(name, (count, sum))| format!("{name},{count},{}.{:02}", sum / 100, sum % 100))
        .collect();
    let sql = format!(
        "select o.priority, count(*), sum(i.price) from {BOTH} where c.country = 'CH' \
         group by o.priority order by o.priority"
    );
    assert_eq!(ask(&sql), expected);
    // The key of a partner is the column that it equals.
    let of_seven = rows.iter().filter(|row| row["key"] == "7" && row["priority"] == "high");
    assert_eq!(
        ask(&format!("select count(*) from {JOIN} where key = 7 and priority = 'high'")),
        [of_seven.count().to_string()]
    );
    // Rows, by whole numbers and by names.
    let mut expected: Vec<String> =
        rows.iter().filter(|r| r["country"].is_empty()).map(|r| r["number"].clone()).collect();
    expected.sort();
    let sql = format!("select number from {BOTH} where country is null order by number");
    assert_eq!(ask(&sql), expected);
    assert_eq!(ask(&format!("select * from {JOIN} where number = 4")), ["4,99.99,5,high,10"]);
    assert_eq!(ask("select * from items where number = 4"), ["4,99.99,5"]);
    assert_eq!(ask("select max(price) from items join orders on bought_by = key"), ["99.99"]);
}

#[test]
fn joins_are_written_in_several_ways() {
    let schema = schema();
    let parse = |text: &str| Query::parse(text, &schema).unwrap_or_else(|e| panic!("{text}: {e}"));
    let first = parse(
        "select sum(price) from items join orders on bought_by = key where number < 3 and \
         priority = 'low'",
    );
    for from in [
        "items inner join orders on key = bought_by where number < 3 and priority = 'low'",
        "orders join items on (orders.key = items.bought_by) where number < 3 and priority = 'low'",
        "items, orders where bought_by = key and number < 3 and priority = 'low'",
        "items, orders where number < 3 and (priority = 'low' and orders.key = bought_by)",
        "items as i join orders as o on i.bought_by = o.key and i.number < 3 where \
         o.priority = 'low'",
        "shop.items join shop.orders on bought_by = key where number < 3 and priority = 'low'",
    ] {
        let mut other = parse(&format!("select sum(price) from {from}"));
        // The order of two conditions is that of the text.
        if let everlevel_tables::Condition::And(all) = &mut other.filter {
            all.sort_by_key(|c| format!("{c:?}").contains("column: 1"));
        }
        assert_eq!(other.filter, first.filter, "{from}");
        assert_eq!(other.aggregates, first.aggregates, "{from}");
    }
    // Joins in parentheses, on either side and alone.
    let chain =
        "select max(price), count(*) from {} where o.priority = 'low' and c.country is null";
    let plain = parse(&chain.replace("{}", BOTH));
    for from in [
        "items i join (orders o join customers c on o.customer = c.id) on i.bought_by = o.key",
        "(items i join orders o on i.bought_by = o.key) join customers c on o.customer = c.id",
        "((items i join orders o on i.bought_by = o.key join customers c on o.customer = c.id))",
        "(customers c join orders o on c.id = o.customer), items i where i.bought_by = o.key",
    ] {
        let (from, condition) = from.split_once(" where ").unwrap_or((from, "true"));
        let text = format!("{} and {condition}", chain.replace("{}", from));
        let other = parse(&text);
        assert_eq!(
            (other.filter, other.aggregates),
            (plain.filter.clone(), plain.aggregates.clone())
        );
    }
    let by_sum = format!(
        "select o.priority, sum(i.price) as \"sum(i.price)\" from {BOTH} group by o.priority \
         order by sum(i.price)"
    );
    assert_eq!(parse(&by_sum).order[0].output, 1);
    // Columns of one name on both sides.
    let same = Schema::from_json(
        r#"{"columns": [{"name": "id", "type": "integer", "low": 0, "high": 9},
                        {"name": "order", "type": "integer", "low": 0, "high": 9},
                        {"name": "a", "type": "boolean"}, {"name": "b", "type": "boolean"}],
            "foreign_keys": [{"column": "order", "table": "x", "key": "order", "include": ["a"]},
                             {"column": "order", "table": "y", "key": "id", "include": ["b"]}]}"#,
    )
    .unwrap();
    let using = Query::parse("select count(*) from t join x using (\"order\") where a", &same);
    let on = Query::parse(
        "select count(*) from t join x on t.\"order\" = x.\"order\" where x.\"order\" = 3",
        &same,
    );
    assert!(using.is_ok() && on.is_ok(), "{using:?} {on:?}");
    for (text, expected) in [
        ("t join y on \"order\" = y.id where t.id = 3", None),
        ("t join y on \"order\" = y.id where id = 3", Some("table.type")),
        ("t join y using (id)", Some("table.unsupported")),
        ("t join x using (\"order\", a)", Some("table.unsupported")),
        ("t join x on \"order\" = \"order\"", Some("table.unsupported")),
        // Two keys that are equal say nothing of the row.
        ("t join x on x.\"order\" = y.id join y on x.\"order\" = y.id", Some("table.unsupported")),
        ("t join x using (\"order\") join y on true", Some("table.unsupported")),
    ] {
        let found = Query::parse(&format!("select count(*) from {text}"), &same);
        assert_eq!(found.as_ref().err().map(TablesError::code), expected, "{text}: {found:?}");
    }
}

#[test]
fn other_joins_are_refused_with_a_way_out() {
    let schema = schema();
    for (from, code, way) in [
        ("items join shops on number = shop", "table.unsupported", "foreign key"),
        ("items, shops", "table.unsupported", "foreign key"),
        ("items join items on number = number", "table.unsupported", "foreign key"),
        ("items join orders on number = key", "table.unsupported", "bought_by = key"),
        ("items join orders on bought_by < key", "table.unsupported", "bought_by = key"),
        ("items join orders on bought_by = bought_by", "table.unsupported", "bought_by = key"),
        ("items join orders on bought_by = key or number = 1", "table.unsupported", "on bought_by"),
        ("items join orders on true", "table.unsupported", "bought_by = key"),
        ("items, orders", "table.unsupported", "bought_by = key"),
        ("items left join orders on bought_by = key", "table.unsupported", "join TABLE on"),
        ("items full join orders on bought_by = key", "table.unsupported", "join TABLE on"),
        ("items cross join orders", "table.unsupported", "join TABLE on"),
        ("items natural join orders", "table.unsupported", "join TABLE on"),
        ("items join orders", "table.unsupported", "join TABLE on"),
        (
            "items join (orders join customers on customer = id) using (key)",
            "table.unsupported",
            "join TABLE on",
        ),
        (
            "items join (orders left join customers on customer = id) on bought_by = key",
            "table.unsupported",
            "join TABLE on",
        ),
        (
            "items join (orders join customers on customer = id) as o on bought_by = key",
            "table.unsupported",
            "from and its name",
        ),
        (
            "items join orders a on bought_by = a.key join orders b on bought_by = b.key",
            "table.unsupported",
            "another foreign key",
        ),
        ("items join (select 1) as o on true", "table.unsupported", "from and its name"),
        ("orders", "table.unsupported", "join orders on bought_by = key"),
        ("orders join customers on customer = id", "table.unsupported", "join orders on"),
        // The customer is a column of the order.
        ("items join customers on customer = id", "table.unsupported", "customer = id"),
        ("items where priority = 'low'", "table.type", "join orders on bought_by = key"),
        ("items where key = 3", "table.name", "number"),
        ("items join orders on bought_by = key where country = 'CH'", "table.type", "customers"),
        ("items i join orders on items.bought_by = key", "table.unsupported", "bought_by = key"),
        ("items join orders on bought_by = key where x.price = 3", "table.type", "items, orders"),
        ("items join orders on bought_by = key where note = 3", "table.name", "priority"),
    ] {
        let sql = format!("select count(*) from {from}");
        let error = Query::parse(&sql, &schema).expect_err(from);
        assert_eq!(error.code(), code, "{from}: {error}");
        assert!(error.to_string().contains(way), "{from}: {error}");
    }
}

#[test]
fn partners_are_there_once() {
    for (items, orders, customers, told) in [
        (
            ITEMS,
            "key,priority,customer\n3,low,20\n5,high,10\n",
            CUSTOMERS,
            "row 0, from 0, column \"bought_by\": 7",
        ),
        (
            ITEMS,
            &format!("{ORDERS}5,low,10\n"),
            CUSTOMERS,
            "orders: row 4, from 0, column \"key\": 5: row 1",
        ),
        (ITEMS, ORDERS, "id,country\n10,CH\n", "row 1, from 0, column \"customer\": 20"),
        // Also a key that no row has.
        (ITEMS, ORDERS, &format!("{CUSTOMERS}30,CH,\n"), "customers: row 3"),
    ] {
        let error = joined(items, orders, customers).unwrap_err();
        assert_eq!(error.code(), "table.partner", "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    // Columns that are there already.
    let whole = data().to_csv(&schema()).unwrap();
    assert_eq!(Data::from_csv(whole.as_bytes(), &schema()).unwrap(), data());
    let changed = whole.replacen("high", "low", 1);
    let error = Data::from_csv(changed.as_bytes(), &schema()).unwrap_err();
    assert_eq!(error.code(), "table.partner");
    assert!(error.to_string().contains("row 2, from 0") && error.to_string().contains("row 0 "));
    assert_eq!(code(Partner::from_csv("a\n1\n".as_bytes(), &schema(), "shops")), "table.data");
    let short = "key,priority,customer\n3,medium,20\n";
    assert_eq!(code(Partner::from_csv(short.as_bytes(), &schema(), "orders")), "table.value");
}

#[test]
fn foreign_keys_that_do_not_fit() {
    let columns = r#"[{"name": "a", "type": "boolean"}, {"name": "b", "type": "boolean"},
                      {"name": "n", "type": "boolean", "nullable": true}]"#;
    let parse = |keys: &str| {
        Schema::from_json(&format!(r#"{{"columns": {columns}, "foreign_keys": {keys}}}"#))
    };
    let key = |column: &str, table: &str, include: &str| {
        format!(
            r#"{{"column": "{column}", "table": "{table}", "key": "k", "include": [{include}]}}"#
        )
    };
    for keys in [
        format!("[{}]", key("x", "t", "")),
        format!("[{}]", key("a", "t", r#""x""#)),
        format!("[{}]", key("a", "t", r#""a""#)),
        format!("[{}]", key("a", "t", r#""b", "B""#)),
        format!("[{}]", key("a", "", "")),
        format!("[{}]", key("n", "t", "")),
        format!("[{}, {}]", key("a", "t", ""), key("b", "T", "")),
        format!("[{}, {}]", key("a", "t", r#""b""#), key("a", "u", r#""b""#)),
        format!("[{}, {}]", key("a", "t", r#""b""#), key("b", "u", r#""a""#)),
        format!("[{}, {}]", key("b", "u", ""), key("a", "t", r#""b""#)),
        key("a", "t", ""),
        format!("[{}]", key("a", "t", "").replace("include", "includes")),
    ] {
        assert_eq!(code(parse(&keys)), "table.data", "{keys}");
    }
    let schema = parse(&format!("[{}, {}]", key("A", "t", r#""b""#), key("b", "u", r#""n""#)));
    let schema = schema.unwrap();
    assert_eq!(Schema::from_json(&schema.to_json().unwrap()).unwrap(), schema);
    // What rows carry is part of what a plan is for.
    let plain = Schema::of(schema.fields().to_vec()).unwrap();
    let plan = Plan::new("select count(*) from x where a", &plain).unwrap();
    let error = plan.check_schema(&schema).unwrap_err();
    assert_eq!(error.code(), "table.other-schema");
    assert!(error.to_string().contains("foreign keys"), "{error}");
}
