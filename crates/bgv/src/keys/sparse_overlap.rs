//! How the terms of the overflow coincide in rings with axes.
//!
//! Under a sparse secret s0 = Σ ±X^k the overflow is the rounding of a sum of products X^k a, a
//! uniform. On each axis of a power N of an odd prime l the coefficient of X^e in X^k a is
//! a_(e-k) - a_(f-k), f being e modulo N/l (0 for a prime): for c = 2^(number of odd axes) terms,
//! one for each set S of axes where the second one is taken; some of them are none where an
//! exponent belongs to no coefficient. Two terms (k, S) and (k', S') are the same coefficient of a
//! for the e with k = k' outside of D = S Δ S' and e - f = ±(k' - k) on the axes of D; their
//! weights then add up, which adds twice the product of their signs to the sum of squared weights.
//! On the axis of a power of two one of both terms is none whatever k and e, and no two exponents
//! differ by N/2.

use everlevel_ring::Axes;
use zeroize::Zeroizing;

/// The most, over all coefficients, that coinciding terms of equal sign add to the sum of squared
/// weights: at least the excess of that sum over the number of terms. O(h² c² + n c); its memory
/// accesses depend on the secret. What it computes with is wiped.
pub(crate) fn excess(axes: &Axes, secret: &[i64]) -> u64 {
    let (all, exponents) = (axes.all(), exponents(axes));
    let residue = |x: u64, a: usize| x % all[a].index;
    // N / l.
    let low = |a: usize| all[a].index / all[a].prime;
    // Growing would leave copies behind.
    let mut monomials: Zeroizing<Vec<(u64, i64)>> =
        Zeroizing::new(Vec::with_capacity(secret.len()));
    monomials.extend(exponents.iter().zip(secret).filter(|(_, s)| **s != 0).map(|(&u, &s)| (u, s)));
    let sets = 1usize << all.len();
    let odd = all.iter().filter(|axis| axis.prime != 2).count() as u32;
    // For each D, by the first digits of e on its axes.
    let place = |set: usize, digits: &dyn Fn(usize) -> u64| {
        (0..all.len())
            .filter(|a| set >> a & 1 == 1)
            .fold(0, |place, a| place * all[a].prime as usize + digits(a) as usize)
    };
    let size = |set: usize| {
        (0..all.len()).filter(|a| set >> a & 1 == 1).map(|a| all[a].prime as usize).product()
    };
    let mut added: Zeroizing<Vec<Vec<u64>>> =
        Zeroizing::new((0..sets).map(|set| vec![0; size(set)]).collect());
    for (i, &(k, sign)) in monomials.iter().enumerate() {
        for &(other, other_sign) in &monomials[i + 1..] {
            let difference =
                |a: usize| (residue(other, a) + all[a].index - residue(k, a)) % all[a].index;
            // Some e is as far from its remainder.
            if (0..all.len()).any(|a| difference(a) % low(a) != 0) {
                continue;
            }
            let set: usize = (0..all.len()).filter(|&a| difference(a) != 0).map(|a| 1 << a).sum();
            let positive = (sign == other_sign) == set.count_ones().is_multiple_of(2);
            if set == 0 || !positive {
                continue;
            }
            let weight = 2 << (odd - set.count_ones());
            for split in (0..sets).filter(|split| split & !set == 0) {
                let digit = |a: usize| {
                    let up = difference(a) / low(a);
                    if split >> a & 1 == 1 { up } else { all[a].prime - up }
                };
                added[set][place(set, &digit)] += weight;
            }
        }
    }
    let digit = |e: u64, a: usize| residue(e, a) / low(a);
    let at = |e: &u64| (1..sets).map(|set| added[set][place(set, &|a| digit(*e, a))]).sum();
    exponents.iter().map(at).max().unwrap_or(0)
}

