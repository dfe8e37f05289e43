//! Ranks within public sets against plain counts.

use everlevel_integers::{Integers, Order, Sets, Type};

use crate::common::Bench;
use crate::wide::values;

const SET: &str = "insecure_bgv-65537-n11";

/// The number of entries of the set of each entry that come before it, of those that count.
fn ranks(xs: &[i128], order: Order, of: &[Option<usize>], counts: &[i128]) -> Vec<i128> {
    let key = |i: usize| if order == Order::Ascending { xs[i] } else { -xs[i] };
    let rank = |i: usize| match of[i] {
        None => 0,
        set => (0..xs.len())
            .filter(|j| of[*j] == set && counts[*j] == 1 && (key(*j), *j) < (key(i), i))
            .count() as i128,
    };
    (0..xs.len()).map(rank).collect()
}

fn check(bench: &Bench, kind: Type, of: &[Option<usize>], most: usize) {
    let (ints, n) = (bench.integers(), of.len());
    let sets = Sets::new(of.to_vec(), most).unwrap();
    let xs = values(kind, n, n as u64);
    let counts: Vec<i128> = (0..n).map(|i| i128::from(i % 5 != 1 && i % 7 != 2)).collect();
    let x = bench.encrypt(&xs, kind);
    let counted = bench.encrypt(&counts, Type::Bool);
    for order in [Order::Ascending, Order::Descending] {
        let found = ints.ranks_in_sets(&x, order, &sets, None).unwrap();
        assert_eq!((found.length(), found.interval().high()), (Some(n), most as i128 - 1));
        assert_eq!(bench.decrypt(&found), ranks(&xs, order, of, &vec![1; n]), "{kind} {order:?}");
        let found = ints.ranks_in_sets(&x, order, &sets, Some(&counted)).unwrap();
        let expected = ranks(&xs, order, of, &counts);
        assert_eq!(bench.decrypt(&found), expected, "{kind} {order:?}");
        // They are compared like other columns.
        let first = ints.lt(&found, 2).unwrap();
        let expected: Vec<i128> = expected.iter().map(|rank| i128::from(*rank < 2)).collect();
        assert_eq!(bench.decrypt(&first), expected, "{kind} {order:?}");
    }
    let size = |i: usize, counts: &[i128]| match of[i] {
        None => 0,
        set => (0..n).filter(|j| of[*j] == set).map(|j| counts[j]).sum::<i128>(),
    };
    let sizes = |counts: &[i128]| (0..n).map(|i| size(i, counts)).collect::<Vec<_>>();
    let found = ints.counts_in_sets(&counted, &sets).unwrap();
    assert_eq!(found.interval().high(), most as i128);
    assert_eq!(bench.decrypt(&found), sizes(&counts), "{kind}");
    let found = ints.set_sizes(&sets).unwrap();
    assert_eq!(bench.decrypt(&found), sizes(&vec![1; n]), "{kind}");
    let chosen: Vec<bool> = of.iter().map(|set| *set == of[0]).collect();
    let only = ints.only(&counted, &chosen).unwrap();
    let expected = counts.iter().zip(&chosen).map(|(bit, chosen)| bit * i128::from(*chosen));
    assert_eq!(bench.decrypt(&only), expected.collect::<Vec<_>>());
}

/// Sets side by side, with others between their entries, and in both rows of slots, of which each
/// has 1,024.
#[test]
fn entries_are_ranked_in_their_sets() {
    let bench = Bench::new(SET);
    let six = |i: usize| (i % 11 != 4).then_some((i + 3) / 6);
    let mixed = |i: usize| (!i.is_multiple_of(5)).then_some(i / 8 * 2 + i % 2);
    check(&bench, Type::U8, &(0..1100).map(six).collect::<Vec<_>>(), 128);
    check(&bench, Type::I16, &(0..60).map(mixed).collect::<Vec<_>>(), 8);
    check(&bench, Type::ranged(1000, 1005).unwrap(), &[Some(3); 40], 64);
    // Values that are all the same, sets of one entry, and none at all.
    check(&bench, Type::ranged(7, 7).unwrap(), &[Some(0); 9], 9);
    check(&bench, Type::U8, &(0..9).map(Some).collect::<Vec<_>>(), 16);
    check(&bench, Type::Bool, &[None; 5], 2);
}

/// A comparison for each distance, and two bootstrappings for every 15 of them, whatever the number
/// of sets is; the digits of the ranks are bootstrapped at the end.
#[test]
fn what_ranks_in_sets_take() {
    let taken = |entries: usize, size: usize| {
        let bench = Bench::blank("bgv-65537-n15");
        let ints = Integers::new(&bench.session, &bench.params).unwrap();
        let of = (0..entries).map(|i| Some(i / size)).collect();
        let sets = Sets::new(of, 128).unwrap();
        let x = bench.encrypt(&vec![7; entries], Type::U16);
        let before = bench.scheme.cost();
        ints.ranks_in_sets(&x, Order::Ascending, &sets, None).unwrap();
        let cost = bench.scheme.cost() - before;
        (bench.session.bootstraps(), cost.products)
    };
    // Of 31 distances five sums after the first digit, and two digits of the ranks.
    for (bootstrappings, products) in [taken(32, 32), taken(32 * 500, 32)] {
        assert_eq!(bootstrappings, 7);
        assert!(products <= 31 * 60 + 7 * 32, "{products} products");
    }
}

