//! Encoded plaintexts.

use std::fmt;

use everlevel_ring::PrimePower;
use zeroize::Zeroizing;

use crate::checks::same_modulus;
use crate::error::SchemeError;
use crate::params::Params;

/// A plaintext polynomial modulo p^e: n coefficients in natural order. It is wiped when dropped, as
/// it may hold a key, and `Debug` shows its size alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Plaintext {
    pub(crate) coefficients: Zeroizing<Vec<u64>>,
    /// The index of the ring, which determines the slots that the coefficients hold.
    pub(crate) index: u64,
    pub(crate) prime: u64,
    pub(crate) exponent: u32,
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.coefficients.len();
        write!(f, "Plaintext(modulo p^{}, {count} coefficients)", self.exponent)
    }
}

impl Plaintext {
    /// Encodes slot values (row by row; missing ones are 0) modulo p^r.
    ///
    /// # Errors
    /// More values than slots, or a value outside of 0..p^r.
    pub fn encode(params: &Params, values: &[u64]) -> Result<Self, SchemeError> {
        Self::encode_modulo(params, values, params.plain_exponent())
    }

    /// Encodes slot values modulo p^exponent.
    ///
    /// # Errors
    /// As [`Plaintext::encode`], or an exponent that the parameters do not provide.
    pub fn encode_modulo(
        params: &Params,
        values: &[u64],
        exponent: u32,
    ) -> Result<Self, SchemeError> {
        Self::check_exponent(params, exponent)?;
        Ok(Plaintext {
            coefficients: params.plaintext_ring().encode(values, exponent)?.into(),
            index: params.spec().index,
            prime: params.spec().plain_prime,
            exponent,
        })
    }

    /// Encodes signed slot values: -v stands for p^r - v.
    ///
    /// # Errors
    /// More values than slots, or a value outside of -(p^r - 1)/2 ..= (p^r - 1)/2.
    pub fn encode_signed(params: &Params, values: &[i64]) -> Result<Self, SchemeError> {
        let modulus = params.plaintext_ring().modulus(params.plain_exponent());
        let half = modulus.last() / 2;
        if let Some((position, v)) =
            values.iter().enumerate().find(|(_, v)| v.unsigned_abs() > half)
        {
            return Err(SchemeError::BadArgument {
                what: "signed value",
                expected: format!("-{half} to {half}"),
                found: format!("{v} at position {position}"),
            });
        }
        let unsigned =
            Zeroizing::new(values.iter().map(|&v| modulus.reduce_i64(v)).collect::<Vec<u64>>());
        Self::encode(params, &unsigned)
    }

    /// A plaintext from its n coefficients in natural order.
    ///
    /// # Errors
    /// A number of coefficients other than n, a coefficient outside of 0..p^exponent, an exponent
    /// that the parameters do not provide, or slots that do not repeat if those of the set do.
    pub fn from_coefficients(
        params: &Params,
        coefficients: Vec<u64>,
        exponent: u32,
    ) -> Result<Self, SchemeError> {
        let coefficients = Zeroizing::new(coefficients);
        Self::check_exponent(params, exponent)?;
        let t = params.plaintext_ring().modulus(exponent);
        let outside = coefficients.iter().position(|&c| c > t.last());
        if coefficients.len() != params.degree() || outside.is_some() {
            return Err(SchemeError::BadArgument {
                what: "coefficients",
                expected: format!("{} values below {}", params.degree(), t.wide()),
                found: outside.map_or_else(
                    || format!("{} values", coefficients.len()),
                    |i| format!("{} at position {i}", coefficients[i]),
                ),
            });
        }
        let (index, prime) = (params.spec().index, params.spec().plain_prime);
        let plaintext = Plaintext { coefficients, index, prime, exponent };
        plaintext.check_repeating(params)?;
        Ok(plaintext)
    }

    /// A plaintext of the ring of this index from coefficients in natural order that are reduced
    /// modulo p^e, for schemes that have computed them. Nothing is checked here: the user of the
    /// plaintext checks their number.
    pub fn from_reduced(
        index: u64,
        coefficients: Zeroizing<Vec<u64>>,
        modulus: PrimePower,
    ) -> Self {
        Plaintext { coefficients, index, prime: modulus.prime(), exponent: modulus.exponent() }
    }

