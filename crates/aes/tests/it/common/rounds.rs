//! Some rounds with cryptography, with keys encrypted at the levels that a rehearsal foretells.

use everlevel_aes::{Aes, Cipher, Direction, KeySchedule, KeySize, Mode, RoundKeys, Transcipher};
use everlevel_bgv::{Ciphertext, Evaluator, SecretKey, ServerKeys};
use everlevel_scheme::{
    Cost, ExactScheme, KeyPlan, Level, NoOp, Params, Plaintext, Scheme, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::*;

/// A secret key, and a server with its keys of a plan.
pub fn party(params: &Params, plan: &KeyPlan, rng: &mut ChaCha20Rng) -> (SecretKey, Evaluator) {
    let secret = SecretKey::generate(params, rng);
    let keys = ServerKeys::generate(&secret, plan, rng, |_, _| ()).unwrap();
    (secret, Evaluator::new(keys))
}

/// Encrypts random blocks with `rounds` rounds, and checks all of them after each round, and the
/// noise.
pub fn check_rounds<S: ExactScheme>(
    scheme: &S,
    aes: &impl Aes<S>,
    rounds: usize,
    mut encrypt: impl FnMut(&[u64], Option<(usize, Level)>) -> S::Ciphertext,
    decrypt: impl Fn(&S::Ciphertext) -> Vec<u64>,
    noise: impl Fn(&S::Ciphertext) -> f64,
) {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let mut expected: Vec<[u8; 16]> =
        (0..aes.blocks()).map(|_| random(&mut rng, 16).try_into().unwrap()).collect();
    let schedule = KeySchedule::new(&random(&mut rng, 16)).unwrap();
    let state = aes.encode(&expected).iter().map(|x| encrypt(x, None)).collect();
    let mut keys = |round: usize, level: Level| {
        Ok(aes
            .encode(&vec![schedule.round_keys()[round]; aes.blocks()])
            .iter()
            .map(|x| encrypt(x, Some((round, level))))
            .collect())
    };
    let mut check = |round: usize, state: &[S::Ciphertext]| {
        let key = schedule.round_keys()[round];
        for block in &mut expected {
            let mut out = (*block).into();
            match round {
                0 => out = std::array::from_fn(|i| block[i] ^ key[i]).into(),
                _ => aes::hazmat::cipher_round(&mut out, &key.into()),
            }
            *block = out.into();
        }
        let elements: Vec<_> = state.iter().map(&decrypt).collect();
        assert_eq!(aes.decode(&elements)?, expected, "round {round}");
        assert!(state.iter().all(|x| noise(x) <= scheme.noise_bound_bits(x)));
        Ok(())
    };
    aes.encrypt(scheme, state, KeySize::Aes128, rounds, &mut keys, &mut check).unwrap();
}

/// The levels of the round keys, on a scheme without values.
pub fn rehearse(planner: &NoOp, aes: &impl Aes<NoOp>, rounds: usize) -> Vec<Level> {
    let zero = Plaintext::encode(planner.params(), &[]).unwrap();
    let blank = |level| Ok(planner.encrypt_at(&zero, level)?);
    aes.round_key_levels(planner, blank(top(planner)).unwrap(), cipher(rounds), blank).unwrap()
}

/// Two rounds, planned on the no-op scheme, with the round keys encrypted at the levels foretold
/// there.
pub fn two_rounds<P: Aes<NoOp>, A: Aes<Evaluator>>(
    params: &Params,
    plan: impl Fn(&NoOp) -> P,
    aes: impl Fn(&Evaluator) -> A,
) {
    let planner = NoOp::blank(params);
    let levels = rehearse(&planner, &plan(&planner), 2);

    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let (secret, scheme) = party(params, &planner.key_plan(), &mut rng);
    let encrypt = |elements: &[u64], key: Option<(usize, Level)>| {
        let level = key.map_or(params.chain().top(), |(round, level)| {
            assert_eq!(level, levels[round], "as foretold");
            level
        });
        secret
            .encrypt_at(&Plaintext::encode_elements(params, elements).unwrap(), level, &mut rng)
            .unwrap()
    };
    let decrypt = |x: &Ciphertext| secret.decrypt(x).unwrap().decode_elements(params).unwrap();
    let aes = aes(&scheme);
    let before = scheme.cost();
    check_rounds(&scheme, &aes, 2, encrypt, decrypt, |x| secret.measure_noise(x).unwrap());
    let counts = |cost: Cost| (cost.products, cost.relinearizations, cost.key_switches);
    assert_eq!(counts(scheme.cost() - before), counts(planner.cost()));
}

/// The first two rounds of a mode's AES in plain, or all of them.
fn rounds_of(key: &[u8], cipher: Cipher, input: [u8; 16]) -> [u8; 16] {
    if cipher.rounds == cipher.size.rounds() {
        return oracle(key, input, cipher.direction);
    }
    let schedule = KeySchedule::new(key).unwrap();
    let key = |number: usize| schedule.round_keys()[cipher.key(number)];
    let mut x: aes::Block = std::array::from_fn(|i| input[i] ^ key(0)[i]).into();
    assert_eq!(cipher.rounds, 2);
    for number in 1..=2 {
        let mut key: aes::Block = key(number).into();
        match cipher.direction {
            Direction::Encrypt => aes::hazmat::cipher_round(&mut x, &key),
            Direction::Decrypt => {
                // This one mixes columns after it has undone SubBytes, and adds the key then.
                aes::hazmat::inv_mix_columns(&mut key);
                aes::hazmat::equiv_inv_cipher_round(&mut x, &key);
            }
        }
    }
    if cipher.direction == Direction::Decrypt {
        aes::hazmat::mix_columns(&mut x);
    }
    x.into()
}

/// The first rounds of a mode, with keys encrypted at the levels foretold.
pub fn transcipher_rounds<P: Aes<NoOp>, A: Aes<Evaluator>>(
    params: &Params,
    plan: impl Fn(&NoOp) -> P,
    aes: impl Fn(&Evaluator) -> A,
    mode: &Mode,
    rounds: usize,
) {
    let planner = NoOp::blank(params);
    let (zero, start) = (Plaintext::encode(params, &[]).unwrap(), params.chain().top());
    let cipher = Cipher::new(KeySize::Aes128, mode.direction()).reduced(rounds);
    let blank = |level| Ok(planner.encrypt_at(&zero, level)?);
    let levels =
        Transcipher::key_levels(&planner, &plan(&planner), cipher, start, None, blank).unwrap();

    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let (secret, scheme) = party(params, &planner.key_plan(), &mut rng);
    let aes = aes(&scheme);
    let key = random(&mut rng, 16);
    let schedule = KeySchedule::new(&key).unwrap();
    let encrypt = |x: &Vec<u64>, level| {
        secret.encrypt_at(&Plaintext::encode_elements(params, x)?, level, &mut rng)
    };
    let mut encrypt = encrypt;
    let keys = schedule.round_keys().iter().zip(&levels).map(|(key, level)| {
        aes.encode(&vec![*key; aes.blocks()])
            .iter()
            .map(|x| encrypt(x, *level))
            .collect::<Result<Vec<_>, _>>()
            .unwrap()
    });
    let keys = RoundKeys::<Evaluator>::new(schedule.size(), keys.collect()).unwrap();

    let data = random(&mut rng, aes.layout().capacity());
    let blocks = mode.clone().next_blocks(&data).unwrap();
    let expected = blocks.inputs.iter().zip(&blocks.pads).flat_map(|(input, pad)| {
        let out = rounds_of(&key, cipher, *input);
        std::array::from_fn::<u8, 16, _>(|i| out[i] ^ pad[i])
    });
    let mut source = keys.source(&scheme);
    let mut run = Transcipher::new(&scheme, &aes, keys.size(), mode.clone(), start, &mut source)
        .unwrap()
        .reduced(rounds);
    let before = scheme.cost();
    let batch = run.next_batch(&data, &mut |_| ()).unwrap();
    let (cost, planned) = (scheme.cost() - before, planner.cost());
    assert_eq!((cost.products, cost.key_switches), (planned.products, planned.key_switches));
    let elements: Vec<_> = batch
        .state
        .iter()
        .map(|x| secret.decrypt(x).unwrap().decode_elements(params).unwrap())
        .collect();
    assert!(
        aes.layout().bytes(&elements, data.len()).unwrap().into_iter().eq(expected),
        "{mode:?}"
    );
    for x in &batch.state {
        assert!(secret.measure_noise(x).unwrap() <= scheme.noise_bound_bits(x));
    }
}

/// Refuses round keys one ciphertext of which belongs to other parameters.
pub fn check_foreign_keys<A: Aes<Evaluator>>(aes: impl Fn(&Evaluator) -> A) {
    let (params, others) = (bgv(2, 2), lines(2));
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    let planner = NoOp::blank(&params);
    let (secret, scheme) = party(&params, &planner.key_plan(), &mut rng);
    let aes = aes(&scheme);
    let other = SecretKey::generate(&others, &mut rng);
    let zero = other.encrypt(&Plaintext::encode(&others, &[]).unwrap(), &mut rng).unwrap();
    let right = secret.encrypt(&Plaintext::encode(&params, &[]).unwrap(), &mut rng).unwrap();
    let mut keys = |_: usize, _: Level| {
        Ok([vec![right.clone(); aes.width() - 1], vec![zero.clone()]].concat())
    };
    let mut run =
        Transcipher::new(&scheme, &aes, KeySize::Aes128, Mode::ecb(), Level(1), &mut keys).unwrap();
    let refused = run.next_batch(&[0; 16], &mut |_| ()).err();
    let wrong = SchemeError::WrongParams { object: "the ciphertext", name: params.name().into() };
    assert_eq!(refused, Some(wrong.into()));
}
