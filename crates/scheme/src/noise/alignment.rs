//! Constants that bring operands to one correction factor.

use everlevel_ring::PrimePower;

use super::meta::Meta;
use super::tracker::NoiseTracker;
use crate::error::SchemeError;

impl NoiseTracker {
    /// For `a` and `b` of one plaintext modulus: the constant (centered) by which to multiply one
    /// of them so that both carry the same factor at the lower of their levels, and which one
    /// (`true`: the first). None if they agree.
    pub fn alignment(&self, a: &Meta, b: &Meta) -> Option<(bool, i64)> {
        let t = self.arithmetic(a);
        let low = a.level.min(b.level);
        let at = |m: &Meta| {
            t.mul(
                m.factor,
                self.switch_factor(self.chain.basis(m.level), self.chain.basis(low), m.exponent),
            )
        };
        let (fa, fb) = (at(a), at(b));
        if fa == fb {
            return None;
        }
        let ratio = |from, to| t.centered(t.mul(to, t.inv(from).expect("factors are units")));
        let (ca, cb) = (ratio(fa, fb), ratio(fb, fa));
        // The constant goes to the operand that is switched down anyway; at equal levels the
        // smaller constant is chosen.
        let first = match a.level.cmp(&b.level) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => ca.unsigned_abs() <= cb.unsigned_abs(),
        };
        Some(if first { (true, ca) } else { (false, cb) })
    }

    /// How to form Σ k_i x_i: the terms, from the highest level down. All meet at the lowest level
    /// with the factor of the term that is there.
    ///
    /// # Errors
    /// No term, terms of different plaintext moduli.
    pub fn combination(&self, terms: &[&Meta]) -> Result<Vec<AlignedTerm>, SchemeError> {
        let lowest =
            terms.iter().min_by_key(|m| m.level).ok_or_else(|| SchemeError::BadArgument {
                what: "linear combination",
                expected: "at least one term".into(),
                found: "none".into(),
            })?;
        let modulus = self.arithmetic(lowest);
        let inverse = |x| modulus.inv(x).expect("factors are units");
        let low = self.chain.basis(lowest.level);
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(terms[i].level));
        let term = |position: usize| {
            let m = terms[position];
            if m.exponent != lowest.exponent {
                return Err(SchemeError::PlainModulusMismatch {
                    operation: "linear combination",
                    left: m.exponent,
                    right: lowest.exponent,
                });
            }
            let down = self.switch_factor(self.chain.basis(m.level), low, m.exponent);
            let factor = modulus.mul(lowest.factor, inverse(down));
            let ratio = modulus.mul(factor, inverse(m.factor));
            Ok(AlignedTerm { position, factor, ratio, modulus })
        };
        order.into_iter().map(term).collect()
    }

    /// The sum so far, if there is one, and terms at its level that were multiplied by constants,
    /// of which there is one at least.
    ///
    /// # Errors
    /// Too much noise.
    pub fn combined<'m>(
        &self,
        above: Option<Meta>,
        terms: impl IntoIterator<Item = (&'m AlignedTerm, &'m Meta, i64)>,
    ) -> Result<Meta, SchemeError> {
        let mut sum = above;
        for (term, m, constant) in terms {
            let scaled = self.scale(m, constant.unsigned_abs())?;
            let next = Meta { factor: term.factor, ..scaled };
            sum = Some(match sum {
                None => next,
                Some(sum) => self.add(&sum, &next)?,
            });
        }
        Ok(sum.expect("a combination has a term"))
    }
}

/// A term of a linear combination.
#[derive(Clone, Copy, Debug)]
pub struct AlignedTerm {
    /// Its place among the terms.
    pub position: usize,
    /// The factor that it carries after the multiplication.
    pub factor: u64,
    /// What the multiplication has to do to its factor.
    ratio: u64,
    modulus: PrimePower,
}

impl AlignedTerm {
    /// The constant, centered, by which to multiply the term so that k times its message comes out.
    pub fn constant(&self, k: i64) -> i64 {
        let t = self.modulus;
        t.centered(t.mul(t.reduce_i64(k), self.ratio))
    }
}
