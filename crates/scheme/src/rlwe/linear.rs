//! Automorphisms and linear maps with double hoisting.
//!
//! An [`Extended`] ciphertext lives modulo Q P, multiplied by P and divided by t, so that sums of plaintext products and of
//! automorphisms need one division by P in all.

use everlevel_arith::{NttTable, kernels};
use everlevel_ring::{
    Basis, CanonicalNorm, Eval, GaloisElement, Limb, Poly,
    convert::{RoundingScale, divide_round, divide_round_produced},
};
use rayon::prelude::*;

use super::keyswitch::{CHUNK, Decomposition, chunks, usable, within};
use super::{Ciphertext, Evaluator};
use crate::error::SchemeError;
use crate::keys::{EvalKeys, SwitchKey};
use crate::noise::{ExtendedMeta, Meta, embedding_profile};
use crate::params::{Level, Params};
use crate::verbs::{NextUse, PeriodicSlots};

/// Shortest stored period of a diagonal, in columns: below that, kernels would be called on crumbs.
const SHORTEST_PERIOD: usize = 1024;

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

/// A plaintext diagonal in evaluations: periodic along the rows, like the slots it came from.
pub struct Diagonal {
    exponent: u32,
    period: usize,
    basis: Basis,
    limbs: Vec<Vec<u64>>,
    profile: Vec<f64>,
}

impl Diagonal {
    /// Bytes in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.limbs.iter().map(|l| l.len() as u64 * 8).sum()
    }
    fn limb(&self, position: usize) -> &[u64] {
        &self.limbs[self.basis.limb_of(position).expect("checked by the caller")]
    }
    /// The evaluations for `len` positions from `start` (which do not cross a period), rows of `half` columns.
    fn piece(&self, position: usize, start: usize, len: usize, half: usize) -> &[u64] {
        let at = start / half * self.period + start % half % self.period;
        &self.limb(position)[at..at + len]
    }
}

/// Coefficients (natural order, centered) of a polynomial in a power of X that holds `values`, with its embedding profile: 2 period of
/// them, or 16 where that is less, as transforms have at least so many points.
pub(crate) fn periodic_plaintext(params: &Params, values: &PeriodicSlots, e: u32) -> Result<(Vec<i64>, Vec<f64>), SchemeError> {
    let inner = params.plain().encode_periodic(&values.values, values.period, e)?;
    let spread = (16 / inner.len()).max(1);
    let mut coefficients = vec![0; inner.len() * spread];
    coefficients.iter_mut().step_by(spread).zip(params.plain().centered(&inner, e)).for_each(|(x, c)| *x = c);
    let real: Vec<f64> = coefficients.iter().map(|&x| x as f64).collect();
    let profile = embedding_profile(&CanonicalNorm::new(real.len()), &real);
    Ok((coefficients, profile))
}

