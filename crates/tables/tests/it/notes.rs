//! Notes on comparisons that hold for no row of any table.

use everlevel_scheme::{OptIn, Params};
use everlevel_tables::{Answer, Change, Plan, Schema};

use crate::shop;

fn notes(condition: &str) -> Vec<String> {
    let (schema, _) = shop();
    let sql = format!("select count(*) from shop where {condition}");
    Plan::new(&sql, &schema).unwrap_or_else(|e| panic!("{sql}: {e}")).notes().to_vec()
}

#[test]
fn constants_that_no_row_has() {
    let kinds = "kind is one of tea, cake, PROMO tea, jam";
    let counts = "count is an integer from -3 to 500";
    for (condition, told, why) in [
        ("kind = 'cakes'", "kind = 'cakes'", format!("{kinds}: did you mean cake?")),
        ("'Tea' = kind", "'Tea' = kind", format!("{kinds}: did you mean tea?")),
        ("kind <> 'cakes' or paid", "kind = 'cakes'", format!("{kinds}: did you mean cake?")),
        ("kind in ('tea', 'x')", "kind = 'x'", kinds.into()),
        ("kind like 'cakes%'", "kind like 'cakes%'", kinds.into()),
        ("count > 500", "500 < count", counts.into()),
        ("not count = 501", "count = 501", counts.into()),
        ("count between 600 and 700", "600 <= count", counts.into()),
        ("count > 500 and price < :p", "500 < count", counts.into()),
        ("count > 500 or count > 500", "500 < count", counts.into()),
        (
            "price = 1.234",
            "price = 1.234",
            "price is a number from 0.05 to 999.99 with at most 2 decimal places".into(),
        ),
        (
            "sold < '1992-01-01'",
            "sold < '1992-01-01'",
            "sold is a date from 1992-01-01 to 1998-12-31".into(),
        ),
        ("count * 2 > 2000", "2000 < count * 2", "the bounds of the columns exclude it".into()),
    ] {
        let expected = format!("{told} holds for no row: {why}");
        assert_eq!(notes(condition), [expected], "{condition}");
    }
    for condition in [
        "kind = 'tea'",
        "kind <> 'tea'",
        "kind < 'm'",
        "kind like '%tea'",
        "count > 499",
        "count < 501",
        "count >= -3",
        "price = 1.2300",
        "sold >= '1998-12-31'",
        "count < price",
        "kind = :k",
        "false",
        "1 = 2",
    ] {
        assert_eq!(notes(condition), [""; 0], "{condition}");
    }
    // Many are counted.
    let list: Vec<String> = (10..30).map(|i| format!("'{i}'")).collect();
    let told = notes(&format!("kind in ({})", list.join(", ")));
    assert_eq!(told.len(), 9);
    assert_eq!(told[8], "comparisons that hold for no row and are not listed: 12");
    let told = notes(&format!("kind in ({0}, {0}, '9')", list[..8].join(", ")));
    assert_eq!(told.len(), 9);
    assert_eq!(told[8], "comparisons that hold for no row and are not listed: 1");
    // Of a long text the beginning is told.
    let told = notes(&format!("kind = '{}'", "é".repeat(3000)));
    assert_eq!(told, [format!("kind = 'é{}… holds for no row: {kinds}", "é".repeat(78))]);
}

#[test]
fn texts_of_nullable_columns_and_control_characters() {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "name", "type": "text", "bytes": 4},
            {"name": "day", "type": "date", "low": "2026-01-01", "high": "2026-12-31",
             "nullable": true}
        ]}"#,
    )
    .unwrap();
    let told = |condition: &str| {
        let sql = format!("select name from t where {condition}");
        Plan::new(&sql, &schema).unwrap().notes().to_vec()
    };
    let why = "holds for no row: name is a text of up to 4 bytes";
    assert_eq!(told("name = 'Magda'"), [format!("name = 'Magda' {why}")]);
    assert_eq!(told("name = 'Ma\u{1b}gda'"), [format!("name = 'Ma gda' {why}")]);
    assert_eq!(told("name = 'Ada'"), [""; 0]);
    // An empty cell is below all days.
    let why = "holds for no row: day is a date from 2026-01-01 to 2026-12-31";
    assert_eq!(told("day < '2026-01-01'"), [format!("day < '2026-01-01' {why}")]);
    assert_eq!(told("day is null or day <= '2026-01-01'"), [""; 0]);
}

#[test]
fn notes_are_of_plans_explanations_and_changes() {
    let (schema, data) = shop();
    let sql = "select count(*) from shop where kind = 'cakes'";
    let plan = Plan::new(sql, &schema).unwrap();
    let answer = Answer::plain(plan.query(), &schema, &data).unwrap();
    assert_eq!(answer.to_csv().unwrap().lines().nth(1), Some("0"));
    let again = Plan::from_json(&plan.to_json().unwrap()).unwrap();
    assert_eq!((again.notes(), again.notes().len()), (plan.notes(), 1));
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let explained = plan.explain(&params, 7).unwrap();
    assert_eq!(explained.notes, plan.notes());
    assert!(explained.to_string().contains(&format!("\nnote: {}\n", plan.notes()[0])));

    let change = |text: &str| Change::parse(text, &schema).unwrap().notes().to_vec();
    assert_eq!(change("delete from shop where kind = 'cakes'"), plan.notes());
    assert_eq!(change("update shop set count = 1 where kind = 'cakes'"), plan.notes());
    assert_eq!(change("delete from shop where kind = 'cake'"), [""; 0]);
}
