//! Records that are read from their file a part at a time.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::buffer::Buffer;
use crate::error::WireError;
use crate::file::{io_error, read_at};
use crate::id::first_bytes;
use crate::reader::Reader;

/// What the bytes of a record come from, in their order.
pub(crate) trait Source {
    /// What `read` makes of the next bytes.
    fn next<T: Send>(
        &mut self,
        count: usize,
        read: impl FnOnce(&[u8]) -> Result<T, WireError> + Send,
    ) -> Result<T, WireError>;
}

impl Source for Reader<'_> {
    fn next<T: Send>(
        &mut self,
        count: usize,
        read: impl FnOnce(&[u8]) -> Result<T, WireError> + Send,
    ) -> Result<T, WireError> {
        read(self.take(count)?)
    }
}

/// Bytes of what nobody asked for that are read at a time.
const REST: usize = 1 << 20;

/// A record of a file, of which one part is in memory, in a buffer that was used before: a key of
/// many megabytes needs no fresh pages, and each part comes from a cache when it is hashed and
/// unpacked, which is done at the same time.
pub(crate) struct FileParts<'f> {
    file: &'f Mutex<File>,
    path: &'f Path,
    /// Which bytes of the file are left of the record.
    left: Range<u64>,
    hasher: blake3::Hasher,
    buffer: Buffer,
}

impl<'f> FileParts<'f> {
    /// The record that is this part of the file.
    pub(crate) fn new(
        file: &'f Mutex<File>,
        path: &'f Path,
        record: Range<u64>,
        buffer: Buffer,
    ) -> Self {
        FileParts { file, path, left: record, hasher: blake3::Hasher::new(), buffer }
    }

    /// The next bytes in the buffer.
    fn read(&mut self, count: usize) -> Result<(), WireError> {
        let (start, found) = (self.left.start, self.left.end - self.left.start);
        if count as u64 > found {
            return Err(WireError::Truncated { needed: count as u64, found });
        }
        let room = self.buffer.room(count);
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        read_at(&file, room, start).map_err(|e| io_error(self.path, &e))?;
        self.left.start += count as u64;
        Ok(())
    }

    /// The checksum of the whole record, of which the rest is read, and the buffer.
    ///
    /// # Errors
    /// What the system refuses.
    pub(crate) fn finish(mut self) -> Result<([u8; 16], Buffer), WireError> {
        while !self.left.is_empty() {
            let count = (self.left.end - self.left.start).min(REST as u64) as usize;
            self.read(count)?;
            self.hasher.update(self.buffer.bytes());
        }
        Ok((first_bytes(&self.hasher), self.buffer))
    }
}

impl Source for FileParts<'_> {
    fn next<T: Send>(
        &mut self,
        count: usize,
        read: impl FnOnce(&[u8]) -> Result<T, WireError> + Send,
    ) -> Result<T, WireError> {
        self.read(count)?;
        let (bytes, hasher) = (self.buffer.bytes(), &mut self.hasher);
        let hash = || {
            hasher.update(bytes);
        };
        rayon::join(hash, || read(bytes)).1
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::id::digest;

    /// Of whatever was read, the checksum is that of all bytes of the record.
    #[test]
    fn parts_are_those_of_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..REST + 5000).map(|i| (i * i % 251) as u8).collect();
        file.write_all(&bytes).unwrap();
        let (file, path) = (Mutex::new(file), Path::new("a test"));
        let (first, last) = (100, bytes.len() - 7);
        let record = &bytes[first..last];
        let mut buffer = Buffer::default();
        for asked in [&[][..], &[32, 0, 1000], &[record.len()], &[record.len() - 1, 1]] {
            let mut parts = FileParts::new(&file, path, first as u64..last as u64, buffer);
            let mut at = 0;
            for &count in asked {
                let found = parts.next(count, |part| Ok(part.to_vec())).unwrap();
                assert_eq!(found, record[at..at + count]);
                at += count;
            }
            let more = record.len() - at + 1;
            let refused = parts.next(more, |_| Ok(())).unwrap_err();
            assert_eq!(refused.code(), "wire.truncated");
            let (checksum, used) = parts.finish().unwrap();
            assert_eq!(checksum, digest(&[record]));
            buffer = used;
        }
        // Behind the end of the file.
        let end = bytes.len() as u64;
        let parts = FileParts::new(&file, path, end - 1..end + 1, buffer);
        assert_eq!(parts.finish().err().unwrap().code(), "wire.io");
    }
}
