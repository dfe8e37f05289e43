//! `everlevel aes`: transciphering.

pub mod args;
mod data;
mod key;
mod transcipher;
mod upload;

pub use key::{encrypt_key, keygen};
pub use transcipher::{decrypt, transcipher};
pub use upload::upload;
