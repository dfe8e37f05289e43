//! Secret keys: the small integers that were drawn, three bits each.

use everlevel_bgv::SecretKey;
use everlevel_bgv::keys::ExposedSecret;
use everlevel_scheme::Params;
use zeroize::Zeroizing;

use crate::error::WireError;
use crate::format::{Layout, Owners, Planned, encode_owned};
use crate::id::ParamsId;
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::pack::{pack, packed_len, unpack};
use crate::reader::Reader;
use crate::summary::Metadata;

/// Bits of a coefficient, which is stored with [`SHIFT`] added.
const WIDTH: u32 = 3;
const SHIFT: i64 = 2;

/// The secret key as bytes, unencrypted: **readers of it decrypt everything**. They are wiped
/// when dropped. [`write_secret_file`](crate::file::write_secret_file) writes them so that only
/// their owner can read the file. Time does not depend on the key.
///
/// # Errors
/// Metadata of 4 GiB or more.
pub fn expose_to_bytes(
    secret: &SecretKey,
    metadata: &Metadata,
) -> Result<Zeroizing<Vec<u8>>, WireError> {
    let exposed = secret.expose_secret_coefficients();
    let parts =
        [(0u8, Some(&exposed.main)), (1, exposed.ratio.as_ref()), (2, exposed.sparse.as_ref())];
    let parts: Vec<_> = parts.into_iter().filter_map(|(role, x)| x.map(|x| (role, x))).collect();
    let plan = |(role, x): &(u8, &Zeroizing<Vec<i64>>)| Planned {
        descriptor: vec![*role],
        length: small_len(x.len()),
    };
    let records: Vec<Planned> = parts.iter().map(plan).collect();
    let fill = |i: usize, out: &mut [u8]| write_small(parts[i].1, out);
    Ok(Zeroizing::new(encode_owned(
        ObjectKind::SECRET_KEY,
        ParamsId::of(secret.params()),
        &Owners::one(Some(secret.id())),
        metadata,
        &records,
        fill,
    )?))
}

/// Bytes of a polynomial of n small secret coefficients.
pub fn small_len(n: usize) -> usize {
    packed_len(n, WIDTH)
}

/// Writes coefficients from -2 to 5 into [`small_len`] bytes. Time does not depend on them.
///
/// # Panics
/// If there are fewer bytes.
pub fn write_small(x: &[i64], out: &mut [u8]) {
    let shifted: Zeroizing<Vec<u64>> =
        Zeroizing::new(x.iter().map(|x| (x + SHIFT) as u64).collect());
    pack(&shifted, WIDTH, out);
}

/// Reads what [`write_small`] wrote of n coefficients.
///
/// # Errors
/// Another number of bytes, last bits other than 0.
pub fn read_small(record: &[u8], n: usize) -> Result<Zeroizing<Vec<i64>>, WireError> {
    if record.len() != small_len(n) {
        return Err(WireError::malformed(
            "bytes of a secret polynomial",
            small_len(n),
            record.len(),
        ));
    }
    let mut stored = Zeroizing::new(vec![0; n]);
    if unpack(record, WIDTH, &mut stored).is_none() {
        return Err(WireError::malformed("last bits of a secret polynomial", 0, "something else"));
    }
    Ok(Zeroizing::new(stored.iter().map(|&x| x as i64 - SHIFT).collect()))
}

/// The secret key from bytes, with every check that key generation makes: the noise bounds rest on
/// them.
///
/// # Errors
/// Whatever is not as the format says, a key of other parameters or one that key generation would
/// not have drawn.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(SecretKey, Metadata), WireError> {
    let layout = Layout::of(bytes, ObjectKind::SECRET_KEY, params, options)?;
    let mut parts: [Option<Zeroizing<Vec<i64>>>; 3] = Default::default();
    let mut last = None;
    for (i, (entry, _)) in layout.entries.iter().enumerate() {
        let mut fields = Reader::new(&entry.descriptor);
        let role = fields.u8()?;
        fields.finish()?;
        if role > 2 || last.is_some_and(|last| role <= last) {
            return Err(WireError::malformed(
                "records of a secret key",
                "roles 0 to 2, ascending",
                role,
            ));
        }
        last = Some(role);
        parts[role as usize] = Some(read_small(layout.record(bytes, i)?, params.degree())?);
    }
    let [main, ratio, sparse] = parts;
    let main = main.ok_or_else(|| {
        WireError::malformed("records of a secret key", "the main secret", "none")
    })?;
    let exposed = ExposedSecret { main, ratio, sparse };
    let secret = SecretKey::from_secret_coefficients(params, &exposed)?;
    if layout.version > 1 && layout.owners.owner != Some(secret.id()) {
        return Err(WireError::malformed(
            "id of the secret key",
            secret.id(),
            layout.owners.owner.map_or_else(|| "none".into(), |id| id.to_string()),
        ));
    }
    Ok((secret, layout.metadata))
}
