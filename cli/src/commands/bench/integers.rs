//! `everlevel bench integers`: operations on typed integers, fresh or exhausted operands.

use std::str::FromStr;
use std::time::Instant;

use everlevel::lab::ServerEvaluator;
use everlevel::{
    Ciphertext, Client, IntegerColumn, Level, NextUse, Params, Plaintext, Server, failure_log2,
    general_keys,
};
use everlevel_integers::{Encoded, Integers, IntegersError, Type, index_level};
use everlevel_scheme::{Arithmetic, Scheme};
use indicatif::ProgressBar;
use rand_core::CryptoRng;
use serde::Serialize;

use super::args::IntegersArgs;
use super::operations::{Operation, Operations, named};
use super::rehearsed::Rehearsed;
use crate::commands::parties::{planned_server, server_for};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, progress, threads};
use crate::console::params::{find_params, find_planner};

#[derive(Serialize)]
struct Report {
    op: String,
    #[serde(rename = "type")]
    kind: String,
    /// Of the operands that are read, the highest one; none if they are public.
    level: Option<usize>,
    #[serde(skip)]
    lowest_level: Option<usize>,
    values: usize,
    wrong_values: usize,
    seconds: f64,
    microseconds_per_value: f64,
    refreshes: usize,
    products: u64,
    security_bits: f64,
    failure_log2: f64,
    threads: usize,
    set: String,
}

impl Report {
    fn text(&self, state: State) -> String {
        let levels = match (self.lowest_level, self.level) {
            (Some(least), Some(most)) if least < most => format!(" at levels {least} to {most}"),
            (_, Some(level)) => format!(" at level {level}"),
            (_, None) => String::new(),
        };
        format!(
            "{} of {} {}, {} operands{levels}, {}: {:.2} s, {:.1} us a value; {} refreshes, {} \
             products, {} threads; {:.1} bits of security, failure 2^{:.1}",
            self.op,
            self.values,
            self.kind,
            state.name(),
            self.set,
            self.seconds,
            self.microseconds_per_value,
            self.refreshes,
            self.products,
            self.threads,
            self.security_bits,
            self.failure_log2
        )
    }

    fn check(&self) -> Result<(), CliError> {
        if self.wrong_values == 0 {
            return Ok(());
        }
        Err(CliError::failure(format!(
            "{} of {} values of {} are wrong: please report this",
            self.wrong_values, self.values, self.op
        )))
    }
}

/// How operands are encrypted.
#[derive(Clone, Copy)]
enum State {
    Fresh,
    Exhausted,
    /// With an index where their type may have one.
    Indexed,
    /// Each at the level that it has in a plan of the operation.
    Planned([Level; 3]),
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Fresh => "fresh",
            State::Exhausted => "exhausted",
            State::Indexed => "indexed",
            State::Planned(_) => "planned",
        }
    }

    /// The level at which the digits of an operand are encrypted.
    fn level(self, operand: usize, params: &Params) -> Level {
        match self {
            State::Planned(levels) => levels[operand],
            State::Fresh | State::Exhausted | State::Indexed => params.chain().top(),
        }
    }
}

/// An operation that is not for the type.
#[derive(Serialize)]
struct Refused {
    op: &'static str,
    error: String,
}

/// Random values of a type, every fourth of them that of `like`.
fn values(kind: Type, count: usize, like: &[i128], rng: &mut impl CryptoRng) -> Vec<i128> {
    let (low, points) = (kind.interval().low(), kind.interval().points());
    let any = |rng: &mut dyn rand_core::Rng| {
        let random = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        low + (random % points) as i128
    };
    (0..count)
        .map(|i| match like.get(i).filter(|_| i % 4 == 0) {
            Some(v) => *v,
            None => any(rng),
        })
        .collect()
}

/// The product of `x` and a ciphertext of ones at the lowest level from which the product can still
/// be bootstrapped after a sum: as a chain of operations leaves it, with no room for another.
fn exhausted(server: &Server, x: &Ciphertext, ones: &Ciphertext) -> Result<Ciphertext, CliError> {
    let needed = server.session().minimum_capacity() + 1.0;
    let evaluator = server.evaluator();
    for level in (0..=x.level().0).map(Level) {
        let product = evaluator
            .mod_switch_to(x, level)
            .and_then(|x| Ok((x, evaluator.mod_switch_to(ones, level)?)))
            .and_then(|(x, ones)| evaluator.mul(&x, &ones, NextUse::Keep));
        if let Ok(product) = product
            && evaluator.capacity_bits(&product) >= needed
        {
            return Ok(product);
        }
    }
    Ok(x.clone())
}

