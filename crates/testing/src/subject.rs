//! The scheme under test.

use everlevel_scheme::ExactScheme;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// A scheme with the means to look into its ciphertexts.
pub struct Subject<'a, S: ExactScheme> {
    /// The scheme.
    pub scheme: &'a S,
    /// Encrypts one value a slot, at the highest level.
    pub encrypt: &'a dyn Fn(&[u64]) -> S::Ciphertext,
    /// Decrypts; checks whatever else can be checked with the key, such as noise bounds.
    pub decrypt: &'a dyn Fn(&S::Ciphertext) -> Vec<u64>,
    /// The column rotations for which there are keys. The keys for sums of two of them are not
    /// needed.
    pub rotations: &'a [i64],
    /// The exponent r of the plaintext modulus p^r.
    pub exponent: u32,
    /// The seed of all values.
    pub seed: u64,
}

impl<S: ExactScheme> Subject<'_, S> {
    /// All suites for slots in rows and columns: rings of power-of-two index.
    pub fn check_all(&self) {
        self.check_slotwise();
        self.rotation_laws();
        self.hoisting();
    }

    /// The suites that need no automorphism.
    pub fn check_slotwise(&self) {
        self.ring_axioms();
        self.scalars();
        self.plaintexts();
        self.products_are_lazy();
        self.refusal();
    }

    /// The plaintext modulus.
    pub fn modulus(&self) -> u64 {
        self.scheme.slot_shape().plain_modulus(self.exponent)
    }

    /// The vectors of a suite: random ones, with the extremes of the range in their first slots.
    pub fn vectors(&self, suite: u64, count: usize) -> Vec<Vec<u64>> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed ^ suite << 32);
        let t = self.modulus();
        let extremes = [0, 1, t - 1, t / 2, t / 2 + 1];
        (0..count)
            .map(|k| {
                let mut v: Vec<u64> =
                    (0..self.scheme.slot_shape().slots()).map(|_| rng.next_u64() % t).collect();
                extremes
                    .iter()
                    .cycle()
                    .skip(k)
                    .zip(&mut v)
                    .take(25)
                    .for_each(|(x, slot)| *slot = *x % t);
                v
            })
            .collect()
    }

    /// Slot by slot.
    pub(crate) fn zip(&self, x: &[u64], y: &[u64], f: impl Fn(u128, u128) -> u128) -> Vec<u64> {
        let t = u128::from(self.modulus());
        x.iter().zip(y).map(|(&x, &y)| (f(u128::from(x), u128::from(y)) % t) as u64).collect()
    }

    pub(crate) fn expect(&self, law: &str, found: &S::Ciphertext, expected: &[u64]) {
        let found = (self.decrypt)(found);
        let wrong = found.iter().zip(expected).position(|(a, b)| a != b);
        if let Some(i) = wrong {
            panic!("{law}: slot {i} holds {} instead of {}", found[i], expected[i]);
        }
        assert_eq!(found.len(), expected.len(), "{law}: number of slots");
    }

    pub(crate) fn same(&self, law: &str, left: &S::Ciphertext, right: &S::Ciphertext) {
        self.expect(law, left, &(self.decrypt)(right));
    }
}
