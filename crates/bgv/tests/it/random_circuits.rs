//! Random circuits on the no-op scheme and with cryptography: the same values, the same public
//! data, the same refusals.

use everlevel_bgv::{Ciphertext, Evaluator, SecretKey, ServerKeys};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::spec::{Assumption, SecretKind};
use everlevel_scheme::{
    ExactScheme, Form, NextUse, NoOp, OptIn, Params, ParamsSpec, Plaintext, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// An operation on the ciphertexts so far.
#[derive(Clone, Debug)]
enum Step {
    Add(usize, usize),
    Subtract(usize, usize),
    Multiply(usize, usize, NextUse),
    AddScalar(usize, i64),
    MultiplyScalar(usize, i64),
    Combine(usize, i64, usize, i64),
    Rotate(usize, i64),
    /// p x, divided by p.
    Divide(usize),
    /// x modulo p, multiplied by p.
    Lift(usize),
    Reduce(usize, u32),
}

impl Step {
    fn random(made: usize, t: u64, rng: &mut ChaCha20Rng) -> Step {
        let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
        // The last ones are wanted more often: circuits get deep.
        let mut pick = || if below(2) == 0 { made - 1 } else { below(made) };
        let (x, y) = (pick(), pick());
        let mut scalar = || below(t as usize) as i64 - t as i64 / 2;
        let (k, l) = (scalar(), scalar());
        match below(13) {
            0 | 1 => Step::Add(x, y),
            2 => Step::Subtract(x, y),
            3 | 4 => Step::Multiply(x, y, NextUse::Product),
            5 => Step::Multiply(x, y, NextUse::LinearMap),
            6 => Step::AddScalar(x, k),
            7 => Step::MultiplyScalar(x, k),
            8 => Step::Combine(x, k, y, l),
            9 => Step::Rotate(x, [1, -1, 3][below(3)]),
            10 => Step::Divide(x),
            11 => Step::Lift(x),
            _ => Step::Reduce(x, 1 + below(2) as u32),
        }
    }

    fn apply<S: ExactScheme>(
        &self,
        s: &S,
        made: &[S::Ciphertext],
    ) -> Result<S::Ciphertext, SchemeError> {
        match *self {
            Step::Add(x, y) => s.add(&made[x], &made[y]),
            Step::Subtract(x, y) => s.sub(&made[x], &made[y]),
            Step::Multiply(x, y, next) => s.mul(&made[x], &made[y], next),
            Step::AddScalar(x, k) => s.add_scalar(&made[x], k),
            Step::MultiplyScalar(x, k) => s.mul_scalar(&made[x], k),
            Step::Combine(x, k, y, l) => s.linear_combination(&[(&made[x], k), (&made[y], l)], k),
            Step::Rotate(x, k) => s.rotate_columns(&made[x], k),
            Step::Divide(x) => s.divide_by_p(&s.mul_scalar(&made[x], s.plain_prime() as i64)?),
            Step::Lift(x) => s.multiply_by_p(&s.reduce_plain_modulus(&made[x], 1)?),
            Step::Reduce(x, e) => s.reduce_plain_modulus(&made[x], e),
        }
    }
}

fn params(p: u64, assumption: Assumption, (form, through_bgv): (Form, bool)) -> Params {
    let secret = match assumption {
        Assumption::Rlwe => SecretKind::UniformTernary,
        Assumption::Ntru => SecretKind::TruncatedGaussian,
    };
    let spec = ParamsSpec {
        plain_exponent: 2,
        base_bits: 44,
        words: 6,
        fine_bits: vec![44, 38, 32],
        special: 2,
        digit_size: 2,
        assumption,
        secret,
        form,
        through_bgv,
        ..ParamsSpec::new("insecure_random", 256, p)
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

const INPUTS: usize = 3;
const STEPS: usize = 30;

#[test]
fn random_circuits_agree() {
    let (mut done, mut refused) = (0, 0);
    let forms = [(Form::Bgv, false), (Form::Bfv, false), (Form::Bfv, true)];
    for (assumption, form) in [Assumption::Rlwe, Assumption::Ntru]
        .into_iter()
        .flat_map(|assumption| forms.map(|form| (assumption, form)))
    {
        for p in [257, 127] {
            let params = params(p, assumption, form);
            for seed in 0..8 {
                let mut rng = ChaCha20Rng::seed_from_u64(seed << 32 | p);
                let t = params.plain_modulus();
                let inputs: Vec<Plaintext> = (0..INPUTS)
                    .map(|_| {
                        let values: Vec<u64> =
                            (0..params.slots()).map(|_| rng.next_u64() % t).collect();
                        Plaintext::encode(&params, &values).unwrap()
                    })
                    .collect();

                let dry = NoOp::new(&params, 1);
                let mut foretold: Vec<NoOpCiphertext> =
                    inputs.iter().map(|x| dry.encrypt(x).unwrap()).collect();
                let mut steps = Vec::new();
                for _ in 0..STEPS {
                    let step = Step::random(foretold.len(), t, &mut rng);
                    let outcome = step.apply(&dry, &foretold).map(|x| foretold.push(x));
                    steps.push((step, outcome.map_err(|e| e.to_string())));
                }

                let secret = SecretKey::generate(&params, &mut rng);
                let scheme = Evaluator::new(
                    ServerKeys::generate(&secret, &dry.key_plan(), &mut rng, |_, _| ()).unwrap(),
                );
                let mut made: Vec<Ciphertext> =
                    inputs.iter().map(|x| secret.encrypt(x, &mut rng).unwrap()).collect();
                for (step, outcome) in &steps {
                    let name = format!("p = {p}, {assumption:?}, {form:?}, seed {seed}, {step:?}");
                    match step.apply(&scheme, &made) {
                        Err(e) => assert_eq!(Err(e.to_string()), *outcome, "{name}"),
                        Ok(x) => {
                            assert!(outcome.is_ok(), "{name}: {outcome:?}");
                            let open = &foretold[made.len()];
                            assert_eq!(x.meta(), open.meta(), "{name}");
                            assert_eq!(
                                secret.decrypt(&x).unwrap(),
                                dry.decrypt(open).unwrap(),
                                "{name}"
                            );
                            assert!(
                                secret.measure_noise(&x).unwrap() <= x.noise_bound_bits(),
                                "{name}"
                            );
                            made.push(x);
                        }
                    }
                }
                done += made.len() - INPUTS;
                refused += steps.len() + INPUTS - made.len();
            }
        }
    }
    // Both happen, so that both are compared.
    assert!(done > 1000 && refused > 100, "{done} steps, {refused} refusals");
}
