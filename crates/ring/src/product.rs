//! Exact products of plaintexts.

use std::sync::OnceLock;

use everlevel_arith::{NttTable, gather_natural, kernels, primes, scatter_natural};

use crate::prime_power::PrimePower;

/// Products modulo X^n + 1 and any p^e below 2^62: as integers, through up to three primes just below 2^50.
#[derive(Debug)]
pub(crate) struct ExactProduct {
    log_degree: u32,
    tables: OnceLock<Vec<NttTable>>,
}

impl ExactProduct {
    /// Nothing is computed before the first product.
    pub(crate) fn new(log_degree: u32) -> Self {
        ExactProduct { log_degree, tables: OnceLock::new() }
    }
    /// a b modulo p^e, natural order in and out: 3 transforms for each prime that the integers need.
    pub(crate) fn mul(&self, a: &[u64], b: &[u64], t: PrimePower) -> Vec<u64> {
        let tables = self.tables.get_or_init(|| {
            let below = primes::primes_congruent_one(2 << self.log_degree, 1 << 50);
            below.filter_map(|q| NttTable::for_prime(q, self.log_degree).ok()).take(3).collect()
        });
        // Sums of n products of centered residues, with room for the sign and a bit more.
        let need = f64::from(self.log_degree) + 2.0 * (t.value() as f64).log2() - 2.0 + 1.0 + 0.5;
        let mut bits = 0.0;
        let count = 1 + tables
            .iter()
            .take_while(|table| {
                bits += (table.modulus().value() as f64).log2();
                bits < need
            })
            .count();
        let tables = &tables[..count.min(tables.len())];
        let residues: Vec<Vec<u64>> = tables
            .iter()
            .map(|table| {
                let q = table.modulus();
                let [mut x, y] = [a, b].map(|input| {
                    let reduced: Vec<u64> = input.iter().map(|&x| q.reduce_i64(t.centered(x))).collect();
                    let mut stored = vec![0; reduced.len()];
                    scatter_natural(self.log_degree, &reduced, &mut stored);
                    table.forward(&mut stored);
                    stored
                });
                kernels::mul_assign(q, &mut x, &y);
                table.inverse(&mut x);
                gather_natural(self.log_degree, &x)
            })
            .collect();
        centered_remainders(tables, &residues, t)
    }
}

/// The integers of least absolute value with the given residues, modulo p^e.
fn centered_remainders(tables: &[NttTable], residues: &[Vec<u64>], t: PrimePower) -> Vec<u64> {
    let moduli: Vec<_> = tables.iter().map(NttTable::modulus).collect();
    // Mixed radix: v = v0 + q0 (v1 + q1 v2); the sign shows in the last digit.
    let inverse = |i: usize, j: usize| moduli[j].inv(moduli[j].reduce_u64(moduli[i].value())).unwrap_or(0);
    let inverses: Vec<Vec<u64>> = (0..moduli.len()).map(|j| (0..j).map(|i| inverse(i, j)).collect()).collect();
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
            let value = digits.iter().zip(&moduli).rev().fold(0, |v, (&d, q)| t.add(t.mul(v, q.value()), d));
            if digits[last] > moduli[last].value() / 2 { t.sub(value, product) } else { value }
        })
        .collect()
}
