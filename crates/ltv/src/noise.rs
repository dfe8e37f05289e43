//! Noise in the average case: equation (4) of Doröz–Hu–Sunar with its constants.
//!
//! **Measure.** A ciphertext carries log2 of R, the root mean square over the complex embeddings of
//! its phase w, an integer polynomial. For a polynomial with independent coefficients of deviation
//! σ, R = σ √n in every ring, since powers of X are the basis. Sums obey the triangle inequality,
//! so that equal or dependent operands are covered. For a product R_ab <= √2 R_a R_b where the
//! embeddings are normal, as sums of many are: by the inequality of Cauchy and Schwarz and their
//! fourth moments. It is the paper's √n B_a B_b for coefficients.
//!
//! **Fresh randomness.** What switching the modulus rounds away is r/p^j below 1, of variance 1/3:
//! R = √(n/3) R_f, the *floor*, which replaces (4)'s omitted term √n (2B + 1). Digits of key
//! switching are uniform and meet errors 2 (g s + f e) drawn once. A fresh ciphertext has 2 (g s +
//! f e) + f m.
//!
//! **Coefficients.** A coefficient has deviation R √(c/n), c being
//! [`everlevel_ring::Ring::overlap`]: on an axis of odd prime l the Gram matrix of the powers has
//! the eigenvalue 1 where all the others are l, which doubles the mean of the inverses. An
//! operation is refused when α = 8 deviations pass q/2: a coefficient would be wrong with
//! probability erfc(α/√2) = 2^-49.5 if it were normal, a ciphertext of n = 2^15 with 2^-34.5.
//!
//! This is an average: products of products have heavier tails than normal ones until rounding has
//! replaced them, which is what α is for, and why a row is dropped after every product. The paper's
//! worst case, recursions (2) and (3), is in [`crate::analysis`].

use everlevel_ring::sample;
use everlevel_scheme::noise::log_add;

use crate::adic::AdicRing;
use crate::gadget::Gadget;

/// α: the number of standard deviations of a coefficient that must stay below half the modulus.
pub const MARGIN: f64 = 8.0;
/// How far above its expectation the norm of u, g or an error in a key may lie; it is drawn again
/// otherwise.
pub(crate) const KEY_SLACK: f64 = 1.25;

/// The average case for one set; all values are log2 of R, see the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct AverageCase {
    prime_bits: f64,
    /// What takes R to α deviations of a coefficient.
    coefficient: f64,
    chi: f64,
    f: f64,
    fresh: f64,
    floor: f64,
    /// The noise of one digit of key switching, before the division by the special modulus.
    digit: f64,
    special: f64,
}

impl AverageCase {
    pub(crate) fn new(ring: &AdicRing, gadget: Gadget) -> Self {
        let n = (ring.ring().degree() as f64).log2();
        let prime_bits = (ring.prime() as f64).log2();
        let overlap = (ring.ring().overlap() as f64).log2();
        let drawn = (n + sample::GAUSSIAN_VARIANCE.log2()) / 2.0;
        let chi = drawn + KEY_SLACK.log2();
        let f = log_add(chi + 1.0, 0.0);
        // The Gram matrix of the powers has no eigenvalue above m.
        let message = (ring.ring().index() as f64).log2() / 2.0;
        let fresh = log_add(1.0 + chi + drawn, f + log_add(1.0 + drawn, message));
        let key_error = 1.0 + log_add(chi + chi, f + chi);
        let (size, variance, special) = match gadget {
            Gadget::Windows { bits } => (f64::from(bits), 3.0f64, 0.0),
            Gadget::Hybrid { rows } => (rows as f64 * prime_bits, 12.0, rows as f64 * prime_bits),
        };
        AverageCase {
            prime_bits,
            coefficient: MARGIN.log2() + (overlap - n) / 2.0,
            chi,
            f,
            fresh,
            floor: (n - 3f64.log2()) / 2.0 + f,
            digit: (n - variance.log2()) / 2.0 + size + key_error,
            special,
        }
    }

    /// log2 p.
    pub fn prime_bits(&self) -> f64 {
        self.prime_bits
    }

    /// The largest R of a polynomial that is sampled from χ for a key.
    pub(crate) fn key_limit(&self) -> f64 {
        self.chi.exp2()
    }

    /// R_f.
    pub fn secret(&self) -> f64 {
        self.f
    }

    /// A fresh ciphertext.
    pub fn fresh(&self) -> f64 {
        self.fresh
    }

    /// The noise after modulus switching: the floor.
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// α deviations of a coefficient of a phase of this R: the bound that must stay below half the
    /// modulus.
    pub fn bound(&self, noise: f64) -> f64 {
        noise + self.coefficient
    }

    /// The product of two phases.
    pub fn product(&self, a: f64, b: f64) -> f64 {
        a + b + 0.5
    }

    /// What a key switch with `digits` digits adds, the division by the special modulus included
    /// but not its rounding.
    pub fn key_switch(&self, digits: usize) -> f64 {
        self.digit + (digits as f64).log2() / 2.0 - self.special
    }

    /// After the division by p^`rows`; with none, there is no rounding either.
    pub fn switched(&self, noise: f64, rows: usize) -> f64 {
        if rows == 0 { noise } else { log_add(noise - rows as f64 * self.prime_bits, self.floor) }
    }

    /// How many of at most `most` rows are best dropped before a product of ciphertexts like this
    /// one, or, with the noise of a key switch that comes first: what leaves the most modulus above
    /// twice the noise.
    pub fn best_drop(&self, noise: f64, most: usize, key_switch: Option<f64>) -> usize {
        let cost = |rows: usize| {
            let left = self.switched(noise, rows);
            rows as f64 * self.prime_bits + 2.0 * key_switch.map_or(left, |k| log_add(left, k))
        };
        (0..=most).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(0)
    }
}
