//! NumPy's file format, as far as columns need it: a vector of integers. Format: "A simple file
//! format for NumPy arrays" (NEP 1), versions 1 to 3.

/// Before the header: a magic string and the two bytes of the version.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Headers of vectors have about a hundred bytes.
const MAX_HEADER: usize = 1 << 12;

/// The type of a vector: bytes of a value, and whether they are signed, or truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    letter: char,
    size: usize,
}

impl Kind {
    /// Signed, of 64 bits.
    pub const I64: Kind = Kind { letter: 'i', size: 8 };

    /// Without a sign, of 64 bits.
    pub const U64: Kind = Kind { letter: 'u', size: 8 };

    /// A type by its letter and size, as [`Kind`] displays it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut letters = text.chars();
        let letter = letters.next().filter(|c| matches!(c, 'i' | 'u' | 'b'))?;
        let size = ["1", "2", "4", "8"].iter().find(|s| **s == letters.as_str())?.parse().ok()?;
        (letter != 'b' || size == 1).then_some(Kind { letter, size })
    }

    /// The smallest and the largest value.
    fn ends(self) -> (i128, i128) {
        let bits = 8 * self.size as u32;
        match self.letter {
            'i' => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            'u' => (0, (1 << bits) - 1),
            _ => (0, 1),
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.letter, self.size)
    }
}

/// The type and the values of a vector of integers or truth values.
///
/// # Errors
/// What was expected and what the file holds instead.
pub fn read(bytes: &[u8]) -> Result<(Kind, Vec<i128>), String> {
    let (header, data) = split(bytes).ok_or("not a NumPy file, or cut short in its header")?;
    let header =
        Header::parse(header).ok_or("not a NumPy file: its header does not describe an array")?;
    let [count] = header.shape[..] else {
        return Err(format!(
            "expected a vector, found an array of shape {:?}: write one column, or flatten it",
            header.shape
        ));
    };
    let (kind, big_endian) = integers(header.descr)?;
    let size = kind.size;
    let needed = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
    if needed != Some(data.len()) {
        return Err(format!(
            "expected {count} values of {size} bytes, found {} bytes: cut short, or more than one \
             array",
            data.len()
        ));
    }
    let (lowest, highest) = kind.ends();
    let value = |word: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(word);
        if big_endian {
            bytes[..size].reverse();
        }
        let unsigned = u64::from_le_bytes(bytes);
        let shift = 64 - 8 * size as u32;
        let value = match kind.letter {
            'i' => i128::from(((unsigned << shift) as i64) >> shift),
            _ => i128::from(unsigned),
        };
        let outside = || format!("expected truth values, found {value}");
        (lowest..=highest).contains(&value).then_some(value).ok_or_else(outside)
    };
    Ok((kind, data.chunks_exact(size).map(value).collect::<Result<_, _>>()?))
}

/// A vector as a file of integers of this type, little-endian.
///
/// # Errors
/// A value that the type does not have.
pub fn write(kind: Kind, values: &[i128]) -> Result<Vec<u8>, String> {
    let (lowest, highest) = kind.ends();
    if let Some(v) = values.iter().find(|v| !(lowest..=highest).contains(*v)) {
        return Err(format!("the value {v} is not one of the column's type {kind}"));
    }
    let order = if kind.size == 1 { '|' } else { '<' };
    let words = values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(kind.size));
    Ok(array(&format!("'{order}{kind}'"), values.len(), words))
}

/// The number of elements, their type as NumPy describes it, and their bytes.
pub fn array(descr: &str, count: usize, data: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({count},), }}");
    // The data start at a multiple of 64 bytes, after a line end; version 2 has longer headers, and
    // version 3 texts in UTF-8, where the others have Latin-1.
    let wide = !header.is_ascii();
    let long = wide || header.len() + 64 + 10 > usize::from(u16::MAX);
    let before = MAGIC.len() + if long { 6 } else { 4 };
    header +=
        &" ".repeat((before + header.len() + 1).next_multiple_of(64) - before - header.len() - 1);
    header.push('\n');
    let length = (header.len() as u32).to_le_bytes();
    let (version, length) = match (wide, long) {
        (true, _) => (3, &length[..]),
        (_, true) => (2, &length[..]),
        _ => (1, &length[..2]),
    };
    let head = [MAGIC, &[version, 0], length, header.as_bytes()].concat();
    head.into_iter().chain(data).collect()
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

