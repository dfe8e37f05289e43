//! Example 18. A planned program: the best of a list of scores and the median of them, with what it
//! takes known before there is a key, on a server that has the keys of this program alone.
//!
//! `cargo run --release --example 18_planned`; with `-- --secure` at 128 bits: 100
//! scores, on the set that the plan chooses.
use std::error::Error;

use everlevel::files::Bounds;
use everlevel::{Client, Minimize, OptIn, Params, Plan, Type, system_rng};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let secure = std::env::args().any(|a| a == "--secure");
    let n = if secure { 100 } else { 30 };
    let plan = Plan::trace(|g| {
        let score = g.input("score", Type::ranged(0, 4000)?, n);
        g.output("winner", &score.argmax());
        g.output("median", &score.median());
        g.total("passed", &score.ge(2000));
        Ok(())
    })?;
    let params = match secure {
        true => plan.params(Minimize::Latency)?,
        false => Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?,
    };
    let estimate = plan.explain(&params)?;
    println!("{estimate}");

    // The client: keys for this program, and its argument at the level that it needs.
    let mut rng = system_rng()?;
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng)?;
    let scores: Vec<u16> = (0..n as u16).map(|i| i * 1_237 % 4_001).collect();
    let sent = client.upload_columns(&[client.encrypt_for(&plan, "score", &scores, &mut rng)?])?;

    // The server.
    let results = plan.run(&server, &server.receive_columns(&sent, &Bounds::Fresh)?)?;
    assert_eq!(server.bootstraps() as u64, estimate.total().refreshes);

    // The client again.
    let open = |i: usize| client.decrypt_column::<u16>(&results[i].1);
    let mut sorted = scores.clone();
    sorted.sort_unstable();
    let best = scores.iter().position(|s| s == &sorted[n - 1]);
    assert_eq!(Some(usize::from(open(0)?[0])), best);
    assert_eq!(open(1)?, [sorted[(n - 1) / 2]]);
    assert_eq!(usize::from(open(2)?[0]), scores.iter().filter(|s| **s >= 2000).count());
    println!("{n} scores, {} ciphertexts refreshed, all exact", server.bootstraps());
    Ok(())
}
