//! The levels at which the arguments of a program are encrypted.
//!
//! A program that needs no bootstrapping leaves some of the modulus over, and its arguments may
//! begin that much lower: uploads are smaller, and operations faster. Levels are found by
//! rehearsals, so that keys, cost and refusals are those of the levels that are then used.
//! Where the server bootstraps, arguments are encrypted at the top: lower ones would be
//! bootstrapped sooner.

use std::cmp::Reverse;

use everlevel_integers::Estimate;
use everlevel_scheme::{Level, Params};

/// The most rehearsals that look for lower levels of single arguments.
const TRIED: usize = 64;

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

/// One level for all of `count` arguments: the lowest at which the program fits and takes no more
/// than at the top, or the top if it bootstraps. With less capacity, tables are evaluated in ways
/// that take more products for fewer levels.
///
/// `all` rehearses arguments at these levels of each origin that they may have, with the keys for
/// all of them; `hardest` only those with the most noise.
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
    let Ok(before) = hardest(&at(top)) else { return Ok(found) };
    let (mut least, mut most) = (0, top);
    while least < most {
        let level = (least + most) / 2;
        match hardest(&at(level)) {
            Ok(next) if takes_no_more(&next, &before) => most = level,
            _ => least = level + 1,
        }
    }
    if most == top {
        return Ok(found);
    }
    // Levels of products follow from the noise, so less of it need not fit.
    match all(&at(most)) {
        Ok(next) if takes_no_more(&next, &found) => Ok(next),
        _ => Ok(found),
    }
}

/// The same program with lower levels for some of its arguments, where it takes no more: the
/// largest arguments first, as far as a number of rehearsals goes. `hardest` and `all` as for
/// [`common`].
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
                Ok(next) if takes_no_more(&next, &before) => {
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
        Ok(next) if takes_no_more(&next, &found) => next,
        _ => found,
    }
}

/// Whether a program takes no more products, memory and, but for a hundredth, time.
fn takes_no_more(x: &Estimate, than: &Estimate) -> bool {
    let (own, most) = (x.total(), than.total());
    own.products <= most.products
        && own.seconds <= 1.01 * most.seconds
        && x.memory_bytes() <= than.memory_bytes()
}
