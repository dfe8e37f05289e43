//! Records of a vector that are made before they are written.

use std::marker::PhantomData;

use everlevel_scheme::{KeyId, Params};
use rayon::prelude::*;

use crate::error::WireError;
use crate::format::Entry;
use crate::id::{ParamsId, digest};
use crate::record::Record;

/// The next elements of a file as their records, for
/// [`VectorWriter::push_packed`](crate::VectorWriter::push_packed): those that compute make them,
/// and another thread only writes.
pub struct Packed<T: Record> {
    pub(crate) id: ParamsId,
    pub(crate) owners: Vec<Option<KeyId>>,
    pub(crate) records: Vec<(Entry, Vec<u8>)>,
    element: PhantomData<T>,
}

impl<T: Record> Packed<T> {
    /// The records of elements of these parameters, made in parallel.
    ///
    /// # Errors
    /// An element of other parameters.
    pub fn new(params: &Params, all: &[T]) -> Result<Self, WireError> {
        let record = |x: &T| {
            let record = x.planned(params)?;
            let mut bytes = vec![0; record.length];
            x.fill(params, &mut bytes);
            Ok((record.entry(digest(&[&bytes])), bytes))
        };
        Ok(Packed {
            id: ParamsId::of(params),
            owners: all.iter().map(Record::record_owner).collect(),
            records: all.par_iter().map(record).collect::<Result<_, WireError>>()?,
            element: PhantomData,
        })
    }
}
