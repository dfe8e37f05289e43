//! Functions on few integer points as polynomials modulo p.

use std::collections::BTreeMap;

use everlevel_circuit::poly::{DepthGoal, Parity, Polynomial, PolynomialPlan};
use everlevel_circuit::straight_line::CircuitCosts;
use everlevel_circuit::{CircuitError, PrimePower};
use everlevel_scheme::{ExactScheme, NextUse};

use crate::error::IntegersError;

/// Above this number of points, only one symmetry and one way of evaluation are considered.
const SYMMETRIC_POINTS: usize = 64;
/// The largest number of points for which there are squares of polynomials of the variable itself.
const SQUARED_POINTS: usize = 16;
/// The number of ways of evaluation that are kept.
const WAYS: usize = 6;

/// The evaluation of one or several functions on the integers `low..=high` of one ciphertext.
///
/// A function on n points is a polynomial of degree n - 1 modulo p; several share the powers of
/// their variable. A single function that is odd or even about a center c, up to a constant, is
/// continued to a symmetric interval and evaluated in x - c, half of its coefficients being 0: the
/// sign of -15..15 takes 10 products at depth 5. Centers may be halves of integers, so steps such
/// as [x >= 0] are odd. All ways of least depth are kept, cheapest first: with a few products more
/// some leave a third of a level more capacity, which is what makes depth 5 fit a bootstrapped
/// ciphertext of `bgv-65537-n15`.
///
/// The values outside of these points are unspecified: the caller must know that the variable is
/// always one of them.
#[derive(Clone, Debug)]
pub struct TablePlan {
    low: i64,
    high: i64,
    ways: Vec<Way>,
    outputs: Vec<Output>,
}

/// One way of evaluation: of polynomials in x + shift.
#[derive(Clone, Debug)]
struct Way {
    plan: PolynomialPlan,
    shift: i64,
    /// The integer that is added to all of them.
    offset: i64,
}

#[derive(Clone, Debug)]
struct Output {
    /// The least and the largest entry.
    window: (i64, i64),
    /// The index of the polynomial; `None` for constants.
    polynomial: Option<usize>,
    entries: Vec<i64>,
}

impl TablePlan {
    /// The plan for `tables`, each with an entry for each integer of `low..=high`.
    ///
    /// # Errors
    /// [`CircuitError::Ring`] if two of the points agree modulo p; [`CircuitError::SlotCount`] for
    /// a table of another length.
    pub fn new(
        modulus: PrimePower,
        low: i64,
        high: i64,
        tables: &[Vec<i64>],
    ) -> Result<Self, IntegersError> {
        let expected = usize::try_from(high - low + 1).unwrap_or(0);
        if let Some(table) = tables.iter().find(|t| t.len() != expected || t.is_empty()) {
            return Err(CircuitError::SlotCount { expected, found: table.len() }.into());
        }
        let mut varying: Vec<&Vec<i64>> = Vec::new();
        let mut outputs = Vec::with_capacity(tables.len());
        for entries in tables {
            let least = entries.iter().copied().min().unwrap_or(0);
            let most = entries.iter().copied().max().unwrap_or(0);
            let polynomial = (least < most).then_some(varying.len());
            if least < most {
                varying.push(entries);
            }
            outputs.push(Output { window: (least, most), polynomial, entries: entries.clone() });
        }
        if varying.is_empty() {
            return Ok(TablePlan { low, high, ways: Vec::new(), outputs });
        }
        let points: Vec<u64> = (low..=high).map(|x| modulus.reduce_i64(x)).collect();
        let plain = |entries: &&Vec<i64>| {
            let values: Vec<u64> = entries.iter().map(|v| modulus.reduce_i64(*v)).collect();
            Polynomial::interpolate(modulus, &points, &values)
        };
        let polynomials = varying.iter().map(plain).collect::<Result<Vec<_>, _>>()?;
        let way = |shift: i64, offset: i64| move |plan| Way { plan, shift, offset };
        let mut ways: Vec<Way> = if expected > SYMMETRIC_POINTS {
            let large =
                |polynomials: &[Polynomial]| PolynomialPlan::new(polynomials, DepthGoal::Least);
            match &varying[..] {
                [entries] => {
                    let form = symmetric_form(modulus, low, high, entries)?;
                    let own = way(form.shift, form.offset)(large(&[form.polynomial])?);
                    // A longer interval may take a level more than the function itself.
                    let least = expected.next_power_of_two().trailing_zeros();
                    match own.plan.costs().depth > least {
                        true => vec![own, way(0, 0)(large(&polynomials)?)],
                        false => vec![own],
                    }
                }
                _ => vec![way(0, 0)(large(&polynomials)?)],
            }
        } else {
            PolynomialPlan::candidates(&polynomials)?.into_iter().map(way(0, 0)).collect()
        };
        if let ([entries], true) = (&varying[..], expected <= SYMMETRIC_POINTS) {
            for Symmetric { polynomial, shift, offset } in
                symmetric(modulus, low, high, entries, usize::MAX)?
            {
                let plans = PolynomialPlan::candidates(&[polynomial])?;
                ways.extend(plans.into_iter().map(way(shift, offset)));
            }
        }
        let mut ways = shallow(ways);
        ways.truncate(WAYS);
        Ok(TablePlan { low, high, ways, outputs })
    }

