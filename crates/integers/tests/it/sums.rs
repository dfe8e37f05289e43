//! Sums of products over chosen rows, with every value at an end of its range, against plain sums.

use std::collections::BTreeMap;

use everlevel_integers::{
    Accumulated, Column, Encoded, IntegersError, Shape, SumPlan, SumRequest, Type,
};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp, Plaintext, SchemeError};

use crate::common::Bench;

/// Four columns: prices, discounts, signed, truth values.
fn kinds() -> [Type; 4] {
    [Type::ranged(90_091, 10_494_950).unwrap(), Type::ranged(0, 10).unwrap(), Type::I8, Type::Bool]
}

/// Entries that are mostly at the ends.
fn rows(kind: Type, count: usize, seed: usize) -> Vec<i128> {
    let (low, high) = (kind.interval().low(), kind.interval().high());
    let entry = |i: usize| match (i * 7 + seed * 13 + i / 5) % 5 {
        0 | 3 => low,
        1 | 4 => high,
        _ => low + (i as i128 * 7919) % (high - low + 1),
    };
    (0..count).map(entry).collect()
}

/// Encrypted truth values for some columns, and the same in the clear.
type Masks = (Vec<Column<NoOpCiphertext>>, Vec<Vec<bool>>);
/// Which rows are meant.
type Filter<'a> = &'a dyn Fn(&[i128]) -> bool;

struct Asked<'a> {
    bench: &'a Bench,
    columns: Vec<Vec<i128>>,
    count: usize,
    /// Masks that are differences of others.
    differences: BTreeMap<usize, (Option<usize>, usize)>,
}

impl Asked<'_> {
    fn encrypted(&self, range: std::ops::Range<usize>) -> Vec<Column<NoOpCiphertext>> {
        let kinds = kinds();
        let columns = self.columns.iter().zip(kinds);
        columns.map(|(x, kind)| self.bench.encrypt_modulo(&x[range.clone()], kind, 2)).collect()
    }

    /// Sums over rows where `filter` and the mask hold, and those in the clear.
    fn sums(
        &self,
        requests: &[SumRequest],
        filter: Option<Filter<'_>>,
        masks: &dyn Fn(&[Column<NoOpCiphertext>]) -> Masks,
    ) {
        let bench = self.bench;
        let (slots, ints) = (bench.params.slots(), bench.integers());
        let shapes = kinds().map(Shape::of).to_vec();
        let shape = bench.params.slot_shape();
        let plan = SumPlan::new(shapes, requests, shape, self.count, filter.is_some()).unwrap();
        let plan = plan.with_differences(&self.differences);
        let batches: Vec<_> = (0..plan.batches()).map(|i| plan.batch(i)).collect();
        let none = batches.iter().map(|_| Accumulated::<NoOp>::default());
        let mut sums: Vec<_> = none.collect();
        let mut expected = vec![0i128; requests.len()];
        for start in (0..self.count).step_by(slots) {
            let range = start..self.count.min(start + slots);
            let columns = self.encrypted(range.clone());
            let row = |i: usize| self.columns.iter().map(|x| x[i]).collect::<Vec<_>>();
            let chosen: Vec<bool> =
                range.clone().map(|i| filter.is_none_or(|f| f(&row(i)))).collect();
            let bits: Vec<i128> = chosen.iter().map(|b| i128::from(*b)).collect();
            let mask = filter.map(|_| bench.encrypt(&bits, Type::Bool));
            let (masks, plain) = masks(&columns);
            for ((plan, places), sums) in batches.iter().zip(&mut sums) {
                let masks: Vec<_> = places.iter().map(|i| masks[*i].clone()).collect();
                ints.accumulate(plan, &columns, mask.as_ref(), &masks, sums).unwrap();
            }
            for (sum, request) in expected.iter_mut().zip(requests) {
                for i in range.clone() {
                    let held = request.mask.is_none_or(|m| plain[m][i - start]);
                    let term = |(k, places): &(i128, Vec<usize>)| {
                        k * places.iter().map(|p| self.columns[*p][i]).product::<i128>()
                    };
                    if held && chosen[i - start] {
                        *sum += request.terms.iter().map(term).sum::<i128>();
                    }
                }
            }
        }
        let packed = batches.iter().zip(sums);
        let packed = packed.flat_map(|((plan, _), sums)| ints.pack(plan, sums).unwrap());
        let answer: Vec<_> = packed.collect();
        assert_eq!(answer.len(), plan.ciphertexts());
        let open = |x| bench.scheme.decrypt(x).unwrap().coefficients().to_vec();
        let opened: Vec<_> = answer.iter().map(open).collect();
        assert_eq!(plan.totals(&opened).unwrap(), expected);
        // Every sum is within its bound, and one beyond it is noticed.
        let forged = vec![vec![bench.params.plain_modulus().pow(2) / 2; slots]; opened.len()];
        assert_eq!(plan.totals(&forged).unwrap_err().code(), "scheme.not-decryptable");
        assert_eq!(plan.totals(&opened[1..]).unwrap_err().code(), "integers.parts");
    }
}

