//! Bytes taken from the front, with their lengths checked.

use crate::error::WireError;

/// Takes numbers, lowest byte first, and bytes from the front of a slice. Every method returns
/// [`WireError::Truncated`] where too few are left.
pub struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    /// From the first byte on.
    pub fn new(bytes: &'b [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Result<&'b [u8], WireError> {
        let taken = self.bytes[self.at..].get(..count);
        let taken = taken.ok_or(WireError::Truncated {
            needed: (self.at as u64).saturating_add(count as u64),
            found: self.bytes.len() as u64,
        })?;
        self.at += count;
        Ok(taken)
    }

    /// The next bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Result<u8, WireError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// The next two bytes as a number.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// The next four bytes as a number.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// The next eight bytes as a number.
    pub fn u64(&mut self) -> Result<u64, WireError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The next sixteen bytes as a number.
    pub fn u128(&mut self) -> Result<u128, WireError> {
        Ok(u128::from_le_bytes(self.array()?))
    }

    /// Takes that many bytes, which have to be 0.
    ///
    /// # Errors
    /// Others.
    pub fn zeros(&mut self, count: usize) -> Result<(), WireError> {
        if self.take(count)?.iter().any(|byte| *byte != 0) {
            return Err(WireError::malformed("reserved bytes", 0, "something else"));
        }
        Ok(())
    }

    /// What is left.
    pub fn rest(&mut self) -> &'b [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    /// Passes if nothing is left.
    ///
    /// # Errors
    /// [`WireError::Trailing`].
    pub fn finish(&self) -> Result<(), WireError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            extra => Err(WireError::Trailing { extra: extra as u64 }),
        }
    }
}
