//! Bytes in slots under fresh noise, as many in one bootstrapping as the slots have room for.

use everlevel_circuit::CircuitError;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_ring::{GaloisElement, GaloisRing, SlotShape};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Bootstrappable, DiagonalValues, ExactScheme, Level, NextUse};

use crate::error::AesError;

/// Bytes of GF(2^8) side by side in slots GF(2^d), d = 8 s: s ciphertexts as one, and that one as s
/// again.
///
/// Packed they are Σ_k X_c^k x_k for k < s, X_c being the product of the variables of the carrier:
/// products with monomials, which cost no noise. The values β of X_c in the slots, roots of unity
/// of the order of the carrier, generate GF(2^d), so they have s conjugates β_j under σ^8, and 1,
/// β, .., β^(s-1) is a basis over GF(2^8). With the coefficients of Lagrange's polynomials L_j at
/// the β_j, x_k = Σ_j L_j,k σ^(8 j)(packed): s - 1 hoisted automorphisms and s^2 constants for s
/// bytes.
pub struct BytePacking<S: ExactScheme> {
    /// X_c is X to this power.
    variable: i64,
    /// σ^(8 j) for j < s.
    images: Vec<GaloisElement>,
    /// L_j,k for each k, by j.
    rows: Vec<Vec<S::Diagonal>>,
}

impl<S: ExactScheme> BytePacking<S> {
    /// Prepares s^2 plaintexts for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// [`AesError::PlainModulus`] for p other than 2, [`AesError::NoBytes`] unless d is a
    /// multiple of 8, those of the scheme.
    pub fn new(scheme: &S, level: Level) -> Result<Self, AesError> {
        let shape = scheme.slot_shape();
        AesError::check_prime(shape.plain_prime())?;
        let degree = shape.degree_of_slot();
        let carrier = shape
            .carrier()
            .filter(|_| degree.is_multiple_of(8))
            .ok_or(AesError::NoBytes { degree })?;
        let order: u64 = carrier.iter().map(|axis| axis.index).product();
        let exponent: u64 = carrier.iter().map(|axis| axis.exponent).sum();
        // In the slot of the unit u, X_c is the u-th power of the root of unity that x stands for.
        let (field, units) = (shape.galois_ring(1)?, shape.representatives());
        // By slots along the carrier, j and k.
        let places: Vec<Vec<Vec<Vec<u64>>>> = units
            .into_iter()
            .take(shape.carrier_slots())
            .map(|unit| {
                let value = field.pow(&field.x(), u128::from(unit % order));
                lagrange(&field, &conjugates(&field, &value))
            })
            .collect::<Result<_, _>>()?;
        let images = Self::automorphisms_with_identity(shape);
        let constant = |j: usize, k: usize| {
            let values = places.iter().flat_map(|polynomials| polynomials[j][k].clone()).collect();
            Ok(scheme.diagonal(&DiagonalValues::LastDimensions(values), 1, level)?)
        };
        let row =
            |k: usize| (0..images.len()).map(|j| constant(j, k)).collect::<Result<_, AesError>>();
        let rows = (0..images.len()).map(row).collect::<Result<_, _>>()?;
        let variable = (exponent % shape.ring_index()) as i64;
        Ok(BytePacking { variable, images, rows })
    }

    /// The automorphisms that need keys.
    pub fn automorphisms(shape: &SlotShape) -> Vec<GaloisElement> {
        Self::automorphisms_with_identity(shape).split_off(1)
    }

    fn automorphisms_with_identity(shape: &SlotShape) -> Vec<GaloisElement> {
        let step = (0..8).fold(shape.identity(), |g, _| shape.compose(g, shape.frobenius()));
        let next = |g: &GaloisElement| Some(shape.compose(*g, step));
        std::iter::successors(Some(shape.identity()), next)
            .take(shape.degree_of_slot() / 8)
            .collect()
    }

    /// s: how many bytes a slot holds.
    pub fn capacity(&self) -> usize {
        self.images.len()
    }

    /// Σ X_c^k x_k. The noise is that of a sum.
    ///
    /// # Errors
    /// [`AesError::Width`] for no bytes or more than s, those of the scheme.
    pub fn pack(&self, scheme: &S, bytes: &[S::Ciphertext]) -> Result<S::Ciphertext, AesError> {
        AesError::check_width(
            "a slot of bytes",
            bytes.len(),
            bytes.len().clamp(1, self.capacity()),
        )?;
        let mut sum = bytes[0].clone();
        for (k, x) in (1..).zip(&bytes[1..]) {
            sum = scheme.add(&sum, &scheme.mul_monomial(x, k * self.variable)?)?;
        }
        Ok(sum)
    }

