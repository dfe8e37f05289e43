//! `everlevel bench integers`: one operation on typed integers, fresh or exhausted operands.

use std::str::FromStr;
use std::time::Instant;

use everlevel::lab::ServerEvaluator;
use everlevel::{
    Ciphertext, Client, IntegerColumn, Level, NextUse, Params, Plaintext, Server, failure_log2,
    general_keys,
};
use everlevel_integers::{Encoded, Integers, IntegersError, Order, Type};
use everlevel_scheme::{Arithmetic, Scheme};
use rand_core::CryptoRng;
use serde::Serialize;

use super::args::{IntegerOperation, IntegersArgs};
use crate::commands::parties::server_for;
use crate::console::args::{Common, value_name};
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, threads};
use crate::console::params::{find_params, find_planner};

/// The divisor of `div-public` and `rem-public`.
const DIVISOR: i128 = 10;

#[derive(Serialize)]
struct Report {
    op: String,
    #[serde(rename = "type")]
    kind: String,
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

impl IntegerOperation {
    /// The type of the third operand: a truth value, or a number of bits.
    fn third(self) -> Result<Type, IntegersError> {
        match self {
            IntegerOperation::ShiftRight => Type::ranged(0, 7),
            _ => Ok(Type::Bool),
        }
    }

    fn run(
        self,
        ints: &Integers<'_, ServerEvaluator>,
        kind: Type,
        [a, b, c]: [&IntegerColumn; 3],
    ) -> Result<IntegerColumn, IntegersError> {
        match self {
            IntegerOperation::Add => ints.normalized(&ints.add(a, b)?),
            IntegerOperation::Lt => ints.lt(a, b),
            IntegerOperation::Eq => ints.eq(a, b),
            IntegerOperation::Sort => {
                ints.sorted(a, Order::Ascending, a.length().unwrap_or_default())
            }
            IntegerOperation::Argmax => ints.argmax(a),
            IntegerOperation::Median => ints.median(a),
            IntegerOperation::Min => ints.min(a, b),
            IntegerOperation::Select => ints.select(c, a, b),
            IntegerOperation::Mul => ints.mul(a, b),
            IntegerOperation::MulWrapped => ints.mul_wrapped(a, b, kind),
            IntegerOperation::Square => ints.square(a),
            IntegerOperation::Div => ints.div(a, b),
            IntegerOperation::Rem => ints.rem(a, b),
            IntegerOperation::DivPublic => ints.div_public(a, DIVISOR),
            IntegerOperation::RemPublic => ints.rem_public(a, DIVISOR),
            IntegerOperation::Table => ints.lookup(a, &table(kind)),
            IntegerOperation::Popcount => ints.popcount(a),
            IntegerOperation::ShiftRight => ints.shift_right_by(a, c),
        }
    }

    fn plain(self, kind: Type, [a, b, c]: [i128; 3]) -> i128 {
        match self {
            IntegerOperation::Add => a + b,
            IntegerOperation::Lt => i128::from(a < b),
            IntegerOperation::Eq => i128::from(a == b),
            // See `along`.
            IntegerOperation::Sort | IntegerOperation::Argmax | IntegerOperation::Median => a,
            IntegerOperation::Min => a.min(b),
            IntegerOperation::Select if c == 1 => a,
            IntegerOperation::Select => b,
            IntegerOperation::Mul => a * b,
            IntegerOperation::MulWrapped => {
                let (low, points) = (kind.interval().low(), kind.interval().points() as i128);
                (a.wrapping_mul(b).wrapping_sub(low)).rem_euclid(points) + low
            }
            IntegerOperation::Square => a * a,
            IntegerOperation::Div | IntegerOperation::Rem if b == 0 => 0,
            IntegerOperation::Div => a / b,
            IntegerOperation::Rem => a % b,
            IntegerOperation::DivPublic => a.div_euclid(DIVISOR),
            IntegerOperation::RemPublic => a.rem_euclid(DIVISOR),
            IntegerOperation::Table => entry(kind, a),
            IntegerOperation::Popcount => a.count_ones().into(),
            IntegerOperation::ShiftRight => a >> c,
        }
    }
}

/// The entry for a value in the table of `table`: a quadratic polynomial of it, wrapped.
fn entry(kind: Type, value: i128) -> i128 {
    let (low, points) = (kind.interval().low(), kind.interval().points() as i128);
    let v = value - low;
    (73 * v * v + 41 * v + 7).rem_euclid(points) + low
}

/// The entries for all values, of which 256 are taken and 257 refused.
fn table(kind: Type) -> Vec<i128> {
    let interval = kind.interval();
    (interval.low()..=interval.high()).take(257).map(|v| entry(kind, v)).collect()
}

impl IntegerOperation {
    /// The longest column that it is for; none if as long as there are slots.
    fn longest(self, ints: &Integers<'_, ServerEvaluator>) -> Option<usize> {
        match self {
            IntegerOperation::Sort => Some(ints.longest_sorted()),
            IntegerOperation::Argmax | IntegerOperation::Median => Some(ints.longest_ranked()),
            _ => None,
        }
    }

