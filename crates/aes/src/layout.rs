//! The layout of bytes in slots.

use std::ops::Range;

use everlevel_ring::SlotShape;
use everlevel_scheme::SchemeError;

use crate::embedding::ByteEmbedding;
use crate::error::AesError;
use crate::line::Line;

/// The layout of the blocks of a state in the slots of its ciphertexts. It follows from the shape
/// of the slots, so that the owner of the secret key can read results without the server.
#[derive(Clone, Debug)]
pub struct Layout {
    slots: usize,
    degree: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Ciphertext i holds bit i of each block, the most significant bit of each byte first.
    Bits,
    /// Ciphertext i holds byte i of each block.
    Bytes(ByteEmbedding),
    /// One ciphertext holds blocks, each along a line of slots.
    Lines(ByteEmbedding, Line),
}

/// The position of a byte of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The ciphertext that holds it, or the eight ones that hold its bits, the most significant
    /// first.
    pub ciphertexts: Range<usize>,
    /// The slot.
    pub slot: usize,
}

impl Layout {
    /// 128 ciphertexts, each with a bit of the blocks, a block for each slot: for ways of
    /// evaluation by bits.
    pub fn bit_sliced(shape: &SlotShape) -> Self {
        Self::new(shape, Kind::Bits)
    }

    /// The layout of [`crate::ByteSliced`]: 16 ciphertexts, with one block in each slot.
    ///
    /// # Errors
    /// Those of [`ByteEmbedding::new`].
    pub fn byte_sliced(shape: &SlotShape) -> Result<Self, AesError> {
        Ok(Self::new(shape, Kind::Bytes(ByteEmbedding::new(shape)?)))
    }

    /// The layout of [`crate::Packed`]: one ciphertext, with one block in each line of 16 slots.
    ///
    /// # Errors
    /// [`AesError::NoLine`] for slots without a good dimension of 16 ahead of the last one, those
    /// of [`ByteEmbedding::new`].
    pub fn packed(shape: &SlotShape) -> Result<Self, AesError> {
        Ok(Self::new(shape, Kind::Lines(ByteEmbedding::new(shape)?, Line::of(shape)?)))
    }

    fn new(shape: &SlotShape, kind: Kind) -> Self {
        Layout { slots: shape.slots(), degree: shape.degree_of_slot(), kind }
    }

    /// The number of ciphertexts of a state.
    pub fn width(&self) -> usize {
        match self.kind {
            Kind::Bits => 128,
            Kind::Bytes(_) => 16,
            Kind::Lines(..) => 1,
        }
    }

    /// The dimension of the slots along which the bytes of a block lie, if they do.
    pub fn line(&self) -> Option<usize> {
        match &self.kind {
            Kind::Bits | Kind::Bytes(_) => None,
            Kind::Lines(_, line) => Some(line.dimension()),
        }
    }

    /// The number of blocks of a state.
    pub fn blocks(&self) -> usize {
        self.blocks_in(self.slots)
    }

    /// The blocks that `slots` slots hold.
    fn blocks_in(&self, slots: usize) -> usize {
        match &self.kind {
            Kind::Bits | Kind::Bytes(_) => slots,
            Kind::Lines(_, line) => slots / (16 * line.inner()) * line.inner(),
        }
    }

    /// The slots that `blocks` blocks take.
    fn slots_for(&self, blocks: usize) -> usize {
        match &self.kind {
            Kind::Bits | Kind::Bytes(_) => blocks,
            Kind::Lines(_, line) => 16 * blocks.next_multiple_of(line.inner()),
        }
    }

    /// The number of bytes of a state.
    pub fn capacity(&self) -> usize {
        16 * self.blocks()
    }

    /// The place of byte `position` of a block.
    pub fn place(&self, block: usize, position: usize) -> Place {
        match &self.kind {
            Kind::Bits => Place { ciphertexts: 8 * position..8 * position + 8, slot: block },
            Kind::Bytes(_) => Place { ciphertexts: position..position + 1, slot: block },
            Kind::Lines(_, line) => Place { ciphertexts: 0..1, slot: line.slot(block, position) },
        }
    }

    /// What the slots of each ciphertext hold: d bits for each slot, as for
    /// [`Scheme::encode_elements`](everlevel_scheme::Scheme::encode_elements), which refuses more
    /// than [`Layout::blocks`] of them. Missing blocks are 0.
    pub fn encode(&self, blocks: &[[u8; 16]]) -> Vec<Vec<u64>> {
        let slots = self.slots.max(self.slots_for(blocks.len()));
        let mut out = vec![vec![0; slots * self.degree]; self.width()];
        for (b, block) in blocks.iter().enumerate() {
            for (position, byte) in block.iter().enumerate() {
                let Place { ciphertexts, slot } = self.place(b, position);
                let at = slot * self.degree;
                match &self.kind {
                    Kind::Bits => out[ciphertexts]
                        .iter_mut()
                        .rev()
                        .enumerate()
                        .for_each(|(j, x)| x[at] = u64::from(byte >> j & 1)),
                    Kind::Bytes(field) | Kind::Lines(field, _) => {
                        field.write(*byte, &mut out[ciphertexts.start][at..][..self.degree])
                    }
                }
            }
        }
        out
    }

    /// The blocks of a decrypted state, the inverse of [`Layout::encode`].
    ///
    /// # Errors
    /// [`AesError::Width`] for another number of ciphertexts, [`AesError::NotInField`] for a slot
    /// that holds something else.
    pub fn decode(&self, elements: &[Vec<u64>]) -> Result<Vec<[u8; 16]>, AesError> {
        AesError::check_width("the decrypted state", elements.len(), self.width())?;
        let slots = elements.iter().map(Vec::len).min().unwrap_or(0) / self.degree;
        let mut blocks = vec![[0; 16]; self.blocks_in(slots)];
        // Told once all slots were looked at.
        let mut outside = None;
        for (b, block) in blocks.iter_mut().enumerate() {
            for (position, byte) in block.iter_mut().enumerate() {
                let Place { ciphertexts, slot } = self.place(b, position);
                for x in &elements[ciphertexts] {
                    let element = &x[slot * self.degree..][..self.degree];
                    let (found, what) = match &self.kind {
                        Kind::Bits => {
                            let bit = element[0] <= 1 && element[1..].iter().all(|&x| x == 0);
                            (bit.then_some(*byte << 1 | (element[0] as u8 & 1)), "bit")
                        }
                        Kind::Bytes(field) | Kind::Lines(field, _) => (field.byte(element), "byte"),
                    };
                    *byte = found.unwrap_or(0);
                    if found.is_none() {
                        outside.get_or_insert(AesError::NotInField { slot, what });
                    }
                }
            }
        }
        outside.map_or(Ok(blocks), Err)
    }

    /// The first `length` bytes of a decrypted state, block by block.
    ///
    /// # Errors
    /// [`AesError::Width`] for another number of ciphertexts, [`AesError::BatchLength`] for more
    /// bytes than a state holds; [`SchemeError::NotDecryptable`] for slots that hold something
    /// else, as for whatever else cannot have been encrypted.
    pub fn bytes(&self, elements: &[Vec<u64>], length: usize) -> Result<Vec<u8>, AesError> {
        AesError::check_batch(length, self.capacity())?;
        let blocks = self.decode(elements).map_err(|e| match e {
            AesError::NotInField { .. } => SchemeError::NotDecryptable.into(),
            e => e,
        })?;
        let mut bytes = blocks.into_flattened();
        AesError::check_batch(length, bytes.len())?;
        bytes.truncate(length);
        Ok(bytes)
    }
}
