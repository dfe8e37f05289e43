//! scratch
use std::error::Error;
use everlevel_circuit::bootstrap::*;
use everlevel_circuit::linear::StepCosts;
use everlevel_scheme::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap();
    let params = Params::named(&name, OptIn::InsecureResearch)?;
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let secret = SecretKey::generate(&params, &mut rng);
    let values: Vec<u64> = (0..params.slots() as u64).map(|i| i * i % params.plain_modulus()).collect();
    let plain = Plaintext::encode(&params, &values)?;
    for a in std::env::args().skip(2) {
        let f: Vec<&str> = a.split('/').collect();
        let sizes = |t: &str| t.split(',').map(|x| x.parse().unwrap()).collect::<Vec<usize>>();
        let mut plan = BootstrapPlan::with_groups(sizes(f[0]), sizes(f[1]), f[2].parse()?);
        if f.len() > 3 {
            plan.steps = StepCosts { baby: f[3].parse()?, giant: f[4].parse()?, key: f[5].parse()?, max_keys: f[6].parse()? };
        }
        let noop = NoOp::new(&params, 1);
        let b = Bootstrapper::new(&noop, plan.clone())?;
        let mut dry: Vec<StageReport> = vec![];
        b.bootstrap_observed(&noop, &noop.encrypt_at(&plain, Level(1))?, &mut dry)?;
        let keys = ServerKeys::generate(&secret, &noop.key_plan(), &mut rng, |_, _| ())?;
        let scheme = Bgv::new(keys);
        let b = Bootstrapper::new(&scheme, plan)?;
        b.prepare(&scheme, &dry)?;
        let worn = secret.encrypt_at(&plain, Level(1), &mut rng)?;
        let mut best: Vec<f64> = vec![f64::INFINITY; dry.len()];
        let mut total = f64::INFINITY;
        let mut wrong = 0;
        for _ in 0..5 {
            let mut r: Vec<StageReport> = vec![];
            let s = std::time::Instant::now();
            let fresh = b.bootstrap_observed(&scheme, &worn, &mut r)?;
            total = total.min(s.elapsed().as_secs_f64());
            for (x, y) in best.iter_mut().zip(&r) { *x = x.min(y.elapsed.as_secs_f64()); }
            wrong += secret.decrypt(&fresh)?.decode(&params)?.iter().zip(&values).filter(|(a, b)| a != b).count();
        }
        print!("{a}: {total:.3} s, sum of best stages {:.3}, wrong {wrong}, keys {:.0} MiB:", best.iter().sum::<f64>(), noop.key_plan().seeded_bytes(&params) as f64 / 1048576.);
        for (x, y) in best.iter().zip(&dry) { print!(" {}{} {:.0}", y.stage.name(), y.group, x * 1e3); }
        println!();
    }
    Ok(())
}
