//! Which keys a circuit needs.

use std::collections::BTreeMap;

use everlevel_ring::{Basis, GaloisElement};

use crate::params::Params;

/// The server keys that a circuit needs, each over no more primes than it uses. Plans come from running the circuit on the no-op scheme
/// ([`crate::NoOp::key_plan`]) and can be merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPlan {
    /// The primes of the relinearization key.
    pub relin: Basis,
    /// The primes of each Galois key.
    pub galois: BTreeMap<GaloisElement, Basis>,
    /// Whether bootstrapping keys are needed.
    pub bootstrap: bool,
}

impl KeyPlan {
    /// Relinearization at every level.
    pub fn relinearization(params: &Params) -> Self {
        KeyPlan { relin: params.chain().basis(params.chain().top()), ..Self::default() }
    }
    /// Rotations of the columns by `steps`, at every level.
    pub fn column_rotations(params: &Params, steps: impl IntoIterator<Item = i64>) -> Self {
        let mut plan = Self::default();
        for k in steps {
            plan.add_galois(params.slot_shape().rotation(k), params.chain().basis(params.chain().top()));
        }
        plan
    }
    /// The exchange of the rows, at every level.
    pub fn row_swap(params: &Params) -> Self {
        let mut plan = Self::default();
        plan.add_galois(params.slot_shape().swap_rows(), params.chain().basis(params.chain().top()));
        plan
    }
    /// Adds one Galois key over `basis`. The identity needs none.
    pub fn add_galois(&mut self, g: GaloisElement, basis: Basis) {
        if !g.is_identity() {
            let entry = self.galois.entry(g).or_default();
            *entry = entry.union(basis);
        }
    }
    /// What both need.
    pub fn merge(mut self, other: &KeyPlan) -> Self {
        self.relin = self.relin.union(other.relin);
        self.bootstrap |= other.bootstrap;
        for (&g, &basis) in &other.galois {
            self.add_galois(g, basis);
        }
        self
    }
    /// The number of switching keys.
    pub fn len(&self) -> usize {
        self.galois.len() + !self.relin.is_empty() as usize
    }
    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && !self.bootstrap
    }
    /// The size of the keys when one half is stored as a seed and residues are packed to the width of their primes.
    pub fn seeded_bytes(&self, params: &Params) -> u64 {
        let bits = |basis: Basis| params.ring().log2(basis).ceil() as u64 * params.degree() as u64;
        let key = |basis: Basis| params.chain().digits(basis).count() as u64 * bits(params.extended(basis));
        let mut total: u64 = self.galois.values().map(|&b| key(b)).sum();
        if !self.relin.is_empty() {
            total += key(self.relin);
        }
        if self.bootstrap {
            total += bits(params.chain().basis(params.chain().top())) + key(params.chain().basis(crate::Level(0)));
        }
        total / 8
    }
}
