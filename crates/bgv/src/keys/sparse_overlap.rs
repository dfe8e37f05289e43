//! How the terms of the overflow coincide in rings of odd index.
//!
//! Under a sparse secret s0 = Σ ±X^k the overflow is the rounding of a sum of products X^k a, a
//! uniform. In the basis of the X^e with e prime to m, on each axis of prime l the coefficient of
//! X^e in X^k a is a_(e-k) - a_(-k): for c = 2^(number of axes) terms, one for each set S of axes
//! where the second one is taken. Two terms (k, S) and (k', S') are the same coefficient of a for
//! the e with k = k' outside of D = S Δ S' and e = ±(k' - k) on the axes of D; their weights then
//! add up, which adds twice the product of their signs to the sum of squared weights.

use everlevel_ring::Axes;

/// The most, over all coefficients, that coinciding terms of equal sign add to the sum of squared
/// weights: at least the excess of that sum over the number of terms. O(h² c² + n c); its memory
/// accesses depend on the secret.
pub(crate) fn excess(axes: &Axes, secret: &[i64]) -> u64 {
    let units = axes.units();
    let all = axes.all();
    let residue = |x: u64, a: usize| x % all[a].index;
    let monomials: Vec<(u64, i64)> =
        units.iter().zip(secret).filter(|(_, s)| **s != 0).map(|(&u, &s)| (u, s)).collect();
    let sets = 1usize << all.len();
    // For each D, by the residues of e on its axes.
    let place = |set: usize, residues: &dyn Fn(usize) -> u64| {
        (0..all.len())
            .filter(|a| set >> a & 1 == 1)
            .fold(0, |place, a| place * all[a].index as usize + residues(a) as usize)
    };
    let size = |set: usize| {
        (0..all.len()).filter(|a| set >> a & 1 == 1).map(|a| all[a].index as usize).product()
    };
    let mut added: Vec<Vec<u64>> = (0..sets).map(|set| vec![0; size(set)]).collect();
    for (i, &(k, sign)) in monomials.iter().enumerate() {
        for &(other, other_sign) in &monomials[i + 1..] {
            let difference =
                |a: usize| (residue(other, a) + all[a].index - residue(k, a)) % all[a].index;
            let equal: usize = (0..all.len()).filter(|&a| difference(a) == 0).map(|a| 1 << a).sum();
            for set in 1..sets {
                let positive = (sign == other_sign) == (set.count_ones() % 2 == 0);
                // Equal outside of D, different within: e is a unit.
                if !positive || equal != sets - 1 - set {
                    continue;
                }
                let weight = 2 << (all.len() as u32 - set.count_ones());
                for split in (0..sets).filter(|split| split & !set == 0) {
                    let e = |a: usize| {
                        if split >> a & 1 == 1 {
                            difference(a)
                        } else {
                            all[a].index - difference(a)
                        }
                    };
                    added[set][place(set, &e)] += weight;
                }
            }
        }
    }
    let at = |u: &u64| (1..sets).map(|set| added[set][place(set, &|a| residue(*u, a))]).sum();
    units.iter().map(at).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_ring::sample;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    /// Squared weights less their number, from the products themselves.
    fn measured(axes: &Axes, secret: &[i64]) -> i64 {
        let (m, units) = (axes.index(), axes.units());
        let largest = |e: &u64| {
            let mut weights = std::collections::BTreeMap::new();
            for (&k, &s) in units.iter().zip(secret).filter(|(_, s)| **s != 0) {
                for set in 0..1usize << axes.all().len() {
                    let mut source = 0;
                    let mut sign = s;
                    for (a, axis) in axes.all().iter().enumerate() {
                        let taken = if set >> a & 1 == 1 { 0 } else { *e };
                        source = (source + (taken + m - k) % axis.index * axis.exponent) % m;
                        sign *= if set >> a & 1 == 1 { -1 } else { 1 };
                    }
                    if axes.position(source).is_some() {
                        *weights.entry(source).or_insert(0) += sign;
                    }
                }
            }
            weights.values().map(|w| w * w).sum::<i64>()
        };
        let terms = (1 << axes.all().len()) * secret.iter().filter(|s| **s != 0).count() as i64;
        units.iter().map(largest).max().unwrap() - terms
    }

    #[test]
    fn coincidences_are_found() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for (index, weight) in [(35, 4), (13, 3), (7 * 31, 6), (105, 4), (255, 6), (29 * 41, 8)] {
            let axes = Axes::new(index).unwrap();
            for _ in 0..20 {
                let secret = sample::fixed_weight(axes.degree(), weight, &mut rng);
                let (bound, found) = (excess(&axes, &secret) as i64, measured(&axes, &secret));
                assert!(found <= bound, "index {index}: {found} above {bound}");
            }
        }
        // Two monomials of opposite sign that share a residue: two pairs of their terms coincide
        // with equal signs.
        let axes = Axes::new(35).unwrap();
        let mut secret = vec![0; 24];
        secret[axes.position(8).unwrap()] = 1;
        secret[axes.position(13).unwrap()] = -1;
        assert_eq!((excess(&axes, &secret), measured(&axes, &secret)), (4, 4));
    }

    #[test]
    fn few_draws_are_enough() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        for index in [38309, 21845] {
            let axes = Axes::new(index).unwrap();
            let limit = 2 << axes.all().len();
            let good = (0..20)
                .filter(|_| {
                    excess(&axes, &sample::fixed_weight(axes.degree(), 24, &mut rng)) <= limit
                })
                .count();
            assert!(good >= 5, "index {index}: {good} of 20");
        }
    }
}
