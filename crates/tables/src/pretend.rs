//! The no-op scheme in the place of a server.

use std::sync::Arc;

use everlevel::lab::{Bootstrapper, NoOp, Session};
use everlevel::{Error, Params, bootstrap_plan};

/// A session on the no-op scheme of a set, which bootstraps if the set does.
pub(crate) fn session(params: &Params, scheme: Arc<NoOp>) -> Result<Session<NoOp>, Error> {
    Ok(match params.spec().bootstrap {
        None => Session::leveled(scheme),
        Some(_) => {
            let bootstrapper = Bootstrapper::new(&*scheme, bootstrap_plan(params)?)?;
            Session::new(scheme, Arc::new(bootstrapper))
        }
    })
}
