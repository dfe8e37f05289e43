//! What the server computes, over any scheme: AES, and the inner product.

use everlevel_aes::integers::{ByteOrder, IntegersFromBytes, joined_along};
use everlevel_aes::{
    Aes, AesError, Cipher, KeySize, Layout, Mode, Packed, RoundKeys, SharedColumns, SharedRounds,
    Transcipher,
};
use everlevel_circuit::rotate_along;
use everlevel_circuit::sums::PowerSum;
use everlevel_scheme::{ExactScheme, Level, NextUse, SchemeError};
use rayon::prelude::*;

use super::placement::{Placed, Placement};
use super::protocol::{BITS, BLOCK, PER_BLOCK, Workload};
use crate::error::SuiteError;

/// The dimension of the slots along which pairs are half of it apart: the outermost one.
const APART: usize = 0;

/// AES on packed states.
pub(super) struct Decryption<S: ExactScheme> {
    aes: Packed<S>,
    cipher: Cipher,
    /// Where states take the first rounds together.
    shared: Option<SharedRounds<S>>,
}

impl<S: ExactScheme> Decryption<S> {
    /// For the data of a workload.
    pub fn new(scheme: &S, top: Level, workload: &Workload) -> Result<Self, SuiteError> {
        let direction = workload.mode(&[0; BLOCK])?.direction();
        let shared = workload.shares_rounds().then(|| SharedRounds::new(scheme, top));
        Ok(Decryption {
            aes: Packed::in_direction(scheme, top, direction)?,
            cipher: Cipher::new(KeySize::Aes128, direction),
            shared: shared.transpose()?,
        })
    }

    /// The levels at which the keys of rounds 0, 1, .. are needed, if the first one that is used is
    /// at `top`. `blank` encrypts anything at a level.
    pub fn key_levels(
        &self,
        scheme: &S,
        top: Level,
        blank: impl FnMut(Level) -> Result<S::Ciphertext, AesError>,
    ) -> Result<Vec<Level>, SuiteError> {
        let (aes, cipher) = (&self.aes, self.cipher);
        Ok(match &self.shared {
            Some(shared) => shared.key_levels(scheme, aes, cipher.size, top, blank)?,
            None => Transcipher::key_levels(scheme, aes, cipher, top, None, blank)?,
        })
    }

    /// Round keys, each at the level at which it is needed or below.
    pub fn round_keys(
        &self,
        scheme: &S,
        uploaded: &[S::Ciphertext],
        levels: &[Level],
    ) -> Result<RoundKeys<S>, SuiteError> {
        let lowered = |(key, level): (&S::Ciphertext, &Level)| {
            Ok(vec![scheme.mod_switch_to(key, scheme.level(key).min(*level))?])
        };
        let keys = uploaded.par_iter().zip(levels).map(lowered);
        Ok(RoundKeys::new(KeySize::Aes128, keys.collect::<Result<_, SchemeError>>()?)?)
    }

    /// States of blocks, in parallel.
    pub fn states(
        &self,
        scheme: &S,
        mode: &Mode,
        keys: &RoundKeys<S>,
        states: &[Vec<Placed>],
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        let Some(shared) = &self.shared else {
            let states = states.par_iter().map(|blocks| self.state(scheme, mode, keys, blocks));
            return Ok(states.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect());
        };
        // Places that are left repeat the last block, as those of a state by itself do.
        let filled = |state: &Vec<Placed>| -> (Vec<_>, Vec<_>) {
            let last = state.last().into_iter().cycle();
            state.iter().chain(last).take(self.aes.blocks().max(state.len())).copied().unzip()
        };
        let (inputs, pads): (Vec<_>, Vec<_>) = states.iter().map(filled).unzip();
        let (columns, level) = (SharedColumns::of(&inputs), keys.level(scheme, self.cipher.key(0)));
        let opened = shared.encrypt(scheme, &self.aes, &columns, level, keys)?;
        let add = |(x, pads): (&S::Ciphertext, &Vec<[u8; BLOCK]>)| {
            let pads = scheme.encode_elements(&self.aes.encode(pads)[0])?;
            Ok(scheme.add_plain(x, &pads)?)
        };
        opened.par_iter().zip(&pads).map(add).collect()
    }

