//! The shape of the slots.

use everlevel_arith::{Axes, Axis, primes};

use crate::error::RingError;
use crate::galois::GaloisElement;
use crate::galois_ring::GaloisRing;
use crate::gaussian::GaussianRing;
use crate::index_kind::IndexKind;
use crate::odd_slots::{self, OddSlots, order};
use crate::prime_power::PrimePower;
use crate::slot_dimension::SlotDimension;

/// The slots of the plaintext ring (Z/p^e)\[X\]/Φ_m(X): k = n/d Galois rings GR(p^e, d), d the
/// order of p modulo m.
///
/// Slots form a hypercube ([`SlotShape::dimensions`]) in row-major order. Slot s belongs to the
/// unit u = Π g_i^(s_i) modulo m, its *representative*, where s_i are its coordinates and g_i the
/// generators of the dimensions; it holds the value of the polynomial at ζ^u, where ζ is a
/// primitive m-th root of unity in GR(p^e, d). The last dimension is that of the *columns*. The
/// automorphism X -> X^(g_i) moves slots to the left: each slot takes the value of the next one
/// along dimension i.
///
/// # Index a power of two, p odd
/// Z\[X\]/(X^n + 1), m = 2n. With ξ for ζ,
///
/// * p = 1 modulo 4: two rows of k/2 columns, g = 5^j in row 0 and -5^j in row 1. The powers of ζ =
///   ξ^d lie in Z/p^e.
/// * p = 3 modulo 4: one row of k columns, g = 5^j. The powers of ω = ξ^(d/2) lie in GR(p^e, 2),
///   not in Z/p^e.
///
/// The smallest subring that is closed under rotations and holds roots of unity for a transform is
/// the *base ring*: polynomials in W = X^(d/f), f = 1 or 2 the base degree, whose slots hold
/// GR(p^e, f). In both cases it is a Gaussian integer modulo p^e for each column
/// ([`GaussianRing`]). *Thin* plaintexts have slots in Z/p^e: the polynomials in X^d if f = 1,
/// those fixed by W -> W^p if f = 2.
///
/// On base and thin slots a rotation is cyclic. On whole slots it is cyclic up to Frobenius:
/// elements that pass the end of a row are mapped by the s-th power of Frobenius, s =
/// [`SlotShape::column_wrap`].
///
/// With two rows there may be fewer slots, whose values repeat along the rows
/// ([`SlotShape::repeating`]).
///
/// # Any other index: odd, or 2^k times an odd number
/// The *carrier* consists of the fewest last [`Axes`] such that p has order d modulo the product N
/// of their prime powers, too (it carries Frobenius). Often it is the last axis alone. ζ is the
/// product of roots ζ_a of order N_a, the values of X_a; those of the carrier have the product x,
/// the class of x in GR(p^e, d) = (Z/p^e)\[x\]/F, F a factor of Φ_N.
///
/// * Ahead of the carrier there is one dimension for each cyclic factor of the axes, in their
///   order: one for each axis, two for a power of two from 8 on. They have the lengths of the
///   cycles (of odd axes φ(N_a)) and their generators modulo N_a, 1 modulo the others: always good.
/// * The dimensions of the carrier come last, with generators that are 1 modulo the other factors.
///   (Z/N)^* by the powers of p is the direct product of their cycles, and g^size = p^s modulo N,
///   s the *wrap* of the dimension ([`SlotShape::wrap`]): a slot that passes the end arrives as the
///   p^s-th conjugate of the one at the place moved by p^-s along the dimensions *ahead of the
///   carrier*.
/// * A single axis has one dimension of size D = φ(N)/d: its generator is γ_c^d if D and d are
///   coprime, good, and else γ_c, bad. Several have one for each cycle of the quotient, the longest
///   last, none of them shorter than 2 but for a quotient of one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotShape {
    index: u64,
    modulus: PrimePower,
    degree: usize,
    /// How many times the values of the slots repeat along the rows: once, or a power of two.
    repetitions: usize,
    dimensions: Vec<SlotDimension>,
    roots: Roots,
}

/// What a shape knows beyond its dimensions, by the kind of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Roots {
    /// The value of W in column 0 modulo the highest power of p.
    PowerOfTwo([u64; 2]),
    Odd(OddSlots),
}

impl SlotShape {
    /// The largest degree of a slot of a ring with axes.
    pub const MAX_DEGREE: usize = odd_slots::MAX_DEGREE;

