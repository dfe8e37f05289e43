//! Columns of any length, in as many ciphertexts as they take; columns that are chosen by name;
//! standard input and output.

use serde_json::{Value, json};

use crate::common::Place;

/// Three ciphertexts of 128 slots, the last one not full.
const ROWS: i64 = 300;

fn csv(name: &str, values: impl Iterator<Item = i64>) -> String {
    values.fold(name.to_string() + "\n", |text, v| text + &format!("{v}\n"))
}

fn values(of: impl Fn(i64) -> i64) -> Value {
    (0..ROWS).map(of).collect()
}

fn decrypted(place: &Place, file: &str) -> Value {
    place.told(&format!("decrypt --key keys/secret.key --in {file}"))["values"].clone()
}

const EVAL: &str = "eval --server-keys keys/server.keys --out out --force";

#[test]
fn columns_of_three_ciphertexts() {
    let place = Place::new();
    let x = |i: i64| i % 7 - 3;
    place.write("x.csv", csv("x", (0..ROWS).map(x)));
    place.write("w.csv", csv("w", (0..130).map(|i| i % 5)));
    place.write("one.csv", "one\n1\n");
    for (file, range) in [("x", "-3..3"), ("w", "0..4"), ("one", "0..1")] {
        let told = place.told(&format!(
            "encrypt --key keys/public.key --in {file}.csv --range {range} --out {file}.ct"
        ));
        let count = if file == "x" { 3 } else { 1 + usize::from(file == "w") };
        assert_eq!(told["ciphertexts"], count, "{told}");
    }
    assert_eq!(decrypted(&place, "x.ct"), values(x));
    let all = place.told("decrypt --key keys/secret.key --in x.ct --all --signed");
    assert_eq!(all["values"].as_array().unwrap().len(), 3 * 128);

    // Slot by slot, and over all of them.
    let told = place.told(&format!("{EVAL} y=x*x+1;s=sum(x);z=x^3 x=x.ct"));
    assert_eq!(told["outputs"][0]["ciphertexts"], 3);
    assert_eq!(decrypted(&place, "out/y.ct"), values(|i| x(i) * x(i) + 1));
    let wrapping = "decrypt --key keys/secret.key --in out/s.ct --wrapping --signed";
    let sum: i64 = (0..ROWS).map(x).sum();
    assert_eq!(place.told(wrapping)["values"], values(|_| sum));
    place.told(&format!("{EVAL} v=x+w x=x.ct w=w.ct --pad"));
    let padded = |i: i64| x(i) + if i < 130 { i % 5 } else { 0 };
    assert_eq!(decrypted(&place, "out/v.ct"), values(padded));

    // In every form in which they travel.
    place.told("compact --in out/y.ct --out y.small");
    place.told("bootstrap --server-keys keys/server.keys --in out/y.ct --out fresh.ct");
    place.told("keygen --params insecure_bgv-257-n8 --out new");
    place.told("keys change --old-key keys/secret.key --new-key new/secret.key --out change.keys");
    place.told("change-key --keys change.keys --in out/y.ct --out moved.ct");
    for (file, key) in [("y.small", "keys"), ("fresh.ct", "keys"), ("moved.ct", "new")] {
        let told = place.told(&format!("decrypt --key {key}/secret.key --in {file}"));
        assert_eq!(told["values"], values(|i| x(i) * x(i) + 1), "{file}");
    }
    let explained = place.told("explain --server-keys keys/server.keys y=x*x x=x.ct");
    assert_eq!(explained["ciphertexts"], 3);

    // What would be wrong is refused.
    for program in ["y=rotate(x,1)", "y=swap_rows(x)", "y=sum(rotate(x,1)*x)"] {
        let why = place.refused(&format!("{EVAL} {program} x=x.ct"), "cli.usage");
        assert!(why.contains("columns of 3 ciphertexts"), "{why}");
    }
    let why = place.refused(&format!("{EVAL} y=x+w x=x.ct w=w.ct"), "cli.usage");
    assert!(why.contains("w has 130 values and x has 300"), "{why}");
}

/// A result says whether its empty slots hold 0; the sum of one whose do not is refused, in another
/// run of the program as in the same one.
#[test]
fn sums_of_results_are_of_their_rows() {
    let place = Place::new();
    place.write("x.csv", "1\n2\n3\n");
    place.write("w.csv", "1\n");
    place.told("encrypt --key keys/public.key --in x.csv --range 0..3 --out x.ct");
    place.told("encrypt --key keys/secret.key --in w.csv --range 0..1 --out w.ct");
    place.told(&format!("{EVAL} y=x+1;z=x*2;v=w+1 x=x.ct w=w.ct --pad"));
    place.told("bootstrap --server-keys keys/server.keys --in out/z.ct --out fresh.ct");
    for file in ["out/z.ct", "fresh.ct"] {
        place.told(&format!("{EVAL} s=sum(z) z={file}"));
        let told = place.told("decrypt --key keys/secret.key --in out/s.ct --wrapping");
        assert_eq!(told["values"], json!([12, 12, 12]), "{file}");
    }
    for program in ["s=sum(y)", "s=sum(y*y)", "s=sum(y-1)"] {
        let why = place.refused(&format!("{EVAL} {program} y=out/y.ct"), "cli.usage");
        assert!(why.contains("would not hold 0"), "{why}");
    }
    place.told(&format!("{EVAL} s=sum(y*z) y=out/y.ct z=out/z.ct"));
    assert_eq!(decrypted(&place, "out/v.ct"), json!([2, 1, 1]), "padded before it was computed on");
    place.told(&format!("{EVAL} u=w+1 w=w.ct"));
    let why = place.refused(&format!("{EVAL} t=x+u x=x.ct u=out/u.ct --pad"), "cli.usage");
    assert!(why.contains("u cannot be filled up, as its slots after its values"), "{why}");
}

