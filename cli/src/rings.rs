//! `everlevel params rings`: a search for rings by their slots.
//!
//! Modulo an odd index m = Π N_a, the N_a prime powers, the slots are a hypercube: the units modulo m by the powers of p. If p has the same order
//! modulo the largest N_a as modulo m, the other axes are dimensions as they are, and the last one is divided by this order. Only such
//! rings are of use: Frobenius then belongs to one axis.

use clap::Args;
use everlevel::SlotShape;
use everlevel::arith::{Axes, primes};
use everlevel::scheme::params::largest_modulus;
use serde::Serialize;

use crate::args::Common;
use crate::common::{emit, emit_json, table};
use crate::error::CliError;

/// Arguments of `params rings`.
#[derive(Args)]
pub struct RingsArgs {
    /// The prime of the plaintext modulus
    #[arg(long, value_name = "P")]
    pub p: u64,
    /// Only rings with so many slots
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub slots_at_least: usize,
    /// Only slots whose degree is a multiple of this
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub degree_of: u32,
    /// The security in bits that the modulus is for
    #[arg(long, value_name = "BITS", default_value_t = 128.0)]
    pub security: f64,
    /// Only indices below this
    #[arg(long, value_name = "M", default_value_t = (1 << 16) + 1, value_parser = clap::value_parser!(u64).range(..=(1 << 18) + 1))]
    pub index_below: u64,
    /// Print no more rings than this
    #[arg(long, value_name = "K", default_value_t = 20)]
    pub max_rows: usize,
}

/// A ring that would do.
#[derive(Debug, Serialize)]
struct Found {
    m: u64,
    /// The prime powers of m, ascending.
    factors: Vec<u64>,
    n: usize,
    d: usize,
    slots: usize,
    dimensions: Vec<Dimension>,
    /// log2 of the largest QP at the security asked for; none if no modulus has it.
    log_qp: Option<f64>,
    /// The sum of the primes in l - 1 over the axes l: about how many operations a coefficient takes in a transform.
    transform_radices: u64,
}

/// A dimension of the hypercube of slots.
#[derive(Debug, PartialEq, Serialize)]
struct Dimension {
    size: usize,
    /// A rotation is a single automorphism: there is a generator of no larger order in the group of units.
    good: bool,
}

/// Prints the rings, the smallest first.
pub fn run(args: &RingsArgs, common: &Common) -> Result<(), CliError> {
    if !primes::is_prime(args.p) {
        return Err(CliError::usage(format!("--p {}: expected a prime", args.p)));
    }
    if !(args.security > 0.0 && args.security.is_finite()) {
        return Err(CliError::usage(format!("--security {}: expected a positive number of bits", args.security)));
    }
    let mut found = search(args);
    let count = found.len();
    found.truncate(args.max_rows);
    for ring in &mut found {
        ring.log_qp = largest_modulus(ring.n, args.security);
    }
    if common.json { emit_json(&found) } else { emit(&text(&found, count, args)) }
}

fn search(args: &RingsArgs) -> Vec<Found> {
    let odd = (3..args.index_below).step_by(2).filter_map(|m| odd_index(m, args));
    let powers = (5..=18).map(|k| 1 << k).filter(|m| *m < args.index_below).filter_map(|m| power_of_two(m, args));
    let mut found: Vec<Found> = odd.chain(powers).collect();
    found.sort_by_key(|ring| (ring.n, ring.transform_radices, ring.m));
    found
}

/// Below, no modulus that is good for anything has 128 bits.
const MIN_DEGREE: usize = 1024;

/// What was asked for of n, d and the slots.
fn allowed(n: usize, d: usize, args: &RingsArgs) -> Option<()> {
    (n >= MIN_DEGREE && n / d >= args.slots_at_least && d.is_multiple_of(args.degree_of as usize)).then_some(())
}

