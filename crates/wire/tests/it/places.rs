//! Ciphertexts of uploads are refused where they are not at the place that they were encrypted for.

use std::path::Path;

use everlevel_bgv::Ciphertext;
use everlevel_scheme::Plaintext;
use everlevel_wire::file::Existing;
use everlevel_wire::{
    BoundPolicy, CiphertextReader, CiphertextWriter, Encryption, Metadata, PLACES, PlacedWriter,
    Places, ReadAhead, ReadOptions, SeededReader, StoredReader, WireError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::common::Party;

const COUNT: usize = 5;

fn options() -> ReadOptions {
    ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret))
}

/// A party, and a file of its ciphertexts with what they encrypt.
struct File {
    party: Party,
    messages: Vec<Plaintext>,
}

impl File {
    fn new() -> Self {
        let party = Party::new("insecure_bgv-257-n8", 71);
        let messages = (0..COUNT as u64).map(|i| party.message(11 * i + 3)).collect();
        File { party, messages }
    }

    /// Writes the file in two pieces.
    fn write(&self, path: &Path, places: &Places, part: &str) {
        let (params, replace) = (&self.party.params, Existing::Replace);
        let known = Metadata::from([("name".into(), "value".into())]);
        let top = params.chain().top();
        let mut out =
            PlacedWriter::create(params, path, replace, COUNT, &known, places, part).unwrap();
        for piece in [0..2, 2..COUNT] {
            let encrypt = |i: usize, seed| {
                let mut rng = ChaCha20Rng::seed_from_u64(i as u64);
                let message = &self.messages[piece.start + i];
                Ok::<_, WireError>(
                    self.party.secret.encrypt_with_seed(message, top, seed, &mut rng)?,
                )
            };
            out.push_with(piece.len(), encrypt).unwrap();
        }
        out.finish_without_sync().unwrap();
    }

    /// The ciphertexts of a file, wherever they are.
    fn all(&self, path: &Path) -> (Vec<Ciphertext>, Metadata) {
        let mut file = CiphertextReader::open(&self.party.params, path, options()).unwrap();
        let count = file.len();
        (file.read_range(0..count).unwrap(), file.metadata().clone())
    }

    /// Writes ciphertexts in the place of a file, as who can change it may do.
    fn replace(&self, path: &Path, all: &[Ciphertext], metadata: &Metadata) {
        let (params, replace) = (&self.party.params, Existing::Replace);
        let mut out = CiphertextWriter::create(params, path, replace, all.len(), metadata).unwrap();
        out.push_all(all).unwrap();
        out.finish_without_sync().unwrap();
    }

    fn open(&self, path: &Path, part: &str) -> Result<CiphertextReader, WireError> {
        CiphertextReader::open(&self.party.params, path, options())?.in_places(part)
    }

    /// The code with which the file is refused as a whole.
    fn refused(&self, path: &Path, part: &str) -> &'static str {
        let mut file = self.open(path, part).unwrap();
        let count = file.len();
        file.read_range(0..count).err().unwrap().code()
    }
}

#[test]
fn ciphertexts_at_their_places_are_read() {
    let (file, directory) = (File::new(), tempfile::tempdir().unwrap());
    let path = directory.path().join("numbers.ct");
    let places = Places::new(&mut ChaCha20Rng::seed_from_u64(1));
    file.write(&path, &places, "numbers");
    let mut reader = file.open(&path, "numbers").unwrap();
    assert_eq!(reader.places(), Some(places));
    for piece in [3..5, 0..1, 0..COUNT] {
        let found = reader.read_range(piece.clone()).unwrap();
        for (x, message) in found.iter().zip(&file.messages[piece]) {
            assert!(file.party.secret.decrypt(x).unwrap() == *message);
        }
    }
    // Whoever does not ask for places reads the file as any other.
    let (all, metadata) = file.all(&path);
    assert_eq!((all.len(), metadata.len(), metadata["name"].as_str()), (COUNT, 2, "value"));
    // The same places, and other bytes, in another upload.
    let other = Places::new(&mut ChaCha20Rng::seed_from_u64(2));
    assert_ne!(other, places);
    file.write(&path, &other, "numbers");
    assert_eq!(file.open(&path, "numbers").unwrap().places(), Some(other));
    assert!(file.all(&path).0.iter().zip(&all).all(|(x, y)| x.seed() != y.seed()));
}

