//! The laws of everlevel-testing, for each scheme.

use std::cell::RefCell;

use everlevel::lab::{Evaluator, NoOp, ServerEvaluator};
use everlevel::{Form, KeyPlan, Keys, OptIn, Params, Plaintext, SecretKey, ServerKeys};
use everlevel_scheme::spec::{Assumption, ParamsSpec, SecretKind};
use everlevel_testing::Subject;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Two rows of slots and one row; BGV and BFV; over NTRU LTV and YASHE′.
const SETS: [&str; 9] = [
    "insecure_bgv-257-n8",
    "insecure_bgv-65537-n11",
    "insecure_bgv-786433-n11",
    "insecure_bgv-127-n8",
    "insecure_bfv-257-n8",
    "insecure_bfv-65537-n11",
    "insecure_bfv-127e2-n8",
    "insecure_ltv-257-n8",
    "insecure_yashe-257-n8",
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
            encrypt: &|values| {
                scheme.encrypt(&Plaintext::encode(&params, values).unwrap()).unwrap()
            },
            decrypt: &|x| scheme.decrypt(x).unwrap().decode(&params).unwrap(),
            rotations: &STEPS,
            exponent: params.plain_exponent(),
            seed: 1,
        }
        .check_all();
    }
}

/// Checks the evaluator with these keys; whatever is decrypted has its noise measured against its
/// bound.
fn with_cryptography(
    params: &Params,
    plan: &KeyPlan,
    rotations: &[i64],
    check: impl FnOnce(&Subject<'_, ServerEvaluator>),
) {
    let rng = RefCell::new(ChaCha20Rng::seed_from_u64(2));
    let secret = SecretKey::generate(params, &mut *rng.borrow_mut());
    let keys = ServerKeys::generate(&secret, plan, &mut *rng.borrow_mut(), |_, _| ()).unwrap();
    // With the keys of a server, for which the library has the evaluator compiled.
    let scheme = Evaluator::new(Keys::from(keys));
    check(&Subject {
        scheme: &scheme,
        encrypt: &|values| {
            secret
                .encrypt(&Plaintext::encode(params, values).unwrap(), &mut *rng.borrow_mut())
                .unwrap()
        },
        decrypt: &|x| {
            let (measured, bound) = (secret.measure_noise(x).unwrap(), x.noise_bound_bits());
            assert!(
                measured <= bound,
                "{}: measured noise 2^{measured:.2} above its bound 2^{bound:.2}",
                params.name()
            );
            secret.decrypt(x).unwrap().decode(params).unwrap()
        },
        rotations,
        exponent: params.plain_exponent(),
        seed: 3,
    });
}

#[test]
fn with_cryptography_over_powers_of_two() {
    for name in SETS {
        let params = set(name);
        let plan = KeyPlan::relinearization(&params)
            .merge(&KeyPlan::column_rotations(&params, STEPS))
            .merge(&KeyPlan::row_swap(&params));
        with_cryptography(&params, &plan, &STEPS, |subject| {
            subject.check_all();
            subject.missing_key(5);
        });
    }
}

/// (m, p, r): two primes with p = 2; two and three primes; a prime; a square factor; last
/// dimensions that are bad; powers of two times odd numbers; several axes that carry Frobenius.
const ODD: [(u64, u64, u32); 15] = [
    (7 * 73, 2, 3),
    (7 * 43, 127, 1),
    (3 * 5 * 29, 17, 2),
    (137, 127, 1),
    (9 * 29, 17, 1),
    (7 * 37, 8191, 1),
    (11 * 61, 3, 4),
    (3 * 331, 65537, 1),
    (4 * 37, 31, 2),
    (8 * 41, 3, 4),
    (16 * 17, 127, 1),
    (4 * 3 * 29, 17, 1),
    (5 * 7 * 9, 2, 2),
    (17 * 27, 19, 1),
    (4 * 3 * 5 * 7, 11, 1),
];

/// The same over NTRU: the slots of GF(2^8), and a power of 2.
const ODD_NTRU: [(u64, u64, u32); 2] = [(3 * 5 * 17, 2, 1), (7 * 73, 2, 3)];

fn odd_set(
    (index, plain_prime, plain_exponent): (u64, u64, u32),
    assumption: Assumption,
    form: Form,
) -> Params {
    // Room for several products at every plaintext modulus here; over NTRU they take more.
    let (secret, words) = match assumption {
        Assumption::Rlwe => (SecretKind::UniformTernary, 5),
        Assumption::Ntru => (SecretKind::TruncatedGaussian, 9),
    };
    let spec = ParamsSpec {
        name: format!("insecure_{plain_prime}-m{index}"),
        index,
        plain_prime,
        plain_exponent,
        extended_exponent: 0,
        words,
        bootstrap: None,
        assumption,
        secret,
        form,
        ..everlevel_scheme::params::spec("insecure_bgv-257-n8").unwrap()
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// Rotations by 1 and by -2 along every good dimension.
fn odd_steps(params: &Params) -> Vec<(usize, i64)> {
    let dimensions =
        params.slot_shape().dimensions().iter().enumerate().filter(|(_, d)| d.good && d.size > 1);
    dimensions.flat_map(|(i, _)| [(i, 1), (i, -2)]).collect()
}

#[test]
fn rings_of_odd_index() {
    let rows = ODD
        .map(|row| (row, Assumption::Rlwe))
        .into_iter()
        .chain(ODD_NTRU.map(|row| (row, Assumption::Ntru)));
    for params in rows.flat_map(|(row, assumption)| {
        [Form::Bgv, Form::Bfv].map(|form| odd_set(row, assumption, form))
    }) {
        let open = NoOp::new(&params, 1);
        let steps = odd_steps(&params);
        let subject = Subject {
            scheme: &open,
            encrypt: &|values| open.encrypt(&Plaintext::encode(&params, values).unwrap()).unwrap(),
            decrypt: &|x| open.decrypt(x).unwrap().decode(&params).unwrap(),
            rotations: &[],
            exponent: params.plain_exponent(),
            seed: 1,
        };
        subject.check_slotwise();
        subject.dimension_laws(&steps);

        let mut plan = KeyPlan::relinearization(&params);
        let (shape, top) = (params.slot_shape(), params.chain().top());
        steps.iter().for_each(|&(dimension, k)| {
            plan.add_galois(&params, shape.rotation_along(dimension, k), top)
        });
        plan.add_galois(&params, shape.frobenius(), top);
        with_cryptography(&params, &plan, &[], |subject| {
            subject.check_slotwise();
            subject.dimension_laws(&steps);
        });
    }
}

/// Both schemes carry the same public data through the same circuit.
#[test]
fn the_no_op_scheme_predicts_levels_and_noise() {
    use everlevel::NextUse;
    use everlevel::lab::{Arithmetic, Automorphisms};
    let params = set(SETS[1]);
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let secret = SecretKey::generate(&params, &mut rng);
    let plan = KeyPlan::relinearization(&params).merge(&KeyPlan::column_rotations(&params, STEPS));
    let keys = ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap();
    let scheme = Evaluator::new(Keys::from(keys));
    let open = NoOp::new(&params, 0);
    let plain = Plaintext::encode(&params, &[3, 1, 4, 1, 5]).unwrap();
    let (mut x, mut y) = (secret.encrypt(&plain, &mut rng).unwrap(), open.encrypt(&plain).unwrap());
    for step in 0..12 {
        (x, y) = match step % 4 {
            0 => (
                scheme.mul(&x, &x, NextUse::LinearMap).unwrap(),
                open.mul(&y, &y, NextUse::LinearMap).unwrap(),
            ),
            1 => (scheme.rotate_columns(&x, 1).unwrap(), open.rotate_columns(&y, 1).unwrap()),
            2 => (scheme.mul_scalar(&x, -9).unwrap(), open.mul_scalar(&y, -9).unwrap()),
            _ => (scheme.add(&x, &x).unwrap(), open.add(&y, &y).unwrap()),
        };
        assert_eq!(x.meta(), y.meta(), "step {step}");
    }
    assert_eq!(secret.decrypt(&x).unwrap(), open.decrypt(&y).unwrap());
}
