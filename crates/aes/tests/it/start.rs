//! Where AES begins, what it saves to begin low, and the ring of index 65535 (docs/adr/0081).

use everlevel_aes::{Aes, AesError, ByteSliced, Layout, Packed, lowest_start};
use everlevel_ring::SlotShape;
use everlevel_scheme::{
    Cost, Level, LinearMaps, NoOp, OptIn, Params, ParamsSpec, Plaintext, SchemeError,
};

use crate::common::{cipher, lines, top};

/// The cost of AES-128 from a level, and the capacity that it leaves.
fn from<A: Aes<NoOp>>(
    params: &Params,
    start: Level,
    method: fn(&NoOp, Level) -> Result<A, AesError>,
) -> Result<(Cost, f64), AesError> {
    let scheme = NoOp::blank(params);
    let zero = Plaintext::encode(params, &[])?;
    let blank = |level: Level| Ok(scheme.encrypt_at(&zero, level)?);
    let aes = method(&scheme, params.chain().top())?;
    let before = scheme.cost();
    let left = aes.capacity_after(&scheme, blank(start)?, cipher(10), blank)?;
    Ok((scheme.cost() - before, left))
}

/// From the lowest start, AES takes at most `percent` of the transforms that it takes from the top.
fn check_start<A: Aes<NoOp>>(method: fn(&NoOp, Level) -> Result<A, AesError>, percent: u64) {
    let params = Params::named("aes-bgv-leveled", OptIn::SecureOnly).unwrap();
    let (chain, reserve) = (params.chain(), 20.0);
    let trial = |level: Level| Ok(from(&params, level, method)?.1);
    let start = lowest_start(chain, reserve, trial).unwrap().unwrap();
    let (high, much) = from(&params, chain.top(), method).unwrap();
    let (low, left) = from(&params, start, method).unwrap();
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
        match from(&params, level, method) {
            Ok((_, left)) => assert!(left < reserve, "{left} bits from {level:?}"),
            Err(error) => assert!(
                matches!(error, AesError::Scheme(SchemeError::NoiseOverflow { .. })),
                "{error}"
            ),
        }
    }
    assert_eq!(lowest_start(chain, much + 1.0, trial).unwrap(), None);
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

    let leveled = Params::named("aes-bgv-leveled", OptIn::SecureOnly).unwrap();
    let spec = ParamsSpec {
        name: "insecure_aes-m65535".into(),
        index: 65535,
        extended_exponent: 0,
        base_bits: 34,
        words: 13,
        fine_bits: vec![44, 40, 36],
        special: 1,
        digit_size: 1,
        ..leveled.spec().clone()
    };
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let top = params.chain().top();
    assert!((800.0..805.0).contains(&params.modulus_bits(top)));
    let (cost, left) = from(&params, top, ByteSliced::<NoOp>::new).unwrap();
    assert_eq!((cost.products, cost.key_switches), (640, 1760));
    assert!((0.0..30.0).contains(&left), "{left} bits");
    let packed = from(&params, top, Packed::<NoOp>::new).err();
    assert!(
        matches!(packed, Some(AesError::Scheme(SchemeError::NoiseOverflow { .. }))),
        "{packed:?}"
    );
}
