//! Uploads whose ciphertexts are not at the places that they were encrypted for: exchanged,
//! repeated, or of another upload, by whoever can write files of the format, with all checksums
//! right. The server refuses them, where it would compute a wrong answer otherwise.

use std::fs;
use std::path::Path;

use everlevel_bgv::Ciphertext;
use everlevel_scheme::{OptIn, Params, ParamsSpec};
use everlevel_suite::zn::whole::MODULI;
use everlevel_suite::{fetch, ml, zn};
use everlevel_wire::file::Existing;
use everlevel_wire::{
    BoundPolicy, CiphertextReader, CiphertextWriter, Encryption, Metadata, PLACES, ReadOptions,
};

use crate::stand_in::{StandIn, failure};
use crate::zn_whole;

/// A file of ciphertexts that can be written again in another order.
struct Rewritten<'p> {
    params: Params,
    path: &'p Path,
    all: Vec<Ciphertext>,
    known: Metadata,
}

impl<'p> Rewritten<'p> {
    fn open(spec: ParamsSpec, path: &'p Path) -> Self {
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let fresh = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret));
        let mut file = CiphertextReader::open(&params, path, fresh).unwrap();
        let (count, known) = (file.len(), file.metadata().clone());
        let all = file.read_range(0..count).unwrap();
        Rewritten { params, path, all, known }
    }

    /// Puts these ciphertexts into the file.
    fn write<'c>(&self, all: impl ExactSizeIterator<Item = &'c Ciphertext>, known: &Metadata) {
        let (replace, count) = (Existing::Replace, all.len());
        let mut out =
            CiphertextWriter::create(&self.params, self.path, replace, count, known).unwrap();
        all.for_each(|x| out.push(x).unwrap());
        out.finish_without_sync().unwrap();
    }

    /// The file as it was, with the ciphertexts at two places exchanged, with one of them twice,
    /// and without what binds them; with the code of the stage that reads it. As it was, it is
    /// accepted, also if it was written anew.
    fn check(&self, harness: &StandIn, (i, j): (usize, usize), result: &str) {
        let code = || {
            // What an earlier run left is not taken for the result.
            let path = harness.io(result);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "a result").unwrap();
            let code = failure(&harness.stage("server_encrypted_compute"));
            assert!(!path.exists());
            code
        };
        let mut exchanged: Vec<&Ciphertext> = self.all.iter().collect();
        exchanged.swap(i, j);
        self.write(exchanged.into_iter(), &self.known);
        assert_eq!(code(), "wire.misplaced", "{i} and {j} exchanged");
        let mut repeated: Vec<&Ciphertext> = self.all.iter().collect();
        repeated[j] = &self.all[i];
        self.write(repeated.into_iter(), &self.known);
        assert_eq!(code(), "wire.misplaced", "{i} in the place of {j}");
        // The one at i is missing, and the last one is there twice.
        let mut moved: Vec<&Ciphertext> = self.all.iter().collect();
        moved.remove(i);
        moved.extend(self.all.last());
        self.write(moved.into_iter(), &self.known);
        assert_eq!(code(), "wire.misplaced", "without {i}");
        self.write(self.all.iter().skip(1), &self.known);
        assert_eq!(code(), "suite.instance");
        let mut unbound = self.known.clone();
        unbound.remove(PLACES);
        self.write(self.all.iter(), &unbound);
        assert_eq!(code(), "wire.malformed");
        self.write(self.all.iter(), &self.known);
        assert!(harness.stage("server_encrypted_compute").status.success());
    }
}

/// Digits of a factor, factors, and blocks of pairs.
#[test]
fn digits_at_other_places() {
    let harness = crate::zn::stand_in("medium", &crate::zn::pairs(100_000));
    harness.run_until("client_encode_encrypt_input");
    let path = harness.io("ciphertexts_upload/operands.ct");
    let file = Rewritten::open(zn::spec(), &path);
    for places in [(0, 1), (3, 4), (8, 16)] {
        file.check(&harness, places, "ciphertexts_download/products.ct");
    }
    // The same ciphertext of another upload, under the same key and of the same pairs.
    assert!(harness.stage("client_encode_encrypt_input").status.success());
    let other = Rewritten::open(zn::spec(), &path);
    let mixed = file.all.iter().take(5).chain(&other.all[5..]).collect::<Vec<_>>();
    other.write(mixed.into_iter(), &other.known);
    assert_eq!(failure(&harness.stage("server_encrypted_compute")), "wire.misplaced");
}

/// Factors, and blocks of few pairs.
#[test]
fn values_at_other_places() {
    let harness = crate::zn::stand_in("small", &crate::zn::pairs(1_000));
    harness.run_until("client_encode_encrypt_input");
    let path = harness.io("ciphertexts_upload/operands.ct");
    let file = Rewritten::open(zn::spec(), &path);
    assert_eq!(file.all.len(), 4);
    for places in [(0, 1), (1, 3)] {
        file.check(&harness, places, "ciphertexts_download/products.ct");
    }
}

/// Both factors, and files of two uploads.
#[test]
fn whole_numbers_at_other_places() {
    let harness = zn_whole::run_until("medium", 100_000, "client_encode_encrypt_input");
    let part = |i: usize| harness.io(&format!("ciphertexts_upload/operands-{}", MODULI[i]));
    let download = format!("ciphertexts_download/products-{}", MODULI[6]);
    for (i, places) in [(0, (0, 1)), (7, (4, 8))] {
        let path = part(i);
        let file = Rewritten::open(zn::whole::spec(MODULI[i]), &path);
        file.check(&harness, places, &download);
    }
    let kept = fs::read(part(4)).unwrap();
    assert!(harness.stage("client_encode_encrypt_input").status.success());
    fs::write(part(4), kept).unwrap();
    assert_eq!(failure(&harness.stage("server_encrypted_compute")), "suite.instance");
}

/// Pixels of an image.
#[test]
fn pixels_at_other_places() {
    let harness = crate::ml::encrypted();
    let path = harness.io("ciphertexts_upload/pixels.ct");
    let file = Rewritten::open(ml::spec(), &path);
    file.check(&harness, (200, 201), "ciphertexts_download/results.ct");
}

/// Coordinates, chunks of rows, payloads; a query in the place of a row, and files of two uploads.
#[test]
fn rows_and_payloads_at_other_places() {
    let (first, spec) = (crate::fetch::first(), fetch::spec(11));
    let harness = crate::fetch::stand_in(&first.repeat(crate::fetch::ROWS), &first);
    let keys = &crate::fetch::KEYS;
    crate::fetch::run_with(keys, &harness, "client_encode_encrypt_query");
    let [rows, payloads, query] = ["rows.ct", "payloads.ct", "query.bin"]
        .map(|name| harness.io("ciphertexts_upload").join(name));
    let result = "ciphertexts_download/results.bin";
    let file = Rewritten::open(spec.clone(), &rows);
    for places in [(2, 3), (7, 7 + crate::fetch::DIMENSION)] {
        file.check(&harness, places, result);
    }
    let numbers = Rewritten::open(spec.clone(), &payloads);
    numbers.check(&harness, (6, 13), result);
    let asked = Rewritten::open(spec, &query);
    asked.write(file.all.iter().take(1), &file.known);
    assert_eq!(failure(&harness.stage("server_encrypted_compute")), "wire.misplaced");
    asked.write(asked.all.iter(), &asked.known);
    // Rows of another upload under the same key.
    assert!(harness.stage("client_encode_encrypt_db").status.success());
    numbers.write(numbers.all.iter(), &numbers.known);
    assert_eq!(failure(&harness.stage("server_encrypted_compute")), "suite.instance");
}
