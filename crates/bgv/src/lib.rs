//! BGV (Brakerski–Gentry–Vaikuntanathan) and BFV (Brakerski, Fan–Vercauteren) over RNS, on ring-LWE
//! and on NTRU.
//!
//! A BGV ciphertext (c0, c1) at level l has phase c0 + c1 s = κ m + t ε modulo Q_l, with the unit κ
//! and the bound on the phase in its [`Meta`](everlevel_scheme::Meta); a BFV ciphertext is that
//! divided by t ([`everlevel_scheme::Form`]). Key switching and modulus switching are shared by
//! both forms and all plaintext moduli: BGV ciphertexts are divided by t on the way in and
//! multiplied by t on the way out.
//!
//! An NTRU ciphertext is one polynomial c with phase c f, f = t u + 1: one of ring-LWE without c0,
//! under the secret f. BGV over NTRU is LTV (López-Alt–Tromer–Vaikuntanathan 2012, Doröz–Hu–Sunar
//! 2014), BFV over NTRU is YASHE′ (Bos et al. 2013). So everything here is written for a number of
//! *components*, two or one; the last one is what the secret multiplies, a product has three or one
//! (docs/adr/0014).
//!
//! A program on the key owner's side holds a [`SecretKey`]; one on the server's side holds
//! [`ServerKeys`], which no secret can be put into, and computes by an [`Evaluator`], which
//! implements the traits of `everlevel-scheme`, a module for each group of operations. Polynomials
//! are those of `everlevel-ring` and computed on through its
//! [`Engine`](everlevel_ring::Engine), not limb by limb; circuits and bytes are not known here.

mod ciphertext;
mod compact;
mod encryption;
mod evaluator;
mod flooding;
pub mod keys;
mod message;

pub use ciphertext::Ciphertext;
pub use compact::CompactCiphertext;
pub use evaluator::Evaluator;
pub use evaluator::diagonal::Diagonal;
pub use evaluator::linear_maps::Extended;
pub use evaluator::mod_raise::Base;
pub use evaluator::prepared::PreparedPlaintext;
pub use evaluator::product::Product;
pub use flooding::FloodingPolicy;
pub use keys::{EvalKeys, PublicKey, SecretKey, ServerKeys};
