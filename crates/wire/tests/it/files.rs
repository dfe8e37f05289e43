//! Files: written in full or not at all, keys that stay in theirs.

use std::fs;
use std::path::PathBuf;

use crate::common::{Party, SETS};
use everlevel_bgv::Evaluator;
use everlevel_bgv::keys::EvalKeys;
use everlevel_scheme::{Arithmetic, Automorphisms, KeyPlan, NextUse, SchemeError};
use everlevel_wire::file::{Existing, NewFiles, read_file, write_file, write_secret_file};
use everlevel_wire::{FileKeys, Metadata, ReadOptions, WireError, generate_to_file, server_keys};
use tempfile::TempDir;

#[test]
fn files_are_written_in_one_step_and_not_over_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bin");
    write_file(&path, b"first", Existing::Keep).unwrap();
    assert_eq!(write_file(&path, b"second", Existing::Keep).unwrap_err().code(), "wire.exists");
    assert_eq!(*read_file(&path, 5).unwrap(), *b"first");
    write_file(&path, b"second", Existing::Replace).unwrap();
    assert_eq!(*read_file(&path, 6).unwrap(), *b"second");
    assert_eq!(read_file(&path, 5).unwrap_err().code(), "wire.limit");
    assert_eq!(read_file(&directory.path().join("none"), 5).unwrap_err().code(), "wire.io");
    assert_eq!(
        write_file(&directory.path().join("no/such"), b"", Existing::Keep).unwrap_err().code(),
        "wire.io"
    );
    // No temporary file is left behind.
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn several_files_are_all_written_before_one_has_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let names = || {
        let entries = fs::read_dir(directory.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let add = |names: &[&str], existing: Existing| {
        let mut files = NewFiles::default();
        let added = names.iter().try_for_each(|name| files.add(&path(name), b"new", existing));
        added.map(|()| files)
    };
    let read = |name: &str| fs::read(path(name)).unwrap();
    fs::write(path("a"), b"old").unwrap();
    fs::create_dir(path("c")).unwrap();
    // Not before the end.
    let files = add(&["a", "b"], Existing::Replace).unwrap();
    assert!(read("a") == b"old" && !path("b").exists());
    files.finish().unwrap();
    assert_eq!((read("a"), read("b")), (b"new".to_vec(), b"new".to_vec()));
    fs::write(path("a"), b"old").unwrap();
    // A directory that is not there, a directory in the place of a file, a file that is kept.
    let refused = [
        add(&["a", "no/b"], Existing::Replace).map(|_| ()).unwrap_err(),
        add(&["a", "c"], Existing::Replace).unwrap().finish().unwrap_err(),
        add(&["d", "a"], Existing::Keep).map(|_| ()).unwrap_err(),
    ];
    assert_eq!(refused.map(|e| e.code()), ["wire.io", "wire.io", "wire.exists"]);
    // One whose place was taken meanwhile.
    let files = add(&["d", "e"], Existing::Keep).unwrap();
    fs::write(path("e"), b"theirs").unwrap();
    assert_eq!(files.finish().unwrap_err().code(), "wire.exists");
    assert_eq!((read("a"), read("e")), (b"old".to_vec(), b"theirs".to_vec()));
    assert_eq!(names(), ["a", "b", "c", "e"]);
}

/// A process may have few files open, so those of a command are written some at a time.
#[test]
fn many_files_are_not_open_at_the_same_time() {
    let directory = tempfile::tempdir().unwrap();
    let there = || {
        let names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| !name.to_string_lossy().starts_with('.')).count()
    };
    let mut files = NewFiles::default();
    for i in 0..300 {
        let path = directory.path().join(format!("{i}"));
        files.add(&path, b"new", Existing::Keep).unwrap();
        assert!(i + 1 - there() <= 128, "{i}");
    }
    assert!(there() < 300);
    files.finish().unwrap();
    assert_eq!(there(), 300);
}

