//! Keys for rotations by any number of steps: which there are, and at which levels.

use std::collections::BTreeSet;

use everlevel::lab::PowerSum;
use everlevel::{
    GaloisElement, KeyPlan, KeyPlanner, Level, OptIn, Params, are_general, general_keys,
    general_rotations,
};
use everlevel_circuit::rotation_elements;

/// What is promised: a fresh ciphertext keeps nine tenths of the modulus, one that was just
/// bootstrapped all but 16 bits, and others fall 120 bits at most.
const HIGH_SHARE: f64 = 0.9;
const NEAR_BITS: f64 = 16.0;
const LADDER_BITS: f64 = 120.0;

fn params(name: &str) -> Params {
    Params::named(name, OptIn::InsecureResearch).unwrap()
}

#[test]
fn keys_are_within_reach_of_every_level() {
    for (name, limit) in [("bgv-65537-n15", 1.06), ("insecure_bgv-257-n8", 1.0)] {
        let params = params(name);
        let planner = KeyPlanner::new(&params).unwrap();
        let near = planner.after_bootstrap().level;
        let plan = planner.general_rotations().unwrap().keys();
        let gib = plan.seeded_bytes(&params) as f64 / f64::from(1 << 30);
        assert!(gib <= limit, "{name}: {gib:.3} GiB");
        check(&params, &plan, near);
        // And without bootstrapping: there are no keys for anything else.
        let top = params.chain().top();
        let plan = general_rotations(&params, top).unwrap();
        check(&params, &plan, top);
        let found: BTreeSet<GaloisElement> = plan.galois.keys().map(|(g, _)| *g).collect();
        assert_eq!(found, elements(&params), "{name}");
    }
}

/// The keys of any bootstrapping plan are shared, as those of the recommended one are.
#[test]
fn planners_add_what_they_lack() {
    let params = params("insecure_bgv-257-n8");
    let planner = KeyPlanner::new(&params).unwrap().general_rotations().unwrap();
    let found = planner.keys();
    assert_eq!(found, general_keys(&params).unwrap());
    // There is nothing to add any more.
    assert_eq!(planner.general_rotations().unwrap().keys(), found);
}

/// Keys are general as long as none of some kind is missing.
#[test]
fn general_keys_are_told_from_others() {
    for name in ["bgv-65537-n15", "insecure_bgv-65537-n11", "insecure_bgv-257-n8"] {
        let params = params(name);
        let general = general_keys(&params).unwrap();
        let is_general = |keys: &KeyPlan| are_general(&params, keys).unwrap();
        assert!(is_general(&general), "{name}");
        assert!(is_general(&general.clone().merge(&KeyPlan::row_swap(&params))), "{name}");
        let mut fewer = vec![general.clone(); 4];
        fewer[0].bootstrap = false;
        fewer[1].relin.pop_first();
        let swap = params.slot_shape().swap_rows();
        fewer[2].galois.retain(|(g, _), _| *g != swap);
        // None at the lowest levels.
        let low = params.chain().gadget_id(Level(0));
        fewer[3].galois.retain(|(_, gadget), _| *gadget != low);
        let told: Vec<bool> = fewer.iter().map(is_general).collect();
        assert_eq!(told, [false; 4], "{name}");
    }
    // Those of bootstrapping, and no others.
    let params = params("bgv-65537-n15");
    assert!(!are_general(&params, &KeyPlanner::new(&params).unwrap().keys()).unwrap());
}

/// Rotations by powers of two to the left and by one to the right, the exchange of the rows, and
/// what sums take.
fn elements(params: &Params) -> BTreeSet<GaloisElement> {
    let shape = params.slot_shape();
    let mut elements = BTreeSet::from([shape.swap_rows(), shape.rotation(-1)]);
    let powers = (0..63).map(|i| 1i64 << i).take_while(|k| *k < shape.columns() as i64);
    elements.extend(powers.map(|k| shape.rotation(k)));
    for dimension in 0..shape.dimensions().len() {
        elements.extend(PowerSum::along(shape, dimension).unwrap().galois_elements());
        elements.extend([1, -1].map(|k| rotation_elements(shape, dimension, k).unwrap()).concat());
    }
    elements.retain(|g| !g.is_identity());
    elements
}

/// Checks how far ciphertexts fall to the next level with keys.
fn check(params: &Params, plan: &KeyPlan, near: Level) {
    let (name, chain) = (params.name(), params.chain());
    let held = |g: GaloisElement, l: usize| {
        let level = Level(l);
        let basis = plan.galois.get(&(g, chain.gadget_id(level)));
        basis.is_some_and(|basis| chain.basis(level).is_subset(*basis))
    };
    let top = params.modulus_bits(chain.top());
    for g in elements(params) {
        assert!(held(g, 0), "{name}: the lowest level");
        for l in 0..=chain.top().0 {
            let at = (0..=l).rev().find(|&below| held(g, below)).unwrap();
            let fallen = params.modulus_bits(Level(l)) - params.modulus_bits(Level(at));
            let allowed = match l {
                _ if Level(l) == near => NEAR_BITS,
                _ if Level(l) == chain.top() => (1.0 - HIGH_SHARE) * top,
                _ => LADDER_BITS.max((1.0 - HIGH_SHARE) * top),
            };
            assert!(fallen <= allowed, "{name}: level {l} would fall {fallen:.0} bits");
        }
    }
}
