//! Changes of form and plaintext modulus.

use everlevel_ring::{Constant, Engine};

use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::Form;
use everlevel_scheme::{PlainModulus, Scheme, SchemeError};

impl<E: Engine, K: EvalKeys> PlainModulus for Evaluator<E, K> {
    fn convert(&self, a: &Ciphertext<E>, form: Form) -> Ciphertext<E> {
        // There is no error here: what is of another set stays as it is, and others refuse it.
        if self.check_set(&a.meta).is_err() {
            return a.clone();
        }
        // One multiplication by t or 1/t modulo q.
        let t = self.params.plaintext_ring().modulus(a.meta.exponent).wide();
        let factor = match (a.meta.form, form) {
            (Form::Bgv, Form::Bfv) => Constant::inverse(t),
            (Form::Bfv, Form::Bgv) => (t as i128).into(),
            _ => Constant::ONE,
        };
        let mut out = a.clone().with_meta(Meta { form, ..a.meta });
        out.each(|c| c.scale_assign(self.engine(), factor));
        out
    }

    fn reduce_plain_modulus(
        &self,
        a: &Ciphertext<E>,
        k: u32,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        let meta = self.params.noise().reduce_plain_modulus(&a.meta, k)?;
        let mut out = a.clone().with_meta(meta);
        if meta.form == Form::Bfv && k < a.meta.exponent {
            let lost = i128::from(self.plain_prime()).pow(a.meta.exponent - k);
            out.each(|c| c.scale_assign(self.engine(), lost));
        }
        Ok(out)
    }

    fn extend_plain_modulus(
        &self,
        a: &Ciphertext<E>,
        e: u32,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        let meta = self.params.noise().extend_plain_modulus(&a.meta, e)?;
        let mut out = a.clone().with_meta(meta);
        if meta.form == Form::Bfv && e > a.meta.exponent {
            // p^e times the phase is to be what p^k times it was.
            let gained = u128::from(self.plain_prime()).pow(e - a.meta.exponent);
            out.each(|c| c.scale_assign(self.engine(), Constant::inverse(gained)));
        }
        Ok(out)
    }

    fn divide_by_p(&self, a: &Ciphertext<E>) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        let meta = self.params.noise().divide_by_p(&a.meta)?;
        let mut out = a.clone().with_meta(meta);
        if meta.form == Form::Bgv {
            let inverse = Constant::inverse(self.plain_prime().into());
            out.each(|c| c.scale_assign(self.engine(), inverse));
        }
        Ok(out)
    }

    fn multiply_by_p(&self, a: &Ciphertext<E>) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        let meta = self.params.noise().multiply_by_p(&a.meta)?;
        let mut out = a.clone().with_meta(meta);
        if meta.form == Form::Bgv {
            out.each(|c| c.scale_assign(self.engine(), self.plain_prime()));
        }
        Ok(out)
    }
}
