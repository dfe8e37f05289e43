//! The secret key, and what is done with it.

use std::io::{Seek, Write};

use everlevel::{Client, Error, OptIn, Params};
use everlevel_tables::{Constants, Data, EncryptedTable, TableKey, TableResult};
use everlevel_wire::{
    Metadata, ObjectKind, ReadOptions, WireError, inspect, params, secret_key, try_generate_into,
};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::error::Refused;
use crate::query::Query;
use crate::tables::{schema_of, shown};

/// The largest file of a secret key, in bytes.
const KEY_BYTES: u64 = 1 << 24;
/// The largest result of a query, in bytes: a 32-bit address space has to hold it.
const RESULT_BYTES: u64 = 1 << 30;

/// Whoever has the secret key. It stays in this object, which wipes it when it is dropped.
pub struct Owner {
    pub(crate) client: Client,
}

/// The parameter sets that are offered, those of 128 bits first; files of other sets are read, too.
const SETS: [&str; 3] = ["bgv-65537-n15", "bgv-65537-n16", "insecure_bgv-65537-n11"];

/// The parameter sets that are offered, as JSON: `[{"name", "insecure"}]`.
pub fn sets() -> Value {
    SETS.map(|name| json!({ "name": name, "insecure": is_insecure(name) })).into_iter().collect()
}

fn is_insecure(name: &str) -> bool {
    name.starts_with("insecure_")
}

impl Owner {
    /// Draws a secret key for a parameter set, with the randomness of the system or the browser.
    ///
    /// # Errors
    /// A name of no set; one below 128 bits without the opt-in; a system without randomness.
    pub fn draw(set: &str, opt_in: OptIn) -> Result<Self, Refused> {
        let params = Params::named(set, opt_in)?;
        let mut rng = everlevel::system_rng().map_err(Error::from)?;
        Ok(Owner { client: Client::new(&params, &mut rng) })
    }

    /// From the bytes of a file of a secret key, as `everlevel keygen` and [`Owner::file`] make it.
    ///
    /// # Errors
    /// Bytes that are damaged or hold something else; a set that has no name, or one below 128 bits
    /// without the opt-in.
    pub fn open(file: &[u8], opt_in: OptIn) -> Result<Self, Refused> {
        let options = ReadOptions::default().limited_to(KEY_BYTES);
        let summary = inspect(file, &options)?;
        if summary.kind != ObjectKind::SECRET_KEY {
            let (expected, found) = (ObjectKind::SECRET_KEY, summary.kind);
            return Err(WireError::WrongKind { expected, found }.into());
        }
        let spec = params::named_spec(summary.params).ok_or_else(|| WireError::Malformed {
            what: "parameter set of the file",
            expected: "one whose name is known here".into(),
            found: format!("the id {} alone", summary.params),
        })?;
        let params = Params::new(spec, opt_in)?;
        let (secret, _) = secret_key::from_bytes(&params, file, &options)?;
        Ok(Owner { client: Client::with_secret(secret) })
    }

    /// The secret key as the bytes of a file: whoever reads them decrypts everything.
    ///
    /// # Errors
    /// None but those of memory.
    pub fn file(&self) -> Result<Zeroizing<Vec<u8>>, Refused> {
        Ok(secret_key::expose_to_bytes(self.client.secret(), &Metadata::new())?)
    }

    /// What may be shown of it, as JSON: the set, the slots, the public id of the key.
    pub fn told(&self) -> Value {
        let params = self.params();
        json!({
            "set": params.name(),
            "insecure": is_insecure(params.name()),
            "slots": params.slots(),
            "keyId": format!("{:#}", self.client.secret().id()),
        })
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        self.client.params()
    }

    /// How many files [`Owner::encrypt_table`] makes of a table of this many rows: for each block
    /// of rows one for each column, or for each part of a text and each part of an index.
    ///
    /// # Errors
    /// Text that describes no table.
    pub fn table_files(&self, schema: &str, rows: usize) -> Result<usize, Refused> {
        Ok(rows.div_ceil(self.params().slots()) * schema_of(schema)?.fields().len())
    }

    /// Encrypts a table of comma-separated values, and hands over each file with its name. What is
    /// told of the table, as JSON, all of it public: `{"table", "rows", "schema", "text"}`, where
    /// `text` is `schema.json`.
    ///
    /// # Errors
    /// A schema or a cell that does not fit; those of `write`, which end the work.
    pub fn encrypt_table(
        &self,
        csv: &[u8],
        schema: &str,
        write: impl FnMut(&str, Vec<u8>) -> Result<(), Refused>,
    ) -> Result<Value, Refused> {
        let schema = schema_of(schema)?;
        let data = Data::from_csv(csv, &schema)?;
        let mut rng = everlevel::system_rng().map_err(Error::from)?;
        let key = TableKey::Secret(self.client.secret());
        let table = EncryptedTable::encrypt_each(key, (&schema, &data), &mut rng, write)?;
        Ok(json!({
            "table": table.to_string(),
            "rows": data.rows(),
            "schema": shown(&schema),
            "text": schema.to_json()?,
        }))
    }

    /// Draws the server keys of a query into a file. `progress(done, total)` is called after
    /// each key. How many bytes the keys take.
    ///
    /// # Errors
    /// A query for another parameter set; what the file refuses; those of `progress`.
    pub fn draw_server_keys(
        &self,
        query: &Query,
        out: &mut (impl Write + Seek),
        progress: impl FnMut(usize, usize) -> Result<(), Refused>,
    ) -> Result<u64, Refused> {
        let mut rng = everlevel::system_rng().map_err(Error::from)?;
        let (secret, keys) = (self.client.secret(), query.keys());
        let report = try_generate_into(out, secret, keys, &Metadata::new(), &mut rng, progress)?;
        Ok(report.total_bytes())
    }

    /// Encrypts the constants that a query calls by name: `(name, text)` each. The bytes for the
    /// server, and the public name of this encryption.
    ///
    /// # Errors
    /// A constant that is missing, or no value of the column that it is compared with.
    pub fn encrypt_constants(
        &self,
        query: &Query,
        constants: &[(String, String)],
    ) -> Result<(Vec<u8>, String), Refused> {
        let mut rng = everlevel::system_rng().map_err(Error::from)?;
        let key = TableKey::Secret(self.client.secret());
        let bound = Constants::encrypt(key, query.plan(), constants, &mut rng)?;
        Ok((bound.as_bytes().to_vec(), bound.id().to_string()))
    }

    /// The answer in a result, as JSON, if it is one of this query, table and encryption of
    /// constants.
    ///
    /// # Errors
    /// A result of something else; another secret key; sums that cannot be; damaged bytes.
    pub fn read_result(
        &self,
        bytes: Vec<u8>,
        query: &Query,
        table: &str,
        constants: Option<&str>,
    ) -> Result<Value, Refused> {
        inspect(&bytes, &ReadOptions::default().limited_to(RESULT_BYTES))?;
        let result = TableResult::from_bytes(bytes)?;
        let constants = constants.map(str::parse).transpose()?;
        result.check(Some(query.plan()), Some(table.parse()?), constants)?;
        let types = query.plan().query().output_types(query.plan().schema());
        Ok(result.read(self.client.secret())?.to_json(&types))
    }
}
