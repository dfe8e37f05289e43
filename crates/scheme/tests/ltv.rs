//! LTV over prime powers on small rings: the laws, the noise, the keys.

use std::cell::RefCell;

use everlevel_ring::GaloisElement;
use everlevel_scheme::ltv::{Gadget, KeyForm, LtvCiphertext, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey, LtvSpec};
use everlevel_scheme::{DiagonalValues, NextUse, OptIn, Scheme, SchemeError};
use everlevel_testing::Subject;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

fn params(name: &str) -> LtvParams {
    LtvParams::named(name, OptIn::InsecureResearch).unwrap()
}

fn of_gadget(gadget: Gadget, levels: usize) -> LtvParams {
    let spec = LtvSpec { gadget, levels, ..LtvSpec::named("insecure_ltv-m255").unwrap() };
    LtvParams::new(spec, OptIn::InsecureResearch).unwrap()
}

struct Fixture {
    secret: LtvSecretKey,
    scheme: LtvEvaluator,
    rng: RefCell<ChaCha20Rng>,
}

impl Fixture {
    fn new(params: &LtvParams, form: KeyForm, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secret = LtvSecretKey::generate(params, &mut rng);
        let shape = params.plain().unwrap().shape();
        let mut automorphisms: Vec<GaloisElement> =
            (0..shape.dimensions().len()).flat_map(|d| [1, -2].map(|k| shape.rotation_along(d, k))).collect();
        automorphisms.push(shape.frobenius());
        let keys = LtvEvalKeys::generate(&secret, &automorphisms, form, &mut rng);
        Fixture { scheme: LtvEvaluator::new(keys).unwrap(), secret, rng: RefCell::new(rng) }
    }
    fn bits(&self) -> Vec<u64> {
        let slots = self.scheme.slot_shape().slots();
        (0..slots).map(|_| self.rng.borrow_mut().next_u64() & 1).collect()
    }
    fn encrypt(&self, values: &[u64]) -> LtvCiphertext {
        let plaintext = self.secret.params().encode(values).unwrap();
        self.secret.encrypt(&plaintext, &mut *self.rng.borrow_mut()).unwrap()
    }
    fn decrypt(&self, x: &LtvCiphertext) -> Vec<u64> {
        let (measured, bound) = (self.secret.measure_noise(x).unwrap(), self.scheme.noise_bound_bits(x));
        assert!(measured <= bound, "measured noise 2^{measured:.2} above its bound 2^{bound:.2}");
        self.secret.params().decode(&self.secret.decrypt(x).unwrap()).unwrap()
    }
    /// Good dimensions with rotations that there are keys for.
    fn steps(&self) -> Vec<(usize, i64)> {
        let dimensions = self.scheme.slot_shape().dimensions().iter().enumerate().filter(|(_, d)| d.good && d.size > 1);
        dimensions.flat_map(|(i, _)| [(i, 1), (i, -2)]).collect()
    }
}

#[test]
fn the_laws_hold() {
    let sets = [
        (params("insecure_ltv-m255"), KeyForm::Evaluations),
        (of_gadget(Gadget::Hybrid { rows: 2 }, 7), KeyForm::Polynomial),
        (of_gadget(Gadget::Hybrid { rows: 1 }, 5), KeyForm::Evaluations),
        (params("insecure_ltv-m255-binary"), KeyForm::Polynomial),
        (of_gadget(Gadget::Windows { bits: 7 }, 7), KeyForm::Evaluations),
    ];
    for (params, form) in sets {
        let f = Fixture::new(&params, form, 1);
        let subject = Subject {
            scheme: &f.scheme,
            encrypt: &|values| f.encrypt(values),
            decrypt: &|x| f.decrypt(x),
            rotations: &[],
            exponent: 1,
            seed: 2,
        };
        subject.check_slotwise();
        subject.dimension_laws(&f.steps());
    }
}
