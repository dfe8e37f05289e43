//! The transform of rings of odd index against its definition.

use everlevel_arith::{Axes, Modulus, TensorTable, primes};

fn table(index: u64) -> (Axes, TensorTable) {
    let axes = Axes::new(index).unwrap();
    let q = primes::primes_congruent_one(axes.transform_order(), 1 << 50).next().unwrap();
    let root = primes::primitive_root_of_unity(q, index).unwrap();
    let table = TensorTable::new(Modulus::new(q).unwrap(), &axes, root).unwrap();
    (axes, table)
}

/// The exponents of X of all basis elements, in coefficient order.
fn exponents(axes: &Axes) -> Vec<u64> {
    let mut all = vec![0];
    for (a, axis) in axes.all().iter().enumerate() {
        let own: Vec<u64> = (0..axis.degree).map(|i| axes.coefficient_exponent(a, i) * axis.exponent % axes.index()).collect();
        all = all.iter().flat_map(|x| own.iter().map(move |e| (x + e) % axes.index())).collect();
    }
    all
}

#[test]
fn values_are_those_of_the_polynomial_and_come_back() {
    for index in [3, 5, 7, 9, 15, 25, 27, 45, 91, 105, 255, 341, 23 * 29, 9 * 25, 7 * 11 * 13] {
        let (axes, table) = table(index);
        let q = table.modulus();
        let mut state = index;
        let a: Vec<u64> = (0..axes.degree())
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                q.reduce_u64(state >> 7)
            })
            .collect();
        let mut values = a.clone();
        table.forward(&mut values);
        let exponents = exponents(&axes);
        for (place, u) in axes.units().into_iter().enumerate() {
            let x = q.pow(table.root(), u);
            let want = a.iter().zip(&exponents).fold(0, |s, (c, e)| q.add(s, q.mul(*c, q.pow(x, *e))));
            assert_eq!(values[place], want, "index {index}, place {place}");
        }
        table.inverse(&mut values);
        assert_eq!(values, a, "index {index}");
    }
}
