//! AES over LTV with a chain of prime powers.

use everlevel_aes::ByteSliced;
use everlevel_aes::bit_sliced::BitSliced;
use everlevel_scheme::ltv::{
    KeyForm, LtvCiphertext, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey,
};
use everlevel_scheme::{Level, OptIn, Scheme};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::common::rounds::check_rounds;

#[test]
fn two_rounds_with_powers_of_a_prime() {
    let params = LtvParams::named("insecure_ltv-m255", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = LtvSecretKey::generate(&params, &mut rng);
    let powers = ByteSliced::<LtvEvaluator>::automorphisms(params.plain().unwrap().shape());
    let scheme =
        LtvEvaluator::new(LtvEvalKeys::generate(&secret, &powers, KeyForm::Evaluations, &mut rng))
            .unwrap();
    let mut encrypt = |elements: &[u64], key: Option<(usize, Level)>| {
        let level = key.map_or(params.top(), |(_, level)| level);
        secret.encrypt_at(&params.encode_elements(elements).unwrap(), level, &mut rng).unwrap()
    };
    let decrypt = |x: &LtvCiphertext| params.decode_elements(&secret.decrypt(x).unwrap()).unwrap();
    let noise = |x: &LtvCiphertext| secret.measure_noise(x).unwrap();
    check_rounds(&scheme, &BitSliced::new(scheme.slot_shape()), 2, &mut encrypt, decrypt, noise);
    check_rounds(
        &scheme,
        &ByteSliced::new(&scheme, params.top()).unwrap(),
        2,
        encrypt,
        decrypt,
        noise,
    );
    let cost = scheme.cost();
    assert_eq!((cost.products, cost.relinearizations), (2 * 16 * (36 + 4), 2 * 16 * (18 + 4)));
}
