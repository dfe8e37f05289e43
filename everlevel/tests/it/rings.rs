//! Searches for rings by their slots.

use everlevel::{FoundRing, RingSearch, SlotShape};
use everlevel_arith::primes;
use everlevel_ring::Ring;

/// The least degree that a search considers.
const LEAST_DEGREE: usize = 1024;

fn search(p: u64, slots_at_least: usize, degree_of: usize) -> RingSearch {
    RingSearch { p, slots_at_least, degree_of, index_below: 1 << 16 }
}

/// The ring of an index of any degree.
fn ring(p: u64, m: u64) -> FoundRing {
    FoundRing::of(p, m).unwrap().unwrap_or_else(|| panic!("{m}, {p}"))
}

fn is_none(p: u64, m: u64) -> bool {
    FoundRing::of(p, m).unwrap().is_none()
}

fn dimensions(ring: &FoundRing) -> Vec<(usize, bool)> {
    ring.dimensions.iter().map(|d| (d.size, d.good)).collect()
}

/// All rings of an index below 2100, of the degrees that are considered.
fn all(p: u64) -> Vec<FoundRing> {
    let (rings, count) = RingSearch { index_below: 2100, ..search(p, 1, 1) }.run(2100).unwrap();
    assert_eq!(rings.len(), count, "p = {p}");
    rings
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
        let ring = ring(p, m);
        assert_eq!((ring.n, ring.d, ring.slots), (n, d, n / d), "{m}");
        assert_eq!(dimensions(&ring), sizes, "{m}");
    }
    let (rings, count) = search(17, 1500, 24).run(10).unwrap();
    assert_eq!(rings.iter().map(|ring| ring.m).collect::<Vec<_>>(), [57159, 38309]);
    assert_eq!(count, 2);
}

#[test]
fn rings_of_every_kind_are_found() {
    // Square factors, 2^k times an odd number, and several axes that carry Frobenius; of none
    // does a single axis carry it but of the first three and the last one.
    for (m, p, n, d, radices, cheap) in [
        (27, 17, 18, 6, 18, false),
        (4 * 25, 149, 40, 2, 22, false),
        (16 * 17, 127, 128, 8, 16, false),
        (9 * 5, 2, 24, 12, 10, false),
        (9 * 5, 19, 24, 2, 10, false),
        (3 * 5 * 7, 2, 48, 12, 11, false),
        (3 * 7 * 17, 2, 192, 24, 15, false),
        (4 * 3 * 5 * 7, 11, 96, 6, 13, false),
        (3 * 5 * 17, 2, 128, 8, 14, true),
    ] {
        let found = ring(p, m);
        assert_eq!((found.n, found.d, found.slots), (n, d, n / d), "{m}, {p}");
        assert_eq!((found.transform_radices, found.has_cheap_maps()), (radices, cheap), "{m}");
    }
    // 2 modulo 4, p divides m, a power of two that is too small, and what is no index.
    for (m, p) in [(2 * 45, 7), (45, 3), (45, 5), (16, 3), (0, 3), (1, 3)] {
        assert!(is_none(p, m), "{m}, {p}");
    }
    // 2 has the order 16 modulo 257, 4 modulo 5, and 12 modulo 13.
    assert!(ring(2, 5 * 257).has_cheap_maps() && !ring(2, 13 * 257).has_cheap_maps());
}

#[test]
fn several_axes_may_carry_frobenius() {
    for (p, m, factors, d, sizes) in [
        (2, 45, vec![5, 9], 12, vec![(2, true)]),
        (19, 45, vec![5, 9], 2, vec![(2, false), (6, true)]),
        (2, 105, vec![3, 5, 7], 12, vec![(2, true), (2, true)]),
        (11, 420, vec![4, 3, 5, 7], 6, vec![(2, true), (2, true), (4, true)]),
        (2, 357, vec![3, 7, 17], 24, vec![(2, true), (2, false), (2, true)]),
        (19, 459, vec![17, 27], 24, vec![(2, false), (6, false)]),
        // One axis carries it, beside a power of two.
        (17, 216, vec![8, 27], 6, vec![(2, true), (2, true), (3, false)]),
        // Frobenius reaches every unit.
        (3, 7, vec![7], 6, vec![]),
    ] {
        let ring = ring(p, m);
        assert_eq!((&ring.factors, ring.d), (&factors, d), "{m}, {p}");
        assert_eq!(dimensions(&ring), sizes, "{m}, {p}");
        assert_eq!(ring.slots, sizes.iter().map(|(size, _)| size).product::<usize>(), "{m}");
    }
    // 2 has the order 16 modulo 257, and the orders 12 modulo 13 and 11 modulo 89.
    let (rings, count) = RingSearch { index_below: 1500, ..search(2, 1, 1) }.run(2).unwrap();
    let found: Vec<_> = rings.iter().map(|ring| (ring.m, ring.d, ring.slots)).collect();
    assert_eq!((found, count), (vec![(5 * 257, 16, 64), (13 * 89, 132, 8)], 44));
}

