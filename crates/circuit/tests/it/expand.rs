//! Coefficients of one ciphertext as constants, on the no-op scheme and on BGV and BFV.

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_circuit::{CircuitError, Expansion};
use everlevel_scheme::{
    Arithmetic, ExactScheme, Form, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme,
};
use everlevel_testing::{SplitMix, toy_spec};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::party::party;

fn toy(index: u64, p: u64, r: u32) -> Params {
    Params::new(toy_spec(index, p, r), OptIn::InsecureResearch).unwrap()
}

/// Numbers to be expanded, the largest one among them.
fn numbers(params: &Params, count: usize) -> Vec<u64> {
    let (t, mut rng) = (params.plain_modulus(), SplitMix(count as u64));
    (0..count).map(|j| if j == 1 { t - 1 } else { rng.below(t) }).collect()
}

/// Expands and checks every constant by `open`, which gives all coefficients; the last constant.
fn expanded<S: ExactScheme>(
    scheme: &S,
    expansion: &Expansion,
    x: &S::Ciphertext,
    wanted: &[u64],
    open: impl Fn(&S::Ciphertext) -> Vec<u64>,
) -> S::Ciphertext {
    let (mut order, mut last) = (Vec::new(), None);
    let visited = expansion.expand(scheme, x.clone(), |j, constant| {
        let found = open(&constant);
        assert_eq!(found[0], wanted[j], "number {j} of {}", wanted.len());
        assert!(found[1..].iter().all(|c| *c == 0), "number {j} of {}", wanted.len());
        assert_eq!(scheme.level(&constant), scheme.level(x));
        order.push(j);
        last = Some(constant);
        Ok::<(), CircuitError>(())
    });
    visited.unwrap();
    assert_eq!(order, expansion.order());
    let mut places = order;
    places.sort_unstable();
    assert!(places.into_iter().eq(0..wanted.len()));
    last.unwrap()
}

/// Every number of numbers in rings of 16 and 32 coefficients, with slots of any degree and prime
/// powers; some numbers in a larger ring.
#[test]
fn each_coefficient_becomes_a_constant() {
    let rings = [(32, 97, 1), (32, 7, 2), (32, 31, 1), (64, 193, 1), (64, 3, 3)];
    let small = rings.map(|ring| (ring, (1..=ring.0 as usize / 2).collect::<Vec<_>>()));
    let large = ((4096, 65537, 1), vec![1, 2, 3, 127, 128, 200]);
    for ((index, p, r), counts) in small.into_iter().chain([large]) {
        let params = toy(index, p, r);
        for count in counts {
            let scheme = NoOp::new(&params, 1);
            let expansion = Expansion::new(params.slot_shape(), count).unwrap();
            let values = numbers(&params, count);
            let x = scheme.encrypt(&expansion.encode(&params, &values).unwrap()).unwrap();
            expanded(&scheme, &expansion, &x, &values, |x| {
                scheme.decrypt(x).unwrap().coefficients().to_vec()
            });
            assert_eq!(scheme.cost().key_switches as usize, expansion.key_switches());
            assert_eq!(expansion.key_switches() + 1, count.next_power_of_two());
            let used = scheme.key_plan();
            let known = |g: &_| expansion.galois_elements().contains(g);
            assert!(used.galois.keys().all(|(g, _)| known(g)));
            assert_eq!(used.len(), expansion.galois_elements().len());
        }
    }
}

/// The noise of every constant is below its bound, and the bound is the one that the rehearsal
/// foretells, not more than some bits away.
#[test]
fn bounds_hold_on_bgv_and_bfv() {
    for form in [Form::Bgv, Form::Bfv] {
        let spec = ParamsSpec { form, ..toy_spec(512, 257, 1) };
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        for count in [1, 2, 13, 64, 256] {
            let expansion = Expansion::new(params.slot_shape(), count).unwrap();
            let values = numbers(&params, count);
            let plain = expansion.encode(&params, &values).unwrap();
            let dry = NoOp::blank(&params);
            let mut foretold = None;
            let visited = expansion.expand(&dry, dry.encrypt(&plain).unwrap(), |_, x| {
                foretold = Some(x);
                Ok::<(), CircuitError>(())
            });
            visited.unwrap();
            let mut rng = ChaCha20Rng::seed_from_u64(count as u64);
            let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
            let x = secret.encrypt(&plain, &mut rng).unwrap();
            let last = expanded(&scheme, &expansion, &x, &values, |x| {
                let (noise, bound) = (secret.measure_noise(x).unwrap(), scheme.noise_bound_bits(x));
                assert!(noise <= bound && bound <= noise + 10.0, "{noise} {bound}");
                secret.decrypt(x).unwrap().coefficients().to_vec()
            });
            assert_eq!(scheme.noise_bound_bits(&last), dry.noise_bound_bits(&foretold.unwrap()));
        }
    }
}

