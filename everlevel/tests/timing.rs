//! Whether time depends on secrets, by measurement: two classes of inputs that differ in a secret
//! only, timed in random order, and Welch's t between them (Reparaz, Balasch, Verbauwhede, *Dude,
//! is my code constant time?*, 2017). docs/constant-time.md has the review that goes with it, and
//! results.
//!
//! `cargo test --release -p everlevel --test timing -- --ignored --nocapture` measures everything.

use std::hint::black_box;
use std::time::Instant;

use everlevel::{AesMethod, Ciphertext, OptIn, Params, Plaintext, PublicKey, SecretKey};
use everlevel_aes::{AesKeyId, KeySchedule};
use everlevel_ring::sample;
use everlevel_wire::{Metadata, secret_key};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// |t| above this is a leak: for equal distributions it is exceeded with probability far below 10^-20, cropping included.
const THRESHOLD: f64 = 10.0;
/// Inputs of a class, all in memory before the first measurement, so that the classes are equals
/// for the caches.
const POOL: usize = 32;

/// Mean and variance.
fn moments(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (mean, x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() as f64 - 1.0))
}

/// Welch's t.
fn welch(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < 100 || b.len() < 100 {
        return 0.0;
    }
    let ((mean_a, var_a), (mean_b, var_b)) = (moments(a), moments(b));
    let deviation = (var_a / a.len() as f64 + var_b / b.len() as f64).sqrt();
    if deviation == 0.0 { 0.0 } else { (mean_a - mean_b) / deviation }
}

/// The largest |t| of all measurements, and of those below some percentiles of all of them:
/// interruptions have a long tail that hides differences.
fn largest_t(classes: &[Vec<f64>; 2]) -> f64 {
    let mut all = classes.concat();
    all.sort_by(f64::total_cmp);
    let limits = [0.2, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0]
        .map(|share| all[((all.len() - 1) as f64 * share) as usize]);
    let cropped = |limit: f64| {
        classes
            .each_ref()
            .map(|class| class.iter().copied().filter(|x| *x <= limit).collect::<Vec<_>>())
    };
    limits.iter().map(|limit| cropped(*limit)).map(|[a, b]| welch(&a, &b).abs()).fold(0.0, f64::max)
}

/// |t| of `run` between the inputs that `make(false, i)` and `make(true, i)` give, after `count`
/// measurements.
fn measure<I, O>(
    count: usize,
    mut make: impl FnMut(bool, usize) -> I,
    mut run: impl FnMut(&I) -> O,
) -> f64 {
    // Both classes are made by turns: neither lies together in memory.
    let inputs: Vec<[I; 2]> = (0..POOL).map(|i| [make(false, i), make(true, i)]).collect();
    let mut order = ChaCha20Rng::seed_from_u64(99);
    let mut classes = [Vec::with_capacity(count), Vec::with_capacity(count)];
    for round in 0..count + count / 20 {
        let choice = order.next_u32() as usize;
        let class = choice & 1;
        let input = &inputs[(choice >> 1) % POOL][class];
        let started = Instant::now();
        black_box(run(black_box(input)));
        let nanoseconds = started.elapsed().as_nanos() as f64;
        // The first ones warm caches and predictors.
        if round >= count / 20 {
            classes[class].push(nanoseconds);
        }
    }
    largest_t(&classes)
}

/// What no routine over secrets may be like: the time of a sum depends on its terms.
fn leaky(x: &[u64]) -> u64 {
    x.iter().fold(1u64, |sum, &x| {
        if black_box(x) & 1 == 1 { black_box(sum.wrapping_mul(x | 1).rotate_left(7)) } else { sum }
    })
}

fn leak() -> f64 {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    measure(
        20_000,
        |random, _| (0..256).map(|_| if random { rng.next_u64() } else { 0 }).collect::<Vec<u64>>(),
        |x| leaky(x),
    )
}

#[test]
fn a_routine_that_leaks_is_found_out() {
    let t = leak();
    assert!(t > THRESHOLD, "|t| = {t:.1}: the measurement sees nothing");
}

#[test]
fn welch_is_the_textbook() {
    let a: Vec<f64> = (0..200).map(|i| f64::from(i % 5)).collect();
    let b: Vec<f64> = (0..400).map(|i| f64::from(i % 5) + 1.0).collect();
    // Means 2 and 3, variances 2 n / (n - 1).
    let expected = -1.0 / (2.0 * 200.0 / 199.0 / 200.0 + 2.0 * 400.0 / 399.0 / 400.0f64).sqrt();
    assert!((welch(&a, &b) - expected).abs() < 1e-12);
    assert_eq!(welch(&a, &a), 0.0);
    assert!((largest_t(&[a.clone(), b.clone()]) - expected.abs()).abs() < 1e-12);
    assert!(largest_t(&[a.clone(), a]) == 0.0);
}

/// Everything that is measured, on one set.
struct Subject {
    params: Params,
    rng: ChaCha20Rng,
}

impl Subject {
    fn new(name: &str) -> Self {
        Subject {
            params: Params::named(name, OptIn::InsecureResearch).unwrap(),
            rng: ChaCha20Rng::seed_from_u64(2),
        }
    }

    fn values(&mut self, random: bool) -> Vec<u64> {
        let t = self.params.plain_modulus();
        (0..self.params.slots()).map(|_| if random { self.rng.next_u64() % t } else { 0 }).collect()
    }

    fn message(&mut self, random: bool) -> Plaintext {
        let values = self.values(random);
        Plaintext::encode(&self.params, &values).unwrap()
    }

