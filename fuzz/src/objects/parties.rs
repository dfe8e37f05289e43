//! Whose objects the fuzz targets read: owners and servers of rings as small as there are.

use std::sync::OnceLock;

use everlevel_bgv::{Ciphertext, Evaluator, PublicKey, SecretKey, ServerKeys};
use everlevel_ring::GaloisElement;
use everlevel_scheme::spec::{Assumption, BootstrapSpec, SecretKind};
use everlevel_scheme::{Arithmetic, Form, KeyPlan, Level, OptIn, Params, ParamsSpec, Plaintext};
use everlevel_wire::columns::{StoredColumn, StoredDigit};
use everlevel_wire::uploads::{self, ModeKind, StoredUpload};
use everlevel_wire::{
    Manifest, ManifestKey, Metadata, ParamsId, WireError, ciphertexts, columns,
    params as wire_params, plaintexts, product_results, products, public_key, results, secret_key,
    server_keys,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// The key of all manifests here.
pub fn manifest_key() -> Result<ManifestKey, WireError> {
    ManifestKey::from_bytes(&[13; 32])
}

/// The sets that bytes are read for, as small as rings are: BGV with bootstrapping keys, BFV, LTV
/// over NTRU, and an index with axes.
fn sets() -> Vec<Params> {
    let spec = |name: &str, index: u64, plain_prime: u64, form: Form, assumption: Assumption| {
        let secret = if assumption == Assumption::Ntru {
            SecretKind::TruncatedGaussian
        } else {
            SecretKind::UniformTernary
        };
        let bootstrap =
            (form == Form::Bgv && assumption == Assumption::Rlwe && index.is_power_of_two())
                .then(|| BootstrapSpec::encapsulated(2));
        ParamsSpec {
            base_bits: 36,
            word_bits: 40,
            words: 2,
            form,
            assumption,
            secret,
            bootstrap,
            ..ParamsSpec::new(name, index, plain_prime)
        }
    };
    let all = [
        spec("insecure_fuzz-bgv", 32, 97, Form::Bgv, Assumption::Rlwe),
        spec("insecure_fuzz-bfv", 32, 17, Form::Bfv, Assumption::Rlwe),
        spec("insecure_fuzz-ltv", 32, 97, Form::Bgv, Assumption::Ntru),
        spec("insecure_fuzz-odd", 15, 2, Form::Bgv, Assumption::Rlwe),
    ];
    all.map(|spec| Params::new(spec, OptIn::InsecureResearch).expect("a set that holds together"))
        .into()
}

/// Owner and server of one of the sets.
pub struct Party {
    pub id: ParamsId,
    pub secret: SecretKey,
    pub message: Plaintext,
    pub fresh: Ciphertext,
    /// An automorphism that there is a key for.
    pub automorphism: GaloisElement,
    pub evaluator: Evaluator,
}

impl Party {
    fn new(set: &Params) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(set, &mut rng);
        let coefficients =
            (0..set.degree() as u64).map(|i| (7 * i + 1) % set.plain_modulus()).collect();
        let message =
            Plaintext::from_coefficients(set, coefficients, 1).expect("a plaintext of the set");
        let fresh = secret.encrypt(&message, &mut rng).expect("a plaintext of the set");
        let automorphism =
            GaloisElement::new(set.ring().index(), 7).expect("a unit modulo the index");
        let moved = KeyPlan::automorphisms_up_to(set, [automorphism], Level(1));
        let mut plan = KeyPlan::relinearization(set).merge(&moved);
        plan.bootstrap = set.spec().bootstrap.is_some();
        let keys =
            ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).expect("a plan of the set");
        Party {
            id: ParamsId::of(set),
            secret,
            message,
            fresh,
            automorphism,
            evaluator: Evaluator::new(keys),
        }
    }
}

pub fn parties() -> &'static [Party] {
    static ALL: OnceLock<Vec<Party>> = OnceLock::new();
    ALL.get_or_init(|| sets().iter().map(Party::new).collect())
}