    /// The plan for one table, which may also be evaluated by squares
    /// ([`PolynomialPlan::by_squares`]): a function of 9 to 16 points takes 6 products and 4 or 5
    /// relinearizations, instead of 7 and 6, at the same depth, and an even one of up to 31 points
    /// one of each more, at depth 5. The other ways are kept, for inputs of which squares would
    /// leave too little.
    ///
    /// # Errors
    /// As [`TablePlan::new`].
    pub fn by_squares(
        modulus: PrimePower,
        low: i64,
        high: i64,
        entries: &[i64],
    ) -> Result<Self, IntegersError> {
        let mut plan = Self::new(modulus, low, high, &[entries.to_vec()])?;
        if plan.ways.is_empty() || entries.len() > SYMMETRIC_POINTS {
            return Ok(plan);
        }
        // An even function is one of the squares, of which there are half as many.
        let even = entries.len() > SQUARED_POINTS;
        let form = match even {
            true => symmetric_form(modulus, low, high, entries)?,
            false => own_form(modulus, low, high, entries)?,
        };
        if even && form.polynomial.parity() != Parity::Even {
            return Ok(plan);
        }
        let values: BTreeMap<u64, u64> = (low..=high)
            .map(|x| {
                let x = modulus.add(modulus.reduce_i64(x), modulus.reduce_i64(form.shift));
                let point = if even { modulus.mul(x, x) } else { x };
                (point, form.polynomial.evaluate(x))
            })
            .collect();
        let (points, values): (Vec<u64>, Vec<u64>) = values.into_iter().unzip();
        let found = PolynomialPlan::by_squares(modulus, &points, &values, even)?;
        let (shift, offset) = (form.shift, form.offset);
        plan.ways.extend(found.into_iter().map(|found| Way { plan: found, shift, offset }));
        plan.ways = shallow(plan.ways);
        Ok(plan)
    }

    /// The first and the last point.
    pub fn points(&self) -> (i64, i64) {
        (self.low, self.high)
    }

    /// The number of ways of evaluation, at least one unless all functions are constant.
    pub fn ways(&self) -> usize {
        self.ways.len()
    }

    /// Depth and counts of the cheapest way.
    pub fn costs(&self) -> CircuitCosts {
        self.ways.first().map(|way| way.plan.costs()).unwrap_or_default()
    }

    /// Whether there is one function, and it is the identity.
    pub fn is_identity(&self) -> bool {
        matches!(&self.outputs[..], [y] if (self.low..=self.high).eq(y.entries.iter().copied()))
    }

    /// The number of functions.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The least and the largest value of a function.
    pub fn window(&self, output: usize) -> (i64, i64) {
        self.outputs[output].window
    }

    /// The value of a function at a public point.
    pub fn entry(&self, output: usize, x: i64) -> Option<i64> {
        let place = usize::try_from(x.checked_sub(self.low)?).ok()?;
        self.outputs.get(output)?.entries.get(place).copied()
    }

    /// The functions of `x`, in order, with `None` for those that are constant. `way` counts from
    /// the cheapest.
    ///
    /// # Errors
    /// Errors of the scheme, above all too little capacity.
    pub fn evaluate<S: ExactScheme>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        way: usize,
    ) -> Result<Vec<Option<S::Ciphertext>>, CircuitError> {
        let Some(Way { plan, shift, offset }) = self.ways.get(way) else {
            return Ok(vec![None; self.outputs.len()]);
        };
        let found = match *shift {
            0 => plan.evaluate(scheme, x, NextUse::Keep)?,
            shift => plan.evaluate(scheme, &scheme.add_scalar(x, shift)?, NextUse::Keep)?,
        };
        let value = |output: &Output| {
            let Some(y) = output.polynomial.and_then(|i| found.get(i)) else { return Ok(None) };
            Ok(Some(if *offset == 0 { y.clone() } else { scheme.add_scalar(y, *offset)? }))
        };
        self.outputs.iter().map(value).collect()
    }
}

