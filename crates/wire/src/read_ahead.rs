//! Vectors whose bytes are read while something else is computed.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::Builder;

use everlevel_ring::cpu::SharedBytes;

use crate::buffer::Buffer;
use crate::error::WireError;
use crate::file::io_error;
use crate::record::Record;
use crate::vector_file::VectorReader;

/// Reads the elements of a file in an order that is known beforehand: while some are in use, a
/// thread reads the bytes of those that come next.
///
/// The thread waits for the disk and does nothing else. What the bytes hold is checked, unpacked
/// and expanded in parallel when it is asked for ([`ReadAhead::read`]), by the threads that also
/// compute, so that none of them waits for the disk.
pub struct ReadAhead<T: Record> {
    reader: VectorReader<T>,
    /// What has not been asked for yet.
    order: VecDeque<Range<usize>>,
    bytes: Receiver<Result<Buffer, WireError>>,
    /// Memory that the thread may use again.
    used: Sender<Buffer>,
}

/// Bytes that were read, whose memory goes back when nothing keeps them any more.
struct Piece {
    bytes: Buffer,
    used: Sender<Buffer>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // Refused once everything has been read.
        self.used.send(std::mem::take(&mut self.bytes)).ok();
    }
}

impl<T: Record> ReadAhead<T> {
    /// Begins to read the elements at these places, in this order. At most `ahead` + 1 of the
    /// pieces are in memory beside those in use: those that wait, and one that is being read. A
    /// piece is in use while it is decoded and, where elements keep their bytes
    /// ([`StoredReader`](crate::StoredReader)), as long as one of its elements is there.
    ///
    /// # Errors
    /// Places that are not there, a piece that is larger than the options of the reader allow; what
    /// the system refuses.
    pub fn start(
        reader: VectorReader<T>,
        order: Vec<Range<usize>>,
        ahead: usize,
    ) -> Result<Self, WireError> {
        let pieces = order.iter().map(|places| reader.bytes_of(places));
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        let failed = |e: std::io::Error| io_error(&reader.path, &e);
        let (mut file, path) = (reader.file.try_clone().map_err(failed)?, reader.path.clone());
        let (sender, bytes) = sync_channel(ahead);
        let (used, free) = channel::<Buffer>();
        let read = move || {
            for piece in pieces {
                // Memory that was used before needs no fresh pages.
                let mut bytes = free.try_recv().unwrap_or_default();
                let read = bytes.read(&mut file, &path, &piece).map(|()| bytes);
                let last = read.is_err();
                if sender.send(read).is_err() || last {
                    return;
                }
            }
        };
        Builder::new().name("reading ahead".into()).spawn(read).map_err(failed)?;
        Ok(ReadAhead { reader, order: order.into(), bytes, used })
    }

