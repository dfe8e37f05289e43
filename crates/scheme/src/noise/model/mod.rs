//! The noise constants of a parameter set, and the noise that single operations add.

mod entry;
mod estimate;

use everlevel_ring::{Basis, Gadget, Ring, sample};

use super::logarithm::{log_add, log_hypot};
use super::raise_digits::raise_digit_ranges;
use crate::spec::{Assumption, Form, Level, ModulusChain, ParamsSpec, SecretKind};
pub use estimate::NoiseEstimate;

/// log2 of the probability that one modeled event exceeds its bound.
pub const EVENT_LOG2: f64 = -170.0;
/// K: the canonical tail factor, where values have circular symmetry.
const TAIL: f64 = 11.20;

/// K for a ring of this [`Ring::noncircularity`] ρ: the variance in the worst of the 16 directions
/// is 1 + ρ times as large, so that √((170 + 4) ln 2) / cos(π/16) grows by √(1 + ρ). The rounding
/// of 11.197 up to 11.20 covers ρ up to 4 · 10^-4: all rings without square factor in the index
/// from degree 2500 on.
fn tail(noncircularity: f64) -> f64 {
    let exponent = (4.0 - EVENT_LOG2) * std::f64::consts::LN_2;
    let direction = (std::f64::consts::PI / 16.0).cos();
    TAIL.max((exponent * (1.0 + noncircularity)).sqrt() / direction)
}

/// log2 of the shares of q0 that p^v times a phase may be limited to: 1/2 is the least that
/// exactness needs.
const SHARES: [f64; 5] = [-1.0, -2.0, -3.0, -4.0, -5.0];

/// The two-sided tail factor of one real coefficient.
const COEFFICIENT_TAIL: f64 = 15.40;

/// log2 of a plaintext modulus.
fn log2(t: impl Into<u128>) -> f64 {
    let t: u128 = t.into();
    (t as f64).log2()
}

/// The constants of a parameter set, in bits unless said otherwise.
#[derive(Clone, Debug)]
pub struct NoiseModel {
    account: NoiseEstimate,
    /// K, or 1.
    tail: f64,
    degree: f64,
    /// How many coefficients a coefficient of X^k a is the sum of, see [`Ring::overlap`].
    overlap: f64,
    assumption: Assumption,
    drawn_norm: f64,
    drawn_square: f64,
    key_norm: f64,
    error_variance: f64,
    error_norm: f64,
    error_square: f64,
    key_error_norm: f64,
    floor: f64,
    base_bits: f64,
    base_digits: Vec<f64>,
    encapsulation_bits: f64,
    sparse_weight: f64,
    under_main_key: bool,
    removed_bits: f64,
    /// p^r.
    message_modulus: f64,
    /// log2 of the share of q0 that p^v times what a ciphertext brings to its phase may take at the
    /// entry of bootstrapping.
    share_bits: f64,
    moduli_bits: Vec<f64>,
}

impl NoiseModel {
    pub(crate) fn new(
        spec: &ParamsSpec,
        ring: &Ring,
        chain: &ModulusChain,
        account: NoiseEstimate,
    ) -> Self {
        let n = ring.degree() as f64;
        let tail = account.of(tail(ring.noncircularity()), 1.0);
        let drawn_tail = account.of(3.5, 1.0);
        let (drawn_norm, drawn_square) = match spec.secret {
            SecretKind::UniformTernary => (
                drawn_tail * (2.0 * n / 3.0).sqrt(),
                (2.0 * n / 3.0 + 4.0 * (2.0 * n / 9.0).sqrt()).min(n),
            ),
            SecretKind::Sparse(weight) => {
                ((drawn_tail * (weight as f64).sqrt()).min(weight as f64), weight as f64)
            }
            // The squares have variance 2.32 each.
            SecretKind::TruncatedGaussian => (
                drawn_tail * (sample::GAUSSIAN_VARIANCE * n).sqrt(),
                sample::GAUSSIAN_VARIANCE * n + 4.0 * (2.32 * n).sqrt(),
            ),
        };
        let error_variance = match spec.assumption {
            Assumption::Rlwe => sample::ERROR_VARIANCE,
            Assumption::Ntru => sample::GAUSSIAN_VARIANCE,
        };
        let error_norm = account.of(4.0, 1.0) * (error_variance * n).sqrt();
        // ‖s‖ or ‖f‖, the norm of e or g s + f e, and of the multipliers of the roundings of a
        // ciphertext's components.
        let (key_norm, key_error_norm, rounded) = match spec.assumption {
            Assumption::Rlwe => (drawn_norm, error_norm, drawn_norm.hypot(1.0)),
            Assumption::Ntru => {
                let t = (spec.plain_prime as f64).powi(spec.largest_exponent() as i32);
                let key_norm = account.total([t * drawn_norm, 1.0]);
                (key_norm, error_norm * account.total([drawn_norm, key_norm]), key_norm)
            }
        };
        let bits = |i: usize| (ring.modulus(i).value() as f64).log2();
        let mut model = NoiseModel {
            account,
            tail,
            degree: n,
            overlap: ring.overlap() as f64,
            assumption: spec.assumption,
            drawn_norm,
            drawn_square,
            key_norm,
            error_variance,
            error_norm,
            error_square: 1.2 * error_variance * n,
            key_error_norm,
            floor: (tail * (n / 12.0).sqrt() * rounded).log2(),
            base_bits: chain.bits(Level(0)),
            base_digits: chain
                .encapsulation()
                .digits(chain.basis(Level(0)))
                .map(|(_, g)| ring.log2(g))
                .collect(),
            encapsulation_bits: ring.log2(chain.encapsulation().special()),
            sparse_weight: spec.bootstrap.as_ref().map_or(0.0, |b| b.sparse_weight as f64),
            under_main_key: spec.bootstrap.as_ref().is_some_and(|b| b.under_main_key),
            removed_bits: spec.bootstrap.as_ref().map_or(0, |b| b.removed_digits()) as f64
                * (spec.plain_prime as f64).log2(),
            message_modulus: (spec.plain_prime as f64).powi(spec.plain_exponent as i32),
            share_bits: SHARES[0],
            moduli_bits: (0..ring.prime_count()).map(bits).collect(),
        };
        if let Some(b) = &spec.bootstrap {
            model.share_bits = model.share_for(b.bound());
        }
        model
    }

