//! Decryption of compact ciphertexts and products.

use everlevel_ring::{Coeff, Poly, PrimePower};
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use zeroize::Zeroizing;

use super::CompactCiphertext;
use super::widths::basis;
use crate::encryption::check_noticed;
use crate::keys::SecretKey;

impl SecretKey {
    /// Decrypts what [`Ciphertext::compact_for_decryption`](crate::Ciphertext) or
    /// [`Product::compact_for_decryption`](crate::Product) made. The plaintext is exact. For each
    /// power of the secret a transform, a product and an inverse transform for each prime of the
    /// set that the widths need, whatever the level was.
    ///
    /// # Errors
    /// A ciphertext of other parameters or of another key; one whose phase lies further from a
    /// message than it states ([`SchemeError::NotDecryptable`]), found after decoding, in a time
    /// that does not depend on the phase. For a bound of d in units of 1 the phase of a ciphertext
    /// of another key passes with probability (2d)^n; without an owner that has to be below 2^-40
    /// ([`SchemeError::UnknownOwner`]).
    pub fn decrypt_compact(
        &self,
        ciphertext: &CompactCiphertext,
    ) -> Result<Plaintext, SchemeError> {
        let params = self.params();
        let cpu = params.cpu();
        let wrong = || SchemeError::WrongParams {
            object: "the compact ciphertext",
            name: params.name().into(),
        };
        ciphertext.check(params).map_err(|_| wrong())?;
        self.check_owner(ciphertext.owner, "decryption")?;
        let far = f64::from(ciphertext.distance) * (-32f64).exp2();
        check_noticed(params, ciphertext.owner, -(2.0 * far).log2())?;
        let basis = basis(params, &ciphertext.widths).ok_or_else(wrong)?;
        let secret = self.main().poly().restricted(basis);
        let mut parts = ciphertext.components.iter().zip(&ciphertext.widths).rev();
        let (highest, &last) = parts.next().ok_or_else(wrong)?;
        let modulus = PrimePower::new(2, last)?;
        // By Horner's rule, each time modulo 2 to the last width.
        let mut phase = Zeroizing::new(highest.clone());
        for _ in 0..ciphertext.degree {
            let centered = phase.iter().map(|&x| modulus.centered(x)).collect::<Vec<i64>>();
            let centered = Zeroizing::new(centered);
            let mut product = Poly::<Coeff>::from_signed(cpu, basis, &centered);
            product.wipe_on_drop();
            let mut product = product.into_eval(cpu);
            product.mul_assign(cpu, &secret);
            phase = Zeroizing::new(cpu.reduce(product.into_coeff(cpu), modulus, 1));
            if let Some((component, width)) = parts.next() {
                let shift = last - width;
                let sums = phase.iter_mut().zip(component);
                sums.for_each(|(x, c)| *x = modulus.add(*x, c << shift));
            }
        }
        let t = params.plaintext_ring().modulus(ciphertext.exponent);
        let far = phase.iter().fold(0, |far, &x| {
            let fraction = modulus.reduce_u128(u128::from(x) * t.wide());
            modulus.centered(fraction).unsigned_abs().max(far)
        });
        let message = |x: u64| {
            let rounded = (u128::from(x) * t.wide() + (1 << (last - 1))) >> last;
            t.mul(t.reduce_u128(rounded), ciphertext.unit)
        };
        let coefficients = phase.iter().map(|&x| message(x)).collect::<Vec<_>>().into();
        let plaintext = Plaintext::from_reduced(params.spec().index, coefficients, t);
        let allowed = (u128::from(ciphertext.distance) << last) >> 32;
        if u128::from(far) > allowed { Err(SchemeError::NotDecryptable) } else { Ok(plaintext) }
    }
}
