//! Decomposition and inner products: the engine under relinearization, automorphisms and linear
//! maps.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_arith::{Modulus, kernels};
use everlevel_ring::{Basis, Coeff, Eval, Limb, Poly, Ring, convert::CenteredLift};
use rayon::prelude::*;

use crate::keys::SwitchingKey;
use everlevel_scheme::Params;
use everlevel_scheme::SchemeError;
use everlevel_scheme::spec::{Gadget, Level};

/// A polynomial cut into key-switching digits: small integer polynomials, reduced modulo every
/// prime of the extended basis.
pub(crate) struct Decomposition {
    digits: Vec<Digit>,
    extended: Basis,
}

struct Digit {
    group: usize,
    primes: Basis,
    /// Evaluations modulo each prime of the extended basis, taken out once.
    spread: Vec<Mutex<Option<Limb>>>,
}

impl Decomposition {
    /// Cuts `x`, multiplied by the inverse of `divisor`, into the digits of `gadget`. Modulo its
    /// own primes a digit is `x` itself, so those limbs are left to [`Decomposition::evaluate`].
    pub(crate) fn new(params: &Params, gadget: &Gadget, x: &Poly<Eval>, divisor: u64) -> Self {
        let ring = params.ring();
        let inverse = |i: usize| ring.inverse_of(divisor, i);
        Self::cut(
            ring,
            gadget,
            x.basis(),
            |primes| CenteredLift::from_eval(ring, primes, x, inverse),
            true,
        )
    }

    /// The same from coefficients: every limb is made here.
    pub(crate) fn of_coefficients(
        params: &Params,
        gadget: &Gadget,
        x: &Poly<Coeff>,
        divisor: u64,
    ) -> Self {
        let ring = params.ring();
        let inverse = |i: usize| ring.inverse_of(divisor, i);
        let lift = |primes: Basis| {
            let limbs = primes.iter().map(|i| x.limb(i).clone()).collect();
            CenteredLift::from_coeff(ring, primes, limbs, inverse)
        };
        Self::cut(ring, gadget, x.basis(), lift, false)
    }

    /// Cuts round(x / P), P being the product of the special primes of `gadget`, over `basis`.
    pub(crate) fn of_quotient(
        params: &Params,
        gadget: &Gadget,
        x: Poly<Eval>,
        basis: Basis,
    ) -> Self {
        let ring = params.ring();
        let special = gadget.special();
        let targets: Vec<(usize, u64)> = basis.iter().map(|i| (i, 1)).collect();
        let remainder =
            CenteredLift::from_eval(ring, special, &x, |_| 1).spread(ring, &targets, false);
        let lift = |primes: Basis| {
            let terms = primes
                .iter()
                .collect::<Vec<_>>()
                .into_par_iter()
                .map(|i| {
                    let mut limb = x.limb(i).clone();
                    ring.inverse_limb(i, &mut limb);
                    let v = &remainder[basis.limb_of(i).expect("digits are cut from the basis")];
                    let scale = CenteredLift::term_factor(
                        ring,
                        primes,
                        i,
                        ring.inverse_product(special, i),
                    );
                    kernels::sub_scale(ring.modulus(i), &mut limb, v, scale);
                    limb
                })
                .collect();
            CenteredLift::from_terms(ring, primes, terms)
        };
        Self::cut(ring, gadget, basis, lift, false)
    }

    fn cut(
        ring: &Ring,
        gadget: &Gadget,
        basis: Basis,
        lift: impl Fn(Basis) -> CenteredLift + Sync,
        own_known: bool,
    ) -> Self {
        let extended = basis.union(gadget.special());
        let groups: Vec<(usize, Basis)> = gadget.digits(basis).collect();
        let digits = groups
            .into_par_iter()
            .map(|(group, primes)| {
                let wanted = if own_known { extended.minus(primes) } else { extended };
                let targets: Vec<(usize, u64)> = wanted.iter().map(|i| (i, 1)).collect();
                let mut limbs = lift(primes).spread(ring, &targets, true).into_iter();
                let spread = extended
                    .iter()
                    .map(|i| Mutex::new(if wanted.contains(i) { limbs.next() } else { None }))
                    .collect();
                Digit { group, primes, spread }
            })
            .collect();
        Decomposition { digits, extended }
    }

