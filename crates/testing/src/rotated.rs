//! What automorphisms make of the values of slots.

use everlevel_ring::SlotShape;

/// What a rotation by `k` to the left along a dimension makes of the values of all slots.
pub fn rotated_along(shape: &SlotShape, x: &[u64], dimension: usize, k: i64) -> Vec<u64> {
    let sizes: Vec<usize> = shape.dimensions().iter().map(|d| d.size).collect();
    let (size, inner) = (sizes[dimension], sizes[dimension + 1..].iter().product::<usize>());
    let shift = k.rem_euclid(size as i64) as usize;
    let source = |i: usize| {
        let place = i / inner % size;
        i - place * inner + (place + shift) % size * inner
    };
    (0..x.len()).map(|i| x[source(i)]).collect()
}
