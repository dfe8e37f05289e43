//! What JavaScript sees: classes and functions with texts, bytes and JSON.

use std::io::{self, Seek, SeekFrom, Write};

use everlevel::OptIn;
use js_sys::{Error as JsError, Function, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::error::Refused;
use crate::{owner, query, tables};

type Thrown<T> = Result<T, JsValue>;

/// An `Error` with the property `code`.
fn thrown(e: Refused) -> JsValue {
    let error = JsError::new(&e.message);
    // Setting a property of a new object cannot fail.
    let _ = Reflect::set(&error, &"code".into(), &e.code.into());
    error.into()
}

/// What a function of JavaScript threw.
fn of_callback(e: JsValue) -> Refused {
    let text = e.dyn_ref::<JsError>().map_or_else(|| "it threw".into(), JsError::message);
    Refused { code: "wire.io", message: String::from(text) }
}

fn opt_in(insecure: bool) -> OptIn {
    if insecure { OptIn::InsecureResearch } else { OptIn::SecureOnly }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn tell(text: &str);
}

/// Tells why the library ended, which it never should.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| tell(&panic.to_string())));
}

/// The parameter sets, as JSON: `[{"name", "insecure"}]`.
#[wasm_bindgen]
pub fn sets() -> String {
    owner::sets().to_string()
}

/// A schema for a table of comma-separated values, as JSON: `{"schema", "notes"}`.
#[wasm_bindgen]
pub fn infer(csv: &[u8]) -> Thrown<String> {
    tables::infer(csv).map(|found| found.to_string()).map_err(thrown)
}

/// How many rows a table has, each cell of which fits the schema.
#[wasm_bindgen(js_name = checkTable)]
pub fn check_table(csv: &[u8], schema: &str) -> Thrown<usize> {
    tables::check_table(csv, schema).map_err(thrown)
}

/// The different texts of a column.
#[wasm_bindgen]
pub fn distinct(csv: &[u8], column: &str) -> Thrown<Vec<String>> {
    tables::distinct(csv, column).map_err(thrown)
}

/// The BLAKE3 hash of bytes that come in parts, which is the name of an object.
#[wasm_bindgen]
#[derive(Default)]
pub struct Hash(blake3::Hasher);

#[wasm_bindgen]
impl Hash {
    /// Of no bytes.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part.
    pub fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// In hexadecimal digits.
    pub fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// A query on a table, and the server keys that it takes.
#[wasm_bindgen]
pub struct Query(query::Query);

#[wasm_bindgen]
impl Query {
    /// The plan for the server, as JSON.
    pub fn plan(&self) -> Thrown<String> {
        self.0.plan_json().map_err(thrown)
    }

    /// What it takes, as JSON: `{"keyBytes", "bootstraps", "parameters"}`.
    pub fn told(&self) -> String {
        self.0.told().to_string()
    }

    /// Whether a server with the keys of another query can answer it.
    #[wasm_bindgen(js_name = isCoveredBy)]
    pub fn is_covered_by(&self, other: &Query) -> bool {
        self.0.is_covered_by(&other.0)
    }
}

/// Encrypted constants: the bytes for the server, and the public name of this encryption.
#[wasm_bindgen(getter_with_clone)]
pub struct Bound {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The name.
    pub id: String,
}

/// Whoever has the secret key, which stays in the memory of the module.
#[wasm_bindgen]
pub struct Owner(owner::Owner);

#[wasm_bindgen]
impl Owner {
    /// Draws a secret key, with `crypto.getRandomValues`.
    pub fn draw(set: &str, insecure: bool) -> Thrown<Owner> {
        owner::Owner::draw(set, opt_in(insecure)).map(Owner).map_err(thrown)
    }

    /// From the bytes of a file of a secret key.
    pub fn open(mut file: Vec<u8>, insecure: bool) -> Thrown<Owner> {
        let opened = owner::Owner::open(&file, opt_in(insecure));
        zeroize::Zeroize::zeroize(&mut file);
        opened.map(Owner).map_err(thrown)
    }

    /// The bytes of a file of the secret key: whoever reads them decrypts everything.
    pub fn file(&self) -> Thrown<Uint8Array> {
        self.0.file().map(|file| Uint8Array::from(&file[..])).map_err(thrown)
    }

    /// What may be shown of it, as JSON: `{"set", "insecure", "slots", "keyId"}`.
    pub fn told(&self) -> String {
        self.0.told().to_string()
    }