    /// The slots of the ring of index `index`, a power of two from 32 to 2^18 or one of
    /// [`Axes::new`], modulo powers of `p` up to `p^max_exponent`.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::BadPlainModulus`] if p is no prime or divides
    /// the index, p^max_exponent is above 2^64, or d is above 256 for an index with axes.
    pub fn new(index: u64, p: u64, max_exponent: u32) -> Result<Self, RingError> {
        let axes = IndexKind::new(index)?.axes().cloned();
        let modulus = checked_modulus(index, p, max_exponent)?;
        let degree = order(p, index);
        if let Some(axes) = axes {
            let odd = OddSlots::new(axes, degree, modulus)?;
            return Ok(SlotShape {
                index,
                modulus,
                degree,
                repetitions: 1,
                dimensions: odd.dimensions(p, degree),
                roots: Roots::Odd(odd),
            });
        }
        let slots = (index / 2) as usize / degree;
        let ring = GaussianRing::new(modulus)?;
        let root =
            if ring.is_split() { split_root(modulus, slots) } else { inert_root(ring, slots) };
        let reason = "p has no root of unity of the order that the slots need";
        let none = RingError::BadPlainModulus { p, exponent: max_exponent, index, reason };
        let root = root.ok_or(none)?;
        let mut dimensions =
            vec![SlotDimension { size: 2, generator: GaloisElement(index - 1), good: true }];
        dimensions.truncate(usize::from(ring.is_split()));
        let columns = slots >> dimensions.len();
        // 5^columns, by squarings: the order of p, and so their number, is a power of two.
        let good = (0..columns.trailing_zeros()).fold(5 % index, |g, _| g * g % index) == 1;
        dimensions.push(SlotDimension { size: columns, generator: GaloisElement(5), good });
        let roots = Roots::PowerOfTwo(root);
        Ok(SlotShape { index, modulus, degree, repetitions: 1, dimensions, roots })
    }

    /// The same ring with `slots` slots in two rows, fewer than it has. Thin plaintexts are the
    /// polynomials in X^(n/slots): their values repeat along the rows of the ring with a period of
    /// slots/2 columns, and rotations are cyclic within a period.
    ///
    /// Everything is as in a ring whose slots have the degree n/slots, except that a whole slot,
    /// (Z/p^e)\[X\]/(X^(n/slots) - ζ), is a product of n/(slots d) Galois rings.
    ///
    /// # Errors
    /// [`RingError::BadPlainModulus`] unless the ring has two rows (index a power of two and p = 1
    /// modulo 4); [`RingError::BadPeriod`] unless `slots` is a power of two from 4 that is at most
    /// the number of slots.
    pub fn repeating(self, slots: usize) -> Result<Self, RingError> {
        let root = match self.roots {
            Roots::PowerOfTwo(root) if self.rows() == 2 => root,
            _ => {
                return Err(RingError::BadPlainModulus {
                    p: self.plain_prime(),
                    exponent: self.max_exponent(),
                    index: self.index,
                    reason: "slots repeat in two rows only, if the index is a power of two and \
                             p = 1 modulo 4",
                });
            }
        };
        let (columns, found) = (self.columns(), slots / 2);
        if slots < 4 || !slots.is_power_of_two() || found > columns {
            return Err(RingError::BadPeriod { period: found, columns });
        }
        let times = columns / found;
        let ring = GaussianRing::new(self.modulus)?;
        let root = ring.pow(root, times as u128);
        let (degree, repetitions) = (self.degree * times, self.repetitions * times);
        let mut dimensions = self.dimensions;
        if let Some(last) = dimensions.last_mut() {
            *last = SlotDimension { size: found, good: last.good && times == 1, ..*last };
        }
        let roots = Roots::PowerOfTwo(root);
        Ok(SlotShape { degree, repetitions, dimensions, roots, ..self })
    }

    /// How many times the values of the slots repeat along the rows of the ring: more than once
    /// after [`SlotShape::repeating`] only.
    pub fn repetitions(&self) -> usize {
        self.repetitions
    }

    /// The [`SlotShape::dimensions`] that the slots of an index have modulo powers of p, without
    /// the roots of unity that take most of the time of [`SlotShape::new`].
    ///
    /// # Errors
    /// As there.
    pub fn dimensions_of(index: u64, p: u64) -> Result<Vec<SlotDimension>, RingError> {
        let kind = IndexKind::new(index)?;
        let Some(axes) = kind.axes() else {
            return Ok(Self::new(index, p, 1)?.dimensions);
        };
        let (modulus, degree) = (checked_modulus(index, p, 1)?, order(p, index));
        odd_slots::check_degree(index, degree, modulus)?;
        let first = odd_slots::first_of_carrier(axes, p, degree);
        Ok(odd_slots::dimensions(axes, first, p, degree))
    }

