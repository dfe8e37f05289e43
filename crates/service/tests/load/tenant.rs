//! Tenants: each with a secret key, inputs and programs of its own, so that an answer for another
//! one is found out.

use std::path::{Path, PathBuf};

use everlevel::files::{Bytes, Existing, ReadOptions};
use everlevel::{Ciphertext, KeyPlan, Keys, OptIn, Params};
use everlevel_service::ObjectId;
use everlevel_service::api::JobRequest;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// How many inputs a tenant has.
pub const INPUTS: usize = 4;
/// Statements of a program that takes a while.
const STATEMENTS: usize = 40;

pub struct Tenant {
    pub name: String,
    number: u64,
    owner: everlevel::Client,
    pub keys: PathBuf,
    pub inputs: Vec<PathBuf>,
}

impl Tenant {
    pub fn several(count: usize, directory: &Path) -> Vec<Self> {
        (0..count as u64).map(|number| Self::new(number, directory)).collect()
    }

    fn new(number: u64, directory: &Path) -> Self {
        let opt_in = OptIn::InsecureResearch;
        let params = Params::named("insecure_bgv-65537-n11", opt_in).expect("a set");
        let mut rng = ChaCha20Rng::seed_from_u64(number);
        let owner = everlevel::Client::new(&params, &mut rng);
        let keys = directory.join(format!("{number}.keys"));
        let plan = KeyPlan::relinearization(&params);
        let drawn: Keys = owner.server_keys(&plan, &mut rng).expect("keys").into();
        drawn.save(&keys, Existing::Keep).expect("a file of keys");
        let mut inputs = Vec::new();
        for input in 0..INPUTS as u64 {
            let values = Self::values(number, input);
            let x = owner.encrypt_modular(&values, &mut rng).expect("a ciphertext");
            let path = directory.join(format!("{number}-{input}.ct"));
            std::fs::write(&path, owner.upload(&[x]).expect("bytes")).expect("a file");
            inputs.push(path);
        }
        Tenant { name: format!("tenant-{number}"), number, owner, keys, inputs }
    }

    fn values(number: u64, input: u64) -> [u64; 3] {
        [2 + input, 7, 100 + number]
    }

    /// A program that takes few milliseconds, or one that takes longer.
    pub fn program(&self, keys: &ObjectId, input: &ObjectId, long: bool) -> JobRequest {
        let own = self.number;
        let mut program = format!("y = x*x + {own}");
        if long {
            for statement in 1..STATEMENTS {
                program += &format!("; _{statement} = x*x*x + {statement}");
            }
        }
        JobRequest::Program {
            server_keys: keys.clone(),
            program,
            inputs: [("x".to_string(), input.clone())].into(),
            columns: Vec::new(),
            tables: Default::default(),
            pad: false,
        }
    }

    /// Whether these bytes are what the program has to give on an input, under this tenant's key.
    pub fn is_answer(&self, bytes: &[u8], input: usize) -> bool {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        let found = Vec::<Ciphertext>::from_bytes_with(self.owner.params(), bytes, &options);
        let Some(x) = found.ok().and_then(|(found, _)| found.into_iter().next()) else {
            return false;
        };
        let expected = Self::values(self.number, input as u64).map(|v| v * v + self.number);
        self.owner.decrypt_modular(&x).is_ok_and(|values| values[..3] == expected)
    }
}
