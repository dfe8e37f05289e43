//! Programs and queries on servers with other engines: the bytes of every result are those of the
//! processor.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everlevel::files::{Bytes, Metadata};
use everlevel::lab::{EvalKeys, ModularInputs, TypedArray, TypedInputs};
use everlevel::{
    Ciphertext, Client, Error, IntegerValue, KeyPlan, Keys, OptIn, Params, Program, Server, Type,
    general_keys,
};
use everlevel_gpu::Gpu;
use everlevel_ring::Engine;
use everlevel_tables::{Data, EncryptedTable, Plan, Schema, TableKey, TablesError};
use everlevel_testing::Naive;
use everlevel_wire::columns::ColumnArray;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// The owner of a set, and general keys for servers.
fn parties(name: &str) -> (Client, Keys, ChaCha20Rng) {
    let params = Params::named(name, OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(83);
    let client = Client::new(&params, &mut rng);
    let plan = general_keys(&params).unwrap();
    let keys = client.server_keys(&plan, &mut rng).unwrap();
    (client, keys.into(), rng)
}

/// A server on a CUDA device, or on the emulated one; none if there is neither.
fn on_cuda(keys: &Keys, key_bytes: u64) -> Option<Server<Gpu>> {
    match Gpu::new(keys.params().ring().clone(), 0) {
        Err(error) if error.code() == "gpu.none" => {
            println!("skipped: {error}");
            None
        }
        gpu => Some(Server::with_engine(keys.clone(), Arc::new(gpu.unwrap()), key_bytes).unwrap()),
    }
}

/// Results by name, as the bytes of files, and the number of bootstrappings.
type Found = (BTreeMap<String, Vec<u8>>, usize);

/// A program with a bootstrapping, and a result that is an input.
fn modular<E: Engine>(server: &Server<E>, x: &Ciphertext) -> Found {
    let program = Program::parse("y = 3*x*(1-x); z = refresh(y)*x + 2; same = x").unwrap();
    let mut inputs = ModularInputs::default();
    inputs.add(server, "x", vec![x.clone()], &Metadata::new()).unwrap();
    let results = inputs.run(server, &program, &mut |_| ()).unwrap();
    let written = results.iter().map(|result| {
        let copied = |x: &everlevel::Value| Ciphertext::clone(&x.get());
        let ciphertexts: Vec<Ciphertext> = result.values.iter().map(copied).collect();
        let bytes = ciphertexts.to_bytes_with(server.params(), &result.metadata).unwrap();
        (result.name.clone(), bytes)
    });
    (written.collect(), server.bootstraps())
}

/// A program on two columns, and a result that is one of them.
fn typed<E: Engine>(server: &Server<E>, arrays: &[TypedArray]) -> Found {
    let program = "big = a > b; n = count(big); most = max(a, b); p = a*b; same = a";
    let program = Program::parse(program).unwrap();
    let mut inputs = TypedInputs::default();
    inputs.add(server, None, arrays.to_vec()).unwrap();
    let results = inputs.run(server, &program, &BTreeMap::new(), &mut |_| ()).unwrap();
    let written = results.into_iter().map(|x| {
        let (name, mut metadata) = (x.array.name.clone(), Metadata::new());
        let columns = TypedArray::columns(vec![x], &mut metadata);
        (name, columns.to_bytes_with(server.params(), &metadata).unwrap())
    });
    (written.collect(), server.bootstraps())
}

#[test]
fn values_modulo_a_prime_on_engines_with_memory_of_their_own() {
    let (client, keys, mut rng) = parties("insecure_bgv-257-n8");
    let x = client.encrypt_modular(&[3, 200, 256], &mut rng).unwrap();
    let server = Server::with_keys(keys.clone()).unwrap();
    let expected = modular(&server, &x);
    assert_eq!(expected.0.keys().collect::<Vec<_>>(), ["same", "y", "z"]);
    assert!(expected.1 >= 1, "bootstrappings");
    // Half of a fresh encryption is a seed, and stays one where it is only copied.
    let same = Vec::<Ciphertext>::from_bytes(client.params(), &expected.0["same"]).unwrap();
    assert!(x.seed().is_some() && same[0].seed() == x.seed());

    let naive = Arc::new(Naive::new(client.params().ring().clone()).unwrap());
    let slow = Server::with_engine(keys.clone(), naive, 1 << 20).unwrap();
    assert!(modular(&slow, &x) == expected);
    assert!(slow.evaluator().resident_key_bytes() > 0);
    let all = keys.plan().expanded_bytes(client.params());
    // Room for all keys, and for one at a time.
    for key_bytes in [u64::MAX, 0] {
        let Some(server) = on_cuda(&keys, key_bytes) else { return };
        assert!(modular(&server, &x) == expected, "{key_bytes} bytes of keys");
        let copied = server.evaluator().resident_key_bytes();
        assert!(0 < copied && copied <= all, "{copied} of {all}");
    }
}

#[test]
fn values_are_copied_with_their_ranges() -> Result<(), Error> {
    let (client, keys, mut rng) = parties("insecure_bgv-257-n8");
    let naive = Arc::new(Naive::new(client.params().ring().clone())?);
    let server = Server::with_engine(keys, naive, 0)?;
    let x = everlevel::Value::from(client.encrypt_modular(&[3, 4], &mut rng)?)
        .within(everlevel::ValueRange::new(0, 9));
    let there = server.upload(&x)?;
    let product = server.download(&server.mul(&there, &there)?)?;
    assert_eq!(product.range(), everlevel::ValueRange::new(0, 81));
    assert_eq!(client.decrypt_modular(&product.get())?[..2], [9, 16]);
    Ok(())
}

/// Copies of keys are not read again; what uses them is cancelled all the same.
#[test]
fn work_with_copies_of_keys_is_cancelled() -> Result<(), Error> {
    let (client, _, mut rng) = parties("insecure_bgv-257-n8");
    let params = client.params();
    let plan = KeyPlan::relinearization(params);
    let keys = client.server_keys(&plan, &mut rng)?;
    let mut bytes = 0;
    for id in plan.relin.keys() {
        bytes += keys.relin(*id)?.expect("it is there").expanded_bytes();
    }
    assert_eq!(bytes, plan.expanded_bytes(params));

    let cancelled = Arc::new(AtomicBool::new(false));
    let asked = cancelled.clone();
    let keys = Keys::from(keys).cancelled_by(move || asked.load(Ordering::Relaxed));
    let naive = Arc::new(Naive::new(params.ring().clone())?);
    let server = Server::with_engine(keys, naive, u64::MAX)?;
    let x = everlevel::Value::from(client.encrypt_modular(&[3, 4], &mut rng)?);
    let x = server.upload(&x)?;
    drop(server.mul(&x, &x)?);
    let copied = server.evaluator().resident_key_bytes();
    assert!(0 < copied && copied <= bytes, "{copied} of {bytes}");
    cancelled.store(true, Ordering::Relaxed);
    assert_eq!(server.mul(&x, &x).err().map(|e| e.code()), Some("scheme.cancelled"));
    Ok(())
}

#[test]
fn typed_columns_and_tables_on_a_cuda_device() {
    let (client, keys, mut rng) = parties("insecure_bgv-65537-n11");
    let Some(device) = on_cuda(&keys, u64::MAX) else { return };
    let server = Server::with_keys(keys).unwrap();
    let array = |name: &str, values: &[u8], rng: &mut ChaCha20Rng| {
        let column = client.encrypt_integers(values, Type::U8, rng).unwrap();
        let array = ColumnArray::vector(name, 1, Some(values.len()));
        TypedArray { array, blocks: vec![IntegerValue::from(column)] }
    };
    let arrays = [array("a", &[7, 255, 40], &mut rng), array("b", &[9, 254, 40], &mut rng)];
    let expected = typed(&server, &arrays);
    assert_eq!(expected.0.len(), 5);
    assert!(typed(&device, &arrays) == expected);

    let schema = r#"{"columns": [
        {"name": "days", "type": "integer", "low": 0, "high": 255},
        {"name": "cost", "type": "integer", "low": 0, "high": 999}]}"#;
    let schema = Schema::from_json(schema).unwrap();
    let data = Data::from_csv("days,cost\n3,120\n14,903\n2,44\n".as_bytes(), &schema).unwrap();
    let key = TableKey::Secret(client.secret());
    let quiet = |_, _| Ok::<_, TablesError>(());
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let plan = Plan::new("select count(*), sum(cost) from t where days < 10", &schema).unwrap();
    let result = table.run(&server, &plan, None, quiet).unwrap();
    let answer = result.read(client.secret()).unwrap();
    assert_eq!(answer.to_csv().unwrap().lines().nth(1), Some("2,164"));
    assert!(table.run(&device, &plan, None, quiet).unwrap() == result);
}
