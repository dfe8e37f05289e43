//! The server's side once more, writing down what happens to the noise.

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

/// The evaluator of a server, writing down what it does.
type Recording = Recorded<ServerEvaluator>;

/// A ciphertext in the care of an [`Explainer`].
pub type RecordedValue = everlevel_circuit::Value<RecordedCiphertext<Ciphertext>>;

/// A server whose values remember how they came to be: it computes as the [`Server`] that it was
/// made of does, bit by bit, and tells for any result which operations led to it, with the level,
/// the modulus consumed, the bound on the noise and the probability of failure of each.
///
/// For development: it keeps a log of all operations for as long as it lives, and prepares the
/// tables of bootstrapping anew.
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

operations!(Explainer, RecordedValue);

impl Server {
    /// The same server, writing down what every operation does to level and noise.
    ///
    /// # Errors
    /// Those of planning its bootstrapping, which worked before.
    pub fn explainer(&self) -> Result<Explainer, Error> {
        Explainer::new(self, Recorded::new(self.evaluator.clone(), self.params()))
    }

    /// The same, measuring the noise of every result with the secret key: for the key's owner. The
    /// measurements depend on the key and must not be shared.
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

    /// The evaluator below, for any circuit.
    pub fn scheme(&self) -> &Recording {
        &self.scheme
    }

    /// The session below, for custom operations.
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

    /// Bootstraps now, and names the stages of the rows that this takes.
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

    /// How `x`, as it is now, came to be.
    pub fn explain(&self, x: &RecordedValue) -> Explanation {
        self.explain_all([x])
    }

    /// How all of `xs` came to be: what they share once.
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
