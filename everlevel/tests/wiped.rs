//! Secrets are not left in memory: what is freed while keys are made, used, stored and dropped is
//! looked at.
//!
//! An allocator copies every block that is given back; limbs of polynomials, which a pool of the
//! ring keeps, are taken out of it. Both are searched for what a secret looks like in memory. Each
//! search has a control: the same without wiping is found.
#![allow(unsafe_code, reason = "an allocator; each block says why it is sound")]

use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use everlevel::{
    AesMethod, Ciphertext, EncryptedAesKey, KeyPlan, OptIn, Params, Plaintext, PublicKey,
    SecretKey, ServerKeys,
};
use everlevel_bgv::EvalKeys;
use everlevel_ring::cpu::{limb, limbs, limbs_mut};
use everlevel_ring::{Coeff, Cpu, Eval, Limb, Poly, sample};
use everlevel_wire::file::{Existing, read_file, write_secret_file};
use everlevel_wire::{Metadata, ReadOptions, secret_key};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use zeroize::Zeroizing;

/// The most bytes of freed blocks that are kept.
const ROOM: usize = 1 << 29;

static RECORDING: AtomicBool = AtomicBool::new(false);
static USED: AtomicUsize = AtomicUsize::new(0);
static COPIES: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// The system's allocator; keeps copies of the blocks that are freed.
struct Recorder;

// SAFETY: every block comes from the system's allocator and goes back to it with its own layout.
// The default `realloc` is a new block, a copy and a freed block.
unsafe impl GlobalAlloc for Recorder {
    unsafe fn alloc(&self, layout: Block) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is that of the system's allocator. Zeroed,
        // so that copies are of bytes that were written.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Block) -> *mut u8 {
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Block) {
        if RECORDING.load(SeqCst) {
            // Blocks keep the alignment of words.
            let at = USED.fetch_add(layout.size().next_multiple_of(8), SeqCst);
            if at + layout.size() <= ROOM {
                // SAFETY: the block has `size` bytes until it is freed below; the places from `at`
                // on belong to this call alone and lie within the `ROOM` bytes of the copies.
                unsafe {
                    COPIES.load(SeqCst).add(at).copy_from_nonoverlapping(block, layout.size())
                }
            }
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Recorder = Recorder;

/// One test at a time: all of them share the allocator.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work`; what it gave and what was freed meanwhile, on all threads.
fn freed<T>(work: impl FnOnce() -> T) -> (T, Vec<u8>) {
    static BUFFER: Mutex<Option<&'static mut [u8]>> = Mutex::new(None);
    let mut buffer = BUFFER.lock().unwrap_or_else(PoisonError::into_inner);
    let buffer = buffer.get_or_insert_with(|| vec![0; ROOM].leak());
    COPIES.store(buffer.as_mut_ptr(), SeqCst);
    USED.store(0, SeqCst);
    RECORDING.store(true, SeqCst);
    let out = work();
    RECORDING.store(false, SeqCst);
    let used = USED.load(SeqCst);
    assert!(used <= ROOM, "{used} bytes were freed: raise ROOM");
    // The pointer again: what the allocator wrote, it wrote through it.
    let copies = COPIES.load(SeqCst);
    // SAFETY: the first `used` bytes of the buffer, which lives for ever and nobody writes any
    // more.
    (out, unsafe { std::slice::from_raw_parts(copies, used) }.to_vec())
}

/// What a secret looks like in memory: some words in a row.
struct Needle {
    name: &'static str,
    words: Vec<u64>,
}

impl Needle {
    /// A part of the secret that is long enough not to be there by chance, and not mostly zeros.
    fn new(name: &'static str, words: impl IntoIterator<Item = u64>) -> Self {
        Self::long(name, 48, words)
    }

    /// The same with `count` words in a row.
    fn long(name: &'static str, count: usize, words: impl IntoIterator<Item = u64>) -> Self {
        let words: Vec<u64> = words.into_iter().collect();
        let telling = |part: &&[u64]| {
            part.iter().filter(|x| **x != 0).count() >= part.len() / 4
                && part.iter().any(|x| *x != part[0])
        };
        let part = words
            .windows(words.len().min(count))
            .find(telling)
            .unwrap_or_else(|| panic!("{name} is all zeros"));
        Needle { name, words: part.to_vec() }
    }

    fn signed(name: &'static str, values: &[i64]) -> Self {
        Self::new(name, values.iter().map(|&x| x as u64))
    }

    fn real(name: &'static str, values: impl IntoIterator<Item = f64>) -> Self {
        Self::new(name, values.into_iter().map(f64::to_bits))
    }

    fn within(&self, memory: impl Iterator<Item = u64>) -> bool {
        let memory: Vec<u64> = memory.collect();
        memory.windows(self.words.len()).any(|part| part == self.words)
    }
}

fn words(memory: &[u8]) -> impl Iterator<Item = u64> + '_ {
    memory.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// The names of those that are in freed memory.
fn found<'a>(needles: &'a [Needle], memory: &[u8]) -> Vec<&'a str> {
    needles.iter().filter(|needle| needle.within(words(memory))).map(|needle| needle.name).collect()
}