    /// A state of blocks.
    fn state(
        &self,
        scheme: &S,
        mode: &Mode,
        keys: &RoundKeys<S>,
        blocks: &[Placed],
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        let (size, level) = (KeySize::Aes128, keys.level(scheme, self.cipher.key(0)));
        let mut source = keys.source(scheme);
        let mut run = Transcipher::new(scheme, &self.aes, size, mode.clone(), level, &mut source)?;
        Ok(run.placed(blocks, &mut |_| ())?)
    }
}

/// The inner product modulo 2^16 of the first half of the data with the second.
pub(super) struct InnerProduct<S: ExactScheme> {
    integers: IntegersFromBytes<S>,
    placement: Placement,
    /// The dimension along which blocks lie.
    line: usize,
    /// Half of the dimension along which pairs are apart.
    half: usize,
}

impl<S: ExactScheme> InnerProduct<S> {
    /// For states at a level or below.
    pub fn new(scheme: &S, placement: Placement, level: Level) -> Result<Self, SuiteError> {
        let shape = scheme.slot_shape();
        let integers = IntegersFromBytes::new(scheme, 1, BITS, ByteOrder::Big, level)?;
        let dimensions = shape.dimensions();
        let line = Layout::packed(shape)?.line().filter(|line| *line != APART);
        let apart = dimensions.get(APART).filter(|found| found.good && found.size % 2 == 0);
        let (Some(line), Some(apart)) = (line, apart) else {
            let sizes: Vec<_> = dimensions.iter().map(|found| found.size).collect();
            return Err(SchemeError::BadArgument {
                what: "slots",
                expected: "a good outermost dimension of an even size beside the blocks'".into(),
                found: format!("{sizes:?}"),
            }
            .into());
        };
        Ok(InnerProduct { integers, placement, line, half: apart.size / 2 })
    }

    /// In every second slot along the line, from where a number begins, the product with the number
    /// that it meets, of a state; the slots between these hold products of what is no number.
    pub fn products(&self, scheme: &S, state: &S::Ciphertext) -> Result<S::Product, SuiteError> {
        let bytes = self.integers.evaluate(scheme, &[state])?;
        let numbers = joined_along(scheme, &bytes, self.line, 2, ByteOrder::Big)?;
        // Half a block apart along the line, or half a state apart.
        let (dimension, steps) = match self.placement.within_blocks() {
            true => (self.line, PER_BLOCK),
            false => (APART, self.half),
        };
        let moved = rotate_along(scheme, &numbers, dimension, steps as i64, NextUse::Product)?;
        Ok(scheme.mul_lazy(&numbers, &moved)?)
    }

    /// The inner product in every slot that begins a number, from the products of all states.
    pub fn total(
        &self,
        scheme: &S,
        products: Vec<S::Product>,
    ) -> Result<S::Ciphertext, SuiteError> {
        let mut products = products.into_iter();
        let first = products.next().ok_or_else(|| SchemeError::BadArgument {
            what: "states",
            expected: "at least one".into(),
            found: "none".into(),
        })?;
        let sum = products.try_fold(first, |sum, x| scheme.add_products(&sum, &x))?;
        let sum = scheme.relinearize(&sum, NextUse::LinearMap)?;
        let folds = self.folds(scheme)?;
        let sum = folds.iter().try_fold(sum, |sum, fold| fold.apply(scheme, &sum))?;
        Ok(scheme.add_scalar(&sum, -(self.placement.surplus() as i64))?)
    }

