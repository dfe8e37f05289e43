//! Example 1. Hello: twenty squarings of 2048 numbers, far past the last level, all exact.
//!
//! `cargo run --release --example 01_hello`
use everlevel::{Client, Error, Expr, OptIn, Params};

fn main() -> Result<(), Error> {
    // A toy set for a quick run. For real data: Params::named("bgv-65537-n15", OptIn::SecureOnly)?
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
    let mut rng = everlevel::system_rng()?;

    let client = Client::new(&params, &mut rng); // holds the secret key
    let server = client.server(&mut rng)?; // holds server keys only, no secret

    let values: Vec<u64> = (0..params.slots() as u64).collect();
    let mut x = Expr::new(server.load(client.encrypt_modular(&values, &mut rng)?));
    for _ in 0..20 {
        x = &x * &x + 1; // says what to compute
    }
    let y = server.compute(&x)?; // computes it, and bootstraps by itself when it must

    let plain = |v: u64| (0..20).fold(v, |v, _| (v * v + 1) % 65537);
    assert!(client.decrypt_modular(&y.get())?.into_iter().eq(values.into_iter().map(plain)));
    println!("{} slots, {} bootstraps, all exact", params.slots(), server.bootstraps());
    Ok(())
}