/// Transforms are those that the rehearsal foretells, and powers of X that several products share
/// are transformed once.
#[test]
fn transforms_are_foretold_and_shared() {
    let params = toy(512, 257, 1);
    let expansion = Expansion::new(params.slot_shape(), 128).unwrap();
    let plain = expansion.encode(&params, &numbers(&params, 128)).unwrap();
    let dry = NoOp::blank(&params);
    let x = dry.encrypt(&plain).unwrap();
    expansion.expand(&dry, x.clone(), |_, _| Ok::<(), CircuitError>(())).unwrap();
    let foretold = dry.cost().transforms;
    let primes = params.chain().basis(params.chain().top()).len() as u64;
    dry.mul_monomials(&[(&x, 3), (&x, 5), (&x, 3)]).unwrap();
    assert_eq!(dry.cost().transforms - foretold, 2 * primes);

    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let secret = SecretKey::generate(&params, &mut rng);
    let keys = ServerKeys::generate(&secret, &dry.key_plan(), &mut rng, |_, _| ()).unwrap();
    let scheme = Evaluator::new(keys);
    let x = secret.encrypt(&plain, &mut rng).unwrap();
    let before = scheme.cost();
    expansion.expand(&scheme, x.clone(), |_, _| Ok::<(), CircuitError>(())).unwrap();
    assert_eq!((scheme.cost() - before).transforms, foretold);
    let before = scheme.cost();
    let together = scheme.mul_monomials(&[(&x, 3), (&x, 5), (&x, 3)]).unwrap();
    assert_eq!((scheme.cost() - before).transforms, 2 * primes);
    let open = |x: &_| secret.decrypt(x).unwrap();
    for (found, k) in together.iter().zip([3, 5, 3]) {
        assert_eq!(open(found), open(&scheme.mul_monomial(&x, k).unwrap()));
    }
}

#[test]
fn what_cannot_be_expanded() {
    let params = toy(64, 257, 1);
    let shape = params.slot_shape();
    assert_eq!(Expansion::new(shape, 0), None);
    assert_eq!(Expansion::new(shape, 33), None);
    assert_eq!(Expansion::new(shape, usize::MAX), None);
    let odd = Params::named("insecure_bgv-2-m15709", OptIn::InsecureResearch).unwrap();
    assert_eq!(Expansion::new(odd.slot_shape(), 2), None);
    let expansion = Expansion::new(shape, 5).unwrap();
    let wrong = |values: &[u64]| expansion.encode(&params, values).unwrap_err().code();
    assert_eq!(wrong(&[0; 4]), "circuit.input-count");
    assert_eq!(wrong(&[0; 6]), "circuit.input-count");
    assert_eq!(wrong(&[0, 1, 2, 3, 257]), "scheme.bad-argument");
    // For a ring with more coefficients, and for one with too few.
    let larger = toy(128, 257, 1);
    let most = Expansion::new(larger.slot_shape(), 64).unwrap();
    for found in [expansion.encode(&larger, &[1; 5]), most.encode(&params, &[1; 64])] {
        assert_eq!(found.unwrap_err().code(), "scheme.wrong-params");
    }
    // Without keys, and a visitor that has had enough.
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let secret = SecretKey::generate(&params, &mut rng);
    let scheme = Evaluator::new(ServerKeys::empty(&params));
    let plain: Plaintext = expansion.encode(&params, &[1, 2, 3, 4, 5]).unwrap();
    let x = secret.encrypt(&plain, &mut rng).unwrap();
    let missing = expansion.expand(&scheme, x, |_, _| Ok::<(), CircuitError>(())).unwrap_err();
    assert_eq!(missing.code(), "scheme.missing-key");
    let dry = NoOp::new(&params, 1);
    let enough = CircuitError::Empty { what: "this test" };
    let mut visits = 0;
    let ended = expansion.expand(&dry, dry.encrypt(&plain).unwrap(), |_, _| {
        visits += 1;
        if visits == 2 { Err(enough.clone()) } else { Ok(()) }
    });
    assert_eq!((ended, visits), (Err(enough), 2));
}
