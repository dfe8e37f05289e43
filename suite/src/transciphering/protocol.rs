//! What the stages of both sides agree on: instances, parameters, files.

use std::path::{Path, PathBuf};
#[cfg(test)]
use std::sync::Mutex;

use everlevel_aes::Mode;
use everlevel_scheme::spec::BootstrapSpec;
use everlevel_scheme::{Level, OptIn, Params, ParamsSpec};
use everlevel_wire::Metadata;

use super::maximum::levels::Levels;
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless;
use crate::numbers::{Words, read_hex};
use crate::stage::usage;

/// The instances of the workload, by their numbers of 16 bits.
pub const INSTANCES: [Instance; 4] = [
    Instance { name: "toy", count: 8 },
    Instance { name: "small", count: 128 },
    Instance { name: "medium", count: 2_048 },
    Instance { name: "large", count: 32_768 },
];

/// Small instances on an insecure ring, for tests; no harness names them: a block by itself, as
/// `toy` is, and blocks that take two states.
pub const STAND_INS: [Instance; 2] = [
    Instance { name: "insecure_stand-in-block", count: 8 },
    Instance { name: "insecure_stand-in", count: 64 },
];
/// The index of the ring of tests, which has the same slots but for their number and degree.
const STAND_IN_INDEX: u64 = 4947;

/// The weight of the sparse secret of that ring, which is too small for the weight of the others.
const STAND_IN_WEIGHT: usize = 14;

/// How many random bits all have to be 0 for the maximum to miss a digit: so many that this happens
/// in one of four steps with a probability of 2^-130 at most.
const RANDOM_BITS: usize = 132;
/// The same on that ring, where bits are expensive.
const STAND_IN_BITS: usize = 48;

/// What a server is to compute by the harness's option `--mini_workload`, which stages are not
/// told: its number.
pub const TASK_VARIABLE: &str = "EVERLEVEL_MINI_WORKLOAD";

/// What the server computes after AES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The largest of all numbers.
    Maximum,
    /// The inner product of the halves modulo 2^16.
    InnerProduct,
}

impl Task {
    #[cfg(test)]
    pub const ALL: [Task; 2] = [Task::Maximum, Task::InnerProduct];

    /// By its number.
    fn of(number: &str) -> Option<Self> {
        match number {
            "0" => Some(Task::Maximum),
            "1" => Some(Task::InnerProduct),
            _ => None,
        }
    }
}

/// The levels of the maximum by the bits of their moduli. Those of products and below are as high
/// as the digits that are compared last leave them, by rehearsals of all instances.
pub(super) fn maximum_levels(params: &Params) -> Levels {
    let level = |bits: f64| params.chain().at_least(bits);
    Levels {
        weighted: level(145.0),
        product: level(133.9),
        sums: level(118.0),
        norm: level(83.9),
        fresh: level(640.0),
        digit: level(320.0),
    }
}

/// Bytes of a block.
pub(super) const BLOCK: usize = 16;
/// How many values the last byte of a counter has.
pub(super) const LOW: usize = 256;
/// Numbers of a block.
pub(super) const PER_BLOCK: usize = BLOCK / 2;
/// Round keys of AES-128.
pub(super) const ROUND_KEYS: usize = 11;
/// The bits of a number.
pub(super) const BITS: u32 = 16;

/// An instance, once it is known that what is asked can be computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workload {
    pub instance: Instance,
    pub task: Task,
}

impl Workload {
    /// The workload by the arguments of a stage, its size alone, and by [`TASK_VARIABLE`].
    pub fn of(arguments: &[&str]) -> Result<Self, SuiteError> {
        let [size] = arguments else { return Err(usage("SIZE", arguments)) };
        let stand_in = STAND_INS.iter().find(|instance| instance.name == *size);
        let instance = match stand_in {
            Some(instance) => *instance,
            None => Instance::at(&INSTANCES, size)?,
        };
        let number = std::env::var_os(TASK_VARIABLE);
        match number.as_ref().and_then(|number| Task::of(number.to_str()?)) {
            Some(task) => Ok(Workload { instance, task }),
            None => {
                let found = number.unwrap_or_else(|| "nothing".into());
                Err(SuiteError::MiniWorkload { found: found.to_string_lossy().into_owned() })
            }
        }
    }

    /// The specification of the parameter set. For the inner product it is `aes-bgv-leveled`, whose
    /// packed states have no room for integers modulo 2^16, with two more primes and one special
    /// prime less. For the maximum it is `aes-bgv-refreshed`, whose packed states have no room for
    /// flags of numbers, with two special primes for as many others; one more where AES decrypts.
    /// Instances of tests have the same on their ring.
    fn spec(&self) -> Result<ParamsSpec, SuiteError> {
        let (kind, base, words, special) = match (self.task, self.counts()) {
            (Task::InnerProduct, _) => ("", "aes-bgv-leveled", 18, 2),
            (Task::Maximum, true) => ("-maximum", "aes-bgv-refreshed", 17, 3),
            (Task::Maximum, false) => ("-maximum-block", "aes-bgv-refreshed", 18, 2),
        };
        let (name, base) = (format!("transciphering{kind}-2-m53261"), ParamsSpec::named(base)?);
        let spec = ParamsSpec { name, words, special, digit_size: special, ..base };
        if !self.is_stand_in() {
            return Ok(spec);
        }
        let name = format!("insecure_{}", spec.name);
        let lighter = |it: BootstrapSpec| BootstrapSpec { sparse_weight: STAND_IN_WEIGHT, ..it };
        let bootstrap = spec.bootstrap.map(lighter);
        Ok(ParamsSpec { name, index: STAND_IN_INDEX, bootstrap, ..spec })
    }

