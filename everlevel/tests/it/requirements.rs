//! Parameter sets for the requirements of a computation: leveled ones, named ones that bootstrap,
//! and what no set meets.

use std::collections::BTreeSet;

use everlevel::{
    Candidate, Depth, Minimize, OptIn, Params, ParamsSpec, Requirements, SlotShape, TimeModel,
    multiplications_left,
};
use everlevel_ring::Ring;

fn typical(params: &Params) -> TimeModel {
    TimeModel::typical(params.degree())
}

#[test]
fn leveled_sets_do_what_was_asked_and_no_shorter_chain_does() {
    let wanted = Requirements::new(65537).slots(1000).depth(Depth::Levels(3));
    let candidates = wanted.candidates(typical).unwrap();
    for c in &candidates {
        assert!(
            c.params.slots() >= 1000 && c.multiplications >= 3 && c.params.plain_modulus() == 65537
        );
        assert!(
            c.params.security().bits() >= 128.0
                && c.failure_log2 < -128.0
                && !c.params.name().starts_with("insecure")
        );
        let spec = c.params.spec().clone();
        if spec.words > 0 {
            let shorter =
                Params::new(ParamsSpec { words: spec.words - 1, ..spec }, OptIn::SecureOnly)
                    .unwrap();
            let (top, noise) = (shorter.chain().top(), shorter.noise());
            let fresh = noise.fresh(top, 1, noise.bound().fresh_public(65537u64));
            assert!(multiplications_left(&shorter, &fresh, 0.0) < 3, "{}", c.params.name());
        }
    }
    assert!(candidates.is_sorted_by_key(|c| c.latency));
    // Over the larger ring these are the same sets, in the order of what else is minimized.
    let index = candidates.iter().map(|c| c.params.spec().index).max().unwrap();
    let over_it = |found: &[Candidate]| -> BTreeSet<String> {
        let own = found.iter().filter(|c| c.params.spec().index == index);
        own.map(|c| c.params.name().to_string()).collect()
    };
    for minimize in [Minimize::Throughput, Minimize::Memory] {
        let found = wanted.minimize(minimize).candidates_over(index, typical).unwrap();
        let sorted = match minimize {
            Minimize::Throughput => found.is_sorted_by_key(|c| c.per_slot),
            _ => found.is_sorted_by_key(|c| c.bytes),
        };
        assert!(sorted, "{minimize:?}: {found:?}");
        assert!(found.len() > 1 && found.len() == over_it(&found).len(), "{found:?}");
        assert_eq!(over_it(&found), over_it(&candidates));
    }
}

#[test]
fn bits_and_their_powers_have_leveled_sets_over_odd_rings() {
    for (plain_modulus, slots, depth) in [(2, 1000, 2), (257, 1000, 2), (1 << 64, 500, 1)] {
        let wanted = Requirements::new(plain_modulus).slots(slots).depth(Depth::Levels(depth));
        let candidates = wanted.candidates(typical).unwrap();
        for c in &candidates {
            let params = &c.params;
            assert!(params.spec().index % 2 == 1 && params.slots() >= slots, "{params:?}");
            assert_eq!(params.wide_modulus(), plain_modulus);
            assert!(c.multiplications >= depth as usize && c.failure_log2 < -128.0);
            assert!(params.security().bits() >= 129.0, "{}", params.name());
        }
    }
}

#[test]
fn sets_with_no_more_slots_than_are_used_are_faster() {
    let wanted = Requirements::new(786433).slots(1000).repeating(true);
    let candidates = wanted.candidates(typical).unwrap();
    let named = |name: &str| candidates.iter().find(|c| c.params.name() == name).unwrap();
    let (all, fewer) = (named("bgv-786433-n16"), named("bgv-786433-n16-s1024"));
    assert_eq!((all.params.slots(), fewer.params.slots()), (65536, 1024));
    assert!(fewer.latency < all.latency && fewer.bytes < all.bytes, "{fewer:?}, {all:?}");
    assert!(fewer.multiplications >= 3 && fewer.failure_log2 < -128.0, "{fewer:?}");
    assert!(fewer.params.security().bits() >= 129.0);
    // Unless it is said that no more slots are used, no set has fewer.
    let others = wanted.repeating(false).candidates(typical).unwrap();
    assert!(others.iter().all(|c| c.params.slot_shape().repetitions() == 1));
    assert!(2 * others.len() >= candidates.len());
}

