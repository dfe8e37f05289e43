//! Whether a server can compute a program on given columns, before anything is computed.

use everlevel_bgv::Ciphertext;
use everlevel_integers::{Column, Rehearsal};
use everlevel_ring::Engine;
use everlevel_scheme::{KeyPlan, Level, Meta, NoOp, Params};

use crate::error::Error;
use crate::server::Server;

/// Whether the keys of a server relinearize at every level. General keys do, and those of one
/// program need not.
pub(crate) fn relinearizes<E: Engine>(server: &Server<E>) -> bool {
    server.keys().plan().covers(&KeyPlan::relinearization(server.params()))
}

/// A rehearsal of a server, with the keys that it has, and no others.
///
/// # Errors
/// Those of planning its bootstrapping.
pub(crate) fn rehearsal<E: Engine>(server: &Server<E>) -> Result<Rehearsal, Error> {
    let plan = server.bootstrapper.as_ref().map(|found| found.plan().clone());
    let scheme = NoOp::blank(server.params()).holding(server.keys().plan());
    #[cfg(feature = "unstable")]
    let scheme = {
        let keys = server.keys().clone();
        scheme.cancelled_by(move || keys.is_cancelled())
    };
    Ok(Rehearsal::on(scheme, plan)?)
}

impl<E: Engine> Server<E> {
    /// A rehearsal of this server, with the keys that it has, and no others: it refuses what the
    /// server would refuse. None where keys and capacity suffice for every operation, as the server
    /// bootstraps and relinearizes at every level.
    ///
    /// # Errors
    /// Those of planning its bootstrapping.
    #[cfg(feature = "unstable")]
    pub fn rehearsal(&self) -> Result<Option<Rehearsal>, Error> {
        let general = self.bootstrapper.is_some() && relinearizes(self);
        (!general).then(|| rehearsal(self)).transpose()
    }
}

/// How the arguments of a plan may have been made so that its keys are for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// Encrypted with the secret key, at the level of the plan.
    Encrypted,
    /// Encrypted so at the top, and switched down.
    Lowered,
}

impl Made {
    fn meta(self, params: &Params, level: Level) -> Meta {
        let t = params.plaintext_ring().modulus(1).wide();
        let fresh = |level| params.noise().modeled(level, 1, |model| model.fresh_secret(t));
        match self {
            Made::Encrypted => fresh(level),
            Made::Lowered => params.noise().mod_switch(&fresh(params.chain().top()), level),
        }
    }

    /// Whether this has made a column, with digits at a level and an index at another one.
    pub(crate) fn made(
        self,
        params: &Params,
        x: &Column<Ciphertext>,
        (level, index): (Level, Option<Level>),
    ) -> bool {
        let alike = |own: &Meta, found: &Meta| {
            (own.level, own.exponent, own.factor) == (found.level, found.exponent, found.factor)
                && own.noise.total_cmp(&found.noise).is_eq()
        };
        let digit = self.meta(params, level);
        let truth = index.map(|level| Made::Encrypted.meta(params, level));
        x.values().all(|v| alike(&digit, v.get().meta()))
            && x.index_values().all(|v| truth.is_some_and(|own| alike(&own, v.get().meta())))
    }
}
