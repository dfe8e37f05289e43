//! The records of server keys: what each is for, and how it is laid out.

use everlevel_bgv::Ciphertext;
use everlevel_bgv::keys::{BootstrapKey, SwitchingKey};
use everlevel_ring::{Basis, Eval, Gadget, GaloisElement, Poly};
use everlevel_scheme::spec::GadgetId;
use everlevel_scheme::{KeyPlan, Level, Params};

use crate::ciphertexts::SEED_BYTES;
use crate::error::WireError;
use crate::format::{Layout, Planned};
use crate::parts::Source;
use crate::poly::{poly_len, read_poly, write_poly};
use crate::reader::Reader;

/// What a record is for. Records are in the order of this type, each purpose once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    Relin(GadgetId),
    Galois(GaloisElement, GadgetId),
    Encapsulation,
    Sparse(u32),
}

/// A record: its purpose, and the primes of the ciphertexts that it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyRecord {
    pub(crate) purpose: Purpose,
    pub(crate) basis: Basis,
}

impl KeyRecord {
    /// The records of a plan, in order.
    pub(crate) fn of_plan(params: &Params, plan: &KeyPlan) -> Vec<Self> {
        let relin =
            plan.relin.iter().map(|(&id, &basis)| KeyRecord { purpose: Purpose::Relin(id), basis });
        let galois = plan
            .galois
            .iter()
            .map(|(&(g, id), &basis)| KeyRecord { purpose: Purpose::Galois(g, id), basis });
        relin
            .chain(galois)
            .chain(Self::of_bootstrapping(params).into_iter().filter(|_| plan.bootstrap))
            .collect()
    }

    /// The records of the bootstrapping key.
    pub(crate) fn of_bootstrapping(params: &Params) -> Vec<Self> {
        let encapsulated = params.spec().bootstrap.as_ref().is_some_and(|b| !b.under_main_key);
        let (low, top) =
            (params.chain().basis(Level(0)), params.chain().basis(params.chain().top()));
        let encapsulation =
            encapsulated.then_some(KeyRecord { purpose: Purpose::Encapsulation, basis: low });
        let digits =
            if params.spec().bootstrap.is_some() { params.raise_digits() as u32 } else { 0 };
        let sparse = (0..digits).map(|i| KeyRecord { purpose: Purpose::Sparse(i), basis: top });
        encapsulation.into_iter().chain(sparse).collect()
    }

