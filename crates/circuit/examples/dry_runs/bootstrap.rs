//! A bootstrapping of a named parameter set on the no-op scheme: what each stage leaves, what it
//! would cost.
//!
//! `bootstrap bgv-65537-n15 bypass 5,5,5 5,5,5 product_tree_2 global`: name, mode, group sizes and
//! digit removals; what is left out is the set's own.

use std::error::Error;
use std::time::Instant;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, StageReport};
use everlevel_circuit::digits::DigitMethod;
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};

pub fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let name = args.next().unwrap_or_else(|| "insecure_bgv-65537-n11".into());
    let params = Params::named(&name, OptIn::InsecureResearch)?;
    let mut base = BootstrapPlan::for_set(&params)?;
    match args.next().as_deref() {
        Some("bypass") => base.mode = BootstrapMode::Bypass,
        Some("thin") => base.mode = BootstrapMode::Thin,
        Some("full") => base.mode = BootstrapMode::Full,
        _ => {}
    }
    let sizes = |text: String| text.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
    if let Some(text) = args.next() {
        base.coeff_to_slot = sizes(text)?;
    }
    if let Some(text) = args.next() {
        base.slot_to_coeff = sizes(text)?;
    }
    let mut methods = args.map(|text| text.parse()).collect::<Result<Vec<DigitMethod>, _>>()?;
    if methods.is_empty() {
        methods.push(base.digits);
    }
    println!("{:?} in {:?}, {:?} back", base.mode, base.coeff_to_slot, base.slot_to_coeff);
    for digits in methods {
        let scheme = NoOp::blank(&params);
        let start = Instant::now();
        let bootstrapper = Bootstrapper::new(&scheme, base.clone().with_digits(digits))?;
        let planned = start.elapsed();
        let exhausted = scheme.encrypt(&Plaintext::encode(&params, &[])?)?;
        let mut reports: Vec<StageReport> = Vec::new();
        let result = bootstrapper.bootstrap_observed(&scheme, &exhausted, &mut reports).map(|_| ());
        println!("{digits}: planned in {planned:.2?}, run in {:.2?}", start.elapsed() - planned);
        let mut last = None;
        // One of the d coordinates is enough.
        for r in reports
            .iter()
            .filter(|r| last.replace((r.stage, r.group)) != Some((r.stage, r.group)))
            .take(20)
        {
            let level = r.level_after.map_or(String::new(), |l| {
                format!("level {:3}, modulus {:6.1}", l.0, params.modulus_bits(l))
            });
            println!(
                "  {:14}{} {:24} noise {:5.1}  capacity {:6.1}  {:.2?}",
                r.stage.name(),
                r.group,
                level,
                r.noise_bits,
                r.capacity_bits,
                r.elapsed
            );
        }
        let cost = scheme.cost();
        println!(
            "  {:?}\n  {cost:?}, keys {:.0} MB",
            bootstrapper.costs(),
            scheme.key_plan().seeded_bytes(&params) as f64 / 1e6
        );
        result?;
    }
    Ok(())
}
