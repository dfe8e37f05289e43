//! Messages as polynomials.

use everlevel_arith::kernels;
use everlevel_ring::{Basis, Coeff, Eval, Poly, Ring, sample};
use zeroize::Zeroizing;

use everlevel_scheme::Params;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{Plaintext, message_coefficients};

/// The centered coefficients of κ m: the plaintext as a ciphertext like `meta` carries it.
pub(crate) fn carried_coefficients(
    params: &Params,
    plaintext: &Plaintext,
    meta: &Meta,
) -> Result<Zeroizing<Vec<i64>>, SchemeError> {
    let t = params.plaintext_ring().modulus(meta.exponent);
    let mut message = message_coefficients(params, plaintext)?;
    if meta.factor != 1 {
        message.iter_mut().for_each(|m| *m = t.centered(t.mul(t.reduce_i64(*m), meta.factor)));
    }
    Ok(message)
}

/// The centered message as evaluations over `basis`.
pub(crate) fn message_poly(
    params: &Params,
    plaintext: &Plaintext,
    basis: Basis,
) -> Result<Poly<Eval>, SchemeError> {
    let centered = message_coefficients(params, plaintext)?;
    Ok(Poly::<Coeff>::from_signed(params.ring(), basis, &centered).into_eval(params.ring()))
}

/// m + t e (or t e), in evaluations.
pub(crate) fn noisy_message(
    ring: &Ring,
    basis: Basis,
    message: Option<&[i64]>,
    errors: &[i64],
    t: u64,
) -> Poly<Eval> {
    let term = |x: Vec<i64>| sample::secret_poly(ring, basis, &Zeroizing::new(x));
    if t >> 56 != 0 {
        let mut out = term(errors.to_vec());
        out.scale_assign(ring, t as i128);
        if let Some(m) = message {
            out.add_assign(ring, &term(m.to_vec()));
        }
        return out;
    }
    // One small polynomial, so one transform a limb for both: errors are below 2^6.
    match message {
        Some(m) => term(m.iter().zip(errors).map(|(m, e)| m + t as i64 * e).collect()),
        None => term(errors.iter().map(|e| t as i64 * e).collect()),
    }
}

/// Divides by an integer modulo every prime.
pub(crate) fn divide(ring: &Ring, x: &mut Poly<Eval>, divisor: u64) {
    if divisor != 1 {
        x.for_each(|i, limb| {
            kernels::scalar_mul_assign(ring.modulus(i), limb, ring.inverse_of(divisor, i))
        });
    }
}
