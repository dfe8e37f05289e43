//! The constants of a parameter set, and what single events add.

use everlevel_ring::{Basis, Ring, sample};

use super::logarithm::{log_add, log_hypot};
use super::overflow;
use super::raise_digits::raise_digit_ranges;
use crate::error::SchemeError;
use crate::spec::{Assumption, Form, Level, ModulusChain, ParamsSpec, SecretKind};

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

/// log2 of the probability that B may be exceeded with, in all coefficients of a bootstrapping
/// together.
const OVERFLOW_LOG2: f64 = -128.0;
/// log2 of the shares of q0 that p^v times a phase may be limited to: 1/2 is the least that
/// exactness needs.
const SHARES: [f64; 5] = [-1.0, -2.0, -3.0, -4.0, -5.0];

/// The two-sided tail factor of one real coefficient.
const COEFFICIENT_TAIL: f64 = 15.40;

/// Which norm of the noise a model estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseEstimate {
    /// What the canonical norm does not exceed, but for events of probability 2^-170.
    WorstCase,
    /// The root mean square of the embeddings, for independent operands.
    AverageCase,
}

impl NoiseEstimate {
    /// `bound` if it is to hold, else what is typical.
    fn of(self, bound: f64, typical: f64) -> f64 {
        match self {
            NoiseEstimate::WorstCase => bound,
            NoiseEstimate::AverageCase => typical,
        }
    }

    /// The norm of a sum of polynomials of these norms.
    fn total<const K: usize>(self, norms: [f64; K]) -> f64 {
        match self {
            NoiseEstimate::WorstCase => norms.iter().sum(),
            NoiseEstimate::AverageCase => norms.iter().map(|x| x * x).sum::<f64>().sqrt(),
        }
    }
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
    pub fn floor(&self, t: u64) -> f64 {
        (t as f64).log2() + self.floor
    }