fn odd_index(m: u64, args: &RingsArgs) -> Option<Found> {
    let p = args.p;
    let mut factors = primes::factor(m);
    factors.sort_by_key(|(l, k)| l.pow(*k));
    let units = |(l, k): (u64, u32)| l.pow(k - 1) * (l - 1);
    let n = factors.iter().map(|f| units(*f)).product::<u64>();
    let &(l, k) = factors.last()?;
    if m.is_multiple_of(p) || n < args.slots_at_least as u64 {
        return None;
    }
    let d = primes::order(p, l.pow(k), units((l, k)));
    if primes::order(p, m, n) != d {
        return None;
    }
    let (n, d) = (n as usize, d as usize);
    allowed(n, d, args)?;
    // Its transform must be within the limits of rings.
    Axes::new(m).ok()?;
    let mut dimensions: Vec<Dimension> = factors.iter().map(|f| Dimension { size: units(*f) as usize, good: true }).collect();
    if let Some(last) = dimensions.last_mut() {
        last.size /= d;
        // Then the d-th power of a generator generates what Frobenius leaves, and has no larger order.
        last.good = primes::gcd(last.size as u64, d as u64) == 1;
    }
    dimensions.retain(|dimension| dimension.size > 1);
    let radices = |(l, k): &(u64, u32)| {
        let steps: u64 = primes::factor(l - 1).iter().map(|(q, a)| q * u64::from(*a)).sum();
        steps + l * u64::from(k - 1)
    };
    Some(Found {
        m,
        factors: factors.iter().map(|(l, k)| l.pow(*k)).collect(),
        n,
        d,
        slots: n / d,
        dimensions,
        log_qp: None,
        transform_radices: factors.iter().map(radices).sum(),
    })
}

fn power_of_two(m: u64, args: &RingsArgs) -> Option<Found> {
    let shape = SlotShape::new(m, args.p, 1).ok()?;
    let (n, d) = (m as usize / 2, shape.degree_of_slot());
    allowed(n, d, args)?;
    // The rotation of columns is X -> X^5, of order n/2.
    let sizes = [(shape.rows(), true), (shape.columns(), shape.columns() == n / 2)];
    Some(Found {
        m,
        factors: vec![m],
        n,
        d,
        slots: shape.slots(),
        dimensions: sizes.into_iter().filter(|(size, _)| *size > 1).map(|(size, good)| Dimension { size, good }).collect(),
        log_qp: None,
        transform_radices: 2 * u64::from(n.ilog2()),
    })
}

