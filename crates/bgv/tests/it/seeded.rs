//! Products with ciphertexts that keep their seeds.

use std::sync::Arc;

use everlevel_bgv::{
    Ciphertext, Evaluator, Product, SecretKey, SeededCiphertext, ServerKeys, StoredCiphertext,
};
use everlevel_ring::cpu::{SharedBytes, fingerprint, limbs};
use everlevel_scheme::{Arithmetic, Level, OptIn, Params, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

struct Fixture {
    params: Params,
    secret: SecretKey,
    server: Evaluator,
    rng: ChaCha20Rng,
}

impl Fixture {
    fn new(name: &str) -> Self {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        let secret = SecretKey::generate(&params, &mut rng);
        let server = Evaluator::new(ServerKeys::empty(&params));
        Fixture { params, secret, server, rng }
    }

    fn encrypt(&mut self, k: u64, level: Level) -> Ciphertext {
        let t = self.params.plain_modulus();
        let coefficients = (0..self.params.degree() as u64).map(|i| (i * i + k) % t).collect();
        let exponent = self.params.plain_exponent();
        let message = Plaintext::from_coefficients(&self.params, coefficients, exponent).unwrap();
        self.secret.encrypt_at(&message, level, &mut self.rng).unwrap()
    }
}

fn seeded(x: &Ciphertext) -> SeededCiphertext {
    SeededCiphertext::of(x).unwrap()
}

/// Where the bytes of [`stored`] begin.
const START: usize = 3;

/// c0 with as many bits for each residue as its prime has.
fn stored_bytes(params: &Params, x: &SeededCiphertext) -> Vec<u8> {
    let mut bytes = vec![0xa5; START];
    for (i, limb) in x.body().basis().iter().zip(limbs(x.body())) {
        let width = params.ring().modulus(i).bits() as usize;
        let mut packed = vec![0; (width * limb.len()).div_ceil(8)];
        for (k, residue) in limb.iter().enumerate() {
            for bit in 0..width {
                let place = k * width + bit;
                packed[place / 8] |= ((residue >> bit & 1) as u8) << (place % 8);
            }
        }
        bytes.extend(packed);
    }
    bytes
}

fn stored(params: &Params, x: &SeededCiphertext) -> StoredCiphertext {
    let bytes: SharedBytes = Arc::new(stored_bytes(params, x));
    StoredCiphertext::from_parts(params, *x.meta(), (bytes, START), *x.seed()).unwrap()
}

/// Of one pair and of several, several sums at once, at two levels, in BFV's form, for a power of
/// two and for an odd index; with c0 as words, and as files have it.
#[test]
fn sums_with_seeds_are_those_of_expanded_ciphertexts() {
    for name in ["insecure_bgv-257-n8", "insecure_bfv-257-n8", "insecure_aes-m4947"] {
        let mut f = Fixture::new(name);
        let top = f.params.chain().top();
        let xs: Vec<_> = (0..3).map(|k| f.encrypt(k, top)).collect();
        let mut ys: Vec<_> = (3..6).map(|k| f.encrypt(k, top)).collect();
        ys.push(f.encrypt(6, Level(top.0 - 1)));
        let seeds: Vec<_> = ys.iter().map(seeded).collect();
        let files: Vec<_> = seeds.iter().map(|y| stored(&f.params, y)).collect();
        let (xs, ys, seeds, files) = (&xs[..], &ys[..], &seeds[..], &files[..]);
        let lists: [&[(usize, usize)]; 4] =
            [&[(0, 0), (1, 1), (2, 2)], &[(1, 0)], &[(0, 2), (0, 1)], &[(0, 0), (1, 3)]];
        for lists in [&lists[..0], &lists[..3], &lists[..]] {
            let whole = lists.iter().map(|list| list.iter().map(move |&(i, j)| (&xs[i], &ys[j])));
            let whole: Vec<Vec<_>> = whole.map(Iterator::collect).collect();
            let kept = lists.iter().map(|list| list.iter().map(move |&(i, j)| (&xs[i], &seeds[j])));
            let kept: Vec<Vec<_>> = kept.map(Iterator::collect).collect();
            let read = lists.iter().map(|list| list.iter().map(move |&(i, j)| (&xs[i], &files[j])));
            let read: Vec<Vec<_>> = read.map(Iterator::collect).collect();
            let whole: Vec<_> = whole.iter().map(Vec::as_slice).collect();
            let kept: Vec<_> = kept.iter().map(Vec::as_slice).collect();
            let read: Vec<_> = read.iter().map(Vec::as_slice).collect();
            let seen = |x: Product| (*x.meta(), fingerprint(&x.components(f.params.cpu())));
            let wanted: Vec<_> =
                f.server.sums_of_products(&whole).unwrap().into_iter().map(seen).collect();
            let found = f.server.sums_of_seeded_products(&kept).unwrap();
            assert!(found.into_iter().map(seen).eq(wanted.iter().copied()), "{name}");
            let found = f.server.sums_of_stored_products(&read).unwrap();
            assert!(found.into_iter().map(seen).eq(wanted.iter().copied()), "{name}");
        }
    }
}

#[test]
fn what_is_stored_comes_back() {
    for name in ["insecure_bgv-257-n8", "insecure_aes-m4947"] {
        let mut f = Fixture::new(name);
        let top = f.params.chain().top();
        for level in [Level(top.0 - 1), top] {
            let x = f.encrypt(1, level);
            let (y, bytes) = (stored(&f.params, &seeded(&x)), stored_bytes(&f.params, &seeded(&x)));
            assert_eq!((y.meta(), y.seed()), (x.meta(), x.seed().unwrap()));
            assert_eq!(y.body().bytes(), &bytes[START..]);
            let back = y.unpacked(&f.params).unwrap().expanded(&f.params).unwrap();
            assert_eq!(back.fingerprint(), x.fingerprint());
            // A byte less than there has to be.
            let less: SharedBytes = Arc::new(bytes[..bytes.len() - 1].to_vec());
            let parts = (less, START);
            let refused = StoredCiphertext::from_parts(&f.params, *y.meta(), parts, *y.seed());
            assert_eq!(refused.err().unwrap().code(), "scheme.bad-argument");
        }
    }
    // Those of other parameters, and over NTRU, whose ciphertexts have no seed.
    let mut f = Fixture::new("insecure_bgv-257-n8");
    let x = f.encrypt(1, Level(1));
    let y = stored(&f.params, &seeded(&x));
    let params = &Fixture::new("insecure_bgv-65537-n11").params;
    assert_eq!(y.unpacked(params).err().unwrap().code(), "scheme.wrong-params");
    let mut f = Fixture::new("insecure_ltv-257-n8");
    let top = f.params.chain().top();
    let (meta, bytes): (_, SharedBytes) = (*f.encrypt(1, top).meta(), Arc::new(vec![0u8; 1 << 16]));
    let refused = StoredCiphertext::from_parts(&f.params, meta, (bytes, 0), *y.seed());
    assert_eq!(refused.err().unwrap().code(), "scheme.bad-argument");
}

#[test]
fn sums_with_seeds_refuse_what_sums_refuse() {
    let mut f = Fixture::new("insecure_bgv-257-n8");
    let top = f.params.chain().top();
    let (x, y) = (f.encrypt(1, top), f.encrypt(2, top));
    let code = |found: Result<Vec<Product>, SchemeError>| found.unwrap_err().code();
    let kept = seeded(&y);
    let good = [(&x, &kept)];
    assert_eq!(code(f.server.sums_of_seeded_products(&[&good, &[]])), "scheme.bad-argument");
    let stranger = SecretKey::generate(&f.params, &mut f.rng);
    let message = Plaintext::encode(&f.params, &[1]).unwrap();
    let strange = seeded(&stranger.encrypt(&message, &mut f.rng).unwrap());
    let refused = f.server.sums_of_seeded_products(&[&[(&x, &strange)]]);
    assert_eq!(code(refused), "scheme.wrong-key");
    let mut other = Fixture::new("insecure_bgv-65537-n11");
    let foreign = seeded(&other.encrypt(1, Level(2)));
    let refused = f.server.sums_of_seeded_products(&[&[(&x, &foreign)]]);
    assert_eq!(code(refused), "scheme.wrong-params");
    let (strange, foreign) = (stored(&f.params, &strange), stored(&other.params, &foreign));
    let refused = f.server.sums_of_stored_products(&[&[(&x, &strange)]]);
    assert_eq!(code(refused), "scheme.wrong-key");
    let refused = f.server.sums_of_stored_products(&[&[(&x, &foreign)]]);
    assert_eq!(code(refused), "scheme.wrong-params");
    // Results of operations have no seed, and NTRU has none.
    assert!(SeededCiphertext::of(&f.server.add(&x, &y).unwrap()).is_none());
    let mut f = Fixture::new("insecure_ltv-257-n8");
    let top = f.params.chain().top();
    assert!(SeededCiphertext::of(&f.encrypt(1, top)).is_none());
}

/// The same ciphertext as with a generator that draws this seed, and none over NTRU.
#[test]
fn encryptions_with_a_given_seed() {
    let mut f = Fixture::new("insecure_bgv-257-n8");
    let message = Plaintext::encode(&f.params, &[3, 1, 4]).unwrap();
    for level in [Level(1), f.params.chain().top()] {
        let mut same = f.rng.clone();
        let drawn = f.secret.encrypt_at(&message, level, &mut f.rng).unwrap();
        let seed = *drawn.seed().unwrap();
        let given = f.secret.encrypt_with_seed(&message, level, seed, &mut same).unwrap();
        assert_eq!(given.fingerprint(), drawn.fingerprint());
        assert_eq!((given.seed(), given.meta()), (Some(&seed), drawn.meta()));
        let other = f.secret.encrypt_with_seed(&message, level, [7; 32], &mut f.rng).unwrap();
        assert_eq!(other.seed(), Some(&[7; 32]));
        assert_ne!(other.fingerprint(), drawn.fingerprint());
        assert_eq!(f.secret.decrypt(&other).unwrap(), message);
    }
    let above = Level(f.params.chain().top().0 + 1);
    let refused = f.secret.encrypt_with_seed(&message, above, [7; 32], &mut f.rng);
    assert_eq!(refused.unwrap_err().code(), "scheme.bad-level");
    let mut f = Fixture::new("insecure_ltv-257-n8");
    let (message, top) = (Plaintext::encode(&f.params, &[1]).unwrap(), f.params.chain().top());
    let refused = f.secret.encrypt_with_seed(&message, top, [7; 32], &mut f.rng);
    assert_eq!(refused.unwrap_err().code(), "scheme.bad-argument");
}
