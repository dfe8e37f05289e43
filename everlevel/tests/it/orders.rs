//! Orders of columns with general keys, counted on the no-op scheme.

use std::sync::Arc;

use everlevel::general_keys;
use everlevel_circuit::PrimePower;
use everlevel_integers::{Column, Encoded, Integers, IntegersError, Order, Type, no_op_session};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{KeyPlan, NoOp, OptIn, Params, Plaintext};

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// Whether a server with `held` has all that `used` lists, each for the primes that it is used
/// with.
fn covered(used: &KeyPlan, held: &KeyPlan) -> bool {
    let galois = used.galois.iter().map(|(key, basis)| (held.galois.get(key), basis));
    let relin = used.relin.iter().map(|(key, basis)| (held.relin.get(key), basis));
    let mut keys = galois.chain(relin);
    keys.all(|(held, basis)| held.is_some_and(|held| basis.is_subset(*held)))
}

/// Bootstrappings, at most, of 128 fresh entries on the set that everything here is for, by a
/// server that has general keys. They are those with keys for the program: rotations are at 710 of
/// 760 bits.
#[test]
fn fresh_entries_take_few_bootstrappings_with_general_keys() {
    let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let keys = general_keys(&params).unwrap();
    let ranks: Operation = |s, x| s.ranks(x, Order::Descending);
    let sorted: Operation = |s, x| s.sorted(x, Order::Ascending, 128);
    let places: Operation = |s, x| s.argsorted(x, Order::Ascending, 128);
    let median: Operation = |s, x| s.median(x);
    for (name, operation, kind, refreshes) in [
        ("ranks", ranks, Type::U8, 0),
        ("ranks", ranks, Type::U16, 0),
        ("sorted", sorted, Type::U8, 1),
        ("sorted", sorted, Type::U16, 1),
        ("argsorted", places, Type::U16, 1),
        ("median", median, Type::U16, 1),
    ] {
        let scheme = Arc::new(NoOp::blank(&params).holding(keys.clone()));
        let session = no_op_session(&params, scheme.clone(), true).unwrap();
        let ints = Integers::new(&session, &params).unwrap();
        let encoded = Encoded::new(&[7; 128], kind, params.slots()).unwrap();
        let x =
            encoded.encrypt(|slots| scheme.encrypt(&Plaintext::encode(&params, slots)?)).unwrap();
        operation(&ints, &x).unwrap();
        let found = session.bootstraps();
        assert!(found <= refreshes, "{name} of {kind}: {found} bootstrappings");
        assert!(covered(&scheme.key_plan(), &keys), "{name} of {kind}: keys that nobody has");
    }
}

/// Values are right whichever keys rotations take: of pairs that fill a row, that leave a part of
/// it empty, and that need both rows.
#[test]
fn columns_are_ordered_with_general_keys() {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let keys = general_keys(&params).unwrap();
    let scheme = Arc::new(NoOp::new(&params, 1).holding(keys.clone()));
    let session = no_op_session(&params, scheme.clone(), true).unwrap();
    let ints = Integers::new(&session, &params).unwrap();
    let modulus = PrimePower::new(params.plain_modulus(), 1).unwrap();
    let open = |c: &NoOpCiphertext| Ok::<_, IntegersError>(scheme.decrypt(c)?.decode(&params)?);
    for n in [12usize, 20, 32, 40, 50] {
        let mut xs: Vec<i128> = (0..n as i128).map(|i| i * i * 29 % 37).collect();
        let encoded = Encoded::new(&xs, Type::U8, params.slots()).unwrap();
        let x =
            encoded.encrypt(|slots| scheme.encrypt(&Plaintext::encode(&params, slots)?)).unwrap();
        xs.sort_unstable();
        let found = ints.sorted(&x, Order::Ascending, n).unwrap();
        assert_eq!(found.decrypt(modulus, open).unwrap()[..], xs[..], "{n} entries");
        let found = ints.median(&x).unwrap();
        assert_eq!(found.decrypt(modulus, open).unwrap()[..], [xs[(n - 1) / 2]], "{n} entries");
    }
    assert!(covered(&scheme.key_plan(), &keys), "keys that nobody has");
}
