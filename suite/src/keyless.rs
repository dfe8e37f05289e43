//! What submissions without server keys have in common: keys and parameters in files, files of
//! ciphertexts by blocks.

use std::ops::Range;
use std::path::Path;

use everlevel_bgv::SecretKey;
use everlevel_ring::sample::system_rng;
use everlevel_scheme::{OptIn, Params, ParamsSpec};
use everlevel_wire::file::{Existing, read_file, write_file, write_secret_file};
use everlevel_wire::{
    BoundPolicy, CiphertextReader, Encryption, Metadata, PLACES, Places, ReadOptions,
    params as wire_params, secret_key,
};

use crate::error::SuiteError;
use crate::instance::Instance;
use crate::output::make_place_for;

/// Writes a new secret key, and the parameters for the server, which gets no keys.
pub(crate) fn generate_key(
    spec: ParamsSpec,
    parameters: &Path,
    secret_key: &Path,
) -> Result<(), SuiteError> {
    let params = Params::new(spec, OptIn::SecureOnly)?;
    let secret = SecretKey::generate(&params, &mut system_rng()?);
    for path in [parameters, secret_key] {
        make_place_for(path)?;
    }
    let public = wire_params::to_bytes(&params, &Metadata::new())?;
    write_file(parameters, &public, Existing::Replace)?;
    let bytes = secret_key::expose_to_bytes(&secret, &Metadata::new())?;
    Ok(write_secret_file(secret_key, &bytes, Existing::Replace)?)
}

/// The parameters, which have to be those of a workload: sums that fit below its plaintext modulus
/// wrap below another one, and nothing would show it.
pub(crate) fn read_params(wanted: &ParamsSpec, parameters: &Path) -> Result<Params, SuiteError> {
    let options = limited();
    let bytes = read_file(parameters, options.max_bytes)?;
    let spec = wire_params::spec_from_bytes(&bytes, &options)?.0;
    if spec != *wanted {
        return Err(SuiteError::Instance {
            expected: format!("parameters {:?}", wanted.name),
            found: format!("{:?} in {}", spec.name, parameters.display()),
        });
    }
    Ok(Params::new(spec, OptIn::SecureOnly)?)
}

/// The secret key, with the parameters that the server has, too.
pub(crate) fn read_key(
    wanted: &ParamsSpec,
    parameters: &Path,
    secret_key: &Path,
) -> Result<SecretKey, SuiteError> {
    let (params, options) = (read_params(wanted, parameters)?, limited());
    let bytes = read_file(secret_key, options.max_bytes)?;
    Ok(secret_key::from_bytes(&params, &bytes, &options)?.0)
}

/// What the files of ciphertexts of an instance say of themselves.
pub(crate) fn metadata(workload: &str, instance: &Instance) -> Metadata {
    Metadata::from([
        ("workload".into(), workload.into()),
        ("instance".into(), instance.name.into()),
    ])
}

/// Passes a file by what it says and by the number of its elements. Which upload it is of, an
/// upload's reader checks.
pub(crate) fn check_file(
    wanted: &Metadata,
    found: &Metadata,
    elements: usize,
    expected: usize,
) -> Result<(), SuiteError> {
    let mut found = found.clone();
    found.remove(PLACES);
    if found != *wanted || elements != expected {
        return Err(SuiteError::Instance {
            expected: format!("{wanted:?} with {expected} elements"),
            found: format!("{found:?} with {elements}"),
        });
    }
    Ok(())
}

/// Bytes that a stage reads at a time of what others made, at most: several times what any has to,
/// also with a ciphertext for each of hundreds of threads.
const LARGEST: u64 = 1 << 30;

/// Noise bounds of nobody, and no memory for what cannot be right.
pub(crate) fn limited() -> ReadOptions {
    ReadOptions::default().limited_to(LARGEST)
}

/// The same with noise bounds of encryptions under the secret key.
pub(crate) fn fresh() -> ReadOptions {
    limited().believing(BoundPolicy::Fresh(Encryption::Secret))
}

/// A part of an upload: a file of `count` ciphertexts, fresh from the secret key, each of which has
/// to be at the place that it was encrypted for.
pub(crate) fn open_upload(
    params: &Params,
    path: &Path,
    wanted: &Metadata,
    part: &str,
    count: usize,
) -> Result<CiphertextReader, SuiteError> {
    let file = CiphertextReader::open(params, path, fresh())?;
    check_file(wanted, file.metadata(), file.len(), count)?;
    Ok(file.in_places(part)?)
}

/// Passes parts of one upload.
pub(crate) fn same_upload(parts: &[Option<Places>]) -> Result<(), SuiteError> {
    if parts.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(SuiteError::Instance {
            expected: "files of one upload".into(),
            found: "those of several".into(),
        });
    }
    Ok(())
}

/// How many blocks of `slots` the inputs of an instance make.
pub(crate) fn blocks(instance: &Instance, slots: usize) -> usize {
    // At most 10^7 inputs.
    (instance.count as usize).div_ceil(slots)
}

/// Ranges up to a number, `together` at a time, or as many as there are threads.
pub(crate) fn batches(count: usize, together: usize) -> impl Iterator<Item = Range<usize>> {
    let together = together.max(rayon::current_num_threads());
    (0..count).step_by(together).map(move |first| first..(first + together).min(count))
}
