//! What a bootstrapping on the no-op scheme takes, against what was planned.

use std::collections::BTreeSet;

use everlevel_circuit::bootstrap::Bootstrapper;
use everlevel_scheme::{Cost, NoOp};

/// Asserts that what the scheme has done since its cost was `before`, one bootstrapping, are the key
/// switches and products that were counted beforehand.
pub(crate) fn assert_costs(
    scheme: &NoOp,
    bootstrapper: &Bootstrapper<NoOp>,
    before: Cost,
    name: &str,
) {
    let (cost, planned) = (scheme.cost() - before, bootstrapper.costs());
    // The key switch to the sparse key is no part of the circuit.
    assert_eq!(
        (cost.key_switches, cost.products),
        (planned.key_switches as u64 + 1, planned.products as u64),
        "{name}"
    );
}

/// Asserts that the automorphisms that the scheme has used, in bootstrapping alone, are those that
/// keys were planned for.
pub(crate) fn assert_keys(scheme: &NoOp, bootstrapper: &Bootstrapper<NoOp>, name: &str) {
    let used: BTreeSet<_> = scheme.key_plan().galois.keys().map(|(g, _)| *g).collect();
    assert!(used.iter().eq(bootstrapper.galois_elements()), "{name}");
}
