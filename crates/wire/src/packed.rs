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

/// A record, and the owner of what it was made of.
type Made = (Option<KeyId>, (Entry, Vec<u8>));

impl<T: Record> Packed<T> {
    /// The records of elements of these parameters, made in parallel.
    ///
    /// # Errors
    /// An element of other parameters.
    pub fn new(params: &Params, all: &[T]) -> Result<Self, WireError> {
        let made = all.par_iter().map(|x| record(params, x)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::of(params, made))
    }

    /// [`Packed::new`] of the elements that `make` makes of `sources`, in their order. Each is
    /// dropped once its record is there, so that memory for all of them is neither taken nor read
    /// again.
    ///
    /// # Errors
    /// Those of `make`; an element of other parameters.
    pub fn made<S: Send, E: From<WireError> + Send>(
        params: &Params,
        sources: Vec<S>,
        make: impl Fn(S) -> Result<T, E> + Send + Sync,
    ) -> Result<Self, E> {
        let one = |source: S| -> Result<Made, E> { Ok(record(params, &make(source)?)?) };
        let made = sources.into_par_iter().map(one).collect::<Result<Vec<_>, E>>()?;
        Ok(Self::of(params, made))
    }

    fn of(params: &Params, made: Vec<Made>) -> Self {
        let (owners, records) = made.into_iter().unzip();
        Packed { id: ParamsId::of(params), owners, records, element: PhantomData }
    }
}

fn record<T: Record>(params: &Params, x: &T) -> Result<Made, WireError> {
    let record = x.planned(params)?;
    let mut bytes = vec![0; record.length];
    x.fill(params, &mut bytes);
    Ok((x.record_owner(), (record.entry(digest(&[&bytes])), bytes)))
}
