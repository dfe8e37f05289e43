//! The stages of the client that are about the query.

use everlevel_ring::sample::system_rng;
use everlevel_scheme::Plaintext;
use everlevel_wire::file::Existing;
use everlevel_wire::{PlacedWriter, Places};
use zeroize::Zeroizing;

use super::client::floats;
use super::diagonals::Diagonals;
use super::protocol::{Files, QUERY, Workload, metadata};
use super::rounding::{Rotation, check};
use crate::error::SuiteError;
use crate::keys::read_secret;
use crate::numbers::Bytes;
use crate::output::{Output, make_place_for};

/// `client_preprocess_query SIZE ...`: the query as small integers, a byte each, rotated as the
/// rows were.
///
/// # Errors
/// A file that does not hold a unit vector of floats; no rotation.
pub fn preprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let (workload, _) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.rounded_query)?;
    let rotation = Rotation::read(&files.rotation, workload.dimension)?;
    let mut query = Bytes::open(&files.query, 4 * workload.dimension as u64)?;
    let floats = floats(&query.read(4 * workload.dimension)?);
    let rounded = rotation.round(&floats);
    let rounded = rounded.map_err(|(expected, found)| query.unexpected(expected, found))?;
    let mut out = Output::create(files.rounded_query)?;
    out.write(&Zeroizing::new(rounded.iter().map(|x| *x as u8).collect::<Vec<_>>()))?;
    out.finish()
}

/// `client_encode_encrypt_query SIZE ...`: one ciphertext, along whose slots the coordinates
/// repeat.
///
/// # Errors
/// What `client_preprocess_query` does not make.
pub fn encrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let (workload, _) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.encrypted_query)?;
    let params = workload.params()?;
    let secret = read_secret(&params, &files.secret_key)?;
    let mut query = Bytes::open(&files.rounded_query, workload.dimension as u64)?;
    let bytes = query.read(workload.dimension)?;
    let rounded = Zeroizing::new(bytes.iter().map(|x| *x as i8).collect::<Vec<_>>());
    if !check(&rounded) {
        return Err(query.unexpected("a rounded unit vector", "another"));
    }
    let slots = Zeroizing::new(Diagonals::new(&params, &workload)?.query(&rounded));
    let message = Plaintext::encode_signed(&params, &slots)?;
    let (known, places) = (metadata(&workload.instance), Places::new(&mut system_rng()?));
    let (path, replace, top) = (&files.encrypted_query, Existing::Replace, params.chain().top());
    let mut out = PlacedWriter::create(&params, path, replace, 1, &known, &places, QUERY)?;
    out.push_with(1, |_, seed| {
        Ok::<_, SuiteError>(secret.encrypt_with_seed(&message, top, seed, &mut system_rng()?)?)
    })?;
    out.finish_without_sync()?;
    Ok(())
}
