//! Digit removal for p = 2 with the fewest products: each product doubles the precision of a bit.
//!
//! The values of a chain are x^2, x^4 and products of two linear forms in the values before. Some
//! forms in them are the lowest bit of x modulo 2^2, 2^4, 2^8, 2^16 and 2^24, each with one product
//! more than the one before. So a row of the triangle takes ceil(log2 e) products for its digit and
//! all its lifts, where polynomials of least degree share no more than the powers of x^2.
//!
//! The deepest values of a chain have small constants as factors; large constants multiply values
//! several levels above, whose noise is small compared with that of the deepest ones.
//!
//! Geelen–Iliashenko–Kang–Vercauteren 2023 (ia.cr/2022/1364) compose polynomials to the same end.
//! The constants here were found by a separate search, which lifts solutions bit by bit from modulo
//! 2, with the Newton coefficients of the desired function as equations; a test checks all numbers.

use super::triangle::{Row, RowTask};
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::straight_line::{Circuit, CircuitBuilder, NodeId};

/// A linear form in the values of a chain: coefficients of x^2, x^4, and so on.
type Form = &'static [i64];

/// A chain from x^2 on.
struct Chain {
    /// The bit is found modulo 2 to this power.
    precision: u32,
    /// The factors of every value after x^4, as forms in the earlier ones.
    products: &'static [(Form, Form)],
    /// Forms that are the bit modulo 2 to a power, ascending, the full precision last; with the
    /// degrees in x.
    bits: &'static [(u32, usize, Form)],
}

