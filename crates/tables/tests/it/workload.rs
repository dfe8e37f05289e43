//! Recommendations by values, rows and operations: what is recommended can be done.

use everlevel::{OptIn, Params};
use everlevel_tables::{
    OperationCost, Way, Workload, WorkloadError, WorkloadOperation, WorkloadPlan,
};
use rayon::prelude::*;

fn planned(
    largest: u64,
    signed: bool,
    rows: u64,
    words: &str,
    opt_in: OptIn,
) -> Result<WorkloadPlan, WorkloadError> {
    let operations = WorkloadOperation::parse_all(words.split(','))?;
    Workload::new(largest, signed, rows, operations)?.plan(opt_in)
}

fn secure(largest: u64, signed: bool, rows: u64, words: &str) -> WorkloadPlan {
    planned(largest, signed, rows, words, OptIn::SecureOnly).unwrap()
}

#[test]
fn ways_are_chosen_by_operations_and_values() {
    let way =
        |plan: &WorkloadPlan| (plan.recommended.way, plan.recommended.params.name().to_string());
    let n15 = |way: Way| (way, "bgv-65537-n15".to_string());
    // Sums and products that cannot wrap.
    assert_eq!(way(&secure(255, false, 30_000, "mul")), n15(Way::Modular));
    assert_eq!(way(&secure(1000, true, 30_000, "add,sub")), n15(Way::Modular));
    // The same that could.
    assert_eq!(way(&secure(256, false, 30_000, "mul")).0, Way::Modular, "786433 holds 2^16");
    assert_eq!(way(&secure(1000, false, 30_000, "mul")), n15(Way::Integers));
    assert_eq!(way(&secure(255, false, 30_000, "sum")), n15(Way::Integers));
    // A filter and a sum.
    let plan = secure(1_000_000, true, 100_000, "compare,sum");
    assert_eq!(way(&plan), n15(Way::Tables));
    assert_eq!(plan.others.len(), 2);
    let found = plan.recommended;
    assert_eq!((found.low.as_str(), found.high.as_str()), ("-1000000", "1000000"));
    // Six digits, four blocks of 32,768.
    assert_eq!((found.slots, found.ciphertexts), (32_768, 24));
    assert!(found.refreshes_automatically && found.security_bits >= 128.0 && found.seconds > 0.0);
    assert!(found.key_bytes > 1 << 20 && found.ciphertext_bytes > 24 << 20);
    let advised = |notes: &[String]| notes.iter().any(|note| note.contains("an index on x ("));
    assert!(advised(&found.notes), "{:?}", found.notes);
    // A comparison of every row.
    assert_eq!(way(&secure(1_000_000, true, 100_000, "compare,sum,max")), n15(Way::Integers));
}

#[test]
fn refusals_have_codes_and_ways_out() {
    let refused = |largest, signed, rows, words| {
        planned(largest, signed, rows, words, OptIn::SecureOnly).map(|_| ()).unwrap_err()
    };
    for (largest, signed, rows, words, way_out) in [
        (65_536, false, 10, "table", "at most 65535"),
        (u64::MAX, false, 10, "mul", "at most 9223372036854775808"),
        (1000, false, 100_000, "sort", "rows are sorted"),
        (1000, false, 100_000, "median", "rows have an order"),
        (1000, false, 100_000, "cumsum", "fewer rows"),
        (1000, false, 10, "group-by,sort", "separately"),
        (u64::MAX, false, 10, "group-by,sum", "separately"),
    ] {
        let e = refused(largest, signed, rows, words);
        assert_eq!(e.code(), "workload.unsupported", "{words}: {e}");
        assert!(e.to_string().contains(way_out), "{words}: {e}");
    }
    assert_eq!(refused(10, false, 10, "sum,smu").code(), "workload.operation");
}

/// What refusals name is allowed, and one more is not. Limits of values are the same on all sets:
/// they are tried on a small one, whose slots the rows fill, so that fewer are not tried, too.
#[test]
fn ways_out_are_ways_out() {
    let toy =
        |largest, signed, words| planned(largest, signed, 2_000, words, OptIn::InsecureResearch);
    assert!(toy(65_535, false, "table").is_ok());
    let signed = |largest| toy(largest, true, "table");
    assert!(signed(32_767).is_ok() && signed(32_768).is_err());
    assert!(toy(1 << 63, false, "mul").is_ok() && toy((1 << 63) + 1, false, "mul").is_err());
    sorted_rows(15, 65_537);
}

#[test]
#[ignore = "half a minute: on sets of 128 bits"]
fn many_ways_out_are_ways_out_in_full() {
    assert!(planned(65_535, false, 10, "table", OptIn::SecureOnly).is_ok());
    for largest in [32_767, 32_768] {
        let found = planned(largest, true, 10, "table", OptIn::SecureOnly);
        assert_eq!(found.is_ok(), largest == 32_767);
    }
    for largest in [1 << 63, (1 << 63) + 1] {
        let found = planned(largest, false, 10, "mul", OptIn::SecureOnly);
        assert_eq!(found.is_ok(), largest == 1 << 63);
    }
    sorted_rows(1000, 100_000);
    sorted_rows(1000, 65_537);
}

