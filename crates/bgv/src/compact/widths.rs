//! The widths of compact components: the least for which the bounds hold, the carried one for w,
//! the law of the coefficients for the roundings of what s and s² multiply (see
//! [`everlevel_scheme::noise`]), the worst case for that of c0.

use everlevel_ring::Basis;
use everlevel_scheme::Params;

use crate::encryption::DECRYPTION_SLACK;

/// The largest width of a component in bits.
pub(super) const WIDEST: u32 = 56;
/// How far t times a phase may lie from integers: what is missing to one half is for floating
/// point.
const ROOM: f64 = 0.499;

/// The widths of the components that have the least sum, the last of which is multiplied by this
/// power of the secret; `carried` is log2 of |w| / q. None if none are wide enough. With them the
/// bound on the distance from integers that they leave.
pub(super) fn least(
    params: &Params,
    t: u128,
    carried: f64,
    limbs: usize,
    degree: u32,
) -> Option<(Vec<u32>, f64)> {
    let t = t as f64;
    let multiplied = component_count(params, degree).saturating_sub(1).max(1) as u32;
    let roundings: Vec<(f64, f64)> = (degree + 1 - multiplied..=degree)
        .map(|power| params.noise().bound().compact_rounding(power))
        .collect();
    // The quotients are too small by less than 2^-64 for each prime.
    let sum: f64 = roundings.iter().map(|(_, sum)| sum).sum();
    let used = carried.exp2() + t * limbs as f64 * (1.0 + sum) * (-64f64).exp2();
    // What the rounding of each component would do to t times the phase at width 0.
    let constant = (params.components() > 1).then_some(t / 2.0);
    let scales: Vec<f64> =
        constant.into_iter().chain(roundings.iter().map(|(law, _)| t * law)).collect();
    let widths = narrowest(&scales, WIDEST, ROOM - used)?;
    let roundings = scales.iter().zip(&widths).map(|(&scale, &width)| at(scale, width));
    let distance = used + roundings.sum::<f64>();
    Some((widths, distance))
}

/// How many components there are if the last one is multiplied by this power of the secret.
pub(super) fn component_count(params: &Params, degree: u32) -> usize {
    if params.components() > 1 { degree as usize + 1 } else { 1 }
}

/// Primes that hold the product of a polynomial of the last width with the secret; none if the set
/// has too few.
pub(super) fn basis(params: &Params, widths: &[u32]) -> Option<Basis> {
    let (ring, n) = (params.ring(), params.degree() as f64);
    // ‖c s‖ <= n 2^(last - 1) ‖s‖.
    let norm =
        f64::from(*widths.last()?) + n.log2() + params.noise().bound().key_norm_limit().log2();
    let need = norm + ring.coefficient_bits() + 1.0 + DECRYPTION_SLACK;
    let add = |basis: Basis, i| {
        if ring.log2(basis) < need { basis.union(Basis::of([i])) } else { basis }
    };
    let basis = params.chain().keyed().iter().fold(Basis::EMPTY, add);
    (ring.log2(basis) >= need).then_some(basis)
}

/// What a rounding does at a width.
fn at(scale: f64, width: u32) -> f64 {
    scale / (1u64 << width) as f64
}

/// Ascending widths from 1 to `widest` with Σ scale_k 2^-width_k below `room`, the sum of which is
/// least, and among those the last one, and so on.
fn narrowest(scales: &[f64], widest: u32, room: f64) -> Option<Vec<u32>> {
    let (last, others) = scales.split_last()?;
    if others.is_empty() {
        return narrowest_of_one(*last, widest, room).map(|width| vec![width]);
    }
    let ending_in = |width: u32| {
        let left = room - at(*last, width);
        if left <= 0.0 {
            return None;
        }
        let mut widths = narrowest(others, width, left)?;
        widths.push(width);
        Some(widths)
    };
    (1..=widest).filter_map(ending_in).min_by_key(|widths| widths.iter().sum::<u32>())
}

/// The least width from 1 to `widest` with scale 2^-width below `room`, by halving, as this falls
/// with the width: about a hundred times for each result.
fn narrowest_of_one(scale: f64, widest: u32, room: f64) -> Option<u32> {
    let (mut low, mut high) = (1, widest + 1);
    while low < high {
        let middle = (low + high) / 2;
        if at(scale, middle) < room {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low <= widest).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_width_is_the_first_that_fits() {
        let scales = [0.0, 0.1, 1.0, 3.0, 1024.0, 1e5, 7e12, 2f64.powi(55), 2f64.powi(56), 1e30];
        let mut found = std::collections::BTreeSet::new();
        for scale in scales {
            for room in [-1.0, 0.0, 1e-9, 0.25, 0.499, 0.5, 1.0, 2.0, 1024.0] {
                for widest in [0, 1, 2, 11, 12, WIDEST] {
                    let first = (1..=widest).find(|&width| at(scale, width) < room);
                    let width = narrowest_of_one(scale, widest, room);
                    assert_eq!(width, first, "{scale}, {room}, {widest}");
                    found.insert(width);
                }
            }
        }
        assert!(found.len() > 10 && found.contains(&None), "{found:?}");
    }

    /// Against all ascending widths there are.
    #[test]
    fn no_others_have_a_smaller_sum() {
        for (scales, room) in [
            ([300.0, 7.0e3, 1.0e6], 0.4),
            ([1.0, 1.0, 1.0], 0.7),
            ([8.0, 9.0e4, 9.0e4], 0.01),
            ([5.0e3, 2.0, 7.0], 0.3),
            ([3.0, 5.0, 1.0e7], 0.2),
        ] {
            let fits = |widths: [u32; 3]| {
                let roundings = scales.iter().zip(widths).map(|(&scale, width)| at(scale, width));
                widths.is_sorted() && roundings.sum::<f64>() < room
            };
            let all =
                (1..=26).flat_map(|c| (1..=c).flat_map(move |b| (1..=b).map(move |a| [a, b, c])));
            let best = all.filter(|&widths| fits(widths)).min_by_key(|widths| {
                let [_, middle, last] = *widths;
                (widths.iter().sum::<u32>(), last, middle)
            });
            let found = narrowest(&scales, 26, room);
            assert_eq!(found, best.map(Vec::from), "{scales:?} {room}");
        }
        assert_eq!(narrowest(&[1.0, 1.0], 1, 0.9), None);
        assert_eq!(narrowest(&[1.0], 5, 0.0), None);
    }
}
