//! Laws of arithmetic, slot by slot.

use everlevel_scheme::{ExactScheme, NextUse, SchemeError};

use crate::Subject;

impl<S: ExactScheme> Subject<'_, S> {
    /// (Z/p)^slots is a commutative ring, on ciphertexts too.
    ///
    /// # Panics
    /// If a law does not hold.
    pub fn ring_axioms(&self) {
        let s = self.scheme;
        let v = self.vectors(1, 3);
        let [x, y, z] = [&v[0], &v[1], &v[2]];
        let [a, b, c] = [(self.encrypt)(x), (self.encrypt)(y), (self.encrypt)(z)];
        let t = u128::from(self.modulus());
        self.expect("round trip", &a, x);

        let add = |a: &S::Ciphertext, b: &S::Ciphertext| s.add(a, b).expect("room for a sum");
        let mul = |a: &S::Ciphertext, b: &S::Ciphertext| {
            s.mul(a, b, NextUse::Product).expect("room for a product")
        };
        self.expect("sum", &add(&a, &b), &self.zip(x, y, |x, y| x + y));
        self.expect(
            "difference",
            &s.sub(&a, &b).expect("room for a difference"),
            &self.zip(x, y, |x, y| x + t - y),
        );
        self.expect("product", &mul(&a, &b), &self.zip(x, y, |x, y| x * y));
        for next in [NextUse::LinearMap, NextUse::Keep] {
            self.expect(
                "product for another use",
                &s.mul(&a, &b, next).expect("room for a product"),
                &self.zip(x, y, |x, y| x * y),
            );
        }
        self.expect(
            "negative",
            &s.neg(&a).expect("room for a negation"),
            &self.zip(x, x, |x, _| t - x),
        );
        self.same("addition commutes", &add(&a, &b), &add(&b, &a));
        self.same("addition associates", &add(&add(&a, &b), &c), &add(&a, &add(&b, &c)));
        self.same("multiplication commutes", &mul(&a, &b), &mul(&b, &a));
        self.same("multiplication associates", &mul(&mul(&a, &b), &c), &mul(&a, &mul(&b, &c)));
        self.same(
            "multiplication distributes",
            &mul(&a, &add(&b, &c)),
            &add(&mul(&a, &b), &mul(&a, &c)),
        );
        let zero = s.sub(&a, &a).expect("room for a difference");
        self.expect("x - x", &zero, &vec![0; x.len()]);
        self.same("x + 0", &add(&a, &zero), &a);
        self.expect("x * 0", &mul(&a, &zero), &vec![0; x.len()]);
        // Operands at different levels.
        let deep = mul(&mul(&a, &b), &c);
        self.expect(
            "sum across levels",
            &add(&deep, &a),
            &self.zip(&self.zip(&self.zip(x, y, |x, y| x * y), z, |x, z| x * z), x, |d, x| d + x),
        );
        self.expect(
            "product across levels",
            &mul(&deep, &a),
            &self.zip(&self.zip(&self.zip(x, y, |x, y| x * y), z, |x, z| x * z), x, |d, x| d * x),
        );
    }

    /// Constants act as the integers they are.
    ///
    /// # Panics
    /// If a law does not hold.
    pub fn scalars(&self) {
        let s = self.scheme;
        let v = self.vectors(2, 1);
        let a = (self.encrypt)(&v[0]);
        let t = self.modulus() as i64;
        for k in [0, 1, -1, 2, 3, -7, t - 1, t, t / 2] {
            let residue = k.rem_euclid(t) as u128;
            self.expect(
                "adding a constant",
                &s.add_scalar(&a, k).expect("room for a constant"),
                &self.zip(&v[0], &v[0], |x, _| x + residue),
            );
            self.expect(
                "multiplying by a constant",
                &s.mul_scalar(&a, k).expect("room for a constant"),
                &self.zip(&v[0], &v[0], |x, _| x * residue),
            );
        }
    }

    /// Adding a plaintext is adding its slots, to products as to fresh ciphertexts.
    ///
    /// # Panics
    /// If it is not.
    pub fn plaintexts(&self) {
        let s = self.scheme;
        let v = self.vectors(9, 3);
        let [x, y, z] = [&v[0], &v[1], &v[2]];
        let mut elements = vec![0; x.len() * s.slot_shape().degree_of_slot()];
        elements
            .iter_mut()
            .step_by(s.slot_shape().degree_of_slot())
            .zip(z)
            .for_each(|(element, value)| *element = *value);
        let plain = s.encode_elements(&elements).expect("slots of integers");
        let [a, b] = [(self.encrypt)(x), (self.encrypt)(y)];
        let add = |a: &S::Ciphertext| s.add_plain(a, &plain).expect("room for a plaintext");
        self.expect("sum with a plaintext", &add(&a), &self.zip(x, z, |x, z| x + z));
        let product = s.mul(&a, &b, NextUse::Product).expect("room for a product");
        let expected = self.zip(&self.zip(x, y, |x, y| x * y), z, |xy, z| xy + z);
        self.expect("sum of a product with a plaintext", &add(&product), &expected);
        elements.pop();
        assert!(s.encode_elements(&elements).is_err(), "a slot too few");
    }

    /// Sums of products may be relinearized once.
    ///
    /// # Panics
    /// If they differ from the sums of relinearized products.
    pub fn products_are_lazy(&self) {
        let s = self.scheme;
        let v = self.vectors(3, 3);
        let [a, b, c] = [(self.encrypt)(&v[0]), (self.encrypt)(&v[1]), (self.encrypt)(&v[2])];
        let raw =
            |a: &S::Ciphertext, b: &S::Ciphertext| s.mul_lazy(a, b).expect("room for a product");
        let sum = s.add_products(&raw(&a, &b), &raw(&b, &c)).expect("room for a sum");
        let expected = self.zip(&self.zip(&v[0], &v[2], |x, z| x + z), &v[1], |s, y| s * y);
        self.expect(
            "sum of products",
            &s.relinearize(&sum, NextUse::Product).expect("room to relinearize"),
            &expected,
        );
        let deep = s.mul(&a, &b, NextUse::Product).expect("room for a product");
        let mixed = s.add_products(&raw(&deep, &c), &raw(&a, &b)).expect("room for a sum");
        let product = self.zip(&v[0], &v[1], |x, y| x * y);
        let expected = self.zip(&product, &v[2], |xy, z| xy * z + xy);
        self.expect(
            "sum of products across levels",
            &s.relinearize(&mixed, NextUse::Product).expect("room to relinearize"),
            &expected,
        );
    }

    /// Squaring goes on, right every time, until it is refused; capacity only ever goes down, and
    /// is not negative.
    ///
    /// # Panics
    /// If a value is wrong, or the refusal is anything but a noise overflow.
    pub fn refusal(&self) {
        let s = self.scheme;
        let mut x = self.vectors(4, 1).remove(0);
        let mut a = (self.encrypt)(&x);
        let mut depth = 0;
        let error = loop {
            let before = s.capacity_bits(&a);
            match s.mul(&a, &a, NextUse::Product) {
                Ok(square) => a = square,
                Err(e) => break e,
            }
            depth += 1;
            assert!(depth < 1000, "a thousand squarings without a refusal");
            assert!(
                s.capacity_bits(&a) >= 0.0 && s.capacity_bits(&a) < before,
                "capacity after squaring {depth}: {}",
                s.capacity_bits(&a)
            );
            x = self.zip(&x, &x, |x, y| x * y);
            self.expect("repeated squares", &a, &x);
        };
        assert!(
            matches!(error, SchemeError::NoiseOverflow { .. }),
            "expected a noise overflow, found: {error}"
        );
        assert!(depth >= 2, "refused after {depth} squarings");
    }
}
