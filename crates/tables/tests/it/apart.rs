//! Medians and first rows of sets of rows that public columns tell apart, in tables of more rows
//! than all pairs of which are compared.

use everlevel::{OptIn, Params};
use everlevel_tables::{Answer, Data, EncryptedTable, Layout, OrderedBy, Plan, Schema, TableKey};

use crate::roles::{PARTIES, code, quiet};

const SET: &str = "insecure_bgv-65537-n11";

pub(crate) fn toy() -> Params {
    Params::named(SET, OptIn::InsecureResearch).unwrap()
}

/// Wards from 0 to `wards` - 1 and a year, which are public, and what is encrypted.
pub(crate) fn schema(wards: usize) -> Schema {
    let text = format!(
        r#"{{"columns": [
            {{"name": "ward", "type": "integer", "low": 0, "high": {}, "public": true}},
            {{"name": "year", "type": "integer", "low": 2020, "high": 2023, "public": true}},
            {{"name": "cost", "type": "decimal", "scale": 2, "low": "0", "high": "99.99"}},
            {{"name": "days", "type": "integer", "low": 0, "high": 200, "nullable": true}},
            {{"name": "insured", "type": "boolean"}}]}}"#,
        wards - 1
    );
    Schema::from_json(&text).unwrap()
}

/// A table of these wards, row by row.
pub(crate) fn table(schema: &Schema, wards: &[i128]) -> Data {
    let column = |of: fn(i128) -> i128| (0..wards.len() as i128).map(of).collect::<Vec<_>>();
    let columns = vec![
        wards.to_vec(),
        column(|i| 2020 + i / 2 % 4),
        column(|i| i * 7_919 % 4_000 * (i % 3)),
        column(|i| i * 31 % 202 - 1),
        column(|i| i128::from(i * i % 7 < 4)),
    ];
    Data::from_columns(columns, schema).unwrap()
}

