//! Checksums that match, so that changes are seen by what comes after them.

use everlevel_wire::HEADER_BYTES;

/// The object with the checksums that it should have, whatever was changed. None if header or index
/// do not hold together.
pub fn resealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = bytes.to_vec();
    let number = |bytes: &[u8], at: usize, size: usize| -> Option<usize> {
        let field = bytes.get(at..at.checked_add(size)?)?;
        Some(field.iter().rev().fold(0usize, |x, byte| x << 8 | usize::from(*byte)))
    };
    let digest = |parts: &[&[u8]]| {
        let mut hasher = blake3::Hasher::new();
        parts.iter().for_each(|part| {
            hasher.update(part);
        });
        let mut short = [0; 16];
        short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        short
    };
    let index_length = number(bytes, 32, 8)?;
    let end = HEADER_BYTES.checked_add(index_length).filter(|end| *end <= bytes.len())?;
    // From version 2 on two owners; metadata, then records, as far as they can be followed.
    let owners = if number(bytes, 8, 2)? > 1 { 2 * 17 } else { 0 };
    let mut at = HEADER_BYTES + owners;
    let strings = number(bytes, at, 4)?.checked_mul(2)?;
    at += 4;
    for _ in 0..strings {
        at = at.checked_add(4)?.checked_add(number(bytes, at, 4)?)?;
        if at > end {
            break;
        }
    }
    let records = number(bytes, at, 4).unwrap_or(0);
    at = at.saturating_add(4);
    let mut start = end;
    for _ in 0..records {
        let (Some(length), Some(descriptor)) =
            (number(bytes, at, 8), number(bytes, at.saturating_add(24), 4))
        else {
            break;
        };
        let Some(record) = start.checked_add(length).and_then(|stop| bytes.get(start..stop)) else {
            break;
        };
        if at + 24 > end {
            break;
        }
        out[at + 8..at + 24].copy_from_slice(&digest(&[record]));
        start += length;
        at = at.saturating_add(28).saturating_add(descriptor);
    }
    let checksum = digest(&[&out[..48], &out[HEADER_BYTES..end]]);
    out[48..HEADER_BYTES].copy_from_slice(&checksum);
    Some(out)
}
