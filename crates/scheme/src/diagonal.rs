//! Plaintext diagonals as polynomials.

use everlevel_ring::CanonicalNorm;

use crate::error::SchemeError;
use crate::noise::Profile;
use crate::ops::{DiagonalValues, PeriodicSlots};
use crate::params::Params;
use crate::plaintext::Plaintext;

/// The centered coefficients of the polynomial that holds `values`, and its embedding profile: for
/// powers of two in a power of X, in natural order (2 period of them, or 16 where that is less, as
/// transforms have at least that many points); for indices with axes in the X_a of the last axes,
/// in the order of these.
pub fn diagonal_plaintext(
    params: &Params,
    values: &DiagonalValues,
    e: u32,
) -> Result<(Vec<i64>, Profile), SchemeError> {
    Plaintext::check_exponent(params, e)?;
    let plain = params.plaintext_ring();
    let real = |coefficients: &[i64]| coefficients.iter().map(|&x| x as f64).collect::<Vec<f64>>();
    match (values, plain.shape().axes()) {
        (DiagonalValues::Periodic(PeriodicSlots { period, values }), None) => {
            let inner = plain.encode_periodic(values, *period, e)?;
            let spread = (16 / inner.len()).max(1);
            let mut coefficients = vec![0; inner.len() * spread];
            coefficients
                .iter_mut()
                .step_by(spread)
                .zip(plain.centered(&inner, e))
                .for_each(|(x, c)| *x = c);
            // That of the ring has its tables already.
            let own;
            let norm = if coefficients.len() == params.degree() {
                params.ring().norm()
            } else {
                own = CanonicalNorm::new(coefficients.len());
                &own
            };
            let profile = Profile::of_polynomial(norm, &real(&coefficients));
            Ok((coefficients, profile))
        }
        (DiagonalValues::LastDimensions(elements), Some(axes)) => {
            let (axis, degree) = (axes.last(), plain.shape().degree_of_slot());
            let inner = match constant(elements, degree)
                .filter(|_| elements.len() == axis.degree && axis.index == axis.prime)
                .filter(|c| *c <= plain.modulus(e).last())
            {
                // 1 is minus the sum of all powers by units.
                Some(c) => vec![plain.modulus(e).neg(c); axis.degree],
                None => plain.encode_last(elements, e)?,
            };
            let coefficients = plain.centered(&inner, e);
            let embeddings = params.ring().norm().last_embeddings(&real(&coefficients));
            let values =
                embeddings.unwrap_or_default().into_iter().map(|x| x * (1.0 + 1e-9)).collect();
            Ok((coefficients, Profile::new(values)))
        }
        (_, axes) => Err(SchemeError::BadArgument {
            what: "diagonal",
            expected: if axes.is_some() {
                "elements along the last dimensions"
            } else {
                "periodic values"
            }
            .into(),
            found: "the values of another kind of ring".into(),
        }),
    }
}

/// The integer that all `elements`, of that many residues each, are, if there is one.
fn constant(elements: &[u64], degree: usize) -> Option<u64> {
    let c = *elements.first()?;
    let wanted = |(i, x): (usize, &u64)| *x == if i % degree == 0 { c } else { 0 };
    elements.iter().enumerate().all(wanted).then_some(c)
}
