//! Polynomials: limb by limb in the order of the basis, evaluations in slot order, each packed to
//! the width of its prime.

use everlevel_ring::cpu::{from_limbs, limbs};
use everlevel_ring::{Basis, Cpu, Eval, Poly, Ring};
use rayon::prelude::*;

use crate::error::WireError;
use crate::pack::{pack, packed_len, padded, unpack, width_below};

/// Places whose residues are checked at a time: they take whole bytes, and stay in the nearest
/// cache.
const CHECKED: usize = 512;

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

/// The bytes of each limb of a polynomial over `basis`, of which there have to be exactly
/// [`poly_len`], with the position of its prime.
fn limbs_of<'b>(
    ring: &Ring,
    basis: Basis,
    bytes: &'b [u8],
) -> Result<Vec<(usize, &'b [u8])>, WireError> {
    let needed = poly_len(ring, basis);
    if bytes.len() != needed {
        return Err(WireError::malformed("bytes of a polynomial", needed, bytes.len()));
    }
    let mut rest = bytes;
    let mut out = Vec::with_capacity(basis.len());
    for i in basis.iter() {
        let (limb, after) = rest.split_at(limb_len(ring, i));
        out.push((i, limb));
        rest = after;
    }
    Ok(out)
}

/// Unpacks a limb into `part`, as many places at a time as that has, which are all or a multiple of
/// eight. Refuses last bits that are not 0, and what is no residue.
fn unpack_limb(cpu: &Cpu, (i, bytes): (usize, &[u8]), part: &mut [u64]) -> Result<(), WireError> {
    let (q, degree) = (cpu.ring().modulus(i), cpu.ring().degree());
    if !padded(bytes, degree * q.bits() as usize) {
        return Err(WireError::malformed("last bits of a limb", 0, "something else"));
    }
    let places = part.len().max(1);
    let canonical = (0..degree).step_by(places).all(|first| {
        let out = &mut part[..places.min(degree - first)];
        cpu.kernels().unpack_residues(q, out, &bytes[packed_len(first, q.bits())..])
    });
    if canonical {
        return Ok(());
    }
    let mut all = cpu.limb();
    let found = unpack(bytes, q.bits(), &mut all).unwrap_or_default();
    Err(WireError::OutOfRange { what: "residues of a polynomial", found, bound: q.value() })
}

/// Reads a polynomial over `basis` from exactly [`poly_len`] bytes, which are there before anything
/// is allocated.
pub(crate) fn read_poly(cpu: &Cpu, basis: Basis, bytes: &[u8]) -> Result<Poly<Eval>, WireError> {
    let limb = |(i, bytes): (usize, &[u8])| {
        let mut limb = cpu.limb();
        unpack_limb(cpu, (i, bytes), &mut limb)?;
        Ok(limb)
    };
    let limbs = limbs_of(cpu.ring(), basis, bytes)?;
    let limbs = limbs.into_par_iter().map(limb).collect::<Result<_, WireError>>()?;
    Ok(from_limbs(cpu, basis, limbs))
}

/// Passes the bytes that [`read_poly`] reads, and stores nothing of what they hold.
pub(crate) fn check_poly(cpu: &Cpu, basis: Basis, bytes: &[u8]) -> Result<(), WireError> {
    let limbs = limbs_of(cpu.ring(), basis, bytes)?;
    limbs.into_par_iter().try_for_each(|limb| unpack_limb(cpu, limb, &mut [0; CHECKED]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel_ring::cpu::limbs_mut;
    use everlevel_ring::sample::expand;
    use everlevel_ring::{Backend, primes};
    use everlevel_scheme::{OptIn, Params};

    use super::*;

    /// Both ways refuse the same: what is no residue anywhere, bits behind the last one, another
    /// length.
    #[test]
    fn what_is_checked_is_what_is_read() {
        for name in ["insecure_bgv-257-n8", "insecure_aes-m4947"] {
            let params = Params::named(name, OptIn::InsecureResearch).unwrap();
            let (cpu, ring) = (params.cpu(), params.ring());
            let basis = params.chain().basis(params.chain().top());
            let poly = expand(cpu, &[7; 32], 0, basis);
            let mut bytes = vec![0; poly_len(ring, basis)];
            write_poly(ring, &poly, &mut bytes);
            let back = read_poly(cpu, basis, &bytes).unwrap();
            assert!(limbs(&back).iter().zip(limbs(&poly)).all(|(x, y)| x[..] == y[..]));
            check_poly(cpu, basis, &bytes).unwrap();
            for (k, i) in basis.iter().enumerate() {
                let q = ring.modulus(i).value();
                for place in [0, 511, 512, ring.degree() - 1] {
                    let mut wrong = poly.clone();
                    limbs_mut(&mut wrong)[k][place.min(ring.degree() - 1)] = q;
                    let mut bytes = vec![0; bytes.len()];
                    write_poly(ring, &wrong, &mut bytes);
                    let expected = WireError::OutOfRange {
                        what: "residues of a polynomial",
                        found: q,
                        bound: q,
                    };
                    assert_eq!(check_poly(cpu, basis, &bytes), Err(expected.clone()));
                    assert_eq!(read_poly(cpu, basis, &bytes).err(), Some(expected));
                }
            }
            for length in [bytes.len() - 1, bytes.len() + 1] {
                bytes.resize(length, 0);
                let codes =
                    [check_poly(cpu, basis, &bytes).err(), read_poly(cpu, basis, &bytes).err()];
                let codes = codes.map(|e| e.map(|e| e.code()));
                assert_eq!(codes, [Some("wire.malformed"); 2], "{name} {length}");
            }
        }
    }

    /// Six residues of 41 bits leave two bits of a byte.
    #[test]
    fn bits_behind_the_last_residue() {
        let step = Ring::prime_step(7).unwrap();
        let moduli: Vec<u64> = primes::primes_congruent_one(step, 1 << 41).take(2).collect();
        let ring = Arc::new(Ring::new(7, &moduli).unwrap());
        let cpu = Cpu::new(ring.clone(), Backend::detect()).unwrap();
        let basis = Basis::of([0, 1]);
        let poly = expand(&cpu, &[7; 32], 0, basis);
        let mut bytes = vec![0; poly_len(&ring, basis)];
        assert_eq!(bytes.len(), 2 * 31);
        write_poly(&ring, &poly, &mut bytes);
        check_poly(&cpu, basis, &bytes).unwrap();
        for end in [30, 61] {
            bytes[end] ^= 0x80;
            let refused = check_poly(&cpu, basis, &bytes).unwrap_err();
            assert_eq!(refused.code(), "wire.malformed");
            assert_eq!(read_poly(&cpu, basis, &bytes).err(), Some(refused));
            bytes[end] ^= 0x80;
        }
    }
}
