//! Looking for the least value of functions of whole numbers that are nearly unimodal.

/// What a search found: where, and the value there.
pub(crate) type Found<T> = Option<(usize, T)>;

/// The best of `candidates` by `cost`, then of what lies around it at ever finer steps down to 1.
/// Functions here have one valley with some ripples, and may be undefined at its sides.
pub(crate) fn minimize<T>(
    low: usize,
    high: usize,
    coarse: usize,
    mut value: impl FnMut(usize) -> Option<T>,
    cost: impl Fn(&T) -> f64,
) -> Found<T> {
    let mut best: Found<T> = None;
    let mut try_at = |best: &mut Found<T>, at: usize| {
        if let Some(new) = value(at)
            && best.as_ref().is_none_or(|(_, old)| cost(&new) < cost(old))
        {
            *best = Some((at, new));
        }
    };
    let mut step = coarse.max(1);
    for at in (low..=high).step_by(step) {
        try_at(&mut best, at);
    }
    try_at(&mut best, high);
    while step > 1 {
        let center = best.as_ref()?.0;
        let finer = (step / 4).max(1);
        let (from, to) = (center.saturating_sub(step - 1).max(low), (center + step - 1).min(high));
        for at in
            (from..=to).filter(|at| *at != center && at.abs_diff(center).is_multiple_of(finer))
        {
            try_at(&mut best, at);
        }
        step = finer;
    }
    best
}

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
