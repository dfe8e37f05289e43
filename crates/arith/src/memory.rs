//! Memory for polynomials: blocks of words, aligned and on huge pages where the system has them.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use slab::Slab;

/// A cache line, in words.
const LINE: usize = 8;

/// Eight words on a cache line of their own.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct CacheLine(pub(crate) [u64; LINE]);

/// Words between the end of a block and the start of the next: a page and a line. Streams that
/// start at the same offset of their pages would compete for the same sets of the caches, and the
/// inner products of key switching read dozens.
const GAP: usize = 512 + LINE;
/// What slabs are: anonymous mappings of the system.
#[cfg(any(unix, windows))]
mod slab {
    /// A mapping, aligned to pages, of zeros.
    pub(super) type Slab = memmap2::MmapMut;
    /// The size that a slab aims at, in words: 16 MiB, of which pages that nobody touches cost
    /// nothing.
    pub(super) const WORDS: usize = if cfg!(miri) { 1 << 14 } else { 1 << 21 };

    pub(super) fn zeros(bytes: usize) -> std::io::Result<Slab> {
        let slab = memmap2::MmapOptions::new().len(bytes).map_anon()?;
        // Huge pages are about speed only: a system without them is fine, and Miri has none.
        #[cfg(all(target_os = "linux", not(miri)))]
        let _ = slab.advise(memmap2::Advice::HugePage);
        Ok(slab)
    }
}

/// What slabs are where there are no mappings, as in WebAssembly: vectors.
#[cfg(not(any(unix, windows)))]
mod slab {
    use super::CacheLine;

    pub(super) type Slab = Vec<CacheLine>;
    pub(super) const WORDS: usize = 1 << 17;

    pub(super) fn zeros(bytes: usize) -> std::io::Result<Slab> {
        let (count, mut slab) = (bytes.div_ceil(size_of::<CacheLine>()), Vec::new());
        slab.try_reserve_exact(count)
            .map_err(|_| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
        slab.resize(count, CacheLine([0; super::LINE]));
        Ok(slab)
    }
}

/// A block of zero-initialized words, starting at a cache line. Blocks are cut from large pieces of
/// memory ("slabs"), which return to the system when their last block is dropped.
pub struct Block {
    start: NonNull<u64>,
    len: usize,
    _slab: Arc<Slab>,
}

// SAFETY: a block is the only way to its words (blocks of a slab are disjoint), like a Box<[u64]>;
// the slab behind it is shared for its lifetime only, and `Slab` is Send and Sync.
unsafe impl Send for Block {}
// SAFETY: as above; a shared block gives shared access to its words only.
unsafe impl Sync for Block {}

impl Block {
    /// As many blocks of `len` words as one slab holds, at least one.
    ///
    /// # Errors
    /// If the system has no memory left.
    pub fn slab(len: usize) -> std::io::Result<Vec<Block>> {
        let too_large = || std::io::Error::from(std::io::ErrorKind::OutOfMemory);
        let stride = len
            .checked_next_multiple_of(LINE)
            .and_then(|l| l.checked_add(GAP))
            .ok_or_else(too_large)?;
        let count = (slab::WORDS / stride).max(1);
        let bytes =
            stride.checked_mul(count).and_then(|w| w.checked_mul(8)).ok_or_else(too_large)?;
        let mut slab = slab::zeros(bytes)?;
        let base = slab.as_mut_ptr().cast::<u64>();
        let slab = Arc::new(slab);
        (0..count)
            .map(|i| {
                // SAFETY: block i covers words i stride .. i stride + len of the slab, which holds
                // count stride words and is aligned to cache lines.
                let start = unsafe { base.add(i * stride) };
                let start = NonNull::new(start).ok_or_else(too_large)?;
                Ok(Block { start, len, _slab: slab.clone() })
            })
            .collect()
    }

    /// The bytes of all words.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as for `deref`; a word is eight bytes, without padding.
        unsafe {
            std::slice::from_raw_parts(self.start.as_ptr().cast::<u8>(), size_of_val(&self[..]))
        }
    }

    /// The same, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let length = size_of_val(&self[..]);
        // SAFETY: as for `deref_mut`, and any eight bytes are a word.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast::<u8>(), length) }
    }
}

impl Deref for Block {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        // SAFETY: the words belong to this block alone, are initialized (slabs are zeros) and live
        // as long as the slab.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as for `deref`; the exclusive borrow of the block is exclusive access to its
        // words.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_disjoint_aligned_and_outlive_their_siblings() {
        let mut blocks = Block::slab(1000).unwrap();
        assert!(blocks.len() > if cfg!(miri) { 4 } else { 1000 });
        for (i, block) in blocks.iter_mut().enumerate() {
            assert!(block.iter().all(|&x| x == 0) && block.len() == 1000);
            assert_eq!(block.as_ptr() as usize % 64, 0);
            block.fill(i as u64);
        }
        blocks[1].bytes_mut()[8..16].fill(0xff);
        assert_eq!((blocks[1][0], blocks[1][1], blocks[1][2]), (1, u64::MAX, 1));
        assert_eq!((blocks[1].bytes().len(), blocks[1].bytes()[15]), (8000, 0xff));
        blocks[1][1] = 1;
        let last = blocks.pop().unwrap();
        let value = blocks.len() as u64;
        assert!(blocks.iter().enumerate().all(|(i, b)| b.iter().all(|&x| x == i as u64)));
        drop(blocks);
        assert!(last.iter().all(|&x| x == value));
        assert_eq!(Block::slab(1 << if cfg!(miri) { 16 } else { 22 }).unwrap().len(), 1);
        assert!(Block::slab(usize::MAX).is_err());
    }
}
