//! Security of every key of a set, by the estimators of `everlevel_estimator`.

use std::fmt;
use std::sync::Mutex;

use everlevel_estimator::lwe::{self, Lwe, Secret};
use everlevel_estimator::{Attack, CostModel, ntru};
use everlevel_ring::{Ring, sample};
use serde::Serialize;

use crate::spec::{Assumption, Level, ModulusChain, ParamsSpec, SecretKind};

/// The least security of every key of a set, in bits, unless the set is named insecure.
pub(super) const MIN_SECURITY_BITS: f64 = 128.0;

/// The security estimate of one key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeySecurity {
    /// Which key.
    pub key: &'static str,
    /// log2 of the largest modulus that the key is used with.
    pub modulus_bits: f64,
    /// Bits of classical security: log2 of the cost of the cheapest attack in gates; 0 if no
    /// estimate covers the key.
    pub bits: f64,
    /// For sparse keys, the same without the gain from rotations of the secret, as in estimates
    /// before 2026.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_without_rotations: Option<f64>,
    /// Every attack, the cheapest first.
    pub attacks: Vec<Attack>,
}

/// A cache of estimates, each of which takes up to a tenth of a second.
static ESTIMATES: Mutex<Vec<(Lwe, Vec<Attack>)>> = Mutex::new(Vec::new());
/// The size limit of each cache, as parameters may come from untrusted parties.
const KEPT: usize = 1024;

/// The attacks on this key, the cheapest first; none outside the range of the estimator.
fn attacks(key: &Lwe) -> Vec<Attack> {
    let estimates = || ESTIMATES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some((_, attacks)) = estimates().iter().find(|(known, _)| known == key) {
        return attacks.clone();
    }
    let attacks = lwe::estimate(key, CostModel::Matzov)
        .map_or_else(|_| Vec::new(), |estimate| estimate.attacks().to_vec());
    let mut estimates = estimates();
    if estimates.len() == KEPT {
        estimates.clear();
    }
    estimates.push((*key, attacks.clone()));
    attacks
}

/// A cache of what [`is_held`] found: sets that differ in the sparse secret have the same main key.
static HELD: Mutex<Vec<(Lwe, f64, bool)>> = Mutex::new(Vec::new());

/// Whether a key certainly has more than this number of bits, by attacks below it alone. What has
/// more than a larger number has more than this one.
fn is_held(key: &Lwe, bits: f64) -> bool {
    let held = || HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let tells = |(known, at, more): &&(Lwe, f64, bool)| {
        known == key && (*at == bits || (*more && *at > bits))
    };
    if let Some((_, _, more)) = held().iter().find(tells) {
        return *more;
    }
    let more = lwe::holds(key, CostModel::Matzov, bits).unwrap_or(false);
    let mut held = held();
    if held.len() == KEPT {
        held.clear();
    }
    held.push((*key, bits, more));
    more
}

impl KeySecurity {
    fn new(key: &'static str, modulus_bits: f64, attacks: Vec<Attack>) -> Self {
        let bits = attacks.first().map_or(0.0, |attack| attack.bits);
        KeySecurity { key, modulus_bits, bits, bits_without_rotations: None, attacks }
    }

    /// A ring-LWE key.
    ///
    /// Rotations of a sparse secret are counted in every ring, not only in Z\[X\]/(X^n + 1).
    /// Published work finds other rings unaffected, since reduction modulo Φ_m fills a rotated
    /// secret; but multiplied by (X^m − 1)/Φ_m a sample becomes one modulo X^m − 1, where nothing
    /// is reduced and only the error grows, so that we do not rely on it
    /// (docs/adr/0023-security-estimator.md).
    fn rlwe(key: &'static str, modulus_bits: f64, lwe: Lwe) -> Self {
        let mut security = KeySecurity::new(key, modulus_bits, attacks(&lwe));
        if matches!(lwe.secret, Secret::Sparse(_)) {
            security.bits_without_rotations =
                attacks(&lwe.without_rotations()).first().map(|attack| attack.bits);
        }
        security
    }

