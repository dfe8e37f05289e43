//! Galois rings, the rings of the elements of slots.

use std::sync::OnceLock;

use zeroize::Zeroizing;

use crate::error::RingError;
use crate::prime_power::PrimePower;

/// GR(p^e, d) = (Z/p^e)\[x\]/F, F monic of degree d and irreducible modulo p.
///
/// Elements are d residues below p^e, the coefficients of 1, x, .., x^(d-1). Products cost 2 d^2
/// word products, added up in double words. Frobenius sends x to x^p, so that it and the trace need
/// the class of x to be a root of unity of an order prime to p, as it is in
/// [`SlotShape::galois_ring`](crate::SlotShape::galois_ring); the caller must ensure that F is
/// irreducible and has such roots.
///
/// # Panics
/// Methods that take elements panic if these do not have d residues.
#[derive(Clone, Debug)]
pub struct GaloisRing {
    modulus: PrimePower,
    polynomial: Vec<u64>,
    /// Row j: the coefficient of x^j in x^d, .., x^(2d-2).
    reduction: Vec<u64>,
    /// The traces of 1, x, .., x^(d-1).
    traces: Vec<u64>,
    /// For each power of Frobenius the matrix of its images: row j holds the coefficients of x^j in
    /// those of 1, x, .., x^(d-1).
    images: Vec<OnceLock<Vec<u64>>>,
}

impl PartialEq for GaloisRing {
    fn eq(&self, other: &Self) -> bool {
        // All else follows from these, or is computed when it is needed.
        (self.modulus, &self.polynomial) == (other.modulus, &other.polynomial)
    }
}

impl Eq for GaloisRing {}

impl GaloisRing {
    /// (Z/p^e)\[x\]/F, with the d + 1 coefficients of F, the lowest first. O(d^2).
    ///
    /// # Errors
    /// [`RingError::ModulusPolynomial`] unless F is monic, of degree 1 at least, and its
    /// coefficients are below p^e.
    pub fn new(modulus: PrimePower, polynomial: &[u64]) -> Result<Self, RingError> {
        let degree = polynomial.len().saturating_sub(1);
        if degree == 0 || polynomial[degree] != 1 || polynomial.iter().any(|&c| c > modulus.last())
        {
            return Err(RingError::ModulusPolynomial { degree });
        }
        let low = &polynomial[..degree];
        let mut reduction = vec![0; degree * (degree - 1)];
        let mut power: Vec<u64> = low.iter().map(|&c| modulus.neg(c)).collect();
        for i in 0..degree - 1 {
            power.iter().enumerate().for_each(|(j, &c)| reduction[j * (degree - 1) + i] = c);
            power = times_x(modulus, &power, low);
        }
        // Newton's identities: the k-th power sum of the roots of F from the lower ones.
        let mut traces = vec![modulus.reduce_u64(degree as u64)];
        for k in 1..degree {
            let start = modulus.mul(k as u64, polynomial[degree - k]);
            let sum = (1..k).fold(start, |s, i| {
                modulus.add(s, modulus.mul(polynomial[degree - i], traces[k - i]))
            });
            traces.push(modulus.neg(sum));
        }
        Ok(GaloisRing {
            modulus,
            polynomial: polynomial.to_vec(),
            reduction,
            traces,
            images: vec![OnceLock::new(); degree],
        })
    }

    /// p^e.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// d.
    pub fn degree(&self) -> usize {
        self.traces.len()
    }

    /// F: d + 1 coefficients, the lowest first, the last one 1.
    pub fn polynomial(&self) -> &[u64] {
        &self.polynomial
    }

    /// The same ring modulo p^k.
    ///
    /// # Errors
    /// [`RingError::PlainModulus`] if k is 0 or above the exponent.
    pub fn reduced(&self, k: u32) -> Result<Self, RingError> {
        let modulus = self.modulus.reduced(k)?;
        let polynomial: Vec<u64> = self.polynomial.iter().map(|&c| modulus.reduce_u64(c)).collect();
        GaloisRing::new(modulus, &polynomial)
    }

    /// An element given modulo a higher power of p, or by any words, modulo p^e.
    pub fn reduce(&self, a: &[u64]) -> Vec<u64> {
        self.expect(a);
        a.iter().map(|&x| self.modulus.reduce_u64(x)).collect()
    }

    /// One.
    pub fn one(&self) -> Vec<u64> {
        self.scalar(1)
    }

    /// An element of Z/p^e.
    pub fn scalar(&self, c: u64) -> Vec<u64> {
        let mut out = vec![0; self.degree()];
        out[0] = self.modulus.reduce_u64(c);
        out
    }

    /// The class of x.
    pub fn x(&self) -> Vec<u64> {
        self.times_x(&self.one())
    }

    /// a + b.
    pub fn add(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.expect(a);
        self.expect(b);
        a.iter().zip(b).map(|(&a, &b)| self.modulus.add(a, b)).collect()
    }

    /// a - b.
    pub fn sub(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.expect(a);
        self.expect(b);
        a.iter().zip(b).map(|(&a, &b)| self.modulus.sub(a, b)).collect()
    }

