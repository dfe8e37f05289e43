//! BGV's ends of bootstrapping by message bypass.
//!
//! Under the sparse key s0 modulo q0 a worn-out (b, a) has b + a s0 = m + p ε + q0 I over the integers. With Δ c = c' + q0 O
//! (c' centered, O the integer quotient) the overflow u = -(O_b + O_a s0) = I' - Δ I is encrypted with one plaintext product
//! (of two digits), since the coefficients of O are below Δ/2; the message m + q0 I likewise modulo p (Ma–Huang–Wang–Wang 2024, as rebuilt in
//! docs/adr/0003).

use everlevel_arith::{gather_natural, kernels};
use everlevel_ring::{
    Coeff, Eval, Poly,
    convert::{RoundingScale, divide_round},
};

use super::keyswitch::Decomposition;
use super::{Bgv, Ciphertext};
use crate::error::SchemeError;
use crate::keys::{BootstrapKey, EvalKeys};
use crate::noise::{Meta, raise_digit};
use crate::params::Level;
use crate::verbs::{Raise, Scheme};

/// A ciphertext modulo q0 under the sparse key, as centered integers in natural order.
pub struct Raised {
    b: Vec<i64>,
    a: Vec<i64>,
    factor: u64,
}

impl<K: EvalKeys> Bgv<K> {
    fn bootstrap_key(&self) -> Result<&BootstrapKey, SchemeError> {
        self.keys
            .bootstrap()
            .ok_or_else(|| SchemeError::MissingKey { operation: "bootstrapping", key: "bootstrapping key".into() })
    }

    /// The ciphertext with phase o0 + o1 s0 (and noise a multiple of p²) at `meta.level`.
    fn times_sparse(&self, o0: &[i64], o1: &[i64], meta: Meta) -> Result<Ciphertext, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        let [key, key_w] = &self.bootstrap_key()?.sparse;
        let basis = params.chain().basis(meta.level);
        let poly = |x: &[i64]| Poly::<Coeff>::from_signed(ring, basis, x).into_eval(ring);
        // o1 = low + w high, balanced
        let w = raise_digit(self.plain_prime()) as i64;
        let high: Vec<i64> = o1.iter().map(|&x| (2 * x + w).div_euclid(2 * w)).collect();
        let low: Vec<i64> = o1.iter().zip(&high).map(|(&x, &h)| x - w * h).collect();
        let (low, high) = (poly(&low), poly(&high));
        let combine = |c: &Poly<Eval>, c_w: &Poly<Eval>, mut sum: Poly<Eval>| {
            sum.mul_add_assign(ring, &c.restricted(basis), &low);
            sum.mul_add_assign(ring, &c_w.restricted(basis), &high);
            sum
        };
        let c0 = combine(&key.c0, &key_w.c0, poly(o0));
        let c1 = combine(&key.c1, &key_w.c1, Poly::zero(ring, basis));
        Ok(Ciphertext::new(params.checked(meta, "bootstrapping")?, c0, c1))
    }
}

impl<K: EvalKeys> Raise for Bgv<K> {
    type Raised = Raised;

    fn overflow_bound(&self) -> u64 {
        self.params.overflow_bound()
    }

