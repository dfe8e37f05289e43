//! The facade: client and server.

use std::path::Path;

use everlevel::files::Bounds;
use everlevel::files::{OpenOptions, open_public_key};
use everlevel::lab::{Automorphisms, SchemeError};
use everlevel::{
    BootstrapMode, Ciphertext, Client, Error, KeyPlan, KeyPlanner, Keys, OptIn, Params, Plaintext,
    PublicKey, Server, ServerKeys, ValueRange, bootstrap_plan, failure_log2, general_keys,
    multiplications_left,
};
use everlevel_scheme::spec::{BootstrapSpec, ParamsSpec};
use everlevel_wire::file::{Existing, write_file};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

fn set() -> Params {
    Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap()
}

#[test]
fn a_circuit_of_any_depth() {
    let params = set();
    let t = params.plain_modulus();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params).unwrap().rotations([1]).row_swap();
    let mut done = Vec::new();
    let server = client
        .server_for(&planner.keys(), planner.bootstrap_plan(), &mut rng, |i, n| done.push((i, n)))
        .unwrap();
    assert_eq!(done.last().map(|(i, n)| i == n), Some(true));

    let mut values: Vec<u64> = (0..params.slots() as u64).map(|i| i * 7 % t).collect();
    let ones = Plaintext::encode(&params, &vec![1; params.slots()]).unwrap();
    let columns = params.slot_shape().columns();
    let mut x = server.load(client.encrypt_modular(&values, &mut rng).unwrap());
    for step in 0..60u64 {
        // y = x^2 + 2 x rotated, + 1, rows exchanged, doubled
        let square = server.mul(&x, &x).unwrap();
        let turned = server.mul_scalar(&server.rotate_columns(&x, 1).unwrap(), 2).unwrap();
        let sum = server.add_plain(&server.add(&square, &turned).unwrap(), &ones).unwrap();
        x = server.mul_plain(&server.swap_rows(&sum).unwrap(), &ones).unwrap();
        let rotated = |i: usize| values[i / columns * columns + (i + 1) % columns];
        let next: Vec<u64> =
            (0..values.len()).map(|i| (values[i] * values[i] + 2 * rotated(i) + 1) % t).collect();
        values = (0..next.len()).map(|i| next[(i + columns) % next.len()]).collect();
        assert_eq!(client.decrypt_modular(&x.get()).unwrap(), values, "step {step}");
    }
    assert!(server.bootstraps() >= 3);
    assert!(client.secret().measure_noise(&x.get()).unwrap() <= x.get().noise_bound_bits());
    assert!(failure_log2(&params, &server.evaluator().cost()) < -128.0);
}

/// A ring of odd index whose last dimension is a bad one: products, rotations along both
/// dimensions, bootstrapping.
#[test]
fn composite_rings_of_any_depth() {
    let spec = ParamsSpec {
        name: "insecure_bgv-8191-m259".into(),
        index: 7 * 37,
        plain_prime: 8191,
        words: 12,
        bootstrap: Some(BootstrapSpec {
            overflow_bound: Some(9),
            ..BootstrapSpec::encapsulated(4)
        }),
        ..everlevel_scheme::params::spec("insecure_bgv-257-n8").unwrap()
    };
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let t = params.plain_modulus();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params)
        .unwrap()
        .rotations_along(0, [1])
        .unwrap()
        .rotations_along(1, [2])
        .unwrap();
    assert!(matches!(planner.rotations_along(2, [1]), Err(Error::Circuit(_))));
    let planner = KeyPlanner::new(&params)
        .unwrap()
        .rotations_along(0, [1])
        .unwrap()
        .rotations_along(1, [2])
        .unwrap();
    let server =
        client.server_for(&planner.keys(), planner.bootstrap_plan(), &mut rng, |_, _| ()).unwrap();
    let dimensions = params.slot_shape().dimensions();
    assert_eq!(
        dimensions.iter().map(|d| (d.size, d.good)).collect::<Vec<_>>(),
        [(6, true), (3, false)]
    );
    let (rows, columns) = (dimensions[0].size, dimensions[1].size);
    let mut values: Vec<u64> = (0..params.slots() as u64).map(|i| i * i + 5).collect();
    let mut x = server.load(client.encrypt_modular(&values, &mut rng).unwrap());
    for step in 0..60 {
        let square = server.mul(&x, &x).unwrap();
        let turned = server.rotate_along(&server.rotate_along(&x, 0, 1).unwrap(), 1, 2).unwrap();
        x = server.add(&square, &turned).unwrap();
        let source = |i: usize| (i / columns + 1) % rows * columns + (i + 2) % columns;
        values =
            (0..values.len()).map(|i| (values[i] * values[i] + values[source(i)]) % t).collect();
        assert_eq!(client.decrypt_modular(&x.get()).unwrap(), values, "step {step}");
    }
    assert!(server.bootstraps() >= 2);
}

