//! The bootstrapping plan of a named parameter set for each objective, found by dry runs.
//!
//! `rank-plans bgv-65537-n15`

use std::error::Error;

use everlevel_circuit::bootstrap::{BootstrapPlan, DryRun, Objective, Planner, TimeModel};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Cost, Level, NoOp, OptIn, Params, Plaintext, SchemeError};

struct Dry {
    params: Params,
    exhausted: Plaintext,
}

impl DryRun for Dry {
    type Scheme = NoOp;
    fn scheme(&self) -> Result<NoOp, SchemeError> {
        Ok(NoOp::blank(&self.params))
    }

    fn exhausted(&self, scheme: &NoOp, _: f64) -> Result<NoOpCiphertext, SchemeError> {
        scheme.encrypt_at(&self.exhausted, Level(1))
    }

    fn cost(&self, scheme: &NoOp) -> Cost {
        scheme.cost()
    }

    fn key_bytes(&self, scheme: &NoOp) -> u64 {
        scheme.key_plan().seeded_bytes(&self.params)
    }
}

pub fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let name = args.next().unwrap_or_else(|| "insecure_bgv-65537-n11".into());
    let params = Params::named(&name, OptIn::InsecureResearch)?;
    let candidates = BootstrapPlan::candidates(params.slots(), 8);
    let model = TimeModel::typical(params.degree());
    let dry = Dry { exhausted: Plaintext::encode(&params, &[1])?, params };
    println!("{name}: {} candidates", candidates.len());
    for objective in [Objective::Throughput, Objective::Latency, Objective::Capacity] {
        let best = Planner::new(&dry, model, objective).search(&candidates)?;
        println!(
            "{objective:?}: coeff_to_slot {:?}, slot_to_coeff {:?}, {}: {:.2} s modeled, {:.1} \
             bits left, {:.1} multiplications, keys {:.0} MB",
            best.plan.coeff_to_slot,
            best.plan.slot_to_coeff,
            best.plan.digits,
            best.seconds,
            best.capacity_bits,
            best.multiplications,
            best.key_bytes as f64 / 1e6
        );
        println!("  {:?}\n  {:?}", best.costs, best.cost);
    }
    Ok(())
}
