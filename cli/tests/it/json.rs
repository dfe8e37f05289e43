//! What docs/use/json.md says that --json prints, compared with what it prints.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Place, page_rows};

/// Commands by the name of their row, in an order in which each finds the files that it reads.
/// Words are divided by spaces, and _ in a question stands for one.
const COMMANDS: &[(&str, &str)] = &[
    ("version", "version"),
    ("version --verbose", "version --verbose"),
    ("params list", "params list"),
    ("security estimate", "security estimate --n 1024 --log-qp 27"),
    ("keygen", "keygen --params insecure_bgv-65537-n11 --out k"),
    ("keygen", "keygen --params insecure_bgv-65537-n11 --out new"),
    ("keys size-report", "keys size-report --params insecure_bgv-65537-n11"),
    ("keys server", "keys server --key k/secret.key --program y=x*x --out square.keys"),
    ("keys change", "keys change --old-key k/secret.key --new-key new/secret.key --out c.keys"),
    ("keys manifest-key", "keys manifest-key --out m.key"),
    ("encrypt", "encrypt --key k/public.key --in p.csv --column age --range 0..99 --out x.ct"),
    ("encrypt --types", "encrypt --key k/secret.key --in p.csv --types age=u8,pay=u8 --out p.ct"),
    ("eval", "eval --server-keys k/server.keys y=x+1 x=x.ct --out out"),
    ("eval, typed columns", "eval --server-keys k/server.keys old=age>30 p.ct --out out"),
    ("bootstrap", "bootstrap --server-keys k/server.keys --in out/y.ct --out fresh.ct"),
    ("explain", "explain --server-keys k/server.keys y=x+1 x=x.ct"),
    ("explain, typed columns", "explain --server-keys k/server.keys old=age>30 p.ct"),
    ("compact", "compact --in out/y.ct --out y.small"),
    ("change-key", "change-key --keys c.keys --in x.ct --out moved.ct"),
    ("decrypt", "decrypt --key k/secret.key --in y.small"),
    ("decrypt --out", "decrypt --key k/secret.key --in y.small --out y.csv"),
    ("decrypt --out, typed columns", "decrypt --key k/secret.key --in p.ct --out p.json"),
    ("inspect", "inspect x.ct"),
    ("table schema infer", "table schema infer --in p.csv --out schema.json"),
    ("table encrypt", "table encrypt --schema schema.json --in p.csv --key k/secret.key --out t"),
    ("table ask", "table ask --schema schema.json select_sum(pay)_from_t_where_age>:a --out q"),
    ("table explain", "table explain --plan q --params insecure_bgv-65537-n11"),
    ("table bind", "table bind --plan q --key k/public.key a=30 --out b"),
    ("table run", "table run --table t --server-keys k/server.keys --plan q --constants b --out r"),
    ("table read", "table read --key k/secret.key --in r"),
    ("table inspect, a table", "table inspect t"),
    ("table inspect, a plan", "table inspect q"),
    ("table inspect, constants", "table inspect b"),
    ("table inspect, a result", "table inspect r"),
    ("table change", "table change --table t --key k/secret.key delete_from_t_where_age>60"),
    ("table decrypt", "table decrypt --table t --key k/secret.key --out t.csv"),
];

/// Objects whose keys are names that users gave, and schemas, which docs/use/tables.md describes.
const FREE: &[&str] = &["metadata", "outputs", "schema"];

/// The keys of an object, each with those of what it holds.
fn keys(value: &Value) -> String {
    let Value::Object(object) = value else {
        return match value.as_array().and_then(|array| array.first()) {
            Some(first @ Value::Object(_)) => keys(first),
            _ => String::new(),
        };
    };
    let one = |(key, value): (&String, &Value)| match keys(value) {
        _ if value.is_object() && FREE.contains(&key.as_str()) => format!("`{key}`"),
        inner if inner.is_empty() => format!("`{key}`"),
        inner => format!("`{key}` ({inner})"),
    };
    object.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn commands_print_what_is_documented() {
    let place = Place::empty();
    place.write("p.csv", "age,pay\n29,7\n64,5\n");
    let page = include_str!("../../../docs/use/json.md");
    let listed = page_rows(page, "\n## Commands\n");
    let mut rows = BTreeSet::new();
    for (row, command) in COMMANDS {
        let words: Vec<String> = command.split(' ').map(|word| word.replace('_', " ")).collect();
        let words = words.iter().map(|w| w.replace("insecure bgv", "insecure_bgv"));
        let printed = keys(&place.told_words(&words.collect::<Vec<_>>()));
        let expected = listed.iter().find(|cells| cells[0] == format!("`{row}`"));
        let expected = expected.map(|cells| cells[1].as_str());
        assert_eq!(expected, Some(printed.as_str()), "docs/use/json.md, {row}");
        rows.insert(format!("`{row}`"));
    }
    for cells in &listed {
        assert!(rows.contains(&cells[0]), "nothing checks the row of {}", cells[0]);
    }
    // A key means one thing.
    let meant: Vec<String> =
        page_rows(page, "\n## Keys\n").into_iter().map(|cells| cells[0].replace('`', "")).collect();
    let all = listed.iter().flat_map(|cells| cells[1].split('`').skip(1).step_by(2));
    let used: BTreeSet<&str> = all.collect();
    let told: BTreeSet<&str> = meant.iter().map(String::as_str).collect();
    assert_eq!((used, meant.len()), (told.clone(), told.len()), "docs/use/json.md, Keys");
}
