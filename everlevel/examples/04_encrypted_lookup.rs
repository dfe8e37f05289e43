//! Example 4. Encrypted lookup: a client sends an encrypted key, a server finds the entry of its
//! table without learning which one. Equality in two ways: by Fermat, 1 - (x - key)^(p - 1), for
//! keys modulo p; and digit by digit, after a digit removal, for keys modulo p^2.
//!
//! `cargo run --release --example 04_encrypted_lookup`; with `-- --secure` at 128
//! bits, in 0.8 GiB.
use std::error::Error;

use everlevel::{OptIn, Params};

/// A table of the server: keys, and the value of each, below p.
pub struct Table {
    keys: Vec<u64>,
    values: Vec<u64>,
}

mod client {
    use std::error::Error;

    use everlevel::files::Bytes;
    use everlevel::{Client, KeyPlan, Params, general_rotations, system_rng};

    /// Has the secret key.
    pub struct Asker(Client);

    impl Asker {
        pub fn new(params: &Params) -> Result<Self, Box<dyn Error>> {
            Ok(Asker(Client::new(params, &mut system_rng()?)))
        }

        /// Keys for products, and for the sum of all slots.
        pub fn server_keys(&self) -> Result<Vec<u8>, Box<dyn Error>> {
            let params = self.0.params();
            let plan = KeyPlan::relinearization(params)
                .merge(&general_rotations(params, params.chain().top())?);
            let keys = self.0.server_keys(&plan, &mut system_rng()?)?;
            Ok(keys.to_bytes(params)?)
        }

        /// The key in every slot.
        pub fn query(&self, key: u64) -> Result<Vec<u8>, Box<dyn Error>> {
            let x =
                self.0.encrypt_modular(&vec![key; self.0.params().slots()], &mut system_rng()?)?;
            Ok(self.0.upload(&[x])?)
        }

        pub fn read(&self, answer: &[u8]) -> Result<u64, Box<dyn Error>> {
            let found = self.0.read_answer(answer)?;
            let value = found.first().ok_or("an answer without a value")?;
            Ok(value.decode(self.0.params())?[0])
        }
    }
}

mod server {
    use std::error::Error;
    use std::num::NonZeroU64;

    use everlevel::files::Bounds;
    use everlevel::lab::{DigitKind, DigitMethod, PlainModulus};
    use everlevel::{Keys, NextUse, Params, Plaintext, Server, Truncation, Value};

    use super::Table;

    pub struct Lookup {
        params: Params,
        server: Server,
    }

    impl Lookup {
        pub fn new(params: &Params, keys: &[u8]) -> Result<Self, Box<dyn Error>> {
            let server = Server::leveled(Keys::from_bytes(params, keys)?);
            Ok(Lookup { params: params.clone(), server })
        }

        /// Keys below p, of which the query is taken modulo p: depth log2(p), rounded up.
        pub fn small(&self, table: &Table, query: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
            let x =
                self.server.apply(&self.load(query)?, |s, x| Ok(s.reduce_plain_modulus(x, 1)?))?;
            let keys = Plaintext::encode_modulo(&self.params, &table.keys, 1)?;
            let difference = self.server.apply(&x, |s, x| Ok(s.sub_plain(x, &keys)?))?;
            self.select(table, &self.is_zero(&difference)?)
        }

        /// Keys below p^2: one digit of the difference is what is left modulo p, which is free; the
        /// other takes a digit removal.
        pub fn large(&self, table: &Table, query: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
            let keys = Plaintext::encode(&self.params, &table.keys)?;
            let difference =
                self.server.apply(&self.load(query)?, |s, x| Ok(s.sub_plain(x, &keys)?))?;
            let truncation = Truncation::new(
                self.params.spec().plain_prime,
                2,
                1,
                DigitMethod::new(DigitKind::Geelen),
            )?;
            let low = self.server.apply(&difference, |s, x| Ok(s.reduce_plain_modulus(x, 1)?))?;
            let high =
                self.server.apply(&difference, |s, x| truncation.round(s, x, NextUse::Product))?;
            self.select(table, &self.server.mul(&self.is_zero(&low)?, &self.is_zero(&high)?)?)
        }

        fn load(&self, query: &[u8]) -> Result<Value, Box<dyn Error>> {
            let mut found = self.server.receive(query, &Bounds::Fresh)?;
            Ok(found.pop().ok_or("a query without a key")?)
        }

        /// 1 where x is 0 modulo p, else 0.
        fn is_zero(&self, x: &Value) -> Result<Value, Box<dyn Error>> {
            let exponent = NonZeroU64::new(self.params.spec().plain_prime - 1).ok_or("p = 1")?;
            Ok(self.server.add_scalar(&self.server.neg(&self.server.pow(x, exponent)?)?, 1)?)
        }

        /// The value of the one entry that is equal, or 0.
        fn select(&self, table: &Table, equal: &Value) -> Result<Vec<u8>, Box<dyn Error>> {
            let values = Plaintext::encode_modulo(&self.params, &table.values, 1)?;
            let found = self.server.sum(&self.server.mul_plain(equal, &values)?)?;
            println!("  {:.0} bits left", self.server.capacity_bits(&found));
            Ok(self.server.answer([&found])?)
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let params = match std::env::args().any(|a| a == "--secure") {
        true => Params::named("bfv-127e2-n15", OptIn::SecureOnly)?,
        false => Params::named("insecure_bfv-127e2-n8", OptIn::InsecureResearch)?, // a toy ring
    };
    let p = params.spec().plain_prime;
    // An entry a slot. Keys differ; the last slots of a shorter table would hold a key that nobody
    // asks for.
    let entries = params.slots() as u64;
    let small = Table {
        keys: (0..entries).map(|i| (3 * i + 5) % p).collect(),
        values: (0..entries).map(|i| 1 + i * i % 100).collect(),
    };
    let large = Table {
        keys: (0..entries).map(|i| i * 7919 % (p * p)).collect(),
        values: small.values.clone(),
    };

    let asker = client::Asker::new(&params)?;
    let lookup = server::Lookup::new(&params, &asker.server_keys()?)?;
    for (name, table, missing) in
        [("modulo p, by Fermat", &small, 2), ("modulo p^2, by digits", &large, 1)]
    {
        assert!(!table.keys.contains(&missing));
        for (key, expected) in [(table.keys[17], table.values[17]), (missing, 0)] {
            println!("{name}: a key");
            let query = asker.query(key)?;
            let answer = if name.contains("Fermat") {
                lookup.small(table, &query)?
            } else {
                lookup.large(table, &query)?
            };
            assert_eq!(asker.read(&answer)?, expected);
        }
    }
    println!("{entries} entries, two tables, four queries, all exact");
    Ok(())
}
