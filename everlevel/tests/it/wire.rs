//! A client and a server that share nothing but files.

use std::time::Instant;

use everlevel::{KeyPlanner, OptIn, Params, Plaintext, PublicKey, SecretKey, Server};
use everlevel_wire::file::{Existing, read_file, write_file, write_secret_file};
use everlevel_wire::{
    BoundPolicy, Encryption, FileKeys, Metadata, ReadOptions, ciphertexts, generate_to_file,
    params, public_key, secret_key,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Sixty squarings, far beyond one modulus, on keys of which the cache holds a part.
#[test]
fn a_server_bootstraps_from_files() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let read = |name: &str| read_file(&file(name), 1 << 30).unwrap();
    let none = Metadata::new();
    let mut rng = ChaCha20Rng::seed_from_u64(1);

    // The client makes its keys.
    {
        let set = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let secret = SecretKey::generate(&set, &mut rng);
        write_file(&file("params"), &params::to_bytes(&set, &none).unwrap(), Existing::Keep)
            .unwrap();
        write_secret_file(
            &file("secret"),
            &secret_key::expose_to_bytes(&secret, &none).unwrap(),
            Existing::Keep,
        )
        .unwrap();
        let public = PublicKey::generate(&secret, &mut rng);
        write_file(&file("public"), &public_key::to_bytes(&public, &none).unwrap(), Existing::Keep)
            .unwrap();
        let plan = KeyPlanner::new(&set).unwrap().keys();
        generate_to_file(
            &file("server"),
            Existing::Keep,
            &secret,
            &plan,
            &none,
            &mut rng,
            |_, _| (),
        )
        .unwrap();
    }
    // Somebody encrypts with the public key.
    let values: Vec<u64>;
    {
        let (set, _) =
            params::from_bytes(&read("params"), OptIn::InsecureResearch, &ReadOptions::default())
                .unwrap();
        let (public, _) =
            public_key::from_bytes(&set, &read("public"), &ReadOptions::default()).unwrap();
        values = (0..set.slots() as u64).map(|i| i * 7 % 257).collect();
        let x = public.encrypt(&Plaintext::encode(&set, &values).unwrap(), &mut rng).unwrap();
        let layout = Metadata::from([("layout".into(), "one reading a slot".into())]);
        write_file(
            &file("input"),
            &ciphertexts::to_bytes(&set, &[x], &layout).unwrap(),
            Existing::Keep,
        )
        .unwrap();
    }
    // The server computes.
    {
        let (set, _) =
            params::from_bytes(&read("params"), OptIn::InsecureResearch, &ReadOptions::default())
                .unwrap();
        let keys = FileKeys::open(&set, &file("server"), 8 << 20).unwrap();
        let planner = KeyPlanner::new(&set).unwrap();
        let server = Server::new(keys, planner.bootstrap_plan().clone()).unwrap();
        let fresh = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Public));
        let (mut inputs, layout) = ciphertexts::from_bytes(&set, &read("input"), &fresh).unwrap();
        let mut x = server.load(inputs.remove(0));
        for _ in 0..60 {
            x = server.add_scalar(&server.mul(&x, &x).unwrap(), 1).unwrap();
        }
        assert!(server.bootstraps() > 0);
        let (cached, made) = server.evaluator().keys().cache_usage();
        assert!(cached <= 8 << 20 && made > 0);
        write_file(
            &file("output"),
            &ciphertexts::to_bytes(&set, &[x.get()], &layout).unwrap(),
            Existing::Keep,
        )
        .unwrap();
    }
    // The client decrypts, trusting nothing.
    let (set, _) =
        params::from_bytes(&read("params"), OptIn::InsecureResearch, &ReadOptions::default())
            .unwrap();
    let (secret, _) =
        secret_key::from_bytes(&set, &read("secret"), &ReadOptions::default()).unwrap();
    let (outputs, layout) =
        ciphertexts::from_bytes(&set, &read("output"), &ReadOptions::default()).unwrap();
    assert_eq!(layout["layout"], "one reading a slot");
    let plain = |v: u64| (0..60).fold(v, |v, _| (v * v + 1) % 257);
    let found = secret.decrypt(&outputs[0]).unwrap().decode(&set).unwrap();
    assert!(found.into_iter().eq(values.into_iter().map(plain)));
}

/// The most memory that this process has had, in MiB; none where the system does not say.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

/// Sizes, times and memory of the default set's keys: prints what it finds.
#[test]
#[ignore = "a minute, and a gigabyte of disk"]
fn keys_of_the_default_set_stay_in_their_file() {
    let set = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server");
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let secret = SecretKey::generate(&set, &mut rng);
    let planner = KeyPlanner::new(&set).unwrap();
    let plan = planner.keys();
    let before = peak_mib();
    let clock = Instant::now();
    let report = generate_to_file(
        &path,
        Existing::Keep,
        &secret,
        &plan,
        &Metadata::new(),
        &mut rng,
        |_, _| (),
    )
    .unwrap();
    let generation = clock.elapsed();
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!(
        "{report:?}: {} keys, {bytes} bytes, generated in {generation:.2?}; peak MiB {before:?} \
         -> {:?}",
        plan.len(),
        peak_mib()
    );
    assert!(bytes < (11 << 30) / 10 && bytes - report.total_bytes() < 1 << 16);
    assert!(peak_mib().is_none_or(|peak| peak < 700), "generation keeps one key at a time");

    let clock = Instant::now();
    let keys = FileKeys::open(&set, &path, 512 << 20).unwrap();
    let opening = clock.elapsed();
    println!("opened in {opening:.2?}");
    assert!(opening.as_millis() < 200);
    let bootstrap = |keys: FileKeys| {
        let server = Server::new(keys, planner.bootstrap_plan().clone()).unwrap();
        let values: Vec<u64> = (0..set.slots() as u64).map(|i| i * i % 65537).collect();
        let x = secret
            .encrypt(&Plaintext::encode(&set, &values).unwrap(), &mut ChaCha20Rng::seed_from_u64(3))
            .unwrap();
        for round in 0..3 {
            let clock = Instant::now();
            let fresh = server.bootstrap(&x).unwrap();
            let usage = server.evaluator().keys().cache_usage();
            println!(
                "bootstrap {round}: {:.2?}, cached bytes and loads {usage:?}; peak MiB {:?}",
                clock.elapsed(),
                peak_mib()
            );
            assert_eq!(secret.decrypt(&fresh).unwrap().decode(&set).unwrap(), values);
        }
    };
    println!("cache of 512 MiB");
    bootstrap(keys);
    println!("cache for all");
    bootstrap(FileKeys::open(&set, &path, 1 << 34).unwrap());
}
