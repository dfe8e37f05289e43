//! Exact products of plaintexts.

use std::sync::OnceLock;

use everlevel_arith::kernels::Kernels;
use everlevel_arith::{
    Backend, Modulus, NttTable, TensorTable, gather_natural, primes, scatter_natural,
};

use crate::index_kind::IndexKind;
use crate::prime_power::PrimePower;
use crate::slot_shape::SlotShape;

/// Products in Z\[X\]/Φ_m(X) modulo any p^e up to 2^64: as integers, through as many primes just
/// below 2^50 as these need.
#[derive(Debug)]
pub(crate) struct ExactProduct {
    kind: IndexKind,
    kernels: &'static Kernels,
    /// log2 of how many products of coefficients make up a coefficient of a product at most.
    log_terms: f64,
    /// The largest plaintext modulus.
    largest: u128,
    /// For products modulo that one; the first ones suffice for smaller ones.
    tables: OnceLock<Vec<Table>>,
}

impl ExactProduct {
    /// Nothing is computed before the first product.
    ///
    /// An axis adds up less than 2 φ(N_a) products: on coefficients of X^k and X^j, j + k must be
    /// the exponent, or that of the one power for which it is subtracted.
    pub(crate) fn new(shape: &SlotShape, kernels: &'static Kernels) -> Self {
        let (kind, terms) = match shape.axes() {
            None => (
                IndexKind::PowerOfTwo { log_degree: (shape.ring_index() / 2).trailing_zeros() },
                shape.ring_index() as f64 / 2.0,
            ),
            Some(axes) => (
                IndexKind::Odd(axes.clone()),
                axes.all().iter().map(|axis| 2.0 * axis.degree as f64).product(),
            ),
        };
        let largest = shape.wide_modulus(shape.max_exponent());
        ExactProduct { kind, kernels, log_terms: terms.log2(), largest, tables: OnceLock::new() }
    }

    /// The bits of primes that a product of centered residues modulo t takes, with room for the
    /// sign and a bit more.
    fn need(&self, t: u128) -> f64 {
        self.log_terms + 2.0 * (t as f64).log2() - 2.0 + 1.0 + 0.5
    }

    /// a b modulo p^e, coefficients in the order of plaintexts: 3 transforms for each prime that
    /// the integers need.
    pub(crate) fn mul(&self, a: &[u64], b: &[u64], t: PrimePower) -> Vec<u64> {
        let backend = self.kernels.backend();
        let tables =
            self.tables.get_or_init(|| tables(&self.kind, backend, self.need(self.largest)));
        let tables = sufficient(tables, self.need(t.wide())).expect("primes for the largest t");
        let residues: Vec<Vec<u64>> = tables
            .iter()
            .map(|table| {
                let q = table.modulus();
                let [mut x, y] = [a, b].map(|input| {
                    table.forward(input.iter().map(|&x| q.reduce_i64(t.centered(x))).collect())
                });
                self.kernels.mul_assign(q, &mut x, &y);
                table.inverse(x)
            })
            .collect();
        centered_remainders(tables, &residues, t)
    }
}

/// The first ones whose primes have `need` bits together.
fn sufficient(tables: &[Table], need: f64) -> Option<&[Table]> {
    let mut bits = 0.0;
    let last = tables.iter().position(|table| {
        bits += (table.modulus().value() as f64).log2();
        bits >= need
    })?;
    Some(&tables[..=last])
}

/// Tables modulo the largest primes of a kind of index that have `need` bits together.
fn tables(kind: &IndexKind, backend: Backend, need: f64) -> Vec<Table> {
    let (order, below) = (kind.prime_step(), 1 << Modulus::MAX_BITS);
    let mut all = primes::primes_congruent_one(order, below).filter_map(|q| match kind {
        IndexKind::PowerOfTwo { log_degree } => {
            let table = NttTable::for_prime(q, *log_degree, backend).ok()?;
            Some(Table::PowerOfTwo(Box::new(table)))
        }
        IndexKind::Odd(axes) => {
            let root = primes::primitive_root_of_unity(q, axes.index())?;
            let table = TensorTable::new(Modulus::new(q).ok()?, axes, root, backend).ok()?;
            Some(Table::Odd(Box::new(table)))
        }
    });
    let (mut tables, mut bits) = (Vec::new(), 0.0);
    while bits < need {
        let Some(table) = all.next() else { break };
        bits += (table.modulus().value() as f64).log2();
        tables.push(table);
    }
    tables
}

