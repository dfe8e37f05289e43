//! AES data, a client that has the keys and a server that does not: the whole cipher on a small
//! ring with cryptography.

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use everlevel::files::{BoundPolicy, Bytes, Metadata, ReadOptions};
use everlevel::{
    AesKeyId, AesMethod, AesServer, AesUpload, Ciphertext, EncryptedAesKey, Error, Keys, ModeKind,
    OptIn, Params, ParamsSpec, PublicKey, SecretKey, ServerKeys, aes_keys,
};
use everlevel_aes::Direction;
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
    // 17 · 97: two lines of 16 slots in GF(2^48), half of what insecure_aes-m4947 has.
    let spec = ParamsSpec {
        name: "insecure_aes-m1649".into(),
        index: 1649,
        ..ParamsSpec::named("insecure_aes-m4947").unwrap()
    };
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let secret = SecretKey::generate(&params, &mut rng);
    let plan = aes_keys(&params, &[Direction::Encrypt]).unwrap();
    let mut key = [0; 16];
    rng.fill_bytes(&mut key);
    let public = PublicKey::generate(&secret, &mut rng);
    let uploaded = EncryptedAesKey::encrypt(&key, &public, &mut rng).unwrap();
    assert_eq!(uploaded.round_keys().len(), 11);

    // More than one packed state, part of one by bytes; an end within a block.
    let plain: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
    let iv = u128::MAX - 2_000_000;
    let data = counter_mode(&key, iv, &plain);
    let (mode, id) = (ModeKind::Ctr, AesKeyId::of(&key).unwrap());
    let upload = AesUpload::of_data(mode, &iv.to_be_bytes(), id, secret.id(), data).unwrap();
    let keys = Keys::from(ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap());
    for method in [AesMethod::Packed, AesMethod::ByteSliced] {
        let server = AesServer::new(keys.clone(), method).unwrap();
        let (mut found, mut steps) = (Vec::new(), 0);
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
        match method {
            AesMethod::Packed => server.transcipher(&uploaded, &upload, &mut |_| steps += 1, each),
            _ => {
                let (start, data) = (upload.start().unwrap(), upload.data().chunks(7));
                server.transcipher_unchecked(&uploaded, start, data, &mut |_| steps += 1, each)
            }
        }
        .unwrap();
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

/// Keys of two owners, an encrypted AES key of the first, and what they refuse.
#[test]
fn data_of_another_key_are_refused() {
    let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let [a, b] = [1, 2].map(|_| SecretKey::generate(&params, &mut rng));
    let (key, other) = ([7; 24], [8; 24]);
    let upload = AesUpload::encrypt(&key, b"some data", a.id(), &mut rng).unwrap();
    let encrypted = EncryptedAesKey::encrypt_secretly(&key, &a, &mut rng).unwrap();
    assert_eq!(upload.check(&encrypted), Ok(()));
    let refused = |upload: &AesUpload, encrypted: &EncryptedAesKey| {
        let error = upload.check(encrypted).unwrap_err();
        (error.code(), error.to_string())
    };

    // Another AES key.
    let wrong = EncryptedAesKey::encrypt_secretly(&other, &a, &mut rng).unwrap();
    let (code, told) = refused(&upload, &wrong);
    assert_eq!(code, "aes.wrong-key");
    let ids = [key, other].map(|key| AesKeyId::of(&key).unwrap().to_string());
    assert!(ids.iter().all(|id| told.contains(id)), "{told}");

    // An AES key that nothing is known of, as in files of earlier versions.
    let unnamed = EncryptedAesKey::from_round_keys(encrypted.round_keys().to_vec()).unwrap();
    assert_eq!((unnamed.id(), refused(&upload, &unnamed).0), (None, "aes.unknown-key"));

    // Another owner: of the encrypted key, and of the server keys.
    let theirs = EncryptedAesKey::encrypt_secretly(&key, &b, &mut rng).unwrap();
    let (code, told) = refused(&upload, &theirs);
    assert_eq!(code, "scheme.wrong-key");
    assert!([&a, &b].iter().all(|key| told.contains(&key.id().to_string())), "{told}");
    let keys = ServerKeys::generate(&b, &everlevel::KeyPlan::default(), &mut rng, |_, _| ());
    let server = AesServer::new(keys.unwrap(), AesMethod::ByteSliced).unwrap();
    let found = server.transcipher(&encrypted, &upload, &mut |_| (), |_| Ok(()));
    assert_eq!(found.unwrap_err().code(), "scheme.wrong-key");

    // What the upload does not state.
    assert_eq!(upload.expect(Some(ModeKind::Ctr), Some(upload.iv())), Ok(()));
    for (mode, iv) in
        [(Some(ModeKind::Cbc), None), (None, Some(&[0; 16][..])), (None, Some(&[][..]))]
    {
        assert_eq!(upload.expect(mode, iv).unwrap_err().code(), "aes.contradiction");
    }
}

#[test]
fn uploads_and_encrypted_keys_are_read_as_they_were_written() {
    let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(13);
    let secret = SecretKey::generate(&params, &mut rng);
    let public = PublicKey::generate(&secret, &mut rng);
    let (key, none) = ([9; 16], Metadata::new());
    let stated = ReadOptions::with_bounds(BoundPolicy::Stated);
    for (encrypted, by) in [
        (EncryptedAesKey::encrypt(&key, &public, &mut rng), "public"),
        (EncryptedAesKey::encrypt_secretly(&key, &secret, &mut rng), "secret"),
    ] {
        let encrypted = encrypted.unwrap();
        let bytes = encrypted.to_bytes(&params).unwrap();
        let (found, metadata) = EncryptedAesKey::from_bytes_with(&params, &bytes, &stated).unwrap();
        assert_eq!((found.id(), found.owner()), (encrypted.id(), Some(secret.id())));
        assert_eq!(metadata["encryption"], by);
        assert_eq!(found.to_bytes(&params).unwrap(), bytes);
        let column = vec![encrypted.round_keys()[0].clone()].to_bytes(&params).unwrap();
        let error = EncryptedAesKey::from_bytes_with(&params, &column, &stated).err().unwrap();
        assert_eq!(error.code(), "wire.malformed");
        // A key that is not named gets no name from the metadata of another one's file.
        let unnamed = EncryptedAesKey::from_round_keys(encrypted.round_keys().to_vec()).unwrap();
        let bytes = unnamed.to_bytes_with(&params, &metadata).unwrap();
        let (found, metadata) = EncryptedAesKey::from_bytes_with(&params, &bytes, &stated).unwrap();
        assert_eq!((found.id(), &metadata["encryption"][..]), (None, by));
    }

    // Counter mode by another hand, and back.
    let plain: Vec<u8> = (0..77).collect();
    let upload = AesUpload::encrypt(&key, &plain, public.owner(), &mut rng).unwrap();
    let iv = u128::from_be_bytes(upload.iv().try_into().unwrap());
    assert_eq!((iv as u32, counter_mode(&key, iv, upload.data())), (0, plain.clone()));
    let again = AesUpload::encrypt(&key, &plain, public.owner(), &mut rng).unwrap();
    assert_ne!(again.iv(), upload.iv());
    for size in [24, 32] {
        let longer = AesUpload::encrypt(&vec![9; size], &plain, public.owner(), &mut rng).unwrap();
        assert!(longer.aes_key_id() != upload.aes_key_id() && longer.data() != plain);
    }
    let bytes = upload.to_bytes(&params).unwrap();
    let read = |bytes: &[u8]| AesUpload::from_bytes_with(&params, bytes, &ReadOptions::default());
    assert_eq!(read(&bytes).unwrap(), (upload, none.clone()));
    assert_eq!(read(&bytes[..bytes.len() - 1]).unwrap_err().code(), "wire.truncated");

    // What no mode takes; a counter that would wrap is refused in bytes as well.
    let of_data = |mode, iv: &[u8], data: &[u8]| {
        AesUpload::of_data(mode, iv, AesKeyId::of(&key)?, public.owner(), data.to_vec())
    };
    let code = |found: Result<AesUpload, Error>| found.unwrap_err().code();
    assert_eq!(code(of_data(ModeKind::Gcm, &[0; 16], &plain)), "aes.nonce-length");
    assert_eq!(code(of_data(ModeKind::Ecb, &[0; 16], &plain[..64])), "aes.nonce-length");
    assert_eq!(code(of_data(ModeKind::Cbc, &[0; 16], &plain)), "aes.data-length");
    assert_eq!(code(of_data(ModeKind::Ctr, &[0xff; 16], &plain)), "aes.counter-overflow");
    assert_eq!(code(of_data(ModeKind::Ctr, &[0xff; 16], &[])), "circuit.empty");
    assert!(of_data(ModeKind::Ecb, &[], &plain[..64]).is_ok());
    assert_eq!(
        code(AesUpload::encrypt(&key[..15], &plain, secret.id(), &mut rng)),
        "aes.key-length"
    );
    let stored = everlevel_wire::uploads::StoredUpload {
        mode: ModeKind::Ctr,
        iv: vec![0xff; 16],
        aes_key: [0; 16],
        owner: public.owner(),
        data: plain,
    };
    let bytes = everlevel_wire::uploads::to_bytes(&params, &stored, &none).unwrap();
    assert_eq!(read(&bytes).unwrap_err().code(), "aes.counter-overflow");
}
