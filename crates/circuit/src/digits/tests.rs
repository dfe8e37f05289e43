//! Every method on every value, on residues.

use everlevel_scheme::NextUse;
use everlevel_testing::{ResidueScheme, SplitMix};

use super::*;
use crate::modular::PrimePower;

/// All m for every low part if there are no more values than `most`, else some at random; with the
/// results wanted.
fn values(problem: &DigitProblem, most: u64) -> Vec<(u64, u64)> {
    let DigitProblem { p, e, v, bound } = *problem;
    let t = PrimePower::new(p, e).unwrap();
    let (step, count) = (p.pow(v), p.pow(e - v));
    let bound = bound as i64;
    // The balanced low part of 2 is one short.
    let highest = if p == 2 && problem.is_full() { bound - 1 } else { bound };
    let pair = |m: u64, i: i64| (t.add(t.mul(m, step), t.reduce_i64(i)), m);
    let lows = (highest + bound + 1) as u64;
    if lows * count <= most {
        return (0..count)
            .flat_map(|m| (-bound..=highest).map(move |i| (m, i)))
            .map(|(m, i)| pair(m, i))
            .collect();
    }
    let mut rng = SplitMix(step);
    (0..1 << 12).map(|_| pair(rng.below(count), rng.below(lows) as i64 - bound)).collect()
}

/// The most values of which all are tried.
const ALL: u64 = 1 << 17;

/// Runs every method on everything, if that is not more than `most` values, and compares values,
/// depth and counts; the number of methods.
fn check_all(problem: DigitProblem, most: u64) -> usize {
    let (methods, values) = (DigitMethod::candidates(&problem).unwrap(), values(&problem, most));
    for method in &methods {
        check(&problem, &DigitRemoval::for_problem(problem, *method).unwrap(), &values);
    }
    methods.len()
}

fn check(problem: &DigitProblem, removal: &DigitRemoval, values: &[(u64, u64)]) {
    let scheme = ResidueScheme::new(problem.p);
    for part in values.chunks(1 << 14) {
        let x = scheme.encrypt(part.iter().map(|(x, _)| *x).collect(), problem.e);
        scheme.take_counts();
        let y = removal.remove(&scheme, &x, NextUse::Keep).unwrap();
        let (counts, costs) = (scheme.take_counts(), removal.costs());
        assert_eq!((counts, y.depth), ((costs.products, costs.relinearizations), costs.depth));
        assert_eq!(
            (y.modulus.exponent(), removal.output_exponent()),
            (problem.e - problem.v, problem.e - problem.v)
        );
        let wrong = part.iter().zip(&y.values).find(|((_, want), got)| want != *got);
        assert_eq!(wrong, None, "{problem:?} by {}", removal.method());
    }
}

#[test]
fn every_method_is_exact_on_every_value() {
    for (p, e, v) in [
        (2, 2, 1),
        (2, 5, 4),
        (2, 9, 8),
        (2, 11, 5),
        (2, 16, 8),
        (2, 17, 8),
        (2, 20, 9),
        (2, 24, 8),
        (2, 40, 8),
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
        assert!(check_all(DigitProblem::all_digits(p, e, v), ALL) >= 5);
    }
}

#[test]
#[ignore = "half a minute: all of the million values modulo 2^20"]
fn every_method_is_exact_on_a_million_values_in_full() {
    assert!(check_all(DigitProblem::all_digits(2, 20, 9), 1 << 20) >= 5);
}

#[test]
fn small_low_parts_are_exact_by_every_method() {
    for (p, e, v, bound) in [
        (2, 7, 6, 23),
        (2, 8, 7, 40),
        (2, 15, 7, 40),
        (2, 23, 7, 63),
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
        check_all(DigitProblem { p, e, v, bound }, ALL);
    }
    // Only what depends on B alone.
    for (p, e, bound) in [(65537, 2, 23), (65537, 3, 13), (786433, 3, 12)] {
        check_all(DigitProblem { p, e, v: 1, bound }, ALL);
    }
}

