//! Polynomials: limb by limb in the order of the basis, evaluations in slot order, each packed to
//! the width of its prime.

use everlevel_ring::cpu::{from_limbs, limbs};
use everlevel_ring::{Basis, Cpu, Eval, Poly, Ring};
use rayon::prelude::*;

use crate::error::WireError;
use crate::pack::{pack, packed_len, unpack, width_below};

/// The bytes of one limb.
fn limb_len(ring: &Ring, position: usize) -> usize {
    packed_len(ring.degree(), width_below(ring.modulus(position).value()))
}

/// The bytes of a polynomial over `basis`.
pub(crate) fn poly_len(ring: &Ring, basis: Basis) -> usize {
    basis.iter().map(|i| limb_len(ring, i)).sum()
}

/// Writes a polynomial into exactly [`poly_len`] bytes.
pub(crate) fn write_poly(ring: &Ring, poly: &Poly<Eval>, mut out: &mut [u8]) {
    let mut jobs = Vec::with_capacity(poly.basis().len());
    for (i, limb) in poly.basis().iter().zip(limbs(poly)) {
        let (slice, rest) = out.split_at_mut(limb_len(ring, i));
        jobs.push((i, limb, slice));
        out = rest;
    }
    jobs.into_par_iter()
        .for_each(|(i, limb, slice)| pack(limb, width_below(ring.modulus(i).value()), slice));
}

/// Reads a polynomial over `basis` from exactly [`poly_len`] bytes, which are there before anything
/// is allocated.
pub(crate) fn read_poly(cpu: &Cpu, basis: Basis, bytes: &[u8]) -> Result<Poly<Eval>, WireError> {
    let ring = cpu.ring();
    let needed = poly_len(ring, basis);
    if bytes.len() != needed {
        return Err(WireError::malformed("bytes of a polynomial", needed, bytes.len()));
    }
    let mut rest = bytes;
    let mut jobs = Vec::with_capacity(basis.len());
    for i in basis.iter() {
        let (slice, after) = rest.split_at(limb_len(ring, i));
        jobs.push((i, slice));
        rest = after;
    }
    let limb = |(i, slice): (usize, &[u8])| {
        let q = ring.modulus(i).value();
        let mut limb = cpu.limb();
        let largest = unpack(slice, width_below(q), &mut limb);
        let found = largest
            .ok_or_else(|| WireError::malformed("last bits of a limb", 0, "something else"))?;
        if found >= q {
            return Err(WireError::OutOfRange {
                what: "residues of a polynomial",
                found,
                bound: q,
            });
        }
        Ok(limb)
    };
    let limbs = jobs.into_par_iter().map(limb).collect::<Result<_, WireError>>()?;
    Ok(from_limbs(cpu, basis, limbs))
}
