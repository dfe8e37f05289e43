//! The keys that a circuit needs.

use std::collections::BTreeMap;

use everlevel_ring::{Basis, Gadget, GaloisElement};

use crate::error::SchemeError;
use crate::params::Params;
use crate::spec::{GadgetId, Level};

/// The server keys that a circuit needs, each over only the primes that it uses. Plans are obtained
/// by running the circuit on the no-op scheme ([`crate::NoOp::key_plan`]) and can be merged.
///
/// A key that is used at levels with different gadgets exists once for each gadget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyPlan {
    /// The primes of the relinearization keys.
    pub relin: BTreeMap<GadgetId, Basis>,
    /// The primes of the Galois keys.
    pub galois: BTreeMap<(GaloisElement, GadgetId), Basis>,
    /// Whether bootstrapping keys are needed.
    pub bootstrap: bool,
}

impl KeyPlan {
    /// Relinearization at every level.
    pub fn relinearization(params: &Params) -> Self {
        Self::relinearization_up_to(params, params.chain().top())
    }

    /// Relinearization at `highest`, the top for levels above it, and all levels below.
    pub fn relinearization_up_to(params: &Params, highest: Level) -> Self {
        let mut plan = Self::default();
        let highest = highest.min(params.chain().top());
        (0..=highest.0).for_each(|l| plan.add_relin(params, Level(l)));
        plan
    }

    /// Rotations of the columns by `steps`, at every level.
    pub fn column_rotations(params: &Params, steps: impl IntoIterator<Item = i64>) -> Self {
        let elements = steps.into_iter().map(|k| params.slot_shape().rotation(k));
        Self::automorphisms_up_to(params, elements, params.chain().top())
    }

    /// The exchange of the rows, at every level; nothing if there is one row.
    pub fn row_swap(params: &Params) -> Self {
        Self::automorphisms_up_to(params, [params.slot_shape().swap_rows()], params.chain().top())
    }

    /// Automorphisms at `highest`, the top for levels above it, and all levels below.
    pub fn automorphisms_up_to(
        params: &Params,
        elements: impl IntoIterator<Item = GaloisElement>,
        highest: Level,
    ) -> Self {
        let mut plan = Self::default();
        let highest = highest.min(params.chain().top());
        for g in elements {
            (0..=highest.0).for_each(|l| plan.add_galois(params, g, Level(l)));
        }
        plan
    }

    /// Adds relinearization at one level.
    pub fn add_relin(&mut self, params: &Params, level: Level) {
        self.add_relin_by(params, params.chain().gadget_id(level), level);
    }

    /// The same by any gadget that serves the level.
    pub(crate) fn add_relin_by(&mut self, params: &Params, id: GadgetId, level: Level) {
        let entry = self.relin.entry(id).or_default();
        *entry = entry.union(params.chain().basis(level));
    }

    /// Adds one automorphism at one level. The identity needs no key.
    pub fn add_galois(&mut self, params: &Params, g: GaloisElement, level: Level) {
        if !g.is_identity() {
            let entry = self.galois.entry((g, params.chain().gadget_id(level))).or_default();
            *entry = entry.union(params.chain().basis(level));
        }
    }

    /// The union of two plans.
    pub fn merge(mut self, other: &KeyPlan) -> Self {
        self.bootstrap |= other.bootstrap;
        for (&id, &basis) in &other.relin {
            let entry = self.relin.entry(id).or_default();
            *entry = entry.union(basis);
        }
        for (&key, &basis) in &other.galois {
            let entry = self.galois.entry(key).or_default();
            *entry = entry.union(basis);
        }
        self
    }

    /// The gadget by which these keys relinearize at a level ([`ModulusChain::relin_gadget`]); none
    /// if no key serves it.
    ///
    /// [`ModulusChain::relin_gadget`]: crate::spec::ModulusChain::relin_gadget
    pub fn relin_gadget(&self, params: &Params, level: Level) -> Option<GadgetId> {
        let chain = params.chain();
        let id = chain.relin_gadget(level, |id| self.relin.get(&id).copied());
        let covered = self.relin.get(&id)?;
        chain.basis(level).is_subset(*covered).then_some(id)
    }

