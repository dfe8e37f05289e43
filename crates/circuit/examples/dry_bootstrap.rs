//! A bootstrapping of a named parameter set on the no-op scheme: what each stage leaves, what it would cost.
//!
//! `cargo run --release --example dry_bootstrap -- bgv-65537-n15 5,5,5 5,5,5`

use std::error::Error;
use std::time::Instant;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, StageReport};
use everlevel_circuit::digits::DigitMethod;
use everlevel_scheme::{Level, NoOp, OptIn, Params, Plaintext};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "insecure_bgv-65537-n11".into());
    let params = Params::named(&name, OptIn::InsecureResearch)?;
    let mut base = BootstrapPlan::for_set(&params)?;
    let sizes = |text: String| text.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
    if let Some(text) = args.next() {
        base.coeff_to_slot = sizes(text)?;
    }
    if let Some(text) = args.next() {
        base.slot_to_coeff = sizes(text)?;
    }
    let values: Vec<u64> = (0..params.slots() as u64).map(|i| i * i % params.plain_modulus()).collect();
    let plain = Plaintext::encode(&params, &values)?;
    for digits in DigitMethod::CANDIDATES {
        let scheme = NoOp::blank(&params);
        let start = Instant::now();
        let plan = BootstrapPlan::with_groups(base.coeff_to_slot.clone(), base.slot_to_coeff.clone(), digits);
        let bootstrapper = Bootstrapper::new(&scheme, plan)?;
        let planned = start.elapsed();
        let worn = scheme.encrypt_at(&plain, Level(1))?;
        let mut reports: Vec<StageReport> = Vec::new();
        let fresh = match bootstrapper.bootstrap_observed(&scheme, &worn, &mut reports) {
            Ok(fresh) => fresh,
            Err(error) => {
                println!("{digits:?}: {error}");
                continue;
            }
        };
        println!("{digits:?}: planned in {planned:.2?}, run in {:.2?}", start.elapsed() - planned);
        for r in &reports {
            let level =
                r.level_after.map_or(String::new(), |l| format!("level {:3}, modulus {:6.1}", l.0, params.modulus_bits(l)));
            println!(
                "  {:14}{} {:24} noise {:5.1}  capacity {:6.1}",
                r.stage.name(),
                r.group,
                level,
                r.noise_bits,
                r.capacity_bits
            );
        }
        let cost = scheme.cost();
        println!("  {:?}\n  {cost:?}, keys {:.0} MB", bootstrapper.costs(), scheme.key_plan().seeded_bytes(&params) as f64 / 1e6);
        assert_eq!(scheme.decrypt(&fresh)?.decode(&params)?, values);
    }
    Ok(())
}
