//! Which place of which state holds which block.

use everlevel_aes::Mode;
use everlevel_scheme::SchemeError;

use super::protocol::{BLOCK, PER_BLOCK, Task, Workload};
use crate::error::SuiteError;

/// A block on its way through AES: what that is applied to, and what is added to the result.
pub(super) type Placed = ([u8; BLOCK], [u8; BLOCK]);

/// Where blocks are, and so which of them meet.
///
/// For the maximum they are in their order, and the last one is repeated in places that are left:
/// every place holds data, and nothing has to be masked.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    places: usize,
    blocks: usize,
    /// Whether numbers are multiplied by each other.
    paired: bool,
}

/// Pairs of places that are filled together.
const GROUP: usize = 4;

impl Placement {
    /// For states of this many places, for a block each.
    ///
    /// # Errors
    /// A number of places that blocks and groups of keystream do not fill.
    pub fn new(workload: &Workload, places: usize) -> Result<Self, SuiteError> {
        let paired = workload.task == Task::InnerProduct;
        let out = Placement { places, blocks: workload.blocks(), paired };
        let even = places > 0 && places.is_multiple_of(2);
        if even && (!paired || out.within_blocks() || out.left().is_multiple_of(GROUP)) {
            return Ok(out);
        }
        Err(SchemeError::BadArgument {
            what: "places of blocks",
            expected: format!("an even number, with pairs left by fours of {}", out.blocks / 2),
            found: places.to_string(),
        }
        .into())
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
        (pair / self.pairs(), half * self.pairs() + pair % self.pairs())
    }

    /// The blocks of each state, place by place; the last one is repeated in places that are left.
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
        let half = self.blocks / 2;
        let at = |state: usize, place: usize| {
            let (upper, pair) = (place / self.pairs(), place % self.pairs());
            let pair = state * self.pairs() + pair;
            if pair < half {
                return block(upper * half + pair);
            }
            // The keystream of one block of each half.
            let (keystream, _) = block(upper * half + half - 1);
            let complement = (pair - half) >> upper & 1 == 1;
            (keystream, [if complement { 0xff } else { 0 }; BLOCK])
        };
        let state = |state: usize| (0..2 * self.pairs()).map(|place| at(state, place)).collect();
        Ok((0..self.states()).map(state).collect())
    }
}

#[cfg(test)]
mod tests {
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
            let placement = Placement::new(&workload, places).unwrap();
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

    /// Three pairs of blocks leave 29 of 32, which are no groups of four.
    #[test]
    fn pairs_that_are_left_go_by_fours() {
        let instance = Instance { name: "of this test", count: 48 };
        let workload = Workload { instance, task: Task::InnerProduct };
        for places in [64, 63, 1, 0] {
            let error = Placement::new(&workload, places).unwrap_err();
            assert_eq!(error.code(), "scheme.bad-argument", "{places}");
        }
        assert_eq!(Placement::new(&workload, 70).unwrap().surplus(), 64);
    }

    /// For the maximum every block has a place, and every place a block of the data.
    #[test]
    fn blocks_follow_each_other_for_the_maximum() {
        for (instance, places) in
            INSTANCES.iter().chain(&STAND_INS).flat_map(|it| [120, 4].map(|places| (*it, places)))
        {
            let workload = Workload { instance, task: Task::Maximum };
            let placement = Placement::new(&workload, places).unwrap();
            let data: Vec<u8> = (0..workload.bytes()).map(|i| (i / 16 % 251) as u8).collect();
            let mode = Mode::ctr(&[0x7f; 16]).unwrap();
            let blocks = mode.clone().next_blocks(&data).unwrap();
            let states = placement.states_of(&mode, &data).unwrap();
            assert_eq!(states.len(), placement.states());
            assert_eq!(states.iter().map(Vec::len).sum::<usize>(), workload.blocks());
            assert!(states.iter().all(|state| (1..=places).contains(&state.len())));
            for (i, placed) in blocks.inputs.into_iter().zip(blocks.pads).enumerate() {
                let (state, place) = placement.place(i);
                assert_eq!(states[state][place], placed, "{instance:?}");
            }
        }
    }
}