    /// What it gives for a whole column, if it is one along it.
    fn along(self, a: &[i128]) -> Option<Vec<i128>> {
        let mut sorted = a.to_vec();
        sorted.sort_unstable();
        match self {
            IntegerOperation::Sort => Some(sorted),
            IntegerOperation::Argmax => {
                let place = a.iter().position(|v| Some(v) == sorted.last())?;
                Some(vec![place as i128])
            }
            IntegerOperation::Median => Some(vec![sorted[(a.len() - 1) / 2]]),
            _ => None,
        }
    }
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

fn column(
    (client, server): (&Client, &Server),
    values: &[i128],
    kind: Type,
    from_exhausted: bool,
    rng: &mut impl CryptoRng,
) -> Result<IntegerColumn, CliError> {
    let params: &Params = client.params();
    let encoded = Encoded::new(values, kind, params.slots())?;
    let ones = client.encrypt_modular(&vec![1; params.slots()], rng)?;
    encoded.encrypt(|slots| {
        let plaintext = Plaintext::encode(params, slots).map_err(everlevel::Error::from)?;
        let x = client.secret().encrypt(&plaintext, rng).map_err(everlevel::Error::from)?;
        if from_exhausted { exhausted(server, &x, &ones) } else { Ok(x) }
    })
}

/// Runs the measurement: whole vectors one after the other.
pub fn run(args: &IntegersArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.set.params, common)?;
    let kind = Type::from_str(&args.kind).map_err(CliError::usage)?;
    let planner = find_planner(&params, None)?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let client = Client::new(&params, &mut rng);
    let along = args.op.along(&[0]).is_some();
    let plan = if along { general_keys(&params)? } else { planner.keys() };
    let server = server_for(&client, (&planner, &plan), &mut rng, common)?;
    let ints = server.integers()?;
    // The tables of bootstrapping are made by the first one.
    let warm = client.encrypt_modular(&[1], &mut rng)?;
    server.bootstrap(&exhausted(&server, &warm, &warm)?)?;

    let most = args.op.longest(&ints).unwrap_or(params.slots());
    let total = args.values.map_or(most, |n| n as usize);
    let (before, refreshed) = (server.evaluator().cost(), server.bootstraps());
    let (mut seconds, mut wrong, mut left) = (0.0, 0, total);
    while left > 0 {
        let count = left.min(most);
        left -= count;
        let a = values(kind, count, &[], &mut rng);
        let b = values(kind, count, &a, &mut rng);
        let third = args.op.third()?;
        let c = values(third, count, &[], &mut rng);
        let mut encrypt =
            |v: &[i128], kind| column((&client, &server), v, kind, args.exhausted, &mut rng);
        let operands = [encrypt(&a, kind)?, encrypt(&b, kind)?, encrypt(&c, third)?];
        let started = Instant::now();
        let found = args.op.run(&ints, kind, operands.each_ref())?;
        seconds += started.elapsed().as_secs_f64();
        let found: Vec<i128> = client.decrypt_integers(&found)?;
        if let Some(expected) = args.op.along(&a) {
            wrong += expected.iter().zip(&found).filter(|(x, y)| x != y).count();
            continue;
        }
        wrong +=
            (0..count).filter(|&i| found[i] != args.op.plain(kind, [a[i], b[i], c[i]])).count();
    }
    let cost = server.evaluator().cost() - before;
    let report = Report {
        op: value_name(&args.op),
        kind: kind.to_string(),
        values: total,
        wrong_values: wrong,
        seconds,
        microseconds_per_value: seconds * 1e6 / total as f64,
        refreshes: server.bootstraps() - refreshed,
        products: cost.products,
        security_bits: params.security().bits(),
        failure_log2: failure_log2(&params, &cost),
        threads: threads(),
        set: params.name().into(),
    };
    if common.json {
        emit_json(&report)?;
    } else {
        emit(&format!(
            "{} of {total} {kind}, {} operands, {}: {:.2} s, {:.1} us a value; {} refreshes, {} \
             products, {} threads; {:.1} bits of security, failure 2^{:.1}",
            report.op,
            if args.exhausted { "exhausted" } else { "fresh" },
            report.set,
            report.seconds,
            report.microseconds_per_value,
            report.refreshes,
            report.products,
            report.threads,
            report.security_bits,
            report.failure_log2
        ))?;
    }
    if wrong > 0 {
        return Err(CliError::failure(format!(
            "{wrong} of {total} values are wrong: please report this"
        )));
    }
    Ok(())
}
