//! Vectors of ciphertexts that are too many for memory: written to their file and read from it one
//! by one.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use everlevel_bgv::Ciphertext;
use everlevel_scheme::Params;

use crate::ciphertexts::{DESCRIPTOR_BYTES, fill, planned, read_one};
use crate::error::WireError;
use crate::file::{Existing, Pending, io_error};
use crate::file_keys::open_layout;
use crate::format::{Entry, Layout, Owners, encode_head};
use crate::id::{ParamsId, digest};
use crate::kind::ObjectKind;
use crate::manifest::bytes::digest_of_file;
use crate::options::ReadOptions;
use crate::summary::Metadata;

/// Writes ciphertexts to a file as they come. The file is there in full, or, if this is dropped
/// before [`CiphertextWriter::finish`], not at all; its bytes are those of
/// [`ciphertexts::to_bytes`](crate::ciphertexts::to_bytes). In memory there is one record.
pub struct CiphertextWriter {
    params: Params,
    path: PathBuf,
    pending: Pending,
    metadata: Metadata,
    owners: Owners,
    entries: Vec<Entry>,
    count: usize,
}

impl CiphertextWriter {
    /// Begins a file of `count` ciphertexts.
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
        let mut out = CiphertextWriter {
            params: params.clone(),
            path: path.into(),
            pending,
            metadata: metadata.clone(),
            owners: Owners::default(),
            entries: Vec::new(),
            count,
        };
        // Room for header and index, which are known last.
        let blank = Entry { descriptor: vec![0; DESCRIPTOR_BYTES], length: 0, checksum: [0; 16] };
        let head = out.head(&vec![blank; count])?;
        out.write(&head)?;
        Ok(out)
    }

    fn head(&self, entries: &[Entry]) -> Result<Vec<u8>, WireError> {
        let id = ParamsId::of(&self.params);
        encode_head(ObjectKind::CIPHERTEXTS, id, &self.owners, &self.metadata, entries)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.pending.file.write_all(bytes).map_err(|e| io_error(&self.path, &e))
    }

    /// Writes the next ciphertext.
    ///
    /// # Errors
    /// One of other parameters, of another owner than those before, or more than were announced;
    /// what the system refuses.
    pub fn push(&mut self, x: &Ciphertext) -> Result<(), WireError> {
        if self.entries.len() == self.count {
            return Err(WireError::malformed("ciphertexts of the file", self.count, "more"));
        }
        self.owners = Owners::common([self.owners.owner, x.owner()].into_iter())?;
        let record = planned(&self.params, x)?;
        let mut bytes = vec![0; record.length];
        fill(&self.params, x, &mut bytes);
        self.entries.push(record.entry(digest(&[&bytes])));
        self.write(&bytes)
    }

    /// Writes header and index, and gives the file its name. Returns its bytes.
    ///
    /// # Errors
    /// Fewer ciphertexts than were announced; what the system refuses.
    pub fn finish(mut self) -> Result<u64, WireError> {
        if self.entries.len() != self.count {
            return Err(WireError::malformed(
                "ciphertexts of the file",
                self.count,
                self.entries.len(),
            ));
        }
        let head = self.head(&self.entries)?;
        let failed = |e: std::io::Error| io_error(&self.path, &e);
        self.pending.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.pending.file.write_all(&head).map_err(failed)?;
        let bytes = self.pending.file.metadata().map_err(failed)?.len();
        self.pending.finish()?;
        Ok(bytes)
    }
}

/// Reads the ciphertexts of a file one by one. Opening reads the index only; to trust a manifest
/// it reads the file once, for its digest.
pub struct CiphertextReader {
    params: Params,
    path: PathBuf,
    file: File,
    layout: Layout,
    /// Of the file if what is trusted depends on it, else zeros.
    digest: [u8; 32],
    options: ReadOptions,
}

impl CiphertextReader {
    /// Opens a file of ciphertexts of these parameters. Noise bounds are what `options` trusts.
    ///
    /// # Errors
    /// A file that is not one of ciphertexts of these parameters, of an unknown owner unless
    /// `options` allow it, cut or damaged in its index, or not in the manifest that is to be
    /// trusted; what the system refuses.
    pub fn open(params: &Params, path: &Path, options: ReadOptions) -> Result<Self, WireError> {
        let (mut file, layout) = open_layout(path)?;
        let layout = layout.expect(ObjectKind::CIPHERTEXTS, params, &options)?;
        let mut digest = [0; 32];
        options.belief(layout.entries.len(), layout.owners.owner, || {
            digest = digest_of_file(&mut file, path, &layout)?;
            Ok(digest)
        })?;
        Ok(CiphertextReader {
            params: params.clone(),
            path: path.into(),
            file,
            layout,
            digest,
            options,
        })
    }

    /// The metadata of the file.
    pub fn metadata(&self) -> &Metadata {
        &self.layout.metadata
    }

    /// How many ciphertexts there are.
    pub fn len(&self) -> usize {
        self.layout.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ciphertext `i`.
    ///
    /// # Errors
    /// A place that is not there, a record that is larger than a ciphertext, damaged or not as the
    /// format says; what the system refuses.
    pub fn read(&mut self, i: usize) -> Result<Ciphertext, WireError> {
        let found = self.len() as u64;
        let (entry, range) = self
            .layout
            .entries
            .get(i)
            .ok_or(WireError::Truncated { needed: i as u64 + 1, found })?;
        let failed = |e: std::io::Error| io_error(&self.path, &e);
        // The header was checked against the length of the file.
        if entry.length > self.options.max_bytes {
            return Err(WireError::Limit {
                what: "bytes of a record",
                found: entry.length,
                limit: self.options.max_bytes,
            });
        }
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(range.start)).map_err(failed)?;
        (&mut self.file).take(entry.length).read_to_end(&mut bytes).map_err(failed)?;
        if (bytes.len() as u64) < entry.length {
            return Err(WireError::Truncated { needed: entry.length, found: bytes.len() as u64 });
        }
        self.layout.verify(i, &bytes, &self.options)?;
        let belief =
            self.options.belief(self.len(), self.layout.owners.owner, || Ok(self.digest))?;
        let descriptor = &self.layout.entries[i].0.descriptor;
        read_one(&self.params, &self.layout, (i, descriptor), &bytes, belief, &self.options)
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
        let mut reader = CiphertextReader::open(&params, &path, options.limited_to(10)).unwrap();
        assert_eq!(reader.read(0).unwrap_err().code(), "wire.limit");

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
