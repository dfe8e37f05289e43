//! Typed columns with the ciphertexts that they are cut to: how they are read and written.

use std::path::Path;

use everlevel::files::{Bounds, Bytes};
use everlevel::{Error, IntegerValue, NamedIntegers, Params};
use everlevel_integers::Interval;
use everlevel_scheme::SchemeError;
use everlevel_wire::columns::ColumnArray;
use everlevel_wire::{Metadata, Summary};

use super::super::args::SetOfFile;
use super::super::files::{of_decrypted, read_object};
use super::super::manifest::ManifestWriter;
use crate::console::errors::CliError;
use crate::console::files::{of_file, write_output};

/// A column, or a total, of any length.
pub struct TypedArray {
    /// What the file says of it.
    pub array: ColumnArray,
    /// As many columns as it says, or totals.
    pub blocks: Vec<IntegerValue>,
}

impl TypedArray {
    /// What is read of a file, all of it one array or parts of several.
    fn joined(
        found: Vec<NamedIntegers>,
        metadata: &Metadata,
        params: &Params,
    ) -> Result<Vec<Self>, Error> {
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let described = ColumnArray::all(metadata, params.slots(), &names)?;
        let own = |(name, x): &NamedIntegers| ColumnArray::vector(name, 1, length(x));
        let described = described.unwrap_or_else(|| found.iter().map(own).collect());
        let place = |name: &str| found.iter().find(|(column, _)| column == name);
        let joined = described.into_iter().map(|array| {
            let columns = (0..array.blocks).filter_map(|i| place(&array.column(i)));
            let blocks: Vec<IntegerValue> = columns.map(|(_, x)| x.clone()).collect();
            let lengths = array.lengths(params.slots());
            let fits = blocks.iter().enumerate().all(|(i, x)| match (x, &lengths) {
                (IntegerValue::Total(_), None) => true,
                (IntegerValue::Total(_), Some(_)) => false,
                (x, Some(lengths)) => length(x).is_none_or(|n| n == lengths[i]),
                (x, None) => length(x).is_none() && array.blocks == 1,
            });
            if !fits {
                let (name, problem) = (array.name, "its columns do not fit its shape".into());
                return Err(everlevel_wire::WireError::Columns { name, problem }.into());
            }
            Ok(TypedArray { array, blocks })
        });
        joined.collect()
    }

    /// Whether it stands for a column of any length.
    pub fn is_any_length(&self) -> bool {
        !self.is_total() && self.blocks.iter().all(|x| length(x).is_none())
    }

    /// Whether it is a total.
    pub fn is_total(&self) -> bool {
        self.blocks.iter().any(|x| matches!(x, IntegerValue::Total(_)))
    }

    /// Which values it has, if they are within 127 bits.
    pub fn interval(&self) -> Result<Interval, Error> {
        let parts = self.blocks.iter().map(IntegerValue::interval);
        let total = self.is_total();
        let joined =
            parts.map(|part| (part.low(), part.high())).reduce(|(low, high), (l, h)| match total {
                true => (low.saturating_add(l), high.saturating_add(h)),
                false => (low.min(l), high.max(h)),
            });
        let (low, high) = joined.unwrap_or((0, 0));
        Ok(Interval::new(low, high)?)
    }

    /// How many ciphertexts it has.
    pub fn ciphertexts(&self) -> usize {
        self.blocks.iter().map(|x| x.values().count()).sum()
    }
}

/// How many entries a column has; none of totals and of what stands for a column of any length.
pub fn length(x: &IntegerValue) -> Option<usize> {
    match x {
        IntegerValue::Column(x) => x.length(),
        IntegerValue::Total(_) => None,
    }
}

/// Columns as bytes, listed in the manifest if there is to be one, and written.
pub fn write(
    out: &Path,
    force: bool,
    params: &Params,
    arrays: Vec<TypedArray>,
    mut metadata: Metadata,
    manifest: &mut Option<ManifestWriter>,
) -> Result<u64, CliError> {
    let described: Vec<ColumnArray> = arrays.iter().map(|x| x.array.clone()).collect();
    ColumnArray::state(&described, &mut metadata);
    let named = |x: TypedArray| {
        let TypedArray { array, blocks } = x;
        blocks.into_iter().enumerate().map(move |(i, block)| (array.column(i), block))
    };
    let columns: Vec<NamedIntegers> = arrays.into_iter().flat_map(named).collect();
    let bytes = columns.to_bytes_with(params, &metadata).map_err(of(out))?;
    if let Some(manifest) = manifest {
        manifest.list(&bytes).map_err(of_file(out))?;
    }
    write_output(out, &bytes, force)?;
    Ok(bytes.len() as u64)
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

/// The same of the bytes of a file.
pub fn parse(
    path: &Path,
    bytes: &[u8],
    summary: &Summary,
    (params, bounds, set): (&Params, &Bounds, &SetOfFile),
) -> Result<Vec<TypedArray>, CliError> {
    let options = set.options().believing(bounds.policy(&summary.metadata));
    let (found, metadata) = Bytes::from_bytes_with(params, bytes, &options).map_err(of(path))?;
    TypedArray::joined(found, &metadata, params).map_err(of(path))
}
