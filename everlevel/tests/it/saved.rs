//! A server is one file, or its bytes: keys, parameters, and how it bootstraps.

use everlevel::files::{Existing, KeyFiles, Metadata, OpenOptions};
use everlevel::{
    BootstrapMode, Client, KeyPlanner, OptIn, Params, Server, ServerKeys, Value, bootstrap_plan,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

fn research() -> OpenOptions {
    OpenOptions::default().accepting(OptIn::InsecureResearch)
}

/// Slots with whole elements of GR(127^2, 4), which only the full mode keeps; the set's own mode
/// would lose them without notice.
#[test]
fn a_server_bootstraps_as_the_one_that_was_saved() {
    let params = Params::named("insecure_bfv-127e2-n8", OptIn::InsecureResearch).unwrap();
    assert_ne!(bootstrap_plan(&params).unwrap().mode, BootstrapMode::Full);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let client = Client::new(&params, &mut rng);
    let plan = bootstrap_plan(&params).unwrap().in_mode(BootstrapMode::Full);
    let planner = KeyPlanner::with_plan(&params, plan.clone()).unwrap();
    let server = client.server_for(&planner.keys(), &plan, &mut rng, |_, _| ()).unwrap();

    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    server.save(&at("server"), Existing::Keep).unwrap();
    assert!(server.save(&at("server"), Existing::Keep).is_err(), "it is there");
    let keys = at("keys");
    KeyFiles::in_directory(&keys)
        .bootstrapping_by(&plan)
        .write::<everlevel::Error>(
            client.secret(),
            &planner.keys(),
            Existing::Keep,
            &mut rng,
            |_, _| Ok(()),
        )
        .unwrap();

    let elements: Vec<u64> = (0..params.degree() as u64).collect();
    let x = client.encrypt_elements(&elements, &mut rng).unwrap();
    let opened = [
        Server::open(&at("server"), &research()).unwrap(),
        Server::open(&keys, &research()).unwrap(),
        Server::from_bytes(&server.to_bytes().unwrap(), &research()).unwrap(),
    ];
    for server in &opened {
        let fresh = server.bootstrap(&x).unwrap();
        assert_eq!(client.decrypt_elements(&fresh).unwrap(), elements);
    }
    assert!(Client::open(&keys, &research()).is_ok(), "the secret key of the directory");
    // Keys that are none are not read as a whole: this file is longer than any that is.
    std::fs::File::create(at("large")).unwrap().set_len(9 << 30).unwrap();
    for (file, code) in [("large", "wire.not-ours"), ("server", "wire.wrong-kind")] {
        let refused = Client::open(&at(file), &research()).err();
        assert_eq!(refused.map(|e| e.code()), Some(code));
    }
    // Below 128 bits, and something else than a server.
    assert!(Server::open(&at("server"), &OpenOptions::default()).is_err());
    let upload = client.upload(&[x]).unwrap();
    let refused = Server::from_bytes(&upload, &research()).err();
    assert_eq!(refused.map(|e| e.code()), Some("wire.wrong-kind"));
}

/// Keys that were read stay in memory, up to the limit that was stated; results have the same bits.
#[test]
fn a_server_keeps_as_many_bytes_of_keys_as_it_may() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let client = Client::new(&params, &mut rng);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.keys");
    client.server(&mut rng).unwrap().save(&path, Existing::Keep).unwrap();
    let x = client.encrypt_modular(&[3, 4], &mut rng).unwrap();
    // The bytes in memory and the reads after each of two bootstrappings, and their bits.
    let used = |limit: u64| {
        let server = Server::open(&path, &research().caching(limit)).unwrap();
        [(); 2].map(|()| {
            let bits = server.bootstrap(&x).unwrap().fingerprint();
            (server.keys().cache_usage(), bits)
        })
    };
    let [((bytes, first), expected), ((again, second), bits)] = used(u64::MAX);
    assert!(bytes > 0 && first > 1);
    assert_eq!((again, second, bits), (bytes, first, expected), "nothing is read twice");
    for limit in [0, bytes / 2] {
        let [((one, first), bits), ((two, second), again)] = used(limit);
        assert_eq!((bits, again), (expected, expected));
        assert!(one <= limit && two <= limit && second > first, "{limit}: {one} {two}");
        assert_eq!(two > 0, limit > 0, "{limit}");
    }
}

/// Of a set without a name the specification is in the file, and one that does not bootstrap stays
/// so.
#[test]
fn a_server_states_its_parameters() {
    let mut spec = everlevel_scheme::params::spec("insecure_bgv-257-n8").unwrap();
    spec.name = "insecure_nameless".into();
    spec.words += 1;
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let client = Client::new(&params, &mut rng);
    let keys = KeyPlanner::new(&params).unwrap().keys();
    let keys = ServerKeys::generate(client.secret(), &keys, &mut rng, |_, _| ()).unwrap();
    let bytes = Server::leveled(keys).to_bytes().unwrap();
    let server = Server::from_bytes(&bytes, &research()).unwrap();
    assert_eq!(server.params().name(), "insecure_nameless");
    let x = client.encrypt_modular(&[3, 4], &mut rng).unwrap();
    let refused = server.bootstrap(&x).err();
    assert_eq!(refused.map(|e| e.code()), Some("circuit.no-bootstrapping"));
    let x: Value = server.load(x);
    let y = server.mul(&x, &x).unwrap();
    assert_eq!(client.decrypt_modular(&y.get()).unwrap()[..2], [9, 16]);
    // Written again from bytes, it is the same.
    assert_eq!(server.to_bytes().unwrap(), bytes);
}

/// Statements from somebody else are refused if they are none, and never followed further than the
/// parameter set allows.
#[test]
fn hostile_statements_are_refused() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let client = Client::new(&params, &mut rng);
    let keys = KeyPlanner::new(&params).unwrap().keys();
    let keys = client.server_keys(&keys, &mut rng).unwrap();
    let good = {
        let bytes = client.server(&mut rng).unwrap().to_bytes().unwrap();
        let summary = everlevel_wire::inspect(&bytes, &everlevel_wire::ReadOptions::default());
        summary.unwrap().metadata["bootstrapping"].clone()
    };
    let open = |text: String| {
        let metadata = Metadata::from([("bootstrapping".to_string(), text)]);
        let bytes = everlevel_wire::server_keys::to_bytes(&keys, &metadata).unwrap();
        Server::from_bytes(&bytes, &research()).err().map(|e| e.code())
    };
    assert_eq!(open(good.clone()), None);
    let value: serde_json::Value = serde_json::from_str(&good).unwrap();
    let huge = u64::MAX;
    for (name, json) in [
        ("coeff_to_slot", format!("[{huge}, {huge}]")),
        ("coeff_to_slot", "[]".into()),
        ("slot_to_coeff", "[1000000000]".into()),
        ("digit_removal", r#""product_tree_4000000000""#.into()),
        ("digit_removal", r#""none""#.into()),
        ("steps", "[-1.0, 1.0, 1.0, 14]".into()),
        ("steps", "[1.0, 1.0, 1.0, 0]".into()),
        ("mode", r#""none""#.into()),
        ("subring", "0".into()),
    ] {
        let mut changed = value.clone();
        changed[name] = serde_json::from_str(&json).unwrap();
        assert!(open(changed.to_string()).is_some(), "{name} = {json} was taken");
    }
    for text in ["", "{}", "[]", "1"] {
        assert_eq!(open(text.into()), Some("wire.malformed"), "{text:?}");
    }
}
