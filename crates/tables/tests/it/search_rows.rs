//! Rows of `order by … limit` that are searched for in rounds.

use everlevel::files::Existing;
use everlevel_tables::{
    Answer, Cell, Constants, Data, EncryptedTable, Plan, Query, Schema, Search, TableKey,
    TablesError,
};

use crate::ask_random::Random;
use crate::roles::{PARTIES, code, open, quiet, rows};
use crate::{Bench, joins, shop};

/// A value or none, and a number by which rows are chosen, and ordered after the value.
type Row = (Option<i128>, i128);

/// An order of rows, which is sorted here without the library.
#[derive(Clone, Copy, Debug)]
struct Order {
    descending: bool,
    nulls_first: Option<bool>,
    /// Whether the greater number comes first of those with one value.
    then: bool,
}

impl Order {
    fn all() -> Vec<Order> {
        let nulls = [None, Some(true), Some(false)];
        let of = |nulls_first| {
            [(false, false), (false, true), (true, false), (true, true)]
                .map(|(descending, then)| Order { descending, nulls_first, then })
        };
        nulls.into_iter().flat_map(of).collect()
    }

    fn sql(self, limit: usize) -> String {
        format!(
            "select id, x, y from t where y >= :least order by x{}{}{} limit {limit}",
            if self.descending { " desc" } else { "" },
            match self.nulls_first {
                None => "",
                Some(true) => " nulls first",
                Some(false) => " nulls last",
            },
            if self.then { ", y desc" } else { "" },
        )
    }

    /// The places of the rows that meet the condition.
    fn sorted(self, rows: &[Row], least: i128) -> Vec<usize> {
        let nulls_first = self.nulls_first.unwrap_or(self.descending);
        let mut found: Vec<usize> = (0..rows.len()).filter(|i| rows[*i].1 >= least).collect();
        // Those with equal keys stay in the order of the table.
        found.sort_by_key(|i| {
            let (x, y) = rows[*i];
            let group = if x.is_none() == nulls_first { 0 } else { 1 };
            let x = x.unwrap_or(0);
            (group, if self.descending { -x } else { x }, if self.then { -y } else { 0 })
        });
        found
    }

    /// Those of them that the last round is to list: up to the value of the row at the limit, if
    /// there are as many values, and all that have no value.
    fn listed(self, rows: &[Row], least: i128, limit: usize) -> Vec<usize> {
        let sorted = self.sorted(rows, least);
        let values: Vec<i128> = sorted.iter().filter_map(|i| rows[*i].0).collect();
        let last = values.get(limit - 1).copied();
        let reached = |i: &usize| match (rows[*i].0, last) {
            (Some(x), Some(last)) => {
                if self.descending {
                    x >= last
                } else {
                    x <= last
                }
            }
            _ => true,
        };
        sorted.into_iter().filter(reached).collect()
    }
}

/// Rows of values from `low` to `high`, each with its place.
fn table((low, high): (i128, i128), most: i128, rows: &[Row]) -> (Schema, Data) {
    let text = format!(
        r#"{{"columns": [
            {{"name": "id", "type": "integer", "low": 0, "high": 4095}},
            {{"name": "x", "type": "integer", "low": {low}, "high": {high}, "nullable": true}},
            {{"name": "y", "type": "integer", "low": 0, "high": {most}}}]}}"#
    );
    let schema = Schema::from_json(&text).unwrap();
    let ids = (0..rows.len() as i128).collect();
    let xs = rows.iter().map(|(x, _)| x.unwrap_or(low - 1)).collect();
    let ys = rows.iter().map(|(_, y)| *y).collect();
    let data = Data::from_columns(vec![ids, xs, ys], &schema).unwrap();
    (schema, data)
}

/// The first column of rows.
fn ids(answer: &Answer) -> Vec<usize> {
    let id = |row: &Vec<Cell>| match &row[0] {
        Cell::Text(_, code) => usize::try_from(*code).ok(),
        _ => None,
    };
    answer.rows.iter().filter_map(id).collect()
}

