//! Example 7. A researcher's corner: a custom digit removal, written as a program, checked on every
//! input without cryptography, run with it, and compared with the methods of the library by depth,
//! products and the capacity that it takes.
//!
//! The problem: x = z + p m modulo p^2 with a balanced digit z; m is wanted. The idea: x^p = z^p
//! modulo p^2, whatever m is, and z^p - z = p w(z) for a polynomial w modulo p. So m = (x -
//! x^p)/p + w(x mod p): one power modulo p^2, without constants, and a polynomial at the smaller
//! modulus p. (Halevi and Shoup (2015) evaluate x^p - p w(x) modulo p^2.) At p = 17 it takes a
//! little less capacity than theirs, and more products; at p = 127 more of both, as the sum over
//! the giants comes a level after the deepest of them.
//!
//! `cargo run --release --example 07_researchers_corner`; with `-- --secure` at 128
//! bits and p = 127, in 0.4 GiB and a minute or two.
use std::collections::BTreeMap;
use std::error::Error;

use everlevel::lab::{
    Circuit, CircuitBuilder, CircuitError, DigitMethod, DigitProblem, DigitRemoval, Evaluator,
    NoOp, NodeId, Polynomial, PrimePower, Scheme,
};
use everlevel::{KeyPlan, NextUse, OptIn, Params, Plaintext, SecretKey, ServerKeys};

/// Powers of the input, each computed once.
struct Powers {
    builder: CircuitBuilder,
    known: BTreeMap<u64, NodeId>,
}

impl Powers {
    /// x^n at depth log2(n), rounded up: as a product of two powers that are there, or of one by
    /// the largest power of two below n and another.
    fn power(&mut self, n: u64) -> Result<NodeId, CircuitError> {
        if let Some(found) = self.known.get(&n) {
            return Ok(*found);
        }
        let half = n.next_power_of_two() / 2;
        let ready = |k: &u64| *k <= half && n - k <= half && self.known.contains_key(&(n - k));
        let part = self.known.keys().copied().filter(|k| *k < n).find(ready).unwrap_or(half);
        let (a, b) = (self.power(part)?, self.power(n - part)?);
        let product = self.builder.mul(a, b)?;
        self.known.insert(n, product);
        Ok(product)
    }
}