#[test]
fn keys_of_a_plan_for_another_set_are_refused_before_they_are_written() {
    let mut party = Party::new("insecure_bgv-257-n8", 6);
    let larger = crate::common::named("insecure_bgv-65537-n11");
    let plan = KeyPlan::relinearization_up_to(&larger, larger.chain().top());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.keys");
    let (keep, none) = (Existing::Keep, Metadata::new());
    let written =
        generate_to_file(&path, keep, &party.secret, &plan, &none, &mut party.rng, |_, _| {});
    assert_eq!(written.map(|_| ()).unwrap_err().code(), "scheme.wrong-params");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn secret_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret");
    // Also where it replaces a file that everybody may read.
    write_file(&path, b"public", Existing::Keep).unwrap();
    write_secret_file(&path, b"secret", Existing::Replace).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn keys_generated_into_a_file_are_those_of_memory() {
    for name in SETS {
        let (mut party, mut other) = (Party::new(name, 1), Party::new(name, 1));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let metadata = Metadata::from([("for".into(), "a test".into())]);
        let mut steps = Vec::new();
        let report = generate_to_file(
            &path,
            Existing::Keep,
            &other.secret,
            &other.plan,
            &metadata,
            &mut other.rng,
            |done, total| {
                steps.push((done, total));
            },
        )
        .unwrap();
        let total = party.plan.len() + party.plan.bootstrap as usize;
        assert_eq!(steps, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
        let keys = party.server_keys();
        assert!(
            fs::read(&path).unwrap() == server_keys::to_bytes(&keys, &metadata).unwrap(),
            "{name}"
        );

        let file = FileKeys::open(&party.params, &path, 1 << 22).unwrap();
        file.verify().unwrap();
        assert_eq!(
            (file.plan(), file.metadata(), file.size_report()),
            (party.plan.clone(), &metadata, report)
        );
        assert_eq!(file.cache_usage(), (0, 0), "nothing is read before it is used");
        let x = party.secret.encrypt(&party.message(7), &mut party.rng).unwrap();
        let g = party.plan.galois.keys().next().unwrap().0;
        let (memory, file) = (Evaluator::new(keys), Evaluator::new(file));
        for _ in 0..3 {
            let a = memory.apply_galois(&memory.mul(&x, &x, NextUse::Product).unwrap(), g).unwrap();
            let b = file.apply_galois(&file.mul(&x, &x, NextUse::Product).unwrap(), g).unwrap();
            assert_eq!((a.meta(), a.fingerprint()), (b.meta(), b.fingerprint()));
        }
        assert_eq!(file.keys().cache_usage().1, 2, "two keys are read once");
        let missing = everlevel_bgv::ServerKeys::empty(&party.params)
            .relin(party.params.chain().gadget_id(x.level()));
        assert!(missing.unwrap().is_none());
    }
}

/// Keys that keep their seeds take half of the memory, are written as the same bytes, and compute
/// the same bits. Over NTRU they have no seeds.
#[test]
fn seeded_keys_are_the_same_keys_in_half_of_the_memory() {
    for name in SETS {
        let mut party = Party::new(name, 6);
        let keys = party.server_keys();
        let bytes = server_keys::to_bytes(&keys, &Metadata::new()).unwrap();
        let options = ReadOptions::default().with_seeded_keys(true);
        let (seeded, _) = server_keys::from_bytes(&party.params, &bytes, &options).unwrap();
        let again = server_keys::to_bytes(&seeded, &Metadata::new()).unwrap();
        assert!(again == bytes, "{name}");
        let (whole, less) = (keys.memory_bytes(), seeded.memory_bytes());
        match party.params.components() {
            1 => assert_eq!(less, whole, "{name}"),
            _ => assert!(whole / 2 <= less && 10 * less < 6 * whole, "{name}: {less} of {whole}"),
        }

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        write_file(&path, &bytes, Existing::Keep).unwrap();
        let open = |seeded_keys| {
            let options = ReadOptions::default().with_seeded_keys(seeded_keys);
            let file = FileKeys::open_with(&party.params, &path, 1 << 24, &options).unwrap();
            Evaluator::new(file)
        };
        let files = [open(false), open(true)];
        let (memory, seeded) = (Evaluator::new(keys), Evaluator::new(seeded));
        let x = party.secret.encrypt(&party.message(7), &mut party.rng).unwrap();
        let g = party.plan.galois.keys().next().unwrap().0;
        let a = memory.apply_galois(&memory.mul(&x, &x, NextUse::Product).unwrap(), g).unwrap();
        let b = seeded.apply_galois(&seeded.mul(&x, &x, NextUse::Product).unwrap(), g).unwrap();
        assert_eq!((a.meta(), a.fingerprint()), (b.meta(), b.fingerprint()), "{name}");
        for file in &files {
            let b = file.apply_galois(&file.mul(&x, &x, NextUse::Product).unwrap(), g).unwrap();
            assert_eq!((a.meta(), a.fingerprint()), (b.meta(), b.fingerprint()), "{name}");
        }
        let [whole, less] = files.each_ref().map(|file| file.keys().cache_usage());
        assert_eq!(less.1, whole.1, "{name}");
        match party.params.components() {
            1 => assert_eq!(less.0, whole.0, "{name}"),
            _ => assert!(10 * less.0 < 6 * whole.0, "{name}: {less:?}, {whole:?}"),
        }
    }
}

#[test]
fn keys_that_are_read_ahead_are_read_once() {
    let mut party = Party::new("insecure_bgv-257-n8", 7);
    party.plan.bootstrap = false;
    let (_directory, path) = keys_file(&mut party);
    let count = (party.plan.relin.len() + party.plan.galois.len()) as u64;
    let file = FileKeys::open(&party.params, &path, 1 << 30).unwrap();
    for _ in 0..2 {
        file.preload(&party.plan).unwrap();
        assert_eq!(file.cache_usage().1, count);
    }
    for gadget in party.plan.relin.keys() {
        assert!(file.relin(*gadget).unwrap().is_some());
    }
    for (g, gadget) in party.plan.galois.keys() {
        assert!(file.galois(*g, *gadget).unwrap().is_some());
    }
    assert_eq!(file.cache_usage().1, count);
    // What the file lacks is no error, and what has no space is not read.
    let more = party.plan.clone();
    party.plan.galois.clear();
    let (_other, path) = keys_file(&mut party);
    let file = FileKeys::open(&party.params, &path, 1 << 30).unwrap();
    file.preload(&more).unwrap();
    assert_eq!(file.cache_usage().1, party.plan.relin.len() as u64);
    let file = FileKeys::open(&party.params, &path, 100).unwrap();
    file.preload(&more).unwrap();
    assert_eq!(file.cache_usage(), (0, 0));
    // Damage is.
    let mut damaged = fs::read(&path).unwrap();
    *damaged.last_mut().unwrap() ^= 0x10;
    fs::write(&path, damaged).unwrap();
    let file = FileKeys::open(&party.params, &path, 1 << 30).unwrap();
    assert!(matches!(file.preload(&more), Err(SchemeError::UnreadableKey { .. })));
}

/// The server keys of a party in a file, which is removed with the directory.
fn keys_file(party: &mut Party) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys");
    let (secret, plan, rng) = (&party.secret, &party.plan, &mut party.rng);
    generate_to_file(&path, Existing::Keep, secret, plan, &Metadata::new(), rng, |_, _| ())
        .unwrap();
    (directory, path)
}

#[test]
fn a_cache_without_room_changes_nothing_but_the_work() {
    let mut party = Party::new("insecure_bfv-257-n8", 2);
    let (_directory, path) = keys_file(&mut party);
    let file = FileKeys::open(&party.params, &path, 0).unwrap();
    let first = file.bootstrap().unwrap().unwrap().sparse()[0].fingerprint();
    assert_eq!(file.bootstrap().unwrap().unwrap().sparse()[0].fingerprint(), first);
    assert_eq!(file.cache_usage(), (0, 2));
}

#[test]
fn damage_is_found_when_a_key_is_used() {
    let mut party = Party::new("insecure_bgv-257-n8", 3);
    party.plan = KeyPlan::relinearization_up_to(&party.params, party.params.chain().top());
    let (_directory, path) = keys_file(&mut party);
    let good = fs::read(&path).unwrap();
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 0x10;
    fs::write(&path, &damaged).unwrap();
    let file = FileKeys::open(&party.params, &path, 1 << 24).unwrap();
    assert_eq!(file.verify().unwrap_err().code(), "wire.checksum");
    let last = *party.plan.relin.keys().last().unwrap();
    assert!(matches!(file.relin(last), Err(SchemeError::UnreadableKey { .. })));
    let first = *party.plan.relin.keys().next().unwrap();
    assert!(file.relin(first).unwrap().is_some(), "the others are there");
    // Cut while it is open.
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1000).unwrap();
    assert_eq!(file.verify().unwrap_err().code(), "wire.io");
    // Cut or damaged in the index before it is opened.
    let open = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        FileKeys::open(&party.params, &path, 0).map(|_| ()).unwrap_err().code()
    };
    assert_eq!(open(&good[..good.len() - 1]), "wire.truncated");
    assert_eq!(open(&[&good[..], b"more"].concat()), "wire.trailing");
    assert_eq!(open(&good[..20]), "wire.truncated");
    assert_eq!(open(b"{}"), "wire.not-ours");
    let mut index = good.clone();
    index[90] ^= 1;
    assert_eq!(open(&index), "wire.checksum");
    let wrong = FileKeys::open(&crate::common::named("insecure_bfv-257-n8"), &path, 0).map(|_| ());
    assert!(matches!(wrong, Err(WireError::Checksum { .. })));
}

#[test]
fn many_threads_share_one_file() {
    let mut party = Party::new("insecure_bgv-257-n8", 4);
    let (_directory, path) = keys_file(&mut party);
    // Room for about two keys, so that threads keep throwing out what others use.
    let file = FileKeys::open(&party.params, &path, 1 << 20).unwrap();
    let evaluator = Evaluator::new(file);
    let x = party.secret.encrypt(&party.message(7), &mut party.rng).unwrap();
    let g = party.plan.galois.keys().next().unwrap().0;
    let compute = || {
        let y = evaluator.mul(&x, &x, NextUse::Product).unwrap();
        evaluator
            .apply_galois(&evaluator.mul(&y, &y, NextUse::Keep).unwrap(), g)
            .unwrap()
            .fingerprint()
    };
    let expected = compute();
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..8).all(|_| compute() == expected))).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
    assert!(evaluator.keys().cache_usage().0 <= 1 << 20);
}
