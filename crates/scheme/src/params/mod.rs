//! Parameters: plain data ([`ParamsSpec`]) and their validated, immutable form ([`Params`]).

mod named;
mod products;
mod security;
mod used;

use std::fmt;
use std::sync::{Arc, OnceLock};

use everlevel_ring::{Backend, Cpu, GaloisElement, PlaintextRing, Ring, SlotShape};

use crate::error::SchemeError;
use crate::noise::{Events, NoiseTracker, raise_digit_count};
use crate::spec::{BootstrapMode, BootstrapSpec, Level, ModulusChain, ParamsSpec, SetId};
use security::MIN_SECURITY_BITS;

pub use named::{names, ntru_names, spec, specs};
pub use security::{KeySecurity, SecurityReport, largest_modulus};

/// Which parameter sets are accepted. Sets below 128 bits of security, and sets whose bootstrapping
/// fails with a probability above 2^-40, require separate opt-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptIn {
    /// Only sets with at least 128 bits of security for every key, and with rare failures.
    SecureOnly,
    /// Also sets below 128 bits, for research and tests.
    InsecureResearch,
    /// Also sets whose bootstrapping often gives wrong values.
    AllowFailures,
    /// Both.
    InsecureAllowFailures,
}

impl OptIn {
    /// The opt-in with these two permissions.
    pub const fn new(insecure_research: bool, allow_failures: bool) -> Self {
        match (insecure_research, allow_failures) {
            (false, false) => OptIn::SecureOnly,
            (true, false) => OptIn::InsecureResearch,
            (false, true) => OptIn::AllowFailures,
            (true, true) => OptIn::InsecureAllowFailures,
        }
    }

    /// Whether sets below 128 bits are acceptable.
    pub const fn insecure(self) -> bool {
        matches!(self, OptIn::InsecureResearch | OptIn::InsecureAllowFailures)
    }

    /// Whether bootstrappings may fail with a probability above 2^-40.
    pub const fn failures(self) -> bool {
        matches!(self, OptIn::AllowFailures | OptIn::InsecureAllowFailures)
    }
}

/// log2 of the probability of failure of a bootstrapping above which an opt-in is required.
const FREQUENT_FAILURE_LOG2: f64 = -40.0;
/// log2 of the probability of failure above which users are notified.
const RARE_FAILURE_LOG2: f64 = -128.0;

/// A validated parameter set with its tables, which are computed at their first use. It is
/// immutable, and clones share the tables.
#[derive(Clone)]
pub struct Params(Arc<Inner>);

struct Inner {
    spec: Arc<ParamsSpec>,
    cpu: Arc<Cpu>,
    plain: Arc<PlaintextRing>,
    chain: Arc<ModulusChain>,
    noise: NoiseTracker,
    /// Estimated on first use, or when a set is about to be refused.
    security: OnceLock<SecurityReport>,
}

impl Params {
    /// Validates a specification.
    ///
    /// # Errors
    /// The error names what is inconsistent: a composite or unsuitable p, p dividing the index, a
    /// weight above the degree, too few primes of the requested sizes, a modulus above the security
    /// bound (unless the set is an `insecure_` one and `opt_in` allows it), a bootstrapping that
    /// fails with a probability above 2^-40 (unless `opt_in` allows it).
    pub fn new(spec: ParamsSpec, opt_in: OptIn) -> Result<Self, SchemeError> {
        Self::with_backend(spec, opt_in, Backend::detect())
    }