fn contains(memory: &[u8], part: &[u8]) -> bool {
    memory.windows(part.len()).any(|x| x == part)
}

/// The limbs that were given back to the ring's pool last, as they were left. To be taken right
/// after what is looked at: the next computation writes over them.
fn pool(cpu: &Cpu) -> Vec<Limb> {
    (0..600).map(|_| cpu.limb()).collect()
}

/// How many of the limbs of a polynomial are among those of the pool.
fn pooled(pool: &[Limb], limbs: &[Vec<u64>]) -> usize {
    limbs.iter().filter(|limb| pool.iter().any(|old| old[..] == limb[..])).count()
}

fn limbs_of<R: everlevel_ring::Representation>(x: &Poly<R>) -> Vec<Vec<u64>> {
    limbs(x).iter().map(|limb| limb.to_vec()).collect()
}

fn toy() -> (Params, ChaCha20Rng) {
    (
        Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap(),
        ChaCha20Rng::seed_from_u64(5),
    )
}

/// All that key generation computes of a secret.
fn forms(params: &Params, s: &[i64]) -> Vec<Needle> {
    let real: Vec<f64> = s.iter().map(|&x| x as f64).collect();
    let ring = params.ring();
    let mut stored = vec![0; s.len()];
    ring.storage_order(s, &mut stored);
    vec![
        Needle::signed("coefficients", s),
        Needle::signed("coefficients in the order of limbs", &stored),
        Needle::new("coefficients as they are packed", s.iter().map(|x| (x + 2) as u64)),
        Needle::real("coefficients as reals", real.clone()),
        Needle::real("embeddings", ring.norm().embeddings(&real)),
    ]
}

#[test]
fn the_search_finds_what_is_not_wiped() {
    let _alone = alone();
    let (params, mut rng) = toy();
    let s = sample::ternary(params.degree(), &mut rng);
    let needles = forms(&params, &s);
    let ((), memory) = freed(|| drop(s.clone()));
    assert_eq!(found(&needles, &memory), ["coefficients"]);
    let ((), memory) = freed(|| drop(Zeroizing::new(s.clone())));
    assert!(found(&needles, &memory).is_empty());
    // A vector that grows leaves copies behind.
    let (grown, memory) = freed(|| {
        let mut grown = Zeroizing::new(Vec::new());
        s.iter().for_each(|x| grown.push(*x));
        grown
    });
    assert_eq!((found(&needles, &memory), grown.len()), (vec!["coefficients"], s.len()));
    let basis = params.chain().basis(params.chain().top());
    let secret = sample::secret_poly(params.cpu(), basis, &s);
    let limbs = limbs_of(&secret);
    let mut unwiped: Poly<Eval> = Poly::zero(params.cpu(), basis);
    limbs_mut(&mut unwiped).into_iter().zip(&limbs).for_each(|(to, from)| to.copy_from_slice(from));
    drop(secret);
    assert_eq!(pooled(&pool(params.cpu()), &limbs), 0);
    drop(unwiped);
    assert_eq!(pooled(&pool(params.cpu()), &limbs), limbs.len());
}

#[test]
fn secret_keys() {
    let _alone = alone();
    let (params, mut rng) = toy();
    let (key, made) = freed(|| SecretKey::generate(&params, &mut rng));
    let left = pool(params.cpu());
    let exposed = key.expose_secret_coefficients();
    let s = exposed.main.to_vec();
    let sparse = exposed.sparse.as_ref().unwrap().to_vec();
    let needles: Vec<Needle> = forms(&params, &s).into_iter().collect();
    // Few of 256 coefficients are not 0: words in a row say little, the positions that a copy would
    // have all.
    let whole = |memory: &[u8]| {
        words(memory)
            .collect::<Vec<_>>()
            .windows(sparse.len())
            .any(|x| x.iter().zip(&sparse).all(|(a, b)| *a == *b as u64))
    };
    assert_eq!(found(&needles, &made), [""; 0]);
    assert!(!whole(&made));
    let limbs = limbs_of(&sample::secret_poly(params.cpu(), params.chain().keyed(), &s));
    assert_eq!(pooled(&left, &limbs), 0);
    drop(left);
    let ((), dropped) = freed(|| {
        drop(key);
        drop(exposed);
    });
    assert_eq!(found(&needles, &dropped), [""; 0]);
    assert!(!whole(&dropped));
    assert_eq!(pooled(&pool(params.cpu()), &limbs), 0);
    let ((), control) = freed(|| drop(sparse.clone()));
    assert!(whole(&control));
}

