//! Plaintexts that are multiplied with more than once.

use everlevel_ring::{Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use crate::message::message_poly;
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::same_modulus;
use everlevel_scheme::spec::Level;

/// A plaintext lifted to the primes of a level and transformed, with its norms: what
/// [`Evaluator::mul_plain`] would compute each time. n words for each prime of the level.
#[derive(Clone)]
pub struct PreparedPlaintext {
    poly: Poly<Eval>,
    level: Level,
    exponent: u32,
    /// log2 of the canonical norm, and of the root mean square of the embeddings.
    norm: f64,
    average: f64,
}

impl PreparedPlaintext {
    /// The level that it was made for.
    pub fn level(&self) -> Level {
        self.level
    }
}

impl<K: EvalKeys> Evaluator<K> {
    /// Makes a plaintext ready to multiply ciphertexts of a level with, or of lower levels that
    /// have no other primes: a transform for each prime.
    ///
    /// # Errors
    /// A level above the top; a plaintext of another set.
    pub fn prepare_plaintext(
        &self,
        plaintext: &Plaintext,
        level: Level,
    ) -> Result<PreparedPlaintext, SchemeError> {
        let params = self.params();
        let highest = params.chain().top();
        if level > highest {
            return Err(SchemeError::BadLevel { found: level, highest });
        }
        let poly = message_poly(params, plaintext, params.chain().basis(level))?;
        let (norm, average) =
            (plaintext.norm_bits(params), plaintext.root_mean_square_bits(params));
        Ok(PreparedPlaintext { poly, level, exponent: plaintext.exponent(), norm, average })
    }

    /// Multiplies every slot by the factor's: a product of residues for each prime and component,
    /// no transform.
    ///
    /// # Errors
    /// A factor for a level that lacks primes of this one ([`SchemeError::BadArgument`]), of
    /// another set or modulus; too much noise.
    pub fn mul_prepared_plain(
        &self,
        a: &Ciphertext,
        b: &PreparedPlaintext,
    ) -> Result<Ciphertext, SchemeError> {
        const OPERATION: &str = "multiplication by a plaintext";
        self.check_owner(&a.meta, OPERATION)?;
        same_modulus(a.meta.exponent, b.exponent, OPERATION)?;
        let (params, basis) = (self.params(), a.basis());
        if b.poly.limbs().iter().any(|limb| limb.len() != params.degree()) {
            return Err(SchemeError::WrongParams {
                object: "the factor",
                name: params.name().into(),
            });
        }
        if !basis.is_subset(b.poly.basis()) {
            return Err(SchemeError::BadArgument {
                what: "level of a factor",
                expected: format!("one with the primes of level {}", a.meta.level),
                found: b.level.to_string(),
            });
        }
        let (noise, estimate) = (a.meta.noise + b.norm, a.meta.estimate + b.average);
        let meta = params.noise().checked(Meta { noise, estimate, ..a.meta }, OPERATION)?;
        let poly = b.poly.restricted(basis);
        Ok(Ciphertext::new(
            meta,
            a.components.iter().map(|c| c.mul(params.ring(), &poly)).collect(),
        ))
    }

    /// Multiplies every slot by the plaintext's. For a plaintext that comes again,
    /// [`Evaluator::prepare_plaintext`] and [`Evaluator::mul_prepared_plain`].
    ///
    /// # Errors
    /// A plaintext of another set or modulus, or too much noise.
    pub fn mul_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext, SchemeError> {
        same_modulus(a.meta.exponent, b.exponent(), "multiplication by a plaintext")?;
        self.mul_prepared_plain(a, &self.prepare_plaintext(b, a.meta.level)?)
    }
}
