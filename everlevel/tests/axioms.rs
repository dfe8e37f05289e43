//! The laws of everlevel-testing, for each scheme.

use std::cell::RefCell;

use everlevel::{Evaluator, KeyPlan, NoOp, OptIn, Params, Plaintext, SecretKey, ServerKeys};
use everlevel_testing::Subject;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Two rows of slots and one row; BGV and BFV.
const SETS: [&str; 7] = [
    "insecure_bgv-257-n8",
    "insecure_bgv-65537-n11",
    "insecure_bgv-786433-n11",
    "insecure_bgv-127-n8",
    "insecure_bfv-257-n8",
    "insecure_bfv-65537-n11",
    "insecure_bfv-127e2-n8",
];
const STEPS: [i64; 3] = [1, -3, 16];

fn set(name: &str) -> Params {
    Params::named(name, OptIn::InsecureResearch).unwrap()
}

#[test]
fn the_no_op_scheme() {
    for name in SETS {
        let params = set(name);
        let scheme = NoOp::new(&params, 1);
        Subject {
            scheme: &scheme,
            encrypt: &|values| scheme.encrypt(&Plaintext::encode(&params, values).unwrap()).unwrap(),
            decrypt: &|x| scheme.decrypt(x).unwrap().decode(&params).unwrap(),
            rotations: &STEPS,
            exponent: params.plain_exponent(),
            seed: 1,
        }
        .check_all();
    }
}

#[test]
fn bgv_and_bfv() {
    for name in SETS {
        let params = set(name);
        let rng = RefCell::new(ChaCha20Rng::seed_from_u64(2));
        let secret = SecretKey::generate(&params, &mut *rng.borrow_mut());
        let plan = KeyPlan::relinearization(&params)
            .merge(&KeyPlan::column_rotations(&params, STEPS))
            .merge(&KeyPlan::row_swap(&params));
        let scheme = Evaluator::new(ServerKeys::generate(&secret, &plan, &mut *rng.borrow_mut(), |_, _| ()).unwrap());
        let subject = Subject {
            scheme: &scheme,
            encrypt: &|values| secret.encrypt(&Plaintext::encode(&params, values).unwrap(), &mut *rng.borrow_mut()).unwrap(),
            decrypt: &|x| {
                let (measured, bound) = (secret.measure_noise(x).unwrap(), x.noise_bound_bits());
                assert!(measured <= bound, "{name}: measured noise 2^{measured:.2} above its bound 2^{bound:.2}");
                secret.decrypt(x).unwrap().decode(&params).unwrap()
            },
            rotations: &STEPS,
            exponent: params.plain_exponent(),
            seed: 3,
        };
        subject.check_all();
        subject.missing_key(5);
    }
}

/// Both schemes carry the same public data through the same circuit.
#[test]
fn the_no_op_scheme_predicts_levels_and_noise() {
    use everlevel::{NextUse, Scheme};
    let params = set(SETS[1]);
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let secret = SecretKey::generate(&params, &mut rng);
    let plan = KeyPlan::relinearization(&params).merge(&KeyPlan::column_rotations(&params, STEPS));
    let scheme = Evaluator::new(ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap());
    let open = NoOp::new(&params, 0);
    let plain = Plaintext::encode(&params, &[3, 1, 4, 1, 5]).unwrap();
    let (mut x, mut y) = (secret.encrypt(&plain, &mut rng).unwrap(), open.encrypt(&plain).unwrap());
    for step in 0..12 {
        (x, y) = match step % 4 {
            0 => (scheme.mul(&x, &x, NextUse::LinearMap).unwrap(), open.mul(&y, &y, NextUse::LinearMap).unwrap()),
            1 => (scheme.rotate_columns(&x, 1).unwrap(), open.rotate_columns(&y, 1).unwrap()),
            2 => (scheme.mul_scalar(&x, -9).unwrap(), open.mul_scalar(&y, -9).unwrap()),
            _ => (scheme.add(&x, &x).unwrap(), open.add(&y, &y).unwrap()),
        };
        assert_eq!(x.meta(), y.meta(), "step {step}");
    }
    assert_eq!(secret.decrypt(&x).unwrap(), open.decrypt(&y).unwrap());
}
