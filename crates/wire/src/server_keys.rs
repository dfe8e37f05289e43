//! Server keys: relinearization, automorphisms, bootstrapping, their uniform halves as seeds.

use everlevel_bgv::keys::{BootstrapKey, ServerKey, SwitchingKey};
use everlevel_bgv::{EvalKeys, ServerKeys};
use everlevel_scheme::{KeyPlan, Params, SchemeError};

use crate::error::WireError;
use crate::format::{Layout, Owners, encode_owned};
use crate::id::ParamsId;
use crate::key_record::{Body, KeyRecord, Purpose};
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::summary::Metadata;

/// Server keys as bytes.
///
/// # Errors
/// Metadata of 4 GiB or more.
pub fn to_bytes(keys: &ServerKeys, metadata: &Metadata) -> Result<Vec<u8>, WireError> {
    let params = keys.params();
    let plan = keys.plan();
    let missing = || SchemeError::MissingKey { operation: "writing", key: "planned key".into() };
    let mut switches = Vec::new();
    for &id in plan.relin.keys() {
        switches.push(keys.relin(id)?.ok_or_else(missing)?);
    }
    for &(g, id) in plan.galois.keys() {
        switches.push(keys.galois(g, id)?.ok_or_else(missing)?);
    }
    let bootstrap = keys.bootstrap()?;
    let tail = bootstrap.iter().flat_map(|key| Body::of_bootstrapping(key));
    let bodies: Vec<Body<'_>> = switches.iter().map(|key| Body::Switch(key)).chain(tail).collect();
    let records: Vec<_> =
        KeyRecord::of_plan(params, &plan).iter().map(|record| record.planned(params)).collect();
    let owners = Owners { owner: keys.owner(), change_from: keys.change_from() };
    let id = ParamsId::of(params);
    encode_owned(ObjectKind::SERVER_KEYS, id, &owners, metadata, &records, |i, out| {
        bodies[i].write(params, out)
    })
}

/// Server keys from bytes, all of them in memory and expanded: about twice their bytes, or about
/// their bytes with [`ReadOptions::seeded_keys`]. [`FileKeys`](crate::FileKeys) expands them when
/// they are used.
///
/// # Errors
/// Whatever is not as the format says, keys of other parameters, or of an unknown owner unless
/// `options` allow it.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(ServerKeys, Metadata), WireError> {
    let layout = Layout::of(bytes, ObjectKind::SERVER_KEYS, params, options)?;
    let records = KeyRecord::of_layout(params, &layout)?;
    let Owners { owner, change_from } = layout.owners;
    let mut keys = ServerKeys::empty(params).owned_by(owner, change_from);
    let seeded = options.seeded_keys;
    let (mut encapsulation, mut sparse): (Option<SwitchingKey>, Vec<_>) = (None, Vec::new());
    for (i, record) in records.iter().enumerate() {
        let body = layout.record(bytes, i)?;
        match record.purpose {
            Purpose::Relin(id) => {
                keys.insert(ServerKey::Relin(id, record.read_switch(params, body, seeded)?))
            }
            Purpose::Galois(g, id) => {
                keys.insert(ServerKey::Galois(g, id, record.read_switch(params, body, seeded)?))
            }
            Purpose::Encapsulation => {
                encapsulation = Some(record.read_switch(params, body, seeded)?)
            }
            Purpose::Sparse(_) => sparse.push(record.read_sparse(params, body)?),
        }
    }
    if !sparse.is_empty() {
        keys.insert(ServerKey::Bootstrap(BootstrapKey::from_parts(params, encapsulation, sparse)?));
    }
    Ok((keys, layout.metadata))
}

/// What server keys take in their file, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeReport {
    /// Relinearization: how many keys, how many bytes.
    pub relin: (usize, u64),
    /// Automorphisms.
    pub galois: (usize, u64),
    /// Bootstrapping: one key, of several records.
    pub bootstrap: (usize, u64),
}

impl SizeReport {
    /// The bytes of the records of a plan, without the index (some 60 bytes a record).
    pub fn of_plan(params: &Params, plan: &KeyPlan) -> Self {
        Self::of_records(params, &KeyRecord::of_plan(params, plan))
    }

    /// What the records take.
    pub(crate) fn of_records(params: &Params, records: &[KeyRecord]) -> Self {
        let mut out = Self::default();
        for record in records {
            let (of, first) = match record.purpose {
                Purpose::Relin(_) => (&mut out.relin, true),
                Purpose::Galois(..) => (&mut out.galois, true),
                Purpose::Encapsulation | Purpose::Sparse(_) => (&mut out.bootstrap, false),
            };
            of.0 += first as usize;
            of.1 += record.length(params) as u64;
        }
        out.bootstrap.0 = (out.bootstrap.1 > 0) as usize;
        out
    }

    /// All bytes.
    pub fn total_bytes(&self) -> u64 {
        self.relin.1 + self.galois.1 + self.bootstrap.1
    }
}
