//! What the stages of both sides agree on: instances, quantization, parameters, files.

use std::num::NonZeroU32;
use std::path::PathBuf;

use everlevel_scheme::{OptIn, Params, ParamsSpec};
use everlevel_wire::Metadata;

use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless;
use crate::stage::usage;

/// The instances of the workload.
pub const INSTANCES: [Instance; 4] = [
    Instance { name: "toy", count: 1_000 },
    Instance { name: "small", count: 50_000 },
    Instance { name: "medium", count: 1_000_000 },
    Instance { name: "large", count: 20_000_000 },
];
/// Coordinates of a row, instance by instance.
const DIMENSIONS: [usize; 4] = [128, 128, 256, 512];

/// A small instance on an insecure ring, for tests; no harness names it.
pub const STAND_IN: Instance = Instance { name: "insecure_stand-in", count: 5_000 };
/// Its coordinates.
const STAND_IN_DIMENSION: usize = 16;

/// The parts of an upload: rows and payloads are those of one, a query is one by itself. What lies
/// in slots otherwise is another part, so that files of other versions are refused.
pub(super) const ROWS: &str = "diagonals";
/// Beside rows.
pub(super) const PAYLOADS: &str = "payloads";
/// By itself.
pub(super) const QUERY: &str = "repeated query";

/// Numbers of a payload.
pub(super) const PAYLOAD: usize = 7;
/// The largest score: what the square of the norm of a rounded vector is at most, as well. There
/// are fewer than 2^10 scores, so that a polynomial of depth 10 tells them apart.
pub const LARGEST_SCORE: i64 = 511;
/// The deviation of the square of the norm of a rounded vector.
const DEVIATION: i64 = 13;

/// The square of what coordinates of unit vectors are multiplied by before they are rounded, and so
/// the score of a cosine of 1: what is [`LARGEST_SCORE`] with a twelfth for the rounding of each
/// coordinate, which is what it adds on average, and one deviation.
pub const fn unit_score(dimension: usize) -> i64 {
    LARGEST_SCORE - DEVIATION - dimension as i64 / 12
}

/// The smallest score of a match, at a cosine of 0.775: the middle of where the data sets have no
/// row.
pub const fn threshold(dimension: usize) -> i64 {
    unit_score(dimension) * 775 / 1000
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// How many rows match.
    Count,
    /// The payloads of those that do.
    Fetch,
}

impl Task {
    /// What files and requests call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Task::Count => "count",
            Task::Fetch => "fetch",
        }
    }
}

/// The level at which payloads are encrypted, which is where they meet masks or a level above; rows
/// and query are at the top. A constant, as the set is, so that no stage searches: a test rehearses
/// every instance.
pub(super) const PAYLOAD_LEVEL: usize = 2;

/// The parts of a score's sum where there are few chunks of rows.
const GIANTS: usize = 4;
/// Up to how many chunks are few.
const FEW_CHUNKS: usize = 8;

/// The levels of the powers of a score where one does not do.
const TWO: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// An instance with the shape of its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workload {
    pub instance: Instance,
    pub dimension: usize,
}

impl Workload {
    /// The workload, and what is asked, by the arguments of a stage: the size, `--count_only`, and
    /// seeds, which are for data and not looked at. A seed may occur again and again.
    pub fn of(arguments: &[&str]) -> Result<(Self, Task), SuiteError> {
        let wrong = || usage("SIZE [--count_only] [--seed NUMBER]...", arguments);
        let (size, mut rest) = arguments.split_first().ok_or_else(wrong)?;
        let mut task = Task::Fetch;
        while let Some((&option, more)) = rest.split_first() {
            rest = match (option, more) {
                ("--count_only", more) => {
                    task = Task::Count;
                    more
                }
                ("--seed", [seed, more @ ..]) if seed.parse::<u64>().is_ok() => more,
                _ => return Err(wrong()),
            };
        }
        if *size == STAND_IN.name {
            return Ok((Self::new(STAND_IN, STAND_IN_DIMENSION), task));
        }
        let instance = Instance::at(&INSTANCES, size)?;
        let mut known = INSTANCES.iter().zip(DIMENSIONS);
        let dimension = known.find_map(|(it, d)| (*it == instance).then_some(d));
        Ok((Self::new(instance, dimension.unwrap_or_default()), task))
    }