    /// Refuses a plaintext of other parameters, by the index of its ring, the number of its
    /// coefficients, its prime and its exponent, and one whose slots do not repeat if those of the
    /// set do.
    ///
    /// # Errors
    /// [`SchemeError::WrongParams`], [`SchemeError::BadArgument`].
    pub fn check(&self, params: &Params) -> Result<(), SchemeError> {
        let exponents = 1..=params.slot_shape().max_exponent();
        self.check_ring(params)?;
        if self.coefficients.len() == params.degree() && exponents.contains(&self.exponent) {
            return self.check_repeating(params);
        }
        Err(SchemeError::WrongParams { object: "the plaintext", name: params.name().into() })
    }

    /// Refuses a plaintext of another ring, or modulo a power of another prime.
    fn check_ring(&self, params: &Params) -> Result<(), SchemeError> {
        let spec = params.spec();
        if (self.index, self.prime) == (spec.index, spec.plain_prime) {
            return Ok(());
        }
        Err(SchemeError::WrongParams { object: "the plaintext", name: params.name().into() })
    }

    /// Refuses slots that do not repeat in a set whose slots do
    /// ([`BootstrapSpec::used_slots`](crate::spec::BootstrapSpec::used_slots)): bootstrapping would
    /// not keep them.
    pub(crate) fn check_repeating(&self, params: &Params) -> Result<(), SchemeError> {
        let shape = params.slot_shape();
        let step = shape.degree_of_slot();
        if shape.repetitions() == 1 {
            return Ok(());
        }
        let mut coefficients = self.coefficients.iter().enumerate();
        let outside = coefficients.position(|(i, &c)| !i.is_multiple_of(step) && c != 0);
        outside.map_or(Ok(()), |i| {
            Err(SchemeError::BadArgument {
                what: "plaintext",
                expected: format!(
                    "a polynomial in X^{step}, as the set has {} slots that repeat: encode their \
                     values",
                    shape.slots()
                ),
                found: format!("a coefficient of X^{i}"),
            })
        })
    }

    pub(crate) fn check_exponent(params: &Params, exponent: u32) -> Result<(), SchemeError> {
        let highest = params.slot_shape().max_exponent();
        if (1..=highest).contains(&exponent) {
            return Ok(());
        }
        Err(SchemeError::BadArgument {
            what: "plaintext exponent",
            expected: format!("1 to {highest}"),
            found: exponent.to_string(),
        })
    }

    /// The sum of two plaintexts of these parameters, slot by slot.
    ///
    /// # Errors
    /// Plaintexts of different moduli, or of other parameters.
    pub fn add(&self, other: &Self, params: &Params) -> Result<Self, SchemeError> {
        let t = self.modulus_with(other, params, "addition of plaintexts")?;
        let coefficients = self
            .coefficients
            .iter()
            .zip(other.coefficients.iter())
            .map(|(&x, &y)| t.add(x, y))
            .collect::<Vec<_>>()
            .into();
        Ok(Plaintext { coefficients, ..*self })
    }

    /// The product of two plaintexts of these parameters, slot by slot.
    ///
    /// # Errors
    /// Plaintexts of different moduli, or of other parameters.
    pub fn mul(&self, other: &Self, params: &Params) -> Result<Self, SchemeError> {
        self.modulus_with(other, params, "multiplication of plaintexts")?;
        let coefficients = params
            .plaintext_ring()
            .mul(&self.coefficients, &other.coefficients, self.exponent)
            .into();
        Ok(Plaintext { coefficients, ..*self })
    }

    /// Every slot times `k`.
    ///
    /// # Errors
    /// A plaintext of other parameters.
    pub fn scaled(&self, k: i64, params: &Params) -> Result<Self, SchemeError> {
        let t = self.modulus_with(self, params, "multiplication of plaintexts")?;
        let coefficients =
            self.coefficients.iter().map(|&x| t.mul(x, t.reduce_i64(k))).collect::<Vec<_>>().into();
        Ok(Plaintext { coefficients, ..*self })
    }

    fn modulus_with(
        &self,
        other: &Self,
        params: &Params,
        operation: &'static str,
    ) -> Result<PrimePower, SchemeError> {
        same_modulus(self.exponent, other.exponent, operation)?;
        Self::check_exponent(params, self.exponent)?;
        [self, other].iter().try_for_each(|x| x.check_ring(params))?;
        if [self, other].iter().any(|x| x.coefficients.len() != params.degree()) {
            return Err(SchemeError::WrongParams {
                object: "the plaintext",
                name: params.name().into(),
            });
        }
        Ok(params.plaintext_ring().modulus(self.exponent))
    }

    /// The slot values, row by row.
    ///
    /// # Errors
    /// A plaintext whose slots are not all in Z/p^e, or one of another ring or prime.
    pub fn decode(&self, params: &Params) -> Result<Vec<u64>, SchemeError> {
        self.check_ring(params)?;
        Ok(params.plaintext_ring().decode(&self.coefficients, self.exponent)?)
    }

