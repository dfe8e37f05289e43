//! Keys of an interrupted run are of one generation once one of them is opened.

use std::fs;
use std::path::Path;

use everlevel::files::{
    Existing, KeyFiles, OpenOptions, Outcome, Recovered, open_public_key, params_to_bytes,
};
use everlevel::{Client, KeyId, Keys, OptIn, Params, Server, program_keys};
use everlevel_circuit::expression::Program;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const NAMES: [&str; 4] = ["params.json", "public.key", "secret.key", "server.keys"];

fn outcomes(found: &[Recovered]) -> Vec<Outcome> {
    found.iter().map(|found| found.outcome).collect()
}

/// The keys of two owners in one directory, as a run leaves them that ended while it replaced the
/// first by the second, after the server keys.
fn interrupted(directory: &Path, owners: [&Client; 2]) {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let params = owners[0].params();
    let plan = program_keys(params, &Program::parse("y = x*x").unwrap()).unwrap();
    let part = directory.join(".keys.0.part");
    let places = [directory.to_path_buf(), part.join("new")];
    for (owner, place) in owners.into_iter().zip(&places) {
        let written = owner.save(place, &plan, Existing::Keep, &mut rng).unwrap();
        assert_eq!((written.files.len(), written.recovered), (4, vec![]));
    }
    fs::create_dir(part.join("old")).unwrap();
    fs::rename(directory.join("server.keys"), part.join("old/server.keys")).unwrap();
    fs::rename(part.join("new/server.keys"), directory.join("server.keys")).unwrap();
}

#[test]
fn keys_are_of_one_generation_when_one_is_opened() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let [old, new] = [(); 2].map(|()| Client::new(&params, &mut rng));
    let options = OpenOptions::default().accepting(OptIn::InsecureResearch);
    let server = |path: &Path| Server::open(path, &options).unwrap().keys().owner();
    let keys = |path: &Path| Keys::open(&params, path, 0).unwrap().owner();
    let secret = |path: &Path| Some(Client::open(path, &options).unwrap().secret().id());
    let public = |path: &Path| open_public_key(path, &options).unwrap().owner();
    type Opened<'a> = &'a dyn Fn(&Path) -> Option<KeyId>;
    let opened: [(&str, Opened); 4] = [
        ("server.keys", &server),
        ("server.keys", &keys),
        ("secret.key", &secret),
        ("public.key", &public),
    ];
    for (name, open) in opened {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path();
        interrupted(directory, [&old, &new]);
        assert_eq!(open(&directory.join(name)), Some(new.secret().id()), "{name}");
        let mut names: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, NAMES);
        assert!(KeyFiles::recover(directory).unwrap().is_empty());
        for (name, open) in opened {
            assert_eq!(open(&directory.join(name)), Some(new.secret().id()), "{name}");
        }
    }

    // Who makes keys is told by what is returned, too.
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    interrupted(directory, [&old, &new]);
    fs::write(directory.join(".public.key.4.part"), "half").unwrap();
    let plan = program_keys(&params, &Program::parse("y = x*x").unwrap()).unwrap();
    let written = old.save(directory, &plan, Existing::Replace, &mut rng).unwrap();
    assert_eq!(outcomes(&written.recovered), [Outcome::Finished, Outcome::Removed { bytes: 4 }]);
    assert_eq!(public(&directory.join("public.key")), Some(old.secret().id()));

    // What cannot be finished is an error, whichever key is opened.
    interrupted(&directory.join("more"), [&old, &new]);
    let blocked = directory.join("more/public.key");
    fs::remove_file(&blocked).unwrap();
    fs::create_dir(&blocked).unwrap();
    fs::write(blocked.join("file"), params_to_bytes(&params).unwrap()).unwrap();
    fs::create_dir_all(directory.join("more/.keys.0.part/old/public.key/x")).unwrap();
    for (name, code) in [("secret.key", "wire.interrupted"), ("server.keys", "wire.interrupted")] {
        let refused = Client::open(&directory.join("more").join(name), &options).err().unwrap();
        assert_eq!(refused.code(), code);
    }
}
