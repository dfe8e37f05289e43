//! Texts as integers: in parts of a few bytes, each a column of its own.

use std::iter::repeat;

/// The number of bytes of each part except the last one. A part has 112 bits, which take seven
/// ciphertexts of an answer.
const PART_BYTES: usize = 14;
/// The longest text that a column may hold, in bytes.
pub(crate) const MOST_BYTES: u32 = 1024;

/// The number of bytes of each part of a text of up to `bytes` bytes.
pub(crate) fn part_sizes(bytes: u32) -> impl Iterator<Item = usize> {
    let bytes = bytes as usize;
    (0..bytes).step_by(PART_BYTES).map(move |start| PART_BYTES.min(bytes - start))
}

/// The greatest code of a part of this many bytes.
pub(crate) fn greatest(size: usize) -> i128 {
    (1 << (8 * size)) - 1
}

/// The codes of the parts of a text, in order; `None` if it is too long.
///
/// Each byte, increased by one, is a digit in base 256, and zeros follow the text. In UTF-8 no byte
/// is 255, so different texts have different codes, and the codes of an empty text are zeros.
pub(crate) fn codes(text: &str, bytes: u32) -> Option<Vec<i128>> {
    let mut digits = text.bytes().map(|byte| i128::from(byte) + 1).chain(repeat(0));
    let part = |size| digits.by_ref().take(size).fold(0, |code, digit| (code << 8) + digit);
    (text.len() <= bytes as usize).then(|| part_sizes(bytes).map(part).collect())
}

/// The text with these codes of its parts; `None` if there is no such text.
pub(crate) fn text(codes: &[i128], bytes: u32) -> Option<String> {
    let mut digits = Vec::with_capacity(bytes as usize);
    for (code, size) in codes.iter().zip(part_sizes(bytes)) {
        digits.extend((0..size).rev().map(|i| (code >> (8 * i)) as u8));
    }
    let length = digits.iter().position(|digit| *digit == 0).unwrap_or(digits.len());
    if digits[length..].iter().any(|digit| *digit != 0) {
        return None;
    }
    String::from_utf8(digits[..length].iter().map(|digit| digit - 1).collect()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes() {
        for (bytes, expected) in
            [(1, vec![1]), (14, vec![14]), (15, vec![14, 1]), (42, vec![14, 14, 14])]
        {
            assert_eq!(part_sizes(bytes).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn codes_of_no_text() {
        // A digit behind the end, half a letter, and a byte that UTF-8 does not have.
        assert_eq!(text(&[0x62, 0x62], 15), None);
        assert_eq!(text(&[0xc4], 1), None);
        assert_eq!(text(&[0xff], 1), None);
        assert_eq!(text(&[0], 1), Some(String::new()));
        assert_eq!(codes("ab", 1), None);
        assert_eq!(codes("ä", 1), None);
    }

    proptest! {
        #[test]
        fn texts_come_back(
            a in "(\\PC|[\0\u{7f}\r\n]){0,12}", b in "\\PC{0,12}", more in 1u32..40
        ) {
            let bytes = (a.len().max(b.len())) as u32 + more;
            let (x, y) = (codes(&a, bytes).unwrap(), codes(&b, bytes).unwrap());
            prop_assert_eq!(text(&x, bytes), Some(a.clone()));
            prop_assert_eq!(a.as_bytes().cmp(b.as_bytes()), x.cmp(&y));
            let sizes = part_sizes(bytes);
            prop_assert!(x.iter().zip(sizes).all(|(code, size)| *code <= greatest(size)));
        }
    }
}
