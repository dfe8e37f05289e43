//! Medians and first rows of groups by public columns in tables of several blocks, where groups may
//! lie in two of them. Blocks have 2,048 rows.

use everlevel_tables::{
    Answer, Change, Data, EncryptedTable, Layout, Schema, TableKey, TablesError,
};

use crate::apart::{check, ordered, schema, table, toy};
use crate::changes::changed;
use crate::roles::{PARTIES, quiet};

/// The number of rows of a block.
const BLOCK: i128 = 2_048;

/// Rows of ward 0, and from some rows on groups of `size` rows each, as many as `count`, with wards
/// from 1 on, through all of these places.
fn groups(rows: i128, at: &[i128], size: i128, count: i128) -> Vec<i128> {
    let ward = |row: i128| {
        let found = at
            .iter()
            .enumerate()
            .find(|(_, start)| (**start..**start + size * count).contains(&row));
        found.map_or(0, |(i, start)| 1 + i as i128 * count + (row - start) / size)
    };
    (0..rows).map(ward).collect()
}

/// Two blocks, with groups of 7 rows of which the fourth is in both.
fn two_blocks() -> (Schema, Data) {
    let schema = schema(40);
    let wards = groups(BLOCK + 40, &[BLOCK - 24], 7, 8);
    assert_eq!((wards[2_047], wards[2_048]), (4, 4));
    let data = table(&schema, &wards);
    (schema, data)
}

#[test]
fn medians_of_groups_in_two_blocks_are_found() {
    let (schema, data) = two_blocks();
    for (text, rows) in [
        ("select ward, median(cost) from t where ward > 0 group by ward order by ward", 8),
        (
            "select ward, median(days), count(*), sum(cost), max(days) from t \
             where ward in (4, 5) group by ward order by ward",
            2,
        ),
        // What is encrypted decides, too, and some groups have no row that counts.
        (
            "select ward, median(cost) as m from t where ward > 0 and insured and days < 90 \
             group by ward order by ward",
            8,
        ),
        (
            "select ward, insured, median(cost) from t where ward between 3 and 5 \
             group by ward, insured order by ward, insured",
            6,
        ),
        (
            "select ward, median(cost * 2 - 1) filter (where days > 90), median(cost) from t \
             where ward in (2, 4) group by ward order by ward",
            2,
        ),
        // Of the group in both blocks alone, and one that has no rows.
        ("select median(cost) from t where ward = 4", 1),
        ("select median(cost) from t where ward = 39", 1),
    ] {
        let found = check(text, &schema, &data);
        assert!(found.rows.len().abs_diff(rows) <= 3, "{text}: {} rows", found.rows.len());
    }
}

#[test]
fn first_rows_in_two_blocks_are_found() {
    let (schema, data) = two_blocks();
    for text in [
        "select cost, days from t where ward = 4 order by cost desc limit 3",
        "select ward, cost from t where ward between 3 and 5 and insured order by cost limit 9",
        "select * from t where ward = 4 and year = 2021 order by days, cost desc limit 1",
        "select days from t where ward = 4 and not insured order by days nulls first limit 4",
        // In one of the blocks, and nowhere.
        "select days from t where ward = 1 order by days limit 2",
        "select days from t where ward = 8 order by days limit 2",
        "select days from t where ward = 39 order by days limit 2",
    ] {
        check(text, &schema, &data);
    }
}

/// Of three blocks, of which the last one has four rows; three groups at a time are in two blocks,
/// with rows of each between those of the others, and there are two batches of sums.
#[test]
fn groups_lie_across_both_borders() {
    let schema = schema(120);
    let mut wards = groups(2 * BLOCK + 4, &[BLOCK - 51, 2 * BLOCK - 51], 2, 50);
    for border in [BLOCK as usize, 2 * BLOCK as usize] {
        assert_eq!(wards[border - 1], wards[border]);
        wards.swap(border - 2, border + 1);
    }
    let data = table(&schema, &wards);
    let text = "select ward, median(cost) from t where ward > 0 group by ward order by ward";
    let (plan, shape, rows) = (ordered(text, &schema), toy().slot_shape().clone(), data.rows());
    let layout = Layout::new(plan.query(), &schema, &shape, rows).unwrap();
    assert_eq!((layout.batches(), layout.blocks().collect::<Vec<_>>()), (2, vec![2048, 2048, 4]));
    assert!(check(text, &schema, &data).rows.len() > 70);
}

/// A block between those of the groups, which is passed over or in which no row is ranked.
#[test]
fn blocks_without_groups_are_answered() {
    let schema = schema(40);
    let data = table(&schema, &groups(2 * BLOCK + 200, &[5, 2 * BLOCK + 9], 6, 3));
    for text in [
        "select ward, median(cost) from t where ward > 0 and insured group by ward order by ward",
        "select ward, median(cost) filter (where ward > 4) from t where ward > 0 or insured \
         group by ward order by ward",
        "select cost, days from t where ward = 5 order by cost limit 4",
        "select cost, days from t where ward = 1 and insured order by days limit 2",
    ] {
        check(text, &schema, &data);
    }
    // The rows of two groups are asked for as one set.
    let plan = ordered("select cost from t where ward in (3, 4) order by cost limit 5", &schema);
    let error = plan.rehearse(&toy(), &data, &[]).unwrap_err();
    assert_eq!(error.code(), "table.unsupported");
    assert!(error.to_string().contains("rows 17 and 4105"), "{error}");
}