/// The rows that are found, and all that the last round lists, where `ask` answers a query with
/// these codes of its constants.
fn found(
    search: Search,
    least: i128,
    ask: impl Fn(&Query, &[i128]) -> Answer,
) -> (Vec<usize>, Vec<usize>) {
    let (all, mut rounds, mut listed) = (search.rounds(), 0, Vec::new());
    let own = ("least".to_string(), least.to_string());
    let answer = search.run(|plan, constants| {
        rounds += 1;
        let codes = plan.codes(&[std::slice::from_ref(&own), constants].concat())?;
        if plan.query().listed.is_some() {
            let unlimited = Query { limit: None, ..plan.query().clone() };
            listed = ids(&ask(&unlimited, &codes));
        }
        Ok::<_, TablesError>(ask(plan.query(), &codes))
    });
    assert_eq!(rounds, all, "as many rounds for all data");
    (ids(&answer.unwrap()), listed)
}

/// All tables of up to three rows: ties, empty cells, and fewer rows or values than the limit.
#[test]
fn small_tables_exhaustively() {
    let mut tables: Vec<Vec<Row>> = Vec::new();
    for count in 1..=3u32 {
        for i in 0..6i128.pow(count) {
            let x = |place: u32| Some(i / 6i128.pow(place) % 6 - 2).filter(|x| *x >= -1);
            let y = |place: u32| (i + i128::from(place) * i / 2) % 2;
            tables.push((0..count).map(|place| (x(place), y(place))).collect());
        }
    }
    let tables: Vec<_> = tables.into_iter().map(|rows| (table((-1, 3), 1, &rows), rows)).collect();
    for order in Order::all() {
        for limit in [1, 2, 3, 5] {
            let (text, parts) = (order.sql(limit), if order.then { 2 } else { 4 });
            let search = Search::new(&text, &tables[0].0.0, parts).unwrap();
            // Five values are three digits to the base 2, and two to the base 4.
            assert_eq!(search.rounds(), if parts == 2 { 4 } else { 3 });
            for (i, ((schema, data), rows)) in tables.iter().enumerate() {
                let least = i as i128 % 2;
                let ask = |query: &Query, codes: &[i128]| {
                    Answer::plain_with(query, schema, data, codes).unwrap()
                };
                let (answer, listed) = found(search.clone(), least, ask);
                let mut expected = order.sorted(rows, least);
                expected.truncate(limit);
                assert_eq!(answer, expected, "{text}: {rows:?}");
                assert_eq!(listed, order.listed(rows, least, limit), "{text}: {rows:?}");
            }
        }
    }
}

fn random_rows(random: &mut Random, (low, high): (i128, i128), most: i128) -> Vec<Row> {
    let mut rows = Vec::new();
    for _ in 0..=random.below(60) {
        let x = low + random.below((high - low + 1) as usize) as i128;
        let x = (random.below(4) > 0).then_some(x);
        rows.push((x, random.below(most as usize + 1) as i128));
    }
    rows
}

#[test]
fn random_tables() {
    let (mut random, orders) = (Random(11), Order::all());
    for i in 0..120 {
        let bounds = [(0, 0), (7, 8), (-9, 30), (-5, 70_000)][i % 4];
        let rows = random_rows(&mut random, bounds, 3);
        let (schema, data) = table(bounds, 3, &rows);
        let (order, limit) = (orders[random.below(orders.len())], 1 + random.below(40));
        let (text, parts) = (order.sql(limit), 2 + random.below(31));
        let search = Search::new(&text, &schema, parts).unwrap();
        let least = random.below(4) as i128;
        let ask = |query: &Query, codes: &[i128]| {
            Answer::plain_with(query, &schema, &data, codes).unwrap()
        };
        let (answer, listed) = found(search, least, ask);
        let mut expected = order.sorted(&rows, least);
        expected.truncate(limit);
        assert_eq!(answer, expected, "{text} by {parts}: {rows:?}");
        assert_eq!(listed, order.listed(&rows, least, limit), "{text} by {parts}: {rows:?}");
    }
}

