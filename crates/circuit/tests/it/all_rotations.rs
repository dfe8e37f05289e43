//! All rotations of a ciphertext, on the no-op scheme and on BGV.

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_circuit::{AllRotations, CircuitError};
use everlevel_scheme::{ExactScheme, NoOp, OptIn, Params, Plaintext, Scheme};
use everlevel_testing::{SplitMix, toy_spec};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::party::party;

fn toy(index: u64, p: u64) -> Params {
    Params::new(toy_spec(index, p, 1), OptIn::InsecureResearch).unwrap()
}

fn values(params: &Params) -> Vec<u64> {
    let mut rng = SplitMix(params.slots() as u64);
    (0..params.slots()).map(|_| rng.below(params.plain_modulus())).collect()
}

/// Rotates and checks every rotation by `open`, which gives all slots; the last one.
fn rotated<S: ExactScheme>(
    scheme: &S,
    rotations: &AllRotations,
    x: &S::Ciphertext,
    values: &[u64],
    open: impl Fn(&S::Ciphertext) -> Vec<u64>,
) -> S::Ciphertext {
    let columns = scheme.slot_shape().columns();
    let (mut next, mut last) = (0, None);
    let visited = rotations.rotate(scheme, x.clone(), |k, rotated| {
        assert_eq!(k, next);
        let rows = values.chunks(columns);
        let wanted = rows.flat_map(|row| row.iter().cycle().skip(k).take(columns).copied());
        assert!(open(&rotated).into_iter().eq(wanted), "by {k} of {}", rotations.count());
        assert_eq!(scheme.level(&rotated), scheme.level(x));
        (next, last) = (k + 1, Some(rotated));
        Ok::<(), CircuitError>(())
    });
    visited.unwrap();
    assert_eq!(next, rotations.count());
    last.unwrap()
}

/// Every number of rotations in rings with one and with two rows of slots.
#[test]
fn each_rotation_comes_once_and_in_order() {
    for (index, p) in [(64, 193), (64, 31), (256, 257), (4096, 65537)] {
        let params = toy(index, p);
        let (shape, values) = (params.slot_shape(), values(&params));
        let mut count = 1;
        while let Some(rotations) = AllRotations::new(shape, count) {
            let scheme = NoOp::new(&params, 1);
            let x = scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap();
            rotated(&scheme, &rotations, &x, &values, |x| {
                scheme.decrypt(x).unwrap().decode(&params).unwrap()
            });
            let (cost, keys) = (scheme.cost(), scheme.key_plan());
            assert_eq!(cost.key_switches as usize, rotations.key_switches());
            let steps = rotations.steps();
            let known = |g: &_| steps.iter().any(|step| shape.rotation(*step) == *g);
            assert!(keys.galois.keys().all(|(g, _)| known(g)));
            assert_eq!(keys.len(), steps.len());
            count *= 2;
        }
        assert_eq!(count, 2 * shape.columns(), "{index} {p}");
    }
    let counts = [1, 2, 8, 16, 32, 256, 512].map(|count| {
        let rotations = AllRotations::new(toy(4096, 65537).slot_shape(), count).unwrap();
        (rotations.steps().len(), rotations.decompositions())
    });
    assert_eq!(counts, [(0, 0), (1, 1), (7, 1), (8, 3), (10, 5), (17, 37), (21, 73)]);
}

/// The noise of every rotation is below its bound, which is the one that the rehearsal foretells,
/// as are the transforms.
#[test]
fn bounds_hold_and_transforms_are_foretold() {
    let params = toy(512, 7681);
    let (shape, values) = (params.slot_shape(), values(&params));
    let plain = Plaintext::encode(&params, &values).unwrap();
    for count in [1, 4, 32, 64] {
        let rotations = AllRotations::new(shape, count).unwrap();
        let dry = NoOp::blank(&params);
        let mut foretold = None;
        let visited = rotations.rotate(&dry, dry.encrypt(&plain).unwrap(), |_, x| {
            foretold = Some(x);
            Ok::<(), CircuitError>(())
        });
        visited.unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(count as u64);
        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let x = secret.encrypt(&plain, &mut rng).unwrap();
        let before = scheme.cost();
        rotations.rotate(&scheme, x.clone(), |_, _| Ok::<(), CircuitError>(())).unwrap();
        // Decryption would count, too.
        assert_eq!((scheme.cost() - before).transforms, dry.cost().transforms);
        let last = rotated(&scheme, &rotations, &x, &values, |x| {
            let (noise, bound) = (secret.measure_noise(x).unwrap(), scheme.noise_bound_bits(x));
            assert!(noise <= bound && bound <= noise + 12.0, "{noise} {bound}");
            secret.decrypt(x).unwrap().decode(&params).unwrap()
        });
        assert_eq!(scheme.noise_bound_bits(&last), dry.noise_bound_bits(&foretold.unwrap()));
    }
}

#[test]
fn what_cannot_be_rotated() {
    let params = toy(64, 193);
    let shape = params.slot_shape();
    for count in [0, 3, 12, 2 * shape.columns(), usize::MAX] {
        assert_eq!(AllRotations::new(shape, count), None, "{count}");
    }
    let odd = Params::named("insecure_bgv-2-m15709", OptIn::InsecureResearch).unwrap();
    assert_eq!(AllRotations::new(odd.slot_shape(), 2), None);
    // Without keys, and a visitor that has had enough.
    let rotations = AllRotations::new(shape, 8).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let secret = SecretKey::generate(&params, &mut rng);
    let scheme = Evaluator::new(ServerKeys::empty(&params));
    let plain = Plaintext::encode(&params, &[1, 2, 3]).unwrap();
    let x = secret.encrypt(&plain, &mut rng).unwrap();
    let missing = rotations.rotate(&scheme, x, |_, _| Ok::<(), CircuitError>(())).unwrap_err();
    assert_eq!(missing.code(), "scheme.missing-key");
    let dry = NoOp::new(&params, 1);
    let enough = CircuitError::Empty { what: "this test" };
    let mut visits = 0;
    let ended = rotations.rotate(&dry, dry.encrypt(&plain).unwrap(), |_, _| {
        visits += 1;
        if visits == 2 { Err(enough.clone()) } else { Ok(()) }
    });
    assert_eq!((ended, visits), (Err(enough), 2));
}
