//! Security of every key: NTRU's estimated, the others' from published tables.
//!
//! Until this library has an estimator of its own for ring-LWE, its figures are looked up: for uniform ternary secrets the public lattice
//! estimator's values (MATZOV cost model, GSA; bounded distance decoding and unique SVP, whichever is lower), for the
//! encapsulated sparse secret the largest modulus at 128 bits after the rotation-aware hybrid attack of 2026 in
//! power-of-two rings. A modulus between two entries gets the figure of the larger one, beyond the last one a low extrapolation, so no figure is
//! optimistic.

use std::fmt;

use everlevel_ring::{Ring, sample};
use everlevel_security::ntru;
use serde::Serialize;

use super::chain::{Chain, Level};
use super::spec::{Family, ParamsSpec, SecretKind};

/// (log2 n, [(log2 QP, bits)]), ascending moduli: uniform ternary secret, sigma 3.2. The rows at 424, 855, 1720 and 3470
/// are the unique-SVP condition of the same model (GSA, MATZOV) evaluated there, less 0.3 bits for BDD.
const TERNARY: &[(u32, &[(f64, f64)])] = &[
    (10, &[(26.0, 128.0)]),
    (11, &[(53.0, 128.0)]),
    (12, &[(80.0, 175.06), (106.0, 128.91), (120.0, 113.13), (140.0, 96.59)]),
    (13, &[(160.0, 175.79), (214.0, 128.25), (260.0, 104.74)]),
    (14, &[(340.0, 165.34), (424.0, 130.1), (430.0, 128.34), (438.0, 125.92), (558.0, 98.31)]),
    (15, &[(600.0, 190.86), (855.0, 129.8), (868.0, 128.03), (881.0, 126.09), (1000.0, 110.63), (1271.0, 87.70)]),
    (16, &[(1200.0, 191.86), (1720.0, 129.7), (1747.0, 127.99), (1772.0, 126.27), (2200.0, 101.66)]),
    (17, &[(3470.0, 129.7), (3523.0, 127.87)]),
];

/// (log2 n, [(weight, largest log2 of the modulus at 128 bits)]).
const SPARSE: &[(u32, &[(usize, f64)])] = &[
    (14, &[(24, 19.0), (26, 30.0), (28, 41.0), (32, 64.0), (40, 111.0), (48, 152.0), (64, 211.0)]),
    (15, &[(20, 12.0), (24, 55.0), (26, 73.0), (28, 98.0), (32, 147.0), (40, 244.0), (48, 324.0), (64, 442.0)]),
    (16, &[(20, 47.0), (24, 131.0), (26, 178.0), (28, 229.0), (32, 339.0), (40, 520.0), (48, 694.0), (64, 922.0)]),
];

/// What one key is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeySecurity {
    /// Which key.
    pub key: &'static str,
    /// log2 of the largest modulus it is used with.
    pub modulus_bits: f64,
    /// At least so many bits of classical security; 0 where no table covers it.
    pub bits: f64,
    /// The cheapest attack on it, where that was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attack: Option<ntru::Attack>,
}

impl KeySecurity {
    fn looked_up(key: &'static str, modulus_bits: f64, bits: f64) -> Self {
        KeySecurity { key, modulus_bits, bits, attack: None }
    }
    /// The key f = t u + 1 of NTRU, u and g drawn with this variance: g is as large as u and f t times so, and what counts is their geometric mean.
    pub(crate) fn ntru(degree: usize, modulus_bits: f64, t: f64, drawn: Option<f64>) -> Self {
        // Outside of the estimates' range (a degree below 16) nothing is claimed.
        let estimate = drawn.and_then(|variance| ntru::estimate(degree, modulus_bits, variance * t).ok());
        let attack = estimate.map(|estimate| estimate.best().clone());
        let bits = attack.as_ref().map_or(0.0, |attack| attack.bits);
        KeySecurity { key: "NTRU key f at QP", modulus_bits, bits, attack }
    }
}

