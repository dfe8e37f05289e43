//! The operations of a server and of an explainer: one list for both.

/// Operations for a type with a field `session`, on values of a type, with its parameters ahead of
/// it. Each one bootstraps an operand first if its result would have too little capacity left.
macro_rules! operations {
    ([$($parameters:tt)*] $owner:ty, $value:ty) => {
        impl $($parameters)* $owner {
            /// Sum, slot by slot. Its noise bound is the sum of both at the lower of their levels.
            ///
            /// # Errors
            /// Ciphertexts of other parameters or of another owner; too little capacity on a server
            /// that does not bootstrap.
            pub fn add(&self, a: &$value, b: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.add(a, b)?)
            }

            /// Difference, slot by slot. The noise is as for [`Self::add`].
            ///
            /// # Errors
            /// Ciphertexts of other parameters or of another owner; too little capacity on a server
            /// that does not bootstrap.
            pub fn sub(&self, a: &$value, b: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.sub(a, b)?)
            }

            /// Product, slot by slot: a product of ciphertexts with relinearization, which is a key
            /// switch. It consumes one level, about log2 of the noise at the floor of modulus
            /// switching (docs/how/noise-and-levels.md).
            ///
            /// # Errors
            /// Ciphertexts of other parameters or of another owner; too little capacity on a server
            /// that does not bootstrap.
            pub fn mul(&self, a: &$value, b: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.mul(a, b)?)
            }

            /// A power, slot by slot, at depth ⌈log2 exponent⌉: a product for each bit of the
            /// exponent but the first, and one more for each other bit that is set.
            ///
            /// # Errors
            /// A ciphertext of other parameters; too little capacity on a server that does not
            /// bootstrap.
            pub fn pow(
                &self,
                a: &$value,
                exponent: std::num::NonZeroU64,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.pow(a, exponent)?)
            }

            /// The value of the polynomial Σ c_i x^i in every slot x, modulo p^e, where the
            /// coefficients c_i begin with the constant term. It has depth ⌈log2 degree⌉ and takes
            /// about 2 √degree products. Like all arithmetic in slots, it wraps modulo p^e.
            ///
            /// # Errors
            /// No coefficients. A ciphertext of other parameters; too little capacity on a server
            /// that does not bootstrap.
            pub fn polynomial(
                &self,
                a: &$value,
                coefficients: &[i64],
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.polynomial(a, coefficients)?)
            }

            /// Negation, slot by slot. The noise stays as it is.
            ///
            /// # Errors
            /// A ciphertext of other parameters; too little capacity on a server that does not
            /// bootstrap.
            pub fn neg(&self, a: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.neg(a)?)
            }

            /// Adds `k` to every slot.
            ///
            /// # Errors
            /// A ciphertext of other parameters; too little capacity on a server that does not
            /// bootstrap.
            pub fn add_scalar(&self, a: &$value, k: i64) -> Result<$value, $crate::error::Error> {
                Ok(self.session.add_scalar(a, k)?)
            }

            /// Multiplies every slot by `k`, and the noise by |k| at most.
            ///
            /// # Errors
            /// A ciphertext of other parameters; too little capacity on a server that does not
            /// bootstrap.
            pub fn mul_scalar(&self, a: &$value, k: i64) -> Result<$value, $crate::error::Error> {
                Ok(self.session.mul_scalar(a, k)?)
            }

            /// Adds the slots of the plaintext.
            ///
            /// # Errors
            /// A plaintext of other parameters. A ciphertext of other parameters; too little
            /// capacity on a server that does not bootstrap.
            pub fn add_plain(
                &self,
                a: &$value,
                b: &everlevel_scheme::Plaintext,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.add_plain(a, b)?)
            }

            /// Multiplies every slot by that of the plaintext. It takes no key switch, and
            /// multiplies the noise by the norm of the plaintext polynomial, which is about a
            /// level.
            ///
            /// # Errors
            /// A plaintext of other parameters. A ciphertext of other parameters; too little
            /// capacity on a server that does not bootstrap.
            pub fn mul_plain(
                &self,
                a: &$value,
                b: &everlevel_scheme::Plaintext,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.mul_plain(a, b)?)
            }

            /// The sum of all slots, in every slot: a key switch and a sum for each doubling of the
            /// slots that are added up. The keys are those of [`crate::general_keys`].
            ///
            /// # Errors
            /// A missing key. A ciphertext of other parameters; too little capacity on a server
            /// that does not bootstrap.
            pub fn sum(&self, a: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.sum(a)?)
            }

            /// The inner product of two vectors modulo p^e, in every slot: a product and a sum of
            /// all slots.
            ///
            /// # Errors
            /// A missing key. Ciphertexts of other parameters or of another owner; too little
            /// capacity on a server that does not bootstrap.
            pub fn dot(&self, a: &$value, b: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.dot(a, b)?)
            }

            /// The inner product with a plaintext vector modulo p^e, in every slot; values that are
            /// missing at its end are 0.
            ///
            /// # Errors
            /// More values than slots; a missing key. A ciphertext of other parameters; too little
            /// capacity on a server that does not bootstrap.
            #[cfg(feature = "unstable")]
            pub fn dot_plain(
                &self,
                a: &$value,
                values: &[i64],
            ) -> Result<$value, $crate::error::Error> {
                let (params, scheme) = (self.params(), self.session.scheme());
                everlevel_scheme::Scheme::check_params(scheme, &a.get())?;
                let exponent = everlevel_scheme::Scheme::plain_exponent(scheme, &a.get());
                let t = params.plaintext_ring().modulus(exponent);
                let residues: Vec<u64> = values.iter().map(|&v| t.reduce_i64(v)).collect();
                let plaintext =
                    everlevel_scheme::Plaintext::encode_modulo(params, &residues, exponent)?;
                self.sum(&self.mul_plain(a, &plaintext)?)
            }

            /// Rotates the columns of every row by `k` to the left; there are two rows for p = 1
            /// modulo 4 and one for p = 3 modulo 4, in rings of power-of-two index. A key switch
            /// for each step, and no level. Keys are needed: for this step
            /// ([`crate::KeyPlanner::rotations`]), or general ones ([`crate::general_keys`]),
            /// with which the rotation may take place at a lower level and in several steps. Whole
            /// elements that pass the end of a row arrive conjugated, see [`crate::SlotShape`].
            ///
            /// # Errors
            /// A missing key. A ciphertext of other parameters; too little capacity on a server
            /// that does not bootstrap.
            pub fn rotate_columns(
                &self,
                a: &$value,
                k: i64,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.rotate_columns(a, k)?)
            }

            /// Rotates the slots along a dimension of their hypercube (see [`crate::SlotShape`]) by
            /// `k` to the left, cyclically. Keys are needed
            /// ([`crate::KeyPlanner::rotations_along`]). A rotation along a good dimension is one
            /// automorphism; along a bad one it takes two automorphisms and two masks, which
            /// consume a level.
            ///
            /// # Errors
            /// An unknown dimension, a missing key. A ciphertext of other parameters; too little
            /// capacity on a server that does not bootstrap.
            #[cfg(feature = "unstable")]
            pub fn rotate_along(
                &self,
                a: &$value,
                dimension: usize,
                k: i64,
            ) -> Result<$value, $crate::error::Error> {
                Ok(self.session.rotate_along(a, dimension, k)?)
            }

            /// Exchanges the two rows by a key switch; the identity if there is one row (p = 3
            /// modulo 4). A key is needed ([`crate::KeyPlanner::row_swap`]).
            ///
            /// # Errors
            /// A missing key. A ciphertext of other parameters; too little capacity on a server
            /// that does not bootstrap.
            pub fn swap_rows(&self, a: &$value) -> Result<$value, $crate::error::Error> {
                Ok(self.session.swap_rows(a)?)
            }
        }
    };
}

pub(crate) use operations;