/// Slots that hold elements of GR(p^r, d), over several bootstrappings: one row and BFV modulo p^2,
/// two rows and BGV.
#[test]
fn whole_slots_of_any_depth() {
    for name in ["insecure_bfv-127e2-n8", "insecure_bgv-257-n8"] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let (shape, plain, r) =
            (params.slot_shape(), params.plaintext_ring(), params.plain_exponent());
        let (d, columns) = (shape.degree_of_slot(), shape.columns());
        let t = plain.modulus(r);
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let client = Client::new(&params, &mut rng);
        let plan = bootstrap_plan(&params).unwrap().in_mode(BootstrapMode::Full);
        let frobenius = shape.frobenius();
        let planner =
            KeyPlanner::with_plan(&params, plan).unwrap().row_swap().automorphisms([frobenius]);
        let server = client
            .server_for(&planner.keys(), planner.bootstrap_plan(), &mut rng, |_, _| ())
            .unwrap();

        let mut values: Vec<u64> =
            (0..params.degree() as u64).map(|i| t.reduce_u64(i * i + 7)).collect();
        let mut x = server.load(client.encrypt_elements(&values, &mut rng).unwrap());
        let mut steps = 0;
        while server.bootstraps() < 2 {
            x = server.add_scalar(&server.mul(&x, &x).unwrap(), 3).unwrap();
            for slot in values.chunks_mut(d) {
                slot.copy_from_slice(&plain.element_mul(slot, slot, r).unwrap());
                slot[0] = t.add(slot[0], 3);
            }
            steps += 1;
            assert_eq!(client.decrypt_elements(&x.get()).unwrap(), values, "{name}, step {steps}");
        }
        // Frobenius d times is the identity, once it is not.
        let conjugate = server.apply(&x, |s, x| Ok(s.apply_galois(x, frobenius)?)).unwrap();
        assert_ne!(client.decrypt_elements(&conjugate.get()).unwrap(), values);
        let again = (1..d).fold(conjugate, |y, _| {
            server.apply(&y, |s, y| Ok(s.apply_galois(y, frobenius)?)).unwrap()
        });
        assert_eq!(client.decrypt_elements(&again.get()).unwrap(), values);
        assert!(client.decrypt_modular(&x.get()).is_err(), "integers only");
        // Two rows are exchanged, one stays as it is.
        values.rotate_left(columns * d);
        assert_eq!(client.decrypt_elements(&server.swap_rows(&x).unwrap().get()).unwrap(), values);
    }
}

#[test]
fn others_encrypt_with_the_public_key() {
    let params = set();
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let client = Client::new(&params, &mut rng);
    let public: PublicKey = client.public_key(&mut rng);
    let values = [-128, -1, 0, 1, 128];
    let x = public.encrypt(&Plaintext::encode_signed(&params, &values).unwrap(), &mut rng).unwrap();
    assert_eq!(client.decrypt_modular_signed(&x).unwrap()[..5], values);
    let own = client.encrypt_modular_signed(&values, &mut rng).unwrap();
    assert_eq!(client.decrypt_modular(&own).unwrap(), client.decrypt_modular(&x).unwrap());
}

#[test]
fn the_planner_predicts_what_bootstrapping_leaves() {
    let params = set();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params).unwrap();
    let server = client.server(&mut rng).unwrap();
    let x = client.encrypt_modular(&[1, 2, 3], &mut rng).unwrap();
    let before = server.evaluator().cost();
    let fresh = server.bootstrap(&x).unwrap();
    let cost = server.evaluator().cost() - before;
    assert_eq!(fresh.level(), planner.after_bootstrap().level);
    assert!((fresh.noise_bound_bits() - planner.after_bootstrap().noise).abs() < 1e-6);
    assert_eq!(
        (cost.key_switches, cost.products),
        (planner.cost().key_switches, planner.cost().products)
    );
    assert!(
        multiplications_left(
            &params,
            fresh.meta(),
            server.bootstrapper().unwrap().minimum_capacity(server.evaluator())
        ) >= 2
    );
}

