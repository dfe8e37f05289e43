//! Columns of typed integers on the command line: every role a process of its own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Place, keys_in, run_in as run, success_in as success};
use crate::levels::levels;

/// What the program refuses with exit code 2, and why.
fn refused(directory: &Path, args: &[&str]) -> String {
    let out = run(directory, args);
    let why = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {why}");
    why
}

const PROGRAM: &str = "rich = income > 50000 & age < 30; n = count(rich); total = sum(income); \
                       fee = if(rich, 12, table(age, rate)); low = min(income, 700)";

#[test]
fn people_are_filtered() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let people = "name,income,age\n\"Ada, A.\",70000,29\nBob,50000,17\nCid,5000000,64\n,0,18\n\n";
    fs::write(here.join("people.csv"), people).unwrap();
    let rates: Vec<String> = (0..256).map(|age| (age / 10).to_string()).collect();
    fs::write(here.join("rate.csv"), rates.join("\n")).unwrap();
    keys_in(here, "insecure_bgv-65537-n11", "keys");
    let types = "age=u8,income=u32:0..5000000";
    let encrypt = ["encrypt", "--key", "keys/public.key", "--in", "people.csv"];
    let encrypt = [&encrypt[..], &["--types", types, "--out", "people.ct"]].concat();
    let told: Value =
        serde_json::from_str(&success(here, &[&encrypt[..], &["--json"]].concat())).unwrap();
    assert_eq!((&told["values"], &told["columns"][1]["ciphertexts"]), (&4.into(), &6.into()));

    let shown = success(here, &["inspect", "people.ct"]);
    assert!(shown.contains("column age: 0..255 in u8, 4 values"), "{shown}");
    assert!(shown.contains("column income: 0..5000000 in u32, 4 values"), "{shown}");

    let eval = |program: &str| {
        let args = ["eval", "--server-keys", "keys/server.keys", program, "people.ct"];
        [&args[..], &["--lookup", "rate=rate.csv", "--out", "out"]].concat().join("\u{0}")
    };
    let eval = |program: &str| eval(program).split('\u{0}').map(String::from).collect::<Vec<_>>();
    let args = eval(PROGRAM);
    success(here, &args.iter().map(String::as_str).collect::<Vec<_>>());
    let opened = |name: &str| {
        let file = format!("out/{name}.ct");
        success(here, &["decrypt", "--key", "keys/secret.key", "--in", &file])
    };
    for (name, expected) in [
        ("rich", "rich\n1\n0\n0\n0\n"),
        ("n", "n\n1\n"),
        ("total", "total\n5120000\n"),
        ("fee", "fee\n12\n1\n6\n1\n"),
        ("low", "low\n700\n700\n700\n0\n"),
    ] {
        assert_eq!(opened(name), expected);
    }
    let decrypt = ["decrypt", "--key", "keys/secret.key", "--in", "people.ct"];
    for (out, expected) in [
        ("back.json", "{\"age\":[29,17,64,18],\"income\":[70000,50000,5000000,0]}\n"),
        ("back.csv", "age,income\n29,70000\n17,50000\n64,5000000\n18,0\n"),
    ] {
        success(here, &[&decrypt[..], &["--out", out]].concat());
        assert_eq!(fs::read_to_string(here.join(out)).unwrap(), expected);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(here.join(out)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "what was secret stays with its owner");
        }
    }
    success(here, &[&decrypt[..], &["--out", "back.npy"]].concat());
    let array = fs::read(here.join("back.npy")).unwrap();
    assert!(String::from_utf8_lossy(&array).contains("[('age', '|u1'), ('income', '<u4')]"));
    assert_eq!(array[array.len() - 5..], [18, 0, 0, 0, 0]);

    // Mistakes are pointed at.
    for (program, code, mark) in [
        ("y = age + pay", "[circuit.missing-input]", "          ^"),
        ("y = age >", "[expression.syntax]", "         ^"),
        ("y = count(age)", "[integers.type]", "    ^"),
        ("y = table(income, rate)", "[integers.table]", "    ^"),
    ] {
        let args = eval(program);
        let args = args.iter().map(|x| if x == "out" { "other" } else { x.as_str() });
        let why = refused(here, &args.collect::<Vec<_>>());
        assert!(why.contains(code) && why.lines().any(|line| line == mark), "{why}");
    }
    for (types, part) in [
        ("age=u8,pay=u8", "no column is named pay"),
        ("age=0..40", "line 4, column age: expected an integer of [0, 40], found \"64\""),
        ("age=u9", "no type is named"),
        ("age=40..0", "the lower bound 40 is above the upper bound 0"),
        ("age=u8:40..0", "the lower bound 40 is above the upper bound 0"),
    ] {
        let args = ["encrypt", "--key", "keys/public.key", "--in", "people.csv", "--out", "no.ct"];
        let why = refused(here, &[&args[..], &["--types", types]].concat());
        assert!(why.contains(part), "{why}");
        assert!(!here.join("no.ct").exists());
    }
    // Where to look is told of the command that was meant.
    let why = refused(here, &["encrypt", "--types", "age=u8"]);
    assert!(why.contains(" encrypt --help`"), "{why}");
    // A file that is not there is no file in another format.
    let keys = ["eval", "--server-keys", "keys/server.keys", "--out", "other"];
    let why = refused(here, &[&keys[..], &["y = age + 1", "absent.ct"]].concat());
    assert!(why.contains("there is no such file"), "{why}");
    let why = refused(here, &[&decrypt[..], &["--signed"]].concat());
    assert!(why.contains("columns of typed integers"), "{why}");
}

