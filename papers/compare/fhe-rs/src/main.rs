//! Single operations of fhe.rs: a directory (not used) and one JSON argument say which, one JSON
//! line says how long they took. Results are checked by decryption.

use std::error::Error;
use std::time::Instant;

use fhe::bfv::{
    BfvParametersBuilder, Ciphertext, Encoding, EvaluationKeyBuilder, Multiplicator, Plaintext,
    PublicKey,
};
use fhe::bfv::{RelinearizationKey, SecretKey};
use fhe_traits::{FheDecoder, FheDecrypter, FheEncoder, FheEncrypter};
use rand::Rng;
use serde_json::{Map, Value, json};

/// Times an operation, after one run that does not count, and returns its last result.
fn time<T, E>(
    seconds: &mut Map<String, Value>,
    what: &str,
    runs: usize,
    mut operation: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut last = operation()?;
    let mut all = Vec::new();
    for _ in 0..runs {
        let started = Instant::now();
        let result = operation()?;
        all.push(started.elapsed().as_secs_f64());
        last = result;
    }
    seconds.insert(what.into(), json!(all));
    Ok(last)
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = std::env::args().nth(2).ok_or("expected a directory and a JSON object")?;
    let asked: Value = serde_json::from_str(&text)?;
    let number = |key: &str| asked[key].as_u64().unwrap_or(0) as usize;
    let (n, t, runs) = (1usize << number("log_n"), number("t") as u64, number("runs"));
    let bits = number("log_qp").div_ceil(55);
    let sizes = vec![number("log_qp").div_ceil(bits); bits];
    let params = BfvParametersBuilder::new()
        .set_degree(n)
        .set_plaintext_modulus(t)
        .set_moduli_sizes(&sizes)
        .build_arc()?;

    let mut rng = rand::rng();
    let secret = SecretKey::random(&params, &mut rng);
    let public = PublicKey::new(&secret, &mut rng);
    let relin = RelinearizationKey::new(&secret, &mut rng)?;
    let rotations =
        EvaluationKeyBuilder::new(&secret)?.enable_column_rotation(3)?.build(&mut rng)?;
    let product = Multiplicator::default(&relin)?;

    let mut random = || (0..n).map(|_| rng.random_range(0..t)).collect::<Vec<u64>>();
    let (v, w) = (random(), random());
    let encode = |values: &[u64]| Plaintext::try_encode(values, Encoding::simd(), &params);
    let plain = encode(&w)?;
    let a: Ciphertext = public.try_encrypt(&encode(&v)?, &mut rng)?;
    let b: Ciphertext = public.try_encrypt(&plain, &mut rng)?;
    let decrypt =
        |x: &Ciphertext| Vec::<u64>::try_decode(&secret.try_decrypt(x)?, Encoding::simd());

    let pairs =
        |f: fn(u64, u64) -> u64| v.iter().zip(&w).map(|(x, y)| f(*x, *y) % t).collect::<Vec<u64>>();
    let half = n / 2;
    let turned: Vec<u64> = (0..n).map(|i| v[i / half * half + (i % half + 3) % half]).collect();
    let mut seconds = Map::new();
    let s = &mut seconds;
    let checks = [
        decrypt(&time(s, "multiply and relinearize", runs, || product.multiply(&a, &b))?)?
            == pairs(|x, y| x * y),
        decrypt(&time(s, "rotate", runs, || rotations.rotates_columns_by(&a, 3))?)? == turned,
        decrypt(&time(s, "multiply by a transformed plaintext", runs, || {
            Ok::<_, fhe::Error>(&a * &plain)
        })?)?
            == pairs(|x, y| x * y),
        decrypt(&time(s, "add", runs, || Ok::<_, fhe::Error>(&a + &b))?)? == pairs(|x, y| x + y),
        time(s, "decrypt and decode", runs, || decrypt(&a))? == v,
    ];
    let fresh: Ciphertext = time(s, "encode and encrypt, public key", runs, || {
        public.try_encrypt(&encode(&v)?, &mut rng)
    })?;
    let verified = checks.iter().all(|c| *c) && decrypt(&fresh)? == v;
    let log_q: f64 = params.moduli().iter().map(|q| (*q as f64).log2()).sum();
    let answer = json!({
        "version": "0.1.1", "log_q": log_q, "log_p": 0.0,
        "facts": format!("{} digits", sizes.len()),
        "notes": {"": "no special modulus, a digit for each prime"},
        "seconds": seconds, "verified": verified,
    });
    println!("{answer}");
    Ok(())
}