fn asked(bench: &Bench, count: usize) -> Asked<'_> {
    let columns = kinds().into_iter().enumerate();
    let columns = columns.map(|(i, k)| rows(k, count, i)).collect();
    Asked { bench, columns, count, differences: BTreeMap::new() }
}

fn request(mask: Option<usize>, terms: &[(i128, &[usize])], pad: i128) -> SumRequest {
    let terms = terms.iter().map(|(k, columns)| (*k, columns.to_vec())).collect();
    SumRequest { mask, terms, pad }
}

#[test]
fn sums_of_products_over_all_rows_and_over_blocks() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (low, slots) = (kinds().map(|k| k.interval().low()), bench.params.slots());
    // Exactly full, padded, and two blocks with a padded second one.
    for count in [slots, 3, slots + 5] {
        let requests = [
            request(None, &[(1, &[])], 1),
            request(None, &[(1, &[0])], low[0]),
            request(None, &[(-7, &[0, 1]), (3, &[]), (1, &[2])], 3 + low[2]),
            request(None, &[(1, &[2, 2]), (1, &[3])], low[2] * low[2]),
            request(None, &[(1, &[1, 2, 3])], 0),
        ];
        asked(&bench, count).sums(&requests, None, &|_| (Vec::new(), Vec::new()));
    }
}

#[test]
fn sums_over_chosen_rows() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let slots = bench.params.slots();
    let low = kinds().map(|k| k.interval().low());
    // The unused slots of the masks below hold 0, as their columns' do.
    let requests = [
        request(Some(0), &[(1, &[])], 0),
        request(Some(1), &[(1, &[0]), (-1, &[0, 1])], 0),
        request(Some(0), &[(100, &[0, 1, 2])], 0),
        request(None, &[(1, &[2])], 0),
    ];
    let table = asked(&bench, slots - 9);
    let choose = |i: usize, of: usize| (i * i + of).is_multiple_of(of + 2);
    let masks = |columns: &[Column<NoOpCiphertext>]| {
        let count = columns[0].length().unwrap();
        let plain: Vec<Vec<bool>> =
            (0..2).map(|m| (0..count).map(|i| choose(i, m)).collect()).collect();
        let encrypted = plain.iter().map(|bits| {
            let bits: Vec<i128> = bits.iter().map(|b| i128::from(*b)).collect();
            bench.encrypt(&bits, Type::Bool)
        });
        (encrypted.collect(), plain)
    };
    table.sums(&requests, Some(&|row: &[i128]| row[1] > 0), &masks);
    let all = [&requests[..3], &[request(None, &[(1, &[2])], low[2])]].concat();
    table.sums(&all, None, &masks);
}