/// The type, and whether the first byte is the highest.
fn integers(descr: &str) -> Result<(Kind, bool), String> {
    let refused =
        || format!("expected integers, found type {descr}: convert with .astype('int64')");
    let mut letters = descr.chars();
    let order = letters.next();
    let kind = Kind::parse(letters.as_str()).ok_or_else(refused)?;
    let big_endian = match order {
        Some('<') => false,
        Some('>') => true,
        Some('|') if kind.size == 1 => false,
        _ => return Err(refused()),
    };
    Ok((kind, big_endian))
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

    fn values(bytes: &[u8]) -> Result<Vec<i128>, String> {
        read(bytes).map(|(_, values)| values)
    }

    #[test]
    fn vectors_go_there_and_back() {
        let all = [-3i64, 0, 7, i64::MAX, i64::MIN].map(i128::from);
        let npy = write(Kind::I64, &all).unwrap();
        assert_eq!(npy[..128], file("<i8", "(5,)", &[])[..]);
        assert_eq!(read(&npy).unwrap(), (Kind::I64, all.to_vec()));
        for cut in 0..npy.len() {
            assert!(read(&npy[..cut]).is_err(), "{cut} bytes");
        }
        assert!(read(&[&npy[..], &[0]].concat()).unwrap_err().contains("more than one array"));
        for (name, some) in [
            ("i1", [-128, 127]),
            ("u1", [0, 255]),
            ("b1", [0, 1]),
            ("i2", [-32768, 32767]),
            ("u4", [0, (1 << 32) - 1]),
            ("u8", [0, u64::MAX.into()]),
        ] {
            let kind = Kind::parse(name).unwrap();
            let (found, back) = read(&write(kind, &some).unwrap()).unwrap();
            assert_eq!((found, back, kind.to_string()), (kind, some.to_vec(), name.into()));
            for outside in [some[0] - 1, some[1] + 1] {
                assert!(write(kind, &[outside]).unwrap_err().contains(name));
            }
        }
        for none in ["", "i", "i3", "f8", "b2", "i88", "é"] {
            assert_eq!(Kind::parse(none), None);
        }
    }

    /// Names of fields are in the header, and versions below 3 take their bytes for Latin-1.
    #[test]
    fn headers_beyond_ascii() {
        let descr = "[('gr\u{f6}\u{df}e', '|u1'), ('n', '|u1')]";
        let file = array(descr, 1, [1, 2].into_iter());
        assert_eq!(file[..8], *b"\x93NUMPY\x03\x00");
        let length = u32::from_le_bytes(file[8..12].try_into().unwrap()) as usize;
        assert!((12 + length).is_multiple_of(64) && file[12 + length..] == [1, 2]);
        let header = std::str::from_utf8(&file[12..12 + length]).unwrap();
        assert!(header.contains(descr) && header.ends_with('\n'), "{header}");
        assert_eq!(array("'|u1'", 1, [1].into_iter())[6], 1);
    }

    #[test]
    fn types_that_numpy_writes() {
        assert_eq!(values(&file("|u1", "(3,)", &[1, 2, 255])).unwrap(), [1, 2, 255]);
        assert_eq!(values(&file(">i2", "(1,)", &[255, 254])).unwrap(), [-2]);
        assert_eq!(values(&file("<u4", "(1,)", &[0, 0, 0, 128])).unwrap(), [1 << 31]);
        assert_eq!(values(&file("<u8", "(1,)", &[255; 8])).unwrap(), [i128::from(u64::MAX)]);
        assert_eq!(values(&file("|b1", "(2,)", &[1, 0])).unwrap(), [1, 0]);
        assert_eq!(values(&file("|u1", "(0,)", &[])).unwrap(), [0i128; 0]);
        assert!(values(&file("|b1", "(1,)", &[2])).unwrap_err().contains("truth values"));
        assert!(values(&file("<f8", "(1,)", &[0; 8])).unwrap_err().contains("astype"));
        assert!(values(&file("|u1", "(1, 3)", &[1, 2, 3])).unwrap_err().contains("[1, 3]"));
        assert!(values(&file("|u1", "()", &[1])).unwrap_err().contains("shape []"));
        assert!(
            values(&file("|u1", "(9000000000000000000,)", &[1]))
                .unwrap_err()
                .contains("expected 9")
        );
        for wrong in ["i8", "|i8", "<i3", "<i", "", "<c8", "<i88", "é"] {
            assert!(
                values(&file(wrong, "(1,)", &[0; 99])).unwrap_err().contains("integers"),
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
        assert_eq!(values(&version_2(good)).unwrap(), [7]);
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
            assert!(values(&version_2(bad)).unwrap_err().contains("header"), "{bad}");
        }
        let long = format!("{}{}", good, " ".repeat(MAX_HEADER));
        assert!(values(&version_2(&long)).unwrap_err().contains("header"));
    }

    proptest! {
        /// Any bytes, and files with a byte changed: an answer or an error, no panic, no more
        /// values than bytes.
        #[test]
        fn hostile_files(
            noise in proptest::collection::vec(any::<u8>(), 0..300),
            at in 0usize..144,
            byte: u8,
        ) {
            let mut changed = write(Kind::I64, &[1, -1]).unwrap();
            changed[at] = byte;
            for bytes in [noise.clone(), [MAGIC, &[1, 0, 200, 0], &noise].concat(), changed] {
                prop_assert!(values(&bytes).map_or(true, |v| v.len() <= bytes.len()));
            }
        }
    }
}
