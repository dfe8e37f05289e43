//! Line items of a trade: the columns of TPC-H that its queries 1, 6, 12 and 14 read, drawn from
//! the ranges that its specification states, and a key of 64 bits.

use everlevel_tables::{Data, Field, Kind, Schema};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

use super::ask::refused;
use crate::console::errors::CliError;

/// What is said wherever the queries are.
pub const NOTE: &str = "derived from TPC-H, not comparable with published TPC-H results";

/// A query of the demonstration.
pub struct Question {
    pub name: &'static str,
    pub description: &'static str,
    pub sql: &'static str,
}

/// The queries. Those over two tables have the columns of the second one in each row.
pub const QUERIES: [Question; 5] = [
    Question {
        name: "Q1",
        description: "eight sums and averages of six groups",
        sql: "select returnflag, linestatus, sum(quantity) as sum_qty, sum(extendedprice) as \
         sum_base_price, sum(extendedprice * (1 - discount)) as sum_disc_price, \
         sum(extendedprice * (1 - discount) * (1 + tax)) as sum_charge, avg(quantity) as avg_qty, \
         avg(extendedprice) as avg_price, avg(discount) as avg_disc, count(*) as count_order \
         from lineitem where shipdate <= date '1998-12-01' - interval '90' day \
         group by returnflag, linestatus order by returnflag, linestatus",
    },
    Question {
        name: "Q6",
        description: "the sum of products of two columns under three conditions",
        sql: "select sum(extendedprice * discount) as revenue from lineitem \
         where shipdate >= date '1994-01-01' \
         and shipdate < date '1994-01-01' + interval '1' year \
         and discount between 0.05 and 0.07 and quantity < 24",
    },
    Question {
        name: "Q12",
        description: "counts by category under comparisons of columns",
        sql: "select shipmode, sum(case when orderpriority in ('1-URGENT', '2-HIGH') \
         then 1 else 0 end) as high_line_count, \
         sum(case when orderpriority not in ('1-URGENT', '2-HIGH') \
         then 1 else 0 end) as low_line_count from lineitem \
         where shipmode in ('MAIL', 'SHIP') and commitdate < receiptdate \
         and shipdate < commitdate and receiptdate >= date '1994-01-01' \
         and receiptdate < date '1994-01-01' + interval '1' year \
         group by shipmode order by shipmode",
    },
    Question {
        name: "Q14",
        description: "a quotient of sums of products",
        sql: "select 100.00 * sum(case when type like 'PROMO%' \
         then extendedprice * (1 - discount) else 0 end) \
         / sum(extendedprice * (1 - discount)) as promo_revenue from lineitem \
         where shipdate >= date '1995-09-01' \
         and shipdate < date '1995-09-01' + interval '1' month",
    },
    Question {
        name: "lookup",
        description: "three columns of the row with a key of 64 bits",
        sql: "select extendedprice, shipdate, type from lineitem where key = 2177342782468422742",
    },
];

/// Keys are multiples of this prime modulo the number of values of their column, which it does not
/// divide: so all keys differ, and they are spread over all values.
const KEY_STEP: i128 = 11_400_714_819_323_198_549;

/// The name of a constant, and its value.
type Named = (&'static str, &'static str);

/// Names for constants of the queries: what each query has, how it is written there instead, and
/// what it stands for.
const CONSTANTS: [(&str, &str, &[Named]); 11] = [
    ("<= date '1998-12-01' - interval '90' day", "<= :last", &[("last", "1998-09-02")]),
    (
        "shipdate >= date '1994-01-01' and shipdate < date '1994-01-01' + interval '1' year",
        "shipdate >= :begin and shipdate < :end",
        &[("begin", "1994-01-01"), ("end", "1995-01-01")],
    ),
    ("between 0.05 and 0.07", "between :low and :high", &[("low", "0.05"), ("high", "0.07")]),
    ("quantity < 24", "quantity < :quantity", &[("quantity", "24")]),
    ("shipmode in ('MAIL', 'SHIP')", "shipmode in (:a, :b)", &[("a", "MAIL"), ("b", "SHIP")]),
    (
        "receiptdate >= date '1994-01-01' and receiptdate < date '1994-01-01' + interval '1' year",
        "receiptdate >= :begin and receiptdate < :end",
        &[("begin", "1994-01-01"), ("end", "1995-01-01")],
    ),
    (
        "orderpriority in ('1-URGENT', '2-HIGH')",
        "orderpriority in (:first, :second)",
        &[("first", "1-URGENT"), ("second", "2-HIGH")],
    ),
    ("not in ('1-URGENT', '2-HIGH')", "not in (:first, :second)", &[]),
    (
        "shipdate >= date '1995-09-01' and shipdate < date '1995-09-01' + interval '1' month",
        "shipdate >= :begin and shipdate < :end",
        &[("begin", "1995-09-01"), ("end", "1995-10-01")],
    ),
    ("like 'PROMO%'", "like :promo", &[("promo", "PROMO%")]),
    ("key = 2177342782468422742", "key = :key", &[("key", "2177342782468422742")]),
];

