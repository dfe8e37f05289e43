//! The transform of rings whose index is no power of two against its definition, on every backend.

use everlevel_arith::{Axes, Backend, Modulus, TensorTable, kernels, primes};

/// The transform modulo the largest prime below 2^bits that has it.
fn table(index: u64, bits: u32, backend: Backend) -> (Axes, TensorTable) {
    let axes = Axes::new(index).unwrap();
    let q = primes::primes_congruent_one(axes.transform_order(), 1 << bits).next().unwrap();
    let root = primes::primitive_root_of_unity(q, index).unwrap();
    let table = TensorTable::new(Modulus::new(q).unwrap(), &axes, root, backend).unwrap();
    (axes, table)
}

/// The exponents of X of all basis elements, in coefficient order.
fn exponents(axes: &Axes) -> Vec<u64> {
    let mut all = vec![0];
    for (a, axis) in axes.all().iter().enumerate() {
        let own: Vec<u64> = (0..axis.degree)
            .map(|i| axes.coefficient_exponent(a, i) * axis.exponent % axes.index())
            .collect();
        all = all.iter().flat_map(|x| own.iter().map(move |e| (x + e) % axes.index())).collect();
    }
    all
}

/// Reproducible words below a bound.
fn words(bound: u64, length: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((u128::from(state) * u128::from(bound)) >> 64) as u64
        })
        .collect()
}

/// The transform on every backend.
fn tables(index: u64, bits: u32) -> (Axes, Vec<(Backend, TensorTable)>) {
    let tables: Vec<_> =
        Backend::available().into_iter().map(|b| (b, table(index, bits, b).1)).collect();
    (tables[0].1.axes().clone(), tables)
}

/// Compares the values at the given places with those of the polynomial, on every backend, and the
/// way back with the coefficients.
fn check(
    axes: &Axes,
    tables: &[(Backend, TensorTable)],
    a: &[u64],
    places: impl Iterator<Item = usize>,
) {
    let (q, root, index) = (tables[0].1.modulus(), tables[0].1.root(), axes.index());
    let powers: Vec<u64> =
        std::iter::successors(Some(1), |x| Some(q.mul(*x, root))).take(index as usize).collect();
    let (exponents, canonical) =
        (exponents(axes), a.iter().map(|x| x % q.value()).collect::<Vec<_>>());
    let value = |place| {
        let u = axes.unit(place);
        canonical
            .iter()
            .zip(&exponents)
            .fold(0, |s, (c, e)| q.mul_add(*c, powers[(u * e % index) as usize], s))
    };
    let want: Vec<(usize, u64)> = places.map(|place| (place, value(place))).collect();
    for (backend, table) in tables {
        let mut values = a.to_vec();
        table.forward(&mut values);
        for &(place, value) in &want {
            assert_eq!(
                values[place],
                value,
                "index {index}, place {place}, {backend}, q {}",
                q.value()
            );
        }
        assert!(values.iter().all(|&x| x < q.value()));
        table.inverse(&mut values);
        assert_eq!(values, canonical, "index {index}, {backend}, q {}", q.value());
    }
}

#[test]
fn values_are_those_of_the_polynomial_and_come_back() {
    let single = [3, 5, 7, 17, 19, 23, 31, 37, 53, 59, 79, 83, 97, 101, 163, 257, 353];
    let powers = [9, 25, 27, 45, 9 * 25, 63, 9 * 17, 7 * 121, 5 * 9 * 17, 9 * 11 * 23];
    let several =
        [15, 91, 105, 255, 341, 23 * 29, 7 * 11 * 13, 3 * 5 * 7 * 11, 3 * 5 * 17, 13 * 97];
    let even =
        [12, 24, 4 * 15, 8 * 9, 16 * 7, 32 * 5, 64 * 15, 4 * 37, 128 * 3, 256 * 5, 16 * 9 * 5];
    // Under Miri one ring for each kind of stage.
    let few = [3, 7, 17, 19, 23, 37, 9, 15, 91, 12];
    let all = single.into_iter().chain(powers).chain(several).chain(even);
    for index in all.filter(|index| !cfg!(miri) || few.contains(index)) {
        let sizes: &[u32] = if cfg!(miri) { &[50] } else { &[50, 49, 36] };
        for &bits in sizes {
            let (axes, tables) = tables(index, bits);
            let q = tables[0].1.modulus().value();
            check(&axes, &tables, &words(q, axes.degree(), index), 0..axes.degree());
            // The largest words that are allowed, and a constant.
            check(&axes, &tables, &vec![4 * q - 1; axes.degree()], 0..1);
            check(&axes, &tables, &vec![q - 1; axes.degree()], 0..1);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "interpreted it takes hours")]
fn large_rings_agree_with_the_definition_at_some_places() {
    for index in [
        65535,
        38309,
        56647,
        55427,
        45193,
        50731,
        21845,
        32767,
        15709,
        2063,
        7 * 1031,
        1024 * 15,
        3 << 12,
        16 * 1031,
    ] {
        let (axes, tables) = tables(index, 50);
        let (n, q) = (axes.degree(), tables[0].1.modulus().value());
        check(&axes, &tables, &words(4 * q, n, index), (0..n).step_by(n / 5));
    }
}

#[test]
#[cfg_attr(miri, ignore = "a large ring")]
fn products_of_values_are_values_of_products() {
    // X^a X^b = X^(a+b) for exponents whose sum is a unit again.
    let (axes, table) = table(38309, 50, Backend::detect());
    assert!(axes.is_squarefree());
    let monomial = |u: u64| {
        let mut x = vec![0; axes.degree()];
        x[axes.position(u).unwrap()] = 1;
        table.forward(&mut x);
        x
    };
    let mut product = monomial(17);
    let kernels = kernels::on(Backend::detect()).unwrap();
    kernels.mul_assign(table.modulus(), &mut product, &monomial(38000));
    table.inverse(&mut product);
    let place = axes.position(38017).unwrap();
    assert!(product.iter().enumerate().all(|(i, &x)| x == u64::from(i == place)));
}
