//! NumPy's file format, as far as columns need it: a vector of integers. Format: "A simple file
//! format for NumPy arrays" (NEP 1), versions 1 to 3.

/// Before the header: a magic string and the two bytes of the version.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Headers of vectors have about a hundred bytes.
const MAX_HEADER: usize = 1 << 12;

/// The values of a vector of integers or truth values, `most` of them at the most.
///
/// # Errors
/// What was expected and what the file holds instead.
pub fn read(bytes: &[u8], most: usize) -> Result<Vec<i128>, String> {
    let (header, data) = split(bytes).ok_or("not a NumPy file, or cut short in its header")?;
    let header =
        Header::parse(header).ok_or("not a NumPy file: its header does not describe an array")?;
    let [count] = header.shape[..] else {
        return Err(format!(
            "expected a vector, found an array of shape {:?}: take one column, or flatten it",
            header.shape
        ));
    };
    let count = usize::try_from(count).ok().filter(|&c| c <= most);
    let count = count.ok_or_else(|| {
        format!("expected at most {most} values, one a slot, found {}", header.shape[0])
    })?;
    let (signed, size, big_endian) = integers(header.descr)?;
    let data = data
        .get(..count * size)
        .ok_or_else(|| format!("cut short: expected {count} values of {size} bytes"))?;
    let value = |word: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(word);
        if big_endian {
            bytes[..size].reverse();
        }
        let unsigned = u64::from_le_bytes(bytes);
        let shift = 64 - 8 * size as u32;
        if signed {
            i128::from(((unsigned << shift) as i64) >> shift)
        } else {
            i128::from(unsigned)
        }
    };
    Ok(data.chunks_exact(size).map(value).collect())
}

/// A vector as a file of 64-bit integers.
pub fn write(values: &[i64]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}", values.len());
    // The data start at a multiple of 64 bytes, after a line end.
    let before = MAGIC.len() + 4;
    header +=
        &" ".repeat((before + header.len() + 1).next_multiple_of(64) - before - header.len() - 1);
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a header of one line");
    let head = [MAGIC, &[1, 0], &length.to_le_bytes(), header.as_bytes()].concat();
    head.into_iter().chain(values.iter().flat_map(|v| v.to_le_bytes())).collect()
}

/// The header and what comes after it.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (&[version, _], rest) = rest.split_first_chunk()?;
    let (length, rest) = match version {
        1 => rest
            .split_first_chunk()
            .map(|(&length, rest)| (usize::from(u16::from_le_bytes(length)), rest))?,
        2 | 3 => rest
            .split_first_chunk()
            .map(|(&length, rest)| (u32::from_le_bytes(length) as usize, rest))?,
        _ => return None,
    };
    let (header, data) = (length <= MAX_HEADER).then(|| rest.split_at_checked(length))??;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// Signed or not, bytes, and whether the first byte is the highest.
fn integers(descr: &str) -> Result<(bool, usize, bool), String> {
    let refused =
        || format!("expected integers, found type {descr}: convert with .astype('int64')");
    let mut letters = descr.chars();
    let (order, kind, size) = (letters.next(), letters.next(), letters.as_str());
    let size = ["1", "2", "4", "8"]
        .into_iter()
        .find(|s| *s == size)
        .and_then(|s| s.parse().ok())
        .ok_or_else(refused)?;
    let big_endian = match order {
        Some('<') => false,
        Some('>') => true,
        Some('|') if size == 1 => false,
        _ => return Err(refused()),
    };
    match kind {
        Some('i') => Ok((true, size, big_endian)),
        Some('u') => Ok((false, size, big_endian)),
        Some('b') if size == 1 => Ok((false, size, big_endian)),
        _ => Err(refused()),
    }
}

/// What the header says, a Python dictionary with these keys.
struct Header<'a> {
    descr: &'a str,
    shape: Vec<u64>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut rest = text.trim().strip_prefix('{')?.trim_start();
        loop {
            if let Some(end) = rest.strip_prefix('}') {
                // The order of a vector's entries does not matter, but it has to be there.
                return end
                    .is_empty()
                    .then_some(fortran_order)
                    .flatten()
                    .and(Some(Header { descr: descr?, shape: shape? }));
            }
            let (key, after) = string(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" => string(value).map(|(text, after)| (descr = Some(text), after).1)?,
                "shape" => tuple(value).map(|(numbers, after)| (shape = Some(numbers), after).1)?,
                "fortran_order" => {
                    fortran_order = Some(());
                    value.strip_prefix("False").or_else(|| value.strip_prefix("True"))?
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(after) => after.trim_start(),
                None => rest.starts_with('}').then_some(rest)?,
            };
        }
    }
}

