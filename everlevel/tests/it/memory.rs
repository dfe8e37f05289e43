//! Plans within a limit of memory.

use everlevel::{Minimize, Plan, Type};

fn product() -> Plan {
    Plan::trace(|g| {
        let [x, y] = ["x", "y"].map(|name| g.input(name, Type::U16, 300));
        g.output("z", &(&x * &y));
        Ok(())
    })
    .unwrap()
}

/// Where a product takes too much memory otherwise, it is computed in blocks, and not where it
/// does not.
#[test]
fn a_limit_chooses_blocks() {
    let usual = product();
    let params = usual.params(Minimize::Latency).unwrap();
    let whole = usual.explain(&params).unwrap();
    assert!(!whole.in_blocks && !whole.to_string().contains("in blocks"));
    let within = |plan: &Plan, memory: u64| {
        let params = plan.params_within(Minimize::Latency, memory).unwrap();
        let found = plan.explain(&params).unwrap();
        assert!(found.memory_bytes() <= memory, "{found}");
        (params, found)
    };
    let (same, found) = within(&product(), whole.memory_bytes());
    assert!(same.same(&params) && !found.in_blocks);
    // The plan that was made before is forgotten, as it takes more.
    let (same, found) = within(&usual, whole.memory_bytes() - whole.working_bytes() / 8);
    assert!(same.same(&params) && found.in_blocks, "{found}");
    assert!(found.to_string().contains("products in blocks"), "{found}");
    let (own, most) = (found.total(), whole.total());
    assert!(own.products > most.products && found.working_bytes() < whole.working_bytes());
    let error = usual.params_within(Minimize::Latency, 1 << 20).unwrap_err();
    assert_eq!(error.code(), "integers.memory");
}

/// Tables of more than 256 entries, too: with other keys and levels, if need be, that are those of
/// the run.
#[test]
fn a_limit_chooses_blocks_for_tables() {
    let table: Vec<i128> = (0..4096).map(|v| v * v % 11).collect();
    let plan = || {
        Plan::trace(|g| {
            let x = g.input("x", Type::ranged(0, 4095).unwrap(), 300);
            g.output("z", &x.lookup(&table));
            Ok(())
        })
        .unwrap()
    };
    let usual = plan();
    let params = usual.params(Minimize::Latency).unwrap();
    let whole = usual.explain(&params).unwrap();
    assert!(!whole.in_blocks);
    let limit = whole.memory_bytes() - whole.working_bytes() / 8;
    let within = plan();
    let same = within.params_within(Minimize::Latency, limit).unwrap();
    let found = within.explain(&same).unwrap();
    assert!(same.same(&params) && found.in_blocks && found.memory_bytes() <= limit, "{found}");
    assert_eq!(found.total().products, whole.total().products + 3 * 16);
}
