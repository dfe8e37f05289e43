//! Columns of typed integers: a schema in the metadata, and a record for each digit.

mod arrays;
mod indexes;
mod schema;

use std::collections::BTreeSet;

use everlevel_bgv::{Ciphertext, CompactCiphertext};
use everlevel_scheme::{KeyId, Params};
use rayon::prelude::*;

pub use arrays::{ARRAYS, ColumnArray};
pub use indexes::{INDEXES, index_column, state_indexes, take_indexes, without_indexes};
pub(crate) use schema::SCHEMA;
pub use schema::{StoredColumn, StoredDigit};

use crate::error::WireError;
use crate::format::{Layout, Owners, Planned, encode_owned};
use crate::id::ParamsId;
use crate::kind::ObjectKind;
use crate::manifest::bounds::digest_of;
use crate::options::{Belief, ReadOptions};
use crate::reader::Reader;
use crate::record::Record;
use crate::results;
use crate::summary::{Metadata, Summary};
use schema::{Schema, wrong};

/// Digits are to this base, as its logarithm.
const LOG_BASE: u8 = 4;
/// The highest power that a digit can have.
const HIGHEST_POWER: u32 = 31;
/// The most entries of the columns of a file that have no record, and so take no bytes in it.
const PUBLIC_ENTRIES: u64 = 1 << 24;

/// What the digits of columns are encrypted in.
trait DigitRecord: Clone + Send + Sync {
    /// The kind of columns of them.
    const COLUMNS: ObjectKind;
    /// The bytes of their descriptors, which what a column adds follows.
    const BYTES: usize;

    /// The exponent e of the plaintext modulus p^e.
    fn plain_exponent(&self) -> u32;

    /// The secret key that it belongs to, if that is known.
    fn digit_owner(&self) -> Option<KeyId>;

    /// Its record, after the checks that a reader makes.
    fn plan(&self, params: &Params) -> Result<Planned, WireError>;

    /// Writes the record that was planned.
    fn write(&self, params: &Params, out: &mut [u8]);

    /// Record i of a layout.
    fn read(
        params: &Params,
        layout: &Layout,
        place: (usize, &[u8]),
        record: &[u8],
        belief: Belief<'_>,
    ) -> Result<Self, WireError>;
}

impl DigitRecord for Ciphertext {
    const COLUMNS: ObjectKind = ObjectKind::COLUMNS;
    const BYTES: usize = Ciphertext::DESCRIPTOR_BYTES;

    fn plain_exponent(&self) -> u32 {
        self.meta().exponent
    }

    fn digit_owner(&self) -> Option<KeyId> {
        self.record_owner()
    }

    fn plan(&self, params: &Params) -> Result<Planned, WireError> {
        self.planned(params)
    }

    fn write(&self, params: &Params, out: &mut [u8]) {
        self.fill(params, out);
    }

    fn read(
        params: &Params,
        layout: &Layout,
        place: (usize, &[u8]),
        record: &[u8],
        belief: Belief<'_>,
    ) -> Result<Self, WireError> {
        Ciphertext::read_one(params, layout, place, record, belief)
    }
}

impl DigitRecord for CompactCiphertext {
    const COLUMNS: ObjectKind = ObjectKind::COLUMN_RESULTS;
    const BYTES: usize = results::RESULT_BYTES;

    fn plain_exponent(&self) -> u32 {
        self.exponent()
    }

    fn digit_owner(&self) -> Option<KeyId> {
        self.owner()
    }

    fn plan(&self, params: &Params) -> Result<Planned, WireError> {
        results::plan(params, self, 1)
    }

    fn write(&self, _: &Params, out: &mut [u8]) {
        results::write(self, out);
    }

    fn read(
        params: &Params,
        layout: &Layout,
        (_, descriptor): (usize, &[u8]),
        record: &[u8],
        _: Belief<'_>,
    ) -> Result<Self, WireError> {
        results::read(params, layout, descriptor, record, 1)
    }
}

/// The descriptor of a ciphertext, and what a column adds to it.
///
/// # Errors
/// Fewer bytes.
pub(crate) fn ciphertext_part(descriptor: &[u8]) -> Result<(&[u8], &[u8]), WireError> {
    parts::<Ciphertext>(descriptor)
}

