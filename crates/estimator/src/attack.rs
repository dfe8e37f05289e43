//! Attacks with their costs, the parts of every estimate.

use serde::Serialize;

use crate::reduction::CostModel;

/// An attack on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackName {
    /// LWE: find the secret and the error as an unusually short vector (Alkim et al. 2016).
    Usvp,
    /// LWE: reduce the basis, then find the error by one search in a projected lattice (Liu–Nguyen
    /// 2013).
    Bdd,
    /// LWE: guess coordinates of the secret, try each guess by Babai's nearest plane
    /// (Howgrave-Graham 2007).
    PrimalHybridBabai,
    /// LWE: guess coordinates, meeting in the middle, and try each guess by a search in a projected
    /// lattice (Albrecht–Curtis–Wunderer 2019).
    PrimalHybridMitm,
    /// LWE: guess coordinates, meeting by representations on a reduced basis (May 2021;
    /// Hhan–Kim–Lee–Son 2023).
    PrimalHybridRepresentations,
    /// LWE: distinguish by short vectors of the dual lattice (Micciancio–Regev 2009).
    Dual,
    /// LWE: the same with guessed coordinates (Espitau–Joux–Kharchenko 2020).
    DualHybrid,
    /// LWE: unique SVP with enumeration instead of sieves (Chen–Nguyen 2012): for tiny keys.
    Enumeration,
    /// LWE: try all secrets (ia.cr/2020/515): for tiny keys.
    ExhaustiveSearch,
    /// NTRU: find (f, g) as an unusually short vector (Coppersmith–Shamir 1997; predicted as unique
    /// SVP, Alkim et al. 2016).
    SecretKey,
    /// NTRU: find the sublattice of its multiples (Kirchner–Fouque 2017; predicted as by Ducas–van
    /// Woerden 2021).
    DenseSublattice,
    /// NTRU: find that sublattice for the norms in a subfield (Albrecht–Bai–Ducas 2016).
    Subfield,
}

impl AttackName {
    /// As in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            AttackName::Usvp => "usvp",
            AttackName::Bdd => "bdd",
            AttackName::PrimalHybridBabai => "primal-hybrid-babai",
            AttackName::PrimalHybridMitm => "primal-hybrid-mitm",
            AttackName::PrimalHybridRepresentations => "primal-hybrid-representations",
            AttackName::Dual => "dual",
            AttackName::DualHybrid => "dual-hybrid",
            AttackName::Enumeration => "enumeration",
            AttackName::ExhaustiveSearch => "exhaustive-search",
            AttackName::SecretKey => "secret-key",
            AttackName::DenseSublattice => "dense-sublattice",
            AttackName::Subfield => "subfield",
        }
    }
}

/// The guess of a hybrid attack.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Guess {
    /// ζ: the number of guessed coordinates of the secret.
    pub coordinates: usize,
    /// The largest number of nonzero ones among them that is tried.
    pub weight: usize,
    /// log2 of the number of candidates.
    pub log2_candidates: f64,
    /// log2 of the probability that one of them is right; the attack is repeated with other
    /// coordinates until it has succeeded with 99 %.
    pub log2_probability: f64,
}

/// The cost of an attack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attack {
    /// Which.
    pub name: AttackName,
    /// log2 of the cost in the model of the estimate.
    pub bits: f64,
    /// log2 of the cost of its lattice reduction alone as [`CostModel::CoreSvp`] counts it: 0.292
    /// β.
    pub core_svp_bits: f64,
    /// The block size of BKZ; 2 is LLL, 0 no reduction.
    pub block_size: u32,
    /// The dimension of the lattice that it reduces.
    pub dimension: usize,
    /// The degree of the field in which it works: n, or a divisor of n for subfield attacks.
    pub degree: usize,
    /// The guess of a hybrid attack; none for other attacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guess: Option<Guess>,
}

impl Attack {
    /// An attack that consists of block reduction.
    pub(crate) fn reduction(
        name: AttackName,
        model: CostModel,
        degree: usize,
        dimension: usize,
        block_size: u32,
    ) -> Self {
        let bits = model.log2_cost(block_size, dimension);
        Attack {
            name,
            bits,
            core_svp_bits: CostModel::CoreSvp.log2_cost(block_size, dimension),
            block_size,
            dimension,
            degree,
            guess: None,
        }
    }
}

/// The security estimate of a key, attack by attack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate<K> {
    /// The key.
    pub key: K,
    /// The cheapest first; never empty.
    attacks: Vec<Attack>,
}

impl<K> Estimate<K> {
    /// Of attacks in any order, one at least.
    pub(crate) fn new(key: K, mut attacks: Vec<Attack>) -> Self {
        attacks.sort_by(|a, b| a.bits.total_cmp(&b.bits));
        Estimate { key, attacks }
    }

    /// Every attack that can succeed, the cheapest first; never empty.
    pub fn attacks(&self) -> &[Attack] {
        &self.attacks
    }

    /// The cheapest attack.
    pub fn best(&self) -> &Attack {
        &self.attacks[0]
    }

    /// The security of the key: log2 of the cost of the cheapest attack. For a lattice that LLL
    /// breaks, this formula gives some 35 to 45 bits, which means no security.
    pub fn bits(&self) -> f64 {
        self.best().bits
    }

    /// The attack of this name.
    pub fn attack(&self, name: AttackName) -> Option<&Attack> {
        self.attacks.iter().find(|attack| attack.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for name in [
            AttackName::Usvp,
            AttackName::PrimalHybridMitm,
            AttackName::PrimalHybridRepresentations,
            AttackName::Enumeration,
            AttackName::ExhaustiveSearch,
            AttackName::DualHybrid,
            AttackName::DenseSublattice,
        ] {
            assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
        }
    }
}