/// As many rows as a refusal to sort `rows` rows names are sorted, and one more is refused.
fn sorted_rows(largest: u64, rows: u64) {
    let plan = |rows| planned(largest, false, rows, "sort", OptIn::SecureOnly);
    let told = plan(rows).unwrap_err().to_string();
    let most: u64 =
        told.split("at most ").last().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(plan(most).is_ok());
    assert!(most + 1 == rows || plan(most + 1).is_err());
}

#[test]
fn widths_and_operations_are_planned_or_refused_by_code() {
    enumerated(&[1, 8, 64], false);
}

#[test]
#[ignore = "takes minutes: every width of the list, not some"]
fn many_widths_and_operations_are_planned_or_refused_by_code_in_full() {
    enumerated(&[2, 3, 4, 5, 6, 7, 9, 16, 17, 24, 31, 32, 33, 40, 48, 49, 57, 62, 63], true);
    enumerated(&[1, 8, 64], true);
}

/// Values beside powers of two, signed or not, under each operation: what is recommended was
/// rehearsed, and refusals are those that are known.
///
/// Few rows are planned on a set with fewer slots, too, which takes longer: in `all` cases, or for
/// bytes and along a column.
fn enumerated(widths: &[u32], all: bool) {
    let operations: Vec<(usize, &str)> =
        WorkloadOperation::all().map(|o| o.name()).enumerate().collect();
    let along = ["sort", "median", "argmax", "cumsum"];
    operations.par_iter().for_each(|&(i, name)| {
        for (j, &width) in widths.iter().enumerate() {
            // Division by encrypted bits of long columns takes minutes, and an order seconds.
            if (name == "divide-columns" && width > 9)
                || (!all && along.contains(&name) && width > 9)
            {
                continue;
            }
            let rows = if all || width == 8 || along.contains(&name) { 30 } else { 2_000 };
            let power = 1u128 << width;
            let edges = [power - 1, power, power / 2 + 1];
            let largest = edges[(i + j) % 3].min(u64::MAX.into()) as u64;
            let signed = (i + j) % 2 == 0 && largest <= i64::MAX as u64;
            one_of_many((name, width), (largest, signed), rows);
        }
    });
}

fn one_of_many((name, width): (&str, u32), (largest, signed): (u64, bool), rows: u64) {
    let toy = OptIn::InsecureResearch;
    match planned(largest, signed, rows, name, toy) {
        Ok(plan) => {
            let found = plan.recommended;
            if found.way == Way::Integers {
                bounded(largest, rows, name, &found.operations);
            }
            assert!(Params::named(found.params.name(), toy).is_ok());
            assert!(!found.commands.is_empty() && !found.python.is_empty());
            assert!(found.seconds.is_finite() && found.ciphertexts > 0);
            if let (Way::Integers, Some(kind)) = (found.way, found.kind) {
                let high = i128::from(largest);
                assert!(kind.interval().contains(high));
                assert_eq!(kind.interval().contains(-high), signed, "{largest} {kind}");
            }
        }
        Err(e) => {
            assert_eq!(e.code(), "workload.unsupported", "{name} {largest}: {e}");
            let known = match name {
                "table" => largest > 32_767,
                "mul" | "dot" => width >= 60,
                "group-by" => largest > i64::MAX as u64,
                _ => false,
            };
            assert!(known, "{name} of {largest}, signed {signed}: {e}");
        }
    }
}

/// Sums of this number of rows have the bounds that plain arithmetic gives.
fn bounded(largest: u64, rows: u64, name: &str, costs: &[OperationCost]) {
    let most = |times: u64| (i128::from(largest) * i128::from(times)).to_string();
    let high = costs[0].high.clone();
    match name {
        "sum" => assert_eq!(high, Some(most(rows)), "{largest}"),
        "mean" => assert_eq!(high, Some(most(1)), "{largest}"),
        "count" => assert_eq!(high, Some(rows.to_string()), "{largest}"),
        "max" => assert_eq!(high, Some(most(1)), "{largest}"),
        _ => (),
    }
}

/// The program computes on any number of rows, but for the mean.
#[test]
fn notes_say_which_commands_take_a_column_as_a_whole() {
    let noted = |rows, words| {
        let found = secure(1000, true, rows, words).recommended;
        assert_eq!(found.way, Way::Integers, "{words}");
        found.notes.iter().any(|note| note.contains("the mean of more than 32768 rows"))
    };
    assert!(noted(32_769, "max,mean"));
    assert!(!noted(32_768, "max,mean") && !noted(32_769, "max,sum,count,dot"));
}

/// Many rows are planned without a rehearsal of every block.
#[test]
fn many_rows_are_planned() {
    let plan = secure(1000, false, 1 << 30, "compare,sum");
    assert_eq!(plan.recommended.way, Way::Tables);
    assert!(plan.recommended.commands.iter().all(|line| !line.contains("--rows")));
    let most = planned(1000, true, everlevel_tables::MOST_ROWS, "sum,max", OptIn::SecureOnly);
    assert_eq!(most.unwrap().recommended.operations[0].high, Some((1000u64 << 40).to_string()));
}
