//! The memory that the ciphertexts of a no-op scheme would take in the real one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use everlevel_ring::Basis;

use crate::params::Params;
use crate::spec::Level;

/// The bytes of what is there, and the most that there were.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) live: AtomicU64,
    pub(super) peak: AtomicU64,
}

/// The memory of one ciphertext: taken when this is made, and given back when the last owner drops
/// it. Clones of a ciphertext share it, as those of the real scheme share their residues.
#[derive(Debug)]
pub(super) struct Held {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Held {
    pub(super) fn new(memory: &Arc<Memory>, bytes: u64) -> Arc<Self> {
        let live = memory.live.fetch_add(bytes, Relaxed) + bytes;
        memory.peak.fetch_max(live, Relaxed);
        Arc::new(Held { memory: memory.clone(), bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.live.fetch_sub(self.bytes, Relaxed);
    }
}

/// The bytes of polynomials over a basis, with a word for each residue.
pub(super) fn bytes_of(params: &Params, polynomials: usize, basis: Basis) -> u64 {
    (polynomials * basis.len() * params.degree() * size_of::<u64>()) as u64
}

/// The memory in bytes of a ciphertext at a level, with a word for each residue: more than in a
/// file, where residues are packed.
pub fn memory_of_ciphertext(params: &Params, level: Level) -> u64 {
    bytes_of(params, params.components(), params.chain().basis(level))
}
