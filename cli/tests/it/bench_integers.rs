//! `bench integers`: operations on typed integers with cryptography, by themselves and all at once.

use crate::common::{json, usage};
use crate::output::{keys, number};

/// Toy rings with 65537 have the levels of the set that this is for.
const SET: &str = "insecure_bgv-65537-n11";

#[test]
fn operations_are_measured_by_themselves() {
    measure_in_all_slots(&[
        ("add", false),
        ("lt", true),
        ("mul-wrapped", false),
        ("sum-where", false),
    ]);
}

#[test]
#[ignore = "a quarter of a minute: more operations, each by itself, in all slots"]
fn more_operations_are_measured_by_themselves_in_full() {
    measure_in_all_slots(&[
        ("eq", true),
        ("min", false),
        ("select", true),
        ("mul", true),
        ("square", false),
        ("div", true),
        ("rem", true),
        ("div-public", false),
        ("rem-public", false),
        ("popcount", false),
        ("shift-right", false),
    ]);
}

/// Operations, each on as many values as there are slots; of some the operands are exhausted and
/// have to be refreshed.
fn measure_in_all_slots(operations: &[(&'static str, bool)]) {
    for &(op, refreshed) in operations {
        let mut args = vec!["bench", "integers", "--op", op, "--type", "u8", "--params"];
        args.extend([SET, "--insecure-research"]);
        args.extend(refreshed.then_some("--exhausted"));
        let report = json(&args);
        let expected = "op type values wrong_values seconds microseconds_per_value refreshes \
                        products security_bits failure_log2 threads set";
        assert_eq!(keys(&report), expected.split_whitespace().collect());
        assert_eq!(number(&report, "wrong_values"), 0.0);
        assert_eq!(number(&report, "values"), 2048.0);
        assert_eq!(number(&report, "refreshes") > 0.0, refreshed, "{op}");
        assert!(number(&report, "failure_log2") <= -128.0);
    }
}

/// With keys that a rehearsal shows, among them those of a shorter last column.
#[test]
fn an_operation_is_measured_with_keys_of_its_own() {
    let run = |op: &'static str| {
        let mut args = vec!["bench", "integers", "--op", op, "--type", "u8", "--values", "70"];
        args.extend(["--params", SET, "--insecure-research", "--own-keys"]);
        args
    };
    for op in ["lt", "sort", "cumsum"] {
        let report = json(&run(op));
        assert_eq!(number(&report, "wrong_values"), 0.0, "{op}");
        assert_eq!(number(&report, "values"), 70.0);
    }
    assert!(usage(&run("all")).contains("--own-keys is for one operation"));
}

/// Short columns take one table for the signs of all digits.
#[test]
fn digits_are_compared_side_by_side() {
    let report = |more: &[&'static str]| {
        let mut args = vec!["bench", "integers", "--op", "lt", "--type", "u16", "--values", "70"];
        args.extend(["--params", SET, "--insecure-research"]);
        args.extend(more);
        json(&args)
    };
    let (apart, together) = (report(&[]), report(&["--side-by-side"]));
    for found in [&apart, &together] {
        assert_eq!(number(found, "wrong_values"), 0.0);
        assert_eq!(number(found, "values"), 70.0);
    }
    assert!(number(&together, "products") < number(&apart, "products"), "{together} {apart}");
}

/// One encrypted case of every operation for a type: the operations, and those that are refused.
fn all_operations(kind: &str, values: &str) -> (Vec<String>, Vec<String>) {
    let mut args = vec!["bench", "integers", "--op", "all", "--type", kind, "--values", values];
    args.extend(["--params", SET, "--insecure-research"]);
    let report = json(&args);
    let names = |list: &str| -> Vec<String> {
        let list = report[list].as_array().unwrap();
        list.iter().map(|x| x["op"].as_str().unwrap().to_string()).collect()
    };
    for one in report["operations"].as_array().unwrap() {
        assert_eq!(one["wrong_values"], 0, "{one}");
    }
    (names("operations"), names("refused"))
}

#[test]
#[ignore = "a quarter of a minute: all operations of another type"]
fn all_operations_are_exact_on_signed_integers_in_full() {
    let (done, refused) = all_operations("i8", "7");
    // Bits of negative integers have no number.
    assert_eq!(refused, ["popcount"]);
    assert!(done.len() > 50, "{done:?}");
}

/// One encrypted case of every operation, some of them of signed integers; and no operation of the
/// library is without one.
#[test]
fn all_operations_are_exact() {
    let (mut done, refused) = all_operations("0..31", "25");
    // What wraps has a type with a name.
    assert_eq!(refused, ["mul-wrapped"]);
    for op in ["mul-wrapped", "div-rem"] {
        let mut args = vec!["bench", "integers", "--op", op, "--type", "i8", "--values", "7"];
        args.extend(["--params", SET, "--insecure-research"]);
        let report = json(&args);
        assert_eq!((&report["wrong_values"], &report["values"]), (&0.into(), &7.into()), "{op}");
        if !done.iter().any(|name| name == op) {
            done.push(op.to_string());
        }
    }

    let named = |method: &str| match method {
        "lookup" => "table".to_string(),
        "lookup_all" => "tables".to_string(),
        "lookup_pair" => "table-pair".to_string(),
        "sorted" => "sort".to_string(),
        "argsorted" => "argsort".to_string(),
        "shift_left" | "shift_right" => format!("{}-public", method.replace('_', "-")),
        "shift_left_by" | "shift_right_by" => method.replace("_by", "").replace('_', "-"),
        _ => method.replace('_', "-"),
    };
    // What is no operation of columns alone: of tables, of files, of constants of the asker.
    let others = [
        "transparent",
        "shortened",
        "related",
        "chosen_rows",
        "in_ranges",
        "in_ranges_of",
        "differences_in_ranges_of",
        "equal_each",
        "lt_fresh",
        "le_fresh",
        "accumulate",
        "pack",
        "run",
        "operate",
        // Of blocks of a table, as parts of its answers.
        "padded",
        "extended",
        "stacked",
        "lowered",
        "entries",
        "ranks_in_sets",
        "counts_in_sets",
        "set_sizes",
        "only",
        "renewed",
    ];
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/integers/src");
    let mut methods = 0;
    for file in std::fs::read_dir(sources).unwrap() {
        let path = file.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Some((_, inherent)) = text.split_once("impl<S: IntegerScheme> Integers<'_, S> {")
        else {
            continue;
        };
        for method in inherent.split("\n    pub fn ").skip(1) {
            let (signature, _) = method.split_once(" {\n").unwrap();
            let name: String =
                method.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if !signature.contains("IntegersError>") || others.contains(&&*name) {
                continue;
            }
            methods += 1;
            assert!(done.contains(&named(&name)), "{name} of {} has no case", path.display());
        }
    }
    assert!(methods > 50 && methods <= done.len(), "{methods} methods, {} cases", done.len());
    let error = usage(&["bench", "integers", "--op", "root", "--type", "u8"]);
    assert!(error.contains("sum-of-each") && error.contains("'root'"), "{error}");
}