#[test]
fn sets_that_do_not_fit_are_refused() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let sets = Sets::new(vec![Some(0); 4], 4).unwrap();
    let x = bench.encrypt(&[1; 5], Type::U8);
    let code = |found: Result<_, everlevel_integers::IntegersError>| {
        found.map(|_: everlevel_integers::Column<_>| ()).unwrap_err().code()
    };
    assert_eq!(code(ints.ranks_in_sets(&x, Order::Ascending, &sets, None)), "integers.length");
    assert_eq!(code(ints.only(&x, &[true; 4])), "integers.length");
    let x = bench.encrypt(&[9; 4], Type::U8);
    assert_eq!(code(ints.counts_in_sets(&x, &sets)), "integers.type");
    assert_eq!(code(ints.only(&x, &[true; 4])), "integers.type");
    // A row has half of the slots.
    let few = Bench::with_used_slots(SET, 64);
    let x = few.encrypt(&[1; 4], Type::U8);
    let wide = Sets::new(vec![Some(0); 4], 64).unwrap();
    let found = few.integers().ranks_in_sets(&x, Order::Ascending, &wide, None);
    assert_eq!(code(found), "integers.length");
    let leveled = Bench::leveled(SET);
    let x = leveled.encrypt(&[1; 4], Type::U8);
    let found = leveled.integers().ranks_in_sets(&x, Order::Ascending, &sets, None);
    assert_eq!(code(found), "circuit.no-bootstrapping");
}

/// The rows of two blocks about the border between them, in both rows of slots, against plain
/// ranks of the rows in their order.
#[test]
fn entries_across_a_border_are_ranked() {
    let bench = Bench::new(SET);
    let (ints, slots) = (bench.integers(), bench.params.slots());
    let (kind, behind) = (Type::I16, 90);
    let n = slots + behind;
    let xs: Vec<i128> = values(kind, n, 3).into_iter().map(|x| x % 40).collect();
    let counts: Vec<i128> = (0..n).map(|i| i128::from(i % 5 != 1 && i % 7 != 2)).collect();
    // Sets of both blocks, side by side and with others between their entries.
    let set = |i: usize| match i.checked_sub(slots - 37) {
        Some(place @ 0..60) if place % 4 < 3 => Some(place % 4 / 2),
        _ => None,
    };
    let of: Vec<Option<usize>> = (0..n).map(set).collect();
    let at = |slot: usize| if slot < slots / 2 { slots + slot } else { slot };
    let turned = (0..slots).map(|slot| of.get(at(slot)).copied().flatten()).collect();
    let sets = Sets::across_border(turned, 60).unwrap();
    let both = |entries: &[i128], kind: Type| {
        let first = bench.encrypt(&entries[..slots], kind);
        let second = bench.encrypt(&entries[slots..], kind);
        ints.bordering(&first, &second).unwrap()
    };
    let (x, counted) = (both(&xs, kind), both(&counts, Type::Bool));
    let seen = |found: &everlevel_integers::Column<_>| {
        let found = bench.decrypt(found);
        let at = |row: usize| if row < slots { found[row] } else { found[row - slots] };
        (slots / 2..n).map(at).collect::<Vec<i128>>()
    };
    let rows = slots / 2..n;
    for order in [Order::Ascending, Order::Descending] {
        let found = seen(&ints.ranks_in_sets(&x, order, &sets, None).unwrap());
        assert_eq!(found, ranks(&xs, order, &of, &vec![1; n])[rows.clone()], "{order:?}");
        let found = seen(&ints.ranks_in_sets(&x, order, &sets, Some(&counted)).unwrap());
        assert_eq!(found, ranks(&xs, order, &of, &counts)[rows.clone()], "{order:?}");
    }
    let size = |i: usize, counts: &[i128]| match of[i] {
        None => 0,
        set => (0..n).filter(|j| of[*j] == set).map(|j| counts[j]).sum::<i128>(),
    };
    let sizes = |counts: &[i128]| rows.clone().map(|i| size(i, counts)).collect::<Vec<_>>();
    assert_eq!(seen(&ints.counts_in_sets(&counted, &sets).unwrap()), sizes(&counts));
    assert_eq!(seen(&ints.set_sizes(&sets).unwrap()), sizes(&vec![1; n]));
    // The first entries of a column that has more of them.
    let chosen: Vec<bool> = (0..behind).map(|i| of[slots + i] == Some(0)).collect();
    let only = ints.only_of_first(&counted, &chosen).unwrap();
    let expected = counts[slots..].iter().zip(&chosen).map(|(bit, own)| bit * i128::from(*own));
    assert_eq!(bench.decrypt(&only), expected.collect::<Vec<_>>());
    assert_eq!(bench.decrypt(&ints.none_of(7).unwrap()), [0; 7]);
}

#[test]
fn columns_that_do_not_meet_are_refused() {
    let bench = Bench::new(SET);
    let (ints, slots) = (bench.integers(), bench.params.slots());
    let code = |found: Result<_, everlevel_integers::IntegersError>| {
        found.map(|_: everlevel_integers::Column<_>| ()).unwrap_err().code()
    };
    let (all, few) = (bench.encrypt(&vec![1; slots], Type::U8), bench.encrypt(&[1; 9], Type::U8));
    assert!(ints.bordering(&all, &few).is_ok());
    assert_eq!(code(ints.bordering(&few, &all)), "integers.length");
    let other = bench.encrypt(&[1; 9], Type::U16);
    assert_eq!(code(ints.bordering(&all, &other)), "integers.parts");
    let bits = bench.encrypt(&[1; 9], Type::Bool);
    assert_eq!(code(ints.only_of_first(&bits, &[true; 10])), "integers.length");
    // The ends of a shorter column are no neighbors.
    let sets = Sets::across_border(vec![Some(0); 9], 9).unwrap();
    let found = ints.ranks_in_sets(&few, Order::Ascending, &sets, None);
    assert_eq!(code(found), "integers.length");
}
