//! Random changes to objects, as the tests on the stable compiler make them.

use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

/// A few random changes: bytes, whole words, cuts, repetitions.
pub fn changed(bytes: &[u8], rng: &mut ChaCha20Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=rng.next_u32() % 3 {
        if out.is_empty() {
            break;
        }
        // Header and index are short, and where most of the rules are.
        let range = if rng.next_u32().is_multiple_of(2) { out.len().min(400) } else { out.len() };
        let at = rng.next_u64() as usize % range;
        match rng.next_u32() % 8 {
            0 => out.truncate(at),
            1 => {
                let piece = out[at..(at + 40).min(out.len())].to_vec();
                out.splice(at..at, piece);
            }
            2 => drop(out.splice(at..(at + 9).min(out.len()), [])),
            3 => out[at] = 0xff,
            4 => out[at] = 0,
            5 => out[at] = out[at].wrapping_add(1),
            6 => out[at] ^= 1 << (rng.next_u32() % 8),
            _ => out[at] = rng.next_u32() as u8,
        }
    }
    out
}
