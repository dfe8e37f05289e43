//! What docs/use/json.md says that --json prints, compared with what it prints.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Place, page_rows, shared};
use crate::options::runnable;

/// Commands by the name of their row, in an order in which each finds the files that it reads.
/// Words are divided by spaces, and _ in a query stands for one.
const COMMANDS: &[(&str, &str)] = &[
    ("version", "version"),
    ("version --verbose", "version --verbose"),
    ("params list", "params list"),
    ("params datasheet", "params datasheet insecure_bgv-65537-n11"),
    ("params plan", "params plan --plain-modulus 257 --slots 16 --depth 1"),
    ("params plan --keyless", "params plan --keyless --plain-modulus 257 --terms 2"),
    ("params rings", "params rings --prime 2 --slots 10 --max-rows 1"),
    ("plan", "plan old=age>30 --types age=u8 --rows 2 --params insecure_bgv-65537-n11"),
    ("demo", "demo --params insecure_bgv-65537-n11 --steps 1"),
    ("demo integers", "demo integers --params insecure_bgv-65537-n11"),
    ("bench bootstrap", "bench bootstrap --params insecure_bgv-257-n8 --runs 1"),
    (
        "bench bootstrap --profile",
        "bench bootstrap --params insecure_bgv-257-n8 --runs 1 --profile",
    ),
    ("bench primitives", "bench primitives --params insecure_bgv-257-n8 --runs 3"),
    (
        "bench integers",
        "bench integers --op add --type u8 --values 2 --params insecure_bgv-65537-n11",
    ),
    ("selftest", "selftest"),
    ("selftest --mistakes", "selftest --mistakes"),
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
    ("explain bootstrap", "explain bootstrap --params insecure_bgv-257-n8"),
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
    (
        "table search start",
        "table search start --schema schema.json select_max(pay)_from_t_where_age>:a a=30 --parts \
         16 --out f",
    ),
    ("table search next", "table search next --key k/secret.key f"),
    (
        "table run",
        "table run --table t --server-keys k/server.keys --plan f/rounds.plan --constants \
         f/1.constants --out f/1.result",
    ),
    ("table search next, the answer", "table search next --key k/secret.key f"),
    ("table change", "table change --table t --key k/secret.key delete_from_t_where_age>60"),
    ("table decrypt", "table decrypt --table t --key k/secret.key --out t.csv"),
    (
        "table query",
        "table query --params insecure_bgv-65537-n11 --schema schema.json --in p.csv \
         select_sum(pay)_from_t",
    ),
    ("table demo", "table demo --params insecure_bgv-65537-n11 --rows 3 --only Q6"),
    ("aes keygen", "aes keygen --params insecure_aes-m4947 --out a"),
    ("aes encrypt-key", "aes encrypt-key --key a/public.key --aes-key-file aes.hex --out key.ct"),
    ("aes upload", "aes upload --key a/public.key --aes-key-file aes.hex --in p.csv --out up"),
    (
        "aes transcipher",
        "aes transcipher --server-keys a/server.keys --aes-key key.ct --in up --out bytes.ct",
    ),
    ("aes decrypt", "aes decrypt --key a/secret.key --in bytes.ct --out bytes"),
];

/// Objects whose keys are names of what is computed, and those that another page describes.
const FREE: &[&str] =
    &["blocks", "metadata", "outputs", "profile", "results", "schema", "sent", "spec", "stages"];

/// What can take more than two seconds: it shows its progress.
const LONG: &[&str] = &[
    "aes decrypt",
    "aes keygen",
    "aes transcipher",
    "bench bootstrap",
    "bench integers",
    "bench primitives",
    "bootstrap",
    "change-key",
    "compact",
    "decrypt",
    "demo",
    "demo integers",
    "encrypt",
    "encrypt --types",
    "eval",
    "eval, typed columns",
    "explain",
    "keygen",
    "keys server",
    "params plan",
    "plan",
    "selftest",
    "selftest --mistakes",
    "table change",
    "table decrypt",
    "table demo",
    "table encrypt",
    "table query",
    "table read",
    "table run",
];

/// The words of a command.
fn words(command: &str) -> Vec<String> {
    let spaced = |word: &str| word.replace('_', " ").replace("insecure ", "insecure_");
    command.split(' ').map(spaced).collect()
}

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

/// What a command prints, by its row on the page.
type Compare<'a> = &'a mut dyn FnMut(&str, &Value);