    /// Always the same key, or a new one.
    fn key(&mut self, random: bool) -> SecretKey {
        let seed = if random { self.rng.next_u64() } else { 3 };
        SecretKey::generate(&self.params, &mut ChaCha20Rng::seed_from_u64(seed))
    }

    fn seed(&mut self, random: bool) -> [u8; 32] {
        let mut seed = [7; 32];
        if random {
            self.rng.fill_bytes(&mut seed);
        }
        seed
    }

    fn sampling(&mut self, count: usize, draw: impl Fn(&mut ChaCha20Rng) -> Vec<i64>) -> f64 {
        measure(
            count,
            |random, _| self.seed(random),
            |seed| draw(&mut ChaCha20Rng::from_seed(*seed)),
        )
    }
}

/// (what, secret, measurements, |t|).
type Row = (&'static str, &'static str, usize, f64);

fn all() -> Vec<Row> {
    const MANY: usize = 200_000;
    const SOME: usize = 60_000;
    let mut on = Subject::new("insecure_bgv-257-n8");
    let n = on.params.degree();
    let mut rows: Vec<Row> = vec![
        ("control: leaks on purpose", "terms of a sum", 20_000, leak()),
        ("ternary", "what is drawn", MANY, on.sampling(MANY, |rng| sample::ternary(n, rng))),
        (
            "error (centered binomial)",
            "what is drawn",
            MANY,
            on.sampling(MANY, |rng| sample::error(n, rng)),
        ),
        (
            "truncated_gaussian",
            "what is drawn",
            MANY,
            on.sampling(MANY, |rng| sample::truncated_gaussian(n, rng)),
        ),
        (
            "fixed_weight",
            "what is drawn",
            SOME,
            on.sampling(SOME, |rng| sample::fixed_weight(n, 8, rng)),
        ),
    ];
    let params = on.params.clone();
    let t =
        measure(MANY, |random, _| on.values(random), |values| Plaintext::encode(&params, values));
    rows.push(("encode, thin", "message", MANY, t));
    let t = measure(MANY, |random, _| on.message(random), |message| message.decode(&params));
    rows.push(("decode, thin", "message", MANY, t));

    let key = on.key(false);
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let t = measure(SOME, |random, _| on.message(random), |message| key.encrypt(message, &mut rng));
    rows.push(("encrypt, secret key", "message", SOME, t));
    let message = on.message(true);
    let t = measure(SOME, |random, _| on.key(random), |key| key.encrypt(&message, &mut rng));
    rows.push(("encrypt, secret key", "key", SOME, t));
    let public = PublicKey::generate(&key, &mut rng);
    let t =
        measure(SOME, |random, _| on.message(random), |message| public.encrypt(message, &mut rng));
    rows.push(("encrypt, public key", "message", SOME, t));
    let t = measure(
        SOME,
        |random, _| on.seed(random),
        |seed| public.encrypt(&message, &mut ChaCha20Rng::from_seed(*seed)),
    );
    rows.push(("encrypt, public key", "randomness", SOME, t));

    let mut made = ChaCha20Rng::seed_from_u64(5);
    let t = measure(
        MANY,
        |random, _| key.encrypt(&on.message(random), &mut made).unwrap(),
        |x| key.decrypt(x),
    );
    rows.push(("decrypt", "message", MANY, t));
    let mut with_key = |on: &mut Subject, random: bool| -> (SecretKey, Ciphertext) {
        let key = on.key(random);
        let x = key.encrypt(&message, &mut made).unwrap();
        (key, x)
    };
    let t = measure(MANY, |random, _| with_key(&mut on, random), |(key, x)| key.decrypt(x));
    rows.push(("decrypt", "key", MANY, t));
    let t = measure(
        SOME,
        |random, _| on.key(random),
        |key| secret_key::expose_to_bytes(key, &Metadata::new()),
    );
    rows.push(("secret key to bytes", "key", SOME, t));

    let mut odd = Subject::new("insecure_aes-m4947");
    let layout = AesMethod::Packed.layout(odd.params.slot_shape()).unwrap();
    let t = measure(MANY, |random, _| odd.seed(random), |key| KeySchedule::new(&key[..16]));
    rows.push(("AES key expansion", "AES key", MANY, t));
    let t = measure(MANY, |random, _| odd.seed(random), |key| AesKeyId::of(&key[..16]));
    rows.push(("id of an AES key", "AES key", MANY, t));
    let blocks = |seed: [u8; 32]| vec![<[u8; 16]>::try_from(&seed[..16]).unwrap(); layout.blocks()];
    let t = measure(SOME, |random, _| blocks(odd.seed(random)), |blocks| layout.encode(blocks));
    rows.push(("AES bytes to slots", "AES key", SOME, t));
    let params = odd.params.clone();
    let elements = |seed: [u8; 32]| layout.encode(&blocks(seed)).remove(0);
    let t = measure(
        2_000,
        |random, _| elements(odd.seed(random)),
        |x| Plaintext::encode_elements(&params, x),
    );
    rows.push(("encode, elements, odd index", "message", 2_000, t));
    rows
}

#[test]
#[ignore = "a measurement: minutes, on an otherwise idle machine"]
fn no_routine_over_secrets_leaks() {
    // One thread, and no hand-over between threads: that is noise.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let rows = pool.install(all);
    println!("| routine | secret | measurements | \\|t\\| |\n|---|---|---|---|");
    rows.iter()
        .for_each(|(what, secret, count, t)| println!("| {what} | {secret} | {count} | {t:.1} |"));
    assert!(rows[0].3 > THRESHOLD, "the control is not found");
    let leaks: Vec<&Row> = rows[1..].iter().filter(|row| row.3 > THRESHOLD).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
}
