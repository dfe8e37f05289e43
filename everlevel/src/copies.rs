//! Copies of ranges of slots, with the available rotation keys.

use std::collections::BTreeMap;
use std::ops::Range;

use everlevel_bgv::Ciphertext;
use everlevel_circuit::{CircuitError, rotate_by_keys};
use everlevel_ring::SlotShape;
use everlevel_scheme::{Arithmetic, Automorphisms, Plaintext, Scheme, SchemeError};

use crate::error::Error;
use crate::keys::ServerEvaluator;
use crate::server::{Server, Value};

/// A range of destination slots, each of which takes the value that is `step` slots further on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotCopy {
    /// The position of the source minus that of the destination, in slots.
    pub step: i64,
    /// The destination slots.
    pub slots: Range<usize>,
}

impl Server {
    /// Copies ranges of slots; slots outside of all ranges become 0: `out[i] = Σ a[i + step]`,
    /// summed over the copies whose range contains i.
    ///
    /// The cost for each route of a copy through the dimensions of the slots (one, and one more for
    /// each row boundary that it crosses) is a rotation ([`Server::rotate_columns`]; an exchange of
    /// rows, steps along other dimensions) and a product with a plaintext. It consumes one level.
    ///
    /// # Errors
    /// A source or destination outside of the slots, missing keys, a ciphertext of other
    /// parameters.
    pub fn copy_slots(&self, a: &Value, copies: &[SlotCopy]) -> Result<Value, Error> {
        let ways = ways(self.params().slot_shape(), copies)?;
        let moved = self.session.apply(a, |s, a| {
            let mut sum: Option<Ciphertext> = None;
            for (way, served) in &ways {
                let moved = along(s, a, way)?;
                let mut mask = vec![0; s.params().slots()];
                served.iter().for_each(|&i| mask[i] += 1);
                let part = s.mul_plain(
                    &moved,
                    &Plaintext::encode_modulo(s.params(), &mask, a.meta().exponent)?,
                )?;
                sum = Some(sum.map_or(Ok(part.clone()), |sum| s.add(&sum, &part))?);
            }
            match sum {
                Some(sum) => Ok(sum),
                None => Ok(s.mul_scalar(a, 0)?),
            }
        });
        Ok(moved?)
    }
}

/// The coordinates of a slot.
fn coordinates(shape: &SlotShape, mut slot: usize) -> Vec<usize> {
    let mut out: Vec<usize> =
        shape.dimensions().iter().rev().map(|d| (slot % d.size, slot /= d.size).0).collect();
    out.reverse();
    out
}

/// The steps along each dimension, and the destinations that need them.
fn ways(
    shape: &SlotShape,
    copies: &[SlotCopy],
) -> Result<BTreeMap<Vec<usize>, Vec<usize>>, SchemeError> {
    let slots = shape.slots();
    let mut ways: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for SlotCopy { step, slots: range } in copies {
        let reach = |i: usize| {
            i64::try_from(i)
                .ok()
                .and_then(|i| i.checked_add(*step))
                .and_then(|i| usize::try_from(i).ok())
        };
        let inside = |i: usize| i < slots && reach(i).is_some_and(|from| from < slots);
        let good = range.is_empty() || inside(range.start) && inside(range.end - 1);
        if !good {
            let found = format!("slots {} to {} from {step} further on", range.start, range.end);
            return Err(SchemeError::BadArgument {
                what: "copy of slots",
                expected: format!("slots 0 to {slots}"),
                found,
            });
        }
        for i in range.clone() {
            let from = coordinates(shape, reach(i).unwrap_or(0));
            let way: Vec<usize> =
                std::iter::zip(shape.dimensions(), std::iter::zip(from, coordinates(shape, i)))
                    .map(|(dimension, (from, to))| (from + dimension.size - to) % dimension.size)
                    .collect();
            ways.entry(way).or_default().push(i);
        }
    }
    Ok(ways)
}

/// Rotates along all dimensions, to the left.
fn along(s: &ServerEvaluator, x: &Ciphertext, way: &[usize]) -> Result<Ciphertext, CircuitError> {
    let shape = s.slot_shape();
    let (columns, others) =
        way.split_last().ok_or(CircuitError::Empty { what: "the dimensions of the slots" })?;
    let mut x = if *columns == 0 { x.clone() } else { rotate_by_keys(s, x, *columns as i64)? };
    for (dimension, &steps) in others.iter().enumerate().filter(|(_, steps)| **steps > 0) {
        let size = shape.dimensions()[dimension].size;
        let g = shape.rotation_along(dimension, steps as i64);
        // By one key if it is there, else step by step the shorter way round.
        let (g, times) = match s.galois_level(g, x.level()) {
            Some(_) => (g, 1),
            None if 2 * steps <= size => (shape.rotation_along(dimension, 1), steps),
            None => (shape.rotation_along(dimension, -1), size - steps),
        };
        for _ in 0..times {
            let level = s
                .galois_level(g, x.level())
                .ok_or(CircuitError::NoRoute { steps: steps as i64 })?;
            x = s.apply_galois(&s.mod_switch_to(&x, level)?, g)?;
        }
    }
    Ok(x)
}
