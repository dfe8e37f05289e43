//! Quantiles of numbers in order.

/// The largest number of decimal places of a quantile.
const PLACES: u32 = 4;

/// A quantile from 0 to 1, as that of `quantile_cont`: of c numbers in order, counted from 0, the
/// one at position (c - 1) q; between two numbers, in proportion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantile {
    numerator: i128,
    denominator: i128,
}

impl Quantile {
    /// The median.
    pub const MEDIAN: Quantile = Quantile { numerator: 1, denominator: 2 };

    /// The quantile of a number in units of 10^-scale; `None` if it is not from 0 to 1, or has more
    /// than 4 decimal places.
    pub(crate) fn new(units: i128, scale: u32) -> Option<Self> {
        let denominator = 10i128.pow(scale.min(PLACES));
        if scale > PLACES || !(0..=denominator).contains(&units) {
            return None;
        }
        // The smallest denominator is the cheapest, and equal quantiles are one.
        let (mut common, mut rest) = (denominator, units);
        while rest > 0 {
            (common, rest) = (rest, common % rest);
        }
        Some(Quantile { numerator: units / common, denominator: denominator / common })
    }

    /// The factor by which a quantile of integers is multiplied to be an integer.
    pub fn denominator(self) -> i128 {
        self.denominator
    }

    /// Of `count` numbers in order, the positions of the two that it is between, and the weight of
    /// the second one, of `denominator`. Both positions are the same if the weight is 0.
    pub(crate) fn between(self, count: i128) -> (i128, i128, i128) {
        let position = (count - 1).max(0) * self.numerator;
        let (lower, weight) = (position / self.denominator, position % self.denominator);
        (lower, lower + i128::from(weight > 0), weight)
    }

    /// The quantile of numbers in order, times its denominator; 0 for none.
    pub(crate) fn of(self, numbers: &[i128]) -> i128 {
        let (lower, upper, weight) = self.between(numbers.len() as i128);
        let at = |place: i128| numbers.get(place as usize).copied().unwrap_or(0);
        at(lower) * (self.denominator - weight) + at(upper) * weight
    }

    /// The fewest numbers that have the quantile of `count` numbers, if it is between these two.
    pub(crate) fn fewest(self, count: i128, [lower, upper]: [i128; 2]) -> Vec<i128> {
        let fewest = (count - 1).max(0) % self.denominator + 1;
        let (place, ..) = self.between(fewest);
        (0..fewest).map(|i| if i <= place { lower } else { upper }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_two_numbers() {
        let squares: Vec<i128> = (0..40).map(|i| i * i).collect();
        for units in (0..=100).chain([25, 50, 75]) {
            let quantile = Quantile::new(units, 2).unwrap();
            assert_eq!(Quantile::new(units * 100, 4), Some(quantile));
            for count in 1..=squares.len() {
                let found = quantile.of(&squares[..count]);
                // In hundredths: a + (b - a) w.
                let position = (count as i128 - 1) * units;
                let (a, w) = (position / 100, position % 100);
                let expected = a * a * 100 + (2 * a + 1) * w;
                assert_eq!(found * 100, expected * quantile.denominator(), "{units} {count}");
                let (lower, upper, _) = quantile.between(count as i128);
                let ends = [lower, upper].map(|place| squares[place as usize]);
                let few = quantile.fewest(count as i128, ends);
                assert_eq!(quantile.of(&few), found, "{units} {count}");
                assert!(few.len() <= 100);
            }
        }
        assert_eq!(Quantile::new(5, 1), Some(Quantile::MEDIAN));
        assert_eq!(Quantile::MEDIAN.of(&[]), 0);
        for (units, scale) in [(-1, 0), (2, 0), (101, 2), (10_001, 4), (1, 5)] {
            assert_eq!(Quantile::new(units, scale), None);
        }
    }
}