/// f(x) = polynomial(x + shift) + offset.
pub(crate) struct Symmetric {
    pub(crate) polynomial: Polynomial,
    pub(crate) shift: i64,
    pub(crate) offset: i64,
}

/// The odd or even continuation of f about the center nearest to the middle, or f itself if there
/// is none.
pub(crate) fn symmetric_form(
    modulus: PrimePower,
    low: i64,
    high: i64,
    entries: &[i64],
) -> Result<Symmetric, CircuitError> {
    match symmetric(modulus, low, high, entries, 1)?.pop() {
        Some(form) => Ok(form),
        None => own_form(modulus, low, high, entries),
    }
}

/// f itself.
fn own_form(
    modulus: PrimePower,
    low: i64,
    high: i64,
    entries: &[i64],
) -> Result<Symmetric, CircuitError> {
    let points: Vec<u64> = (low..=high).map(|x| modulus.reduce_i64(x)).collect();
    let values: Vec<u64> = entries.iter().map(|v| modulus.reduce_i64(*v)).collect();
    let polynomial = Polynomial::interpolate(modulus, &points, &values)?;
    Ok(Symmetric { polynomial, shift: 0, offset: 0 })
}

/// Ways of least depth, the cheapest first.
fn shallow(mut ways: Vec<Way>) -> Vec<Way> {
    // Key switches are what takes time; without one a product is a fifth of one.
    ways.sort_by_key(|way| {
        let costs = way.plan.costs();
        (costs.depth, 4 * costs.relinearizations + costs.products)
    });
    let depth = ways.first().map_or(0, |way| way.plan.costs().depth);
    ways.retain(|way| way.plan.costs().depth == depth);
    ways
}

/// The odd and even continuations of f about centers for which they exist on an interval that is
/// not much longer: a limited number of them, from the middle on.
fn symmetric(
    modulus: PrimePower,
    low: i64,
    high: i64,
    entries: &[i64],
    most: usize,
) -> Result<Vec<Symmetric>, CircuitError> {
    let mut out = Vec::new();
    let half = modulus.inv(2)?;
    let at = |x: i64| entries.get(usize::try_from(x - low).ok()?).copied();
    // Twice the center.
    let mut centers: Vec<i64> = (2 * low..=2 * high).collect();
    centers.sort_by_key(|center| (center - low - high).abs());
    for center in centers {
        if out.len() >= most {
            break;
        }
        let (first, last) = (low.min(center - high), high.max(center - low));
        let points = (last - first + 1) as usize;
        // They have to differ modulo p, as those of the function itself do.
        if points > entries.len() * 3 / 2 || points as u64 > modulus.prime() {
            continue;
        }
        let inner = || {
            (low.max(center - high)..=high.min(center - low))
                .filter_map(|x| Some((at(x)?, at(center - x)?)))
        };
        let even = inner().all(|(a, b)| a == b);
        let sums: Vec<i64> = inner().map(|(a, b)| a + b).collect();
        let odd = sums.windows(2).all(|w| w[0] == w[1]);
        // f(x) = -f(center - x) + sum, or f(center - x).
        for (allowed, sum) in [(odd, sums.first().copied()), (even, None)] {
            if !allowed {
                continue;
            }
            let offset = modulus.mul(modulus.reduce_i64(sum.unwrap_or(0)), half);
            let shift = modulus.mul(modulus.reduce_i64(-center), half);
            let value = |x: i64| {
                let mirrored = || at(center - x).map(|y| sum.map_or(y, |sum| sum - y));
                modulus.sub(modulus.reduce_i64(at(x).or_else(mirrored).unwrap_or(0)), offset)
            };
            let points: Vec<u64> =
                (first..=last).map(|x| modulus.add(modulus.reduce_i64(x), shift)).collect();
            let values: Vec<u64> = (first..=last).map(value).collect();
            let polynomial = Polynomial::interpolate(modulus, &points, &values)?;
            let (shift, offset) = (modulus.centered(shift), modulus.centered(offset));
            out.push(Symmetric { polynomial, shift, offset });
        }
    }
    Ok(out)
}
