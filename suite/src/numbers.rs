//! Numbers as text, a line each, and as words of 8 bytes, the lowest first.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::SuiteError;

/// Bytes of a buffer.
const BUFFER: usize = 1 << 20;
/// Bytes of a number as a word.
const WORD: usize = 8;

/// A text file of a known number of numbers below 2^64, in decimal.
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

    /// The number in the next line.
    pub fn number(&mut self) -> Result<u64, SuiteError> {
        let mut line = Vec::with_capacity(LONGEST as usize);
        let part = (&mut self.file).take(LONGEST).read_until(b'\n', &mut line);
        part.map_err(|e| SuiteError::io(&self.path, &e))?;
        self.read += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if line.is_empty() {
            return Err(self.wrong(format!("{} lines", self.count), (self.read - 1).to_string()));
        }
        let digit = |value: u64, byte: u8| {
            let digit = char::from(byte).to_digit(10)?;
            value.checked_mul(10)?.checked_add(digit.into())
        };
        let value = text.iter().try_fold(0, |value, &byte| digit(value, byte));
        value.filter(|_| !text.is_empty()).ok_or_else(|| {
            let found = String::from_utf8_lossy(text).into_owned();
            self.wrong(format!("a number below 2^64 in line {}", self.read), format!("{found:?}"))
        })
    }

    /// Passes a file that ends after its numbers.
    pub fn finish(mut self) -> Result<(), SuiteError> {
        let mut rest = [0];
        let more = self.file.read(&mut rest).map_err(|e| SuiteError::io(&self.path, &e))?;
        if more > 0 {
            return Err(self.wrong(format!("{} lines", self.count), "more".into()));
        }
        Ok(())
    }
}

/// A file of a known number of words.
pub(crate) struct Words {
    file: File,
    path: PathBuf,
}

impl Words {
    /// Opens the file, which has to have this length.
    pub fn open(path: &Path, count: u64) -> Result<Self, SuiteError> {
        let failed = |e: std::io::Error| SuiteError::io(path, &e);
        let file = File::open(path).map_err(failed)?;
        let (found, expected) = (file.metadata().map_err(failed)?.len(), WORD as u64 * count);
        if found != expected {
            return Err(SuiteError::Numbers {
                path: path.display().to_string(),
                expected: format!("{expected} bytes"),
                found: found.to_string(),
            });
        }
        Ok(Words { file, path: path.into() })
    }

    /// The next `count` of them.
    pub fn read(&mut self, count: usize) -> Result<Vec<u64>, SuiteError> {
        let mut bytes = vec![0; WORD * count];
        self.file.read_exact(&mut bytes).map_err(|e| SuiteError::io(&self.path, &e))?;
        let (words, _) = bytes.as_chunks::<WORD>();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }
}

/// Numbers as words.
pub(crate) fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
