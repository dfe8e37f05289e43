//! The pages of a column in a Parquet file, looked at before they are read: how large they are, and
//! say that they are.

use std::fs::File;
use std::io::Read;

use everlevel_tables::TablesError;
use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};

/// The largest page, in bytes when it is not compressed.
const MOST_BYTES: u64 = 256 << 20;
/// The most values of a dictionary, for each of which the reader has some 32 bytes at once.
const MOST_VALUES: u64 = MOST_BYTES / 32;
/// The longest header of a page, in bytes: it may hold the least and the greatest value.
const MOST_HEADER: u64 = 1 << 20;
/// The length of most.
const SHORT_HEADER: u64 = 1 << 12;
/// How deep the fields of a header may be nested.
const DEPTH: usize = 8;
/// Values as they are, by a dictionary, and truth values in runs. The others have numbers of values
/// of their own.
const ENCODINGS: [i64; 4] = [0, 2, 3, 8];

fn wrong(problem: &str) -> TablesError {
    TablesError::Data { problem: format!("Parquet: {problem}") }
}

/// Passes a column of a group of rows whose pages are what they say, and not too large.
///
/// # Errors
/// [`TablesError::Data`] for others; [`TablesError::Unsupported`] for other compressions.
pub fn check(file: &File, chunk: &ColumnChunkMetaData) -> Result<(), TablesError> {
    let unsupported = |found: String, remedy: &str| {
        Err(TablesError::Unsupported { found, remedy: remedy.into() })
    };
    let gzip = match chunk.compression() {
        Compression::UNCOMPRESSED | Compression::SNAPPY => false,
        Compression::GZIP(_) => true,
        other => {
            let found = format!("a Parquet file that is compressed by {other}");
            return unsupported(found, "write it with snappy or gzip, or without compression");
        }
    };
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let place = |x: i64| u64::try_from(x).map_err(|_| wrong("a place before the file"));
    let (mut at, length) = (place(start)?, place(chunk.compressed_size())?);
    let end = at.checked_add(length).filter(|end| *end <= file.len());
    let end = end.ok_or_else(|| wrong("a column ends behind the file"))?;
    let failed = |e: parquet::errors::ParquetError| wrong(&e.to_string());
    while at < end {
        let part = |most: u64| file.get_bytes(at, most.min(end - at) as usize).map_err(failed);
        let found = match Header::read(&part(SHORT_HEADER)?) {
            None => Header::read(&part(MOST_HEADER)?),
            found => found,
        };
        let (header, read) = found.ok_or_else(|| wrong("a page without a header"))?;
        at += read as u64;
        let compressed = place(header.compressed)?;
        let size = place(header.uncompressed)?;
        if compressed > end - at || size > MOST_BYTES {
            return Err(wrong("a page that is too large: write it in pages of 1 MB"));
        }
        if u64::try_from(header.values).is_ok_and(|values| values > size.min(MOST_VALUES)) {
            return Err(wrong("a dictionary of more values than it has bytes, or than 2^23"));
        }
        if let Some(encoding) = header.encoding {
            let found = format!("a Parquet file with the encoding {encoding}");
            return unsupported(found, "write it with plain values or dictionaries");
        }
        if gzip && compressed > 0 {
            let bytes = file.get_bytes(at, compressed as usize).map_err(failed)?;
            let levels = usize::try_from(header.levels).ok().filter(|n| *n <= bytes.len());
            let bytes = &bytes[levels.ok_or_else(|| wrong("a page of negative size"))?..];
            // No more than it says is decompressed, here or by the reader.
            let mut rest = MultiGzDecoder::new(bytes).take(size + 1);
            let found = std::io::copy(&mut rest, &mut std::io::sink());
            if header.is_compressed && !bytes.is_empty() && !found.is_ok_and(|n| n <= size) {
                return Err(wrong("a page that is larger than it says"));
            }
        }
        at += compressed;
    }
    Ok(())
}

