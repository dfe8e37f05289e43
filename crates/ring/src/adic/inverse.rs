//! Inverses modulo p^k.

use super::{AdicPoly, AdicRing};

impl AdicRing {
    /// The inverse modulo p^`rows` of the polynomial with these small coefficients in natural order; `None` if there is none, which is decided
    /// modulo p: the polynomial is a unit if no evaluation is 0 there. Newton's iteration x <- x (2 - a x) doubles the digits in each step.
    pub fn inverse(&self, natural: &[i64], rows: usize) -> Option<AdicPoly> {
        let (p, position) = (self.prime, self.transform_primes().len());
        let a = self.from_signed(natural, rows);
        let half = u64::from(self.half());
        let mut limb = self.ring.limb();
        limb.wipe_on_drop();
        limb.iter_mut().zip(&a.rows[0][..]).for_each(|(x, &d)| *x = p.sub(u64::from(d), half));
        self.ring.forward_limb(position, &mut limb);
        if limb.contains(&0) {
            return None;
        }
        // Fermat's way, which takes the same time for every residue.
        limb.iter_mut().for_each(|x| *x = p.pow(*x, p.value() - 2));
        self.ring.inverse_limb(position, &mut limb);
        let mut x = AdicPoly { rows: vec![std::sync::Arc::new(limb.iter().map(|&d| p.add(d, half) as u32).collect())] };
        let two = self.constant(2);
        while x.rows() < rows {
            let more = (2 * x.rows()).min(rows);
            let product = self.mul(&a, &x, more);
            let correction = self.sum(&[&self.from_signed(&two, more), &self.neg(&product)]);
            x = self.mul(&x, &correction, more);
        }
        Some(x)
    }
    /// The coefficients of an integer, small in magnitude, in natural order.
    pub fn constant(&self, c: i64) -> Vec<i64> {
        let q = self.ring.modulus(0);
        let mut limb = self.ring.limb();
        limb.fill(q.reduce_i64(c));
        self.ring.inverse_limb(0, &mut limb);
        let stored: Vec<i64> = limb.iter().map(|&x| q.centered(x)).collect();
        self.ring.natural_order(&stored)
    }
}
