//! The scheme that remembers is the scheme inside, operation by operation, and its histories are
//! complete.

use std::sync::Arc;

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_scheme::{
    ExactScheme, KeyPlan, NextUse, NoOp, OptIn, Params, Plaintext, Recorded, RecordedCiphertext,
};
use everlevel_testing::Subject;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

fn params() -> Params {
    Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap()
}

#[test]
fn all_laws_hold_over_the_no_op_scheme() {
    let params = params();
    let scheme = Recorded::new(Arc::new(NoOp::new(&params, 1)), &params);
    let encrypt = |values: &[u64]| {
        let plain = Plaintext::encode(&params, values).unwrap();
        scheme.input(scheme.inner().encrypt(&plain).unwrap(), "x")
    };
    let decrypt = |x: &RecordedCiphertext<_>| {
        scheme.inner().decrypt(x.inner()).unwrap().decode(&params).unwrap()
    };
    Subject {
        scheme: &scheme,
        encrypt: &encrypt,
        decrypt: &decrypt,
        rotations: &[1, -3],
        exponent: 1,
        seed: 3,
    }
    .check_all();
}

#[test]
fn results_are_the_same_bits_and_histories_complete() {
    let params = params();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let secret = Arc::new(SecretKey::generate(&params, &mut rng));
    let plan = KeyPlan::relinearization(&params).merge(&KeyPlan::column_rotations(&params, [1]));
    let plain = Arc::new(Evaluator::new(
        ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap(),
    ));
    let key = secret.clone();
    let traced =
        Recorded::new(plain.clone(), &params).with_probe(move |x| key.measure_noise(x).ok());
    let x = secret.encrypt(&Plaintext::encode(&params, &[1, 2, 3]).unwrap(), &mut rng).unwrap();
    fn circuit<S: ExactScheme>(s: &S, x: &S::Ciphertext) -> S::Ciphertext {
        let square = s.mul(x, x, NextUse::LinearMap).unwrap();
        let turned = s.rotate_columns(&square, 1).unwrap();
        let unused = s.mul(&turned, &turned, NextUse::Product).unwrap();
        assert!(s.capacity_bits(&unused) > 0.0);
        s.mul_scalar(&s.add(&square, &turned).unwrap(), 5).unwrap()
    }
    let y = circuit(&traced, &traced.input(x.clone(), "x"));
    assert_eq!(y.inner().fingerprint(), circuit(&*plain, &x).fingerprint());

    let told = traced.explain(&y);
    let rows: Vec<(&str, &[usize])> =
        told.steps.iter().map(|step| (step.operation, &step.inputs[..])).collect();
    // The square that nothing came of is not there.
    let expected: [(&str, &[usize]); 5] = [
        ("input", &[]),
        ("product", &[1]),
        ("automorphism", &[2]),
        ("sum", &[2, 3]),
        ("times a constant", &[4]),
    ];
    assert_eq!(rows, expected);
    assert_eq!(told.results, [5]);
    let last = told.steps.last().unwrap();
    assert_eq!(last.bound_bits, y.inner().noise_bound_bits());
    assert_eq!(last.measured_bits, Some(secret.measure_noise(y.inner()).unwrap()));
    assert!(
        (last.capacity_consumed_bits - (told.steps[3].capacity_bits - last.capacity_bits)).abs()
            < 1e-9
    );
    assert!(told.least_slack_bits().unwrap() > 0.0);
    // Nothing random happens in a sum of ciphertexts of one level.
    assert_eq!(told.steps[3].failure_log2, everlevel_scheme::noise::NEVER);
    assert!(told.failure_log2 > told.steps[1].failure_log2 && told.failure_log2 < -150.0);
    // Without a key there is no measurement, nor a column of them.
    let public = Recorded::new(plain, &params);
    let x = public.input(x, "x");
    let z = circuit(&public, &x);
    let (told, table) = (public.explain_all([&x, &z]), public.explain(&z).to_string());
    assert_eq!(told.results, [1, 5]);
    assert!(
        told.least_slack_bits().is_none()
            && !table.contains("measured")
            && table.contains("times a constant 5"),
        "{table}"
    );
}
