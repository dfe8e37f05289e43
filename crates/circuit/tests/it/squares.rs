//! Functions on few points by squares.

use everlevel_circuit::PrimePower;
use everlevel_circuit::poly::PolynomialPlan;
use everlevel_scheme::NextUse;
use everlevel_testing::{ResidueScheme, SplitMix};

/// Depth, products and relinearizations of the plans for these values, which all give them.
fn costs(xs: &[i64], values: &[u64], squared: bool) -> Vec<(u32, usize, usize)> {
    let (scheme, t) = (ResidueScheme::new(65537), PrimePower::new(65537, 1).unwrap());
    let inputs: Vec<u64> = xs.iter().map(|x| t.reduce_i64(*x)).collect();
    let point = |x: &u64| if squared { t.mul(*x, *x) } else { *x };
    let points: Vec<u64> = inputs.iter().map(point).collect();
    let plans = PolynomialPlan::by_squares(t, &points, values, squared).unwrap();
    let cost = |plan: &PolynomialPlan| {
        let x = scheme.encrypt(inputs.clone(), 1);
        scheme.take_counts();
        let y = plan.evaluate(&scheme, &x, NextUse::Keep).unwrap().remove(0);
        let costs = plan.costs();
        assert_eq!(scheme.take_counts(), (costs.products, costs.relinearizations));
        assert_eq!((&y.values[..], y.depth), (values, costs.depth), "{xs:?}");
        (costs.depth, costs.products, costs.relinearizations)
    };
    plans.iter().map(cost).collect()
}

fn truths(xs: &[i64], holds: impl Fn(i64) -> bool) -> Vec<u64> {
    xs.iter().map(|x| u64::from(holds(*x))).collect()
}

#[test]
fn truth_values_of_digits() {
    // Wherever the window is: digits less a public one.
    for low in [0, -8, -15] {
        let xs: Vec<i64> = (low..low + 16).collect();
        let found: Vec<Vec<_>> =
            xs.iter().map(|v| costs(&xs, &truths(&xs, |x| x == *v), false)).collect();
        let least = found.iter().map(|all| all.iter().map(|c| c.2).min().unwrap());
        let least: Vec<usize> = least.collect();
        assert_eq!(least, [4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4], "{low}");
        assert!(found.iter().flatten().all(|c| c.0 == 4 && c.1 <= 6), "{found:?}");
    }
    // Whether digits are equal, from the square of their difference.
    let xs: Vec<i64> = (0..16).collect();
    assert_eq!(costs(&xs, &truths(&xs, |x| x == 0), true)[0], (5, 7, 5));
    let xs: Vec<i64> = (0..8).collect();
    for v in 0..8 {
        assert_eq!(costs(&xs, &truths(&xs, |x| x == v), false), [(3, 4, 3)], "{v}");
    }
}

#[test]
fn any_function_of_few_points() {
    let mut rng = SplitMix(5);
    for points in 5..=16usize {
        for _ in 0..3 {
            let xs: Vec<i64> = (0..points as i64).map(|i| 3 * i - 20).collect();
            let values: Vec<u64> = xs.iter().map(|_| rng.below(65537)).collect();
            let (depth, relinearizations) = if points > 8 { (4, 5) } else { (3, 3) };
            for cost in costs(&xs, &values, false) {
                assert!(cost.0 == depth && cost.1 <= 7 && cost.2 <= relinearizations);
            }
        }
        // Constants and lines are no other case.
        let xs: Vec<i64> = (0..points as i64).collect();
        costs(&xs, &vec![1; points], false);
        costs(&xs, &(7..7 + points as u64).collect::<Vec<_>>(), false);
    }
}

#[test]
fn other_numbers_of_points_and_moduli() {
    let t = PrimePower::new(65537, 1).unwrap();
    let points = |n: u64| (0..n).collect::<Vec<_>>();
    let count = |t: PrimePower, n: u64| {
        PolynomialPlan::by_squares(t, &points(n), &points(n), false).unwrap().len()
    };
    assert_eq!([1, 4, 17].map(|n| count(t, n)), [0; 3]);
    assert_eq!(count(PrimePower::new(257, 2).unwrap(), 16), 0);
    assert_eq!(count(PrimePower::new(17, 1).unwrap(), 16), 0);
    // Of a large prime there is the form with y³ alone.
    assert_eq!(count(PrimePower::new(786_433, 1).unwrap(), 16), 1);
    assert!(PolynomialPlan::by_squares(t, &points(9), &points(8), false).is_err());
    assert!(PolynomialPlan::by_squares(t, &[5; 9], &points(9), false).is_err());
}
