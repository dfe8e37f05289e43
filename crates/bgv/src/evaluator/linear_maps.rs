//! Automorphisms and linear maps with double hoisting.
//!
//! An [`Extended`] ciphertext lives modulo Q P, multiplied by P and divided by t, so that sums of
//! plaintext products and of automorphisms need one division by P in all.

use std::collections::BTreeSet;
use std::sync::Arc;

use everlevel_arith::kernels;
use everlevel_ring::{
    Basis, Eval, GaloisElement, Limb, Poly,
    convert::{RoundingScale, divide_round, divide_round_produced},
};
use rayon::prelude::*;

use super::diagonal::Diagonal;
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::evaluator::key_switch::{
    CHUNK, Decomposition, chunks, usable, within, write_inner_products,
};
use crate::keys::{EvalKeys, SwitchingKey};
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::{ExtendedMeta, Meta};
use everlevel_scheme::spec::{Level, NextUse};
use everlevel_scheme::{no_parts, same_owner};

const OPERATION: &str = "linear map";

/// A ciphertext before the division by P.
pub struct Extended {
    pub(crate) meta: ExtendedMeta,
    pub(crate) components: Vec<Poly<Eval>>,
}

impl Extended {
    fn basis(&self) -> Basis {
        self.components[0].basis()
    }
}

/// Extended ciphertexts from their components' limbs, which come prime by prime.
fn assembled(
    basis: Basis,
    columns: Vec<Vec<Vec<Limb>>>,
    metas: impl Iterator<Item = ExtendedMeta>,
) -> Vec<Extended> {
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    metas
        .map(|meta| {
            let next = |column: &mut std::vec::IntoIter<Vec<Limb>>| {
                column.next().expect("limbs for each ciphertext")
            };
            let mut limbs: Vec<_> =
                columns.iter_mut().map(|column| next(column).into_iter()).collect();
            let count = limbs.first().map_or(0, |limbs| limbs.len());
            let component =
                |_| Poly::from_limbs(basis, limbs.iter_mut().filter_map(Iterator::next).collect());
            Extended { meta, components: (0..count).map(component).collect() }
        })
        .collect()
}

impl<K: EvalKeys> Evaluator<K> {
    /// P / t modulo the prime at `position`, which is not a special one.
    pub(super) fn raise_factor(&self, special: Basis, position: usize, t: u64) -> u64 {
        let ring = self.params().ring();
        let q = ring.modulus(position);
        let p = ring.product_mod(special, q);
        q.mul(p, ring.inverse_of(t, position))
    }

    pub(super) fn hoisted(
        &self,
        x: &Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Extended>, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let (basis, count) = (x.basis(), x.components.len());
        let gadget = params.chain().gadget(x.meta.level);
        let special = gadget.special();
        let extended = basis.union(special);
        let t = params.noise().divisor(&x.meta);
        let keys = self.galois_keys(x, gs)?;
        let switched = keys.iter().flatten().count();
        let cut = (switched > 0).then(|| Decomposition::new(params, gadget, x.last(), t));
        if let Some(cut) = &cut {
            self.counters.key_switch(
                count,
                switched,
                basis.len(),
                cut.len(),
                special.len(),
                ring.degree(),
            );
        }
        let positions: Vec<usize> = extended.iter().collect();
        // For each prime, for each automorphism, the limbs of its components.
        let columns: Vec<Vec<Vec<Limb>>> = positions
            .par_iter()
            .map(|&i| {
                let q = ring.modulus(i);
                let ordinary = basis.contains(i);
                let factor = if ordinary { self.raise_factor(special, i, t) } else { 0 };
                let digits =
                    cut.as_ref().map(|cut| (cut, cut.evaluate(ring, i, self.known_digit(x, i, t))));
                let mut all: Vec<Vec<Limb>> =
                    gs.iter().map(|_| (0..count).map(|_| ring.limb()).collect()).collect();
                for (outs, _) in all.iter_mut().zip(&keys).filter(|(_, key)| key.is_none()) {
                    for (out, c) in outs.iter_mut().zip(&x.components) {
                        if ordinary {
                            kernels::scalar_mul(q, out, c.limb(i), factor)
                        } else {
                            out.fill(0)
                        }
                    }
                }
                let Some((cut, digits)) = &digits else { return all };
                let digits: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
                let keys: Vec<_> = keys
                    .iter()
                    .map(|key| key.as_deref().map(|key| cut.key_limbs(key, i)))
                    .collect();
                let constant = x.constant().filter(|_| ordinary).map(|c0| c0.limb(i));
                // Chunk by chunk, so that the digits stay in the second-level cache while the keys
                // stream by.
                for chunk in chunks(ring) {
                    for ((&g, key), outs) in gs.iter().zip(&keys).zip(&mut all) {
                        let Some(key) = key else { continue };
                        // Each contiguous piece goes straight to where the automorphism puts it.
                        for (to, from) in g.evaluation_shift(ring).pieces_of(chunk.clone()) {
                            let key: Vec<_> =
                                key.iter().map(|limbs| within(limbs, &from)).collect();
                            write_inner_products(
                                q,
                                outs,
                                to.clone(),
                                &within(&digits, &from),
                                &key,
                            );
                            if let Some(c0) = constant {
                                kernels::scalar_mul_add_assign(
                                    q,
                                    &mut outs[0][to],
                                    &c0[from],
                                    factor,
                                );
                            }
                        }
                    }
                }
                all
            })
            .collect();
        let meta = |key: &Option<_>| {
            if key.is_some() { params.noise().key_switch(&x.meta) } else { x.meta }
        };
        Ok(assembled(extended, columns, keys.iter().map(|key| ExtendedMeta::flat(meta(key)))))
    }

