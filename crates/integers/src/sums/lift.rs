//! Truth values modulo p^2, ready for products with pieces of columns.

use everlevel_circuit::{CircuitError, Value, take_least};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Arithmetic, ExactScheme, Level, NextUse, PlainModulus, Scheme};
use rayon::prelude::*;

use crate::column::Column;
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;

/// The number of bits by which a piece may be noisier than a mask.
pub(super) const MARGIN: f64 = 2.0;
/// The depth, modulo p^2, of the steps after a mask: its lift, and the product with a piece.
pub(super) const DEPTH: u32 = 3;

/// Lifted truth values, all with the same level and the same correction factor.
pub(super) enum Masks<C> {
    /// All sums are over all rows.
    None,
    /// A mask for each of the plan, and last the one of sums without, if there are such sums.
    Joined(Vec<C>),
    /// The filter and the masks separately, because their products would be too deep: products are
    /// formed first with the masks, which have less noise, and then with the filter.
    Apart(C, Vec<C>),
}

/// The levels of a lift: where it starts, after the square, after the product.
type Levels = [Level; 3];

impl<S: IntegerScheme> Integers<'_, S> {
    /// What rows are chosen by, modulo p^2, so that a product with a piece has `needed` bits of
    /// capacity at the level `end`. `one` is 1 in every slot; `unmasked`: there are sums without a
    /// mask.
    pub(super) fn masks(
        &self,
        filter: Option<&Column<S::Ciphertext>>,
        masks: &[Column<S::Ciphertext>],
        unmasked: bool,
        one: &S::Ciphertext,
        (end, needed): (Level, f64),
    ) -> Result<Masks<S::Ciphertext>, IntegersError> {
        let rehearsal = self.rehearsal();
        let leaves = |z: &NoOpCiphertext| {
            let product = rehearsal.mul_lazy_aligned(z, z).ok()?;
            let product = rehearsal.relinearize(&product, NextUse::Keep).ok()?;
            let packed = rehearsal.mod_switch_to(&product, end).ok()?;
            Some(rehearsal.capacity_bits(&packed) >= needed)
        };
        let apart = masks.iter().map(|mask| self.mask(mask, one));
        let apart = apart.collect::<Result<Vec<_>, _>>()?;
        let Some(filter) = filter else {
            if masks.is_empty() {
                return Ok(Masks::None);
            }
            let all = unmasked.then(|| Value::from(one.clone()));
            return Ok(Masks::Joined(self.lifted(apart.into_iter().chain(all).collect(), leaves)?));
        };
        let whole = self.mask(filter, one)?;
        if !masks.is_empty() && self.levels(&self.both(&whole, &apart)?, leaves).is_none() {
            let short = self.levels(&self.known(&[&whole])?, leaves).is_none();
            if short && self.session().can_bootstrap() {
                self.refresh(&whole)?;
            }
            if let Some(found) = self.apart(&whole, &apart, one, leaves)? {
                return Ok(found);
            }
        }
        let mut joined = Vec::with_capacity(masks.len() + 1);
        for mask in masks {
            joined.push(self.mask(&self.and(filter, mask)?, one)?);
        }
        joined.extend(Some(whole).filter(|_| unmasked || masks.is_empty()));
        Ok(Masks::Joined(self.lifted(joined, leaves)?))
    }

    /// Filter and masks lifted separately; `None` if that does not fit.
    fn apart(
        &self,
        filter: &Value<S::Ciphertext>,
        masks: &[Value<S::Ciphertext>],
        one: &S::Ciphertext,
        leaves: impl Fn(&NoOpCiphertext) -> Option<bool>,
    ) -> Result<Option<Masks<S::Ciphertext>>, IntegersError> {
        let rehearsal = self.rehearsal();
        let half = (self.modulus().prime().pow(2) / 2) as i64;
        let Some(last) = self.levels(&self.known(&[filter])?, leaves) else { return Ok(None) };
        let end = last[2];
        let fresh = self.pretended(one).and_then(|one| {
            let one = rehearsal.extend_plain_modulus(&one, 2).ok()?;
            rehearsal.mod_switch_to(&one, end).ok()
        });
        let Some(fresh) = fresh else { return Ok(None) };
        let needed = rehearsal.capacity_bits(&fresh) - MARGIN;
        // After the product comes the constant that gives it the factor of the others.
        let leaves = |z: &NoOpCiphertext| {
            let product = rehearsal.mul_lazy_aligned(z, z).ok()?;
            let product = rehearsal.relinearize(&product, NextUse::Keep).ok()?;
            let product = rehearsal.mul_scalar(&product, half).ok()?;
            let lowered = rehearsal.mod_switch_to(&product, end).ok()?;
            Some(rehearsal.capacity_bits(&lowered) >= needed)
        };
        let values: Vec<_> = masks.iter().collect();
        let Some(first) = self.levels(&self.known(&values)?, leaves) else { return Ok(None) };
        let scheme = self.session().scheme();
        let filter = lift(scheme, &*self.operand(filter)?, last)?;
        let masks = masks.par_iter().map(|mask| Ok(lift(scheme, &*self.operand(mask)?, first)?));
        Ok(Some(Masks::Apart(filter, masks.collect::<Result<_, IntegersError>>()?)))
    }

    /// A column of truth values as a ciphertext.
    fn mask(
        &self,
        x: &Column<S::Ciphertext>,
        one: &S::Ciphertext,
    ) -> Result<Value<S::Ciphertext>, IntegersError> {
        let bit = self.bit("a sum", x)?;
        let scheme = self.session().scheme();
        Ok(match bit.cipher {
            Some(value) => value,
            None => Value::from(scheme.linear_combination(&[(one, 0)], bit.low)?),
        })
    }

    /// Ciphertexts that represent these values in rehearsals.
    fn known(
        &self,
        values: &[&Value<S::Ciphertext>],
    ) -> Result<Vec<NoOpCiphertext>, IntegersError> {
        let pretended = values.iter().map(|v| Ok(self.pretended(&*self.operand(v)?)));
        let found = pretended.collect::<Result<Option<Vec<_>>, IntegersError>>()?;
        Ok(found.unwrap_or_default())
    }

    /// Ciphertexts that represent the conjunctions of a filter with masks, and the filter, in
    /// rehearsals.
    fn both(
        &self,
        filter: &Value<S::Ciphertext>,
        masks: &[Value<S::Ciphertext>],
    ) -> Result<Vec<NoOpCiphertext>, IntegersError> {
        let (filter, masks) =
            (self.known(&[filter])?, self.known(&masks.iter().collect::<Vec<_>>())?);
        let [filter] = &filter[..] else { return Ok(Vec::new()) };
        let product = |mask| self.rehearsal().mul(filter, mask, NextUse::Product).ok();
        let joined = masks.iter().map(product).chain([Some(filter.clone())]);
        Ok(joined.collect::<Option<Vec<_>>>().unwrap_or_default())
    }

    /// The lowest levels at which all of these can be lifted with enough capacity left.
    fn levels(
        &self,
        values: &[NoOpCiphertext],
        leaves: impl Fn(&NoOpCiphertext) -> Option<bool>,
    ) -> Option<Levels> {
        let rehearsal = self.rehearsal();
        let top = values.iter().map(|x| rehearsal.level(x)).min()?;
        // Most masks have been through the same operations.
        let mut distinct: Vec<&NoOpCiphertext> = Vec::new();
        for x in values {
            if !distinct.iter().any(|y| y.meta() == x.meta()) {
                distinct.push(x);
            }
        }
        let values = distinct;
        let fits = |levels: &Levels| {
            let left = |x: &NoOpCiphertext| leaves(&lift(rehearsal, x, *levels).ok()?);
            values.iter().all(|x| left(x) == Some(true))
        };
        let levels = |level| {
            let each = values.iter().map(|x| natural(rehearsal, x, level).ok());
            let each = each.collect::<Option<Vec<_>>>()?;
            let lowest = |i: usize| each.iter().map(|levels| levels[i]).min();
            Some([level, lowest(1)?, lowest(2)?])
        };
        (0..=top.0).map(Level).filter_map(levels).find(fits)
    }

    /// Lifts all of these; those with the least capacity are bootstrapped as far as necessary.
    fn lifted(
        &self,
        values: Vec<Value<S::Ciphertext>>,
        leaves: impl Fn(&NoOpCiphertext) -> Option<bool>,
    ) -> Result<Vec<S::Ciphertext>, IntegersError> {
        let scheme = self.session().scheme();
        let mut stale: Vec<usize> = match self.session().can_bootstrap() {
            true => (0..values.len()).collect(),
            false => Vec::new(),
        };
        loop {
            let known = self.known(&values.iter().collect::<Vec<_>>())?;
            if let Some(levels) = self.levels(&known, &leaves) {
                let lifted = values.par_iter();
                let lifted = lifted.map(|x| Ok(lift(scheme, &*self.operand(x)?, levels)?));
                return lifted.collect();
            }
            let capacity = |i: &usize| scheme.capacity_bits(&values[*i].get());
            let Some(worst) = take_least(&mut stale, capacity) else {
                let left = (0..values.len()).map(|i| capacity(&i)).fold(f64::INFINITY, f64::min);
                let needed = self.session().minimum_capacity();
                return Err(self.too_deep(DEPTH, left, needed));
            };
            self.refresh(&values[worst])?;
        }
    }
}