/// By the operations of a server, on tables of two blocks.
#[test]
fn random_tables_as_a_server_computes_them() {
    let (bench, mut random) = (Bench::new("insecure_bgv-65537-n11"), Random(12));
    let bounds = (-3, 60);
    for (descending, nulls_first, then) in
        [(true, None, true), (true, Some(false), false), (false, None, true)]
    {
        let order = Order { descending, nulls_first, then };
        let mut rows = Vec::new();
        while rows.len() < 2_100 {
            rows.extend(random_rows(&mut random, bounds, 15));
        }
        let (schema, data) = table(bounds, 15, &rows);
        let blocks = bench.encrypt(&schema, &data);
        // More rows than have no value, or fewer.
        let (limit, least) = (if then { 120 } else { 20 }, 14);
        let search = Search::new(&order.sql(limit), &schema, 8).unwrap();
        let ask = |query: &Query, codes: &[i128]| {
            bench.answered(query, &schema, rows.len(), &blocks, codes).unwrap()
        };
        let (answer, listed) = found(search, least, ask);
        let mut expected = order.sorted(&rows, least);
        expected.truncate(limit);
        assert_eq!(answer, expected, "{order:?}");
        assert_eq!(listed, order.listed(&rows, least, limit), "{order:?}");
    }
}

/// Queries in other words, with all columns, other names, places and joins.
#[test]
fn queries_are_those_that_are_asked() {
    let (schema, data) = shop();
    let (joined, joins) = (joins::schema(), joins::data());
    let quoted = Schema::from_json(
        r#"{"columns": [
            {"name": "a desc", "type": "integer", "low": 0, "high": 20},
            {"name": "a", "type": "integer", "low": 0, "high": 20},
            {"name": "it's \"b\"", "type": "integer", "low": 0, "high": 20}]}"#,
    );
    let quoted = quoted.unwrap();
    let names = vec![vec![3, 1, 2], vec![9, 7, 8], vec![5, 4, 6]];
    let names = Data::from_columns(names, &quoted).unwrap();
    for (text, schema, data) in [
        ("select * from shop order by price desc limit 3", &schema, &data),
        ("select kind, price from shop where paid order by price limit 2", &schema, &data),
        (
            "select price as p, kind from shop as s where s.paid or s.discount = 0 \
             order by p desc, kind limit 3",
            &schema,
            &data,
        ),
        // The key is a name of the answer.
        ("select count as price, price as count from shop order by count limit 2", &schema, &data),
        ("select sold, kind from shop order by 1 desc limit 100", &schema, &data),
        ("select kind, sold from shop where count > 9 order by sold limit 1", &schema, &data),
        ("select discount, kind from shop order by discount desc, kind limit 3", &schema, &data),
        (
            "select a.price, a.kind from (select * from shop where paid or count = 7) as a \
             where a.price > 1 order by a.price desc limit 2",
            &schema,
            &data,
        ),
        ("select * from t order by \"a desc\" limit 2", &quoted, &names),
        ("select a, \"a desc\" as \"x desc\" from t order by \"x desc\" limit 2", &quoted, &names),
        ("select \"it's \"\"b\"\"\" as d, a from t order by d desc limit 2", &quoted, &names),
        (
            "select number, o.customer, price from items i join orders o on i.bought_by = o.key \
             where o.priority = 'high' order by o.customer desc, price limit 2",
            &joined,
            &joins,
        ),
        (
            "select * from items join orders on bought_by = key order by customer, number desc \
             limit 3",
            &joined,
            &joins,
        ),
        (
            "select number, orders.key as k from items, orders where bought_by = key and price > 1 \
             order by k desc limit 2",
            &joined,
            &joins,
        ),
    ] {
        let expected = Answer::plain(&Query::parse(text, schema).unwrap(), schema, data).unwrap();
        let search = Search::new(text, schema, 16).unwrap_or_else(|e| panic!("{text}: {e}"));
        let [counts, listing] = search.plans() else { panic!("{text}: two plans") };
        assert!(counts.query().listed.is_none() && listing.query().listed.is_some(), "{text}");
        assert_eq!(search.output_types(), listing.query().output_types(schema));
        let answer = search.run(|plan, constants| {
            // As the server reads it.
            let plan = Plan::from_json(&plan.to_json()?)?;
            Answer::plain_with(plan.query(), schema, data, &plan.codes(constants)?)
        });
        let answer = answer.unwrap_or_else(|e: TablesError| panic!("{text}: {e}"));
        assert_eq!(answer, expected, "{text}");
    }
}

