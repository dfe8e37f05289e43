//! What a named set would be with other weights, bounds and primes.
//!
//! `weigh bgv-65537-n15 weight=32,bound=15,base=46 weight=34`: a variant for each argument, with
//! `fine=47+44+39` for lists.

use std::error::Error;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, TimeModel};
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{NextUse, NoOp, OptIn, Params, Plaintext};

pub fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let name = args.next().unwrap_or_else(|| "bgv-65537-n15".into());
    let spec = Params::named(&name, OptIn::InsecureResearch)?.spec().clone();
    for variant in args {
        let mut spec = spec.clone();
        spec.name = format!("insecure_{name}");
        for field in variant.split(',').filter(|f| *f != "as-it-is") {
            let (key, value) = field.split_once('=').ok_or("expected field=value")?;
            let bootstrap = spec.bootstrap.as_mut().ok_or("a set that bootstraps")?;
            match key {
                "weight" => bootstrap.sparse_weight = value.parse()?,
                "bound" => bootstrap.overflow_bound = Some(value.parse()?),
                "base" => spec.base_bits = value.parse()?,
                "words" => spec.words = value.parse()?,
                "special" => spec.special = value.parse()?,
                "digit" => spec.digit_size = value.parse()?,
                "fine" => {
                    spec.fine_bits = value.split('+').map(str::parse).collect::<Result<_, _>>()?;
                }
                _ => return Err(format!("no field {key}").into()),
            }
        }
        if let Err(error) = weigh(&variant, &Params::new(spec, OptIn::InsecureResearch)?) {
            println!("{variant}: {error}");
        }
    }
    Ok(())
}

fn weigh(variant: &str, params: &Params) -> Result<(), Box<dyn Error>> {
    let plan = BootstrapPlan::for_set(params)?;
    let scheme = NoOp::blank(params);
    let bootstrapper = Bootstrapper::new(&scheme, plan)?;
    let exhausted = scheme.encrypt(&Plaintext::encode(params, &[])?)?;
    let before = scheme.cost();
    let fresh = bootstrapper.bootstrap(&scheme, &exhausted)?;
    let cost = scheme.cost() - before;
    let noise = params.noise();
    let needed = bootstrapper.minimum_capacity(&scheme);
    let square = |m: &Meta| {
        let at = noise.mod_switch(m, noise.product_level(m, m));
        let raw = noise.product(&at, &at).ok()?;
        let product = noise.reduce(&noise.key_switch(&raw), NextUse::Product);
        (noise.capacity(&product) >= needed).then_some(product)
    };
    let squarings = std::iter::successors(square(fresh.meta()), square).count();
    let bound = params.spec().overflow_bound();
    let low = noise.bound();
    println!(
        "{variant}: capacity {:.1}, needed {needed:.1}, {squarings} squarings, depth {}, {} \
         transforms, {:.2} s, overflow 2^{:.1}, entry 2^{:.2} t of q0 2^{:.2}",
        noise.capacity(fresh.meta()),
        bootstrapper.costs().depth,
        cost.transforms,
        TimeModel::typical(params.degree()).seconds(&cost),
        low.overflow_tail(bound) + (params.degree() as f64).log2(),
        low.encapsulated(params.plain_modulus(), f64::NEG_INFINITY)
            - (params.plain_modulus() as f64).log2(),
        params.modulus_bits(everlevel_scheme::Level(0)),
    );
    for key in params.security().keys() {
        let least = key.attacks.iter().map(|a| a.bits).fold(f64::INFINITY, f64::min);
        print!("  {} 2^{:.1}: {least:.2};", key.key, key.modulus_bits);
    }
    println!();
    Ok(())
}
