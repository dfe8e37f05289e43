//! scratch
use std::error::Error;
use everlevel_circuit::bootstrap::*;
use everlevel_circuit::linear::StepCosts;
use everlevel_scheme::plain::Open;
use everlevel_scheme::*;
struct Dry { params: Params, worn: Plaintext }
impl DryRun for Dry {
    type Scheme = NoOp;
    fn scheme(&self) -> Result<NoOp, SchemeError> { Ok(NoOp::new(&self.params, 1)) }
    fn worn_out(&self, scheme: &NoOp) -> Result<Open, SchemeError> { scheme.encrypt_at(&self.worn, Level(1)) }
    fn cost(&self, scheme: &NoOp) -> Cost { scheme.cost() }
    fn key_bytes(&self, scheme: &NoOp) -> u64 { scheme.key_plan().merge(&KeyPlan::relinearization(&self.params)).seeded_bytes(&self.params) }
}
fn main() -> Result<(), Box<dyn Error>> {
    // name, then plans "5,5,5/5,5,5/method[/baby/giant/key/maxkeys]"
    let name = std::env::args().nth(1).unwrap();
    let params = Params::named(&name, OptIn::InsecureResearch)?;
    let model = TimeModel::typical(params.degree());
    let dry = Dry { worn: Plaintext::encode(&params, &[1])?, params };
    let mut plans = vec![];
    for a in std::env::args().skip(2) {
        let f: Vec<&str> = a.split('/').collect();
        let sizes = |t: &str| t.split(',').map(|x| x.parse().unwrap()).collect::<Vec<usize>>();
        for c in f[0].split(';') { for s in f[1].split(';') { for m in f[2].split(';') {
            let mut p = BootstrapPlan::with_groups(sizes(c), sizes(s), m.parse()?);
            if f.len() > 3 {
                p.steps = StepCosts { baby: f[3].parse()?, giant: f[4].parse()?, key: f[5].parse()?, max_keys: f[6].parse()? };
            }
            plans.push(p);
        }}}
    }
    for p in &plans {
        let start = std::time::Instant::now();
        match Planner::new(&dry, model, Objective::Latency).report(p) {
            Ok(r) => println!("{:?} {:?} {} g{} k{} m{}: {:.3} s, tr {}, GB {:.2}, cap {:.1}, mults {:.2}, keys {:.0} MiB, ks {} products {} depth {} ({:.1?})", p.coeff_to_slot, p.slot_to_coeff, p.digits, p.steps.giant, p.steps.key, p.steps.max_keys, r.seconds, r.cost.transforms, r.cost.bytes as f64/1e9, r.capacity_bits, r.multiplications, r.key_bytes as f64/1048576., r.costs.key_switches, r.costs.products, r.costs.depth, start.elapsed()),
            Err(e) => println!("{:?} {:?} {}: {e}", p.coeff_to_slot, p.slot_to_coeff, p.digits),
        }
    }
    Ok(())
}