/// The rest of all rows, and that of a mask.
#[test]
fn sums_over_the_rest_are_differences() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let requests = [
        request(None, &[(1, &[])], 0),
        request(Some(0), &[(1, &[]), (2, &[2])], 0),
        request(Some(1), &[(1, &[])], 0),
        request(Some(2), &[(1, &[]), (5, &[2])], 0),
        request(Some(3), &[(1, &[]), (-1, &[2])], 0),
    ];
    let mut table = asked(&bench, bench.params.slots() + 5);
    table.differences = BTreeMap::from([(1, (None, 0)), (3, (Some(0), 2))]);
    let shapes = kinds().map(Shape::of).to_vec();
    let plan = SumPlan::new(shapes, &requests, bench.params.slot_shape(), table.count, true);
    let plan = plan.unwrap().with_differences(&table.differences);
    assert_eq!(plan.batch(0).1, [0, 2]);
    let masks = |columns: &[Column<NoOpCiphertext>]| {
        let count = columns[0].length().unwrap();
        let chosen: [fn(usize) -> bool; 4] =
            [|i| i % 3 > 0, |i| i % 3 == 0, |i| i % 3 == 1, |i| i % 3 == 2];
        let plain = chosen.map(|f| (0..count).map(f).collect::<Vec<bool>>()).to_vec();
        // The masks of the rest are not used, so others may stand in their place.
        let encrypted = plain.iter().enumerate().map(|(i, bits)| {
            let bits: Vec<i128> = bits.iter().map(|b| i128::from(*b && i % 2 == 0)).collect();
            bench.encrypt(&bits, Type::Bool)
        });
        (encrypted.collect(), plain)
    };
    table.sums(&requests, Some(&|row: &[i128]| row[1] > 0), &masks);
    table.sums(&requests[1..], Some(&|row: &[i128]| row[1] > 0), &|columns| {
        let (_, plain) = masks(columns);
        let encrypted = plain.iter().map(|bits| {
            let bits: Vec<i128> = bits.iter().map(|b| i128::from(*b)).collect();
            bench.encrypt(&bits, Type::Bool)
        });
        (encrypted.collect(), plain)
    });
}

/// Some truth values for each of several masks.
fn truths(bench: &Bench, masks: usize) -> impl Fn(&[Column<NoOpCiphertext>]) -> Masks {
    move |columns| {
        let count = columns[0].length().unwrap();
        let bits = |mask: usize| (0..count).map(|i| (i * 7 + mask) % 5 < 2).collect::<Vec<_>>();
        let plain: Vec<_> = (0..masks).map(bits).collect();
        let encrypted = plain.iter().map(|bits| {
            let bits: Vec<i128> = bits.iter().map(|b| i128::from(*b)).collect();
            bench.encrypt(&bits, Type::Bool)
        });
        (encrypted.collect(), plain)
    }
}

/// Where fewer slots are used than sums are packed otherwise, a ciphertext has that many.
#[test]
fn as_many_sums_are_packed_as_slots_are_used() {
    let bench = Bench::with_used_slots("insecure_bgv-65537-n11", 64);
    let requests: Vec<SumRequest> =
        (0..50).map(|mask| request(Some(mask), &[(1, &[1]), (1, &[2])], 0)).collect();
    let shapes = kinds().map(Shape::of).to_vec();
    let plan = SumPlan::new(shapes, &requests, bench.params.slot_shape(), 100, false).unwrap();
    assert!(plan.sums() > 64);
    assert_eq!(plan.batches(), plan.sums().div_ceil(64));
    asked(&bench, 100).sums(&requests, None, &truths(&bench, 50));
}

