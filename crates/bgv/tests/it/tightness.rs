//! How far the bounds of single operations lie above the noise: never below it, and within eight
//! bits of the largest over a hundred keys and encryptions.
//!
//! `cargo test --release -p everlevel-bgv --test it tightness -- --include-ignored --nocapture`
//! prints the table of docs/noise.md.

use std::collections::BTreeMap;

use everlevel_bgv::{Ciphertext, Evaluator, PublicKey, SecretKey, ServerKeys};
use everlevel_scheme::params::spec;
use everlevel_scheme::spec::{Assumption, SecretKind};
use everlevel_scheme::{
    AffineForm, Arithmetic, Automorphisms, Form, KeyPlan, Level, NextUse, OptIn, Params,
    ParamsSpec, PlainModulus, Plaintext,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const SEEDS: u64 = 100;
/// How many bits a bound may lie above the largest noise that was met.
const LIMIT: f64 = 8.0;

/// The results of all operations on fresh ciphertexts, on products, and on what was switched down
/// to the floor, under new keys.
fn results(params: &Params, seed: u64) -> (SecretKey, Vec<(&'static str, Ciphertext)>) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let secret = SecretKey::generate(params, &mut rng);
    let shape = params.slot_shape();
    let (turn, frobenius) = (shape.rotation(1), shape.frobenius());
    let top = params.chain().top();
    let plan = KeyPlan::relinearization(params).merge(&KeyPlan::automorphisms_up_to(
        params,
        [turn, frobenius],
        top,
    ));
    let s = Evaluator::new(ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap());
    let mut random = || {
        let values: Vec<u64> =
            (0..params.slots()).map(|_| rng.next_u64() % params.plain_modulus()).collect();
        Plaintext::encode(params, &values).unwrap()
    };
    let (x, y) = (random(), random());
    let a = secret.encrypt(&x, &mut rng).unwrap();
    let b = PublicKey::generate(&secret, &mut rng).encrypt(&y, &mut rng).unwrap();
    let middle = Level(top.0 / 2);
    let [low, other] = [&a, &b].map(|x| s.mod_switch_to(x, middle).unwrap());
    let product = s.mul(&a, &b, NextUse::Product).unwrap();
    let products = s
        .add_products(&s.mul_lazy(&low, &other).unwrap(), &s.mul_lazy(&low, &low).unwrap())
        .unwrap();
    let constant = params.plain_modulus() as i64 / 2;
    let form = if a.meta().form == Form::Bgv { Form::Bfv } else { Form::Bgv };
    let mut out = vec![
        ("encryption, public key", b.clone()),
        ("sum", s.add(&low, &other).unwrap()),
        ("sum across levels", s.add(&a, &low).unwrap()),
        ("difference", s.sub(&low, &product).unwrap()),
        ("negative", s.neg(&low).unwrap()),
        ("plus a plaintext", s.add_plain(&low, &y).unwrap()),
        ("times a plaintext", s.mul_plain(&low, &y).unwrap()),
        ("plus a constant", s.add_scalar(&low, constant).unwrap()),
        ("times a constant", s.mul_scalar(&low, constant).unwrap()),
        (
            "combination",
            s.linear_combination(&[(&a, 3), (&product, -constant), (&low, 1)], 1).unwrap(),
        ),
        (
            "form of products",
            s.combine_products(
                &[&products, &products],
                &[AffineForm { weights: vec![3, 2], constant }],
            )
            .and_then(|x| s.relinearize(&x[0], NextUse::Keep))
            .unwrap(),
        ),
        ("product of encryptions", s.mul(&a, &b, NextUse::Keep).unwrap()),
        ("product, switched down", s.mul(&product, &low, NextUse::Product).unwrap()),
        ("product", s.mul(&low, &other, NextUse::Keep).unwrap()),
        ("sum of products", s.relinearize(&products, NextUse::Keep).unwrap()),
        ("rotation", s.apply_galois(&low, turn).unwrap()),
        ("hoisted rotation", s.apply_galois_many(&low, &[frobenius, turn]).unwrap().remove(1)),
        ("times a monomial", s.mul_monomial(&low, 5).unwrap()),
        ("other form", s.convert(&low, form)),
        ("modulus switch", low.clone()),
    ];
    if params.components() > 1 {
        let new = SecretKey::generate(params, &mut rng);
        let change = Evaluator::new(ServerKeys::key_change(&secret, &new, top, &mut rng).unwrap());
        let moved = change.change_key(&low).unwrap();
        // Measured by its own key.
        let slack = moved.noise_bound_bits() - new.measure_noise(&moved).unwrap();
        assert!(
            (0.0..LIMIT + 4.0).contains(&slack),
            "{}, seed {seed}: change of keys, {slack:.1} bits",
            params.name()
        );
    }
    if params.plain_exponent() > 1 {
        let reduced = s.reduce_plain_modulus(&low, 1).unwrap();
        let raised = s.multiply_by_p(&reduced).unwrap();
        out.push(("reduced modulo p", reduced));
        out.push(("times p", raised.clone()));
        out.push(("divided by p", s.divide_by_p(&raised).unwrap()));
    }
    out.push(("encryption, secret key", a));
    (secret, out)
}

/// The least log2(bound / noise) of each operation over all seeds.
fn gaps(spec: ParamsSpec) -> BTreeMap<&'static str, f64> {
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let mut gaps = BTreeMap::new();
    for seed in 0..SEEDS {
        let (secret, results) = results(&params, seed);
        for (name, x) in results {
            let (measured, bound) = (secret.measure_noise(&x).unwrap(), x.noise_bound_bits());
            assert!(
                measured <= bound,
                "{}, {name}, seed {seed}: 2^{measured:.2} above its bound 2^{bound:.2}",
                params.name()
            );
            let gap: &mut f64 = gaps.entry(name).or_insert(f64::INFINITY);
            *gap = gap.min(bound - measured);
        }
    }
    gaps
}

/// Prints the gaps of the sets, and refuses those above the limit; `allowed` names sets and
/// operations with limits of their own, and is to be as short as can be.
fn check(sets: impl IntoIterator<Item = ParamsSpec>, allowed: &[(&str, &str, f64)]) {
    let mut loose = Vec::new();
    for spec in sets {
        let name = spec.name.clone();
        for (operation, gap) in gaps(spec) {
            println!("| {name} | {operation} | {gap:.1} |");
            let limit =
                allowed.iter().find(|a| (a.0, a.1) == (&name, operation)).map_or(LIMIT, |a| a.2);
            if gap > limit {
                loose.push(format!(
                    "{name}, {operation}: the bound is {gap:.1} bits above the noise, allowed are \
                     {limit}"
                ));
            }
        }
    }
    assert!(loose.is_empty(), "{}", loose.join("\n"));
}

#[test]
fn bgv_bounds_are_tight() {
    check(["insecure_bgv-257-n8", "insecure_bgv-127-n8"].map(|name| spec(name).unwrap()), &[]);
}

#[test]
fn bfv_bounds_are_tight() {
    let through = ParamsSpec {
        name: "insecure_through-bgv".into(),
        through_bgv: true,
        ..spec("insecure_bfv-257-n8").unwrap()
    };
    check(
        [spec("insecure_bfv-257-n8").unwrap(), spec("insecure_bfv-127e2-n8").unwrap(), through],
        &[],
    );
}

#[test]
fn bounds_over_odd_indices_are_tight() {
    let rlwe = ParamsSpec {
        name: "insecure_bgv-2-m255".into(),
        assumption: Assumption::Rlwe,
        secret: SecretKind::UniformTernary,
        ..spec("insecure_ltv-2-m255").unwrap()
    };
    check([rlwe], &[]);
}

#[test]
#[ignore = "as long again; over NTRU indices that are a power of two are measured, too"]
fn ntru_bounds_over_odd_indices_in_full() {
    check([spec("insecure_ltv-2-m255").unwrap()], &[]);
}

#[test]
fn ntru_bounds_are_tight() {
    // The noise of encryptions over NTRU, g s + f e, lies 3.6 bits below its bound, as both f and e
    // are taken at their worst; a product has twice that, and a bit as both operands are largest at
    // different embeddings.
    let allowed = [("insecure_ltv-257-n8", "product of encryptions", 8.5)];
    check(
        ["insecure_ltv-257-n8", "insecure_yashe-257-n8"].map(|name| spec(name).unwrap()),
        &allowed,
    );
}
