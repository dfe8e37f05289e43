//! The secret key.

use everlevel_ring::{Basis, Constant, Cpu, Eval, GaloisElement, Poly, sample};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::id::key_id;
use super::sparse_overlap;
use everlevel_scheme::KeyId;
use everlevel_scheme::Params;
use everlevel_scheme::SchemeError;
use everlevel_scheme::spec::{Assumption, SecretKind};

/// The key of the owner: the main secret (s, or over NTRU f) and, for sets that bootstrap, the
/// sparse secret s0 of encapsulation.
///
/// It has no `Debug` and no comparison, and it is wiped when dropped. Generation is constant-time,
/// except for the number of draws until the canonical norm of a polynomial is within the limit of
/// the noise model (see [`everlevel_scheme::noise`]), which is independent of the polynomial that
/// is kept, for the test whether f is invertible, and, for odd indices, for the check of a sparse
/// secret for coinciding terms (see [`everlevel_scheme::noise::NoiseModel::overlap_slack`]).
pub struct SecretKey {
    params: Params,
    id: KeyId,
    main: MainSecret,
    /// The coefficients of s0.
    sparse: Option<Zeroizing<Vec<i64>>>,
}

/// The integers that a secret key consists of, in natural order. No `Debug`; wiped when dropped.
pub struct ExposedSecret {
    /// The coefficients of s, or of NTRU's u.
    pub main: Zeroizing<Vec<i64>>,
    /// Those of NTRU's g.
    pub ratio: Option<Zeroizing<Vec<i64>>>,
    /// Those of the sparse s0, for sets that bootstrap.
    pub sparse: Option<Zeroizing<Vec<i64>>>,
}

/// Whether there are n integers of at most `largest` in absolute value, of which `weight` are not
/// 0. No early exit.
fn check_small(x: &[i64], n: usize, largest: u64, weight: Option<usize>) -> Result<(), ()> {
    let outside = x.iter().fold(0, |count, x| count + (x.unsigned_abs() > largest) as usize);
    let nonzero = x.iter().fold(0, |count, x| count + (*x != 0) as usize);
    if x.len() == n && outside == 0 && weight.is_none_or(|weight| weight == nonzero) {
        Ok(())
    } else {
        Err(())
    }
}

/// Whether more terms of the overflow coincide under this sparse secret than the noise model
/// accounts for, where the set's bound on the overflow is not that of the worst case.
fn coincides(params: &Params, sparse: &[i64]) -> bool {
    let noise = params.noise().bound();
    let tail = params.spec().bootstrap.as_ref().map(|b| noise.overflow_tail(b.bound()));
    tail.is_some_and(|tail| tail != f64::NEG_INFINITY)
        && (params.ring().axes())
            .is_some_and(|axes| sparse_overlap::excess(axes, sparse) > noise.overlap_slack())
}

/// What the last component of a ciphertext is multiplied by, in evaluations over all primes that
/// keys are made for.
pub(crate) enum MainSecret {
    /// s.
    Rlwe(Poly<Eval>),
    /// f = t u + 1 with its inverse, and g / f, which is public.
    Ntru { f: Poly<Eval>, inverse: Poly<Eval>, quotient: Poly<Eval> },
}

impl MainSecret {
    /// s, or f.
    pub(crate) fn poly(&self) -> &Poly<Eval> {
        match self {
            MainSecret::Rlwe(s) => s,
            MainSecret::Ntru { f, .. } => f,
        }
    }

    /// Its image under an automorphism.
    pub(crate) fn galois(&self, cpu: &Cpu, g: GaloisElement) -> Self {
        let moved = |x: &Poly<Eval>| {
            let mut out = x.galois(cpu, g);
            out.wipe_on_drop();
            out
        };
        match self {
            MainSecret::Rlwe(s) => MainSecret::Rlwe(moved(s)),
            MainSecret::Ntru { f, inverse, quotient } => {
                MainSecret::Ntru { f: moved(f), inverse: moved(inverse), quotient: moved(quotient) }
            }
        }
    }

    /// Components whose phase is an error: (e - a s, a) with the uniform half that `uniform` names,
    /// or (g / f) s + e with a second error s.
    pub(crate) fn zero(
        &self,
        params: &Params,
        basis: Basis,
        uniform: (&sample::Seed, u32),
        rng: &mut dyn CryptoRng,
    ) -> Vec<Poly<Eval>> {
        let cpu = params.cpu();
        let mut first = sample::secret_poly(cpu, basis, &key_error(params, rng));
        match self {
            MainSecret::Rlwe(s) => {
                let a = sample::expand(cpu, uniform.0, uniform.1, basis);
                let mut product = a.mul(cpu, &s.restricted(basis));
                product.wipe_on_drop();
                first.sub_assign(cpu, &product);
                vec![first, a]
            }
            MainSecret::Ntru { quotient, .. } => {
                let s = sample::secret_poly(cpu, basis, &key_error(params, rng));
                first.mul_add_assign(cpu, &quotient.restricted(basis), &s);
                vec![first]
            }
        }
    }

