//! The operations of a server and of an explainer: one list for both.

/// Operations for a type with a field `session`, on values of a type. Each one bootstraps an
/// operand first where its result would have too little capacity left.
macro_rules! operations {
    ($owner:ty, $value:ty) => {
        impl $owner {
            /// Sum, slot by slot.
            ///
            /// # Errors
            /// Ciphertexts of other parameters.
            pub fn add(&self, a: &$value, b: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.add(a, b)?)
            }

            /// Difference, slot by slot.
            ///
            /// # Errors
            /// Ciphertexts of other parameters.
            pub fn sub(&self, a: &$value, b: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.sub(a, b)?)
            }

            /// Product, slot by slot.
            ///
            /// # Errors
            /// Ciphertexts of other parameters.
            pub fn mul(&self, a: &$value, b: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.mul(a, b)?)
            }

            /// A power, slot by slot, at depth ⌈log2⌉.
            ///
            /// # Errors
            /// A ciphertext of other parameters.
            pub fn pow(
                &self,
                a: &$value,
                exponent: std::num::NonZeroU64,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.pow(a, exponent)?)
            }

            /// The polynomial Σ c_i x^i of every slot modulo p^e, coefficients lowest first, at
            /// depth ⌈log2 of the degree⌉ and with about 2 √degree products. It wraps modulo p^e,
            /// as all arithmetic in slots does.
            ///
            /// # Errors
            /// No coefficients; a ciphertext of other parameters.
            pub fn polynomial(
                &self,
                a: &$value,
                coefficients: &[i64],
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.polynomial(a, coefficients)?)
            }

            /// Negation.
            ///
            /// # Errors
            /// A ciphertext of other parameters.
            pub fn neg(&self, a: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.neg(a)?)
            }

            /// Adds `k` in every slot.
            ///
            /// # Errors
            /// A ciphertext of other parameters.
            pub fn add_scalar(&self, a: &$value, k: i64) -> Result<$value, $crate::error::Error> {
                Ok(self.session.add_scalar(a, k)?)
            }

            /// Multiplies every slot by `k`.
            ///
            /// # Errors
            /// A ciphertext of other parameters.
            pub fn mul_scalar(&self, a: &$value, k: i64) -> Result<$value, $crate::error::Error> {
                Ok(self.session.mul_scalar(a, k)?)
            }

            /// Adds the plaintext's slots.
            ///
            /// # Errors
            /// A ciphertext or plaintext of other parameters.
            pub fn add_plain(
                &self,
                a: &$value,
                b: &everlevel_scheme::Plaintext,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.add_plain(a, b)?)
            }

            /// Multiplies every slot by the plaintext's.
            ///
            /// # Errors
            /// A ciphertext or plaintext of other parameters.
            pub fn mul_plain(
                &self,
                a: &$value,
                b: &everlevel_scheme::Plaintext,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.mul_plain(a, b)?)
            }

            /// The sum of all slots, in every slot. Keys as for [`crate::general_keys`]; a key
            /// switch for each doubling of the slots.
            ///
            /// # Errors
            /// A missing key, a ciphertext of other parameters.
            pub fn sum(&self, a: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.sum(a)?)
            }

            /// The scalar product of two vectors modulo p^e, in every slot: a product and a sum of
            /// all slots.
            ///
            /// # Errors
            /// A missing key, ciphertexts of other parameters.
            pub fn dot(&self, a: &$value, b: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.dot(a, b)?)
            }

            /// The scalar product with a vector that is not encrypted, in every slot; values that
            /// are missing at its end are 0.
            ///
            /// # Errors
            /// More values than slots; a missing key, a ciphertext of other parameters.
            pub fn dot_plain(
                &self,
                a: &$value,
                values: &[i64],
            ) -> Result<$value, $crate::error::Error> {
                let params = self.params();
                let exponent =
                    everlevel_scheme::Scheme::plain_exponent(self.session.scheme(), &a.get());
                let t = i128::from(params.slot_shape().plain_modulus(exponent));
                let residues: Vec<u64> =
                    values.iter().map(|&v| i128::from(v).rem_euclid(t) as u64).collect();
                let plaintext =
                    everlevel_scheme::Plaintext::encode_modulo(params, &residues, exponent)?;
                self.sum(&self.mul_plain(a, &plaintext)?)
            }

            /// Rotates the columns of every row (two for p = 1 modulo 4, else one) by `k` to the
            /// left. Keys must have been planned: for this step
            /// ([`crate::KeyPlanner::rotations`]), or general ones ([`crate::general_rotations`]),
            /// which may take a lower level and several steps. Whole elements that pass the end of
            /// a row arrive conjugated, see [`crate::SlotShape`].
            ///
            /// # Errors
            /// A missing key, a ciphertext of other parameters.
            pub fn rotate_columns(
                &self,
                a: &$value,
                k: i64,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.rotate_columns(a, k)?)
            }

            /// Rotates the slots along a dimension of their hypercube (see [`crate::SlotShape`]) by
            /// `k` to the left, cyclically. The keys must have been planned
            /// ([`crate::KeyPlanner::rotations_along`]). Where the dimension is a bad one, two
            /// automorphisms and two masks: a level.
            ///
            /// # Errors
            /// An unknown dimension, a missing key, a ciphertext of other parameters.
            pub fn rotate_along(
                &self,
                a: &$value,
                dimension: usize,
                k: i64,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.rotate_along(a, dimension, k)?)
            }

            /// Exchanges the two rows; where there is one row (p = 3 modulo 4), the identity. The
            /// key must have been planned ([`crate::KeyPlanner::row_swap`]).
            ///
            /// # Errors
            /// A missing key, a ciphertext of other parameters.
            pub fn swap_rows(&self, a: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.swap_rows(a)?)
            }
        }
    };
}

pub(crate) use operations;
