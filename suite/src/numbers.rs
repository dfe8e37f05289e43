//! Numbers as text, by lines, as bytes, and as words of 8 bytes, the lowest first.

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

/// No number below 2^64 and its line end are longer.
const LONGEST: u64 = 22;

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

    /// The next line, without its end, or as much of it as there are `longest` bytes.
    pub fn line(&mut self, longest: u64) -> Result<Vec<u8>, SuiteError> {
        let mut line = Vec::new();
        let part = (&mut self.file).take(longest).read_until(b'\n', &mut line);
        part.map_err(|e| SuiteError::io(&self.path, &e))?;
        if line.is_empty() {
            return Err(self.wrong(format!("{} lines", self.count), self.read.to_string()));
        }
        self.read += 1;
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
}

/// Numbers as words.
pub(crate) fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