#[test]
fn ciphertexts_at_other_places_are_refused() {
    let (file, directory) = (File::new(), tempfile::tempdir().unwrap());
    let (path, second) = (directory.path().join("numbers.ct"), directory.path().join("second.ct"));
    let places = Places::new(&mut ChaCha20Rng::seed_from_u64(1));
    file.write(&path, &places, "numbers");
    let (all, metadata) = file.all(&path);
    // Exchanged, repeated, left out at the start, in the middle, in reverse.
    let orders: [&[usize]; 6] =
        [&[1, 0, 2, 3, 4], &[0, 1, 1, 3, 4], &[1, 2, 3, 4], &[0, 1, 3, 4], &[4, 3, 2, 1, 0], &[1]];
    for order in orders {
        let moved: Vec<_> = order.iter().map(|i| all[*i].clone()).collect();
        file.replace(&path, &moved, &metadata);
        assert_eq!(file.refused(&path, "numbers"), "wire.misplaced", "{order:?}");
        // With their seeds, as they are in the file, and read ahead; what is at its place is still
        // read.
        let seeded = SeededReader::open(&file.party.params, &path, options()).unwrap();
        let seeded = seeded.in_places("numbers").unwrap();
        let stored = StoredReader::open(&file.party.params, &path, options()).unwrap();
        let stored = stored.in_places("numbers").unwrap();
        let pieces: Vec<_> = (0..order.len()).map(|i| i..i + 1).collect();
        let mut ahead = ReadAhead::start(seeded, pieces.clone(), 1).unwrap();
        let mut others = ReadAhead::start(stored, pieces, 1).unwrap();
        for (place, from) in order.iter().enumerate() {
            let wanted = (place != *from).then_some("wire.misplaced");
            let found = ahead.read(place..place + 1).err().map(|e| e.code());
            assert_eq!(found, wanted, "{order:?} {place}");
            let found = others.read(place..place + 1).err().map(|e| e.code());
            assert_eq!(found, wanted, "{order:?} {place}");
        }
    }
    // The ciphertexts of this place in another part, and of another upload.
    file.write(&second, &places, "others");
    assert_eq!(file.refused(&second, "numbers"), "wire.misplaced");
    file.write(&second, &Places::new(&mut ChaCha20Rng::seed_from_u64(2)), "numbers");
    let mut mixed = all.clone();
    mixed[3] = file.all(&second).0[3].clone();
    file.replace(&path, &mixed, &metadata);
    assert_eq!(file.refused(&path, "numbers"), "wire.misplaced");
    // What has no seed, and a file that states no upload.
    let (params, secret) = (&file.party.params, &file.party.secret);
    mixed[3] =
        Ciphertext::from_parts(params, *all[3].meta(), all[3].components().to_vec()).unwrap();
    file.replace(&path, &mixed, &metadata);
    assert_eq!(file.refused(&path, "numbers"), "wire.misplaced");
    let mut without = metadata.clone();
    without.remove(PLACES);
    file.replace(&path, &all, &without);
    assert_eq!(file.open(&path, "numbers").err().unwrap().code(), "wire.malformed");
    // With the seed of its new place a ciphertext is read, and does not decrypt.
    let (body, seed) = (all[1].components()[0].clone(), *all[0].seed().unwrap());
    let forged = Ciphertext::from_seeded(params, *all[1].meta(), body, seed).unwrap();
    file.replace(&path, &[forged], &metadata);
    let read = file.open(&path, "numbers").unwrap().read(0).unwrap();
    assert_eq!(secret.decrypt(&read).err().unwrap().code(), "scheme.not-decryptable");
}

#[test]
fn a_writer_refuses_other_seeds() {
    let (file, directory) = (File::new(), tempfile::tempdir().unwrap());
    let path = directory.path().join("numbers.ct");
    let (params, replace) = (&file.party.params, Existing::Replace);
    let places = Places::new(&mut ChaCha20Rng::seed_from_u64(1));
    let none = Metadata::new();
    let mut out =
        PlacedWriter::create(params, &path, replace, 1, &none, &places, "numbers").unwrap();
    let encrypt = |_: usize, _| {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        Ok::<_, WireError>(file.party.secret.encrypt(&file.messages[0], &mut rng)?)
    };
    assert_eq!(out.push_with(1, encrypt).unwrap_err().code(), "wire.misplaced");
    assert!(out.finish_without_sync().is_err() && !path.exists());
}
