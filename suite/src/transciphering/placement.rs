//! Which place of which state holds which block.

use everlevel_aes::Mode;
use everlevel_scheme::SchemeError;

use super::protocol::{BLOCK, LOW, PER_BLOCK, Task, Workload};
use super::repeating::{GROUP, Order};
use crate::error::SuiteError;

/// A block on its way through AES: what that is applied to, and what is added to the result.
pub(super) type Placed = ([u8; BLOCK], [u8; BLOCK]);

/// Where blocks are, and so which of them meet.
///
/// For the inner product the numbers of the first half of the data are multiplied by those of the
/// second half. A block by itself is in every place, and its numbers meet each other. Of several,
/// block j of the first half and block j of the second are half a state apart, so that one rotation
/// brings their numbers together.
///
/// In counter mode places that are left hold keystream: k, its complement, k, its complement
/// against l, l and their complements. As integers modulo 2^16 the complement of x is -1 - x, so
/// that the four products of such a group add up to (k + (-1 - k)) (l + (-1 - l)) = 1, whatever the
/// keystream is: what they add to a sum over all places is known, and nothing has to be masked.
///
/// For the maximum the places of blocks do not matter, and those that are left repeat blocks: every
/// place holds data, and nothing has to be masked.
///
/// Where counters repeat in their last byte, blocks are in pairs for both, and pairs in such an
/// order that few states differ in these bytes, and few in the others: then the first rounds of AES
/// are those of few states ([`SharedColumns`](everlevel_aes::SharedColumns)). Otherwise the blocks
/// of the maximum are in their order, and the last one is repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    places: usize,
    blocks: usize,
    task: Task,
    /// Whether blocks of both halves are half a state apart.
    paired: bool,
    /// Where each pair is among all pairs of places, state by state.
    order: Order,
}

impl Placement {
    /// For states of this many places, for a block each, if `last` is the last byte of the first
    /// counter; it counts only where counters repeat ([`Workload::repeats`]).
    ///
    /// # Errors
    /// A number of places that blocks and groups of keystream do not fill.
    pub fn new(workload: &Workload, places: usize, last: u8) -> Result<Self, SuiteError> {
        let (task, blocks, repeats) = (workload.task, workload.blocks(), workload.repeats());
        let paired = repeats || task == Task::InnerProduct;
        let mut out = Placement { places, blocks, task, paired, order: Order::natural(blocks / 2) };
        let even = places > 0 && places.is_multiple_of(2);
        let any = task == Task::Maximum || out.within_blocks();
        if !even || !any && !out.left().is_multiple_of(GROUP) {
            return Err(SchemeError::BadArgument {
                what: "places of blocks",
                expected: format!("an even number, with pairs left by fours of {}", blocks / 2),
                found: places.to_string(),
            }
            .into());
        }
        if repeats {
            out.order = Order::repeating(blocks / 2 / LOW, out.pairs(), last);
        }
        Ok(out)
    }

    /// Whether the numbers of a block meet each other.
    pub fn within_blocks(&self) -> bool {
        self.blocks == 1
    }

    /// Pairs of places of a state.
    fn pairs(&self) -> usize {
        self.places / 2
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        if !self.paired {
            return self.blocks.div_ceil(self.places);
        }
        (self.blocks / 2).div_ceil(self.pairs()).max(1)
    }

    /// Pairs of places without data, of all states.
    fn left(&self) -> usize {
        self.pairs() * self.states() - self.blocks / 2
    }

    /// What places without data add to the sum over a half of all places.
    pub fn surplus(&self) -> u64 {
        if self.within_blocks() { 0 } else { (PER_BLOCK * self.left() / GROUP) as u64 }
    }

    /// The state of a block, and its place there.
    pub fn place(&self, block: usize) -> (usize, usize) {
        if !self.paired {
            return (block / self.places, block % self.places);
        }
        if self.within_blocks() {
            return (0, 0);
        }
        let (half, pair) = (block / (self.blocks / 2), block % (self.blocks / 2));
        let at = self.order.at[pair];
        (at / self.pairs(), half * self.pairs() + at % self.pairs())
    }

