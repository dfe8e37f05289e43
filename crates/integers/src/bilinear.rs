//! Functions of two digits, as sums of as few products of polynomials as possible.

use std::collections::BTreeMap;

use everlevel_circuit::CircuitError;
use everlevel_circuit::poly::Polynomial;
use everlevel_circuit::straight_line::{CircuitBuilder, NodeId};
use everlevel_ring::PrimePower;

/// Terms c x^n of a polynomial without constant term, as (n, c), c centered.
pub(crate) type Terms = Vec<(usize, i64)>;

/// A function of two digits a and b: constant + f(a) + g(b) + Σ u_t(a) v_t(b).
///
/// The number of products is the rank modulo p of the matrix of the coefficients of a^i b^j with
/// positive i and j: 11 for the lower digit of a product of two nibbles, 10 for the upper one, 4
/// for their common bits, and 15 at most.
#[derive(Clone, Debug)]
pub(crate) struct PairForm {
    pub(crate) constant: i64,
    pub(crate) a: Terms,
    pub(crate) b: Terms,
    pub(crate) products: Vec<[Terms; 2]>,
}

/// The polynomial through values at first, first + 1, ..: as many coefficients as there are values.
pub(crate) fn coefficients(
    t: PrimePower,
    first: i64,
    values: &[u64],
) -> Result<Vec<u64>, CircuitError> {
    let points: Vec<u64> = (first..).take(values.len()).map(|x| t.reduce_i64(x)).collect();
    let mut out = Polynomial::interpolate(t, &points, values)?.coefficients().to_vec();
    out.resize(values.len(), 0);
    Ok(out)
}

/// The terms of coefficients, and their constant.
pub(crate) fn terms(t: PrimePower, coefficients: &[u64]) -> (Terms, i64) {
    let centered = coefficients.iter().map(|c| t.centered(*c)).enumerate();
    let constant = coefficients.first().map_or(0, |c| t.centered(*c));
    (centered.skip(1).filter(|(_, c)| *c != 0).collect(), constant)
}

impl PairForm {
    /// The form of table[a - first_a][b - first_b].
    pub(crate) fn new(
        t: PrimePower,
        (first_a, first_b): (i64, i64),
        table: &[Vec<i64>],
    ) -> Result<Self, CircuitError> {
        // First in b for each a, then each coefficient in a.
        let by_b = table.iter().map(|row| {
            let row: Vec<u64> = row.iter().map(|v| t.reduce_i64(*v)).collect();
            coefficients(t, first_b, &row)
        });
        let by_b = by_b.collect::<Result<Vec<_>, _>>()?;
        let columns = by_b.first().map_or(0, Vec::len);
        let mut matrix = vec![vec![0u64; columns]; table.len()];
        for j in 0..columns {
            let column: Vec<u64> = by_b.iter().map(|row| row[j]).collect();
            for (i, c) in coefficients(t, first_a, &column)?.into_iter().enumerate() {
                matrix[i][j] = c;
            }
        }
        let (b, constant) = terms(t, &matrix[0]);
        let first: Vec<u64> = matrix.iter().map(|row| row[0]).collect();
        let (a, _) = terms(t, &first);
        Ok(PairForm { constant, a, b, products: factored(t, &matrix)? })
    }
}

