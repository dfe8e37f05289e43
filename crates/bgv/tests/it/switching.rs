//! The modulus-switching lemma of Chen–Han 2018, and the bounds of this library beside it.

use everlevel_ring::cpu::limb;
use everlevel_ring::{Basis, Coeff, Cpu, Poly, RoundingScale, sample};
use everlevel_scheme::spec::{BootstrapSpec, SecretKind};
use everlevel_scheme::{Arithmetic, Form, Level, Params, ParamsSpec, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::bfv::{build, keys, random, small};

/// The textbook's decryption modulo the one prime of `basis`: round(t/q [c0 + c1 s]_q) modulo t.
fn decrypt_fv(
    cpu: &Cpu,
    basis: Basis,
    [c0, c1]: [&Poly<everlevel_ring::Eval>; 2],
    s: &[i64],
    t: u64,
) -> Vec<u64> {
    let mut phase = c0.clone();
    phase.mul_add_assign(cpu, c1, &Poly::<Coeff>::from_signed(cpu, basis, s).into_eval(cpu));
    let ring = cpu.ring();
    let position = basis.iter().next().unwrap();
    let q = u128::from(ring.modulus(position).value());
    let stored = phase.into_coeff(cpu);
    let rounded =
        |x: u64| ((2 * u128::from(t) * u128::from(x) + q) / (2 * q) % u128::from(t)) as u64;
    ring.natural_order(limb(&stored, position)).into_iter().map(rounded).collect()
}

/// (p, r, w, bits of q0): the largest primes of that size exceed 4 t (1 + w) by less than a
/// factor of 2.
const LEMMA_SETS: [(u64, u32, usize, u32); 3] =
    [(257, 2, 12, 22), (127, 2, 16, 21), (17, 3, 50, 20)];

fn sparse_set(p: u64, r: u32, weight: usize, base_bits: u32) -> Params {
    let secret = SecretKind::Sparse(weight);
    build(ParamsSpec {
        base_bits,
        word_bits: 40,
        words: 4,
        fine_bits: vec![],
        secret,
        ..small(p, r, Form::Bfv)
    })
}

/// Lemma 1: if c0 + c1 s = Δ m + v + a q with |v| < Δ/4, and q' > 4 t (1 + |s|_1), then the
/// ciphertext switched to q' decrypts to m. With the largest v that it admits, switched by what
/// switches ciphertexts in BFV form, to a prime less than a bit above the limit.
#[test]
fn modulus_switching_decrypts_as_lemma_1_of_chen_han_says() {
    for (p, r, weight, base_bits) in LEMMA_SETS {
        let params = sparse_set(p, r, weight, base_bits);
        let (cpu, chain, t) = (params.cpu(), params.chain(), params.plain_modulus());
        let ring = cpu.ring();
        let (high, low) = (chain.basis(Level(1)), chain.basis(Level(0)));
        let limit = 4 * t * (1 + weight as u64);
        let excess = chain.bits(Level(0)) - (limit as f64).log2();
        assert!(excess > 0.0 && excess < 1.0, "p = {p}: q' is 2^{excess} times the limit");
        let q: u64 = high.iter().map(|i| ring.modulus(i).value()).product();
        let delta = q / t;
        for seed in 0..100 {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let s = sample::fixed_weight(ring.degree(), weight, &mut rng);
            let message = random(&params, ring.degree(), &mut rng);
            let signed: Vec<i64> = message.iter().map(|&m| m as i64).collect();
            let noise: Vec<i64> = (0..ring.degree())
                .map(|_| ((delta - 1) / 4) as i64 * (1 - 2 * (rng.next_u64() & 1) as i64))
                .collect();
            let mut c0 = Poly::<Coeff>::from_signed(cpu, high, &signed).into_eval(cpu);
            c0.scale_assign(cpu, i128::from(delta));
            c0.add_assign(cpu, &Poly::<Coeff>::from_signed(cpu, high, &noise).into_eval(cpu));
            let c1 = sample::expand(cpu, &sample::seed(&mut rng), 0, high);
            c0.sub_assign(
                cpu,
                &c1.mul(cpu, &Poly::<Coeff>::from_signed(cpu, high, &s).into_eval(cpu)),
            );

            let [c0, c1] = [c0, c1].map(|c| c.divided(cpu, low, RoundingScale::plain_multiple(1)));
            assert_eq!(decrypt_fv(cpu, low, [&c0, &c1], &s, t), message, "p = {p}, seed {seed}");
        }
    }
}

/// Two bounds of this library beside the lemma, which bounds the rounding by its worst case in one
/// coefficient, t (1 + |s|_1) / 2.
///
/// A result that is computed with has to be bounded in the canonical norm, which dominates the
/// largest coefficient and is √n times as large for random ones: t K √(n/12) √(1 + ‖s‖²) is more
/// than the worst case in all these sets, so the lemma's modulus is refused, and the levels that
/// are accepted satisfy the lemma too. Bootstrapping asks for coefficients only; there 15.4
/// standard deviations of the rounding need a smaller modulus than the lemma.
#[test]
fn switching_is_refused_where_the_canonical_bound_does_not_fit() {
    for (p, r, weight, base_bits) in LEMMA_SETS {
        let params = sparse_set(p, r, weight, base_bits);
        let (chain, t) = (params.chain(), params.plain_modulus());
        let lemma = (4.0 * t as f64 * (1.0 + weight as f64)).log2();
        assert!(
            params.noise().bound().floor(t) + 1.0 > chain.bits(Level(0))
                && chain.bits(Level(0)) > lemma
        );
        let lowest = (1..=chain.top().0)
            .map(Level)
            .find(|&l| chain.bits(l) > params.noise().bound().floor(t) + 2.0)
            .unwrap();
        for seed in 0..20 {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let (secret, bfv) = keys(&params, &mut rng);
            let plain = Plaintext::from_coefficients(
                &params,
                random(&params, params.degree(), &mut rng),
                r,
            )
            .unwrap();
            let c = secret.encrypt(&plain, &mut rng).unwrap();
            assert!(
                matches!(bfv.mod_switch_to(&c, Level(0)), Err(SchemeError::NoiseOverflow { .. })),
                "p = {p}"
            );
            let switched = bfv.mod_switch_to(&c, lowest).unwrap();
            assert_eq!(secret.decrypt(&switched).unwrap(), plain, "p = {p}, seed {seed}");
            assert!(
                secret.measure_noise(&switched).unwrap() <= switched.noise_bound_bits(),
                "p = {p}, seed {seed}"
            );
        }
    }
    for weight in [8, 16, 64] {
        let bootstrap =
            BootstrapSpec { under_main_key: true, ..BootstrapSpec::encapsulated(weight) };
        let secret = SecretKind::Sparse(weight);
        let params =
            build(ParamsSpec { secret, bootstrap: Some(bootstrap), ..small(257, 1, Form::Bfv) });
        let entry = params.noise().bound().encapsulated(257u64, f64::NEG_INFINITY) + 1.0;
        let lemma = (4.0 * 257.0 * (1.0 + weight as f64)).log2();
        assert!(entry < lemma, "weight {weight}: 2^{entry} against 2^{lemma}");
    }
}