/// An operand, by its place among the three, in a state.
fn column(
    (client, server): (&Client, &Server),
    values: &[i128],
    kind: Type,
    (operand, state): (usize, State),
    rng: &mut impl CryptoRng,
) -> Result<IntegerColumn, CliError> {
    let params: &Params = client.params();
    let encoded = Encoded::new(values, kind, params.slots())?;
    let ones = client.encrypt_modular(&vec![1; params.slots()], rng)?;
    let mut fresh = |slots: &[u64], level: Level| -> Result<Ciphertext, CliError> {
        let plaintext = Plaintext::encode(params, slots).map_err(everlevel::Error::from)?;
        let x = client.secret().encrypt_at(&plaintext, level, rng);
        Ok(x.map_err(everlevel::Error::from)?)
    };
    let level = state.level(operand, params);
    match state {
        State::Fresh | State::Planned(_) => encoded.encrypt(|slots| fresh(slots, level)),
        State::Exhausted => {
            encoded.encrypt(|slots| exhausted(server, &fresh(slots, level)?, &ones))
        }
        State::Indexed => match index_level(params, kind) {
            Ok(index) => {
                encoded.encrypt_indexed(index, |slots, own| fresh(slots, own.unwrap_or(level)))
            }
            // Truth values, say.
            Err(IntegersError::Type { .. }) => encoded.encrypt(|slots| fresh(slots, level)),
            Err(error) => Err(error.into()),
        },
    }
}

/// Where operations are measured.
struct Bench<'a> {
    parties: (&'a Client, &'a Server),
    ints: Integers<'a, ServerEvaluator>,
    kind: Type,
    state: State,
    values: Option<usize>,
    /// Whether the server has bootstrapped; otherwise an operation is run once before it is
    /// measured.
    warm: bool,
}

impl Bench<'_> {
    /// The three operands with these values.
    fn operands(
        &self,
        types: [Type; 3],
        plain: &[Vec<i128>; 3],
        rng: &mut impl CryptoRng,
    ) -> Result<[IntegerColumn; 3], CliError> {
        let encrypt =
            |i: usize, rng: &mut _| column(self.parties, &plain[i], types[i], (i, self.state), rng);
        Ok([encrypt(0, rng)?, encrypt(1, rng)?, encrypt(2, rng)?])
    }

    /// Measures an operation: columns of its greatest length one after the other, each a step of
    /// the bar. An inner error is of an operation that is not for these types.
    fn run(
        &self,
        operation: &Operation<ServerEvaluator>,
        bar: &ProgressBar,
        rng: &mut impl CryptoRng,
    ) -> Result<Result<Report, IntegersError>, CliError> {
        let (client, server) = self.parties;
        let most = operation.longest.entries(&self.ints);
        let total = self.values.unwrap_or(most);
        let types = operation.operands.types(self.kind)?;
        let (mut before, refreshed) = (server.evaluator().cost(), server.bootstraps());
        let (mut seconds, mut wrong, mut left) = (0.0, 0, total);
        let mut levels: Vec<usize> = Vec::new();
        bar.set_length(total.div_ceil(most) as u64);
        while left > 0 {
            let count = left.min(most);
            left -= count;
            let first = values(types[0], count, &[], rng);
            let second = values(types[1], count, &first, rng);
            let plain = [first, second, values(types[2], count, &[], rng)];
            if !self.warm && bar.position() == 0 {
                // As after the bootstrapping in the other modes, memory and tables are there. An
                // error is that of the operation that is measured, too.
                let operands = self.operands(types, &plain, rng)?;
                (operation.run)(&self.ints, self.kind, operands.each_ref()).ok();
                before = server.evaluator().cost();
            }
            let operands = self.operands(types, &plain, rng)?;
            // Before the operation, which may bootstrap them.
            let read = operands.iter().zip(operation.reads).filter(|(_, read)| *read);
            levels.extend(read.flat_map(|(x, _)| x.values().map(|v| v.get().level().0)));
            let started = Instant::now();
            let found = match (operation.run)(&self.ints, self.kind, operands.each_ref()) {
                Ok(found) => found,
                Err(
                    error @ (IntegersError::Range { .. }
                    | IntegersError::Width { .. }
                    | IntegersError::Type { .. }
                    | IntegersError::Table { .. }),
                ) => return Ok(Err(error)),
                Err(error) => return Err(error.into()),
            };
            seconds += started.elapsed().as_secs_f64();
            let results = found.len();
            let expected = (operation.plain)(self.kind, &plain);
            let mut opened: Vec<i128> = Vec::with_capacity(expected.len());
            for result in &found {
                let entries: Vec<i128> = client.decrypt_column(result)?;
                // A result that is public has one entry, whatever the operands have.
                let entry =
                    (entries.len() == 1).then(|| vec![entries[0]; expected.len() / results]);
                opened.extend(entry.unwrap_or(entries));
            }
            wrong += expected.iter().zip(&opened).filter(|(x, y)| x != y).count();
            wrong += expected.len().abs_diff(opened.len());
            bar.inc(1);
        }
        let (params, cost) = (client.params(), server.evaluator().cost() - before);
        Ok(Ok(Report {
            op: operation.name.into(),
            kind: self.kind.to_string(),
            level: levels.iter().max().copied(),
            lowest_level: levels.iter().min().copied(),
            values: total,
            wrong_values: wrong,
            seconds,
            microseconds_per_value: seconds * 1e6 / total as f64,
            refreshes: server.bootstraps() - refreshed,
            products: cost.products,
            security_bits: params.security().bits(),
            failure_log2: failure_log2(params, &cost),
            threads: threads(),
            set: params.name().into(),
        }))
    }
}

