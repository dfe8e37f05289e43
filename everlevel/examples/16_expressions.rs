//! Example 16. Expressions of typed integers: a sum that cannot overflow, the lesser of two columns
//! and an equality, computed together.
//!
//! `cargo run --release --example 16_expressions`; with `-- --secure` at 128 bits:
//! 32,768 pairs of 32 bits.
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

    let n = params.slots() as u32;
    let xs: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let ys: Vec<u32> = (0..n).map(|i| u32::MAX - i % 9).collect();
    let a = Expr::new(client.encrypt_integers(&xs, Type::U32, &mut rng)?);
    let b = Expr::new(client.encrypt_integers(&ys, Type::U32, &mut rng)?);

    // What the three share is bootstrapped once.
    let [sum, least, seven] = server.compute_each([
        &(&a + &b),
        &a.lt(&b).select(&a, &b),
        &b.eq(i64::from(u32::MAX - 7)),
    ])?;

    let pairs = || xs.iter().zip(&ys);
    let sums: Vec<u64> = pairs().map(|(x, y)| u64::from(*x) + u64::from(*y)).collect();
    assert_eq!(client.decrypt_integers::<u64>(&sum)?, sums);
    let lesser: Vec<u32> = pairs().map(|(x, y)| *x.min(y)).collect();
    assert_eq!(client.decrypt_integers::<u32>(&least)?, lesser);
    let sevens: Vec<u8> = ys.iter().map(|y| u8::from(*y == u32::MAX - 7)).collect();
    assert_eq!(client.decrypt_integers::<u8>(&seven)?, sevens);
    println!("{n} pairs of 32 bits, {} ciphertexts refreshed, all exact", server.bootstraps());
    Ok(())
}