    /// The first `count` bytes of a packed ciphertext. One level of the constants' few bits.
    ///
    /// # Errors
    /// [`AesError::Width`] for more than s, those of the scheme.
    pub fn unpack(
        &self,
        scheme: &S,
        packed: &S::Ciphertext,
        count: usize,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        AesError::check_width("a slot of bytes", count, count.min(self.capacity()))?;
        let parts = scheme.hoist(&scheme.prepare(packed, NextUse::LinearMap)?, &self.images)?;
        let rows: Vec<Vec<_>> =
            self.rows[..count].iter().map(|row| row.iter().map(Some).collect()).collect();
        let sums = scheme.combine(&parts, &rows)?;
        sums.into_iter()
            .map(|sum| Ok(scheme.galois_sum(vec![(self.images[0], sum)], NextUse::LinearMap)?))
            .collect()
    }
}

/// x, σ^8(x), σ^16(x), ..
fn conjugates(field: &GaloisRing, x: &[u64]) -> Vec<Vec<u64>> {
    (0..field.degree()).step_by(8).map(|k| field.frobenius(x, k)).collect()
}

/// For each of the `points` the coefficients of the polynomial that is 1 there and 0 at the others,
/// the lowest first.
fn lagrange(field: &GaloisRing, points: &[Vec<u64>]) -> Result<Vec<Vec<Vec<u64>>>, AesError> {
    let polynomial = |j: usize| {
        let (mut product, mut value) = (vec![field.one()], field.one());
        for (_, point) in points.iter().enumerate().filter(|(i, _)| *i != j) {
            value = field.mul(&value, &field.sub(&points[j], point));
            // Times T - point.
            let mut next = vec![field.scalar(0); product.len() + 1];
            for (i, c) in product.iter().enumerate() {
                next[i] = field.sub(&next[i], &field.mul(c, point));
                next[i + 1] = field.add(&next[i + 1], c);
            }
            product = next;
        }
        let inverse = field.inv(&value)?;
        Ok(product.iter().map(|c| field.mul(c, &inverse)).collect())
    };
    (0..points.len()).map(polynomial).collect()
}

/// Refreshes ciphertexts of bytes, one in each slot: the states of AES by bytes, in 16 ciphertexts
/// or in one.
///
/// As many bytes as slots hold go through one bootstrapping in the full mode: three for d = 24, for
/// the price of one and a linear map. A byte that is left by itself takes a third of the digit
/// removals, as its slots lie in the subring of degree 8 ([`BootstrapPlan::in_subring`]); if the
/// carrier has a square factor, it takes all of them.
pub struct ByteRefresh<S: Bootstrappable> {
    packing: BytePacking<S>,
    whole: Bootstrapper<S>,
    /// None if the carrier has a square factor.
    single: Option<Bootstrapper<S>>,
}

impl<S: Bootstrappable> ByteRefresh<S> {
    /// With the group sizes and the digit removal of a plan, in the full mode.
    ///
    /// # Errors
    /// Those of [`BytePacking::new`] and of [`Bootstrapper::new`];
    /// [`CircuitError::ExponentMismatch`] if the scheme bootstraps another modulus than 2.
    pub fn new(scheme: &S, plan: &BootstrapPlan, level: Level) -> Result<Self, AesError> {
        let found = scheme.message_exponent();
        if found != 1 {
            return Err(CircuitError::ExponentMismatch { expected: 1, found }.into());
        }
        let packing = BytePacking::new(scheme, level)?;
        let plan = plan.clone().in_mode(BootstrapMode::Full);
        let normal = scheme.slot_shape().has_normal_carrier();
        let single = normal.then(|| Bootstrapper::new(scheme, plan.clone().in_subring(8)));
        let single = single.transpose()?;
        Ok(ByteRefresh { packing, whole: Bootstrapper::new(scheme, plan)?, single })
    }

    /// How the bytes of a slot are packed.
    pub fn packing(&self) -> &BytePacking<S> {
        &self.packing
    }

    /// How many bootstrappings refresh `bytes` ciphertexts.
    pub fn bootstraps(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.packing.capacity())
    }

    /// The capacity, in bits, that each of the bytes needs.
    pub fn minimum_capacity(&self, scheme: &S) -> f64 {
        // What a sum takes.
        let sum = (self.packing.capacity() as f64).log2() + 1.0;
        let whole = self.whole.minimum_capacity(scheme);
        let single = self.single.as_ref().map_or(whole, |single| single.minimum_capacity(scheme));
        single.max(whole) + sum
    }

    /// The same bytes under fresh noise.
    ///
    /// # Errors
    /// Those of [`Bootstrapper::bootstrap`]: above all too little capacity left. Slots that hold no
    /// bytes are not kept.
    pub fn refresh(
        &self,
        scheme: &S,
        bytes: &[S::Ciphertext],
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let mut fresh = Vec::with_capacity(bytes.len());
        for group in bytes.chunks(self.packing.capacity()) {
            match (group, &self.single) {
                ([byte], Some(single)) => fresh.push(single.bootstrap(scheme, byte)?),
                _ => {
                    let packed =
                        self.whole.bootstrap(scheme, &self.packing.pack(scheme, group)?)?;
                    fresh.extend(self.packing.unpack(scheme, &packed, group.len())?);
                }
            }
        }
        Ok(fresh)
    }
}
