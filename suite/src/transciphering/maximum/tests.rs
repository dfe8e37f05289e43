//! The maximum on the no-op scheme, against that in the clear.

use std::sync::LazyLock;

use everlevel_aes::Layout;
use everlevel_scheme::noise::log_add;
use everlevel_scheme::{NoOp, Params, Plaintext};

use super::*;
use crate::transciphering::protocol::{
    BLOCK, INSTANCES, PER_BLOCK, STAND_INS, Task, Workload, maximum_levels,
};
use crate::transciphering::rehearsal::{key_levels, rehearse, words};

const WORKLOAD: Workload = Workload { instance: STAND_INS[1], task: Task::Maximum };
/// Few, and the same in every run of these tests: a value is missed with a probability of 2^-16,
/// once for all.
const FEW_BITS: usize = 16;

/// What the tests have in common.
struct Prepared {
    params: Params,
    layout: Layout,
    /// The level of states after AES.
    level: Level,
    maximum: Maximum<NoOp>,
}

static PREPARED: LazyLock<Prepared> = LazyLock::new(|| {
    let params = WORKLOAD.shared_params();
    let levels = key_levels(&params, &WORKLOAD).unwrap();
    let (_, [state, _]) = rehearse(&params, &WORKLOAD, &levels, 1).unwrap();
    let (scheme, levels) = (NoOp::new(&params, 1), maximum_levels(&params));
    let maximum = Maximum::new(&scheme, &params, levels, FEW_BITS).unwrap();
    let layout = Layout::packed(params.slot_shape()).unwrap();
    Prepared { layout, level: state.meta().level, maximum, params }
});

/// The slots of the result for states that hold these numbers, the last block of which is repeated.
fn found(numbers: &[u16], random: &mut impl FnMut() -> u64) -> (&'static Layout, Vec<u64>) {
    let Prepared { params, layout, level, maximum } = &*PREPARED;
    let scheme = NoOp::new(params, 1);
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_be_bytes()).collect();
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    assert!(rest.is_empty());
    let state = |blocks: &[[u8; BLOCK]]| {
        let mut blocks = blocks.to_vec();
        blocks.resize(layout.blocks(), blocks[blocks.len() - 1]);
        let slots = layout.encode(&blocks).swap_remove(0);
        scheme.encrypt_at(&Plaintext::encode_elements(params, &slots).unwrap(), *level).unwrap()
    };
    let states: Vec<_> = blocks.chunks(layout.blocks()).map(state).collect();
    let result = maximum.run(&scheme, &states, random).unwrap();
    let slots = scheme.decrypt(&result).unwrap().decode(params).unwrap();
    (layout, slots)
}

fn check(numbers: &[u16]) {
    let (layout, slots) = found(numbers, &mut words());
    let expected = u64::from(*numbers.iter().max().unwrap());
    for block in 0..layout.blocks() {
        let bit = |i: usize| slots[layout.place(block, i).slot] << i;
        assert_eq!((0..16).map(bit).sum::<u64>(), expected, "{numbers:x?}, line {block}");
    }
}

/// A block of these numbers.
fn block(numbers: [u16; PER_BLOCK]) -> Vec<u16> {
    numbers.to_vec()
}

#[test]
fn digits_decide_in_their_order() {
    // Each number is larger than the next one by a digit, and smaller in all lower ones.
    let steps = [0x8000, 0x7fff, 0x7eff, 0x7eef, 0x7eee, 0x7e0f, 0x0fff, 0x00ff];
    check(&block(steps));
    // The same without the largest one, and so on.
    for gone in [1, 2, 4, 6] {
        let mut steps = steps;
        steps[..gone].fill(0);
        check(&block(steps));
    }
}

#[test]
fn extremes_and_ties() {
    check(&block([0; PER_BLOCK]));
    check(&block([u16::MAX; PER_BLOCK]));
    check(&block([1, 0, 0, 0, 0, 0, 0, 1]));
    check(&block([0x1000, 0x1000, 0x0100, 0x0010, 0x0001, 0, 0x1000, 0xfff]));
}

/// Two states, the second one not full.
#[test]
fn every_place_of_every_state_counts() {
    let count = 48;
    for (place, value) in [(0, 0xfedc), (31, 0xfedd), (32, 0xff00), (40, 0xf001), (47, 0xefff)] {
        let mut numbers: Vec<u16> = (0..count).map(|i: u16| i.wrapping_mul(0x4e35) >> 4).collect();
        numbers[place] = value;
        check(&numbers);
    }
}

/// It is by weights that values are found: without them none is.
#[test]
fn weights_decide() {
    let (_, slots) = found(&block([u16::MAX; PER_BLOCK]), &mut || 0);
    assert!(slots.iter().all(|&bit| bit == 0));
}

/// Flags that miss a value, noise and overflows together.
#[test]
fn failures_are_rarer_than_2_to_the_minus_128() {
    for instance in INSTANCES {
        let workload = Workload { instance, task: Task::Maximum };
        let params = workload.shared_params();
        let (scheme, levels) = (NoOp::blank(&params), maximum_levels(&params));
        let maximum = Maximum::new(&scheme, &params, levels, workload.random_bits()).unwrap();
        let refreshed = DIGITS * maximum.flags.ciphertexts();
        let overflows = params.failure_log2() + (refreshed as f64).log2();
        let failure = log_add(maximum.error_log2(), overflows);
        let missed = maximum.error_log2();
        println!("{}: 2^{missed:.1} by weights, 2^{failure:.1} in all", instance.name);
        assert!(failure < -128.0, "{}: {failure}", instance.name);
    }
}

#[test]
fn no_states_have_no_maximum() {
    let scheme = NoOp::blank(&PREPARED.params);
    let error = PREPARED.maximum.run(&scheme, &[], &mut || 0).unwrap_err();
    assert_eq!(error.code(), "circuit.empty");
}
