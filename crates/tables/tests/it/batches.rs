//! Queries of more sums than are held at a time, and of more than are answered.

use everlevel_tables::{Answer, Data, Layout, OrderedBy, Plan, Query, Schema};

use crate::Bench;

fn table(rows: usize) -> (Schema, Data) {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "g", "type": "integer", "low": 0, "high": 99},
            {"name": "h", "type": "integer", "low": 0, "high": 5},
            {"name": "x", "type": "integer", "low": 0, "high": 1000000},
            {"name": "y", "type": "integer", "low": -500000, "high": 500000}]}"#,
    );
    let schema = schema.unwrap();
    let entry = |place: usize, i: usize| match place {
        0 => (i * 37 % 90) as i128,
        1 => (i * i % 6) as i128,
        2 => (i * 7919 % 1_000_001) as i128,
        _ => (i * 104_729 % 1_000_001) as i128 - 500_000,
    };
    let column = |place| (0..rows).map(|i| entry(place, i)).collect();
    let data = Data::from_columns((0..4).map(column).collect(), &schema).unwrap();
    (schema, data)
}

#[test]
fn sums_of_many_groups_over_two_blocks() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = table(bench.params.slots() + 9);
    let sql = "select g, count(*), sum(x), sum(case when x > 5000 then y end), sum(x * y) \
                    from t where y > -400000 group by g";
    let query = Query::parse(sql, &schema).unwrap();
    let shape = bench.params.slot_shape();
    let layout = Layout::new(&query, &schema, shape, data.rows()).unwrap();
    assert!(layout.sums() > 512 && layout.batches() == layout.sums().div_ceil(256));
    let expected = Answer::plain(&query, &schema, &data).unwrap();
    assert_eq!(bench.ask(sql, &schema, &data), expected);
}

#[test]
fn medians_and_greatest_values_beside_batches() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = table(40);
    let sql = "select h, median(y), max(x), sum(x * y * x) from t group by h";
    let query = Query::parse_ordered(sql, &schema, OrderedBy::Server).unwrap();
    let layout = Layout::new(&query, &schema, bench.params.slot_shape(), data.rows()).unwrap();
    assert_eq!(layout.batches(), 2, "{}", layout.sums());
    let blocks = bench.encrypt(&schema, &data);
    let found = bench.answered(&query, &schema, data.rows(), &blocks, &[]).unwrap();
    assert_eq!(found, Answer::plain(&query, &schema, &data).unwrap());
}

#[test]
fn batches_are_counted() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, _) = table(1);
    let cost = |sums: &str| {
        let plan = Plan::new(&format!("select g, {sums} from t group by g"), &schema).unwrap();
        plan.cost(&bench.params, 5_000).unwrap()
    };
    let (one, two) = (cost("count(*)"), cost("sum(x), sum(y)"));
    assert_eq!((one.sums, one.result_ciphertexts), (100, 1));
    assert_eq!((two.sums, two.result_ciphertexts), (500, 2));
    // Two key switches pack a sum; which rows are in a group is computed once for both batches, and
    // which ones have its digits in each of them.
    let more = two.key_switches - one.key_switches;
    assert!((780..=900).contains(&more), "{one:?} {two:?}");
}

#[test]
fn tables_of_one_column_share_its_powers() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, _) = table(1);
    let products = |values: &[i64]| {
        let counts = values.iter().map(|v| format!("count(*) filter (where h = {v})"));
        let sql = format!("select {} from t", counts.collect::<Vec<_>>().join(", "));
        let plan = Plan::new(&sql, &schema).unwrap();
        plan.cost(&bench.params, 1_000).unwrap().products
    };
    // A table, two products to lift what it says, and a sum.
    assert!(products(&[1, 2, 4]) < products(&[1]) + products(&[2]) + products(&[4]));
}

/// Counts and sums over the rest of a group, in two blocks, are as exact as others.
#[test]
fn the_rest_of_a_group_is_a_difference() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = table(bench.params.slots() + 9);
    for sql in [
        "select h, count(*), count(*) filter (where g < 40), count(*) filter (where g >= 40), \
         sum(x), sum(case when g < 40 then x else 0 end), sum(case when g >= 40 then x else 0 end) \
         from t where y > -400000 group by h",
        "select count(*), count(*) filter (where g <> 7), sum(y) filter (where g <> 7), \
         count(*) filter (where g = 7), sum(y) filter (where g = 7), sum(y) from t",
    ] {
        let query = Query::parse(sql, &schema).unwrap();
        let expected = Answer::plain(&query, &schema, &data).unwrap();
        assert_eq!(bench.ask(sql, &schema, &data), expected);
    }
    let products = |rest: &str| {
        let counts = format!("select count(*), count(*) filter (where g < 40){rest}");
        let sql = format!("{counts} from t where h = 1");
        let plan = Plan::new(&sql, &schema).unwrap();
        plan.cost(&bench.params, 1_000).unwrap().products
    };
    assert_eq!(products(", count(*) filter (where g >= 40)"), products(""));
}

/// A group takes a product of truth values of digits, which are computed once for all groups, two
/// products to lift it, and a sum.
#[test]
fn groups_of_one_column_share_its_digits() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, _) = table(1);
    let plan = Plan::new("select g, count(*) from t group by g", &schema).unwrap();
    let products = plan.cost(&bench.params, 1_000).unwrap().products;
    assert!((400..=480).contains(&products), "{products}");
}

/// What is deepest is multiplied last, wherever it is written.
#[test]
fn the_order_of_conditions_does_not_matter() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, _) = table(1);
    let cost = |conditions: [&str; 3]| {
        let sql = format!("select count(*) from t where {}", conditions.join(" and "));
        Plan::new(&sql, &schema).unwrap().cost(&bench.params, 1_000).unwrap()
    };
    let [x, g, h] = ["x < 1000", "g < 50", "h = 1"];
    for conditions in [[x, h, g], [g, x, h], [g, h, x], [h, x, g], [h, g, x]] {
        assert_eq!(cost(conditions), cost([x, g, h]), "{conditions:?}");
    }
}

#[test]
fn more_than_can_be_held_is_refused() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, _) = table(1);
    let refused = |sql: &str| {
        let plan = Plan::ordered(sql, &schema, OrderedBy::Server).unwrap();
        plan.check_rows(&bench.params, 100).map_err(|e| (e.code(), e.to_string()))
    };
    // Ten digits in each group.
    let most = |groups: i64| {
        refused(&format!("select g, max(x), min(y) from t where g < {groups} group by g"))
    };
    most(51).unwrap();
    let (code, message) = most(52).unwrap_err();
    assert!(code == "table.unsupported" && message.contains("512 hexadecimal digits"), "{message}");
    let medians = "select g, median(x), median(y), median(h) from t group by g";
    let (code, message) = refused(medians).unwrap_err();
    assert!(code == "table.unsupported" && message.contains("256 medians"), "{message}");
    refused("select g, median(x), median(y) from t group by g").unwrap();
}