    /// Whether it has all keys of another plan, over all primes that they have there.
    pub fn covers(&self, other: &KeyPlan) -> bool {
        let holds =
            |own: Option<&Basis>, basis: &Basis| own.is_some_and(|own| basis.is_subset(*own));
        other.relin.iter().all(|(id, basis)| holds(self.relin.get(id), basis))
            && other.galois.iter().all(|(key, basis)| holds(self.galois.get(key), basis))
            && (self.bootstrap || !other.bootstrap)
    }

    /// Refuses a plan for another parameter set, as far as it has keys that this one cannot have:
    /// for other gadgets, automorphisms or primes.
    ///
    /// # Errors
    /// [`SchemeError::WrongParams`]; an automorphism that the ring does not have.
    pub fn check(&self, params: &Params) -> Result<(), SchemeError> {
        self.galois.keys().try_for_each(|(g, _)| params.check_automorphism(*g))?;
        let chain = params.chain();
        let fits = |(id, basis): (&GadgetId, &Basis)| {
            let free = |gadget: &Gadget| basis.intersection(gadget.special()).is_empty();
            chain.gadgets().get(id.0).is_some_and(free) && basis.is_subset(chain.keyed())
        };
        let galois = self.galois.iter().map(|((_, id), basis)| (id, basis));
        if self.relin.iter().chain(galois).all(fits) {
            return Ok(());
        }
        Err(SchemeError::WrongParams { object: "the key plan", name: params.name().into() })
    }

    /// The number of switching keys.
    pub fn len(&self) -> usize {
        self.galois.len() + self.relin.len()
    }

    /// Whether the plan is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && !self.bootstrap
    }

    /// The size of the keys in bytes if one polynomial of each is stored as a seed and residues are
    /// packed to the width of their primes. Keys and primes that the set does not have do not
    /// count.
    pub fn seeded_bytes(&self, params: &Params) -> u64 {
        self.halves(params, |basis| params.ring().log2(basis).ceil() as u64) / 8
    }

    /// The memory of the keys in bytes: polynomials that are stored as seeds are expanded in
    /// memory.
    pub fn memory_bytes(&self, params: &Params) -> u64 {
        2 * self.seeded_bytes(params)
    }

    /// The bytes of all keys with a word for each residue and no seeds, as an engine holds them
    /// that has memory of its own.
    pub fn expanded_bytes(&self, params: &Params) -> u64 {
        2 * self.halves(params, |basis| 64 * basis.len() as u64) / 8
    }

    /// The bits of one polynomial of each pair, if the residues of a coefficient modulo the primes
    /// of a basis take `bits` of it.
    fn halves(&self, params: &Params, bits: impl Fn(Basis) -> u64) -> u64 {
        let chain = params.chain();
        let bits = |basis: Basis| bits(basis) * params.degree() as u64;
        let key = |gadget: &Gadget, basis: Basis| {
            let basis = basis.intersection(chain.keyed());
            gadget.digits(basis).count() as u64 * bits(basis.union(gadget.special()))
        };
        let switching = self
            .galois
            .iter()
            .map(|(&(_, id), &b)| (id, b))
            .chain(self.relin.iter().map(|(&id, &b)| (id, b)));
        let size = |(id, basis): (GadgetId, Basis)| Some(key(chain.gadgets().get(id.0)?, basis));
        let mut total: u64 = switching.filter_map(size).sum();
        if self.bootstrap {
            total += params.raise_digits() as u64 * bits(chain.basis(chain.top()));
            if !params.raises_under_main_key() {
                total += key(chain.encapsulation(), chain.basis(Level(0)));
            }
        }
        total
    }
}
