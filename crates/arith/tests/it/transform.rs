//! The transform against its definition, against itself backwards, and every backend against the
//! portable one.

use everlevel_arith::{
    ArithError, Backend, Modulus, NttTable, coefficient_position, evaluation_exponent,
    gather_natural, kernels, primes, scatter_natural,
};

/// A reproducible stream of words.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64, length: usize) -> Vec<u64> {
        (0..length).map(|_| self.next() % bound).collect()
    }
}

/// Tables of length 2^log_n: largest primes of 50, 49 and 30 bits, the small plaintext primes, and
/// squares of primes.
fn tables(log_n: u32, backend: Backend) -> Vec<NttTable> {
    let order = 2u64 << log_n;
    let mut tables = Vec::new();
    let (bits, primes) = if cfg!(miri) { (1, 1) } else { (3, 3) };
    for bits in [50, 49, 30].into_iter().take(bits) {
        let q = primes::primes_congruent_one(order, 1 << bits).next().unwrap();
        tables.push(NttTable::for_prime(q, log_n, backend).unwrap());
    }
    for p in [97u64, 65537, 786_433].into_iter().take(primes) {
        for e in 1..=2 {
            if let Some(root) = primes::root_mod_prime_power(p, e, order) {
                let q = Modulus::new(p.pow(e)).unwrap();
                tables.push(NttTable::new(q, log_n, root, backend).unwrap());
            }
        }
    }
    tables
}

/// Sum of a_c x^c, by Horner's rule.
fn evaluate(q: Modulus, natural: &[u64], x: u64) -> u64 {
    natural.iter().rev().fold(0, |sum, &c| q.mul_add(sum, x, c))
}

#[test]
fn transform_evaluates_at_the_documented_roots() {
    let mut words = Words(1);
    for log_n in if cfg!(miri) { vec![4, 7] } else { (4..=8).collect() } {
        for backend in Backend::available() {
            for table in tables(log_n, backend) {
                let q = table.modulus();
                let natural = words.below(q.value(), table.degree());
                let mut values = vec![0; table.degree()];
                scatter_natural(log_n, &natural, &mut values);
                table.forward(&mut values);
                for (index, &value) in values.iter().enumerate() {
                    let point = q.pow(table.root(), evaluation_exponent(log_n, index));
                    assert_eq!(value, evaluate(q, &natural, point), "{backend} {table:?} {index}");
                }
                table.inverse(&mut values);
                assert_eq!(gather_natural(log_n, &values), natural, "{backend} {table:?}");
            }
        }
    }
}

#[test]
fn backends_agree_and_round_trips_return() {
    let mut words = Words(2);
    let longest = if cfg!(miri) { 8 } else { NttTable::MAX_LOG_N };
    for log_n in NttTable::MIN_LOG_N..=longest {
        let others: Vec<(Backend, Vec<NttTable>)> =
            Backend::available().into_iter().map(|b| (b, tables(log_n, b))).collect();
        for (i, portable) in tables(log_n, Backend::Portable).iter().enumerate() {
            let (q, n) = (portable.modulus().value(), portable.degree());
            let mixed = (0..n)
                .map(|_| [0, 1, q - 1, q, 2 * q, 4 * q - 1][words.next() as usize % 6])
                .collect();
            let inputs = [
                words.below(q, n),
                words.below(4 * q, n),
                mixed,
                vec![4 * q - 1; n],
                vec![q - 1; n],
            ];
            for input in inputs {
                let mut expected = input.clone();
                portable.forward(&mut expected);
                assert!(expected.iter().all(|&x| x < q));
                let canonical: Vec<u64> = input.iter().map(|x| x % q).collect();
                let mut backwards = canonical.clone();
                portable.inverse(&mut backwards);
                for (backend, tables) in &others {
                    let table = &tables[i];
                    let mut a = input.clone();
                    table.forward(&mut a);
                    assert!(a == expected, "forward, {backend}, {table:?}");
                    table.inverse(&mut a);
                    assert!(a == canonical, "round trip, {backend}, {table:?}");
                    table.inverse(&mut a);
                    assert!(a == backwards, "inverse, {backend}, {table:?}");
                }
            }
        }
    }
}

#[test]
fn pointwise_products_are_negacyclic_products() {
    let mut words = Words(3);
    let lengths: &[u32] = if cfg!(miri) { &[4, 7] } else { &[4, 6, 7, 8] };
    for &log_n in lengths {
        for table in tables(log_n, Backend::detect()) {
            let (q, n) = (table.modulus(), table.degree());
            let (a, b) = (words.below(q.value(), n), words.below(q.value(), n));
            let mut expected = vec![0; n];
            for (i, &x) in a.iter().enumerate() {
                for (j, &y) in b.iter().enumerate() {
                    let slot = &mut expected[(i + j) % n];
                    let product = q.mul(x, y);
                    *slot = if i + j < n { q.add(*slot, product) } else { q.sub(*slot, product) };
                }
            }
            let (mut left, mut right) = (vec![0; n], vec![0; n]);
            scatter_natural(log_n, &a, &mut left);
            scatter_natural(log_n, &b, &mut right);
            table.forward(&mut left);
            table.forward(&mut right);
            kernels::on(Backend::detect()).unwrap().mul_assign(q, &mut left, &right);
            table.inverse(&mut left);
            assert_eq!(gather_natural(log_n, &left), expected, "{table:?}");
        }
    }
}

#[test]
fn a_constant_has_constant_values_and_x_has_the_roots() {
    let table = NttTable::for_prime(786_433, 10, Backend::detect()).unwrap();
    let mut a = vec![0; 1024];
    a[coefficient_position(10, 0)] = 7;
    table.forward(&mut a);
    assert!(a.iter().all(|&x| x == 7));
    let mut a = vec![0; 1024];
    a[table.coefficient_position(1)] = 1;
    table.forward(&mut a);
    assert_eq!(a[0], table.root());
    assert_eq!(a[1], table.modulus().pow(table.root(), 5));
    assert_eq!(a[512], table.modulus().inv(table.root()).unwrap());
}

#[test]
fn wrong_parameters_are_refused() {
    let q = Modulus::new(65537).unwrap();
    let new = |log_n, root| NttTable::new(q, log_n, root, Backend::Portable);
    let for_prime = |q, log_n| NttTable::for_prime(q, log_n, Backend::Portable);
    assert!(matches!(new(3, 4), Err(ArithError::InvalidLength { found: 3, .. })));
    assert!(matches!(new(18, 4), Err(ArithError::InvalidLength { found: 18, .. })));
    assert!(matches!(new(4, 4), Err(ArithError::InvalidRoot { root: 4, .. })));
    assert!(matches!(new(4, 65537 + 3), Err(ArithError::InvalidRoot { .. })));
    assert!(matches!(for_prime(65537, 16), Err(ArithError::NoRoot { log_order: 17, .. })));
    assert!(matches!(for_prime(33, 4), Err(ArithError::NoRoot { .. })));
    assert!(matches!(for_prime(32, 4), Err(ArithError::InvalidModulus { found: 32 })));
    for missing in Backend::ALL.into_iter().filter(|b| !b.is_available()) {
        let refused = ArithError::MissingBackend { backend: missing.name() };
        assert_eq!(NttTable::for_prime(97, 4, missing).unwrap_err(), refused);
        assert_eq!(kernels::on(missing).unwrap_err(), refused);
    }
}
