//! What runs leave that end while they write, and what the next one does with it.

use std::fs::{self, File};
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use everlevel_wire::file::{Existing, write_file, write_secret_file};
use everlevel_wire::{FileSet, Outcome, Recovered, on_recovery};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn set(directory: &Path) -> FileSet {
    FileSet::new(directory, "all", NAMES)
}

/// The same text in files of all names.
fn fill(directory: &Path, text: &str) {
    fs::create_dir_all(directory).unwrap();
    NAMES.iter().for_each(|name| fs::write(directory.join(name), text).unwrap());
}

/// What is in the files, all of which have to have it; and that there is nothing else.
fn content(directory: &Path) -> String {
    let texts = NAMES.map(|name| fs::read_to_string(directory.join(name)).unwrap());
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    assert_eq!(names(directory), NAMES);
    texts[0].clone()
}

fn names(directory: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names.into_iter().map(|name| name.into_string().unwrap()).collect()
}

fn outcomes(found: Vec<Recovered>) -> Vec<Outcome> {
    found.into_iter().map(|found| found.outcome).collect()
}

/// Stopped after any number of its steps, with old files and without, the swap is finished.
#[test]
fn a_swap_that_was_interrupted_is_finished() {
    for (stop, with_old) in (0..=8).flat_map(|stop| [(stop, false), (stop, true)]) {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let pending = directory.join(".all.3.part");
        let (new, old) = (pending.join("new"), pending.join("old"));
        if with_old {
            fill(directory, "old");
        }
        fill(&new, "new");
        fs::create_dir(&old).unwrap();
        fs::write(pending.join("lock"), "").unwrap();
        for step in 0..stop {
            let name = NAMES[step / 2];
            if step % 2 == 1 {
                fs::rename(new.join(name), directory.join(name)).unwrap();
            } else if with_old {
                fs::rename(directory.join(name), old.join(name)).unwrap();
            }
        }
        let found = set(directory).recover().unwrap();
        match stop {
            8 if with_old => assert_eq!(outcomes(found), [Outcome::Removed { bytes: 12 }]),
            8 => assert!(found.is_empty(), "only empty folders were left"),
            _ => {
                assert_eq!(outcomes(found), [Outcome::Finished], "after {stop} steps");
            }
        }
        assert_eq!(content(directory), "new", "after {stop} steps");
        assert!(set(directory).recover().unwrap().is_empty());
    }
}

/// The same for a directory in the place of a file, by names that are also those of the parts.
#[test]
fn directories_are_replaced_too() {
    for (name, stop) in ["table", "old", "new", "lock"].into_iter().flat_map(|n| [(n, 0), (n, 1)]) {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path();
        let set = FileSet::new(directory, name, [name]);
        fill(&directory.join(name), "old");
        let pending = set.begin().unwrap();
        fill(&pending.path().join(name), "new");
        pending.finish(Existing::Replace).unwrap();
        assert_eq!(content(&directory.join(name)), "new");
        assert_eq!(names(directory), [name]);

        let pending = directory.join(format!(".{name}.0.part"));
        fill(&pending.join("new").join(name), "newer");
        fs::create_dir(pending.join("old")).unwrap();
        if stop == 1 {
            fs::rename(directory.join(name), pending.join("old").join(name)).unwrap();
        }
        let found = set.recover().unwrap();
        assert_eq!(found[0].path, directory.join(name));
        assert_eq!(outcomes(found), [Outcome::Finished]);
        assert_eq!(content(&directory.join(name)), "newer");
        assert_eq!(names(directory), [name]);
    }
}

/// A run that was to keep what is there, stopped after it has put `placed` files in place.
fn stopped_while_keeping(directory: &Path, placed: usize) {
    let pending = directory.join(".all.3.part");
    let new = pending.join("new");
    fill(&new, "new");
    fs::create_dir(pending.join("old")).unwrap();
    for name in ["lock", "keep"] {
        fs::write(pending.join(name), "").unwrap();
    }
    for name in &NAMES[..placed] {
        fs::rename(new.join(name), directory.join(name)).unwrap();
    }
}

#[test]
fn a_run_that_was_to_keep_what_is_there_replaces_nothing_afterwards() {
    for placed in 0..4 {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path();
        stopped_while_keeping(directory, placed);
        assert_eq!(outcomes(set(directory).recover().unwrap()), [Outcome::Finished]);
        assert_eq!(content(directory), "new", "after {placed} files");
    }

    // Another run was quicker.
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    stopped_while_keeping(directory, 0);
    fill(directory, "others");
    assert_eq!(outcomes(set(directory).recover().unwrap()), [Outcome::Removed { bytes: 12 }]);
    assert_eq!(content(directory), "others");

    // Whose the first two are cannot be told.
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    stopped_while_keeping(directory, 2);
    fs::write(directory.join("c"), "others").unwrap();
    let refused = set(directory).recover().unwrap_err();
    assert_eq!(refused.code(), "wire.interrupted");
    assert!(refused.to_string().contains(".all.3.part"), "{refused}");
    assert_eq!(fs::read_to_string(directory.join("c")).unwrap(), "others");
    fs::remove_file(directory.join("c")).unwrap();
    assert_eq!(outcomes(set(directory).recover().unwrap()), [Outcome::Finished]);
    assert_eq!(content(directory), "new");
}