    /// What the first component of a ciphertext holds so that its phase is `x`: x itself, or x / f.
    pub(crate) fn quotient_of(&self, cpu: &Cpu, x: &Poly<Eval>) -> Poly<Eval> {
        match self {
            MainSecret::Rlwe(_) => x.clone(),
            MainSecret::Ntru { inverse, .. } => {
                let mut out = x.mul(cpu, inverse);
                out.wipe_on_drop();
                out
            }
        }
    }

    /// NTRU's secret from u and g; none if f is not invertible modulo one of the primes.
    fn ntru(params: &Params, u: &[i64], g: &[i64]) -> Option<Self> {
        let (cpu, all) = (params.cpu(), params.chain().keyed());
        let mut f = sample::secret_poly(cpu, all, u);
        let largest = params.slot_shape().wide_modulus(params.slot_shape().max_exponent());
        f.scale_assign(cpu, largest as i128);
        f.add_constant(cpu, 1);
        let inverse = f.inverse(cpu)?;
        let quotient = inverse.mul(cpu, &sample::secret_poly(cpu, all, g));
        Some(MainSecret::Ntru { f, inverse, quotient })
    }
}

impl SecretKey {
    /// Draws a secret key.
    pub fn generate(params: &Params, rng: &mut impl CryptoRng) -> Self {
        Self::drawn(params, rng)
    }

    /// [`SecretKey::generate`], compiled once for all generators.
    fn drawn(params: &Params, rng: &mut dyn CryptoRng) -> Self {
        let (ring, cpu) = (params.ring(), params.cpu());
        let noise = params.noise().bound();
        let mut draw = || loop {
            let one = || match params.spec().secret {
                SecretKind::UniformTernary => sample::ternary(ring.degree(), rng),
                SecretKind::Sparse(weight) => sample::fixed_weight(ring.degree(), weight, rng),
                SecretKind::TruncatedGaussian => sample::truncated_gaussian(ring.degree(), rng),
            };
            let s = Zeroizing::new(sample::bounded(ring, noise.drawn_norm_limit(), one));
            let weight: i64 = s.iter().map(|x| x * x).sum();
            let raises = params.raises_under_main_key();
            if weight as f64 <= noise.drawn_square_limit() && !(raises && coincides(params, &s)) {
                break s;
            }
        };
        let (main, coefficients) = match params.spec().assumption {
            Assumption::Rlwe => {
                let s = draw();
                (MainSecret::Rlwe(sample::secret_poly(cpu, params.chain().keyed(), &s)), s)
            }
            Assumption::Ntru => loop {
                let (u, g) = (draw(), draw());
                if let Some(main) = MainSecret::ntru(params, &u, &g) {
                    break (main, u);
                }
            },
        };
        let id = key_id(params, &coefficients);
        let sparse = params.spec().bootstrap.as_ref().map(|b| match b.under_main_key {
            true => coefficients,
            false => loop {
                let s = Zeroizing::new(sample::fixed_weight(ring.degree(), b.sparse_weight, rng));
                if !coincides(params, &s) {
                    break s;
                }
            },
        });
        SecretKey { params: params.clone(), id, main, sparse }
    }

    /// The sampled coefficients, in natural order: they are the key.
    ///
    /// Time does not depend on the values.
    pub fn expose_secret_coefficients(&self) -> ExposedSecret {
        let cpu = self.params.cpu();
        // The integers are small, so one prime determines them.
        let position = self.params.chain().keyed().iter().next().expect("keys have primes");
        let basis = Basis::of([position]);
        let integers = |x: &Poly<Eval>| {
            let mut x = x.restricted(basis);
            x.wipe_on_drop();
            let mut x = x.into_coeff(cpu);
            x.wipe_on_drop();
            Zeroizing::new(cpu.centered(&x))
        };
        let (main, ratio) = match &self.main {
            MainSecret::Rlwe(s) => (integers(s), None),
            MainSecret::Ntru { f, quotient, .. } => {
                // u = (f - 1) / t and g = (g / f) f.
                let t =
                    self.params.slot_shape().wide_modulus(self.params.slot_shape().max_exponent());
                let mut u = f.restricted(basis);
                u.wipe_on_drop();
                u.add_constant(cpu, -1);
                u.scale_assign(cpu, Constant::inverse(t));
                let mut g = quotient.restricted(basis).mul(cpu, &f.restricted(basis));
                g.wipe_on_drop();
                (integers(&u), Some(integers(&g)))
            }
        };
        ExposedSecret { main, ratio, sparse: self.sparse.clone() }
    }

