//! The ids of secret keys.
//!
//! An id is a hash of the main secret, with a separate hash key for each parameter set, truncated
//! to 128 bits. It is as random as the secret without a random draw, which would change the results
//! for equal seeds, and it is determined by the key: a file of a secret key with another id is
//! refused, and a key from a file that states none has an id, too. It is public. If the hash is
//! modeled as a random oracle, it reveals nothing except to a party that guesses the whole secret,
//! and a guess can equally be tested on a public key or a ciphertext (docs/adr/0028). The sparse
//! secret of bootstrapping does not enter, as ciphertexts are under the main one.

use everlevel_scheme::{KeyId, Params};
use zeroize::{Zeroize, Zeroizing};

/// The domain separation of ids from everything else that is hashed.
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
