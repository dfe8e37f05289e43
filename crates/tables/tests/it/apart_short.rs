//! Medians of groups by public columns in tables of at most 128 rows, of which all pairs could be
//! compared.

use everlevel_tables::{Answer, Cell, Data, EncryptedTable, Schema, TableKey};

use crate::apart::{check, ordered, schema, table, toy};
use crate::ask_random::Random;
use crate::roles::{PARTIES, quiet};

/// Twice the median of some integers as SQL has it; none of no integers.
fn twice_median(mut values: Vec<i128>) -> Option<i128> {
    values.sort_unstable();
    let last = values.len().checked_sub(1)?;
    Some(values[last / 2] + values[last.div_ceil(2)])
}

/// The group of a row of an answer, and twice its number; none for an empty cell.
fn told(row: &[Cell]) -> (Option<i128>, Option<i128>) {
    let group = match &row[0] {
        Cell::Text(_, code) => Some(*code),
        Cell::Number(value, _) => Some(*value),
        Cell::Null => None,
    };
    let number = match &row[1] {
        Cell::Number(units, scale) => Some((2 * units, 10i128.pow(*scale))),
        Cell::Text(..) | Cell::Null => None,
    };
    let whole = |(twice, unit): (i128, i128)| {
        assert_eq!(twice % unit, 0, "{row:?}");
        twice / unit
    };
    (group, number.map(whole))
}

/// A public column that may be empty, and two encrypted ones of which one may be.
fn nullable() -> Schema {
    Schema::from_json(
        r#"{"columns": [
            {"name": "g", "type": "integer", "low": 0, "high": 5, "public": true,
             "nullable": true},
            {"name": "x", "type": "integer", "low": -40, "high": 500, "nullable": true},
            {"name": "kept", "type": "boolean"}]}"#,
    )
    .unwrap()
}

/// By hand, of tables with groups of no row, of one and of more, in any order of the rows, with
/// empty cells of both columns.
#[test]
fn medians_are_those_by_hand() {
    let (schema, mut random) = (nullable(), Random(41));
    let (empty_group, empty) = (-1, -41);
    for rows in [1usize, 2, 3, 7, 20, 61] {
        let mut column = |low: i128, high: i128| -> Vec<i128> {
            let count = (high - low + 1) as usize;
            (0..rows).map(|_| low + random.below(count) as i128).collect()
        };
        let (groups, x, kept) = (column(empty_group, 4), column(empty, 500), column(0, 1));
        let columns = vec![groups.clone(), x.clone(), kept.clone()];
        let data = Data::from_columns(columns, &schema).unwrap();
        for (filter, filtered) in [("", false), ("where kept", true)] {
            let text = format!("select g, median(x) as m from t {filter} group by g order by g");
            let found = check(&text, &schema, &data);
            let meant = |row: &usize| !filtered || kept[*row] == 1;
            // Empty cells come last, and nobody is in group 5.
            let expected: Vec<(Option<i128>, Option<i128>)> = (0..=5)
                .chain([empty_group])
                .filter(|group| (0..rows).filter(meant).any(|row| groups[row] == *group))
                .map(|group| {
                    let own = (0..rows).filter(meant).filter(|row| groups[*row] == group);
                    let values = own.map(|row| x[row]).filter(|x| *x != empty).collect();
                    (Some(group).filter(|group| *group != empty_group), twice_median(values))
                })
                .collect();
            let found: Vec<_> = found.rows.iter().map(|row| told(row)).collect();
            assert_eq!(found, expected, "{text}, {rows} rows");
        }
    }
}

