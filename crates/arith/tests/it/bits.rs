//! Residues in as many bits as their modulus has.

use everlevel_arith::residue_bytes;

use crate::kernels::everywhere;

/// Residues packed bit by bit, and some bytes more.
fn packed(residues: &[u64], width: usize, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    for (i, residue) in residues.iter().enumerate() {
        for k in 0..width {
            let bit = i * width + k;
            bytes[bit / 8] |= ((residue >> k & 1) as u8) << (bit % 8);
        }
    }
    bytes
}

#[test]
fn residues_of_as_many_bits_as_their_modulus() {
    everywhere(|k, q, n, words| {
        let (width, mut residues) = (q.bits() as usize, words.below(q.value(), n));
        // No byte more than there has to be, a few, and enough for whole vectors.
        let more = [0, 7, 100][words.next() as usize % 3];
        let length = residue_bytes(q, n) + more;
        assert_eq!(residue_bytes(q, n), (width * n).div_ceil(8));
        let mut bytes = packed(&residues, width, length);
        let end = bytes.len() - more;
        // What is behind does not count, the rest of the last byte neither.
        bytes[end..].fill(0xa5);
        if !(width * n).is_multiple_of(8) {
            bytes[end - 1] |= 0xffu8 << (width * n % 8);
        }
        let mut out = vec![9; n];
        assert!(k.unpack_residues(q, &mut out, &bytes), "modulo {q:?}");
        assert_eq!(out, residues, "modulo {q:?}");
        // A word that is no residue, wherever it is: the modulus, or all bits.
        let place = words.next() as usize % n;
        for wrong in [q.value(), (1 << width) - 1] {
            residues[place] = wrong;
            let bytes = packed(&residues, width, length);
            assert!(!k.unpack_residues(q, &mut out, &bytes), "{place} of {n} modulo {q:?}");
            assert_eq!(out, residues);
        }
    });
}