#[test]
fn stored_secret_keys() {
    let _alone = alone();
    let (params, mut rng) = toy();
    let key = SecretKey::generate(&params, &mut rng);
    let exposed = key.expose_secret_coefficients();
    let needles = forms(&params, &exposed.main);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("wiped.key");
    // Of the record of the main secret, 3 bits a coefficient.
    let bytes = secret_key::expose_to_bytes(&key, &Metadata::new()).unwrap();
    let part = bytes[bytes.len() - 150..bytes.len() - 110].to_vec();
    let ((), memory) = freed(|| {
        let bytes = secret_key::expose_to_bytes(&key, &Metadata::new()).unwrap();
        write_secret_file(&path, &bytes, Existing::Replace).unwrap();
        let read = read_file(&path, 1 << 20).unwrap();
        let (back, _) = secret_key::from_bytes(&params, &read, &ReadOptions::default()).unwrap();
        drop((read, back));
    });
    assert_eq!(found(&needles, &memory), [""; 0]);
    assert!(!contains(&memory, &part));
    let ((), control) = freed(|| drop(bytes.to_vec()));
    assert!(contains(&control, &part));
    std::fs::remove_file(path).unwrap();
}

/// The phase c0 + c1 s of a ciphertext, centered, in the order of coefficients; and a s.
fn opened(
    params: &Params,
    s: &[i64],
    components: &[Poly<Eval>],
) -> (Vec<i64>, Poly<Coeff>, Poly<Eval>) {
    let (ring, cpu) = (params.ring(), params.cpu());
    let basis = components[1].basis();
    let product = components[1].mul(cpu, &sample::secret_poly(cpu, basis, s));
    let mut phase = components[0].clone();
    phase.add_assign(cpu, &product);
    let phase = phase.into_coeff(cpu);
    let first = basis.iter().next().unwrap();
    let stored: Vec<i64> =
        limb(&phase, first).iter().map(|&x| ring.modulus(first).centered(x)).collect();
    (ring.natural_order(&stored), phase, product)
}

#[test]
fn encryption_and_decryption() {
    let _alone = alone();
    let (params, mut rng) = toy();
    let (cpu, t) = (params.cpu(), params.plain_modulus() as i64);
    let key = SecretKey::generate(&params, &mut rng);
    let s = key.expose_secret_coefficients().main.to_vec();
    let values: Vec<u64> = (0..params.slots() as u64).map(|i| (i * i + 3) % 257).collect();
    let copy = Plaintext::encode(&params, &values).unwrap();
    let message = params.plaintext_ring().centered(copy.coefficients(), 1);

    let (x, memory) = freed(|| {
        let plain = Plaintext::encode(&params, &values).unwrap();
        key.encrypt(&plain, &mut rng).unwrap()
    });
    let left = pool(cpu);
    let (phase, as_coefficients, product) = opened(&params, &s, x.components());
    let errors: Vec<i64> = phase.iter().zip(&message).map(|(w, m)| (w - m) / t).collect();
    assert!(
        errors.iter().all(|e| e.abs() <= 21) && errors.iter().any(|e| *e != 0),
        "the errors are those of the ciphertext"
    );
    let needles = [
        Needle::signed("errors", &errors),
        Needle::signed("message and errors", &phase),
        Needle::signed("the centered message", &message),
        Needle::new("the message", copy.coefficients().iter().copied()),
    ];
    assert_eq!(found(&needles, &memory), [""; 0]);
    let noisy = sample::secret_poly(cpu, product.basis(), &phase);
    let secret = [limbs_of(&noisy), limbs_of(&as_coefficients), limbs_of(&product)].concat();
    assert_eq!(pooled(&left, &secret), 0, "m + t e, or a s, from which s follows");
    // Gone are what this test computed itself.
    drop((noisy, as_coefficients, product, left));
    pool(cpu).iter_mut().for_each(|limb| limb.fill(0));

    let (same, memory) = freed(|| key.decrypt(&x).unwrap() == copy);
    let left = pool(cpu);
    assert!(same);
    assert_eq!(found(&needles, &memory), [""; 0]);
    assert_eq!(pooled(&left, &secret), 0);
}

