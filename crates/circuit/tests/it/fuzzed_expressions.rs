//! Programs from somebody else: what fuzzing kept, and random changes to it.

#[allow(dead_code, reason = "nothing is written here")]
#[path = "../../../../fuzz/src/corpus.rs"]
mod corpus;
#[path = "../../../../fuzz/src/expression.rs"]
mod fuzz;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

#[test]
fn the_corpus_passes() {
    // `seed-` are those that fuzzing began with, the others what it found.
    let all = corpus::read("expression");
    assert!(all.len() > 20);
    let whole = all.iter().filter(|(_, text)| fuzz::expression(text)).count();
    assert!(whole > 5, "{whole} programs ran to their end");
    let (_, swapped) = all.iter().find(|(name, _)| name == "seed-swap").unwrap();
    assert!(
        fuzz::expression(b"y = x*x - 3")
            && !fuzz::expression(b"y = x*")
            && !fuzz::expression(&swapped[..swapped.len() - 1])
    );
}

#[test]
fn random_changes_pass() {
    let all = corpus::read("expression");
    let mut rng = ChaCha20Rng::seed_from_u64(23);
    let (mut changed, mut whole) = (0, 0);
    for (_, text) in &all {
        for _ in 0..20 {
            let mut text = text.clone();
            for _ in 0..=rng.next_u32() % 3 {
                let at = rng.next_u32() as usize % (text.len() + 1);
                let other = &all[rng.next_u32() as usize % all.len()].1;
                match rng.next_u32() % 4 {
                    0 => text.truncate(at),
                    1 => drop(text.splice(at..at, other.iter().copied().take(30))),
                    2 => drop(text.splice(at..(at + 3).min(text.len()), [])),
                    _ => text.insert(at, b" ;()^*+-=,0123xyz_#"[rng.next_u32() as usize % 19]),
                }
            }
            changed += 1;
            whole += usize::from(fuzz::expression(&text));
        }
    }
    assert!(whole * 20 > changed, "{whole} of {changed} changed programs ran to their end");
}