#[test]
fn rows_that_are_not_searched_for() {
    let (schema, _) = shop();
    for text in [
        "select price from shop order by price",
        "select price from shop limit 3",
        "select price from shop order by price limit 0",
        "select price from shop order by price limit 3 offset 1",
        "select kind, price from shop order by kind limit 3",
        "select paid, price from shop order by paid, price limit 1",
        "select kind, min(price) from shop group by kind order by kind limit 2",
        "select kind, sum(price) as s from shop group by kind order by s desc limit 1",
        "select min(price) as p from shop order by p limit 1",
        "select distinct price from shop order by price limit 2",
        "select price from shop where price > :search_1 order by price limit 1",
    ] {
        assert_eq!(code(Search::new(text, &schema, 4)), "table.unsupported", "{text}");
    }
    let texts = r#"{"columns": [{"name": "t", "type": "text", "bytes": 5}]}"#;
    let texts = Schema::from_json(texts).unwrap();
    let found = Search::new("select t from t order by t limit 1", &texts, 4);
    assert_eq!(code(found), "table.unsupported");
}

/// Rows that contradict the counts, as those of a table that was changed in between.
#[test]
fn rows_are_those_that_were_counted() {
    let (schema, data) = shop();
    let plain =
        |query: &Query, codes: &[i128]| Answer::plain_with(query, &schema, &data, codes).unwrap();
    let text = "select kind, price from shop order by price desc limit 3";
    let mut search = Search::new(text, &schema, 32).unwrap();
    let round = |search: &Search| {
        let codes = search.plan().codes(&search.constants().unwrap()).unwrap();
        plain(search.plan().query(), &codes)
    };
    let counts = round(&search);
    while search.plan() == &search.plans()[0] {
        search.learn(&round(&search)).unwrap();
        assert_eq!(search.answer().unwrap(), None);
    }
    let right = round(&search);
    assert_eq!(right.to_csv().unwrap(), "kind,price\ncake,999.99\ntea,250.00\ncake,17.77\n");
    let all = plain(&Query::parse("select kind, price from shop", &schema).unwrap(), &[]);
    let rows = |rows: &[usize]| {
        let rows = rows.iter().map(|i| all.rows[*i].clone()).collect();
        Answer { rows, ..right.clone() }
    };
    assert_eq!(rows(&[1, 5, 6]), right);
    // Too few, too many, another one, and one twice.
    for forged in [counts, rows(&[1, 5]), rows(&[1, 5, 6, 2]), rows(&[1, 5, 2]), rows(&[1, 5, 5])] {
        assert_eq!(code(search.learn(&forged)), "table.result", "{forged:?}");
        assert_eq!(search.answer().unwrap(), None);
    }
    search.learn(&right).unwrap();
    assert_eq!(search.answer().unwrap(), Some(right.clone()));
    assert_eq!((search.constants(), code(search.learn(&right))), (None, "table.result"));
}

/// With constants of the query beside those of the search, under encryption, in two blocks.
#[test]
fn first_rows_under_encryption() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = rows(2_100);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let input = (&schema, &data);
    EncryptedTable::create(&directory, Existing::Keep, key, input, &mut rng, quiet).unwrap();
    let table = open(&directory).unwrap();
    let text = "select kind, count, sold from shop where kind <> :kind and discount <> 0.10 \
                order by count desc, sold limit 302";
    let own = [("kind".to_string(), "tea".to_string())];
    let asked = Plan::new(text, &schema).unwrap();
    let codes = asked.codes(&own).unwrap();
    let expected = Answer::plain_with(asked.query(), &schema, &data, &codes).unwrap();
    let search = Search::new(text, &schema, 8).unwrap();
    assert_eq!(search.rounds(), 4);
    let answer = search.run(|plan, constants| {
        let sent = Constants::encrypt(key, plan, &[&own, constants].concat(), &mut rng)?;
        let result = table.run(&PARTIES.server, plan, Some(&sent), quiet)?;
        result.check(Some(plan), Some(table.id()), Some(sent.id()))?;
        result.read(PARTIES.client.secret())
    });
    let answer: Result<_, TablesError> = answer;
    assert_eq!(answer.unwrap(), expected);
    let last = &expected.rows[301][1];
    assert_eq!((expected.rows.len(), last.to_string()), (302, "7".to_string()));
}
