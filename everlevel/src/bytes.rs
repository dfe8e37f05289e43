//! Conversion of objects to bytes and back.

use everlevel_bgv::{Ciphertext, CompactCiphertext, EvalKeys, PublicKey, ServerKeys};
use everlevel_scheme::{Params, Plaintext};
use everlevel_wire::{
    Metadata, ReadOptions, ciphertexts, plaintexts, public_key, results, server_keys,
};

use crate::error::Error;

/// Objects that a client and a server exchange, as bytes with checksums and the id of the parameter
/// set.
///
/// It is implemented for public keys, server keys, and lists of ciphertexts, of results
/// ([`CompactCiphertext`]) and of plaintexts. Secret keys do not implement it: see
/// [`Client::save`](crate::Client::save). docs/format.md specifies the format.
pub trait Bytes: Sized {
    /// The bytes.
    ///
    /// # Errors
    /// An object of other parameters.
    fn to_bytes(&self, params: &Params) -> Result<Vec<u8>, Error> {
        self.to_bytes_with(params, &Metadata::new())
    }

    /// The same with metadata of your own in their header.
    ///
    /// # Errors
    /// As [`Bytes::to_bytes`].
    fn to_bytes_with(&self, params: &Params, metadata: &Metadata) -> Result<Vec<u8>, Error>;

    /// The object in bytes. Stated noise bounds are not trusted: a ciphertext can be decrypted, but
    /// not used in computation; for that, state which bounds to trust with
    /// [`Bytes::from_bytes_with`].
    ///
    /// # Errors
    /// Bytes that are damaged, hold something else, or belong to another parameter set.
    fn from_bytes(params: &Params, bytes: &[u8]) -> Result<Self, Error> {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        Ok(Self::from_bytes_with(params, bytes, &options)?.0)
    }

    /// The object in bytes, with the metadata; `options` state which noise bounds are trusted.
    ///
    /// # Errors
    /// As [`Bytes::from_bytes`].
    fn from_bytes_with(
        params: &Params,
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<(Self, Metadata), Error>;
}

macro_rules! bytes {
    ($($object:ty, $module:ident, |$x:ident, $params:ident, $metadata:ident| $write:expr;)*) => {$(
        impl Bytes for $object {
            fn to_bytes_with(
                &self,
                $params: &Params,
                $metadata: &Metadata,
            ) -> Result<Vec<u8>, Error> {
                let $x = self;
                Ok($write?)
            }

            fn from_bytes_with(
                params: &Params,
                bytes: &[u8],
                options: &ReadOptions,
            ) -> Result<(Self, Metadata), Error> {
                Ok($module::from_bytes(params, bytes, options)?)
            }
        }
    )*};
}

bytes! {
    Vec<Ciphertext>, ciphertexts, |x, params, metadata| ciphertexts::to_bytes(params, x, metadata);
    Vec<CompactCiphertext>, results, |x, params, metadata| results::to_bytes(params, x, metadata);
    Vec<Plaintext>, plaintexts, |x, params, metadata| plaintexts::to_bytes(params, x, metadata);
    PublicKey, public_key, |x, params, metadata| of(params, x.params(), "public key")
        .and_then(|()| Ok(public_key::to_bytes(x, metadata)?));
    ServerKeys, server_keys, |x, params, metadata| of(params, x.params(), "server keys")
        .and_then(|()| Ok(server_keys::to_bytes(x, metadata)?));
}

fn of(params: &Params, found: &Params, object: &'static str) -> Result<(), Error> {
    if found.same(params) {
        return Ok(());
    }
    Err(everlevel_scheme::SchemeError::WrongParams { object, name: params.name().into() }.into())
}