/// A run ends halfway while another one is about to put the same files in place.
#[cfg(unix)]
#[test]
fn files_of_two_runs_are_not_mixed() {
    for existing in [Existing::Keep, Existing::Replace] {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path();
        let pending = set(directory).begin().unwrap();
        fill(pending.path(), "second");
        let first = directory.join(".all.3.part");
        fill(&first.join("new"), "first");
        fs::create_dir(first.join("old")).unwrap();
        fs::write(first.join("lock"), "").unwrap();
        fs::rename(first.join("new").join("a"), directory.join("a")).unwrap();
        let finished = pending.finish(existing);
        let expected = match existing {
            Existing::Keep => {
                assert_eq!(finished.unwrap_err().code(), "wire.exists");
                "first"
            }
            Existing::Replace => {
                finished.unwrap();
                "second"
            }
        };
        assert_eq!(content(directory), expected);
        assert!(set(directory).recover().unwrap().is_empty());
    }
}

#[test]
fn files_that_were_not_complete_are_removed_and_others_left() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    fill(directory, "old");
    let [dead, unlocked, live] = [1, 2, 5].map(|n| directory.join(format!(".all.{n}.part")));
    for path in [&dead, &unlocked, &live] {
        fill(&path.join("new"), "half");
    }
    fs::write(dead.join("lock"), "").unwrap();
    let lock = File::create(live.join("lock")).unwrap();
    lock.lock().unwrap();
    // Not of these files, and not of any run.
    fs::create_dir(directory.join(".all.mine.part")).unwrap();
    fs::write(directory.join(".all.0.part"), "mine").unwrap();
    let found = set(directory).recover().unwrap();
    assert_eq!(found.iter().map(|f| &*f.path).collect::<Vec<_>>(), [directory; 2]);
    assert_eq!(outcomes(found), [Outcome::Removed { bytes: 16 }; 2]);
    assert_eq!(
        names(directory),
        [".all.0.part", ".all.5.part", ".all.mine.part", "a", "b", "c", "d"]
    );
    drop(lock);
    assert_eq!(set(directory).recover().unwrap().len(), 1, "its process has ended");
}

/// A rename that the system refuses, at each of the four places.
#[test]
fn a_swap_that_fails_puts_the_old_files_back() {
    for broken in NAMES {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path();
        fill(directory, "old");
        let pending = set(directory).begin().unwrap();
        fill(pending.path(), "new");
        fs::remove_file(pending.path().join(broken)).unwrap();
        assert_eq!(pending.finish(Existing::Replace).unwrap_err().code(), "wire.io");
        assert_eq!(content(directory), "old", "without {broken}");

        let pending = set(directory).begin().unwrap();
        fill(pending.path(), "new");
        fs::remove_file(directory.join("a")).unwrap();
        assert_eq!(pending.finish(Existing::Keep).unwrap_err().code(), "wire.exists");
        assert_eq!(names(directory), &NAMES[1..]);
    }
}

/// A swap that cannot be finished is an error, and stays to be finished.
#[test]
fn what_cannot_be_finished_is_an_error() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    fill(directory, "old");
    let pending = directory.join(".all.0.part");
    fill(&pending.join("new"), "new");
    fill(&pending.join("old"), "old");
    fs::remove_file(directory.join("c")).unwrap();
    fs::create_dir(directory.join("c")).unwrap();
    let refused = set(directory).recover().unwrap_err();
    assert_eq!(refused.code(), "wire.interrupted");
    assert!(refused.to_string().contains(&*directory.to_string_lossy()), "{refused}");
    fs::remove_dir(directory.join("c")).unwrap();
    assert_eq!(outcomes(set(directory).recover().unwrap()), [Outcome::Finished]);
    assert_eq!(content(directory), "new");
}