pub(crate) fn ordered(text: &str, schema: &Schema) -> Plan {
    Plan::ordered(text, schema, OrderedBy::Server).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// By the operations of a server, compared with the answer in the clear.
pub(crate) fn check(text: &str, schema: &Schema, data: &Data) -> Answer {
    let plan = ordered(text, schema);
    let found = plan.rehearse(&toy(), data, &[]).unwrap_or_else(|e| panic!("{text}: {e}"));
    let listed = Plan::new(text, schema).unwrap();
    assert_eq!(found, Answer::plain(listed.query(), schema, data).unwrap(), "{text}");
    found
}

/// Groups of 0 to 8 rows, one after the other.
fn small() -> (Schema, Data) {
    let wards: Vec<i128> =
        (0..40).flat_map(|ward| vec![ward; [4, 0, 8, 1, 5][ward as usize % 5]]).collect();
    let schema = schema(40);
    assert_eq!(wards.len(), 144);
    let data = table(&schema, &wards);
    (schema, data)
}

#[test]
fn medians_of_groups_are_found() {
    let (schema, data) = small();
    for (text, rows) in [
        ("select ward, median(cost) from t group by ward order by ward", 32),
        ("select ward, median(days), count(*), sum(cost) from t group by ward order by ward", 32),
        // What is encrypted decides, too.
        ("select ward, median(cost) as m from t where insured group by ward order by ward", 28),
        (
            "select ward, insured, median(cost) from t where ward < 9 group by ward, insured \
             order by ward, insured",
            11,
        ),
        (
            "select ward, median(cost * 2 - 1) filter (where days > 90), median(cost), max(days) \
             from t where ward in (7, 10, 12) group by ward order by ward",
            3,
        ),
        ("select median(cost) from t where ward = 12", 1),
        ("select median(cost) from t where ward = 1", 1),
        ("select ward from t where ward > 30 group by ward having median(cost) > 20", 5),
    ] {
        let found = check(text, &schema, &data);
        assert!(found.rows.len().abs_diff(rows) <= 4, "{text}: {} rows", found.rows.len());
    }
}

#[test]
fn first_rows_of_a_public_condition_are_found() {
    let (schema, data) = small();
    for text in [
        "select cost, days from t where ward = 7 order by cost desc limit 3",
        "select ward, cost from t where ward between 7 and 9 and insured order by cost limit 2",
        "select * from t where ward = 2 and year = 2021 order by days, cost desc limit 1",
        "select days from t where ward = 7 and not insured limit 2",
        // More than there are, and none.
        "select days from t where ward = 13 order by days limit 20",
        "select days from t where ward = 1 order by days limit 2",
    ] {
        check(text, &schema, &data);
    }
}

/// Groups on both sides of the place where the first row of 1,024 slots ends, and of 128 rows.
#[test]
fn groups_may_be_in_both_rows_of_slots() {
    let schema = schema(200);
    let wards: Vec<i128> = (0..1_100).map(|row| (row + 4) / 6).collect();
    let data = table(&schema, &wards);
    let text = "select ward, median(cost) as m from t where ward between 169 and 172 and insured \
                group by ward order by ward";
    check(text, &schema, &data);
    let text = "select cost, days from t where ward = 171 order by cost limit 2";
    check(text, &schema, &data);
    // The longest that is ranked: rows 960 to 1087.
    let wards: Vec<i128> = (0..1_100).map(|row| (row + 64) / 128).collect();
    let data = table(&schema, &wards);
    check("select median(days) from t where ward = 8", &schema, &data);
}

/// Two batches of sums, for which rows are ranked once.
#[test]
fn rows_are_ranked_once_for_all_batches() {
    let schema = schema(100);
    let wards: Vec<i128> = (0..200).map(|row| row / 2).collect();
    let data = table(&schema, &wards);
    let text = "select ward, median(cost) from t group by ward order by ward";
    let plan = ordered(text, &schema);
    let layout = Layout::new(plan.query(), &schema, toy().slot_shape(), 200).unwrap();
    assert_eq!(layout.batches(), 2);
    assert_eq!(check(text, &schema, &data).rows.len(), 100);
    let cost = |text: &str| ordered(text, &schema).cost(&toy(), 200).unwrap().key_switches;
    let few = cost("select ward, median(cost) from t where ward < 2 group by ward");
    let all = cost(text);
    assert!(all < 2 * few, "{all} key switches for 100 groups, {few} for two");
}

#[test]
fn rows_of_a_group_that_are_far_apart_are_refused() {
    let schema = schema(40);
    let text = "select ward, median(cost) from t group by ward";
    let plan = ordered(text, &schema);
    let refused = |wards: Vec<i128>| {
        let error = plan.rehearse(&toy(), &table(&schema, &wards), &[]).unwrap_err();
        assert_eq!(error.code(), "table.unsupported", "{error}");
        error.to_string()
    };
    let told = refused((0..300).map(|row| row % 39).collect());
    assert!(told.contains("sort the rows by the public columns"), "{told}");
    let told = refused((0..150).map(|row| i128::from(row > 128)).collect());
    assert!(told.contains("rows 0 and 128"), "{told}");

    // As soon as the number of rows is known: without public columns.
    let params = PARTIES.client.params();
    for (text, rows, fits) in [
        (text, 2_048, true),
        (text, 2_049, true),
        (text, 20_000, true),
        ("select insured, median(cost) from t group by insured", 128, true),
        ("select insured, median(cost) from t group by insured", 129, false),
        ("select cost from t where ward = 3 order by cost limit 2", 2_048, true),
        ("select cost from t where ward = 3 order by cost limit 2", 5_000, true),
        ("select cost from t where insured order by cost limit 2", 129, false),
        ("select cost from t where ward = 3 or insured order by cost limit 2", 129, false),
    ] {
        let found = ordered(text, &schema).check_rows(params, rows);
        assert_eq!(found.is_ok(), fits, "{text} {rows}");
        if !fits {
            assert_eq!(code(found), "table.unsupported");
        }
    }
    // Sets whose rows or blocks have too few slots for a group and its neighbors.
    let few =
        |slots: usize| Params::named(&format!("{SET}-s{slots}"), OptIn::InsecureResearch).unwrap();
    let single = ordered("select median(cost) from t where ward = 3", &schema);
    for (slots, rows, fits) in [(128, 128, true), (128, 129, false), (256, 300, true)] {
        let found = single.check_rows(&few(slots), rows);
        assert_eq!(found.is_ok(), fits, "{slots} {rows}");
        if let Err(error) = found {
            assert_eq!(error.code(), "table.unsupported", "{error}");
            assert!(error.to_string().contains("at least 256 slots"), "{error}");
        }
    }
}

/// A server cannot tell which rows meet a condition with an encrypted constant, which the error has
/// to say where the condition is on a public column.
#[test]
fn encrypted_constants_tell_no_rows_apart() {
    let schema = schema(40);
    let params = PARTIES.client.params();
    let told = |text: &str| {
        let error = ordered(text, &schema).check_rows(params, 129).unwrap_err();
        assert_eq!(error.code(), "table.unsupported", "{text}: {error}");
        error.to_string()
    };
    let (usual, hidden) = ("ask with a condition on them", "write the constant itself");
    for text in [
        "select cost from t where ward = :ward order by cost limit 2",
        "select cost from t where insured and ward between :a and :b order by cost limit 2",
        "select insured, median(cost) from t where ward < :ward group by insured",
    ] {
        let told = told(text);
        assert!(told.contains(hidden) && !told.contains(usual), "{text}: {told}");
    }
    // Where no condition is on a public column, the way out is such a condition.
    for text in [
        "select cost from t where insured order by cost limit 2",
        "select cost from t where days = :days order by cost limit 2",
        "select cost from t where ward < :ward or insured order by cost limit 2",
    ] {
        let told = told(text);
        assert!(told.contains(usual) && !told.contains(hidden), "{text}: {told}");
    }
    // What the error names.
    for text in [
        "select cost from t where ward = 3 order by cost limit 2",
        "select ward, median(cost) from t where ward = :ward group by ward",
    ] {
        ordered(text, &schema).check_rows(params, 129).unwrap();
    }
}

#[test]
fn what_is_told_of_such_plans() {
    let schema = schema(40);
    let text = "select ward, median(cost) from t where insured group by ward";
    let (params, plan) = (PARTIES.client.params(), ordered(text, &schema));
    let told = plan.explain(params, 300).unwrap();
    assert!(told.server_learns.contains("how far apart the rows of a group are"), "{told}");
    assert!(told.notes.iter().any(|note| note.contains("128 rows in sequence")), "{told}");
    assert!(told.reader_learns.contains("of a median the two values in the middle"), "{told}");
    assert!(told.cost.refreshes > 0 && !told.rows_listed && told.starts.is_empty(), "{told}");
    // Of a short table, too, whose rows are as near to each other as there are any.
    let told = plan.explain(params, 100).unwrap();
    assert!(told.server_learns.contains("how far apart the rows of a group are"), "{told}");
    assert!(told.notes.iter().any(|note| note.contains("the last one of 100 rows")), "{told}");
    // Where all pairs are compared nothing is said of that.
    for text in ["select median(cost) from t where ward = 3", "select median(cost) from t"] {
        let told = ordered(text, &schema).explain(params, 100).unwrap();
        assert!(!told.server_learns.contains("how far apart") && told.notes.is_empty(), "{told}");
    }
}

/// A lower bound that is no multiple of 16 is not subtracted, which would carry through all digits
/// and leave too little capacity for any comparison: there are 127.
#[test]
fn bounds_do_not_make_each_distance_bootstrap() {
    let text = |low: i32, high: i32| {
        format!(
            r#"{{"columns": [
                {{"name": "ward", "type": "integer", "low": 0, "high": 39, "public": true}},
                {{"name": "x", "type": "integer", "low": {low}, "high": {high}}}]}}"#
        )
    };
    for (low, high) in [(0, 99), (-30, 99), (1, 255)] {
        let schema = Schema::from_json(&text(low, high)).unwrap();
        let plan = ordered("select ward, median(x) from t group by ward", &schema);
        let refreshes = plan.explain(&toy(), 2048).unwrap().cost.refreshes;
        assert!((20..64).contains(&refreshes), "{low} to {high}: {refreshes}");
    }
}

/// Under encryption, with general keys and with those that the plan names, which are found without
/// the rows.
#[test]
fn a_server_ranks_rows_of_groups_that_it_cannot_read() {
    let schema = schema(40);
    let wards: Vec<i128> = (0..150).map(|row| row / 4).collect();
    let data = table(&schema, &wards);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let stored = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let text = "select ward, median(cost) as m from t where ward < 4 and insured group by ward \
                order by ward";
    let plan = ordered(text, &schema);
    let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
    assert!(expected.rows.len() > 2, "{expected:?}");
    let params = PARTIES.client.params();
    let bootstrap = everlevel::bootstrap_plan(params).unwrap();
    let keys = plan.keys(params, data.rows()).unwrap();
    let own = PARTIES.client.server_for(&keys, &bootstrap, &mut rng, |_, _| ()).unwrap();
    for server in [&PARTIES.server, &own] {
        let result = stored.run(server, &plan, None, quiet).unwrap();
        assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected);
    }
    // Other rows between those of a group.
    let wards: Vec<i128> = (0..150).map(|row| row % 50 / 2).collect();
    let data = table(&schema, &wards);
    let stored = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
    let result = stored.run(&PARTIES.server, &plan, None, quiet).unwrap();
    assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected);
}
