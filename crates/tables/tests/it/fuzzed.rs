//! Statements from somebody else: those that fuzzing begins with, and random changes to them.

#[allow(dead_code, reason = "nothing is written here")]
#[path = "../../../../fuzz/src/corpus.rs"]
mod corpus;
#[path = "../../../../fuzz/src/tables.rs"]
mod fuzz;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const LETTERS: &[u8] = b" ;()*+-/=<>,'0129.e:_%\"\0";

#[test]
fn the_corpus_passes() {
    let all = corpus::read("tables");
    let read = all.iter().filter(|(_, text)| fuzz::tables(text)).count();
    assert!(all.len() >= 30 && read * 10 > all.len() * 6, "{read} of {} are statements", all.len());
    assert!(fuzz::tables(b"select count(*) from t") && fuzz::tables(b"delete from t where paid"));
    assert!(!fuzz::tables(b"select count(*) fro t") && !fuzz::tables(b"delete from t where"));
}

#[test]
fn random_changes_pass() {
    let all = corpus::read("tables");
    let mut rng = ChaCha20Rng::seed_from_u64(42);
    let (mut changed, mut read) = (0, 0);
    for (_, text) in &all {
        for _ in 0..60 {
            let mut text = text.clone();
            for _ in 0..=rng.next_u32() % 3 {
                let at = rng.next_u32() as usize % (text.len() + 1);
                let other = &all[rng.next_u32() as usize % all.len()].1;
                let from = rng.next_u32() as usize % other.len();
                let to = (from + 12).min(other.len());
                match rng.next_u32() % 5 {
                    0 => text.truncate(at),
                    1 => drop(text.splice(at..at, other[from..to].iter().copied())),
                    2 => drop(text.splice(at..(at + 3).min(text.len()), [])),
                    3 => drop(text.splice(at..(at + 12).min(text.len()), other[from..to].to_vec())),
                    _ => text.insert(at, LETTERS[rng.next_u32() as usize % LETTERS.len()]),
                }
            }
            changed += 1;
            read += usize::from(fuzz::tables(&text));
        }
    }
    assert!(read * 50 > changed, "{read} of {changed} changed statements were read");
}
