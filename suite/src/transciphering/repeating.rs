//! The order of pairs of blocks whose counters repeat in their last byte.

use std::iter;

use super::protocol::LOW;

/// Pairs of places without data that are filled together, with the counters of one pair.
pub(super) const GROUP: usize = 4;

/// Where pairs are among the pairs of places of states, which are filled one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The place of each pair.
    pub at: Vec<usize>,
    /// The pairs whose counters fill the places that are left after these, by groups of [`GROUP`];
    /// if there are none, it is the last pair that fills them.
    pub repeated: Vec<usize>,
}

impl Order {
    /// Pairs one after the other.
    pub fn natural(pairs: usize) -> Self {
        Order { at: (0..pairs).collect(), repeated: Vec::new() }
    }

    /// `rounds` times [`LOW`] pairs in states of `places` pairs, at least one state; the first
    /// counter ends with `last`. States have few patterns of last bytes, and few of the bytes ahead
    /// of these.
    ///
    /// * The classes of one last byte are put into as many groups of `places` as there are. The
    ///   states of a group agree in their last bytes, and have the rounds in each place.
    /// * Those that are left fill the last states, each pair where a grouped state has the same
    ///   bytes ahead, and another one for each of the last states: the order of rounds in a place
    ///   is such that these grouped states have the patterns of the last states.
    ///
    /// With 60 places and 8 rounds, these are 7 patterns of last bytes and 8 of the others. If the
    /// rarer kind of classes leaves more of them over than it has places, it is one more.
    pub fn repeating(rounds: usize, places: usize, last: u8) -> Self {
        let classes = Classes::new(places, last);
        let pairs = classes.left_pairs(rounds, places);
        let ahead = |&(class, round): &(usize, usize)| round + classes.late(class);
        // Of the last states, place by place.
        let mut values: Vec<usize> = pairs.iter().map(ahead).collect();
        let (all, mut repeated) = (values.len().next_multiple_of(places), Vec::new());
        while values.len() < all {
            let (start, end) = (values.len(), all.min(values.len() + GROUP));
            let taken = |value: usize| {
                let mut above = (start..end).flat_map(|at| (at % places..start).step_by(places));
                above.any(|at| values[at] == value)
            };
            let value = (1..rounds).rev().find(|value| !taken(*value)).unwrap_or(rounds - 1);
            values.resize(end, value);
            // Class 0 never carries over: its rounds are the values.
            repeated.resize(repeated.len() + end - start, value * LOW);
        }
        let mut at = vec![0; rounds * LOW];
        let groups = classes.grouped.len() / places;
        for (place, group) in classes.grouped.chunks(groups.max(1)).enumerate() {
            let late = classes.late(group[0]);
            let wanted = values.iter().skip(place).step_by(places);
            let order = order(rounds, wanted.map(|value| value.checked_sub(late)));
            for (number, class) in group.iter().enumerate() {
                for (state, round) in order.iter().enumerate() {
                    at[round * LOW + class] = (number * rounds + state) * places + place;
                }
            }
        }
        let first = rounds * classes.grouped.len();
        for (k, (class, round)) in pairs.iter().enumerate() {
            at[round * LOW + class] = first + k;
        }
        Order { at, repeated }
    }
}

/// All rounds: those that are wanted where they are, if none before is the same, and the others in
/// between.
fn order(rounds: usize, wanted: impl Iterator<Item = Option<usize>>) -> Vec<usize> {
    let mut taken = vec![false; rounds];
    let mut out = Vec::with_capacity(rounds);
    for round in wanted.chain(iter::repeat(None)).take(rounds) {
        let round = round.filter(|round| taken.get(*round) == Some(&false));
        if let Some(round) = round {
            taken[round] = true;
        }
        out.push(round);
    }
    let mut others = (0..rounds).filter(|round| !taken[*round]);
    out.into_iter().filter_map(|round| round.or_else(|| others.next())).collect()
}

/// The classes of pairs that agree in the last byte of their counters, as their numbers differ by
/// multiples of [`LOW`].
///
/// They are of two kinds: from the first late class on, the last byte has carried over, and the
/// bytes ahead have in each round what those of the early ones have in the next.
struct Classes {
    first_late: usize,
    /// Those of one place after those of another; all classes of a place are of one kind, if those
    /// that are left are enough for that.
    grouped: Vec<usize>,
    left: Vec<usize>,
}

