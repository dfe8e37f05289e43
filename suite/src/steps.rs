//! Times of the steps of a stage, which the harness shows beside its own.

use std::time::{Duration, Instant};

use crate::error::SuiteError;
use crate::instance::Instance;
use crate::output::Output;

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
        let total = ("Total", self.start.elapsed());
        let seconds = |(name, spent): (&str, Duration)| {
            (name.to_string(), serde_json::Value::from(spent.as_secs_f64()))
        };
        let object: serde_json::Map<_, _> =
            self.all.into_iter().chain([total]).map(seconds).collect();
        let mut out = Output::create(instance.io("server_reported_steps.json"))?;
        out.write(serde_json::Value::Object(object).to_string().as_bytes())?;
        out.finish()
    }
}
