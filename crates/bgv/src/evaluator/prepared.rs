//! Plaintexts that are prepared for several multiplications.

use everlevel_ring::{Cpu, Engine, Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use crate::message::message_poly;
use everlevel_scheme::Params;
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use everlevel_scheme::same_modulus;
use everlevel_scheme::spec::Level;

/// A plaintext that is lifted to the primes of a level and transformed, with its norms, which
/// [`mul_plain`](everlevel_scheme::Arithmetic::mul_plain) would compute each time. It takes n words
/// for each prime of the level.
pub struct PreparedPlaintext<E: Engine = Cpu> {
    /// The set that it was prepared for.
    params: Params,
    poly: Poly<Eval, E>,
    level: Level,
    exponent: u32,
    /// log2 of the canonical norm, and of the root mean square of the embeddings.
    norm: f64,
    average: f64,
}

impl<E: Engine> PreparedPlaintext<E> {
    /// The level that it was prepared for.
    pub fn level(&self) -> Level {
        self.level
    }
}

impl<E: Engine> Clone for PreparedPlaintext<E> {
    fn clone(&self) -> Self {
        PreparedPlaintext { params: self.params.clone(), poly: self.poly.clone(), ..*self }
    }
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// Prepares a plaintext for the multiplication of ciphertexts at a level, or at lower levels
    /// without other primes: a transform for each prime.
    ///
    /// # Errors
    /// A level above the top; a plaintext of another set.
    pub fn prepare_plaintext(
        &self,
        plaintext: &Plaintext,
        level: Level,
    ) -> Result<PreparedPlaintext<E>, SchemeError> {
        let params = self.params();
        let highest = params.chain().top();
        if level > highest {
            return Err(SchemeError::BadLevel { found: level, highest });
        }
        let poly = message_poly(params, self.engine(), plaintext, params.chain().basis(level))?;
        let (norm, average) =
            (plaintext.norm_bits(params), plaintext.root_mean_square_bits(params));
        let (params, exponent) = (params.clone(), plaintext.exponent());
        Ok(PreparedPlaintext { params, poly, level, exponent, norm, average })
    }

    /// Multiplies every slot by that of a prepared plaintext: a product of residues for each prime
    /// and component, without a transform. The noise is as for
    /// [`mul_plain`](everlevel_scheme::Arithmetic::mul_plain).
    ///
    /// # Errors
    /// A prepared plaintext for a level without all primes of this one
    /// ([`SchemeError::BadArgument`]), of another set or modulus; too much noise.
    pub fn mul_prepared_plain(
        &self,
        a: &Ciphertext<E>,
        b: &PreparedPlaintext<E>,
    ) -> Result<Ciphertext<E>, SchemeError> {
        const OPERATION: &str = "multiplication by a plaintext";
        self.check_owner(&a.meta, OPERATION)?;
        same_modulus(a.meta.exponent, b.exponent, OPERATION)?;
        let (params, basis) = (self.params(), a.basis());
        if !b.params.same(params) {
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
        let meta = params.noise().mul_plain(&a.meta, b.norm, b.average)?;
        let poly = b.poly.restricted(basis);
        Ok(Ciphertext::new(
            meta,
            a.components.iter().map(|c| c.mul(self.engine(), &poly)).collect(),
        ))
    }
}