#[test]
fn refusals_are_errors() {
    let params = set();
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let client = Client::new(&params, &mut rng);
    assert!(client.encrypt_modular(&[257], &mut rng).is_err());
    assert!(client.encrypt_modular(&vec![0; params.slots() + 1], &mut rng).is_err());
    assert!(client.encrypt_modular_signed(&[129], &mut rng).is_err());
    assert!(client.encrypt_elements(&[1], &mut rng).is_err());
    let server = client.server(&mut rng).unwrap();
    let x = server.load(client.encrypt_modular(&[1], &mut rng).unwrap());
    // The keys of bootstrapping rotate by anything; without them there is no way.
    let turned = client.decrypt_modular(&server.rotate_columns(&x, 13).unwrap().get()).unwrap();
    assert_eq!(turned.iter().position(|&v| v == 1), Some(params.slot_shape().columns() - 13));
    let plan = KeyPlan::relinearization(&params);
    let bare =
        Server::leveled(ServerKeys::generate(client.secret(), &plan, &mut rng, |_, _| ()).unwrap());
    let x = bare.load(client.encrypt_modular(&[1], &mut rng).unwrap());
    let missing = bare.rotate_columns(&x, 13).map(|_| ()).unwrap_err();
    assert!(missing.to_string().contains("key plan"), "{missing}");
    assert!(matches!(
        Params::named("insecure_bgv-257-n8", OptIn::SecureOnly),
        Err(SchemeError::Insecure { .. })
    ));
    let other = Client::new(
        &Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap(),
        &mut rng,
    );
    assert!(matches!(other.decrypt_modular(&x.get()), Err(Error::Scheme(_))));
}

/// Of a larger ring with a longer chain: refused by every operation, whether the owner is known or
/// not.
#[test]
fn ciphertexts_of_other_sets_are_refused() {
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let client = Client::new(&set(), &mut rng);
    let server = client.server(&mut rng).unwrap();
    let own = server.load(client.encrypt_modular(&[1], &mut rng).unwrap());
    let larger = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let foreign = Client::new(&larger, &mut rng).encrypt_modular(&[1], &mut rng).unwrap();
    for x in [foreign.clone(), foreign.without_owner()] {
        let x = server.load(x);
        let found = [
            server.neg(&x),
            server.add(&x, &x),
            server.add(&own, &x),
            server.sub(&x, &own),
            server.mul(&x, &x),
            server.add_scalar(&x, 1),
            server.mul_scalar(&x, 2),
            server.pow(&x, std::num::NonZeroU64::MIN.saturating_add(2)),
            server.polynomial(&x, &[1, 2, 3]),
            server.sum(&x),
            server.dot_plain(&x, &[1]),
            server.rotate_columns(&x, 1),
            server.swap_rows(&x),
        ];
        for (i, found) in found.into_iter().enumerate() {
            let code = found.err().map(|e| e.code());
            assert!(code.is_some_and(|code| code.starts_with("scheme.")), "{i}: {code:?}");
        }
        assert!(server.bootstrap(&x.get()).is_err());
        assert!(server.answer([&x]).is_err());
    }
}

/// Everything that crosses threads can.
#[test]
fn types_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<Client>();
    check::<everlevel::Server>();
    check::<everlevel::Value>();
    check::<everlevel::Ciphertext>();
    check::<Params>();
    check::<PublicKey>();
    check::<Error>();
}