    fn minimum_capacity(&self) -> f64 {
        self.params.noise().minimum_capacity(self.plain_prime())
    }
    fn begin_raise(&self, x: &Ciphertext) -> Result<Raised, SchemeError> {
        let params = self.params();
        let ring = params.ring();
        params.check_raise(&x.meta)?;
        let key = self.bootstrap_key()?;
        let t = params.plain_arithmetic(&x.meta).value();
        let low = params.chain().basis(Level(0));
        // The switch to q0 is judged by the law of its coefficients (check_raise), not by the canonical bound.
        let scale = RoundingScale::plain_multiple(t);
        let (c0, c1) = if x.meta.level > Level(0) {
            self.counters.rounding(2, x.c0.basis(), low, ring.degree());
            (divide_round(ring, &x.c0, low, scale), divide_round(ring, &x.c1, low, scale))
        } else {
            (x.c0.clone(), x.c1.clone())
        };
        let factor = params.after_switch(&x.meta, Level(0)).factor;

        let gadget = params.chain().encapsulation();
        let special = gadget.special();
        let cut = Decomposition::new(params, gadget, &c1, t);
        let full = low.union(special);
        let (mut e0, mut e1) = (Vec::new(), Vec::new());
        for i in full.iter() {
            let q = ring.modulus(i);
            let known = low.contains(i).then(|| (&c1.limb(i)[..], ring.inverse_of(t, i)));
            let digits = cut.evaluate(ring, i, known);
            let views: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
            let (b, a) = cut.key_limbs(&key.encapsulation, i);
            let (mut s0, mut s1) = (ring.limb(), ring.limb());
            kernels::inner_product2(q, &mut s0, &mut s1, &views, &b, &a);
            if low.contains(i) {
                kernels::scalar_mul_add_assign(q, &mut s0, c0.limb(i), self.raise_factor(special, i, t));
            }
            e0.push(s0);
            e1.push(s1);
        }
        let (e0, e1) = (Poly::<Eval>::from_limbs(full, e0), Poly::<Eval>::from_limbs(full, e1));
        self.counters.key_switch(1, low.len(), cut.len(), 1, ring.degree());
        self.counters.rounding(2, full, low, ring.degree());
        let scale = RoundingScale::times_plain(t);
        let q0 = params.base_modulus();
        let centered = |e: Poly<Eval>| -> Vec<i64> {
            let c = divide_round(ring, &e, low, scale).into_coeff(ring);
            let stored: Vec<i64> = (0..ring.degree())
                .map(|k| {
                    // Mixed radix over the one or two primes of q0.
                    let (mut value, mut weight) = (0i128, 1i128);
                    for (i, limb) in low.iter().zip(c.limbs()) {
                        let q = ring.modulus(i);
                        let digit = q.mul(q.sub(limb[k], q.reduce_i128(value)), q.inv(q.reduce_i128(weight)).unwrap_or(0));
                        value += weight * digit as i128;
                        weight *= q.value() as i128;
                    }
                    (if 2 * value > q0 { value - q0 } else { value }) as i64
                })
                .collect();
            gather_natural(ring.log_degree(), &stored)
        };
        Ok(Raised { b: centered(e0), a: centered(e1), factor })
    }

    fn raise_overflow(&self, r: &Raised, delta: u64) -> Result<Ciphertext, SchemeError> {
        let meta = self.params().raised_overflow(delta)?;
        let (delta, q0) = (delta as i128, self.params().base_modulus());
        // -round(Δ c / q0): ties cannot occur, q0 is odd.
        let quotient =
            |c: &[i64]| -> Vec<i64> { c.iter().map(|&c| -((2 * delta * c as i128 + q0).div_euclid(2 * q0)) as i64).collect() };
        self.times_sparse(&quotient(&r.b), &quotient(&r.a), meta)
    }

    fn raise_message(&self, r: &Raised, like: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let params = self.params();
        let t = params.plain().modulus(1);
        let unit = t.inv(r.factor).expect("factors are units");
        let reduced = |c: &[i64]| -> Vec<i64> { c.iter().map(|&c| t.centered(t.mul(t.reduce_i64(c), unit))).collect() };
        let raised = self.times_sparse(&reduced(&r.b), &reduced(&r.a), params.raised_message(&like.meta))?;
        let low = like.meta.level.min(raised.meta.level);
        self.mod_switch_to(&raised, low)
    }

    fn base_modulus_mod_p(&self, r: &Raised) -> i64 {
        let t = self.params.plain().modulus(1);
        let unit = t.inv(r.factor).expect("factors are units");
        t.centered(t.mul(t.reduce_i128(self.params.base_modulus()), unit))
    }
}