fn text(found: &[Found], count: usize, args: &RingsArgs) -> String {
    let head = ["m", "factors", "n", "d", "slots", "dimensions", "log2 QP", "radices"].map(String::from).to_vec();
    let join = |parts: Vec<String>, by: &str| parts.join(by);
    let row = |ring: &Found| {
        let dimensions = ring.dimensions.iter().map(|d| format!("{}{}", d.size, if d.good { "" } else { "!" })).collect();
        vec![
            ring.m.to_string(),
            join(ring.factors.iter().map(u64::to_string).collect(), " · "),
            ring.n.to_string(),
            ring.d.to_string(),
            ring.slots.to_string(),
            join(dimensions, " × "),
            ring.log_qp.map_or_else(|| "-".into(), |bits| format!("{bits:.0}")),
            ring.transform_radices.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(found.iter().map(row)).collect();
    format!(
        "{}\n\n{} of {count} rings for p = {}, by degree; !: rotations along it take a mask; log2 QP: at most, at {} bits for a ternary secret; radices: primes in the lengths of the transforms, added up",
        table(&rows),
        found.len(),
        args.p,
        args.security
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p^e modulo m, m below 2^32.
    fn power(p: u64, e: u64, m: u64) -> u64 {
        (0..e).fold(1 % m, |result, _| result * (p % m) % m)
    }

    fn args(p: u64, slots_at_least: usize, degree_of: u32) -> RingsArgs {
        RingsArgs { p, slots_at_least, degree_of, security: 128.0, index_below: 1 << 16, max_rows: usize::MAX }
    }

    fn dimensions(ring: &Found) -> Vec<(usize, bool)> {
        ring.dimensions.iter().map(|d| (d.size, d.good)).collect()
    }

    #[test]
    fn the_rings_of_the_papers_are_found() {
        // Ma et al., table 4; Gentry-Halevi-Smart's ring for bits, and a ring of Halevi-Shoup.
        for (p, m, n, d, sizes) in [
            (17, 38309, 36960, 24, vec![(28, true), (55, true)]),
            (127, 56647, 55080, 45, vec![(36, true), (34, true)]),
            (257, 55427, 54096, 28, vec![(42, true), (46, false)]),
            (8191, 45193, 44100, 14, vec![(42, true), (75, true)]),
            (65537, 50731, 50112, 18, vec![(96, true), (29, true)]),
            (2, 21845, 16384, 16, vec![(4, true), (16, true), (16, false)]),
            (2, 15709, 15004, 22, vec![(22, true), (31, true)]),
        ] {
            let ring = odd_index(m, &args(p, 600, d as u32)).unwrap_or_else(|| panic!("{m}"));
            assert_eq!((ring.n, ring.d, ring.slots), (n, d, n / d), "{m}");
            assert_eq!(dimensions(&ring), sizes, "{m}");
            assert!(odd_index(m, &args(p, n / d + 1, 1)).is_none() && odd_index(m, &args(p, 1, d as u32 + 1)).is_none());
        }
        // 2 has the order 16 modulo 257, 4 modulo 5 and 12 modulo 13.
        assert!(odd_index(5 * 257, &args(2, 1, 1)).is_some() && odd_index(13 * 257, &args(2, 1, 1)).is_none());
        let rings = search(&args(17, 1500, 24));
        assert_eq!(rings.iter().map(|ring| ring.m).collect::<Vec<_>>(), [57159, 38309]);
    }

    #[test]
    fn rings_whose_transforms_would_be_refused_are_left_out() {
        // l - 1 is twice a prime above 4096, the longest step of a transform.
        let l = (8193..).step_by(2).find(|l| primes::is_prime(*l) && primes::is_prime(l / 2)).unwrap();
        let near = (l..).find(|m| primes::is_prime(*m) && primes::factor(m - 1).iter().all(|f| f.0 < 4096)).unwrap();
        assert!(odd_index(near, &args(3, 1, 1)).is_some());
        assert!(odd_index(l, &args(3, 1, 1)).is_none() && l as usize > MIN_DEGREE);
    }

    #[test]
    fn dimensions_make_up_the_slots() {
        for p in [2, 3, 65537] {
            let rings = search(&RingsArgs { index_below: 1 << 13, ..args(p, 60, 1) });
            assert!(rings.len() > 20 && rings.is_sorted_by_key(|ring| ring.n), "p = {p}");
            for ring in rings {
                assert_eq!(ring.dimensions.iter().map(|d| d.size).product::<usize>(), ring.slots, "{}", ring.m);
                assert_eq!(ring.factors.iter().product::<u64>(), ring.m);
                assert!(
                    (1..ring.d as u64).all(|k| power(p, k, ring.m) != 1) && power(p, ring.d as u64, ring.m) == 1,
                    "{}",
                    ring.m
                );
            }
        }
    }

    #[test]
    fn powers_of_two_are_among_those_for_odd_primes() {
        let powers = |p| (5..17).filter_map(move |k| power_of_two(1 << k, &args(p, 1, 1)));
        assert_eq!(powers(2).count(), 0);
        let ring = powers(65537).find(|ring| ring.m == 1 << 15).unwrap();
        assert_eq!((ring.d, ring.slots, dimensions(&ring)), (1, 1 << 14, vec![(2, true), (1 << 13, true)]));
        let ring = powers(127).find(|ring| ring.m == 1 << 15).unwrap();
        assert_eq!((ring.d, ring.slots, dimensions(&ring)), (256, 64, vec![(64, false)]));
        assert_eq!(ring.transform_radices, 28);
    }
}