fn costs(problem: &DigitProblem, method: &str) -> (u32, usize, usize) {
    let costs = DigitRemoval::for_problem(*problem, method.parse().unwrap()).unwrap().costs();
    (costs.depth, costs.products, costs.relinearizations)
}

#[test]
fn costs_of_the_methods() {
    // Depth, products, relinearizations; where B matters, for B = 20.
    let methods = [
        "halevi_shoup",
        "chen_han",
        "geelen",
        "geelen_1",
        "local",
        "product_tree_2",
        "paterson_stockmeyer",
    ];
    let table = [
        (
            (127, 2, 1),
            [
                (7, 21, 18),
                (7, 21, 18),
                (7, 21, 18),
                (8, 20, 16),
                (7, 15, 13),
                (7, 20, 19),
                (7, 15, 14),
            ],
        ),
        (
            (127, 3, 1),
            [
                (14, 42, 36),
                (8, 33, 26),
                (8, 30, 23),
                (9, 26, 23),
                (7, 21, 18),
                (8, 26, 25),
                (8, 19, 17),
            ],
        ),
        (
            (127, 4, 1),
            [
                (21, 63, 54),
                (9, 41, 30),
                (9, 33, 27),
                (10, 30, 25),
                (7, 21, 18),
                (9, 25, 25),
                (9, 20, 18),
            ],
        ),
        (
            (257, 2, 1),
            [
                (9, 26, 23),
                (9, 26, 23),
                (9, 26, 23),
                (10, 25, 20),
                (7, 15, 13),
                (7, 20, 19),
                (7, 15, 14),
            ],
        ),
    ];
    for ((p, e, v), expected) in table {
        let problem = DigitProblem { p, e, v, bound: 20 };
        assert_eq!(methods.map(|method| costs(&problem, method)), expected, "({p}, {e}, {v})");
    }
    let several = [
        ((17, 4, 2, 144), [(15, 30, 30), (11, 27, 23), (11, 22, 20), (12, 20, 20)]),
        ((5, 6, 3, 62), [(15, 36, 36), (10, 22, 21), (10, 21, 19), (11, 19, 19)]),
        ((17, 6, 2, 23), [(25, 54, 54), (12, 36, 31), (12, 29, 26), (13, 27, 26)]),
    ];
    for ((p, e, v, bound), expected) in several {
        let problem = DigitProblem { p, e, v, bound };
        assert_eq!(
            ["halevi_shoup", "chen_han", "geelen", "geelen_1"].map(|m| costs(&problem, m)),
            expected,
            "({p}, {e}, {v})"
        );
    }
    assert_eq!(costs(&DigitProblem { p: 17, e: 6, v: 2, bound: 23 }, "local"), (9, 22, 19));
    assert_eq!(costs(&DigitProblem { p: 17, e: 6, v: 2, bound: 23 }, "local_1"), (10, 20, 19));
    // All values of a digit: b is the constant -1 (Wilson), and the closed form costs no more than
    // the digit polynomial.
    assert_eq!(costs(&DigitProblem::all_digits(127, 2, 1), "paterson_stockmeyer"), (7, 21, 18));
    // Composed: fewer products for many digits to a small base, deeper; no level deeper where lifts
    // are all that is composed.
    assert_eq!(costs(&DigitProblem::all_digits(5, 6, 3), "geelen_composed"), (10, 20, 18));
    let many = [(2u64, 40u32), (3, 30), (5, 20)].map(|(p, e)| {
        let problem = DigitProblem::all_digits(p, e, 1);
        ["geelen", "geelen_composed"].map(|m| costs(&problem, m))
    });
    assert_eq!(
        many,
        [[(6, 9, 8), (7, 7, 7)], [(6, 15, 12), (9, 10, 10)], [(7, 15, 13), (9, 14, 12)]]
    );
}

