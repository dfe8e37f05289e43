//! Messages as polynomials.

use everlevel_ring::{Basis, Constant, Cpu, Engine, Eval, Poly, sample};
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

/// κ m over `basis`, divided as the form of a ciphertext like `meta` asks.
pub(crate) fn carried_poly<E: Engine>(
    params: &Params,
    engine: &E,
    plaintext: &Plaintext,
    meta: &Meta,
    basis: Basis,
) -> Result<Poly<Eval, E>, SchemeError> {
    let t = params.plaintext_ring().modulus(meta.exponent);
    let carried = carried_coefficients(params, plaintext, meta)?;
    let mut poly = engine.reduce_signed(basis, &carried).into_eval(engine);
    poly.scale_assign(engine, Constant::inverse(meta.form.scale(t.wide())));
    Ok(poly)
}

/// The centered message as evaluations over `basis`.
pub(crate) fn message_poly<E: Engine>(
    params: &Params,
    engine: &E,
    plaintext: &Plaintext,
    basis: Basis,
) -> Result<Poly<Eval, E>, SchemeError> {
    let centered = message_coefficients(params, plaintext)?;
    Ok(engine.reduce_signed(basis, &centered).into_eval(engine))
}

/// m + t e (or t e), in evaluations.
pub(crate) fn noisy_message(
    cpu: &Cpu,
    basis: Basis,
    message: Option<&[i64]>,
    errors: &[i64],
    t: u128,
) -> Poly<Eval> {
    let term = |x: Vec<i64>| sample::secret_poly(cpu, basis, &Zeroizing::new(x));
    if t >> 56 != 0 {
        let mut out = term(errors.to_vec());
        out.scale_assign(cpu, t as i128);
        if let Some(m) = message {
            out.add_assign(cpu, &term(m.to_vec()));
        }
        return out;
    }
    // One small polynomial, so one transform a limb for both: errors are below 2^6.
    match message {
        Some(m) => term(m.iter().zip(errors).map(|(m, e)| m + t as i64 * e).collect()),
        None => term(errors.iter().map(|e| t as i64 * e).collect()),
    }
}
