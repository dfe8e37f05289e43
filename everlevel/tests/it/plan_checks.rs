//! Which operations of a plan are computed at the same time, and what is rehearsed before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everlevel::{
    Client, Error, Estimate, Expr, IntegerColumn, IntegerValue, KeyPlan, Keys, NamedIntegers,
    OptIn, Params, Plaintext, Plan, PlannedColumn, Server, Type, bootstrap_plan, general_keys,
};
use everlevel_integers::{Encoded, Operation};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const VALUES: [u8; 4] = [2, 3, 15, 0];

fn toy() -> Params {
    Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap()
}

fn kind() -> Type {
    Type::ranged(0, 15).unwrap()
}

fn plan(
    output: impl FnOnce(&Expr<PlannedColumn>, &Expr<PlannedColumn>) -> Expr<PlannedColumn>,
) -> Plan {
    let traced = Plan::trace(|g| {
        let [x, y] = ["x", "y"].map(|name| g.input(name, kind(), 4));
        g.output("z", &output(&x, &y));
        Ok(())
    });
    traced.unwrap()
}

/// The arguments of such a plan, encrypted for it.
fn arguments(client: &Client, plan: &Plan, rng: &mut ChaCha20Rng) -> [NamedIntegers; 2] {
    ["x", "y"].map(|name| client.encrypt_for(plan, name, &VALUES, rng).unwrap())
}

#[test]
fn operations_that_do_not_need_each_other() {
    let plan = plan(|x, y| (x.lt(3) & y.gt(5)) & x.eq(7));
    let at_once = |threads: usize| plan.schedule(threads, true).unwrap();
    assert_eq!(at_once(1), [["lt"], ["gt"], ["and"], ["eq"], ["and"]]);
    assert_eq!(at_once(2), [vec!["lt", "gt"], vec!["and"], vec!["eq"], vec!["and"]]);
    // The first operation after both comparisons reads two ciphertexts of its own.
    assert_eq!(at_once(3), [vec!["lt", "gt"], vec!["and", "eq"], vec!["and"]]);
}

#[test]
fn operations_that_read_a_ciphertext_in_common() {
    let plan = plan(|x, y| x.lt(3) & (x + y).gt(5));
    let at_once = |bootstraps: bool| plan.schedule(8, bootstraps).unwrap();
    assert_eq!(at_once(true), [vec!["lt"], vec!["add"], vec!["gt"], vec!["and"]]);
    assert_eq!(at_once(false), [vec!["lt", "add"], vec!["gt"], vec!["and"]]);
}

#[test]
fn operations_that_share_ranks_follow_each_other() {
    let plan = plan(|x, y| x.maximum() + x.median() + y.maximum());
    for bootstraps in [false, true] {
        let found = plan.schedule(8, bootstraps).unwrap();
        assert_eq!(found[..2], [vec!["nth"], vec!["quantile", "nth"]], "{bootstraps}");
    }
}

/// How many operations are computed at the same time decides neither about results nor about which
/// of two errors is reported: the first one.
#[test]
fn results_and_errors_do_not_depend_on_threads() {
    let params = toy();
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let client = Client::new(&params, &mut rng);
    let plan = plan(|x, y| (x.lt(10) | y.gt(14)) & x.ne(2));
    let server = plan.server(&client, &mut rng).unwrap();
    let inputs = arguments(&client, &plan, &mut rng);
    // What fails needs no keys.
    let keyless = client.server_keys(&KeyPlan::default(), &mut rng).unwrap();
    let keyless = Server::leveled(keyless);
    let [table, quotient] = [(); 2].map(|()| {
        let column = client.encrypt_integers(&VALUES, kind(), &mut rng).unwrap();
        Expr::new(column)
    });
    let (table, quotient) = (table.lookup(&[1, 2]), quotient.div_floor(0));
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = pool.install(|| plan.run(&server, &inputs)).unwrap();
        let found = client.decrypt_column::<u8>(&run[0].1).unwrap();
        assert_eq!(found, [0, 1, 1, 1], "{threads} threads");
        for (both, code) in
            [([&table, &quotient], "integers.table"), ([&quotient, &table], "integers.type")]
        {
            let error = pool.install(|| keyless.compute_all(both)).map(|_| ()).unwrap_err();
            assert_eq!(error.code(), code, "{threads} threads: {error}");
        }
    }
}

/// A plan of a comparison and a selection by it, on a set, with its cost.
fn compared(params: &Params) -> (Plan, Estimate) {
    let plan = plan(|x, y| y.lt(3).select(&(y * y), x).lt(10));
    let estimate = plan.explain(params).unwrap();
    assert!(!estimate.bootstraps);
    (plan, estimate)
}

const COMPARED: [u8; 4] = [1, 1, 0, 1];

/// Keys that count how often they are asked for: rehearsals ask whether they are still wanted, as
/// well as computations do.
fn counted(keys: impl Into<Keys>) -> (Keys, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let asked = count.clone();
    let keys = keys.into().cancelled_by(move || {
        count.fetch_add(1, Ordering::Relaxed);
        false
    });
    (keys, asked)
}