    /// The blocks of each state, place by place; where there are fewer than places, the last one is
    /// repeated in those that are left.
    ///
    /// # Errors
    /// Those of the mode.
    pub fn states_of(&self, mode: &Mode, data: &[u8]) -> Result<Vec<Vec<Placed>>, SuiteError> {
        let blocks = mode.clone().next_blocks(data)?;
        let block = |i: usize| (blocks.inputs[i], blocks.pads[i]);
        if !self.paired {
            let all: Vec<Placed> = (0..self.blocks).map(block).collect();
            return Ok(all.chunks(self.places).map(<[_]>::to_vec).collect());
        }
        if self.within_blocks() {
            return Ok(vec![vec![block(0)]]);
        }
        let (half, repeated) = (self.blocks / 2, &self.order.repeated);
        let mut pairs = vec![0; half];
        self.order.at.iter().enumerate().for_each(|(pair, at)| pairs[*at] = pair);
        let at = |state: usize, place: usize| {
            let (upper, at) = (place / self.pairs(), place % self.pairs());
            let at = state * self.pairs() + at;
            if at < half {
                return block(upper * half + pairs[at]);
            }
            let left = at - half;
            let pair = repeated.get(left).copied().unwrap_or(half - 1);
            let (input, pad) = block(upper * half + pair);
            match self.task {
                Task::Maximum => (input, pad),
                Task::InnerProduct => {
                    let complement = left >> upper & 1 == 1;
                    (input, [if complement { 0xff } else { 0 }; BLOCK])
                }
            }
        };
        let state = |state: usize| (0..2 * self.pairs()).map(|place| at(state, place)).collect();
        Ok((0..self.states()).map(state).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use everlevel_aes::SharedColumns;

    use super::*;
    use crate::instance::Instance;
    use crate::transciphering::protocol::{INSTANCES, STAND_INS};

    fn value(block: &[u8; BLOCK], number: usize) -> u64 {
        u16::from_be_bytes([block[2 * number], block[2 * number + 1]]).into()
    }

    /// With any bijection in the place of AES: every block is where it is said to be, and half of
    /// the places' products add up to the inner product and what is known of the rest.
    #[test]
    fn products_of_half_of_the_places_are_the_inner_product() {
        let instances = INSTANCES.iter().chain(&STAND_INS);
        for (instance, places) in
            instances.flat_map(|it| [1920, 120, 64, 4].map(|places| (*it, places)))
        {
            let workload = Workload { instance, task: Task::InnerProduct };
            let placement = Placement::new(&workload, places, 0x7f).unwrap();
            let byte = |i: usize| (i * i / 7 + 31 * i) as u8;
            let data: Vec<u8> = (0..workload.bytes()).map(byte).collect();
            let mode = Mode::ctr(&[0x7f; 16]).unwrap();
            let stream = |input: &[u8; BLOCK]| {
                let x = u128::from_be_bytes(*input);
                x.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes()
            };
            let states = placement.states_of(&mode, &data).unwrap();
            assert_eq!(states.len(), placement.states());
            let open = |(input, pad): &Placed| -> [u8; BLOCK] {
                let stream = stream(input);
                std::array::from_fn(|i| stream[i] ^ pad[i])
            };
            let states: Vec<Vec<[u8; BLOCK]>> =
                states.iter().map(|state| state.iter().map(open).collect()).collect();
            let counters = mode.clone().next_blocks(&data).unwrap();
            let blocks: Vec<[u8; BLOCK]> =
                counters.inputs.into_iter().zip(counters.pads).map(|pair| open(&pair)).collect();
            for (i, block) in blocks.iter().enumerate() {
                let (state, place) = placement.place(i);
                assert_eq!(states[state][place], *block);
            }
            let numbers: Vec<u64> =
                blocks.iter().flat_map(|block| (0..PER_BLOCK).map(|k| value(block, k))).collect();
            let (first, second) = numbers.split_at(numbers.len() / 2);
            let expected: u64 = first.iter().zip(second).map(|(x, y)| x * y).sum();
            if placement.within_blocks() {
                assert_eq!(placement.surplus(), 0);
                continue;
            }
            let pairs = states
                .iter()
                .flat_map(|state| state[..places / 2].iter().zip(&state[places / 2..]));
            let found: u64 =
                pairs.flat_map(|(x, y)| (0..PER_BLOCK).map(|k| value(x, k) * value(y, k))).sum();
            assert_eq!(
                (found - placement.surplus()) % (1 << 16),
                expected % (1 << 16),
                "{instance:?}"
            );
        }
    }

    /// 35 states, whose counters carry over wherever they do, also into bytes that ShiftRows brings
    /// to the last one's column. Every block has a place of its own.
    #[test]
    fn many_states_have_few_bases() {
        let carrying = [0u128, 1, 2, 3, 8, 100, 0x7f7f, 0xfe80, 0xff01, 0xff_ffff, 0xf123_4567];
        let carrying = carrying.into_iter().chain([u128::MAX / 256 - 3, u128::MAX - 4095]);
        for (first, task) in carrying.flat_map(|first| Task::ALL.map(|task| (first, task))) {
            let workload = Workload { instance: INSTANCES[3], task };
            let data = vec![0; workload.bytes()];
            let iv = first.to_be_bytes();
            let placement = Placement::new(&workload, 120, iv[15]).unwrap();
            let states = placement.states_of(&Mode::ctr(&iv).unwrap(), &data).unwrap();
            let mut seen: Vec<_> = (0..workload.blocks()).map(|i| placement.place(i)).collect();
            for (i, (state, place)) in seen.iter().enumerate() {
                let wanted = first + i as u128;
                assert_eq!(u128::from_be_bytes(states[*state][*place].0), wanted, "{first:x}");
            }
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), workload.blocks());
            let inputs: Vec<Vec<_>> = states
                .iter()
                .map(|state| state.iter().map(|(input, _)| *input).collect())
                .collect();
            let shared = SharedColumns::of(&inputs);
            assert_eq!(shared.states(), 35);
            let bases = match iv[15] {
                // Beyond 40 bits a carry changes a byte of the last one's column.
                _ if first % (1 << 40) > (1 << 40) - 4096 => 20,
                // So few classes are of one kind that it lacks a place.
                1 | 2 | 3 | 255 => 9,
                _ => 8,
            };
            assert!(shared.bases() <= bases, "{} of {first:x}", shared.bases());
        }
    }

