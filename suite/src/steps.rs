//! Times of the steps of a stage, which the harness shows beside its own.

use std::time::{Duration, Instant};

use everlevel_wire::file::read_file;
use serde_json::{Map, Value};

use crate::error::SuiteError;
use crate::instance::Instance;
use crate::output::Output;

/// Where the harness looks for them.
pub(crate) const REPORT: &str = "server_reported_steps.json";
/// No report has more bytes.
const LONGEST: u64 = 1 << 16;

/// How long each step of a stage took, all its parts together.
pub(crate) struct Steps {
    start: Instant,
    all: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Begins now.
    pub fn start() -> Self {
        Steps { start: Instant::now(), all: Vec::new() }
    }

    /// Runs a part of a step.
    pub fn time<T>(&mut self, step: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = work();
        self.add(step, start.elapsed());
        out
    }

    /// Adds a part of a step that took this long.
    pub fn add(&mut self, step: &'static str, spent: Duration) {
        match self.all.iter_mut().find(|(name, _)| *name == step) {
            Some((_, all)) => *all += spent,
            None => self.all.push((step, spent)),
        }
    }

    /// Writes seconds by name, and the total, where the harness looks for them.
    pub fn write(self, instance: &Instance) -> Result<(), SuiteError> {
        self.write_into(instance, Map::new(), "")
    }

    /// The same of one of several stages, whose name they begin with, beside what stages before it
    /// wrote; what is no report is replaced.
    pub fn write_beside(self, instance: &Instance, stage: &str) -> Result<(), SuiteError> {
        let bytes = read_file(&instance.io(REPORT), LONGEST).ok();
        let before = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        self.write_into(instance, before.unwrap_or_default(), &format!("{stage}: "))
    }

    fn write_into(
        self,
        instance: &Instance,
        mut object: Map<String, Value>,
        prefix: &str,
    ) -> Result<(), SuiteError> {
        let total = ("Total", self.start.elapsed());
        for (name, spent) in self.all.into_iter().chain([total]) {
            object.insert(format!("{prefix}{name}"), spent.as_secs_f64().into());
        }
        let mut out = Output::create(instance.io(REPORT))?;
        out.write(Value::Object(object).to_string().as_bytes())?;
        out.finish()
    }
}
