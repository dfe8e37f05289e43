//! Diagonals along the last dimensions of rings with axes: products with them and sums over
//! automorphisms against the plain computation, bounds against measured noise.

use everlevel_bgv::{Ciphertext, Evaluator, SecretKey, ServerKeys};
use everlevel_ring::{GaloisElement, PlaintextRing};
use everlevel_scheme::spec::Assumption;
use everlevel_scheme::{
    Arithmetic, DiagonalValues, ExactScheme, Form, KeyPlan, Level, LinearMaps, Meta, NextUse, NoOp,
    OptIn, Params, ParamsSpec, Plaintext, Scheme, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

fn params(index: u64, p: u64, r: u32, form: Form, assumption: Assumption) -> Params {
    let spec = ParamsSpec {
        plain_exponent: r,
        base_bits: 48,
        words: 5,
        fine_bits: vec![46, 42, 38],
        special: 2,
        digit_size: 2,
        form,
        assumption,
        ..ParamsSpec::new(format!("insecure_diagonals-{p}-m{index}"), index, p)
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

fn random(rng: &mut ChaCha20Rng, count: usize, below: u64) -> Vec<u64> {
    (0..count).map(|_| rng.next_u64() % below).collect()
}

/// A linear map with diagonals along one, two, .. axes: baby steps, giant steps and a chain of the
/// latter.
struct Map {
    babies: Vec<GaloisElement>,
    giants: Vec<GaloisElement>,
    /// One row for each giant.
    rows: Vec<Vec<Option<Vec<u64>>>>,
}

impl Map {
    fn random(params: &Params, rng: &mut ChaCha20Rng) -> Self {
        let (shape, t) = (params.slot_shape(), params.plain_modulus());
        let axes = shape.axes().unwrap().all();
        let words: Vec<usize> = (0..axes.len())
            .rev()
            .map(|i| axes[i..].iter().map(|axis| axis.degree).product())
            .collect();
        let babies: Vec<_> = [shape.identity(), shape.frobenius()]
            .into_iter()
            .chain(
                (0..shape.dimensions().len()).map(|dimension| shape.rotation_along(dimension, 1)),
            )
            .collect();
        let giants = vec![
            shape.rotation_along(0, -1),
            shape.rotation_along(shape.dimensions().len() - 1, 1),
            shape.identity(),
        ];
        // Every number of axes in every row, and a place left out.
        let entry = |row: usize, i: usize, rng: &mut ChaCha20Rng| {
            random(rng, words[(row + i) % words.len()], t)
        };
        let rows = (0..giants.len())
            .map(|row| {
                (0..babies.len())
                    .map(|i| (row != 1 || i != 2).then(|| entry(row, i, rng)))
                    .collect()
            })
            .collect();
        Map { babies, giants, rows }
    }

    /// The parts of each giant, by the definition.
    fn parts(&self, plain: &PlaintextRing, x: &[u64], e: u32) -> Vec<Vec<u64>> {
        let t = plain.modulus(e);
        let row = |row: &Vec<Option<Vec<u64>>>| {
            let terms = row.iter().zip(&self.babies).filter_map(|(d, g)| Some((d.as_ref()?, *g)));
            terms.fold(vec![0; plain.degree()], |sum: Vec<u64>, (d, g)| {
                // The diagonal in all slots, as any other plaintext.
                let diagonal =
                    plain.encode_elements(&d.repeat(plain.degree() / d.len()), e).unwrap();
                let product = plain.mul(&diagonal, &plain.galois(x, g, e), e);
                sum.iter().zip(&product).map(|(a, b)| t.add(*a, *b)).collect()
            })
        };
        self.rows.iter().map(row).collect()
    }

    /// The sum over giants and the chain of them.
    fn expected(&self, plain: &PlaintextRing, x: &[u64], e: u32) -> [Vec<u64>; 2] {
        let t = plain.modulus(e);
        let plus = |a: &[u64], b: &[u64]| -> Vec<u64> {
            a.iter().zip(b).map(|(x, y)| t.add(*x, *y)).collect()
        };
        let zero = vec![0; plain.degree()];
        let parts = self.parts(plain, x, e);
        let sum = parts
            .iter()
            .zip(&self.giants)
            .fold(zero.clone(), |sum, (part, g)| plus(&sum, &plain.galois(part, *g, e)));
        let chain = parts
            .iter()
            .zip(&self.giants)
            .fold(zero, |sum, (part, g)| plain.galois(&plus(&sum, part), *g, e));
        [sum, chain]
    }

    fn apply<S: ExactScheme>(&self, scheme: &S, x: &S::Ciphertext) -> [S::Ciphertext; 2] {
        let (e, level) = (scheme.plain_exponent(x), scheme.level(x));
        let diagonal = |d: &Vec<u64>| {
            scheme.diagonal(&DiagonalValues::LastDimensions(d.clone()), e, level).unwrap()
        };
        let prepared: Vec<Vec<Option<S::Diagonal>>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(|d| d.as_ref().map(diagonal)).collect())
            .collect();
        let rows: Vec<Vec<Option<&S::Diagonal>>> =
            prepared.iter().map(|row| row.iter().map(Option::as_ref).collect()).collect();
        let babies = scheme.hoist(x, &self.babies).unwrap();
        let parts = || self.giants.iter().copied().zip(scheme.combine(&babies, &rows).unwrap());
        let sum = scheme.galois_sum(parts().collect(), NextUse::Keep).unwrap();
        [sum, scheme.galois_chain(parts().map(Ok), NextUse::Keep).unwrap()]
    }
}

#[test]
fn linear_maps_with_diagonals_along_the_last_dimensions() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    // Bits in lines of 16; three axes with a bad last dimension; a prime; prime powers among the
    // axes; a power of two among them, whose units have two cycles.
    for (index, p, r, form, assumption) in [
        (17 * 97, 2, 1, Form::Bgv, Assumption::Rlwe),
        (3 * 5 * 17, 2, 2, Form::Bgv, Assumption::Rlwe),
        (3 * 5 * 17, 2, 1, Form::Bgv, Assumption::Ntru),
        (5 * 7 * 11, 71, 1, Form::Bfv, Assumption::Rlwe),
        (9 * 49, 31, 1, Form::Bgv, Assumption::Rlwe),
        (16 * 17, 127, 2, Form::Bgv, Assumption::Rlwe),
        (23, 2, 3, Form::Bgv, Assumption::Rlwe),
    ] {
        let params = params(index, p, r, form, assumption);
        let (map, plain) = (Map::random(&params, &mut rng), params.plaintext_ring());
        let secret = SecretKey::generate(&params, &mut rng);
        let used = map.babies.iter().chain(&map.giants).copied();
        let plan = KeyPlan::automorphisms_up_to(&params, used, params.chain().top());
        let scheme =
            Evaluator::new(ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap());
        let open = NoOp::new(&params, 1);

        let x = random(&mut rng, params.degree(), params.plain_modulus());
        let message = Plaintext::from_coefficients(&params, x.clone(), r).unwrap();
        let real = map.apply(&scheme, &secret.encrypt(&message, &mut rng).unwrap());
        let pretended = map.apply(&open, &open.encrypt(&message).unwrap());
        for ((real, pretended), expected) in
            real.iter().zip(&pretended).zip(map.expected(plain, &x, r))
        {
            assert_eq!(secret.decrypt(real).unwrap().coefficients(), expected, "index {index}");
            assert_eq!(open.decrypt(pretended).unwrap().coefficients(), expected, "index {index}");
            let (bound, measured) = (real.noise_bound_bits(), secret.measure_noise(real).unwrap());
            assert!(measured <= bound, "index {index}: 2^{measured:.2} above 2^{bound:.2}");
            assert_eq!(
                (real.meta().noise, real.meta().level),
                (pretended.meta().noise, pretended.meta().level)
            );
        }
    }
}

/// Between the mask of one place, whose embeddings differ, and its images, the bound is taken
/// embedding by embedding along both axes.
#[test]
fn bounds_move_with_their_diagonals() {
    let params = params(17 * 97, 2, 1, Form::Bgv, Assumption::Rlwe);
    let (scheme, shape) = (NoOp::blank(&params), params.slot_shape());
    // So noisy that key switches do not count.
    let x = scheme
        .encrypt_exhausted(&Plaintext::encode(&params, &[]).unwrap(), params.chain().top(), 100.0)
        .unwrap();
    let inner = 2 * shape.degree_of_slot();
    let mask = |place: usize| {
        let one =
            |i: usize| u64::from(i / inner == place && i.is_multiple_of(shape.degree_of_slot()));
        DiagonalValues::LastDimensions((0..16 * inner).map(one).collect())
    };
    // All masks are images of one, and their sum is 1; that of the bounds is larger, but not by 16
    // times the largest embedding.
    let masks: Vec<_> =
        (0..16).map(|i| scheme.diagonal(&mask(i), 1, x.meta().level).unwrap()).collect();
    let noise = |rows: &[Vec<Option<&_>>]| {
        let inputs = scheme.hoist(&x, &vec![shape.identity(); rows[0].len()]).unwrap();
        let parts = scheme.combine(&inputs, rows).unwrap();
        let giants = (0..).map(|k| shape.rotation_along(0, k));
        let sum = scheme.galois_sum(giants.zip(parts).collect(), NextUse::Keep).unwrap();
        scheme.noise_bound_bits(&sum)
    };
    let one = noise(&[vec![Some(&masks[0])]]);
    let together = noise(&[masks.iter().map(Some).collect()]);
    assert!(together < one + 3.5, "{one} {together}");
    // The image of mask 1 under one step to the left is mask 0: the same embeddings twice.
    let twice = noise(&[vec![Some(&masks[0])], vec![Some(&masks[1])]]);
    let doubled = noise(&[vec![Some(&masks[0]), Some(&masks[0])]]);
    assert!((twice - doubled).abs() < 1e-6, "{twice} {doubled}");
}

#[test]
fn other_numbers_of_elements_are_refused() {
    let params = params(17 * 97, 2, 1, Form::Bgv, Assumption::Rlwe);
    let scheme = NoOp::new(&params, 1);
    for count in [0, 1, 48, 95, 97, 16 * 96 + 1, 2 * 16 * 96] {
        let refused =
            scheme.diagonal(&DiagonalValues::LastDimensions(vec![0; count]), 1, Level(0)).err();
        assert!(matches!(refused, Some(SchemeError::Ring(_))), "{count} residues: {refused:?}");
    }
    assert!(scheme.diagonal(&DiagonalValues::LastDimensions(vec![2; 96]), 1, Level(0)).is_err());
}

/// Ciphertexts of several levels, or with several correction factors, are not added up as they are.
#[test]
fn parts_that_do_not_meet_are_refused() {
    let params = params(16 * 17, 127, 2, Form::Bgv, Assumption::Rlwe);
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let secret = SecretKey::generate(&params, &mut rng);
    let scheme = Evaluator::new(ServerKeys::empty(&params));
    let (top, g) = (params.chain().top(), params.slot_shape().identity());
    let x = secret.encrypt(&Plaintext::encode(&params, &[1]).unwrap(), &mut rng).unwrap();
    let lower = scheme.mod_switch_to(&x, Level(top.0 - 1)).unwrap();
    let meta = Meta { factor: 2, ..*x.meta() };
    let other = Ciphertext::from_parts(&params, meta, x.components().to_vec()).unwrap();
    let ones = DiagonalValues::LastDimensions(vec![1; 16]);
    let ones = scheme.diagonal(&ones, 2, top).unwrap();
    let part = |x: &Ciphertext| scheme.hoist(x, &[g]).unwrap().remove(0);
    for y in [&lower, &other] {
        let rows = [vec![Some(&ones), Some(&ones)]];
        let both = [Ok((g, part(&x))), Ok((g, part(y)))];
        let found = [
            scheme.combine(&[part(&x), part(y)], &rows).err(),
            scheme.galois_sum(vec![(g, part(&x)), (g, part(y))], NextUse::Keep).err(),
            scheme.galois_chain(both.into_iter(), NextUse::Keep).err(),
        ];
        for found in found {
            assert_eq!(found.map(|e| e.code()), Some("scheme.bad-argument"));
        }
    }
}
