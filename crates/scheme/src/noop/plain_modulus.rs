//! Changes of the plaintext modulus in the no-op scheme.

use super::{NoOp, NoOpCiphertext};
use crate::error::SchemeError;
use crate::noise::Meta;
use crate::ops::{PlainModulus, Scheme};
use crate::spec::Form;

impl PlainModulus for NoOp {
    fn convert(&self, a: &NoOpCiphertext, form: Form) -> NoOpCiphertext {
        // What is of another set stays as it is, as in the real scheme.
        let form = if self.check_set([&a.meta]).is_ok() { form } else { a.meta.form };
        self.of_residues(a, form == a.meta.form, (Meta { form, ..a.meta }, a.value.clone()))
    }

    fn reduce_plain_modulus(
        &self,
        a: &NoOpCiphertext,
        k: u32,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        let meta = self.params.noise().reduce_plain_modulus(&a.meta, k)?;
        let t = self.params.plaintext_ring().modulus(k);
        let same = meta.form == Form::Bgv || k == a.meta.exponent;
        let value = a.value.iter().map(|&x| t.reduce_u64(x)).collect();
        Ok(self.of_residues(a, same, (meta, value)))
    }

    fn extend_plain_modulus(
        &self,
        a: &NoOpCiphertext,
        e: u32,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        let meta = self.params.noise().extend_plain_modulus(&a.meta, e)?;
        let modulus = |e| self.params.plaintext_ring().modulus(e).wide();
        let step = modulus(a.meta.exponent);
        // The real scheme's ε is not known here: any polynomial takes its place.
        let garbage = self.pretend_garbage(modulus(meta.exponent) / step);
        // Below the larger modulus. Where both are the same, the garbage is 0.
        let extended = |(&x, g): (&u64, u64)| (u128::from(x) + step * u128::from(g)) as u64;
        let same = meta.form == Form::Bgv || e == a.meta.exponent;
        let value = a.value.iter().zip(garbage).map(extended).collect();
        Ok(self.of_residues(a, same, (meta, value)))
    }

    fn divide_by_p(&self, a: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        let p = self.plain_prime();
        self.check_set([&a.meta])?;
        let meta = self.params.noise().divide_by_p(&a.meta)?;
        if let Some(position) = a.value.iter().position(|&x| x % p != 0) {
            return Err(SchemeError::BadArgument {
                what: "division by p",
                expected: "a plaintext that is a multiple of p".into(),
                found: format!("coefficient {} at position {position}", a.value[position]),
            });
        }
        let value = a.value.iter().map(|&x| x / p).collect();
        Ok(self.of_residues(a, meta.form == Form::Bfv, (meta, value)))
    }

    fn multiply_by_p(&self, a: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        let p = self.plain_prime();
        self.check_set([&a.meta])?;
        let meta = self.params.noise().multiply_by_p(&a.meta)?;
        let value = a.value.iter().map(|&x| x * p).collect();
        Ok(self.of_residues(a, meta.form == Form::Bfv, (meta, value)))
    }
}
