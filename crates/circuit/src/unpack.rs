//! Between any plaintext and its d parts in the container ring Z\[X^d\], one after the other.
//!
//! A polynomial a(X) = Σ_{j<d} X^j a_j(X^d) is taken apart by a binary tree: φ_i : X^(2^i) -> -X^(2^i) (Chen–Han 2018, appendix A) fixes the
//! exponents that are multiples of 2^(i+1) and negates the others, so x + φ_i(x) and X^(-2^i) (x - φ_i(x)) are twice the two halves. That is one
//! key switch for two children, d - 1 in all, where d traces would take d log2 d; products with X^k are free of noise.

use everlevel_scheme::Scheme;

use crate::error::CircuitError;

/// Calls `visit(j, d a_j)` for every part, depth first (so j comes in bit-reversed order), with at most 1 + log2 d ciphertexts alive.
///
/// # Errors
/// Errors of the scheme (the automorphisms of `SlotShape::projection` need keys) and of `visit`, at which the walk ends.
pub fn unpack<S: Scheme>(
    scheme: &S,
    x: &S::Ciphertext,
    visit: &mut impl FnMut(usize, S::Ciphertext) -> Result<(), CircuitError>,
) -> Result<(), CircuitError> {
    let steps = scheme.slot_shape().projection();
    // Still to be visited: level of the tree, first exponent, ciphertext.
    let mut open = vec![(0usize, 0usize, x.clone())];
    while let Some((level, first, x)) = open.pop() {
        let Some(&step) = steps.get(level) else {
            visit(first, x)?;
            continue;
        };
        let image = scheme.apply_galois(&x, step)?;
        let odd = scheme.mul_monomial(&scheme.sub(&x, &image)?, -(1i64 << level))?;
        open.push((level + 1, first + (1 << level), odd));
        open.push((level + 1, first, scheme.add(&x, &image)?));
    }
    Ok(())
}

/// X^j y(X^d): a part put back into its place, ready to be added to the others.
///
/// # Errors
/// Errors of the scheme.
pub fn repack<S: Scheme>(scheme: &S, part: &S::Ciphertext, j: usize) -> Result<S::Ciphertext, CircuitError> {
    Ok(scheme.mul_monomial(part, j as i64)?)
}

#[cfg(test)]
mod tests {
    use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};

    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let mut spec = everlevel_scheme::params::spec("insecure_bgv-257-n8").unwrap();
        spec.index = 1 << 11;
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let (n, d) = (params.degree(), params.slot_shape().degree_of_slot());
        assert_eq!(d, 8);
        let scheme = NoOp::new(&params, 0);
        let t = params.plain().modulus(1);
        let coefficients: Vec<u64> = (0..n as u64).map(|i| i * i * 7 % 257).collect();
        let x = scheme.encrypt(&Plaintext::from_coefficients(&params, coefficients.clone(), 1).unwrap()).unwrap();
        let mut seen = Vec::new();
        let mut sum: Option<_> = None;
        unpack(&scheme, &x, &mut |j, part| {
            let found = scheme.decrypt(&part)?;
            let want: Vec<u64> = (0..n).map(|k| if k % d == 0 { t.mul(d as u64, coefficients[k + j]) } else { 0 }).collect();
            assert_eq!(found.coefficients(), want, "part {j}");
            seen.push(j);
            let back = repack(&scheme, &part, j)?;
            sum = Some(match sum.take() {
                None => back,
                Some(sum) => scheme.add(&sum, &back)?,
            });
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, [0, 4, 2, 6, 1, 5, 3, 7]);
        let whole: Vec<u64> = coefficients.iter().map(|&c| t.mul(d as u64, c)).collect();
        assert_eq!(scheme.decrypt(&sum.unwrap()).unwrap().coefficients(), whole);
        assert_eq!(scheme.cost().key_switches, d as u64 - 1);
    }
}
