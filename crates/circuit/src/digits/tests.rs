//! Every method on every value, on the scheme in the clear.

use everlevel_scheme::NextUse;

use super::*;
use crate::clear::{Clear, Rng};
use crate::modular::PrimePower;

/// All m for every low part if there are few values, else so many at random; with the results wanted.
fn values(problem: &DigitProblem) -> Vec<(u64, u64)> {
    let DigitProblem { p, e, v, bound } = *problem;
    let t = PrimePower::new(p, e).unwrap();
    let (step, count) = (p.pow(v), p.pow(e - v));
    let bound = bound as i64;
    // The balanced low part of 2 is one short.
    let highest = if p == 2 && problem.is_full() { bound - 1 } else { bound };
    let pair = |m: u64, i: i64| (t.add(t.mul(m, step), t.reduce_i64(i)), m);
    let lows = (highest + bound + 1) as u64;
    if lows * count <= 1 << 18 {
        return (0..count).flat_map(|m| (-bound..=highest).map(move |i| (m, i))).map(|(m, i)| pair(m, i)).collect();
    }
    let mut rng = Rng(step);
    (0..1 << 14).map(|_| pair(rng.below(count), rng.below(lows) as i64 - bound)).collect()
}

/// Runs a removal on everything and compares values, depth and counts.
fn check(problem: &DigitProblem, removal: &DigitRemoval) {
    let scheme = Clear::with_prime(problem.p);
    for part in values(problem).chunks(1 << 14) {
        let x = scheme.encrypt(part.iter().map(|(x, _)| *x).collect(), problem.e);
        scheme.take_counts();
        let y = removal.remove(&scheme, &x, NextUse::Keep).unwrap();
        let (counts, costs) = (scheme.take_counts(), removal.costs());
        assert_eq!((counts.products, counts.relinearizations, y.depth), (costs.products, costs.relinearizations, costs.depth));
        assert_eq!((y.t.exponent(), removal.output_exponent()), (problem.e - problem.v, problem.e - problem.v));
        let wrong = part.iter().zip(&y.slots).find(|((_, want), got)| want != *got);
        assert_eq!(wrong, None, "{problem:?} by {}", removal.method());
    }
}

#[test]
fn every_method_is_exact_on_every_value() {
    for (p, e, v) in [
        (2, 2, 1),
        (2, 5, 4),
        (2, 11, 5),
        (2, 16, 8),
        (3, 2, 1),
        (3, 6, 2),
        (3, 7, 6),
        (5, 6, 3),
        (7, 4, 2),
        (17, 4, 2),
        (31, 3, 1),
        (127, 2, 1),
        (127, 3, 1),
        (257, 2, 1),
    ] {
        let problem = DigitProblem::all_digits(p, e, v);
        let methods = DigitMethod::candidates(&problem).unwrap();
        assert!(methods.len() >= 5);
        for method in methods {
            check(&problem, &DigitRemoval::for_problem(problem, method).unwrap());
        }
    }
}

#[test]
fn small_low_parts_are_exact_by_every_method() {
    for (p, e, v, bound) in [
        (2, 8, 4, 3),
        (3, 6, 2, 1),
        (3, 6, 2, 2),
        (5, 6, 3, 20),
        (5, 6, 3, 2),
        (5, 7, 2, 1),
        (17, 4, 2, 3),
        (17, 6, 2, 23),
        (127, 2, 1, 20),
        (127, 3, 1, 22),
        (127, 4, 1, 20),
        (127, 5, 2, 12),
        (257, 3, 1, 22),
    ] {
        let problem = DigitProblem { p, e, v, bound };
        for method in DigitMethod::candidates(&problem).unwrap() {
            check(&problem, &DigitRemoval::for_problem(problem, method).unwrap());
        }
    }
    // Only what depends on B alone.
    for (p, e, bound) in [(65537, 2, 23), (65537, 3, 13), (786433, 3, 12)] {
        let problem = DigitProblem { p, e, v: 1, bound };
        for method in DigitMethod::candidates(&problem).unwrap() {
            check(&problem, &DigitRemoval::for_problem(problem, method).unwrap());
        }
    }
}
