//! The cost of a plan on a parameter set, and the best set for it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::PoisonError;

use everlevel_integers::{
    Estimate, EstimatedInput, EstimatedStep, IntegersError, Origin, Rehearsal, TablePlans,
    best_estimate,
};
use everlevel_scheme::{Level, OptIn, Params};

use super::Plan;
use super::levels::{common, single};
use crate::compute::Room;
use crate::error::Error;
use crate::requirements::Minimize;

/// The default candidates of parameter sets for plans.
const CANDIDATES: [&str; 3] = ["bgv-65537-n15", "bgv-65537-n16", "bgv-786433-n16"];

impl Plan {
    /// The cost of the program on a set: without bootstrapping if the program fits, otherwise with
    /// it. It is computed once; `println!` prints it.
    ///
    /// # Errors
    /// A program that cannot be computed on this set; this is detected before anything is
    /// encrypted.
    pub fn explain(&self, params: &Params) -> Result<Estimate, Error> {
        self.known_on(params)
    }

    /// The set with 128 bits of security on which the program takes the least time, or the least
    /// memory. If the program has to bootstrap arguments that fill at most a quarter of the slots,
    /// the set may be one that uses fewer slots ([`Params::with_slots_for`]).
    ///
    /// # Errors
    /// A program that fits no set, with the reason for the last one.
    pub fn params(&self, minimize: Minimize) -> Result<Params, Error> {
        self.params_within(minimize, u64::MAX)
    }

    /// The same among sets on which keys and ciphertexts, with products and large tables in blocks
    /// ([`Integers::in_blocks`](everlevel_integers::Integers::in_blocks)) where it does not fit
    /// otherwise, take at most the given number of bytes ([`Estimate::memory_bytes`]).
    ///
    /// # Errors
    /// [`IntegersError::Memory`], with both figures, if there is none.
    pub fn params_within(&self, minimize: Minimize, memory_bytes: u64) -> Result<Params, Error> {
        let longest = self.inputs.iter().map(|x| x.length).max().unwrap_or(1);
        let plans = TablePlans::default();
        let best = |sets: Vec<Params>| self.best(sets, &plans, minimize, memory_bytes);
        let found = self.refined(best_of_secure(longest, minimize, best)?, &plans)?;
        let params = found.params.clone();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Runs are to take no more memory than was allowed.
        if found.memory_bytes() <= memory_bytes {
            known.retain(|x| !x.params.same(&params) || x.memory_bytes() <= memory_bytes);
        }
        known.push(found);
        Ok(params)
    }

