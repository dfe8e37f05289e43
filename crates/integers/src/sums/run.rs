//! Sums over all slots, computed and packed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use everlevel_circuit::{SumPacking, Value};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Arithmetic, Level, NextUse, PlainModulus, Scheme, SchemeError};
use rayon::prelude::*;

use super::expand::{Piece, middle};
use super::lift::{DEPTH, MARGIN, Masks};
use super::plan::{Accumulator, SumPlan};
use super::shape::Shape;
use crate::column::Column;
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;

/// The least capacity of a packed answer, in bits.
const ROOM: f64 = 3.0;
/// How far above the lowest level, in bits, sums may be packed for cheaper key switches.
const WINDOW: f64 = 12.0;

/// The accumulators of a [`SumPlan`], for the blocks of rows added so far.
pub struct Accumulated<S: IntegerScheme>(Vec<Option<Sum<S>>>);

impl<S: IntegerScheme> Default for Accumulated<S> {
    fn default() -> Self {
        Accumulated(Vec::new())
    }
}

/// A sum of one accumulator over blocks.
enum Sum<S: IntegerScheme> {
    /// A sum of pieces, without masks.
    Plain(S::Ciphertext),
    /// A sum of products with masks, which is relinearized once.
    Product(S::Product),
}

/// Products of pieces, by the pieces; the product of none is 1.
type Products<C> = BTreeMap<Vec<Piece>, C>;

