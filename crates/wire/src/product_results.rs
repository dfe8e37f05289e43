//! Vectors of results of products: products before relinearization that are cut to what decryption
//! needs ([`Product::compact_for_decryption`](everlevel_bgv::Product::compact_for_decryption)),
//! which servers without keys return.

use std::borrow::Borrow;

use everlevel_bgv::CompactCiphertext;
use everlevel_scheme::{KeyId, Params};

use crate::error::WireError;
use crate::format::{Layout, Planned};
use crate::kind::ObjectKind;
use crate::options::{Belief, ReadOptions};
use crate::record::Record;
use crate::results::{RESULT_BYTES, plan, read, write};
use crate::summary::Metadata;
use crate::vector;

/// Compact products as bytes.
///
/// # Errors
/// A product of other parameters, or a ciphertext; products of two owners, metadata of 4 GiB or
/// more.
pub fn to_bytes(
    params: &Params,
    results: &[impl Borrow<CompactCiphertext> + Sync],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    vector::to_bytes::<CompactCiphertext>(params, results, metadata)
}

/// Compact products from bytes. They state no noise bounds, so what `options` trust is of no
/// effect; but with a manifest, which cannot list them, they are refused.
///
/// # Errors
/// Whatever is not as the format says, products of other parameters, or of an unknown owner unless
/// `options` allow it.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<CompactCiphertext>, Metadata), WireError> {
    vector::from_bytes(params, bytes, options)
}

/// In files of many, compact ciphertexts are those of products.
impl Record for CompactCiphertext {
    const KIND: ObjectKind = ObjectKind::PRODUCT_RESULTS;
    const DESCRIPTOR_BYTES: usize = RESULT_BYTES;

    fn record_owner(&self) -> Option<KeyId> {
        self.owner()
    }

    fn planned(&self, params: &Params) -> Result<Planned, WireError> {
        plan(params, self, 2)
    }

    fn fill(&self, _: &Params, out: &mut [u8]) {
        write(self, out);
    }

    fn read_one(
        params: &Params,
        layout: &Layout,
        (_, descriptor): (usize, &[u8]),
        record: &[u8],
        _: Belief<'_>,
    ) -> Result<Self, WireError> {
        read(params, layout, descriptor, record, 2)
    }
}
