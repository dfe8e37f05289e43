//! The levels at which the arguments of a program are encrypted.
//!
//! A program that needs no bootstrapping leaves some of the modulus over, and its arguments may
//! begin that much lower: uploads are smaller, and operations faster. Levels are found by
//! rehearsals, so that keys, cost and refusals are those of the levels that are then used.

use std::cmp::Reverse;

use everlevel_integers::Estimate;
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Arithmetic, Level, NoOp, Params, Plaintext, SchemeError};

/// The most rehearsals that look for lower levels of single arguments.
const TRIED: usize = 64;

/// What made the digits of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Encryption under the secret key.
    Secret,
    /// Encryption under the public key, which has more noise.
    #[cfg(feature = "unstable")]
    Public,
    /// A switch from the top, for arguments that were not encrypted for the plan.
    Above,
}

impl Origin {
    /// A digit at a level.
    pub(crate) fn digit(
        self,
        scheme: &NoOp,
        zero: &Plaintext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        match self {
            Origin::Secret => scheme.encrypt_at(zero, level),
            #[cfg(feature = "unstable")]
            Origin::Public => scheme.encrypt_publicly_at(zero, level),
            Origin::Above => scheme.mod_switch_to(&scheme.encrypt(zero)?, level),
        }
    }

    /// A truth value of an index, which has a level of its own.
    pub(crate) fn truth(
        self,
        scheme: &NoOp,
        zero: &Plaintext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        match self {
            #[cfg(feature = "unstable")]
            Origin::Public => scheme.encrypt_publicly_at(zero, level),
            Origin::Secret | Origin::Above => scheme.encrypt_at(zero, level),
        }
    }
}

/// The levels of arguments of these names in an estimate; the top for those that have no digits to
/// be encrypted.
pub(crate) fn levels_of<'a>(
    estimate: &Estimate,
    names: impl IntoIterator<Item = &'a str>,
) -> Vec<Level> {
    names.into_iter().map(|name| level_of(estimate, name)).collect()
}

/// The level of the argument of a name.
pub(crate) fn level_of(estimate: &Estimate, name: &str) -> Level {
    let found = estimate.inputs.iter().find(|x| x.name == name).and_then(|x| x.level);
    found.unwrap_or(estimate.params.chain().top())
}

/// One level for all of `count` arguments: the lowest at which the program fits, or the top if it
/// bootstraps. `all` rehearses arguments at these levels of each origin that they may have, with
/// the keys for all of them; `hardest` only those with the most noise.
///
/// # Errors
/// Those of `all` at the top.
pub(crate) fn common<E>(
    params: &Params,
    count: usize,
    mut hardest: impl FnMut(&[Level]) -> Result<Estimate, E>,
    mut all: impl FnMut(&[Level]) -> Result<Estimate, E>,
) -> Result<Estimate, E> {
    let top = params.chain().top().0;
    let at = |level: usize| vec![Level(level); count];
    let found = all(&at(top))?;
    if found.bootstraps {
        return Ok(found);
    }
    let (mut least, mut most) = (0, top);
    while least < most {
        let level = (least + most) / 2;
        match hardest(&at(level)) {
            Ok(_) => most = level,
            Err(_) => least = level + 1,
        }
    }
    // Levels of products follow from the noise, so less of it need not fit.
    Ok(if most < top { all(&at(most)).unwrap_or(found) } else { found })
}

/// The same program with lower levels for some of its arguments, where neither memory nor, but for
/// a hundredth, time grows: the largest arguments first, as far as a number of rehearsals goes. `hardest` and `all` as
/// for [`common`].
pub(crate) fn single<E>(
    found: Estimate,
    names: &[&str],
    mut hardest: impl FnMut(&[Level]) -> Result<Estimate, E>,
    all: impl FnOnce(&[Level]) -> Result<Estimate, E>,
) -> Estimate {
    let levels = levels_of(&found, names.iter().copied());
    if found.bootstraps || levels.len() < 2 {
        return found;
    }
    let Ok(mut before) = hardest(&levels) else { return found };
    let bytes = |i: usize| found.inputs.iter().find(|x| x.name == names[i]).map_or(0, |x| x.bytes);
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|i| Reverse(bytes(*i)));
    let (mut lower, mut left) = (levels.clone(), TRIED);
    for i in order {
        let (mut least, mut most) = (0, lower[i].0);
        while least < most && left > 0 {
            left -= 1;
            let level = (least + most) / 2;
            let mut tried = lower.clone();
            tried[i] = Level(level);
            match hardest(&tried) {
                Ok(next) if costs_no_more(&next, &before) => {
                    (most, lower, before) = (level, tried, next);
                }
                _ => least = level + 1,
            }
        }
    }
    if lower == levels {
        return found;
    }
    match all(&lower) {
        Ok(next) if costs_no_more(&next, &found) => next,
        _ => found,
    }
}

fn costs_no_more(x: &Estimate, than: &Estimate) -> bool {
    x.memory_bytes() <= than.memory_bytes() && x.total().seconds <= 1.01 * than.total().seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use everlevel_integers::Type;
    use everlevel_scheme::OptIn;

    /// What is used late is encrypted lower than what is compared first, and what is not used at
    /// all at the lowest level.
    #[test]
    fn arguments_have_levels_of_their_own() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let plan = Plan::trace(|g| {
            let [first, late, _] =
                ["first", "late", "never"].map(|name| g.input(name, Type::U8, 4));
            g.output("y", &first.lt(9).select(&late, 7));
            Ok(())
        });
        let estimate = plan.unwrap().explain(&params).unwrap();
        assert!(!estimate.bootstraps);
        let [first, late, never] = ["first", "late", "never"].map(|x| level_of(&estimate, x));
        let top = params.chain().top();
        assert!(never < late && late < first && first < top, "{estimate}");
        assert_eq!(level_of(&estimate, "unknown"), top);
        let bytes = |i: usize| estimate.inputs[i].bytes;
        assert!(bytes(2) < bytes(1) && bytes(1) < bytes(0), "{estimate}");
    }
}