/// Arguments that only look like those of the plan are not taken for these: what the slots behind
/// the entries hold decides what is done, too.
#[test]
fn arguments_with_other_digits_are_rehearsed() {
    let params = toy();
    let (plan, estimate) = compared(&params);
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let client = Client::new(&params, &mut rng);
    let (keys, count) = counted(client.server_keys(&estimate.keys, &mut rng).unwrap());
    let server = Server::leveled(keys);
    let mut argument = |name: &str, pad: i128| -> NamedIntegers {
        let level = estimate.inputs.iter().find(|x| x.name == name).unwrap().level.unwrap();
        let values = VALUES.map(i128::from);
        let encoded = Encoded::padded(&values, kind(), params.slots(), pad).unwrap();
        let column: Result<IntegerColumn, Error> = encoded.encrypt(|slots| {
            let plain = Plaintext::encode(&params, slots)?;
            Ok(client.secret().encrypt_at(&plain, level, &mut rng)?)
        });
        (name.into(), column.unwrap().into())
    };
    let mut asked = |pad: i128| {
        let inputs = [argument("x", 0), argument("y", pad)];
        let before = count.load(Ordering::Relaxed);
        let run = plan.run(&server, &inputs).unwrap();
        assert_eq!(client.decrypt_column::<u8>(&run[0].1).unwrap(), COMPARED, "{pad}");
        count.load(Ordering::Relaxed) - before
    };
    let (own, other) = (asked(0), asked(7));
    assert!(own > 0 && other > own, "{own} {other}");
}

/// The program of [`compared`] without a check.
fn unchecked(
    server: &Server,
    estimate: &Estimate,
    [x, y]: &[IntegerColumn; 2],
) -> Result<IntegerColumn, Error> {
    let ints = server.integers()?.side_by_side(estimate.side_by_side);
    let low = ints.lt(y, 3)?;
    let square = ints.operate(&Operation::Multiply, &[y.into(), y.into()])?;
    Ok(ints.lt(&ints.select(&low, &square, x)?, 10)?)
}

/// Keys of a plan without bootstrapping on a server that has it, and keeps capacity for it: what is
/// not refused before it begins is computed.
#[test]
fn a_server_of_another_kind_is_rehearsed() {
    let params = toy();
    let (plan, estimate) = compared(&params);
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let client = Client::new(&params, &mut rng);
    let (keys, count) = counted(client.server_keys(&estimate.keys, &mut rng).unwrap());
    let leveled = Server::leveled(keys.clone());
    let other = Server::new(keys, bootstrap_plan(&params).unwrap()).unwrap();
    // Of its own for each run, as a server may replace what it computes on.
    let mut asked_by = |server: &Server| {
        let inputs = arguments(&client, &plan, &mut rng);
        let before = count.load(Ordering::Relaxed);
        let found = plan.run(server, &inputs);
        (found, count.load(Ordering::Relaxed) - before)
    };
    let (found, whole) = asked_by(&leveled);
    assert_eq!(client.decrypt_column::<u8>(&found.unwrap()[0].1).unwrap(), COMPARED);
    let (found, asked) = asked_by(&other);
    // What would be computed without a check, and the code with which it would end.
    let columns = arguments(&client, &plan, &mut rng).map(|(_, x)| match x {
        IntegerValue::Column(x) => x,
        IntegerValue::Total(_) => panic!("an argument is a column"),
    });
    let before = count.load(Ordering::Relaxed);
    let direct = unchecked(&other, &estimate, &columns);
    let direct_asked = count.load(Ordering::Relaxed) - before;
    let code = |error: &Error| error.code();
    assert_eq!(found.as_ref().err().map(code), direct.as_ref().err().map(code));
    match found {
        Ok(run) => assert_eq!(client.decrypt_column::<u8>(&run[0].1).unwrap(), COMPARED),
        // A whole rehearsal and a computation that ends early would have asked more often.
        Err(error) => assert!(asked < direct_asked + whole, "{error}: {asked}, {direct_asked}"),
    }
}

/// Fewer relinearization keys serve every level, too, as those of one program may: what they
/// suffice for is rehearsed.
#[test]
fn work_on_smaller_keys_is_rehearsed() {
    let params = toy();
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let client = Client::new(&params, &mut rng);
    let all = general_keys(&params).unwrap();
    let smaller = all.smaller(&params);
    assert!(smaller.relin.len() < all.relin.len() && !smaller.covers(&all));
    let keys = Keys::from(client.server_keys(&smaller, &mut rng).unwrap());
    let leveled = Server::leveled(keys.clone());
    assert!(!leveled.is_general() && leveled.rehearsal().unwrap().is_some());
    let server = Server::new(keys, bootstrap_plan(&params).unwrap()).unwrap();
    assert!(!server.is_general() && server.rehearsal().unwrap().is_some());
    let plan = compared(&params).0;
    let inputs = arguments(&client, &plan, &mut rng);
    let run = plan.run(&server, &inputs).unwrap();
    assert_eq!(client.decrypt_column::<u8>(&run[0].1).unwrap(), COMPARED);
}