/// A factorization Σ_t u_t v_t of the matrix without its first row and column, from rows of which
/// all others are linear combinations.
fn factored(t: PrimePower, matrix: &[Vec<u64>]) -> Result<Vec<[Terms; 2]>, CircuitError> {
    // Reduced rows, each with the place of its first entry and how it is made of chosen ones.
    let mut reduced: Vec<(usize, Vec<u64>, Vec<u64>)> = Vec::new();
    let mut out: Vec<[Terms; 2]> = Vec::new();
    for (i, row) in matrix.iter().enumerate().skip(1) {
        let (mut rest, mut made) = (row.clone(), vec![0u64; out.len()]);
        rest[0] = 0;
        for (pivot, by, of) in &reduced {
            let c = rest[*pivot];
            if c != 0 {
                rest.iter_mut().zip(by).for_each(|(x, y)| *x = t.sub(*x, t.mul(c, *y)));
                made.iter_mut().zip(of).for_each(|(x, y)| *x = t.add(*x, t.mul(c, *y)));
            }
        }
        if let Some(pivot) = rest.iter().position(|x| *x != 0) {
            // A chosen row: rest = row - Σ made, divided by its first entry.
            let inverse = t.inv(rest[pivot])?;
            let mut of: Vec<u64> = made.iter().map(|c| t.mul(t.neg(*c), inverse)).collect();
            of.push(inverse);
            rest.iter_mut().for_each(|x| *x = t.mul(*x, inverse));
            reduced.push((pivot, rest, of));
            out.push([vec![(i, 1)], terms(t, row).0]);
        } else {
            for (c, [u, _]) in made.iter().zip(&mut out).filter(|(c, _)| **c != 0) {
                u.push((i, t.centered(*c)));
            }
        }
    }
    Ok(out)
}

/// One input of a circuit, with its powers, each at the least depth; each power is computed once.
pub(crate) struct Variable {
    /// Whether x^4 is an input.
    fourth: bool,
    powers: BTreeMap<usize, NodeId>,
    polynomials: BTreeMap<Terms, NodeId>,
}

impl Variable {
    pub(crate) fn new(x: NodeId) -> Self {
        Variable { fourth: false, powers: BTreeMap::from([(1, x)]), polynomials: BTreeMap::new() }
    }

    /// A variable with x^4 as an additional input that was bootstrapped: powers up to 15 then have
    /// depth 3.
    pub(crate) fn with_fourth(x: NodeId, fourth: NodeId) -> Self {
        Variable {
            fourth: true,
            powers: BTreeMap::from([(1, x), (4, fourth)]),
            polynomials: BTreeMap::new(),
        }
    }

    /// x^n.
    pub(crate) fn power(
        &mut self,
        builder: &mut CircuitBuilder,
        n: usize,
    ) -> Result<NodeId, CircuitError> {
        if let Some(x) = self.powers.get(&n) {
            return Ok(*x);
        }
        // Of x and x^4, if there is one, or by halves.
        let high = match (self.fourth, n % 4) {
            (true, 1..) if n > 4 => n - n % 4,
            _ => n.next_power_of_two() / 2,
        };
        let (high, low) = (self.power(builder, high)?, self.power(builder, n - high)?);
        let product = builder.mul(high, low)?;
        self.powers.insert(n, product);
        Ok(product)
    }

    /// Σ c x^n.
    pub(crate) fn polynomial(
        &mut self,
        builder: &mut CircuitBuilder,
        terms: &Terms,
    ) -> Result<NodeId, CircuitError> {
        if let [(n, 1)] = terms[..] {
            return self.power(builder, n);
        }
        if let Some(x) = self.polynomials.get(terms) {
            return Ok(*x);
        }
        let mut powers = Vec::with_capacity(terms.len());
        for (n, c) in terms {
            powers.push((self.power(builder, *n)?, *c));
        }
        let sum = builder.combine(vec![], powers, 0)?;
        self.polynomials.insert(terms.clone(), sum);
        Ok(sum)
    }
}

/// A sum that becomes one node: products, multiples and a constant.
#[derive(Default)]
pub(crate) struct Sum {
    pub(crate) pairs: Vec<(NodeId, NodeId)>,
    multiples: BTreeMap<NodeId, i64>,
    constant: i64,
}

impl Sum {
    pub(crate) fn is_constant(&self) -> bool {
        self.pairs.is_empty() && self.multiples.is_empty()
    }

    /// Adds Σ c x^n + constant.
    pub(crate) fn add(
        &mut self,
        builder: &mut CircuitBuilder,
        x: &mut Variable,
        (terms, constant): (&Terms, i64),
    ) -> Result<(), CircuitError> {
        for (n, c) in terms {
            *self.multiples.entry(x.power(builder, *n)?).or_default() += c;
        }
        self.constant += constant;
        Ok(())
    }

