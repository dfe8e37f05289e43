//! Residues packed to 50 bits each: what is stored for long and read once a use, such as switching
//! keys, takes 22 % less memory and bandwidth.
//!
//! Residue k takes the bits from 50 k on, the least significant first, of words of 64 bits.

/// Bits of a packed residue: all residues are below 2^50.
pub const PACKED_BITS: usize = 50;

/// The bits of one residue.
pub(crate) const MASK: u64 = (1 << PACKED_BITS) - 1;

/// The words that `count` packed residues take, with two more, as vectors are read whole.
pub const fn packed_words(count: usize) -> usize {
    (PACKED_BITS * count).div_ceil(64) + 2
}

/// Packs residues, which are below 2^50, and fills the rest of `packed` with zeros.
///
/// # Panics
/// If `packed` has fewer than [`packed_words`].
pub fn pack(residues: &[u64], packed: &mut [u64]) {
    check(packed, residues.len());
    let (mut pending, mut bits, mut place) = (0u128, 0, 0);
    for &residue in residues {
        debug_assert!(residue <= MASK, "a residue below 2^50");
        pending |= u128::from(residue & MASK) << bits;
        bits += PACKED_BITS;
        if bits >= 64 {
            packed[place] = pending as u64;
            (pending, bits, place) = (pending >> 64, bits - 64, place + 1);
        }
    }
    packed[place] = pending as u64;
    packed[place + 1..].fill(0);
}

/// The residues from place `start` on.
///
/// # Panics
/// If `packed` does not hold as many.
pub fn unpack(packed: &[u64], start: usize, residues: &mut [u64]) {
    check(packed, start + residues.len());
    for (k, residue) in residues.iter_mut().enumerate() {
        *residue = residue_at(packed, start + k);
    }
}

/// The residue at a place.
#[inline(always)]
pub(crate) fn residue_at(packed: &[u64], place: usize) -> u64 {
    let bit = PACKED_BITS * place;
    let (word, shift) = (bit / 64, bit % 64);
    ((packed[word] >> shift) | (packed[word + 1] << 1 << (63 - shift))) & MASK
}

/// Checks that a slice holds `count` packed residues.
pub(crate) fn check(packed: &[u64], count: usize) {
    assert!(packed.len() >= packed_words(count), "a slice that holds {count} packed residues");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_from_every_place() {
        for count in 0..70 {
            let residues: Vec<u64> =
                (1..=count as u64).map(|k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 14).collect();
            let mut packed = vec![u64::MAX; packed_words(count) + 1];
            pack(&residues, &mut packed);
            for start in 0..=count {
                let mut found = vec![7; count - start];
                unpack(&packed, start, &mut found);
                assert_eq!(found, residues[start..]);
            }
            let used = (PACKED_BITS * count).div_ceil(64);
            assert!(packed[used..].iter().all(|&word| word == 0));
        }
        let mut packed = vec![0; packed_words(2)];
        pack(&[1, MASK], &mut packed);
        assert_eq!(packed[..2], [1 | MASK << 50, MASK >> 14]);
    }
}
