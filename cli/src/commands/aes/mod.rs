//! `everlevel aes`: transciphering.

pub mod args;
mod transcipher;

pub use transcipher::{decrypt, encrypt_key, keygen, transcipher};
