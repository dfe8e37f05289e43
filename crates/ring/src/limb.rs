//! One residue polynomial: n words, aligned for vector loads, recycled through a pool.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};

use zeroize::Zeroize;

/// Words in a cache line.
const LINE: usize = 8;

/// Free buffers of one ring. A limb goes back here when it is dropped, so that evaluation does not pay for fresh
/// pages at every operation; the pool never holds more than the largest number of limbs that were alive at once.
#[derive(Default)]
pub(crate) struct Pool {
    free: Mutex<Vec<Vec<u64>>>,
}

impl Pool {
    fn take(&self, len: usize) -> Vec<u64> {
        let recycled = self.free.lock().unwrap_or_else(|e| e.into_inner()).pop();
        recycled.unwrap_or_else(|| vec![0; len + LINE])
    }
    fn give(&self, buffer: Vec<u64>) {
        self.free.lock().unwrap_or_else(|e| e.into_inner()).push(buffer);
    }
}

/// The residues of a polynomial modulo one prime: a slice of n words that starts at a cache line.
pub struct Limb {
    buffer: Vec<u64>,
    start: usize,
    len: usize,
    pool: Arc<Pool>,
    wipe: bool,
}

impl Limb {
    /// A limb of unspecified content.
    pub(crate) fn uninit(pool: &Arc<Pool>, len: usize) -> Self {
        let buffer = pool.take(len);
        // `align_offset` may decline (usize::MAX); alignment is about speed only.
        let offset = buffer.as_ptr().align_offset(LINE * 8);
        let start = if offset <= LINE { offset } else { 0 };
        Limb { buffer, start, len, pool: pool.clone(), wipe: false }
    }
    /// A limb of zeros.
    pub(crate) fn zero(pool: &Arc<Pool>, len: usize) -> Self {
        let mut limb = Self::uninit(pool, len);
        limb.fill(0);
        limb
    }
    /// Overwrites the buffer when it is dropped, before it is recycled.
    pub fn wipe_on_drop(&mut self) {
        self.wipe = true;
    }
}

impl Deref for Limb {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        &self.buffer[self.start..self.start + self.len]
    }
}

impl DerefMut for Limb {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}

impl Clone for Limb {
    fn clone(&self) -> Self {
        let mut copy = Self::uninit(&self.pool, self.len);
        copy.copy_from_slice(self);
        copy.wipe = self.wipe;
        copy
    }
}

impl Drop for Limb {
    fn drop(&mut self) {
        if self.wipe {
            // As a slice: wiping the Vec would also empty it.
            self.buffer.as_mut_slice().zeroize();
        }
        self.pool.give(std::mem::take(&mut self.buffer));
    }
}

impl fmt::Debug for Limb {
    /// Names the length only: a limb may belong to a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limb({} words)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_recycled_and_wiped() {
        let pool = Arc::new(Pool::default());
        let mut limb = Limb::zero(&pool, 64);
        limb.fill(7);
        limb.wipe_on_drop();
        let copy = limb.clone();
        assert_eq!(copy[..], limb[..]);
        assert_eq!(limb.as_ptr().align_offset(64), 0);
        drop(limb);
        assert!(pool.free.lock().unwrap()[0].iter().all(|&x| x == 0));
        let again = Limb::uninit(&pool, 64);
        assert!(again.iter().all(|&x| x == 0));
        assert!(pool.free.lock().unwrap().is_empty());
    }
}