/// Groups of every size, one after the other and mixed, with what is encrypted in the condition, in
/// the groups and in the number.
#[test]
fn groups_of_short_tables_are_ranked() {
    let schema = schema(12);
    let sorted: Vec<i128> =
        (0..12).flat_map(|ward| vec![ward; [1, 0, 9, 30, 2, 0][ward as usize % 6]]).collect();
    let mixed: Vec<i128> = (0..128).map(|row| row * 5 % 12).collect();
    let one = vec![7; 128];
    let queries = [
        "select ward, median(cost) from t group by ward order by ward",
        "select ward, median(days), count(*), sum(cost) from t where insured group by ward \
         order by ward",
        "select ward, year, median(cost) from t where ward < 4 group by ward, year \
         order by ward, year",
        "select ward, insured, median(cost) from t where ward in (2, 3, 8) \
         group by ward, insured order by ward, insured",
        "select ward, median(cost * 2 - 1) filter (where days > 90), median(cost), max(days) \
         from t where ward < 7 group by ward order by ward",
        // Rows of which the conditions say that there are none in most groups.
        "select ward, median(cost) filter (where ward = 3 and year = 2021) as m from t \
         where ward = 3 or year = 2022 group by ward order by ward",
    ];
    for text in queries {
        check(text, &schema, &table(&schema, &sorted));
    }
    for wards in [&mixed[..], &one[..], &mixed[..2], &mixed[..1]] {
        for text in &queries[..2] {
            check(text, &schema, &table(&schema, wards));
        }
    }
}

/// Where 128 rows end, nothing but the number of distances changes: eight groups of 97 rows take no
/// more than those of 157, and 100 groups as much as eight.
#[test]
fn a_short_table_takes_no_more_than_a_longer_one() {
    let refreshes = |wards: usize, text: &str, rows: usize| {
        ordered(text, &schema(wards)).cost(&toy(), rows).unwrap().refreshes
    };
    for text in [
        "select ward, median(cost) from t group by ward",
        "select ward, median(days), count(*) from t where insured group by ward",
    ] {
        let (short, long) = (refreshes(8, text, 97), refreshes(8, text, 157));
        assert!(short <= long, "{short} for 97 rows, {long} for 157: {text}");
        let many = refreshes(100, text, 97);
        assert!(many <= 2 * short, "{many} for 100 groups, {short} for eight: {text}");
    }
}

/// Of 256 groups that a public column tells apart as much is ranked as of a few; those that an
/// encrypted one tells apart are ranked one by one, and all of them are counted.
#[test]
fn many_groups_are_explained() {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "open", "type": "integer", "low": 0, "high": 255, "public": true},
            {"name": "hidden", "type": "integer", "low": 0, "high": 255},
            {"name": "x", "type": "integer", "low": 0, "high": 9999}]}"#,
    )
    .unwrap();
    for (column, least, most) in [("open", 1, 2), ("hidden", 12, 20)] {
        let refreshes = |groups: usize| {
            let condition = format!("where {column} < {groups} group by {column}");
            let text = format!("select {column}, median(x) from t {condition}");
            ordered(&text, &schema).explain(&toy(), 97).unwrap().cost.refreshes
        };
        let (few, many) = (refreshes(16), refreshes(256));
        let range = least * few..=most * few;
        assert!(range.contains(&many), "{column}: {many} for 256 groups, {few} for 16");
    }
}

/// Under encryption, with the keys of the plan: the rows are sorted, or others are between them.
#[test]
fn a_server_ranks_groups_of_a_short_table() {
    let schema = schema(8);
    let mut rng = everlevel::system_rng().unwrap();
    let (secret, params) = (PARTIES.client.secret(), PARTIES.client.params());
    let text = "select ward, median(cost) as m from t where insured group by ward order by ward";
    let plan = ordered(text, &schema);
    let bootstrap = everlevel::bootstrap_plan(params).unwrap();
    let keys = plan.keys(params, 24).unwrap();
    let own = PARTIES.client.server_for(&keys, &bootstrap, &mut rng, |_, _| ()).unwrap();
    let orders: [Vec<i128>; 2] =
        [(0..24).map(|row| row / 5).collect(), (0..24).map(|row| row % 5).collect()];
    for wards in &orders {
        let data = table(&schema, wards);
        let key = TableKey::Secret(secret);
        let stored = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        assert!(expected.rows.len() > 3, "{expected:?}");
        for server in [&PARTIES.server, &own] {
            let result = stored.run(server, &plan, None, quiet).unwrap();
            assert_eq!(result.read(secret).unwrap(), expected);
        }
    }
}