/// What the header of a page says, in Thrift's compact protocol.
struct Header {
    uncompressed: i64,
    compressed: i64,
    /// How many values a dictionary has.
    values: i64,
    /// An encoding that is not read, of whichever page it is.
    encoding: Option<i64>,
    /// The bytes before what is compressed.
    levels: i64,
    is_compressed: bool,
}

impl Default for Header {
    fn default() -> Self {
        let (uncompressed, compressed, values) = (-1, -1, 0);
        let (encoding, levels, is_compressed) = (None, 0, true);
        Header { uncompressed, compressed, values, encoding, levels, is_compressed }
    }
}

impl Header {
    /// The one at the beginning of bytes, and how many it has.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let (mut header, mut rest) = (Header::default(), bytes);
        header.fields(&mut rest, &mut Vec::new())?;
        Some((header, bytes.len() - rest.len()))
    }

    /// A value of a field, by the numbers of the fields that it is in.
    fn number(&mut self, path: &[i64], value: i64) {
        match path {
            [2] => self.uncompressed = value,
            [3] => self.compressed = value,
            // Of a page of values, of a dictionary, and of a page of the second version.
            [5, 2] | [7, 2] | [8, 4] if !ENCODINGS.contains(&value) => self.encoding = Some(value),
            [7, 1] => self.values = value,
            [8, 5 | 6] => self.levels = self.levels.saturating_add(value),
            [8, 7] => self.is_compressed = value == 1,
            _ => {}
        }
    }

    fn fields(&mut self, rest: &mut &[u8], path: &mut Vec<i64>) -> Option<()> {
        let mut field = 0i64;
        loop {
            let head = byte(rest)?;
            if head == 0 {
                return Some(());
            }
            // Without the long form fields ascend, and none is there twice: whether the first one
            // or the last one counts is the reader's choice.
            if head >> 4 == 0 {
                return None;
            }
            field += i64::from(head >> 4);
            path.push(field);
            if !is_expected(path, head & 15) {
                return None;
            }
            self.value(rest, head & 15, path, false)?;
            path.pop();
        }
    }

    fn value(
        &mut self,
        rest: &mut &[u8],
        kind: u8,
        path: &mut Vec<i64>,
        listed: bool,
    ) -> Option<()> {
        if path.len() > DEPTH {
            return None;
        }
        match kind {
            // The reader takes truth values in lists to have no bytes.
            1 | 2 if listed => return None,
            1 | 2 => self.number(path, i64::from(kind == 1)),
            3 => drop(byte(rest)?),
            5 => {
                // The reader drops what is above 32 bits.
                let value = i32::try_from(zigzag(varint(rest)?)).ok()?;
                self.number(path, value.into());
            }
            4 | 6 => drop(varint(rest)?),
            7 => skip(rest, 8)?,
            8 => {
                let length = varint(rest)?;
                skip(rest, usize::try_from(length).ok()?)?;
            }
            9 | 10 => {
                let head = byte(rest)?;
                let count = if head >> 4 == 15 { varint(rest)? } else { u64::from(head >> 4) };
                // A value has a byte at least, and so it ends.
                for _ in 0..count {
                    path.push(0);
                    self.value(rest, head & 15, path, true)?;
                    path.pop();
                }
            }
            12 => self.fields(rest, path)?,
            _ => return None,
        }
        Some(())
    }
}

/// Whether a field is of the type that the reader takes it to be of, whatever its head says: of
/// another one it would go on at another byte.
fn is_expected(path: &[i64], kind: u8) -> bool {
    match path {
        [1..=4] | [5, 1..=4] | [7, 1 | 2] | [8, 1..=6] => kind == 5,
        [7, 3] | [8, 7] => matches!(kind, 1 | 2),
        [5..=8] => kind == 12,
        _ => true,
    }
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    Some(*first)
}

fn skip(rest: &mut &[u8], count: usize) -> Option<()> {
    *rest = rest.get(count..)?;
    Some(())
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(rest)?;
        value |= u64::from(next & 127) << shift;
        if next < 128 {
            return Some(value);
        }
    }
    None
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
