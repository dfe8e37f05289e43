//! Modes of operation, the public side: which blocks AES is applied to, and what is added to its
//! results.
//!
//! CTR and GCM encrypt counters, whatever the data; CBC and ECB decrypt the data. In all of them
//! ciphertext and counters are public, and only the key is not. Nothing here checks an
//! authentication tag: see [`crate::Transcipher`].

use crate::error::AesError;
use crate::round::Direction;

/// A mode of operation of AES, at a place in its stream of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// The next counter block, none after the last one.
    Counter {
        next: Option<u128>,
        last: u128,
        bits: u32,
    },
    /// The ciphertext block before the next one, at first the initialization vector.
    Cbc {
        previous: [u8; 16],
    },
    Ecb,
}

/// Some blocks of a mode: the plaintext is AES of `inputs`, in the mode's [`Mode::direction`], plus
/// `pads`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// What AES is applied to.
    pub inputs: Vec<[u8; 16]>,
    /// What is added to its results. The bytes after the end of the data are 0.
    pub pads: Vec<[u8; 16]>,
}

impl Mode {
    /// CTR whose first counter block is `iv` and that counts with all of its 128 bits, as `openssl
    /// enc -aes-128-ctr -iv` (SP 800-38A, section 6.5).
    ///
    /// # Errors
    /// [`AesError::NonceLength`] unless `iv` has 16 bytes.
    pub fn ctr(iv: &[u8]) -> Result<Self, AesError> {
        let first = u128::from_be_bytes(array("the first counter block of CTR", iv)?);
        Ok(Self::counting(first, 128))
    }

    /// CTR whose counter blocks are `nonce` and a big-endian counter in the bytes that are left,
    /// beginning with `counter`.
    ///
    /// # Errors
    /// [`AesError::NonceLength`] for more than 15 bytes, [`AesError::CounterStart`] for a counter
    /// that those left do not hold.
    pub fn ctr_with_nonce(nonce: &[u8], counter: u128) -> Result<Self, AesError> {
        if nonce.len() > 15 {
            return Err(AesError::NonceLength {
                what: "the nonce of CTR",
                found: nonce.len(),
                expected: "0 to 15",
            });
        }
        let bits = 128 - 8 * nonce.len() as u32;
        if bits < 128 && counter >> bits != 0 {
            return Err(AesError::CounterStart { found: counter, bits });
        }
        let mut block = [0; 16];
        block[..nonce.len()].copy_from_slice(nonce);
        Ok(Self::counting(u128::from_be_bytes(block) | counter, bits))
    }

    /// The keystream of GCM with an initialization vector of 96 bits: counter blocks `iv` and a
    /// counter of 32 bits, from 2 on (SP 800-38D, sections 7.1 and 7.2). The tag is no
    /// part of the data: it is not checked, and a tag of 16 bytes that was left at the end of the
    /// data, where libraries put it, is decrypted to 16 bytes without meaning.
    ///
    /// # Errors
    /// [`AesError::NonceLength`] for any other length than 12: such vectors pass through GHASH,
    /// which needs the key.
    pub fn gcm(iv: &[u8]) -> Result<Self, AesError> {
        let iv: [u8; 12] = array("the initialization vector of GCM", iv)?;
        // inc32(J0), J0 = IV || 1.
        Self::ctr_with_nonce(&iv, 2)
    }

    /// CBC decryption (SP 800-38A, section 6.2). Padding is not looked at: it is part of the
    /// plaintext.
    ///
    /// # Errors
    /// [`AesError::NonceLength`] unless `iv` has 16 bytes.
    pub fn cbc(iv: &[u8]) -> Result<Self, AesError> {
        Ok(Mode(Kind::Cbc { previous: array("the initialization vector of CBC", iv)? }))
    }

    /// ECB decryption (SP 800-38A, section 6.1): equal blocks are seen to be equal. Padding is part
    /// of the plaintext.
    pub fn ecb() -> Self {
        Mode(Kind::Ecb)
    }