/// The exponents of the coefficients, in their order.
fn exponents(axes: &Axes) -> Vec<u64> {
    axes.all().iter().enumerate().fold(vec![0], |all, (a, axis)| {
        let own: Vec<u64> =
            (0..axis.degree).map(|i| axes.coefficient_exponent(a, i) * axis.exponent).collect();
        all.iter().flat_map(|x| own.iter().map(move |e| (x + e) % axes.index())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{ExposedSecret, SecretKey};
    use everlevel_ring::sample;
    use everlevel_scheme::spec::{BootstrapSpec, SecretKind};
    use everlevel_scheme::{OptIn, Params, ParamsSpec};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    /// Squared weights less their number, from the products themselves.
    fn measured(axes: &Axes, secret: &[i64]) -> i64 {
        let (m, exponents) = (axes.index(), exponents(axes));
        let own: std::collections::BTreeSet<u64> = exponents.iter().copied().collect();
        let largest = |e: &u64| {
            let mut weights = std::collections::BTreeMap::new();
            for (&k, &s) in exponents.iter().zip(secret).filter(|(_, s)| **s != 0) {
                for set in 0..1usize << axes.all().len() {
                    let mut source = 0;
                    let mut sign = s;
                    for (a, axis) in axes.all().iter().enumerate() {
                        let low = axis.index / axis.prime;
                        let taken = if set >> a & 1 == 1 { e % low } else { *e };
                        source = (source + (taken + m - k) % axis.index * axis.exponent) % m;
                        sign *= if set >> a & 1 == 1 { -1 } else { 1 };
                    }
                    if own.contains(&source) {
                        *weights.entry(source).or_insert(0) += sign;
                    }
                }
            }
            weights.values().map(|w| w * w).sum::<i64>()
        };
        let odd = axes.all().iter().filter(|axis| axis.prime != 2).count();
        let terms = (1 << odd) * secret.iter().filter(|s| **s != 0).count() as i64;
        exponents.iter().map(largest).max().unwrap() - terms
    }

    /// The products themselves are those of the ring: a monomial times another one.
    #[test]
    fn terms_are_those_of_products() {
        for index in [15, 27, 45, 12, 72] {
            let axes = Axes::new(index).unwrap();
            let exponents = exponents(&axes);
            let shape = everlevel_ring::SlotShape::new(index, 31, 1).unwrap();
            let plain =
                everlevel_ring::PlaintextRing::new(shape, everlevel_ring::Backend::Portable)
                    .unwrap();
            for (place, &own) in exponents.iter().enumerate() {
                let mut a = vec![0; exponents.len()];
                a[place] = 1;
                for &k in &exponents {
                    let product = plain.centered(&plain.mul_monomial(&a, k as i64, 1), 1);
                    let term = |e: &u64| {
                        let along = axes.all().iter().map(|axis| {
                            let (low, n) = (axis.index / axis.prime, axis.index);
                            let is = |e: u64| i64::from((own + k + n - e % n).is_multiple_of(n));
                            is(*e) - is(e % n % low)
                        });
                        along.product::<i64>()
                    };
                    assert_eq!(product, exponents.iter().map(term).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn coincidences_are_found() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut reached = 0;
        for (index, weight) in [
            (35, 4),
            (13, 3),
            (7 * 31, 6),
            (105, 4),
            (255, 6),
            (29 * 41, 8),
            (27, 4),
            (45, 4),
            (225, 8),
            (25 * 41, 8),
            (4 * 15, 4),
            (8 * 27, 6),
        ] {
            let axes = Axes::new(index).unwrap();
            for _ in 0..20 {
                let secret = sample::fixed_weight(axes.degree(), weight, &mut rng);
                let (bound, found) = (excess(&axes, &secret) as i64, measured(&axes, &secret));
                assert!(found <= bound, "index {index}: {found} above {bound}");
                reached += usize::from(found == bound && bound > 0 && !axes.is_squarefree());
            }
        }
        assert!(reached > 0);
        // Two monomials of opposite sign that share a residue: two pairs of their terms coincide
        // with equal signs.
        let axes = Axes::new(35).unwrap();
        let mut secret = vec![0; 24];
        secret[axes.position(8).unwrap()] = 1;
        secret[axes.position(13).unwrap()] = -1;
        assert_eq!((excess(&axes, &secret), measured(&axes, &secret)), (4, 4));
    }

    /// A main secret that raises, too, has no more coincidences than the noise model accounts for.
    #[test]
    fn main_secrets_that_raise_have_few_coincidences() {
        let bootstrap = BootstrapSpec {
            under_main_key: true,
            overflow_bound: Some(8),
            ..BootstrapSpec::encapsulated(6)
        };
        let spec = ParamsSpec {
            words: 2,
            secret: SecretKind::Sparse(6),
            bootstrap: Some(bootstrap),
            ..ParamsSpec::new("insecure_main-m217", 7 * 31, 67)
        };
        let params = Params::new(spec, OptIn::InsecureAllowFailures).unwrap();
        let (axes, slack) = (Axes::new(7 * 31).unwrap(), params.noise().bound().overlap_slack());
        let secret = |main: Vec<i64>| {
            let [main, sparse] = [main.clone(), main].map(Zeroizing::new);
            let exposed = ExposedSecret { main, ratio: None, sparse: Some(sparse) };
            SecretKey::from_secret_coefficients(&params, &exposed)
        };
        // All six residues modulo 7, and one modulo 31: each of the nine pairs of opposite signs
        // adds 4 at two of the six.
        let mut main = vec![0; params.degree()];
        for (i, k) in [1, 32, 94, 125, 156, 187].into_iter().enumerate() {
            main[axes.position(k).unwrap()] = if i % 2 == 0 { 1 } else { -1 };
        }
        assert!(excess(&axes, &main) > slack);
        assert!(secret(main).is_err());
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        for _ in 0..20 {
            let drawn = SecretKey::generate(&params, &mut rng).expose_secret_coefficients();
            assert!(excess(&axes, &drawn.main) <= slack);
            assert!(secret(drawn.main.to_vec()).is_ok());
        }
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
