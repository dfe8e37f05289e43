//! Numbers as text, by lines, as hexadecimal digits, as bytes, and as words of 8 bytes, the lowest
//! first.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::SuiteError;

/// Bytes of a buffer.
const BUFFER: usize = 1 << 20;
/// Bytes of a number as a word.
const WORD: usize = 8;

/// A text file of a known number of lines.
pub(crate) struct Lines {
    file: BufReader<File>,
    path: PathBuf,
    count: u64,
    read: u64,
}

/// One more than a number below 2^64 and its line end have.
const LONGEST: u64 = 23;

impl Lines {
    /// Opens the file.
    pub fn open(path: PathBuf, count: u64) -> Result<Self, SuiteError> {
        let file = File::open(&path).map_err(|e| SuiteError::io(&path, &e))?;
        Ok(Lines { file: BufReader::with_capacity(BUFFER, file), path, count, read: 0 })
    }

    fn wrong(&self, expected: String, found: String) -> SuiteError {
        SuiteError::Numbers { path: self.path.display().to_string(), expected, found }
    }

    /// The refusal of what is in the line that was read last.
    pub fn unexpected(&self, expected: &str, found: &[u8]) -> SuiteError {
        let found = format!("{:?}", String::from_utf8_lossy(found));
        self.wrong(format!("{expected} in line {}", self.read), found)
    }

    /// The next line, without its end, which has `longest` bytes with it at most.
    pub fn line(&mut self, longest: u64) -> Result<Vec<u8>, SuiteError> {
        let mut line = Vec::new();
        let part = (&mut self.file).take(longest).read_until(b'\n', &mut line);
        part.map_err(|e| SuiteError::io(&self.path, &e))?;
        if line.is_empty() {
            return Err(self.wrong(format!("{} lines", self.count), self.read.to_string()));
        }
        self.read += 1;
        // The rest of a line is not taken for the next one.
        if line.len() as u64 == longest && !line.ends_with(b"\n") {
            return Err(self.unexpected(&format!("less than {longest} bytes"), &line[..20]));
        }
        for end in [b'\n', b'\r'] {
            line.pop_if(|last| *last == end);
        }
        Ok(line)
    }

    /// The number below 2^64, in decimal, that is the next line.
    pub fn number(&mut self) -> Result<u64, SuiteError> {
        let text = self.line(LONGEST)?;
        let digit = |value: u64, byte: u8| {
            let digit = char::from(byte).to_digit(10)?;
            value.checked_mul(10)?.checked_add(digit.into())
        };
        let value = text.iter().try_fold(0, |value, &byte| digit(value, byte));
        value
            .filter(|_| !text.is_empty())
            .ok_or_else(|| self.unexpected("a number below 2^64", &text))
    }

    /// Passes a file that ends after its lines.
    pub fn finish(mut self) -> Result<(), SuiteError> {
        let mut rest = [0];
        let more = self.file.read(&mut rest).map_err(|e| SuiteError::io(&self.path, &e))?;
        if more > 0 {
            return Err(self.wrong(format!("{} lines", self.count), "more".into()));
        }
        Ok(())
    }
}

