//! Which operations of a plan are computed at the same time, and what is checked before.

use std::collections::BTreeMap;

use everlevel_bgv::Ciphertext;
use everlevel_integers::{Column, Encoded, Encrypted, Estimate, Type};
use everlevel_scheme::{OptIn, Params, Plaintext};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::levels::level_of;
use super::{Plan, PlannedColumn};
use crate::client::Client;
use crate::compute::{Room, evaluate};
use crate::error::Error;
use crate::expression::Expr;
use crate::operand::Argument;
use crate::planner::bootstrap_plan;
use crate::server::Server;

/// The names of operations, by groups.
type Groups = Vec<Vec<&'static str>>;

/// The operations of a plan, by groups, on arguments that are one ciphertext each. Operations of
/// the name `failing` fail.
fn groups(plan: &Plan, room: Room, failing: &str) -> (Groups, Result<Vec<Vec<usize>>, Error>) {
    let roots: Vec<_> = plan.outputs.iter().map(|x| &*x.value.0).collect();
    let (mut groups, mut made) = (Groups::new(), 0);
    let found = evaluate(
        &roots,
        room,
        |x: &PlannedColumn| Ok(vec![x.name.len()]),
        |x: &Vec<usize>| x.clone(),
        |calls| {
            groups.push(calls.iter().map(|(operation, _)| operation.name()).collect());
            let results = calls.iter().map(|(operation, operands)| {
                made += 1;
                match operands[0] {
                    Argument::Value(x) if operation.name() == failing => {
                        Err(super::wrong(format!("{failing} of {x:?}")))
                    }
                    _ => Ok(vec![100 + made]),
                }
            });
            results.collect()
        },
    );
    (groups, found)
}

fn plan(
    output: impl FnOnce(&Expr<PlannedColumn>, &Expr<PlannedColumn>) -> Expr<PlannedColumn>,
) -> Plan {
    let traced = Plan::trace(|g| {
        let (a, b) = (g.input("a", Type::U8, 4), g.input("bb", Type::U8, 4));
        g.output("y", &output(&a, &b));
        Ok(())
    });
    traced.unwrap()
}

#[test]
fn operations_that_do_not_need_each_other() {
    let room = |ciphertexts| Room { ciphertexts, apart: true };
    let plan = plan(|a, b| (a.lt(3) & b.gt(5)) & a.eq(7));
    let (one, two) = (groups(&plan, Room::ONE, ""), groups(&plan, room(2), ""));
    assert_eq!(one.0, [["lt"], ["gt"], ["and"], ["eq"], ["and"]]);
    assert_eq!(two.0, [vec!["lt", "gt"], vec!["and"], vec!["eq"], vec!["and"]]);
    assert_eq!(one.1, Ok(vec![vec![105]]));
    assert_eq!(two.1, one.1);
    // The first operation after both comparisons reads two ciphertexts of its own.
    let three = groups(&plan, room(3), "");
    assert_eq!(three.0, [vec!["lt", "gt"], vec!["and", "eq"], vec!["and"]]);
}

#[test]
fn operations_that_read_a_ciphertext_in_common() {
    let plan = plan(|a, b| a.lt(3) & (a + b).gt(5));
    let groups = |apart| groups(&plan, Room { ciphertexts: 8, apart }, "").0;
    assert_eq!(groups(true), [vec!["lt"], vec!["add"], vec!["gt"], vec!["and"]]);
    assert_eq!(groups(false), [vec!["lt", "add"], vec!["gt"], vec!["and"]]);
}

#[test]
fn the_first_error_is_reported() {
    let plan = plan(|a, b| a.lt(3) & b.lt(5));
    for ciphertexts in [1, 2] {
        let found = groups(&plan, Room { ciphertexts, apart: true }, "lt").1;
        assert_eq!(found, Err(super::wrong("lt of [1]".into())));
    }
}

/// A plan of a comparison and a selection by it, on a set, with its cost.
fn compared(params: &Params) -> (Plan, Estimate) {
    let kind = Type::ranged(0, 15).unwrap();
    let traced = Plan::trace(|g| {
        let [x, y] = ["x", "y"].map(|name| g.input(name, kind, 4));
        g.output("z", &y.lt(3).select(&y * &y, &x).lt(10));
        Ok(())
    });
    let plan = traced.unwrap();
    let estimate = plan.explain(params).unwrap();
    (plan, estimate)
}

/// Arguments that only look like those of the plan are not taken for these: what the slots behind
/// the entries hold decides what is done, too.
#[test]
fn arguments_with_other_digits_are_rehearsed() {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let (plan, estimate) = compared(&params);
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let client = Client::new(&params, &mut rng);
    let mut argument = |name: &str, pad: i128| {
        let (level, kind) = (level_of(&estimate, name), plan.input(name).unwrap().kind);
        let encoded = Encoded::padded(&[2, 3, 15, 0], kind, params.slots(), pad).unwrap();
        let column: Result<Column<Ciphertext>, Error> = encoded.encrypt(|slots| {
            let plain = Plaintext::encode(&params, slots)?;
            Ok(client.secret().encrypt_at(&plain, level, &mut rng)?)
        });
        column.unwrap()
    };
    for (pad, expected) in [(0, true), (7, false)] {
        let parts = [BTreeMap::from([("x", argument("x", 0)), ("y", argument("y", pad))])];
        assert_eq!(plan.made(&params, &estimate, &parts).unwrap(), expected, "{pad}");
    }
}

/// Keys of a plan without bootstrapping on a server that has it, and keeps capacity for it: what is
/// not refused before it begins is computed.
#[test]
fn a_server_of_another_kind_is_rehearsed() {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let (plan, estimate) = compared(&params);
    assert!(!estimate.bootstraps);
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let client = Client::new(&params, &mut rng);
    let bootstrap = bootstrap_plan(&params).unwrap();
    let other = client.server_for(&estimate.keys, &bootstrap, &mut rng, |_, _| ()).unwrap();
    let leveled = Server::leveled(client.server_keys(&estimate.keys, &mut rng).unwrap());
    let [x, y] = ["x", "y"].map(|name| {
        let found = client.encrypt_for(&plan, name, &[2, 3, 15, 0], &mut rng).unwrap();
        let (_, Encrypted::Column(x)) = found else { panic!("an argument is a column") };
        x
    });
    let parts = [BTreeMap::from([("x", x.clone()), ("y", y.clone())])];
    plan.check(&leveled, &estimate, &parts).unwrap();
    let run = plan.run(&leveled, &[("x".into(), x.into()), ("y".into(), y.into())]).unwrap();
    assert_eq!(client.decrypt_column::<u8>(&run[0].1).unwrap(), [1, 1, 0, 1]);
    // What would be computed without a check, and the code with which it would end.
    let checked = plan.check(&other, &estimate, &parts);
    let ints = other.integers().unwrap().side_by_side(estimate.side_by_side);
    let found = plan.evaluated(&ints, Room::ONE, &parts[0], |_, _| ()).map(|_| ());
    let code = |x: &Result<(), Error>| x.as_ref().err().map(Error::code);
    assert_eq!(code(&checked), code(&found));
}
