//! Vectors of products before relinearization, which servers without keys return for decryption
//! ([`SecretKey::decrypt_product`](everlevel_bgv::SecretKey::decrypt_product)).

use std::borrow::Borrow;

use everlevel_bgv::Product;
use everlevel_scheme::{KeyId, Meta, Params};

use crate::ciphertexts::{FULL, META_BYTES, decode_meta, encode_meta, read_polys, write_polys};
use crate::error::WireError;
use crate::format::{Layout, Planned};
use crate::kind::ObjectKind;
use crate::options::{Belief, ReadOptions};
use crate::poly::poly_len;
use crate::record::Record;
use crate::summary::Metadata;
use crate::vector;

/// Products as bytes. Equal products give equal bytes on every machine.
///
/// # Errors
/// A product of other parameters, products of two owners, metadata of 4 GiB or more.
pub fn to_bytes(
    params: &Params,
    products: &[impl Borrow<Product> + Sync],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    vector::to_bytes::<Product>(params, products, metadata)
}

/// Products from bytes. Their noise bounds depend on what `options` trusts, which is nothing by
/// default: see [`BoundPolicy`](crate::BoundPolicy).
///
/// # Errors
/// Bytes that violate the format, products of other parameters, or of an unknown owner unless
/// `options` allow it.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<Product>, Metadata), WireError> {
    vector::from_bytes(params, bytes, options)
}

/// How many polynomials a product has.
fn components(params: &Params) -> usize {
    2 * params.components() - 1
}

impl Record for Product {
    const KIND: ObjectKind = ObjectKind::PRODUCTS;
    const DESCRIPTOR_BYTES: usize = META_BYTES;

    fn record_owner(&self) -> Option<KeyId> {
        self.owner()
    }

    fn planned(&self, params: &Params) -> Result<Planned, WireError> {
        let meta = *self.meta();
        self.check(params)?;
        let length = components(params) * poly_len(params.ring(), params.chain().basis(meta.level));
        Ok(Planned { descriptor: encode_meta(&meta, FULL)?, length })
    }

    fn fill(&self, params: &Params, out: &mut [u8]) {
        write_polys(params, &self.components(params.cpu()), out);
    }

    fn read_one(
        params: &Params,
        layout: &Layout,
        (i, descriptor): (usize, &[u8]),
        record: &[u8],
        belief: Belief<'_>,
    ) -> Result<Self, WireError> {
        let (stated, encoding) = decode_meta(descriptor)?;
        if encoding != FULL {
            return Err(WireError::malformed("encoding of a product", FULL, encoding));
        }
        let meta = Meta { owner: layout.owners.owner, ..belief.meta(params, i, stated)? };
        let basis = params.chain().basis(meta.level);
        let polys = read_polys(params, components(params), basis, record)?;
        Ok(Product::from_parts(params, meta, polys)?)
    }
}