    fn gadget<'p>(&self, params: &'p Params) -> Option<&'p Gadget> {
        match self.purpose {
            Purpose::Relin(id) | Purpose::Galois(_, id) => Some(&params.chain().gadgets()[id.0]),
            Purpose::Encapsulation => Some(params.chain().encapsulation()),
            Purpose::Sparse(_) => None,
        }
    }

    /// The polynomials of the record: how many, over which primes.
    fn shape(&self, params: &Params) -> (usize, Basis) {
        match self.gadget(params) {
            Some(gadget) => (gadget.digits(self.basis).count(), self.basis.union(gadget.special())),
            None => (1, self.basis),
        }
    }

    /// Bytes of the record.
    pub(crate) fn length(&self, params: &Params) -> usize {
        let (count, basis) = self.shape(params);
        seed_bytes(params) + count * poly_len(params.ring(), basis)
    }

    /// The record, to be written.
    pub(crate) fn planned(&self, params: &Params) -> Planned {
        let (kind, gadget, digit, g) = match self.purpose {
            Purpose::Relin(id) => (1u8, id.0, 0, 0),
            Purpose::Galois(g, id) => (2, id.0, 0, g.exponent()),
            Purpose::Encapsulation => (3, 0, 0, 0),
            Purpose::Sparse(i) => (4, 0, i, 0),
        };
        let mut descriptor = vec![kind, 0];
        // Gadgets are fewer than ten.
        descriptor.extend((gadget as u16).to_le_bytes());
        descriptor.extend(digit.to_le_bytes());
        descriptor.extend(g.to_le_bytes());
        descriptor.extend(self.basis.bits().to_le_bytes());
        Planned { descriptor, length: self.length(params) }
    }

    fn decode(params: &Params, descriptor: &[u8]) -> Result<Self, WireError> {
        let mut fields = Reader::new(descriptor);
        let kind = fields.u8()?;
        fields.zeros(1)?;
        let (gadget, digit, g, bits) =
            (fields.u16()?, fields.u32()?, fields.u64()?, fields.u128()?);
        fields.finish()?;
        let bad = |expected: &str| {
            WireError::malformed("record of server keys", expected, "something else")
        };
        let galois = |g: u64| {
            let element = GaloisElement::new(params.ring().index(), g)
                .map_err(|_| bad("a unit modulo the index"))?;
            if element.exponent() != g { Err(bad("a reduced exponent")) } else { Ok(element) }
        };
        let id = GadgetId(gadget.into());
        let (purpose, used) = match kind {
            1 => (Purpose::Relin(id), (gadget, 0, 0)),
            2 => (Purpose::Galois(galois(g)?, id), (gadget, 0, g)),
            3 => (Purpose::Encapsulation, (0, 0, 0)),
            4 => (Purpose::Sparse(digit), (0, digit, 0)),
            _ => return Err(bad("a kind from 1 to 4")),
        };
        if used != (gadget, digit, g) || id.0 >= params.chain().gadgets().len() {
            return Err(bad("fields that its kind uses, and a gadget of the parameters"));
        }
        let record =
            KeyRecord { purpose, basis: Basis::of((0..128).filter(|i| bits >> i & 1 == 1)) };
        match purpose {
            Purpose::Relin(_) | Purpose::Galois(..) => {
                let special = params.chain().gadgets()[id.0].special();
                let (basis, top) = (record.basis, params.chain().basis(params.chain().top()));
                if basis.is_empty()
                    || !basis.is_subset(top)
                    || !basis.intersection(special).is_empty()
                {
                    return Err(bad("primes of the top level, none of them special"));
                }
            }
            _ if !Self::of_bootstrapping(params).contains(&record) => {
                return Err(bad("a part of the set's bootstrapping key"));
            }
            _ => {}
        }
        Ok(record)
    }

    /// The records of an object, checked against the parameters: purposes, order, lengths. The
    /// bootstrapping key is there in full or not at all.
    pub(crate) fn of_layout(params: &Params, layout: &Layout) -> Result<Vec<Self>, WireError> {
        let mut records: Vec<Self> = Vec::with_capacity(layout.entries.len());
        for (entry, _) in &layout.entries {
            let record = Self::decode(params, &entry.descriptor)?;
            if records.last().is_some_and(|last| last.purpose >= record.purpose) {
                return Err(WireError::malformed(
                    "records of server keys",
                    "each once, in order",
                    "another order",
                ));
            }
            if record.length(params) as u64 != entry.length {
                return Err(WireError::malformed(
                    "bytes of a key",
                    record.length(params),
                    entry.length,
                ));
            }
            records.push(record);
        }
        let found = records
            .iter()
            .filter(|r| matches!(r.purpose, Purpose::Encapsulation | Purpose::Sparse(_)))
            .count();
        if found != 0 && found != Self::of_bootstrapping(params).len() {
            return Err(WireError::malformed("bootstrapping key", "all of its records", found));
        }
        Ok(records)
    }

    /// The plan that records amount to.
    pub(crate) fn plan(records: &[Self]) -> KeyPlan {
        let mut plan = KeyPlan::default();
        for record in records {
            match record.purpose {
                Purpose::Relin(id) => drop(plan.relin.insert(id, record.basis)),
                Purpose::Galois(g, id) => drop(plan.galois.insert((g, id), record.basis)),
                Purpose::Encapsulation | Purpose::Sparse(_) => plan.bootstrap = true,
            }
        }
        plan
    }

    /// Reads the switching key of a record that is one, with seeds if it is to be `seeded` and is
    /// not of bootstrapping, as [`ServerKey::seeded`](everlevel_bgv::keys::ServerKey::seeded).
    pub(crate) fn read_switch(
        &self,
        params: &Params,
        bytes: &[u8],
        seeded: bool,
    ) -> Result<SwitchingKey, WireError> {
        self.check_bytes(params, bytes)?;
        self.switch_of(params, &mut Reader::new(bytes), seeded)
    }

    /// [`KeyRecord::read_switch`] of as many bytes as [`KeyRecord::length`] says.
    pub(crate) fn switch_of(
        &self,
        params: &Params,
        bytes: &mut impl Source,
        seeded: bool,
    ) -> Result<SwitchingKey, WireError> {
        let gadget = self.gadget(params).ok_or_else(|| {
            WireError::malformed("record of server keys", "a switching key", "a ciphertext")
        })?;
        let (seed, firsts) = self.parts(params, bytes)?;
        let key = match seeded && self.purpose != Purpose::Encapsulation {
            true => SwitchingKey::seeded_from_parts(params, gadget, self.basis, seed, firsts),
            false => SwitchingKey::from_parts(params, gadget, self.basis, seed, firsts),
        };
        Ok(key?)
    }

    /// Reads one of the encryptions of s0, w s0, ..
    pub(crate) fn read_sparse(
        &self,
        params: &Params,
        bytes: &[u8],
    ) -> Result<(Poly<Eval>, [u8; SEED_BYTES]), WireError> {
        self.check_bytes(params, bytes)?;
        self.sparse_of(params, &mut Reader::new(bytes))
    }

    /// [`KeyRecord::read_sparse`] of as many bytes as [`KeyRecord::length`] says.
    pub(crate) fn sparse_of(
        &self,
        params: &Params,
        bytes: &mut impl Source,
    ) -> Result<(Poly<Eval>, [u8; SEED_BYTES]), WireError> {
        let (seed, firsts) = self.parts(params, bytes)?;
        let parts = firsts.into_iter().next().zip(seed);
        parts.ok_or_else(|| {
            WireError::malformed("bootstrapping key", "a seed and a polynomial", "less")
        })
    }

    fn check_bytes(&self, params: &Params, bytes: &[u8]) -> Result<(), WireError> {
        if bytes.len() != self.length(params) {
            return Err(WireError::malformed("bytes of a key", self.length(params), bytes.len()));
        }
        Ok(())
    }

    fn parts(&self, params: &Params, bytes: &mut impl Source) -> Result<Parts, WireError> {
        let (count, basis) = self.shape(params);
        let seed = match seed_bytes(params) {
            0 => None,
            _ => Some(bytes.next(SEED_BYTES, |seed| Reader::new(seed).array())?),
        };
        let each = poly_len(params.ring(), basis);
        let mut next = || bytes.next(each, |first| read_poly(params.cpu(), basis, first));
        let firsts = (0..count).map(|_| next()).collect::<Result<_, _>>()?;
        Ok((seed, firsts))
    }
}