    /// The largest norm of what the owner draws: s, or u and g.
    pub fn drawn_norm_limit(&self) -> f64 {
        self.drawn_norm
    }

    /// The largest sum of its squared coefficients.
    pub fn drawn_square_limit(&self) -> f64 {
        self.drawn_square
    }

    /// The largest norm of the main secret: ‖s‖, or ‖f‖ = ‖t u + 1‖.
    pub fn key_norm_limit(&self) -> f64 {
        self.key_norm
    }

    /// The largest ‖e‖ of an error inside a key.
    pub fn error_norm_limit(&self) -> f64 {
        self.error_norm
    }

    /// The largest Σ e_i² of an error inside the encapsulation key.
    pub fn error_square_limit(&self) -> f64 {
        self.error_square
    }

    /// The floor of modulus switching for plaintext modulus t: noise cannot be below it after a
    /// switch.
    pub fn floor(&self, t: impl Into<u128>) -> f64 {
        log2(t) + self.floor
    }

    /// The noise that one key switch at `level` adds, without the rounding at its end.
    pub fn key_switch(&self, chain: &ModulusChain, level: Level, t: impl Into<u128>) -> f64 {
        self.key_switch_by(chain.gadget(level), chain.basis(level), t)
    }

    /// The same by any gadget, of a polynomial over `basis`.
    pub fn key_switch_by(&self, gadget: &Gadget, basis: Basis, t: impl Into<u128>) -> f64 {
        let bits = |basis: Basis| basis.iter().map(|i| self.moduli_bits[i]).sum::<f64>();
        let special = bits(gadget.special());
        let digits = gadget.digits(basis);
        let squares: f64 = digits.map(|(_, digit)| (2.0 * (bits(digit) - special)).exp2()).sum();
        log2(t)
            + (self.tail * (self.degree / 12.0).sqrt() * self.key_error_norm * squares.sqrt())
                .log2()
    }

    /// log2 of the norm of a sum.
    pub fn sum(&self, a: f64, b: f64) -> f64 {
        match self.account {
            NoiseEstimate::WorstCase => log_add(a, b),
            NoiseEstimate::AverageCase => log_hypot(a, b),
        }
    }

    /// log2 of the norm of a sum of `count` polynomials of norm 2^`each`.
    pub fn sum_of(&self, count: usize, each: f64) -> f64 {
        each + (count as f64).log2() * self.account.of(1.0, 0.5)
    }

    /// The bound on any message polynomial: n t / 2, whatever the values; uniform coefficients on
    /// average.
    pub fn message(&self, t: impl Into<u128>) -> f64 {
        let t: u128 = t.into();
        (t as f64 * self.account.of(self.degree / 2.0, (self.degree / 12.0).sqrt())).log2()
    }

    /// What the addition of a polynomial of norm 2^`bits` to a ciphertext's first component adds to
    /// its phase: over NTRU f multiplies that, too.
    pub fn added(&self, bits: f64) -> f64 {
        match self.assumption {
            Assumption::Rlwe => bits,
            Assumption::Ntru => bits + self.key_norm.log2(),
        }
    }

    /// A fresh encryption under the secret key, with an error that is drawn anew; over NTRU it is
    /// one under the public key.
    pub fn fresh_secret(&self, t: impl Into<u128>) -> f64 {
        match self.assumption {
            Assumption::Rlwe => {
                self.fresh(t, self.tail * (self.error_variance * self.degree).sqrt())
            }
            Assumption::Ntru => self.fresh_public(t),
        }
    }

