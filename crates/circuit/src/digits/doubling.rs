//! Bits with as few products as can be: each product doubles the precision.
//!
//! The values of a chain are x^2, x^4 and products of two linear forms in the values before. Some forms in them are the lowest bit of x modulo 2^2,
//! 2^4, 2^8, 2^16 and 2^24, each with one product more than the one before. So a row of the triangle takes ceil(log2 e) products for its digit
//! and all its lifts, where polynomials of least degree share no more than the powers of x^2.
//!
//! What lies deepest has small factors; the large ones belong to values levels above, and are lost in the noise of the deepest.
//!
//! Geelen–Iliashenko–Kang–Vercauteren 2023 (ia.cr/2022/1364) compose polynomials to the same end. These constants are by a search of our
//! own, which lifts solutions bit by bit from modulo 2 with Newton's coefficients of the wanted function as equations; a test tries all numbers.

use super::triangle::{Row, RowTask};
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::program::{NodeId, ProgramBuilder};

/// A linear form in the values of a chain: coefficients of x^2, x^4, and so on.
type Form = &'static [i64];

/// A chain from x^2 on.
struct Chain {
    /// The bit is found modulo 2 to this power.
    precision: u32,
    /// The factors of every value after x^4, as forms in the earlier ones.
    products: &'static [(Form, Form)],
    /// Forms that are the bit modulo 2 to a power, ascending, the full precision last; with the degrees in x.
    bits: &'static [(u32, usize, Form)],
}

const CHAINS: [Chain; 3] = [
    Chain { precision: 8, products: &[(&[0, 1], &[-4, 1])], bits: &[(2, 2, &[1]), (4, 4, &[0, 1]), (8, 8, &[-16, 20, 1])] },
    Chain {
        precision: 16,
        products: &[(&[0, 1], &[20, 1]), (&[2956, 0, 1], &[12, 412, 1])],
        bits: &[(2, 2, &[1]), (4, 4, &[0, 1]), (8, 8, &[-32, -72, 5]), (16, 16, &[-1024, 10160, 14500, 1])],
    },
    Chain {
        precision: 24,
        products: &[(&[0, 1], &[-4, 1]), (&[30975, 0, 1], &[17, 2176, 1]), (&[99, 17177, 1_180_858, 1], &[29, 25, 186, 1])],
        bits: &[
            (2, 2, &[1]),
            (4, 4, &[0, 1]),
            (8, 8, &[-16, 20, 1]),
            (24, 32, &[5_505_024, -1_254_751, 3_526_592, -7_686_056, 1]),
        ],
    },
];

/// The largest exponent of 2 for which there is a chain.
pub(super) const MOST_BITS: u32 = CHAINS[CHAINS.len() - 1].precision;

/// The row of a bit modulo 2^24 at most. Lifts are the shortest forms that are exact enough.
pub(super) fn row(task: RowTask) -> Result<Row, CircuitError> {
    let (t, exponent) = (task.modulus, task.modulus.exponent());
    let chain =
        CHAINS.iter().find(|chain| chain.precision >= exponent).ok_or(CircuitError::Empty { what: "the list of chains" })?;
    let mut builder = ProgramBuilder::new();
    let y = builder.input(exponent);
    let square = builder.mul(y, y)?;
    let mut values = vec![square, builder.mul(square, square)?];
    for (left, right) in chain.products {
        let factors = (linear(&mut builder, t, &values, left)?, linear(&mut builder, t, &values, right)?);
        values.push(builder.mul(factors.0, factors.1)?);
    }
    let mut bits = Vec::new();
    for (precision, degree, form) in chain.bits {
        bits.push((*precision, *degree, linear(&mut builder, t, &values, form)?));
    }
    let shortest = |wanted: u32| bits.iter().find(|(precision, ..)| *precision >= wanted);
    let (degrees, outputs): (Vec<usize>, Vec<NodeId>) =
        (2..2 + task.lifts).chain([exponent]).filter_map(shortest).map(|(_, degree, bit)| (*degree, *bit)).unzip();
    Ok(Row { program: builder.finish(&outputs)?, degrees })
}

/// The value of a form: the value itself if it is one.
fn linear(builder: &mut ProgramBuilder, t: PrimePower, values: &[NodeId], form: Form) -> Result<NodeId, CircuitError> {
    let centered = form.iter().map(|c| t.centered(t.reduce_i64(*c)));
    let terms: Vec<(NodeId, i64)> = values.iter().copied().zip(centered).filter(|(_, c)| *c != 0).collect();
    match terms[..] {
        [(x, 1)] => Ok(x),
        _ => builder.combine(vec![], terms, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_the_bit_of_every_number() {
        for chain in &CHAINS {
            let form = |values: &[u64], form: Form| {
                values.iter().zip(form).fold(0u64, |sum, (x, c)| sum.wrapping_add(x.wrapping_mul(*c as u64)))
            };
            for x in 0..1u64 << chain.precision {
                let square = x.wrapping_mul(x);
                let mut values = vec![square, square.wrapping_mul(square)];
                for (left, right) in chain.products {
                    values.push(form(&values, left).wrapping_mul(form(&values, right)));
                }
                for (precision, _, bit) in chain.bits {
                    assert_eq!(form(&values, bit).wrapping_sub(x % 2) << (64 - precision), 0, "2^{precision}, x = {x}");
                }
            }
        }
    }

    #[test]
    fn every_product_doubles_the_precision() {
        for (exponent, products) in [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (16, 4), (17, 5), (24, 5)] {
            let modulus = PrimePower::new(2, exponent).unwrap();
            let row = row(RowTask { modulus, lifts: 0, precision: 1, bound: 1 }).unwrap();
            let costs = row.program.costs();
            assert_eq!((costs.products, costs.depth), (products, products as u32), "2^{exponent}");
        }
        let modulus = PrimePower::new(2, MOST_BITS + 1).unwrap();
        assert!(row(RowTask { modulus, lifts: 0, precision: 1, bound: 1 }).is_err());
    }
}
