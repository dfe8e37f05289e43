//! `everlevel bench bootstrap --device cuda`: the bootstrapping on a CUDA device, call by call and
//! as a graph of all calls, every result compared with that of the processor, bit by bit.

use std::sync::Arc;
use std::time::Instant;

use everlevel::lab::{Bootstrapper, CircuitError, Evaluator, ServerEvaluator};
use everlevel::{BootstrapMode, Ciphertext, Keys, Params, Plaintext, SecretKey, failure_log2};
use everlevel_gpu::{Gpu, Recording};
use rand_core::CryptoRng;
use serde::Serialize;

use super::args::BootstrapArgs;
use super::measure::{Bench, wrong_slots};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, median, progress, threads};
use crate::console::params::find_planner;

/// Room for copies of all keys, which would else be copied again in every bootstrapping. A graph
/// keeps those that it reads in any case.
const ALL_KEYS: u64 = u64::MAX;

/// A ciphertext that needs bootstrapping.
struct Case {
    input: Ciphertext,
    value: Plaintext,
    /// What the processor makes of it.
    expected: Ciphertext,
}

/// What comparisons have found so far.
#[derive(Default)]
struct Checked {
    ciphertexts: usize,
    /// Ciphertexts that are not those of the processor.
    differing: usize,
    wrong_slots: usize,
}

/// The times of one bootstrapping.
#[derive(Serialize)]
struct Times {
    seconds_median: f64,
    seconds_min: f64,
    slots_per_second: f64,
}

impl Times {
    fn of(seconds: &[f64], slots: usize) -> Self {
        let seconds_median = median(seconds);
        Times {
            seconds_median,
            seconds_min: seconds.iter().copied().fold(f64::INFINITY, f64::min),
            slots_per_second: slots as f64 / seconds_median,
        }
    }

    fn text(&self) -> String {
        format!(
            "{:.5} s, {:.5} s at best; {:.0} slots a second",
            self.seconds_median, self.seconds_min, self.slots_per_second
        )
    }
}

/// The bootstrapping as a graph, or as one for each ciphertext, launched at the same time.
#[derive(Serialize)]
struct Graph {
    nodes: usize,
    #[serde(flatten)]
    times: Times,
    recording_seconds: f64,
    memory_held_bytes: u64,
}

#[derive(Serialize)]
struct Report {
    params: String,
    slots: usize,
    security_bits: f64,
    security_model: &'static str,
    failure_log2: f64,
    device: String,
    driver: String,
    compute_capability: String,
    multiprocessors: u32,
    device_memory_bytes: u64,
    threads: usize,
    batch: u32,
    runs: u32,
    #[serde(flatten)]
    times: Times,
    graph: Option<Graph>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph_error: Option<String>,
    key_switches: u64,
    non_scalar_products: u64,
    keys_held_bytes: u64,
    memory_held_bytes: u64,
    bits_equal: bool,
    verified_slots: usize,
    wrong_slots: usize,
}

/// The bootstrapping of a ciphertext, recorded.
type Recorded = Recording<Ciphertext<Gpu>>;

/// A bootstrapping on the device.
struct Subject<'a> {
    secret: &'a SecretKey,
    scheme: &'a Evaluator<Gpu, Keys>,
    boot: &'a Bootstrapper<Evaluator<Gpu, Keys>>,
    /// The ciphertexts that are bootstrapped together, in the memory of the device.
    inputs: &'a [Ciphertext<Gpu>],
    slots: usize,
    runs: u32,
    /// Called after each part.
    tick: &'a (dyn Fn() + Sync),
}

