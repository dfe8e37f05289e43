//! The rows of the triangle by each method.

use super::polynomials::{digit_polynomial, lifting_polynomial, lowest_digit_retain};
use super::triangle::{Row, RowTask};
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{DepthGoal, Polynomial, PowerTable, best, candidates};
use crate::straight_line::{Circuit, CircuitBuilder, NodeId};

/// Halevi–Shoup 2015: one lifting polynomial after the other up to the last place. Each is reduced
/// to the precision it makes, for smaller constants.
pub(super) fn halevi_shoup(task: RowTask, goal: DepthGoal) -> Result<Row, CircuitError> {
    let (mut builder, mut node) = open(&task);
    let mut outputs = Vec::new();
    let mut degrees = Vec::new();
    for exponent in task.precision + 1..=task.modulus.exponent() {
        let lift = lifting_polynomial(task.modulus.reduced(exponent)?)?;
        degrees.push(lift.degree());
        node = apply(&mut builder, node, &[lift.with_modulus(task.modulus)], goal)?[0];
        outputs.push(node);
    }
    outputs.drain(task.lifts as usize..outputs.len() - 1);
    Ok(Row { program: builder.finish(&outputs)?, degrees })
}

/// Chen–Han 2018: the lowest digit retained by one polynomial; lifting polynomials as long as they
/// have a smaller degree. The first lift shares its powers with the digit.
pub(super) fn chen_han(task: RowTask, goal: DepthGoal) -> Result<Row, CircuitError> {
    with_lifting_polynomials(task, &lowest_digit_retain(task.modulus)?, goal)
}

fn with_lifting_polynomials(
    task: RowTask,
    retain: &Polynomial,
    goal: DepthGoal,
) -> Result<Row, CircuitError> {
    let t = task.modulus;
    let mut degrees = Vec::new();
    let (mut builder, y) = open(&task);
    let mut lifts = Vec::new();
    let mut power = t.prime();
    for exponent in 2..2 + task.lifts {
        if power >= retain.degree() as u64 {
            break;
        }
        power = power.saturating_mul(t.prime());
        let lift = lifting_polynomial(t.reduced(exponent)?)?;
        degrees.push(lift.degree());
        lifts.push(lift.with_modulus(t));
    }
    degrees.push(retain.degree());
    let first: Vec<Polynomial> = lifts.iter().take(1).chain([retain]).cloned().collect();
    let mut outputs = apply(&mut builder, y, &first, goal)?;
    let digit = outputs.split_off(outputs.len() - 1);
    for lift in lifts.iter().skip(1) {
        let node =
            apply(&mut builder, outputs[outputs.len() - 1], std::slice::from_ref(lift), goal)?;
        outputs.extend(node);
    }
    outputs.extend(digit);
    Ok(Row { program: builder.finish(&outputs)?, degrees })
}

/// Digit polynomials of least degree for every lift and for the digit, all in the powers of one
/// variable: odd, or even for p = 2.
pub(super) fn direct(task: RowTask, goal: DepthGoal) -> Result<Row, CircuitError> {
    let mut polynomials = lifts(&task)?;
    polynomials.push(digit_polynomial(task.modulus, task.precision, task.bound)?);
    let (mut builder, y) = open(&task);
    let outputs = apply(&mut builder, y, &polynomials, goal)?;
    Ok(Row {
        program: builder.finish(&outputs)?,
        degrees: polynomials.iter().map(Polynomial::degree).collect(),
    })
}

/// The variant with the fewest products: the digit in two steps, by way of any of the lifts; lifts
/// by lifting polynomials; or all of them directly.
pub(super) fn composed(task: RowTask, goal: DepthGoal) -> Result<Row, CircuitError> {
    let t = task.modulus;
    let key = |row: &Row| (row.program.costs().products, row.program.costs().depth);
    let lifted =
        with_lifting_polynomials(task, &digit_polynomial(t, task.precision, task.bound)?, goal)?;
    let mut found = std::cmp::min_by_key(direct(task, goal)?, lifted, key);
    let shared = lifts(&task)?;
    for middle in task.precision + 1..t.exponent() {
        let mut polynomials = shared.clone();
        // Perhaps one of the lifts that the row has anyway.
        let place = (middle - 2) as usize;
        if place >= polynomials.len() {
            polynomials.push(lifted_digit(&task, middle)?);
        }
        let place = place.min(polynomials.len() - 1);
        let second = digit_polynomial(t, middle, task.bound)?;
        let (mut builder, y) = open(&task);
        let mut outputs = apply(&mut builder, y, &polynomials, goal)?;
        let digit = apply(&mut builder, outputs[place], std::slice::from_ref(&second), goal)?;
        outputs.truncate(shared.len());
        outputs.extend(digit);
        let degrees = polynomials.iter().chain([&second]).map(Polynomial::degree).collect();
        let row = Row { program: builder.finish(&outputs)?, degrees };
        if key(&row) < key(&found) {
            found = row;
        }
    }
    Ok(found)
}

/// The digit polynomials for the lifts that are wanted.
fn lifts(task: &RowTask) -> Result<Vec<Polynomial>, CircuitError> {
    (2..2 + task.lifts).map(|exponent| lifted_digit(task, exponent)).collect()
}

fn lifted_digit(task: &RowTask, exponent: u32) -> Result<Polynomial, CircuitError> {
    let smaller: PrimePower = task.modulus.reduced(exponent)?;
    Ok(digit_polynomial(smaller, task.precision, task.bound)?.with_modulus(task.modulus))
}

fn open(task: &RowTask) -> (CircuitBuilder, NodeId) {
    let mut builder = CircuitBuilder::new();
    let y = builder.input(task.modulus.exponent());
    (builder, y)
}

/// The values of some polynomials at a node, planned by themselves.
fn apply(
    builder: &mut CircuitBuilder,
    node: NodeId,
    polynomials: &[Polynomial],
    goal: DepthGoal,
) -> Result<Vec<NodeId>, CircuitError> {
    let mut fresh = CircuitBuilder::new();
    let exponent = polynomials.first().map_or(1, |f| f.modulus().exponent());
    let powers = PowerTable::new(fresh.input(exponent));
    let programs = candidates(&fresh, &powers, polynomials)
        .map(|candidate| candidate.and_then(|c| c.builder.finish(&c.outputs)));
    let plan: Circuit = best(programs, goal)?;
    builder.append(&plan, &[node])
}