    /// The key f = t u + 1 of NTRU, where u and g have this variance: g is as large as u, and f is
    /// t times larger; the attacks depend on the geometric mean of f and g.
    pub fn ntru(degree: usize, modulus_bits: f64, t: f64, drawn: Option<f64>) -> Self {
        // Outside of the estimates' range (a degree below 16) nothing is claimed.
        let estimate =
            drawn.and_then(|variance| ntru::estimate(degree, modulus_bits, variance * t).ok());
        let attacks = estimate.map_or_else(Vec::new, |estimate| estimate.attacks().to_vec());
        KeySecurity::new("NTRU key f at QP", modulus_bits, attacks)
    }

    /// The cheapest attack.
    pub fn best(&self) -> Option<&Attack> {
        self.attacks.first()
    }
}

impl fmt::Display for KeySecurity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(attack) = self.best() else {
            return write!(
                f,
                "{}: not covered by the estimates (log2 of its modulus {:.1})",
                self.key, self.modulus_bits
            );
        };
        write!(f, "{}: {:.1} bits", self.key, self.bits)?;
        if let Some(bits) = self.bits_without_rotations {
            write!(f, " ({bits:.1} without rotations)")?;
        }
        let (name, modulus) = (attack.name.as_str(), self.modulus_bits);
        write!(
            f,
            " (log2 of its modulus {modulus:.1}; {name}, dimension {}, block size {}",
            attack.dimension, attack.block_size
        )?;
        if let Some(guess) = &attack.guess {
            write!(f, ", {} coordinates guessed", guess.coordinates)?;
        }
        if attack.block_size == 2 {
            f.write_str(": LLL finds it")?;
        }
        f.write_str(")")
    }
}

/// The variance of what a set draws u and g from; none for sparse ones, which would need an
/// estimate of hybrid attacks.
fn drawn_variance(secret: SecretKind) -> Option<f64> {
    match secret {
        SecretKind::UniformTernary => Some(2.0 / 3.0),
        SecretKind::TruncatedGaussian => Some(sample::GAUSSIAN_VARIANCE),
        SecretKind::Sparse(_) => None,
    }
}

/// A key whose security can be estimated.
enum Key {
    Rlwe {
        name: &'static str,
        modulus_bits: f64,
        lwe: Lwe,
    },
    Ntru {
        degree: usize,
        modulus_bits: f64,
        /// t: the factor of the key's random part.
        factor: f64,
        secret: SecretKind,
    },
}

impl Key {
    fn rlwe(name: &'static str, degree: usize, modulus_bits: f64, secret: Secret) -> Self {
        // σ = 3.2, although errors have 3.24.
        Key::Rlwe { name, modulus_bits, lwe: Lwe::ring(degree, modulus_bits, secret) }
    }

    fn estimate(&self) -> KeySecurity {
        match *self {
            Key::Rlwe { name, modulus_bits, lwe } => KeySecurity::rlwe(name, modulus_bits, lwe),
            Key::Ntru { degree, modulus_bits, factor, secret } => {
                KeySecurity::ntru(degree, modulus_bits, factor, drawn_variance(secret))
            }
        }
    }

    fn holds(&self, bits: f64) -> bool {
        match self {
            Key::Rlwe { lwe, .. } => {
                (bits <= MIN_SECURITY_BITS && is_known_to_hold(lwe)) || is_held(lwe, bits)
            }
            Key::Ntru { .. } => self.estimate().bits >= bits,
        }
    }
}

