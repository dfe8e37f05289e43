//! What `eval` accepts a job does: arrays of several ciphertexts, shorter ones, public tables.

use std::collections::BTreeMap;

use everlevel::files::{Bytes, Metadata};
use everlevel::lab::TypedArray;
use everlevel::{IntegerColumn, IntegerValue, Type};
use everlevel_service::api::JobRequest;
use everlevel_wire::columns::ColumnArray;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::support::{Owner, Running, program, program_of, push, start};

#[test]
fn columns_in_several_ciphertexts() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let (slots, mut rng) = (owner.client.params().slots(), ChaCha20Rng::seed_from_u64(3));
    let values: Vec<i64> = (0..slots + 3).map(|i| (i % 15) as i64).collect();
    let encrypt = |part: &[i64]| -> IntegerValue {
        let kind = Type::ranged(0, 14).unwrap();
        owner.client.encrypt_integers(part, kind, &mut rng).unwrap().into()
    };
    let blocks: Vec<IntegerValue> = values.chunks(slots).map(encrypt).collect();
    let array = ColumnArray::vector("a", blocks.len(), Some(values.len()));
    let mut metadata = Metadata::from([("encryption".into(), "secret".into())]);
    let columns = TypedArray::columns(vec![TypedArray { array, blocks }], &mut metadata);
    let bytes = columns.to_bytes_with(owner.client.params(), &metadata).unwrap();
    let (keys, a) = (push(&client, &owner.keys), push(&client, &owner.file("long", &bytes)));

    let request = program(&keys, &a, "twice = 2*a; total = sum(a)");
    let estimate = client.estimate(&request).unwrap();
    let done = client.wait(&start(&client, &request), |_| ()).unwrap();
    let mut stored = 0;
    let mut result = |name: &str| {
        let bytes = client.fetch(&done.results[name], |_, _| ()).unwrap();
        stored += bytes.len() as u64;
        owner.values(&bytes)
    };
    assert_eq!(result("twice"), values.iter().map(|v| 2 * v).collect::<Vec<_>>());
    assert_eq!(result("total").iter().sum::<i64>(), values.iter().sum::<i64>());
    let counted = estimate.result_bytes;
    assert!((counted / 2..=2 * counted).contains(&stored), "{counted} for {stored}");
    // A result is an array like any other.
    let again = program(&keys, &done.results["twice"], "half = twice / 2");
    let done = client.wait(&start(&client, &again), |_| ()).unwrap();
    let bytes = client.fetch(&done.results["half"], |_, _| ()).unwrap();
    assert_eq!(owner.values(&bytes), values);
    // What would be the median of a part is refused.
    let whole = start(&client, &program(&keys, &a, "m = median(a)"));
    let refused = client.wait(&whole, |_| ()).unwrap_err();
    assert_eq!(refused.code(), "service.malformed");
    assert!(refused.to_string().contains("part by part"), "{refused}");
}

/// A job reads the index of a column as `eval` does, and its estimate counts that.
#[test]
fn columns_with_an_index() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let ages = [3u8, 17, 18, 255];
    let keys = push(&client, &owner.keys);
    let age = owner.client.encrypt_indexed(&ages, Type::U8, &mut rng).unwrap();
    let pushed = |name: &str, age: IntegerColumn| {
        let bytes = owner.client.upload_columns(&[("age".into(), age.into())]).unwrap();
        push(&client, &owner.file(name, &bytes))
    };
    let plain = pushed("plain", age.clone().without_index());
    let indexed = pushed("indexed", age);
    let text = "adult = age >= 18";
    let products = |request: &JobRequest| client.estimate(request).unwrap().products;
    let (with, without) =
        (products(&program(&keys, &indexed, text)), products(&program(&keys, &plain, text)));
    assert!(with < without, "{with} {without}");
    let digits = program(&keys, &indexed, "adult = without_index(age) >= 18");
    assert_eq!(products(&digits), without);
    for request in [program(&keys, &indexed, text), digits] {
        let done = client.wait(&start(&client, &request), |_| ()).unwrap();
        let bytes = client.fetch(&done.results["adult"], |_, _| ()).unwrap();
        assert_eq!(owner.values(&bytes), [0, 0, 1, 1]);
    }
}

#[test]
fn values_in_several_ciphertexts() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let slots = owner.client.params().slots();
    let values: Vec<u64> = (0..slots as u64 + 5).map(|i| i % 100).collect();
    let keys = push(&client, &owner.keys);
    let x = push(&client, &owner.modular("long", &values));
    let run =
        |text: &str| client.wait(&start(&client, &program_of(&keys, &[("x", &x)], text)), |_| ());
    let done = run("y = x^2 + 1; s = sum(x)").unwrap();
    let residues =
        |name: &str| owner.residues(&client.fetch(&done.results[name], |_, _| ()).unwrap());
    let squares: Vec<u64> = values.iter().map(|v| (v * v + 1) % 65537).collect();
    assert_eq!(residues("y")[..values.len()], squares);
    assert_eq!(residues("s")[0], values.iter().sum::<u64>() % 65537);
    for text in ["y = rotate(x, 1)", "y = sum(x + 1)"] {
        assert_eq!(run(text).unwrap_err().code(), "service.malformed", "{text}");
    }
}

#[test]
fn shorter_arrays_are_padded_if_that_is_asked_for() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let keys = push(&client, &owner.keys);
    let x = push(&client, &owner.modular("x", &[1, 2, 3]));
    let w = push(&client, &owner.modular("w", &[10, 20]));
    let mut request = program_of(&keys, &[("w", &w), ("x", &x)], "y = x + w");
    let refused = client.wait(&start(&client, &request), |_| ()).unwrap_err();
    assert_eq!(refused.code(), "service.malformed");
    let JobRequest::Program { pad, .. } = &mut request else { unreachable!() };
    *pad = true;
    let done = client.wait(&start(&client, &request), |_| ()).unwrap();
    let bytes = client.fetch(&done.results["y"], |_, _| ()).unwrap();
    assert_eq!(owner.residues(&bytes)[..4], [11, 22, 3, 0]);
    // Typed integers have one length.
    let column = push(&client, &owner.columns("v", &[("v", &[1, 2])]));
    let mut request = program(&keys, &column, "y = v + 1");
    let JobRequest::Program { pad, .. } = &mut request else { unreachable!() };
    *pad = true;
    let refused = client.wait(&start(&client, &request), |_| ()).unwrap_err();
    assert_eq!(refused.code(), "service.malformed");
}

#[test]
fn a_public_table_is_looked_up() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let kind = Type::ranged(0, 3).unwrap();
    let column = owner.client.encrypt_integers(&[3u8, 0, 2], kind, &mut rng).unwrap();
    let bytes = owner.client.upload_columns(&[("x".into(), column.into())]).unwrap();
    let keys = push(&client, &owner.keys);
    let x = push(&client, &owner.file("table", &bytes));
    let mut request = program(&keys, &x, "price = table(x, PRICES)");
    let refused = client.wait(&start(&client, &request), |_| ()).unwrap_err();
    assert!(refused.to_string().contains("the program reads PRICES"), "{refused}");
    let JobRequest::Program { tables, .. } = &mut request else { unreachable!() };
    *tables = BTreeMap::from([("PRICES".into(), vec![7, -1, 300, 12])]);
    assert!(client.estimate(&request).unwrap().seconds > 0.0);
    let done = client.wait(&start(&client, &request), |_| ()).unwrap();
    let bytes = client.fetch(&done.results["price"], |_, _| ()).unwrap();
    assert_eq!(owner.values(&bytes), [12, 7, 300]);
}
