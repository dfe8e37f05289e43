//! Inverses modulo p^k.

use everlevel_arith::primes;

use super::ring::{AdicPoly, AdicRing};

/// The share of polynomials modulo p, or a power of it, that are units modulo Φ_m, p being a prime
/// that does not divide m: (1 - p^-w)^(φ(m)/w), w the order of p modulo m. (Doröz–Hu–Sunar 2014
/// print the order modulo φ(m).) The units modulo p^k are those modulo p.
pub fn share_of_units(index: u64, prime: u64) -> f64 {
    let degree = primes::factor(index).into_iter().fold(index, |n, (l, _)| n / l * (l - 1));
    let order = primes::order(prime % index, index, degree);
    (1.0 - (prime as f64).powf(-(order as f64))).powf((degree / order) as f64)
}

impl AdicRing {
    /// The inverse modulo p^`rows` of the polynomial with these small coefficients in natural
    /// order; `None` if there is none, which is decided modulo p: the polynomial is a unit if no
    /// evaluation is 0 there. Newton's iteration x <- x (2 - a x) doubles the digits in each step.
    /// What it computes with is wiped, and takes the same time for all units.
    pub fn inverse(&self, natural: &[i64], rows: usize) -> Option<AdicPoly> {
        let (p, position) = (self.prime, self.transform_primes().len());
        let mut a = self.from_signed(natural, rows);
        let half = u64::from(self.half());
        let mut limb = self.cpu.limb();
        limb.wipe_on_drop();
        limb.iter_mut().zip(&a.rows[0][..]).for_each(|(x, &d)| *x = p.sub(u64::from(d), half));
        self.cpu.forward_limb(position, &mut limb);
        if limb.contains(&0) {
            return None;
        }
        // Fermat's way, which takes the same time for every residue.
        limb.iter_mut().for_each(|x| *x = p.pow(*x, p.value() - 2));
        self.cpu.inverse_limb(position, &mut limb);
        let mut x = AdicPoly {
            rows: vec![std::sync::Arc::new(limb.iter().map(|&d| p.add(d, half) as u32).collect())],
        };
        let two = self.constant(2);
        while x.rows() < rows {
            let more = (2 * x.rows()).min(rows);
            let mut product = self.mul(&a, &x, more);
            let mut minus = self.neg(&product);
            let mut correction = self.sum(&[&self.from_signed(&two, more), &minus]);
            let next = self.mul(&x, &correction, more);
            std::mem::replace(&mut x, next).wipe();
            [&mut product, &mut minus, &mut correction].into_iter().for_each(AdicPoly::wipe);
        }
        a.wipe();
        Some(x)
    }

    /// The coefficients of an integer, small in magnitude, in natural order.
    pub fn constant(&self, c: i64) -> Vec<i64> {
        let q = self.ring().modulus(0);
        let mut limb = self.cpu.limb();
        limb.fill(q.reduce_i64(c));
        self.cpu.inverse_limb(0, &mut limb);
        let stored: Vec<i64> = limb.iter().map(|&x| q.centered(x)).collect();
        self.ring().natural_order(&stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The determinant modulo p of multiplication by the polynomial with digits `k` to the base p
    /// modulo Φ_5 or Φ_8.
    fn determinant(index: u64, prime: u64, k: u64) -> u64 {
        let q = |x: i64| x.rem_euclid(prime as i64);
        let mut row: Vec<i64> = (0..4).map(|i| (k / prime.pow(i) % prime) as i64).collect();
        let mut matrix = Vec::new();
        for _ in 0..4 {
            matrix.push(row.clone());
            // X^4 is -1 - X - X² - X³ or -1.
            let top = row.pop().unwrap();
            row.insert(0, 0);
            let reduction = if index == 5 { [1, 1, 1, 1] } else { [1, 0, 0, 0] };
            row.iter_mut().zip(reduction).for_each(|(x, r)| *x = q(*x - top * r));
        }
        let mut det = 1;
        for column in 0..4 {
            let Some(pivot) = (column..4).find(|&r| matrix[r][column] != 0) else { return 0 };
            if pivot != column {
                matrix.swap(pivot, column);
                det = q(-det);
            }
            det = q(det * matrix[column][column]);
            let inverse = (1..prime as i64).find(|x| q(x * matrix[column][column]) == 1).unwrap();
            let pivots = matrix[column].clone();
            for row in &mut matrix[column + 1..] {
                let factor = q(row[column] * inverse);
                row.iter_mut().zip(&pivots).for_each(|(x, pivot)| *x = q(*x - factor * pivot));
            }
        }
        det as u64
    }

    #[test]
    fn units_are_counted() {
        // Orders 4, 4, 1 and 2, 2, 2, 1.
        for (index, prime) in [(5u64, 2u64), (5, 3), (5, 11), (8, 3), (8, 5), (8, 7), (8, 17)] {
            let units = (0..prime.pow(4)).filter(|&k| determinant(index, prime, k) != 0).count();
            let share = units as f64 / prime.pow(4) as f64;
            assert!(
                (share - share_of_units(index, prime)).abs() < 1e-12,
                "{index} {prime}: {share}"
            );
        }
    }
}