    /// c a, for a residue c.
    pub fn scale(&self, c: u64, a: &[u64]) -> Vec<u64> {
        self.expect(a);
        a.iter().map(|&a| self.modulus.mul(c, a)).collect()
    }

    /// a b.
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.expect(a);
        self.expect(b);
        let (t, d) = (self.modulus, self.degree());
        let reversed = Zeroizing::new(b.iter().rev().copied().collect::<Vec<u64>>());
        let low = (0..d).map(|k| dot(t, &a[..=k], &reversed[d - 1 - k..]));
        let high = Zeroizing::new(
            (1..d).map(|k| dot(t, &a[k..], &reversed[..d - k])).collect::<Vec<u64>>(),
        );
        low.enumerate()
            .map(|(j, c)| t.add(c, dot(t, &self.reduction[j * (d - 1)..][..d - 1], &high)))
            .collect()
    }

    /// x a. O(d).
    pub fn times_x(&self, a: &[u64]) -> Vec<u64> {
        self.expect(a);
        times_x(self.modulus, a, &self.polynomial[..self.degree()])
    }

    /// a^k; a^0 = 1.
    pub fn pow(&self, a: &[u64], mut k: u128) -> Vec<u64> {
        let (mut result, mut square) = (self.one(), a.to_vec());
        while k > 0 {
            if k & 1 == 1 {
                result = self.mul(&result, &square);
            }
            k >>= 1;
            if k > 0 {
                square = self.mul(&square, &square);
            }
        }
        result
    }

    /// The k-th power of Frobenius, for any k: the automorphism x -> x^(p^k). d^2 word products,
    /// and 2 d^3 at the first use of a power.
    pub fn frobenius(&self, a: &[u64], k: usize) -> Vec<u64> {
        self.expect(a);
        let (d, k) = (self.degree(), k % self.degree());
        if k == 0 {
            return a.to_vec();
        }
        let matrix = self.images[k].get_or_init(|| {
            let root = match k {
                1 => self.pow(&self.x(), u128::from(self.modulus.prime())),
                _ => (0..k - 1)
                    .fold(self.frobenius(&self.x(), 1), |root, _| self.frobenius(&root, 1)),
            };
            let mut matrix = vec![0; d * d];
            let mut power = self.one();
            for i in 0..d {
                power.iter().enumerate().for_each(|(j, &c)| matrix[j * d + i] = c);
                power = self.mul(&power, &root);
            }
            matrix
        });
        matrix.chunks_exact(d).map(|row| dot(self.modulus, row, a)).collect()
    }

    /// The trace to Z/p^e, the sum of all conjugates. d word products.
    pub fn trace(&self, a: &[u64]) -> u64 {
        self.expect(a);
        dot(self.modulus, &self.traces, a)
    }

    /// 1 / a: the product of the other conjugates, divided by the norm. About 4 log d products.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`], with the norm of a, if a is 0 modulo p.
    pub fn inv(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        // The product of `count` conjugates of a, from Frobenius on; doubled, and one more, along
        // the bits of d - 1.
        let first = self.frobenius(a, 1);
        let (others, bits) = (self.degree() - 1, usize::BITS - (self.degree() - 1).leading_zeros());
        let (mut product, mut count) = (self.one(), 0);
        for bit in (0..bits).rev() {
            product = self.mul(&product, &self.frobenius(&product, count));
            count *= 2;
            if others >> bit & 1 == 1 {
                product = self.mul(&first, &self.frobenius(&product, 1));
                count += 1;
            }
        }
        let norm = self.mul(a, &product)[0];
        Ok(self.scale(self.modulus.inv(norm)?, &product))
    }

    fn expect(&self, a: &[u64]) {
        assert_eq!(a.len(), self.degree(), "one residue for each power of x");
    }
}

fn times_x(t: PrimePower, a: &[u64], low: &[u64]) -> Vec<u64> {
    let top = a[a.len() - 1];
    let shifted = std::iter::once(0).chain(a.iter().copied());
    shifted.zip(low).map(|(x, &f)| t.sub(x, t.mul(top, f))).collect()
}

/// The sum of the products of two vectors of residues, up to the length of the shorter one: modulo
/// 2^64 for p = 2, and else reduced as rarely as double words allow.
pub(crate) fn dot(t: PrimePower, a: &[u64], b: &[u64]) -> u64 {
    if t.prime() == 2 {
        let products = a.iter().zip(b).map(|(&a, &b)| a.wrapping_mul(b));
        return t.reduce_u64(products.fold(0, u64::wrapping_add));
    }
    // The products and a residue stay below 2^128, for 64 bits one product.
    let bits = u64::BITS - t.last().leading_zeros();
    let terms = ((1usize << (128 - 2 * bits).min(31)) - 1).max(1);
    let len = a.len().min(b.len());
    let chunks = a[..len].chunks(terms).zip(b[..len].chunks(terms));
    chunks.fold(0, |sum, (a, b)| {
        t.reduce_u128(
            a.iter().zip(b).fold(u128::from(sum), |s, (&a, &b)| s + u128::from(a) * u128::from(b)),
        )
    })
}
