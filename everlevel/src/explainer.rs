//! A server that records the effect of each operation on the noise.

use std::sync::Arc;

use everlevel_bgv::Ciphertext;
use everlevel_circuit::Session;
use everlevel_circuit::bootstrap::{Bootstrapper, StageObserver, StageReport};
use everlevel_circuit::expression::{Program, Values};
use everlevel_scheme::{Explanation, Params, Recorded, RecordedCiphertext};

use crate::error::Error;
use crate::keys::ServerEvaluator;
use crate::operations::operations;
use crate::server::Server;

/// The evaluator of a server, with a log of its operations.
type Recording = Recorded<ServerEvaluator>;

/// A ciphertext that an [`Explainer`] manages.
pub type RecordedValue = everlevel_circuit::Value<RecordedCiphertext<Ciphertext>>;

/// A server that can explain its values: it returns the same results as the [`Server`] that it was
/// made from, bit by bit, and lists for any result the operations that led to it, with the level,
/// the consumed modulus, the noise bound and the probability of failure of each.
///
/// It is meant for development: it keeps a log of all operations for its lifetime, and computes the
/// tables of bootstrapping again.
///
/// ```
/// use everlevel::{Client, OptIn, Params};
///
/// // Insecure: a toy ring.
/// let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch)?;
/// let mut rng = everlevel::system_rng()?;
/// let client = Client::new(&params, &mut rng);
/// let explainer = client.server(&mut rng)?.explainer()?;
/// let x = explainer.load(client.encrypt_modular(&[2, 7], &mut rng)?, "x");
/// let y = explainer.mul(&x, &x)?;
/// let told = explainer.explain(&y);
/// assert_eq!(told.steps.len(), 2);
/// println!("{told}");
/// # Ok::<(), everlevel::Error>(())
/// ```
pub struct Explainer {
    scheme: Arc<Recording>,
    bootstrapper: Option<Arc<Bootstrapper<Recording>>>,
    session: Session<Recording>,
}

operations!([] Explainer, RecordedValue);

impl Server {
    /// The same server with a log of the effect of every operation on level and noise.
    ///
    /// # Errors
    /// Those of planning its bootstrapping, which succeeded before.
    pub fn explainer(&self) -> Result<Explainer, Error> {
        Explainer::new(self, Recorded::new(self.evaluator.clone(), self.params()))
    }

    /// The same, with the noise of every result measured with the secret key: for the owner of the
    /// key only. The measurements depend on the key and must not be shared.
    ///
    /// # Errors
    /// As [`Server::explainer`].
    #[cfg(feature = "diagnostics")]
    pub fn measuring_explainer(
        &self,
        secret: Arc<everlevel_bgv::SecretKey>,
    ) -> Result<Explainer, Error> {
        let measure = move |x: &Ciphertext| secret.measure_noise(x).ok();
        Explainer::new(
            self,
            Recorded::new(self.evaluator.clone(), self.params()).with_probe(measure),
        )
    }
}

impl Explainer {
    fn new(server: &Server, traced: Recording) -> Result<Self, Error> {
        let scheme = Arc::new(traced);
        let plan = server.bootstrapper.as_ref().map(|b| b.plan().clone());
        let bootstrapper =
            plan.map(|plan| Bootstrapper::new(&*scheme, plan).map(Arc::new)).transpose()?;
        let session = match &bootstrapper {
            Some(bootstrapper) => Session::new(scheme.clone(), bootstrapper.clone()),
            None => Session::leveled(scheme.clone()),
        };
        Ok(Explainer { scheme, bootstrapper, session })
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        self.scheme.inner().params()
    }

    /// The underlying evaluator, for any circuit.
    pub fn scheme(&self) -> &Recording {
        &self.scheme
    }

    /// The underlying session, for custom operations.
    pub fn session(&self) -> &Session<Recording> {
        &self.session
    }

    /// Wraps a ciphertext so that the session can refresh it automatically, under a name.
    pub fn load(&self, x: Ciphertext, name: &str) -> RecordedValue {
        self.session.share(self.scheme.input(x, name))
    }

    /// Runs a program, as [`Server::run`].
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn run(
        &self,
        program: &Program,
        inputs: &Values<Recording>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Values<Recording>, Error> {
        Ok(program.run(&self.session, inputs, progress)?)
    }

    /// Bootstraps a value, and names the stages in the log.
    ///
    /// # Errors
    /// As [`Server::bootstrap`].
    pub fn bootstrap(&self, x: &RecordedValue) -> Result<RecordedValue, Error> {
        let bootstrapper =
            self.bootstrapper.as_ref().ok_or(everlevel_circuit::CircuitError::NoBootstrapping)?;
        self.scheme.end_stage("before");
        let mut stages = Stages(&self.scheme);
        Ok(self.session.share(bootstrapper.bootstrap_observed(
            &self.scheme,
            &x.get(),
            &mut stages,
        )?))
    }

    /// The operations that led to the current ciphertext of `x`.
    pub fn explain(&self, x: &RecordedValue) -> Explanation {
        self.explain_all([x])
    }

    /// The operations that led to all of `xs`; shared ones are listed once.
    pub fn explain_all<'x>(&self, xs: impl IntoIterator<Item = &'x RecordedValue>) -> Explanation {
        let current: Vec<_> = xs.into_iter().map(RecordedValue::get).collect();
        self.scheme.explain_all(current.iter().map(AsRef::as_ref))
    }
}

/// Names the stages of a bootstrapping in the log.
struct Stages<'a>(&'a Recording);

impl StageObserver for Stages<'_> {
    fn stage_done(&mut self, report: &StageReport) {
        self.0.end_stage(report.stage.name());
    }
}