    /// A fresh encryption under the public key: the errors t (e v + e0 + e1 s), or t (g v + f e).
    pub fn fresh_public(&self, t: impl Into<u128>) -> f64 {
        let n = self.degree;
        let error = self.tail * (self.error_variance * n).sqrt();
        let total = match self.assumption {
            Assumption::Rlwe => self.account.total([
                self.error_norm * self.tail * (2.0 * n / 3.0).sqrt(),
                error,
                error * self.key_norm,
            ]),
            Assumption::Ntru => error * self.drawn_norm.hypot(self.key_norm),
        };
        self.fresh(t, total)
    }

    /// A message and t times an error.
    fn fresh(&self, t: impl Into<u128>, error: f64) -> f64 {
        let t: u128 = t.into();
        self.sum(self.added(self.message(t)), log2(t) + error.log2())
    }

    /// Encryptions of s0, w s0, w² s0, .. (w about √p) modulo t = p^e, times the digits in base w
    /// of a polynomial with coefficients uniform in ±range/2.
    pub fn raised(&self, form: Form, p: u64, t: u128, range: u128) -> f64 {
        let t = t as f64;
        let unit = self.tail * (self.degree / 12.0).sqrt();
        let ranges = raise_digit_ranges(p, range);
        let digits =
            self.account.of(ranges.iter().sum(), ranges.iter().map(|x| x * x).sum::<f64>().sqrt());
        // A message that is multiplied by κ is as large as t allows.
        let message = match form {
            Form::Bgv => {
                range as f64
                    * self.account.of(1.0 + self.sparse_weight, (1.0 + self.sparse_weight).sqrt())
            }
            Form::Bfv => {
                t * self
                    .account
                    .of(1.0 + digits * self.sparse_weight / 2.0, (1.0 + digits * digits).sqrt())
            }
        };
        (unit * self.account.total([digits * t * self.error_norm, message])).log2()
    }

    /// What the rounding of a component that this power of the main secret multiplies, 1 or 2, does
    /// to a coefficient of the phase, in units of its last bit: by the law of the coefficients, and
    /// for each unit that an error has at most.
    ///
    /// For an index that is a power of two, Σ (s²)_i² is the mean of |s(ζ)|^4 over all ζ, and so at
    /// most ‖s‖² Σ s_i². In other rings the rounding of what s² multiplies is bounded by its norm,
    /// at most ‖s‖² times that of the rounding errors.
    pub fn compact_rounding(&self, power: u32) -> (f64, f64) {
        let mut square = match self.assumption {
            Assumption::Rlwe => self.drawn_square,
            // ‖t u + 1‖_2 <= t ‖u‖_2 + 1.
            Assumption::Ntru => {
                ((self.key_norm - 1.0) / self.drawn_norm * self.drawn_square.sqrt() + 1.0).powi(2)
            }
        };
        if power > 1 && self.overlap > 1.0 {
            // (4/π)^k for k odd primes, of which the overlap is 2^k.
            let coefficient = (4.0 / std::f64::consts::PI).powf(self.overlap.log2());
            let gain = coefficient * self.key_norm.powi(power as i32);
            return (gain * self.tail * (self.degree / 12.0).sqrt(), gain * self.degree);
        }
        square *= self.key_norm.powi(2 * (power as i32 - 1));
        (
            COEFFICIENT_TAIL * (self.mixed(square) / 12.0).sqrt(),
            self.overlap * (self.degree * square).sqrt(),
        )
    }

    /// The sum of the squared weights of the coefficients of a in a coefficient of s a, Σ s_i²
    /// being `square`: that times the overlap, and a tenth more for the coincidences of terms in
    /// rings of odd index, which the many terms of s all but cancel.
    fn mixed(&self, square: f64) -> f64 {
        if self.overlap > 1.0 { 1.1 * self.overlap * square } else { square }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen directions, each with the tail of its own variance, stay below 2^-170; with the
    /// factor of circular values powers of three would not.
    #[test]
    fn events_have_their_probability_in_every_ring() {
        let log2 = |tail: f64, noncircularity: f64| {
            let exponent = (tail * (std::f64::consts::PI / 16.0).cos()).powi(2);
            4.0 - exponent / (1.0 + noncircularity) / std::f64::consts::LN_2
        };
        for noncircularity in [0.0, 1e-4, 1.0 / 72.0, 0.234, 0.4135, 0.5] {
            let reached = log2(tail(noncircularity), noncircularity);
            assert!((EVENT_LOG2 - 0.1..=EVENT_LOG2 + 1e-9).contains(&reached), "{reached}");
        }
        assert_eq!(tail(0.0).to_bits(), TAIL.to_bits());
        assert!((log2(TAIL, 0.4135) + 119.0).abs() < 1.0);
    }
}
