//! Bounds on digits from the interval of a value, and on the interval from its digits.

use crate::column::{BASE, Column, Digit};
use crate::interval::Interval;

/// The ends of Σ 16^i d_i for digits of these windows; `None` beyond 2^127.
fn ends(windows: &[(i64, i64)]) -> Option<(i128, i128)> {
    let end = |f: fn(&(i64, i64)) -> i64| {
        windows.iter().rev().try_fold(0i128, |v, window| {
            v.checked_mul(i128::from(BASE))?.checked_add(i128::from(f(window)))
        })
    };
    Some((end(|w| w.0)?, end(|w| w.1)?))
}

/// Windows of digits with low <= Σ 16^i d_i <= high, from the top digit on. Each digit is at most
/// what remains if the others are least, and at least what remains if they are greatest. `None`
/// beyond 2^127.
fn bounded(mut windows: Vec<(i64, i64)>, (low, high): (i128, i128)) -> Option<Vec<(i64, i64)>> {
    for i in (0..windows.len()).rev() {
        let weight = 1i128.checked_shl(4 * i as u32).filter(|w| *w > 0)?;
        let own = windows[i];
        windows[i] = (0, 0);
        let (least, most) = ends(&windows)?;
        let room = high.checked_sub(least)?.div_euclid(weight);
        let needed = -most.checked_sub(low)?.div_euclid(weight);
        let window = (i128::from(own.0).max(needed), i128::from(own.1).min(room));
        // Contradictions are of a false bound, of which nothing follows.
        if window.0 > window.1 {
            return None;
        }
        windows[i] = (window.0 as i64, window.1 as i64);
    }
    Some(windows)
}

/// The window of the two highest of several digits as one, 16 d_k + d_(k-1), where the digits make
/// values of an interval less an anchor. None where the slots behind the column hold something
/// else.
pub(crate) fn top_window<C>(
    digits: &[Digit<C>],
    interval: Interval,
    anchor: i128,
) -> Option<(i64, i64)> {
    let [lower @ .., below, top] = digits else { return None };
    let joined = (BASE * top.low + below.low, BASE * top.high + below.high);
    let windows = lower.iter().map(|d| (d.low, d.high)).chain([joined]).collect();
    let values = (interval.low.checked_sub(anchor)?, interval.high.checked_sub(anchor)?);
    let (low, high) = *bounded(windows, values)?.last()?;
    (low..=high).contains(&(BASE * top.pad + below.pad)).then_some((low, high))
}

impl<C> Column<C> {
    /// The column with the narrowest interval and windows that follow from its interval and
    /// windows: min(x, 100) of 16 bits has two digits, not four. Digits that can have only one
    /// value become public.
    pub(crate) fn narrowed(mut self) -> Self {
        let windows: Vec<_> = self.digits.iter().map(|d| (d.low, d.high)).collect();
        if let Some((least, most)) = ends(&windows) {
            let end = |v: i128| v.checked_add(self.anchor);
            let low = end(least).map_or(self.interval.low, |v| v.max(self.interval.low));
            let high = end(most).map_or(self.interval.high, |v| v.min(self.interval.high));
            if low <= high {
                self.interval = Interval { low, high };
            }
        }
        if self.interval.low == self.interval.high {
            return Column::public(self.interval.low, self.interval, self.length);
        }
        // Slots behind the column follow the same rules, but for results that say otherwise.
        if windows.is_empty() || !self.interval.contains(self.pad()) {
            return self;
        }
        let value = |v: i128| v.checked_sub(self.anchor);
        let ends = value(self.interval.low).zip(value(self.interval.high));
        let Some(windows) = ends.and_then(|ends| bounded(windows, ends)) else { return self };
        for (digit, (low, high)) in self.digits.iter_mut().zip(windows) {
            if !(low..=high).contains(&digit.pad) {
                continue;
            }
            match low == high {
                true => *digit = Digit::public(low),
                false => (digit.low, digit.high) = (low, high),
            }
        }
        self
    }

    /// The same column without public zeros as its highest digits.
    pub(crate) fn shortened(mut self) -> Self {
        while let Some(Digit { cipher: None, low: 0, .. }) = self.digits.last() {
            self.digits.pop();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against all digits with a value of the interval.
    #[test]
    fn windows_hold_all_digits_of_an_interval() {
        let digits = |(low, high): (i64, i64)| low..=high;
        for own in
            [[(0, 15), (0, 15), (0, 3)], [(-9, 20), (3, 30), (-2, 1)], [(0, 0), (0, 15), (0, 1)]]
        {
            for low in (-600..900).step_by(37) {
                for high in (low..900).step_by(61) {
                    let mut found: Option<[(i64, i64); 3]> = None;
                    for a in digits(own[0]) {
                        for b in digits(own[1]) {
                            for c in digits(own[2]).filter(|c| {
                                (low..=high).contains(&i128::from(a + 16 * b + 256 * c))
                            }) {
                                let with = |w: (i64, i64), d: i64| (w.0.min(d), w.1.max(d));
                                let old = found.unwrap_or([(a, a), (b, b), (c, c)]);
                                found = Some([with(old[0], a), with(old[1], b), with(old[2], c)]);
                            }
                        }
                    }
                    let Some(needed) = found else { continue };
                    let windows = bounded(own.to_vec(), (low, high)).unwrap();
                    for (i, ((a, b), (c, d))) in windows.iter().zip(needed).enumerate() {
                        assert!(*a <= c && d <= *b, "{own:?} within {low}..={high}");
                        // The top digit's window is exact for canonical digits.
                        if i == 2 && own[0] == (0, 15) && own[1] == (0, 15) {
                            assert_eq!((*a, *b), (c, d), "{own:?} within {low}..={high}");
                        }
                    }
                }
            }
        }
        let canonical = vec![(0, 15); 3];
        assert_eq!(bounded(canonical.clone(), (0, 100)), Some(vec![(0, 15), (0, 6), (0, 0)]));
        assert_eq!(bounded(canonical, (0x3e8, 0x3f0)), Some(vec![(0, 15), (14, 15), (3, 3)]));
        assert_eq!(bounded(vec![(0, 30); 40], (0, 1)), None);
        assert_eq!(bounded(vec![(0, 15)], (16, 20)), None);
    }
}