    /// How many digits.
    pub(crate) fn len(&self) -> usize {
        self.digits.len()
    }

    /// All digits as evaluations modulo the prime at `position`. To be called once for each prime.
    /// `known` gives the evaluations of the decomposed polynomial itself, which is what a digit is
    /// modulo its own primes, with its multiplier.
    pub(crate) fn evaluate(
        &self,
        ring: &Ring,
        position: usize,
        known: Option<(&[u64], u64)>,
    ) -> Vec<Limb> {
        let q = ring.modulus(position);
        let place = self.extended.limb_of(position).expect("a prime of the extended basis");
        self.digits
            .iter()
            .map(|digit| {
                match (
                    digit.spread[place].lock().unwrap_or_else(PoisonError::into_inner).take(),
                    known,
                ) {
                    (Some(limb), _) => limb,
                    (None, Some((evaluations, multiplier))) if digit.primes.contains(position) => {
                        let mut limb = ring.limb();
                        kernels::scalar_mul(q, &mut limb, evaluations, multiplier);
                        limb
                    }
                    (None, _) => {
                        unreachable!("each prime is evaluated once, and its own digit is known")
                    }
                }
            })
            .collect()
    }

    /// The key's limbs modulo the prime at `position`: those of each component, digit by digit.
    pub(crate) fn key_limbs<'k>(
        &self,
        key: &'k SwitchingKey,
        position: usize,
    ) -> Vec<Vec<&'k [u64]>> {
        let digit =
            |cut: &Digit| key.digit(cut.group).expect("the key was checked to cover the basis");
        let digits: Vec<_> = self.digits.iter().map(digit).collect();
        let components = digits.first().map_or(0, |digit| digit.components.len());
        (0..components)
            .map(|k| digits.iter().map(|digit| &digit.components[k].limb(position)[..]).collect())
            .collect()
    }
}

/// Words that one kernel call covers where several passes go over the same words: those stay in a
/// near cache.
pub(crate) const CHUNK: usize = 2048;

/// The places of a limb in order, [`CHUNK`] at a time.
pub(crate) fn chunks(ring: &Ring) -> impl Iterator<Item = Range<usize>> {
    let degree = ring.degree();
    (0..degree).step_by(CHUNK).map(move |start| start..(start + CHUNK).min(degree))
}

/// Writes Σ digits_j key_kj to the places `to` of every component k; `key` holds those of the same
/// length.
pub(crate) fn write_inner_products(
    q: Modulus,
    outs: &mut [Limb],
    to: Range<usize>,
    digits: &[&[u64]],
    key: &[Vec<&[u64]>],
) {
    match (outs, key) {
        ([o0, o1], [b, a]) => {
            kernels::inner_product2(q, &mut o0[to.clone()], &mut o1[to], digits, b, a)
        }
        (outs, key) => {
            outs.iter_mut().zip(key).for_each(|(out, key)| {
                kernels::inner_product(q, &mut out[to.clone()], digits, key)
            });
        }
    }
}

/// The same places of every limb.
pub(crate) fn within<'a>(limbs: &[&'a [u64]], places: &Range<usize>) -> Vec<&'a [u64]> {
    limbs.iter().map(|limb| &limb[places.clone()]).collect()
}

/// Checks that a key is there and long enough.
pub(crate) fn usable(
    key: Result<Option<Arc<SwitchingKey>>, SchemeError>,
    basis: Basis,
    level: Level,
    operation: &'static str,
    name: impl Fn() -> String,
) -> Result<Arc<SwitchingKey>, SchemeError> {
    let key = key?.ok_or_else(|| SchemeError::MissingKey { operation, key: name() })?;
    if !basis.is_subset(key.basis()) {
        return Err(SchemeError::KeyTooShort { operation, key: name(), level });
    }
    Ok(key)
}
