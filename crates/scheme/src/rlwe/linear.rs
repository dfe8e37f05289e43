//! Automorphisms and linear maps with double hoisting.
//!
//! An [`Extended`] ciphertext lives modulo Q P, multiplied by P and divided by t, so that sums of plaintext products and of
//! automorphisms need one division by P in all.

use everlevel_arith::kernels;
use everlevel_ring::{
    Basis, Eval, GaloisElement, Limb, Poly,
    convert::{RoundingScale, divide_round, divide_round_produced},
};
use rayon::prelude::*;

use super::diagonal::Diagonal;
use super::keyswitch::{CHUNK, Decomposition, chunks, usable, within};
use super::{Ciphertext, Evaluator};
use crate::error::SchemeError;
use crate::keys::{EvalKeys, SwitchKey};
use crate::noise::{ExtendedMeta, Meta};
use crate::params::Level;
use crate::verbs::NextUse;

/// A ciphertext before the division by P.
pub struct Extended {
    pub(crate) meta: ExtendedMeta,
    pub(crate) e0: Poly<Eval>,
    pub(crate) e1: Poly<Eval>,
}

/// Extended ciphertexts from their pairs of limbs, which come prime by prime.
fn assembled(basis: Basis, columns: Vec<Vec<(Limb, Limb)>>, metas: impl Iterator<Item = ExtendedMeta>) -> Vec<Extended> {
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    metas
        .map(|meta| {
            let (l0, l1) = columns.iter_mut().map(|column| column.next().expect("a pair for each ciphertext")).unzip();
            Extended { meta, e0: Poly::from_limbs(basis, l0), e1: Poly::from_limbs(basis, l1) }
        })
        .collect()
}

pub(crate) fn no_parts() -> SchemeError {
    SchemeError::BadArgument { what: "linear map", expected: "at least one part".into(), found: "none".into() }
}

impl<K: EvalKeys> Evaluator<K> {
    /// P / t modulo the prime at `position`, which is not a special one.
    pub(super) fn raise_factor(&self, special: Basis, position: usize, t: u64) -> u64 {
        let ring = self.params().ring();
        let q = ring.modulus(position);
        let p = ring.product_mod(special, q);
        q.mul(p, ring.inverse_of(t, position))
    }