/// In a directory that can only be read, what is in nobody's way stays, and what is not finished is
/// an error.
#[cfg(unix)]
#[test]
fn directories_that_are_only_read() {
    use std::os::unix::fs::PermissionsExt;
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    fill(directory, "old");
    let pending = directory.join(".all.0.part");
    fill(&pending.join("new"), "half");
    let mode = |mode| {
        for path in [directory.into(), pending.clone(), pending.join("new"), pending.join("old")] {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
        }
    };
    mode(0o555);
    if File::create(directory.join("probe")).is_ok() {
        // Root may do everything.
        return mode(0o755);
    }
    assert!(set(directory).recover().unwrap().is_empty());
    mode(0o755);
    fs::create_dir(pending.join("old")).unwrap();
    mode(0o555);
    assert_eq!(set(directory).recover().unwrap_err().code(), "wire.interrupted");
    // Nothing but the old ones are left to be removed.
    mode(0o755);
    for name in NAMES {
        fs::rename(pending.join("new").join(name), directory.join(name)).unwrap();
    }
    mode(0o555);
    assert!(set(directory).recover().unwrap().is_empty());
    mode(0o755);
    assert_eq!(outcomes(set(directory).recover().unwrap()), []);
    assert_eq!(content(directory), "half");
}

/// Everything that was told in this process.
static TOLD: LazyLock<Mutex<Vec<Recovered>>> = LazyLock::new(|| {
    on_recovery(|found| TOLD.lock().unwrap().push(found.clone()));
    Mutex::default()
});

#[test]
fn leftovers_of_a_file_are_removed_when_it_is_written_and_told() {
    drop(TOLD.lock().unwrap());
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    let path = directory.join("x.keys");
    let part = |name: &str, number: usize| directory.join(format!(".{name}.{number}.part"));
    for number in [0, 7, 15] {
        fs::write(part("x.keys", number), "half").unwrap();
    }
    // Of a run that still works; of another file; of another name; no file.
    let live = File::create(part("x.keys", 3)).unwrap();
    live.lock().unwrap();
    fs::write(part("x.keys.more", 0), "half").unwrap();
    fs::write(part("x.keys", 16), "mine").unwrap();
    fs::create_dir(part("x.keys", 1)).unwrap();
    write_secret_file(&path, b"whole", Existing::Keep).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    let left =
        [".x.keys.1.part", ".x.keys.16.part", ".x.keys.3.part", ".x.keys.more.0.part", "x.keys"];
    assert_eq!(names(directory), left);
    let told: Vec<Recovered> =
        TOLD.lock().unwrap().iter().filter(|found| found.path == path).cloned().collect();
    assert_eq!(outcomes(told.clone()), [Outcome::Removed { bytes: 4 }; 3]);
    assert!(told[0].to_string().contains("x.keys: removed 4 bytes that an interrupted run"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    // With all names taken.
    let others: Vec<File> = (0..16)
        .filter(|number| ![1, 3].contains(number))
        .map(|number| File::create(part("x.keys", number)).unwrap())
        .collect();
    others.iter().for_each(|file| file.lock().unwrap());
    let refused = write_file(&path, b"more", Existing::Replace).unwrap_err();
    assert!(refused.code() == "wire.exists" && refused.to_string().contains(".x.keys.0.part"));
    drop(others);
    write_file(&path, b"more", Existing::Replace).unwrap();
    assert_eq!(names(directory), left);
}

/// Writers of one file disturb neither each other nor what the others have under construction.
#[test]
fn many_write_the_same_file() {
    let temporary = tempfile::tempdir().unwrap();
    let (directory, path) = (temporary.path(), temporary.path().join("x"));
    std::thread::scope(|threads| {
        for writer in 0..8u8 {
            let path = &path;
            threads.spawn(move || {
                for _ in 0..50 {
                    write_file(path, &[writer; 1000], Existing::Replace).unwrap();
                    let read = fs::read(path).unwrap();
                    assert!(read.len() == 1000 && read.iter().all(|byte| *byte == read[0]));
                }
            });
        }
    });
    assert_eq!(names(directory), ["x"]);
    std::thread::scope(|threads| {
        let writers: Vec<_> = (0..8u8)
            .map(|writer| {
                let path = directory.join("once");
                threads.spawn(move || write_file(&path, &[writer], Existing::Keep).is_ok())
            })
            .collect();
        let won = writers.into_iter().map(|writer| writer.join().unwrap());
        assert_eq!(won.filter(|won| *won).count(), 1);
    });
    assert_eq!(names(directory), ["once", "x"]);
}

/// The same for sets of files, where directories can be locked.
#[cfg(unix)]
#[test]
fn many_replace_the_same_files() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    fill(directory, "first");
    std::thread::scope(|threads| {
        for writer in 0..4 {
            threads.spawn(move || {
                for _ in 0..20 {
                    assert!(set(directory).recover().is_ok());
                    let pending = set(directory).begin().unwrap();
                    fill(pending.path(), &format!("by {writer}"));
                    pending.finish(Existing::Replace).unwrap();
                }
            });
        }
    });
    assert!(set(directory).recover().unwrap().is_empty());
    assert!(content(directory).starts_with("by "));
}
