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

    /// A plan with the fewest bytes of relinearization keys that serve every level that those of
    /// this plan serve, and with the same other keys.
    ///
    /// A gadget serves all levels without its special primes, so the key for the top serves every
    /// level, in more and smaller digits than the gadgets of lower levels have. A key is left out
    /// where another one serves over its primes in at most half again as many transforms; at
    /// single levels that can be a little more. Relinearizations then use the cheapest gadget of
    /// those that have keys ([`ModulusChain::relin_gadget`]), and rehearsals count what that takes.
    /// Answers, levels and security are the same: no gadget is new.
    ///
    /// For all levels of `bgv-65537-n15` these are two keys of 33.6 MiB instead of six of 77.0, and
    /// a relinearization takes 1.12 times as many transforms on average over the levels, and 1.6
    /// times at most. Plans for another set stay as they are.
    ///
    /// [`ModulusChain::relin_gadget`]: crate::spec::ModulusChain::relin_gadget
    #[must_use]
    pub fn smaller(&self, params: &Params) -> Self {
        if self.check(params).is_err() {
            return self.clone();
        }
        // Of eight gadgets at most.
        let sets = 1..1usize << params.chain().gadgets().len();
        let plans = sets.filter_map(|set| self.served_by(params, |id| set >> id.0 & 1 == 1));
        let least = plans.min_by_key(|plan| plan.seeded_bytes(params));
        let less = |plan: &KeyPlan| plan.seeded_bytes(params) < self.seeded_bytes(params);
        least.filter(less).unwrap_or_else(|| self.clone())
    }

    /// The same with relinearization keys for some gadgets; none if these do not serve all levels,
    /// or take too many transforms.
    fn served_by(&self, params: &Params, held: impl Fn(GadgetId) -> bool) -> Option<Self> {
        let chain = params.chain();
        let mut relin: BTreeMap<GadgetId, Basis> = BTreeMap::new();
        for (&own, &basis) in &self.relin {
            let serves = |id: &GadgetId| {
                held(*id) && chain.gadgets()[id.0].special().intersection(basis).is_empty()
            };
            let cost = |id: &GadgetId| (chain.switch_cost_by(*id, basis), *id);
            let id = (0..chain.gadgets().len()).map(GadgetId).filter(serves).min_by_key(cost)?;
            let (taken, before) =
                (chain.switch_cost_by(id, basis), chain.switch_cost_by(own, basis));
            if 2 * taken > 3 * before {
                return None;
            }
            let entry = relin.entry(id).or_default();
            *entry = entry.union(basis);
        }
        Some(KeyPlan { relin, ..self.clone() })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::OptIn;

    /// The levels that the relinearization keys of a plan serve, each with the gadget that does.
    fn served(params: &Params, plan: &KeyPlan) -> Vec<(Level, GadgetId)> {
        let chain = params.chain();
        let levels = (0..=chain.top().0).map(Level);
        let by = levels.filter_map(|level| {
            let id = chain.relin_gadget(level, |id| plan.relin.get(&id).copied());
            let covered = plan.relin.get(&id)?;
            let free = chain.gadgets()[id.0].special().intersection(chain.basis(level)).is_empty();
            (free && chain.basis(level).is_subset(*covered)).then_some((level, id))
        });
        by.collect()
    }

    /// For plans up to each level, from each level on, and of single levels.
    #[test]
    fn smaller_plans_serve_all_levels_that_the_others_serve() {
        for name in ["insecure_bgv-65537-n11", "insecure_bgv-257-n8", "insecure_ltv-257-n8"] {
            let params = Params::named(name, OptIn::InsecureResearch).unwrap();
            let top = params.chain().top().0;
            let mut fewer = 0;
            for at in 0..=top {
                let single = |levels: &mut dyn Iterator<Item = usize>| {
                    let mut plan = KeyPlan::default();
                    levels.for_each(|l| plan.add_relin(&params, Level(l)));
                    plan
                };
                let plans = [
                    KeyPlan::relinearization_up_to(&params, Level(at)),
                    single(&mut (at..=top)),
                    single(&mut [at, top - at].into_iter()),
                ];
                for plan in plans {
                    let smaller = plan.smaller(&params);
                    smaller.check(&params).unwrap();
                    assert!(smaller.seeded_bytes(&params) <= plan.seeded_bytes(&params));
                    fewer += usize::from(smaller.relin.len() < plan.relin.len());
                    let [before, now] = [&plan, &smaller].map(|plan| -> Vec<Level> {
                        served(&params, plan).into_iter().map(|(level, _)| level).collect()
                    });
                    let kept = before.iter().all(|level| now.contains(level));
                    assert!(kept && before.contains(&Level(at)), "{name}, level {at}");
                }
            }
            assert!(fewer > 0, "{name}");
        }
    }

    /// Where a key has its level's own gadget, nothing changes.
    #[test]
    fn all_keys_relinearize_by_the_gadget_of_the_level() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let chain = params.chain();
        let all = served(&params, &KeyPlan::relinearization(&params));
        assert_eq!(all.len(), chain.top().0 + 1);
        assert!(all.iter().all(|(level, id)| *id == chain.gadget_id(*level)));
        let none = |_| None;
        assert_eq!(chain.relin_gadget(chain.top(), none), chain.gadget_id(chain.top()));
    }

    /// The sizes that docs/adr/0039 states.
    #[test]
    fn all_levels_of_a_set_in_two_keys() {
        let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
        let (plan, chain) = (KeyPlan::relinearization(&params), params.chain());
        let smaller = plan.smaller(&params);
        let mib = |plan: &KeyPlan| plan.seeded_bytes(&params) as f64 / f64::from(1 << 20);
        let sizes = [mib(&plan), mib(&smaller)].map(|mib| format!("{mib:.1}"));
        assert_eq!((plan.relin.len(), smaller.relin.len()), (6, 2));
        assert_eq!(sizes, ["77.0", "33.6"]);
        let ratio = |(level, id): &(Level, GadgetId)| {
            let taken = chain.switch_cost_by(*id, chain.basis(*level));
            taken as f64 / chain.switch_cost(*level) as f64
        };
        let ratios: Vec<f64> = served(&params, &smaller).iter().map(ratio).collect();
        assert_eq!(ratios.len(), chain.top().0 + 1);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let most = ratios.iter().copied().fold(0.0, f64::max);
        assert!(ratios.iter().all(|ratio| *ratio >= 1.0) && most < 1.65, "{most}");
        assert!((1.08..1.15).contains(&mean), "{mean}");
        // Other keys stay, and so does a plan for another set.
        let rotation = KeyPlan::column_rotations(&params, [1]);
        let both = plan.clone().merge(&rotation).smaller(&params);
        assert_eq!((&both.relin, &both.galois), (&smaller.relin, &rotation.galois));
        assert_eq!(smaller.smaller(&params), smaller);
        let toy = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        assert!(plan.check(&toy).is_err() && plan.smaller(&toy) == plan);
    }
}
