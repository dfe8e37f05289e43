//! Columns of typed integers with an index, encrypted, computed on and exchanged.

use std::fs;
use std::path::{Path, PathBuf};

use everlevel::files::{BoundPolicy, Bounds, Bytes, Metadata, OpenOptions, ReadOptions};
use everlevel::{
    Client, Error, IntegerColumn, IntegerValue, NamedIntegers, OptIn, Params, Plan, Server, Type,
    general_keys,
};

fn parties() -> Result<(Client, Server), Error> {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
    let mut rng = everlevel::system_rng()?;
    let client = Client::new(&params, &mut rng);
    let server = Server::leveled(client.server_keys(&general_keys(&params)?, &mut rng)?);
    Ok((client, server))
}

/// The only column of some.
fn only(columns: Vec<NamedIntegers>) -> IntegerColumn {
    match columns.into_iter().next() {
        Some((_, IntegerValue::Column(x))) => x,
        _ => panic!("a column"),
    }
}

#[test]
fn an_index_is_encrypted_and_read() -> Result<(), Error> {
    let (client, server) = parties()?;
    let mut rng = everlevel::system_rng()?;
    let ages: Vec<u8> = (0..=255).collect();
    let age = client.encrypt_indexed(&ages, Type::U8, &mut rng)?;
    let upload = client.upload_columns(&[("age".into(), age.into())])?;
    let age = only(server.receive_columns(&upload, &Bounds::Fresh)?);
    assert!(age.has_index());

    let ints = server.integers()?;
    let table: Vec<i128> = (0..256).map(|v| v * v / 7).collect();
    let before = server.evaluator().cost();
    let found = ints.lookup(&age, &table)?;
    // Results have four digits, the last one of which is 0 but for a few values.
    let taken = server.evaluator().cost() - before;
    assert!(taken.key_switches <= 4 && taken.products <= 60, "{taken:?}");
    assert_eq!(client.decrypt_integers::<i128>(&found)?, table);
    let adult = ints.ge(&age, 18)?;
    let expected: Vec<u8> = ages.iter().map(|v| u8::from(*v >= 18)).collect();
    assert_eq!(client.decrypt_integers::<u8>(&adult)?, expected);
    let older = ints.add(&age, 3)?;
    let expected: Vec<u16> = ages.iter().map(|v| u16::from(*v) + 3).collect();
    assert_eq!(client.decrypt_integers::<u16>(&older)?, expected);
    Ok(())
}