    fn new(instance: Instance, dimension: usize) -> Self {
        Workload { instance, dimension }
    }

    /// The parameter set.
    pub fn params(&self) -> Result<Params, SuiteError> {
        let (log_degree, opt_in) = match self.instance {
            STAND_IN => (11, OptIn::InsecureResearch),
            _ => (15, OptIn::SecureOnly),
        };
        Ok(Params::new(spec(log_degree), opt_in)?)
    }

    /// Whether a score is that of a match.
    pub fn matches(&self, score: i64) -> bool {
        score >= threshold(self.dimension)
    }

    /// At how many levels the powers of a score are in the sums of the threshold's polynomial. One
    /// takes the least work; the instance of the most coordinates and rows has no capacity to spare
    /// for it.
    pub fn term_levels(&self) -> NonZeroU32 {
        if self.dimension <= 256 { NonZeroU32::MIN } else { TWO }
    }

    /// Into how many parts the sum of a score is divided, the inner sums of each chunk of
    /// [`Diagonals`](super::diagonals::Diagonals). Each further part takes a relinearization and a
    /// rotation for each chunk, and four parts spare three quarters of the rotations of the query,
    /// which is more for few chunks.
    pub fn giants(&self, slots: usize) -> usize {
        if self.chunks(slots) <= FEW_CHUNKS { GIANTS.min(self.dimension) } else { 1 }
    }

    /// How many chunks of rows there are.
    pub fn chunks(&self, slots: usize) -> usize {
        keyless::blocks(&self.instance, slots)
    }

    /// How many of the rows are in a chunk.
    pub fn rows_of(&self, chunk: usize, slots: usize) -> usize {
        // At most 2 · 10^7 rows.
        (self.instance.count as usize).saturating_sub(chunk * slots).min(slots)
    }
}

/// The parameter set of 2^15 slots, or a ring of other degree for tests.
pub fn spec(log_degree: u32) -> ParamsSpec {
    let insecure = if log_degree < 15 { "insecure_" } else { "" };
    ParamsSpec {
        base_bits: 45,
        words: 6,
        fine_bits: vec![49, 46, 38, 36],
        special: 6,
        digit_size: 6,
        ..ParamsSpec::new(format!("{insecure}fetch-65537-n{log_degree}"), 2 << log_degree, 65_537)
    }
}

/// The files between the stages of an instance.
pub(super) struct Files {
    pub rows: PathBuf,
    pub payloads: PathBuf,
    pub query: PathBuf,
    pub rotation: PathBuf,
    pub rounded_rows: PathBuf,
    pub rounded_query: PathBuf,
    pub server_keys: PathBuf,
    pub secret_key: PathBuf,
    pub database: PathBuf,
    pub encrypted_payloads: PathBuf,
    pub encrypted_query: PathBuf,
    pub download: PathBuf,
    pub sums: PathBuf,
    pub output: PathBuf,
}

impl Files {
    pub fn of(instance: &Instance) -> Self {
        Files {
            rows: instance.dataset("db.bin"),
            payloads: instance.dataset("payloads.bin"),
            query: instance.dataset("query.bin"),
            rotation: instance.io("preprocessed/rotation.bin"),
            rounded_rows: instance.io("preprocessed/rows.bin"),
            rounded_query: instance.io("preprocessed/query.bin"),
            server_keys: instance.io("keys/server.keys"),
            secret_key: instance.io("secret_key/secret.key"),
            database: instance.io("ciphertexts_upload/rows.ct"),
            encrypted_payloads: instance.io("ciphertexts_upload/payloads.ct"),
            encrypted_query: instance.io("ciphertexts_upload/query.bin"),
            download: instance.io("ciphertexts_download/results.bin"),
            sums: instance.io("decrypted/sums.bin"),
            output: instance.io("results.bin"),
        }
    }
}

/// What the files of ciphertexts say of themselves.
pub(super) fn metadata(instance: &Instance) -> Metadata {
    keyless::metadata("fetch-by-similarity", instance)
}

/// The same of results, which are of a task.
pub(super) fn result_metadata(instance: &Instance, task: Task) -> Metadata {
    let mut out = metadata(instance);
    out.insert("task".into(), task.name().into());
    out
}