/// The keys of bootstrapping hide the sparse secret behind a s, from which s follows.
#[test]
fn bootstrapping_keys() {
    let _alone = alone();
    let (params, mut rng) = toy();
    let (key, cpu) = (SecretKey::generate(&params, &mut rng), params.cpu());
    let s = key.expose_secret_coefficients().main.to_vec();
    let mut plan = KeyPlan::default();
    plan.bootstrap = true;
    let keys = ServerKeys::generate(&key, &plan, &mut rng, |_, _| ()).unwrap();
    let left = pool(cpu);
    let made = keys.bootstrap().unwrap().unwrap();
    let product = |x: &Ciphertext| opened(&params, &s, x.components()).2;
    let limbs: Vec<Vec<u64>> = made.sparse().iter().flat_map(|x| limbs_of(&product(x))).collect();
    assert_eq!(pooled(&left, &limbs), 0);
    drop(left);
    let unwiped = product(&made.sparse()[0]);
    let limbs = limbs_of(&unwiped);
    drop(unwiped);
    assert_eq!(pooled(&pool(cpu), &limbs), limbs.len());
}

#[test]
fn public_encryption() {
    let _alone = alone();
    let (params, mut rng) = toy();
    let (cpu, t) = (params.cpu(), params.plain_modulus());
    let ring = cpu.ring();
    let key = SecretKey::generate(&params, &mut rng);
    let public = PublicKey::generate(&key, &mut rng);
    let plain = Plaintext::encode(&params, &[1, 2, 3]).unwrap();
    let mut again = rng.clone();
    let (x, memory) = freed(|| public.encrypt(&plain, &mut rng).unwrap());
    let left = pool(cpu);
    // v is drawn first: with it, c1 - t v a is t times an error.
    let v = sample::ternary(params.degree(), &mut again);
    let basis = x.components()[1].basis();
    let a = sample::expand(cpu, public.seed().unwrap(), 0, basis);
    let mut rest = x.components()[1].clone();
    let mut tv = sample::secret_poly(cpu, basis, &v);
    tv.scale_assign(cpu, i128::from(t));
    rest.sub_assign(cpu, &a.mul(cpu, &tv));
    let rest = rest.into_coeff(cpu);
    let first = basis.iter().next().unwrap();
    let stored: Vec<i64> =
        limb(&rest, first).iter().map(|&x| ring.modulus(first).centered(x)).collect();
    assert!(stored.iter().all(|w| w.unsigned_abs() <= 21 * t), "v is that of the ciphertext");
    let error: Vec<i64> = ring.natural_order(&stored).iter().map(|w| w / t as i64).collect();
    let scaled = |x: &[i64]| x.iter().map(|x| x * t as i64).collect::<Vec<_>>();
    let needles = [
        Needle::signed("v", &v),
        Needle::signed("t v", &scaled(&v)),
        Needle::signed("e1", &error),
        Needle::signed("t e1", &scaled(&error)),
    ];
    assert_eq!(found(&needles, &memory), [""; 0]);
    assert_eq!(pooled(&left, &limbs_of(&tv)), 0);
}

#[test]
fn aes_keys() {
    let _alone = alone();
    let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let secret = SecretKey::generate(&params, &mut rng);
    let key: [u8; 16] = std::array::from_fn(|i| (17 * i as u8) ^ 0x5a);
    let layout = AesMethod::Packed.layout(params.slot_shape()).unwrap();
    let elements = layout.encode(&vec![key; layout.blocks()]).remove(0);
    let coefficients = Plaintext::encode_elements(&params, &elements).unwrap();
    let needles = [
        // More than a slot: which elements are bytes is public, and computed.
        Needle::long("slots", 4 * params.slot_shape().degree_of_slot(), elements.iter().copied()),
        Needle::new("coefficients", coefficients.coefficients().iter().copied()),
        Needle::signed(
            "signed coefficients",
            &params.plaintext_ring().centered(coefficients.coefficients(), 1),
        ),
    ];
    // What does not depend on the key is there the first time only.
    EncryptedAesKey::encrypt_secretly(&[0; 16], &secret, &mut rng).unwrap();
    let (encrypted, memory) = freed(|| {
        let key = Zeroizing::new(key.to_vec());
        EncryptedAesKey::encrypt_secretly(&key, &secret, &mut rng).unwrap()
    });
    assert_eq!(encrypted.round_keys().len(), 11);
    assert!(!contains(&memory, &key), "the key");
    assert_eq!(found(&needles, &memory), [""; 0]);
    let ((), control) =
        freed(|| drop((key.to_vec(), elements.clone(), coefficients.coefficients().to_vec())));
    assert!(contains(&control, &key));
    assert_eq!(found(&needles, &control), ["slots", "coefficients", "signed coefficients"]);
}
