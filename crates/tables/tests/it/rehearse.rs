//! The server's computation on the no-op scheme, and what is told of plans.

use everlevel_scheme::{OptIn, Params};
use everlevel_tables::{Answer, Data, Plan};

use crate::shop;

fn toy() -> Params {
    Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap()
}

#[test]
fn rehearsals_answer_as_in_the_clear() {
    let (params, (schema, data)) = (toy(), shop());
    for (sql, constants) in [
        ("select kind, sum(price * count) as s from shop where not paid group by kind", &[][..]),
        ("select kind, price from shop where sold < date '1995-01-01'", &[]),
        ("select median(price), count(distinct kind) from shop", &[]),
        ("select count(*), sum(price) from shop where price > :price", &[("price", "12.50")]),
    ] {
        let plan = Plan::new(sql, &schema).unwrap();
        let codes = plan.codes(constants).unwrap();
        let found = plan.rehearse(&params, &data, &codes).unwrap();
        let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
        assert_eq!(found, expected, "{sql}");
    }
}

#[test]
fn other_tables_and_constants_are_refused() {
    let (params, (schema, data)) = (toy(), shop());
    let plan = Plan::new("select count(*) from shop where price > :price", &schema).unwrap();
    let code =
        |codes: &[i128], data: &Data| plan.rehearse(&params, data, codes).unwrap_err().code();
    assert_eq!(code(&[], &data), "table.constants");
    assert_eq!(code(&[5, 5], &data), "table.constants");
    let (narrow, _) = shop();
    let one = everlevel_tables::Schema::new(
        narrow.fields()[..1].iter().map(|f| (f.name().to_string(), f.kind().clone())),
    );
    let other = Data::from_columns(vec![vec![0, 1]], &one.unwrap()).unwrap();
    assert_eq!(code(&[5], &other), "table.data");
}

/// Numbers of an explanation are those of the cost, and bytes those of a result.
#[test]
fn explanations_say_what_is_learned_and_sent() {
    let (params, (schema, _)) = (toy(), shop());
    let plan =
        Plan::new("select kind, sum(price) from shop where count < :n group by kind", &schema);
    let told = plan.unwrap().explain(&params, 5000).unwrap();
    assert_eq!((told.rows, told.blocks, told.groups, told.sums), (5000, 3, 4, 2));
    assert_eq!(told.columns_read, ["kind", "price", "count"]);
    assert_eq!(told.encrypted_constants, [("n".to_string(), "count".to_string())]);
    assert!(told.cost.levels > 3 && told.cost.levels <= params.chain().top().0);
    assert!(told.cost.table_bytes > told.cost.constant_bytes && told.cost.constant_bytes > 0);
    let text = told.to_string();
    assert!(
        text.contains("but for those that are encrypted") && text.contains(" levels, "),
        "{text}"
    );
    // A line break in a query makes no line of the text; that no row is such a kind is noted.
    let plan = Plan::new("select count(*)\nfrom shop where 'x\ny' = kind", &schema).unwrap();
    let told = plan.explain(&params, 10).unwrap();
    assert_eq!((told.to_string().lines().count(), told.notes.len()), (9, 1), "{told}");
    assert_eq!((told.cost.constant_bytes, told.columns_read.len()), (0, 0));
}
