//! The two sides of a test with cryptography.

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_scheme::{KeyPlan, Params};
use rand_chacha::ChaCha20Rng;

/// A secret key, and a server with its keys of a plan.
pub(crate) fn party(
    params: &Params,
    plan: &KeyPlan,
    rng: &mut ChaCha20Rng,
) -> (SecretKey, Evaluator) {
    let secret = SecretKey::generate(params, rng);
    let keys = ServerKeys::generate(&secret, plan, rng, |_, _| ()).unwrap();
    (secret, Evaluator::new(keys))
}