/// An object of every kind and set with its name: what fuzzing begins with.
///
/// # Errors
/// What writing refuses, which would be a mistake here.
pub fn seeds() -> Result<Vec<(String, Vec<u8>)>, WireError> {
    let metadata = Metadata::from([("values".into(), "16".into())]);
    let mut all = Vec::new();
    for party in parties() {
        let set = party.secret.params();
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut plan = KeyPlan::relinearization_up_to(set, Level(1));
        plan.bootstrap = set.spec().bootstrap.is_some();
        let keys = ServerKeys::generate(&party.secret, &plan, &mut rng, |_, _| ())?;
        let public = PublicKey::generate(&party.secret, &mut rng);
        let published = public.encrypt_at(&party.message, Level(1), &mut rng)?;
        let compact = published.compact_for_decryption(set)?;
        let encrypted = ciphertexts::to_bytes(set, &[party.fresh.clone(), published], &metadata)?;
        let mut manifest = Manifest::new(set);
        manifest.add(&encrypted)?;
        let digits = columns_of(&party.fresh, set.slots());
        let cut: Vec<_> =
            digits.iter().map(|x| x.compact_for_decryption(set)).collect::<Result<_, _>>()?;
        let low = party.secret.encrypt_at(&party.message, Level(2), &mut rng)?;
        let square = party.evaluator.mul_lazy_aligned(&low, &low)?;
        let mut stated = metadata.clone();
        columns::state_indexes(&["age"], &mut stated);
        for (kind, bytes) in [
            ("columns", columns::to_bytes(set, &digits, &metadata)?),
            ("indexed_columns", columns::to_bytes(set, &with_truth(digits.clone()), &stated)?),
            ("column_results", columns::results_to_bytes(set, &cut, &metadata)?),
            ("params", wire_params::to_bytes(set, &metadata)?),
            ("secret_key", secret_key::expose_to_bytes(&party.secret, &metadata)?.to_vec()),
            ("public_key", public_key::to_bytes(&public, &metadata)?),
            ("server_keys", server_keys::to_bytes(&keys, &metadata)?),
            (
                "plaintexts",
                plaintexts::to_bytes(set, std::slice::from_ref(&party.message), &metadata)?,
            ),
            ("ciphertexts", encrypted),
            ("manifest", manifest.to_bytes(&manifest_key()?)?),
            (
                "product_results",
                product_results::to_bytes(set, &[square.compact_for_decryption(set)?], &metadata)?,
            ),
            ("products", products::to_bytes(set, &[square], &metadata)?),
            ("results", results::to_bytes(set, &[compact], &metadata)?),
            ("upload", uploads::to_bytes(set, &upload_for(&party.secret), &metadata)?),
        ] {
            all.push((format!("{}.{kind}", set.name()), bytes));
        }
    }
    Ok(all)
}

/// Nineteen bytes in counter mode.
fn upload_for(secret: &SecretKey) -> StoredUpload {
    let (mode, owner) = (ModeKind::Ctr, Some(secret.id()));
    StoredUpload { mode, iv: vec![0xc0; 16], aes_key: [0xa5; 16], owner, data: (0..19).collect() }
}

/// The same columns with a truth value of the index of one.
fn with_truth([total, age]: [StoredColumn; 2]) -> [StoredColumn; 3] {
    let name = columns::index_column(&age.name, 0, 5);
    let bit = StoredDigit { low: 0, high: 1, pad: 0, ..age.digits[0].clone() };
    let truth = StoredColumn { name, low: 0, high: 1, digits: vec![bit], ..age.clone() };
    [total, age, truth]
}

/// A column of two digits, one of them public, and a total.
fn columns_of(x: &Ciphertext, slots: usize) -> [StoredColumn; 2] {
    let (ciphertext, stride) = (Some(x.clone()), slots as u32);
    let encrypted = StoredDigit { power: 0, stride: 0, low: 0, high: 15, pad: 1, ciphertext };
    let public = StoredDigit { power: 1, low: 2, high: 2, pad: 2, ciphertext: None, ..encrypted };
    let part = StoredDigit { stride, pad: 0, ..encrypted.clone() };
    let column = StoredColumn {
        name: "age".into(),
        length: Some(2),
        divisor: None,
        low: 32,
        high: 47,
        anchor: 0,
        digits: vec![encrypted, public],
    };
    let (length, divisor) = (None, Some(3));
    let (name, digits, low, high) = ("total".into(), vec![part], 0, 4);
    [StoredColumn { name, length, divisor, low, high, digits, ..column.clone() }, column]
}
