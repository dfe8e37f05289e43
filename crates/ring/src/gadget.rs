//! The digits into which key switching decomposes polynomials.

use crate::basis::Basis;
use crate::cpu::keys::KeyPoly;

/// How polynomials are decomposed for key switching: a digit is a polynomial modulo the primes of
/// one group, and the special primes, product P, are what the sum of digits times keys is divided
/// by.
#[derive(Clone, Debug)]
pub struct Gadget {
    special: Basis,
    groups: Vec<Basis>,
}

impl Gadget {
    /// From the special primes and the groups, which do not overlap.
    pub fn new(special: Basis, groups: Vec<Basis>) -> Self {
        Gadget { special, groups }
    }

    /// The special primes, whose product is P.
    pub fn special(&self) -> Basis {
        self.special
    }

    /// The digits that `basis` touches, as (position among the groups, primes of the group that are
    /// in the basis).
    pub fn digits(&self, basis: Basis) -> impl Iterator<Item = (usize, Basis)> + '_ {
        self.groups
            .iter()
            .enumerate()
            .map(move |(i, g)| (i, g.intersection(basis)))
            .filter(|(_, g)| !g.is_empty())
    }
}

/// What one digit is multiplied by in a key switch, over the primes of the key and the special
/// ones.
pub struct KeyDigit {
    /// The position of the digit among the groups of the gadget.
    pub group: usize,
    /// One polynomial for each component of the result.
    pub components: Vec<KeyPoly>,
}