/// One polynomial of degree p takes x to its digit. A closed form evaluates N, of degree 2B + 1,
/// and multiplies it by b: b(l) = 63^2 - l^2 for B = 62, as N(x) (x^2 - 63^2) = x^p - x modulo p.
#[test]
fn closed_forms_are_a_level_deeper_where_the_bound_is_near_half_of_p() {
    let problem = DigitProblem { p: 127, e: 2, v: 1, bound: 62 };
    assert_eq!(costs(&problem, "chen_han"), (7, 21, 18));
    for method in ["product_tree", "product_tree_2", "paterson_stockmeyer"] {
        let costs = costs(&problem, method);
        assert!(costs.0 >= 8, "{method}: {costs:?}");
    }
    // All values: b is constant.
    let all = DigitProblem { bound: 63, ..problem };
    assert_eq!(costs(&all, "chen_han"), costs(&all, "paterson_stockmeyer"));
}

#[test]
fn bits_are_cheapest_by_doubling() {
    // Bootstrapping with r = 1, 8 and 16, and table 3 of Chen-Han: products by each method, and the
    // depth of the last two. The depth is v for r = 1: bit k of x has degree 2^k modulo 2.
    let methods = ["halevi_shoup", "chen_han", "geelen", "doubling"];
    for ((e, v), products, depth) in [
        ((7, 6), [21, 18, 15, 14], 6),
        ((8, 7), [28, 23, 19, 17], 7),
        ((9, 8), [36, 29, 24, 21], 8),
        ((15, 7), [77, 49, 31, 28], 10),
        ((16, 8), [92, 58, 36, 32], 11),
        ((23, 7), [133, 68, 40, 35], 11),
        ((24, 8), [156, 80, 46, 40], 12),
        ((11, 5), [40, 27, 18, 18], 7),
        ((21, 13), [182, 111, 70, 57], 16),
    ] {
        let problem = DigitProblem::all_digits(2, e, v);
        let reports = methods.map(|m| MethodReport::of(m.parse().unwrap(), &problem).unwrap());
        assert_eq!(reports.each_ref().map(|r| r.costs.products), products, "({e}, {v})");
        assert_eq!([&reports[2], &reports[3]].map(|r| r.costs.depth), [depth; 2], "({e}, {v})");
        // Its large constants are all hidden.
        assert!(reports[3].bits <= reports[2].bits + 1e-9, "({e}, {v})");
        assert_eq!(reports[3].costs.relinearizations, reports[3].costs.products);
    }
}

#[test]
fn the_algorithm_of_chen_han_wins_where_the_paper_says() {
    // Table 3: for e >= v + 2 and large p both less depth and less work than Halevi-Shoup; theorem
    // 5: degree e p^v at most, and the products that it counts, but for the lower terms that an
    // asymptotic formula leaves out.
    for (p, e, v) in [(5, 6, 3), (17, 4, 2), (31, 3, 1), (127, 3, 1), (127, 4, 1)] {
        let problem = DigitProblem::all_digits(p, e, v);
        let report = |kind| MethodReport::of(DigitMethod::new(kind), &problem).unwrap();
        let (old, new) = (report(DigitKind::HaleviShoup), report(DigitKind::ChenHan));
        if p == 5 {
            let all = compare(&problem).unwrap();
            let methods: Vec<DigitMethod> = all.iter().map(|report| report.method).collect();
            assert_eq!(methods, DigitMethod::candidates(&problem).unwrap());
            assert!(all.contains(&old) && all.contains(&new));
        }
        assert!(new.costs.depth < old.costs.depth && new.costs.products < old.costs.products);
        assert_eq!(old.total_degree, p.pow(e - 1));
        assert!(new.total_degree <= u64::from(e) * p.pow(v));
        for report in [&old, &new] {
            let predicted = report.predicted.unwrap();
            let depth = f64::from(report.costs.depth);
            // Every polynomial rounds its depth up.
            let steps = report.degrees[0].len() as f64;
            assert!(
                depth >= predicted.depth - 1.0 && depth <= predicted.depth + steps,
                "{report:?}"
            );
            let products = report.costs.products as f64;
            assert!(products <= 1.35 * predicted.products, "{report:?}");
        }
    }
    // e = v + 1, and p = 2 where F = x^2 squares: no such advantage in products over theirs.
    let two = DigitProblem::all_digits(127, 2, 1);
    assert_eq!(costs(&two, "chen_han"), costs(&two, "halevi_shoup"));
}