impl fmt::Display for KeySecurity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bits {
            bits if bits > 0.0 => write!(f, "{}: {bits:.1} bits", self.key)?,
            _ => write!(f, "{}: insecure, or not covered by the tables", self.key)?,
        }
        write!(f, " (log2 of its modulus {:.1}", self.modulus_bits)?;
        if let Some(attack) = &self.attack {
            write!(f, "; {}, dimension {}, block size {}", attack.name.as_str(), attack.dimension, attack.block_size)?;
            if attack.block_size == 2 {
                f.write_str(": LLL finds it")?;
            }
        }
        f.write_str(")")
    }
}

/// The variance of what a set draws u and g from; none for sparse ones, which would need an estimate of hybrid attacks.
fn drawn_variance(secret: SecretKind) -> Option<f64> {
    match secret {
        SecretKind::UniformTernary => Some(2.0 / 3.0),
        SecretKind::TruncatedGaussian => Some(sample::GAUSSIAN_VARIANCE),
        SecretKind::Sparse(_) => None,
    }
}

/// Every key of a set with its security.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecurityReport {
    keys: Vec<KeySecurity>,
}

impl SecurityReport {
    /// Where the figures of ring-LWE keys come from.
    pub const MODEL: &str = "lookup: public lattice estimator (MATZOV, GSA; uSVP and BDD) for ternary secrets, hybrid with 2026 rotation gain for sparse ones; classical";
    /// Where the figures of NTRU keys come from.
    pub const NTRU_MODEL: &str = "computed: secret key, dense sublattice and subfields (Ducas-van Woerden 2021; Albrecht-Bai-Ducas 2016), MATZOV, GSA; classical";

