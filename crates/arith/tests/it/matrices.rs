//! Products with matrices on every backend against wide integer arithmetic.

use everlevel_arith::{Backend, Modulus, kernels};

use crate::kernels::{everywhere, moduli, slices};

/// The rows of a matrix product one by one, in wide integers.
fn product_with_matrix(q: Modulus, xs: &[Vec<u64>], weights: &[i64], n: usize) -> Vec<Vec<u64>> {
    let word = |row: &[i64], i: usize| {
        let terms = row.iter().zip(xs).map(|(&w, x)| i128::from(w) * i128::from(x[i]));
        terms.fold(0, |sum: i128, term| (sum + term).rem_euclid(q.value().into())) as u64
    };
    let rows = weights.chunks(xs.len().max(1));
    rows.map(|row| (0..n).map(|i| word(row, i)).collect()).collect()
}

#[test]
fn matrix_products() {
    everywhere(|k, q, n, words| {
        // Fewer rows than are summed together, as many, and more.
        let (rows, terms) = (words.next() as usize % 10, 1 + words.next() as usize % 40);
        let xs: Vec<Vec<u64>> = (0..terms).map(|_| words.below(q.value(), n)).collect();
        // From zeros to constants that are no small ones.
        let size = 1u64 << (words.next() % 62);
        let drawn = words.below(2 * size + 1, rows * terms);
        let weights: Vec<i64> = drawn.into_iter().map(|w| w as i64 - size as i64).collect();
        let mut outs = vec![vec![9; n]; rows];
        let mut views: Vec<&mut [u64]> = outs.iter_mut().map(Vec::as_mut_slice).collect();
        k.matrix_product(q, &mut views, &slices(&xs), &weights);
        assert_eq!(outs, product_with_matrix(q, &xs, &weights, n), "{rows} rows of {terms} {q:?}");
    });
}

/// Sums as large as they become before they are reduced, of either sign, and one more.
#[test]
#[cfg_attr(miri, ignore = "thousands of terms, and the same accesses as with few")]
fn matrix_products_at_the_ends_of_their_sums() {
    let n = 29;
    for backend in Backend::available() {
        let k = kernels::on(backend).unwrap();
        for q in moduli() {
            let most = ((1i64 << 53) / q.value() as i64 - 1).min(1 << 50);
            let ends = [q.value() - 1, 0, q.value() / 2];
            let xs: Vec<Vec<u64>> = (0..120).map(|term| vec![ends[term % 3]; n]).collect();
            let views = slices(&xs);
            for weight in [1, most / 40, most / 2, most - 1, most, most + 1, i64::MAX / 2] {
                let signs = [1, -1, 1, -1, -1];
                let weights: Vec<i64> = (0..xs.len() * signs.len())
                    .map(|at| match (at / xs.len(), at % xs.len()) {
                        (row @ (0 | 1), _) => signs[row] * weight,
                        (row, term) => signs[(row + term) % 5] * (weight - term as i64 % 3),
                    })
                    .collect();
                let mut outs = vec![vec![9; n]; signs.len()];
                let mut rows: Vec<&mut [u64]> = outs.iter_mut().map(Vec::as_mut_slice).collect();
                k.matrix_product(q, &mut rows, &views, &weights);
                assert_eq!(outs, product_with_matrix(q, &xs, &weights, n), "{weight} {q:?}");
            }
        }
    }
}

#[test]
fn matrices_without_rows_or_columns() {
    let q = Modulus::new(97).unwrap();
    for backend in Backend::available() {
        let k = kernels::on(backend).unwrap();
        k.matrix_product(q, &mut [], &[&[1, 2], &[3, 4]], &[]);
        let mut outs = [[5; 3]; 2];
        let mut views: Vec<&mut [u64]> = outs.iter_mut().map(|out| &mut out[..]).collect();
        k.matrix_product(q, &mut views, &[], &[]);
        assert_eq!(outs, [[0; 3]; 2]);
        k.matrix_product(q, &mut [&mut [], &mut []], &[&[]], &[1, 2]);
    }
}

#[test]
#[should_panic(expected = "a constant for each row and term")]
fn matrices_of_another_shape_are_refused() {
    let k = kernels::on(Backend::detect()).unwrap();
    k.matrix_product(Modulus::new(97).unwrap(), &mut [&mut [0]], &[&[1]], &[1, 2]);
}
