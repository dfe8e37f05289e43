//! Bootstrapping where fewer slots are used than the ring has: values repeat, and what does not
//! repeat is refused.

use everlevel_bgv::SecretKey;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, Stage, StageReport};
use everlevel_circuit::digits::{DigitKind, DigitMethod};
use everlevel_circuit::sums::total_sum;
use everlevel_circuit::{CircuitError, SumPacking};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};
use everlevel_scheme::{
    Arithmetic, Automorphisms, DiagonalValues, Form, Level, LinearMaps, NextUse, NoOp, OptIn,
    Params, ParamsSpec, PeriodicSlots, Plaintext, SchemeError,
};
use everlevel_testing::{SplitMix, toy_spec};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::costs::{assert_costs, assert_keys};
use crate::party::party;

/// A toy set of index m for integers modulo p^r in `slots` slots.
fn params((index, p, r, slots): (u64, u64, u32, usize), mode: BootstrapMode, form: Form) -> Params {
    let bootstrap = BootstrapSpec { mode: Some(mode), ..BootstrapSpec::encapsulated(8) };
    let spec = ParamsSpec { form, bootstrap: Some(bootstrap), ..toy_spec(index, p, r) };
    Params::new(spec.with_used_slots(slots).unwrap(), OptIn::InsecureResearch).unwrap()
}

fn random(params: &Params) -> Vec<u64> {
    let mut rng = SplitMix(params.slots() as u64);
    (0..params.slots()).map(|_| rng.below(params.plain_modulus())).collect()
}

/// Rings with slots of degree 1 and 2, and the number of those that are used.
const BYPASS: [(u64, u64, u32, usize); 4] =
    [(128, 257, 1, 4), (256, 65537, 1, 16), (512, 257, 1, 8), (512, 257, 1, 64)];
const THIN: [(u64, u64, u32, usize); 4] =
    [(128, 257, 1, 4), (256, 65537, 1, 32), (512, 257, 2, 8), (128, 257, 2, 16)];

#[test]
fn used_slots_are_bootstrapped_on_the_no_op_scheme() {
    let bypass = BYPASS.iter().map(|ring| (ring, BootstrapMode::Bypass));
    let thin = THIN.iter().map(|ring| (ring, BootstrapMode::Thin));
    for (ring, mode) in bypass.chain(thin) {
        let params = params(*ring, mode, Form::Bgv);
        let shape = params.slot_shape();
        assert_eq!((params.slots(), shape.columns()), (ring.3, ring.3 / 2));
        let values = random(&params);
        let plain = Plaintext::encode(&params, &values).unwrap();
        let standard = BootstrapPlan::for_set(&params).unwrap();
        let mut plans = vec![standard.clone()];
        if ring.2 == 1 {
            let digits = DigitMethod::new(DigitKind::Global);
            plans.push(standard.with_digits(digits));
        }
        for plan in plans {
            let scheme = NoOp::new(&params, 1);
            let bootstrapper = Bootstrapper::new(&scheme, plan.clone()).unwrap();
            let x = scheme.encrypt(&plain).unwrap();
            let before = scheme.cost();
            let mut reports: Vec<StageReport> = Vec::new();
            let fresh = bootstrapper.bootstrap_observed(&scheme, &x, &mut reports).unwrap();
            assert_eq!(
                scheme.decrypt(&fresh).unwrap().decode(&params).unwrap(),
                values,
                "{ring:?}, {plan:?}"
            );
            let name = format!("{ring:?}, {plan:?}");
            assert_costs(&scheme, &bootstrapper, before, &name);
            assert_keys(&scheme, &bootstrapper, &name);
            // The projection comes after the map, just ahead of the digit removal.
            let at = |stage| reports.iter().position(|r| r.stage == stage).unwrap();
            assert!(at(Stage::CoeffToSlot) < at(Stage::Trace), "{ring:?}");
            assert!(at(Stage::Trace) < at(Stage::DigitRemoval), "{ring:?}");
            // Twice: what was bootstrapped repeats, too.
            let again = bootstrapper.bootstrap(&scheme, &fresh).unwrap();
            assert_eq!(scheme.decrypt(&again).unwrap(), plain, "{ring:?}, {plan:?}");
        }
    }
}