/// The commands of a service, each asked for what the one before it has made.
#[cfg(feature = "service")]
fn service(place: &Place, compare: Compare) {
    let told = |command: &str| place.told_words(&words(command));
    let added = told("serve token add --dir s --tenant acme");
    compare("serve token add", &added);
    place.write("token", added["token"].as_str().unwrap());
    let tokens = told("serve token list --dir s");
    compare("serve token list", &tokens);
    let serving = crate::remote::Serving::start(&place.path().join("s").display().to_string());
    compare("serve", &serving.told);
    let remote = |row: &str, rest: &str| {
        let to = format!("--url {} --token-file token", serving.url);
        told(format!("{row} {to} {rest}").trim_end())
    };
    let pushed = remote("remote push", "k/server.keys p.ct");
    assert_eq!(keys(&pushed), "`k/server.keys`, `p.ct`");
    for (row, rest) in [
        ("remote run", "--server-keys k/server.keys old=age>30 p.ct --out fetched"),
        ("remote run --estimate", "--server-keys k/server.keys old=age>30 p.ct --out none"),
        ("remote table", "--server-keys k/server.keys --table t --plan q --constants b --out r2"),
        ("remote table --estimate", "--server-keys k/server.keys --table t --plan q --out none"),
    ] {
        compare(row, &remote(row, rest));
    }
    for (row, rest) in [
        ("encrypt", "--key k/public.key --in p.csv --column age --range 0..99 --out x2.ct"),
        ("encrypt --types", "age=u8,pay=u8 --key k/secret.key --in p.csv --out p2.ct"),
        ("eval", "--server-keys k/server.keys old=age>30 p.ct --out fetched2"),
        ("table run", "--server-keys k/server.keys --table t --plan q --constants b --out r3"),
    ] {
        let to = format!("--remote {} --token-file token", serving.url);
        compare(&format!("{row} --remote"), &told(&format!("{row} {rest} {to}")));
    }
    let listed = remote("remote list", "");
    compare("remote list", &listed);
    let id = |of: &Value| of["id"].as_str().unwrap().to_string();
    let job = remote("remote cancel", &id(&listed["jobs"][0]));
    compare("remote cancel", &job);
    let pulled = format!("{} --out o", pushed["p.ct"].as_str().unwrap());
    compare("remote pull", &remote("remote pull", &pulled));
    compare("remote delete", &remote("remote delete", &id(&listed["tables"][0])));
    let token = tokens[0]["token"].as_str().unwrap();
    compare("serve token revoke", &told(&format!("serve token revoke --dir s {token}")));
}

#[cfg(not(feature = "service"))]
fn service(_: &Place, _: Compare) {}

/// The commands of a row: without options, and without what it is about.
fn command_of(row: &str) -> &str {
    let row = row.split(',').next().unwrap_or_default();
    row.split(" --").next().unwrap_or_default()
}

#[test]
fn commands_print_what_is_documented() {
    let place = Place::empty();
    place.write("p.csv", "age,pay\n29,7\n64,5\n");
    place.write("aes.hex", "2b7e151628aed2a6abf7158809cf4f3c");
    let page = include_str!("../../../docs/use/json.md");
    let unquoted = |cells: Vec<String>| [cells[0].replace('`', ""), cells[1].clone()];
    let table = |heading| page_rows(page, heading).into_iter().map(unquoted);
    let service_only = |row: &str| {
        row.starts_with("serve") || row.starts_with("remote") || row.ends_with("--remote")
    };
    let here = |cells: &[String; 2]| cfg!(feature = "service") || !service_only(&cells[0]);
    let listed: Vec<[String; 2]> = table("\n## Commands\n").filter(here).collect();
    let elsewhere: Vec<[String; 2]> = table("\n## Other output\n").filter(here).collect();

    let mut rows = BTreeSet::new();
    let mut compare = |row: &str, printed: &Value| {
        let expected = listed.iter().find(|cells| cells[0] == row).map(|cells| cells[1].as_str());
        assert_eq!(expected, Some(keys(printed).as_str()), "docs/use/json.md, {row}");
        rows.insert(row.to_string());
    };
    let mut silent = Vec::new();
    for (row, command) in COMMANDS {
        let run = || place.told_with_progress(&words(command));
        let (printed, progress) = shared(command).cloned().unwrap_or_else(run);
        compare(row, &printed);
        if LONG.contains(row) && !progress.contains(" of ") {
            silent.push(*row);
        }
    }
    assert!(silent.is_empty(), "without progress: {silent:?}");
    service(&place, &mut compare);
    for cells in &listed {
        assert!(rows.contains(&cells[0]), "nothing checks the row of {}", cells[0]);
    }
    // All commands are there.
    let described: BTreeSet<&str> =
        listed.iter().chain(&elsewhere).map(|cells| command_of(&cells[0])).collect();
    let all: BTreeSet<String> = runnable().into_iter().map(|(path, _)| path).collect();
    let all: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(described, all, "docs/use/json.md");
    // A key means one thing.
    if cfg!(feature = "service") {
        let meant: Vec<String> = table("\n## Keys\n").map(|[key, _]| key).collect();
        let all = listed.iter().flat_map(|cells| cells[1].split('`').skip(1).step_by(2));
        let used: BTreeSet<&str> = all.collect();
        let told: BTreeSet<&str> = meant.iter().map(String::as_str).collect();
        assert_eq!((used, meant.len()), (told.clone(), told.len()), "docs/use/json.md, Keys");
    }
}
