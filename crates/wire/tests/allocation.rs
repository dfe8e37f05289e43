//! Lengths that lie: nothing is allocated for what is not there.

#[path = "../../../fuzz/src/objects/sealed.rs"]
mod fuzz;

use everlevel_scheme::{OptIn, Params};
use everlevel_wire::{ReadOptions, ciphertexts, inspect};

/// Allocations above the limit that is set below are refused, which ends the test. The only test of
/// its process, so that nobody else allocates.
#[global_allocator]
static HEAP: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

#[test]
fn lengths_that_lie_allocate_nothing() {
    let set = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let bytes = include_bytes!("golden/v2/insecure_bgv-257-n8.ciphertexts");
    let options = ReadOptions::default();
    ciphertexts::from_bytes(&set, bytes, &options).unwrap();
    // Every place of header and index, to the largest values that a field there can hold.
    let index = 64 + u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
    HEAP.set_limit(HEAP.allocated() + (1 << 20)).unwrap();
    for at in 32..index - 8 {
        for value in [u64::MAX, u64::MAX >> 1, 1 << 40, u64::from(u32::MAX)] {
            let mut lie = bytes.to_vec();
            lie[at..at + 8].copy_from_slice(&value.to_le_bytes());
            let sealed = fuzz::resealed(&lie).unwrap_or(lie);
            let _ = inspect(&sealed, &options);
            let _ = ciphertexts::from_bytes(&set, &sealed, &options);
        }
    }
    HEAP.set_limit(usize::MAX).unwrap();
}
