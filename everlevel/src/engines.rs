//! Servers on other engines than the processor, and values in their memory.

use std::sync::Arc;

use everlevel_bgv::{Ciphertext, Evaluator};
use everlevel_integers::{Column, Encrypted};
use everlevel_ring::Engine;

use crate::columns::IntegerValue;
use crate::error::Error;
use crate::integers::IntegerColumn;
use crate::keys::Keys;
use crate::server::{Server, Value, ValueOn};

impl<E: Engine> Server<E> {
    /// A server with these keys on an engine of their ring, which bootstraps as
    /// [`Server::with_keys`]. An engine with memory of its own keeps copies of keys there, of at
    /// most `key_bytes` bytes in all, but always the key that was used last.
    ///
    /// # Errors
    /// As [`Server::with_keys`].
    ///
    /// # Panics
    /// If the engine computes in another ring than that of the keys' parameters.
    pub fn with_engine(
        keys: impl Into<Keys>,
        engine: Arc<E>,
        key_bytes: u64,
    ) -> Result<Self, Error> {
        Self::as_stated(Evaluator::with_engine(keys.into(), engine, key_bytes))
    }

    /// A copy of a value in the memory of the engine, within the same range. Where one of the two
    /// is bootstrapped in place, the other one stays as it is.
    ///
    /// # Errors
    /// A ciphertext of other parameters; a fault of the engine.
    pub fn upload(&self, x: &Value) -> Result<everlevel_circuit::Value<Ciphertext<E>>, Error> {
        let copy = self.evaluator.upload(&x.get())?;
        Ok(ValueOn::<E>::from(copy).within(x.range()))
    }

    /// A copy of a value in the memory of the processor, within the same range, once the engine has
    /// computed it.
    ///
    /// # Errors
    /// A fault of the engine, now or earlier.
    pub fn download(&self, x: &everlevel_circuit::Value<Ciphertext<E>>) -> Result<Value, Error> {
        let copy = self.evaluator.download(&x.get())?;
        Ok(Value::from(copy).within(x.range()))
    }

    /// As [`Server::upload`], a column of typed integers.
    ///
    /// # Errors
    /// As [`Server::upload`].
    pub fn upload_column(&self, x: &IntegerColumn) -> Result<Column<Ciphertext<E>>, Error> {
        x.try_map(|x| self.upload(x))
    }

    /// As [`Server::upload`], a column or a total of typed integers.
    pub(crate) fn upload_integers(
        &self,
        x: &IntegerValue,
    ) -> Result<Encrypted<Ciphertext<E>>, Error> {
        x.try_map(|x| self.upload(x))
    }

    /// As [`Server::download`], a column or a total of typed integers.
    ///
    /// # Errors
    /// As [`Server::download`].
    pub fn download_integers(&self, x: &Encrypted<Ciphertext<E>>) -> Result<IntegerValue, Error> {
        x.try_map(|x| self.download(x))
    }
}
