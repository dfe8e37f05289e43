//! A search for the cheapest pair of a guessing dimension ζ and a block size β that knows what it
//! can have missed.
//!
//! Best first: of all rectangles of the plane (ζ, β) that are left the one with the least lower
//! bound is halved, until no bound is more than [`TOLERANCE`] below the cheapest point that was
//! met. **Proof.** The rectangles that are kept or were dropped cover the plane at any time, and
//! none is dropped whose bound is below best − 0.1; so no point costs less than that. If the number
//! of steps ends first, the least bound that is left is what no point is below, and
//! [`Found::loss`], the distance to it, is subtracted from the result. What has to hold is that
//! bounds are bounds: see where they are made.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What may be missed, in bits.
pub(super) const TOLERANCE: f64 = 0.1;

/// The most rectangles that are looked at, and the most weights that are tried on them: a tenth of
/// a second. Keys of practical sizes need a third of that.
const STEPS: usize = 3000;
const WEIGHTS: usize = 150_000;

/// ζ and β from the first to the second number, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    pub zeta: (usize, usize),
    pub beta: (usize, usize),
}

/// A lower bound of the cost in a region, and how much of it comes from the width of either side:
/// the larger is halved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub bits: f64,
    pub zeta_spread: f64,
    pub beta_spread: f64,
}

/// A cost that can be looked up and bounded.
pub(super) trait Plane {
    /// What is found at a point.
    type Point;

    /// The cost at ζ, β in bits, if the attack works there. `limit`: more is of no interest.
    fn at(&mut self, zeta: usize, beta: usize, limit: f64) -> Option<(f64, Self::Point)>;

    /// What no point of the region costs less than; infinite if none works.
    fn bound(&mut self, region: Region, limit: f64) -> Bound;

    /// How many weights have been tried.
    fn weights_tried(&self) -> usize;
}

/// The cheapest point that was met.
#[derive(Debug)]
pub(super) struct Found<T> {
    pub bits: f64,
    pub point: T,
    /// What a cheaper one may cost less: at most [`TOLERANCE`] if the steps sufficed.
    pub loss: f64,
}

struct Waiting(Region, Bound);

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    /// The least bound is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.1.bits.total_cmp(&self.1.bits)
    }
}

impl Region {
    /// Two halves, by the side that spreads the bound more; none of a point.
    fn halves(self, bound: Bound) -> Option<[Region; 2]> {
        let middle = |side: (usize, usize)| side.0 + (side.1 - side.0) / 2;
        let by_zeta = self.beta.0 == self.beta.1
            || (self.zeta.0 < self.zeta.1 && bound.zeta_spread >= bound.beta_spread);
        if self.zeta.0 == self.zeta.1 && self.beta.0 == self.beta.1 {
            None
        } else if by_zeta {
            let m = middle(self.zeta);
            Some([(self.zeta.0, m), (m + 1, self.zeta.1)].map(|zeta| Region { zeta, ..self }))
        } else {
            let m = middle(self.beta);
            Some([(self.beta.0, m), (m + 1, self.beta.1)].map(|beta| Region { beta, ..self }))
        }
    }

    fn center(self) -> (usize, usize) {
        let middle = |side: (usize, usize)| side.0 + (side.1 - side.0) / 2;
        (middle(self.zeta), middle(self.beta))
    }
}

/// The cheapest point below `limit` bits, if there is one. `starts` are points to begin with; good
/// ones save steps.
pub(super) fn cheapest<P: Plane>(
    plane: &mut P,
    whole: Region,
    starts: impl IntoIterator<Item = (usize, usize)>,
    limit: f64,
) -> Option<Found<P::Point>> {
    let mut best: Option<(f64, P::Point)> = None;
    let try_at = |plane: &mut P, best: &mut Option<(f64, P::Point)>, (zeta, beta)| {
        let limit = best.as_ref().map_or(limit, |(bits, _)| *bits);
        if let Some(new) = plane.at(zeta, beta, limit)
            && new.0 < limit
        {
            *best = Some(new);
        }
    };
    for start in starts {
        try_at(plane, &mut best, start);
    }
    let bound = plane.bound(whole, f64::INFINITY);
    let mut waiting = BinaryHeap::from([Waiting(whole, bound)]);
    let mut loss: f64 = 0.0;
    let mut steps = 0;
    while let Some(Waiting(region, bound)) = waiting.pop() {
        let least = best.as_ref().map_or(limit, |(bits, _)| *bits);
        if bound.bits >= least - TOLERANCE {
            loss = (least - bound.bits).max(0.0);
            break;
        }
        if steps >= STEPS || plane.weights_tried() >= WEIGHTS {
            loss = least - bound.bits;
            break;
        }
        for half in region.halves(bound).into_iter().flatten() {
            steps += 1;
            try_at(plane, &mut best, half.center());
            let least = best.as_ref().map_or(limit, |(bits, _)| *bits);
            let bound = plane.bound(half, least);
            if bound.bits < least {
                waiting.push(Waiting(half, bound));
            }
        }
    }
    best.map(|(bits, point)| Found { bits, point, loss })
}

