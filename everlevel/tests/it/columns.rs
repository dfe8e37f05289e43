//! A client and a server that exchange columns of typed integers as bytes.

use std::sync::Arc;

use everlevel::files::{Bounds, Bytes, Manifest, Metadata, ReadOptions};
use everlevel::{
    Client, Error, IntegerValue, KeyPlanner, NamedIntegers, OptIn, Params, Type, general_keys,
};
use everlevel_wire::columns;

#[test]
fn columns_travel_as_bytes() -> Result<(), Error> {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
    let mut rng = everlevel::system_rng()?;
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params)?;
    let server = client.server_for(
        &general_keys(&params)?,
        planner.bootstrap_plan(),
        &mut rng,
        |_, _| (),
    )?;
    let (ages, limits) = ([17u8, 44, 90], [-5i32, 70_000, 12]);
    let upload = client.upload_columns(&[
        ("age".into(), client.encrypt_integers(&ages, Type::U8, &mut rng)?.into()),
        ("limit".into(), client.encrypt_integers(&limits, Type::I32, &mut rng)?.into()),
    ])?;
    let found = server.receive_columns(&upload, &Bounds::Fresh)?;
    let [(_, IntegerValue::Column(age)), (name, IntegerValue::Column(limit))] = &found[..] else {
        panic!("two columns")
    };
    assert_eq!((name.as_str(), age.length()), ("limit", Some(3)));

    let ints = server.integers()?;
    let young = ints.lt(age, 50)?;
    let chosen = ints.select(&young, limit, &ints.add(age, 1)?)?;
    let out: Vec<NamedIntegers> = vec![
        ("chosen".into(), chosen.into()),
        ("young".into(), ints.sum(&young)?.into()),
        ("total".into(), ints.sum(limit)?.into()),
    ];
    let answer = server.answer_columns(&out)?;
    let read = client.read_columns(&answer)?;
    let opened: Vec<Vec<i64>> =
        read.iter().map(|(_, x)| client.decrypt_column(x)).collect::<Result<_, _>>()?;
    assert_eq!(opened, [vec![-5, 70_000, 91], vec![2], vec![70_007]]);

    // Reduced to what decryption needs they are smaller, hold the same, and can only be decrypted.
    let small = server.answer_compact_columns(&out)?;
    assert!(2 * small.len() < answer.len(), "{} and {}", small.len(), answer.len());
    let read = client.read_compact_columns(&small)?;
    let opened: Vec<Vec<i64>> =
        read.iter().map(|(_, x)| client.decrypt_compact_column(x)).collect::<Result<_, _>>()?;
    assert_eq!(opened, [vec![-5, 70_000, 91], vec![2], vec![70_007]]);
    assert_eq!(read.to_bytes(&params)?, small);
    let error = server.receive_columns(&small, &Bounds::Stated).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "wire.wrong-kind");
    let stranger = Client::new(&params, &mut rng);
    let error = stranger.decrypt_compact_column::<i64>(&read[0].1).unwrap_err();
    assert_eq!(error.code(), "scheme.wrong-key");
    let error = client.decrypt_compact_column::<u8>(&read[2].1).unwrap_err();
    assert_eq!(error.code(), "integers.value");

    // Results can be computed on by whoever trusts their bounds; a manifest vouches for them.
    let mut manifest = Manifest::new(&params);
    manifest.add(&answer)?;
    for bounds in [Bounds::Stated, Bounds::Manifest(Arc::new(manifest))] {
        let again = server.receive_columns(&answer, &bounds)?;
        let IntegerValue::Column(chosen) = &again[0].1 else { panic!("a column") };
        let doubled = ints.add(chosen, chosen)?;
        assert_eq!(client.decrypt_integers::<i64>(&doubled)?, [-10, 140_000, 182]);
    }
    let refused = |bytes: &[u8], bounds: &Bounds| {
        server.receive_columns(bytes, bounds).map(|_| ()).unwrap_err().code()
    };
    assert_eq!(refused(&answer, &Bounds::Fresh), "wire.malformed");
    let empty = Bounds::Manifest(Arc::new(Manifest::new(&params)));
    assert_eq!(refused(&answer, &empty), "wire.not-in-manifest");
    let two = client.upload_columns(&[out[0].clone(), out[0].clone()]);
    assert_eq!(two.unwrap_err().code(), "wire.columns");

    // What contradicts itself is refused.
    let options = ReadOptions::default();
    let (mut stored, _) = columns::from_bytes(&params, &upload, &options)?;
    for change in [
        |x: &mut columns::StoredColumn| x.high = 256,
        |x: &mut columns::StoredColumn| x.digits[0].pad = 77,
        |x: &mut columns::StoredColumn| x.digits[0].high = 40,
        |x: &mut columns::StoredColumn| x.high = i128::MAX,
    ] {
        let honest = stored[0].clone();
        change(&mut stored[0]);
        let bytes = columns::to_bytes(&params, &stored, &Metadata::new())?;
        let error = Vec::<NamedIntegers>::from_bytes_with(&params, &bytes, &options).map(|_| ());
        let error = error.unwrap_err();
        assert_eq!(error.code(), "wire.columns");
        assert!(error.to_string().contains("column age"), "{error}");
        stored[0] = honest;
    }
    Ok(())
}