    pub(super) fn hoisted(&self, x: &Ciphertext, gs: &[GaloisElement]) -> Result<Vec<Extended>, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let basis = x.c0.basis();
        let gadget = params.chain().gadget(x.meta.level);
        let special = gadget.special();
        let extended = basis.union(special);
        let t = params.divisor(&x.meta);
        let keys = self.galois_keys(x, gs)?;
        let switched = keys.iter().flatten().count();
        let cut = (switched > 0).then(|| Decomposition::new(params, gadget, &x.c1, t));
        if let Some(cut) = &cut {
            self.counters.key_switch(switched, basis.len(), cut.len(), special.len(), ring.degree());
        }
        let positions: Vec<usize> = extended.iter().collect();
        // For each prime, for each automorphism, the two limbs.
        let columns: Vec<Vec<(Limb, Limb)>> = positions
            .par_iter()
            .map(|&i| {
                let q = ring.modulus(i);
                let ordinary = basis.contains(i);
                let factor = if ordinary { self.raise_factor(special, i, t) } else { 0 };
                let digits = cut.as_ref().map(|cut| (cut, cut.evaluate(ring, i, self.known_digit(x, i, t))));
                let mut outs: Vec<(Limb, Limb)> = gs.iter().map(|_| (ring.limb(), ring.limb())).collect();
                for ((o0, o1), _) in outs.iter_mut().zip(&keys).filter(|(_, key)| key.is_none()) {
                    for (out, c) in [(o0, &x.c0), (o1, &x.c1)] {
                        if ordinary { kernels::scalar_mul(q, out, c.limb(i), factor) } else { out.fill(0) }
                    }
                }
                let Some((cut, digits)) = &digits else { return outs };
                let digits: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
                let halves: Vec<_> = keys.iter().map(|key| key.map(|key| cut.key_limbs(key, i))).collect();
                // Chunk by chunk, so that the digits stay in the second-level cache while the keys stream by.
                for chunk in chunks(ring) {
                    for ((&g, half), (o0, o1)) in gs.iter().zip(&halves).zip(&mut outs) {
                        let Some((b, a)) = half else { continue };
                        // Each contiguous piece goes straight to where the automorphism puts it.
                        for (to, from) in g.evaluation_shift(ring).pieces_of(chunk.clone()) {
                            let (digits, b, a) = (within(&digits, &from), within(b, &from), within(a, &from));
                            kernels::inner_product2(q, &mut o0[to.clone()], &mut o1[to.clone()], &digits, &b, &a);
                            if ordinary {
                                kernels::scalar_mul_add_assign(q, &mut o0[to], &x.c0.limb(i)[from], factor);
                            }
                        }
                    }
                }
                outs
            })
            .collect();
        let meta = |key: &Option<_>| if key.is_some() { params.with_key_switch(&x.meta) } else { x.meta };
        Ok(assembled(extended, columns, keys.iter().map(|key| ExtendedMeta::flat(meta(key)))))
    }

    /// Ciphertexts, not extended ones: each division by P takes its limbs while they are in cache.
    pub(super) fn rotated(&self, x: &Ciphertext, gs: &[GaloisElement]) -> Result<Vec<Ciphertext>, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let gadget = params.chain().gadget(x.meta.level);
        let (basis, special) = (x.c0.basis(), gadget.special());
        let extended = basis.union(special);
        let t = params.divisor(&x.meta);
        let keys = self.galois_keys(x, gs)?;
        let switched = keys.iter().flatten().count();
        if switched == 0 {
            return Ok(vec![x.clone(); gs.len()]);
        }
        let meta = params.after_reduction(&params.with_key_switch(&x.meta), NextUse::Keep);
        let out = params.checked(meta, "automorphism")?;
        let cut = Decomposition::new(params, gadget, &x.c1, t);
        self.counters.key_switch(switched, basis.len(), cut.len(), special.len(), ring.degree());
        let positions: Vec<usize> = extended.iter().collect();
        let digits: Vec<Vec<Limb>> = positions.par_iter().map(|&i| cut.evaluate(ring, i, self.known_digit(x, i, t))).collect();
        let rotate = |(&g, key): (&GaloisElement, &Option<&SwitchKey>)| {
            let Some(key) = key else { return x.clone() };
            self.counters.rounding(2, extended, basis, ring.degree());
            let scale = RoundingScale::times_plain(t);
            let [c0, c1] = divide_round_produced(ring, extended, basis, scale, |i, factor, [o0, o1]| {
                let q = ring.modulus(i);
                let digits: Vec<&[u64]> =
                    digits[extended.limb_of(i).expect("a prime of the extended basis")].iter().map(|d| &d[..]).collect();
                let (b, a) = cut.key_limbs(key, i);
                // c0 P / t is one more product.
                let raise = basis.contains(i).then(|| vec![self.raise_factor(special, i, t); CHUNK]);
                for chunk in chunks(ring) {
                    for (to, from) in g.evaluation_shift(ring).pieces_of(chunk) {
                        let (mut digits, mut b) = (within(&digits, &from), within(&b, &from));
                        kernels::inner_product_scale_add(q, &mut o1[to.clone()], &digits, &within(&a, &from), factor);
                        if let Some(raise) = &raise {
                            b.push(&raise[..from.len()]);
                            digits.push(&x.c0.limb(i)[from]);
                        }
                        kernels::inner_product_scale_add(q, &mut o0[to], &digits, &b, factor);
                    }
                }
            });
            Ciphertext::new(out, c0, c1)
        };
        Ok(gs.iter().zip(&keys).map(rotate).collect())
    }
    /// The keys of `gs` at the level of `x`, none for the identity.
    fn galois_keys(&self, x: &Ciphertext, gs: &[GaloisElement]) -> Result<Vec<Option<&SwitchKey>>, SchemeError> {
        let id = self.params().chain().gadget_id(x.meta.level);
        gs.iter()
            .map(|&g| {
                if g.is_identity() {
                    return Ok(None);
                }
                let name = || format!("Galois key for X^{}", g.exponent());
                usable(self.keys.galois(g, id), x.c0.basis(), x.meta.level, "automorphism", name).map(Some)
            })
            .collect()
    }
    /// What the digit of prime `i` is modulo that prime: c1 / t.
    fn known_digit<'c>(&self, x: &'c Ciphertext, i: usize, t: u64) -> Option<(&'c [u64], u64)> {
        x.c1.basis().contains(i).then(|| (&x.c1.limb(i)[..], self.params().ring().inverse_of(t, i)))
    }

    pub(super) fn combined(&self, inputs: &[Extended], rows: &[Vec<Option<&Diagonal>>]) -> Result<Vec<Extended>, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let shape_error = |found: String| SchemeError::BadArgument {
            what: "linear map",
            expected: "non-empty rows of one diagonal an input, at the inputs' plaintext modulus and level".into(),
            found,
        };
        let Some(first) = inputs.first() else { return Err(shape_error("no input".into())) };
        let basis = first.e0.basis();
        let mut metas = Vec::with_capacity(rows.len());
        for row in rows {
            let fits = |d: &Diagonal| d.fits(first.meta.meta.exponent, basis);
            if row.len() != inputs.len() || row.iter().flatten().any(|d| !fits(d)) {
                return Err(shape_error(format!(
                    "a row of {} entries for {} inputs, or of other diagonals",
                    row.len(),
                    inputs.len()
                )));
            }
            let pairs = inputs.iter().zip(row).filter_map(|(x, d)| d.map(|d| (&x.meta, d.profile())));
            metas.push(ExtendedMeta::combine(pairs).ok_or_else(|| shape_error("an empty row".into()))?);
        }
        self.counters.limbs(basis.len() * 2 * (inputs.len() + rows.len()), ring.degree());
        let positions: Vec<usize> = basis.iter().collect();
        let columns: Vec<Vec<(Limb, Limb)>> = positions
            .par_iter()
            .map(|&i| {
                let q = ring.modulus(i);
                let mut outs: Vec<(Limb, Limb)> = rows.iter().map(|_| (ring.limb(), ring.limb())).collect();
                let shortest = rows.iter().flatten().flatten().map(|d| d.period()).min().unwrap_or(ring.degree());
                let (mut a, mut b0, mut b1) = (Vec::new(), Vec::new(), Vec::new());
                let mut end = 0;
                while end < ring.degree() {
                    let start = end;
                    end += CHUNK.min(shortest - start % shortest);
                    let range = start..end;
                    for (row, (o0, o1)) in rows.iter().zip(&mut outs) {
                        a.clear();
                        b0.clear();
                        b1.clear();
                        for (x, d) in inputs.iter().zip(row) {
                            if let Some(d) = d {
                                a.push(d.piece(i, range.clone()));
                                b0.push(&x.e0.limb(i)[range.clone()]);
                                b1.push(&x.e1.limb(i)[range.clone()]);
                            }
                        }
                        kernels::inner_product2(q, &mut o0[range.clone()], &mut o1[range.clone()], &a, &b0, &b1);
                    }
                }
                outs
            })
            .collect();
        Ok(assembled(basis, columns, metas.into_iter()))
    }

    pub(super) fn summed(&self, parts: Vec<(GaloisElement, Extended)>, next: NextUse) -> Result<Ciphertext, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let shifts = parts.iter().map(|(g, x)| (g.column_shift(params.ring()), &x.meta));
        let sum = ExtendedMeta::sum(shifts).ok_or_else(no_parts)?;
        let switched = parts.iter().filter(|(g, _)| !g.is_identity()).count();
        let out = params.after_galois_sum(&sum, switched, next)?;
        let extended = params.chain().extended(sum.meta.level);
        let (identity, moved): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(g, _)| g.is_identity());
        let mut identity = identity.into_iter().map(|(_, x)| [x.e0, x.e1]);
        let mut acc = identity.next().unwrap_or_else(|| [Poly::zero(ring, extended), Poly::zero(ring, extended)]);
        identity.for_each(|x| acc.iter_mut().zip(&x).for_each(|(a, x)| a.add_assign(ring, x)));
        for (g, x) in moved {
            self.add_moved(&mut acc, g, [x.e0, x.e1], sum.meta.level)?;
        }
        let [e0, e1] = acc;
        Ok(self.reduced(e0, e1, out, params.divisor(&sum.meta)))
    }
    pub(super) fn chained(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, Extended), SchemeError>>,
        next: NextUse,
    ) -> Result<Ciphertext, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let mut sum: Option<Extended> = None;
        let mut switched = 0;
        for part in parts {
            let (g, mut x) = part?;
            if let Some(inner) = sum.take() {
                x.meta = x.meta.plus(&inner.meta);
                x.e0.add_assign(ring, &inner.e0);
                x.e1.add_assign(ring, &inner.e1);
            }
            if !g.is_identity() {
                switched += 1;
                let (meta, basis) = (x.meta.shifted(g.column_shift(params.ring())), x.e0.basis());
                let mut acc = [Poly::zero(ring, basis), Poly::zero(ring, basis)];
                self.add_moved(&mut acc, g, [x.e0, x.e1], meta.meta.level)?;
                let [e0, e1] = acc;
                x = Extended { meta, e0, e1 };
            }
            sum = Some(x);
        }
        let sum = sum.ok_or_else(no_parts)?;
        let out = params.after_galois_sum(&sum.meta, switched, next)?;
        Ok(self.reduced(sum.e0, sum.e1, out, params.divisor(&sum.meta.meta)))
    }
    /// Adds g(x), x over the extended modulus of `level`, after its key switch.
    fn add_moved(
        &self,
        acc: &mut [Poly<Eval>; 2],
        g: GaloisElement,
        x: [Poly<Eval>; 2],
        level: Level,
    ) -> Result<(), SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let (basis, gadget) = (params.chain().basis(level), params.chain().gadget(level));
        let name = || format!("Galois key for X^{}", g.exponent());
        let key = usable(self.keys.galois(g, params.chain().gadget_id(level)), basis, level, "linear map", name)?;
        let [e0, e1] = x;
        let positions: Vec<usize> = e0.basis().iter().collect();
        let cut = Decomposition::of_quotient(params, gadget, e1, basis);
        self.counters.key_switch(1, basis.len(), cut.len(), gadget.special().len(), ring.degree());
        let shift = g.evaluation_shift(ring);
        let [acc0, acc1] = acc;
        acc0.limbs_mut().into_par_iter().zip(acc1.limbs_mut()).zip(positions).for_each(|((a0, a1), i)| {
            let q = ring.modulus(i);
            let digits = cut.evaluate(ring, i, None);
            let views: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
            let (b, a) = cut.key_limbs(key, i);
            let (mut s0, mut s1) = (ring.limb(), ring.limb());
            kernels::inner_product2(q, &mut s0, &mut s1, &views, &b, &a);
            kernels::add_assign(q, &mut s0, e0.limb(i));
            for (target, source, len) in shift.pieces() {
                kernels::add_assign(q, &mut a0[target..target + len], &s0[source..source + len]);
                kernels::add_assign(q, &mut a1[target..target + len], &s1[source..source + len]);
            }
        });
        Ok(())
    }

    /// Division by P and by the primes that `out` does not have, and multiplication by t.
    pub(super) fn reduced(&self, e0: Poly<Eval>, e1: Poly<Eval>, out: Meta, t: u64) -> Ciphertext {
        let params = self.params();
        let target = params.chain().basis(out.level);
        self.counters.rounding(2, e0.basis(), target, params.degree());
        let scale = RoundingScale::times_plain(t);
        let c0 = divide_round(params.ring(), &e0, target, scale);
        let c1 = divide_round(params.ring(), &e1, target, scale);
        Ciphertext::new(out, c0, c1)
    }
}
