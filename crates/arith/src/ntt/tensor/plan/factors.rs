//! Which cyclic groups a line is made of, and in which order.

use crate::axes::Axis;
use crate::primes;

/// One factor of a line: a cyclic group of prime-power order, or a dense axis (`prime` = 0).
pub(super) struct Factor {
    pub(super) axis: usize,
    pub(super) prime: u64,
    pub(super) order: usize,
}

/// Whether the transform along an axis is a correlation.
pub(super) fn is_cyclic(axis: &Axis) -> bool {
    axis.index == axis.prime
}

/// The factors of a line: dense ones first, then large primes before small ones, so that the line
/// falls into pieces early. Last is the one that turns: the largest prime, because a correlation by
/// its definition costs less than two transforms and their reductions; or the longest power of two
/// or three.
pub(super) fn factors(axes: &[Axis]) -> Vec<Factor> {
    let mut all = Vec::new();
    for (axis, a) in axes.iter().enumerate() {
        if is_cyclic(a) {
            let orders = primes::factor(a.degree as u64).into_iter();
            all.extend(orders.map(|(prime, k)| Factor {
                axis,
                prime,
                order: prime.pow(k) as usize,
            }));
        } else {
            all.push(Factor { axis, prime: 0, order: a.degree });
        }
    }
    all.sort_by_key(|f| (f.prime != 0, std::cmp::Reverse(f.prime.max(3)), f.order));
    let dense = all.iter().take_while(|f| f.prime == 0).count();
    if all.get(dense).is_some_and(|f| f.prime > 3) {
        all[dense..].rotate_left(1);
    }
    all
}

/// The lengths of the stages of a cyclic group: powers of two in equal shares, threes in pairs,
/// other primes one by one.
pub(super) fn radices(f: &Factor, log_radix: u32) -> Vec<usize> {
    let most = match f.prime {
        2 => log_radix,
        3 => 2,
        _ => 1,
    };
    let mut rest = f.order.ilog(f.prime as usize);
    let mut all = Vec::new();
    while rest > 0 {
        let log = rest.div_ceil(rest.div_ceil(most));
        all.push((f.prime as usize).pow(log));
        rest -= log;
    }
    all
}