/// The keys of a set, the main one first.
fn keys(spec: &ParamsSpec, ring: &Ring, chain: &ModulusChain) -> Vec<Key> {
    let modulus_bits = chain.bits(chain.top()) + ring.log2(chain.special());
    let degree = ring.degree();
    let rlwe = |name, secret| Key::rlwe(name, degree, modulus_bits, secret);
    let key = match (spec.assumption, spec.secret) {
        (Assumption::Ntru, secret) => {
            let factor = (spec.plain_prime as f64).powi(spec.largest_exponent() as i32);
            Key::Ntru { degree, modulus_bits, factor, secret }
        }
        (Assumption::Rlwe, SecretKind::UniformTernary) => {
            rlwe("main secret at QP", Secret::Ternary)
        }
        (Assumption::Rlwe, SecretKind::Sparse(weight)) => {
            rlwe("sparse main secret at QP", Secret::Sparse(weight))
        }
        (Assumption::Rlwe, SecretKind::TruncatedGaussian) => {
            let secret = Secret::Gaussian(sample::GAUSSIAN_VARIANCE.sqrt());
            rlwe("Gaussian main secret at QP", secret)
        }
    };
    let mut keys = vec![key];
    // An encryption under the public key hides a ternary polynomial, whatever the secret is.
    let wider = match spec.secret {
        SecretKind::UniformTernary => false,
        SecretKind::Sparse(weight) => weight > 2 * degree / 3,
        SecretKind::TruncatedGaussian => true,
    };
    if spec.assumption == Assumption::Rlwe && wider {
        let (name, top) = ("ternary randomness of encryptions at Q", chain.bits(chain.top()));
        keys.push(Key::rlwe(name, degree, top, Secret::Ternary));
    }
    if let Some(b) = spec.bootstrap.as_ref().filter(|b| !b.under_main_key) {
        let low = chain.bits(Level(0)) + ring.log2(chain.encapsulation().special());
        let secret = Secret::Sparse(b.sparse_weight);
        keys.push(Key::rlwe("encapsulated sparse secret at q0 R", degree, low, secret));
    }
    keys
}

/// Every key of a set with its security.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecurityReport {
    keys: Vec<KeySecurity>,
}

impl SecurityReport {
    /// How ring-LWE keys are estimated.
    pub const MODEL: &str = "computed: unique SVP, bounded distance decoding, primal hybrids \
                             (nearest planes, meeting in the middle, representations) with the \
                             rotation gain of 2026, dual and dual hybrid, enumeration and \
                             exhaustive search; MATZOV, GSA; classical";
    /// How NTRU keys are estimated.
    pub const NTRU_MODEL: &str = "computed: secret key, dense sublattice and subfields (Ducas-van \
                                  Woerden 2021; Albrecht-Bai-Ducas 2016), MATZOV, GSA; classical";

    pub(crate) fn of(spec: &ParamsSpec, ring: &Ring, chain: &ModulusChain) -> Self {
        SecurityReport { keys: keys(spec, ring, chain).iter().map(Key::estimate).collect() }
    }

    /// Whether every key of a set certainly has more than this number of bits, without a full
    /// estimate. It may be `false` for a key with exactly this number.
    pub(crate) fn holds(spec: &ParamsSpec, ring: &Ring, chain: &ModulusChain, bits: f64) -> bool {
        keys(spec, ring, chain).iter().all(|key| key.holds(bits))
    }

    /// A description of the model behind the figures.
    pub fn model(&self) -> &'static str {
        if self.keys[0].key.starts_with("NTRU") { Self::NTRU_MODEL } else { Self::MODEL }
    }

    /// Every key.
    pub fn keys(&self) -> &[KeySecurity] {
        &self.keys
    }

    /// The weakest key.
    pub fn weakest(&self) -> &KeySecurity {
        self.keys.iter().min_by(|a, b| a.bits.total_cmp(&b.bits)).expect("every set has a main key")
    }

    /// The weakest key's security in bits.
    pub fn bits(&self) -> f64 {
        self.weakest().bits
    }
}

/// For uniform ternary secrets, by their dimension: log2 of a modulus up to which they have
/// [`MIN_SECURITY_BITS`] by the estimates here, which a test makes.
const KNOWN_TO_HOLD: [(usize, f64); 5] =
    [(1 << 12, 105.0), (1 << 13, 212.0), (1 << 14, 428.0), (1 << 15, 860.0), (1 << 16, 1720.0)];

/// Whether a key is known to have [`MIN_SECURITY_BITS`], which takes longer to find out than
/// everything else that a small set needs.
fn is_known_to_hold(key: &Lwe) -> bool {
    let known = |&(degree, limit): &(usize, f64)| degree == key.dimension && key.log2_q <= limit;
    key.secret == Secret::Ternary && KNOWN_TO_HOLD.iter().any(known)
}

