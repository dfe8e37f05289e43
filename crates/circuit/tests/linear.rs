//! The homomorphic transforms of one row and of two rows of slots, on the no-op scheme and on BGV.

use everlevel_circuit::linear::{LinearMap, LinearMapPlan, PreparedLinearMap, StepCosts};
use everlevel_circuit::transform::SlotTransform;
use everlevel_scheme::params::SecretKind;
use everlevel_scheme::{Evaluator, Form, NextUse, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme, SecretKey, ServerKeys};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

fn params(log_degree: u32, p: u64) -> Params {
    let spec = ParamsSpec {
        name: format!("insecure_linear-{p}-n{log_degree}"),
        index: 2 << log_degree,
        plain_prime: p,
        plain_exponent: 1,
        base_bits: 50,
        word_bits: 50,
        words: 10,
        fine_bits: vec![46, 42, 38],
        special: 2,
        digit_size: 2,
        form: Form::Bgv,
        through_bgv: false,
        secret: SecretKind::UniformTernary,
        bootstrap: None,
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// Coefficients from slots to where they belong and back: the ciphertext of the polynomial, and one like `x` again.
fn there_and_back<S: Scheme>(scheme: &S, x: &S::Ciphertext, splits: &[usize]) -> [S::Ciphertext; 2] {
    let transform = SlotTransform::new(scheme.slot_shape(), 1).unwrap();
    let apply = |maps: Vec<LinearMap>, x: &S::Ciphertext| {
        maps.iter().fold(x.clone(), |x, map| {
            let plan = LinearMapPlan::new(map, &StepCosts { max_keys: 32, ..StepCosts::default() }).unwrap();
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
    let values: Vec<u64> = (0..params.slots()).map(|_| rng.next_u64() % params.plain_modulus()).collect();
    let transform = SlotTransform::new(params.slot_shape(), 1).unwrap();
    let mut polynomial = vec![0; params.degree()];
    for c in 0..params.slots() {
        polynomial[c * params.slot_shape().degree_of_slot()] = values[transform.slot_of_coefficient(c).unwrap()];
    }
    (values, polynomial)
}

#[test]
fn transforms_are_exact_on_the_no_op_scheme() {
    // one row: d = 2 twice (W -> 1/W for 127), 4, 2^8 / 4; two rows: d = 1, 4, 2^8 / 8
    let one_row = [(6, 127, vec![2]), (7, 127, vec![3]), (8, 127, vec![1, 4]), (10, 8191, vec![2, 5]), (8, 7, vec![])];
    let two_rows = [(7, 257, vec![3]), (9, 257, vec![2, 4]), (8, 17, vec![1])];
    for (log_degree, p, splits) in one_row.into_iter().chain(two_rows) {
        let params = params(log_degree, p);
        let scheme = NoOp::new(&params, 1);
        let (values, polynomial) = values_and_polynomial(&params);
        let x = scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap();
        let [there, back] = there_and_back(&scheme, &x, &splits);
        assert_eq!(scheme.decrypt(&there).unwrap().coefficients(), polynomial, "p = {p}, n = 2^{log_degree}");
        assert_eq!(scheme.decrypt(&back).unwrap().decode(&params).unwrap(), values, "p = {p}, n = 2^{log_degree}");
    }
}

#[test]
fn transforms_are_exact_on_bgv() {
    for (log_degree, p, splits) in [(8, 127, vec![3]), (8, 8191, vec![3]), (8, 257, vec![3])] {
        let params = params(log_degree, p);
        let (values, polynomial) = values_and_polynomial(&params);
        let plain = Plaintext::encode(&params, &values).unwrap();
        let dry = NoOp::new(&params, 1);
        there_and_back(&dry, &dry.encrypt(&plain).unwrap(), &splits);

        let mut rng = ChaCha20Rng::from_seed([4; 32]);
        let secret = SecretKey::generate(&params, &mut rng);
        let scheme = Evaluator::new(ServerKeys::generate(&secret, &dry.key_plan(), &mut rng, |_, _| ()).unwrap());
        let [there, back] = there_and_back(&scheme, &secret.encrypt(&plain, &mut rng).unwrap(), &splits);
        assert_eq!(secret.decrypt(&there).unwrap().coefficients(), polynomial, "p = {p}");
        assert_eq!(secret.decrypt(&back).unwrap().decode(&params).unwrap(), values, "p = {p}");
        assert!(secret.measure_noise(&back).unwrap() <= scheme.noise_bound_bits(&back));
    }
}