/// A known number of bytes, which a file has in hexadecimal digits; white space may follow. Without
/// branches on digits, which may be those of a key.
pub(crate) fn read_hex(path: &Path, count: usize) -> Result<Zeroizing<Vec<u8>>, SuiteError> {
    let failed = |e: std::io::Error| SuiteError::io(path, &e);
    // As long as it may be, so that nothing is left behind by growing.
    let longest = 2 * count + 2;
    let mut text = Zeroizing::new(vec![0; longest + 1]);
    let (mut file, mut filled) = (File::open(path).map_err(failed)?, 0);
    while filled < text.len() {
        match file.read(&mut text[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(failed(e)),
        }
    }
    let digits = text[..filled].trim_ascii_end();
    let wrong = |found: String| SuiteError::Numbers {
        path: path.display().to_string(),
        expected: format!("{} hexadecimal digits", 2 * count),
        found,
    };
    if digits.len() != 2 * count || filled > longest {
        return Err(wrong(format!("{} bytes or more", digits.len())));
    }
    let (mut bytes, mut bad) = (Zeroizing::new(Vec::with_capacity(count)), 0);
    for pair in digits.chunks_exact(2) {
        let [(high, wrong_high), (low, wrong_low)] = [nibble(pair[0]), nibble(pair[1])];
        bytes.push(high << 4 | low);
        bad |= wrong_high | wrong_low;
    }
    if bad == 0 { Ok(bytes) } else { Err(wrong("other characters".into())) }
}

/// The value of a hexadecimal digit, and 0xff if it is none. Branch-free.
fn nibble(digit: u8) -> (u8, u8) {
    // All ones if a digit is at least `low` and below `low + count`.
    let within = |digit: u8, low: u8, count: u8| {
        let above = u16::from(digit.wrapping_sub(low));
        (above.wrapping_sub(count.into()) >> 8) as u8
    };
    let letter = digit | 0x20;
    let (decimal, hexadecimal) = (within(digit, b'0', 10), within(letter, b'a', 6));
    let value = (digit.wrapping_sub(b'0') & decimal)
        | (letter.wrapping_sub(b'a').wrapping_add(10) & hexadecimal);
    (value, !(decimal | hexadecimal))
}

/// A file of a known number of bytes.
pub(crate) struct Bytes {
    file: File,
    path: PathBuf,
}

impl Bytes {
    /// Opens the file, which has to have this length.
    pub fn open(path: &Path, length: u64) -> Result<Self, SuiteError> {
        let failed = |e: std::io::Error| SuiteError::io(path, &e);
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?.len();
        let out = Bytes { file, path: path.into() };
        if found != length {
            return Err(out.unexpected(format!("{length} bytes"), found.to_string()));
        }
        Ok(out)
    }

    /// The next `count` of them.
    pub fn read(&mut self, count: usize) -> Result<Zeroizing<Vec<u8>>, SuiteError> {
        let mut bytes = Zeroizing::new(vec![0; count]);
        self.file.read_exact(&mut bytes).map_err(|e| SuiteError::io(&self.path, &e))?;
        Ok(bytes)
    }

    /// The refusal of what is in the file.
    pub fn unexpected(&self, expected: impl Into<String>, found: impl Into<String>) -> SuiteError {
        SuiteError::Numbers {
            path: self.path.display().to_string(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// A file of a known number of words.
pub(crate) struct Words(Bytes);

impl Words {
    /// Opens the file, which has to have this length.
    pub fn open(path: &Path, count: u64) -> Result<Self, SuiteError> {
        Ok(Words(Bytes::open(path, WORD as u64 * count)?))
    }

    /// The next `count` of them.
    pub fn read(&mut self, count: usize) -> Result<Vec<u64>, SuiteError> {
        let bytes = self.0.read(WORD * count)?;
        let (words, _) = bytes.as_chunks::<WORD>();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// The refusal of what is in the file.
    pub fn unexpected(&self, expected: impl Into<String>, found: impl Into<String>) -> SuiteError {
        self.0.unexpected(expected, found)
    }
}

/// Numbers as words.
pub(crate) fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits() {
        for digit in 0..=255u8 {
            let value = char::from(digit).to_digit(16).filter(|_| digit.is_ascii());
            assert_eq!(nibble(digit), value.map_or((0, 255), |value| (value as u8, 0)), "{digit}");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key.hex");
        for good in ["00ffA5", "00ffa5\n", "00FFa5\r\n"] {
            std::fs::write(&path, good).unwrap();
            assert_eq!(*read_hex(&path, 3).unwrap(), [0, 0xff, 0xa5]);
        }
        for wrong in
            ["", "00ffa", "00ffa50", "00ffa5\n\n\n", "00ffag", "00 fa5", "00ffa5 00", "é1éé"]
        {
            std::fs::write(&path, wrong).unwrap();
            assert_eq!(read_hex(&path, 3).unwrap_err().code(), "suite.numbers", "{wrong:?}");
        }
        assert_eq!(read_hex(&directory.path().join("none"), 3).unwrap_err().code(), "suite.io");
    }
}