/// Whether no point costs less than `limit`: the search of [`cheapest`], which ends at the first
/// point below. `false`, too, if the steps did not suffice to tell.
pub(super) fn none_below<P: Plane>(plane: &mut P, whole: Region, limit: f64) -> bool {
    let bound = plane.bound(whole, limit);
    let mut waiting = BinaryHeap::from([Waiting(whole, bound)]);
    let mut steps = 0;
    while let Some(Waiting(region, bound)) = waiting.pop() {
        if bound.bits >= limit {
            return true;
        }
        let (zeta, beta) = region.center();
        let below = plane.at(zeta, beta, limit).is_some_and(|(bits, _)| bits < limit);
        if below || steps >= STEPS || plane.weights_tried() >= WEIGHTS {
            return false;
        }
        for half in region.halves(bound).into_iter().flatten() {
            steps += 1;
            let bound = plane.bound(half, limit);
            if bound.bits < limit {
                waiting.push(Waiting(half, bound));
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A valley along a line with ripples, and bounds that are as loose as the region is wide.
    struct Valley {
        looked: usize,
    }

    impl Valley {
        fn height(zeta: usize, beta: usize) -> f64 {
            let (x, y) = (zeta as f64, beta as f64);
            100.0 + (x - 2.0 * y).abs() / 10.0 + (x - 700.0).abs() / 50.0 + (x / 3.0).sin()
        }
    }

    impl Plane for Valley {
        type Point = (usize, usize);

        fn at(&mut self, zeta: usize, beta: usize, _: f64) -> Option<(f64, (usize, usize))> {
            self.looked += 1;
            Some((Valley::height(zeta, beta), (zeta, beta)))
        }

        fn bound(&mut self, region: Region, _: f64) -> Bound {
            let (zeta, beta) = region.center();
            let zeta_spread = (region.zeta.1 - region.zeta.0) as f64 * (0.12 + 1.0 / 3.0);
            let beta_spread = (region.beta.1 - region.beta.0) as f64 * 0.2;
            let bits = Valley::height(zeta, beta) - zeta_spread - beta_spread;
            Bound { bits, zeta_spread, beta_spread }
        }

        fn weights_tried(&self) -> usize {
            0
        }
    }

    #[test]
    fn the_lowest_point_is_found_or_the_rest_is_bounded() {
        let least = (0..=1000)
            .flat_map(|zeta| (40..=600).map(move |beta| Valley::height(zeta, beta)))
            .fold(f64::MAX, f64::min);
        let whole = Region { zeta: (0, 1000), beta: (40, 600) };
        let mut valley = Valley { looked: 0 };
        let found = cheapest(&mut valley, whole, [], f64::INFINITY).unwrap();
        assert!(found.bits - found.loss.max(TOLERANCE) <= least, "{found:?} {least}");
        assert_eq!(found.bits, Valley::height(found.point.0, found.point.1));
        assert!(found.loss > 0.0 || found.bits <= least + TOLERANCE);
        assert!(valley.looked < 1001 * 561 / 100, "{}", valley.looked);
        assert!(cheapest(&mut valley, whole, [], least - 1.0).is_none());
        assert!(none_below(&mut valley, whole, least - 1.0));
        assert!(none_below(&mut valley, whole, least - 0.01));
        assert!(!none_below(&mut valley, whole, least + 0.01));
    }
}
