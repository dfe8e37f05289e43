//! The shape of the slots.

use everlevel_arith::primes;

use crate::error::RingError;
use crate::galois::GaloisElement;
use crate::gaussian::GaussianRing;
use crate::prime_power::PrimePower;

/// The slots of the plaintext ring (Z/p^e)\[X\]/(X^n + 1), n a power of two, p odd: k = n/d Galois rings GR(p^e, d), d the order
/// of p modulo m = 2n.
///
/// Let ξ be a primitive m-th root of unity in GR(p^e, d). Slots lie in rows and columns, and the element of slot (r, j) is the
/// value of the polynomial at ξ^g, g its representative:
///
/// * p = 1 modulo 4: two rows of k/2 columns, g = 5^j in row 0 and -5^j in row 1. The powers of ζ = ξ^d lie in Z/p^e.
/// * p = 3 modulo 4: one row of k columns, g = 5^j. The powers of ω = ξ^(d/2) lie in GR(p^e, 2), not in Z/p^e.
///
/// The smallest subring that is closed under rotations and holds roots of unity for a transform is the *base ring*: polynomials in W =
/// X^(d/f), f = 1 or 2 the base degree, whose slots hold GR(p^e, f). In both cases it is a Gaussian integer modulo p^e for each
/// column ([`GaussianRing`]). *Thin* plaintexts have slots in Z/p^e: the polynomials in X^d if f = 1, those fixed by
/// W -> W^p if f = 2.
///
/// Rotation by k > 0 is to the left: slot (r, j) takes the value of (r, j + k). On base and thin slots it is a cyclic rotation. On whole
/// slots it is one up to Frobenius: elements that pass the end of a row arrive as their p^s-th conjugates, s =
/// [`SlotShape::column_wrap`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotShape {
    index: u64,
    modulus: PrimePower,
    slots: usize,
    degree: usize,
    /// The value of W in column 0 modulo the highest power of p.
    root: [u64; 2],
}

impl SlotShape {
    /// The slots of the ring of index `index` modulo powers of `p` up to `p^max_exponent`.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::BadPlainModulus`] if p is no odd prime (2 is not available yet), or p^max_exponent is
    /// 2^62 or more.
    pub fn new(index: u64, p: u64, max_exponent: u32) -> Result<Self, RingError> {
        if !index.is_power_of_two() || !(32..=1 << 18).contains(&index) {
            return Err(RingError::UnsupportedIndex { index });
        }
        let bad = |reason| RingError::BadPlainModulus { p, exponent: max_exponent, index, reason };
        if p == 2 || !primes::is_prime(p) {
            return Err(bad("p must be an odd prime"));
        }
        let modulus = PrimePower::new(p, max_exponent)
            .map_err(|_| bad("the exponent must be at least 1 and the plaintext modulus below 2^62"))?;
        let mut degree = 1usize;
        let mut power = p % index;
        while power != 1 {
            power = (power as u128 * p as u128 % index as u128) as u64;
            degree += 1;
        }
        let slots = (index / 2) as usize / degree;
        let ring = GaussianRing::new(modulus)?;
        let root = if ring.is_split() { split_root(modulus, slots) } else { inert_root(ring, slots) };
        let root = root.ok_or_else(|| bad("p has no root of unity of the order that the slots need"))?;
        Ok(SlotShape { index, modulus, slots, degree, root })
    }
    /// The index m of the ring.
    pub fn ring_index(&self) -> u64 {
        self.index
    }
    /// The number of rows: 2 if p is 1 modulo 4, else 1.
    pub fn rows(&self) -> usize {
        2 / self.base_degree()
    }
    /// The number of columns; half the dimension of the base ring over Z/p^e.
    pub fn columns(&self) -> usize {
        self.slots / self.rows()
    }
    /// The number k of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }
    /// The degree d of a slot over Z/p^e.
    pub fn degree_of_slot(&self) -> usize {
        self.degree
    }
    /// f: the degree over Z/p^e of the values in the slots of the base ring, 1 if p is 1 modulo 4, else 2.
    pub fn base_degree(&self) -> usize {
        if self.modulus.prime() % 4 == 1 { 1 } else { 2 }
    }
    /// The prime p.
    pub fn plain_prime(&self) -> u64 {
        self.modulus.prime()
    }
    /// The largest exponent e for which p^e is at hand.
    pub fn max_exponent(&self) -> u32 {
        self.modulus.exponent()
    }
    /// p^e.
    ///
    /// # Panics
    /// If e is 0 or above [`SlotShape::max_exponent`].
    pub fn plain_modulus(&self, e: u32) -> u64 {
        assert!(e >= 1 && e <= self.max_exponent(), "exponent within 1..=max_exponent");
        self.modulus.prime().pow(e)
    }
    /// The value of W in column 0 modulo p^e, an element of [`GaussianRing`] of order 4 columns: (ζ, 1/ζ) for two rows, ω in the basis
    /// 1, i for one, with ω^columns = i. The roots for different e agree modulo the smaller power.
    ///
    /// # Panics
    /// If e is 0 or above [`SlotShape::max_exponent`].
    pub fn root(&self, e: u32) -> [u64; 2] {
        let t = self.plain_modulus(e);
        self.root.map(|x| x % t)
    }