    /// Adds c x.
    pub(crate) fn add_multiple(&mut self, x: NodeId, c: i64) {
        *self.multiples.entry(x).or_default() += c;
    }

    /// Adds a constant.
    pub(crate) fn add_constant(&mut self, c: i64) {
        self.constant += c;
    }

    pub(crate) fn constant(&self) -> i64 {
        self.constant
    }

    /// Adds a function of two digits.
    pub(crate) fn add_pair(
        &mut self,
        builder: &mut CircuitBuilder,
        variables: &mut [Variable],
        (a, b): (usize, usize),
        form: &PairForm,
    ) -> Result<(), CircuitError> {
        self.add(builder, &mut variables[a], (&form.a, form.constant))?;
        self.add(builder, &mut variables[b], (&form.b, 0))?;
        for [u, v] in &form.products {
            let u = variables[a].polynomial(builder, u)?;
            self.pairs.push((u, variables[b].polynomial(builder, v)?));
        }
        Ok(())
    }

    /// Products, terms and constant, of a sum that is no constant.
    pub(crate) fn parts(self, t: PrimePower) -> Parts {
        let centered = |c: i64| t.centered(t.reduce_i64(c));
        let mut multiples: Vec<_> =
            self.multiples.into_iter().map(|(x, c)| (x, centered(c))).collect();
        // Of a sum that turns out to be a constant one term stays, as there is no node without.
        let kept = if self.pairs.is_empty() { 1 } else { 0 };
        let mut place = 0;
        multiples.retain(|(_, c)| {
            place += 1;
            *c != 0 || place <= kept
        });
        (self.pairs, multiples, centered(self.constant))
    }

    /// The node; of a sum that is no constant.
    pub(crate) fn finish(
        self,
        builder: &mut CircuitBuilder,
        t: PrimePower,
    ) -> Result<NodeId, CircuitError> {
        let (pairs, multiples, constant) = self.parts(t);
        builder.combine(pairs, multiples, constant)
    }
}

/// Pairs, terms and a constant.
pub(crate) type Parts = (Vec<(NodeId, NodeId)>, Vec<(NodeId, i64)>, i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_the_rank_of_their_tables() {
        let t = PrimePower::new(65537, 1).unwrap();
        let table = |low: i64, f: fn(i64, i64) -> i64| -> Vec<Vec<i64>> {
            (low..low + 16).map(|a| (low..low + 16).map(|b| f(a, b)).collect()).collect()
        };
        type Case = (&'static str, fn(i64, i64) -> i64, usize);
        let cases: [Case; 6] = [
            ("lower digit", |a, b| (a * b) & 15, 11),
            ("upper digit", |a, b| (a * b) >> 4, 10),
            ("lower digit of twice", |a, b| (2 * a * b) & 15, 6),
            ("common bits", |a, b| a & b, 4),
            ("product", |a, b| a * b, 1),
            ("sum", |a, b| a + b, 0),
        ];
        for low in [0, -8, 3] {
            for (what, f, rank) in cases {
                let form = PairForm::new(t, (low, low), &table(low, f)).unwrap();
                // Upper digits of other windows have more borders between their blocks.
                assert!(form.products.len() <= rank + 2, "{what}");
                assert!(low != 0 || form.products.len() == rank, "{what}");
                let at = |terms: &Terms, x: i64| {
                    terms.iter().fold(0, |sum, (n, c)| {
                        let power = t.pow(t.reduce_i64(x), *n as u64);
                        t.add(sum, t.mul(t.reduce_i64(*c), power))
                    })
                };
                for (a, b) in (low..low + 16).flat_map(|a| (low..low + 16).map(move |b| (a, b))) {
                    let alone = t.add(at(&form.a, a), at(&form.b, b));
                    let alone = t.add(alone, t.reduce_i64(form.constant));
                    let found = form
                        .products
                        .iter()
                        .fold(alone, |sum, [u, v]| t.add(sum, t.mul(at(u, a), at(v, b))));
                    assert_eq!(found, t.reduce_i64(f(a, b)), "{what} of {a} and {b}");
                }
            }
        }
    }
}