    fn counting(first: u128, bits: u32) -> Self {
        Mode(Kind::Counter { next: Some(first), last: first | u128::MAX >> (128 - bits), bits })
    }

    /// What AES does in this mode.
    pub fn direction(&self) -> Direction {
        match self.0 {
            Kind::Counter { .. } => Direction::Encrypt,
            Kind::Cbc { .. } | Kind::Ecb => Direction::Decrypt,
        }
    }

    /// Whether the mode takes that many more bytes of data in all.
    ///
    /// # Errors
    /// As [`Mode::next_blocks`].
    pub fn check_length(&self, bytes: u64) -> Result<(), AesError> {
        match self.0 {
            Kind::Counter { next, last, bits } => {
                let blocks = bytes.div_ceil(16);
                let left = next.map_or(0, |first| (last - first).saturating_add(1));
                let found = usize::try_from(blocks).unwrap_or(usize::MAX);
                if u128::from(blocks) <= left {
                    Ok(())
                } else {
                    Err(AesError::CounterOverflow { bits, blocks: found, left })
                }
            }
            Kind::Cbc { .. } | Kind::Ecb if bytes.is_multiple_of(16) => Ok(()),
            Kind::Cbc { .. } | Kind::Ecb => {
                Err(AesError::DataLength { found: usize::try_from(bytes).unwrap_or(usize::MAX) })
            }
        }
    }

    /// The blocks for the next bytes of the data. Only the last ones may be no whole number of
    /// blocks, and only in counter modes.
    ///
    /// # Errors
    /// [`AesError::DataLength`] for part of a block in CBC or ECB, [`AesError::CounterOverflow`] if
    /// the counter would wrap. The mode stays where it is then.
    pub fn next_blocks(&mut self, data: &[u8]) -> Result<Blocks, AesError> {
        let count = data.len().div_ceil(16);
        let (whole, rest) = data.as_chunks::<16>();
        let mut blocks = whole.to_vec();
        match &mut self.0 {
            Kind::Counter { next, last, bits } => {
                if !rest.is_empty() {
                    let mut block = [0; 16];
                    block[..rest.len()].copy_from_slice(rest);
                    blocks.push(block);
                }
                let Some(first) = *next else {
                    let overflow =
                        AesError::CounterOverflow { bits: *bits, blocks: count, left: 0 };
                    return if count == 0 {
                        Ok(Blocks { inputs: Vec::new(), pads: blocks })
                    } else {
                        Err(overflow)
                    };
                };
                // One less than there are, which might be 2^128.
                let left = *last - first;
                if count > 0 && count as u128 - 1 > left {
                    return Err(AesError::CounterOverflow {
                        bits: *bits,
                        blocks: count,
                        left: left + 1,
                    });
                }
                *next = first.checked_add(count as u128).filter(|next| next <= last);
                let inputs = (0..count as u128).map(|i| (first + i).to_be_bytes()).collect();
                Ok(Blocks { inputs, pads: blocks })
            }
            _ if !rest.is_empty() => Err(AesError::DataLength { found: data.len() }),
            Kind::Cbc { previous } => {
                let pads =
                    std::iter::once(*previous).chain(blocks.iter().copied()).take(count).collect();
                *previous = blocks.last().copied().unwrap_or(*previous);
                Ok(Blocks { inputs: blocks, pads })
            }
            Kind::Ecb => Ok(Blocks { pads: vec![[0; 16]; count], inputs: blocks }),
        }
    }
}

fn array<const N: usize>(what: &'static str, bytes: &[u8]) -> Result<[u8; N], AesError> {
    let expected =
        if N == 12 { "12 (others need GHASH, which needs the key in plain)" } else { "16" };
    bytes.try_into().map_err(|_| AesError::NonceLength { what, found: bytes.len(), expected })
}