impl Subject<'_> {
    fn gpu(&self) -> &Gpu {
        self.scheme.engine()
    }

    fn bootstrap(&self) -> Result<Vec<Ciphertext<Gpu>>, CircuitError> {
        let inputs: Vec<&Ciphertext<Gpu>> = self.inputs.iter().collect();
        self.boot.bootstrap_many(self.scheme, &inputs)
    }

    /// The times of a ciphertext in several runs, each until the device has done everything.
    fn times<T>(&self, run: impl Fn() -> Result<T, CliError>) -> Result<Times, CliError> {
        let seconds = |_| -> Result<f64, CliError> {
            let started = Instant::now();
            let result = run()?;
            self.gpu().synchronize()?;
            let seconds = started.elapsed().as_secs_f64();
            drop(result);
            (self.tick)();
            Ok(seconds / self.inputs.len() as f64)
        };
        let seconds = (0..self.runs).map(seconds).collect::<Result<Vec<f64>, CliError>>()?;
        Ok(Times::of(&seconds, self.slots))
    }

    /// Compares results with those of the processor, and with the values.
    fn compare(
        &self,
        found: &[&Ciphertext<Gpu>],
        cases: &[Case],
        checked: &mut Checked,
    ) -> Result<(), CliError> {
        for (x, case) in found.iter().zip(cases) {
            let (x, expected) = (self.scheme.download(x)?, &case.expected);
            let equal = x.fingerprint() == expected.fingerprint() && x.meta() == expected.meta();
            checked.ciphertexts += 1;
            checked.differing += usize::from(!equal);
            checked.wrong_slots += match wrong_slots(self.secret, &x, &case.value) {
                // Other bits may decrypt to nothing at all.
                Err(_) if !equal => self.slots,
                wrong => wrong?,
            };
        }
        (self.tick)();
        Ok(())
    }

    /// Records the bootstrapping of each ciphertext, or says why it cannot be recorded.
    fn record(&self) -> Result<Vec<Recorded>, String> {
        let record = |x: &Ciphertext<Gpu>| {
            let work = || self.boot.bootstrap(self.scheme, x);
            let recorded = self.gpu().record(work).map_err(|e| e.to_string())?;
            recorded.transpose().map_err(|e| e.to_string())
        };
        self.inputs.iter().map(record).collect()
    }

    /// Measures the graph on the ciphertexts that it was recorded with, and then gives it others,
    /// which have to be what it reads. There is one case more than ciphertexts: `cases` without the
    /// last one are those of the recording, and without the first one the others.
    fn graph(
        &self,
        recorded: &[Recorded],
        recording_seconds: f64,
        cases: &[Case],
        checked: &mut Checked,
    ) -> Result<Graph, CliError> {
        let launch = || match recorded {
            [recorded] => recorded.launch(),
            recorded => self.gpu().launch_together(recorded),
        };
        launch()?;
        let fresh = recorded.iter().map(Recording::result);
        let fresh = fresh.collect::<Result<Vec<&Ciphertext<Gpu>>, _>>()?;
        self.compare(&fresh, cases, checked)?;
        let times = self.times(|| Ok(launch()?))?;
        let others = &cases[1..];
        for (target, case) in self.inputs.iter().zip(others) {
            for (target, source) in target.components().iter().zip(case.input.components()) {
                self.gpu().overwrite(target, source)?;
            }
        }
        launch()?;
        self.compare(&fresh, others, checked)?;
        Ok(Graph {
            nodes: recorded.iter().map(Recording::nodes).sum(),
            times,
            recording_seconds,
            memory_held_bytes: self.gpu().memory_bytes(),
        })
    }
}

/// Ciphertexts that need bootstrapping and have equal public data, and what the processor makes of
/// them.
fn cases(
    bench: &Bench,
    secret: &SecretKey,
    keys: Keys,
    count: usize,
    rng: &mut impl CryptoRng,
    tick: &dyn Fn(),
) -> Result<Vec<Case>, CliError> {
    let host = ServerEvaluator::new(keys);
    let boot = Bootstrapper::new(&host, bench.planner().bootstrap_plan().clone())?;
    let needed = boot.minimum_capacity(&host);
    let case = |_| -> Result<Case, CliError> {
        let (input, value) = bench.exhausted(&host, secret, needed, rng)?;
        let expected = boot.bootstrap(&host, &input)?;
        tick();
        Ok(Case { input, value, expected })
    };
    let cases = (0..count).map(case).collect::<Result<Vec<Case>, CliError>>()?;
    // What a graph is given later has to have the levels and factors of what it was recorded with.
    if cases.windows(2).any(|pair| pair[0].input.meta() != pair[1].input.meta()) {
        return Err(CliError::failure("ciphertexts that were made alike differ in public data"));
    }
    Ok(cases)
}