    pub(crate) fn known_on(&self, params: &Params) -> Result<Estimate, Error> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().iter().find(|x| x.params.same(params)) {
            return Ok(found.clone());
        }
        let plans = TablePlans::default();
        let found = self.best([params.clone()], &plans, Minimize::Latency, u64::MAX)?;
        let found = self.refined(found, &plans)?;
        lock().push(found.clone());
        Ok(found)
    }

    fn names(&self) -> Vec<&str> {
        self.inputs.iter().map(|x| x.name.as_str()).collect()
    }

    /// The levels of the indexes of the arguments; `None` for those without one.
    fn index_levels(&self, params: &Params) -> Result<Vec<Option<Level>>, IntegersError> {
        self.inputs.iter().map(|x| x.index_level(params)).collect()
    }

    /// The cost in a rehearsal, with arguments of an origin whose digits are at these levels, and
    /// whose indexes at levels of their own, if they have one.
    fn rehearsed(
        &self,
        rehearsal: &Rehearsal,
        origin: Origin,
        levels: &[Level],
        indexes: &[Option<Level>],
    ) -> Result<Estimate, IntegersError> {
        let (ints, slots) = (rehearsal.integers()?, rehearsal.params().slots());
        let blocks = self.blocks(slots)?;
        let (mut inputs, mut given) = (BTreeMap::new(), Vec::with_capacity(levels.len()));
        for ((x, level), index) in self.inputs.iter().zip(levels).zip(indexes) {
            let length = x.length.min(slots);
            let column = rehearsal.argument(x.kind, length, (origin, *level), *index)?;
            given.push(EstimatedInput::of(rehearsal.params(), &x.name, &column));
            inputs.insert(x.name.as_str(), column);
        }
        let (mut steps, mut before) = (Vec::new(), rehearsal.spent());
        // Bootstrapping in place leaves them, as they are somebody else's.
        let values = inputs.values().flat_map(|x| x.values().chain(x.index_values()));
        let kept: Vec<_> = values.map(|value| value.get()).collect();
        // Not what it takes to make arguments that begin above their levels.
        rehearsal.forget_working_bytes();
        let results = rehearsal.alone(|| {
            self.evaluated(&ints, Room::ONE, &inputs, |name, interval| {
                let after = rehearsal.spent();
                let counted = after - before;
                before = after;
                steps.push(EstimatedStep::new(name, Some(interval), counted));
            })
        });
        drop(kept);
        let results = results.map_err(|e| match e {
            Error::Integers(e) => e,
            Error::Scheme(e) => e.into(),
            Error::Circuit(e) => e.into(),
            Error::Ring(e) => e.into(),
            e => IntegersError::Parts { problem: e.to_string() },
        })?;
        let found = Estimate::new(rehearsal, blocks as u64, given, steps, &results);
        Ok(found.with_seeded_keys(self.seeded_keys))
    }

    /// The cost in a rehearsal at the best level: if nothing is bootstrapped, the lowest level at
    /// which the program takes no more than at the top, where uploads are smallest and products
    /// fastest.
    fn leveled(&self, rehearsal: &Rehearsal) -> Result<Estimate, IntegersError> {
        let params = rehearsal.params();
        let (indexes, top) = (self.index_levels(params)?, params.chain().top());
        // The one that is there counts nothing yet.
        let unused = Cell::new(true);
        let rehearsed = |origin: Origin, levels: &[Level]| match unused.take() {
            true => self.rehearsed(rehearsal, origin, levels, &indexes),
            false => self.rehearsed(&rehearsal.again(), origin, levels, &indexes),
        };
        common(
            params,
            self.inputs.len(),
            |levels| rehearsed(Origin::Above, levels),
            |levels| either(rehearsed, top, levels),
        )
    }

    /// The same with lower levels for arguments that are used late.
    fn refined(&self, found: Estimate, plans: &TablePlans) -> Result<Estimate, IntegersError> {
        if found.bootstraps || self.inputs.len() < 2 {
            return Ok(found);
        }
        let params = found.params.clone();
        let (indexes, top) = (self.index_levels(&params)?, params.chain().top());
        let rehearsal = Rehearsal::new(&params, false)?
            .with_plans(plans.clone())
            .with_side_by_side(found.side_by_side)
            .with_blocks(found.in_blocks);
        let rehearsed = |origin: Origin, levels: &[Level]| {
            self.rehearsed(&rehearsal.again(), origin, levels, &indexes)
        };
        Ok(single(
            found,
            &self.names(),
            |levels| rehearsed(Origin::Above, levels),
            |levels| either(rehearsed, top, levels),
        ))
    }

    /// The better of both layouts of comparisons, if they differ.
    fn laid_out(
        &self,
        rehearsal: &Rehearsal,
        cost: impl Fn(&Estimate) -> f64,
    ) -> Result<Estimate, IntegersError> {
        // Side by side in a row, half of the slots, there is room for two digits at least.
        let slots = rehearsal.params().slots();
        if self.inputs.iter().all(|x| 4 * x.length > slots) {
            return self.leveled(rehearsal);
        }
        // At the same time: each is rehearsed on one thread.
        let other = rehearsal.again().with_side_by_side(true);
        match rayon::join(|| self.leveled(rehearsal), || self.leveled(&other)) {
            (Ok(apart), Ok(beside)) if cost(&beside) < cost(&apart) => Ok(beside),
            (Err(_), Ok(beside)) => Ok(beside),
            (apart, _) => apart,
        }
    }

    fn best(
        &self,
        candidates: impl IntoIterator<Item = Params>,
        plans: &TablePlans,
        minimize: Minimize,
        memory_bytes: u64,
    ) -> Result<Estimate, IntegersError> {
        let cost = |x: &Estimate| cost(minimize, x);
        let within = |rehearsal: &Rehearsal| {
            let found = self.laid_out(rehearsal, cost)?;
            match found.memory_bytes() <= memory_bytes {
                true => Ok(found),
                false => self.refined(found, plans)?.within(memory_bytes),
            }
        };
        // In blocks where it takes too much memory otherwise. If it does so even then, the error of
        // the lesser need is told.
        let rehearse = |rehearsal: &Rehearsal| match within(rehearsal) {
            Err(IntegersError::Memory { name, needed, limit }) => {
                match within(&rehearsal.again().with_blocks(true)) {
                    Ok(found) => Ok(found),
                    Err(IntegersError::Memory { needed: less, .. }) => {
                        Err(IntegersError::Memory { name, needed: needed.min(less), limit })
                    }
                    Err(_) => Err(IntegersError::Memory { name, needed, limit }),
                }
            }
            found => found,
        };
        best_estimate(candidates, plans, rehearse, cost)
    }
}

