//! Sets of codes of one column.

/// Disjoint ranges of integers, ends included, in order and not adjacent to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ranges(Vec<(i128, i128)>);

impl Ranges {
    /// The integers from `low` to `high`; empty if `low` exceeds `high`.
    pub fn between(low: i128, high: i128) -> Self {
        Ranges(if low <= high { vec![(low, high)] } else { Vec::new() })
    }

    /// These integers.
    pub fn of(codes: impl IntoIterator<Item = i128>) -> Self {
        Self::joined(codes.into_iter().map(|c| (c, c)).collect())
    }

    fn joined(mut ranges: Vec<(i128, i128)>) -> Self {
        ranges.sort_unstable();
        let mut out: Vec<(i128, i128)> = Vec::new();
        for (low, high) in ranges {
            match out.last_mut() {
                Some((_, last)) if low <= *last + 1 => *last = high.max(*last),
                _ => out.push((low, high)),
            }
        }
        Ranges(out)
    }

    /// The ranges.
    pub fn iter(&self) -> impl Iterator<Item = (i128, i128)> {
        self.0.iter().copied()
    }

    /// Whether a code is in one of the ranges.
    pub fn contains(&self, code: i128) -> bool {
        let place = self.0.partition_point(|(_, high)| *high < code);
        self.0.get(place).is_some_and(|(low, _)| *low <= code)
    }

    /// The union of both sets.
    pub fn or(&self, other: &Ranges) -> Self {
        Self::joined(self.iter().chain(other.iter()).collect())
    }

    /// The union of all of these sets.
    pub(crate) fn union(sets: impl IntoIterator<Item = Ranges>) -> Self {
        Self::joined(sets.into_iter().flat_map(|set| set.0).collect())
    }

    /// The intersection of both sets.
    pub fn and(&self, other: &Ranges) -> Self {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut common = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let (low, high) = (x.0.max(y.0), x.1.min(y.1));
            if low <= high {
                common.push((low, high));
            }
            // What ends first has nothing in common with what follows in the other one.
            if x.1 <= y.1 {
                a.next();
            } else {
                b.next();
            }
        }
        Ranges(common)
    }

    /// The complement among the codes of a column with these bounds.
    pub fn not(&self, (low, high): (i128, i128)) -> Self {
        let mut rest = Vec::new();
        let mut from = low;
        for (a, b) in self.iter() {
            if from < a {
                rest.push((from, (a - 1).min(high)));
            }
            from = from.max(b + 1);
        }
        if from <= high {
            rest.push((from, high));
        }
        Ranges(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_codes() {
        let bounds = (0, 19);
        let sets = [
            Ranges::of([]),
            Ranges::between(0, 19),
            Ranges::between(3, 7),
            Ranges::of([1, 2, 5, 9, 19]),
            Ranges::of([0]).or(&Ranges::between(7, 12)),
        ];
        let union = Ranges::union(sets.clone());
        assert_eq!(union, sets.iter().fold(Ranges::of([]), |all, set| all.or(set)));
        assert_eq!(Ranges::union([]), Ranges::of([]));
        for a in &sets {
            let not = a.not(bounds);
            for b in &sets {
                let (and, or) = (a.and(b), a.or(b));
                for code in 0..20 {
                    let (x, y) = (a.contains(code), b.contains(code));
                    assert_eq!(not.contains(code), !x);
                    assert_eq!((and.contains(code), or.contains(code)), (x && y, x || y));
                }
            }
            assert!(not.iter().all(|(low, high)| 0 <= low && low <= high && high <= 19));
        }
    }
}
