//! `bench integers`: operations on typed integers with cryptography, by themselves and all at once.

use crate::common::{json, success, usage};
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
        ("sum-of-products", false),
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
        let expected = "op type level values wrong_values seconds microseconds_per_value \
                        refreshes products security_bits failure_log2 threads set";
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

/// What a program of one operation takes by its plan: whether it bootstraps, and the highest level
/// of its arguments.
fn plan_of(program: &str, types: &str, rows: &str) -> (bool, f64) {
    let plan = ["plan", program, "--types", types, "--rows", rows, "--params", SET];
    let planned = json(&[&plan[..], &["--insecure-research"]].concat());
    let levels = planned["arguments"].as_array().unwrap().iter().map(|x| number(x, "level"));
    (planned["bootstraps"].as_bool().unwrap(), levels.fold(0.0, f64::max))
}

/// Operands are at the levels of a plan of the operation: below the top if it fits without
/// bootstrapping, otherwise at the top. Keys are those of the plan.
#[test]
fn an_operation_is_measured_as_its_plan_runs() {
    let measured = |op: &str, kind: &str, values: &str, more: &[&str]| {
        let args = ["bench", "integers", "--op", op, "--type", kind, "--values", values];
        let set = ["--params", SET, "--insecure-research"];
        let report = json(&[&args[..], &set, more].concat());
        assert_eq!(number(&report, "wrong_values"), 0.0, "{report}");
        assert_eq!(number(&report, "values").to_string(), values);
        assert!(number(&report, "failure_log2") <= -128.0);
        report
    };
    let top = number(&measured("not", "bool", "3", &[]), "level");

    // It takes no keys at all.
    let not = "bench integers --op not --type bool --values 3 --planned --insecure-research";
    let told = success(&[&not.split(' ').collect::<Vec<_>>()[..], &["--params", SET]].concat());
    assert!(told.contains("planned operands at level "), "{told}");

    // Of the three columns of an operation, those that it does not read have no part in it.
    for (op, program, types) in
        [("lt", "y = x < z", "x=u8,z=u8"), ("popcount", "y = popcount(x)", "x=u8")]
    {
        let low = measured(op, "u8", "70", &["--planned"]);
        assert_eq!((false, number(&low, "level")), plan_of(program, types, "70"), "{op}");
        assert!(number(&low, "level") < top && number(&low, "products") > 0.0, "{low} {top}");
        assert_eq!(number(&low, "refreshes"), 0.0, "{op}");
    }

    // Bit by bit, since the divisor has 257 values.
    let deep = measured("div", "0..256", "7", &["--planned"]);
    assert_eq!((true, top), plan_of("y = x / z", "x=0..256,z=0..256", "7"));
    assert_eq!(number(&deep, "level"), top);
    assert!(number(&deep, "refreshes") > 0.0, "{deep}");

    // Digits side by side, and a last column that is shorter, whose rotations are others.
    let apart = measured("lt", "u16", "70", &["--planned"]);
    let together = measured("lt", "u16", "70", &["--planned", "--side-by-side"]);
    assert!(number(&together, "products") < number(&apart, "products"), "{together} {apart}");
    measured("sum-where", "u8", "2100", &["--planned"]);
    let products = measured("sum-of-products", "u8", "2048", &["--planned"]);
    assert_eq!((number(&products, "products"), number(&products, "refreshes")), (4.0, 0.0));
    let planned = plan_of("t = sum(x * z)", "x=u8,z=u8", "2048");
    assert_eq!((false, number(&products, "level")), planned);
    measured("cumsum", "0..3", "2050", &["--planned"]);
}

#[test]
fn a_plan_is_of_one_operation_on_operands_of_its_own() {
    let bench = ["bench", "integers", "--type", "u8", "--params", SET, "--insecure-research"];
    let told = |more: &[&str]| usage(&[&bench[..], &["--planned"], more].concat());
    assert!(told(&["--op", "all"]).contains("--planned is for one operation"));
    for other in ["--exhausted", "--indexed", "--own-keys"] {
        let told = told(&["--op", "lt", other]);
        assert!(told.contains("cannot be used with") && told.contains(other), "{told}");
    }
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
        "operate_sharing",
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
        "bordering",
        "only_of_first",
        "none_of",
        // With an operation as an argument.
        "of_arrays",
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
