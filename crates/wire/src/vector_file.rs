//! Vectors that are too long for memory: written to their file and read from it a few records at a
//! time.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everlevel_bgv::{Ciphertext, CompactCiphertext, Product, SeededCiphertext, StoredCiphertext};
use everlevel_ring::cpu::SharedBytes;
use everlevel_scheme::Params;
use rayon::prelude::*;

use crate::error::WireError;
use crate::file::{Existing, Pending, io_error, read_bytes};
use crate::format::{Entry, Layout, Owners, encode_head};
use crate::id::ParamsId;
use crate::inspected::open_layout;
use crate::manifest::bytes::digest_of_file;
use crate::options::ReadOptions;
use crate::packed::Packed;
use crate::places::Bound;
use crate::record::{Record, all_of};
use crate::summary::Metadata;

/// Writes ciphertexts to a file as they come; see [`VectorWriter`].
pub type CiphertextWriter = VectorWriter<Ciphertext>;
/// Writes products to a file as they come; see [`VectorWriter`].
pub type ProductWriter = VectorWriter<Product>;
/// Writes results of products to a file as they come; see [`VectorWriter`].
pub type ProductResultWriter = VectorWriter<CompactCiphertext>;
/// Reads the ciphertexts of a file a few at a time; see [`VectorReader`].
pub type CiphertextReader = VectorReader<Ciphertext>;
/// Reads the ciphertexts of a file a few at a time and leaves their seeds as they are.
pub type SeededReader = VectorReader<SeededCiphertext>;
/// Reads the ciphertexts of a file a few at a time, whose bytes are checked and stay as they are.
pub type StoredReader = VectorReader<StoredCiphertext>;
/// Reads the products of a file a few at a time; see [`VectorReader`].
pub type ProductReader = VectorReader<Product>;
/// Reads the results of products in a file a few at a time; see [`VectorReader`].
pub type ProductResultReader = VectorReader<CompactCiphertext>;

/// Writes a vector to a file as its elements come. The file is there in full, or, if this is
/// dropped before it is finished, not at all; its bytes are those of `to_bytes` of
/// [`ciphertexts`](crate::ciphertexts), [`products`](crate::products) or
/// [`product_results`](crate::product_results). In memory there are the records of one call.
pub struct VectorWriter<T: Record> {
    params: Params,
    path: PathBuf,
    pending: Pending,
    metadata: Metadata,
    owners: Owners,
    pub(crate) entries: Vec<Entry>,
    count: usize,
    element: PhantomData<T>,
}

impl<T: Record> VectorWriter<T> {
    /// Begins a file of `count` elements.
    ///
    /// # Errors
    /// A file that is there already (unless it is to be replaced), and what the system refuses.
    pub fn create(
        params: &Params,
        path: &Path,
        existing: Existing,
        count: usize,
        metadata: &Metadata,
    ) -> Result<Self, WireError> {
        let pending = Pending::create(path, existing, false)?;
        let mut out = VectorWriter {
            params: params.clone(),
            path: path.into(),
            pending,
            metadata: metadata.clone(),
            owners: Owners::default(),
            entries: Vec::new(),
            count,
            element: PhantomData,
        };
        // Room for header and index, which are known last.
        let blank =
            Entry { descriptor: vec![0; T::DESCRIPTOR_BYTES], length: 0, checksum: [0; 16] };
        let head = out.head(&vec![blank; count])?;
        out.write(&head)?;
        Ok(out)
    }

    fn head(&self, entries: &[Entry]) -> Result<Vec<u8>, WireError> {
        let id = ParamsId::of(&self.params);
        encode_head(T::KIND, id, &self.owners, &self.metadata, entries)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.pending.file.write_all(bytes).map_err(|e| io_error(&self.path, &e))
    }

    /// Writes the next element.
    ///
    /// # Errors
    /// As [`VectorWriter::push_all`].
    pub fn push(&mut self, x: &T) -> Result<(), WireError> {
        self.push_all(std::slice::from_ref(x))
    }

