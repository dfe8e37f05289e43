//! Public integers as digits of given ranges.

use std::collections::BTreeSet;

use crate::column::{BASE, Digit};

/// Digits c_i in the given ranges with Σ 16^i c_i = `k`, each as small as possible from the lowest
/// on: modulo 16^n for n ranges if `modular`, otherwise exactly. `None` if there are no such
/// digits.
pub(crate) fn split(k: i128, ranges: &[(i64, i64)], modular: bool) -> Option<Vec<i64>> {
    let mut refused = BTreeSet::new();
    let mut out = Vec::with_capacity(ranges.len());
    descend(k, ranges, modular, &mut out, &mut refused).then_some(out)
}

fn descend(
    k: i128,
    ranges: &[(i64, i64)],
    modular: bool,
    out: &mut Vec<i64>,
    refused: &mut BTreeSet<(usize, i128)>,
) -> bool {
    let Some((low, high)) = ranges.get(out.len()) else { return modular || k == 0 };
    if refused.contains(&(out.len(), k)) {
        return false;
    }
    let residue = k.rem_euclid(i128::from(BASE)) as i64;
    let first = low + (residue - low).rem_euclid(BASE);
    let mut candidates: Vec<i64> = (first..=*high).step_by(BASE as usize).collect();
    candidates.sort_by_key(|c| c.abs());
    for c in candidates {
        out.push(c);
        if descend((k - i128::from(c)) / i128::from(BASE), ranges, modular, out, refused) {
            return true;
        }
        out.pop();
    }
    refused.insert((out.len(), k));
    false
}

/// The number of digits of the integers up to `highest`, at least one.
pub(crate) fn digits_of(highest: u128) -> usize {
    (128 - highest.leading_zeros()).div_ceil(4).max(1) as usize
}

/// The digits of a public integer, modulo 16^count.
pub(crate) fn public_digits<C>(value: i128, count: usize) -> Vec<Digit<C>> {
    (0..count).map(|i| Digit::public((value >> (4 * i).min(127) & 15) as i64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_and_stay_in_their_ranges() {
        let value = |c: &[i64]| c.iter().rev().fold(0i128, |v, c| 16 * v + i128::from(*c));
        for ranges in [[(0, 15); 3], [(-15, 15); 3], [(-3, 20); 3], [(5, 20); 3]] {
            let lowest = value(&ranges.map(|r| r.0));
            let highest = value(&ranges.map(|r| r.1));
            for k in -5000..9000 {
                let found = split(k, &ranges, false);
                // 16 values or more in a row: everything between the ends can be had.
                assert_eq!(found.is_some(), (lowest..=highest).contains(&k), "{k} {ranges:?}");
                let Some(c) = found else { continue };
                assert_eq!(value(&c), k);
                assert!(c.iter().zip(ranges).all(|(c, r)| (r.0..=r.1).contains(c)));
                let c = split(k, &ranges, true).unwrap();
                assert_eq!((value(&c) - k).rem_euclid(4096), 0);
            }
        }
        assert_eq!(split(5, &[(0, 4)], true), None);
        assert_eq!(split(1 << 8, &[(0, 15), (0, 15)], true), Some(vec![0, 0]));
        assert_eq!([0, 15, 16, 255, 256].map(digits_of), [1, 1, 2, 2, 3]);
    }
}
