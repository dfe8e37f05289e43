//! Where AES begins, what it saves to begin low, and the ring of index 65535 (docs/adr/0081).

use std::collections::BTreeMap;

use everlevel_aes::{Aes, AesError, ByteSliced, Layout, Packed, lowest_start};
use everlevel_ring::SlotShape;
use everlevel_scheme::{
    Cost, Level, LinearMaps, NoOp, OptIn, Params, ParamsSpec, Plaintext, SchemeError,
};

use crate::common::{cipher, leveled, lines, top};

/// AES-128 by one method, without values.
struct Rehearsal<A> {
    scheme: NoOp,
    aes: A,
    zero: Plaintext,
}

impl<A: Aes<NoOp>> Rehearsal<A> {
    fn new(params: &Params, method: fn(&NoOp, Level) -> Result<A, AesError>) -> Self {
        let scheme = NoOp::blank(params);
        let aes = method(&scheme, params.chain().top()).unwrap();
        Rehearsal { scheme, aes, zero: Plaintext::encode(params, &[]).unwrap() }
    }

    /// The cost from a level, and the capacity that is left.
    fn begun_at(&self, start: Level) -> Result<(Cost, f64), AesError> {
        let Rehearsal { scheme, aes, zero } = self;
        let blank = |level: Level| Ok(scheme.encrypt_at(zero, level)?);
        let before = scheme.cost();
        let left = aes.capacity_after(scheme, blank(start)?, cipher(10), blank)?;
        Ok((scheme.cost() - before, left))
    }
}

/// From the lowest start, AES takes at most `percent` of the transforms that it takes from the top.
fn check_start<A: Aes<NoOp>>(method: fn(&NoOp, Level) -> Result<A, AesError>, percent: u64) {
    let params = leveled();
    let (chain, reserve) = (params.chain(), 20.0);
    let rehearsal = Rehearsal::new(&params, method);
    // What is asked for again is not rehearsed again.
    let mut known = BTreeMap::new();
    let mut begun_at = |level: Level| -> Result<(Cost, f64), AesError> {
        known.entry(level).or_insert_with(|| rehearsal.begun_at(level)).clone()
    };
    let start = lowest_start(chain, reserve, |level| Ok(begun_at(level)?.1)).unwrap().unwrap();
    let (high, much) = begun_at(chain.top()).unwrap();
    let (low, left) = begun_at(start).unwrap();
    let operations = |cost: &Cost| (cost.products, cost.relinearizations, cost.key_switches);
    assert_eq!(operations(&low), operations(&high));
    assert!(left >= reserve && much > left + 100.0, "{left} and {much} bits");
    assert!(
        100 * low.transforms <= percent * high.transforms,
        "{} and {}",
        low.transforms,
        high.transforms
    );
    // It is the lowest one, and there is none for more than the top leaves.
    for level in chain.cheaper_levels().into_iter().filter(|level| *level < start) {
        match begun_at(level) {
            Ok((_, left)) => assert!(left < reserve, "{left} bits from {level:?}"),
            Err(error) => assert!(
                matches!(error, AesError::Scheme(SchemeError::NoiseOverflow { .. })),
                "{error}"
            ),
        }
    }
    let none = lowest_start(chain, much + 1.0, |level| Ok(begun_at(level)?.1));
    assert_eq!(none.unwrap(), None);
}

#[test]
fn packed_aes_begins_lower() {
    check_start(Packed::<NoOp>::new, 80);
}

#[test]
fn aes_by_bytes_begins_lower() {
    check_start(ByteSliced::<NoOp>::new, 70);
}

#[test]
fn other_errors_end_the_search() {
    let params = lines(7);
    let error = AesError::KeyLength { found: 3 };
    assert_eq!(lowest_start(params.chain(), 0.0, |_| Err(error.clone())), Err(error));
}

/// The images of a linear map take one decomposition, however many they are.
#[test]
fn images_under_frobenius_share_a_decomposition() {
    let params = lines(7);
    let images = |count: usize| {
        let scheme = NoOp::blank(&params);
        let zero = Plaintext::encode(&params, &[]).unwrap();
        let x = scheme.encrypt_at(&zero, top(&scheme)).unwrap();
        let powers = ByteSliced::<NoOp>::automorphisms(params.slot_shape());
        let before = scheme.cost();
        scheme.hoist(&x, &powers[..=count]).unwrap();
        scheme.cost() - before
    };
    let (one, three) = (images(1), images(3));
    assert_eq!((one.key_switches, three.key_switches), (1, 3));
    assert_eq!(one.transforms, three.transforms);
}

/// As much modulus as n = 2^15 has at 128 bits: by bytes AES-128 fits, with digits of one prime,
/// and by blocks it does not.
#[test]
fn the_ring_of_index_65535() {
    let shape = SlotShape::new(65535, 2, 1).unwrap();
    assert_eq!((shape.slots(), shape.degree_of_slot()), (2048, 16));
    assert_eq!(Layout::byte_sliced(&shape).unwrap().blocks(), 2048);
    assert_eq!(Layout::packed(&shape).unwrap().blocks(), 128);

    let spec = ParamsSpec {
        name: "insecure_aes-m65535".into(),
        index: 65535,
        extended_exponent: 0,
        base_bits: 34,
        words: 13,
        fine_bits: vec![44, 40, 36],
        special: 1,
        digit_size: 1,
        ..leveled().spec().clone()
    };
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let top = params.chain().top();
    assert!((800.0..805.0).contains(&params.modulus_bits(top)));
    let bytes = Rehearsal::new(&params, ByteSliced::<NoOp>::new);
    let (cost, left) = bytes.begun_at(top).unwrap();
    assert_eq!((cost.products, cost.key_switches), (640, 1760));
    assert!((0.0..30.0).contains(&left), "{left} bits");
    let packed = Rehearsal::new(&params, Packed::<NoOp>::new).begun_at(top).err();
    assert!(
        matches!(packed, Some(AesError::Scheme(SchemeError::NoiseOverflow { .. }))),
        "{packed:?}"
    );
}