#[test]
fn transforms_that_would_be_refused_are_left_out() {
    // l - 1 is twice a prime above 4096, the longest step of a transform.
    let l = (8193..).step_by(2).find(|l| primes::is_prime(*l) && primes::is_prime(l / 2)).unwrap();
    let near = (l..)
        .find(|m| primes::is_prime(*m) && primes::factor(m - 1).iter().all(|f| f.0 < 4096))
        .unwrap();
    // Of order 1, so that the degree of slots is no reason.
    let split = |m: u64| (1..).map(|k| 2 * k * m + 1).find(|p| primes::is_prime(*p)).unwrap();
    assert_eq!(ring(split(near), near).slots as u64, near - 1);
    assert!(is_none(split(l), l));
    // 3^8 = 6561 is above the largest prime power.
    assert!(is_none(split(3 * 2187), 3 * 2187));
}

#[test]
fn the_rings_are_those_that_have_slots() {
    // 2 has the order 648 modulo 1297, which is a prime.
    assert!(is_none(2, 1297));
    for p in [2, 11] {
        let rings = all(p);
        assert!(rings.is_sorted_by_key(|ring| ring.n), "p = {p}");
        let mut found: Vec<(u64, usize)> = rings.iter().map(|ring| (ring.m, ring.slots)).collect();
        found.sort_unstable();
        let large = |m: &u64| Ring::degree_of(*m).is_ok_and(|n| n >= LEAST_DEGREE);
        let slots = |m: u64| {
            let dimensions = SlotShape::dimensions_of(m, p).ok()?;
            Some((m, dimensions.iter().map(|dimension| dimension.size).product::<usize>()))
        };
        let expected: Vec<(u64, usize)> = (3..2100).filter(large).filter_map(slots).collect();
        assert_eq!(found, expected, "p = {p}");
    }
}

#[test]
fn rings_have_the_slots_and_the_degree_that_are_asked_for() {
    let all = all(2);
    for (slots, degree) in [(64, 1), (1, 12), (8, 4)] {
        let search = RingSearch { index_below: 2100, ..search(2, slots, degree) };
        let found: Vec<u64> = search.run(2100).unwrap().0.iter().map(|ring| ring.m).collect();
        let wanted = |ring: &&FoundRing| ring.slots >= slots && ring.d.is_multiple_of(degree);
        let expected: Vec<u64> = all.iter().filter(wanted).map(|ring| ring.m).collect();
        assert_eq!(found, expected, "{slots} slots, degree {degree}");
        assert!(!found.is_empty() && found.len() < all.len(), "{slots} slots, degree {degree}");
    }
}

#[test]
fn degrees_are_orders_and_dimensions_make_up_the_slots() {
    for p in [2, 3, 65537] {
        let search = RingSearch { index_below: 1 << 12, ..search(p, 60, 1) };
        let (rings, count) = search.run(40).unwrap();
        assert!(rings.len() == 40 && count > 40, "p = {p}");
        assert!(rings.is_sorted_by_key(|ring| ring.n), "p = {p}");
        for ring in rings {
            let sizes = ring.dimensions.iter().map(|d| d.size);
            assert_eq!(sizes.product::<usize>(), ring.slots, "{}", ring.m);
            assert_eq!(ring.factors.iter().product::<u64>(), ring.m);
            assert_eq!(ring.slots * ring.d, ring.n, "{}", ring.m);
            let mut power = 1;
            let order = (1..=ring.d).find(|_| {
                power = power * (p % ring.m) % ring.m;
                power == 1
            });
            assert_eq!(order, Some(ring.d), "{}", ring.m);
        }
    }
}

#[test]
fn powers_of_two_have_rows_and_columns() {
    let (split, inert) = (ring(65537, 1 << 15), ring(127, 1 << 15));
    assert_eq!(dimensions(&split), [(2, true), (1 << 13, true)]);
    assert_eq!(dimensions(&inert), [(64, false)]);
    let facts = |ring: &FoundRing| (ring.n, ring.d, ring.transform_radices);
    assert_eq!((facts(&split), facts(&inert)), ((1 << 14, 1, 28), (1 << 14, 256, 28)));
    assert!((5..17).all(|k| is_none(2, 1 << k)));
}

#[test]
fn what_cannot_be_searched_for_is_refused() {
    for wrong in [
        search(15, 1, 1),
        search(2, 1, 0),
        RingSearch { index_below: (1 << 18) + 2, ..search(2, 1, 1) },
    ] {
        assert!(wrong.run(1).is_err(), "{wrong:?}");
    }
    for (p, m) in [(15, 77), (0, 77), (2, (1 << 18) + 1), (2, u64::MAX)] {
        assert!(FoundRing::of(p, m).is_err(), "{m}, {p}");
    }
}