#[test]
fn typed_columns_of_three_ciphertexts() {
    let place = Place::with_keys("insecure_bgv-65537-n11");
    let rows = 4500;
    let age = |i: i64| i % 90;
    let pay = |i: i64| (i * 37) % 5000;
    let people = (0..rows).fold("age,name,pay\n".to_string(), |text, i| {
        text + &format!("{},p{i},{}\n", age(i), pay(i))
    });
    place.write("people.csv", &people);
    let told = place.told(
        "encrypt --key keys/secret.key --in people.csv --types age=u8,pay=0..5000 --out p.ct",
    );
    assert_eq!((&told["values"], told["columns"].as_array().unwrap().len()), (&json!(rows), 2));
    let of = |f: &dyn Fn(i64) -> i64| (0..rows).map(f).collect::<Value>();
    let decrypt = "decrypt --key keys/secret.key --in";
    let told = place.told(&format!("{decrypt} p.ct"));
    assert_eq!((&told["age"], &told["pay"]), (&of(&age), &of(&pay)));
    let told = place.told(&format!("{decrypt} p.ct --column pay"));
    assert_eq!((told.get("age"), &told["pay"]), (None, &of(&pay)));
    let why = place.refused(&format!("{decrypt} p.ct --column pey"), "cli.usage");
    assert!(why.contains("there are age, pay: did you mean pay?"), "{why}");

    place.told(&format!("{EVAL} old=age>=65;n=count(age>=65);total=sum(pay) p.ct"));
    assert_eq!(place.told(&format!("{decrypt} out/old.ct"))["old"], of(&|i| (age(i) >= 65).into()));
    let count = (0..rows).filter(|i| age(*i) >= 65).count();
    assert_eq!(place.told(&format!("{decrypt} out/n.ct"))["n"], count);
    let total: i64 = (0..rows).map(pay).sum();
    assert_eq!(place.told(&format!("{decrypt} out/total.ct"))["total"], total);
    place.told(&format!("{EVAL} poor=pay<100&old old=out/old.ct p.ct"));
    // A result of public integers alone has as many entries as the columns.
    place.told(&format!("{EVAL} five=clip(age,5,5);old=age>=65 p.ct"));
    assert_eq!(place.told(&format!("{decrypt} out/five.ct"))["five"], of(&|_| 5));
    place.told(&format!("{EVAL} s=sum(five) out/five.ct"));
    assert_eq!(place.told(&format!("{decrypt} out/s.ct"))["s"], 5 * rows);

    // Reduced to what decryption needs: all parts of columns and totals.
    let told = place.told("compact --in p.ct --out p.small");
    assert!(told["bytes"].as_u64().unwrap() < told["bytes_before"].as_u64().unwrap(), "{told}");
    let told = place.told(&format!("{decrypt} p.small"));
    assert_eq!((&told["age"], &told["pay"]), (&of(&age), &of(&pay)));
    let told = place.told(&format!("{decrypt} p.small --column pay"));
    assert_eq!((told.get("age"), &told["pay"]), (None, &of(&pay)));
    place.told("compact --in out/total.ct --out total.small");
    assert_eq!(place.told(&format!("{decrypt} total.small"))["total"], total);
    let shown = place.told("inspect p.small");
    assert_eq!(shown["kind"], "columns for decryption");
    assert_eq!(shown["columns"], place.told("inspect p.ct")["columns"]);
    for inputs in ["p.small", "p.ct age=p.small", "age=p.small"] {
        place.refused(&format!("{EVAL} y=age+1 {inputs}"), "wire.wrong-kind");
    }
    let explain = "explain --server-keys keys/server.keys y=age+1 p.small";
    place.refused(explain, "wire.wrong-kind");
    place.refused("compact --in p.small --out twice.small", "wire.wrong-kind");

    for program in ["m=mean(age)", "t=cumsum(age)", "y=age>median(age)"] {
        let why = place.refused(&format!("{EVAL} {program} p.ct"), "cli.usage");
        assert!(why.contains("takes a column as a whole"), "{why}");
    }
    place.write("few.csv", "few\n1\n2\n");
    place.told("encrypt --key keys/secret.key --in few.csv --types few=u8 --out few.ct");
    let why = place.refused(&format!("{EVAL} y=age+few p.ct few.ct"), "cli.usage");
    assert!(why.contains("several lengths"), "{why}");
}

