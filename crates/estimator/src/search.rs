//! Bisection.

/// The least number in low…high that `holds`, by bisection; `None` if the last does not.
pub(crate) fn least(low: usize, high: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    if low > high || !holds(high) {
        return None;
    }
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}
