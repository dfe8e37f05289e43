//! Constants that give operands one factor.

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
        // The one that is switched down anyway absorbs the constant; at one level the smaller
        // constant wins.
        let first = match a.level.cmp(&b.level) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => ca.unsigned_abs() <= cb.unsigned_abs(),
        };
        Some(if first { (true, ca) } else { (false, cb) })
    }

    /// How to form Σ k_i x_i: for each term (from the highest level down) its position, the
    /// centered constant to multiply it by and the factor that it carries then. All meet at the
    /// lowest level with the factor of the term that is there.
    pub fn combination(
        &self,
        terms: &[(&Meta, i64)],
    ) -> Result<Vec<(usize, i64, u64)>, SchemeError> {
        let lowest =
            terms.iter().min_by_key(|(m, _)| m.level).ok_or_else(|| SchemeError::BadArgument {
                what: "linear combination",
                expected: "at least one term".into(),
                found: "none".into(),
            })?;
        let t = self.arithmetic(lowest.0);
        let low = self.chain.basis(lowest.0.level);
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(terms[i].0.level));
        order
            .into_iter()
            .map(|i| {
                let (m, k) = terms[i];
                if m.exponent != lowest.0.exponent {
                    return Err(SchemeError::PlainModulusMismatch {
                        operation: "linear combination",
                        left: m.exponent,
                        right: lowest.0.exponent,
                    });
                }
                let down = self.switch_factor(self.chain.basis(m.level), low, m.exponent);
                let wanted = t.mul(lowest.0.factor, t.inv(down).expect("factors are units"));
                let constant = t.mul(
                    t.reduce_i64(k),
                    t.mul(wanted, t.inv(m.factor).expect("factors are units")),
                );
                Ok((i, t.centered(constant), wanted))
            })
            .collect()
    }
}
