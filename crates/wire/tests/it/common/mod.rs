//! Parameters, keys and ciphertexts for the tests, each of which uses some.
#![allow(dead_code)]

use everlevel_bgv::{SecretKey, ServerKeys};
use everlevel_scheme::spec::{Assumption, SecretKind};
use everlevel_scheme::{KeyPlan, OptIn, Params, ParamsSpec, Plaintext};
use everlevel_wire::ManifestKey;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Toy sets of every assumption: BGV and BFV over ring-LWE, with and without prime powers, LTV and
/// YASHE', an odd index.
pub const SETS: [&str; 6] = [
    "insecure_bgv-257-n8",
    "insecure_bfv-257-n8",
    "insecure_bfv-127e2-n8",
    "insecure_ltv-257-n8",
    "insecure_yashe-257-n8",
    "insecure_ltv-2-m255",
];

pub fn named(name: &str) -> Params {
    Params::named(name, OptIn::InsecureResearch).unwrap()
}

/// Rings of an odd index and of 8 times an odd number over ring-LWE, small enough to store objects
/// of.
pub fn odd_sets() -> [Params; 2] {
    let with = |name: &str, index: u64, plain_prime: u64| {
        let model = everlevel_scheme::params::spec("insecure_ltv-2-m255").unwrap();
        let (assumption, secret) = (Assumption::Rlwe, SecretKind::UniformTernary);
        let spec = ParamsSpec {
            name: name.into(),
            index,
            plain_prime,
            words: 4,
            special: 2,
            digit_size: 2,
            assumption,
            secret,
            ..model
        };
        Params::new(spec, OptIn::InsecureResearch).unwrap()
    };
    [with("insecure_bgv-2-m255", 255, 2), with("insecure_bgv-7-m120", 120, 7)]
}

/// The key of stored manifests.
pub fn manifest_key() -> ManifestKey {
    ManifestKey::from_bytes(&core::array::from_fn::<u8, 32, _>(|i| 7 * i as u8)).unwrap()
}

/// A party with all keys: relinearization, one rotation, bootstrapping where the set has it.
pub struct Party {
    pub params: Params,
    pub secret: SecretKey,
    pub plan: KeyPlan,
    pub rng: ChaCha20Rng,
}

impl Party {
    pub fn new(name: &str, seed: u64) -> Self {
        Self::of(named(name), seed)
    }

    pub fn of(params: Params, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secret = SecretKey::generate(&params, &mut rng);
        let rotation = match params.slot_shape().axes() {
            None => KeyPlan::column_rotations(&params, [1]),
            Some(_) => KeyPlan::automorphisms_up_to(
                &params,
                [params.slot_shape().frobenius()],
                params.chain().top(),
            ),
        };
        let mut plan = KeyPlan::relinearization(&params).merge(&rotation);
        plan.bootstrap = params.spec().bootstrap.is_some();
        Party { params, secret, plan, rng }
    }

    pub fn server_keys(&mut self) -> ServerKeys {
        ServerKeys::generate(&self.secret, &self.plan, &mut self.rng, |_, _| ()).unwrap()
    }

    /// A plaintext with coefficients that follow from `seed`.
    pub fn message(&self, seed: u64) -> Plaintext {
        let t = self.params.plain_modulus();
        let coefficients = (0..self.params.degree() as u64)
            .map(|i| (i.wrapping_mul(seed | 1).wrapping_add(seed >> 7)) % t)
            .collect();
        Plaintext::from_coefficients(&self.params, coefficients, self.params.plain_exponent())
            .unwrap()
    }
}
