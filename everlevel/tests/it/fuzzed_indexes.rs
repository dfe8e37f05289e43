//! Columns with an index from somebody else: those that fuzzing begins with, and random changes to
//! them.

#[path = "../../../fuzz/src/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/src/indexes.rs"]
mod fuzz;

use everlevel::files::{BoundPolicy, Metadata, ReadOptions};
use everlevel_wire::columns::{self, INDEXES, StoredColumn};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

#[test]
#[ignore = "writes the stored columns that fuzzing begins with"]
fn write_seeds() {
    corpus::write("indexes", &fuzz::seeds().unwrap());
}

/// The seeds, and what fuzzing added to them.

#[test]
fn the_corpus_passes() {
    let stored = corpus::read("indexes");
    for seed in fuzz::seeds().unwrap() {
        let (name, bytes) = &seed;
        assert!(stored.contains(&seed), "{name} is not what is encrypted: run write_seeds");
        assert!(fuzz::indexes(bytes), "{name}");
        assert!(!fuzz::indexes(&bytes[..bytes.len() - 1]), "{name}");
    }
    for (_, bytes) in &stored {
        fuzz::indexes(bytes);
    }
}

#[test]
fn random_changes_pass() {
    let mut rng = ChaCha20Rng::seed_from_u64(44);
    let (mut changed, mut joined) = (0, 0);
    for (_, bytes) in fuzz::seeds().unwrap() {
        let options = ReadOptions::with_bounds(BoundPolicy::Stated);
        let (columns, metadata) = columns::from_bytes(fuzz::params(), &bytes, &options).unwrap();
        for _ in 0..100 {
            let (mut columns, mut metadata) = (columns.clone(), metadata.clone());
            for _ in 0..=rng.next_u32() % 3 {
                change(&mut columns, &mut metadata, &mut rng);
            }
            // Two columns with one name, for example, are not written.
            let Ok(bytes) = columns::to_bytes(fuzz::params(), &columns, &metadata) else {
                continue;
            };
            changed += 1;
            joined += usize::from(fuzz::indexes(&bytes));
        }
    }
    assert!(0 < joined && joined < changed, "{joined} of {changed} have an index that decides");
}

/// Changes what a file says of its columns, or which of them there are.
fn change(columns: &mut Vec<StoredColumn>, metadata: &mut Metadata, rng: &mut ChaCha20Rng) {
    let mut below = |n: usize| rng.next_u32() as usize % n;
    if columns.len() < 2 {
        return;
    }
    let (i, j, by) = (below(columns.len()), below(columns.len()), below(5) as i64 - 2);
    match below(10) {
        0 => drop(columns.remove(i)),
        1 => columns.swap(i, j),
        2 => {
            let name = columns.remove(j).name;
            let last = columns.len() - 1;
            columns[i.min(last)].name = name;
        }
        3 => columns[i].length = Some(1 + below(16) as u64),
        4 => columns[i].low += i128::from(by),
        5 => columns[i].high += i128::from(by),
        6 => columns[i].digits = columns[j].digits.clone(),
        7 | 8 => {
            let (high, pad) = (below(2) == 0, below(2) == 0);
            if let Some(digit) = columns[i].digits.first_mut() {
                digit.low += by;
                digit.high += if high { by } else { 0 };
                digit.pad += if pad { by } else { 0 };
            }
        }
        _ => {
            let names = [&columns[i].name, &columns[j].name];
            let stated = serde_json::Value::from(names.map(|name| name.as_str()).to_vec());
            metadata.insert(INDEXES.into(), stated.to_string());
        }
    }
}
