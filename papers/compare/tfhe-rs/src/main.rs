//! One operation of TFHE-rs on single integers: a directory (not used) and one JSON argument say
//! which, one JSON line says how long it took. Every result is checked by decryption.

use std::error::Error;
use std::time::Instant;

use serde_json::{Value, json};
use tfhe::prelude::*;
use tfhe::{
    ClientKey, ConfigBuilder, FheBool, FheUint8, FheUint16, FheUint32, FheUint64, MatchValues,
    generate_keys, set_server_key,
};

/// Seconds of each run, after one that does not count, and whether all results were right.
type Found = (Vec<f64>, bool);

fn time<T>(runs: usize, mut operation: impl FnMut() -> T, right: impl Fn(&T) -> bool) -> Found {
    let mut correct = right(&operation());
    let mut seconds = Vec::new();
    for _ in 0..runs {
        let started = Instant::now();
        let result = operation();
        seconds.push(started.elapsed().as_secs_f64());
        correct &= right(&result);
    }
    (seconds, correct)
}

/// The table of `everlevel bench integers --op table`.
fn entry(v: u8) -> u8 {
    v.wrapping_mul(v).wrapping_mul(73).wrapping_add(v.wrapping_mul(41)).wrapping_add(7)
}

fn table(key: &ClientKey, runs: usize) -> Result<Found, Box<dyn Error>> {
    let value = 201u8;
    let a = FheUint8::encrypt(value, key);
    let pairs = MatchValues::new((0..=255u8).map(|v| (v, entry(v))).collect())?;
    let look_up = || a.match_value(&pairs);
    let right = |found: &tfhe::Result<(FheUint8, FheBool)>| {
        let Ok((found, matched)) = found else { return false };
        let found: u8 = found.decrypt(key);
        matched.decrypt(key) && found == entry(value)
    };
    Ok(time(runs, look_up, right))
}

macro_rules! of_type {
    ($kind:ty, $clear:ty, $key:expr, $op:expr, $runs:expr) => {{
        let (key, runs) = ($key, $runs);
        // All digits of both differ from 0.
        let (v, w) = (<$clear>::MAX / 7 * 5, <$clear>::MAX / 11);
        let (a, b) = (<$kind>::encrypt(v, key), <$kind>::encrypt(w, key));
        let yes = FheBool::encrypt(true, key);
        let is = |expected: $clear| move |found: &$kind| {
            let found: $clear = found.decrypt(key);
            found == expected
        };
        let holds = |expected: bool| move |found: &FheBool| found.decrypt(key) == expected;
        match $op {
            "add" => time(runs, || &a + &b, is(v.wrapping_add(w))),
            "mul" => time(runs, || &a * &b, is(v.wrapping_mul(w))),
            "div" => time(runs, || &a / &b, is(v / w)),
            "lt" => time(runs, || a.lt(&b), holds(v < w)),
            "eq" => time(runs, || a.eq(&b), holds(v == w)),
            "min" => time(runs, || a.min(&b), is(v.min(w))),
            "select" => time(runs, || yes.select(&a, &b), is(v)),
            other => return Err(format!("no operation {other}").into()),
        }
    }};
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = std::env::args().nth(2).ok_or("expected a directory and a JSON object")?;
    let asked: Value = serde_json::from_str(&text)?;
    let (op, kind) = (asked["op"].as_str().unwrap_or(""), asked["type"].as_str().unwrap_or(""));
    let runs = asked["runs"].as_u64().unwrap_or(1) as usize;
    let (key, server) = generate_keys(ConfigBuilder::default().build());
    set_server_key(server);
    let (seconds, verified) = match (op, kind) {
        ("table", "u8") => table(&key, runs)?,
        (op, "u8") => of_type!(FheUint8, u8, &key, op, runs),
        (op, "u16") => of_type!(FheUint16, u16, &key, op, runs),
        (op, "u32") => of_type!(FheUint32, u32, &key, op, runs),
        (op, "u64") => of_type!(FheUint64, u64, &key, op, runs),
        (_, other) => return Err(format!("no type {other}").into()),
    };
    println!("{}", json!({ "version": "1.8.2", "seconds": { op: seconds }, "verified": verified }));
    Ok(())
}
