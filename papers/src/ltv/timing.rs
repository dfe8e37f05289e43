//! Section 8 and the end of section 7, measured: one relinearization at n = 4096, of LTV over prime
//! powers and of YASHE'.

use std::time::Instant;

use everlevel::lab::{Arithmetic, Evaluator};
use everlevel::{KeyPlan, Level, NextUse, OptIn, Params, Plaintext, SecretKey, ServerKeys};
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::median;
use everlevel_ltv::{Gadget, KeyForm, LtvEvalKeys, LtvParams, LtvSecretKey, LtvSpec};
use rand_core::CryptoRng;

/// X^4096 + 1 and a modulus of 125 bits.
const LTV: &str = "insecure_ltv-n4096";
/// The same ring, and 127 bits.
const YASHE: &str = "insecure_yashe-257-n12";
const RUNS: usize = 15;

/// Milliseconds of a call, the median of some.
fn milliseconds<T>(mut call: impl FnMut() -> T) -> f64 {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let started = Instant::now();
        // Dropping the result is not part of the work.
        let result = call();
        times.push(started.elapsed().as_secs_f64() * 1e3);
        drop(result);
    }
    median(&times)
}

/// Milliseconds of a relinearization by LTV at each modulus, the largest first.
pub fn ltv(gadget: Gadget, form: KeyForm, rng: &mut impl CryptoRng) -> Result<Vec<f64>, CliError> {
    let params =
        LtvParams::new(LtvSpec { gadget, ..LtvSpec::named(LTV)? }, OptIn::InsecureResearch)?;
    let secret = LtvSecretKey::generate(&params, rng);
    let keys = LtvEvalKeys::generate(&secret, &[], form, rng);
    let plaintext = params.from_coefficients(vec![1; params.degree()])?;
    let levels = (0..=params.top().0).rev().map(Level);
    levels
        .map(|level| {
            let c = secret.encrypt_at(&plaintext, level, rng)?;
            Ok(milliseconds(|| keys.relinearized(c.poly())))
        })
        .collect()
}

/// Milliseconds of a key switch of YASHE', that of a product, at its largest modulus.
pub fn yashe(rng: &mut impl CryptoRng) -> Result<f64, CliError> {
    let params = Params::named(YASHE, OptIn::InsecureResearch)?;
    let secret = SecretKey::generate(&params, rng);
    let keys = ServerKeys::generate(&secret, &KeyPlan::relinearization(&params), rng, |_, _| ())?;
    let scheme = Evaluator::new(keys);
    let x = secret.encrypt(&Plaintext::encode(&params, &[1, 2, 3])?, rng)?;
    let product = scheme.mul_lazy(&x, &x)?;
    scheme.relinearize(&product, NextUse::Keep)?;
    Ok(milliseconds(|| scheme.relinearize(&product, NextUse::Keep)))
}