/// Results in which nothing is secret belong to the owner of the server keys all the same.
#[test]
fn results_that_are_public() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("v.csv"), "v\n5\n200\n17\n").unwrap();
    keys_in(here, "insecure_bgv-65537-n11", "keys");
    let encrypt = ["encrypt", "--key", "keys/public.key", "--in", "v.csv"];
    success(here, &[&encrypt[..], &["--types", "v=uint8", "--out", "v.ct"]].concat());
    let program = "places = argsort(max(v, 300)); same = max(v, 300); n = sum(v * 0 + 7)";
    let eval = ["eval", "--server-keys", "keys/server.keys", program, "v.ct", "--out", "out"];
    success(here, &eval);
    for (name, expected) in
        [("places", "places\n0\n1\n2\n"), ("same", "same\n300\n300\n300\n"), ("n", "n\n21\n")]
    {
        let file = format!("out/{name}.ct");
        let decrypt = ["decrypt", "--key", "keys/secret.key", "--in", &file];
        assert_eq!(success(here, &decrypt), expected);
    }
    let refused = refused(here, &[&encrypt[..], &["--types", "v=float", "--out", "w.ct"]].concat());
    assert!(refused.contains("integers.name"), "{refused}");
}

/// What `explain` says before is what `eval` then does; nothing is written.
#[test]
fn programs_are_explained_before_they_run() {
    let place = Place::with_keys("insecure_bgv-65537-n11");
    let rows: String = (0..3000).map(|i| format!("{},{}\n", i % 90, i * 1_657 % 60_000)).collect();
    place.write("p.csv", format!("age,pay\n{rows}"));
    place.write("t.csv", "7\n5\n".repeat(128));
    place.told("encrypt --key keys/public.key --in p.csv --types age=u8,pay=u16 --out p.ct");
    let program =
        "rich=pay>50000&age<30;_fee=if(rich,table(age,t),pay/7);fee=_fee*age;n=count(rich)";
    let command = format!("--server-keys keys/server.keys --lookup t=t.csv {program} p.ct");
    let found = place.told(&format!("explain {command}"));
    assert_eq!((&found["blocks"], &found["bootstraps"]), (&2.into(), &true.into()));
    let names = ["rich", "_fee", "fee", "n"];
    let steps = found["steps"].as_array().unwrap();
    assert_eq!(steps.iter().map(|s| s["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
    let refreshes: u64 = steps.iter().map(|s| s["refreshes"].as_u64().unwrap()).sum();
    assert_eq!(found["refreshes"], refreshes);
    assert!(!place.path().join("out").exists());
    let told = place.told(&format!("eval {command} --out out"));
    assert_eq!(told["bootstraps"], refreshes);
    let ends = |x: &serde_json::Value| (x["low"].clone(), x["high"].clone());
    let fee = told["outputs"].as_array().unwrap().iter().find(|x| x["name"] == "fee").unwrap();
    assert_eq!(ends(fee), ends(&steps[2]));

    let typed = "explain --server-keys keys/server.keys";
    place.refused(&format!("{typed} y=age*2 p.ct --key keys/secret.key"), "cli.usage");
    place.refused(&format!("{typed} y=age*2 p.ct --svg p.svg"), "cli.usage");
    place.refused(&format!("{typed} y=sort(age) p.ct"), "cli.usage");
    place.refused(&format!("{typed} y=table(age,u) p.ct"), "circuit.missing-input");
    place.refused(&format!("{typed} y=pay*pay*pay*pay*pay*pay*pay*pay p.ct"), "integers.width");
}

/// Leaves what both `plan` and `explain` say.
fn alike(planned: &mut Value, explained: &mut Value) {
    let [planned, explained] = [planned, explained].map(|x| x.as_object_mut().unwrap());
    planned.retain(|key, _| explained.contains_key(key));
    explained.retain(|key, _| planned.contains_key(key));
    assert!(planned.len() > 9, "{planned:?}");
}

/// The keys of a plan are for encryptions under either key, and those that `explain` counts for
/// files of one of them.
fn keys_are_among(planned: &mut Value, explained: &mut Value) {
    for key in ["key_bytes", "memory_bytes"] {
        let [most, least] = [&mut *planned, &mut *explained].map(|found| found[key].take());
        assert!(most.as_u64() >= least.as_u64(), "{key}: {most} {least}");
    }
}

/// What `plan` says before there are keys is what `explain` says of files, and what `eval` does
/// with the keys that were counted.
#[test]
fn programs_are_planned_before_there_are_keys() {
    let place = Place::empty();
    let rows: String = (0..3000).map(|i| format!("{},{}\n", i % 90, i * 1_657 % 60_000)).collect();
    place.write("p.csv", format!("age,pay\n{rows}"));
    place.write("t.csv", "7\n5\n".repeat(128));
    let program = "rich=pay>50000&age<30;fee=if(rich,table(age,t),pay/7);n=count(rich)";
    let set = "--params insecure_bgv-65537-n11";
    let columns = "--types age=u8,pay=u16 --rows 3000 --lookup t=t.csv";
    let mut planned = place.told(&format!("plan {program} {columns} {set}"));
    for (key, expected) in [("rows", 3000), ("slots", 2048), ("blocks", 2), ("base", 16)] {
        assert_eq!(planned[key], expected, "{key}");
    }
    assert_eq!(planned["side_by_side"], false);
    let levels = levels(&planned);
    let columns = format!("{columns} {levels}");
    let made = place.told(&format!("keygen --program {program} {columns} {set} --out k"));
    let sizes = place.told(&format!("keys size-report --program {program} {columns} {set}"));
    assert_eq!(made["server_keys"], sizes["keys"]);
    // A file of keys names each of them.
    let [bytes, file] = [&planned["key_bytes"], &sizes["bytes"]].map(|x| x.as_u64().unwrap());
    assert!(bytes <= file && file - bytes < bytes / 1000, "{bytes} {file}");
    let every = place.told(&format!("keys size-report {set}"));
    assert!(sizes["bytes"].as_u64() < every["bytes"].as_u64(), "{sizes} {every}");
    let encrypt = "encrypt --key k/public.key --in p.csv --types age=u8,pay=u16";
    place.told(&format!("{encrypt} {levels} --out p.ct"));
    let command = format!("--server-keys k/server.keys --lookup t=t.csv {program} p.ct");
    let mut explained = place.told(&format!("explain {command}"));
    alike(&mut planned, &mut explained);
    keys_are_among(&mut planned, &mut explained);
    assert_eq!(planned, explained);
    let told = place.told(&format!("eval {command} --out out"));
    assert_eq!(told["bootstraps"], planned["refreshes"]);
    let found = place.told("decrypt --key k/secret.key --in out/fee.ct");
    let expected = |i: u64| {
        let (age, pay) = (i % 90, i * 1_657 % 60_000);
        if pay > 50_000 && age < 30 { 7 - age % 2 * 2 } else { pay / 7 }
    };
    assert_eq!(found["fee"], Value::from((0..3000).map(expected).collect::<Vec<_>>()));
    let text = place.piped(&format!("plan {program} {columns} {set}"), b"").stdout;
    let text = String::from_utf8(text).unwrap();
    for part in ["2 blocks of 2048 slots", "digits to base 16", "MiB of memory", "everlevel keygen"]
    {
        assert!(text.contains(part), "{text}");
    }
}

/// The same for columns with an index, which a plan without one does not count.
#[test]
fn an_index_is_planned_before_there_are_keys() {
    let place = Place::empty();
    let rows: String = (0..100).map(|i| format!("{},{}\n", i * 2, i * 600)).collect();
    place.write("p.csv", format!("age,pay\n{rows}"));
    place.write("t.csv", (0..256).map(|i| format!("{}\n", i * i)).collect::<String>());
    let program = "adult=age>=18;rate=table(age,t);rich=pay>50000";
    let set = "--params insecure_bgv-65537-n11";
    let plain = "--types age=u8,pay=u16 --rows 100 --lookup t=t.csv";
    let columns = format!("{plain} --index age --index pay");
    let mut planned = place.told(&format!("plan {program} {columns} {set}"));
    let without = place.told(&format!("plan {program} {plain} {set}"));
    assert_eq!(planned["input_ciphertexts"], 6 * 16);
    for key in ["products", "key_switches", "seconds"] {
        let [with, without] = [&planned, &without].map(|found| found[key].as_f64().unwrap());
        assert!(with < without, "{key}: {with} {without}");
    }
    // The digits are not read.
    assert_eq!(planned["arguments"][0]["level"], 0);
    let levels = levels(&planned);
    place.told(&format!("keygen --program {program} {columns} {levels} {set} --out k"));
    let encrypt = "encrypt --key k/public.key --in p.csv --types age=u8,pay=u16";
    place.told(&format!("{encrypt} --index age --index pay {levels} --out p.ct"));
    let command = format!("--server-keys k/server.keys --lookup t=t.csv {program} p.ct");
    let mut explained = place.told(&format!("explain {command}"));
    alike(&mut planned, &mut explained);
    keys_are_among(&mut planned, &mut explained);
    assert_eq!(planned, explained);
    place.told(&format!("eval {command} --out out"));
    let open = |name: &str| {
        place.told(&format!("decrypt --key k/secret.key --in out/{name}.ct"))[name].clone()
    };
    let all = |f: fn(u64) -> u64| Value::from((0..100).map(f).collect::<Vec<_>>());
    assert_eq!(open("adult"), all(|i| u64::from(i * 2 >= 18)));
    assert_eq!(open("rate"), all(|i| i * 2 * i * 2));
    assert_eq!(open("rich"), all(|i| u64::from(i * 600 > 50_000)));
    let text = place.piped(&format!("plan {program} {columns} {set}"), b"").stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("--index age --index pay"), "{text}");
    let wrong = format!("{plain} {set} --index agee");
    for command in ["plan y=age", "keygen --out no --program y=age"] {
        place.refused(&format!("{command} {wrong}"), "cli.usage");
    }
    let bits = format!("plan y=b --types b=bool --rows 9 --index b {set}");
    place.refused(&bits, "integers.type");
    place.refused(&format!("keygen --out no --index age {set}"), "cli.usage");
}

#[test]
fn programs_that_cannot_be_planned() {
    let place = Place::empty();
    let set = "--params insecure_bgv-65537-n11";
    for (rest, code) in [
        ("y=sort(age) --types age=u8 --rows 9 --memory 1", "integers.memory"),
        ("y=sort(age) --types age=u8 --rows 3000", "integers.length"),
        ("y=age+pay --types age=u8 --rows 9", "circuit.missing-input"),
        ("y=table(age,t) --types age=u8 --rows 9", "circuit.missing-input"),
        ("y=count(age) --types age=u8 --rows 9", "integers.type"),
        ("y=age> --types age=u8 --rows 9", "expression.syntax"),
        ("y=age --types age=u7 --rows 9", "integers.name"),
        ("y=age --types age --rows 9", "cli.usage"),
        ("y=age --types age=u8 --rows 0", "cli.usage"),
    ] {
        place.refused(&format!("plan {rest} {set}"), code);
    }
    let unknown = "plan y=age --types age=u8 --rows 9 --params bgv-65537";
    place.refused(unknown, "scheme.unknown-params");
    let goal = format!("plan y=age --types age=u8 --rows 9 --minimize memory {set}");
    place.refused(&goal, "cli.usage");
    for lone in ["--rows 9", "--types age=u8 --rows 9", "--program y=age --types age=u8"] {
        place.refused(&format!("keygen {lone} {set} --out k"), "cli.usage");
    }
}

/// Without `--params` it is the best of the sets with 128 bits.
#[test]
fn plans_choose_a_set() {
    let place = Place::empty();
    let (deep, columns) = ("y=min(x*x>>8,x)", "--types x=u8 --rows 300");
    let found = place.told(&format!("plan {deep} {columns}"));
    assert!(found["security_bits"].as_f64().unwrap() >= 128.0, "{found}");
    let limit = found["memory_bytes"].as_u64().unwrap() >> 20;
    let least = place.told(&format!("plan {deep} {columns} --minimize memory"));
    assert!(least["memory_bytes"].as_u64() <= found["memory_bytes"].as_u64());
    let within = place.told(&format!("plan {deep} {columns} --memory {}", limit + 1));
    assert_eq!(within["params"], found["params"]);
    place.refused(&format!("plan {deep} {columns} --memory 1"), "integers.memory");
}

/// The same results as without an index, for fewer products.
#[test]
fn an_index_is_encrypted_and_read() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("people.csv"), "age,income\n29,1\n17,0\n64,1\n255,0\n").unwrap();
    let rates: Vec<String> = (0..256).map(|age| (age * age / 7).to_string()).collect();
    fs::write(here.join("rate.csv"), rates.join("\n")).unwrap();
    keys_in(here, "insecure_bgv-65537-n11", "keys");
    let encrypt = ["encrypt", "--key", "keys/secret.key", "--in", "people.csv", "--json"];
    let encrypt = |types: &str, out: &str, index: &[&str]| {
        let named = ["--types", types, "--out", out];
        let told = success(here, &[&encrypt[..], &named[..], index].concat());
        let told: Value = serde_json::from_str(&told).unwrap();
        told["columns"][0]["ciphertexts"].as_u64().unwrap()
    };
    assert_eq!(encrypt("age=u8", "plain.ct", &[]), 2);
    assert_eq!(encrypt("age=u8,income=bool", "people.ct", &["--index", "age"]), 2 + 30);
    let shown = success(here, &["inspect", "people.ct"]);
    assert!(shown.contains("column age: 0..255 in u8, 4 values"), "{shown}");
    assert!(shown.contains("indexes") && !shown.contains("age%0.1"), "{shown}");
    let program = "adult = age >= 18; rate = table(age, rates)";
    let explain = |file: &str| {
        let args = ["explain", "--server-keys", "keys/server.keys", program, file, "--json"];
        let told = success(here, &[&args[..], &["--lookup", "rates=rate.csv"]].concat());
        let told: Value = serde_json::from_str(&told).unwrap();
        let count = |key: &str| told[key].as_u64().unwrap();
        (told["indexes_read"].clone(), count("products"), count("products_without_indexes"))
    };
    let (by_index, by_digits) = (explain("people.ct"), explain("plain.ct"));
    assert!(by_index.1 < by_digits.1, "{by_index:?} {by_digits:?}");
    assert_eq!(by_index, (json!(["age"]), by_index.1, by_digits.1));
    assert_eq!(by_digits, (json!([]), by_digits.1, by_digits.1));
    let both = ["--index", "age", "--index", "income"];
    assert_eq!(encrypt("age=u8,income=u8", "both.ct", &both), 2 + 30);
    assert_eq!(explain("both.ct"), by_index);
    for (program, part) in [
        ("adult = age >= 18", "The indexes of age are read: without them"),
        ("adult = age >= 18", "The indexes of income are not read."),
        ("older = age + income", "The indexes of age, income are not read."),
    ] {
        let told =
            success(here, &["explain", "--server-keys", "keys/server.keys", program, "both.ct"]);
        assert!(told.contains(part), "{told}");
    }

    let eval = ["eval", "--server-keys", "keys/server.keys", program, "people.ct"];
    success(here, &[&eval[..], &["--lookup", "rates=rate.csv", "--out", "out"]].concat());
    let open = |file: &str| success(here, &["decrypt", "--key", "keys/secret.key", "--in", file]);
    assert_eq!(open("out/adult.ct"), "adult\n1\n0\n1\n1\n");
    assert_eq!(open("out/rate.ct"), "rate\n120\n41\n585\n9289\n");
    // What is only to be decrypted needs no index.
    success(here, &["compact", "--in", "people.ct", "--out", "small.ct"]);
    assert_eq!(open("small.ct"), open("people.ct"));

    for (types, index, code, part) in [
        ("age=u8", "pay", 2, "--types has no column pay"),
        ("age=u8,income=bool", "income", 1, "integers.type"),
    ] {
        let args = ["encrypt", "--key", "keys/secret.key", "--in", "people.csv", "--out", "no.ct"];
        let out = run(here, &[&args[..], &["--types", types, "--index", index]].concat());
        let why = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.code() == Some(code) && why.contains(part), "{why}");
        assert!(!here.join("no.ct").exists());
    }
}
