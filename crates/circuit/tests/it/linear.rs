//! The homomorphic transforms of one row and of two rows of slots, and unpacking, on the no-op
//! scheme and on BGV.

use everlevel_circuit::CircuitError;
use everlevel_circuit::linear::{LinearMap, LinearMapPlan, PreparedLinearMap, StepCosts};
use everlevel_circuit::transform::SlotTransform;
use everlevel_circuit::unpack::{Repacking, Unpacking};
use everlevel_scheme::spec::Assumption;
use everlevel_scheme::{
    Arithmetic, ExactScheme, NextUse, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::party::party;

fn params(log_degree: u32, p: u64) -> Params {
    params_over(Assumption::Rlwe, log_degree, p)
}

fn params_over(assumption: Assumption, log_degree: u32, p: u64) -> Params {
    let spec = ParamsSpec {
        words: 10,
        fine_bits: vec![46, 42, 38],
        special: 2,
        digit_size: 2,
        assumption,
        ..ParamsSpec::new(format!("insecure_linear-{p}-n{log_degree}"), 2 << log_degree, p)
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// Coefficients from slots to where they belong and back: the ciphertext of the polynomial, and one
/// like `x` again.
fn there_and_back<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
    splits: &[usize],
) -> [S::Ciphertext; 2] {
    let transform = SlotTransform::new(scheme.slot_shape(), 1).unwrap();
    let apply = |maps: Vec<LinearMap>, x: &S::Ciphertext| {
        maps.iter().fold(x.clone(), |x, map| {
            let plan = LinearMapPlan::new(
                map,
                scheme.slot_shape(),
                &StepCosts { max_keys: 32, ..StepCosts::default() },
            )
            .unwrap();
            let prepared = PreparedLinearMap::new(scheme, &plan, scheme.level(&x)).unwrap();
            prepared.apply(scheme, &x, NextUse::LinearMap).unwrap()
        })
    };
    let there = apply(transform.slot_to_coeff(splits).unwrap(), x);
    let back = apply(transform.coeff_to_slot(splits, 1).unwrap(), &there);
    [there, back]
}

/// Random thin values, and the polynomial in X^d whose coefficients they are in butterfly order.
fn values_and_polynomial(params: &Params) -> (Vec<u64>, Vec<u64>) {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let values: Vec<u64> =
        (0..params.slots()).map(|_| rng.next_u64() % params.plain_modulus()).collect();
    let transform = SlotTransform::new(params.slot_shape(), 1).unwrap();
    let mut polynomial = vec![0; params.degree()];
    for c in 0..params.slots() {
        polynomial[c * params.slot_shape().degree_of_slot()] =
            values[transform.slot_of_coefficient(c).unwrap()];
    }
    (values, polynomial)
}

#[test]
fn transforms_are_exact_on_the_no_op_scheme() {
    // one row: d = 2 twice (W -> 1/W for 127), 4, 2^8 / 4; two rows: d = 1, 4, 2^8 / 8
    let one_row = [
        (6, 127, vec![2]),
        (7, 127, vec![3]),
        (8, 127, vec![1, 4]),
        (10, 8191, vec![2, 5]),
        (8, 7, vec![]),
    ];
    let two_rows = [(7, 257, vec![3]), (9, 257, vec![2, 4]), (8, 17, vec![1])];
    for (log_degree, p, splits) in one_row.into_iter().chain(two_rows) {
        let params = params(log_degree, p);
        let scheme = NoOp::new(&params, 1);
        let (values, polynomial) = values_and_polynomial(&params);
        let x = scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap();
        let [there, back] = there_and_back(&scheme, &x, &splits);
        assert_eq!(
            scheme.decrypt(&there).unwrap().coefficients(),
            polynomial,
            "p = {p}, n = 2^{log_degree}"
        );
        assert_eq!(
            scheme.decrypt(&back).unwrap().decode(&params).unwrap(),
            values,
            "p = {p}, n = 2^{log_degree}"
        );
    }
}

#[test]
fn transforms_are_exact_on_bgv() {
    let rlwe = [(8, 127, vec![3]), (8, 8191, vec![3]), (8, 257, vec![3])]
        .map(|case| (Assumption::Rlwe, case));
    let ntru = [(8, 127, vec![3]), (8, 257, vec![3])].map(|case| (Assumption::Ntru, case));
    for (assumption, (log_degree, p, splits)) in rlwe.into_iter().chain(ntru) {
        let params = params_over(assumption, log_degree, p);
        let (values, polynomial) = values_and_polynomial(&params);
        let plain = Plaintext::encode(&params, &values).unwrap();
        let dry = NoOp::new(&params, 1);
        there_and_back(&dry, &dry.encrypt(&plain).unwrap(), &splits);

        let mut rng = ChaCha20Rng::from_seed([4; 32]);
        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let [there, back] =
            there_and_back(&scheme, &secret.encrypt(&plain, &mut rng).unwrap(), &splits);
        assert_eq!(secret.decrypt(&there).unwrap().coefficients(), polynomial, "p = {p}");
        assert_eq!(secret.decrypt(&back).unwrap().decode(&params).unwrap(), values, "p = {p}");
        assert!(secret.measure_noise(&back).unwrap() <= scheme.noise_bound_bits(&back));
    }
}

/// Takes x apart, checks every part with `open`, and puts d x together again.
fn apart_and_together<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
    open: impl Fn(&S::Ciphertext) -> Vec<u64>,
) -> S::Ciphertext {
    let (shape, a) = (scheme.slot_shape(), open(x));
    let (d, p) = (shape.degree_of_slot(), scheme.plain_prime());
    let unpacking = Unpacking::new(shape);
    assert_eq!(unpacking.parts(), d);
    let (mut repacking, mut visited) = (Repacking::<S>::new(), Vec::new());
    unpacking
        .unpack(scheme, x.clone(), |j, part| {
            let want: Vec<u64> = (0..a.len())
                .map(|i| if i % d == 0 { a[i + j] * d as u64 % p } else { 0 })
                .collect();
            assert_eq!(open(&part), want, "part {j}");
            visited.push(j);
            repacking.add(scheme, j, &part)
        })
        .unwrap();
    let reversed =
        |j: usize| if d == 1 { 0 } else { j.reverse_bits() >> (usize::BITS - d.trailing_zeros()) };
    assert!(visited.iter().copied().eq((0..d).map(reversed)));
    let together = repacking.finish().unwrap();
    assert!(open(&together).iter().zip(&a).all(|(y, x)| *y == x * d as u64 % p));
    together
}

/// A ciphertext whose slots are whole elements: thin ones, shifted and added.
fn mixed<S: ExactScheme>(scheme: &S, x: &S::Ciphertext) -> S::Ciphertext {
    let shifted =
        |k: i64| scheme.mul_monomial(&scheme.rotate_columns(x, k % 4).unwrap(), k).unwrap();
    (1..8).fold(x.clone(), |sum, k| scheme.add(&sum, &shifted(k)).unwrap())
}

#[test]
fn unpacking_and_repacking_on_the_no_op_scheme() {
    // d = 1, 2, 8 with two rows; 2, 4, 32 with one
    for (log_degree, p) in [(7, 257), (8, 257), (10, 257), (6, 127), (8, 127), (7, 7)] {
        let params = params(log_degree, p);
        let scheme = NoOp::new(&params, 1);
        let plain = Plaintext::encode(&params, &values_and_polynomial(&params).0).unwrap();
        let x = mixed(&scheme, &scheme.encrypt(&plain).unwrap());
        let before = scheme.cost().key_switches;
        apart_and_together(&scheme, &x, |x| scheme.decrypt(x).unwrap().coefficients().to_vec());
        let unpacking = Unpacking::new(params.slot_shape());
        assert_eq!((scheme.cost().key_switches - before) as usize, unpacking.key_switches());
        let used = scheme.key_plan();
        assert!(
            unpacking.galois_elements().iter().all(|g| used.galois.keys().any(|(key, _)| key == g))
        );
        let refused =
            unpacking.unpack(&scheme, x, |_, _| Err(CircuitError::Empty { what: "this test" }));
        assert_eq!(refused, Err(CircuitError::Empty { what: "this test" }));
    }
    assert!(Repacking::<NoOp>::new().finish().is_err());
}

#[test]
fn unpacking_and_repacking_on_bgv() {
    for (log_degree, p) in [(8, 127), (9, 257)] {
        let params = params(log_degree, p);
        let plain = Plaintext::encode(&params, &values_and_polynomial(&params).0).unwrap();
        let dry = NoOp::new(&params, 1);
        let x = mixed(&dry, &dry.encrypt(&plain).unwrap());
        let foretold =
            apart_and_together(&dry, &x, |x| dry.decrypt(x).unwrap().coefficients().to_vec());

        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let open = |x: &_| {
            assert!(secret.measure_noise(x).unwrap() <= scheme.noise_bound_bits(x));
            secret.decrypt(x).unwrap().coefficients().to_vec()
        };
        let x = mixed(&scheme, &secret.encrypt(&plain, &mut rng).unwrap());
        let before = [scheme.cost(), dry.cost()];
        scheme.mul_monomial(&x, 3).unwrap();
        dry.mul_monomial(&foretold, 3).unwrap();
        assert_eq!((scheme.cost() - before[0]).transforms, (dry.cost() - before[1]).transforms);
        let together = apart_and_together(&scheme, &x, open);
        assert_eq!(scheme.noise_bound_bits(&together), dry.noise_bound_bits(&foretold));
    }
}
