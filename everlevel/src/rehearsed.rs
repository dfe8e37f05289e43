//! Whether a server can compute a program on given columns, before anything is computed.

use std::collections::BTreeMap;

use everlevel_bgv::Ciphertext;
use everlevel_integers::{Column, Rehearsal};
use everlevel_ring::Engine;
use everlevel_scheme::{KeyPlan, NoOp};

use crate::error::Error;
use crate::server::Server;

/// Whether a server relinearizes at every level by the gadget of that level. General keys do, and
/// those of one program need not.
pub(crate) fn has_all_gadgets<E: Engine>(server: &Server<E>) -> bool {
    server.keys().planned().covers(&KeyPlan::relinearization(server.params()))
}

/// Whether a server has keys and capacity for every operation: it bootstraps, and relinearizes at
/// every level by the gadget of that level. Fewer keys can serve all levels, too, but those of one
/// program that begins at the top do so as well, and may lack automorphisms.
pub(crate) fn is_general<E: Engine>(server: &Server<E>) -> bool {
    server.bootstrapper.is_some() && has_all_gadgets(server)
}

/// A rehearsal of a server, with the keys that it has, and no others.
///
/// # Errors
/// Those of planning its bootstrapping.
pub(crate) fn rehearsal<E: Engine>(server: &Server<E>) -> Result<Rehearsal, Error> {
    let plan = server.bootstrapper.as_ref().map(|found| found.plan().clone());
    let scheme = NoOp::blank(server.params()).holding(server.keys().planned());
    #[cfg(feature = "unstable")]
    let scheme = {
        let keys = server.keys().clone();
        scheme.cancelled_by(move || keys.is_cancelled())
    };
    Ok(Rehearsal::on(scheme, plan)?)
}

#[cfg(feature = "unstable")]
impl<E: Engine> Server<E> {
    /// Whether keys and capacity suffice for every operation on typed integers: it bootstraps, and
    /// relinearizes at every level.
    pub fn is_general(&self) -> bool {
        is_general(self)
    }

    /// A rehearsal of this server, with the keys that it has, and no others: it refuses what the
    /// server would refuse. None where keys and capacity suffice for every operation
    /// ([`Server::is_general`]).
    ///
    /// # Errors
    /// Those of planning its bootstrapping.
    pub fn rehearsal(&self) -> Result<Option<Rehearsal>, Error> {
        (!is_general(self)).then(|| rehearsal(self)).transpose()
    }
}

/// Whether a program does the same on two parts of its arguments: on columns of equal lengths, with
/// equal digits and public data.
pub(crate) fn alike<K: Ord, E: Engine>(
    part: &BTreeMap<K, Column<Ciphertext<E>>>,
    other: &BTreeMap<K, Column<Ciphertext<E>>>,
) -> bool {
    let same = |(x, y): (&Column<Ciphertext<E>>, &Column<Ciphertext<E>>)| {
        x.length() == y.length() && x.is_like(y, |x, y| x.meta() == y.meta())
    };
    part.len() == other.len()
        && part.keys().eq(other.keys())
        && part.values().zip(other.values()).all(same)
}
