//! LTV over a chain of prime powers, as in Doröz, Hu and Sunar (2014). **Insecure**: at the paper's
//! parameters NTRU is overstretched, and later sublattice attacks (Albrecht–Bai–Ducas 2016,
//! Kirchner–Fouque 2017, Ducas–van Woerden 2021) recover a key with little more than LLL. The crate
//! is a complete implementation for the study of that paper; no other crate of the library needs
//! it.
//!
//! The secret is f = 2u + 1, the public key h = 2g/f where u and g are sampled from χ, a discrete
//! Gaussian truncated to -2..=2. A ciphertext of m is one polynomial c = hs + 2e + m with s, e
//! sampled from χ, and its phase is c f ≡ m modulo 2. The moduli are powers q = p^k of one prime,
//! so f is invertible modulo all of them if it is invertible modulo p, and the key for a lower
//! modulus is the reduction of the key for the highest one.
//!
//! Level l has the modulus p^(l + 1); the paper's q_i is that of level t - 1 - i. [`LtvEvaluator`]
//! implements [`everlevel_scheme::Scheme`].
//!
//! * [`adic`]: polynomials modulo powers of one prime, as digits in its base.
//! * [`LtvSpec`], [`LtvParams`], [`Gadget`]: parameter sets; [`noise`]: the average-case noise,
//!   equation (4) of the paper.
//! * [`LtvSecretKey`], [`LtvPublicKey`], [`LtvEvalKeys`]: keys.
//! * [`wire`]: the file format of its objects.
//! * [`original`]: the key generation of López-Alt, Tromer and Vaikuntanathan, with a prime for
//!   each level.
//! * [`analysis`]: the paper's formulas for the worst case, failure, and sizes.
//!
//! ```
//! use everlevel_ltv::{KeyForm, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey};
//! use everlevel_scheme::{Arithmetic, NextUse, OptIn};
//! use rand_chacha::ChaCha20Rng;
//! use rand_core::SeedableRng;
//!
//! let params = LtvParams::named("insecure_ltv-m255", OptIn::InsecureResearch)?;
//! let mut rng = ChaCha20Rng::seed_from_u64(1);
//! let secret = LtvSecretKey::generate(&params, &mut rng);
//! let keys = LtvEvalKeys::generate(&secret, &[], KeyForm::Evaluations, &mut rng);
//! let scheme = LtvEvaluator::new(keys)?;
//!
//! let x = secret.encrypt(&params.encode(&[1, 0, 1, 1])?, &mut rng)?;
//! let y = secret.encrypt(&params.encode(&[1, 1, 0, 1])?, &mut rng)?;
//! let product = scheme.mul(&x, &y, NextUse::Keep)?;
//! assert_eq!(params.decode(&secret.decrypt(&product)?)?[..4], [1, 0, 0, 1]);
//! # Ok::<(), everlevel_scheme::SchemeError>(())
//! ```
#![forbid(unsafe_code)]

pub mod adic;
pub mod analysis;
mod ciphertext;
mod evaluator;
mod gadget;
mod keys;
pub mod noise;
mod ops;
pub mod original;
mod parts;
mod spec;
mod switching;
pub mod wire;

pub use adic::{AdicPoly, AdicRing};
pub use ciphertext::{LtvCiphertext, LtvDiagonal, LtvExtended, LtvProduct};
pub use evaluator::LtvEvaluator;
pub use gadget::{Gadget, KeyForm};
pub use keys::{LtvPublicKey, LtvSecretKey};
pub use spec::{LtvParams, LtvSpec, SETS};
pub use switching::{LtvEvalKeys, SwitchingKey};
