//! Values that are searched for in rounds.

use everlevel::files::Existing;
use everlevel_tables::{
    Answer, Constants, Data, EncryptedTable, Query, Schema, Search, TableKey, TablesError,
};

use crate::roles::{PARTIES, code, open, quiet, rows};
use crate::shop;

/// In the clear, and how many rounds it was.
fn found(text: &str, schema: &Schema, data: &Data, parts: usize) -> (Answer, usize) {
    let search = Search::new(text, schema, parts).unwrap_or_else(|e| panic!("{text}: {e}"));
    let (all, mut rounds) = (search.rounds(), 0);
    let answer = search.run(|plan, constants| {
        rounds += 1;
        assert_eq!(constants.len(), parts - 1);
        Answer::plain_with(plan.query(), schema, data, &plan.codes(constants)?)
    });
    let answer = answer.unwrap_or_else(|e: TablesError| panic!("{text}: {e}"));
    assert_eq!(rounds, all, "{text}: as many rounds for all data");
    (answer, rounds)
}

#[test]
fn rounds_find_what_listed_rows_tell() {
    let (schema, data) = shop();
    for text in [
        "select min(price) from shop",
        "select max(price) as most from shop where paid",
        "select median(price) from shop where kind = 'tea'",
        "select median(count) from shop where kind <> 'tea'",
        "select quantile_cont(price, 0.5) from shop where kind = 'tea'",
        "select quantile_cont(price, 0.9) from shop",
        "select quantile_cont(count, 0.3333) as third from shop where kind <> 'tea'",
        "select quantile_cont(count, 1) from shop",
        "select min(count) from shop where price > 100",
        "select max(sold) from shop as s where s.paid or s.discount = 0",
        "select max(price) from shop where count = 17",
        "select median(sold) from shop where paid and not paid",
    ] {
        let query = Query::parse(text, &schema);
        // Of dates there is no median, by a reader or in rounds.
        let Ok(query) = query else {
            assert!(Search::new(text, &schema, 16).is_err(), "{text}");
            continue;
        };
        let expected = Answer::plain(&query, &schema, &data).unwrap();
        for parts in [2, 3, 16, 32] {
            assert_eq!(found(text, &schema, &data, parts).0, expected, "{text} by {parts}");
        }
    }
    let text = "select quantile_cont(price, 0.9) as q from shop";
    let (answer, rounds) = found(text, &schema, &data, 16);
    // Of seven prices, from 250 to 999.99 four tenths of the way.
    assert_eq!((&answer.to_csv().unwrap()[..], rounds), ("q\n549.99600000\n", 10));
    // 99,995 prices are five digits to the base 16.
    assert_eq!(found("select max(price) from shop", &schema, &data, 16).1, 5);
    assert_eq!(found("select median(price) from shop", &schema, &data, 2).1, 34);
}

