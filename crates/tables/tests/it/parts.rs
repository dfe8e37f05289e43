//! Answers in parts, which several servers compute: all ways to divide a table, and parts that do
//! not belong together.

use std::collections::BTreeMap;
use std::ops::Range;

use everlevel_tables::{
    Answer, Constants, Data, EncryptedTable, Plan, Schema, TableKey, TablePart, TablesError,
};

use crate::roles::{OTHERS, PARTIES, code, quiet, rows};

fn stored(schema: &Schema, data: &Data) -> EncryptedTable {
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    EncryptedTable::encrypt::<TablesError>(key, schema, data, &mut rng, quiet).unwrap()
}

fn part(
    table: &EncryptedTable,
    plan: &Plan,
    constants: Option<&Constants>,
    blocks: Range<usize>,
) -> TablePart {
    let part = table.run_part::<TablesError>(&PARTIES.server, plan, constants, blocks, quiet);
    TablePart::from_bytes(part.unwrap().as_bytes().to_vec()).unwrap()
}

/// Neighbors joined until one is left.
fn tree(mut parts: Vec<TablePart>) -> TablePart {
    while parts.len() > 1 {
        let pairs = parts.chunks(2).map(|pair| match pair {
            [a, b] => a.joined(b, &PARTIES.server).unwrap(),
            pair => pair[0].clone(),
        });
        parts = pairs.collect();
    }
    parts.pop().unwrap()
}

/// All ways to divide `count` blocks into neighboring ones.
fn divisions(count: usize) -> Vec<Vec<Range<usize>>> {
    let division = |cuts: usize| {
        let mut ends: Vec<usize> = (1..count).filter(|i| cuts >> (i - 1) & 1 == 1).collect();
        ends.push(count);
        let starts = [0].into_iter().chain(ends.clone());
        starts.zip(ends.iter().copied()).map(|(start, end)| start..end).collect()
    };
    (0..1 << (count - 1)).map(division).collect()
}

/// The answer by each of these divisions. What is the part of several of them is computed once:
/// computed again it would be the same, to the byte.
fn answers(table: &EncryptedTable, plan: &Plan, ways: &[Vec<Range<usize>>]) -> Vec<Answer> {
    let mut known: BTreeMap<(usize, usize), TablePart> = BTreeMap::new();
    let mut of = |blocks: &Range<usize>| {
        let own = known.entry((blocks.start, blocks.end));
        own.or_insert_with(|| part(table, plan, None, blocks.clone())).clone()
    };
    ways.iter().map(|way| read(&tree(way.iter().map(&mut of).collect()), plan)).collect()
}

fn read(part: &TablePart, plan: &Plan) -> Answer {
    let result = part.result(&PARTIES.server).unwrap();
    result.check(Some(plan), None, None).unwrap();
    result.read(PARTIES.client.secret()).unwrap()
}

#[test]
fn answers_do_not_depend_on_the_parts() {
    let (schema, data) = rows(4 * 2048 + 5);
    let table = stored(&schema, &data);
    for (sql, all) in [
        (
            "select kind, count(*), sum(price * count), avg(price) from t where paid group by kind",
            true,
        ),
        ("select sum(count) from t", false),
        ("select count(*) from t", false),
        ("select count(*) from t where price < 0", false),
        ("select price, kind from t where count = 500 and sold > date '1998-01-01'", true),
        ("select median(price), max(sold) from t where count = 256", false),
    ] {
        let plan = Plan::new(sql, &schema).unwrap();
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        let mut ways = divisions(5);
        if !all {
            ways = vec![ways.pop().unwrap()];
        }
        for (way, answer) in ways.iter().zip(answers(&table, &plan, &ways)) {
            assert_eq!(answer, expected, "{sql}: {way:?}");
        }
    }
}

