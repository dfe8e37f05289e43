//! Operations along encrypted columns, each once under real encryption.

use everlevel::{
    ArrayOperation, Client, Error, Expr, IntegerColumn, IntegerTotal, KeyPlanner, OptIn, Order,
    Params, Type, general_keys,
};

#[test]
fn along_encrypted_columns() -> Result<(), Error> {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
    let mut rng = everlevel::system_rng()?;
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params)?;
    let server = client.server_for(
        &general_keys(&params)?,
        planner.bootstrap_plan(),
        &mut rng,
        |_, _| (),
    )?;
    let ints = server.integers()?;
    let xs = [30i64, -2, 77, 5, 77, -128, 0];
    let x = client.encrypt_integers(&xs, Type::I8, &mut rng)?;
    let column = |x: IntegerColumn| client.decrypt_integers::<i64>(&x);
    let total = |x: IntegerTotal| client.decrypt_total::<i64>(&x);

    assert_eq!(total(ints.mean(&x)?)?, 8);
    assert_eq!(total(ints.count(&ints.gt(&x, 4)?)?)?, 4);
    assert_eq!(total(ints.dot(&x, &[1, -2, 300, 0, 70_000, 1, 5])?)?, 5_413_006);
    assert_eq!(column(ints.cumsum(&x)?)?, [30, 28, 105, 110, 187, 59, 59]);
    assert_eq!(column(ints.searchsorted(&[-2, 5, 6], &x, true)?)?, [3, 1, 3, 2, 3, 0, 1]);
    assert_eq!(column(ints.isin(&x, &[77, 0])?)?, [0, 0, 1, 0, 1, 0, 1]);
    let small = client.encrypt_integers(&[2u8, 0, 2, 1], Type::ranged(0, 3)?, &mut rng)?;
    let bins = ints.bincount(&small)?.into_iter().map(total).collect::<Result<Vec<_>, _>>()?;
    assert_eq!(bins, [1, 1, 2, 0]);

    assert_eq!(column(ints.ranks(&x, Order::Ascending)?)?, [4, 1, 5, 3, 6, 0, 2]);
    assert_eq!(column(ints.maximum(&x)?)?, [77]);
    assert_eq!(column(ints.argmax(&x)?)?, [2]);
    assert_eq!(column(ints.median(&x)?)?, [5]);
    assert_eq!(column(ints.sorted(&x, Order::Ascending, 7)?)?, [-128, -2, 0, 5, 30, 77, 77]);
    assert_eq!(column(ints.argsorted(&x, Order::Descending, 3)?)?, [2, 4, 0]);
    assert!(server.bootstraps() > 0);

    // All ordered pairs in one row of slots.
    let mut many: Vec<i64> = (0..20).map(|i| i * i * 29 % 37).collect();
    let x = client.encrypt_integers(&many, Type::ranged(0, 36)?, &mut rng)?;
    many.sort_unstable();
    assert_eq!(column(ints.sorted(&x, Order::Ascending, 20)?)?, many);

    // Three arrays of four entries.
    let short = [9i64, -4, 9, 0, 1, 2, 3, 4, 7, 7, -8, 7];
    let x = client.encrypt_integers(&short, Type::I8, &mut rng)?;
    for (operation, expected) in [
        (ArrayOperation::Sum, vec![14, 10, 13]),
        (ArrayOperation::Nth(Order::Descending, 0), vec![9, 4, 7]),
        (ArrayOperation::ArgNth(Order::Ascending, 0), vec![1, 0, 2]),
        (ArrayOperation::Nth(Order::Ascending, 1), vec![0, 2, 7]),
        (ArrayOperation::ArgSort(Order::Descending), vec![0, 2, 3, 1, 3, 2, 1, 0, 0, 1, 3, 2]),
    ] {
        assert_eq!(column(ints.of_arrays(&x, 4, operation)?)?, expected, "{operation:?}");
    }

    // Both rows of slots, and more values than one table has.
    let days: Vec<i64> = (0..1030).map(|i| i * i % 50 - 10).collect();
    let x = Expr::new(client.encrypt_integers(&days, Type::ranged(-10, 39)?, &mut rng)?);
    let sums = |end: usize| days[..=end].iter().sum::<i64>();
    assert_eq!(
        column(server.compute(&x.cumsum())?)?,
        (0..days.len()).map(sums).collect::<Vec<_>>()
    );
    let bins = ints.bincount(&server.compute(&x)?)?;
    let bins = bins.into_iter().map(total).collect::<Result<Vec<_>, _>>()?;
    let count = |bin: i64| days.iter().filter(|v| **v == bin).count() as i64;
    assert_eq!(bins, (-10..40).map(count).collect::<Vec<_>>());
    Ok(())
}
