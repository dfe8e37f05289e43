//! Typed columns with the ciphertexts that they are cut to, as files.

use std::path::Path;

use everlevel::files::{Bounds, Bytes};
use everlevel::lab::{SchemeError, TypedArray};
use everlevel::{Error, Params};
use everlevel_integers::Encrypted;
use everlevel_wire::{Metadata, Summary};

use super::super::args::SetOfFile;
use super::super::files::{of_decrypted, read_object};
use super::super::writer::ResultWriter;
use crate::console::errors::CliError;
use crate::console::files::of_file;

/// Writes columns, together with others.
pub fn write(
    out: &Path,
    force: bool,
    params: &Params,
    arrays: Vec<TypedArray>,
    mut metadata: Metadata,
    writer: &mut ResultWriter,
) -> Result<u64, CliError> {
    let columns = TypedArray::columns(arrays, &mut metadata);
    let bytes = columns.to_bytes_with(params, &metadata).map_err(of(out))?;
    writer.add(out, &bytes, force)
}

/// An error with the file that it is about.
pub fn of(path: &Path) -> impl Fn(Error) -> CliError + '_ {
    move |e| match e {
        Error::Wire(e) => of_file(path)(e),
        Error::Scheme(e @ SchemeError::UnknownOwner { .. }) => of_decrypted(path)(e),
        e => {
            let code = e.code();
            CliError::usage(format!("{}: {e}", path.display())).with_code(code)
        }
    }
}

/// Reads the columns of a file of these parameters.
pub fn read(
    path: &Path,
    params: &Params,
    bounds: &Bounds,
    set: &SetOfFile,
) -> Result<Vec<TypedArray>, CliError> {
    let (bytes, summary) = read_object(path)?;
    parse(path, &bytes, &summary, (params, bounds, set))
}

/// The same of the bytes of a file, whose ciphertexts are whole or cut.
pub fn parse<C>(
    path: &Path,
    bytes: &[u8],
    summary: &Summary,
    (params, bounds, set): (&Params, &Bounds, &SetOfFile),
) -> Result<Vec<TypedArray<C>>, CliError>
where
    Vec<(String, Encrypted<C>)>: Bytes,
{
    let options = set.options().believing(bounds.policy(&summary.metadata));
    let (found, metadata) = Vec::<(String, Encrypted<C>)>::from_bytes_with(params, bytes, &options)
        .map_err(of(path))?;
    TypedArray::joined(found, &metadata, params).map_err(of(path))
}