#[test]
fn rows_have_the_degrees_of_the_papers() {
    let degrees = |p, e, v, bound, method: &str| {
        DigitRemoval::for_problem(DigitProblem { p, e, v, bound }, method.parse().unwrap())
            .unwrap()
            .degrees()
            .to_vec()
    };
    // Set I of Ma et al.: 17,81;65 becomes 17,81;14, and odd 13.
    assert_eq!(degrees(17, 6, 2, 23, "geelen"), [vec![17, 81], vec![65]]);
    assert_eq!(degrees(17, 6, 2, 23, "local"), [vec![17, 81], vec![13]]);
    assert_eq!(degrees(257, 3, 1, 22, "geelen"), [[513]]);
    assert_eq!(degrees(257, 3, 1, 22, "local"), [[133]]);
    assert_eq!(degrees(127, 3, 1, 20, "paterson_stockmeyer"), [[41, 40, 39]]);
    // Geelen et al.: (e' - 1)(p - 1) + 1 and ceil(e/e') p, less what is odd and null.
    let two_steps = degrees(3, 30, 1, 1, "geelen_composed");
    assert_eq!((two_steps[0].len(), degrees(3, 30, 1, 1, "geelen")), (2, vec![vec![59]]));
    // The lifts of a row end where the digit's polynomial has the lower degree.
    assert_eq!(
        degrees(2, 11, 5, 16, "chen_han"),
        [vec![2, 2, 2, 11], vec![2, 2, 2, 10], vec![2, 2, 9], vec![2, 8], vec![7]]
    );
    assert_eq!(degrees(2, 16, 15, 1 << 14, "chen_han")[0], [2, 2, 2, 16]);
}

#[test]
fn impossible_combinations_are_refused() {
    let refused = |p, e, v, bound, method: &str| {
        DigitRemoval::for_problem(DigitProblem { p, e, v, bound }, method.parse().unwrap())
            .unwrap_err()
    };
    use crate::error::CircuitError::{DigitProblem as Problem, OverflowBound, Ring};
    use everlevel_ring::RingError::{NotInvertible, PlainModulus};
    assert!(matches!(refused(127, 2, 1, 20, "global"), Problem { .. }));
    assert!(matches!(refused(17, 6, 2, 23, "product_tree"), OverflowBound { .. }));
    assert!(matches!(refused(2, 6, 2, 1, "paterson_stockmeyer"), OverflowBound { .. }));
    assert!(matches!(refused(2, 25, 2, 1, "doubling"), Problem { .. }));
    assert!(matches!(refused(3, 4, 2, 1, "doubling"), Problem { .. }));
    assert!(matches!(refused(65537, 2, 1, 23, "chen_han"), Problem { .. }));
    assert!(matches!(refused(17, 2, 2, 1, "local"), Problem { .. }));
    assert!(matches!(refused(16, 2, 1, 1, "geelen"), Ring(PlainModulus { .. })));
    for method in ["halevi_shoup", "chen_han", "geelen", "local", "product_tree"] {
        assert!(matches!(refused(15, 3, 1, 7, method), Ring(NotInvertible { .. })), "{method}");
    }
}

/// Tables that no memory holds are refused before they are begun.
#[test]
fn polynomials_of_large_primes_are_refused() {
    let refused = |found: Result<crate::poly::Polynomial, crate::error::CircuitError>| {
        assert_eq!(found.unwrap_err().code(), "circuit.digit-problem");
    };
    // 2^31 - 1 and the largest prime below 2^32.
    for p in [2_147_483_647, 4_294_967_291] {
        let t = PrimePower::new(p, 2).unwrap();
        refused(lifting_polynomial(t));
        refused(lowest_digit_retain(t));
        refused(lowest_digit_retain(PrimePower::new(p, 1).unwrap()));
        refused(digit_polynomial(t, 1, p / 2));
        // Few values of a digit are no problem.
        assert_eq!(digit_polynomial(t, 1, 1).unwrap().evaluate(1), 1);
    }
}
