//! AES data, a client that has the keys and a server that does not: the whole cipher on a small
//! ring with cryptography.

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use everlevel::{
    AesMethod, AesServer, Ciphertext, EncryptedAesKey, OptIn, Params, PublicKey, SecretKey,
    ServerKeys, aes_keys,
};
use everlevel_aes::{Direction, Mode};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// CTR by another implementation of AES.
fn counter_mode(key: &[u8; 16], iv: u128, data: &[u8]) -> Vec<u8> {
    let cipher = Aes128::new(&(*key).into());
    let block = |(i, block): (usize, &[u8])| {
        let mut pad = (iv.wrapping_add(i as u128)).to_be_bytes().into();
        cipher.encrypt_block(&mut pad);
        block.iter().zip(pad).map(|(x, p)| x ^ p).collect::<Vec<_>>()
    };
    data.chunks(16).enumerate().flat_map(block).collect()
}

#[test]
fn a_server_without_secrets_decrypts_aes_into_ciphertexts() {
    let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let secret = SecretKey::generate(&params, &mut rng);
    let plan = aes_keys(&params, &[Direction::Encrypt]).unwrap();
    let mut key = [0; 16];
    rng.fill_bytes(&mut key);
    let public = PublicKey::generate(&secret, &mut rng);
    let uploaded = EncryptedAesKey::encrypt(&key, &public, &mut rng).unwrap();
    assert_eq!(uploaded.round_keys().len(), 11);

    // More than one packed state, part of one by bytes; an end within a block.
    let plain: Vec<u8> = (0..90u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
    let iv = u128::MAX - 2_000_000;
    let data = counter_mode(&key, iv, &plain);
    for method in [AesMethod::Packed, AesMethod::ByteSliced] {
        let keys = ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap();
        let server = AesServer::new(keys, method).unwrap();
        let (mut found, mut steps) = (Vec::new(), 0);
        let mode = Mode::ctr(&iv.to_be_bytes()).unwrap();
        let each = |batch: everlevel_aes::Batch<_>| {
            let open = |x: &Ciphertext| {
                assert!(secret.measure_noise(x).unwrap() <= x.noise_bound_bits());
                assert!(
                    params.noise().capacity(x.meta()) > 100.0,
                    "{:.1} bits left",
                    params.noise().capacity(x.meta())
                );
                secret.decrypt(x).unwrap().decode_elements(&params).unwrap()
            };
            let elements: Vec<_> = batch.state.iter().map(open).collect();
            assert_eq!(batch.offset, found.len() as u64);
            found.extend(server.layout().bytes(&elements, batch.length).unwrap());
            Ok(())
        };
        server.transcipher(&uploaded, mode, data.chunks(7), &mut |_| steps += 1, each).unwrap();
        assert_eq!(found, plain, "{method:?}");
        let states = plain.len().div_ceil(server.layout().capacity());
        assert_eq!(steps, 11 * states, "{method:?}");
    }
}

#[test]
fn methods_are_chosen_by_length() {
    let params = Params::named("aes-bgv-leveled", OptIn::SecureOnly).unwrap();
    let method = |bytes| AesMethod::for_bytes(params.slot_shape(), bytes).unwrap();
    assert_eq!([16, 1920, 8 * 1920].map(method), [AesMethod::Packed; 3]);
    assert_eq!([8 * 1920 + 1, 30_720, 1 << 20].map(method), [AesMethod::ByteSliced; 3]);
    let none = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    assert!(
        aes_keys(&none, &[Direction::Encrypt]).is_err()
            && AesMethod::for_bytes(none.slot_shape(), 1).is_err()
    );
    let sizes = aes_keys(&params, &[Direction::Encrypt]).unwrap().seeded_bytes(&params);
    println!(
        "server keys of {} for AES: {:.2} GiB seeded",
        params.name(),
        sizes as f64 / f64::from(1 << 30)
    );
    assert!(sizes < 4 << 30);
}
