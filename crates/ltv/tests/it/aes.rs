//! Two rounds of AES by bits and by bytes, against another implementation.

use everlevel_aes::bit_sliced::BitSliced;
use everlevel_aes::{Aes, ByteSliced, KeySchedule, KeySize};
use everlevel_ltv::{KeyForm, LtvCiphertext, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey};
use everlevel_scheme::{Level, OptIn, Scheme};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const ROUNDS: usize = 2;

/// Encrypts random blocks and checks all of them, and the noise, after each round.
fn check_rounds(
    secret: &LtvSecretKey,
    scheme: &LtvEvaluator,
    aes: &impl Aes<LtvEvaluator>,
    encryptions: &mut ChaCha20Rng,
) {
    let params = secret.params();
    let mut encrypt = |elements: &Vec<u64>, level: Level| {
        let plaintext = params.encode_elements(elements).unwrap();
        secret.encrypt_at(&plaintext, level, encryptions).unwrap()
    };
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let mut random = || {
        let mut block = [0; 16];
        rng.fill_bytes(&mut block);
        block
    };
    let mut expected: Vec<[u8; 16]> = (0..aes.blocks()).map(|_| random()).collect();
    let schedule = KeySchedule::new(&random()).unwrap();
    let state = aes.encode(&expected).iter().map(|x| encrypt(x, params.top())).collect();
    let mut keys = |round: usize, level: Level| {
        let all = aes.encode(&vec![schedule.round_keys()[round]; aes.blocks()]);
        Ok(all.iter().map(|x| encrypt(x, level)).collect())
    };
    let mut check = |round: usize, state: &[LtvCiphertext]| {
        let key = schedule.round_keys()[round];
        for block in &mut expected {
            let mut out = (*block).into();
            match round {
                0 => out = std::array::from_fn(|i| block[i] ^ key[i]).into(),
                _ => ::aes::hazmat::cipher_round(&mut out, &key.into()),
            }
            *block = out.into();
        }
        let open = |x| params.decode_elements(&secret.decrypt(x).unwrap()).unwrap();
        let elements: Vec<_> = state.iter().map(open).collect();
        assert_eq!(aes.decode(&elements)?, expected, "round {round}");
        let covered = |x| secret.measure_noise(x).unwrap() <= scheme.noise_bound_bits(x);
        assert!(state.iter().all(covered), "round {round}");
        Ok(())
    };
    aes.encrypt(scheme, state, KeySize::Aes128, ROUNDS, &mut keys, &mut check).unwrap();
}

#[test]
fn two_rounds() {
    let params = LtvParams::named("insecure_ltv-m255", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = LtvSecretKey::generate(&params, &mut rng);
    let powers = ByteSliced::<LtvEvaluator>::automorphisms(params.plain().unwrap().shape());
    let keys = LtvEvalKeys::generate(&secret, &powers, KeyForm::Evaluations, &mut rng);
    let scheme = LtvEvaluator::new(keys).unwrap();
    let by_bytes = ByteSliced::new(&scheme, params.top()).unwrap();
    check_rounds(&secret, &scheme, &BitSliced::new(scheme.slot_shape()), &mut rng);
    check_rounds(&secret, &scheme, &by_bytes, &mut rng);
    let cost = scheme.cost();
    assert_eq!((cost.products, cost.relinearizations), (2 * 16 * (36 + 4), 2 * 16 * (18 + 4)));
}