/// The values of a polynomial in natural order.
pub(crate) fn forward(table: &NttTable, coefficients: &[u64]) -> Vec<u64> {
    let mut stored = vec![0; coefficients.len()];
    scatter_natural(coefficients.len().trailing_zeros(), coefficients, &mut stored);
    table.forward(&mut stored);
    stored
}

/// The polynomial with these values, in natural order.
fn inverse(table: &NttTable, mut values: Vec<u64>) -> Vec<u64> {
    table.inverse(&mut values);
    gather_natural(values.len().trailing_zeros(), &values)
}

/// Σ a b modulo X^n + 1 and the modulus of `table`, which has n points, of values at these: one
/// transform.
pub(crate) fn sum_split<'a>(
    table: &NttTable,
    kernels: &Kernels,
    terms: impl Iterator<Item = (&'a [u64], &'a [u64])>,
) -> Vec<u64> {
    let mut sum = vec![0; table.degree()];
    terms.for_each(|(a, b)| kernels.mul_add_assign(table.modulus(), &mut sum, a, b));
    inverse(table, sum)
}

/// A transform modulo one prime, from and to the coefficient order of plaintexts.
enum Table {
    PowerOfTwo(Box<NttTable>),
    Odd(Box<TensorTable>),
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table(modulus {})", self.modulus().value())
    }
}

impl Table {
    fn modulus(&self) -> Modulus {
        match self {
            Table::PowerOfTwo(table) => table.modulus(),
            Table::Odd(table) => table.modulus(),
        }
    }

    fn forward(&self, mut coefficients: Vec<u64>) -> Vec<u64> {
        match self {
            Table::PowerOfTwo(table) => forward(table, &coefficients),
            Table::Odd(table) => {
                table.forward(&mut coefficients);
                coefficients
            }
        }
    }

    fn inverse(&self, mut values: Vec<u64>) -> Vec<u64> {
        match self {
            Table::PowerOfTwo(table) => inverse(table, values),
            Table::Odd(table) => {
                table.inverse(&mut values);
                values
            }
        }
    }
}

/// The integers of least absolute value with the given residues, modulo p^e.
fn centered_remainders(tables: &[Table], residues: &[Vec<u64>], t: PrimePower) -> Vec<u64> {
    if let ([table], [residues]) = (tables, residues) {
        let q = table.modulus();
        return residues.iter().map(|&x| t.reduce_i64(q.centered(x))).collect();
    }
    let moduli: Vec<_> = tables.iter().map(Table::modulus).collect();
    // Mixed radix: v = v0 + q0 (v1 + q1 v2); the sign shows in the last digit.
    let inverse =
        |i: usize, j: usize| moduli[j].inv(moduli[j].reduce_u64(moduli[i].value())).unwrap_or(0);
    let inverses: Vec<Vec<u64>> =
        (0..moduli.len()).map(|j| (0..j).map(|i| inverse(i, j)).collect()).collect();
    let product = moduli.iter().fold(1, |r, q| t.mul(r, q.value()));
    let last = moduli.len() - 1;
    let mut digits = vec![0; moduli.len()];
    (0..residues[0].len())
        .map(|k| {
            for (j, q) in moduli.iter().enumerate() {
                let mut x = residues[j][k];
                for (&digit, &inverse) in digits.iter().zip(&inverses[j]) {
                    x = q.mul(q.sub(x, q.reduce_u64(digit)), inverse);
                }
                digits[j] = x;
            }
            let value = digits
                .iter()
                .zip(&moduli)
                .rev()
                .fold(0, |v, (&d, q)| t.add(t.mul(v, q.value()), d));
            if digits[last] > moduli[last].value() / 2 { t.sub(value, product) } else { value }
        })
        .collect()
}