    /// Writes the next elements, whose records are made in parallel.
    ///
    /// # Errors
    /// As [`VectorWriter::push_packed`]; elements of other parameters.
    pub fn push_all(&mut self, all: &[T]) -> Result<(), WireError> {
        self.push_packed(Packed::new(&self.params, all)?)
    }

    /// Writes the next elements, whose records were made before. It starts no work on other
    /// threads, so that a thread that does nothing but write waits for none.
    ///
    /// # Errors
    /// Records of other parameters, of another owner than those before or, after those of a known
    /// one, of an unknown one, or the reverse; more than were announced; what the system refuses.
    pub fn push_packed(&mut self, packed: Packed<T>) -> Result<(), WireError> {
        let Packed { id: found, owners, records, .. } = packed;
        if records.len() > self.count - self.entries.len() {
            return Err(WireError::malformed("elements of the file", self.count, "more"));
        }
        let expected = ParamsId::of(&self.params);
        if found != expected {
            let name = self.params.name().into();
            return Err(WireError::OtherParams { found, expected, name });
        }
        let before = (!self.entries.is_empty()).then_some(self.owners.owner);
        self.owners = Owners::common(before.into_iter().chain(owners))?;
        for (entry, bytes) in records {
            self.write(&bytes)?;
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Writes header and index, brings the file to the disk and gives it its name. Returns its
    /// bytes.
    ///
    /// # Errors
    /// Fewer elements than were announced; what the system refuses.
    pub fn finish(mut self) -> Result<u64, WireError> {
        let bytes = self.complete()?;
        self.pending.finish()?;
        Ok(bytes)
    }

    /// [`VectorWriter::finish`] without waiting for the disk, for files that need not outlive a
    /// power failure: after one, the file may be there and empty.
    ///
    /// # Errors
    /// As [`VectorWriter::finish`].
    pub fn finish_without_sync(mut self) -> Result<u64, WireError> {
        let bytes = self.complete()?;
        self.pending.publish()?;
        Ok(bytes)
    }

    /// Writes header and index.
    fn complete(&mut self) -> Result<u64, WireError> {
        if self.entries.len() != self.count {
            return Err(WireError::malformed(
                "elements of the file",
                self.count,
                self.entries.len(),
            ));
        }
        let head = self.head(&self.entries)?;
        let failed = |e: std::io::Error| io_error(&self.path, &e);
        self.pending.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.pending.file.write_all(&head).map_err(failed)?;
        Ok(self.pending.file.metadata().map_err(failed)?.len())
    }
}

/// Reads the vector of a file a few elements at a time. Opening reads the index only; to trust a
/// manifest it reads the file once, for its digest.
pub struct VectorReader<T: Record> {
    pub(crate) params: Params,
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    layout: Layout,
    /// Of the file if what is trusted depends on it, else zeros.
    digest: [u8; 32],
    options: ReadOptions,
    /// Where elements have to be, if they are bound to that.
    pub(crate) bound: Option<Bound>,
    element: PhantomData<T>,
}

impl<T: Record> VectorReader<T> {
    /// Opens a file of elements of these parameters. Noise bounds are what `options` trusts.
    ///
    /// # Errors
    /// A file that is of another kind or of other parameters, of an unknown owner unless `options`
    /// allow it, cut or damaged in its index, or not in the manifest that is to be trusted; what
    /// the system refuses.
    pub fn open(params: &Params, path: &Path, options: ReadOptions) -> Result<Self, WireError> {
        let (mut file, layout) = open_layout(path)?;
        let layout = layout.expect(T::KIND, params, &options)?;
        let mut digest = [0; 32];
        options.belief(layout.entries.len(), layout.owners.owner, || {
            digest = digest_of_file(&mut file, path, &layout)?;
            Ok(digest)
        })?;
        Ok(VectorReader {
            params: params.clone(),
            path: path.into(),
            file,
            layout,
            digest,
            options,
            bound: None,
            element: PhantomData,
        })
    }

    /// The metadata of the file.
    pub fn metadata(&self) -> &Metadata {
        &self.layout.metadata
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.layout.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element `i`.
    ///
    /// # Errors
    /// As [`VectorReader::read_range`].
    pub fn read(&mut self, i: usize) -> Result<T, WireError> {
        let next = i.checked_add(1).ok_or(WireError::Truncated { needed: u64::MAX, found: 0 })?;
        let mut one = self.read_range(i..next)?;
        Ok(one.pop().expect("one element was asked for"))
    }

    /// The elements at some places that follow each other: their bytes are read in one go, what
    /// they hold is checked, unpacked and, where a seed stands for it, expanded in parallel.
    ///
    /// # Errors
    /// A place that is not there, records that together are larger than `options` allow, damaged or
    /// not as the format says; what the system refuses.
    pub fn read_range(&mut self, places: Range<usize>) -> Result<Vec<T>, WireError> {
        let (range, mut bytes) = (self.bytes_of(&places)?, Vec::new());
        read_bytes(&mut self.file, &self.path, &range, &mut bytes)?;
        let bytes: SharedBytes = Arc::new(bytes);
        self.decode(places, &bytes)
    }

    /// Which bytes of the file the records at these places are.
    pub(crate) fn bytes_of(&self, places: &Range<usize>) -> Result<Range<u64>, WireError> {
        let (needed, found) = (places.end as u64, self.len() as u64);
        let entries = self
            .layout
            .entries
            .get(places.clone())
            .ok_or(WireError::Truncated { needed, found })?;
        let (Some((_, first)), Some((_, last))) = (entries.first(), entries.last()) else {
            return Ok(0..0);
        };
        // The header was checked against the length of the file.
        let length = last.end - first.start;
        if length > self.options.max_bytes {
            return Err(WireError::Limit {
                what: "bytes of the records",
                found: length,
                limit: self.options.max_bytes,
            });
        }
        Ok(first.start..last.end)
    }

    /// The elements at these places, whose bytes these are.
    pub(crate) fn decode(
        &self,
        places: Range<usize>,
        bytes: &SharedBytes,
    ) -> Result<Vec<T>, WireError> {
        let start = self.layout.entries.get(places.start).map_or(0, |(_, range)| range.start);
        let belief =
            self.options.belief(self.len(), self.layout.owners.owner, || Ok(self.digest))?;
        let element = |i: usize| {
            let (entry, range) = &self.layout.entries[i];
            let record = (range.start - start) as usize..(range.end - start) as usize;
            self.layout.verify(i, &all_of(bytes)[record.clone()])?;
            let (place, record) = ((i, &entry.descriptor[..]), (bytes, record));
            let x = T::read_shared(&self.params, &self.layout, place, record, belief)?;
            self.bound.as_ref().map_or(Ok(()), |bound| bound.check(i, x.record_seed()))?;
            Ok::<_, WireError>(x)
        };
        places.into_par_iter().map(element).collect()
    }
}

#[cfg(test)]
mod tests {
    use everlevel_bgv::SecretKey;
    use everlevel_scheme::{OptIn, Plaintext};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::ciphertexts;
    use crate::options::{BoundPolicy, Encryption};

    #[test]
    fn files_written_piece_by_piece_are_the_same() {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let secret = SecretKey::generate(&params, &mut rng);
        let plain = |i: u64| Plaintext::encode(&params, &[i, 7]).unwrap();
        let all: Vec<_> = (0..5).map(|i| secret.encrypt(&plain(i), &mut rng).unwrap()).collect();
        let metadata = Metadata::from([("name".into(), "value".into())]);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("many.ct");

        let mut writer =
            CiphertextWriter::create(&params, &path, Existing::Keep, 5, &metadata).unwrap();
        all.iter().for_each(|x| writer.push(x).unwrap());
        assert!(writer.push(&all[0]).is_err() && !path.exists());
        let bytes = writer.finish().unwrap();
        let written = std::fs::read(&path).unwrap();
        assert_eq!(written.len() as u64, bytes);
        assert_eq!(written, ciphertexts::to_bytes(&params, &all, &metadata).unwrap());

        let options = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret));
        let mut reader = CiphertextReader::open(&params, &path, options.clone()).unwrap();
        assert_eq!((reader.len(), reader.metadata()), (5, &metadata));
        for i in [4, 0, 2] {
            assert_eq!(secret.decrypt(&reader.read(i).unwrap()).unwrap(), plain(i as u64));
        }
        assert!(reader.read(5).is_err());
        let some = reader.read_range(1..4).unwrap();
        assert!(some.iter().zip(&all[1..]).all(|(x, y)| x.fingerprint() == y.fingerprint()));
        assert_eq!(some.len(), 3);
        assert!(reader.read_range(2..2).unwrap().is_empty());
        for places in [3..6, std::ops::Range { start: 4, end: 3 }, 6..6] {
            assert!(reader.read_range(places).is_err());
        }
        assert!(reader.read(usize::MAX).is_err());
        let limited = options.clone().limited_to(10);
        let mut reader = CiphertextReader::open(&params, &path, limited).unwrap();
        assert_eq!(reader.read(0).unwrap_err().code(), "wire.limit");

        // With their seeds, they are the same; one without is refused.
        let mut reader = SeededReader::open(&params, &path, options.clone()).unwrap();
        let seeded = reader.read_range(0..5).unwrap();
        for (x, y) in seeded.iter().zip(&all) {
            assert_eq!(x.expanded(&params).unwrap().fingerprint(), y.fingerprint());
        }
        let seeded: Vec<_> = all.iter().map(|x| SeededCiphertext::of(x).unwrap()).collect();
        let again = crate::vector::to_bytes::<SeededCiphertext>(&params, &seeded, &metadata);
        assert_eq!(again.unwrap(), written);
        // As they are in the file, too, read from a part of it and from all of it.
        let mut reader = StoredReader::open(&params, &path, options.clone()).unwrap();
        let mut stored = reader.read_range(0..2).unwrap();
        stored.extend(reader.read_range(2..5).unwrap());
        for (x, y) in stored.iter().zip(&all) {
            let unpacked = x.unpacked(&params).unwrap().expanded(&params).unwrap();
            assert_eq!(unpacked.fingerprint(), y.fingerprint());
        }
        let again = crate::vector::to_bytes::<StoredCiphertext>(&params, &stored, &metadata);
        assert_eq!(again.unwrap(), written);
        let found = crate::vector::from_bytes::<StoredCiphertext>(&params, &written, &options);
        assert_eq!(found.unwrap().0[3].body().bytes(), stored[3].body().bytes());
        let whole =
            Ciphertext::from_parts(&params, *all[0].meta(), all[0].components().to_vec()).unwrap();
        let bytes = ciphertexts::to_bytes(&params, &[whole], &metadata).unwrap();
        let path = directory.path().join("whole.ct");
        std::fs::write(&path, bytes).unwrap();
        let mut reader = SeededReader::open(&params, &path, options.clone()).unwrap();
        assert_eq!(reader.read(0).err().unwrap().code(), "wire.malformed");
        let mut reader = StoredReader::open(&params, &path, options).unwrap();
        assert_eq!(reader.read(0).err().unwrap().code(), "wire.malformed");
        std::fs::remove_file(&path).unwrap();

        // What is not finished is not there.
        let mut writer = CiphertextWriter::create(
            &params,
            &directory.path().join("none.ct"),
            Existing::Keep,
            2,
            &metadata,
        )
        .unwrap();
        writer.push(&all[0]).unwrap();
        assert!(writer.finish().is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
