//! The sweeps of the transforms on models of their arithmetic: no value leaves the range that the
//! next operation is documented for, whatever the input.

use super::powers::Powers;
use super::registers::butterflies;
use super::scalar::Scalar;
use super::tensor::sweep::{Plan, transform};
use super::twiddles::VectorTwiddles;
use super::vector::{forward_with, inverse_with};
use super::{MIN_VECTOR_LOG_N, NttTable};
use crate::arch::butterfly::Butterflies;
use crate::arch::ranges::{FloatRanges, IfmaRanges};
use crate::arch::residues::Residues;
use crate::axes::Axes;
use crate::kernels::MAX_TERMS;
use crate::memory::CacheLine;
use crate::modulus::Modulus;
use crate::primes;

/// Bounds of words below q, and of words below 4q.
const CANONICAL: u64 = 1.0f64.to_bits();
const WIDE: u64 = 4.0f64.to_bits();

fn powers_of_two<B: Butterflies>(m: B) {
    for log_n in MIN_VECTOR_LOG_N..=NttTable::MAX_LOG_N {
        let order = 2u64 << log_n;
        let q = primes::primes_congruent_one(order, 1 << Modulus::MAX_BITS).next().unwrap();
        let root = primes::primitive_root_of_unity(q, order).unwrap();
        let powers = Powers::new(Modulus::new(q).unwrap(), log_n, root);
        let twiddles = VectorTwiddles::<B>::new(&powers);
        let mut a = vec![WIDE; 1 << log_n];
        forward_with(m, &twiddles, &mut a);
        assert!(a.iter().all(|&x| x == CANONICAL), "forward, 2^{log_n}");
        inverse_with(m, &twiddles, &mut a);
        assert!(a.iter().all(|&x| x == CANONICAL), "back, 2^{log_n}");
    }
}

/// One ring for each kind of stage: short and long primes, powers of two and three, matrices, one
/// and several axes, and sums that are settled on the way.
fn other_indices<B: Butterflies>(m: B) {
    let indices = [
        3,
        5,
        7,
        17,
        19,
        23,
        29,
        37,
        53,
        79,
        97,
        163,
        257,
        9,
        27,
        15,
        105,
        341,
        12,
        24,
        256 * 5,
        2063,
        1019,
        3 << 11,
        7 * 11 * 13,
    ];
    for index in indices {
        let axes = Axes::new(index).unwrap();
        let order = axes.transform_order();
        let q = primes::primes_congruent_one(order, 1 << Modulus::MAX_BITS).next().unwrap();
        let root = primes::primitive_root_of_unity(q, index).unwrap();
        let plan = Plan::<B>::new(Modulus::new(q).unwrap(), root, &axes);
        let mut scratch = vec![CacheLine([0; 8]); plan.scratch()];
        for (direction, input) in [(0, WIDE), (1, CANONICAL)] {
            let mut a = vec![input; axes.degree()];
            transform(m, &plan, direction, &mut scratch, &mut a);
            assert!(a.iter().all(|&x| x == CANONICAL), "index {index}, direction {direction}");
        }
    }
}

fn loops_on_registers<B: Butterflies>(m: B) {
    let q = primes::primes_congruent_one(2, 1 << Modulus::MAX_BITS).next().unwrap();
    let q = Modulus::new(q).unwrap();
    for rounds in [1, 2, 100] {
        let mut a = vec![CANONICAL; 16 * B::WIDTH];
        butterflies::<B, false>(m, q, 12345, rounds, &mut a);
        assert!(a.iter().all(|&x| x == CANONICAL), "forward, {rounds} rounds");
        butterflies::<B, true>(m, q, 12345, rounds, &mut a);
        assert!(a.iter().all(|&x| x == CANONICAL), "back, {rounds} rounds");
    }
}

#[test]
fn loops_on_registers_stay_in_range() {
    loops_on_registers(FloatRanges);
    loops_on_registers(IfmaRanges);
}

#[test]
#[cfg_attr(miri, ignore = "no memory but slices is touched, and interpreted it takes hours")]
fn doubles_stay_in_range_for_powers_of_two() {
    powers_of_two(FloatRanges);
}

#[test]
#[cfg_attr(miri, ignore = "no memory but slices is touched, and interpreted it takes hours")]
fn words_stay_in_range_for_powers_of_two() {
    powers_of_two(IfmaRanges);
}

#[test]
#[cfg_attr(miri, ignore = "no memory but slices is touched, and interpreted it takes hours")]
fn doubles_stay_in_range_for_other_indices() {
    other_indices(FloatRanges);
}

#[test]
#[cfg_attr(miri, ignore = "no memory but slices is touched, and interpreted it takes hours")]
fn words_stay_in_range_for_other_indices() {
    other_indices(IfmaRanges);
}

#[test]
fn sums_of_the_portable_arithmetic_have_room() {
    let word = (1u128 << Modulus::MAX_BITS) - 1;
    let terms = <Scalar as Residues>::TERMS as u128;
    assert!(4 * word * word <= u128::MAX / (terms + 1));
    assert!(word * word <= u128::MAX / MAX_TERMS as u128);
}
