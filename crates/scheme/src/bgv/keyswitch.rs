//! Decomposition and inner products: the engine under relinearization, automorphisms and linear maps.

use everlevel_arith::kernels;
use everlevel_ring::{Basis, Eval, Limb, Poly, Ring, convert::CenteredLift};

use rayon::prelude::*;

use crate::error::SchemeError;
use crate::keys::SwitchKey;
use crate::params::{Gadget, Level, Params};

/// A polynomial cut into key-switching digits, each known as a small integer polynomial.
pub(crate) struct Decomposition {
    digits: Vec<(usize, Basis, CenteredLift)>,
}

impl Decomposition {
    /// Cuts `x`, multiplied by the inverse of `divisor`, into the digits of `gadget`.
    pub(crate) fn new(params: &Params, gadget: &Gadget, x: &Poly<Eval>, divisor: u64) -> Self {
        let ring = params.ring();
        let inverse = |i: usize| {
            let q = ring.modulus(i);
            q.inv(q.reduce_u64(divisor)).expect("the primes of a ring are coprime to t")
        };
        let cut: Vec<(usize, Basis)> = gadget.digits(x.basis()).collect();
        let digits = cut
            .into_par_iter()
            .map(|(group, primes)| (group, primes, CenteredLift::from_eval(ring, primes, x, inverse)))
            .collect();
        Decomposition { digits }
    }
    /// Cuts round(x / P), P being the product of the special primes of `gadget`, over `basis`.
    pub(crate) fn of_quotient(params: &Params, gadget: &Gadget, x: Poly<Eval>, basis: Basis) -> Self {
        let ring = params.ring();
        let special = gadget.special();
        let remainder = CenteredLift::from_eval(ring, special, &x, |_| 1);
        let cut: Vec<(usize, Basis)> = gadget.digits(basis).collect();
        let digits = cut
            .into_par_iter()
            .map(|(group, primes)| {
                let terms = primes
                    .iter()
                    .collect::<Vec<_>>()
                    .into_par_iter()
                    .map(|i| {
                        let q = ring.modulus(i);
                        let mut limb = x.limb(i).clone();
                        ring.inverse_limb(i, &mut limb);
                        let mut v = ring.limb();
                        remainder.reduce(ring, q, 1, &mut v);
                        let scale = CenteredLift::term_factor(ring, primes, i, ring.inverse_product(special, i));
                        kernels::sub_scale(q, &mut limb, &v, scale);
                        limb
                    })
                    .collect();
                (group, primes, CenteredLift::from_terms(ring, primes, terms))
            })
            .collect();
        Decomposition { digits }
    }
    /// How many digits.
    pub(crate) fn len(&self) -> usize {
        self.digits.len()
    }
    /// All digits as evaluations modulo the prime at `position`: one transform each. `known` gives the evaluations of the
    /// decomposed polynomial itself, which is what a digit is modulo its own primes, with its multiplier.
    pub(crate) fn evaluate(&self, ring: &Ring, position: usize, known: Option<(&[u64], u64)>) -> Vec<Limb> {
        let q = ring.modulus(position);
        self.digits
            .iter()
            .map(|(_, primes, lift)| {
                let mut digit = ring.limb();
                match known {
                    Some((evaluations, multiplier)) if primes.contains(position) => {
                        kernels::scalar_mul(q, &mut digit, evaluations, multiplier);
                    }
                    _ => {
                        lift.reduce(ring, q, 1, &mut digit);
                        ring.forward_limb(position, &mut digit);
                    }
                }
                digit
            })
            .collect()
    }
    /// The key's limbs modulo the prime at `position`, digit by digit: (b, a).
    pub(crate) fn key_limbs<'k>(&self, key: &'k SwitchKey, position: usize) -> (Vec<&'k [u64]>, Vec<&'k [u64]>) {
        let digit = |group: usize| key.digit(group).expect("the key was checked to cover the basis");
        self.digits
            .iter()
            .map(|(group, ..)| {
                let d = digit(*group);
                (&d.b.limb(position)[..], &d.a.limb(position)[..])
            })
            .unzip()
    }
}

/// Checks that a key is there and long enough.
pub(crate) fn usable<'k>(
    key: Option<&'k SwitchKey>,
    basis: Basis,
    level: Level,
    operation: &'static str,
    name: impl Fn() -> String,
) -> Result<&'k SwitchKey, SchemeError> {
    let key = key.ok_or_else(|| SchemeError::MissingKey { operation, key: name() })?;
    if !basis.is_subset(key.basis()) {
        return Err(SchemeError::KeyTooShort { operation, key: name(), level });
    }
    Ok(key)
}
