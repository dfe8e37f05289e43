//! Intervals of quotients and remainders, rounded down.

use crate::error::IntegersError;
use crate::interval::Interval;

/// ⌊x / y⌋, and 0 where y is 0.
pub(crate) fn floored(x: i128, y: i128) -> i128 {
    match x.checked_rem(y) {
        None => 0,
        Some(rest) => x / y - i128::from(rest != 0 && (rest < 0) != (y < 0)),
    }
}

/// The intervals of the divisors below and above 0, if there are any.
fn signed(b: Interval) -> impl Iterator<Item = (i128, i128)> {
    [(b.low(), b.high().min(-1)), (b.low().max(1), b.high())].into_iter().filter(|(l, h)| l <= h)
}

/// The interval of ⌊a / b⌋, which is 0 where b is 0. Quotients by divisors of one sign are extreme
/// at the ends.
pub(crate) fn quotients(a: Interval, b: Interval) -> Result<Interval, IntegersError> {
    let zero = b.contains(0).then_some(0);
    let ends = signed(b).flat_map(|(low, high)| [low, high]);
    let found = ends.flat_map(|y| [floored(a.low(), y), floored(a.high(), y)]).chain(zero);
    let (low, high) = found.fold((i128::MAX, i128::MIN), |(l, h), v| (l.min(v), h.max(v)));
    Interval::new(low, high)
}

/// The interval of a - b ⌊a / b⌋, which is 0 where b is 0. A remainder is between 0 and the
/// divisor, which is excluded, and at most the dividend if this has the same sign.
pub(crate) fn remainders(a: Interval, b: Interval) -> Result<Interval, IntegersError> {
    let (mut low, mut high) = (0, 0);
    for (least, most) in signed(b) {
        if most > 0 {
            high = if a.low() < 0 { most - 1 } else { a.high().min(most - 1) };
        } else {
            low = if a.high() > 0 { least + 1 } else { a.low().max(least + 1) };
        }
    }
    Interval::new(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every quotient and every remainder lies in its interval, and both ends of that of quotients
    /// are reached.
    #[test]
    fn intervals_of_quotients() {
        let ends = (-7..=7i128).flat_map(|low| (low..=7).map(move |high| (low, high)));
        let ends: Vec<(i128, i128)> = ends.collect();
        for a in ends.iter().step_by(5) {
            for b in &ends {
                let [x, y] = [a, b].map(|(low, high)| Interval::new(*low, *high).unwrap());
                let pairs = || (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| (x, y)));
                let all: Vec<i128> = pairs().map(|(x, y)| floored(x, y)).collect();
                let found = quotients(x, y).unwrap();
                let (low, high) = (*all.iter().min().unwrap(), *all.iter().max().unwrap());
                assert_eq!((found.low(), found.high()), (low, high), "{a:?} {b:?}");
                let rests = remainders(x, y).unwrap();
                let rest = |x: i128, y: i128| if y == 0 { 0 } else { x - y * floored(x, y) };
                assert!(pairs().all(|(x, y)| rests.contains(rest(x, y))), "{a:?} {b:?} {rests}");
            }
        }
        assert_eq!(
            [(-7, 2), (7, -2), (-6, 3), (5, 0)].map(|(x, y)| floored(x, y)),
            [-4, -4, -2, 0]
        );
    }
}
