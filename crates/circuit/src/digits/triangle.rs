//! Digit removal row by row: Algorithm 1 of Chen–Han 2018 (ia.cr/2018/067), rebuilt.
//!
//! Row i starts from y_i, a number whose lowest digit is the digit z_i of x, modulo p^(e-i). It
//! makes *lifts*, numbers that agree with z_i modulo p^2, p^3, .., and the *digit* z_i itself,
//! exact modulo p^(e-i). The next row is
//!
//! ```text
//! y_i = (..((x - z_0)/p - z_1)/p - .. - z_(i-1))/p
//! ```
//!
//! where of z_j only i - j + 1 digits need to be right: a lift will do, and is shallower than the
//! digit. The result is the same with the exact digits. Every division is one of the ciphertext, so
//! each row lives at a smaller modulus than the one before.
//!
//! One polynomial cannot take x = i + p^v m to i, however few values occur, once there are i and
//! i - p among them: f(i + p^v) = f(i) modulo p^(v+1) says that f'(i) is 0 modulo p, and f(i) -
//! f(i - p) = p says that it is 1. So there are rows, and divisions between them.
//!
//! The algorithm as printed does not divide x' by p^(i+1) nor scale the lifts by p^j, and defines
//! its ℓ (from which lift on the digit is used instead) in three ways. Here a row simply has as
//! many lifts as are worth while: the digit stands in for those that it does not have. That is ℓ =
//! the least k with p^k not below the degree of the digit's polynomial.

use super::problem::DigitProblem;
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::straight_line::{Circuit, CircuitBuilder, NodeId};

/// What a row has to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowTask {
    /// p^(e-i).
    pub(super) modulus: PrimePower,
    /// Lifts that later rows can use, to p^2, p^3, ..
    pub(super) lifts: u32,
    /// The input is the digit plus a multiple of p to this exponent.
    pub(super) precision: u32,
    /// The digit is not larger.
    pub(super) bound: u64,
}

impl RowTask {
    /// The same for a method that does not benefit from a smaller bound.
    pub(super) fn with_all_values(self) -> Self {
        RowTask { bound: self.modulus.prime() / 2, ..self }
    }
}

/// How a method does it.
pub(super) struct Row {
    /// One input; outputs: some lifts from p^2 on, and the digit.
    pub(super) program: Circuit,
    /// The degrees of the polynomials, in their order.
    pub(super) degrees: Vec<usize>,
}

/// The program for a whole problem from a method for its rows, and the degrees of the polynomials
/// of each row.
pub(super) fn program(
    problem: &DigitProblem,
    method: impl Fn(RowTask) -> Result<Row, CircuitError>,
) -> Result<(Circuit, Vec<Vec<usize>>), CircuitError> {
    let t = problem.modulus()?;
    let bounds = problem.digit_bounds();
    let count = bounds.len() as u32;
    let mut builder = CircuitBuilder::new();
    let input = builder.input(t.exponent());
    // Bits are not balanced: half of 2^v more makes the low part 0 <= i < 2^v.
    let x = if t.prime() == 2 { builder.add_scalar(input, 1 << (problem.v - 1))? } else { input };
    // without[i] is x without its i lowest digits, exactly.
    let mut without = vec![x];
    let mut rows: Vec<(Vec<NodeId>, NodeId)> = Vec::new();
    let mut degrees = Vec::new();
    for (i, &bound) in (0..).zip(&bounds) {
        let mut y = x;
        for (j, (lifts, digit)) in rows.iter().enumerate() {
            y = match lifts.get(i - j - 1) {
                Some(lift) => subtract_and_divide(&mut builder, y, *lift)?,
                None if y == without[j] => without[j + 1],
                None => subtract_and_divide(&mut builder, y, *digit)?,
            };
        }
        let row = method(RowTask {
            modulus: t.reduced(t.exponent() - i as u32)?,
            lifts: count - 1 - i as u32,
            precision: if count == 1 { problem.v } else { 1 },
            bound,
        })?;
        let mut lifts = builder.append(&row.program, &[y])?;
        let digit = lifts.pop().ok_or(CircuitError::Empty { what: "the list of outputs" })?;
        without.push(subtract_and_divide(&mut builder, without[i], digit)?);
        rows.push((lifts, digit));
        degrees.push(row.degrees);
    }
    let mut result = without[bounds.len()];
    for _ in count..problem.v {
        result = builder.divide_by_p(result)?;
    }
    Ok((builder.finish(&[result])?, degrees))
}

fn subtract_and_divide(
    builder: &mut CircuitBuilder,
    x: NodeId,
    digit: NodeId,
) -> Result<NodeId, CircuitError> {
    let rest = builder.combine(vec![], vec![(x, 1), (digit, -1)], 0)?;
    builder.divide_by_p(rest)
}