fn parts<C: DigitRecord>(descriptor: &[u8]) -> Result<(&[u8], &[u8]), WireError> {
    let (needed, found) = (C::BYTES as u64, descriptor.len() as u64);
    descriptor.split_at_checked(C::BYTES).ok_or(WireError::Truncated { needed, found })
}

/// What a record is of.
struct Place {
    column: usize,
    power: u32,
    stride: u32,
    low: i64,
    high: i64,
    pad: i64,
}

impl Place {
    fn encode(&self) -> Vec<u8> {
        // Both were checked when the record was planned.
        let mut out = (self.column as u16).to_le_bytes().to_vec();
        out.extend([self.power as u8, LOG_BASE]);
        out.extend(self.stride.to_le_bytes());
        [self.low, self.high, self.pad].iter().for_each(|v| out.extend(v.to_le_bytes()));
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut fields = Reader::new(bytes);
        let (column, power, base) = (fields.u16()?.into(), fields.u8()?.into(), fields.u8()?);
        if base != LOG_BASE || power > HIGHEST_POWER {
            return Err(WireError::malformed(
                "digit of a column",
                format!("base 2^{LOG_BASE}, powers up to {HIGHEST_POWER}"),
                format!("base 2^{base}, power {power}"),
            ));
        }
        let stride = fields.u32()?;
        let mut end = || Ok::<_, WireError>(i64::from_le_bytes(fields.array()?));
        let (low, high, pad) = (end()?, end()?, end()?);
        fields.finish()?;
        Ok(Place { column, power, stride, low, high, pad })
    }
}

/// Columns as bytes. The metadata get an entry `schema`.
///
/// # Errors
/// Names that are double, empty, longer than 64 bytes or with control characters; more than 65,536
/// columns; ciphertexts of other parameters or of two owners.
pub fn to_bytes(
    params: &Params,
    columns: &[StoredColumn],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    written(params, columns, metadata)
}

/// Columns that can only be decrypted ([`StoredColumn::compact_for_decryption`]) as bytes.
///
/// # Errors
/// As [`to_bytes`].
pub fn results_to_bytes(
    params: &Params,
    columns: &[StoredColumn<CompactCiphertext>],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    written(params, columns, metadata)
}

fn written<C: DigitRecord>(
    params: &Params,
    columns: &[StoredColumn<C>],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    let schema = Schema::of(columns)?;
    let mut metadata = metadata.clone();
    metadata.insert(SCHEMA.into(), schema.json());
    let (mut records, mut ciphertexts) = (Vec::new(), Vec::new());
    for (i, column) in columns.iter().enumerate() {
        for digit in &column.digits {
            if digit.power > HIGHEST_POWER {
                return wrong(&column.name, format!("a digit of power {}", digit.power));
            }
            let Some(ciphertext) = &digit.ciphertext else { continue };
            let Planned { mut descriptor, length } = ciphertext.plan(params)?;
            let &StoredDigit { power, stride, low, high, pad, .. } = digit;
            descriptor.extend(Place { column: i, power, stride, low, high, pad }.encode());
            records.push(Planned { descriptor, length });
            ciphertexts.push(ciphertext);
        }
    }
    let owners = Owners::common(ciphertexts.iter().map(|c| c.digit_owner()))?;
    let id = ParamsId::of(params);
    encode_owned(C::COLUMNS, id, &owners, &metadata, &records, |i, out| {
        ciphertexts[i].write(params, out)
    })
}

/// Columns from bytes, with the metadata but for the schema. Noise bounds are what `options`
/// trusts, as for [`ciphertexts`](crate::ciphertexts::from_bytes). Digits are there, each once
/// and in its place; what windows and intervals say is a claim, which the caller checks for what
/// contradicts itself.
///
/// # Errors
/// [`WireError::Columns`] for digits that are missing, double, or of a column that the schema does
/// not have; whatever else is not as the format says, columns of other parameters, or of an unknown
/// owner unless `options` allow it.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<StoredColumn>, Metadata), WireError> {
    read(params, bytes, options)
}

/// Columns that can only be decrypted from bytes, likewise. They have no noise bounds.
///
/// # Errors
/// As [`from_bytes`].
pub fn results_from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<StoredColumn<CompactCiphertext>>, Metadata), WireError> {
    read(params, bytes, options)
}

