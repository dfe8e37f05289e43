//! Bytes from somebody else: what fuzzing kept, and random changes with checksums that match. Every
//! flipped byte and every cut is in [`crate::wire`].

#[path = "../../../../fuzz/src/changes.rs"]
mod changes;
#[path = "../../../../fuzz/src/corpus.rs"]
mod corpus;
#[path = "../../../../fuzz/src/ltv.rs"]
mod fuzz;

use changes::changed;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// How many objects the bytes were.
fn fuzz_all(bytes: &[u8]) -> usize {
    fuzz::compute(bytes);
    fuzz::conform(bytes)
}

#[test]
#[ignore = "writes the stored objects that fuzzing begins with"]
fn write_seeds() {
    corpus::write("ltv", &fuzz::seeds().unwrap());
}

#[test]
fn fuzz_targets_pass_the_corpus() {
    let seeds = corpus::read("ltv");
    let mut written = fuzz::seeds().unwrap();
    written.sort();
    assert!(seeds == written, "the seeds are not what the format writes: run write_seeds");
    assert!(seeds.iter().all(|(name, bytes)| fuzz_all(bytes) > 0 || panic!("{name} is not read")));
    // Inputs of all targets that reached code which no other did, most of them of other schemes.
    let kept = ["objects", "found"].map(corpus::read).concat();
    let read = kept.iter().filter(|(_, bytes)| fuzz_all(bytes) > 0).count();
    assert!(read > 3, "{read} of {} inputs are objects", kept.len());
}

/// The objects with their checksums computed anew are the same: what changes are sealed with is
/// right.
#[test]
fn sealing_is_right() {
    for (name, bytes) in fuzz::seeds().unwrap() {
        let mut damaged = bytes.clone();
        damaged[50] ^= 1;
        assert!(fuzz::resealed(&bytes).unwrap() == bytes, "{name}");
        assert!(fuzz::resealed(&damaged).unwrap() == bytes, "{name}");
    }
}

#[test]
fn fuzz_targets_pass_random_changes() {
    random_changes(17, 40);
}

#[test]
#[ignore = "many more random changes: minutes"]
fn fuzz_targets_pass_many_random_changes() {
    random_changes(18, 8000);
}

fn random_changes(seed: u64, rounds: usize) {
    let seeds = fuzz::seeds().unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut accepted = 0;
    for round in 0..rounds {
        for (name, bytes) in &seeds {
            let mutant = changed(bytes, &mut rng);
            let outcome = std::panic::catch_unwind(|| fuzz_all(&mutant));
            accepted +=
                outcome.unwrap_or_else(|_| panic!("{name}, round {round}: {mutant:?}")).min(1);
        }
    }
    // Changes of records that checksums do not give away are objects, too.
    assert!(accepted * 20 > rounds * seeds.len(), "{accepted} mutants were read");
}
