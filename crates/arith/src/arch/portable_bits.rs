//! The portable kernel for residues in as many bits as their modulus has: see [`crate::bits`].

use crate::modulus::Modulus;

/// Unpacks residues; `below` becomes whether all residues are below q.
pub(crate) fn unpack_residues(q: Modulus, out: &mut [u64], bytes: &[u8], below: &mut bool) {
    unpack_residues_from(q, 0, out, bytes, below);
}

/// The same for residues from `start` on.
pub(crate) fn unpack_residues_from(
    q: Modulus,
    start: usize,
    out: &mut [u64],
    bytes: &[u8],
    below: &mut bool,
) {
    let (width, mask) = (q.bits() as usize, (1u64 << q.bits()) - 1);
    let mut largest = 0;
    for (i, residue) in out.iter_mut().enumerate().skip(start) {
        let (first, shift) = (width * i / 8, width * i % 8);
        let part = &bytes[first..];
        // At most 7 + 50 bits.
        let word = match part.first_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            None => {
                let mut word = [0; 8];
                word[..part.len()].copy_from_slice(part);
                u64::from_le_bytes(word)
            }
        };
        *residue = word >> shift & mask;
        largest = largest.max(*residue);
    }
    *below = largest < q.value();
}
