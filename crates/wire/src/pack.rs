//! Integers packed to a fixed width: bit k of value i is bit i w + k of the stream, bit j of which
//! is bit j mod 8 of byte j / 8.

/// The bytes that `count` values of `width` bits take; the last byte is filled up with zeros.
pub fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// The width of residues modulo `q`: the bits of q - 1.
pub fn width_below(q: u64) -> u32 {
    width_up_to(q.saturating_sub(1))
}

/// The width of words up to this one: its bits.
pub fn width_up_to(last: u64) -> u32 {
    u64::BITS - last.leading_zeros()
}

/// Widths up to this one lie within eight bytes, wherever they begin.
const ONE_WORD: u32 = 57;

/// Values that take whole bytes together, whatever their width: as many bytes as a value has bits.
const GROUP: usize = 8;

/// How many groups of `count` values end at least eight bytes before the end and may be moved as
/// whole words.
fn groups(count: usize, width: u32, bytes: usize) -> usize {
    if width > ONE_WORD { 0 } else { (bytes.saturating_sub(8) / width as usize).min(count / GROUP) }
}

/// Packs [`groups`], of which each has its values at the same places, and leaves up to eight zeros
/// behind the last one. No group waits for what another one leaves, so that a processor works on
/// several at the same time.
#[inline(always)]
fn pack_groups(values: &[u64], width: usize, out: &mut [u8]) {
    for (i, group) in values.as_chunks::<GROUP>().0.iter().enumerate() {
        let part = &mut out[i * width..(i + 1) * width + 8];
        let (mut word, mut at) = (0u64, 0);
        for (k, value) in group.iter().enumerate() {
            // The byte in which the value begins, up to 7 behind the one before; what is there
            // already, and the value, are at most 64 bits.
            let next = k * width / 8;
            word = word >> (8 * (next - at)) | value << (k * width % 8);
            part[next..next + 8].copy_from_slice(&word.to_le_bytes());
            at = next;
        }
    }
}

