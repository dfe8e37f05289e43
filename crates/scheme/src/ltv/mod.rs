//! LTV over a chain of prime powers, as Doröz, Hu and Sunar build it (2014). **Insecure**: at the
//! paper's parameters NTRU is overstretched, and sublattice attacks found since (Albrecht–Bai–Ducas
//! 2016, Kirchner–Fouque 2017, Ducas–van Woerden 2021) recover a key by little more than LLL.
//!
//! The secret is f = 2u + 1, the public key h = 2g/f with u, g ← χ, truncated discrete Gaussian of
//! bound 2. A ciphertext of m is one polynomial c = hs + 2e + m, of phase c f ≡ m modulo 2. The
//! moduli are powers q = p^k of one prime, so that f is invertible modulo all of them if it is
//! modulo p, and every key for a lower modulus is a key for the highest one, reduced.
//!
//! Level l has the modulus p^(l + 1); the paper's q_i is that of level t - 1 - i. [`LtvEvaluator`]
//! implements [`crate::Scheme`].
//!
//! * [`LtvSpec`], [`LtvParams`], [`Gadget`]: parameter sets; [`noise`]: the average case, equation
//!   (4) of the paper.
//! * [`LtvSecretKey`], [`LtvPublicKey`], [`LtvEvalKeys`]: keys.
//! * [`original`]: the key generation of López-Alt, Tromer and Vaikuntanathan, with a prime for
//!   each level.
//!
//! The paper's formulas (worst case, failure, sizes) are in `everlevel-security`.

mod ciphertext;
mod evaluator;
mod keys;
pub mod noise;
pub mod original;
mod parts;
mod scheme;
mod spec;
mod switch;

pub use ciphertext::{LtvCiphertext, LtvDiagonal, LtvExtended, LtvProduct};
pub use evaluator::LtvEvaluator;
pub use keys::{LtvPublicKey, LtvSecretKey};
pub use spec::{Gadget, LtvParams, LtvSpec, SETS};
pub use switch::{KeyForm, LtvEvalKeys, SwitchKey};
