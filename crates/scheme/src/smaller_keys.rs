//! Fewer relinearization keys that serve the same levels.

use everlevel_ring::{Basis, Gadget};

use crate::key_plan::KeyPlan;
use crate::params::Params;
use crate::spec::{GadgetId, Level};

/// A relinearization takes at most 8 / 5 of the transforms of the level's own gadget.
const MOST_TRANSFORMS: (usize, usize) = (8, 5);

/// Keys are left out only if those that stay take at most 9 / 10 of the bytes.
const MOST_BYTES: (u64, u64) = (9, 10);

/// By how many bits the noise factor of a gadget may exceed that of the one that it replaces:
/// primes of equal size differ by less.
const TOLERANCE: f64 = 0.1;

impl KeyPlan {
    /// A plan with relinearization keys for fewer gadgets, that serve every level that those of
    /// this plan serve, and with the same other keys.
    ///
    /// A gadget serves all levels without its special primes, so the key for the top serves every
    /// level, in more and smaller digits than the gadgets of lower levels have. Of all sets of
    /// gadgets, it is the one whose keys take the fewest bytes, among those with which
    ///
    /// * at every level that is served, a relinearization takes at most 1.6 times as many
    ///   transforms as the level's own gadget does, or no more than before, and
    /// * digits exceed the special modulus by no more than before, so that noise is no larger up to
    ///   what rounding adds.
    ///
    /// The plan stays as it is if that would save less than a tenth of the bytes of its
    /// relinearization keys, and if it is one for another parameter set ([`KeyPlan::check`]).
    /// Relinearizations then use the cheapest gadget of those that have keys
    /// ([`KeyPlan::relin_gadget`]), and rehearsals count what that takes. Security is the same: no
    /// gadget is new. Bounds on the noise can differ by some bits, so a computation that the plan
    /// was found for has to be rehearsed with the smaller one ([`NoOp::holding`]).
    ///
    /// For all levels of `bgv-65537-n15` these are two keys of 33.6 MiB instead of six of 77.0, and
    /// a relinearization takes about 1.1 times as many transforms on average over the levels.
    ///
    /// [`NoOp::holding`]: crate::NoOp::holding
    #[must_use]
    pub fn smaller(&self, params: &Params) -> Self {
        if self.check(params).is_err() {
            return self.clone();
        }
        let served = Served::all(self, params);
        // Of eight gadgets at most.
        let sets = 1..1usize << params.chain().gadgets().len();
        let plans = sets.filter_map(|set| by_some(&served, params, |id| set >> id.0 & 1 == 1));
        let own = KeyPlan { relin: self.relin.clone(), ..Self::default() }.seeded_bytes(params);
        let sized = plans.map(|plan| (plan.seeded_bytes(params), plan));
        let less = |found: &(u64, KeyPlan)| found.0 * MOST_BYTES.1 <= own * MOST_BYTES.0;
        let mut fewer: Vec<(u64, KeyPlan)> = sized.filter(less).collect();
        fewer.sort_by_key(|(bytes, _)| *bytes);
        // A key may serve more levels than it was chosen for.
        let kept = |plan: &KeyPlan| {
            served.iter().all(|x| plan.relin_gadget(params, x.level).is_some_and(|id| x.allows(id)))
        };
        match fewer.into_iter().map(|(_, plan)| plan).find(kept) {
            Some(found) => KeyPlan { relin: found.relin, ..self.clone() },
            None => self.clone(),
        }
    }
}

/// A level that the relinearization keys of a plan serve.
struct Served {
    level: Level,
    /// The gadgets that may serve it instead, each with the transforms that it takes, the cheapest
    /// first.
    allowed: Vec<(usize, GadgetId)>,
}

impl Served {
    /// All levels that a plan serves.
    fn all(plan: &KeyPlan, params: &Params) -> Vec<Self> {
        let levels = (0..=params.chain().top().0).map(Level);
        let served = levels.filter_map(|l| Some((l, plan.relin_gadget(params, l)?)));
        served.map(|(level, before)| Self::of(params, level, before)).collect()
    }

    /// A level that a gadget has served so far.
    fn of(params: &Params, level: Level, before: GadgetId) -> Self {
        let (chain, basis) = (params.chain(), params.chain().basis(level));
        let cost = |id: GadgetId| chain.switch_cost_by(id, basis);
        let gadget = |id: GadgetId| &chain.gadgets()[id.0];
        let (more, of) = MOST_TRANSFORMS;
        let (own, known) = (cost(chain.gadget_id(level)), cost(before));
        let noise = excess(params, gadget(before), basis) + TOLERANCE;
        let fits = |id: &GadgetId| {
            gadget(*id).special().intersection(basis).is_empty()
                && (cost(*id) * of <= own * more || cost(*id) <= known)
                && excess(params, gadget(*id), basis) <= noise
        };
        let all = (0..chain.gadgets().len()).map(GadgetId).filter(fits);
        let mut allowed: Vec<(usize, GadgetId)> = all.map(|id| (cost(id), id)).collect();
        allowed.sort_unstable();
        Served { level, allowed }
    }

    fn allows(&self, id: GadgetId) -> bool {
        self.allowed.iter().any(|(_, allowed)| *allowed == id)
    }
}

/// By how many bits the largest digit of the primes of a level exceeds the special modulus; none
/// if it does not. The noise of a key switch is about proportional to their quotient, beside what
/// the rounding after the division by that modulus adds.
fn excess(params: &Params, gadget: &Gadget, basis: Basis) -> f64 {
    let ring = params.ring();
    let largest = gadget.digits(basis).map(|(_, digit)| ring.log2(digit)).fold(0.0, f64::max);
    (largest - ring.log2(gadget.special())).max(0.0)
}

