//! The tests of AES on ciphertexts: on the no-op scheme first, then with cryptography.

mod bit_sliced;
mod byte_refresh;
mod cipher;
mod common;
mod integers;
mod keys;
mod modes;
mod packed;
mod shared;
mod start;
mod transcipher;