    /// [`Params::new`] for a given instruction set instead of the one that [`Backend::detect`]
    /// finds. Results do not depend on it.
    ///
    /// # Errors
    /// As [`Params::new`]; a backend that this processor lacks.
    pub fn with_backend(
        spec: ParamsSpec,
        opt_in: OptIn,
        backend: Backend,
    ) -> Result<Self, SchemeError> {
        spec.check()?;
        let bad = |problem: String| SchemeError::BadParams { name: spec.name.clone(), problem };
        let shape = SlotShape::new(spec.index, spec.plain_prime, spec.largest_exponent())
            .map_err(|e| bad(e.to_string()))?;
        let all = shape.slots();
        let shape = match spec.bootstrap.as_ref().and_then(|b| b.used_slots) {
            Some(used) => shape.repeating(used).map_err(|e| {
                bad(format!(
                    "used_slots = {used}: expected a power of two from 4 to the {all} slots of \
                     the ring, which must be in two rows ({e})"
                ))
            })?,
            None => shape,
        };
        let plain = PlaintextRing::new(shape, backend)?;
        let (chain, moduli) = ModulusChain::build(&spec)?;
        let ring = Ring::new(spec.index, &moduli)?;
        // The estimate is computed only when it is requested.
        let security = OnceLock::new();
        let allowed = spec.is_insecure_by_name() && opt_in.insecure();
        if !allowed && !SecurityReport::holds(&spec, &ring, &chain, MIN_SECURITY_BITS) {
            let report = security.get_or_init(|| SecurityReport::of(&spec, &ring, &chain));
            let bits = report.bits();
            if bits < MIN_SECURITY_BITS && spec.is_insecure_by_name() {
                return Err(SchemeError::Insecure { name: spec.name.clone(), bits });
            }
            if bits < MIN_SECURITY_BITS {
                return Err(bad(format!(
                    "its weakest key ({}) has {bits:.1} bits of security, below 128: lower the \
                     modulus, raise the degree, or name the set insecure_{}",
                    report.weakest().key,
                    spec.name
                )));
            }
        }
        let (spec, ring) = (Arc::new(spec), Arc::new(ring));
        let (plain, chain) = (Arc::new(plain), Arc::new(chain));
        let noise = NoiseTracker::new(spec.clone(), ring.clone(), plain.clone(), chain.clone());
        noise.check_set()?;
        let cpu = Arc::new(Cpu::new(ring, backend)?);
        let params = Params(Arc::new(Inner { spec, cpu, plain, chain, noise, security }));
        let failure_log2 = params.failure_log2();
        if failure_log2 > FREQUENT_FAILURE_LOG2 && !opt_in.failures() {
            return Err(SchemeError::FrequentFailures { name: params.name().into(), failure_log2 });
        }
        if params.bootstrap_mode() == BootstrapMode::Bypass && !params.bypass_applies() {
            return Err(SchemeError::BadParams {
                name: params.name().into(),
                problem: "mode = bypass: expected r = 1, p = 1 modulo 4 and one digit, or an odd \
                          index; use mode = thin"
                    .into(),
            });
        }
        Ok(params)
    }

    /// log2 of the probability, at most 0, that the overflow of one bootstrapping exceeds its
    /// bound, in which case values are wrong without an error; [`NEVER`](crate::noise::NEVER) if
    /// this is impossible. [`NoiseTracker::failure_log2`] also counts the random polynomials of a
    /// computation.
    pub fn failure_log2(&self) -> f64 {
        let bootstraps = u64::from(self.spec().bootstrap.is_some());
        self.noise().failure_of_events(Events::overflow(bootstraps))
    }

    /// A notice for the owner of keys of the set that bootstrappings fail with a probability above
    /// 2^-128. None for sets without such failures.
    pub fn failure_notice(&self) -> Option<String> {
        let failure_log2 = self.failure_log2();
        (failure_log2 > RARE_FAILURE_LOG2).then(|| {
            format!(
                "a bootstrapping of parameter set {} gives wrong values, without an error, with \
                 probability 2^{failure_log2:.1}",
                self.name()
            )
        })
    }

    /// The set with this name, see [`names`]; `NAME-sK` is that with K used slots.
    pub fn named(name: &str, opt_in: OptIn) -> Result<Self, SchemeError> {
        Self::new(spec(name)?, opt_in)
    }

    /// The specification.
    pub fn spec(&self) -> &ParamsSpec {
        &self.0.spec
    }

    /// The set's name.
    pub fn name(&self) -> &str {
        &self.0.spec.name
    }

    /// The ciphertext ring.
    pub fn ring(&self) -> &Arc<Ring> {
        self.0.cpu.ring()
    }

    /// The engine of the processor for that ring.
    pub fn cpu(&self) -> &Cpu {
        &self.0.cpu
    }

    /// The same, to be shared.
    pub fn shared_cpu(&self) -> Arc<Cpu> {
        self.0.cpu.clone()
    }

    /// The plaintext ring.
    pub fn plaintext_ring(&self) -> &PlaintextRing {
        &self.0.plain
    }

    /// The shape of the slots.
    pub fn slot_shape(&self) -> &SlotShape {
        self.0.plain.shape()
    }

    /// The modulus chain.
    pub fn chain(&self) -> &ModulusChain {
        &self.0.chain
    }

    /// The noise tracker: the effect of every operation on levels and noise.
    pub fn noise(&self) -> &NoiseTracker {
        &self.0.noise
    }

    /// Security of every key.
    pub fn security(&self) -> &SecurityReport {
        let Inner { spec, chain, security, .. } = &*self.0;
        security.get_or_init(|| SecurityReport::of(spec, self.ring(), chain))
    }

    /// Whether every key certainly has more than this number of bits of security, which takes a
    /// fraction of the time of [`Params::security`]. It may be `false` for a key with exactly this
    /// number.
    pub fn has_security(&self, bits: f64) -> bool {
        SecurityReport::holds(self.spec(), self.ring(), self.chain(), bits)
    }

    /// Checks that the set has special primes, so that its servers can have keys.
    ///
    /// # Errors
    /// A set without special primes.
    pub fn check_switching(&self) -> Result<(), SchemeError> {
        if !self.chain().special().is_empty() {
            return Ok(());
        }
        Err(SchemeError::BadParams {
            name: self.name().into(),
            problem: "it has no special primes, so servers have no keys for relinearization, \
                      rotations or a change of keys: use a set with special primes, or in Rust \
                      the products and sums that need no keys"
                .into(),
        })
    }