/// Runs the measurement, of one operation or of all.
pub fn run(args: &IntegersArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.set.params, common)?;
    let kind = Type::from_str(&args.kind).map_err(CliError::usage)?;
    let rehearsed = |option: &str| Rehearsed::new(args, kind, option);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let client = Client::new(&params, &mut rng);
    let (server, state, warm) = if args.planned {
        let operation = rehearsed("--planned")?;
        let bar = progress(common, "rehearsing", 1);
        let (estimate, levels) = operation.planned(&params)?;
        bar.inc(1);
        bar.finish_and_clear();
        let server = planned_server(&client, &estimate, &mut rng, common)?;
        (server, State::Planned(levels), estimate.total().refreshes > 0)
    } else {
        let planner = find_planner(&params, None)?;
        let keys = match args.own_keys {
            // With those of the bootstrapping before it is measured.
            true => planner.keys().merge(&rehearsed("--own-keys")?.keys(&params)?),
            false => general_keys(&params)?,
        };
        let state = match (args.exhausted, args.indexed) {
            (true, _) => State::Exhausted,
            (false, true) => State::Indexed,
            (false, false) => State::Fresh,
        };
        (server_for(&client, (&planner, &keys), &mut rng, common)?, state, true)
    };
    if warm {
        // The tables of bootstrapping are made by the first one.
        server.bootstrap(&client.encrypt_modular(&[1], &mut rng)?)?;
    }
    let bench = Bench {
        parties: (&client, &server),
        ints: server.integers()?.side_by_side(args.side_by_side),
        kind,
        state,
        values: args.values.map(|n| n as usize),
        warm,
    };
    if let Some(operation) = named::<ServerEvaluator>(&args.op) {
        let bar = progress(common, "measuring", 1);
        let report = bench.run(operation, &bar, &mut rng)??;
        bar.finish_and_clear();
        if common.json {
            emit_json(&report)?;
        } else {
            emit(&report.text(state))?;
        }
        return report.check();
    }
    // Those that are not for this type are told, and left out.
    let (mut reports, mut refused) = (Vec::new(), Vec::new());
    for operation in Operations::<ServerEvaluator>::ALL {
        let bar = progress(common, operation.name, 1);
        let found = bench.run(operation, &bar, &mut rng)?;
        bar.finish_and_clear();
        match found {
            Ok(report) => {
                if !common.json {
                    emit(&report.text(state))?;
                }
                reports.push(report);
            }
            Err(error) => refused.push(Refused { op: operation.name, error: error.to_string() }),
        }
    }
    if common.json {
        emit_json(&serde_json::json!({ "operations": reports, "refused": refused }))?;
    } else {
        let lines: Vec<String> =
            refused.iter().map(|r| format!("{} is refused: {}", r.op, r.error)).collect();
        emit(&lines.join("\n"))?;
    }
    reports.iter().try_for_each(Report::check)
}
