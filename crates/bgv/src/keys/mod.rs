//! Keys by role: [`SecretKey`] for the owner, [`PublicKey`] for encryptors, [`ServerKeys`] for
//! servers.
//!
//! Security rests on ring-LWE with the secrets of the parameter set (over NTRU also on the
//! assumption that quotients of small polynomials look uniform, which fails at the moduli in use)
//! and on circular security: relinearization, Galois and bootstrapping keys encrypt functions of
//! the secret under the secret itself, as in every scheme that bootstraps.

mod bootstrap;
mod change;
mod id;
mod public;
mod secret;
mod server;
mod source;
mod sparse_overlap;
mod switching;

pub use bootstrap::BootstrapKey;
pub use public::PublicKey;
pub(crate) use public::encrypt_under;
pub(crate) use secret::MainSecret;
pub use secret::{ExposedSecret, SecretKey};
pub use server::{ServerKey, ServerKeys};
pub use source::EvalKeys;
pub use switching::SwitchingKey;
