//! Residues in as many bits as their modulus has, as files have them: residue k takes the bits from
//! w k on, w the bits of the modulus and bit j being bit j mod 8 of byte j / 8, the least
//! significant first.

use crate::kernels::Kernels;
use crate::modulus::Modulus;

/// The bytes that `count` residues modulo `q` take.
pub const fn residue_bytes(q: Modulus, count: usize) -> usize {
    (q.bits() as usize * count).div_ceil(8)
}

impl Kernels {
    /// Unpacks as many residues as there is room for, the first of which begins at the first byte,
    /// and returns whether all of them are below q: bytes may hold any words of its bits. Where
    /// bytes go on behind the residues, whole vectors take the last residues, too.
    ///
    /// A word is written for each residue, and w bits are read.
    ///
    /// # Panics
    /// If there are fewer bytes than [`residue_bytes`].
    pub fn unpack_residues(&self, q: Modulus, out: &mut [u64], bytes: &[u8]) -> bool {
        assert!(bytes.len() >= residue_bytes(q, out.len()), "bytes of {} residues", out.len());
        let mut below = false;
        (self.unpack_residues)(q, out, bytes, &mut below);
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;
    use crate::kernels;

    #[test]
    fn a_stream_by_hand() {
        // 5, 3, 6, 1 in three bits each: 101 110 011 100 from the lowest bit up.
        let q = Modulus::new(7).unwrap();
        assert_eq!([0, 1, 2, 3, 8].map(|count| residue_bytes(q, count)), [0, 1, 1, 2, 3]);
        for backend in Backend::available() {
            let (kernels, mut out) = (kernels::on(backend).unwrap(), [9; 4]);
            assert!(kernels.unpack_residues(q, &mut out, &[0b1001_1101, 0b0000_0011]));
            assert_eq!(out, [5, 3, 6, 1]);
            assert!(kernels.unpack_residues(q, &mut out[..2], &[0b1001_1101]));
            assert!(!kernels.unpack_residues(q, &mut out, &[0b1101_1101, 0b0000_0011]));
            assert_eq!(out, [5, 3, 7, 1]);
        }
    }

    #[test]
    #[should_panic(expected = "bytes of 3 residues")]
    fn fewer_bytes() {
        let kernels = kernels::on(Backend::Portable).unwrap();
        kernels.unpack_residues(Modulus::new(7).unwrap(), &mut [0; 3], &[0]);
    }
}