/// All multisets of up to four values, ties and empty cells among them.
#[test]
fn small_columns_exhaustively() {
    let text = r#"{"columns": [{"name": "x", "type": "integer", "low": -1, "high": 3,
                                "nullable": true}]}"#;
    let schema = Schema::from_json(text).unwrap();
    for count in 1..=4u32 {
        for code in 0..6i128.pow(count) {
            let mut xs: Vec<i128> = (0..count).map(|i| code / 6i128.pow(i) % 6 - 2).collect();
            // Each multiset once, in some order.
            if !xs.is_sorted() {
                continue;
            }
            xs.rotate_left(code as usize % count as usize);
            let data = Data::from_columns(vec![xs.clone()], &schema).unwrap();
            for fold in
                ["min(x)", "max(x)", "median(x)", "quantile_cont(x, 0.1)", "quantile_cont(x, 0.75)"]
            {
                let text = format!("select {fold} from t");
                let query = Query::parse(&text, &schema).unwrap();
                let expected = Answer::plain(&query, &schema, &data).unwrap();
                for parts in [2, 4] {
                    assert_eq!(found(&text, &schema, &data, parts).0, expected, "{fold} {xs:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_searched_for_is_checked() {
    let (schema, data) = shop();
    for text in [
        "select sum(price) from shop",
        "select min(price), max(price) from shop",
        "select kind, min(price) from shop group by kind",
        "select min(price * 2) from shop",
        "select min(0.1 * price) from shop",
        "select min(kind) from shop",
        "select max(paid) from shop",
        "select min(price) filter (where paid) from shop",
        "select min(price) from shop limit 1",
        "select price from shop",
        "select count(distinct price) from shop",
    ] {
        assert_eq!(code(Search::new(text, &schema, 16)), "table.unsupported", "{text}");
    }
    for parts in [0, 1, 33] {
        let found = Search::new("select min(price) from shop", &schema, parts);
        assert_eq!(code(found), "table.unsupported");
    }
    // Answers that are none of a round, or contradict an earlier one.
    let mut search = Search::new("select min(price) from shop", &schema, 4).unwrap();
    let other = Query::parse("select count(*) from shop", &schema).unwrap();
    let other = Answer::plain(&other, &schema, &data).unwrap();
    assert_eq!(code(search.learn(&other)), "table.result");
    let round = |search: &Search| {
        let codes = search.plan().codes(&search.constants().unwrap()).unwrap();
        Answer::plain_with(search.plan().query(), &schema, &data, &codes).unwrap()
    };
    let first = round(&search);
    let mut forged = first.clone();
    forged.rows[0].swap(0, 3);
    assert_eq!(code(search.learn(&forged)), "table.result");
    search.learn(&first).unwrap();
    assert_eq!(search.answer().unwrap(), None);
    let mut forged = round(&search);
    forged.rows[0][3] = forged.rows[0][0].clone();
    assert_eq!(code(search.learn(&forged)), "table.result");
}

/// Rounds are written anew, and ask about the same rows.
#[test]
fn rounds_are_about_the_rows_of_the_query() {
    let text = r#"{"columns": [
        {"name": "w", "type": "category", "values": ["5'", "5''"]},
        {"name": "x", "type": "integer", "low": 0, "high": 9}]}"#;
    let schema = Schema::from_json(text).unwrap();
    let data = Data::from_csv("w,x\n5',3\n5'',7\n".as_bytes(), &schema).unwrap();
    for (wanted, expected) in [("w = '5'''", "3"), ("w <> '5'''", "7"), ("w in ('5''')", "3")] {
        let (answer, _) = found(&format!("select max(x) from t where {wanted}"), &schema, &data, 4);
        assert_eq!(answer.to_csv().unwrap(), format!("max(x)\n{expected}\n"));
    }
    // A column of one value is compared with nothing.
    let one = Schema::from_json(&text.replace("\"low\": 0", "\"low\": 9")).unwrap();
    let nines = Data::from_csv("w,x\n5',9\n".as_bytes(), &one).unwrap();
    let (answer, _) = found("select max(x) from t", &one, &nines, 4);
    assert_eq!(answer.to_csv().unwrap(), "max(x)\n9\n");
    let twice = Search::new("select max(x) from t where w = '5'''''", &schema, 4);
    assert_eq!(code(twice), "table.unsupported");
}

/// With constants of the query beside those of the search, under encryption, in two blocks.
#[test]
fn rounds_under_encryption() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = rows(2_100);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let input = (&schema, &data);
    EncryptedTable::create(&directory, Existing::Keep, key, input, &mut rng, quiet).unwrap();
    let table = open(&directory).unwrap();
    let text = "select max(count) from shop where kind = :kind and discount <> 0.05";
    let search = Search::new(text, &schema, 8).unwrap();
    assert_eq!(search.rounds(), 3);
    let answer = search.run(|plan, constants| {
        let own = ("kind".to_string(), "tea".to_string());
        let all = [&[own], constants].concat();
        let sent = Constants::encrypt(key, plan, &all, &mut rng)?;
        let result = table.run(&PARTIES.server, plan, Some(&sent), quiet)?;
        result.check(Some(plan), Some(table.id()), Some(sent.id()))?;
        result.read(PARTIES.client.secret())
    });
    let answer: Result<_, TablesError> = answer;
    assert_eq!(answer.unwrap().to_csv().unwrap(), "max(count)\n16\n");
}
