//! Sums of products in plans, under encryption: computed from the factors unless the product itself
//! is needed.

use everlevel::{Client, Error, OptIn, Params, Plan, PlanTracer, Type};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const N: usize = 5;

fn toy() -> Params {
    Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap()
}

fn plan(program: fn(&mut PlanTracer) -> Result<(), Error>) -> Plan {
    Plan::trace(program).unwrap()
}

fn steps(plan: &Plan) -> Vec<String> {
    let estimate = plan.explain(&toy()).unwrap();
    estimate.steps.iter().map(|step| step.name.clone()).collect()
}

#[test]
fn sums_of_products_are_planned_and_run() {
    let plan = plan(|g| {
        let (x, y) = (g.input("x", Type::U8, N), g.input("y", Type::I8, N));
        g.total("xy", &(&x * &y));
        g.total("xx", &(&x * &x));
        g.total("all", &((&x - &y) * (&y + 1)));
        Ok(())
    });
    let found = steps(&plan);
    assert_eq!(found.iter().filter(|name| *name == "sum_of_products").count(), 3);
    assert!(!found.iter().any(|name| name == "mul" || name == "sum"), "{found:?}");
    let estimate = plan.explain(&toy()).unwrap();
    assert!(!estimate.bootstraps);
    // Digits of differences and sums are multiplied without carries.
    assert!(estimate.total().products <= 4 + 3 + 9, "{estimate}");

    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let client = Client::new(&toy(), &mut rng);
    let server = plan.server(&client, &mut rng).unwrap();
    assert_eq!(server.keys().plan(), estimate.keys);
    let (xs, ys) = ([255u8, 0, 17, 96, 255], [-128i8, 127, -1, 5, 127]);
    let inputs = [
        client.encrypt_for(&plan, "x", &xs, &mut rng).unwrap(),
        client.encrypt_for(&plan, "y", &ys, &mut rng).unwrap(),
    ];
    let results = plan.run(&server, &inputs).unwrap();
    let sum = |f: fn(i64, i64) -> i64| -> i64 {
        xs.iter().zip(&ys).map(|(x, y)| f(i64::from(*x), i64::from(*y))).sum()
    };
    for (i, expected) in [sum(|x, y| x * y), sum(|x, _| x * x), sum(|x, y| (x - y) * (y + 1))]
        .into_iter()
        .enumerate()
    {
        let found = client.decrypt_column::<i64>(&results[i].1).unwrap();
        assert_eq!(found, [expected], "{}", results[i].0);
    }
}

/// A product that is a result itself, or enters another operation, is computed once, and summed.
#[test]
fn products_that_are_needed_are_summed() {
    let kept = plan(|g| {
        let (x, y) = (g.input("x", Type::U8, N), g.input("y", Type::U8, N));
        let product = &x * &y;
        g.total("sum", &product);
        g.output("product", &product);
        Ok(())
    });
    assert_eq!(steps(&kept), ["mul", "sum"]);
    let compared = plan(|g| {
        let (x, y) = (g.input("x", Type::U8, N), g.input("y", Type::U8, N));
        let product = &x * &y;
        g.total("sum", &product);
        g.output("large", &product.gt(1000));
        Ok(())
    });
    assert_eq!(steps(&compared), ["mul", "gt", "sum"]);
    // Of a product of three, the first two are multiplied.
    let three = plan(|g| {
        let [x, y, z] = ["x", "y", "z"].map(|name| g.input(name, Type::U8, N));
        g.total("sum", &(&x * &y * &z));
        Ok(())
    });
    assert_eq!(steps(&three), ["mul", "sum_of_products"]);
    let public = plan(|g| {
        let x = g.input("x", Type::U8, N);
        g.total("sum", &(16 * &x));
        Ok(())
    });
    assert_eq!(steps(&public), ["mul", "sum"]);
}
