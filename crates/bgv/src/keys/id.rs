//! The ids of secret keys.
//!
//! An id is a hash of the main secret, with a key of its own for each parameter set, cut to 128
//! bits. That makes it random without a draw, which would change what equal seeds give, and ties it
//! to the key: a file of a secret key with another id is refused, and a key from a file that states
//! none has one all the same. It is public, and as a random oracle tells nothing but to somebody
//! who has the whole secret: a guess can be tested on a public key or on any ciphertext just as
//! well (docs/adr/0028). The sparse secret of bootstrapping does not enter: ciphertexts are under
//! the main one.

use everlevel_scheme::{KeyId, Params};
use zeroize::{Zeroize, Zeroizing};

/// What separates ids from everything else that is hashed.
const CONTEXT: &str = "everlevel 2026-11-22 id of a secret key";

/// The id of the key with these coefficients of s, or of NTRU's u: from -2 to 2, in natural order.
/// Time does not depend on them.
pub(super) fn key_id(params: &Params, main: &[i64]) -> KeyId {
    let bytes: Zeroizing<Vec<u8>> = Zeroizing::new(main.iter().map(|x| *x as u8).collect());
    let name = params.name().as_bytes();
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    // Names have at most 64 bytes.
    hasher.update(&[name.len() as u8]).update(name).update(&bytes);
    let mut hash = hasher.finalize();
    let mut bits = [0; 16];
    bits.copy_from_slice(&hash.as_bytes()[..16]);
    hasher.zeroize();
    hash.zeroize();
    KeyId::of_key(bits)
}