    /// The index m of the ring.
    pub fn ring_index(&self) -> u64 {
        self.index
    }

    /// The dimensions of the hypercube of slots, the last one contiguous: rows, if there are two,
    /// and columns; or those of the axes and of the carrier.
    pub fn dimensions(&self) -> &[SlotDimension] {
        &self.dimensions
    }

    /// The axes of the index; none for a power of two.
    pub fn axes(&self) -> Option<&Axes> {
        self.odd().map(|odd| &odd.axes)
    }

    /// The axes that carry Frobenius, the last ones of the index; none for a power of two.
    pub fn carrier(&self) -> Option<&[Axis]> {
        self.odd().map(OddSlots::carrier)
    }

    /// Which dimensions are those of the carrier; none for a power of two.
    pub fn carrier_dimensions(&self) -> std::ops::Range<usize> {
        let ahead = |odd: &OddSlots| {
            odd.axes.all()[..odd.first].iter().map(|axis| axis.cycles().len()).sum()
        };
        let end = self.dimensions.len();
        self.odd().map_or(end, ahead)..end
    }

    /// The number of slots along the dimensions of the carrier: φ(N)/d.
    pub fn carrier_slots(&self) -> usize {
        self.dimensions[self.carrier_dimensions()].iter().map(|dimension| dimension.size).product()
    }

    pub(crate) fn odd(&self) -> Option<&OddSlots> {
        match &self.roots {
            Roots::PowerOfTwo(_) => None,
            Roots::Odd(odd) => Some(odd),
        }
    }

    /// The number of rows, slots / columns: 2 or 1 in a ring whose index is a power of two, as p is
    /// 1 or 3 modulo 4.
    pub fn rows(&self) -> usize {
        self.slots() / self.columns()
    }

    /// The number of columns: the size of the last dimension.
    pub fn columns(&self) -> usize {
        self.dimensions[self.dimensions.len() - 1].size
    }

    /// The number k of slots.
    pub fn slots(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.size).product()
    }

    /// The degree d of a slot over Z/p^e: n divided by the number of slots, also where these
    /// repeat.
    pub fn degree_of_slot(&self) -> usize {
        self.degree
    }

    /// f: the degree over Z/p^e of the values in the slots of the base ring, 1 if p is 1 modulo 4,
    /// else 2; 1 for indices with axes, which have no base ring.
    pub fn base_degree(&self) -> usize {
        if self.odd().is_some() || self.modulus.prime() % 4 == 1 { 1 } else { 2 }
    }

    /// The prime p.
    pub fn plain_prime(&self) -> u64 {
        self.modulus.prime()
    }

    /// The largest exponent e for which p^e is at hand.
    pub fn max_exponent(&self) -> u32 {
        self.modulus.exponent()
    }

    /// p^e, for callers that know it to be below 2^64; see [`SlotShape::wide_modulus`].
    ///
    /// # Panics
    /// If e is 0 or above [`SlotShape::max_exponent`], or p^e is 2^64.
    pub fn plain_modulus(&self, e: u32) -> u64 {
        u64::try_from(self.wide_modulus(e)).expect("a plaintext modulus below 2^64")
    }

    /// p^e, 2^64 included.
    ///
    /// # Panics
    /// If e is 0 or above [`SlotShape::max_exponent`].
    pub fn wide_modulus(&self, e: u32) -> u128 {
        assert!(e >= 1 && e <= self.max_exponent(), "exponent within 1..=max_exponent");
        u128::from(self.modulus.prime()).pow(e)
    }

    /// The value of W in column 0 modulo p^e, an element of [`GaussianRing`] of order 4 columns:
    /// (ζ, 1/ζ) for two rows, ω in the basis 1, i for one, with ω^columns = i. The roots for
    /// different e agree modulo the smaller power. (1, 1) for indices with axes.
    ///
    /// # Panics
    /// If e is 0 or above [`SlotShape::max_exponent`].
    pub fn root(&self, e: u32) -> [u64; 2] {
        let t = self.wide_modulus(e);
        match self.roots {
            Roots::PowerOfTwo(root) => root.map(|x| (u128::from(x) % t) as u64),
            Roots::Odd(_) => [1; 2],
        }
    }

    /// GR(p^e, d), what a slot holds (where slots repeat, a product of such rings, in which not
    /// every element has an inverse): x is the root of unity ξ of order m (powers of two) or the
    /// one of order N (of the carrier). O(d^2).
    ///
    /// # Errors
    /// [`RingError::PlainModulus`] if e is 0 or above [`SlotShape::max_exponent`].
    pub fn galois_ring(&self, e: u32) -> Result<GaloisRing, RingError> {
        let t = self.modulus.reduced(e)?;
        let polynomial = match &self.roots {
            Roots::PowerOfTwo(root) => power_of_two_polynomial(
                GaussianRing::new(t)?,
                root.map(|x| t.reduce_u64(x)),
                self.degree,
            ),
            Roots::Odd(odd) => {
                odd.factors[odd.factors.len() - 1].iter().map(|&x| t.reduce_u64(x)).collect()
            }
        };
        GaloisRing::new(t, &polynomial)
    }

    /// ζ_a in GR(p^e, d): the value of X_a in slot 0, for axis a. The roots for different e agree
    /// modulo the smaller power.
    ///
    /// # Errors
    /// [`RingError::NoAxis`] if the ring has no such axis, [`RingError::PlainModulus`] if e is 0 or
    /// above [`SlotShape::max_exponent`].
    pub fn axis_root(&self, axis: usize, e: u32) -> Result<Vec<u64>, RingError> {
        let t = self.modulus.reduced(e)?;
        let root = self
            .odd()
            .and_then(|odd| odd.roots.get(axis))
            .ok_or(RingError::NoAxis { axis, index: self.index })?;
        Ok(root.iter().map(|&x| t.reduce_u64(x)).collect())
    }

    /// The representatives of the slots, in their order: slot s holds the value at ζ^u (ξ^u), u its
    /// representative.
    pub fn representatives(&self) -> Vec<u64> {
        self.dimensions.iter().fold(vec![1], |units, dimension| {
            let step = |u: &u64| {
                Some(
                    (u128::from(*u) * u128::from(dimension.generator.0) % u128::from(self.index))
                        as u64,
                )
            };
            let powers = |u: u64| std::iter::successors(Some(u), step).take(dimension.size);
            units.into_iter().flat_map(powers).collect()
        })
    }
}

