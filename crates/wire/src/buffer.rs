//! Memory for parts of files, which are read into it one after the other.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use everlevel_ring::Block;

use crate::error::WireError;
use crate::file::io_error;

/// The bytes from which on memory is on huge pages, where the system has them: fresh memory of
/// common pages takes a fault for every 4 KiB, and longer than reading does.
const LARGE: usize = 1 << 21;

/// As many bytes as were asked for last, in memory that only grows.
#[derive(Default)]
pub(crate) struct Buffer {
    memory: Memory,
    length: usize,
}

enum Memory {
    Heap(Vec<u8>),
    Pages(Block),
}

impl Default for Memory {
    fn default() -> Self {
        Memory::Heap(Vec::new())
    }
}

impl Memory {
    fn with(bytes: usize) -> Self {
        let pages = || Block::slab(bytes.div_ceil(size_of::<u64>())).ok()?.pop();
        let pages = if bytes < LARGE { None } else { pages() };
        pages.map_or_else(|| Memory::Heap(vec![0; bytes]), Memory::Pages)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Memory::Heap(bytes) => bytes,
            Memory::Pages(block) => block.bytes(),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Heap(bytes) => bytes,
            Memory::Pages(block) => block.bytes_mut(),
        }
    }
}

impl Buffer {
    /// Room for that many bytes, of unspecified content.
    pub(crate) fn room(&mut self, length: usize) -> &mut [u8] {
        if self.memory.bytes().len() < length {
            // What is too small is not copied.
            self.memory = Memory::with(length);
        }
        self.length = length;
        &mut self.memory.bytes_mut()[..length]
    }

    /// Replaces what is there by a part of a file.
    ///
    /// # Errors
    /// [`WireError::Truncated`] where the file ends before; what the system refuses.
    pub(crate) fn read(
        &mut self,
        file: &mut File,
        path: &Path,
        range: &Range<u64>,
    ) -> Result<(), WireError> {
        let failed = |e: std::io::Error| io_error(path, &e);
        file.seek(SeekFrom::Start(range.start)).map_err(failed)?;
        let room = self.room((range.end - range.start) as usize);
        let mut found = 0;
        while found < room.len() {
            match file.read(&mut room[found..]) {
                Ok(0) => {
                    let needed = room.len() as u64;
                    return Err(WireError::Truncated { needed, found: found as u64 });
                }
                Ok(read) => found += read,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(failed(e)),
            }
        }
        Ok(())
    }

    /// What is there.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory.bytes()[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn parts_of_a_file_in_one_memory() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..3 * LARGE).map(|i| (i * 7 % 251) as u8).collect();
        file.write_all(&bytes).unwrap();
        let (path, end) = (Path::new("a test"), bytes.len() as u64);
        let mut buffer = Buffer::default();
        assert!(buffer.bytes().is_empty());
        let large = LARGE as u64;
        for range in [5..105, 0..0, 1..large + 2, 100..200, large..end, 0..large] {
            buffer.read(&mut file, path, &range).unwrap();
            assert!(*buffer.bytes() == bytes[range.start as usize..range.end as usize]);
        }
        // Memory of one length serves all that are shorter.
        let place = buffer.bytes().as_ptr();
        buffer.read(&mut file, path, &(7..9)).unwrap();
        assert_eq!(buffer.bytes().as_ptr(), place);
        let refused = buffer.read(&mut file, path, &(end - 3..end + 2)).unwrap_err();
        assert_eq!(refused, WireError::Truncated { needed: 5, found: 3 });
    }
}