    /// The elements at these places, which have to be the next ones of the order.
    ///
    /// # Errors
    /// Other places; what [`VectorReader::read_range`] refuses. After an error of the system
    /// nothing more is read.
    pub fn read(&mut self, places: Range<usize>) -> Result<Vec<T>, WireError> {
        let next = self.order.front();
        if next != Some(&places) {
            let expected = next.map_or(String::from("none"), |next| format!("{next:?}"));
            return Err(WireError::malformed("next places", expected, format!("{places:?}")));
        }
        self.order.pop_front();
        let ended = |_| WireError::Io {
            path: self.reader.path.display().to_string(),
            problem: "expected more of the file, but reading has ended".into(),
        };
        let bytes = self.bytes.recv().map_err(ended)??;
        let piece: SharedBytes = Arc::new(Piece { bytes, used: self.used.clone() });
        self.reader.decode(places, &piece)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::{Seek, SeekFrom, Write};
    use std::path::Path;

    use everlevel_bgv::{Ciphertext, SecretKey};
    use everlevel_scheme::{OptIn, Params, Plaintext};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::file::{Existing, write_file};
    use crate::options::{BoundPolicy, Encryption, ReadOptions};
    use crate::{CiphertextReader, Metadata, StoredReader, ciphertexts};

    const COUNT: usize = 12;

    fn options() -> ReadOptions {
        ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret))
    }

    /// A file of [`COUNT`] ciphertexts, and what is in it.
    fn written(path: &Path) -> (Params, Vec<Ciphertext>) {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let secret = SecretKey::generate(&params, &mut rng);
        let plain = |i: usize| Plaintext::encode(&params, &[i as u64]).unwrap();
        let all: Vec<_> =
            (0..COUNT).map(|i| secret.encrypt(&plain(i), &mut rng).unwrap()).collect();
        let bytes = ciphertexts::to_bytes(&params, &all, &Metadata::new()).unwrap();
        write_file(path, &bytes, Existing::Replace).unwrap();
        (params, all)
    }

    fn start(params: &Params, path: &Path, order: &[Range<usize>]) -> ReadAhead<Ciphertext> {
        let reader = CiphertextReader::open(params, path, options()).unwrap();
        ReadAhead::start(reader, order.to_vec(), 1).unwrap()
    }

    fn same(found: &[Ciphertext], wanted: &[Ciphertext]) -> bool {
        found.len() == wanted.len()
            && found.iter().zip(wanted).all(|(x, y)| x.fingerprint() == y.fingerprint())
    }

    #[test]
    fn elements_come_in_the_order_that_was_announced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("many.ct");
        let (params, all) = written(&path);
        let order = [4..7, 0..1, 9..12, 0..12, 5..5, 3..5];
        let mut ahead = start(&params, &path, &order);
        for places in order {
            // Neither others nor those that were there before.
            for wrong in [places.start..places.end + 1, 1..2] {
                assert_eq!(ahead.read(wrong).unwrap_err().code(), "wire.malformed");
            }
            assert!(same(&ahead.read(places.clone()).unwrap(), &all[places]));
        }
        assert_eq!(ahead.read(3..5).unwrap_err().code(), "wire.malformed");
        // Nobody waits for a thread that is dropped at its work.
        drop(start(&params, &path, &std::array::from_fn::<_, 100, _>(|_| 0..COUNT)));
    }

    /// Elements that keep their bytes do so while others are read, in whatever order they go.
    #[test]
    fn bytes_that_are_kept_stay_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("many.ct");
        let (params, all) = written(&path);
        let reader = StoredReader::open(&params, &path, options()).unwrap();
        let order = [4..7, 0..1, 9..12, 0..12, 3..5, 7..8, 1..4];
        let mut ahead = ReadAhead::start(reader, order.to_vec(), 1).unwrap();
        let mut kept = Vec::new();
        for places in order {
            let wanted = all[places.clone()].to_vec();
            kept.push((ahead.read(places).unwrap(), wanted));
            for (found, wanted) in &kept {
                let found: Vec<_> = found
                    .iter()
                    .map(|x| x.unpacked(&params).unwrap().expanded(&params).unwrap())
                    .collect();
                assert!(same(&found, wanted));
            }
            if kept.len() == 3 {
                kept.remove(1);
            }
        }
        drop(ahead);
        drop(kept);
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_code() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("many.ct");
        let (params, all) = written(&path);
        let open = |options| CiphertextReader::open(&params, &path, options).unwrap();
        let refused = ReadAhead::start(open(options()), vec![0..1, 11..13], 1).err().unwrap();
        assert_eq!(refused.code(), "wire.truncated");
        let refused = ReadAhead::start(open(options().limited_to(10)), vec![0..1, 1..2], 1).err();
        assert_eq!(refused.unwrap().code(), "wire.limit");

        // A bit of the last record changes, and later the file is cut, after it was opened: what
        // was read before is right, and nothing is after the error of the system.
        let order: Vec<_> = (0..COUNT).map(|i| i..i + 1).collect();
        let bytes = std::fs::read(&path).unwrap();
        let near_the_end = bytes.len() - 100;
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        let mut ahead = start(&params, &path, &order);
        file.seek(SeekFrom::Start(near_the_end as u64)).unwrap();
        file.write_all(&[bytes[near_the_end] ^ 4]).unwrap();
        for i in 0..COUNT - 1 {
            assert!(same(&ahead.read(i..i + 1).unwrap(), &all[i..i + 1]), "{i}");
        }
        assert_eq!(ahead.read(COUNT - 1..COUNT).unwrap_err().code(), "wire.checksum");

        std::fs::write(&path, &bytes).unwrap();
        let mut ahead = start(&params, &path, &order);
        file.set_len(near_the_end as u64).unwrap();
        for i in 0..COUNT - 1 {
            assert!(same(&ahead.read(i..i + 1).unwrap(), &all[i..i + 1]), "{i}");
        }
        assert_eq!(ahead.read(COUNT - 1..COUNT).unwrap_err().code(), "wire.truncated");

        std::fs::write(&path, &bytes).unwrap();
        let mut ahead = start(&params, &path, &order);
        file.set_len(100).unwrap();
        // The thread may have read up to three by then.
        let codes: Vec<_> = order.iter().map(|i| ahead.read(i.clone()).err()).collect();
        let first = codes.iter().position(Option::is_some).unwrap();
        assert!(first <= 3, "{first}");
        let codes: Vec<_> = codes[first..].iter().flatten().map(|e| e.code()).collect();
        assert_eq!(codes[0], "wire.truncated");
        assert!(codes.len() == COUNT - first && codes[1..].iter().all(|code| *code == "wire.io"));
    }
}
