//! Values that are computed with operators: exact, or refused where they are computed.

use everlevel::files::Bounds;
use everlevel::{
    ArrayOperation, Client, Expr, IntegerColumn, KeyPlan, OptIn, Order, Params, Plan, Server, Type,
    Value, ValueRange, Wrapping,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

fn parties(set: &str, seed: u64) -> (Client, Server, ChaCha20Rng) {
    let params = Params::named(set, OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let client = Client::new(&params, &mut rng);
    let server = client.server(&mut rng).unwrap();
    (client, server, rng)
}

/// A value modulo p with 0, 1, .. in its slots, and another one.
fn modular(client: &Client, rng: &mut ChaCha20Rng) -> [(Expr<Value>, Vec<i128>); 2] {
    [1u64, 5].map(|k| {
        let t = client.params().plain_modulus();
        let values: Vec<u64> = (0..client.params().slots() as u64).map(|i| k * i % t).collect();
        let x = client.encrypt_modular(&values, rng).unwrap();
        (Expr::new(Value::from(x)), values.into_iter().map(i128::from).collect())
    })
}

#[test]
fn operators_on_values_modulo_p() {
    let (client, server, mut rng) = parties("insecure_bgv-257-n8", 1);
    let [(x, a), (y, b)] = modular(&client, &mut rng);
    let t = i128::from(client.params().plain_modulus());
    type Plain = fn(i128, i128) -> i128;
    let cases: Vec<(Expr<Value>, Plain)> = vec![
        (&x + &y, |a, b| a + b),
        (&x - &y, |a, b| a - b),
        (&x * &y, |a, b| a * b),
        (-&x, |a, _| -a),
        (&x + 3, |a, _| a + 3),
        (&x - 3, |a, _| a - 3),
        (&x * -3, |a, _| a * -3),
        (3 + &x, |a, _| a + 3),
        (3 - &x, |a, _| 3 - a),
        (3 * x.clone(), |a, _| 3 * a),
        (&x + i64::MIN, |a, _| a + i128::from(i64::MIN)),
        (&x - i64::MIN, |a, _| a - i128::from(i64::MIN)),
        (i64::MAX - &x, |a, _| i128::from(i64::MAX) - a),
        (&x * u32::MAX, |a, _| a * i128::from(u32::MAX)),
        (-(x.clone() - 2 * &y) * (&x + 1u8), |a, b| -(a - 2 * b) * (a + 1)),
        (x.polynomial(&[1, 0, 2]), |a, _| 1 + 2 * a * a),
        (x.clone(), |a, _| a),
    ];
    let found = server.compute_all(cases.iter().map(|(x, _)| x)).unwrap();
    for (i, (found, (_, plain))) in found.iter().zip(&cases).enumerate() {
        let expected: Vec<u64> =
            a.iter().zip(&b).map(|(&a, &b)| plain(a, b).rem_euclid(t) as u64).collect();
        assert_eq!(client.decrypt_modular(&found.get()).unwrap(), expected, "case {i}");
    }
    assert!(server.compute_all::<Value>([]).unwrap().is_empty());
}

/// What clones stand for is computed once, and a loop may make an expression of any length, which
/// is built, computed and dropped without recursion.
#[test]
fn expressions_share_and_may_be_long() {
    let (client, server, mut rng) = parties("insecure_bgv-257-n8", 2);
    let [(x, a), _] = modular(&client, &mut rng);
    let t = client.params().plain_modulus();
    let plan = KeyPlan::relinearization(client.params());
    let leveled = Server::leveled(client.server_keys(&plan, &mut rng).unwrap());
    let mut power = x.clone();
    for _ in 0..2 {
        power = &power * &power;
    }
    let twice = leveled.compute_all([&(&power + &power), &power]).unwrap();
    assert_eq!(leveled.evaluator().cost().products, 2);
    let fourth = |a: &i128| (0..2).fold(*a as u64, |v, _| v * v % t);
    let expected: Vec<u64> = a.iter().map(|a| 2 * fourth(a) % t).collect();
    assert_eq!(client.decrypt_modular(&twice[0].get()).unwrap(), expected);
    // 2^40 sums, were they not shared.

    let mut sum = x.clone();
    for _ in 0..40 {
        sum = &sum + &sum;
    }
    let doubled = server.compute(&sum).unwrap();
    let factor = (0..40).fold(1, |k, _| 2 * k % t);
    let expected: Vec<u64> = a.iter().map(|&a| a as u64 * factor % t).collect();
    assert_eq!(client.decrypt_modular(&doubled.get()).unwrap(), expected);

    let mut long = x;
    for _ in 0..300_000 {
        long = -long;
    }
    drop(long);
}

/// Ranges follow through operators as through methods.
#[test]
fn ranges_follow_expressions() {
    let (client, server, mut rng) = parties("insecure_bgv-257-n8", 3);
    let x = client.encrypt_modular_signed(&[1, -2, 3], &mut rng).unwrap();
    let x = Expr::new(server.load(x).within(ValueRange::new(-3, 3).unwrap()));
    let y = server.compute(&(2 * &x - 1)).unwrap();
    assert_eq!(y.range(), Some(ValueRange::new(-7, 5).unwrap()));
    assert_eq!(client.decrypt_value(&y).unwrap()[..3], [1, -5, 5]);
}

#[test]
fn operators_on_typed_integers() {
    let (client, server, mut rng) = parties("insecure_bgv-65537-n11", 4);
    let mut column =
        |values: &[i64], kind| Expr::new(client.encrypt_integers(values, kind, &mut rng).unwrap());
    let (a, b) = ([60i64, 20, 255, 0], [-5i64, 9, 127, -128]);
    let (x, y) = (column(&a, Type::U8), column(&b, Type::I8));
    let truth = column(&[1, 0, 1, 0], Type::Bool);
    type Plain = fn(i64, i64, bool) -> i64;
    let cases: Vec<(Expr<IntegerColumn>, Plain)> = vec![
        (&x + &y, |a, b, _| a + b),
        (3 * &x - 2 * &y, |a, b, _| 3 * a - 2 * b),
        (100 - &y, |_, b, _| 100 - b),
        (&x + &y + &truth - 7 + &x, |a, b, c| 2 * a + b + i64::from(c) - 7),
        (-(&x - &y) - 3 * &truth + 5, |a, b, c| b - a - 3 * i64::from(c) + 5),
        (&x * -2 - (&y - (&x - 1)) * 2, |a, b, _| -2 * a - 2 * (b - (a - 1))),
        (&x * &y, |a, b, _| a * b),
        (&y * &y, |_, b, _| b * b),
        (-&y, |_, b, _| -b),
        (x.ge(&y) & x.lt(100), |a, b, _| i64::from(a >= b && a < 100)),
        (&truth | x.eq(20), |a, _, c| i64::from(c || a == 20)),
        (&truth ^ !&truth, |_, _, _| 1),
        (&x & 15, |a, _, _| a & 15),
        (truth.select(&x, -1), |a, _, c| if c { a } else { -1 }),
        (x.max(&y).min(200), |a, b, _| a.max(b).min(200)),
        (truth.lookup(&[7, -9]), |_, _, c| if c { -9 } else { 7 }),
        (&x << 3, |a, _, _| a << 3),
        (&y >> 1, |_, b, _| b >> 1),
        (&x >> (&x & 3), |a, _, _| a >> (a & 3)),
        (&y << &truth, |_, b, c| b << i64::from(c)),
        (x.popcount(), |a, _, _| a.count_ones().into()),
        (y.sign(), |_, b, _| b.signum()),
        ((&x + &y).normalized().clip(10, 100), |a, b, _| (a + b).clamp(10, 100)),
        (x.cast(Type::I16), |a, _, _| a),
        (x.searchsorted(&[10, 60, 61]), |a, _, _| {
            [10, 60, 61].iter().filter(|v| **v < a).count() as i64
        }),
        (x.isin(&[20, 255]), |a, _, _| i64::from([20, 255].contains(&a))),
    ];
    let found = server.compute_all(cases.iter().map(|(x, _)| x)).unwrap();
    for (i, (found, (_, plain))) in found.iter().zip(&cases).enumerate() {
        let expected: Vec<i64> = (0..4).map(|j| plain(a[j], b[j], j % 2 == 0)).collect();
        assert_eq!(client.decrypt_integers::<i64>(found).unwrap(), expected, "case {i}");
    }
    let more = server.compute(&(&x + 1)).unwrap();
    let total = server.integers().unwrap().sum(&more).unwrap();
    assert_eq!(client.decrypt_total::<i64>(&total).unwrap(), a.iter().sum::<i64>() + 4);
}

/// With the keys of a plan, as they take rotations, and few slots, which take less to bootstrap.
#[test]
fn functions_of_whole_columns() {
    let plan = Plan::trace(|g| {
        let x = g.input("x", Type::U8, 5);
        g.output("sums", &x.sum_of_each());
        g.output("second", &x.arg_nth(Order::Descending, 1));
        g.output("quartile", &x.quantile(1, 4));
        g.output("greatest", &x.of_arrays(5, ArrayOperation::Nth(Order::Descending, 0)));
        Ok(())
    });
    let plan = plan.unwrap();
    let params = Params::named("insecure_bgv-65537-n11-s64", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng).unwrap();
    let x = client.encrypt_for(&plan, "x", &[30u8, 2, 77, 5, 200], &mut rng).unwrap();
    let found = plan.run(&server, &[x]).unwrap();
    let opened = found.iter().map(|(_, x)| client.decrypt_column::<i64>(x).unwrap());
    assert_eq!(opened.collect::<Vec<_>>(), [vec![314; 5], vec![2], vec![5], vec![200]]);
}

/// As `wrapping_add` and so on of Rust's integers.
#[test]
fn wrapping_integers() {
    let (client, server, mut rng) = parties("insecure_bgv-65537-n11", 8);
    let (a, b) = ([250u8, 3, 128, 0], [9u8, 255, 128, 1]);
    let mut column =
        |values: &[u8]| Expr::new(client.encrypt_integers(values, Type::U8, &mut rng).unwrap());
    let [x, y] = [&a, &b].map(|values| column(values).wrapping(Type::U8));
    type Plain = fn(u8, u8) -> u8;
    let cases: Vec<(Wrapping<IntegerColumn>, Plain)> = vec![
        (&x + &y, |a, b| a.wrapping_add(b)),
        (&x - y.clone(), |a, b| a.wrapping_sub(b)),
        (x.clone() * &y, |a, b| a.wrapping_mul(b)),
        (-&x, |a, _| a.wrapping_neg()),
        (x.clone() * 31 - 7, |a, _| a.wrapping_mul(31).wrapping_sub(7)),
        (300 - &y, |_, b| 44u8.wrapping_sub(b)),
        (&y + i64::MIN, |_, b| b),
        (3 + 5 * (x.clone() - y.clone()), |a, b| a.wrapping_sub(b).wrapping_mul(5).wrapping_add(3)),
        (x.clone(), |a, _| a),
    ];
    let exact: Vec<Expr<IntegerColumn>> = cases.iter().map(|(x, _)| x.checked()).collect();
    let found = server.compute_all(&exact).unwrap();
    for (i, (found, (_, plain))) in found.iter().zip(&cases).enumerate() {
        let expected: Vec<u8> = a.iter().zip(&b).map(|(a, b)| plain(*a, *b)).collect();
        assert_eq!(client.decrypt_integers::<u8>(found).unwrap(), expected, "case {i}");
    }
    // The left type counts, and holds the right one.
    let limits = [i16::MAX, i16::MIN, -1];
    let wide = client.encrypt_integers(&limits, Type::I16, &mut rng).unwrap();
    let small = client.encrypt_integers(&[1u8, 255, 2], Type::U8, &mut rng).unwrap();
    let (wide, small) = (Expr::new(wide), Expr::new(small).wrapping(Type::U8));
    let sum = server.compute(&(wide.wrapping(Type::I16) - &small).checked()).unwrap();
    let expected = [limits[0] - 1, limits[1].wrapping_sub(255), -3];
    assert_eq!(client.decrypt_integers::<i16>(&sum).unwrap(), expected);
    let code = |x: &Wrapping<IntegerColumn>| server.compute(&x.checked()).err().map(|e| e.code());
    assert_eq!(code(&(&small * wide.wrapping(Type::I16))), Some("integers.type"));
    assert_eq!(code(&wide.wrapping(Type::U16)), Some("integers.type"));
    assert_eq!(code(&(wide.lt(0).wrapping(Type::Bool) + 1)), Some("integers.type"));
}

/// An exact product of 64 bits and a public factor would be too large.
#[test]
fn wrapping_products_may_have_64_bits() {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let explained = |wrapping: bool| {
        let plan = Plan::trace(|g| {
            let x = g.input("x", Type::U64, 3);
            let product = match wrapping {
                true => (x.wrapping(Type::U64) * i64::MAX).checked(),
                false => (&x * i64::MAX).wrapped(Type::U64),
            };
            g.output("product", &product);
            Ok(())
        });
        plan.unwrap().explain(&params).map(|estimate| estimate.total().products)
    };
    assert!(explained(true).is_ok_and(|products| products > 0));
    assert_eq!(explained(false).map_err(|e| e.code()), Err("integers.range"));
}

/// Operators return no errors; what they were asked for is refused when it is to be computed.
#[test]
fn mistakes_in_expressions_are_refused() {
    let (client, server, mut rng) = parties("insecure_bgv-65537-n11", 5);
    let (other, _, _) = parties("insecure_bgv-65537-n11", 6);
    let mut column = |client: &Client, values: &[u8]| {
        Expr::new(client.encrypt_integers(values, Type::U8, &mut rng).unwrap())
    };
    let (x, short) = (column(&client, &[1, 2, 3]), column(&client, &[1, 2]));
    let stranger = column(&other, &[1, 2, 3]);
    let code = |x: &Expr<IntegerColumn>| server.compute(x).err().map(|e| e.code());
    assert_eq!(code(&(&x + &short)), Some("integers.length"));
    assert_eq!(code(&!&x), Some("integers.type"));
    assert_eq!(code(&(&x + &stranger)), Some("scheme.wrong-key"));
    assert_eq!(code(&(&x * 2 + 1).select(0, 1)), Some("integers.type"));
    let wide = (0..9).fold(x.clone(), |x, _| &x * i64::MAX);
    assert_eq!(code(&wide), Some("integers.range"));
    // One that is wrong spoils all that are asked for with it, and nothing else.
    assert!(server.compute_all([&x, &wide]).is_err());
    assert!(server.compute(&(&x + 1)).is_ok());

    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let upload = client.upload_modular(&[&[1, 2], &[3]], &mut rng).unwrap();
    let [x, y] = server.receive_exprs(&upload, &Bounds::Fresh).unwrap();
    let answer = server.answer(&server.compute_all([&(&x + &y), &x]).unwrap()).unwrap();
    let read = client.read_modular(&answer).unwrap();
    assert_eq!([&read[0][..3], &read[1][..3]], [[4, 2, 0], [1, 2, 0]]);
    assert_eq!(
        server.receive_exprs::<3>(&upload, &Bounds::Fresh).err().map(|e| e.code()),
        Some("wire.malformed")
    );
}