/// Polynomials of every small degree, and scalar products, against integers.
#[test]
fn polynomials_and_scalar_products() {
    let params = set();
    let (t, slots) = (params.plain_modulus(), params.slots());
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let client = Client::new(&params, &mut rng);
    let keys =
        ServerKeys::generate(client.secret(), &general_keys(&params).unwrap(), &mut rng, |_, _| ())
            .unwrap();
    let server = Server::with_keys(keys).unwrap();
    let values: Vec<u64> = (0..slots as u64).map(|i| i * 7 % t).collect();
    let x = server.load(client.encrypt_modular(&values, &mut rng).unwrap());

    for degree in [0, 1, 2, 3, 6, 13] {
        let coefficients: Vec<i64> = (0..=degree).map(|i| (i * i * 37 + 11) % 257 - 128).collect();
        let horner = |x: u64| {
            let fold = |sum: i64, c: &i64| (sum * x as i64 + c).rem_euclid(t as i64);
            coefficients.iter().rev().fold(0, fold) as u64
        };
        let found =
            client.decrypt_modular(&server.polynomial(&x, &coefficients).unwrap().get()).unwrap();
        let expected: Vec<u64> = values.iter().map(|&x| horner(x)).collect();
        assert_eq!(found, expected, "degree {degree}");
    }
    assert!(server.polynomial(&x, &[]).is_err(), "no coefficients");

    let weights: Vec<i64> = (0..slots as i64 / 2).map(|i| 5 * i - 300).collect();
    let sum: i64 = values.iter().zip(&weights).map(|(&v, w)| v as i64 * w).sum();
    let found = client.decrypt_modular(&server.dot_plain(&x, &weights).unwrap().get()).unwrap();
    assert_eq!(found, vec![sum.rem_euclid(t as i64) as u64; slots]);
    let squares: u64 = values.iter().map(|v| v * v).sum();
    let found = client.decrypt_modular(&server.dot(&x, &x).unwrap().get()).unwrap();
    assert_eq!(found, vec![squares % t; slots]);
    assert!(server.dot_plain(&x, &vec![1; slots + 1]).is_err(), "more values than slots");
}

/// What an owner saves, a server opens, by paths alone.
#[test]
fn keys_and_columns_by_their_paths() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let (params, mut rng) = (set(), ChaCha20Rng::seed_from_u64(8));
    let owner = Client::new(&params, &mut rng);
    let plan = general_keys(&params).unwrap();
    owner.save(directory.path(), &plan, Existing::Keep, &mut rng).unwrap();
    assert!(owner.save(directory.path(), &plan, Existing::Keep, &mut rng).is_err());

    let secure = OpenOptions::default();
    let research = OpenOptions::default().accepting(OptIn::InsecureResearch);
    assert!(Client::open(&at("secret.key"), &secure).is_err(), "below 128 bits");
    let client = Client::open(&at("secret.key"), &research).unwrap();
    assert!(Client::open(&at("public.key"), &research).is_err(), "no secret key");
    let public = open_public_key(&at("public.key"), &research).unwrap();
    let x = public.encrypt(&Plaintext::encode(&params, &[3, 4]).unwrap(), &mut rng).unwrap();
    let bytes = client.upload(std::slice::from_ref(&x)).unwrap();
    write_file(&at("x.ct"), &bytes, Existing::Keep).unwrap();

    let server = Server::open(&at("server.keys"), &research).unwrap();
    assert!(server.keys().in_file() && server.keys().verify().is_ok());
    let found = server.read(&at("x.ct"), &Bounds::Fresh).unwrap();
    // The bound of a public key's encryption, whoever uploads it.
    assert!(found[0].get().noise_bound_bits() >= x.noise_bound_bits());
    let y = server.mul(&found[0], &found[0]).unwrap();
    assert_eq!(client.decrypt_modular(&y.get()).unwrap()[..2], [9, 16]);
    assert!(server.save(&at("copy.keys"), Existing::Keep).is_err(), "they are in a file");

    let memory = Keys::from_bytes(&params, &std::fs::read(at("server.keys")).unwrap()).unwrap();
    Server::with_keys(memory).unwrap().save(&at("copy.keys"), Existing::Keep).unwrap();
    let server = Server::open(&at("copy.keys"), &research).unwrap();
    let stopped = server.keys().clone().cancelled_by(|| true);
    let server = Server::with_keys(stopped).unwrap();
    let x = server.load(Ciphertext::clone(&found[0].get()));
    assert_eq!(server.mul(&x, &x).err().map(|e| e.code()), Some("scheme.cancelled"));
}