/// log2 of the largest modulus with at least `bits` bits of security for a uniform ternary secret
/// in a ring of this degree, to a tenth; `None` if the degree is below 16 or no modulus has
/// them.
///
/// ```
/// use everlevel_scheme::params::largest_modulus;
///
/// let limit = largest_modulus(1 << 15, 128.0).unwrap();
/// assert!((867.0..869.0).contains(&limit), "{limit}");
/// assert_eq!(largest_modulus(64, 1e6), None);
/// ```
pub fn largest_modulus(degree: usize, bits: f64) -> Option<f64> {
    lwe::largest_log2_q(degree, Secret::Ternary, bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{OptIn, Params};

    /// By the search for attacks below 128 bits, when a set is made, and by that for the cheapest
    /// ones.
    #[test]
    fn every_set_that_is_not_called_insecure_has_a_bit_to_spare() {
        let mut checked = 0;
        for name in crate::params::names().filter(|name| !name.starts_with("insecure_")) {
            let params = Params::named(name, OptIn::SecureOnly).unwrap();
            checked += 1;
            // The search for attacks below 128 bits has told; else all of them are estimated.
            assert!(params.0.security.get().is_none(), "{name}");
            for key in keys(params.spec(), params.ring(), params.chain()) {
                // Without rotations it costs more.
                let attacks = match key {
                    Key::Rlwe { lwe, .. } => attacks(&lwe),
                    Key::Ntru { .. } => key.estimate().attacks,
                };
                assert!(!attacks.is_empty(), "{name}");
                for attack in &attacks {
                    let (bits, attack) = (attack.bits, attack.name.as_str());
                    assert!(bits >= 129.0, "{name}: {bits} bits by {attack}");
                }
            }
        }
        assert!(checked >= 20, "{checked}");
    }

    /// Without special primes both have the same modulus, and the ternary one is weaker.
    #[test]
    fn gaussian_secrets_do_not_hide_what_encryptions_draw() {
        let spec = ParamsSpec {
            words: 1,
            special: 0,
            secret: SecretKind::TruncatedGaussian,
            ..ParamsSpec::new("insecure_gaussian", 1 << 13, 65537)
        };
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let [secret, drawn] = params.security().keys() else { panic!("two keys") };
        assert_eq!(secret.modulus_bits, drawn.modulus_bits);
        assert!(drawn.bits < secret.bits, "{secret}, {drawn}");
        assert_eq!(params.security().bits(), drawn.bits);
    }

    #[test]
    fn what_is_known_to_hold_does() {
        for (degree, limit) in KNOWN_TO_HOLD {
            // Below the limit, too, down to moduli that hold nothing.
            for share in [1.0, 0.97, 0.8, 0.5, 0.3] {
                let key = Lwe::ring(degree, share * limit, Secret::Ternary);
                assert!(is_known_to_hold(&key));
                let held = lwe::holds(&key, CostModel::Matzov, MIN_SECURITY_BITS);
                assert_eq!(held, Ok(true), "{degree}, {share} of {limit}");
            }
        }
    }

    /// Whatever was asked before: less at more bits tells nothing about fewer.
    #[test]
    fn verdicts_are_those_of_the_estimates() {
        for (log2_q, bits) in [(101.0, 130.0), (101.0, 128.0), (115.0, 128.0), (115.0, 100.0)] {
            let key = Lwe::ring(1 << 12, log2_q, Secret::Ternary);
            for _ in 0..2 {
                let wanted = lwe::holds(&key, CostModel::Matzov, bits);
                assert_eq!(Ok(is_held(&key, bits)), wanted, "{log2_q}, {bits}");
            }
        }
        let verdict = |bits| is_held(&Lwe::ring(1 << 12, 115.0, Secret::Ternary), bits);
        assert_eq!([100.0, 128.0].map(verdict), [true, false]);
    }

    #[test]
    fn limits_have_the_security_asked_for() {
        for degree in [1 << 12, 1 << 15, 55080] {
            let limit = largest_modulus(degree, 128.0).unwrap();
            let at = |bits| Key::rlwe("", degree, bits, Secret::Ternary).estimate().bits;
            assert!(at(limit) >= 128.0 && at(limit + 0.1) < 128.0, "{degree}: {limit}");
        }
        assert_eq!(largest_modulus(1 << 15, 1e6), None);
        assert_eq!(largest_modulus(8, 20.0), None);
    }
}
