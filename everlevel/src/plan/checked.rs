//! Whether a server can run a plan on given arguments, before anything is computed.

use std::collections::BTreeMap;

use everlevel_bgv::Ciphertext;
use everlevel_integers::{Column, Estimate, Origin, Rehearsal};
use everlevel_scheme::Params;

use super::Plan;
use super::levels::level_of;
use crate::compute::Room;
use crate::error::Error;
use crate::rehearsed::{alike, is_general, rehearsal};
use crate::server::Server;

impl Plan {
    /// Refuses what the server could not compute on these parts of the arguments, unless all of
    /// them were made as the plan assumes.
    pub(super) fn check(
        &self,
        server: &Server,
        estimate: &Estimate,
        parts: &[BTreeMap<&str, Column<Ciphertext>>],
    ) -> Result<(), Error> {
        if is_general(server) {
            return Ok(());
        }
        // A server that bootstraps keeps capacity for that, so that levels may be others than those
        // of a plan that does not.
        if server.bootstrapper.is_some() == estimate.bootstraps
            && server.keys().planned().covers(&estimate.keys)
            && self.made(server.params(), estimate, parts)?
        {
            return Ok(());
        }
        let mut rehearsed: Vec<&BTreeMap<&str, Column<Ciphertext>>> = Vec::new();
        for part in parts {
            // The parts of most arguments are alike.
            if rehearsed.iter().any(|&known| alike(known, part)) {
                continue;
            }
            let rehearsal = rehearsal(server)?
                .with_side_by_side(estimate.side_by_side)
                .with_blocks(estimate.in_blocks);
            let mut pretended = BTreeMap::new();
            for (&name, x) in part {
                pretended.insert(name, rehearsal.like(x, |c: &Ciphertext| *c.meta())?);
            }
            self.evaluated(&rehearsal.integers()?, Room::ONE, &pretended, |_, _| ())?;
            rehearsed.push(part);
        }
        Ok(())
    }

    /// Whether all arguments were made in one of the ways that the keys of the plan are for:
    /// encrypted with the secret key at the levels of the plan, or so at the top and switched down.
    fn made(
        &self,
        params: &Params,
        estimate: &Estimate,
        parts: &[BTreeMap<&str, Column<Ciphertext>>],
    ) -> Result<bool, Error> {
        let rehearsal = Rehearsal::new(params, false)?;
        let made = |origin: Origin| -> Result<bool, Error> {
            for x in &self.inputs {
                let (length, level) = (x.length.min(params.slots()), level_of(estimate, &x.name));
                let index = x.index_level(params)?;
                let own = rehearsal.argument(x.kind, length, (origin, level), index)?;
                let mut found = parts.iter().filter_map(|part| part.get(x.name.as_str()));
                if !found.all(|found| own.is_like(found, |a, b| a.meta() == b.meta())) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        Ok(made(Origin::Secret)? || made(Origin::Above)?)
    }
}
