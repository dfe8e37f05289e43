//! Vectors as bytes.

use std::borrow::Borrow;

use everlevel_scheme::Params;
use rayon::prelude::*;

use crate::error::WireError;
use crate::format::{Layout, Owners, encode_owned};
use crate::id::ParamsId;
use crate::manifest::bounds::digest_of;
use crate::options::ReadOptions;
use crate::record::Record;
use crate::summary::Metadata;

/// A vector as bytes.
pub(crate) fn to_bytes<T: Record>(
    params: &Params,
    all: &[impl Borrow<T> + Sync],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    let records = all.iter().map(|x| x.borrow().planned(params)).collect::<Result<Vec<_>, _>>()?;
    let owners = Owners::common(all.iter().map(|x| x.borrow().record_owner()))?;
    let id = ParamsId::of(params);
    encode_owned(T::KIND, id, &owners, metadata, &records, |i, out| {
        all[i].borrow().fill(params, out)
    })
}

/// A vector from bytes, with the metadata.
pub(crate) fn from_bytes<T: Record>(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<T>, Metadata), WireError> {
    let layout = Layout::of(bytes, T::KIND, params, options)?;
    let belief =
        options.belief(layout.entries.len(), layout.owners.owner, || Ok(digest_of(bytes)))?;
    let read = |i: usize| {
        let record = layout.record(bytes, i)?;
        let descriptor = &layout.entries[i].0.descriptor;
        T::read_one(params, &layout, (i, descriptor), record, belief)
    };
    let all = (0..layout.entries.len()).into_par_iter().map(read);
    Ok((all.collect::<Result<_, WireError>>()?, layout.metadata))
}