/// A server that does not see with what it compares, and a key that may be null.
#[test]
fn encrypted_constants_decide_in_two_blocks() {
    let (schema, data) = two_blocks();
    for text in [
        "select median(cost) from t where ward = 4 and cost < :most",
        "select days from t where ward = 4 and cost < :most order by days nulls first limit 3",
    ] {
        let plan = ordered(text, &schema);
        let codes = plan.codes(&[("most", "30.00")]).unwrap();
        let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
        assert!(!expected.rows.is_empty(), "{text}");
        assert_eq!(plan.rehearse(&toy(), &data, &codes).unwrap(), expected, "{text}");
    }
}

/// The longest that are ranked, with any number of rows on either side, and one row more.
#[test]
fn groups_of_128_rows_lie_in_two_blocks() {
    let schema = schema(3);
    // Of the last one there is one row in the first block.
    for first in [1_921, 1_990, 2_047] {
        let wards = groups(2_300, &[first], 128, 1);
        check("select median(days) from t where ward = 1", &schema, &table(&schema, &wards));
    }
    let wards = groups(2_300, &[1_921], 129, 1);
    let plan = ordered("select median(days) from t where ward = 1", &schema);
    let error = plan.rehearse(&toy(), &table(&schema, &wards), &[]).unwrap_err();
    assert_eq!(error.code(), "table.unsupported");
    assert!(error.to_string().contains("rows 1921 and 2049"), "{error}");
}

/// Of each set a block or a border is ranked, and of many sets all blocks and all borders.
#[test]
fn what_blocks_and_borders_take() {
    let schema = schema(40);
    let refreshes = |text: &str, rows: usize| {
        ordered(text, &schema).explain(&toy(), rows).unwrap().cost.refreshes
    };
    let many = "select ward, median(cost) from t group by ward";
    let (one, two, three) =
        (refreshes(many, 2_048), refreshes(many, 4_096), refreshes(many, 6_144));
    assert!((2 * one + 1..4 * one).contains(&two), "{one} and {two}");
    assert!((two + one + 1..two + 3 * one).contains(&three), "{one}, {two} and {three}");
    // Of a few groups as many rankings, of blocks and borders together.
    let few = |count: usize, rows: usize| {
        let text = format!("select ward, median(cost) from t where ward < {count} group by ward");
        refreshes(&text, rows)
    };
    let one_each = few(1, 2_048);
    assert!(few(2, 4_096) + one_each / 2 < few(3, 4_096));
    assert!(few(3, 4_096) + one_each / 2 < few(4, 6_144));
    assert!(few(4, 4_096).abs_diff(few(3, 4_096)) < one_each / 2);
    let single = "select median(cost) from t where ward = 3";
    let (one, many) = (refreshes(single, 2_048), refreshes(single, 60_000));
    assert!((one + 1..2 * one).contains(&many), "{one} and {many}");
    let told = ordered(single, &schema).explain(&toy(), 4_096).unwrap();
    assert!(told.notes.iter().any(|note| note.contains("across the border")), "{told}");
    let told = ordered(single, &schema).explain(&toy(), 2_048).unwrap();
    assert!(told.notes.iter().all(|note| !note.contains("across the border")), "{told}");
}

/// Under encryption: with the keys that the plan names, block by block by two servers, and after
/// rows were deleted, so that others are about the border.
#[test]
fn servers_rank_rows_of_groups_in_two_blocks() {
    let schema = schema(40);
    let wards = groups(BLOCK + 20, &[BLOCK - 10], 4, 5);
    let data = table(&schema, &wards);
    let mut rng = everlevel::system_rng().unwrap();
    let (secret, params) = (PARTIES.client.secret(), PARTIES.client.params());
    let key = TableKey::Secret(secret);
    let stored = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let text = "select ward, median(cost) as m from t where ward between 2 and 4 and insured \
                group by ward order by ward";
    let plan = ordered(text, &schema);
    let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
    assert!(expected.rows.len() > 1, "{expected:?}");
    let bootstrap = everlevel::bootstrap_plan(params).unwrap();
    let keys = plan.keys(params, data.rows()).unwrap();
    let own = PARTIES.client.server_for(&keys, &bootstrap, &mut rng, |_, _| ()).unwrap();
    let result = stored.run(&own, &plan, None, quiet).unwrap();
    assert_eq!(result.read(secret).unwrap(), expected);
    let part = |blocks| stored.run_part::<TablesError>(&own, &plan, None, blocks, quiet).unwrap();
    let joined = part(0..1).joined(&part(1..2), &own).unwrap();
    assert_eq!(joined.result(&own).unwrap().read(secret).unwrap(), expected);

    let change = Change::parse("delete from t where ward = 1", &schema).unwrap();
    let (shorter, _) = changed(&stored, &change).unwrap();
    assert_eq!(shorter.rows(), data.rows() - 4);
    let left: Data = shorter.decrypt(secret, quiet).unwrap();
    let expected = Answer::plain(plan.query(), &schema, &left).unwrap();
    let result = shorter.run(&PARTIES.server, &plan, None, quiet).unwrap();
    assert_eq!(result.read(secret).unwrap(), expected);
}