/// The cost of arguments that are encrypted for the plan at these levels, with keys also for those
/// that are switched down to them.
fn either(
    rehearsed: impl Fn(Origin, &[Level]) -> Result<Estimate, IntegersError>,
    top: Level,
    levels: &[Level],
) -> Result<Estimate, IntegersError> {
    let mut found = rehearsed(Origin::Secret, levels)?;
    if levels.iter().any(|level| *level < top) {
        found.keys = found.keys.merge(&rehearsed(Origin::Above, levels)?.keys);
    }
    Ok(found)
}

/// The best of the sets with 128 bits of security for arguments of at most `longest` entries, where
/// `best` is the best of some sets. If it bootstraps, the same set with fewer used slots is a
/// candidate as well, and so are those of sets that take too much memory, and where memory is
/// minimized those of all sets that bootstrap.
pub(crate) fn best_of_secure(
    longest: usize,
    minimize: Minimize,
    mut best: impl FnMut(Vec<Params>) -> Result<Estimate, IntegersError>,
) -> Result<Estimate, IntegersError> {
    let least = |x: &Estimate| cost(minimize, x);
    let mut found: Option<Estimate> = None;
    let (mut large, mut refused) = (Vec::new(), None);
    for name in CANDIDATES {
        let set = Params::named(name, OptIn::SecureOnly)?;
        let memory = |e: &IntegersError| matches!(e, IntegersError::Memory { .. });
        let next = best(vec![set.clone()]);
        // Without bootstrapping fewer slots save next to nothing.
        if minimize == Minimize::Memory && next.as_ref().is_ok_and(|next| next.bootstraps) {
            large.push(set.clone());
        }
        match next {
            Ok(next) if found.as_ref().is_none_or(|best| least(&next) < least(best)) => {
                found = Some(next);
            }
            Ok(_) => {}
            Err(error) if error.depends_on_set() => {
                large.extend(memory(&error).then_some(set));
                refused = refused.filter(memory).or(Some(error));
            }
            Err(error) => return Err(error),
        }
    }
    if minimize != Minimize::Memory {
        let own = found.iter().filter(|best| best.bootstraps).map(|best| best.params.clone());
        large.extend(own);
    }
    let fewer = fewer_slots(&large, longest);
    let fewer = if fewer.is_empty() { None } else { best(fewer).ok() };
    match (found, fewer) {
        (Some(found), Some(fewer)) if least(&fewer) >= least(&found) => Ok(found),
        (_, Some(fewer)) => Ok(fewer),
        (Some(found), None) => Ok(found),
        (None, None) => refused.map_or_else(|| best(Vec::new()), Err),
    }
}

/// The sets that use no more slots than the longest argument needs, alone or, in a row, with 8
/// digits side by side.
fn fewer_slots(sets: &[Params], longest: usize) -> Vec<Params> {
    let of = |set: &Params| {
        let mut fewer: Vec<Params> = [longest, longest.saturating_mul(16)]
            .into_iter()
            .filter_map(|values| set.with_slots_for(values))
            .collect();
        fewer.dedup_by_key(|set| set.slots());
        fewer
    };
    sets.iter().flat_map(of).collect()
}

/// What is minimized.
pub(crate) fn cost(minimize: Minimize, x: &Estimate) -> f64 {
    match minimize {
        Minimize::Memory => x.memory_bytes() as f64,
        _ => x.total().seconds,
    }
}