    /// Ciphertexts, not extended ones: each division by P takes its limbs while they are in cache.
    pub(super) fn rotated(
        &self,
        x: &Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        self.switched(x, gs, &self.galois_keys(x, gs)?)
    }

    /// The automorphisms `gs` of what each of the `keys` makes of `x`; `x` itself where there is no
    /// key.
    pub(crate) fn switched(
        &self,
        x: &Ciphertext,
        gs: &[GaloisElement],
        keys: &[Option<Arc<SwitchingKey>>],
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let gadget = params.chain().gadget(x.meta.level);
        let (basis, special, count) = (x.basis(), gadget.special(), x.components.len());
        let extended = basis.union(special);
        let t = params.noise().divisor(&x.meta);
        let switched = keys.iter().flatten().count();
        if switched == 0 {
            return Ok(vec![x.clone(); gs.len()]);
        }
        let meta = params.noise().reduce(&params.noise().key_switch(&x.meta), NextUse::Keep);
        let out = params.noise().checked(meta, "automorphism")?;
        let cut = Decomposition::new(params, gadget, x.last(), t);
        self.counters.key_switch(
            count,
            switched,
            basis.len(),
            cut.len(),
            special.len(),
            ring.degree(),
        );
        let positions: Vec<usize> = extended.iter().collect();
        let digits: Vec<Vec<Limb>> = positions
            .par_iter()
            .map(|&i| cut.evaluate(ring, i, self.known_digit(x, i, t)))
            .collect();
        let rotate = |(&g, key): (&GaloisElement, &Option<Arc<SwitchingKey>>)| {
            let Some(key) = key else { return x.clone() };
            self.counters.rounding(count, extended, basis, ring.degree());
            let scale = RoundingScale::times_plain(t);
            let components =
                divide_round_produced(ring, count, extended, basis, scale, |i, factor, outs| {
                    let q = ring.modulus(i);
                    let digits: Vec<&[u64]> = digits
                        [extended.limb_of(i).expect("a prime of the extended basis")]
                    .iter()
                    .map(|d| &d[..])
                    .collect();
                    let key = cut.key_limbs(key, i);
                    // c0 P / t is one more product.
                    let raised = x.constant().filter(|_| basis.contains(i));
                    let raised = raised
                        .map(|c0| (c0.limb(i), vec![self.raise_factor(special, i, t); CHUNK]));
                    for chunk in chunks(ring) {
                        for (to, from) in g.evaluation_shift(ring).pieces_of(chunk) {
                            let mut digits = within(&digits, &from);
                            for (k, (out, key)) in outs.iter_mut().zip(&key).enumerate().rev() {
                                let mut key = within(key, &from);
                                if let (0, Some((c0, raise))) = (k, &raised) {
                                    key.push(&raise[..from.len()]);
                                    digits.push(&c0[from.clone()]);
                                }
                                kernels::inner_product_scale_add(
                                    q,
                                    &mut out[to.clone()],
                                    &digits,
                                    &key,
                                    factor,
                                );
                            }
                        }
                    }
                });
            Ciphertext::new(out, components)
        };
        Ok(gs.iter().zip(keys).map(rotate).collect())
    }