fn seed_bytes(params: &Params) -> usize {
    if params.components() > 1 { SEED_BYTES } else { 0 }
}

/// What a record holds: the seed, if there is one, and the first components.
type Parts = (Option<[u8; SEED_BYTES]>, Vec<Poly<Eval>>);

/// What a record is written from.
pub(crate) enum Body<'k> {
    Switch(&'k SwitchingKey),
    /// One of the encryptions of s0, w s0, ..
    Sparse(&'k Ciphertext),
}

impl<'k> Body<'k> {
    /// The records of a bootstrapping key, in order.
    pub(crate) fn of_bootstrapping(key: &'k BootstrapKey) -> Vec<Self> {
        let sparse = key.sparse().iter().map(Body::Sparse);
        key.encapsulation().map(Body::Switch).into_iter().chain(sparse).collect()
    }

    /// Writes the record into as many bytes as [`KeyRecord::length`] says.
    pub(crate) fn write(&self, params: &Params, mut out: &mut [u8]) {
        let seed = match self {
            Body::Switch(key) => key.seed(),
            Body::Sparse(ciphertext) => ciphertext.seed(),
        };
        if let Some(seed) = seed {
            let (head, rest) = out.split_at_mut(SEED_BYTES);
            head.copy_from_slice(seed);
            out = rest;
        }
        let mut write = |first: &Poly<Eval>| {
            let (slice, rest) =
                std::mem::take(&mut out).split_at_mut(poly_len(params.ring(), first.basis()));
            write_poly(params.ring(), first, slice);
            out = rest;
        };
        match self {
            // Expanded one by one.
            Body::Switch(key) => key.firsts(params.cpu()).for_each(|(_, first)| write(&first)),
            Body::Sparse(ciphertext) => write(&ciphertext.components()[0]),
        }
    }
}