impl<S: IntegerScheme> Integers<'_, S> {
    /// Adds the rows of one block of columns: those that the truth values `filter` choose, if there
    /// are any, and among them those of the truth values that the plan names by their indices in
    /// `masks`. It takes two products to lift a mask to modulo p^2, one for each product of pieces,
    /// and a tensor product for each of these and each mask; masks are bootstrapped where these do
    /// not fit.
    ///
    /// All sums that are packed later pass through the same products and levels, so that they have
    /// the same correction factor ([`Arithmetic::linear_combination`]): aligning them would take
    /// half the bits of p^2, which only the pieces have to spare.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] for columns that are not those of the plan, or not modulo p^2, for
    /// fewer masks than it names, and for a filter that it does not have;
    /// [`IntegersError::Type`] for masks that are not truth values; [`IntegersError::Depth`]; those
    /// of the scheme.
    pub fn accumulate(
        &self,
        plan: &SumPlan,
        columns: &[Column<S::Ciphertext>],
        filter: Option<&Column<S::Ciphertext>>,
        masks: &[Column<S::Ciphertext>],
        into: &mut Accumulated<S>,
    ) -> Result<(), IntegersError> {
        let fits = columns.len() == plan.shapes.len()
            && columns.iter().zip(&plan.shapes).all(|(x, s)| Shape::of_column(x) == *s);
        if !fits {
            return Err(wrong("columns with other bounds than those of the plan"));
        }
        let named = plan.added_up().filter_map(|accumulator| accumulator.mask).max();
        if named.is_some_and(|mask| mask >= masks.len()) {
            return Err(wrong("a mask that was not given"));
        }
        if filter.is_some() && !plan.filtered {
            return Err(wrong("a filter that the plan does not have"));
        }
        if plan.accumulators.is_empty() {
            return Ok(());
        }
        let scheme = self.session().scheme();
        let one = columns.iter().flat_map(Column::values).next().map(Value::get);
        let one = one.ok_or_else(|| wrong("a table of public columns"))?;
        let one = scheme.linear_combination(&[(&one, 0)], 1)?;
        let (level, capacity) = self.packed_at(plan)?;
        let blocks = f64::from(plan.blocks.next_power_of_two().ilog2());
        let unmasked = plan.added_up().any(|accumulator| accumulator.mask.is_none());
        // A difference has the noise of two sums.
        let doubled = if plan.differences.is_empty() { 0.0 } else { 1.0 };
        let end = (level, capacity + blocks + MARGIN + doubled);
        let masks = self.masks(filter, masks, unmasked, &one, end)?;
        let level = match &masks {
            Masks::None => None,
            Masks::Joined(masks) | Masks::Apart(_, masks) => masks.first(),
        };
        let level = level.map(|mask| scheme.level(mask));
        let products = self.products(plan, columns, &one, level)?;
        let summand = |Accumulator { mask, pieces }: &Accumulator| {
            let product = products.get(pieces).ok_or_else(|| wrong("a product without factors"))?;
            let lacks = || wrong("a mask that was not given");
            Ok::<_, IntegersError>(match &masks {
                Masks::None => Sum::Plain(product.clone()),
                Masks::Joined(masks) => {
                    // The last one is that of sums without.
                    let mask = masks.get(mask.unwrap_or(masks.len() - 1)).ok_or_else(lacks)?;
                    Sum::Product(scheme.mul_lazy_aligned(mask, product)?)
                }
                Masks::Apart(filter, masks) => {
                    let end = scheme.level(filter);
                    let selected = match mask {
                        None => product.clone(),
                        Some(i) => {
                            let mask = masks.get(*i).ok_or_else(lacks)?;
                            let product = scheme.mul_lazy_aligned(mask, product)?;
                            let product = scheme.relinearize(&product, NextUse::Keep)?;
                            self.like_pieces(product, &one)?
                        }
                    };
                    let selected = scheme.mod_switch_to(&selected, end)?;
                    Sum::Product(scheme.mul_lazy_aligned(filter, &selected)?)
                }
            })
        };
        into.0.resize_with(plan.accumulators.len(), || None);
        let all = into.0.par_iter_mut().zip(&plan.accumulators).enumerate();
        let added = all.map(|(i, (sum, accumulator))| {
            if plan.differences.contains_key(&i) {
                return Ok(());
            }
            let here = summand(accumulator)?;
            *sum = Some(match (sum.take(), here) {
                (None, here) => here,
                (Some(Sum::Plain(a)), Sum::Plain(b)) => Sum::Plain(scheme.add(&a, &b)?),
                (Some(Sum::Product(a)), Sum::Product(b)) => {
                    Sum::Product(scheme.add_products(&a, &b)?)
                }
                _ => return Err(wrong("sums of another plan")),
            });
            Ok(())
        });
        added.collect()
    }

    /// The ciphertexts whose plaintexts [`SumPlan::totals`] reads. It takes about two key switches
    /// for each sum, at the lowest level that has room for them.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] unless a block was added; too little capacity; missing keys.
    pub fn pack(
        &self,
        plan: &SumPlan,
        sums: Accumulated<S>,
    ) -> Result<Vec<S::Ciphertext>, IntegersError> {
        let scheme = self.session().scheme();
        let mut sums = sums.0;
        if sums.len() != plan.accumulators.len() {
            return Err(wrong("no rows were added"));
        }
        let (level, needed) = self.packed_at(plan)?;
        let mut out = Vec::with_capacity(plan.packings.len());
        for (packing, range) in plan.groups() {
            let places = range.clone().into_par_iter().zip(&mut sums[range.clone()]);
            let plain = places.map(|(place, sum)| match sum.take() {
                Some(Sum::Plain(x)) => Ok(Some(x)),
                // The level is chosen below: more noise than that of one block must not lower it.
                Some(Sum::Product(x)) => Ok(Some(scheme.relinearize(&x, NextUse::Keep)?)),
                None if plan.differences.contains_key(&place) => Ok(None),
                None => Err(wrong("sums that were packed already")),
            });
            let plain = plain.collect::<Result<Vec<_>, IntegersError>>()?;
            let lowered = plain.par_iter().map(|x| {
                let lowered = x.as_ref().map(|x| scheme.mod_switch_to(x, level));
                lowered.transpose()
            });
            let mut lowered = lowered.collect::<Result<Vec<_>, SchemeError>>()?;
            for (place, (whole, part)) in plan.differences.range(range.clone()) {
                let [a, b] = [whole, part].map(|i| lowered[i - range.start].as_ref());
                let (Some(a), Some(b)) = (a, b) else { return Err(wrong("a difference of none")) };
                let difference = scheme.linear_combination(&[(a, 1), (b, -1)], 0)?;
                lowered[place - range.start] = Some(difference);
            }
            let lowered: Vec<_> = lowered.into_iter().flatten().collect();
            let left =
                lowered.iter().map(|x| scheme.capacity_bits(x)).fold(f64::INFINITY, f64::min);
            if left < needed {
                return Err(self.too_deep(DEPTH, left, needed));
            }
            out.push(packing.pack(scheme, &lowered)?);
        }
        Ok(out)
    }

    /// The level with keys at which sums of products are packed, and the capacity in bits that this
    /// takes: the cheapest near the lowest one at which they can be. On `bgv-65537-n15` that is a
    /// level of 96 bits, where a key takes half of what it takes at 86.
    fn packed_at(&self, plan: &SumPlan) -> Result<(Level, f64), IntegersError> {
        let (scheme, rehearsal) = (self.session().scheme(), self.rehearsal());
        let growth = plan.packings.iter().map(SumPacking::growth_bits).max().unwrap_or(0);
        let needed = f64::from(growth) + ROOM;
        let fresh = rehearsal.encrypt(self.blank())?;
        let top = rehearsal.level(&fresh);
        let fresh = rehearsal.extend_plain_modulus(&fresh, 2)?;
        let product = rehearsal.mul(&fresh, &fresh, NextUse::LinearMap)?;
        let has_room = |level: &Level| {
            let switched = rehearsal.mod_switch_to(&product, *level);
            switched.is_ok_and(|y| rehearsal.capacity_bits(&y) >= needed + MARGIN)
        };
        let fits = |level: &Level| {
            let has_keys = |packing: &SumPacking| packing.level(scheme, *level) == *level;
            has_room(level) && plan.packings.iter().all(has_keys)
        };
        let left = rehearsal.capacity_bits(&product);
        let short = || self.too_deep(DEPTH, left, needed);
        // Whatever keys there are, so that those of a plan are enough where there are others, too.
        let lowest = (0..=top.0).map(Level).find(&has_room).ok_or_else(short)?;
        let chain = self.params().chain();
        let near = |level: &Level| chain.bits(*level) <= chain.bits(lowest) + WINDOW;
        let levels = || (lowest.0..=top.0).map(Level);
        let cheapest = levels().take_while(near).filter(&fits);
        let cheapest = cheapest.min_by_key(|level| (chain.switch_cost(*level), level.0));
        let level = cheapest.or_else(|| levels().find(&fits)).ok_or_else(short)?;
        Ok((level, needed))
    }

    /// The products of pieces that a plan names, at the lowest levels from which they reach
    /// `level`, with the correction factor that pieces have there.
    fn products(
        &self,
        plan: &SumPlan,
        columns: &[Column<S::Ciphertext>],
        one: &S::Ciphertext,
        level: Option<Level>,
    ) -> Result<Products<S::Ciphertext>, IntegersError> {
        let scheme = self.session().scheme();
        let wanted: BTreeSet<&Vec<Piece>> = plan.accumulators.iter().map(|a| &a.pieces).collect();
        let most = wanted.iter().map(|pieces| pieces.len()).max().unwrap_or(0);
        let start = self.start(one, most, level);
        let single: BTreeSet<Piece> = wanted.iter().flat_map(|p| p.iter().copied()).collect();
        let single: Vec<Piece> = single.into_iter().collect();
        let made = single.par_iter().map(|piece| {
            let x = self.piece(&columns[piece.column], piece)?;
            Ok((vec![*piece], scheme.mod_switch_to(&x, start.min(scheme.level(&x)))?))
        });
        let mut known = made.collect::<Result<Products<_>, IntegersError>>()?;
        // Shorter products first, which the longer ones begin with.
        for length in 2..=most {
            let longer: BTreeSet<Vec<Piece>> =
                wanted.iter().filter(|p| p.len() >= length).map(|p| p[..length].to_vec()).collect();
            let longer: Vec<_> = longer.into_iter().collect();
            let products = longer.par_iter().map(|pieces| {
                let (first, last) = pieces.split_at(length - 1);
                let (Some(a), Some(b)) = (known.get(first), known.get(last)) else {
                    return Err(wrong("a product without its factors"));
                };
                let product = scheme.mul(a, b, NextUse::Product)?;
                Ok((pieces.clone(), self.like_pieces(product, one)?))
            });
            let products = products.collect::<Result<Vec<_>, IntegersError>>()?;
            known.extend(products);
        }
        known.insert(Vec::new(), scheme.mod_switch_to(one, start)?);
        // A product of all masks with something at their level, whatever its length.
        if let Some(level) = level {
            let lowered = known.into_par_iter().map(|(pieces, x)| {
                let level = level.min(scheme.level(&x));
                Ok((pieces, scheme.mod_switch_to(&x, level)?))
            });
            known = lowered.collect::<Result<_, SchemeError>>()?;
        }
        Ok(known)
    }

    /// A product with the correction factor of a piece at its level.
    fn like_pieces(
        &self,
        product: S::Ciphertext,
        one: &S::Ciphertext,
    ) -> Result<S::Ciphertext, IntegersError> {
        let scheme = self.session().scheme();
        let like = scheme.mod_switch_to(one, scheme.level(&product))?;
        Ok(scheme.linear_combination(&[(&like, 0), (&product, 1)], 0)?)
    }

    /// The lowest level for pieces from which aligned products of `factors` pieces have as little
    /// noise at `level` as the pieces themselves; the present level if there is none, or if `level`
    /// is `None`.
    fn start(&self, piece: &S::Ciphertext, factors: usize, level: Option<Level>) -> Level {
        let (top, rehearsal) = (self.session().scheme().level(piece), self.rehearsal());
        let (Some(level), Some(piece)) = (level, self.pretended(piece)) else { return top };
        let half = (self.modulus().prime().pow(2) / 2) as i64;
        let at = |x: &NoOpCiphertext, level| {
            let x = rehearsal.mod_switch_to(x, level).ok()?;
            Some((rehearsal.capacity_bits(&x), x))
        };
        let reaches = |from: &Level| {
            let piece = rehearsal.extend_plain_modulus(&piece, 2).ok()?;
            let single = at(&piece, *from)?.1;
            let mut product = single.clone();
            for _ in 1..factors {
                product = rehearsal.mul(&product, &single, NextUse::Product).ok()?;
                product = rehearsal.mul_scalar(&product, half).ok()?;
            }
            Some(at(&product, level)?.0 + MARGIN >= at(&piece, level)?.0)
        };
        let reached = (level.0..=top.0).map(Level).find(|from| reaches(from) == Some(true));
        if factors > 1 { reached.unwrap_or(top) } else { level.min(top) }
    }

    /// Σ 16^i (d_i - their middle) of some digits, modulo p^2.
    fn piece(
        &self,
        column: &Column<S::Ciphertext>,
        piece: &Piece,
    ) -> Result<S::Ciphertext, IntegersError> {
        let scheme = self.session().scheme();
        let mut constant = 0;
        let mut values: Vec<(Arc<S::Ciphertext>, i64)> = Vec::with_capacity(piece.count);
        for (i, digit) in column.digits[piece.first..piece.first + piece.count].iter().enumerate() {
            let weight = 1i64 << (4 * i);
            match digit.cipher.as_ref().map(Value::get) {
                None => constant += weight * digit.low,
                Some(x) if scheme.plain_exponent(&x) == 2 => values.push((x, weight)),
                Some(_) => {
                    return Err(wrong(
                        "a column modulo p: encrypt what is added up as columns of a table",
                    ));
                }
            }
            constant -= weight * middle((digit.low, digit.high));
        }
        let terms: Vec<_> = values.iter().map(|(x, weight)| (x.as_ref(), *weight)).collect();
        Ok(scheme.linear_combination(&terms, constant)?)
    }
}

fn wrong(problem: &str) -> IntegersError {
    IntegersError::Parts { problem: problem.into() }
}
