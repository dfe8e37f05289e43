//! Keys of submissions whose server has some, in files.

use std::path::Path;

use everlevel_bgv::SecretKey;
use everlevel_ring::sample::system_rng;
use everlevel_scheme::{KeyPlan, Params};
use everlevel_wire::file::{Existing, read_file, write_secret_file};
use everlevel_wire::{Metadata, generate_to_file, secret_key};

use crate::error::SuiteError;
use crate::keyless::limited;
use crate::output::make_place_for;

/// Writes a new secret key, and then the server's keys of a plan. What is in the place of either is
/// replaced when that is complete; until both are, their owners differ.
pub(crate) fn generate(
    params: &Params,
    plan: &KeyPlan,
    metadata: &Metadata,
    secret_path: &Path,
    server_path: &Path,
) -> Result<(), SuiteError> {
    let mut rng = system_rng()?;
    let secret = SecretKey::generate(params, &mut rng);
    make_place_for(secret_path)?;
    let bytes = secret_key::expose_to_bytes(&secret, &Metadata::new())?;
    write_secret_file(secret_path, &bytes, Existing::Replace)?;
    make_place_for(server_path)?;
    let replace = Existing::Replace;
    generate_to_file(server_path, replace, &secret, plan, metadata, &mut rng, |_, _| ())?;
    Ok(())
}

/// The secret key.
pub(crate) fn read_secret(params: &Params, path: &Path) -> Result<SecretKey, SuiteError> {
    let options = limited();
    Ok(secret_key::from_bytes(params, &read_file(path, options.max_bytes)?, &options)?.0)
}