/// Runs the measurement.
pub fn run(
    args: &BootstrapArgs,
    common: &Common,
    ordinal: u32,
    params: &Params,
    mode: Option<BootstrapMode>,
) -> Result<(), CliError> {
    let gpu = Arc::new(Gpu::new(params.ring().clone(), ordinal)?);
    let bench = Bench::new(params, find_planner(params, mode)?).with_seeded_keys(args.seeded_keys);
    let (batch, runs) = (args.batch, args.runs);
    // Keys, one case more than the batch, the first run, the others, recording, two graphs, runs.
    let bar = progress(common, "bootstrapping", u64::from(batch) + 2 * u64::from(runs) + 6);
    let tick = || bar.inc(1);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let (secret, keys) = bench.keys(&mut rng)?;
    let keys = Keys::from(keys);
    tick();
    let cases = cases(&bench, &secret, keys.clone(), batch as usize + 1, &mut rng, &tick)?;

    let scheme = Evaluator::with_engine(keys, gpu.clone(), ALL_KEYS);
    let boot = Bootstrapper::new(&scheme, bench.planner().bootstrap_plan().clone())?;
    boot.prepare(&scheme, bench.planner().stages())?;
    let inputs = cases[..batch as usize].iter().map(|case| scheme.upload(&case.input));
    let inputs = inputs.collect::<Result<Vec<Ciphertext<Gpu>>, _>>()?;
    let subject = Subject {
        secret: &secret,
        scheme: &scheme,
        boot: &boot,
        inputs: &inputs,
        slots: params.slots(),
        runs,
        tick: &tick,
    };
    let mut checked = Checked::default();
    // The first run copies the keys. A launch of a graph is not counted, so this run is.
    let counted = scheme.cost();
    let first = subject.bootstrap()?;
    subject.compare(&first.iter().collect::<Vec<_>>(), &cases, &mut checked)?;
    drop(first);
    let cost = (scheme.cost() - counted) / u64::from(batch);
    let times = subject.times(|| Ok(subject.bootstrap()?))?;
    let memory_held_bytes = gpu.memory_bytes();

    let started = Instant::now();
    let recorded = subject.record();
    let recording_seconds = started.elapsed().as_secs_f64();
    tick();
    let (graph, graph_error) = match recorded {
        Ok(recorded) => {
            let graph = subject.graph(&recorded, recording_seconds, &cases, &mut checked)?;
            (Some(graph), None)
        }
        Err(problem) => (None, Some(problem)),
    };
    bar.finish_and_clear();

    let device = gpu.device();
    let report = Report {
        params: params.name().into(),
        slots: params.slots(),
        security_bits: params.security().bits(),
        security_model: params.security().model(),
        failure_log2: failure_log2(params, &cost),
        device: device.name.clone(),
        driver: device.driver.clone(),
        compute_capability: format!("{}.{}", device.compute.0, device.compute.1),
        multiprocessors: device.multiprocessors,
        device_memory_bytes: device.memory_bytes,
        threads: threads(),
        batch,
        runs,
        times,
        graph,
        graph_error,
        key_switches: cost.key_switches,
        non_scalar_products: cost.products,
        keys_held_bytes: scheme.resident_key_bytes(),
        memory_held_bytes,
        bits_equal: checked.differing == 0,
        verified_slots: checked.ciphertexts * params.slots(),
        wrong_slots: checked.wrong_slots,
    };
    if common.json {
        emit_json(&report)?;
    } else {
        emit(&text(&report))?;
    }
    if checked.differing > 0 || checked.wrong_slots > 0 {
        return Err(CliError::failure(format!(
            "{} of {} results are not those of the processor, {} of {} slots are wrong: please \
             report this",
            checked.differing, checked.ciphertexts, report.wrong_slots, report.verified_slots
        )));
    }
    Ok(())
}

fn text(r: &Report) -> String {
    let mib = |b: u64| b as f64 / 1048576.0;
    let together = if r.batch > 1 { format!(" of {} together", r.batch) } else { String::new() };
    let graph = match (&r.graph, &r.graph_error) {
        (Some(graph), _) => format!(
            "as a graph of {} nodes: {}; recorded in {:.3} s, {:.0} MiB held",
            graph.nodes,
            graph.times.text(),
            graph.recording_seconds,
            mib(graph.memory_held_bytes)
        ),
        (None, problem) => format!("no graph: {}", problem.as_deref().unwrap_or_default()),
    };
    let bits = if r.bits_equal { "the bits are" } else { "the bits are not" };
    [
        format!(
            "{}: {} slots, {:.1} bits of security; {} threads beside the device",
            r.params, r.slots, r.security_bits, r.threads
        ),
        format!(
            "{}: compute capability {}, {} multiprocessors, {:.0} MiB, driver {}",
            r.device,
            r.compute_capability,
            r.multiprocessors,
            mib(r.device_memory_bytes),
            r.driver
        ),
        format!("one bootstrapping{together} (median of {}): {}", r.runs, r.times.text()),
        graph,
        format!(
            "{} key switches, {} products; failure 2^{:.1}",
            r.key_switches, r.non_scalar_products, r.failure_log2
        ),
        format!(
            "on the device: keys {:.0} MiB, {:.0} MiB held in all",
            mib(r.keys_held_bytes),
            mib(r.memory_held_bytes)
        ),
        format!(
            "{} slots checked, {} wrong; {bits} those of the processor",
            r.verified_slots, r.wrong_slots
        ),
    ]
    .join("\n")
}
