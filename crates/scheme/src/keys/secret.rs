//! The secret key.

use everlevel_ring::{Eval, Poly, sample};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::overlap;
use crate::error::SchemeError;
use crate::params::{Params, SecretKind};

/// The owner's key: the main secret s and, for sets that bootstrap, the sparse secret s0 of encapsulation.
///
/// No `Debug`, no comparison; wiped when dropped. Generated in constant time, except for the number of re-draws of a secret whose
/// canonical norm is above the model's limit (see [`crate::noise`]), which is independent of the one kept, and, for odd indices, of the check of a
/// sparse secret for coinciding terms (see [`crate::noise::NoiseModel::overlap_slack`]).
pub struct SecretKey {
    params: Params,
    main: Poly<Eval>,
    /// The coefficients of s0.
    sparse: Option<Zeroizing<Vec<i64>>>,
}

impl SecretKey {
    /// Draws a secret key.
    pub fn generate(params: &Params, rng: &mut impl CryptoRng) -> Self {
        let ring = params.ring();
        let all = params.chain().keyed();
        let noise = params.noise();
        let mut draw = || match params.spec().secret {
            SecretKind::UniformTernary => sample::ternary(ring.degree(), rng),
            SecretKind::Sparse(weight) => sample::fixed_weight(ring.degree(), weight, rng),
        };
        let (main, coefficients) = loop {
            let s = Zeroizing::new(sample::bounded(ring, noise.key_norm_limit(), &mut draw));
            let weight: i64 = s.iter().map(|x| x * x).sum();
            if weight as f64 <= noise.key_square_limit() {
                break (sample::secret_poly(ring, all, &s), s);
            }
        };
        let sparse = params.spec().bootstrap.as_ref().map(|b| match b.under_main_key {
            true => coefficients,
            false => loop {
                let s = Zeroizing::new(sample::fixed_weight(ring.degree(), b.sparse_weight, rng));
                let coincides = |axes| overlap::excess(axes, &s) > noise.overlap_slack();
                let certain = noise.overflow_tail(b.bound()) == f64::NEG_INFINITY;
                if certain || !ring.axes().is_some_and(coincides) {
                    break s;
                }
            },
        });
        SecretKey { params: params.clone(), main, sparse }
    }
    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// s in evaluations over every prime of the ring.
    pub(crate) fn eval(&self) -> &Poly<Eval> {
        &self.main
    }
    /// The coefficients of the sparse secret.
    pub(crate) fn sparse(&self) -> Result<&[i64], SchemeError> {
        self.sparse.as_ref().map(|s| &s[..]).ok_or_else(|| SchemeError::BadParams {
            name: self.params.name().into(),
            problem: "the set has no bootstrapping section, so there is no sparse secret".into(),
        })
    }
    /// An error polynomial for a key: within the limits of the noise model.
    pub(crate) fn key_error(params: &Params, rng: &mut impl CryptoRng) -> Zeroizing<Vec<i64>> {
        let noise = params.noise();
        loop {
            let e =
                Zeroizing::new(sample::bounded(params.ring(), noise.error_norm_limit(), || sample::error(params.degree(), rng)));
            if e.iter().map(|x| (x * x) as f64).sum::<f64>() <= noise.error_square_limit() {
                return e;
            }
        }
    }
}
