//! Example 8. Typed integers: ages, balances and bonuses of customers, a filter, a fee by brackets,
//! a table, the greater of two columns, and totals, all exact.
//!
//! `cargo run --release --example 08_typed_integers`; with `-- --secure` at 128 bits:
//! 32,761 customers, in 3.2 GiB.
use std::error::Error;

use everlevel::{Client, Expr, KeyPlanner, OptIn, Params, Type, general_keys, system_rng};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let params = match std::env::args().any(|a| a == "--secure") {
        true => Params::named("bgv-65537-n15", OptIn::SecureOnly)?,
        false => Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?,
    };
    let mut rng = system_rng()?;
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params)?;
    let keys = general_keys(&params)?;
    let server = client.server_for(&keys, planner.bootstrap_plan(), &mut rng, |_, _| ())?;

    // The client's columns: what values can be is public, the values are not.
    let n = params.slots() as u32 - 7;
    let ages: Vec<u8> = (0..n).map(|i| (18 + i * 37 % 83) as u8).collect();
    let balances: Vec<u16> = (0..n).map(|i| (i * 40_503 % 65_536) as u16).collect();
    let bonuses: Vec<i16> = (0..n).map(|i| (i * 2_749 % 9_000) as i16 - 4_500).collect();
    let age = client.encrypt_integers(&ages, Type::ranged(18, 100)?, &mut rng)?;
    let balance = client.encrypt_integers(&balances, Type::U16, &mut rng)?;
    let bonus = client.encrypt_integers(&bonuses, Type::I16, &mut rng)?;

    // The server. A public integer stands for a column of it.
    let [age, balance, bonus] = [age, balance, bonus].map(Expr::new);
    let working = age.ge(25) & age.lt(65);
    let fee = balance.lt(1_000).select(12, balance.lt(50_000).select(5, 0));
    let risk: Vec<i128> = (18..=100).map(|age: i128| (age - 50) * (age - 50) / 7).collect();
    let [working, fee, charged, risk, better] = server.compute_each([
        &working,
        &fee,
        &working.select(&fee, 0),
        &age.lookup(&risk),
        &bonus.max(100),
    ])?;
    let ints = server.integers()?;
    let (people, income) = (ints.sum(&working)?, ints.sum(&charged)?);

    // The client again.
    let expected_fee = |b: &u16| if *b < 1_000 { 12u8 } else { 5 * u8::from(*b < 50_000) };
    let is_working = |age: &u8| (25..65).contains(age);
    assert_eq!(
        client.decrypt_integers::<u8>(&fee)?,
        balances.iter().map(expected_fee).collect::<Vec<_>>()
    );
    assert_eq!(
        client.decrypt_integers::<u16>(&risk)?,
        ages.iter().map(|a| (i32::from(*a) - 50).pow(2) as u16 / 7).collect::<Vec<_>>()
    );
    assert_eq!(
        client.decrypt_integers::<i16>(&better)?,
        bonuses.iter().map(|b| *b.max(&100)).collect::<Vec<_>>()
    );
    let total: u64 = client.decrypt_total(&income)?;
    let charged = ages.iter().zip(&balances).filter(|(age, _)| is_working(age));
    assert_eq!(total, charged.map(|(_, b)| u64::from(expected_fee(b))).sum::<u64>());
    let people: u32 = client.decrypt_total(&people)?;
    assert_eq!(people as usize, ages.iter().filter(|age| is_working(age)).count());
    println!(
        "{n} customers, {people} of working age, fees of {total}; {} ciphertexts refreshed",
        server.bootstraps()
    );
    Ok(())
}