/// Checks that columns without a record, whose entries are all the same public integer, are not
/// larger than a file of this size may make them.
fn check_public<C>(
    columns: &[StoredColumn<C>],
    places: &[Place],
    slots: u64,
) -> Result<(), WireError> {
    let recorded: BTreeSet<usize> = places.iter().map(|place| place.column).collect();
    let public = columns.iter().enumerate().filter(|(i, _)| !recorded.contains(i));
    let entries = |(_, column): (usize, &StoredColumn<C>)| match column.divisor {
        Some(_) => 1,
        None => column.length.unwrap_or(slots),
    };
    let found: u64 = public.map(entries).sum();
    if found > PUBLIC_ENTRIES {
        let what = "entries of columns without a record";
        return Err(WireError::Limit { what, found, limit: PUBLIC_ENTRIES });
    }
    Ok(())
}

fn read<C: DigitRecord>(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<StoredColumn<C>>, Metadata), WireError> {
    let layout = Layout::parse(bytes, options)?;
    // A file of public integers alone has no owner.
    let unowned = layout.entries.is_empty();
    let allowed = options.allow_unknown_owner || unowned;
    let options = &options.clone().allowing_unknown_owner(allowed);
    let mut layout = layout.expect(C::COLUMNS, params, options)?;
    let schema = layout.metadata.remove(SCHEMA).unwrap_or_default();
    let mut columns = Schema::<C>::parse(&schema)?.columns;
    let slots = params.slots() as u64;
    for column in &columns {
        if let Some(found) = column.length.filter(|n| *n > slots) {
            return Err(WireError::Limit { what: "entries of a column", found, limit: slots });
        }
    }
    // Places first: a file that does not hold together is not read.
    let mut places = Vec::with_capacity(layout.entries.len());
    for (entry, _) in &layout.entries {
        let (_, rest) = parts::<C>(&entry.descriptor)?;
        let place = Place::decode(rest)?;
        let Some(column) = columns.get(place.column) else {
            return wrong(&place.column.to_string(), "a record of it, but the schema has none");
        };
        let earlier = places.last().map(|last: &Place| (last.column, last.power));
        if earlier >= Some((place.column, place.power)) {
            return wrong(&column.name, format!("digit {} is double or too late", place.power));
        }
        if column.digits.iter().any(|d| d.power == place.power) {
            return wrong(&column.name, format!("digit {} is double", place.power));
        }
        places.push(place);
    }
    check_public(&columns, &places, slots)?;
    let belief = if C::COLUMNS.has_bounds() {
        options.belief(layout.entries.len(), layout.owners.owner, || Ok(digest_of(bytes)))?
    } else {
        Belief::Largest
    };
    let read = |i: usize| {
        let record = layout.record(bytes, i)?;
        let (descriptor, _) = parts::<C>(&layout.entries[i].0.descriptor)?;
        let found = C::read(params, &layout, (i, descriptor), record, belief)?;
        match found.plain_exponent() {
            1 | 2 => Ok(found),
            other => wrong(
                &columns[places[i].column].name,
                format!("a ciphertext modulo p^{other}, but columns are modulo p or p^2"),
            ),
        }
    };
    let found = (0..places.len()).into_par_iter().map(read).collect::<Result<Vec<C>, _>>()?;
    for (Place { column, power, stride, low, high, pad }, x) in places.into_iter().zip(found) {
        let ciphertext = Some(x);
        columns[column].digits.push(StoredDigit { power, stride, low, high, pad, ciphertext });
    }
    for column in &mut columns {
        column.digits.sort_by_key(|digit| digit.power);
        let gap = (0..).zip(&column.digits).find(|(i, digit)| *i != digit.power);
        if let (Some((missing, _)), None) = (gap, column.divisor) {
            return wrong(&column.name, format!("digit {missing} is missing"));
        }
    }
    Ok((columns, layout.metadata))
}

/// What the schema of an object says of its columns, which have no digits here but public ones;
/// none if it has no schema, or one that is not understood.
pub fn described(summary: &Summary) -> Option<Vec<StoredColumn>> {
    let schema = summary.metadata.get(SCHEMA)?;
    Schema::parse(schema).ok().map(|schema| schema.columns)
}