impl<K: EvalKeys> Evaluator<K> {
    pub(super) fn make_diagonal(&self, values: &PeriodicSlots, e: u32, level: Level) -> Result<Diagonal, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let (coefficients, profile) = periodic_plaintext(params, values, e)?;
        let len = coefficients.len();
        let half = ring.degree() / 2;
        let period = (len / 2).max(SHORTEST_PERIOD).min(half);
        let basis = params.chain().extended(level);
        let log = len.trailing_zeros();
        let mut stored = vec![0i64; len];
        everlevel_arith::scatter_natural(log, &coefficients, &mut stored);
        let limbs = basis
            .iter()
            .map(|i| {
                let q = ring.modulus(i);
                let mut small = vec![0; len];
                kernels::from_signed(q, &mut small, &stored);
                let root = q.pow(ring.root(i), (ring.degree() / len) as u64);
                NttTable::new(q, log, root).map_err(everlevel_ring::RingError::from)?.forward(&mut small);
                Ok((0..2 * period).map(|k| small[k / period * (len / 2) + k % period % (len / 2)]).collect())
            })
            .collect::<Result<_, SchemeError>>()?;
        Ok(Diagonal { exponent: e, period, basis, limbs, profile })
    }

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
            let fits = |d: &Diagonal| d.exponent == first.meta.meta.exponent && basis.is_subset(d.basis);
            if row.len() != inputs.len() || row.iter().flatten().any(|d| !fits(d)) {
                return Err(shape_error(format!(
                    "a row of {} entries for {} inputs, or of other diagonals",
                    row.len(),
                    inputs.len()
                )));
            }
            let pairs = inputs.iter().zip(row).filter_map(|(x, d)| d.map(|d| (&x.meta, &d.profile[..])));
            metas.push(ExtendedMeta::combine(pairs).ok_or_else(|| shape_error("an empty row".into()))?);
        }
        self.counters.limbs(basis.len() * 2 * (inputs.len() + rows.len()), ring.degree());
        let half = ring.degree() / 2;
        let positions: Vec<usize> = basis.iter().collect();
        let columns: Vec<Vec<(Limb, Limb)>> = positions
            .par_iter()
            .map(|&i| {
                let q = ring.modulus(i);
                let mut outs: Vec<(Limb, Limb)> = rows.iter().map(|_| (ring.limb(), ring.limb())).collect();
                let shortest = rows.iter().flatten().flatten().map(|d| d.period).min().unwrap_or(half);
                let chunk = shortest.min(CHUNK);
                let (mut a, mut b0, mut b1) = (Vec::new(), Vec::new(), Vec::new());
                for start in (0..ring.degree()).step_by(chunk) {
                    let range = start..start + chunk;
                    for (row, (o0, o1)) in rows.iter().zip(&mut outs) {
                        a.clear();
                        b0.clear();
                        b1.clear();
                        for (x, d) in inputs.iter().zip(row) {
                            if let Some(d) = d {
                                a.push(d.piece(i, start, chunk, half));
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
        let empty =
            || SchemeError::BadArgument { what: "linear map", expected: "at least one part".into(), found: "none".into() };
        let shifts = parts.iter().map(|(g, x)| (g.column_shift(ring), &x.meta));
        let sum = ExtendedMeta::sum(shifts).ok_or_else(empty)?;
        let switched = parts.iter().filter(|(g, _)| !g.is_identity()).count();
        let out = params.after_galois_sum(&sum, switched, next)?;
        let level = sum.meta.level;
        let basis = params.chain().basis(level);
        let gadget = params.chain().gadget(level);
        let extended = basis.union(gadget.special());
        let t = params.divisor(&sum.meta);

        let mut acc: Option<(Poly<Eval>, Poly<Eval>)> = None;
        let (identity, moved): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(g, _)| g.is_identity());
        for (_, x) in identity {
            match &mut acc {
                None => acc = Some((x.e0, x.e1)),
                Some((a0, a1)) => {
                    a0.add_assign(ring, &x.e0);
                    a1.add_assign(ring, &x.e1);
                }
            }
        }
        let (mut acc0, mut acc1) = acc.unwrap_or_else(|| (Poly::zero(ring, extended), Poly::zero(ring, extended)));
        for (g, x) in moved {
            let name = || format!("Galois key for X^{}", g.exponent());
            let key = usable(self.keys.galois(g, params.chain().gadget_id(level)), basis, level, "linear map", name)?;
            let cut = Decomposition::of_quotient(params, gadget, x.e1, basis);
            self.counters.key_switch(1, basis.len(), cut.len(), gadget.special().len(), ring.degree());
            let shift = g.evaluation_shift(ring);
            let positions: Vec<usize> = extended.iter().collect();
            acc0.limbs_mut().into_par_iter().zip(acc1.limbs_mut()).zip(positions).for_each(|((a0, a1), i)| {
                let q = ring.modulus(i);
                let digits = cut.evaluate(ring, i, None);
                let views: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
                let (b, a) = cut.key_limbs(key, i);
                let (mut s0, mut s1) = (ring.limb(), ring.limb());
                kernels::inner_product2(q, &mut s0, &mut s1, &views, &b, &a);
                kernels::add_assign(q, &mut s0, x.e0.limb(i));
                for (target, source, len) in shift.pieces() {
                    kernels::add_assign(q, &mut a0[target..target + len], &s0[source..source + len]);
                    kernels::add_assign(q, &mut a1[target..target + len], &s1[source..source + len]);
                }
            });
        }
        Ok(self.reduced(acc0, acc1, out, t))
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
