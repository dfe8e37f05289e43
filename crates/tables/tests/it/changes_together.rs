//! Changes of a table in a directory that others change, move or call by another name.

use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use everlevel::files::Existing;
use everlevel_tables::{Change, EncryptedTable, TableKey, TablesError};

use crate::changes::changed;
use crate::roles::{PARTIES, encrypted, open, quiet, rows};

/// Of changes at the same time one is made, and the others are refused: none is lost.
#[test]
fn changes_at_the_same_time_are_not_lost() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, _) = encrypted(&directory, 20);
    let change = Change::parse("update shop set paid = true where count = 0", &schema).unwrap();
    for round in 0..8 {
        let tables = [(); 4].map(|()| open(&directory).unwrap());
        // All of them have written what they change before the first one takes its place.
        let together = Barrier::new(tables.len());
        let made_of = |table: &EncryptedTable| {
            let mut rng = everlevel::system_rng().unwrap();
            let wait = |_, _| -> Result<(), TablesError> {
                together.wait();
                Ok(())
            };
            let made = table.changed(PARTIES.client.secret(), &change, &mut rng, wait);
            made.ok().map(|(after, _)| after.id())
        };
        let made: Vec<_> = std::thread::scope(|scope| {
            let made_of = &made_of;
            let runs = tables.each_ref().map(|table| scope.spawn(move || made_of(table)));
            runs.into_iter().filter_map(|run| run.join().unwrap()).collect()
        });
        assert_eq!(made, [open(&directory).unwrap().id()], "round {round}");
    }
}

/// A change that has its place is made, whatever others do with the directory at once.
#[test]
fn a_change_that_is_overtaken_is_told_as_made() {
    let temporary = tempfile::tempdir().unwrap();
    let (directory, moved) = (temporary.path().join("shop"), temporary.path().join("moved"));
    let (schema, _) = encrypted(&directory, 20);
    let table = open(&directory).unwrap();
    let change = Change::parse("update shop set paid = true where count = 0", &schema).unwrap();
    // There is a listing from the moment on at which the change has its place.
    let (listing, ended) = (directory.join("files.json"), AtomicBool::new(false));
    let made = std::thread::scope(|scope| {
        let overtaking = scope.spawn(|| {
            while !listing.exists() && !ended.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            fs::rename(&directory, &moved).unwrap();
        });
        let made = changed(&table, &change);
        ended.store(true, Ordering::Relaxed);
        overtaking.join().unwrap();
        made
    });
    let (after, changes) = made.unwrap();
    assert_eq!((changes.rows, after.rows()), (3, 20));
    assert_eq!(open(&moved).unwrap().id(), after.id());
}

/// A table by another name is the same table.
#[test]
fn links_lead_to_the_table() {
    let temporary = tempfile::tempdir().unwrap();
    let (directory, link) = (temporary.path().join("shop"), temporary.path().join("link"));
    let (schema, _) = encrypted(&directory, 20);
    std::os::unix::fs::symlink("shop", &link).unwrap();
    let change = Change::parse("delete from shop where count = 500", &schema).unwrap();
    let (after, _) = changed(&open(&link).unwrap(), &change).unwrap();
    assert!(link.is_symlink());
    assert_eq!(open(&directory).unwrap().id(), after.id());
    let key = TableKey::Secret(PARTIES.client.secret());
    let (input, mut rng) = (rows(9), everlevel::system_rng().unwrap());
    let input = (&input.0, &input.1);
    EncryptedTable::create(&link, Existing::Replace, key, input, &mut rng, quiet).unwrap();
    assert!(link.is_symlink());
    assert_eq!(open(&directory).unwrap().rows(), 9);
}