/// The levels to which the modulus should be switched in a lift that starts at a given level.
fn natural<T: ExactScheme>(
    scheme: &T,
    x: &T::Ciphertext,
    level: Level,
) -> Result<Levels, CircuitError> {
    let z = scheme.extend_plain_modulus(&scheme.mod_switch_to(x, level)?, 2)?;
    let square = scheme.relinearize(&scheme.mul_lazy_aligned(&z, &z)?, NextUse::Product)?;
    let product = scheme.relinearize(&scheme.mul_lazy(&square, &z)?, NextUse::Product)?;
    Ok([level, scheme.level(&square), scheme.level(&product)])
}

/// z^2 (3 - 2 z) modulo p^2, which is 0 or 1 whatever multiple of p is in z, with these levels.
fn lift<T: ExactScheme>(
    scheme: &T,
    x: &T::Ciphertext,
    [start, second, end]: Levels,
) -> Result<T::Ciphertext, CircuitError> {
    // The levels are those of a rehearsal: a hair more noise must not switch further down.
    let z = scheme.extend_plain_modulus(&scheme.mod_switch_to(x, start)?, 2)?;
    let square = scheme.relinearize(&scheme.mul_lazy_aligned(&z, &z)?, NextUse::Keep)?;
    let square = scheme.mod_switch_to(&square, second)?;
    let rest = scheme.mod_switch_to(&scheme.linear_combination(&[(&z, -2)], 3)?, second)?;
    let product = scheme.mul_lazy_aligned(&square, &rest)?;
    let product = scheme.relinearize(&product, NextUse::Keep)?;
    Ok(scheme.mod_switch_to(&product, end)?)
}