/// Packs values below 2^`width`, 1 <= width <= 64, into exactly [`packed_len`] bytes. Time depends
/// on the number of values only.
///
/// # Panics
/// If there are fewer bytes.
pub fn pack(values: &[u64], width: u32, out: &mut [u8]) {
    let (fast, rest) = values.split_at(GROUP * groups(values.len(), width, out.len()));
    // As in `unpack`.
    match width {
        48 => pack_groups(fast, 48, out),
        50 => pack_groups(fast, 50, out),
        width => pack_groups(fast, width as usize, out),
    }
    // Bits that do not fill a byte yet.
    let (mut word, mut filled, mut at) = (0u128, 0, fast.len() / GROUP * width as usize);
    for value in rest {
        word |= u128::from(*value) << filled;
        filled += width;
        while filled >= 8 {
            out[at] = word as u8;
            at += 1;
            word >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out[at] = word as u8;
    }
}

/// Unpacks [`groups`], of which each has its values at the same places, and returns the largest
/// value.
#[inline(always)]
fn unpack_groups(bytes: &[u8], width: usize, mask: u64, out: &mut [u64]) -> u64 {
    let (groups, mut largest) = (out.as_chunks_mut::<GROUP>().0, 0u64);
    for (i, group) in groups.iter_mut().enumerate() {
        let part = &bytes[i * width..(i + 1) * width + 8];
        for (k, value) in group.iter_mut().enumerate() {
            let (at, shift) = (k * width / 8, k * width % 8);
            let word = u64::from_le_bytes(part[at..at + 8].try_into().unwrap_or_default());
            *value = word >> shift & mask;
            largest = largest.max(*value);
        }
    }
    largest
}

/// Whether the bits of the last byte behind `bits` of them are 0.
pub(crate) fn padded(bytes: &[u8], bits: usize) -> bool {
    bits.is_multiple_of(8) || bytes.last().is_none_or(|last| last >> (bits % 8) == 0)
}

/// Unpacks into `out` and returns the largest value; none if `bytes` has another length than
/// [`packed_len`] or ends in bits that are not 0.
pub fn unpack(bytes: &[u8], width: u32, out: &mut [u64]) -> Option<u64> {
    if bytes.len() != packed_len(out.len(), width) {
        return None;
    }
    if !padded(bytes, out.len() * width as usize) {
        return None;
    }
    let mask = u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0);
    let (fast, rest) = out.split_at_mut(GROUP * groups(out.len(), width, bytes.len()));
    // Most residues of ciphertexts have one of two widths, for which places are constants.
    let mut largest = match width {
        48 => unpack_groups(bytes, 48, mask, fast),
        50 => unpack_groups(bytes, 50, mask, fast),
        width => unpack_groups(bytes, width as usize, mask, fast),
    };
    let mut at = fast.len() * width as usize;
    for value in rest {
        let (mut gathered, mut have, mut place) = (0u128, 0, at / 8);
        let skip = at as u32 % 8;
        while have < width + skip {
            gathered |= u128::from(bytes[place]) << have;
            have += 8;
            place += 1;
        }
        *value = (gathered >> skip) as u64 & mask;
        largest = largest.max(*value);
        at += width as usize;
    }
    Some(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_stream_by_hand() {
        // 5, 3, 7, 1 in three bits each: 101 110 111 100 from the lowest bit up.
        let mut out = [0; 2];
        pack(&[5, 3, 7, 1], 3, &mut out);
        assert_eq!(out, [0b1101_1101, 0b0000_0011]);
        let mut back = [0; 4];
        assert_eq!(unpack(&out, 3, &mut back), Some(7));
        assert_eq!(back, [5, 3, 7, 1]);
        assert_eq!(unpack(&[out[0], out[1] | 0x10], 3, &mut back), None, "padding");
        assert_eq!(unpack(&out[..1], 3, &mut back), None, "length");
        assert_eq!([1, 2, 3, 256, 257, 1 << 50].map(width_below), [0, 1, 2, 8, 9, 50]);
    }

    /// Around the ends of groups, into bytes that held something else; nothing behind them changes.
    #[test]
    fn values_of_every_width_are_packed_bit_by_bit() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        for width in 1..=64 {
            for count in (0..=40).chain([64, 65, 127, 4096]) {
                let mask = u64::MAX >> (64 - width);
                let mut values: Vec<u64> = (0..count).map(|_| next() & mask).collect();
                // All bits of a value, and none.
                values.iter_mut().skip(1).step_by(5).for_each(|value| *value = mask);
                values.iter_mut().skip(2).step_by(5).for_each(|value| *value = 0);
                let length = packed_len(count, width);
                let mut expected = vec![0u8; length];
                for (i, value) in values.iter().enumerate() {
                    for k in (0..width as usize).filter(|k| value >> k & 1 == 1) {
                        let j = i * width as usize + k;
                        expected[j / 8] |= 1 << (j % 8);
                    }
                }
                let mut bytes = vec![0xa5; length + 16];
                let (out, behind) = bytes.split_at_mut(length);
                pack(&values, width, out);
                assert!(out == expected, "{count} of {width} bits");
                assert!(behind.iter().all(|byte| *byte == 0xa5), "{count} of {width} bits");
                let mut back = vec![1; count];
                let largest = values.iter().copied().max().unwrap_or(0);
                assert_eq!(unpack(&bytes[..length], width, &mut back), Some(largest));
                assert!(back == values, "{count} of {width} bits");
            }
        }
    }

    proptest! {
        #[test]
        fn bits_are_where_they_belong(
            width in 1u32..=64,
            seed in prop::collection::vec(any::<u64>(), 0..200),
        ) {
            let values: Vec<u64> = seed.iter().map(|x| x & (u64::MAX >> (64 - width))).collect();
            let mut bytes = vec![0xff; packed_len(values.len(), width)];
            pack(&values, width, &mut bytes);
            for (i, value) in values.iter().enumerate() {
                for k in 0..width {
                    let j = i * width as usize + k as usize;
                    prop_assert_eq!(u64::from(bytes[j / 8] >> (j % 8) & 1), value >> k & 1);
                }
            }
            let mut back = vec![0; values.len()];
            let largest = values.iter().copied().max().unwrap_or(0);
            prop_assert_eq!(unpack(&bytes, width, &mut back), Some(largest));
            prop_assert_eq!(back, values);
        }
    }
}