/// A query with its constants encrypted, and these.
pub fn encrypted(query: &str) -> (String, Vec<(String, String)>) {
    let (mut text, mut constants) = (query.to_string(), Vec::new());
    for (public, named, values) in CONSTANTS {
        if text.contains(public) {
            text = text.replace(public, named);
            constants.extend(values.iter().map(|(n, v)| ((*n).to_string(), (*v).to_string())));
        }
    }
    (text, constants)
}

const SHIPPED: (&str, &str) = ("1992-01-02", "1998-12-31");

/// The columns that have an index: those that are compared with constants or with each other but
/// the key, and those of groups that have more than two values.
const INDEXED: [&str; 9] = [
    "quantity",
    "discount",
    "returnflag",
    "shipdate",
    "commitdate",
    "receiptdate",
    "shipmode",
    "orderpriority",
    "type",
];

/// The schema of line items, with indexes or without any; keys may be any integers that a column
/// can hold.
pub fn schema(indexes: bool) -> Result<Schema, CliError> {
    let category = |values: &[&str]| Kind::Category {
        values: values.iter().map(|v| (*v).to_string()).collect(),
    };
    let decimal =
        |low: &str, high: &str| Kind::Decimal { scale: 2, low: low.into(), high: high.into() };
    let date = || Kind::Date { low: SHIPPED.0.into(), high: SHIPPED.1.into() };
    let words = [
        ["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"].as_slice(),
        &["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
        &["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"],
    ];
    let types = words[0].iter().flat_map(|a| {
        words[1].iter().flat_map(move |b| words[2].iter().map(move |c| format!("{a} {b} {c}")))
    });
    let mut types: Vec<String> = types.collect();
    // An encrypted prefix is an interval of categories in order.
    types.sort();
    let columns = [
        ("key", Kind::Integer { low: -i64::MAX, high: i64::MAX }),
        ("quantity", Kind::Integer { low: 1, high: 50 }),
        ("extendedprice", decimal("900.91", "104949.50")),
        ("discount", decimal("0.00", "0.10")),
        ("tax", decimal("0.00", "0.08")),
        ("returnflag", category(&["A", "N", "R"])),
        ("linestatus", category(&["F", "O"])),
        ("shipdate", date()),
        ("commitdate", date()),
        ("receiptdate", date()),
        ("shipmode", category(&["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"])),
        (
            "orderpriority",
            category(&["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]),
        ),
        ("type", Kind::Category { values: types }),
    ];
    let field = |(name, kind)| {
        let field = Field::new(name, kind, false)?;
        match indexes && INDEXED.contains(&name) {
            true => field.indexed(),
            false => Ok(field),
        }
    };
    let fields = columns.into_iter().map(field).collect::<Result<Vec<_>, _>>();
    Schema::of(fields.map_err(refused)?).map_err(refused)
}

/// `rows` line items, the same ones each time.
pub fn data(schema: &Schema, rows: usize) -> Result<Data, CliError> {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let mut below = |n: i128| i128::from(rng.next_u64()) % n;
    let fields: Vec<&Field> = schema.columns().collect();
    let place = |name: &str| {
        let found = fields.iter().position(|field| field.name() == name);
        found.ok_or_else(|| CliError::failure(format!("no column {name}")))
    };
    let (shipped, committed, received) =
        (place("shipdate")?, place("commitdate")?, place("receiptdate")?);
    let (least, greatest) = fields[0].bounds();
    let keys = greatest - least + 1;
    let mut columns = vec![Vec::with_capacity(rows); fields.len()];
    for row in 0..rows as i128 {
        for (field, column) in fields.iter().zip(&mut columns) {
            let (low, high) = field.bounds();
            column.push(low + below(high - low + 1));
        }
        let i = row as usize;
        // The key that is looked up is the first multiple, in the middle of the table.
        let multiple = (row + rows as i128 / 2) % rows as i128 + 1;
        columns[0][i] = least + multiple * KEY_STEP % keys;
        // Goods are shipped up to 121 days after the order, promised in 30 to 90, received within
        // 30 of shipping.
        let (first, last) = fields[shipped].bounds();
        let ordered = first + below(last - first - 151);
        columns[shipped][i] = ordered + 1 + below(121);
        columns[committed][i] = ordered + 30 + below(61);
        columns[received][i] = columns[shipped][i] + 1 + below(30);
    }
    Data::from_columns(columns, schema).map_err(refused)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use everlevel::{OptIn, Params};
    use everlevel_tables::{Answer, Plan};

    use super::*;

    #[test]
    fn keys_are_spread_over_all_integers_and_one_is_looked_up() {
        let schema = schema(true).unwrap();
        let (least, greatest) = schema.fields()[0].bounds();
        assert_eq!(greatest - least, (1 << 64) - 2);
        for rows in [1, 2, 3, 5_000] {
            let data = data(&schema, rows).unwrap();
            let keys: HashSet<i128> = data.column(0).iter().copied().collect();
            assert_eq!(keys.len(), rows);
            // Each of the highest digits occurs.
            let digits: HashSet<i128> = keys.iter().map(|key| (key - least) >> 60).collect();
            assert!(rows < 5_000 || digits.len() == 16);
            let plan = Plan::new(QUERIES[4].sql, &schema).unwrap();
            assert_eq!(Answer::plain(plan.query(), &schema, &data).unwrap().rows.len(), 1);
        }
    }

    /// The plain answer with which an encrypted one is compared is that of the public query.
    #[test]
    fn encrypted_constants_ask_the_same() {
        let schema = schema(true).unwrap();
        let data = data(&schema, 5_000).unwrap();
        for Question { name, sql, .. } in QUERIES {
            let public = Plan::new(sql, &schema).unwrap();
            let expected = Answer::plain(public.query(), &schema, &data).unwrap();
            let (sql, constants) = encrypted(sql);
            let plan = Plan::new(&sql, &schema).unwrap();
            let codes = plan.codes(&constants).unwrap();
            let found = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
            assert_eq!(found.rows, expected.rows, "{name}");
            assert!(!found.rows.is_empty() && !constants.is_empty(), "{name}");
        }
    }

    /// What a block of rows takes, as the documentation says; nothing is bootstrapped.
    #[test]
    fn queries_take_few_operations() {
        let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
        let schemas = [false, true].map(|indexes| schema(indexes).unwrap());
        let cost_of = |name: &str, schema: &Schema| {
            let query = QUERIES.into_iter().find(|query| query.name == name).unwrap();
            let plan = Plan::new(query.sql, schema).unwrap();
            let cost = plan.cost(&params, params.slots()).unwrap();
            assert_eq!(cost.refreshes, 0, "{name}");
            (cost.products, cost.key_switches)
        };
        let cost = |name: &str| cost_of(name, &schemas[0]);
        let indexed = |name: &str| cost_of(name, &schemas[1]);
        assert_eq!((cost("Q6"), indexed("Q6")), ((57, 72), (17, 35)));
        // Where a filter is multiplied last, there are a few more than in its product with masks.
        for (name, products, key_switches) in [("Q12", 136, 142), ("Q14", 72, 92)] {
            let found = cost(name);
            assert!(found.0 <= products && found.1 <= key_switches, "{name}: {found:?}");
            let less = indexed(name);
            // Two comparisons of dates take 5 key switches each instead of 32, of 65 products.
            let saved = if name == "Q12" { 2 * (32 - 5) } else { 0 };
            assert!(less.1 + saved < found.1, "{name}: {found:?}, {less:?}");
        }
        // Whether a digit of the key is that of the constant takes 4 or 5 key switches for each of
        // 16 digits; 15 join them, and the three columns take 4.
        let (products, key_switches) = cost("lookup");
        assert!(products <= 115 && key_switches <= 87, "{products} and {key_switches}");
    }
}