#[test]
fn sums_are_added_up_in_batches() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    // One sum without a mask, and four of each mask, of products and of constants.
    let of = |mask: usize| {
        [request(Some(mask), &[(1, &[1])], 0), request(Some(mask), &[(1, &[2]), (2, &[1, 2])], 0)]
    };
    let mut requests = vec![request(None, &[(1, &[3])], 0)];
    requests.extend((0..100).flat_map(of));
    let plan = |requests: &[SumRequest]| {
        let shapes = kinds().map(Shape::of).to_vec();
        SumPlan::new(shapes, requests, bench.params.slot_shape(), 60, true)
    };
    let whole = plan(&requests).unwrap();
    assert_eq!((whole.sums(), whole.batches()), (401, 2));
    let (first, masks) = whole.batch(0);
    assert_eq!((first.sums(), first.batches(), masks), (256, 1, (0..64).collect()));
    assert_eq!(whole.batch(1).1, (63..100).collect::<Vec<_>>());
    let masks = truths(&bench, 101);
    asked(&bench, 60).sums(&requests, Some(&|row: &[i128]| row[2] > 0), &masks);
    // Of no sums there is a batch, too.
    assert_eq!(plan(&[]).unwrap().batches(), 1);
    // As many as a plan may have, and one more.
    let count = |masks: usize| (0..masks).map(|mask| request(Some(mask), &[(1, &[])], 0));
    assert_eq!(plan(&count(65_536).collect::<Vec<_>>()).unwrap().batches(), 256);
    let refused = plan(&count(65_537).collect::<Vec<_>>()).unwrap_err();
    assert_eq!(refused.code(), "integers.sums");
}

#[test]
fn deep_filters_are_refreshed_once_or_multiplied_last() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let table = asked(&bench, 40);
    let columns = table.encrypted(0..40);
    let shapes = kinds().map(Shape::of).to_vec();
    let requests = [request(Some(0), &[(1, &[0])], 0), request(Some(1), &[(1, &[])], 0)];
    let shape = bench.params.slot_shape();
    let plan = SumPlan::new(shapes, &requests, shape, 40, true).unwrap();
    // A filter with hardly any capacity left, and fresh masks.
    let filter = Encoded::new(&[1; 40], Type::Bool, bench.params.slots()).unwrap();
    let filter = filter.encrypt(|slots| {
        let plaintext = Plaintext::encode(&bench.params, slots)?;
        bench.scheme.encrypt_exhausted(&plaintext, Level(5), 30.0)
    });
    let filter = filter.unwrap_or_else(|e: SchemeError| panic!("{e}"));
    let bits: Vec<i128> = (0..40).map(|i| i128::from(i % 3 == 0)).collect();
    let masks = [bench.encrypt(&bits, Type::Bool), bench.encrypt(&[1; 40], Type::Bool)];
    let mut sums = Accumulated::<NoOp>::default();
    let before = bench.session.bootstraps();
    ints.accumulate(&plan, &columns, Some(&filter), &masks, &mut sums).unwrap();
    assert_eq!(bench.session.bootstraps() - before, 1);
    let answer = ints.pack(&plan, sums).unwrap();
    let opened: Vec<_> =
        answer.iter().map(|x| bench.scheme.decrypt(x).unwrap().coefficients().to_vec()).collect();
    let expected: i128 = (0..40).step_by(3).map(|i| table.columns[0][i]).sum();
    assert_eq!(plan.totals(&opened).unwrap(), [expected, 40]);
}

#[test]
fn a_filter_is_lifted_for_sums_without_a_mask_alone() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let columns = asked(&bench, 40).encrypted(0..40);
    let truths = |of: usize| {
        let bits: Vec<i128> = (0..40usize).map(|i| i128::from(i.is_multiple_of(of))).collect();
        bench.encrypt(&bits, Type::Bool)
    };
    let (filter, masks) = (truths(2), [truths(3), truths(5)]);
    let masked = [request(Some(0), &[(1, &[])], 0), request(Some(1), &[(1, &[])], 0)];
    let all = [&masked[..], &[request(None, &[(1, &[3])], 0)]].concat();
    let products = |requests: &[SumRequest], filter: Option<&Column<NoOpCiphertext>>| {
        let shapes = kinds().map(Shape::of).to_vec();
        let shape = bench.params.slot_shape();
        let plan = SumPlan::new(shapes, requests, shape, 40, filter.is_some()).unwrap();
        let mut sums = Accumulated::<NoOp>::default();
        let before = bench.scheme.cost().products;
        ints.accumulate(&plan, &columns, filter, &masks, &mut sums).unwrap();
        bench.scheme.cost().products - before
    };
    // A lift takes two products, a conjunction and a sum one each.
    assert_eq!([products(&masked, None), products(&all, None)], [6, 9]);
    assert_eq!([products(&masked, Some(&filter)), products(&all, Some(&filter))], [8, 11]);
}

