//! Places of ciphertexts in the files of an upload, and the seeds that follow from them.

use everlevel_ring::sample::{self, Seed};
use everlevel_scheme::Params;
use rand_core::CryptoRng;

use crate::error::WireError;
use crate::id::ParamsId;
use crate::manifest::bounds::hexadecimal;
use crate::summary::Metadata;

/// The name in the metadata of files whose ciphertexts are bound to their places.
pub const PLACES: &str = "places";
/// What the value begins with.
const VERSION: &str = "1:";
/// What separates seeds from everything else that is derived by BLAKE3.
const CONTEXT: &str = "everlevel 2026-11-27 seed of a ciphertext at its place, version 1";
/// Bytes of what an upload is named by.
const BYTES: usize = 32;

/// What an upload is named by: 32 random bytes, which all of its files state.
///
/// The seed of each ciphertext is derived from these bytes, the parameter set, the part of the
/// upload and the place in its file, so that a reader sees whether a ciphertext was made for the
/// place where it is. One with the seed of another place does not decrypt: its phase is uniform.
/// This costs a hash for each ciphertext, and no bytes but those of the metadata.
///
/// It does not authenticate the content. Who can write to a file can put an encryption of something
/// else in a place, as it can be computed from the one that is there, or an older upload in the
/// place of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places([u8; BYTES]);

impl Places {
    /// A new upload.
    pub fn new(rng: &mut impl CryptoRng) -> Self {
        Places(sample::seed(rng))
    }

    /// Those that metadata state.
    pub(crate) fn stated(metadata: &Metadata) -> Result<Self, WireError> {
        let value = metadata.get(PLACES);
        value.and_then(|value| Self::parse(value)).ok_or_else(|| {
            let expected = format!("{VERSION:?} and {} hexadecimal digits", 2 * BYTES);
            let found = value.map_or("nothing of it", String::as_str);
            WireError::malformed("places in the metadata of an upload", expected, found)
        })
    }

    /// The bytes of a value, which has one spelling.
    fn parse(value: &str) -> Option<Self> {
        let digits = value.strip_prefix(VERSION)?.as_bytes();
        if digits.len() != 2 * BYTES {
            return None;
        }
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let mut out = [0; BYTES];
        for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
        }
        Some(Places(out))
    }

    /// The metadata with these places.
    pub(crate) fn state(&self, metadata: &Metadata) -> Metadata {
        let mut out = metadata.clone();
        out.insert(PLACES.into(), format!("{VERSION}{}", hexadecimal(&self.0)));
        out
    }
}

/// The places of one file.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    places: Places,
    id: ParamsId,
    part: String,
}

impl Bound {
    pub(crate) fn new(places: Places, params: &Params, part: &str) -> Self {
        Bound { places, id: ParamsId::of(params), part: part.into() }
    }

    /// The upload.
    pub(crate) fn places(&self) -> Places {
        self.places
    }

    /// The seed of the ciphertext at a place. The part is last, and all before it has its length.
    pub(crate) fn seed(&self, place: usize) -> Seed {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&self.places.0).update(&self.id.0);
        hasher.update(&(place as u64).to_le_bytes()).update(self.part.as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// Passes a ciphertext with the seed of its place.
    pub(crate) fn check(&self, place: usize, found: Option<&Seed>) -> Result<(), WireError> {
        if found == Some(&self.seed(place)) {
            return Ok(());
        }
        Err(WireError::Misplaced { place, part: self.part.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_metadata_have_one_spelling() {
        let places = Places(std::array::from_fn(|i| 8 * i as u8));
        let known = Metadata::from([("name".into(), "value".into())]);
        let metadata = places.state(&known);
        assert_eq!(metadata.len(), 2);
        assert_eq!(Places::stated(&metadata), Ok(places));
        let value = metadata[PLACES].clone();
        assert!(value.starts_with("1:000810"), "{value}");
        for wrong in [
            "",
            "1:",
            &value[..value.len() - 1],
            &format!("{value}0"),
            &value.to_uppercase(),
            &value.replacen("1:", "2:", 1),
            &value.replacen("1:", "", 1),
            &value.replacen("08", "0é", 1),
        ] {
            let metadata = Metadata::from([(PLACES.into(), wrong.into())]);
            assert_eq!(Places::stated(&metadata).unwrap_err().code(), "wire.malformed", "{wrong}");
        }
        assert_eq!(Places::stated(&known).unwrap_err().code(), "wire.malformed");
    }

    /// The seed depends on the upload, the parameter set, the part and the place.
    #[test]
    fn seeds_of_places_differ() {
        let bound = |byte: u8, id: u8, part: &str| Bound {
            places: Places([byte; BYTES]),
            id: ParamsId([id; 16]),
            part: part.into(),
        };
        let all = [bound(1, 1, "a"), bound(2, 1, "a"), bound(1, 2, "a"), bound(1, 1, "b")];
        let seeds = all.iter().flat_map(|bound| [0, 1, 256].map(|place| bound.seed(place)));
        let seeds: std::collections::BTreeSet<Seed> = seeds.collect();
        assert_eq!(seeds.len(), 12);
        assert_eq!(all[0].seed(7), bound(1, 1, "a").seed(7));
        assert_eq!(all[0].check(7, Some(&all[0].seed(7))), Ok(()));
        for wrong in [None, Some(&all[0].seed(6)), Some(&all[3].seed(7))] {
            assert_eq!(all[0].check(7, wrong).unwrap_err().code(), "wire.misplaced");
        }
    }
}
