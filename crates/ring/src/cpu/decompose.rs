//! Digits for key switching.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::access::limb;
use super::convert::CenteredLift;
use super::keys::{KeyLimbs, KeyPoly};
use super::limb::Limb;
use super::processor::Cpu;
use super::timings::Work;
use crate::basis::Basis;
use crate::engine::{Source, Use};
use crate::gadget::{Gadget, KeyDigit};
use crate::poly::{Eval, Poly};

/// A polynomial cut into key-switching digits: small integer polynomials, reduced modulo every
/// prime of the extended basis.
pub struct Digits {
    digits: Vec<Digit>,
    extended: Basis,
    /// The polynomial itself and its divisor: what a digit is modulo its own primes. None if the
    /// digits were made modulo these as well.
    own: Option<(Poly<Eval>, u128)>,
}

struct Digit {
    group: usize,
    primes: Basis,
    /// Evaluations modulo each prime of the extended basis: not there if they are the polynomial's
    /// own, or were taken out.
    spread: Vec<Mutex<Option<Arc<Limb>>>>,
}

impl Cpu {
    pub(super) fn decomposed(&self, gadget: &Gadget, source: Source<'_, Cpu>) -> Digits {
        let ring = &self.ring;
        match source {
            Source::Eval(x, divisor) => {
                let lift = |primes: Basis| {
                    let scale = |i: usize| ring.inverse_of(divisor, i);
                    CenteredLift::from_eval(self, primes, x, Work::ModUp, scale)
                };
                let own = Some((x.clone(), divisor));
                self.cut(gadget, x.basis(), lift, own)
            }
            Source::Coeff(x, divisor) => {
                let lift = |primes: Basis| {
                    let limbs = primes.iter().map(|i| limb(x, i).clone()).collect();
                    let scale = |i: usize| ring.inverse_of(divisor, i);
                    CenteredLift::from_coeff(self, primes, limbs, Work::ModUp, scale)
                };
                self.cut(gadget, x.basis(), lift, None)
            }
            Source::Quotient(x, basis) => self.cut_quotient(gadget, &x, basis),
        }
    }

    fn cut_quotient(&self, gadget: &Gadget, x: &Poly<Eval>, basis: Basis) -> Digits {
        let (ring, special) = (&self.ring, gadget.special());
        let targets: Vec<(usize, u64)> = basis.iter().map(|i| (i, 1)).collect();
        let remainder = CenteredLift::from_eval(self, special, x, Work::ModDown, |_| 1)
            .spread(self, &targets, false);
        let term = |primes: Basis, i: usize| {
            let _timer = self.time(Work::ModDown);
            let mut limb = limb(x, i).clone();
            self.inverse_limb(i, &mut limb);
            let v = &remainder[basis.limb_of(i).expect("digits are cut from the basis")];
            let scale =
                CenteredLift::term_factor(ring, primes, i, ring.inverse_product(special, i));
            self.kernels.sub_scale(ring.modulus(i), &mut limb, v, scale);
            limb
        };
        let lift = |primes: Basis| {
            let positions: Vec<usize> = primes.iter().collect();
            let terms = positions.into_par_iter().map(|i| term(primes, i)).collect();
            CenteredLift::from_terms(self, primes, terms, Work::ModUp)
        };
        self.cut(gadget, basis, lift, None)
    }

    fn cut(
        &self,
        gadget: &Gadget,
        basis: Basis,
        lift: impl Fn(Basis) -> CenteredLift + Sync,
        own: Option<(Poly<Eval>, u128)>,
    ) -> Digits {
        let extended = basis.union(gadget.special());
        let groups: Vec<(usize, Basis)> = gadget.digits(basis).collect();
        let digit = |(group, primes): (usize, Basis)| {
            let wanted = if own.is_some() { extended.minus(primes) } else { extended };
            let targets: Vec<(usize, u64)> = wanted.iter().map(|i| (i, 1)).collect();
            let mut limbs = lift(primes).spread(self, &targets, true).into_iter().map(Arc::new);
            let spread = extended
                .iter()
                .map(|i| Mutex::new(if wanted.contains(i) { limbs.next() } else { None }))
                .collect();
            Digit { group, primes, spread }
        };
        let digits = groups.into_par_iter().map(digit).collect();
        Digits { digits, extended, own }
    }
}

impl Digits {
    /// All digits as evaluations modulo the prime at `position`: taken out, or kept.
    pub(super) fn modulo(&self, cpu: &Cpu, position: usize, keep: bool) -> Vec<Arc<Limb>> {
        let place = self.extended.limb_of(position).expect("a prime of the extended basis");
        let evaluations = |digit: &Digit| {
            let mut slot = digit.spread[place].lock().unwrap_or_else(PoisonError::into_inner);
            let limb = slot.take().unwrap_or_else(|| Arc::new(self.own(cpu, digit, position)));
            if keep {
                *slot = Some(limb.clone());
            }
            limb
        };
        self.digits.iter().map(evaluations).collect()
    }

    /// A digit modulo one of its own primes.
    fn own(&self, cpu: &Cpu, digit: &Digit, position: usize) -> Limb {
        let own = self.own.as_ref().filter(|_| digit.primes.contains(position));
        let (x, divisor) = own.expect("each prime is taken once, and its own digit is known");
        let _timer = cpu.time(Work::ModUp);
        let mut out = cpu.limb();
        let inverse = cpu.ring.inverse_of(*divisor, position);
        cpu.kernels.scalar_mul(cpu.ring.modulus(position), &mut out, limb(x, position), inverse);
        out
    }

    /// The key modulo the prime at `position`, for these digits.
    pub(super) fn key_limbs<'k>(
        &self,
        cpu: &Cpu,
        key: &'k [KeyDigit],
        position: usize,
    ) -> KeyLimbs<'k> {
        let digit = |cut: &Digit| {
            key.iter()
                .find(|digit| digit.group == cut.group)
                .expect("the key was checked to cover the basis")
        };
        let digits: Vec<&KeyDigit> = self.digits.iter().map(digit).collect();
        let components = digits.first().map_or(0, |digit| digit.components.len());
        let component = |k: usize| -> Vec<&'k KeyPoly> {
            digits.iter().map(|digit| &digit.components[k]).collect()
        };
        KeyLimbs::new(cpu, position, (0..components).map(component))
    }
}

impl Use<'_, Digits> {
    /// All digits as evaluations modulo the prime at `position`, once if the digits are used once.
    pub(super) fn modulo(&self, cpu: &Cpu, position: usize) -> Vec<Arc<Limb>> {
        match self {
            Use::Once(digits) => digits.modulo(cpu, position, false),
            Use::Shared(digits) => digits.modulo(cpu, position, true),
        }
    }
}