#[test]
fn an_index_travels_with_its_column() -> Result<(), Error> {
    let (client, server) = parties()?;
    let mut rng = everlevel::system_rng()?;
    let kind = Type::ranged(-5, 60)?;
    let x = client.encrypt_indexed(&[-5i8, 0, 31, 60], kind, &mut rng)?;
    let plain = client.encrypt_integers(&[1u8, 2], Type::U8, &mut rng)?;
    let columns: Vec<NamedIntegers> = vec![("x".into(), x.into()), ("y".into(), plain.into())];
    let bytes = client.upload_columns(&columns)?;
    let found = server.receive_columns(&bytes, &Bounds::Fresh)?;
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x", "y"]);
    let [(_, IntegerValue::Column(x)), (_, IntegerValue::Column(y))] = &found[..] else {
        panic!("two columns")
    };
    assert!(x.has_index() && !y.has_index());
    // A server's answer has the indexes of columns that it passes on.
    let answer = server.answer_columns(&found)?;
    let read = client.read_columns(&answer)?;
    assert_eq!(read.len(), 2);
    assert!(only(read).has_index());
    // What can only be decrypted has none.
    let small = client.read_compact_columns(&server.answer_compact_columns(&found)?)?;
    assert_eq!(small.len(), 2);
    assert_eq!(client.decrypt_compact_column::<i8>(&small[0].1)?, [-5, 0, 31, 60]);

    // The same columns without one of the truth values, or with another one in its place.
    let index = x.index().unwrap_or_default();
    let written = |bits: &[(String, IntegerColumn)], indexes: &str| {
        let digits = ("x".to_string(), IntegerValue::from(x.clone().without_index()));
        let bits = bits.iter().map(|(name, bit)| (name.clone(), IntegerValue::from(bit.clone())));
        let all: Vec<NamedIntegers> = std::iter::once(digits).chain(bits).collect();
        let stated = Metadata::from([("indexes".into(), indexes.into())]);
        all.to_bytes_with(client.params(), &stated)
    };
    let named = |(step, bit): &((usize, i64), IntegerColumn)| {
        (format!("x%{}.{}", step.0, step.1), bit.clone())
    };
    let bits: Vec<(String, IntegerColumn)> = index.iter().map(named).collect();
    let code = |bytes: Vec<u8>| match server.receive_columns(&bytes, &Bounds::Fresh) {
        Ok(_) => "",
        Err(e) => e.code(),
    };
    assert_eq!(code(written(&bits, r#"["x"]"#)?), "");
    assert_eq!(code(written(&bits[1..], r#"["x"]"#)?), "wire.columns");
    let mut swapped = bits.clone();
    swapped[0].1 = y.clone();
    assert_eq!(code(written(&swapped, r#"["x"]"#)?), "wire.columns");
    assert_eq!(code(written(&bits, r#"["x%0.1"]"#)?), "wire.columns");
    assert_eq!(code(written(&bits, r#"["x", "x%0.1"]"#)?), "wire.columns");
    assert_eq!(code(written(&bits, r#"["x", "x"]"#)?), "wire.malformed");
    assert_eq!(code(written(&bits, r#"["z"]"#)?), "wire.malformed");
    assert_eq!(code(written(&bits, r#"{"x": 1}"#)?), "wire.malformed");
    Ok(())
}

/// The stored columns of `everlevel-wire`, whose truth values are joined to their column.
#[test]
fn a_stored_index_is_read_and_written_again() -> Result<(), Error> {
    let stored = |kind: &str| -> PathBuf {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/wire/tests/golden/v2");
        golden.join(format!("insecure_bgv-257-n8.{kind}"))
    };
    let options = OpenOptions::default().accepting(OptIn::InsecureResearch);
    let client = Client::open(&stored("secret_key"), &options)?;
    let bytes = fs::read(stored("indexed_columns")).unwrap();
    let options = ReadOptions::with_bounds(BoundPolicy::Stated);
    let (found, metadata) =
        Vec::<NamedIntegers>::from_bytes_with(client.params(), &bytes, &options)?;
    assert_eq!(metadata, Metadata::from([("written by".into(), "format 2".into())]));
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x", "x%0.12"]);
    assert!(found.to_bytes_with(client.params(), &metadata)? == bytes);
    let x = only(found);
    assert_eq!(client.decrypt_integers::<i8>(&x)?, [3, -1]);
    // Digits are counted from -8.
    assert_eq!(x.steps(), [(0, 7), (0, 8), (0, 9), (0, 10), (0, 11)]);
    for ((_, least), bit) in x.index().unwrap_or_default() {
        assert_eq!(client.decrypt_integers::<i64>(&bit)?, [1, i64::from(7 >= least)]);
    }
    assert!(x.has_index());
    Ok(())
}

/// What a plan counts is what is done, also on arguments that have an index.
#[test]
fn a_plan_reads_no_index() -> Result<(), Error> {
    // Few slots take less to bootstrap.
    let params = Params::named("insecure_bgv-65537-n11-s64", OptIn::InsecureResearch)?;
    let plan = Plan::trace(|g| {
        let age = g.input("age", Type::U8, 3);
        let income = g.input("income", Type::ranged(0, 1 << 20)?, 3);
        let poor = age.lt(25) & income.lt(30_000);
        let granted = poor.select(income.div_floor(2), &income);
        g.output("steps", &((&granted + &age) * (&age - 7)).wrapped(Type::U16));
        Ok(())
    })?;
    // So that arguments are encrypted at the top, as columns with an index are.
    assert!(plan.explain(&params)?.bootstraps);
    let mut rng = everlevel::system_rng()?;
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng)?;
    let ages = [20u8, 24, 25];
    let plain = client.encrypt_for(&plan, "age", &ages, &mut rng)?;
    let indexed = client.encrypt_indexed(&ages, Type::U8, &mut rng)?;
    let mut products = |age: NamedIntegers| -> Result<_, Error> {
        let income = client.encrypt_for(&plan, "income", &[9_000, 50_000, 9_000], &mut rng)?;
        let before = server.evaluator().cost();
        let found = plan.run(&server, &[age, income])?;
        let taken = server.evaluator().cost() - before;
        let steps = [4_520 * 13, 50_024 * 17, 9_025 * 18].map(|v| v & 0xffff);
        assert_eq!(client.decrypt_column::<i64>(&found[0].1)?, steps);
        Ok(taken.products)
    };
    let planned = products(plain)?;
    assert_eq!(products(("age".into(), indexed.into()))?, planned);
    Ok(())
}

/// A plan for an argument with an index counts what the index takes and what it saves, and is run
/// with the keys that it states.
#[test]
fn a_plan_counts_an_index() -> Result<(), Error> {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
    let table: Vec<i128> = (0..256).map(|v| v * v / 7).collect();
    let traced = |indexed: bool| {
        Plan::trace(|g| {
            let age = match indexed {
                true => g.indexed_input("age", Type::U8, 4),
                false => g.input("age", Type::U8, 4),
            };
            g.output("squared", &age.lookup(&table));
            g.output("adult", &age.ge(18));
            Ok(())
        })
    };
    let (plan, plain) = (traced(true)?, traced(false)?);
    let (estimate, without) = (plan.explain(&params)?, plain.explain(&params)?);
    assert_eq!((estimate.input_ciphertexts, without.input_ciphertexts), (2 + 30, 2));
    let (counted, digits) = (estimate.total(), without.total());
    assert!(counted.products < digits.products, "{counted:?} {digits:?}");
    assert!(counted.key_switches < digits.key_switches, "{counted:?} {digits:?}");
    assert!(counted.seconds < digits.seconds, "{counted:?} {digits:?}");

    let mut rng = everlevel::system_rng()?;
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng)?;
    assert_eq!(server.keys().plan(), estimate.keys);
    let ages = [3u8, 17, 18, 255];
    let age = client.encrypt_for(&plan, "age", &ages, &mut rng)?;
    let upload = client.upload_columns(std::slice::from_ref(&age))?;
    let received = server.receive_columns(&upload, &Bounds::Fresh)?;
    let before = server.evaluator().cost();
    let found = plan.run(&server, &received)?;
    let taken = server.evaluator().cost() - before;
    assert_eq!((taken.products, taken.key_switches), (counted.products, counted.key_switches));
    assert!(taken.scaled_bytes > 0);
    assert_eq!(client.decrypt_column::<i128>(&found[0].1)?, ages.map(|v| table[usize::from(v)]));
    assert_eq!(client.decrypt_column::<u8>(&found[1].1)?, [0, 0, 1, 1]);

    // A column without the index that was planned for, and a type that has none.
    let digits = client.encrypt_integers(&ages, Type::U8, &mut rng)?;
    let refused = plan.run(&server, &[("age".into(), digits.into())]).map(|_| ()).unwrap_err();
    assert_eq!(refused.code(), "integers.parts");
    assert!(refused.to_string().contains("has no index"), "{refused}");
    let bits = Plan::trace(|g| {
        let bit = g.indexed_input("bit", Type::Bool, 4);
        g.output("not", &!&bit);
        Ok(())
    });
    assert_eq!(bits?.explain(&params).map(|_| ()).unwrap_err().code(), "integers.type");
    Ok(())
}

/// What an index decides is bootstrapped as often as was said, where more is computed from it than
/// it has levels for.
#[test]
fn a_plan_bootstraps_behind_an_index() -> Result<(), Error> {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
    let plan = Plan::trace(|g| {
        let age = g.indexed_input("age", Type::U8, 3);
        let income = g.indexed_input("income", Type::ranged(0, 1 << 20)?, 3);
        let poor = age.lt(25) & income.lt(30_000);
        let granted = poor.select(income.div_floor(2), &income);
        g.output("steps", &((&granted + &age) * (&age - 7)).wrapped(Type::U16));
        g.total("poor", &poor);
        Ok(())
    })?;
    let estimate = plan.explain(&params)?;
    assert!(estimate.bootstraps && estimate.total().refreshes > 0);
    let mut rng = everlevel::system_rng()?;
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng)?;
    let age = client.encrypt_for(&plan, "age", &[20u8, 24, 25], &mut rng)?;
    let income = client.encrypt_for(&plan, "income", &[9_000, 50_000, 9_000], &mut rng)?;
    let found = plan.run(&server, &[age, income])?;
    let steps = [4_520 * 13, 50_024 * 17, 9_025 * 18].map(|v| v & 0xffff);
    assert_eq!(client.decrypt_column::<i64>(&found[0].1)?, steps);
    assert_eq!(client.decrypt_column::<u8>(&found[1].1)?, [1]);
    assert_eq!(server.bootstraps() as u64, estimate.total().refreshes);
    Ok(())
}