/// A part that was lost is computed again, to the byte.
#[test]
fn parts_are_computed_again() {
    let (schema, data) = rows(2 * 2048 + 5);
    let table = stored(&schema, &data);
    let plan = Plan::new("select sum(price) from t where price > :price", &schema).unwrap();
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let mut bind = || Constants::encrypt(key, &plan, &[("price", "4.99")], &mut rng).unwrap();
    let (constants, others) = (bind(), bind());
    let first = part(&table, &plan, Some(&constants), 0..2);
    assert_eq!(first, part(&table, &plan, Some(&constants), 0..2));
    let second = part(&table, &plan, Some(&constants), 2..3);
    let codes = plan.codes(&[("price", "4.99")]).unwrap();
    let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
    let whole = first.joined(&second, &PARTIES.server).unwrap();
    assert_eq!(read(&whole, &plan), expected);
    let second = part(&table, &plan, Some(&others), 2..3);
    assert_eq!(code(first.joined(&second, &PARTIES.server)), "table.other-result");
}

/// Blocks of which public columns tell that no row is meant.
#[test]
fn parts_that_are_passed_over() {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "region", "type": "integer", "low": 0, "high": 9, "public": true},
            {"name": "amount", "type": "integer", "low": 0, "high": 999}]}"#,
    )
    .unwrap();
    let count = 4 * 2048 + 9;
    let regions = (0..count).map(|i| (i / 2048) as i128).collect();
    let amounts = (0..count).map(|i| (i * 7 % 1_000) as i128).collect();
    let data = Data::from_columns(vec![regions, amounts], &schema).unwrap();
    let table = stored(&schema, &data);
    for sql in [
        "select sum(amount), count(*) from t where region = 1",
        "select sum(amount) from t where region = 4",
        "select amount from t where region = 2 and amount < 9",
    ] {
        let plan = Plan::new(sql, &schema).unwrap();
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        let ways = divisions(5);
        for (way, answer) in ways.iter().zip(answers(&table, &plan, &ways)) {
            assert_eq!(answer, expected, "{sql}: {way:?}");
        }
    }
}

#[test]
fn parts_that_do_not_belong_together() {
    let (schema, data) = rows(2 * 2048 + 5);
    let (table, again) = (stored(&schema, &data), stored(&schema, &data));
    let plan = Plan::new("select sum(price) from t where paid", &schema).unwrap();
    let server = &PARTIES.server;
    let [a, b, c] = [0..1, 1..2, 2..3].map(|blocks| part(&table, &plan, None, blocks));
    // A block that is missing, or there twice, or in the place of another.
    for (x, y) in [(&a, &c), (&a, &a), (&b, &a), (&b, &b)] {
        assert_eq!(code(x.joined(y, server)), "table.other-result");
    }
    let two = a.joined(&b, server).unwrap();
    for part in [&a, &c, &two] {
        assert_eq!(code(part.result(server)), "table.other-result");
    }
    let other = part(&again, &plan, None, 2..3);
    assert_eq!(code(two.joined(&other, server)), "table.other-result");
    let other = Plan::new("select sum(price) from t where not paid", &schema).unwrap();
    let other = part(&table, &other, None, 2..3);
    assert_eq!(code(two.joined(&other, server)), "table.other-result");
    assert_eq!(code(two.joined(&c, &OTHERS.server)), "scheme.wrong-key");
    for blocks in [0..0, 1..4, 3..4] {
        let part = table.run_part::<TablesError>(server, &plan, None, blocks, quiet);
        assert_eq!(code(part), "table.data");
    }
    let result = two.joined(&c, server).unwrap().result(server).unwrap();
    assert_eq!(code(TablePart::from_bytes(result.as_bytes().to_vec())), "table.result");
    assert_eq!(
        code(everlevel_tables::TableResult::from_bytes(two.as_bytes().to_vec())),
        "table.result"
    );
    // A bit of each byte of the end, and bytes that are cut.
    let bytes = c.as_bytes();
    for place in (0..bytes.len()).step_by(bytes.len() / 50) {
        let mut forged = bytes.to_vec();
        forged[place] ^= 1;
        if let Ok(forged) = TablePart::from_bytes(forged) {
            assert!(two.joined(&forged, server).is_err(), "byte {place}");
        }
        assert!(TablePart::from_bytes(bytes[..place].to_vec()).is_err());
    }
}
