//! The truth values of indexes that conditions on a block need.

use std::cell::RefCell;
use std::collections::HashMap;

use everlevel::Level;
use everlevel_integers::Column;

use crate::error::TablesError;

/// The most truth values that are kept.
const MOST: usize = 128;
/// How often a truth value is read before it is kept.
const TWICE: usize = 2;

/// A truth value: its column, and its level if it is lowered.
type Place = (usize, Option<Level>);

/// Truth values that were read. Two conditions read theirs for themselves, so that an index is not
/// in memory as a whole; what more of them need, as those of many groups do, is kept as far as
/// there is room.
pub(crate) struct Truths<C>(RefCell<HashMap<Place, Seen<C>>>);

/// How often a truth value was read, and itself if it is kept.
struct Seen<C> {
    times: usize,
    kept: Option<Column<C>>,
}

impl<C> Default for Truths<C> {
    fn default() -> Self {
        Truths(RefCell::default())
    }
}

impl<C> Truths<C> {
    /// A truth value, which is read unless it was kept.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn get(
        &self,
        place: Place,
        read: impl FnOnce() -> Result<Column<C>, TablesError>,
    ) -> Result<Column<C>, TablesError> {
        if let Some(Seen { kept: Some(known), .. }) = self.0.borrow().get(&place) {
            return Ok(known.clone());
        }
        let found = read()?;
        let mut all = self.0.borrow_mut();
        let room = all.values().filter(|seen| seen.kept.is_some()).count() < MOST;
        let seen = all.entry(place).or_insert(Seen { times: 0, kept: None });
        seen.times += 1;
        if room && seen.times > TWICE {
            seen.kept = Some(found.clone());
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use everlevel::{OptIn, Params, Plaintext};
    use everlevel_integers::{Encoded, Type};

    use super::*;

    #[test]
    fn what_many_conditions_need_is_read_three_times() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let encoded = Encoded::new(&[0, 1], Type::Bool, params.slots()).unwrap();
        let encode = |slots: &[u64]| -> Result<Plaintext, TablesError> {
            Ok(Plaintext::encode_modulo(&params, slots, 2)?)
        };
        let column: Column<Plaintext> = encoded.encrypt(encode).unwrap();
        let (truths, reads) = (Truths::default(), RefCell::new(HashMap::new()));
        let read = |place: Place| {
            *reads.borrow_mut().entry(place).or_insert(0) += 1;
            Ok(column.clone())
        };
        let most = |reads: &HashMap<Place, usize>| reads.values().copied().max();
        for round in 1..=9 {
            (0..MOST).for_each(|i| drop(truths.get((i, None), || read((i, None))).unwrap()));
            assert_eq!(most(&reads.borrow()), Some(round.min(TWICE + 1)), "{round}");
        }
        // There is no room for more, at another level either.
        for place in [(MOST, None), (0, Some(Level(1)))] {
            (0..9).for_each(|_| drop(truths.get(place, || read(place)).unwrap()));
            assert_eq!(reads.borrow()[&place], 9);
        }
        // An error is passed on, and nothing is counted.
        let truths: Truths<Plaintext> = Truths::default();
        let failed = || Err(TablesError::Data { problem: "no file".into() });
        (0..9).for_each(|_| assert!(truths.get((0, None), failed).is_err()));
        assert!(truths.0.borrow().is_empty());
    }
}