/// A string in quotes at the start, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// A tuple of numbers at the start, and what follows it.
fn tuple(text: &str) -> Option<(Vec<u64>, &str)> {
    let (inside, rest) = text.strip_prefix('(')?.split_once(')')?;
    let mut numbers: Vec<&str> = inside.split(',').map(str::trim).collect();
    if numbers.last().is_some_and(|last| last.is_empty()) {
        numbers.pop();
    }
    Some((numbers.into_iter().map(|n| n.parse().ok()).collect::<Option<_>>()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file as numpy.save writes it.
    fn file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        header += &" ".repeat(117 - header.len());
        [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), header.as_bytes(), b"\n", data].concat()
    }

    #[test]
    fn vectors_go_there_and_back() {
        let values = [-3i64, 0, 7, i64::MAX, i64::MIN];
        let npy = write(&values);
        assert_eq!(npy[..128], file("<i8", "(5,)", &[])[..]);
        assert_eq!(read(&npy, 5).unwrap(), values.map(i128::from));
        assert!(read(&npy, 4).unwrap_err().contains("at most 4"));
        for cut in 0..npy.len() {
            assert!(read(&npy[..cut], 5).is_err(), "{cut} bytes");
        }
    }

    #[test]
    fn types_that_numpy_writes() {
        assert_eq!(read(&file("|u1", "(3,)", &[1, 2, 255]), 9).unwrap(), [1, 2, 255]);
        assert_eq!(read(&file(">i2", "(1,)", &[255, 254]), 9).unwrap(), [-2]);
        assert_eq!(read(&file("<u4", "(1,)", &[0, 0, 0, 128]), 9).unwrap(), [1 << 31]);
        assert_eq!(read(&file("<u8", "(1,)", &[255; 8]), 9).unwrap(), [i128::from(u64::MAX)]);
        assert_eq!(read(&file("|b1", "(2,)", &[1, 0]), 9).unwrap(), [1, 0]);
        assert_eq!(read(&file("|u1", "(0,)", &[]), 9).unwrap(), [0i128; 0]);
        assert!(read(&file("<f8", "(1,)", &[0; 8]), 9).unwrap_err().contains("astype"));
        assert!(read(&file("|u1", "(1, 3)", &[1, 2, 3]), 9).unwrap_err().contains("[1, 3]"));
        assert!(read(&file("|u1", "()", &[1]), 9).unwrap_err().contains("shape []"));
        assert!(
            read(&file("|u1", "(9000000000000000000,)", &[1]), 9)
                .unwrap_err()
                .contains("at most 9")
        );
        for wrong in ["i8", "|i8", "<i3", "<i", "", "<c8", "<i88", "é"] {
            assert!(
                read(&file(wrong, "(1,)", &[0; 99]), 9).unwrap_err().contains("integers"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn other_spellings_of_the_header() {
        let version_2 = |header: &str| {
            let length = u32::try_from(header.len()).unwrap().to_le_bytes();
            [MAGIC, &[2, 0], &length, header.as_bytes(), &[7]].concat()
        };
        let good = "{\"shape\":(1,),\"fortran_order\":True,\"descr\":\"|u1\"}";
        assert_eq!(read(&version_2(good), 9).unwrap(), [7]);
        for bad in [
            "",
            "{",
            "}",
            "{}",
            "{'descr': '|u1', 'shape': (1,)}",
            "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'x': 1}",
            "{'descr': '|u1' 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}}",
            "{'descr': '|u1', 'fortran_order': False, 'shape': ((((1,",
        ] {
            assert!(read(&version_2(bad), 9).unwrap_err().contains("header"), "{bad}");
        }
        let long = format!("{}{}", good, " ".repeat(MAX_HEADER));
        assert!(read(&version_2(&long), 9).unwrap_err().contains("header"));
    }

    proptest! {
        /// Any bytes, and files with a byte changed: an answer or an error, no panic, no more
        /// values than allowed.
        #[test]
        fn hostile_files(
            noise in proptest::collection::vec(any::<u8>(), 0..300),
            at in 0usize..144,
            byte: u8,
        ) {
            let mut changed = write(&[1, -1]);
            changed[at] = byte;
            for bytes in [noise.clone(), [MAGIC, &[1, 0, 200, 0], &noise].concat(), changed] {
                prop_assert!(read(&bytes, 20).map_or(true, |v| v.len() <= 20));
            }
        }
    }
}
