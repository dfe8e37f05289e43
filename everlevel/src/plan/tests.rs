//! Which operations of a plan are computed at the same time.

use everlevel_integers::Type;

use super::{Plan, PlannedColumn};
use crate::compute::{Room, evaluate};
use crate::error::Error;
use crate::expression::Expr;
use crate::operand::Argument;

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
