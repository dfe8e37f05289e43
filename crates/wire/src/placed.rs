//! Files of an upload whose ciphertexts are bound to their places.

use std::path::Path;

use everlevel_bgv::Ciphertext;
use everlevel_ring::sample::Seed;
use everlevel_scheme::Params;
use rayon::prelude::*;

use crate::error::WireError;
use crate::file::Existing;
use crate::places::{Bound, Places};
use crate::record::Record;
use crate::summary::Metadata;
use crate::vector_file::{CiphertextWriter, VectorReader};

/// Writes fresh encryptions to a file of an upload, each bound to its place ([`Places`]);
/// [`VectorReader::in_places`] reads them. As [`VectorWriter`](crate::VectorWriter) otherwise.
pub struct PlacedWriter {
    writer: CiphertextWriter,
    bound: Bound,
}

impl PlacedWriter {
    /// Begins a file of `count` ciphertexts, which is this part of an upload. No two files of one
    /// upload, for one parameter set, may be the same part.
    ///
    /// # Errors
    /// As [`VectorWriter::create`](crate::VectorWriter::create).
    pub fn create(
        params: &Params,
        path: &Path,
        existing: Existing,
        count: usize,
        metadata: &Metadata,
        places: &Places,
        part: &str,
    ) -> Result<Self, WireError> {
        let metadata = places.state(metadata);
        let writer = CiphertextWriter::create(params, path, existing, count, &metadata)?;
        Ok(PlacedWriter { writer, bound: Bound::new(*places, params, part) })
    }

    /// Writes the next `count` ciphertexts. `encrypt(i, seed)` makes ciphertext i of them with this
    /// seed ([`SecretKey::encrypt_with_seed`](everlevel_bgv::SecretKey::encrypt_with_seed)), in
    /// parallel.
    ///
    /// # Errors
    /// A ciphertext with another seed ([`WireError::Misplaced`]); those of `encrypt` and of
    /// [`VectorWriter::push_all`](crate::VectorWriter::push_all).
    pub fn push_with<E: From<WireError> + Send>(
        &mut self,
        count: usize,
        encrypt: impl Fn(usize, Seed) -> Result<Ciphertext, E> + Sync,
    ) -> Result<(), E> {
        let (first, bound) = (self.writer.entries.len(), &self.bound);
        let one = |i: usize| {
            let x = encrypt(i, bound.seed(first + i))?;
            bound.check(first + i, x.seed())?;
            Ok::<_, E>(x)
        };
        let all = (0..count).into_par_iter().map(one).collect::<Result<Vec<_>, E>>()?;
        Ok(self.writer.push_all(&all)?)
    }

    /// Gives the file its name, without waiting for the disk. Returns its bytes.
    ///
    /// # Errors
    /// As [`VectorWriter::finish_without_sync`](crate::VectorWriter::finish_without_sync).
    pub fn finish_without_sync(self) -> Result<u64, WireError> {
        self.writer.finish_without_sync()
    }
}

impl<T: Record> VectorReader<T> {
    /// The same reader, which refuses an element that was not encrypted for its place in this part
    /// of an upload ([`Places`], [`WireError::Misplaced`]).
    ///
    /// # Errors
    /// A file that does not state its upload.
    pub fn in_places(mut self, part: &str) -> Result<Self, WireError> {
        let places = Places::stated(self.metadata())?;
        self.bound = Some(Bound::new(places, &self.params, part));
        Ok(self)
    }

    /// The upload that the file belongs to, after [`VectorReader::in_places`].
    pub fn places(&self) -> Option<Places> {
        self.bound.as_ref().map(Bound::places)
    }
}
