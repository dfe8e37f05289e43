//! LTV over prime powers: arithmetic, scheme, bytes, circuits.

mod adic;
mod aes;
mod fingerprints;
mod golden;
mod hostile;
mod scheme;
mod wire;