    /// Encrypts columns: names, types, and values as texts that commas divide.
    #[wasm_bindgen(js_name = encryptColumns)]
    pub fn encrypt_columns(
        &self,
        names: Vec<String>,
        types: Vec<String>,
        values: Vec<String>,
    ) -> Thrown<Vec<u8>> {
        let values = values.into_iter().map(Zeroizing::new);
        let columns = names.into_iter().zip(types).zip(values).map(|((n, t), v)| (n, t, v));
        self.0.encrypt_columns(&columns.collect::<Vec<_>>()).map_err(thrown)
    }

    /// The columns of an object, as JSON: `[[name, [value, …]], …]`, each value as text.
    #[wasm_bindgen(js_name = decryptColumns)]
    pub fn decrypt_columns(&self, bytes: &[u8]) -> Thrown<String> {
        let columns = self.0.decrypt_columns(bytes).map_err(thrown)?;
        Ok(serde_json::Value::from_iter(
            columns.into_iter().map(|(n, v)| vec![serde_json::Value::from(n), v.into()]),
        )
        .to_string())
    }

    /// How many files `encryptTable` makes of a table with the rows that `checkTable` counts.
    #[wasm_bindgen(js_name = tableFiles)]
    pub fn table_files(&self, schema: &str, rows: usize) -> Thrown<usize> {
        self.0.table_files(schema, rows).map_err(thrown)
    }

    /// Encrypts a table; `write(name, bytes)` gets each file. As JSON `{"table", "rows", "schema",
    /// "text"}`, where `text` is `schema.json`.
    #[wasm_bindgen(js_name = encryptTable)]
    pub fn encrypt_table(&self, csv: &[u8], schema: &str, write: &Function) -> Thrown<String> {
        let each = |name: &str, bytes: Vec<u8>| {
            let bytes = Uint8Array::from(&bytes[..]);
            write.call2(&JsValue::NULL, &name.into(), &bytes).map(drop).map_err(of_callback)
        };
        self.0.encrypt_table(csv, schema, each).map(|told| told.to_string()).map_err(thrown)
    }

    /// Binds a query in SQL to the schema of a table of `rows` rows.
    pub fn query(&self, sql: &str, schema: &str, rows: usize) -> Thrown<Query> {
        query::Query::new(self.0.params(), sql, schema, rows).map(Query).map_err(thrown)
    }

    /// Draws the server keys of a query: `write(place, bytes)` gets them in parts, the head
    /// last, and `progress(done, total)` is called after each key.
    #[wasm_bindgen(js_name = drawServerKeys)]
    pub fn draw_server_keys(
        &self,
        query: &Query,
        write: &Function,
        progress: &Function,
    ) -> Thrown<f64> {
        let mut out = JsFile { write, place: 0 };
        let step = |done: usize, total: usize| {
            let (done, total) = (JsValue::from(done as u32), JsValue::from(total as u32));
            progress.call2(&JsValue::NULL, &done, &total).map(drop).map_err(of_callback)
        };
        let bytes = self.0.draw_server_keys(&query.0, &mut out, step).map_err(thrown)?;
        Ok(bytes as f64)
    }

    /// Encrypts the constants that a query calls by name.
    #[wasm_bindgen(js_name = encryptConstants)]
    pub fn encrypt_constants(
        &self,
        query: &Query,
        names: Vec<String>,
        values: Vec<String>,
    ) -> Thrown<Bound> {
        let constants: Vec<_> = names.into_iter().zip(values).collect();
        let bound = self.0.encrypt_constants(&query.0, &constants);
        bound.map(|(bytes, id)| Bound { bytes, id }).map_err(thrown)
    }

    /// The answer in a result, as JSON: `{"names", "types", "rows"}`.
    #[wasm_bindgen(js_name = readResult)]
    pub fn read_result(
        &self,
        bytes: Vec<u8>,
        query: &Query,
        table: &str,
        constants: Option<String>,
    ) -> Thrown<String> {
        let answer = self.0.read_result(bytes, &query.0, table, constants.as_deref());
        answer.map(|answer| answer.to_string()).map_err(thrown)
    }
}

/// A file that JavaScript keeps.
struct JsFile<'a> {
    write: &'a Function,
    place: u64,
}

impl Write for JsFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (place, part) = (JsValue::from(self.place as f64), Uint8Array::from(bytes));
        let written = self.write.call2(&JsValue::NULL, &place, &part);
        written.map_err(|e| io::Error::other(of_callback(e).message))?;
        self.place += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for JsFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(place) => self.place = place,
            // Keys are written from the start.
            _ => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(self.place)
    }
}