const CHAINS: [Chain; 3] = [
    Chain {
        precision: 8,
        products: &[(&[0, 1], &[-4, 1])],
        bits: &[(2, 2, &[1]), (4, 4, &[0, 1]), (8, 8, &[-16, 20, 1])],
    },
    Chain {
        precision: 16,
        products: &[(&[0, 1], &[20, 1]), (&[2956, 0, 1], &[12, 412, 1])],
        bits: &[
            (2, 2, &[1]),
            (4, 4, &[0, 1]),
            (8, 8, &[-32, -72, 5]),
            (16, 16, &[-1024, 10160, 14500, 1]),
        ],
    },
    Chain {
        precision: 24,
        products: &[
            (&[0, 1], &[-4, 1]),
            (&[30975, 0, 1], &[17, 2176, 1]),
            (&[99, 17177, 1_180_858, 1], &[29, 25, 186, 1]),
        ],
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

/// A bit modulo 2 to some power, the degree in x, and where it is.
type Bit = (u32, usize, NodeId);

/// The row of a bit modulo 2^24 at most. Lifts are the shortest forms that are exact enough.
pub(super) fn row(task: RowTask) -> Result<Row, CircuitError> {
    let exponent = task.modulus.exponent();
    let mut builder = CircuitBuilder::new();
    let y = builder.input(exponent);
    let bits = chained(&mut builder, task.modulus, y, exponent)?;
    let shortest = |wanted: u32| bits.iter().find(|(precision, ..)| *precision >= wanted);
    let (degrees, outputs): (Vec<usize>, Vec<NodeId>) = (2..2 + task.lifts)
        .chain([exponent])
        .filter_map(shortest)
        .map(|(_, degree, bit)| (*degree, *bit))
        .unzip();
    Ok(Row { program: builder.finish(&outputs)?, degrees })
}

/// All bits of the shortest chain that reaches a precision, modulo t.
fn chained(
    builder: &mut CircuitBuilder,
    t: PrimePower,
    y: NodeId,
    precision: u32,
) -> Result<Vec<Bit>, CircuitError> {
    let chain = CHAINS
        .iter()
        .find(|chain| chain.precision >= precision)
        .ok_or(CircuitError::Empty { what: "the list of chains" })?;
    let square = builder.mul(y, y)?;
    let mut values = vec![square, builder.mul(square, square)?];
    for (left, right) in chain.products {
        let factors = (linear(builder, t, &values, left)?, linear(builder, t, &values, right)?);
        values.push(builder.mul(factors.0, factors.1)?);
    }
    let bit = |(precision, degree, form): &(u32, usize, Form)| {
        Ok((*precision, *degree, linear(builder, t, &values, form)?))
    };
    chain.bits.iter().map(bit).collect()
}

/// The program from integers b + 2 g, b a bit and g any integer, to b modulo 2^exponent: ceil(log2
/// exponent) products, each a level below the one before, up to 2^24; above, two products more for
/// each doubling.
///
/// A chain needs integers, modulo the power of 2 that it ends with. z^2 (3 - 2 z) is b modulo
/// 2^(2k) for z = b modulo 2^k, whatever z is else, at two levels: there the modulus of the chain
/// is the smaller one, and what it gives is extended. So the input is modulo 2^exponent, or above
/// 2^24 to half the exponent.
///
/// # Errors
/// [`CircuitError::Ring`] unless 1 <= exponent <= 64.
pub fn lowest_bit(exponent: u32) -> Result<Circuit, CircuitError> {
    PrimePower::new(2, exponent)?;
    let mut builder = CircuitBuilder::new();
    let bit = bit_modulo(&mut builder, exponent)?;
    builder.finish(&[bit])
}

fn bit_modulo(builder: &mut CircuitBuilder, exponent: u32) -> Result<NodeId, CircuitError> {
    if exponent > MOST_BITS {
        let half = bit_modulo(builder, exponent.div_ceil(2))?;
        let z = builder.extend(half, exponent)?;
        let square = builder.mul(z, z)?;
        let rest = builder.combine(vec![], vec![(z, -2)], 3)?;
        return builder.mul(square, rest);
    }
    let y = builder.input(exponent);
    if exponent == 1 {
        return Ok(y);
    }
    let bits = chained(builder, PrimePower::new(2, exponent)?, y, exponent)?;
    let found = bits.iter().find(|(reached, ..)| *reached >= exponent);
    Ok(found.ok_or(CircuitError::Empty { what: "the list of bits" })?.2)
}

/// The value of a form: the value itself if it is one.
fn linear(
    builder: &mut CircuitBuilder,
    t: PrimePower,
    values: &[NodeId],
    form: Form,
) -> Result<NodeId, CircuitError> {
    let centered = form.iter().map(|c| t.centered(t.reduce_i64(*c)));
    let terms: Vec<(NodeId, i64)> =
        values.iter().copied().zip(centered).filter(|(_, c)| *c != 0).collect();
    match terms[..] {
        [(x, 1)] => Ok(x),
        _ => builder.combine(vec![], terms, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_scheme::NextUse;
    use everlevel_testing::{ResidueScheme, SplitMix};

    /// Forms are in x^2, and modulo 2^k this is the same for x, -x and x + 2^(k-1): numbers up to
    /// 2^(k-2) have the squares of all.
    #[test]
    fn every_form_is_the_bit_of_every_number() {
        for chain in &CHAINS {
            let form = |values: &[u64], form: Form| {
                values
                    .iter()
                    .zip(form)
                    .fold(0u64, |sum, (x, c)| sum.wrapping_add(x.wrapping_mul(*c as u64)))
            };
            for x in 0..=1u64 << (chain.precision - 2) {
                let square = x.wrapping_mul(x);
                let mut values = vec![square, square.wrapping_mul(square)];
                for (left, right) in chain.products {
                    values.push(form(&values, left).wrapping_mul(form(&values, right)));
                }
                for (precision, _, bit) in chain.bits {
                    assert_eq!(
                        form(&values, bit).wrapping_sub(x % 2) << (64 - precision),
                        0,
                        "2^{precision}, x = {x}"
                    );
                }
            }
        }
    }

    #[test]
    fn lowest_bits_are_exact_on_integers() {
        // Depth and products: a chain, and the doublings above 2^24.
        let expected = [
            (1, 0),
            (2, 1),
            (4, 2),
            (5, 3),
            (8, 3),
            (9, 4),
            (16, 4),
            (17, 5),
            (24, 5),
            (25, 6),
            (32, 6),
            (48, 7),
            (61, 8),
            (64, 8),
        ];
        let scheme = ResidueScheme::new(2);
        let mut rng = SplitMix(8);
        for (exponent, products) in expected {
            let program = lowest_bit(exponent).unwrap();
            let costs = program.costs();
            assert_eq!(
                (costs.depth as usize, costs.products),
                (products, products),
                "2^{exponent}"
            );
            let e = program.input_exponents()[0];
            let all = 1u64 << e.min(14);
            let xs: Vec<u64> = (0..all)
                .chain((0..1000).map(|_| rng.below(1 << e)))
                .map(|x| x % (1 << e))
                .collect();
            let out = program
                .run(&scheme, &[&scheme.encrypt(xs.clone(), e)], NextUse::Keep)
                .unwrap()
                .swap_remove(0);
            assert_eq!(out.modulus.exponent(), exponent);
            assert!(xs.iter().zip(&out.values).all(|(x, y)| x % 2 == *y), "2^{exponent}");
        }
        assert!(lowest_bit(0).is_err() && lowest_bit(65).is_err());
    }

    #[test]
    fn every_product_doubles_the_precision() {
        for (exponent, products) in
            [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (16, 4), (17, 5), (24, 5)]
        {
            let modulus = PrimePower::new(2, exponent).unwrap();
            let row = row(RowTask { modulus, lifts: 0, precision: 1, bound: 1 }).unwrap();
            let costs = row.program.costs();
            assert_eq!((costs.products, costs.depth), (products, products as u32), "2^{exponent}");
        }
        let modulus = PrimePower::new(2, MOST_BITS + 1).unwrap();
        assert!(row(RowTask { modulus, lifts: 0, precision: 1, bound: 1 }).is_err());
    }
}
