//! Server keys whose uniform halves stay seeds in memory.

use everlevel::files::{Existing, OpenOptions};
use everlevel::{Client, IntegerValue, OptIn, Params, Plan, Server, Type};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

fn named(name: &str) -> Params {
    Params::named(name, OptIn::InsecureResearch).unwrap()
}

/// Products and bootstrappings, with keys from a file and in memory.
#[test]
fn a_server_computes_the_same_bits_with_half_of_the_memory() {
    let params = named("insecure_bgv-257-n8");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let client = Client::new(&params, &mut rng);
    let made = client.server(&mut rng).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.keys");
    made.save(&path, Existing::Keep).unwrap();
    let bytes = made.to_bytes().unwrap();
    let x = client.encrypt_modular(&[3, 4], &mut rng).unwrap();
    let computed = |server: &Server| {
        let factor = server.load(x.clone());
        let product = server.mul(&factor, &factor).unwrap();
        let fresh = server.bootstrap(&product.get()).unwrap();
        assert_eq!(client.decrypt_modular(&fresh).unwrap()[..2], [9, 16]);
        (product.get().fingerprint(), fresh.fingerprint())
    };
    let expected = computed(&made);
    let options = |seeded_keys| {
        OpenOptions::default().accepting(OptIn::InsecureResearch).with_seeded_keys(seeded_keys)
    };
    let memory = |seeded_keys| {
        let options = options(seeded_keys);
        let from_file = Server::open(&path, &options).unwrap();
        let from_bytes = Server::from_bytes(&bytes, &options).unwrap();
        assert_eq!(computed(&from_file), expected);
        assert_eq!(computed(&from_bytes), expected);
        // They are written as the bytes that they were read from.
        assert!(from_bytes.to_bytes().unwrap() == bytes);
        [from_file, from_bytes].map(|server| server.keys().memory_bytes())
    };
    let (whole, seeded) = (memory(false), memory(true));
    for (whole, seeded) in whole.iter().zip(&seeded) {
        assert!(10 * seeded < 7 * whole, "{seeded} of {whole}");
    }
}

/// A plan for such keys counts them and makes them; its results have the same bits.
#[test]
fn a_plan_counts_seeds_and_makes_keys_with_them() {
    let params = named("insecure_bgv-65537-n11");
    let plan = |seeded_keys| {
        let traced = Plan::trace(|g| {
            let x = g.input("x", Type::U8, 5);
            g.output("y", &x.lt(25));
            Ok(())
        });
        traced.unwrap().with_seeded_keys(seeded_keys)
    };
    let plans = [plan(false), plan(true)];
    let [whole, seeded] = plans.each_ref().map(|plan| plan.explain(&params).unwrap());
    assert_eq!(seeded.key_bytes(), whole.key_bytes());
    assert_eq!(seeded.memory_bytes() + seeded.key_bytes(), whole.memory_bytes());
    assert!(seeded.clone().within(seeded.memory_bytes()).is_ok());
    assert!(whole.clone().within(seeded.memory_bytes()).is_err());
    let texts = [whole, seeded].map(|estimate| estimate.to_string().contains("stay seeds"));
    assert_eq!(texts, [false, true]);

    let client = Client::new(&params, &mut ChaCha20Rng::seed_from_u64(2));
    let [(whole, expected), (seeded, found)] = plans.each_ref().map(|plan| {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let server = plan.server(&client, &mut rng).unwrap();
        let x = client.encrypt_for(plan, "x", &[12u8, 25, 24, 255, 0], &mut rng).unwrap();
        let results = plan.run(&server, &[x]).unwrap();
        assert_eq!(client.decrypt_column::<u8>(&results[0].1).unwrap(), [1, 0, 1, 0, 1]);
        let IntegerValue::Column(y) = &results[0].1 else { panic!("a column") };
        let bits: Vec<u64> = y.values().map(|value| value.get().fingerprint()).collect();
        (server.keys().memory_bytes(), bits)
    });
    assert_eq!(found, expected);
    assert!(10 * seeded < 6 * whole, "{seeded} of {whole}");
}