    /// The noise that one key switch at `level` adds, without the rounding at its end.
    pub fn key_switch(&self, chain: &ModulusChain, level: Level, t: u64) -> f64 {
        let bits = |basis: Basis| basis.iter().map(|i| self.moduli_bits[i]).sum::<f64>();
        let special = bits(chain.gadget(level).special());
        let digits = chain.gadget(level).digits(chain.basis(level));
        let squares: f64 = digits.map(|(_, digit)| (2.0 * (bits(digit) - special)).exp2()).sum();
        (t as f64).log2()
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
    pub fn message(&self, t: u64) -> f64 {
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
    pub fn fresh_secret(&self, t: u64) -> f64 {
        match self.assumption {
            Assumption::Rlwe => {
                self.fresh(t, self.tail * (self.error_variance * self.degree).sqrt())
            }
            Assumption::Ntru => self.fresh_public(t),
        }
    }

    /// A fresh encryption under the public key: the errors t (e v + e0 + e1 s), or t (g v + f e).
    pub fn fresh_public(&self, t: u64) -> f64 {
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
    fn fresh(&self, t: u64, error: f64) -> f64 {
        self.sum(self.added(self.message(t)), (t as f64).log2() + error.log2())
    }

    /// Encryptions of s0, w s0, w² s0, .. (w about √p) modulo t = p^e, times the digits in base w
    /// of a polynomial with coefficients uniform in ±range/2.
    pub fn raised(&self, form: Form, p: u64, t: u64, range: u64) -> f64 {
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

    /// The bound, in bits, on the coefficients of the phase modulo q0 under the sparse key when the
    /// noise that comes from the ciphertext, scaled to q0, is `prior` bits (coefficient law); t =
    /// p^r.
    pub fn encapsulated(&self, t: u64, prior: f64) -> f64 {
        let t = t as f64;
        let [switch, key, round] = self.encapsulation_errors();
        let tails = t * COEFFICIENT_TAIL * switch + t * COEFFICIENT_TAIL * key + t * round;
        log_add(prior, tails.log2())
    }

    /// What comes to the phase, as multiples of t, on its way to q0 and to the sparse key: the
    /// deviations of a coefficient by the rounding to q0 and by the key switch, and what the
    /// latter's rounding adds at most.
    fn encapsulation_errors(&self) -> [f64; 3] {
        let switch = ((1.0 + self.mixed(self.drawn_square)) / 12.0).sqrt();
        if self.under_main_key {
            return [switch, 0.0, 0.0];
        }
        let squares: f64 =
            self.base_digits.iter().map(|d| (2.0 * (d - self.encapsulation_bits)).exp2()).sum();
        let key = (self.mixed(self.error_square) / 12.0 * squares).sqrt();
        [switch, key, (1.0 + self.overlap * self.sparse_weight) / 2.0]
    }

    /// The largest `prior` for which bootstrapping is exact: p^v |phase| < q0 / 2 in every
    /// coefficient; and p^v times the part of it that is not random less than the share of q0 that
    /// makes B rarely exceeded, where that is smaller (see [`NoiseModel::overflow_tail`]).
    pub fn encapsulation_limit(&self, t: u64) -> f64 {
        let room = |share: f64| (self.base_bits + share - self.removed_bits).exp2();
        let rest = self.encapsulated(t, f64::NEG_INFINITY).exp2();
        let mut left = room(SHARES[0]) - rest;
        if self.share_bits < SHARES[0] {
            left = left.min(room(self.share_bits) - t as f64 * self.encapsulation_errors()[2]);
        }
        if left > 0.0 { left.log2() - 0.01 } else { f64::NEG_INFINITY }
    }

    /// The capacity that a ciphertext must have to be bootstrapped.
    pub fn minimum_capacity(&self, t: u64) -> f64 {
        self.base_bits - self.encapsulation_limit(t) - 1.0
    }

    /// What the rounding of a component that the main secret multiplies does to a coefficient of
    /// the phase, in units of its last bit: by the law of the coefficients, and for each unit that
    /// an error has at most.
    pub fn compact_rounding(&self) -> (f64, f64) {
        let square = match self.assumption {
            Assumption::Rlwe => self.drawn_square,
            // ‖t u + 1‖_2 <= t ‖u‖_2 + 1.
            Assumption::Ntru => {
                ((self.key_norm - 1.0) / self.drawn_norm * self.drawn_square.sqrt() + 1.0).powi(2)
            }
        };
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

    /// By how much the squared weights of the uniforms in a coefficient of the overflow may exceed
    /// their number: twice the ring's overlap, 0 for indices that are powers of two.
    pub fn overlap_slack(&self) -> u64 {
        overflow::slack(self.overlap)
    }

    /// log2 of the probability that one coefficient of the overflow exceeds `bound`: a sum of N = c
    /// h + 1 independent uniforms on (-1/2, 1/2), by Chernoff's bound, on both sides. Minus
    /// infinity where it cannot happen.
    ///
    /// c is the ring's overlap ([`Ring::overlap`]). In rings of odd index some of the terms
    /// coincide, depending on the sparse secret; it is drawn such that their squared weights exceed
    /// N by at most [`NoiseModel::overlap_slack`].
    ///
    /// One of the N uniforms stands for the scaled phase, which is below q0 / 2. If the set keeps
    /// what the ciphertext brings to it below a share φ < 1/2 of q0, the other h uniforms and what
    /// is random of the phase, X, have to reach B + 1/2 - φ (power-of-two index only). With
    /// δ = h/2 + φ - B - 1/2, what is missing from each of the uniforms to 1/2 sums to δ + X at
    /// most, which happens with probability (δ + X)^h / h! at most, the volume of a simplex. As
    /// (1 + x)^h <= e^(hx), the mean of that over X of deviation σ q0 is δ^h / h! · e^(h² σ² / 2δ²)
    /// at most: X is the sum of thousands of independent roundings and errors.
    pub fn overflow_tail(&self, bound: u64) -> f64 {
        self.overflow_tail_within(self.share_bits, bound)
    }

    /// The largest share of q0 for the scaled phase, as a logarithm, that makes `bound` hold in
    /// all coefficients but with probability 2^-128: 1/2 if that does, or if none does.
    fn share_for(&self, bound: u64) -> f64 {
        let rare = |share: &f64| {
            self.overflow_tail_within(*share, bound) + self.degree.log2() <= OVERFLOW_LOG2
        };
        let shares = if self.overlap > 1.0 { &SHARES[..1] } else { &SHARES };
        shares.iter().copied().find(rare).unwrap_or(SHARES[0])
    }

    fn overflow_tail_within(&self, share_bits: f64, bound: u64) -> f64 {
        if share_bits < SHARES[0] {
            let h = self.sparse_weight;
            let missing = h / 2.0 - (bound as f64 + 0.5 - share_bits.exp2());
            if missing <= 0.0 {
                return f64::NEG_INFINITY;
            }
            let factorial: f64 = (1..=h as u64).map(|k| (k as f64).log2()).sum();
            let [switch, key, _] = self.encapsulation_errors();
            let unit = self.message_modulus * (self.removed_bits - self.base_bits).exp2();
            let deviation = switch.hypot(key) * unit;
            let random = (h * deviation / missing).powi(2) / 2.0 * std::f64::consts::LOG2_E;
            return (h * missing.log2() - factorial + random + 1.0).min(0.0);
        }
        overflow::tail(self.overlap, self.sparse_weight, bound)
    }

    /// Passes a set without bootstrapping, or one whose q0 has room for the entry of it; t = p^r.
    pub(super) fn check_base_modulus(&self, spec: &ParamsSpec, t: u64) -> Result<(), SchemeError> {
        let limit = self.encapsulation_limit(t);
        if spec.bootstrap.is_some() && limit < (t as f64).log2() {
            return Err(SchemeError::BadParams {
                name: spec.name.clone(),
                problem: format!(
                    "base_bits = {} leaves too little room to bootstrap: the phase under the \
                     sparse key needs more than {:.0} bits",
                    spec.base_bits,
                    self.encapsulated(t, f64::NEG_INFINITY) + 1.0 + self.removed_bits
                ),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{OptIn, Params};

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

    /// A bound below the worst case is paid for with room at the entry, and no more of it than
    /// 2^-128 asks for.
    #[test]
    fn rare_overflows_take_room_at_the_entry() {
        let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
        let model = params.noise().bound();
        let all = |share, bound| model.overflow_tail_within(share, bound) + model.degree.log2();
        assert_eq!(model.share_bits, -4.0);
        assert!((all(-4.0, 15) + 128.21).abs() < 0.01 && all(-3.0, 15) > OVERFLOW_LOG2);
        assert_eq!(all(-1.0, 16), f64::NEG_INFINITY);
        let t = params.plain_modulus();
        let wide = NoiseModel { share_bits: -1.0, ..model.clone() };
        let paid = wide.encapsulation_limit(t) - model.encapsulation_limit(t);
        assert!((2.0..3.5).contains(&paid), "{paid}");
        // No share makes 12 hold.
        assert_eq!(model.share_for(12), -1.0);
    }

    /// The tail against sums of uniforms that were drawn, for a phase that is as large as may be.
    #[test]
    fn tails_bound_what_sums_of_uniforms_do() {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        // A q0 so large that nothing is random of the phase.
        let base_bits = 500.0;
        let model = NoiseModel { sparse_weight: 4.0, base_bits, ..params.noise().bound().clone() };
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        const RUNS: usize = 400_000;
        let sums: Vec<f64> = (0..RUNS).map(|_| (0..4).map(|_| uniform()).sum()).collect();
        for (share, exact) in [(-2.0f64, 0.75f64), (-4.0, 0.5625)] {
            let phase = share.exp2();
            let found = sums.iter().filter(|s| (s.abs() + phase).round() > 1.0).count() as f64;
            let bound = model.overflow_tail_within(share, 1).exp2();
            assert!((bound - exact.powi(4) / 12.0).abs() < 1e-12, "{bound}");
            let deviation = (bound / RUNS as f64).sqrt();
            assert!((found / RUNS as f64 - bound).abs() < 5.0 * deviation, "{found}, {bound}");
        }
    }
}
