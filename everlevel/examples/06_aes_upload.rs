//! Example 6. AES upload: a column of 16-bit integers that its owner keeps under AES-CTR. A server
//! takes it from AES to BGV and adds it up, without any key.
//!
//! What travels: once the server keys, in a file from which the server reads as it needs them, and
//! the AES key, encrypted; then data in the size that they have under AES, with a label of
//! 174 bytes; back one compact ciphertext.
//!
//! `cargo run --release --example 06_aes_upload`; with `-- --secure` at 128 bits:
//! 15,360 integers in 1,920 blocks, a file of 3.8 GB and many gigabytes of memory.
use std::error::Error;

use everlevel::{OptIn, Params};

mod owner {
    use std::error::Error;
    use std::path::Path;

    use aes::Aes128;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    use everlevel::files::{Bytes, Existing, Metadata, generate_to_file};
    use everlevel::lab::{Evaluator, PowerSum};
    use everlevel::{
        AesKeyId, AesUpload, Client, Direction, EncryptedAesKey, IntegersFromBytes, KeyPlan,
        ModeKind, Params, aes_keys, system_rng,
    };

    /// The first counter block.
    const IV: [u8; 16] = *b"account 4711\0\0\0\0";

    /// Has the secret key of the scheme, and that of AES.
    pub struct Owner {
        client: Client,
        key: [u8; 16],
    }

    impl Owner {
        pub fn new(params: &Params, key: [u8; 16]) -> Result<Self, Box<dyn Error>> {
            Ok(Owner { client: Client::new(params, &mut system_rng()?), key })
        }

        /// Once: keys for AES in counter mode, for integers from bytes, and for the sum of all
        /// slots.
        pub fn write_server_keys(&self, path: &Path) -> Result<(), Box<dyn Error>> {
            let params = self.client.params();
            let shape = params.slot_shape();
            let mut elements = IntegersFromBytes::<Evaluator>::automorphisms(shape);
            for dimension in 0..shape.dimensions().len() {
                elements.extend(PowerSum::along(shape, dimension)?.galois_elements());
            }
            elements.retain(|g| !g.is_identity());
            let plan = aes_keys(params, &[Direction::Encrypt])?;
            let plan =
                plan.merge(&KeyPlan::automorphisms_up_to(params, elements, params.chain().top()));
            let (secret, none) = (self.client.secret(), Metadata::new());
            generate_to_file(
                path,
                Existing::Keep,
                secret,
                &plan,
                &none,
                &mut system_rng()?,
                |_, _| (),
            )?;
            Ok(())
        }

        /// Once: the AES key under encryption.
        pub fn encrypted_key(&self) -> Result<Vec<u8>, Box<dyn Error>> {
            let key = EncryptedAesKey::encrypt_secretly(
                &self.key,
                self.client.secret(),
                &mut system_rng()?,
            )?;
            Ok(key.to_bytes(self.client.params())?)
        }

        /// AES-CTR as ever, by another implementation of it ([`AesUpload::encrypt`] is the one
        /// here), and what the server has to know of the data.
        pub fn upload(&self, movements: &[i16]) -> Result<Vec<u8>, Box<dyn Error>> {
            let mut data: Vec<u8> = movements.iter().flat_map(|x| x.to_be_bytes()).collect();
            let cipher = Aes128::new(&self.key.into());
            for (block, counter) in data.chunks_mut(16).zip(u128::from_be_bytes(IV)..) {
                let mut keystream = counter.to_be_bytes().into();
                cipher.encrypt_block(&mut keystream);
                block.iter_mut().zip(keystream).for_each(|(x, k)| *x ^= k);
            }
            let (id, owner) = (AesKeyId::of(&self.key)?, self.client.secret().id());
            let upload = AesUpload::of_data(ModeKind::Ctr, &IV, id, owner, data)?;
            Ok(upload.to_bytes(self.client.params())?)
        }

        pub fn read(&self, answer: &[u8]) -> Result<i16, Box<dyn Error>> {
            let found = self.client.read_answer(answer)?;
            let total = found.first().ok_or("an answer without a sum")?;
            Ok(total.decode(self.client.params())?[0] as u16 as i16)
        }
    }
}

mod server {
    use std::error::Error;
    use std::path::Path;

    use everlevel::files::{BoundPolicy, Bytes, Encryption, ReadOptions};
    use everlevel::lab::{Arithmetic, Scheme, total_sum};
    use everlevel::{
        AesMethod, AesServer, AesUpload, ByteOrder, Ciphertext, EncryptedAesKey, IntegersFromBytes,
        Keys, Params,
    };

    /// How many bytes of keys stay in memory.
    const CACHE: u64 = 4 << 30;

    /// AES-CTR undone under encryption, pairs of bytes as integers modulo 2^16, and the sum of them
    /// all. The data are whole blocks, as many as fill all slots, or a multiple: what other slots
    /// hold would be added, too. An upload under another AES key is refused.
    pub fn balance(
        params: &Params,
        keys: &Path,
        key: &[u8],
        upload: &[u8],
    ) -> Result<Vec<u8>, Box<dyn Error>> {
        let keys = Keys::open(params, keys, CACHE)?;
        let fresh = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret));
        let (key, _) = EncryptedAesKey::from_bytes_with(params, key, &fresh)?;
        let upload = AesUpload::from_bytes(params, upload)?;

        let server = AesServer::new(keys, AesMethod::ByteSliced)?;
        let scheme = server.evaluator();
        let integers = IntegersFromBytes::new(scheme, 2, 16, ByteOrder::Big, params.chain().top())?;
        let mut sum: Option<Ciphertext> = None;
        server.transcipher(&key, &upload, &mut |_| (), |batch| {
            for pair in batch.state.chunks(2) {
                let column = integers.evaluate(scheme, &pair.iter().collect::<Vec<_>>())?;
                sum = Some(sum.take().map_or(Ok(column.clone()), |sum| scheme.add(&sum, &column))?);
            }
            Ok(())
        })?;
        let total = total_sum(scheme, &sum.ok_or("no data")?)?;
        println!("{:.0} bits left", scheme.capacity_bits(&total));
        Ok(vec![total.compact_for_decryption(params)?].to_bytes(params)?)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut spec = everlevel::ParamsSpec::named("aes-bgv-leveled")?;
    let params = match std::env::args().any(|a| a == "--secure") {
        true => Params::new(spec, OptIn::SecureOnly)?,
        false => {
            // A toy ring of 32 slots.
            (spec.name, spec.index) = ("insecure_aes-m1649".into(), 1649);
            Params::new(spec, OptIn::InsecureResearch)?
        }
    };
    let owner = owner::Owner::new(&params, *b"an AES-128 key!!")?;
    let directory = tempfile::tempdir()?;
    let keys = directory.path().join("server.keys");
    owner.write_server_keys(&keys)?;
    let key = owner.encrypted_key()?;

    // Movements of an account: eight in a block, a block a slot.
    let movements: Vec<i16> =
        (0..8 * params.slots() as i32).map(|i| (i * 7919 % 2003 - 1000) as i16).collect();
    let upload = owner.upload(&movements)?;
    println!(
        "bytes: server keys {}, AES key {}, upload {}",
        keys.metadata()?.len(),
        key.len(),
        upload.len()
    );

    let answer = server::balance(&params, &keys, &key, &upload)?;
    let total = owner.read(&answer)?;
    assert_eq!(total, movements.iter().fold(0, |sum: i16, x| sum.wrapping_add(*x)));
    println!(
        "{} movements under AES add up to {total} modulo 2^16, in an answer of {} bytes",
        movements.len(),
        answer.len()
    );
    Ok(())
}