    /// The keys of `gs` at the level of `x`, none for the identity.
    fn galois_keys(
        &self,
        x: &Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Option<Arc<SwitchingKey>>>, SchemeError> {
        self.check_owner(&x.meta, "automorphism")?;
        let id = self.params().chain().gadget_id(x.meta.level);
        gs.iter()
            .map(|&g| {
                if g.is_identity() {
                    return Ok(None);
                }
                let name = || format!("Galois key for X^{}", g.exponent());
                usable(self.keys.galois(g, id), x.basis(), x.meta.level, "automorphism", name)
                    .map(Some)
            })
            .collect()
    }

    /// What the digit of prime `i` is modulo that prime: the last component, divided by t.
    fn known_digit<'c>(&self, x: &'c Ciphertext, i: usize, t: u64) -> Option<(&'c [u64], u64)> {
        x.basis()
            .contains(i)
            .then(|| (&x.last().limb(i)[..], self.params().ring().inverse_of(t, i)))
    }

    pub(super) fn combined(
        &self,
        inputs: &[&Extended],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Result<Vec<Extended>, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let shape_error = |found: String| SchemeError::BadArgument {
            what: "linear map",
            expected: "non-empty rows of one diagonal an input, at the inputs' plaintext modulus \
                       and level"
                .into(),
            found,
        };
        let Some(first) = inputs.first() else { return Err(shape_error("no input".into())) };
        for x in inputs {
            same_owner(first.meta.meta.owner, x.meta.meta.owner, OPERATION)?;
        }
        let (basis, count) = (first.basis(), first.components.len());
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
            let pairs =
                inputs.iter().zip(row).filter_map(|(x, d)| d.map(|d| (&x.meta, d.profile())));
            metas.push(
                ExtendedMeta::combine(pairs).ok_or_else(|| shape_error("an empty row".into()))?,
            );
        }
        self.counters.limbs(basis.len() * count * (inputs.len() + rows.len()), ring.degree());
        let positions: Vec<usize> = basis.iter().collect();
        let columns: Vec<Vec<Vec<Limb>>> = positions
            .par_iter()
            .map(|&i| {
                let q = ring.modulus(i);
                let mut all: Vec<Vec<Limb>> =
                    rows.iter().map(|_| (0..count).map(|_| ring.limb()).collect()).collect();
                let periods: BTreeSet<usize> =
                    rows.iter().flatten().flatten().map(|d| d.period()).collect();
                let mut diagonals = Vec::new();
                let mut pieces: Vec<Vec<&[u64]>> = vec![Vec::new(); count];
                let mut end = 0;
                while end < ring.degree() {
                    let start = end;
                    let next = periods.iter().map(|period| start + period - start % period).min();
                    end = next.unwrap_or(ring.degree()).min(start + CHUNK);
                    let range = start..end;
                    for (row, outs) in rows.iter().zip(&mut all) {
                        diagonals.clear();
                        pieces.iter_mut().for_each(Vec::clear);
                        for (x, d) in inputs.iter().zip(row) {
                            if let Some(d) = d {
                                diagonals.push(d.piece(i, range.clone()));
                                pieces
                                    .iter_mut()
                                    .zip(&x.components)
                                    .for_each(|(piece, c)| piece.push(&c.limb(i)[range.clone()]));
                            }
                        }
                        write_inner_products(q, outs, range.clone(), &diagonals, &pieces);
                    }
                }
                all
            })
            .collect();
        Ok(assembled(basis, columns, metas.into_iter()))
    }

    pub(super) fn summed(
        &self,
        parts: Vec<(GaloisElement, Extended)>,
        next: NextUse,
    ) -> Result<Ciphertext, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        for (_, x) in &parts {
            self.check_owner(&x.meta.meta, OPERATION)?;
            same_owner(parts[0].1.meta.meta.owner, x.meta.meta.owner, OPERATION)?;
        }
        let shifts = parts.iter().map(|(g, x)| (g.evaluation_shift(params.ring()), &x.meta));
        let sum = ExtendedMeta::sum(shifts).ok_or_else(no_parts)?;
        let switched = parts.iter().filter(|(g, _)| !g.is_identity()).count();
        let out = params.noise().galois_sum(&sum, switched, next)?;
        let extended = params.chain().extended(sum.meta.level);
        let (identity, moved): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|(g, _)| g.is_identity());
        let mut identity = identity.into_iter().map(|(_, x)| x.components);
        let mut acc = identity.next().unwrap_or_else(|| self.zeros(extended));
        identity.for_each(|x| acc.iter_mut().zip(&x).for_each(|(a, x)| a.add_assign(ring, x)));
        for (g, x) in moved {
            self.add_moved(&mut acc, g, x.components, sum.meta.level)?;
        }
        Ok(self.reduced(&acc, out, params.noise().divisor(&sum.meta)))
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
            self.check_owner(&x.meta.meta, OPERATION)?;
            if let Some(inner) = sum.take() {
                same_owner(inner.meta.meta.owner, x.meta.meta.owner, OPERATION)?;
                x.meta = x.meta.plus(&inner.meta);
                x.components
                    .iter_mut()
                    .zip(&inner.components)
                    .for_each(|(x, inner)| x.add_assign(ring, inner));
            }
            if !g.is_identity() {
                switched += 1;
                let meta = x.meta.shifted(g.evaluation_shift(params.ring()));
                let mut acc = self.zeros(x.basis());
                self.add_moved(&mut acc, g, x.components, meta.meta.level)?;
                x = Extended { meta, components: acc };
            }
            sum = Some(x);
        }
        let sum = sum.ok_or_else(no_parts)?;
        let out = params.noise().galois_sum(&sum.meta, switched, next)?;
        Ok(self.reduced(&sum.components, out, params.noise().divisor(&sum.meta.meta)))
    }

    fn zeros(&self, basis: Basis) -> Vec<Poly<Eval>> {
        (0..self.params().components()).map(|_| Poly::zero(self.params().ring(), basis)).collect()
    }

    /// Adds g(x), x over the extended modulus of `level`, after its key switch.
    fn add_moved(
        &self,
        acc: &mut [Poly<Eval>],
        g: GaloisElement,
        mut x: Vec<Poly<Eval>>,
        level: Level,
    ) -> Result<(), SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let (basis, gadget) = (params.chain().basis(level), params.chain().gadget(level));
        let name = || format!("Galois key for X^{}", g.exponent());
        let key = usable(
            self.keys.galois(g, params.chain().gadget_id(level)),
            basis,
            level,
            OPERATION,
            name,
        )?;
        let last = x.pop().expect("a ciphertext has a component");
        let positions: Vec<usize> = last.basis().iter().collect();
        let cut = Decomposition::of_quotient(params, gadget, last, basis);
        self.counters.key_switch(
            acc.len(),
            1,
            basis.len(),
            cut.len(),
            gadget.special().len(),
            ring.degree(),
        );
        let shift = g.evaluation_shift(ring);
        // Prime by prime, the limbs of all components.
        let mut columns: Vec<Vec<&mut Limb>> =
            positions.iter().map(|_| Vec::with_capacity(acc.len())).collect();
        acc.iter_mut().for_each(|a| {
            columns.iter_mut().zip(a.limbs_mut()).for_each(|(column, limb)| column.push(limb))
        });
        columns.into_par_iter().zip(positions).for_each(|(column, i)| {
            let q = ring.modulus(i);
            let digits = cut.evaluate(ring, i, None);
            let views: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
            let mut sums: Vec<Limb> = column.iter().map(|_| ring.limb()).collect();
            write_inner_products(q, &mut sums, 0..ring.degree(), &views, &cut.key_limbs(&key, i));
            sums.iter_mut()
                .zip(&x)
                .for_each(|(sum, constant)| kernels::add_assign(q, sum, constant.limb(i)));
            for (a, sum) in column.into_iter().zip(&sums) {
                for (target, source, len) in shift.pieces() {
                    kernels::add_assign(
                        q,
                        &mut a[target..target + len],
                        &sum[source..source + len],
                    );
                }
            }
        });
        Ok(())
    }

    /// Division by P and by the primes that `out` does not have, and multiplication by t.
    fn reduced(&self, components: &[Poly<Eval>], out: Meta, t: u64) -> Ciphertext {
        let params = self.params();
        let target = params.chain().basis(out.level);
        self.counters.rounding(components.len(), components[0].basis(), target, params.degree());
        let scale = RoundingScale::times_plain(t);
        Ciphertext::new(
            out,
            components.iter().map(|c| divide_round(params.ring(), c, target, scale)).collect(),
        )
    }
}
