//! Programs in text form: their keys, and their run on a server.

use std::collections::BTreeMap;
use std::sync::Arc;

use everlevel_circuit::bootstrap::Bootstrapper;
use everlevel_circuit::expression::{Program, Values};
use everlevel_circuit::{CircuitError, Session};
use everlevel_ring::Engine;
use everlevel_scheme::{KeyPlan, NoOp, Params, Plaintext};

use crate::error::Error;
use crate::keys::ServerEvaluator;
use crate::planner::KeyPlanner;
use crate::server::Server;

/// The server keys that a program needs on fresh inputs, and those of bootstrapping if the set
/// supports it, determined by a run on the no-op scheme.
///
/// # Errors
/// A set whose bootstrapping does not fit its modulus, a program without inputs, errors of its
/// operations.
pub fn program_keys(params: &Params, program: &Program) -> Result<KeyPlan, Error> {
    let scheme = Arc::new(NoOp::blank(params));
    let zero = scheme.encrypt(&Plaintext::encode(params, &[])?)?;
    let (auto, bootstrapping) = match params.spec().bootstrap {
        None => (Session::leveled(scheme.clone()), KeyPlan::default()),
        Some(_) => {
            let planner = KeyPlanner::new(params)?;
            let bootstrapper = Bootstrapper::new(&*scheme, planner.bootstrap_plan().clone())?;
            // Inputs may arrive exhausted.
            (Session::new(scheme.clone(), Arc::new(bootstrapper)), planner.keys())
        }
    };
    let inputs: BTreeMap<_, _> =
        program.inputs().map(|name| (name.to_string(), auto.share(zero.clone()))).collect();
    program.run(&auto, &inputs, &mut |_| ()).map_err(|e| match e {
        CircuitError::Empty { .. } => {
            CircuitError::MissingInput { name: "nothing".into(), given: "none".into() }
        }
        e => e,
    })?;
    Ok(scheme.key_plan().merge(&bootstrapping))
}

impl<E: Engine> Server<E> {
    /// Runs a program on named values, all with the same plaintext modulus, and returns its outputs
    /// by name. `progress` is called with the number of finished statements.
    ///
    /// # Errors
    /// A missing input or key, values of other parameters.
    pub fn run(
        &self,
        program: &Program,
        inputs: &Values<ServerEvaluator<E>>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Values<ServerEvaluator<E>>, Error> {
        Ok(program.run(&self.session, inputs, progress)?)
    }
}