/// Relinearization keys for some gadgets, over the primes of the levels that each serves the
/// cheapest; none if these gadgets may not serve all levels.
fn by_some(served: &[Served], params: &Params, held: impl Fn(GadgetId) -> bool) -> Option<KeyPlan> {
    let mut plan = KeyPlan::default();
    for Served { level, allowed } in served {
        let (_, id) = allowed.iter().find(|(_, id)| held(*id))?;
        plan.add_relin_by(params, *id, *level);
    }
    Some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamsSpec;
    use crate::params::OptIn;

    /// The levels that the relinearization keys of a plan serve, each with the gadget that does.
    fn served(params: &Params, plan: &KeyPlan) -> Vec<(Level, GadgetId)> {
        let chain = params.chain();
        let levels = (0..=chain.top().0).map(Level);
        let by = levels.filter_map(|level| {
            let id = plan.relin_gadget(params, level)?;
            let free = chain.gadgets()[id.0].special().intersection(chain.basis(level)).is_empty();
            assert!(free && chain.basis(level).is_subset(plan.relin[&id]));
            Some((level, id))
        });
        by.collect()
    }

    /// The transforms of a relinearization by the keys of a plan, as multiples of those by the
    /// level's own gadget.
    fn ratios(params: &Params, plan: &KeyPlan) -> Vec<f64> {
        let chain = params.chain();
        let ratio = |(level, id): &(Level, GadgetId)| {
            let taken = chain.switch_cost_by(*id, chain.basis(*level));
            taken as f64 / chain.switch_cost(*level) as f64
        };
        served(params, plan).iter().map(ratio).collect()
    }

    /// The largest of these by the keys of a smaller plan, of the levels that a plan serves, and at
    /// which they take more than those of that plan.
    fn raised(params: &Params, plan: &KeyPlan, smaller: &KeyPlan) -> f64 {
        let chain = params.chain();
        let more = served(params, plan).into_iter().filter_map(|(level, before)| {
            let cost = |id: GadgetId| chain.switch_cost_by(id, chain.basis(level));
            let (before, after) = (cost(before), cost(smaller.relin_gadget(params, level)?));
            (after > before).then(|| after as f64 / chain.switch_cost(level) as f64)
        });
        more.fold(0.0, f64::max)
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
                    assert!(raised(&params, &plan, &smaller) <= 1.6, "{name}, level {at}");
                    let bytes = [&smaller, &plan].map(|plan| plan.seeded_bytes(&params));
                    assert!(smaller == plan || 10 * bytes[0] <= 9 * bytes[1], "{name}, {at}");
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
        let ratios = ratios(&params, &smaller);
        assert_eq!(ratios.len(), chain.top().0 + 1);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let most = raised(&params, &plan, &smaller);
        assert!((1.08..1.15).contains(&mean) && (1.5..=1.6).contains(&most), "{mean}, {most}");
        assert!(ratios.iter().all(|ratio| *ratio >= 1.0));
        let serves = |keys: &KeyPlan| {
            (0..=chain.top().0).all(|level| keys.relin_gadget(&params, Level(level)).is_some())
        };
        assert!(serves(&smaller) && serves(&plan));
        assert!(!serves(&KeyPlan::relinearization_up_to(&params, Level(9))));
        // Other keys stay, and so does a plan for another set.
        let rotation = KeyPlan::column_rotations(&params, [1]);
        let both = plan.clone().merge(&rotation).smaller(&params);
        assert_eq!((&both.relin, &both.galois), (&smaller.relin, &rotation.galois));
        assert_eq!(smaller.smaller(&params), smaller);
        let toy = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        assert!(plan.check(&toy).is_err() && plan.smaller(&toy) == plan);
    }

    /// Up to every level of sets with 128 bits of security, some of which hardly save bytes.
    #[test]
    fn no_level_takes_more_than_the_limit() {
        for name in ["bgv-257-n14", "bgv-65537-n15", "bgv-65537-n16"] {
            let params = Params::named(name, OptIn::SecureOnly).unwrap();
            let top = params.chain().top().0;
            for at in (0..=top).step_by(1 + top / 12).chain([top]) {
                let plan = KeyPlan::relinearization_up_to(&params, Level(at));
                let smaller = plan.smaller(&params);
                let [before, after] = [&plan, &smaller].map(|plan| served(&params, plan));
                assert!(before.len() > at && before.len() <= after.len(), "{name}, {at}");
                let most = raised(&params, &plan, &smaller);
                assert!(most <= 1.6, "{name}, {at}: {most}");
            }
        }
    }

    /// Digits larger than the special modulus make more noise: the key of such a gadget stays
    /// where it is, and replaces no other.
    #[test]
    fn noise_is_no_larger() {
        let mut spec = ParamsSpec::named("insecure_bgv-65537-n11").unwrap();
        spec.digit_size = spec.special + 2;
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let (plan, chain) = (KeyPlan::relinearization(&params), params.chain());
        let smaller = plan.smaller(&params);
        let largest = |plan: &KeyPlan| -> Vec<f64> {
            let by = served(&params, plan).into_iter();
            by.map(|(l, id)| excess(&params, &chain.gadgets()[id.0], chain.basis(l))).collect()
        };
        let (before, after) = (largest(&plan), largest(&smaller));
        assert!(before.iter().any(|x| *x > 9.0) && before.len() == after.len());
        assert!(before.iter().zip(&after).all(|(x, y)| *y <= x + TOLERANCE));
        // Alone, gadget 0 would serve all levels.
        assert!(before.contains(&0.0) && smaller.relin.len() > 1);
    }
}