    /// Three pairs of blocks leave 29 of 32, which are no groups of four.
    #[test]
    fn pairs_that_are_left_go_by_fours() {
        let instance = Instance { name: "of this test", count: 48 };
        let workload = Workload { instance, task: Task::InnerProduct };
        for places in [64, 63, 1, 0] {
            let error = Placement::new(&workload, places, 0).unwrap_err();
            assert_eq!(error.code(), "scheme.bad-argument", "{places}");
        }
        assert_eq!(Placement::new(&workload, 70, 0).unwrap().surplus(), 64);
    }

    /// For the maximum every block has a place, and every place a block of the data.
    #[test]
    fn places_of_the_maximum_hold_data() {
        for (instance, places) in
            INSTANCES.iter().chain(&STAND_INS).flat_map(|it| [120, 4].map(|places| (*it, places)))
        {
            let workload = Workload { instance, task: Task::Maximum };
            let placement = Placement::new(&workload, places, 0x7f).unwrap();
            let data: Vec<u8> = (0..workload.bytes()).map(|i| (i / 16 % 251) as u8).collect();
            let mode = Mode::ctr(&[0x7f; 16]).unwrap();
            let blocks = mode.clone().next_blocks(&data).unwrap();
            let blocks: Vec<Placed> = blocks.inputs.into_iter().zip(blocks.pads).collect();
            let states = placement.states_of(&mode, &data).unwrap();
            assert_eq!(states.len(), workload.blocks().div_ceil(places));
            assert_eq!(states.len(), placement.states());
            for (i, placed) in blocks.iter().enumerate() {
                let (state, place) = placement.place(i);
                assert_eq!(states[state][place], *placed, "{instance:?}");
            }
            // Also where a state is filled up.
            let blocks: BTreeSet<Placed> = blocks.into_iter().collect();
            assert!(states.iter().flatten().all(|placed| blocks.contains(placed)));
            let length = if workload.repeats() { places..=places } else { 1..=places };
            assert!(states.iter().all(|state| length.contains(&state.len())), "{instance:?}");
        }
    }
}