    /// The degree n of the ring.
    pub fn degree(&self) -> usize {
        self.ring().degree()
    }

    /// The number of slots; of those that are used, if the set says how many these are.
    pub fn slots(&self) -> usize {
        self.slot_shape().slots()
    }

    /// Refuses the monomial X^k if the slots of the set repeat
    /// ([`BootstrapSpec::used_slots`]) and a product with it would not.
    ///
    /// # Errors
    /// [`SchemeError::BadArgument`].
    pub fn check_monomial(&self, k: i64) -> Result<(), SchemeError> {
        let shape = self.slot_shape();
        let step = shape.degree_of_slot();
        if shape.repetitions() == 1 || k.rem_euclid(step as i64) == 0 {
            return Ok(());
        }
        Err(SchemeError::BadArgument {
            what: "exponent of a monomial",
            expected: format!(
                "a multiple of {step}, as the set has {} slots that repeat",
                shape.slots()
            ),
            found: k.to_string(),
        })
    }

    /// Refuses an automorphism of another ring that this one does not have.
    ///
    /// # Errors
    /// [`RingError::NotAnAutomorphism`](everlevel_ring::RingError::NotAnAutomorphism).
    pub fn check_automorphism(&self, g: GaloisElement) -> Result<(), SchemeError> {
        let (element, index) = (g.exponent(), self.spec().index);
        if GaloisElement::new(index, element)? == g {
            return Ok(());
        }
        Err(everlevel_ring::RingError::NotAnAutomorphism { element, index }.into())
    }

    /// The number of polynomials of a ciphertext: 2, over NTRU 1.
    pub fn components(&self) -> usize {
        self.0.spec.assumption.components()
    }

    /// The number of limbs of each prime that the product of two ciphertexts reads and writes,
    /// before relinearization.
    pub fn tensor_streams(&self) -> usize {
        4 * self.components() - 1
    }

    /// The exponent r of the plaintext modulus p^r.
    pub fn plain_exponent(&self) -> u32 {
        self.0.spec.plain_exponent
    }

    /// The exponent r + v of the plaintext modulus after modulus raising; r for sets without
    /// bootstrapping.
    pub fn raised_exponent(&self) -> u32 {
        self.0.spec.raised_exponent()
    }

    /// The plaintext modulus p^r, for callers that know it to be below 2^64; see
    /// [`Params::wide_modulus`].
    ///
    /// # Panics
    /// If p^r is 2^64.
    pub fn plain_modulus(&self) -> u64 {
        self.slot_shape().plain_modulus(self.plain_exponent())
    }

    /// The plaintext modulus p^r, 2^64 included.
    pub fn wide_modulus(&self) -> u128 {
        self.slot_shape().wide_modulus(self.plain_exponent())
    }

    /// Whether modulus raising uses the main secret, which is then sparse.
    pub fn raises_under_main_key(&self) -> bool {
        self.spec().bootstrap.as_ref().is_some_and(|b| b.under_main_key)
    }

    /// The default bootstrapping mode of the set.
    pub fn bootstrap_mode(&self) -> BootstrapMode {
        let few = self.slot_shape().degree_of_slot() <= 2;
        let large = self.ring().axes().is_none() && self.degree() >= 1 << 16;
        let bypasses = self.bypass_applies() && few && !large;
        let stated = self.spec().bootstrap.as_ref().and_then(|b| b.mode);
        stated.unwrap_or(if bypasses { BootstrapMode::Bypass } else { BootstrapMode::Thin })
    }

    fn bypass_applies(&self) -> bool {
        let removed = self.spec().bootstrap.as_ref().map_or(1, BootstrapSpec::removed_digits);
        self.ring().axes().is_some()
            || self.plain_exponent() == 1 && self.slot_shape().base_degree() == 1 && removed == 1
    }

    /// The largest number of digits into which the polynomials of modulus raising are decomposed:
    /// enough for coefficients modulo p^(r+v), in any mode.
    pub fn raise_digits(&self) -> usize {
        let shape = self.slot_shape();
        raise_digit_count(shape.plain_prime(), self.raised_exponent())
    }

    /// log2 of the modulus at `level`.
    pub fn modulus_bits(&self, level: Level) -> f64 {
        self.0.chain.bits(level)
    }

    /// q0.
    pub fn base_modulus(&self) -> i128 {
        self.0
            .chain
            .basis(Level(0))
            .iter()
            .map(|i| self.ring().modulus(i).value() as i128)
            .product()
    }

    /// The id of the set, which its ciphertexts carry.
    pub fn set_id(&self) -> SetId {
        self.noise().set
    }

    /// Whether both are the same set.
    pub fn same(&self, other: &Params) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.spec == other.0.spec
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Params({})", self.name())
    }
}
