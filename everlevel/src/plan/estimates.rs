//! The cost of a plan on a parameter set, and the best set for it.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use everlevel_integers::{Estimate, EstimatedStep, IntegersError, Rehearsal, best_estimate};
use everlevel_scheme::{Level, OptIn, Params};

use super::Plan;
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
        Ok(self.known_on(params)?.1)
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

    /// The same among sets on which keys, arguments and results take at most the given number of
    /// bytes.
    ///
    /// # Errors
    /// [`IntegersError::Memory`], with both figures, if there is none.
    pub fn params_within(&self, minimize: Minimize, memory_bytes: u64) -> Result<Params, Error> {
        let longest = self.inputs.iter().map(|x| x.length).max().unwrap_or(1);
        let best = |sets: Vec<Params>| self.best(sets, minimize, memory_bytes);
        let found = best_of_secure(longest, minimize, best)?;
        let params = found.1.params.clone();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).push(found);
        Ok(params)
    }

    pub(crate) fn known_on(&self, params: &Params) -> Result<(Level, Estimate), Error> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().iter().find(|(_, x)| x.params.same(params)) {
            return Ok(found.clone());
        }
        let found = self.best([params.clone()], Minimize::Latency, u64::MAX)?;
        lock().push(found.clone());
        Ok(found)
    }

    /// The cost in a rehearsal, with arguments whose digits are encrypted at a level, and whose
    /// indexes at levels of their own, if they have one.
    fn rehearsed(
        &self,
        rehearsal: &Rehearsal,
        level: Level,
        indexes: &[Option<Level>],
    ) -> Result<Estimate, IntegersError> {
        let (ints, slots) = (rehearsal.integers()?, rehearsal.params().slots());
        let blocks = self.blocks(slots)?;
        let mut inputs = BTreeMap::new();
        for (x, index) in self.inputs.iter().zip(indexes) {
            let length = x.length.min(slots);
            let column = rehearsal.column_with_index(x.kind, length, *index, |s, zero, own| {
                s.encrypt_at(zero, own.unwrap_or(level))
            })?;
            inputs.insert(x.name.as_str(), column);
        }
        let given = Estimate::size_of(rehearsal.params(), inputs.values());
        let (mut steps, mut before) = (Vec::new(), rehearsal.spent());
        let results = self.evaluated(&ints, Room::ONE, &inputs, |name, interval| {
            let after = rehearsal.spent();
            let counted = after - before;
            before = after;
            steps.push(EstimatedStep::new(name, Some(interval), counted));
        });
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
    /// which the program fits, where uploads are smallest and products fastest.
    fn leveled(&self, rehearsal: &Rehearsal) -> Result<(Level, Estimate), IntegersError> {
        let params = rehearsal.params();
        let top = params.chain().top();
        let indexes = self.inputs.iter().map(|x| x.index_level(params));
        let indexes = indexes.collect::<Result<Vec<_>, IntegersError>>()?;
        let mut found = (top, self.rehearsed(rehearsal, top, &indexes)?);
        let (mut least, mut most) = (0, top.0);
        while !found.1.bootstraps && least < most {
            let level = Level((least + most) / 2);
            match rehearsal.again().and_then(|again| self.rehearsed(&again, level, &indexes)) {
                Ok(estimate) => {
                    most = level.0;
                    found = (level, estimate);
                }
                Err(_) => least = level.0 + 1,
            }
        }
        Ok(found)
    }

    /// The better of both layouts of comparisons, if they differ.
    fn laid_out(
        &self,
        rehearsal: &Rehearsal,
        cost: impl Fn(&Estimate) -> f64,
    ) -> Result<(Level, Estimate), IntegersError> {
        let apart = self.leveled(rehearsal);
        // Side by side in a row, half of the slots, there is room for two digits at least.
        let slots = rehearsal.params().slots();
        if self.inputs.iter().all(|x| 4 * x.length > slots) {
            return apart;
        }
        let beside =
            rehearsal.again().and_then(|again| self.leveled(&again.with_side_by_side(true)));
        match (apart, beside) {
            (Ok(apart), Ok(beside)) if cost(&beside.1) < cost(&apart.1) => Ok(beside),
            (Err(_), Ok(beside)) => Ok(beside),
            (apart, _) => apart,
        }
    }

    fn best(
        &self,
        candidates: impl IntoIterator<Item = Params>,
        minimize: Minimize,
        memory_bytes: u64,
    ) -> Result<(Level, Estimate), IntegersError> {
        let mut levels = Vec::new();
        let cost = |x: &Estimate| cost(minimize, x);
        let rehearse = |rehearsal: &Rehearsal| {
            let (level, estimate) = self.laid_out(rehearsal, cost)?;
            levels.push((rehearsal.params().clone(), level));
            estimate.within(memory_bytes)
        };
        let best = best_estimate(candidates, rehearse, cost)?;
        let level = levels.iter().rev().find(|(params, _)| params.same(&best.params));
        Ok((level.map_or(best.params.chain().top(), |(_, level)| *level), best))
    }
}

/// The best of the sets with 128 bits of security for arguments of at most `longest` entries, where
/// `best` is the best of some sets. If it bootstraps, the same set with fewer used slots is a
/// candidate as well, and so are those of sets that take too much memory.
pub(crate) fn best_of_secure(
    longest: usize,
    minimize: Minimize,
    mut best: impl FnMut(Vec<Params>) -> Result<(Level, Estimate), IntegersError>,
) -> Result<(Level, Estimate), IntegersError> {
    let least = |x: &(Level, Estimate)| cost(minimize, &x.1);
    let mut found: Option<(Level, Estimate)> = None;
    let (mut large, mut refused) = (Vec::new(), None);
    for name in CANDIDATES {
        let set = Params::named(name, OptIn::SecureOnly)?;
        let memory = |e: &IntegersError| matches!(e, IntegersError::Memory { .. });
        match best(vec![set.clone()]) {
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
    // Without bootstrapping fewer slots save next to nothing.
    let own = found.iter().filter(|(_, best)| best.bootstraps).map(|(_, best)| best.params.clone());
    large.extend(own);
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
