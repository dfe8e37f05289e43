//! Parameter sets.

use std::sync::Arc;

use everlevel_arith::primes;
use everlevel_ring::{Backend, PlaintextRing, PrimePower, Ring, SlotShape, sample};
use everlevel_scheme::params::KeySecurity;
use everlevel_scheme::{Level, OptIn, Plaintext, SchemeError};
use everlevel_wire::ParamsId;
use serde::{Deserialize, Serialize};

use crate::adic::{AdicPoly, AdicRing};
use crate::gadget::{Gadget, KeyForm};
use crate::noise::AverageCase;

/// The specification of a parameter set. The plaintext modulus is 2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LtvSpec {
    /// The name.
    pub name: String,
    /// The index m of the ring.
    pub index: u64,
    /// b, where p is the largest prime below 2^b for which the ring has a transform.
    pub prime_bits: u32,
    /// t: the highest modulus is p^t.
    pub levels: usize,
    /// The digits of key switching.
    pub gadget: Gadget,
}

/// (name, m, bits of p, t, gadget) of the sets: the paper's two rings, the same with the paper's
/// digits of one bit and with those of Öztürk, Doröz, Savaş and Sunar (2015), small ones with
/// slots, and X^4096 + 1 with 125 bits, of the paper's section 8.
type Row = (&'static str, u64, u32, usize, Gadget);

/// The sets there are. None is secure; see the [crate](crate).
pub const SETS: [Row; 10] = [
    ("ltv-32768", 65535, 31, 41, Gadget::Hybrid { rows: 6 }),
    ("ltv-27000", 32767, 30, 41, Gadget::Hybrid { rows: 6 }),
    ("ltv-32768-binary", 65535, 31, 41, Gadget::Windows { bits: 1 }),
    ("ltv-27000-binary", 32767, 30, 41, Gadget::Windows { bits: 1 }),
    ("ltv-32768-windows-16", 65535, 31, 41, Gadget::Windows { bits: 16 }),
    ("ltv-27000-windows-16", 32767, 30, 41, Gadget::Windows { bits: 16 }),
    ("insecure_ltv-m4369", 4369, 31, 41, Gadget::Hybrid { rows: 6 }),
    ("insecure_ltv-m255", 255, 31, 12, Gadget::Hybrid { rows: 3 }),
    ("insecure_ltv-m255-binary", 255, 31, 6, Gadget::Windows { bits: 1 }),
    ("insecure_ltv-n4096", 8192, 25, 5, Gadget::Windows { bits: 1 }),
];

/// Rows in a block of products where the gadget does not say.
const BLOCK: usize = 6;

impl LtvSpec {
    /// The set of this name.
    ///
    /// # Errors
    /// [`SchemeError::UnknownParams`].
    pub fn named(name: &str) -> Result<Self, SchemeError> {
        let unknown = || SchemeError::UnknownParams {
            name: name.into(),
            known: SETS.map(|row| row.0).join(", "),
        };
        let &(name, index, prime_bits, levels, gadget) =
            SETS.iter().find(|row| row.0 == name).ok_or_else(unknown)?;
        Ok(LtvSpec { name: name.into(), index, prime_bits, levels, gadget })
    }

    /// The specification as JSON without white space, its fields in the order of this type.
    pub fn canonical_json(&self) -> String {
        serde_json::to_string(self).expect("a specification has string keys and integers only")
    }

    /// Its id: the first 16 bytes of BLAKE3 of [`LtvSpec::canonical_json`].
    pub fn id(&self) -> ParamsId {
        ParamsId::of_json(&self.canonical_json())
    }

    fn bad(&self, problem: impl Into<String>) -> SchemeError {
        SchemeError::BadParams { name: self.name.clone(), problem: problem.into() }
    }

    /// p.
    ///
    /// # Errors
    /// [`SchemeError::BadParams`] if there is none, or the set does not hold together.
    pub fn prime(&self) -> Result<u32, SchemeError> {
        let window = match self.gadget {
            Gadget::Windows { bits } => (1..=16).contains(&bits),
            Gadget::Hybrid { rows } => (1..=16).contains(&rows),
        };
        if !(16..=31).contains(&self.prime_bits) || !(1..=64).contains(&self.levels) || !window {
            return Err(self.bad(
                "expected a prime of 16 to 31 bits, 1 to 64 levels, and windows of 1 to 16 bits \
                 or rows",
            ));
        }
        let step = Ring::prime_step(self.index)?;
        let prime = primes::primes_congruent_one(step, 1 << self.prime_bits)
            .next()
            .filter(|p| p >> (self.prime_bits - 2) > 0);
        let none = || self.bad(format!("no prime of {} bits is 1 modulo {step}", self.prime_bits));
        prime.and_then(|p| u32::try_from(p).ok()).ok_or_else(none)
    }

    /// The rows of the special modulus.
    fn special_rows(&self) -> usize {
        match self.gadget {
            Gadget::Windows { .. } => 0,
            Gadget::Hybrid { rows } => rows,
        }
    }

    /// The key f = 2 u + 1 at the modulus of the switching keys.
    fn security(&self, prime: u32) -> Result<KeySecurity, SchemeError> {
        let modulus_bits = (self.levels + self.special_rows()) as f64 * f64::from(prime).log2();
        Ok(KeySecurity::ntru(
            Ring::degree_of(self.index)?,
            modulus_bits,
            2.0,
            Some(sample::GAUSSIAN_VARIANCE),
        ))
    }
}

/// How many rows ciphertexts at `level` have.
pub(crate) fn rows(level: Level) -> usize {
    level.0 + 1
}

struct Inner {
    spec: LtvSpec,
    id: ParamsId,
    security: KeySecurity,
    ring: AdicRing,
    plain: Option<PlaintextRing>,
    noise: AverageCase,
}

/// A validated parameter set with its tables. It is immutable, and clones share the tables.
#[derive(Clone)]
pub struct LtvParams(Arc<Inner>);

impl LtvParams {
    /// Builds a set.
    ///
    /// # Errors
    /// [`SchemeError::Insecure`] without the opt-in, for every set; [`SchemeError::BadParams`] and
    /// [`SchemeError::Ring`] for inconsistent sets.
    pub fn new(spec: LtvSpec, opt_in: OptIn) -> Result<Self, SchemeError> {
        Self::with_backend(spec, opt_in, Backend::detect())
    }

    /// [`LtvParams::new`] for a given instruction set instead of the one that [`Backend::detect`]
    /// finds. Results do not depend on it.
    ///
    /// # Errors
    /// As [`LtvParams::new`]; a backend that this processor lacks.
    pub fn with_backend(
        spec: LtvSpec,
        opt_in: OptIn,
        backend: Backend,
    ) -> Result<Self, SchemeError> {
        let prime = spec.prime()?;
        let security = spec.security(prime)?;
        if !opt_in.insecure() {
            return Err(SchemeError::Insecure { name: spec.name, bits: security.bits });
        }
        let block = match spec.gadget {
            Gadget::Hybrid { rows } => rows,
            Gadget::Windows { .. } => BLOCK.min(spec.levels),
        };
        // A key switch sums as many products as there are digits of a block; windows are too small
        // to count.
        let terms = 4 * spec.levels.div_ceil(block);
        let ring = AdicRing::new(spec.index, prime, block, terms, backend)?;
        let ring = match spec.gadget {
            Gadget::Windows { bits } => {
                let digits = ring.window_count(bits, spec.levels);
                ring.narrowed(bits, digits, spec.levels)?
            }
            Gadget::Hybrid { .. } => ring,
        };
        let plain = match spec.index.is_power_of_two() {
            true => None,
            false => Some(PlaintextRing::new(SlotShape::new(spec.index, 2, 1)?, backend)?),
        };
        let (noise, id) = (AverageCase::new(&ring, spec.gadget), spec.id());
        Ok(LtvParams(Arc::new(Inner { spec, id, security, ring, plain, noise })))
    }

    /// The set of this name.
    ///
    /// # Errors
    /// As [`LtvParams::new`], and [`SchemeError::UnknownParams`].
    pub fn named(name: &str, opt_in: OptIn) -> Result<Self, SchemeError> {
        Self::new(LtvSpec::named(name)?, opt_in)
    }

    /// The specification.
    pub fn spec(&self) -> &LtvSpec {
        &self.0.spec
    }

    /// The id of the specification, which objects of the set carry in memory and in files.
    pub fn id(&self) -> ParamsId {
        self.0.id
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0.spec.name
    }

    /// The attacks on the key f with their costs: LLL breaks the sets of the paper.
    pub fn security(&self) -> &KeySecurity {
        &self.0.security
    }

    /// The ring modulo powers of p.
    pub fn ring(&self) -> &AdicRing {
        &self.0.ring
    }

    /// The degree n.
    pub fn degree(&self) -> usize {
        self.0.ring.ring().degree()
    }

    /// Plaintexts and slots modulo 2.
    ///
    /// # Errors
    /// [`SchemeError::BadParams`] for a power of two, over which polynomials modulo 2 have no
    /// slots.
    pub fn plain(&self) -> Result<&PlaintextRing, SchemeError> {
        let none = || self.0.spec.bad("a ring whose index is a power of two has no slots modulo 2");
        self.0.plain.as_ref().ok_or_else(none)
    }

    /// The noise model.
    pub fn noise(&self) -> &AverageCase {
        &self.0.noise
    }

    /// The highest level, t - 1.
    pub fn top(&self) -> Level {
        Level(self.0.spec.levels - 1)
    }

    /// log2 of the modulus p^(level + 1).
    pub fn modulus_bits(&self, level: Level) -> f64 {
        rows(level) as f64 * self.noise().prime_bits()
    }

    /// The rows of the special modulus.
    pub fn special_rows(&self) -> usize {
        self.0.spec.special_rows()
    }

    /// The rows of keys: those of the highest modulus and the special ones.
    pub fn key_rows(&self) -> usize {
        self.0.spec.levels + self.special_rows()
    }

    /// The number of digits into which key switching decomposes ciphertexts at `level`.
    pub fn digit_count(&self, level: Level) -> usize {
        match self.0.spec.gadget {
            Gadget::Windows { bits } => self.ring().window_count(bits, rows(level)),
            Gadget::Hybrid { rows: digit } => rows(level).div_ceil(digit),
        }
    }

    /// Bytes of an evaluation key, or of the key of one automorphism, in this form.
    pub fn key_bytes(&self, form: KeyForm) -> u64 {
        let (n, digits) = (self.degree() as u64, self.digit_count(self.top()) as u64);
        let limbs = self.ring().narrow_blocks(self.key_rows()) * self.ring().narrow_primes().len();
        digits
            * match form {
                KeyForm::Evaluations => limbs as u64 * n * 8,
                KeyForm::Polynomial => self.key_rows() as u64 * n * 4,
            }
    }

    /// Encodes bits, one for each slot.
    ///
    /// # Errors
    /// More values than slots, one that is no bit, or a ring without slots.
    pub fn encode(&self, values: &[u64]) -> Result<Plaintext, SchemeError> {
        let ring = self.plain()?;
        self.plaintext(ring.encode(values, 1)?)
    }

    /// The bits in the slots.
    ///
    /// # Errors
    /// A plaintext of another set or with slots outside of F_2, or a ring without slots.
    pub fn decode(&self, plaintext: &Plaintext) -> Result<Vec<u64>, SchemeError> {
        let ring = self.plain()?;
        self.check_plaintext(plaintext)?;
        Ok(ring.decode(plaintext.coefficients(), 1)?)
    }

    /// Encodes elements of GF(2^d), d bits for each slot, slot by slot, in the basis of
    /// [`PlaintextRing::encode_elements`].
    ///
    /// # Errors
    /// Another number of values, one that is no bit, or a ring without slots.
    pub fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError> {
        let ring = self.plain()?;
        self.plaintext(ring.encode_elements(values, 1)?)
    }

    /// The elements of GF(2^d) in the slots.
    ///
    /// # Errors
    /// A plaintext of another set, or a ring without slots.
    pub fn decode_elements(&self, plaintext: &Plaintext) -> Result<Vec<u64>, SchemeError> {
        let ring = self.plain()?;
        self.check_plaintext(plaintext)?;
        Ok(ring.decode_elements(plaintext.coefficients(), 1)?)
    }

    /// A plaintext from its n coefficients modulo 2, in natural order.
    ///
    /// # Errors
    /// Another number of coefficients, or one that is no bit.
    pub fn from_coefficients(&self, coefficients: Vec<u64>) -> Result<Plaintext, SchemeError> {
        let plaintext = self.plaintext(coefficients)?;
        self.message(&plaintext).map(|_| plaintext)
    }

    /// The plaintext of these coefficients, which are bits.
    pub(crate) fn plaintext(&self, coefficients: Vec<u64>) -> Result<Plaintext, SchemeError> {
        let modulus = PrimePower::new(2, 1)?;
        Ok(Plaintext::from_reduced(self.spec().index, coefficients.into(), modulus))
    }

    /// Refuses a plaintext of another set.
    fn check_plaintext(&self, plaintext: &Plaintext) -> Result<(), SchemeError> {
        let bits = plaintext.coefficients().iter().all(|&c| c < 2);
        let ring = (plaintext.index(), plaintext.prime(), plaintext.exponent());
        let whole = plaintext.coefficients().len() == self.degree();
        let ours = ring == (self.spec().index, 2, 1) && whole && bits;
        ours.then_some(()).ok_or_else(|| self.wrong("the plaintext"))
    }

    /// The coefficients of a plaintext of this set, as signed words.
    pub(crate) fn message(&self, plaintext: &Plaintext) -> Result<Vec<i64>, SchemeError> {
        self.check_plaintext(plaintext)?;
        Ok(plaintext.coefficients().iter().map(|&c| c as i64).collect())
    }

    /// The error of an object of another set.
    pub(crate) fn wrong(&self, object: &'static str) -> SchemeError {
        SchemeError::WrongParams { object, name: self.name().into() }
    }

    /// The coefficients of an integer.
    pub(crate) fn constant(&self, c: i64, level: Level) -> AdicPoly {
        self.ring().from_signed(&self.ring().constant(c), rows(level))
    }

    /// # Errors
    /// [`SchemeError::BadLevel`] above the highest level.
    pub(crate) fn check_level(&self, level: Level) -> Result<(), SchemeError> {
        if level > self.top() {
            Err(SchemeError::BadLevel { found: level, highest: self.top() })
        } else {
            Ok(())
        }
    }
}

impl std::fmt::Debug for LtvParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LtvParams({}, {:?})", self.name(), self.ring())
    }
}