    /// The automorphism that rotates all rows to the left by `k` (to the right for negative k).
    pub fn rotation(&self, k: i64) -> GaloisElement {
        let mut k = k.rem_euclid(self.columns() as i64) as u64;
        let (mut g, mut square) = (1u64, 5u64);
        while k > 0 {
            if k & 1 == 1 {
                g = g * square % self.index;
            }
            square = square * square % self.index;
            k >>= 1;
        }
        GaloisElement(g)
    }
    /// s in 0..d with 5^columns = p^s modulo m: what a rotation all the way round does to whole slots is Frobenius to the power s. With
    /// s = 0 the columns are a good dimension of the hypercube of slots. O(d).
    pub fn column_wrap(&self) -> usize {
        let round = (0..self.columns()).fold(1, |g, _| g * 5 % self.index);
        let p = self.modulus.prime() % self.index;
        std::iter::successors(Some(1), |g| Some(g * p % self.index)).take(self.degree).position(|g| g == round).unwrap_or(0)
    }
    /// The automorphism that exchanges the rows, X -> 1/X; the identity where there is one row.
    pub fn swap_rows(&self) -> GaloisElement {
        if self.rows() == 2 { GaloisElement(self.index - 1) } else { GaloisElement::IDENTITY }
    }
    /// The automorphism that conjugates i in every column of the base ring: the exchange of two rows, Frobenius on one.
    pub fn conjugation(&self) -> GaloisElement {
        if self.rows() == 2 { self.swap_rows() } else { self.frobenius() }
    }
    /// X -> X^p: the identity on thin plaintexts, of order d.
    pub fn frobenius(&self) -> GaloisElement {
        GaloisElement(self.modulus.prime() % self.index)
    }
    /// The log2 d automorphisms φ_i: X -> X^(1 + n/2^i), i = 0, 1, .., that send X^(2^i) to its negative. In this order, a <- a +
    /// φ_i(a) makes of a polynomial a d times its part in Z\[X^d\]. With two rows they generate the same group as Frobenius.
    /// Source: Chen–Han 2018, appendix A (whose range ends one step too late).
    pub fn projection(&self) -> Vec<GaloisElement> {
        (0..self.degree.trailing_zeros()).map(|i| GaloisElement(1 + ((self.index / 2) >> i))).collect()
    }
    /// The identity.
    pub fn identity(&self) -> GaloisElement {
        GaloisElement::IDENTITY
    }
    /// Whether `g` is the identity.
    pub fn is_identity(&self, g: GaloisElement) -> bool {
        g.is_identity()
    }
    /// The composition: X -> X^(g h).
    pub fn compose(&self, g: GaloisElement, h: GaloisElement) -> GaloisElement {
        GaloisElement((g.0 as u128 * h.0 as u128 % self.index as u128) as u64)
    }
    /// The representatives g of the slots, row by row: slot s holds the value at ξ^g.
    pub(crate) fn representatives(&self) -> Vec<u64> {
        let row: Vec<u64> = std::iter::successors(Some(1), |g| Some(g * 5 % self.index)).take(self.columns()).collect();
        let second = row.iter().map(|g| self.index - g).take(self.slots - self.columns());
        row.iter().copied().chain(second).collect()
    }
}

/// ζ and 1/ζ for the least root of unity of order 2 `slots` modulo p.
fn split_root(t: PrimePower, slots: usize) -> Option<[u64; 2]> {
    let root = primes::root_mod_prime_power(t.prime(), t.exponent(), 2 * slots as u64)?;
    Some([root, t.inv(root).ok()?])
}

/// ω of order 4 `slots` with ω^slots = i: a power of a + i for the least a >= 0 that has one, lifted.
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
    let lifted = ring.pow(root, u128::from(t.value() / p));
    Some(if t.exponent().is_multiple_of(2) { ring.conjugate(lifted) } else { lifted })
}
