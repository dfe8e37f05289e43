//! Which place of which state holds which block.

use everlevel_aes::Mode;
use everlevel_scheme::SchemeError;

use super::protocol::{BLOCK, LOW, PER_BLOCK, Task, Workload};
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
///
/// Where counters repeat in their last byte, pairs are in such an order that few states differ in
/// these bytes, and few in the others: then the first rounds of AES are those of few states
/// ([`SharedColumns`](everlevel_aes::SharedColumns)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    places: usize,
    blocks: usize,
    /// Whether numbers are multiplied by each other.
    paired: bool,
    /// Where each pair is among all pairs of places, state by state.
    pairs_at: Vec<usize>,
}

/// Pairs of places that are filled together.
const GROUP: usize = 4;

impl Placement {
    /// For states of this many places, for a block each, if `last` is the last byte of the first
    /// counter; it counts only where counters repeat ([`Workload::repeats`]).
    ///
    /// # Errors
    /// A number of places that blocks and groups of keystream do not fill.
    pub fn new(workload: &Workload, places: usize, last: u8) -> Result<Self, SuiteError> {
        let paired = workload.task == Task::InnerProduct;
        let half = workload.blocks() / 2;
        let pairs_at = match paired && workload.repeats() {
            true => repeating(half / LOW, places / 2, last.into()),
            false => (0..half).collect(),
        };
        let out = Placement { places, blocks: workload.blocks(), paired, pairs_at };
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
        let at = self.pairs_at[pair];
        (at / self.pairs(), half * self.pairs() + at % self.pairs())
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
        let mut order = vec![0; half];
        self.pairs_at.iter().enumerate().for_each(|(pair, at)| order[*at] = pair);
        let at = |state: usize, place: usize| {
            let (upper, at) = (place / self.pairs(), place % self.pairs());
            let at = state * self.pairs() + at;
            if at < half {
                return block(upper * half + order[at]);
            }
            // The keystream of one block of each half.
            let (keystream, _) = block(upper * half + half - 1);
            let complement = (at - half) >> upper & 1 == 1;
            (keystream, [if complement { 0xff } else { 0 }; BLOCK])
        };
        let state = |state: usize| (0..2 * self.pairs()).map(|place| at(state, place)).collect();
        Ok((0..self.states()).map(state).collect())
    }
}

/// Where each pair of `rounds` times [`LOW`] pairs is among those of states of `places` pairs,
/// which are filled one after the other.
///
/// Pairs whose numbers differ by multiples of [`LOW`] agree in the last byte of their counters.
/// These classes are put into as many groups of `places` as there are; the states of a group are
/// those of the rounds. So they agree in the last bytes, and the states of one round in all groups
/// agree in the other bytes, if classes of one place carry over from the last byte at the same
/// pair: those from `LOW - last` on do in the first round, the others one round later. Classes that
/// are left fill the last states, in any order.
fn repeating(rounds: usize, places: usize, last: usize) -> Vec<usize> {
    let groups = LOW / places.max(1);
    let carry = LOW - last;
    let (early, late): (Vec<usize>, Vec<usize>) = (0..LOW).partition(|class| *class < carry);
    // Whole places first: of one kind of classes each, but for the last one.
    let mut classes: Vec<usize> = Vec::with_capacity(LOW);
    let mut rest: Vec<usize> = Vec::new();
    for kind in [early, late] {
        let whole = kind.len() - kind.len() % groups.max(1);
        classes.extend(&kind[..whole]);
        rest.extend(&kind[whole..]);
    }
    classes.extend(rest);
    let (grouped, left) = classes.split_at(groups * places);
    let mut out = vec![0; rounds * LOW];
    for (k, &class) in grouped.iter().enumerate() {
        let (place, group) = (k / groups, k % groups);
        for round in 0..rounds {
            out[round * LOW + class] = (group * rounds + round) * places + place;
        }
    }
    let first = rounds * grouped.len();
    for (k, &class) in left.iter().enumerate() {
        for round in 0..rounds {
            out[round * LOW + class] = first + round * left.len() + k;
        }
    }
    out
}

#[cfg(test)]
mod tests {
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
    /// to the last one's column. Every pair has a place of its own.
    #[test]
    fn many_states_have_few_bases() {
        let workload = Workload { instance: INSTANCES[3], task: Task::InnerProduct };
        let data = vec![0; workload.bytes()];
        let carrying = [0u128, 1, 2, 3, 8, 100, 0x7f7f, 0xfe80, 0xff01, 0xff_ffff, 0xf123_4567];
        for first in carrying.into_iter().chain([u128::MAX / 256 - 3, u128::MAX - 4095]) {
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
            // Beyond 40 bits a carry changes a byte of the other column.
            let bases = if first % (1 << 40) > (1 << 40) - 4096 { 20 } else { 11 };
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
    fn blocks_follow_each_other_for_the_maximum() {
        for (instance, places) in
            INSTANCES.iter().chain(&STAND_INS).flat_map(|it| [120, 4].map(|places| (*it, places)))
        {
            let workload = Workload { instance, task: Task::Maximum };
            let placement = Placement::new(&workload, places, 0x7f).unwrap();
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