#[test]
fn used_slots_are_bootstrapped_with_cryptography() {
    for (ring, mode, form) in [
        ((256, 65537, 1, 16), BootstrapMode::Bypass, Form::Bgv),
        ((512, 257, 1, 8), BootstrapMode::Bypass, Form::Bfv),
        ((256, 65537, 1, 16), BootstrapMode::Thin, Form::Bgv),
        ((128, 257, 2, 8), BootstrapMode::Thin, Form::Bfv),
    ] {
        let params = params(ring, mode, form);
        let values = random(&params);
        let plain = Plaintext::encode(&params, &values).unwrap();
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let dry = NoOp::new(&params, 1);
        let mut foretold: Vec<StageReport> = Vec::new();
        Bootstrapper::new(&dry, plan.clone())
            .unwrap()
            .bootstrap_observed(&dry, &dry.encrypt(&plain).unwrap(), &mut foretold)
            .unwrap();

        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
        let x = secret.encrypt(&plain, &mut rng).unwrap();
        let mut reports: Vec<StageReport> = Vec::new();
        let fresh = bootstrapper.bootstrap_observed(&scheme, &x, &mut reports).unwrap();
        let back = secret.decrypt(&fresh).unwrap();
        assert_eq!(back.decode(&params).unwrap(), values, "{ring:?}, {mode:?}, {form:?}");
        assert_eq!(back, plain);
        let (measured, bound) = (secret.measure_noise(&fresh).unwrap(), fresh.noise_bound_bits());
        assert!(measured <= bound, "{ring:?}: noise 2^{measured:.1}, bound 2^{bound:.1}");
        let public = |r: &StageReport| (r.stage, r.level_after, r.noise_bits.to_bits());
        assert!(reports.iter().map(public).eq(foretold.iter().map(public)), "{ring:?}: stages");
    }
}

/// Key switches, transforms, bytes moved and bytes of keys of a bootstrapping by the set's plan,
/// and the products that digits are removed with.
fn costs(params: &Params) -> ([u64; 4], u64) {
    let scheme = NoOp::blank(params);
    let plan = BootstrapPlan::for_set(params).unwrap();
    let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
    let x = scheme.encrypt(&Plaintext::encode(params, &[]).unwrap()).unwrap();
    let before = scheme.cost();
    bootstrapper.bootstrap(&scheme, &x).unwrap();
    let cost = scheme.cost() - before;
    let keys = scheme.key_plan().seeded_bytes(params);
    ([cost.key_switches, cost.transforms, cost.bytes, keys], cost.products)
}

/// The shares of ADR 0065.
#[test]
fn fewer_slots_take_fewer_steps() {
    let spec = ParamsSpec::named("bgv-65537-n15").unwrap();
    let (all, products) = costs(&Params::new(spec.clone(), OptIn::SecureOnly).unwrap());
    for (slots, most) in [(1024, [71, 73, 67, 63]), (4096, [78, 75, 71, 72])] {
        let spec = spec.clone().with_used_slots(slots).unwrap();
        let (found, same) = costs(&Params::new(spec, OptIn::SecureOnly).unwrap());
        assert_eq!(same, products);
        for ((found, all), most) in found.iter().zip(&all).zip(most) {
            assert!(100 * found <= most * all, "{slots} slots: {found} of {all}, {most} %");
        }
    }
}

#[test]
fn operations_stay_within_the_used_slots() {
    let params = params((256, 65537, 1, 16), BootstrapMode::Thin, Form::Bgv);
    let scheme = NoOp::new(&params, 1);
    let values = random(&params);
    let x = scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap();
    let open = |x: &NoOpCiphertext| scheme.decrypt(x).unwrap().decode(&params).unwrap();

    let mut expected = values.clone();
    expected.chunks_exact_mut(8).for_each(|row| row.rotate_left(3));
    assert_eq!(open(&scheme.rotate_columns(&x, 3).unwrap()), expected);
    assert_eq!(open(&scheme.rotate_columns(&x, 11).unwrap()), expected);
    let swapped: Vec<u64> = values[8..].iter().chain(&values[..8]).copied().collect();
    assert_eq!(open(&scheme.swap_rows(&x).unwrap()), swapped);
    let sum = values.iter().sum::<u64>() % 65537;
    assert_eq!(open(&total_sum(&scheme, &x).unwrap()), [sum; 16]);
    // A mask is a plaintext of as many slots.
    let mut mask = vec![0; 16];
    mask[5] = 1;
    let mask = Plaintext::encode(&params, &mask).unwrap();
    let mut one = vec![0; 16];
    one[5] = values[5];
    assert_eq!(open(&scheme.mul_plain(&x, &mask).unwrap()), one);
    let product = scheme.mul(&x, &x, NextUse::Keep).unwrap();
    assert_eq!(open(&product), values.iter().map(|v| v * v % 65537).collect::<Vec<u64>>());
    // X^8 repeats: its values are roots of unity in the 16 slots.
    let powers = Plaintext::from_coefficients(
        &params,
        (0..128).map(|i| u64::from(i == 8)).collect::<Vec<u64>>(),
        1,
    );
    let powers = powers.unwrap().decode(&params).unwrap();
    let turned: Vec<u64> = values.iter().zip(&powers).map(|(v, w)| v * w % 65537).collect();
    assert_eq!(open(&scheme.mul_monomial(&x, 8).unwrap()), turned);
}