/// p^exponent, for a prime p that does not divide the index.
fn checked_modulus(index: u64, p: u64, exponent: u32) -> Result<PrimePower, RingError> {
    let bad = |reason| RingError::BadPlainModulus { p, exponent, index, reason };
    if !primes::is_prime(p) {
        return Err(bad("p must be a prime"));
    }
    let reason = "the exponent must be at least 1 and the plaintext modulus at most 2^64";
    let modulus = PrimePower::new(p, exponent).map_err(|_| bad(reason))?;
    if index.is_multiple_of(p) {
        return Err(bad("p divides the index"));
    }
    Ok(modulus)
}

/// The minimal polynomial of ξ, of degree d, where its power in the base ring is `root`: X^d - ζ,
/// or X^d - (ω + ω') X^(d/2) + ω ω'.
fn power_of_two_polynomial(ring: GaussianRing, root: [u64; 2], degree: usize) -> Vec<u64> {
    let t = ring.modulus();
    let mut f = vec![0; degree + 1];
    f[degree] = 1;
    if ring.is_split() {
        f[0] = t.neg(root[0]);
    } else {
        let conjugate = ring.conjugate(root);
        f[degree / 2] = t.neg(ring.add(root, conjugate)[0]);
        f[0] = ring.mul(root, conjugate)[0];
    }
    f
}

/// ζ and 1/ζ for the least root of unity of order 2 `slots` modulo p.
fn split_root(t: PrimePower, slots: usize) -> Option<[u64; 2]> {
    let root = primes::root_mod_prime_power(t.prime(), t.exponent(), 2 * slots as u64)?;
    Some([root, t.inv(root).ok()?])
}

/// ω of order 4 `slots` with ω^slots = i: a power of a + i for the least a >= 0 that has one,
/// lifted.
fn inert_root(ring: GaussianRing, slots: usize) -> Option<[u64; 2]> {
    let t = ring.modulus();
    let (p, i) = (t.prime(), [0, 1]);
    let field = GaussianRing::new(t.reduced(1).ok()?).ok()?;
    let exponent = (u128::from(p) * u128::from(p) - 1) / (4 * slots as u128);
    let root = (0..p).map(|a| field.pow([a, 1], exponent)).find_map(|x| {
        let power = field.pow(x, slots as u128);
        let conjugate = field.conjugate(x);
        if power == i { Some(x) } else { (power == field.conjugate(i)).then_some(conjugate) }
    })?;
    // The p^(e - 1)-th power kills what exceeds the root of unity, and conjugates it e - 1 times.
    let lifted = ring.pow(root, t.wide() / u128::from(p));
    Some(if t.exponent().is_multiple_of(2) { ring.conjugate(lifted) } else { lifted })
}
