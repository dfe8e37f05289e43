//! Galois rings against polynomials and their division.

use everlevel_ring::{GaloisRing, PrimePower, RingError, SlotShape};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Those of slots of all kinds: of odd index and of a power of two, of degree 1, modulo words and
/// more.
fn rings() -> impl Iterator<Item = GaloisRing> {
    let slots = [
        (7, 2, 61),
        (15, 2, 1),
        (23, 3, 39),
        (31, 5, 2),
        (45, 8191, 4),
        (85, 127, 3),
        (217, 17, 15),
        (56647, 127, 8),
        (128, 3, 39),
        (64, 65537, 2),
    ];
    slots
        .into_iter()
        .map(|(index, p, e)| SlotShape::new(index, p, e).unwrap().galois_ring(e).unwrap())
}

fn random(rng: &mut ChaCha20Rng, ring: &GaloisRing) -> Vec<u64> {
    (0..ring.degree()).map(|_| rng.next_u64() % ring.modulus().value()).collect()
}

/// The remainder of the product of two polynomials.
fn schoolbook(ring: &GaloisRing, a: &[u64], b: &[u64]) -> Vec<u64> {
    let (t, d, f) = (ring.modulus(), ring.degree(), ring.polynomial());
    let mut product = vec![0; 2 * d];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            product[i + j] = t.add(product[i + j], t.mul(x, y));
        }
    }
    for top in (d..2 * d).rev() {
        for i in 0..=d {
            product[top - d + i] =
                t.sub(product[top - d + i], if i < d { t.mul(product[top], f[i]) } else { 0 });
        }
    }
    product.truncate(d);
    product
}

#[test]
fn products_are_those_of_polynomials() {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    for ring in rings() {
        let t = ring.modulus();
        let (a, b, c) = (random(&mut rng, &ring), random(&mut rng, &ring), random(&mut rng, &ring));
        let largest = vec![t.value() - 1; ring.degree()];
        for (x, y) in [(&a, &b), (&largest, &largest), (&a, &largest)] {
            assert_eq!(ring.mul(x, y), schoolbook(&ring, x, y), "{}^{}", t.prime(), t.exponent());
        }
        assert_eq!(ring.mul(&a, &ring.add(&b, &c)), ring.add(&ring.mul(&a, &b), &ring.mul(&a, &c)));
        assert_eq!(ring.add(&ring.sub(&a, &b), &b), a);
        assert_eq!(ring.mul(&a, &ring.one()), a);
        assert_eq!(ring.times_x(&a), ring.mul(&a, &ring.x()));
        assert_eq!(ring.scale(b[0], &a), ring.mul(&ring.scalar(b[0]), &a));
        assert_eq!(ring.pow(&a, 5), ring.mul(&a, &ring.pow(&ring.mul(&a, &a), 2)));
        assert_eq!(ring.pow(&a, 0), ring.one());
    }
}

#[test]
fn frobenius_is_an_automorphism_of_order_d_and_the_power_by_p_below() {
    let mut rng = ChaCha20Rng::from_seed([2; 32]);
    for ring in rings() {
        let (t, d, low) = (ring.modulus(), ring.degree(), ring.reduced(1).unwrap());
        let (a, b) = (random(&mut rng, &ring), random(&mut rng, &ring));
        for k in [1, 2, d - 1] {
            let image = |a: &[u64]| ring.frobenius(a, k);
            assert_eq!(image(&ring.mul(&a, &b)), ring.mul(&image(&a), &image(&b)));
            assert_eq!(
                image(&ring.add(&a, &ring.scalar(5))),
                ring.add(&image(&a), &ring.scalar(5))
            );
            assert_eq!(ring.frobenius(&image(&a), d - k % d), a);
        }
        assert_eq!(
            low.reduce(&ring.frobenius(&a, 1)),
            low.pow(&low.reduce(&a), u128::from(t.prime()))
        );
        // x is a root of unity, of an order prime to p: its image is its power.
        assert_eq!(ring.frobenius(&ring.x(), 1), ring.pow(&ring.x(), u128::from(t.prime())));
        let conjugates =
            (0..d).fold(ring.scalar(0), |sum, k| ring.add(&sum, &ring.frobenius(&a, k)));
        assert_eq!(conjugates, ring.scalar(ring.trace(&a)));
        assert_eq!(ring.trace(&ring.one()), t.reduce_u64(d as u64));
    }
}

#[test]
fn units_have_inverses_and_multiples_of_p_have_none() {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    for ring in rings() {
        let p = ring.modulus().prime();
        let units = (0..5).filter(|_| {
            let a = random(&mut rng, &ring);
            let multiple = a.iter().all(|&x| x.is_multiple_of(p));
            match ring.inv(&a) {
                Ok(inverse) => assert_eq!(ring.mul(&a, &inverse), ring.one()),
                Err(error) => assert!(multiple && matches!(error, RingError::NotInvertible { .. })),
            }
            !multiple
        });
        assert!(units.count() > 0);
        assert!(matches!(ring.inv(&ring.scalar(p)), Err(RingError::NotInvertible { .. })));
        assert_eq!(ring.inv(&ring.one()), Ok(ring.one()));
    }
}

#[test]
fn reduction_is_a_ring_homomorphism() {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    for ring in rings() {
        let (a, b) = (random(&mut rng, &ring), random(&mut rng, &ring));
        // What a ring has computed so far makes no difference.
        ring.frobenius(&a, 1);
        assert_eq!(ring.reduced(ring.modulus().exponent()).unwrap(), ring);
        for k in 1..=ring.modulus().exponent() {
            let low = ring.reduced(k).unwrap();
            assert_eq!(low.reduce(&ring.mul(&a, &b)), low.mul(&low.reduce(&a), &low.reduce(&b)));
            assert_eq!(low.trace(&low.reduce(&a)), low.modulus().reduce_u64(ring.trace(&a)));
        }
        assert!(ring.reduced(ring.modulus().exponent() + 1).is_err() && ring.reduced(0).is_err());
    }
}

#[test]
fn polynomials_that_define_no_ring_are_refused() {
    let t = PrimePower::new(5, 2).unwrap();
    for (polynomial, degree) in
        [(&[][..], 0), (&[1], 0), (&[1, 2], 1), (&[25, 1], 1), (&[2, 0, 0], 2)]
    {
        assert_eq!(GaloisRing::new(t, polynomial), Err(RingError::ModulusPolynomial { degree }));
    }
    assert_eq!(GaloisRing::new(t, &[2, 0, 1]).unwrap().degree(), 2);
}