    /// A secret key from its coefficients. It checks that [`SecretKey::generate`] could have drawn
    /// them, as the noise bounds assume it.
    ///
    /// # Errors
    /// Polynomials of another length or number, coefficients, weights or norms that the set does
    /// not allow, an f that is not invertible.
    pub fn from_secret_coefficients(
        params: &Params,
        exposed: &ExposedSecret,
    ) -> Result<Self, SchemeError> {
        let bad = |what: &'static str, expected: String| SchemeError::BadArgument {
            what,
            expected,
            found: "something else".into(),
        };
        let n = params.degree();
        let (noise, bootstrap) = (params.noise().bound(), params.spec().bootstrap.as_ref());
        let drawn = [Some(&exposed.main), exposed.ratio.as_ref()];
        for x in drawn.into_iter().flatten() {
            let (largest, weight) = match params.spec().secret {
                SecretKind::UniformTernary => (1, None),
                SecretKind::Sparse(weight) => (1, Some(weight)),
                SecretKind::TruncatedGaussian => (2, None),
            };
            check_small(x, n, largest, weight).map_err(|()| {
                bad(
                    "coefficients of the secret key",
                    format!("{n} as {:?} draws them", params.spec().secret),
                )
            })?;
            let real = Zeroizing::new(x.iter().map(|&x| x as f64).collect::<Vec<f64>>());
            let square: i64 = x.iter().map(|x| x * x).sum();
            // A margin for the rounding of the floating-point transform.
            if params.ring().norm().max(&real) > noise.drawn_norm_limit() * (1.0 + 1e-9)
                || square as f64 > noise.drawn_square_limit()
            {
                return Err(bad(
                    "norm of the secret key",
                    "one within the limits of the noise model".into(),
                ));
            }
        }
        let main = match (params.spec().assumption, &exposed.ratio) {
            (Assumption::Rlwe, None) => MainSecret::Rlwe(sample::secret_poly(
                params.cpu(),
                params.chain().keyed(),
                &exposed.main,
            )),
            (Assumption::Ntru, Some(g)) => MainSecret::ntru(params, &exposed.main, g)
                .ok_or_else(|| bad("secret key", "an invertible f".into()))?,
            _ => return Err(bad("secret key", "s over ring-LWE, u and g over NTRU".into())),
        };
        match (bootstrap, &exposed.sparse) {
            (None, None) => {}
            (Some(b), Some(s)) => {
                let unequal =
                    s.iter().zip(exposed.main.iter()).fold(0, |d, (a, b)| d | (a ^ b)) != 0;
                if check_small(s, n, 1, Some(b.sparse_weight)).is_err()
                    || b.under_main_key && unequal
                    || coincides(params, s)
                {
                    return Err(bad(
                        "sparse secret",
                        format!(
                            "{n} coefficients of weight {}, within the noise model",
                            b.sparse_weight
                        ),
                    ));
                }
            }
            (_, found) => {
                let expected = if found.is_some() {
                    "none, as the set does not bootstrap"
                } else {
                    "one, as the set bootstraps"
                };
                return Err(bad("sparse secret", expected.into()));
            }
        }
        let id = key_id(params, &exposed.main);
        Ok(SecretKey { params: params.clone(), id, main, sparse: exposed.sparse.clone() })
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The public id of the key, which every object made with it carries: equal for equal
    /// coefficients, and as random as they are.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The main secret.
    pub(crate) fn main(&self) -> &MainSecret {
        &self.main
    }

    /// The coefficients of the sparse secret.
    pub(crate) fn sparse(&self) -> Result<&[i64], SchemeError> {
        self.sparse.as_ref().map(|s| &s[..]).ok_or_else(|| SchemeError::BadParams {
            name: self.params.name().into(),
            problem: "the set has no bootstrapping section, so there is no sparse secret".into(),
        })
    }
}

/// An error polynomial of the set's assumption.
pub(crate) fn error(params: &Params, rng: &mut dyn CryptoRng) -> Vec<i64> {
    match params.spec().assumption {
        Assumption::Rlwe => sample::error(params.degree(), rng),
        Assumption::Ntru => sample::truncated_gaussian(params.degree(), rng),
    }
}

/// An error polynomial for a key: within the limits of the noise model.
pub(crate) fn key_error(params: &Params, rng: &mut dyn CryptoRng) -> Zeroizing<Vec<i64>> {
    let noise = params.noise().bound();
    loop {
        let e = Zeroizing::new(sample::bounded(params.ring(), noise.error_norm_limit(), || {
            error(params, rng)
        }));
        if e.iter().map(|x| (x * x) as f64).sum::<f64>() <= noise.error_square_limit() {
            return e;
        }
    }
}
