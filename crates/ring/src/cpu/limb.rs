//! One residue polynomial: n words, aligned for vector loads, recycled through a pool.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_arith::Block;
use zeroize::Zeroize;

use super::timings::{Timings, Work};

/// Free blocks of one ring. A limb goes back here when it is dropped, so that evaluation does not
/// pay for fresh pages at every operation; the pool never holds more than the largest number of
/// limbs that were in use at the same time, and a slab.
#[derive(Default)]
pub(crate) struct Pool {
    free: Mutex<Vec<Block>>,
    pub(super) timings: Timings,
}

impl Pool {
    /// # Panics
    /// If the system is out of memory, like every allocation.
    fn take(&self, len: usize) -> Block {
        let _timer = self.timings.time(Work::Memory);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            *free = Block::slab(len).expect("the system is out of memory");
        }
        free.pop().expect("a slab holds at least one block")
    }

    fn give(&self, block: Block) {
        let _timer = self.timings.time(Work::Memory);
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(block);
    }
}

/// The residues of a polynomial modulo one prime: a slice of n words that starts at a cache line.
pub struct Limb {
    /// `None` only while it is being dropped.
    block: Option<Block>,
    pool: Arc<Pool>,
    wipe: bool,
}

impl Limb {
    /// A limb of unspecified content.
    pub(crate) fn uninit(pool: &Arc<Pool>, len: usize) -> Self {
        Limb { block: Some(pool.take(len)), pool: pool.clone(), wipe: false }
    }

    /// A limb of zeros.
    pub(crate) fn zero(pool: &Arc<Pool>, len: usize) -> Self {
        let _timer = pool.timings.time(Work::Memory);
        let mut limb = Self::uninit(pool, len);
        limb.fill(0);
        limb
    }

    /// Whether it does what [`Limb::wipe_on_drop`] says.
    pub(crate) fn wipes(&self) -> bool {
        self.wipe
    }

    /// Overwrites the words when the limb is dropped, before they are recycled.
    pub fn wipe_on_drop(&mut self) {
        self.wipe = true;
    }
}

impl Deref for Limb {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        self.block.as_deref().unwrap_or_default()
    }
}

impl DerefMut for Limb {
    fn deref_mut(&mut self) -> &mut [u64] {
        self.block.as_deref_mut().unwrap_or_default()
    }
}

impl Clone for Limb {
    fn clone(&self) -> Self {
        let _timer = self.pool.timings.time(Work::Memory);
        let mut copy = Self::uninit(&self.pool, self.len());
        copy.copy_from_slice(self);
        copy.wipe = self.wipe;
        copy
    }
}

impl Drop for Limb {
    fn drop(&mut self) {
        if let Some(mut block) = self.block.take() {
            if self.wipe {
                block.zeroize();
            }
            self.pool.give(block);
        }
    }
}

impl fmt::Debug for Limb {
    /// Names the length only: a limb may belong to a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limb({} words)", self.len())
    }
}

/// The residues of a polynomial, one limb a prime in the order of its basis. Limbs are shared
/// between copies and copied when one of them is written.
#[derive(Clone)]
pub struct Limbs(pub(crate) Vec<Arc<Limb>>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_recycled_and_wiped() {
        let pool = Arc::new(Pool::default());
        let mut limb = Limb::zero(&pool, 64);
        let before = pool.free.lock().unwrap().len();
        limb.fill(7);
        limb.wipe_on_drop();
        let copy = limb.clone();
        assert_eq!(copy[..], limb[..]);
        assert_eq!(limb.as_ptr().align_offset(64), 0);
        drop(limb);
        assert_eq!(pool.free.lock().unwrap().len(), before);
        assert!(pool.free.lock().unwrap().last().unwrap().iter().all(|&x| x == 0));
        assert!(Limb::uninit(&pool, 64).iter().all(|&x| x == 0));
        assert_eq!(copy[0], 7);
    }
}