#[test]
fn powers_of_two_come_first_and_odd_indices_have_the_slots() {
    let rings = |p, slots| Requirements::new(p).slots(slots).rings().unwrap();
    assert_eq!(rings(65537, 1 << 15), [1 << 16, 1 << 17, 1 << 18]);
    for (p, slots) in [(2, 1000), (2, 1), (257, 1000), (17, 1500)] {
        let found = rings(p, slots);
        let degree = |index: &u64| Ring::degree_of(*index).unwrap();
        assert!(found.len() > 3 && found.is_sorted_by_key(degree), "{p}");
        for index in found {
            let dimensions = SlotShape::dimensions_of(index, p as u64).unwrap();
            let size: usize = dimensions.iter().map(|dimension| dimension.size).product();
            assert!(index % 2 == 1 && size >= slots, "{index}: {size}");
            assert_eq!(degree(&index) % size, 0, "{index}");
        }
    }
    assert!(rings(2, 1 << 17).is_empty());
    // The refusal says how many slots powers of two have.
    for (p, most) in [(2, 0), (257, 128)] {
        let wanted = Requirements::new(p).slots(1 << 17).depth(Depth::Levels(1));
        let error = wanted.candidates(typical).unwrap_err();
        let told = format!("have at most {most} slots modulo powers of {p},");
        assert!(error.to_string().contains(&told), "{error}");
    }
}

/// Sets over a ring that is chosen have its name, whether it is a power of two or odd.
#[test]
fn sets_are_made_over_the_ring_that_is_asked_for() {
    let wanted = Requirements::new(65537).depth(Depth::Levels(1));
    // 65537 is -1 modulo 3 · 11 · 331.
    for (index, slots, label) in [(1 << 14, 8192, "-n13-d1-"), (10923, 3300, "-m10923-d1-")] {
        let found = wanted.slots(slots).candidates_over(index, typical).unwrap();
        for c in &found {
            let params = &c.params;
            assert!(params.name().contains(label) && params.spec().index == index, "{params:?}");
            assert!(c.multiplications >= 1 && params.slots() >= slots, "{c:?}");
        }
    }
    for (changed, index, problem) in [
        (wanted.slots(8193), 1 << 14, "has 8192 slots"),
        (wanted.depth(Depth::Levels(1000)), 1 << 14, "no room for that many multiplications"),
        (Requirements::new(257), 257, "p divides the index"),
        (wanted, 6, "m = 6 is not supported"),
        (Requirements::new(1 << 62), 21845, "below 2^62"),
    ] {
        let error = changed.candidates_over(index, typical).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn requirements_that_nothing_meets_say_why() {
    let modulo = |plain_modulus| {
        let wanted = Requirements::new(plain_modulus).slots(1000).depth(Depth::Levels(3));
        wanted.minimize(Minimize::Memory)
    };
    for (wanted, problem) in [
        (modulo(65536 * 3), "power of a prime"),
        (modulo(0), "power of a prime"),
        (modulo(1 << 65), "power of a prime"),
        (modulo(1 << 64).depth(Depth::Unlimited), "below 2^62"),
        (modulo(65537).slots(0), "at least 1"),
        (modulo(65537).slots(1 << 20), "at most"),
        (modulo(2).slots(1 << 17), "ask for fewer"),
        (modulo(65537).depth(Depth::Levels(0)), "at least one"),
        (modulo(786433).slots(1 << 17).depth(Depth::Levels(1000)), "unlimited"),
    ] {
        let error = wanted.candidates(typical).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
        assert_eq!(wanted.exceeds_rings(), error.contains("ask for fewer"), "{error}");
    }
}