#[test]
fn sums_of_used_slots_are_packed() {
    let params = params((256, 65537, 1, 16), BootstrapMode::Thin, Form::Bgv);
    let scheme = NoOp::new(&params, 1);
    let packing = SumPacking::new(params.slot_shape(), 3).unwrap();
    let columns: Vec<Vec<u64>> =
        (0..3).map(|j| (0..16).map(|i| 1000 * j + 7 * i * i).collect()).collect();
    let xs: Vec<_> = columns
        .iter()
        .map(|values| scheme.encrypt(&Plaintext::encode(&params, values).unwrap()).unwrap())
        .collect();
    let mut expected = vec![0; 128];
    for (j, values) in columns.iter().enumerate() {
        expected[packing.place(j)] = values.iter().sum::<u64>() % 65537;
    }
    // Places 0, 1 and 2 of 4 powers of X^8, below X^128.
    assert_eq!([0, 1, 2].map(|j| packing.place(j)), [0, 32, 64]);
    let packed = packing.pack(&scheme, &xs).unwrap();
    assert_eq!(scheme.decrypt(&packed).unwrap().coefficients(), expected);
    // With slots of degree 2 there are fewer slots than coefficients, whether they repeat or not.
    let other = params_of_degree_two();
    assert_eq!(SumPacking::new(other.slot_shape(), 3), None);
}

fn params_of_degree_two() -> Params {
    params((512, 257, 1, 16), BootstrapMode::Thin, Form::Bgv)
}

#[test]
fn what_does_not_repeat_is_refused() {
    let params = params((256, 65537, 1, 16), BootstrapMode::Thin, Form::Bgv);
    let scheme = NoOp::new(&params, 1);
    let refused = |e: Option<SchemeError>| matches!(e, Some(SchemeError::BadArgument { .. }));
    assert!(Plaintext::encode(&params, &[1; 17]).is_err());
    let any: Vec<u64> = (0..128).map(|i| u64::from(i == 3)).collect();
    assert!(refused(Plaintext::from_coefficients(&params, any.clone(), 1).err()));
    assert!(refused(Plaintext::encode_elements(&params, &any).err()));
    // A plaintext of the same ring with all of its slots.
    let spec =
        ParamsSpec { bootstrap: Some(BootstrapSpec::encapsulated(8)), ..toy_spec(256, 65537, 1) };
    let whole = Params::new(spec, OptIn::InsecureResearch).unwrap();
    assert_eq!(whole.slots(), 128);
    let foreign = Plaintext::encode(&whole, &(0..128).collect::<Vec<u64>>()).unwrap();
    let x = scheme.encrypt(&Plaintext::encode(&params, &[1, 2]).unwrap()).unwrap();
    assert!(refused(scheme.encrypt(&foreign).err()));
    assert!(refused(scheme.add_plain(&x, &foreign).err()));
    assert!(refused(scheme.mul_plain(&x, &foreign).err()));
    for k in [1, -1, 4, 9] {
        assert!(refused(scheme.mul_monomial(&x, k).err()), "X^{k}");
    }
    let diagonal = |period: usize| {
        let values = PeriodicSlots { period, values: vec![1; 2 * period] };
        scheme.diagonal(&DiagonalValues::Periodic(values), 1, Level(2))
    };
    assert!(diagonal(8).is_ok() && diagonal(16).is_err() && diagonal(64).is_err());
    // With cryptography, by the owner of the key.
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    let secret = SecretKey::generate(&params, &mut rng);
    assert!(refused(secret.encrypt(&foreign, &mut rng).err()));

    let plan = BootstrapPlan::for_set(&params).unwrap();
    let full = Bootstrapper::new(&scheme, plan.clone().in_mode(BootstrapMode::Full)).err();
    assert!(matches!(full, Some(CircuitError::PlanMismatch { .. })));
    let other = Bootstrapper::new(&scheme, BootstrapPlan::balanced(128)).err();
    assert!(matches!(other, Some(CircuitError::BadSplits { .. })));
    // Neither does a bootstrapping for all slots take a scheme whose slots repeat.
    let all = NoOp::new(&whole, 1);
    let bootstrapper = Bootstrapper::new(&all, BootstrapPlan::for_set(&whole).unwrap()).unwrap();
    assert!(matches!(
        bootstrapper.bootstrap(&scheme, &x).err(),
        Some(CircuitError::PlanMismatch { .. })
    ));
}

#[test]
fn numbers_of_used_slots_are_checked() {
    let set = |index, p, mode, slots| {
        let bootstrap = BootstrapSpec { mode, ..BootstrapSpec::encapsulated(8) };
        let spec = ParamsSpec { bootstrap: Some(bootstrap), ..toy_spec(index, p, 1) };
        Params::new(spec.with_used_slots(slots).unwrap(), OptIn::InsecureResearch)
    };
    assert_eq!(set(256, 65537, None, 16).unwrap().name(), "insecure_toy-65537-m256-s16");
    for slots in [0, 2, 12, 256] {
        assert!(matches!(set(256, 65537, None, slots), Err(SchemeError::BadParams { .. })));
    }
    let one_row = set(128, 127, None, 8);
    assert!(matches!(one_row, Err(SchemeError::BadParams { .. })));
    let full = set(256, 65537, Some(BootstrapMode::Full), 16);
    assert!(matches!(full, Err(SchemeError::BadParams { .. })));
    assert!(toy_spec(256, 65537, 1).with_used_slots(16).is_err());
}