    /// Whether it is a small one on an insecure ring.
    fn is_stand_in(&self) -> bool {
        STAND_INS.contains(&self.instance)
    }

    /// The parameter set.
    pub fn params(&self) -> Result<Params, SuiteError> {
        let opt_in = if self.is_stand_in() { OptIn::InsecureResearch } else { OptIn::SecureOnly };
        Ok(Params::new(self.spec()?, opt_in)?)
    }

    /// The same, made once for all workloads that have it.
    #[cfg(test)]
    pub fn shared_params(&self) -> Params {
        static MADE: Mutex<Vec<Params>> = Mutex::new(Vec::new());
        let (spec, mut made) = (self.spec().unwrap(), MADE.lock().unwrap());
        if let Some(params) = made.iter().find(|params| *params.spec() == spec) {
            return params.clone();
        }
        made.push(self.params().unwrap());
        made[made.len() - 1].clone()
    }

    /// How many random bits the maximum has for each value of a digit.
    pub fn random_bits(&self) -> usize {
        if self.is_stand_in() { STAND_IN_BITS } else { RANDOM_BITS }
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        // At most 2^15 numbers.
        self.instance.count as usize / PER_BLOCK
    }

    /// How many bytes they are.
    pub fn bytes(&self) -> usize {
        BLOCK * self.blocks()
    }

    /// Whether the data are under AES in counter mode; a block alone is under AES as it is.
    pub fn counts(&self) -> bool {
        self.blocks() > 1
    }

    /// Whether states take the first rounds of AES together: where counters repeat in their last
    /// byte, and in tests.
    pub fn shares_rounds(&self) -> bool {
        self.repeats() || self.counts() && self.is_stand_in()
    }

    /// Whether the counters of each half of the data repeat in their last byte, each value equally
    /// often.
    pub fn repeats(&self) -> bool {
        let half = self.blocks() / 2;
        half > LOW && half.is_multiple_of(LOW)
    }

    /// The mode of the data, which begin with this counter block; `toy` has none.
    pub fn mode(&self, iv: &[u8]) -> Result<Mode, SuiteError> {
        if self.counts() { Ok(Mode::ctr(iv)?) } else { Ok(Mode::ecb()) }
    }
}

/// The files between the stages of an instance.
pub(super) struct Files {
    pub data: PathBuf,
    pub key: PathBuf,
    pub iv: PathBuf,
    pub round_keys: PathBuf,
    pub server_keys: PathBuf,
    pub secret_key: PathBuf,
    pub encrypted_keys: PathBuf,
    pub blocks: PathBuf,
    pub levels: PathBuf,
    pub states: PathBuf,
    pub aes_download: PathBuf,
    pub download: PathBuf,
    pub aes_bytes: PathBuf,
    pub slots: PathBuf,
    pub aes_output: PathBuf,
    pub output: PathBuf,
}

impl Files {
    pub fn of(instance: &Instance) -> Self {
        Files {
            data: instance.dataset("db.hex"),
            key: instance.dataset("aes_key.hex"),
            iv: instance.dataset("aes_iv.hex"),
            round_keys: instance.io("secret_key/round_keys.bin"),
            server_keys: instance.io("public_keys/server.keys"),
            secret_key: instance.io("secret_key/secret.key"),
            encrypted_keys: instance.io("ciphertexts_upload/round_keys.ct"),
            blocks: instance.io("intermediate/blocks.bin"),
            levels: instance.io("public_keys/levels.bin"),
            states: instance.io("intermediate/states.ct"),
            aes_download: instance.io("ciphertext_aes_download/states.bin"),
            download: instance.io("ciphertexts_download/result.bin"),
            aes_bytes: instance.io("decrypted/aes.bin"),
            slots: instance.io("decrypted/slots.bin"),
            aes_output: instance.io("result_aes.txt"),
            output: instance.io("result.txt"),
        }
    }
}

/// The levels at which round keys are needed, as `client_key_generation` wrote them.
pub(super) fn read_levels(params: &Params, path: &Path) -> Result<Vec<Level>, SuiteError> {
    let levels = Words::open(path, ROUND_KEYS as u64)?.read(ROUND_KEYS)?;
    let top = params.chain().top();
    // What is above all levels is the highest.
    let level = |level: &u64| usize::try_from(*level).map_or(top, |level| Level(level).min(top));
    Ok(levels.iter().map(level).collect())
}

/// The first counter block, or zeros where there is none.
pub(super) fn read_iv(workload: &Workload, files: &Files) -> Result<Vec<u8>, SuiteError> {
    match workload.counts() {
        true => Ok(read_hex(&files.iv, BLOCK)?.to_vec()),
        false => Ok(vec![0; BLOCK]),
    }
}

/// The part of an upload that round keys are: all of it.
pub(super) const PART: &str = "round keys";

/// What a file of ciphertexts is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Round keys, packed.
    RoundKeys,
    /// States of decrypted blocks.
    States,
    /// What was computed after AES.
    Result(Task),
}

/// What the files of ciphertexts say of themselves.
pub(super) fn metadata(instance: &Instance, content: Content) -> Metadata {
    let content = match content {
        Content::RoundKeys => "round-keys",
        Content::States => "states",
        Content::Result(Task::Maximum) => "maximum",
        Content::Result(Task::InnerProduct) => "inner-product",
    };
    let mut out = keyless::metadata("transciphering", instance);
    out.insert("content".into(), content.into());
    out
}