    /// What adds up the slots that hold different products. Those that are apart as pairs are hold
    /// the same, and half of them is all.
    fn folds(&self, scheme: &S) -> Result<Vec<PowerSum>, SuiteError> {
        let shape = scheme.slot_shape();
        // Every second slot of a line begins a number.
        if self.placement.within_blocks() {
            return Ok(vec![PowerSum::windows(shape, self.line, PER_BLOCK / 2, 2)?]);
        }
        let mut folds = vec![
            PowerSum::windows(shape, APART, self.half, 1)?,
            PowerSum::windows(shape, self.line, PER_BLOCK, 2)?,
        ];
        // Automorphisms along the last dimension, which may be bad, move slots along the others, by
        // powers of 2. By then slots depend on none of these but on whether they begin a number,
        // and along the line, whose slots are the units modulo 17, powers of 2 are squares, and so
        // even steps.
        for dimension in (0..shape.dimensions().len()).filter(|i| ![APART, self.line].contains(i)) {
            folds.push(PowerSum::along(shape, dimension)?);
        }
        Ok(folds)
    }
}

#[cfg(test)]
mod tests {
    use everlevel_scheme::{NoOp, Plaintext};

    use super::*;
    use crate::instance::Instance;
    use crate::transciphering::protocol::{INSTANCES, STAND_INS, Task};

    /// The inner product on the no-op scheme, on both rings, against sums in the clear: places,
    /// groups of keystream, and folds along all dimensions; of a block by itself and of several
    /// states, the last of which is not full.
    #[test]
    fn the_inner_product_is_that_in_the_clear() {
        check_inner_products([INSTANCES[0], INSTANCES[2]].into_iter().chain(STAND_INS));
    }

    #[test]
    #[ignore = "ten seconds: thirty-six states"]
    fn the_inner_product_of_other_instances_is_that_in_the_clear_in_full() {
        check_inner_products([INSTANCES[1], INSTANCES[3]].into_iter());
    }

    fn check_inner_products(instances: impl Iterator<Item = Instance>) {
        for instance in instances {
            let workload = Workload { instance, task: Task::InnerProduct };
            let params = workload.shared_params();
            let (scheme, layout) =
                (NoOp::new(&params, 1), Layout::packed(params.slot_shape()).unwrap());
            let placement = Placement::new(&workload, layout.blocks(), 0x7f).unwrap();
            let byte = |i: usize| (i * i / 7 + 31 * i) as u8;
            let data: Vec<u8> = (0..workload.bytes()).map(byte).collect();
            let mode = Mode::ctr(&[0x7f; BLOCK]).unwrap();
            // In the place of AES what it would be applied to.
            let open = |(input, pad): &Placed| -> [u8; BLOCK] {
                std::array::from_fn(|i| input[i].wrapping_mul(5) ^ pad[i])
            };
            let states = placement.states_of(&mode, &data).unwrap();
            let top = params.chain().top();
            let inner = InnerProduct::new(&scheme, placement.clone(), top).unwrap();
            let mut blocks = vec![[0; BLOCK]; workload.blocks()];
            let mut products = Vec::new();
            for (k, state) in states.iter().enumerate() {
                let mut opened: Vec<_> = state.iter().map(open).collect();
                for (i, block) in blocks.iter_mut().enumerate() {
                    let (place, slot) = placement.place(i);
                    if place == k {
                        *block = opened[slot];
                    }
                }
                opened.resize(layout.blocks(), opened[opened.len() - 1]);
                let slots = layout.encode(&opened).swap_remove(0);
                let message = Plaintext::encode_elements(&params, &slots).unwrap();
                let encrypted = scheme.encrypt(&message).unwrap();
                products.push(inner.products(&scheme, &encrypted).unwrap());
            }
            let total = inner.total(&scheme, products).unwrap();
            let slots = scheme.decrypt(&total).unwrap().decode(&params).unwrap();
            let numbers: Vec<u64> = blocks
                .as_flattened()
                .as_chunks::<2>()
                .0
                .iter()
                .map(|x| u16::from_be_bytes(*x).into())
                .collect();
            let (first, second) = numbers.split_at(numbers.len() / 2);
            let expected: u64 = first.iter().zip(second).map(|(x, y)| x * y).sum();
            for block in 0..layout.blocks() {
                for number in 0..PER_BLOCK {
                    let slot = layout.place(block, 2 * number).slot;
                    assert_eq!(slots[slot], expected % (1 << BITS), "{} {slot}", instance.name);
                }
            }
        }
    }
}
