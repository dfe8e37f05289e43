//! Example 17. Tables and bits of encrypted bytes: a public table, the number of ones, a shift, and
//! a quotient that is rounded down.
//!
//! `cargo run --release --example 17_tables_and_bits`; with `-- --secure` at 128 bits:
//! 32,768 bytes.
use std::error::Error;

use everlevel::{Client, KeyPlanner, OptIn, Params, Type, general_keys, system_rng};

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
    let ints = server.integers()?;

    let bytes: Vec<u8> = (0..params.slots()).map(|i| (i * 167 % 256) as u8).collect();
    let x = client.encrypt_integers(&bytes, Type::U8, &mut rng)?;

    // An entry for each value: those of the table are all that its results can be.
    let table: Vec<i128> = (0..256).map(|v| v * v / 7).collect();
    let looked_up = ints.lookup(&x, &table)?;
    assert_eq!(looked_up.interval().high(), 255 * 255 / 7);
    let ones = ints.popcount(&x)?;
    let shifted = ints.shift_right(&x, 3)?;
    let sevenths = ints.div_public(&ints.neg(&x)?, 7)?;

    let all = |f: fn(i64) -> i64| bytes.iter().map(|v| f((*v).into())).collect::<Vec<_>>();
    assert_eq!(client.decrypt_integers::<i64>(&looked_up)?, all(|v| v * v / 7));
    assert_eq!(client.decrypt_integers::<i64>(&ones)?, all(|v| v.count_ones().into()));
    assert_eq!(client.decrypt_integers::<i64>(&shifted)?, all(|v| v >> 3));
    assert_eq!(client.decrypt_integers::<i64>(&sevenths)?, all(|v| (-v).div_euclid(7)));
    println!("{} bytes, {} ciphertexts refreshed, all exact", bytes.len(), server.bootstraps());
    Ok(())
}
