//! Single operations and thin bootstrapping of fheanor: a directory for its tables and one JSON
//! argument say which, one JSON line says how long they took. Results are checked by decryption.

mod bfv;
mod bgv;

use std::time::Instant;

use feanor_math::homomorphism::Homomorphism;
use feanor_math::integer::{BigIntRing, IntegerRingStore, int_cast};
use feanor_math::primitive_int::StaticRing;
use feanor_math::ring::{El, RingExtensionStore, RingStore};
use feanor_math::rings::extension::FreeAlgebraStore;
use fheanor::NiceZn;
use fheanor::number_ring::galois::CyclotomicGaloisGroupOps;
use fheanor::number_ring::{NumberRingQuotient, NumberRingQuotientStore};
use rand::Rng;
use serde_json::{Value, json};

/// Standard deviation of errors.
pub const SIGMA: f64 = 3.2;

/// What was asked for.
pub struct Asked {
    pub form: String,
    pub bootstrap: bool,
    pub log_n: u32,
    pub t: i64,
    pub log_qp: usize,
    pub special: usize,
    pub digits: usize,
    pub sparse_weight: usize,
    pub overflow: i64,
    pub runs: usize,
    pub tables: String,
}

/// What was found.
#[derive(Default)]
pub struct Found {
    pub log_q: f64,
    pub log_p: f64,
    pub facts: String,
    pub note: String,
    pub seconds: serde_json::Map<String, Value>,
    pub wrong: Vec<&'static str>,
}

impl Found {
    /// Times an operation, after one run that does not count, and returns its last result.
    pub fn time<T>(&mut self, what: &str, runs: usize, mut operation: impl FnMut() -> T) -> T {
        let mut last = operation();
        let mut seconds = Vec::new();
        for _ in 0..runs {
            let started = Instant::now();
            let result = operation();
            seconds.push(started.elapsed().as_secs_f64());
            last = result;
        }
        self.seconds.insert(what.into(), json!(seconds));
        last
    }

    pub fn check(&mut self, what: &'static str, holds: bool) {
        if !holds {
            self.wrong.push(what);
        }
    }
}

pub fn big(x: i64) -> El<BigIntRing> {
    int_cast(x, BigIntRing::RING, StaticRing::<i64>::RING)
}

/// log2 of a modulus.
pub fn log2(x: &El<BigIntRing>) -> f64 {
    BigIntRing::RING.to_float_approx(x).log2()
}

/// A random element of the plaintext ring.
pub fn random<P>(ring: &P, t: i64) -> El<P>
where
    P: RingStore,
    P::Type: NumberRingQuotient,
    <<P::Type as feanor_math::ring::RingExtension>::BaseRing as RingStore>::Type: NiceZn,
{
    let mut rng = rand::rng();
    let zn = ring.base_ring();
    ring.from_canonical_basis(
        (0..ring.rank()).map(|_| zn.int_hom().map(rng.random_range(0..t as i32))),
    )
}

/// A random element with an integer in every slot: the trace of a random element, the sum over its
/// images under X -> X^(t^i).
pub fn random_thin<P>(ring: &P, t: i64) -> El<P>
where
    P: RingStore,
    P::Type: NumberRingQuotient,
    <<P::Type as feanor_math::ring::RingExtension>::BaseRing as RingStore>::Type: NiceZn,
{
    let group = ring.acting_galois_group();
    let frobenius = group.from_representative(t);
    let mut image = random(ring, t);
    let mut sum = ring.zero();
    for _ in 0..group.element_order(&frobenius) {
        ring.add_assign_ref(&mut sum, &image);
        image = ring.apply_galois_action(&image, &frobenius);
    }
    sum
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, tables, text] = arguments.as_slice() else {
        eprintln!("expected a directory and a JSON object");
        std::process::exit(2);
    };
    let json: Value = serde_json::from_str(text).expect("the second argument is a JSON object");
    let number = |key: &str| json[key].as_u64().unwrap_or(0) as usize;
    std::fs::create_dir_all(tables).expect("the directory for tables can be made");
    let asked = Asked {
        form: json["form"].as_str().unwrap_or_default().into(),
        bootstrap: json["kind"] == "bootstrap",
        log_n: number("log_n") as u32,
        t: number("t") as i64,
        log_qp: number("log_qp"),
        special: number("special"),
        digits: number("digits"),
        sparse_weight: number("sparse_weight"),
        overflow: number("overflow") as i64,
        runs: number("runs"),
        tables: tables.clone(),
    };
    let found = match (asked.form.as_str(), asked.bootstrap) {
        ("bgv", false) => bgv::primitives(&asked),
        ("bgv", true) => bgv::bootstrap(&asked),
        ("bfv", false) => bfv::primitives(&asked),
        ("bfv", true) => bfv::bootstrap(&asked),
        (form, _) => panic!("expected the form bgv or bfv, found {form:?}"),
    };
    for what in &found.wrong {
        eprintln!("wrong: {what}");
    }
    let answer = json!({
        "version": "0.11.9", "log_q": found.log_q, "log_p": found.log_p,
        "facts": found.facts, "notes": {"": found.note},
        "seconds": found.seconds, "verified": found.wrong.is_empty(),
    });
    println!("{answer}");
}
