//! Sets of primes.

/// The largest number of primes a ring can hold.
pub const MAX_PRIMES: usize = 128;

/// A set of primes of a ring, by their positions: the modulus of a polynomial is their product.
///
/// Limbs of a polynomial follow the order of the positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Basis(u128);

impl Basis {
    /// The empty set.
    pub const EMPTY: Basis = Basis(0);

    /// The set of the given positions (each below [`MAX_PRIMES`]; larger ones are ignored).
    pub fn of(positions: impl IntoIterator<Item = usize>) -> Self {
        Basis(positions.into_iter().filter(|&i| i < MAX_PRIMES).fold(0, |set, i| set | 1 << i))
    }

    /// The union.
    pub fn union(self, other: Basis) -> Basis {
        Basis(self.0 | other.0)
    }

    /// The intersection.
    pub fn intersection(self, other: Basis) -> Basis {
        Basis(self.0 & other.0)
    }

    /// The primes of `self` that are not in `other`.
    pub fn minus(self, other: Basis) -> Basis {
        Basis(self.0 & !other.0)
    }

    /// Whether every prime of `self` is in `other`.
    pub fn is_subset(self, other: Basis) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the prime at `position` belongs to the set.
    pub fn contains(self, position: usize) -> bool {
        position < MAX_PRIMES && self.0 >> position & 1 == 1
    }

    /// The number of primes.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The limb that belongs to the prime at `position`, if the set has it.
    pub fn limb_of(self, position: usize) -> Option<usize> {
        self.contains(position).then(|| (self.0 & ((1u128 << position) - 1)).count_ones() as usize)
    }

    /// The positions, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> + Clone {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let position = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                position
            })
        })
    }

    /// The set as a bit mask.
    pub fn bits(self) -> u128 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_algebra() {
        let a = Basis::of([0, 3, 127]);
        let b = Basis::of([3, 4]);
        assert_eq!(a.iter().collect::<Vec<_>>(), [0, 3, 127]);
        assert_eq!(a.union(b).len(), 4);
        assert_eq!(a.intersection(b), Basis::of([3]));
        assert_eq!(a.minus(b), Basis::of([0, 127]));
        assert!(Basis::of([3]).is_subset(a) && !b.is_subset(a));
        assert_eq!(a.limb_of(127), Some(2));
        assert_eq!(a.limb_of(4), None);
        assert!(Basis::EMPTY.is_empty() && !a.contains(500));
    }
}
