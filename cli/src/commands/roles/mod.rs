//! Three roles that share files and nothing else: the key's owner (`keygen`, `decrypt`), the
//! encryptor (`encrypt`), the server (`eval`, `bootstrap`).

pub mod args;
mod change;
mod compact;
mod decrypt;
mod encrypt;
pub mod eval;
pub mod files;
pub mod inputs;
mod inspect;
pub mod keygen;
pub mod keys_args;
pub mod manifest;
pub mod purpose;
mod report;
mod sent;
pub mod typed;
pub mod work;
mod writer;

pub use change::change_key;
pub use compact::run as compact;
pub use decrypt::run as decrypt;
pub use encrypt::run as encrypt;
pub use eval::{bootstrap, run as eval};
pub use inspect::{inspect, keys};
pub use keygen::run as keygen;
#[cfg(feature = "service")]
pub use sent::Sent;
#[cfg(feature = "service")]
pub use typed::tables as lookup_tables;