    /// The slot values as centered integers; 2^63 modulo 2^64 is -2^63.
    ///
    /// # Errors
    /// As [`Plaintext::decode`].
    pub fn decode_signed(&self, params: &Params) -> Result<Vec<i64>, SchemeError> {
        let values = Zeroizing::new(self.decode(params)?);
        let q = params.plaintext_ring().modulus(self.exponent);
        Ok(values.iter().map(|&v| q.centered(v)).collect())
    }

    /// The slot values of a decrypted plaintext. Slots that do not hold integers cannot be an
    /// honest result and are refused with the same error as every other such case.
    ///
    /// # Errors
    /// [`SchemeError::NotDecryptable`] unless all slots are in Z/p^e.
    pub fn decode_decrypted(&self, params: &Params) -> Result<Vec<u64>, SchemeError> {
        self.decode(params).map_err(SchemeError::of_decrypted)
    }

    /// The same as centered integers.
    ///
    /// # Errors
    /// As [`Plaintext::decode_decrypted`].
    pub fn decode_decrypted_signed(&self, params: &Params) -> Result<Vec<i64>, SchemeError> {
        self.decode_signed(params).map_err(SchemeError::of_decrypted)
    }

    /// Encodes slots that hold whole elements of GR(p^r, d): d coefficients for each slot, slot by
    /// slot, in the basis that [`everlevel_ring::PlaintextRing::encode_elements`] defines.
    ///
    /// # Errors
    /// Another number of values than slots times d, one outside of 0..p^r, or elements other than
    /// integers if the slots of the set repeat.
    pub fn encode_elements(params: &Params, values: &[u64]) -> Result<Self, SchemeError> {
        let exponent = params.plain_exponent();
        let coefficients = params.plaintext_ring().encode_elements(values, exponent)?.into();
        let (index, prime) = (params.spec().index, params.spec().plain_prime);
        let plaintext = Plaintext { coefficients, index, prime, exponent };
        plaintext.check_repeating(params)?;
        Ok(plaintext)
    }

    /// The slots as elements of GR(p^e, d): d coefficients for each slot.
    ///
    /// # Errors
    /// A plaintext of other parameters.
    pub fn decode_elements(&self, params: &Params) -> Result<Vec<u64>, SchemeError> {
        self.modulus_with(self, params, "decoding")?;
        Ok(params.plaintext_ring().decode_elements(&self.coefficients, self.exponent)?)
    }

    /// The coefficients modulo p^e, in natural order.
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// The index of the ring that it is a polynomial of.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The prime p of the plaintext modulus.
    pub fn prime(&self) -> u64 {
        self.prime
    }

    /// The exponent e of the plaintext modulus.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// log2 of the root mean square of the embeddings of the centered coefficients.
    pub fn root_mean_square_bits(&self, params: &Params) -> f64 {
        let real: Vec<f64> = params
            .plaintext_ring()
            .centered(&self.coefficients, self.exponent)
            .iter()
            .map(|&x| x as f64)
            .collect();
        let embeddings = params.ring().norm().embeddings(&real);
        let square = embeddings.iter().map(|x| x * x).sum::<f64>() / embeddings.len().max(1) as f64;
        square.max(1.0).log2() / 2.0
    }

    /// log2 of the exact canonical norm of the polynomial with the centered coefficients.
    pub fn norm_bits(&self, params: &Params) -> f64 {
        let centered =
            Zeroizing::new(params.plaintext_ring().centered(&self.coefficients, self.exponent));
        let real = Zeroizing::new(centered.iter().map(|&x| x as f64).collect::<Vec<f64>>());
        // A margin for the rounding of the floating-point transform.
        params.ring().norm().max(&real).max(1.0).log2() + 1e-6
    }
}

/// The centered coefficients of a plaintext of these parameters, in natural order.
pub fn message_coefficients(
    params: &Params,
    plaintext: &Plaintext,
) -> Result<Zeroizing<Vec<i64>>, SchemeError> {
    plaintext.check(params)?;
    Ok(Zeroizing::new(
        params.plaintext_ring().centered(&plaintext.coefficients, plaintext.exponent),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_coefficient() {
        let modulus = PrimePower::new(257, 2).unwrap();
        let key = Plaintext::from_reduced(8, Zeroizing::new(vec![54321; 3]), modulus);
        assert_eq!(format!("{key:?}"), "Plaintext(modulo p^2, 3 coefficients)");
    }
}
