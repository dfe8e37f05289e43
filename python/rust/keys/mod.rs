//! Secret, public and server keys.

mod plaintexts;
mod plan;
mod public;
mod secret;
mod server;

pub use plaintexts::{plaintext, same};
pub use plan::{Plan, plan_for};
pub use public::PublicKey;
pub use secret::{SecretKey, recover_keys};
pub use server::Keys;
