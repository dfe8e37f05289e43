//! The secret key.

use everlevel_ring::{Basis, Eval, Poly, sample};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::error::SchemeError;
use crate::params::{Params, SecretKind};

/// The owner's key: the main secret s and, for sets that bootstrap, the sparse secret s0 of encapsulation.
///
/// No `Debug`, no comparison; wiped when dropped. Generated in constant time, except for the number of re-draws of a secret whose
/// canonical norm is above the model's limit (see [`crate::noise`]), which is independent of the one kept.
pub struct SecretKey {
    params: Params,
    main: Poly<Eval>,
    sparse: Option<SparseSecret>,
}

pub(crate) struct SparseSecret {
    pub(crate) coefficients: Zeroizing<Vec<i64>>,
    pub(crate) eval: Poly<Eval>,
}

impl SecretKey {
    /// Draws a secret key.
    pub fn generate(params: &Params, rng: &mut impl CryptoRng) -> Self {
        let ring = params.ring();
        let all = Basis::of(0..ring.prime_count());
        let noise = params.noise();
        let SecretKind::UniformTernary = params.spec().secret;
        let main = loop {
            let s = Zeroizing::new(sample::bounded(ring, noise.key_norm_limit(), || sample::ternary(ring.degree(), rng)));
            let weight: i64 = s.iter().map(|x| x * x).sum();
            if weight as f64 <= noise.key_square_limit() {
                break sample::secret_poly(ring, all, &s);
            }
        };
        let sparse = params.spec().bootstrap.as_ref().map(|b| {
            let coefficients = Zeroizing::new(sample::fixed_weight(ring.degree(), b.sparse_weight, rng));
            let low = params.chain().basis(crate::Level(0)).union(params.chain().encapsulation().special());
            let eval = sample::secret_poly(ring, low, &coefficients);
            SparseSecret { coefficients, eval }
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
    pub(crate) fn sparse(&self) -> Result<&SparseSecret, SchemeError> {
        self.sparse.as_ref().ok_or_else(|| SchemeError::BadParams {
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
