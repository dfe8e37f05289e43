//! Typed integers: columns that a client encrypts and a server computes on.

use everlevel_bgv::Ciphertext;
use everlevel_circuit::PrimePower;
use everlevel_integers::{Column, Encoded, Integers, IntegersError, Total, Type, index_level};
use everlevel_ring::Engine;
use everlevel_scheme::{Level, Plaintext};
use rand_core::CryptoRng;

use crate::client::Client;
use crate::error::Error;
use crate::keys::ServerEvaluator;
use crate::server::Server;

/// An encrypted column of integers.
pub type IntegerColumn = Column<Ciphertext>;
/// The encrypted sum of a column.
pub type IntegerTotal = Total<Ciphertext>;

impl Client {
    /// Encrypts a column of integers of a type under the secret key: one ciphertext for each
    /// hexadecimal digit of the type, with one entry in each slot.
    ///
    /// # Errors
    /// [`IntegersError::Value`] for a value outside of the type, [`IntegersError::Length`] for no
    /// values or more values than slots.
    pub fn encrypt_integers<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        kind: Type,
        rng: &mut impl CryptoRng,
    ) -> Result<IntegerColumn, Error> {
        self.encrypt_column_with(values, kind, |slots| {
            Ok(self.secret().encrypt(&Plaintext::encode(self.params(), slots)?, rng)?)
        })
    }

    /// The same with an index: for each digit and each of its values but the least, it also
    /// encrypts whether the digit is at least this value, at a low level. Comparisons of the column
    /// with public integers, and its tables of up to 12 bits, read these truth values, and take few
    /// products and a level for each digit but one. All else reads the digits, as without an index,
    /// and results have none.
    ///
    /// What an index decides has only a few levels left, so that a server without bootstrapping may
    /// refuse what follows: [`Column::without_index`] is the column without it.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for truth values, and for types of more than eight hexadecimal
    /// digits; as [`Client::encrypt_integers`].
    pub fn encrypt_indexed<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        kind: Type,
        rng: &mut impl CryptoRng,
    ) -> Result<IntegerColumn, Error> {
        let (params, top) = (self.params(), self.params().chain().top());
        self.encrypt_column_at(values, kind, (top, Some(index_level(params, kind)?)), rng)
    }

    /// A column whose digits are encrypted at the first of two levels, with an index at the second
    /// one if there is one.
    pub(crate) fn encrypt_column_at<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        kind: Type,
        (level, index): (Level, Option<Level>),
        rng: &mut impl CryptoRng,
    ) -> Result<IntegerColumn, Error> {
        let mut encrypt = |slots: &[u64], own: Option<Level>| -> Result<Ciphertext, Error> {
            let plain = Plaintext::encode(self.params(), slots)?;
            Ok(self.secret().encrypt_at(&plain, own.unwrap_or(level), rng)?)
        };
        let Some(index) = index else {
            return self.encrypt_column_with(values, kind, |slots| encrypt(slots, None));
        };
        let values =
            zeroize::Zeroizing::new(values.iter().map(|v| (*v).into()).collect::<Vec<_>>());
        Encoded::new(&values, kind, self.params().slots())?.encrypt_indexed(index, encrypt)
    }

    /// A column whose slots `encrypt` encrypts.
    pub(crate) fn encrypt_column_with<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        kind: Type,
        encrypt: impl FnMut(&[u64]) -> Result<Ciphertext, Error>,
    ) -> Result<IntegerColumn, Error> {
        let values =
            zeroize::Zeroizing::new(values.iter().map(|v| (*v).into()).collect::<Vec<_>>());
        Encoded::new(&values, kind, self.params().slots())?.encrypt(encrypt)
    }

    /// The entries of a column. They are exact; the column is refused unless all digits and values
    /// are within the intervals that follow from the types of the inputs and the operations.
    ///
    /// # Errors
    /// [`IntegersError::Value`] for a value that `T` cannot hold; `scheme.not-decryptable` for
    /// digits or values outside of their intervals; too much noise, ciphertexts of other
    /// parameters.
    pub fn decrypt_integers<T: TryFrom<i128>>(&self, x: &IntegerColumn) -> Result<Vec<T>, Error> {
        let modulus = PrimePower::new(self.params().spec().plain_prime, 1)?;
        let found = x.decrypt(modulus, |x| self.decrypt_modular(x))?;
        found.iter().enumerate().map(|(position, v)| held(*v, position)).collect()
    }

    /// The sum of a column.
    ///
    /// # Errors
    /// As [`Client::decrypt_integers`].
    pub fn decrypt_total<T: TryFrom<i128>>(&self, x: &IntegerTotal) -> Result<T, Error> {
        let modulus = PrimePower::new(self.params().spec().plain_prime, 1)?;
        held(x.decrypt(modulus, |x| self.decrypt_modular(x))?, 0)
    }
}

/// Converts a value to the type that the caller requests.
pub(crate) fn held<T: TryFrom<i128>>(value: i128, position: usize) -> Result<T, Error> {
    T::try_from(value).map_err(|_| {
        let expected = format!("one that {} holds", std::any::type_name::<T>());
        IntegersError::Value { value, position, expected }.into()
    })
}

impl<E: Engine> Server<E> {
    /// Typed integers on this server: comparisons, selection, carries, tables, sums.
    ///
    /// # Errors
    /// [`IntegersError::Set`] for a set whose plaintext modulus is not a prime of at least 257.
    pub fn integers(&self) -> Result<Integers<'_, ServerEvaluator<E>>, Error> {
        Ok(Integers::new(&self.session, self.params())?)
    }
}
