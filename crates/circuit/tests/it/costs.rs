//! What a bootstrapping on the no-op scheme takes, against what was planned.

use std::collections::BTreeSet;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, Stage, StageReport};
use everlevel_circuit::digits::{DigitKind, DigitMethod};
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};
use everlevel_scheme::{Cost, Level, NoOp, OptIn, Params, ParamsSpec, Plaintext};
use everlevel_testing::{SplitMix, toy_spec};

/// Asserts that what the scheme has done since its cost was `before`, one bootstrapping, are the
/// key switches and products that were counted beforehand.
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

/// Stages in one group or in several, on each side, and each digit removal.
#[test]
fn the_message_survives_whatever_the_groups() {
    // d = 1, d = 1, d = 4, d = 1 with 6 groups in all
    let cases = [
        (128, 257, vec![3, 3], vec![2, 4]),
        (256, 65537, vec![7], vec![7]),
        (1024, 257, vec![4, 3], vec![3, 4]),
        (512, 12289, vec![2, 3, 3], vec![3, 3, 2]),
    ];
    for (index, p, c2s, s2c) in cases {
        // Overflows of up to 5.
        let bootstrap = Some(BootstrapSpec::encapsulated(10));
        let spec = ParamsSpec { bootstrap, ..toy_spec(index, p, 1) };
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let mut rng = SplitMix(index);
        for digits in [
            DigitMethod { kind: DigitKind::ProductTree, extra: 2 },
            DigitMethod::new(DigitKind::PatersonStockmeyer),
            DigitMethod::new(DigitKind::Global),
        ] {
            let mut plan = BootstrapPlan::balanced(params.slots()).with_digits(digits);
            (plan.coeff_to_slot, plan.slot_to_coeff) = (c2s.clone(), s2c.clone());
            plan.steps.max_keys = 32;
            let plan = plan.in_mode(BootstrapMode::Bypass);
            let name = format!("{index}, {p}, {digits}");
            let scheme = NoOp::new(&params, 1);
            let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
            let message: Vec<u64> = (0..params.slots()).map(|_| rng.below(p)).collect();
            let plain = Plaintext::encode(&params, &message).unwrap();
            let x = scheme.encrypt_at(&plain, Level(1)).unwrap();
            let before = scheme.cost();
            let mut reports: Vec<StageReport> = Vec::new();
            let out = bootstrapper.bootstrap_observed(&scheme, &x, &mut reports).unwrap();
            assert_costs(&scheme, &bootstrapper, before, &name);
            assert_eq!(scheme.decrypt(&out).unwrap().decode(&params).unwrap(), message, "{name}");
            let linear =
                |r: &&StageReport| matches!(r.stage, Stage::CoeffToSlot | Stage::SlotToCoeff);
            let maps = reports.iter().filter(linear).count();
            assert_eq!(maps, c2s.len() + s2c.len(), "{name}");
            assert_eq!(reports.last().unwrap().stage.name(), "assemble");
        }
    }
}
