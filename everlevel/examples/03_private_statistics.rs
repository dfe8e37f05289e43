//! Example 3. Private statistics: the owner of a table uploads two encrypted columns; a server
//! returns five encrypted sums, and never sees a number. Means, deviations and the correlation
//! follow. Owner and server share nothing but bytes; parameters are planned, with 128 bits.
//!
//! `cargo run --release --example 03_private_statistics`
use everlevel::files::{Bounds, OpenOptions};
use everlevel::{Client, Depth, Error, Requirements, Server, general_keys, system_rng};

/// The server. A set below 128 bits is refused, and noise bounds are not taken from the sender:
/// these are fresh encryptions, or they are refused.
fn five_sums(server: &[u8], upload: &[u8]) -> Result<Vec<u8>, Error> {
    let server = Server::from_bytes(server, &OpenOptions::default())?;
    let [x, y] = server.receive_exprs(upload, &Bounds::Fresh)?;
    let sums = [x.sum(), y.sum(), (&x * &x).sum(), (&y * &y).sum(), (&x * &y).sum()];
    server.answer(&server.compute_all(&sums)?)
}

pub(crate) fn main() -> Result<(), Error> {
    // Ages, and monthly incomes in hundreds. Sums of squares stay below 65537^2, the plaintext
    // modulus.
    let ages: Vec<u64> = (0..1000).map(|i| 18 + i * 37 % 60).collect();
    let incomes: Vec<u64> = ages.iter().zip(0..).map(|(age, i)| 8 * age + i * i % 500).collect();

    // The owner.
    let needs = Requirements::new(65537 * 65537).slots(ages.len()).depth(Depth::Levels(1));
    let (params, mut rng) = (needs.params()?, system_rng()?);
    let owner = Client::new(&params, &mut rng);
    let keys = owner.server_keys(&general_keys(&params)?, &mut rng)?;
    let server = Server::with_keys(keys)?.to_bytes()?;
    let upload = owner.upload_modular(&[&ages, &incomes], &mut rng)?;

    let answer = five_sums(&server, &upload)?;

    // The owner again. Every slot holds the sum.
    let sums: Vec<u64> = owner.read_modular(&answer)?.iter().map(|slots| slots[0]).collect();
    let dot = |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<u64>();
    let (n, x, y) = (ages.len() as f64, &ages, &incomes);
    let plain = [x.iter().sum(), y.iter().sum(), dot(x, x), dot(y, y), dot(x, y)];
    assert_eq!(sums, plain);
    let [sx, sy, sxx, syy, sxy] = plain.map(|sum| sum as f64 / n);
    let [dx, dy] = [sxx - sx * sx, syy - sy * sy].map(f64::sqrt);
    println!(
        "age {sx:.1} ± {dx:.1}, income {sy:.1} ± {dy:.1}, correlation {:.3}: five sums, all exact",
        (sxy - sx * sy) / (dx * dy)
    );
    Ok(())
}