impl Classes {
    /// By groups of `places`; the first counter ends with `last`.
    fn new(places: usize, last: u8) -> Self {
        let first_late = LOW - usize::from(last);
        let (groups, grouped) = (LOW / places, LOW - LOW % places);
        let (early, late): (Vec<_>, Vec<_>) = (0..LOW).partition(|class| *class < first_late);
        let (often, rarely) = if early.len() < late.len() { (late, early) } else { (early, late) };
        // Whole places of the rarer kind, so that most of what is left is of the other one.
        let whole = |classes: &[usize]| classes.len() - classes.len() % groups.max(1);
        let (rarely, rest) = rarely.split_at(whole(&rarely));
        let (often, more) = often.split_at(whole(&often).min(grouped.saturating_sub(rarely.len())));
        let mut all = [often, rarely, more, rest].concat();
        let left = all.split_off(grouped);
        Classes { first_late, grouped: all, left }
    }

    /// 1 for late classes, 0 for early ones.
    fn late(&self, class: usize) -> usize {
        usize::from(class >= self.first_late)
    }

    /// The pairs of the classes that are left, by class and round, in an order in which those that
    /// meet in a place of several states differ in the bytes ahead.
    ///
    /// Early and late classes have the same values there but for one, which is the first of early
    /// ones, the last of late ones, and 0 modulo `rounds`. Pairs that have it begin, where the more
    /// frequent kind is; those of the rarer kind are in the last places of the first state.
    fn left_pairs(&self, rounds: usize, places: usize) -> Vec<(usize, usize)> {
        let round = |class: usize, value: usize| (value + rounds - self.late(class)) % rounds;
        let pairs =
            |value: usize| self.left.iter().map(move |class| (*class, round(*class, value)));
        let often = usize::from(2 * self.first_late < LOW);
        let (mut out, rarely): (Vec<_>, Vec<_>) =
            pairs(0).partition(|(class, _)| self.late(*class) == often);
        out.extend((1..rounds).flat_map(pairs));
        let at = places.saturating_sub(rarely.len()).min(out.len());
        out.splice(at..at, rarely);
        out
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every pair has a place of its own, and places that are left have one pair for each group.
    fn pairs(order: &Order) -> Vec<usize> {
        let Order { at, repeated } = order;
        let mut pairs = vec![usize::MAX; at.len() + repeated.len()];
        at.iter().enumerate().for_each(|(pair, at)| pairs[*at] = pair);
        pairs[at.len()..].copy_from_slice(repeated);
        assert!(pairs.iter().all(|pair| *pair < at.len()));
        assert!(repeated.chunks(GROUP).all(|group| group.iter().all(|pair| *pair == group[0])));
        pairs
    }

    #[test]
    fn states_have_few_patterns_for_every_last_byte() {
        let places = 60;
        for last in 0..=u8::MAX {
            let order = Order::repeating(8, places, last);
            let pairs = pairs(&order);
            assert_eq!((pairs.len(), order.repeated.len()), (35 * places, 52));
            let patterns = |of: fn(usize) -> usize| {
                let of = |pair: &usize| of(pair + usize::from(last));
                let state = |state: &[usize]| state.iter().map(of).collect::<Vec<_>>();
                pairs.chunks(places).map(state).collect::<BTreeSet<_>>().len()
            };
            assert_eq!(patterns(|counter| counter % LOW), 7, "{last}");
            // Of the rarer kind: its places in four groups, and what is left over.
            let rarer = last.min(last.wrapping_neg());
            let wanted = if rarer % 4 <= rarer / 4 { 8 } else { 9 };
            assert_eq!(patterns(|counter| counter / LOW), wanted, "{last}");
        }
    }

    /// No group, one, and groups that leave no class.
    #[test]
    fn states_of_other_sizes_hold_all_pairs() {
        for (rounds, places) in [(2, 60), (8, 960), (8, 256), (8, 255), (8, 35), (3, 32), (8, 2)] {
            for last in [0, 1, 5, 127, 128, 250, 255] {
                let order = Order::repeating(rounds, places, last);
                let found = pairs(&order).len();
                assert_eq!(found, (rounds * LOW).next_multiple_of(places), "{places} {last}");
            }
        }
    }
}
