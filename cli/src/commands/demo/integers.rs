//! `everlevel demo integers`: what a bank would ask of its customers' data, on typed integers.

use std::time::Instant;

use clap::Args;
use everlevel::lab::ServerEvaluator;
use everlevel::{Ciphertext, IntegerColumn, failure_log2};
use everlevel_integers::{Integers, IntegersError, Total, Type};
use serde::Serialize;

use crate::commands::parties::parties;
use crate::console::args::{Common, SetArg};
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, progress, threads};
use crate::console::params::find_params;

/// Arguments of `demo integers`.
#[derive(Args)]
pub struct IntegersDemoArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
}

#[derive(Serialize)]
struct Report {
    wrong_values: usize,
    security_bits: f64,
    failure_log2: f64,
    seconds_total: f64,
}

/// Ages from 18 to 100, balances of 16 bits, bonuses from -4500 to 4499.
struct People {
    ages: Vec<u8>,
    balances: Vec<u16>,
    bonuses: Vec<i16>,
}

impl People {
    fn new(count: usize) -> Self {
        // Multiplicative sequences: every value occurs, in no order.
        let spread = |step: usize, modulus: usize| {
            (0..count).map(move |i| (i * step + i / modulus * 7) % modulus)
        };
        People {
            ages: spread(37, 83).map(|x| 18 + x as u8).collect(),
            balances: spread(40_503, 65_536).map(|x| x as u16).collect(),
            bonuses: spread(2_749, 9_000).map(|x| x as i16 - 4_500).collect(),
        }
    }

    /// The answers in the clear: fees, points and payments of all, how many are of working age, and
    /// the sum of their fees.
    fn plain(&self) -> ([Vec<i128>; 3], [i128; 2]) {
        let working: Vec<bool> = self.ages.iter().map(|a| (25..65).contains(a)).collect();
        let fees: Vec<i128> = self
            .balances
            .iter()
            .map(|b| match b {
                0..1_000 => 12,
                1_000..50_000 => 5,
                _ => 0,
            })
            .collect();
        let points = self.ages.iter().map(|a| points(i128::from(*a))).collect();
        let payments =
            self.bonuses.iter().zip(&fees).map(|(b, f)| i128::from(*b).max(*f)).collect();
        let count = working.iter().filter(|w| **w).count() as i128;
        let total = fees.iter().zip(&working).map(|(f, w)| f * i128::from(*w)).sum();
        ([fees, points, payments], [count, total])
    }
}

/// Points by age.
fn points(age: i128) -> i128 {
    (age - 50) * (age - 50) / 7
}

/// What the server computes.
fn answers(
    ints: &Integers<'_, ServerEvaluator>,
    [age, balance, bonus]: [&IntegerColumn; 3],
    done: &dyn Fn(),
) -> Result<([IntegerColumn; 3], [Total<Ciphertext>; 2]), IntegersError> {
    let working = ints.and(&ints.ge(age, 25)?, &ints.lt(age, 65)?)?;
    done();
    let fee = ints.select(&ints.lt(balance, 50_000)?, 5, 0)?;
    let fee = ints.select(&ints.lt(balance, 1_000)?, 12, &fee)?;
    done();
    let table: Vec<i128> = (18..=100).map(points).collect();
    let points = ints.lookup(age, &table)?;
    done();
    let payment = ints.max(bonus, &fee)?;
    done();
    let totals = [ints.sum(&working)?, ints.sum(&ints.select(&working, &fee, 0)?)?];
    done();
    Ok(([fee, points, payment], totals))
}

/// Runs the demonstration.
pub fn run(args: &IntegersDemoArgs, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    let params = find_params(&args.set.params, common)?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let (client, server) = parties(&params, &mut rng, common)?;
    let keys = started.elapsed().as_secs_f64();

    let people = People::new(params.slots());
    let age = client.encrypt_integers(&people.ages, Type::ranged(18, 100)?, &mut rng)?;
    let balance = client.encrypt_integers(&people.balances, Type::U16, &mut rng)?;
    let bonus = client.encrypt_integers(&people.bonuses, Type::ranged(-4_500, 4_499)?, &mut rng)?;
    let bar = progress(common, "computing", 5);
    let computing = Instant::now();
    let (columns, totals) = answers(&server.integers()?, [&age, &balance, &bonus], &|| bar.inc(1))?;
    let computing = computing.elapsed().as_secs_f64();
    bar.finish_and_clear();

    let (expected, expected_totals) = people.plain();
    let mut wrong = 0;
    for (column, expected) in columns.iter().zip(&expected) {
        let found: Vec<i128> = client.decrypt_integers(column)?;
        wrong += found.iter().zip(expected).filter(|(a, b)| a != b).count();
        wrong += expected.len().abs_diff(found.len());
    }
    for (total, expected) in totals.iter().zip(expected_totals) {
        wrong += usize::from(client.decrypt_total::<i128>(total)? != expected);
    }
    let report = Report {
        wrong_values: wrong,
        security_bits: params.security().bits(),
        failure_log2: failure_log2(&params, &server.evaluator().cost()),
        seconds_total: started.elapsed().as_secs_f64(),
    };
    if common.json {
        emit_json(&report)?;
    } else {
        let [people, fees] = expected_totals;
        emit(&format!(
            "{}: {} people, {:.1} bits of security\nfees by three brackets of balance, points by \
             a table of ages, the greater of bonus and fee\n{people} people of working age pay \
             {fees}: as in the clear, {wrong} values are wrong\nkeys {keys:.1} s, computing \
             {computing:.1} s with {} ciphertexts refreshed, {:.1} s in all, {} threads; failure \
             2^{:.1}",
            params.name(),
            params.slots(),
            report.security_bits,
            server.bootstraps(),
            report.seconds_total,
            threads(),
            report.failure_log2
        ))?;
    }
    if wrong > 0 {
        return Err(CliError::failure(format!("{wrong} values are wrong: please report this")));
    }
    Ok(())
}