/// Ranges travel with uploads and answers, and integers are told from what wrapped.
#[test]
fn ranges_travel_with_values() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    let client = Client::new(&params, &mut rng);
    let server = client.server(&mut rng).unwrap();
    let values: Vec<i64> = (0..params.slots() as i64).map(|i| i % 11 - 5).collect();
    let range = ValueRange::new(-5, 5).unwrap();
    let x = client.encrypt_modular_signed(&values, &mut rng).unwrap();
    let upload = client.upload_within(&[(x.clone(), range)]).unwrap();
    let x = server.receive(&upload, &Bounds::Fresh).unwrap().remove(0);
    assert_eq!(x.range(), Some(range));
    let square = server.mul(&x, &x).unwrap();
    let large = server.mul(&square, &square).unwrap();
    let expected: Vec<i64> = values.iter().map(|v| v * v).collect();
    assert_eq!(client.decrypt_value(&square).unwrap(), expected);
    let answer = server.answer([&square, &x]).unwrap();
    assert_eq!(client.read_integers(&answer).unwrap(), [expected, values.clone()]);
    // 625 is more than residues tell.
    assert_eq!(client.decrypt_value(&large).unwrap_err().code(), "circuit.range");
    let answer = server.answer([&square, &large]).unwrap();
    assert_eq!(client.read_integers(&answer).unwrap_err().code(), "circuit.range");
    let unknown =
        client.upload(&[client.encrypt_modular_signed(&values, &mut rng).unwrap()]).unwrap();
    let unknown = server.receive(&unknown, &Bounds::Fresh).unwrap().remove(0);
    assert_eq!(client.decrypt_value(&unknown).unwrap_err().code(), "circuit.range");
    // A result states more than a fresh encryption does.
    let result = client.upload(&[square.get().as_ref().clone()]).unwrap();
    assert_eq!(server.receive(&result, &Bounds::Fresh).err().unwrap().code(), "wire.malformed");
    assert!(server.receive(&result, &Bounds::Stated).is_ok());
}

/// Files of version 1 of the format, which do not say whose they are.
#[test]
fn older_ciphertexts_are_read_by_servers_that_were_told_so() {
    let older = |kind: &str| {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/wire/tests/golden/v1");
        golden.join(format!("insecure_bgv-257-n8.{kind}"))
    };
    let options =
        OpenOptions::default().accepting(OptIn::InsecureResearch).allowing_unknown_owner(true);
    let server = Server::open(&older("server_keys"), &options).unwrap();
    let read = |server: &Server| server.read(&older("ciphertexts"), &Bounds::Stated);
    assert!(!read(&server).unwrap().is_empty());
    let strict = server.allowing_unknown_owner(false);
    assert_eq!(read(&strict).err().unwrap().code(), "wire.unknown-owner");
}

/// Slots that hold more than integers and residues outside of the range are one error, as a phase
/// above its bound is; what is public has its own, first.
#[test]
fn what_cannot_be_is_one_error() {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let params = Params::named("insecure_bfv-127e2-n8", OptIn::InsecureResearch).unwrap();
    let client = Client::new(&params, &mut rng);
    let elements: Vec<u64> = (0..params.degree() as u64).collect();
    let x = client.encrypt_elements(&elements, &mut rng).unwrap();
    let code = |e: Error| e.code();
    let not = "scheme.not-decryptable";
    assert_eq!(client.decrypt_elements(&x).unwrap(), elements);
    assert_eq!(client.decrypt_modular_signed(&x).map_err(code), Err(not));
    let policy = everlevel::FloodingPolicy::new(8, 1);
    assert_eq!(client.decrypt_for_sharing(&x, &policy, &mut rng).map_err(code), Err(not));
    let range = ValueRange::new(0, 100).unwrap();
    let value = everlevel::Value::from(x.clone()).within(Some(range));
    assert_eq!(client.decrypt_value(&value).map_err(code), Err(not));
    assert_eq!(
        client.decrypt_value(&everlevel::Value::from(x)).map_err(code),
        Err("circuit.range"),
        "said before anything is decoded"
    );
    // A stated range that is false.
    let plain = Plaintext::encode(&params, &[5, 101]).unwrap();
    let y = client.secret().encrypt(&plain, &mut rng).unwrap();
    let value = everlevel::Value::from(y).within(Some(range));
    assert_eq!(client.decrypt_value(&value).map_err(code), Err(not));
}
