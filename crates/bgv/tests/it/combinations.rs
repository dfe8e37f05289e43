//! Linear combinations on small rings, of several ciphertexts and in one pass.

use everlevel_scheme::{
    AffineForm, Arithmetic, Form, NextUse, PlainModulus, Plaintext, SparseForm,
};
use rand_core::Rng;

use crate::rlwe::{SETS, fixture};

/// Forms in one pass are combinations one by one, in their bits, levels and bounds.
#[test]
fn forms_in_one_pass_are_combinations() {
    for name in SETS {
        let mut f = fixture(name, 23);
        let values = f.values();
        let a = f.encrypt(&values);
        let b = f.bgv.mul(&a, &a, NextUse::Product).unwrap();
        let c = f.bgv.mul(&b, &a, NextUse::Product).unwrap();
        for xs in [vec![&a], vec![&a, &a, &b], vec![&c, &a, &b, &a, &c]] {
            let forms: Vec<AffineForm> = (0..6)
                .map(|row| AffineForm {
                    weights: (0..xs.len() as i64).map(|j| (row * 7 + j * 5) % 11 - 5).collect(),
                    constant: row - 3,
                })
                .collect();
            let made = f.bgv.linear_combinations(&xs, &forms).unwrap();
            assert_eq!(made.len(), forms.len());
            for (made, form) in made.iter().zip(&forms) {
                let terms: Vec<_> = xs.iter().copied().zip(form.weights.iter().copied()).collect();
                let one = f.bgv.linear_combination(&terms, form.constant).unwrap();
                assert_eq!(made.meta(), one.meta(), "{name}");
                assert_eq!(made.fingerprint(), one.fingerprint(), "{name}");
                f.open(made);
            }
        }
        assert!(f.bgv.linear_combinations(&[&a], &[]).unwrap().is_empty());
        let short = AffineForm { weights: vec![1], constant: 0 };
        let found = f.bgv.linear_combinations(&[&a, &b], &[short]).unwrap_err();
        assert_eq!(found.code(), "scheme.bad-argument", "{name}");
    }
}

/// Forms of some of the values each, in one pass, are combinations one by one: those that lack the
/// lowest value stay above it, and those of other values have other factors.
#[test]
fn sparse_forms_in_one_pass_are_combinations() {
    for name in SETS {
        let mut f = fixture(name, 25);
        let values = f.values();
        let a = f.encrypt(&values);
        let b = f.bgv.mul(&a, &a, NextUse::Product).unwrap();
        let c = f.bgv.mul(&b, &a, NextUse::Product).unwrap();
        let d = f.bgv.mul_scalar(&f.bgv.mul(&b, &b, NextUse::Keep).unwrap(), 3).unwrap();
        let xs = [&c, &a, &d, &b];
        let form = |terms: &[(usize, i64)], constant| SparseForm { terms: terms.into(), constant };
        let forms = [
            form(&[(1, 2)], 0),
            form(&[(1, 3), (3, -1)], 7),
            form(&[(3, 5), (0, 1), (1, -2)], 0),
            form(&[(0, 1), (1, 2), (2, -3), (3, 4)], 5),
            form(&[(2, 1), (1, 0)], -1),
            form(&[(3, 2), (1, 3)], 7),
        ];
        let made = f.bgv.sparse_combinations(&xs, &forms).unwrap();
        assert_eq!(made.len(), forms.len());
        let mut levels = Vec::new();
        for (made, form) in made.iter().zip(&forms) {
            let terms: Vec<_> = form.terms.iter().map(|(place, w)| (xs[*place], *w)).collect();
            let one = f.bgv.linear_combination(&terms, form.constant).unwrap();
            assert_eq!(made.meta(), one.meta(), "{name}");
            assert_eq!(made.fingerprint(), one.fingerprint(), "{name}");
            levels.push(made.level());
            f.open(made);
        }
        assert!(levels[0] > levels[2], "{name}: {levels:?}");
        for wrong in [form(&[(4, 1)], 0), form(&[(1, 1), (1, 2)], 0), form(&[], 1)] {
            let found = f.bgv.sparse_combinations(&xs, &[wrong]).unwrap_err();
            assert_eq!(found.code(), "scheme.bad-argument", "{name}");
        }
    }
}

/// What is not of one form, or of other parameters, is no term of a combination.
#[test]
fn combinations_refuse_other_forms_and_parameters() {
    let mut f = fixture("insecure_bgv-257-n8", 24);
    let values = f.values();
    let a = f.encrypt(&values);
    let bfv = f.bgv.convert(&a, Form::Bfv);
    let found = f.bgv.linear_combination(&[(&a, 1), (&bfv, 1)], 0).unwrap_err();
    assert_eq!(found.code(), "scheme.form-mismatch");
    let mut other = fixture("insecure_bgv-65537-n11", 24);
    let values = other.values();
    let foreign = other.encrypt(&values);
    assert!(f.bgv.linear_combination(&[(&a, 1), (&foreign, 1)], 0).is_err());
    assert!(f.bgv.linear_combination(&[(&foreign, 1), (&a, 1)], 0).is_err());
}

#[test]
fn linear_combinations_across_levels_and_factors() {
    for name in SETS {
        let mut f = fixture(name, 7);
        for e in [1, 2] {
            let t = f.bgv.params().plaintext_ring().modulus(e);
            let x: Vec<u64> =
                (0..f.bgv.params().slots()).map(|_| f.rng.next_u64() % t.value()).collect();
            let plaintext = Plaintext::encode_modulo(f.bgv.params(), &x, e).unwrap();
            let a = f.secret.encrypt(&plaintext, &mut f.rng).unwrap();
            let b = f.bgv.mul(&a, &a, NextUse::Product).unwrap();
            let c = f.bgv.mul(&b, &a, NextUse::Product).unwrap();
            let sum = f.bgv.linear_combination(&[(&a, 7), (&c, -3), (&b, 1), (&a, 0)], 11).unwrap();
            let want: Vec<u64> = x
                .iter()
                .map(|&x| {
                    let (y, z) = (t.mul(x, x), t.mul(x, t.mul(x, x)));
                    t.add(t.sub(t.add(t.mul(7, x), y), t.mul(3, z)), 11)
                })
                .collect();
            assert_eq!(f.open(&sum), want, "{name} mod p^{e}");
        }
        assert!(f.bgv.linear_combination(&[], 1).is_err());
    }
}
