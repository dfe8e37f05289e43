//! Time of the operations of LTV over prime powers, level by level, beside what they leave of the
//! modulus.
//!
//! `cargo run --release --example speed -- [SET] [polynomial]
//! [windows=BITS]`; RAYON_NUM_THREADS chooses the threads.

use std::time::Instant;

use everlevel_ltv::{Gadget, KeyForm, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey, LtvSpec};
use everlevel_scheme::{Arithmetic, Level, NextUse, OptIn, Scheme, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Milliseconds of the fastest of `runs` calls, after one more.
fn timed<T>(runs: u32, mut call: impl FnMut() -> T) -> (f64, T) {
    let mut out = call();
    let mut least = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        out = call();
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    (least, out)
}

/// Relinearization by itself, for rings without slots. The set insecure_ltv-n4096 is the one of the
/// paper's section 8: 139 ms at 125 bits, 20 ms at 25 bits, 80 ms on average.
fn relinearizations(
    secret: &LtvSecretKey,
    keys: &LtvEvalKeys,
    rng: &mut ChaCha20Rng,
) -> Result<(), SchemeError> {
    let params = secret.params();
    let plaintext = params.from_coefficients(vec![1; params.degree()])?;
    println!("log q  relinearization [ms]");
    let mut total = 0.0;
    for level in (0..=params.top().0).rev().map(Level) {
        let c = secret.encrypt_at(&plaintext, level, rng)?;
        let (time, _) = timed(10, || keys.relinearized(c.poly()));
        println!("{:5.1}  {time:.2}", params.modulus_bits(level));
        total += time;
    }
    println!(" mean  {:.2}", total / params.spec().levels as f64);
    Ok(())
}

fn main() -> Result<(), SchemeError> {
    let mut arguments = std::env::args().skip(1);
    let mut spec = LtvSpec::named(&arguments.next().unwrap_or("ltv-32768".into()))?;
    let mut form = KeyForm::Evaluations;
    for argument in arguments {
        match argument.strip_prefix("windows=").and_then(|bits| bits.parse().ok()) {
            Some(bits) => spec.gadget = Gadget::Windows { bits },
            None => form = KeyForm::Polynomial,
        }
    }
    let params = LtvParams::new(spec, OptIn::InsecureResearch)?;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    println!(
        "{params:?}, {} transform primes, log q = {:.1}",
        params.ring().transform_primes().len(),
        params.modulus_bits(params.top())
    );

    let start = Instant::now();
    let secret = LtvSecretKey::generate(&params, &mut rng);
    println!("secret and public key: {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let keys = LtvEvalKeys::generate(&secret, &[], form, &mut rng);
    let (memory, digits) = (keys.memory_bytes() >> 20, params.key_bytes(KeyForm::Polynomial) >> 20);
    println!(
        "evaluation key: {:.2} s, {memory} MiB in memory, {digits} MiB in digits",
        start.elapsed().as_secs_f64()
    );
    if params.plain().is_err() {
        return relinearizations(&secret, &keys, &mut rng);
    }
    let scheme = LtvEvaluator::new(keys)?;

    let bits = |rng: &mut ChaCha20Rng| -> Vec<u64> {
        (0..scheme.slot_shape().slots()).map(|_| rng.next_u64() & 1).collect()
    };
    println!(
        "level  encrypt  transform  product  relinearize  add  decrypt  [ms]  bound left [bits]"
    );
    for level in [params.top().0, 30, 20, 10, 1].into_iter().filter(|&l| l <= params.top().0) {
        let values = [bits(&mut rng), bits(&mut rng)];
        let plaintexts = [params.encode(&values[0])?, params.encode(&values[1])?];
        let (encrypt, a) = timed(3, || secret.encrypt_at(&plaintexts[0], Level(level), &mut rng));
        let (a, b) = (a?, secret.encrypt_at(&plaintexts[1], Level(level), &mut rng)?);
        let (transform, _) = timed(7, || params.ring().evaluate(a.poly()));
        let (product, c) = timed(7, || scheme.mul_lazy(&a, &b));
        let c = c?;
        let (relinearize, d) = timed(7, || scheme.relinearize(&c, NextUse::Product));
        let d = d?;
        let (add, _) = timed(7, || scheme.add(&a, &b));
        let (decrypt, plain) = timed(3, || secret.decrypt(&d));
        let expected: Vec<u64> = values[0].iter().zip(&values[1]).map(|(x, y)| x & y).collect();
        assert_eq!(params.decode(&plain?)?, expected);
        println!(
            "{level:5}  {encrypt:7.1}  {transform:9.1}  {product:7.1}  {relinearize:11.1}  \
             {add:3.1}  {decrypt:7.1}        {:.1} {:.1}",
            scheme.noise_bound_bits(&d),
            scheme.capacity_bits(&d)
        );
    }
    Ok(())
}
