//! Example 2. Levels and refresh: what a product takes from a ciphertext, when it is refused, what
//! bootstrapping gives back, and a server that does it by itself.
//!
//! `cargo run --release --example 02_levels_and_refresh`; with `-- --secure` at 128
//! bits, in 1.8 GiB.
use everlevel::lab::{Arithmetic, Scheme};
use everlevel::{Client, Error, NextUse, OptIn, Params};

pub(crate) fn main() -> Result<(), Error> {
    let params = match std::env::args().any(|a| a == "--secure") {
        true => Params::named("bgv-257-n15", OptIn::SecureOnly)?,
        false => Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch)?, // a toy ring
    };
    let mut rng = everlevel::system_rng()?;
    let client = Client::new(&params, &mut rng);
    let server = client.server(&mut rng)?;
    let next = |values: &[u64]| -> Vec<u64> {
        values.iter().map(|v| (v * v + 3) % params.plain_modulus()).collect()
    };

    // By hand: every product needs room for its noise, and takes it from the modulus.
    let scheme = server.evaluator();
    let needed = server.bootstrapper().map_or(f64::INFINITY, |b| b.minimum_capacity(scheme));
    let mut values: Vec<u64> = (0..params.slots() as u64).collect();
    let mut x = client.encrypt_modular(&values, &mut rng)?;
    let mut last = (x.clone(), values.clone());
    let mut products = 0;
    let refusal = loop {
        let (level, capacity) = (scheme.level(&x), scheme.capacity_bits(&x));
        println!(
            "{products:2} products: modulus 2^{:5.1}, noise below 2^{:4.1}, {capacity:5.1} bits \
             left",
            params.modulus_bits(level),
            x.noise_bound_bits()
        );
        if capacity >= needed {
            last = (x.clone(), values.clone());
        }
        match scheme.mul(&x, &x, NextUse::Product) {
            Ok(square) => x = scheme.add_scalar(&square, 3)?,
            Err(refusal) => break Error::from(refusal),
        }
        values = next(&values);
        products += 1;
    };
    // What does not fit is refused; what was computed before is exact.
    println!("refused: {} [{}]", refusal, refusal.code());
    assert_eq!(client.decrypt_modular(&x)?, values);

    // A refresh takes what has capacity enough for it.
    let (exhausted, mut values) = last;
    let fresh = server.bootstrap(&exhausted)?;
    println!(
        "refreshed: from {:.1} bits, {needed:.1} of which it takes, to {:.1}",
        scheme.capacity_bits(&exhausted),
        scheme.capacity_bits(&fresh)
    );
    assert_eq!(client.decrypt_modular(&fresh)?, values);

    // By itself: the same loop without an end.
    let mut x = server.load(fresh);
    for _ in 0..50 {
        x = server.add_scalar(&server.mul(&x, &x)?, 3)?;
        values = next(&values);
    }
    assert_eq!(client.decrypt_modular(&x.get())?, values);
    println!(
        "{products} products without bootstrapping, 50 more with {}, all exact",
        server.bootstraps()
    );
    Ok(())
}
