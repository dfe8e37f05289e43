//! Orders of columns with general keys, counted on the no-op scheme, and plans that share ranks.

use std::sync::Arc;

use everlevel::{Client, Expr, Plan, PlannedColumn, general_keys};
use everlevel_circuit::PrimePower;
use everlevel_integers::{Column, Encoded, Integers, IntegersError, Order, Type, no_op_session};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{KeyPlan, NoOp, OptIn, Params, Plaintext};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

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

type Planned = Expr<PlannedColumn>;

/// A result and how it follows from the column.
type Named<'a> = (&'a str, fn(&Planned) -> Planned);

/// A plan of some results of one column.
fn plan(results: &[Named]) -> Plan {
    let traced = Plan::trace(|g| {
        let x = g.input("x", Type::ranged(0, 4_000)?, 5);
        for (name, result) in results {
            g.output(name, &result(&x));
        }
        Ok(())
    });
    traced.unwrap()
}

/// A plan of several results of one column takes one ranking, is run as it was planned, by its own
/// keys, and computes on the same column one operation after the other.
#[test]
fn plans_share_ranks() {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let results: [Named; 4] = [
        ("middle", |x| x.median()),
        ("top", |x| x.maximum()),
        ("best", |x| x.argmax()),
        ("low", |x| x.sorted(Order::Ascending, 2)),
    ];
    let together = plan(&results);
    let products = |plan: &Plan| plan.explain(&params).unwrap().total().products;
    let apart: u64 = results.iter().map(|result| products(&plan(&[*result]))).sum();
    let found = products(&together);
    assert!(found < apart, "{found} products instead of {apart}");

    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let client = Client::new(&params, &mut rng);
    let server = together.server(&client, &mut rng).unwrap();
    let x = client.encrypt_for(&together, "x", &[12, 3_999, 700, 3_999, 8], &mut rng).unwrap();
    let run = together.run(&server, &[x]).unwrap();
    let opened = run.iter().map(|(name, x)| (&name[..], client.decrypt_column::<u16>(x).unwrap()));
    let expected =
        [("middle", vec![700u16]), ("top", vec![3_999]), ("best", vec![1]), ("low", vec![8, 12])];
    assert_eq!(opened.collect::<Vec<_>>(), expected);
    let refreshes = together.explain(&params).unwrap().total().refreshes;
    assert_eq!(server.bootstraps() as u64, refreshes);

    // One column for two arguments is computed on as two columns, as it was planned.
    let both = Plan::trace(|g| {
        let [x, y] = ["x", "y"].map(|name| g.input(name, Type::U8, 5));
        for (name, result) in
            [("a", x.maximum()), ("b", y.argmax()), ("c", x.median()), ("d", y.minimum())]
        {
            g.output(name, &result);
        }
        Ok(())
    });
    let both = both.unwrap();
    let server = both.server(&client, &mut rng).unwrap();
    let mut fresh = || client.encrypt_for(&both, "x", &[12, 255, 70, 255, 8], &mut rng).unwrap().1;
    let (x, other) = (fresh(), fresh());
    let bootstraps = [&other, &x].map(|y| {
        let before = server.bootstraps();
        let run = both.run(&server, &[("x".into(), x.clone()), ("y".into(), y.clone())]).unwrap();
        let opened = run.iter().map(|(_, x)| client.decrypt_column::<u8>(x).unwrap());
        assert_eq!(opened.collect::<Vec<_>>(), [[255], [1], [70], [8]]);
        server.bootstraps() - before
    });
    assert_eq!(bootstraps[0], bootstraps[1]);

    // Expressions of columns, on several threads, too.
    let server = client.server(&mut rng).unwrap();
    let x = client.encrypt_integers(&[3u8, 9, 9, 0], Type::U8, &mut rng).unwrap();
    let x = Expr::new(x);
    let found = server.compute_each([&x.argmax(), &x.minimum(), &x.argmin()]).unwrap();
    let values = found.map(|x| client.decrypt_integers::<u8>(&x).unwrap());
    assert_eq!(values, [[1], [0], [3]]);
}
