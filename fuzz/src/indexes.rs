//! What the fuzz target of indexes does with the bytes of columns of typed integers: truth values
//! are joined to their columns, decide, are decrypted, and written again. Nothing here may panic,
//! whatever the bytes. The tests of `everlevel` run all of it over the corpus and over changes to
//! its columns.

use std::sync::OnceLock;

use everlevel::files::{BoundPolicy, Bytes, ReadOptions};
use everlevel::{
    Client, Error, IntegerColumn, IntegerValue, KeyPlan, NamedIntegers, OptIn, Params, ParamsSpec,
    Server, Type,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Larger objects are none of the corpus, and only take time.
const LIMIT: u64 = 1 << 16;

/// Owner and server of a ring as small as there are for typed integers.
struct Party {
    client: Client,
    server: Server,
}

fn party() -> &'static Party {
    static ONE: OnceLock<Party> = OnceLock::new();
    ONE.get_or_init(|| {
        let spec = ParamsSpec {
            base_bits: 36,
            word_bits: 40,
            words: 6,
            ..ParamsSpec::new("insecure_fuzz-integers", 32, 257)
        };
        let set = Params::new(spec, OptIn::InsecureResearch).expect("a set that holds together");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let client = Client::new(&set, &mut rng);
        let keys = client.server_keys(&KeyPlan::relinearization(&set), &mut rng);
        Party { client, server: Server::leveled(keys.expect("a plan of the set")) }
    })
}

/// The set of all columns here.
pub fn params() -> &'static Params {
    party().client.params()
}

/// Columns with an index and without one, with a name: what fuzzing begins with.
///
/// # Errors
/// What encrypting refuses, which would be a mistake here.
pub fn seeds() -> Result<Vec<(String, Vec<u8>)>, Error> {
    let client = &party().client;
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let mut all = Vec::new();
    for (name, (low, high), values) in [
        ("negative", (-1, 2), [2i8, -1]),
        ("public-digit", (19, 22), [19, 22]),
        ("two-digits", (0, 31), [17, 14]),
    ] {
        let x = client.encrypt_indexed(&values, Type::ranged(low, high)?, &mut rng)?;
        let y = client.encrypt_integers(&[7i8], Type::ranged(5, 7)?, &mut rng)?;
        let columns: [NamedIntegers; 2] = [("y".into(), y.into()), ("x".into(), x.into())];
        all.push((name.into(), client.upload_columns(&columns)?));
    }
    Ok(all)
}

/// Joins the indexes of columns to them and uses them. Whether there was an index, and each decided
/// as the digits of its column have it.
pub fn indexes(bytes: &[u8]) -> bool {
    let options = ReadOptions::with_bounds(BoundPolicy::Stated)
        .limited_to(LIMIT)
        .allowing_unknown_owner(true);
    let read = |bytes: &[u8]| Vec::<NamedIntegers>::from_bytes_with(params(), bytes, &options);
    let Ok((columns, metadata)) = read(bytes) else { return false };
    let written = columns.to_bytes_with(params(), &metadata).expect("what was accepted is written");
    let (again, told) = read(&written).expect("what was written is read");
    assert_eq!((names(&again), told), (names(&columns), metadata));
    let mut found = Vec::new();
    for (_, x) in columns.iter().take(4) {
        let _ = party().client.decrypt_column::<i128>(x);
        match x {
            IntegerValue::Column(x) if x.has_index() => found.push(decides(party(), x)),
            _ => {}
        }
    }
    found.contains(&true) && !found.contains(&false)
}

/// The names of columns, and whether they have an index.
fn names(columns: &[NamedIntegers]) -> Vec<(&str, bool)> {
    let indexed = |x: &IntegerValue| matches!(x, IntegerValue::Column(x) if x.has_index());
    columns.iter().map(|(name, x)| (name.as_str(), indexed(x))).collect()
}

/// Whether an index decides a comparison as the digits have it: that it does is a claim of whoever
/// wrote it.
fn decides(Party { client, server }: &Party, x: &IntegerColumn) -> bool {
    let bits = x.index().expect("a column with an index has truth values");
    assert!(bits.iter().map(|(step, _)| *step).eq(x.steps()));
    for (_, bit) in &bits {
        let _ = client.decrypt_integers::<i128>(bit);
    }
    let Ok(values) = client.decrypt_integers::<i128>(x) else { return false };
    let middle = x.interval().low() / 2 + x.interval().high() / 2;
    let found = server.integers().and_then(|ints| Ok(ints.ge(x, middle)?));
    let found = found.and_then(|y| client.decrypt_integers::<i128>(&y));
    let expected: Vec<i128> = values.iter().map(|v| i128::from(*v >= middle)).collect();
    found.is_ok_and(|found| found == expected)
}
