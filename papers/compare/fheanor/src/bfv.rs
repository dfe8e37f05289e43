//! BFV: no special modulus, products through a longer modulus.

use feanor_math::ring::{RingExtensionStore, RingStore};
use feanor_math::rings::zn::ZnRingStore;
use feanor_math::seq::{VectorFn, VectorView};
use fheanor::bfv::bootstrap::{SparseKeyEncapsulationKey, ThinBootstrapper};
use fheanor::bfv::{BFVInstantiation, Pow2BFV};
use fheanor::bgv::SecretKeyDistribution;
use fheanor::gadget_product::digits::RNSGadgetVectorDigitIndices;
use fheanor::number_ring::NumberRingQuotientStore;
use fheanor::number_ring::galois::CyclotomicGaloisGroupOps;

use crate::{Asked, Found, SIGMA, big, log2, random, random_thin};

type S = Pow2BFV;

pub fn primitives(asked: &Asked) -> Found {
    let mut rng = rand::rng();
    let mut found = Found::default();
    let params = S::new(2 << asked.log_n);
    let plain = params.create_plaintext_ring(big(asked.t));
    let (top, longer) = params.create_ciphertext_rings(asked.log_qp - 10..asked.log_qp + 10);
    let limbs = top.base_ring().len();
    found.log_q = log2(top.base_ring().modulus());
    let digits = RNSGadgetVectorDigitIndices::select_digits(asked.digits, limbs);
    found.facts = format!("{} digits", digits.len());
    found.note = "any element of the plaintext ring; slots are neither encoded nor decoded; no \
                  special modulus"
        .into();

    let key = S::gen_sk(&top, &mut rng, SecretKeyDistribution::UniformTernary);
    let relin = S::gen_rk(&top, &mut rng, &key, &digits, SIGMA);
    let group = plain.acting_galois_group();
    let elements: Vec<_> =
        (1..=8u32).map(|k| group.from_representative(5i64.pow(k) % (2 << asked.log_n))).collect();
    let galois = S::gen_gks(&top, &mut rng, &key, elements.iter().cloned(), &digits, SIGMA);

    let (v, w) = (random(&plain, asked.t), random(&plain, asked.t));
    let a = S::enc_sym(&plain, &top, &mut rng, &v, &key, SIGMA);
    let b = S::enc_sym(&plain, &top, &mut rng, &w, &key, SIGMA);
    let product = plain.mul_ref(&v, &w);
    let copy = |x: &_| S::clone_ct(&top, x);
    let dec = |x| S::dec(&plain, &top, x, &key);
    let runs = asked.runs;

    let x = found.time("multiply and relinearize", runs, || {
        S::hom_mul(&plain, &top, &longer, copy(&a), copy(&b), &relin)
    });
    found.check("multiply", plain.eq_el(&dec(x), &product));
    let x =
        found.time("rotate", runs, || S::hom_galois(&top, copy(&a), &galois[0].0, &galois[0].1));
    found.check("rotate", plain.eq_el(&dec(x), &plain.apply_galois_action(&v, &galois[0].0)));
    let mut xs = found.time("hoisted rotate", runs, || {
        S::hom_galois_many(&top, copy(&a), &elements, galois.as_fn().map_fn(|(_, key)| key))
    });
    found.seconds["hoisted rotate"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(|s| *s = (s.as_f64().unwrap() / 8.0).into());
    found.check(
        "hoisted rotate",
        plain.eq_el(&dec(xs.swap_remove(7)), &plain.apply_galois_action(&v, &elements[7])),
    );
    let x = found
        .time("multiply by a plaintext", runs, || S::hom_mul_plain(&plain, &top, &w, copy(&a)));
    found.check("multiply by a plaintext", plain.eq_el(&dec(x), &product));
    let x = found.time("add", runs, || S::hom_add(&top, copy(&a), &b));
    found.check("add", plain.eq_el(&dec(x), &plain.add_ref(&v, &w)));
    found.time("encrypt, secret key", runs, || S::enc_sym(&plain, &top, &mut rng, &v, &key, SIGMA));
    let x = found.time("decrypt and decode", runs, || dec(copy(&a)));
    found.check("decrypt", plain.eq_el(&x, &v));
    found
}

pub fn bootstrap(asked: &Asked) -> Found {
    let mut rng = rand::rng();
    let mut found = Found::default();
    let params = S::new(2 << asked.log_n);
    let plain = params.create_plaintext_ring(big(asked.t));
    let (top, longer) = params.create_ciphertext_rings(asked.log_qp - 10..asked.log_qp + 10);
    let limbs = top.base_ring().len();
    found.log_q = log2(top.base_ring().modulus());
    let galois_digits = RNSGadgetVectorDigitIndices::select_digits(limbs.div_ceil(2), limbs);
    let relin_digits = RNSGadgetVectorDigitIndices::select_digits(limbs.div_ceil(3), limbs);
    let (bound, tables) = (Some(asked.overflow + 1), Some(asked.tables.as_str()));
    let bootstrapper =
        ThinBootstrapper::build_pow2(&params, &plain, &top, 1, bound, 4, &galois_digits, tables);

    let key = S::gen_sk(&top, &mut rng, SecretKeyDistribution::UniformTernary);
    let galois = S::gen_gks(
        &top,
        &mut rng,
        &key,
        bootstrapper.required_galois_keys(&plain),
        &galois_digits,
        SIGMA,
    );
    let relin = S::gen_rk(&top, &mut rng, &key, &relin_digits, SIGMA);
    let inner = bootstrapper.intermediate_plaintext_ring();
    let sparse =
        SparseKeyEncapsulationKey::new(inner, &top, &key, 2, asked.sparse_weight, &mut rng, SIGMA);

    let value = random_thin(&plain, asked.t);
    let fresh = S::enc_sym(&plain, &top, &mut rng, &value, &key, SIGMA);
    let x = found.time("thin bootstrapping", asked.runs, || {
        bootstrapper.bootstrap_thin(
            &top,
            &longer,
            S::clone_ct(&top, &fresh),
            &relin,
            &galois,
            Some(&sparse),
            None,
        )
    });
    let budget = S::noise_budget(&plain, &top, &x, &key);
    found.facts = format!(
        "{} digits, encapsulated weight {}, {budget} bits left",
        galois_digits.len(),
        asked.sparse_weight
    );
    found.check("bootstrapping", plain.eq_el(&S::dec(&plain, &top, x, &key), &value));
    found
}