/// m from x = z + p m, with blocks of `step` coefficients (even) for w.
fn own_program(p: u64, step: u64) -> Result<Circuit, Box<dyn Error>> {
    // w is odd, as its values are: w(z) = z v(z^2), v by interpolation at the squares.
    let (t, square) = (PrimePower::new(p, 1)?, PrimePower::new(p, 2)?);
    let digits: Vec<u64> = (1..=p / 2).collect();
    let points: Vec<u64> = digits.iter().map(|z| t.mul(*z, *z)).collect();
    let quotient = |z: &u64| Ok(t.mul(square.sub(square.pow(*z, p), *z) / p, t.inv(*z)?));
    let values = digits.iter().map(quotient).collect::<Result<Vec<u64>, Box<dyn Error>>>()?;
    let v = Polynomial::interpolate(t, &points, &values)?;
    let coefficient = |n: u64| v.coefficients().get((n / 2) as usize).map_or(0, |c| t.centered(*c));

    let mut builder = CircuitBuilder::new();
    let x = builder.input(2);
    let mut powers = Powers { builder, known: BTreeMap::from([(1, x)]) };
    // Odd babies below `step`, giants at its multiples, x^p as one of each.
    for n in (2..p).filter(|n| if *n < step { n % 2 == 1 } else { n % step == 0 }) {
        powers.power(n)?;
    }
    let last = powers.power(p)?;
    let Powers { mut builder, known } = powers;
    let rest = builder.combine(vec![], vec![(x, 1), (last, -1)], 0)?;
    let quotient = builder.divide_by_p(rest)?;

    // w(x) from the same powers modulo p: reducing them is free.
    let (mut pairs, mut terms) = (vec![], vec![(quotient, 1)]);
    for giant in (0..p - 1).step_by(step as usize) {
        let mut block = vec![];
        for n in (1..step).step_by(2).filter(|n| coefficient(giant + n) != 0 && giant + n < p - 1) {
            block.push((builder.reduce(known[&n], 1)?, coefficient(giant + n)));
        }
        match giant {
            0 => terms.extend(block),
            _ if block.is_empty() => {}
            _ => {
                pairs.push((builder.combine(vec![], block, 0)?, builder.reduce(known[&giant], 1)?))
            }
        }
    }
    let digit = builder.combine(pairs, terms, 0)?;
    Ok(builder.finish(&[digit])?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let params = match std::env::args().any(|a| a == "--secure") {
        true => Params::named("bgv-127e2-n15", OptIn::SecureOnly)?,
        false => {
            // A toy ring of 56 slots.
            let mut spec = everlevel::ParamsSpec::named("bgv-17e4-m38309")?;
            (spec.name, spec.index, spec.plain_exponent, spec.bootstrap) =
                ("insecure_bgv-17e2-m435".into(), 435, 2, None);
            Params::new(spec, OptIn::InsecureResearch)?
        }
    };
    let p = params.spec().plain_prime;
    let steps = [4, 8, 16].into_iter().filter(|step| *step < p).map(|step| own_program(p, step));
    let own = steps
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .min_by_key(|program| program.costs().products)
        .ok_or("no program")?;

    // Proved: all p^2 inputs, on the scheme without cryptography.
    let clear = NoOp::new(&params, 1);
    let inputs: Vec<u64> = (0..p * p).collect();
    for part in inputs.chunks(params.slots()) {
        let x = clear.encrypt(&Plaintext::encode(&params, part)?)?;
        let m = clear.decrypt(&own.run(&clear, &[&x], NextUse::Keep)?[0])?.decode(&params)?;
        assert!(part.iter().zip(m).all(|(x, m)| m == (x + p / 2) / p % p));
    }

    // Run: the same ciphertext by every method.
    let mut rng = everlevel::system_rng()?;
    let secret = SecretKey::generate(&params, &mut rng);
    let scheme = Evaluator::new(ServerKeys::generate(
        &secret,
        &KeyPlan::relinearization(&params),
        &mut rng,
        |_, _| (),
    )?);
    let part: Vec<u64> = (0..params.slots() as u64).map(|i| i * i * 31 % (p * p)).collect();
    let x = secret.encrypt(&Plaintext::encode(&params, &part)?, &mut rng)?;
    let problem = DigitProblem::all_digits(p, 2, 1);
    let mut programs = vec![("own".to_string(), own)];
    for method in DigitMethod::candidates(&problem)? {
        programs.push((
            method.to_string(),
            DigitRemoval::for_problem(problem, method)?.program().clone(),
        ));
    }
    println!(
        "{:22} {:>5} {:>8} {:>14} {:>17} {:>14}",
        "x modulo p^2 to m", "depth", "products", "key switches", "bits of capacity", "noise bound"
    );
    let mut exact = 0;
    for (name, program) in &programs {
        let m = program.run(&scheme, &[&x], NextUse::Keep)?.remove(0);
        let (costs, taken) = (program.costs(), scheme.capacity_bits(&x) - scheme.capacity_bits(&m));
        println!(
            "{name:22} {:5} {:8} {:14} {taken:17.1} {:14.1}",
            costs.depth,
            costs.products,
            costs.relinearizations,
            m.noise_bound_bits()
        );
        let found = secret.decrypt(&m)?.decode(&params)?;
        exact += usize::from(part.iter().zip(found).all(|(x, m)| m == (x + p / 2) / p % p));
    }
    assert_eq!(exact, programs.len());
    println!("p = {p}: {exact} methods, all exact");
    Ok(())
}
