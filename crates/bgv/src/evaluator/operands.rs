//! Operand alignment (level, correction factor, plaintext modulus), and the building blocks of sums
//! and products.

use std::borrow::Cow;

use super::product::{Product, Tensor};
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_ring::{Engine, Eval, Poly};
use everlevel_scheme::Arithmetic;
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::same_kind;
use everlevel_scheme::spec::{Form, Level};

/// Two operands: borrowed where nothing had to be done.
pub(super) type Operands<'c, E> = (Cow<'c, Ciphertext<E>>, Cow<'c, Ciphertext<E>>);

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// [`Arithmetic::mod_switch_to`], which does not copy an operand that is at the level already.
    pub(super) fn at_level<'c>(
        &self,
        a: Cow<'c, Ciphertext<E>>,
        level: Level,
    ) -> Result<Cow<'c, Ciphertext<E>>, SchemeError> {
        if level == a.meta.level { Ok(a) } else { self.mod_switch_to(&a, level).map(Cow::Owned) }
    }

    /// Refuses two operands of which one is of another parameter set.
    pub(super) fn check_sets(&self, a: &Meta, b: &Meta) -> Result<(), SchemeError> {
        self.check_set(a)?;
        self.check_set(b)
    }

    /// Both operands at one level, with one factor and one plaintext modulus.
    pub(super) fn aligned<'c>(
        &self,
        a: &'c Ciphertext<E>,
        b: &'c Ciphertext<E>,
        operation: &'static str,
    ) -> Result<Operands<'c, E>, SchemeError> {
        self.check_sets(&a.meta, &b.meta)?;
        same_kind(&a.meta, &b.meta, operation)?;
        self.check_owner(&a.meta, operation)?;
        self.check_owner(&b.meta, operation)?;
        let (mut a, mut b) = (Cow::Borrowed(a), Cow::Borrowed(b));
        if let Some((first, k)) = self.params().noise().alignment(&a.meta, &b.meta) {
            let x = if first { &mut a } else { &mut b };
            let mut scaled = self.scaled(x, k)?;
            let t = self.params().plaintext_ring().modulus(scaled.meta.exponent);
            scaled.meta.factor = t.mul(scaled.meta.factor, t.reduce_i64(k));
            *x = Cow::Owned(scaled);
        }
        let low = a.meta.level.min(b.meta.level);
        Ok((self.at_level(a, low)?, self.at_level(b, low)?))
    }

    /// a + b, or a - b.
    pub(super) fn sum(
        &self,
        a: &Ciphertext<E>,
        b: &Ciphertext<E>,
        subtract: bool,
    ) -> Result<Ciphertext<E>, SchemeError> {
        let (a, b) = self.aligned(a, b, if subtract { "subtraction" } else { "addition" })?;
        let engine = self.engine();
        let meta = self.params.noise().add(&a.meta, &b.meta)?;
        let mut out = a.into_owned().with_meta(meta);
        for (x, y) in out.components.iter_mut().zip(&b.components) {
            if subtract { x.sub_assign(engine, y) } else { x.add_assign(engine, y) }
        }
        Ok(out)
    }

    /// The product at a level.
    pub(super) fn product(
        &self,
        a: &Ciphertext<E>,
        b: &Ciphertext<E>,
        level: Level,
    ) -> Result<Product<E>, SchemeError> {
        let square = std::ptr::eq(a, b);
        let (meta, (a, b)) = self.factors(a, b, level)?;
        Ok(self.multiplied(meta, &a, (!square).then_some(&b)))
    }

    /// The product, which will have this public data, of two factors at its level, or of one with
    /// itself.
    pub(super) fn multiplied(
        &self,
        meta: Meta,
        x: &Ciphertext<E>,
        y: Option<&Ciphertext<E>>,
    ) -> Product<E> {
        let (x, y) = (&x.components[..], y.map(|y| &y.components[..]));
        let t = self.params.plaintext_ring().modulus(meta.exponent).wide();
        let tensor = match self.params.noise().product_form(meta.form) {
            Form::Bgv => {
                let mut tensor = Tensor::Eval(self.tensor(x, y));
                // t x * t y is t times the product in BFV form.
                tensor.scale_assign(self.engine(), meta.form.scale(t) as i128);
                tensor
            }
            Form::Bfv => Tensor::Coeff(self.scaled_tensor(x, y, t, meta.level)),
        };
        Product { meta, tensor }
    }

    /// The polynomial times k; the factor stays.
    pub(super) fn scaled(&self, a: &Ciphertext<E>, k: i64) -> Result<Ciphertext<E>, SchemeError> {
        self.check_owner(&a.meta, "multiplication by a constant")?;
        let meta = self.params().noise().scale(&a.meta, k.unsigned_abs())?;
        let mut out = a.clone().with_meta(meta);
        out.each(|c| c.scale_assign(self.engine(), k));
        Ok(out)
    }

    /// [`Arithmetic::mul_monomials`]: a transform for each prime and power of X.
    pub(super) fn times_monomials(
        &self,
        factors: &[(&Ciphertext<E>, i64)],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        let engine = self.engine();
        let mut powers: Vec<(Level, i64, Poly<Eval, E>)> = Vec::new();
        let mut products = Vec::with_capacity(factors.len());
        for &(a, k) in factors {
            self.check_owner(&a.meta, "multiplication by a monomial")?;
            self.params.check_monomial(k)?;
            let made =
                powers.iter().position(|(level, power, _)| (*level, *power) == (a.meta.level, k));
            let place = made.unwrap_or_else(|| {
                powers.push((a.meta.level, k, Poly::monomial(engine, a.basis(), k)));
                powers.len() - 1
            });
            let monomial = &powers[place].2;
            let limbs = 2 * a.components.len() * a.basis().len();
            self.counters.limbs(limbs, self.params.degree());
            let components = a.components.iter().map(|c| c.mul(engine, monomial)).collect();
            products.push(Ciphertext::new(a.meta, components));
        }
        Ok(products)
    }

    /// Subtracts the plaintext's slots.
    ///
    /// # Errors
    /// As [`Arithmetic::add_plain`].
    pub fn sub_plain(
        &self,
        a: &Ciphertext<E>,
        b: &Plaintext,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.add_plain(a, &b.scaled(-1, self.params())?)
    }
}
