//! BGV: key switching with a special modulus, moduli dropped as its own strategy sees fit.

use feanor_math::ring::{RingExtensionStore, RingStore};
use feanor_math::rings::zn::ZnRingStore;
use feanor_math::seq::{VectorFn, VectorView};
use fheanor::bgv::bootstrap::{SparseKeyEncapsulationKey, ThinBootstrapper};
use fheanor::bgv::modswitch::DefaultModswitchStrategy;
use fheanor::bgv::noise_estimator::NaiveBGVNoiseEstimator;
use fheanor::bgv::{BGVInstantiation, ImplicitScalePolicy, Pow2BGV, SecretKeyDistribution};
use fheanor::ciphertext_ring::indices::RNSFactorIndexList;
use fheanor::gadget_product::digits::RNSGadgetVectorDigitIndices;
use fheanor::number_ring::NumberRingQuotientStore;
use fheanor::number_ring::galois::CyclotomicGaloisGroupOps;

use crate::{Asked, Found, SIGMA, big, log2, random, random_thin};

type S = Pow2BGV;

pub fn primitives(asked: &Asked) -> Found {
    let mut rng = rand::rng();
    let mut found = Found::default();
    let params = S::new(2 << asked.log_n);
    let plain = params.create_plaintext_ring(big(asked.t));
    let all = params.create_ciphertext_ring(asked.log_qp - 10..asked.log_qp + 10);
    let limbs = all.base_ring().len();
    let special = RNSFactorIndexList::from(limbs - asked.special..limbs, limbs);
    let top = S::mod_switch_down_C(&all, &special);
    found.log_q = log2(top.base_ring().modulus());
    found.log_p = log2(all.base_ring().modulus()) - found.log_q;
    // One digit is as long as the special modulus.
    let digits = RNSGadgetVectorDigitIndices::select_digits(limbs.div_ceil(asked.special), limbs);
    found.facts = format!("{} digits", (limbs - asked.special).div_ceil(asked.special));
    found.note = "any element of the plaintext ring; slots are neither encoded nor decoded".into();

    let all_key = S::gen_sk(&all, &mut rng, SecretKeyDistribution::UniformTernary);
    let key = S::mod_switch_sk(&top, &all, &all_key);
    let relin = S::gen_rk(&plain, &all, &mut rng, &all_key, &digits, SIGMA);
    let group = plain.acting_galois_group();
    let elements: Vec<_> =
        (1..=8u32).map(|k| group.from_representative(5i64.pow(k) % (2 << asked.log_n))).collect();
    let galois =
        S::gen_gks(&plain, &all, &mut rng, &all_key, elements.iter().cloned(), &digits, SIGMA);

    let (v, w) = (random(&plain, asked.t), random(&plain, asked.t));
    let a = S::enc_sym(&plain, &top, &mut rng, &v, &key, SIGMA);
    let b = S::enc_sym(&plain, &top, &mut rng, &w, &key, SIGMA);
    let product = plain.mul_ref(&v, &w);
    let copy = |x: &_| S::clone_ct(&plain, &top, x);
    let dec = |x| S::dec(&plain, &top, x, &key);
    let runs = asked.runs;

    let x = found
        .time("multiply and relinearize", runs, || S::hom_mul(&plain, &top, &all, &a, &b, &relin));
    found.check("multiply", plain.eq_el(&dec(x), &product));
    let x = found.time("rotate", runs, || {
        S::hom_galois(&plain, &top, &all, copy(&a), &galois[0].0, &galois[0].1)
    });
    found.check("rotate", plain.eq_el(&dec(x), &plain.apply_galois_action(&v, &galois[0].0)));
    let mut xs = found.time("hoisted rotate", runs, || {
        S::hom_galois_many(
            &plain,
            &top,
            &all,
            copy(&a),
            &elements,
            galois.as_fn().map_fn(|(_, key)| key),
        )
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
    let x = found.time("add", runs, || {
        S::hom_add(&plain, &top, copy(&a), copy(&b), ImplicitScalePolicy::AssertEqual)
    });
    found.check("add", plain.eq_el(&dec(x), &plain.add_ref(&v, &w)));
    let lower =
        S::mod_switch_down_C(&top, &RNSFactorIndexList::from(vec![0], top.base_ring().len()));
    let lower_key = S::mod_switch_sk(&lower, &top, &key);
    let x = found.time("modulus switch", runs, || S::mod_switch_ct(&plain, &lower, &top, copy(&a)));
    found.check("modulus switch", plain.eq_el(&S::dec(&plain, &lower, x, &lower_key), &v));
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
    let top = params.create_ciphertext_ring(asked.log_qp - 10..asked.log_qp + 10);
    let limbs = top.base_ring().len();
    found.log_q = log2(top.base_ring().modulus());
    let digits = RNSGadgetVectorDigitIndices::select_digits(limbs.div_ceil(2), limbs);
    let strategy = DefaultModswitchStrategy::<_, _, false>::new(NaiveBGVNoiseEstimator);
    // The overflow, and as much again from the detour through p^e + 1.
    let bound = 2 * asked.overflow + 2;
    let tables = Some(asked.tables.as_str());
    let bootstrapper = ThinBootstrapper::build_pow2(
        &params,
        &plain,
        &top,
        1,
        Some(bound),
        4,
        &digits,
        strategy,
        tables,
    );
    let inner = bootstrapper.intermediate_plaintext_ring();

    let main = SecretKeyDistribution::UniformTernary;
    let key = S::gen_sk(&top, &mut rng, main);
    let galois = S::gen_gks(
        inner,
        &top,
        &mut rng,
        &key,
        bootstrapper.required_galois_keys(&plain),
        &digits,
        SIGMA,
    );
    let relin = S::gen_rk(inner, &top, &mut rng, &key, &digits, SIGMA);
    let sparse =
        SparseKeyEncapsulationKey::new(inner, &top, &key, 2, asked.sparse_weight, &mut rng, SIGMA);

    let value = random_thin(&plain, asked.t);
    let none = RNSFactorIndexList::empty();
    let fresh = S::enc_sym(&plain, &top, &mut rng, &value, &key, SIGMA);
    let x = found.time("thin bootstrapping", asked.runs, || {
        let input = S::clone_ct(&plain, &top, &fresh);
        bootstrapper.bootstrap_thin(&none, input, &relin, &galois, main, Some(&sparse), None)
    });
    let left = S::mod_switch_down_C(&top, &x.dropped_rns_factor_indices);
    let left_key = S::mod_switch_sk(&left, &top, &key);
    let budget = S::noise_budget(&plain, &left, &x.data, &left_key);
    found.facts = format!(
        "{} digits, encapsulated weight {}, {budget} bits left",
        digits.len(),
        asked.sparse_weight
    );
    found.check("bootstrapping", plain.eq_el(&S::dec(&plain, &left, x.data, &left_key), &value));
    found
}
