//! Vectors of elements along the last dimensions of the slots of an index with axes.

use everlevel_ring::{GaloisRing, SlotShape};

use crate::error::CircuitError;

/// The ring of polynomials in the X_a of the last axes alone, as vectors of elements of GR(p^e, d),
/// one for each place of the dimensions of these axes, d residues each: what the diagonals of
/// linear maps over indices with axes are. The fewest axes are those of the carrier.
#[derive(Clone, Debug)]
pub(crate) struct LastDimensions {
    ring: GaloisRing,
    dimensions: Vec<Along>,
    /// The first dimension of the carrier.
    carrier: usize,
    /// The numbers of places along the dimensions of the last axes: of the carrier, of one axis
    /// more, and so on.
    sizes: Vec<usize>,
}

/// A dimension.
#[derive(Clone, Copy, Debug)]
struct Along {
    size: usize,
    /// s with g^size = p^s modulo the carrier, g being the generator: a full cycle is Frobenius to
    /// this power. 0 ahead of the carrier.
    wrap: usize,
    /// By how many places p moves ahead of the carrier.
    shift: usize,
}

impl LastDimensions {
    /// For the slots of `shape` modulo p^exponent.
    ///
    /// # Errors
    /// [`CircuitError::UnsupportedIndex`] for powers of two; [`CircuitError::Ring`].
    pub(crate) fn new(shape: &SlotShape, exponent: u32) -> Result<Self, CircuitError> {
        let axes =
            shape.axes().ok_or(CircuitError::UnsupportedIndex { index: shape.ring_index() })?;
        let own = shape.carrier_dimensions();
        let mut dimensions = Vec::with_capacity(own.end);
        let mut sizes = vec![shape.carrier_slots()];
        let ahead = axes.all().len() - shape.carrier().map_or(0, <[_]>::len);
        for (a, axis) in axes.all()[..ahead].iter().enumerate() {
            // A prime that does not divide the index is a unit.
            let mut place = axes.logarithm(a, shape.plain_prime()).unwrap_or(0);
            let mut inner = axis.degree;
            for cycle in axis.cycles() {
                inner /= cycle.length;
                dimensions.push(Along { size: cycle.length, wrap: 0, shift: place / inner });
                place %= inner;
            }
        }
        for axis in axes.all()[..ahead].iter().rev() {
            sizes.push(sizes[sizes.len() - 1] * axis.degree);
        }
        dimensions.extend(own.clone().map(|a| Along {
            size: shape.dimensions()[a].size,
            wrap: shape.wrap(a),
            shift: 0,
        }));
        Ok(LastDimensions {
            ring: shape.galois_ring(exponent)?,
            dimensions,
            carrier: own.start,
            sizes,
        })
    }

    /// GR(p^e, d).
    pub(crate) fn ring(&self) -> &GaloisRing {
        &self.ring
    }

    /// The residues of a vector along the carrier.
    pub(crate) fn least(&self) -> usize {
        self.sizes[0] * self.ring.degree()
    }

    /// Whether `residues` is the length of a vector along the dimensions of some last axes.
    pub(crate) fn has(&self, residues: usize) -> bool {
        self.sizes.iter().any(|places| places * self.ring.degree() == residues)
    }

    /// `element` at the places of the carrier that `keep` holds for, 0 at the others.
    pub(crate) fn masked(&self, element: &[u64], keep: impl Fn(usize) -> bool) -> Vec<u64> {
        let zero = vec![0; element.len()];
        (0..self.sizes[0]).flat_map(|i| if keep(i) { element } else { &zero }).copied().collect()
    }

    /// The product, place by place; a vector along fewer axes is the same at all places of the
    /// others.
    pub(crate) fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (d, words) = (self.ring.degree(), a.len().max(b.len()));
        let (x, y) = (a.chunks_exact(d).cycle(), b.chunks_exact(d).cycle());
        x.zip(y).take(words / d).flat_map(|(x, y)| self.ring.mul(x, y)).collect()
    }

    /// The image under the product of the generators of all dimensions to these powers and of
    /// Frobenius to the power `frobenius`: shifted to the left, and conjugated by Frobenius. What
    /// passes an end along the carrier is conjugated once more, by the wrap, and comes from where
    /// that power of p divides ahead of the carrier.
    pub(crate) fn moved(&self, v: &[u64], powers: &[i64], frobenius: i64) -> Vec<u64> {
        let d = self.ring.degree();
        let element = |place: usize| {
            let (mut rest, mut inner, mut from, mut turns) = (place as i64, 1, 0, 0);
            let last = self.dimensions.iter().zip(powers).enumerate().rev();
            for (a, (along, power)) in last {
                if inner as usize * d == v.len() {
                    break;
                }
                let size = along.size as i64;
                let mut target = rest % size + power;
                rest /= size;
                if a >= self.carrier {
                    turns += target.div_euclid(size) * along.wrap as i64;
                } else {
                    target -= turns * along.shift as i64;
                }
                from += target.rem_euclid(size) * inner;
                inner *= size;
            }
            let power = (frobenius + turns).rem_euclid(d as i64) as usize;
            self.ring.frobenius(&v[from as usize * d..][..d], power)
        };
        (0..v.len() / d).flat_map(element).collect()
    }
}