#[test]
fn columns_are_chosen_by_name() {
    let place = Place::new();
    place.write("people.csv", "name,age,\"net, pay\",zip\n\"Ada, A.\",29,-3,100\nBob,64,5,7\n");
    let encrypt = "encrypt --key keys/public.key --in people.csv";
    place.told(&format!("{encrypt} --column age --out age.ct"));
    let told = place.told("decrypt --key keys/secret.key --in age.ct --column age");
    assert_eq!((&told["name"], &told["values"]), (&json!("age"), &json!([29, 64])));
    place.refused("decrypt --key keys/secret.key --in age.ct --column zip", "cli.usage");
    let told = place.told(&format!("{encrypt} --column zip --column age --out columns"));
    assert_eq!(told["files"][0]["name"], "zip");
    assert_eq!(decrypted(&place, "columns/zip.ct"), json!([100, 7]));
    assert_eq!(decrypted(&place, "columns/age.ct"), json!([29, 64]));

    for (options, part) in [
        ("--column agee --out n.ct", "no column is named agee: there are name, age, net, pay, zip"),
        ("--column agee --out n.ct", ": did you mean age?"),
        ("--column name --out n.ct", "line 2, column name: expected an integer, found \"Ada, A.\""),
        ("--column age --column age --out n", "age is given twice"),
        ("--column age --column AGE --out n", "only in case"),
        ("--column age --column ../zip --out n", "cannot be the name of a file"),
        ("--column age --header no --out n.ct", "--header is no"),
        ("--column age --format json --out n.ct", "--column is for CSV"),
        ("--column age --types age=u8 --out n.ct", "cannot be used with"),
    ] {
        let why = place.refused(&format!("{encrypt} {options}"), "cli.usage");
        assert!(why.contains(part), "{options}: {why}");
        assert!(!place.path().join("n").exists() && !place.path().join("n.ct").exists());
    }
    let why = place.refused("params show bgv-65537-n51", "scheme.unknown-params");
    assert!(why.contains("did you mean bgv-65537-n15?"), "{why}");
}

#[test]
fn standard_input_and_output() {
    let place = Place::new();
    let text = csv("reading", 0..ROWS / 2);
    let encrypt = "encrypt --key keys/secret.key --in - --out -";
    let sent = place.piped(encrypt, text.as_bytes());
    assert!(sent.status.success() && sent.stderr.is_empty(), "{sent:?}");
    let back = place.piped("decrypt --key keys/secret.key --in - --out -", &sent.stdout);
    assert_eq!(String::from_utf8_lossy(&back.stdout), text);
    let back = place.piped("decrypt --key keys/secret.key --in - --format json", &sent.stdout);
    let found: Vec<i64> = serde_json::from_slice(&back.stdout).unwrap();
    assert_eq!(found, (0..ROWS / 2).collect::<Vec<_>>());
    let array = place.piped("decrypt --key keys/secret.key --in - --format npy", &sent.stdout);
    let again = place.piped(&format!("{encrypt} --format npy"), &array.stdout);
    let back = place.piped("decrypt --key keys/secret.key --in -", &again.stdout);
    assert_eq!(String::from_utf8_lossy(&back.stdout).lines().skip(1).count(), 150);

    // One command after another.
    let compact = place.piped("compact --in - --out -", &sent.stdout);
    let back = place.piped("decrypt --key keys/secret.key --in -", &compact.stdout);
    assert_eq!(String::from_utf8_lossy(&back.stdout), text);
    let shown = place.piped(&format!("{encrypt} --progress"), text.as_bytes());
    let err = String::from_utf8_lossy(&shown.stderr);
    assert!(err.starts_with("encrypting: 1 of 2, "), "{err}");

    // Both would write to one place.
    for command in [encrypt, "decrypt --key keys/secret.key --in x.ct --out -"] {
        let why = place.refused(command, "cli.usage");
        assert!(why.contains("--out - and --json"), "{why}");
    }
    let cut = place.piped("decrypt --key keys/secret.key --in -", &sent.stdout[..100]);
    assert_eq!(cut.status.code(), Some(2), "{cut:?}");
}

/// What can be read once, by whatever name, is read once for both passes over the rows.
#[cfg(unix)]
#[test]
fn tables_come_through_pipes() {
    let place = Place::empty();
    place.told("keygen --params insecure_bgv-65537-n11 --program y=x+1 --out keys");
    let rows = "ward,days\nnorth,3\nsouth,14\nnorth,5\n";
    place.write("stays.csv", rows);
    place.told("table schema infer --in stays.csv --out stays.json");
    let key = "--key keys/secret.key";
    for (input, out) in [("-", "one"), ("/dev/stdin", "two")] {
        let encrypt = format!("table encrypt --schema stays.json --in {input} {key} --out {out}");
        let sent = place.piped(&encrypt, rows.as_bytes());
        assert!(sent.status.success(), "{input}: {sent:?}");
        let back = place.piped(&format!("table decrypt --table {out} {key} --out -"), b"");
        assert_eq!(String::from_utf8_lossy(&back.stdout), rows, "{input}");
    }
}