#[test]
fn what_cannot_be_added_up() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (shape, shapes) = (bench.params.slot_shape(), kinds().map(Shape::of).to_vec());
    // A product of single digits whose sum over that many rows could wrap.
    let wide = [request(None, &[(1, &[0, 0, 0, 0, 0])], 0)];
    let refused = |rows| SumPlan::new(shapes.clone(), &wide, shape, rows, false).map(|_| ());
    assert_eq!(refused(1).unwrap_err().code(), "integers.range");
    let four = [request(None, &[(1, &[0, 0, 0, 0])], 0)];
    let planned = |rows| SumPlan::new(shapes.clone(), &four, shape, rows, false).map(|_| ());
    let most = 65_537u64 * 65_537 / 2 / 8u64.pow(4) / bench.params.slots() as u64;
    planned(most as usize * bench.params.slots()).unwrap();
    let beyond = planned((most as usize + 1) * bench.params.slots());
    assert_eq!(beyond.unwrap_err().code(), "integers.range");
    // Rows of a mask are counted as far as they fit; all rows are a public number.
    let counted = |mask, rows| {
        let one = [request(mask, &[(1, &[])], 0)];
        SumPlan::new(shapes.clone(), &one, shape, rows, false).map(|plan| plan.sums())
    };
    let (slots, half) = (bench.params.slots(), 65_537usize * 65_537 / 2);
    assert_eq!(counted(Some(0), half / slots * slots).unwrap(), 1);
    let beyond = counted(Some(0), half / slots * slots + 1);
    assert_eq!(beyond.unwrap_err().code(), "integers.range");
    assert_eq!(counted(None, 1 << 40).unwrap(), 0);
    // A column that is not there.
    let absent = [request(None, &[(1, &[3, 4])], 0)];
    let error = SumPlan::new(shapes.clone(), &absent, shape, 1, false).unwrap_err();
    assert_eq!(error.code(), "integers.parts");
    // Sets without room for p^2, or with other slots.
    let other = Bench::new("insecure_bgv-257-n8");
    let one = [request(None, &[(1, &[1])], 0)];
    let error = SumPlan::new(shapes.clone(), &one, other.params.slot_shape(), 1, false);
    assert_eq!(error.unwrap_err().code(), "integers.set");
    // Columns modulo p, or with other bounds.
    let (ints, plan) = (bench.integers(), SumPlan::new(shapes, &one, shape, 2, false).unwrap());
    let narrow = kinds().map(|k| bench.encrypt(&[k.interval().low(); 2], k));
    let mut sums = Accumulated::<NoOp>::default();
    let error = ints.accumulate(&plan, &narrow, None, &[], &mut sums).unwrap_err();
    assert!(matches!(&error, IntegersError::Parts { problem } if problem.contains("modulo p")));
    let others = [Type::U8; 4].map(|k| bench.encrypt_modulo(&[1, 2], k, 2));
    let error = ints.accumulate(&plan, &others, None, &[], &mut sums).unwrap_err();
    assert_eq!(error.code(), "integers.parts");
    let error = ints.pack(&plan, Accumulated::<NoOp>::default()).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "integers.parts");
    // Fewer masks than the plan names, and a filter that it does not have.
    let masked = [Some(0), Some(1), None].map(|mask| request(mask, &[(1, &[1])], 0));
    let plan = SumPlan::new(kinds().map(Shape::of).to_vec(), &masked, shape, 2, false).unwrap();
    let columns = kinds().map(|k| bench.encrypt_modulo(&[k.interval().low(); 2], k, 2));
    let truths = [[1, 0], [0, 1]].map(|bits| bench.encrypt(&bits, Type::Bool));
    for (filter, masks) in [(None, &truths[..1]), (Some(&truths[0]), &truths[..])] {
        let error = ints.accumulate(&plan, &columns, filter, masks, &mut sums).unwrap_err();
        assert_eq!(error.code(), "integers.parts");
    }
}