    pub(crate) fn of(spec: &ParamsSpec, ring: &Ring, chain: &Chain) -> Self {
        let main = chain.bits(chain.top()) + ring.log2(chain.special());
        let degree = ring.degree();
        let key = match (spec.family, spec.secret) {
            (Family::Ntru, secret) => {
                let t = (spec.plain_prime as f64).powi(spec.largest_exponent() as i32);
                KeySecurity::ntru(degree, main, t, drawn_variance(secret))
            }
            (Family::Rlwe, SecretKind::UniformTernary) => {
                KeySecurity::looked_up("main secret at QP", main, ternary(degree, main))
            }
            (Family::Rlwe, SecretKind::Sparse(weight)) => {
                KeySecurity::looked_up("sparse main secret at QP", main, sparse(degree, weight, main))
            }
            (Family::Rlwe, SecretKind::TruncatedGaussian) => KeySecurity::looked_up("Gaussian main secret at QP", main, 0.0),
        };
        let mut keys = vec![key];
        if let Some(b) = spec.bootstrap.as_ref().filter(|b| !b.under_main_key) {
            let low = chain.bits(Level(0)) + ring.log2(chain.encapsulation().special());
            let bits = sparse(degree, b.sparse_weight, low);
            keys.push(KeySecurity::looked_up("encapsulated sparse secret at q0 R", low, bits));
        }
        SecurityReport { keys }
    }
    /// Where the figures of this set come from.
    pub fn model(&self) -> &'static str {
        if self.keys[0].attack.is_some() { Self::NTRU_MODEL } else { Self::MODEL }
    }
    /// Every key.
    pub fn keys(&self) -> &[KeySecurity] {
        &self.keys
    }
    /// What a uniform ternary secret would hold at the main key's modulus: an upper limit for sparse main secrets, for which nothing is tabulated.
    pub fn ternary_limit(&self, degree: usize) -> f64 {
        ternary(degree, self.keys[0].modulus_bits)
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

/// bits * log2 QP / n is 3.33 to 3.42 over the whole table; below 100 bits, where nothing is tabulated, the figure is taken to be this.
const TERNARY_SLOPE: f64 = 3.3;

/// At equal log QP / n the figures grow slowly with n, so a degree between two powers of two gets that of the smaller one at this ratio.
fn ternary(degree: usize, modulus_bits: f64) -> f64 {
    let row = TERNARY.iter().find(|r| r.0 == degree.ilog2()).map_or(&[][..], |r| r.1);
    let modulus_bits = modulus_bits * (1usize << degree.ilog2()) as f64 / degree as f64;
    let extrapolated = (TERNARY_SLOPE * (1usize << degree.ilog2()) as f64 / modulus_bits).min(100.0);
    row.iter().find(|(bits, _)| modulus_bits <= *bits).map_or(extrapolated, |r| r.1)
}

/// log2 of the largest modulus in the table with at least `bits` bits of security for a uniform ternary secret in a ring of this degree. Between the
/// degrees of the table it is in proportion to the degree from the next smaller one, which is low: log2 QP / n grows slowly with n at constant
/// security. `None` if that one is not tabulated with so many bits.
///
/// ```
/// use everlevel_scheme::params::largest_modulus;
///
/// assert_eq!(largest_modulus(1 << 15, 128.0), Some(868.0));
/// // Three quarters as long.
/// assert_eq!(largest_modulus(3 << 13, 128.0), Some(645.0));
/// assert_eq!(largest_modulus(1000, 128.0), None);
/// ```
pub fn largest_modulus(degree: usize, bits: f64) -> Option<f64> {
    let (log_degree, row) = TERNARY.iter().rfind(|row| 1 << row.0 <= degree)?;
    let (limit, _) = row.iter().rfind(|(_, security)| *security >= bits)?;
    Some(limit * degree as f64 / f64::from(*log_degree).exp2())
}

/// A degree between two powers of two gets the figure of the smaller one. Rings of other indices have fewer rotations that keep secrets sparse (none where the
/// index is odd), so the attack behind these figures is weaker there.
fn sparse(degree: usize, weight: usize, modulus_bits: f64) -> f64 {
    let row = SPARSE.iter().find(|r| r.0 == degree.ilog2()).map_or(&[][..], |r| r.1);
    // the largest tabulated weight that the key reaches
    let limit = row.iter().rev().find(|r| r.0 <= weight).map_or(0.0, |r| r.1);
    if modulus_bits <= limit { 128.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SchemeError;
    use crate::params::{OptIn, Params};

    #[test]
    fn overstretched_keys_are_worth_nothing() {
        for name in ["ltv-32768", "ltv-27000"] {
            let params = Params::named(name, OptIn::InsecureResearch).unwrap();
            let key = params.security().weakest();
            let attack = key.attack.as_ref().unwrap();
            assert!(attack.block_size == 2 && key.bits < 60.0, "{name}: {attack:?}");
            assert_eq!(params.security().model(), SecurityReport::NTRU_MODEL);
            let refused = Params::named(name, OptIn::SecureOnly);
            assert!(matches!(refused, Err(SchemeError::Insecure { bits, .. }) if bits == key.bits), "{name}");
        }
    }

    #[test]
    fn lookups_are_never_optimistic() {
        let [n15, n16] = [1 << 15, 1 << 16];
        assert_eq!(ternary(n15, 854.9), 129.8);
        assert_eq!(ternary(n15, 868.0), 128.03);
        assert!((ternary(n15, 2000.0) - 54.07).abs() < 0.01);
        assert_eq!(ternary(1 << 9, 10.0), 100.0);
        assert_eq!(sparse(n15, 28, 98.0), 128.0);
        assert_eq!(sparse(n15, 28, 98.1), 0.0);
        assert_eq!(sparse(n15, 30, 98.0), 128.0);
        assert_eq!(sparse(n16, 24, 131.0), 128.0);
        // Between the powers of two: the ratio of the smaller one.
        assert_eq!(ternary(55080, 855.0 * 55080.0 / 32768.0 - 0.1), 129.8);
        assert!(ternary(55080, 868.0 * 55080.0 / 32768.0 + 0.1) < 128.0);
        assert!(ternary(55080, 1720.0) < 128.0 && ternary(n16, 1720.0) > 128.0);
        assert_eq!(sparse(55080, 28, 98.0), sparse(n15, 28, 98.0));
        // Whatever is found has the security asked for, and all of it that is tabulated.
        for (log_degree, row) in TERNARY {
            let limit = largest_modulus(1 << log_degree, 128.0).unwrap();
            assert!(
                ternary(1 << log_degree, limit) >= 128.0 && row.iter().all(|r| r.0 <= limit || r.1 < 128.0),
                "2^{log_degree}"
            );
        }
        assert_eq!(largest_modulus(1 << 15, 300.0), None);
    }
}
