//! Programs that are planned, and then run with the keys of their plan.

use everlevel::files::Bounds;
use everlevel::{
    Client, Expr, IntegerValue, IntegersError, Minimize, OptIn, Order, Params, Plan, PlannedColumn,
    Type,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const TOY: &str = "insecure_bgv-65537-n11";

fn toy() -> Params {
    Params::named(TOY, OptIn::InsecureResearch).unwrap()
}

/// A limit of credit: halved for the young with small incomes.
fn risk() -> Plan {
    Plan::trace(|g| {
        let age = g.input("age", Type::U8, 5);
        let income = g.input("income", Type::ranged(0, 1 << 20)?, 5);
        let limit = g.input("limit", Type::ranged(0, 1_000_000)?, 5);
        let poor = age.lt(25) & income.lt(30_000);
        let granted = poor.select(limit.div_floor(2), &limit);
        g.output("limit", &granted);
        g.output("steps", &((&granted + &age) * (&age - 7)).wrapped(Type::U16));
        g.total("poor", &poor);
        Ok(())
    })
    .unwrap()
}

#[test]
fn a_plan_is_what_is_run() {
    planned_and_run(&toy());
}

#[test]
fn a_plan_is_what_is_run_on_used_slots() {
    planned_and_run(&with_64_slots());
}

fn planned_and_run(params: &Params) {
    let plan = risk();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let estimate = plan.explain(params).unwrap();
    assert!(estimate.bootstraps && estimate.total().refreshes > 0);
    let client = Client::new(params, &mut rng);
    let server = plan.server(&client, &mut rng).unwrap();
    assert_eq!(server.keys().plan(), estimate.keys);
    let (ages, incomes, limits) =
        ([20u8, 20, 50, 24, 25], [9_000, 50_000, 9_000, 29_999, 0], [101, 200, 301, 999_999, 7]);
    let uploaded = client
        .upload_columns(&[
            client.encrypt_for(&plan, "age", &ages, &mut rng).unwrap(),
            client.encrypt_for(&plan, "income", &incomes, &mut rng).unwrap(),
            client.encrypt_for(&plan, "limit", &limits, &mut rng).unwrap(),
        ])
        .unwrap();
    let inputs = server.receive_columns(&uploaded, &Bounds::Fresh).unwrap();
    let results = plan.run(&server, &inputs).unwrap();
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["limit", "steps", "poor"]);
    let opened = |i: usize| client.decrypt_column::<i64>(&results[i].1).unwrap();
    let granted = [50, 200, 301, 499_999, 7];
    assert_eq!(opened(0), granted);
    let steps = |i: usize| ((granted[i] + i64::from(ages[i])) * (i64::from(ages[i]) - 7)) & 0xffff;
    assert_eq!(opened(1), [0, 1, 2, 3, 4].map(steps));
    assert_eq!(opened(2), [2]);
    assert_eq!(server.bootstraps() as u64, estimate.total().refreshes);
    let values = results.iter().map(|(_, x)| x.values().count() as u64);
    assert_eq!(values.sum::<u64>(), estimate.result_ciphertexts);
}

/// A sum of several terms is one operation; what is needed elsewhere, too, is computed for itself.
#[test]
fn sums_are_one_operation() {
    let params = toy();
    let steps = |sum: fn([&Expr<PlannedColumn>; 4]) -> Expr<PlannedColumn>| -> Vec<String> {
        let plan = Plan::trace(|g| {
            let columns = ["a", "b", "c", "d"].map(|name| g.input(name, Type::U8, 4));
            g.output("y", &sum(columns.each_ref()));
            Ok(())
        });
        let estimate = plan.unwrap().explain(&params).unwrap();
        estimate.steps.iter().map(|step| step.name.clone()).collect()
    };
    assert_eq!(steps(|[a, b, c, d]| a + b + c + d), ["weighted_sum"]);
    assert_eq!(steps(|[a, b, c, d]| 3 * a - (b - c) + 7 - d), ["weighted_sum"]);
    assert_eq!(steps(|[a, b, ..]| 3 * a + b), ["weighted_sum"]);
    assert_eq!(steps(|[a, b, ..]| a - b), ["sub"]);
    assert_eq!(steps(|[a, b, ..]| a + b + 1), ["add", "add"]);
    let twice = steps(|[a, b, c, d]| {
        let sum = a + b + c;
        (&sum + d).max(&sum)
    });
    assert_eq!(twice, ["weighted_sum", "add", "max"]);
    // 32 at a time.
    let long = steps(|[a, b, ..]| (0..40).fold(a + b, |sum, _| sum + a));
    assert_eq!(long, ["weighted_sum", "weighted_sum"]);
}

/// What fits is not bootstrapped, and encrypted at the lowest level at which it does.
#[test]
fn a_shallow_plan_has_small_uploads() {
    let params = toy();
    let plan = |deep: bool| {
        Plan::trace(|g| {
            let x = g.input("x", Type::ranged(0, 15)?, 4);
            g.output("y", &if deep { x.lt(3).select(&x * &x, 1).lt(40) } else { x.lt(3) });
            Ok(())
        })
    };
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let client = Client::new(&params, &mut rng);
    let mut bytes = Vec::new();
    for deep in [false, true] {
        let plan = plan(deep).unwrap();
        let estimate = plan.explain(&params).unwrap();
        assert!(!estimate.bootstraps && !estimate.keys.bootstrap);
        bytes.push(estimate.input_bytes);
        let server = plan.server(&client, &mut rng).unwrap();
        let x = client.encrypt_for(&plan, "x", &[2u8, 3, 15, 0], &mut rng).unwrap();
        let stored = client.upload_columns(std::slice::from_ref(&x)).unwrap();
        let found = plan.run(&server, &[x]).unwrap();
        let expected = if deep { [1, 1, 1, 1] } else { [1, 0, 0, 1] };
        assert_eq!(client.decrypt_column::<u8>(&found[0].1).unwrap(), expected);
        let all = client.encrypt_integers(&[2u8, 3, 15, 0], Type::ranged(0, 15).unwrap(), &mut rng);
        let fresh = client.upload_columns(&[("x".into(), all.unwrap().into())]).unwrap();
        assert!(stored.len() < fresh.len(), "{} {}", stored.len(), fresh.len());
    }
    assert!(bytes[0] < bytes[1], "{bytes:?}");
}

/// Digits of short columns are compared side by side where that takes less, those of long ones are
/// not; a chain of comparisons bootstraps as often as was said.
#[test]
fn a_plan_chooses_the_layout() {
    let params = toy();
    let plan = |length: usize| {
        Plan::trace(|g| {
            let [x, y] = ["x", "y"].map(|name| g.input(name, Type::I32, length));
            let least = x.min(&y);
            g.output("least", &least);
            g.output("even", &(&least - &x).lt(-7).select(&y, &least).ge(&x));
            Ok(())
        })
        .unwrap()
    };
    assert!(!plan(1500).explain(&params).unwrap().side_by_side);
    let (plan, mut rng) = (plan(6), ChaCha20Rng::seed_from_u64(9));
    let estimate = plan.explain(&params).unwrap();
    assert!(estimate.side_by_side && estimate.to_string().contains("side by side"));
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng).unwrap();
    let xs = [5i32, -70_000, i32::MAX, i32::MIN, 0, 12];
    let ys = [4i32, -70_001, i32::MIN, i32::MAX, 0, -12];
    let x = client.encrypt_for(&plan, "x", &xs, &mut rng).unwrap();
    let y = client.encrypt_for(&plan, "y", &ys, &mut rng).unwrap();
    let found = plan.run(&server, &[x, y]).unwrap();
    let opened = |i: usize| client.decrypt_column::<i64>(&found[i].1).unwrap();
    let [xs, ys] = [xs, ys].map(|v| v.map(i64::from));
    let least: [i64; 6] = std::array::from_fn(|i| xs[i].min(ys[i]));
    assert_eq!(opened(0), least);
    let chosen = |i: usize| if least[i] - xs[i] < -7 { ys[i] } else { least[i] };
    assert_eq!(opened(1), std::array::from_fn::<i64, 6, _>(|i| i64::from(chosen(i) >= xs[i])));
    assert_eq!(server.bootstraps() as u64, estimate.total().refreshes);
}

/// A program that is deeper than any set allows.
fn deep(length: usize) -> Plan {
    Plan::trace(|g| {
        let [mut x, y] = ["x", "y"].map(|name| g.input(name, Type::U8, length));
        for _ in 0..12 {
            x = x.min(&y);
        }
        g.output("least", &x);
        Ok(())
    })
    .unwrap()
}

/// The set for 300 rows has fewer slots than its ring, and is better than the one with all.
fn has_fewer_slots(minimize: Minimize) {
    let few = deep(300);
    let params = few.params(minimize).unwrap();
    let (all, slots) = params.name().rsplit_once("-s").unwrap();
    assert!(["512", "8192"].contains(&slots), "{params:?}");
    assert_eq!(params.slots().to_string(), slots);
    assert!(params.security().bits() >= 128.0);
    let all = Params::named(all, OptIn::SecureOnly).unwrap();
    let (fewer, all) = (few.explain(&params).unwrap(), few.explain(&all).unwrap());
    assert!(fewer.bootstraps && all.bootstraps);
    match minimize {
        Minimize::Memory => assert!(fewer.memory_bytes() < all.memory_bytes()),
        _ => assert!(fewer.total().seconds < all.total().seconds),
    }
}

/// A program that bootstraps short arguments is planned for fewer slots; for long ones there is no
/// set that has fewer.
#[test]
fn a_plan_for_few_rows_uses_fewer_slots() {
    has_fewer_slots(Minimize::Latency);
    for name in ["bgv-65537-n15", "bgv-65537-n16"] {
        let all = Params::named(name, OptIn::SecureOnly).unwrap();
        assert!(all.with_slots_for(20_000).is_none() && all.with_slots_for(300).is_some());
    }
    // What takes no bootstrapping has all slots.
    let shallow = Plan::trace(|g| {
        let x = g.input("x", Type::U8, 300);
        g.output("small", &x.lt(9));
        Ok(())
    });
    let params = shallow.unwrap().params(Minimize::Latency).unwrap();
    assert_eq!(params.slot_shape().repetitions(), 1, "{params:?}");
}

#[test]
#[ignore = "two more searches at full size: ten seconds"]
fn a_plan_for_few_rows_or_many_in_full() {
    has_fewer_slots(Minimize::Memory);
    let many = deep(20_000).params(Minimize::Latency).unwrap();
    assert_eq!(many.slot_shape().repetitions(), 1, "{many:?}");
}

/// The toy set with no more slots than that, which takes half of the time to bootstrap.
fn with_64_slots() -> Params {
    let params = Params::named("insecure_bgv-65537-n11-s64", OptIn::InsecureResearch).unwrap();
    assert_eq!((params.slots(), params.slot_shape().rows()), (64, 2));
    params
}

/// Columns of as many entries as there are slots are put in order by a network, whose entries are
/// exchanged between the rows, too: as many times refreshed as was said.
#[test]
fn a_plan_of_a_long_column() {
    let (params, n) = (with_64_slots(), 64);
    let plan = Plan::trace(|g| {
        let x = g.input("x", Type::ranged(-3, 12)?, n);
        g.output("first", &x.argmin());
        Ok(())
    })
    .unwrap();
    let estimate = plan.explain(&params).unwrap();
    assert!(estimate.total().refreshes > 0);
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng).unwrap();
    let xs: Vec<i8> = (0..n).map(|i| if i < 50 { (i * i % 16) as i8 - 2 } else { -3 }).collect();
    let x = client.encrypt_for(&plan, "x", &xs, &mut rng).unwrap();
    let found = plan.run(&server, &[x]).unwrap();
    assert_eq!(client.decrypt_column::<u16>(&found[0].1).unwrap(), [50]);
    assert_eq!(server.bootstraps() as u64, estimate.total().refreshes);
}

/// Totals of several columns that are small enough each, but not together.
#[test]
fn totals_past_127_bits_are_refused() {
    let (params, most) = (toy(), 1i128 << 115);
    let n = 3 * params.slots();
    let plan = Plan::trace(|g| {
        let x = g.input("x", Type::ranged(0, most)?, n);
        g.total("sum", &x);
        Ok(())
    })
    .unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng).unwrap();
    let mut total = |x: i128| {
        let inputs = client.encrypt_parts_for(&plan, "x", &vec![x; n], &mut rng).unwrap();
        let results = plan.run(&server, &inputs).unwrap();
        client.decrypt_parts_for::<i128>(&plan, "sum", &results)
    };
    assert_eq!(total(most / 4).unwrap(), [most / 4 * n as i128]);
    let refused = total(most).unwrap_err();
    assert_eq!(refused.code(), "integers.parts");
    assert!(refused.to_string().contains("127 bits"), "{refused}");
}

/// Arguments of more entries than there are slots are in several columns, which one plan is for.
#[test]
fn a_plan_for_several_columns() {
    let (params, n) = (toy(), 3000);
    let plan = Plan::trace(|g| {
        let [x, y] = ["x", "y"].map(|name| g.input(name, Type::ranged(0, 15).unwrap(), n));
        g.output("less", &x.lt(&y));
        g.total("sum", &x);
        Ok(())
    })
    .unwrap();
    let estimate = plan.explain(&params).unwrap();
    assert_eq!((estimate.blocks, estimate.input_ciphertexts), (2, 4));
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng).unwrap();
    let xs: Vec<u8> = (0..n).map(|i| (i % 16) as u8).collect();
    let ys: Vec<u8> = (0..n).map(|i| (i / 16 % 16) as u8).collect();
    let mut inputs = client.encrypt_parts_for(&plan, "x", &xs, &mut rng).unwrap();
    let error = client.encrypt_for(&plan, "x", &xs, &mut rng).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("encrypt_parts_for makes 2 columns"), "{error}");
    inputs.extend(client.encrypt_parts_for(&plan, "y", &ys, &mut rng).unwrap());
    let sent = client.upload_columns(&inputs).unwrap();
    let received = server.receive_columns(&sent, &Bounds::Fresh).unwrap();
    let results = plan.run(&server, &received).unwrap();
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["less#0", "less#1", "sum#0", "sum#1"]);
    let less: Vec<u8> = client.decrypt_parts_for(&plan, "less", &results).unwrap();
    assert_eq!(less, xs.iter().zip(&ys).map(|(x, y)| u8::from(x < y)).collect::<Vec<_>>());
    let sum: Vec<u32> = client.decrypt_parts_for(&plan, "sum", &results).unwrap();
    assert_eq!(sum, [xs.iter().map(|x| u32::from(*x)).sum::<u32>()]);
    // Parts that are missing, there twice, or of another place.
    let missing = client.decrypt_parts_for::<u8>(&plan, "less", &results[1..]).unwrap_err();
    assert!(missing.to_string().contains("no result is named less#0"), "{missing}");
    let refused = |inputs: &[_]| plan.run(&server, inputs).map(|_| ()).unwrap_err().to_string();
    assert!(refused(&inputs[1..]).contains("argument x is missing"));
    let renamed = |from: usize, to: &str| {
        let mut inputs = inputs.clone();
        inputs[from].0 = to.into();
        refused(&inputs)
    };
    assert!(renamed(1, "x#0").contains("the plan is for 2048"));
    assert!(renamed(0, "x#1").contains("the plan is for 952"));
    assert!(renamed(0, "x").contains("in one column"));
    assert!(renamed(2, "x#0").contains("given twice"));
    // What takes a column as a whole, and columns of several lengths.
    let code = |f: fn(&Expr<PlannedColumn>) -> Expr<PlannedColumn>, length: usize| {
        let plan = Plan::trace(|g| {
            let x = g.input("x", Type::U8, 3000);
            g.input("y", Type::U8, length);
            g.output("z", &f(&x).lt(3));
            Ok(())
        });
        plan.unwrap().explain(&params).map(|_| ()).unwrap_err()
    };
    let whole = code(|x| x.maximum(), 3000);
    assert_eq!(whole.code(), "integers.length");
    assert!(whole.to_string().contains("takes a column as a whole"), "{whole}");
    assert_eq!(code(|x| x.abs(), 2999).code(), "integers.length");
}

/// Everything that could be computed wrongly is refused, most of it before there is a key.
#[test]
fn refusals() {
    let params = toy();
    let traced = |f: fn(&Expr<PlannedColumn>) -> Expr<PlannedColumn>| {
        Plan::trace(|g| {
            let x = g.input("x", Type::U64, 4);
            g.output("y", &f(&x));
            Ok(())
        })
        .unwrap()
    };
    let code = |f| traced(f).explain(&params).map(|_| ()).unwrap_err().code();
    assert_eq!(code(|x| x * x * x), "integers.range");
    assert_eq!(code(|x| !x), "integers.type");
    assert_eq!(code(|x| x.lookup(&[1, 2])), "integers.table");
    assert_eq!(code(|x| x.div_floor(0)), "integers.type");
    assert_eq!(code(|x| x.sorted(Order::Ascending, 5)), "integers.length");
    // Names.
    let named = |names: [&str; 2], outputs: &[&str]| {
        Plan::trace(|g| {
            let [x, _] = names.map(|name| g.input(name, Type::U8, 4));
            outputs.iter().for_each(|name| g.output(name, &x));
            Ok(())
        })
    };
    for (names, outputs) in [(["x", "x"], &["y"][..]), (["x", "z"], &["y", "y"]), (["x", "z"], &[])]
    {
        assert_eq!(named(names, outputs).map(|_| ()).unwrap_err().code(), "integers.parts");
    }
    let failed = Plan::trace(|_| Err(IntegersError::Name { name: "float".into() }.into()));
    assert_eq!(failed.map(|_| ()).unwrap_err().code(), "integers.name");
    // Longer than the slots, and more memory than there may be.
    let long = Plan::trace(|g| {
        let x = g.input("x", Type::U8, 1 << 17);
        g.output("y", &x.maximum());
        Ok(())
    });
    let long = long.unwrap();
    assert_eq!(long.params(Minimize::Latency).unwrap_err().code(), "integers.length");
    let small = named(["x", "z"], &["y"]).unwrap();
    let error = small.params_within(Minimize::Memory, 1 << 10).unwrap_err();
    assert_eq!(error.code(), "integers.memory");
    assert!(error.to_string().contains("at most 0 MiB"), "{error}");
    // Arguments that were not planned for.
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let client = Client::new(&params, &mut rng);
    let server = small.server(&client, &mut rng).unwrap();
    let mut encrypt =
        |name: &str, values: &[u8]| client.encrypt_for(&small, name, values, &mut rng);
    assert_eq!(encrypt("y", &[1; 4]).map(|_| ()).unwrap_err().code(), "integers.parts");
    assert_eq!(encrypt("x", &[1; 5]).map(|_| ()).unwrap_err().code(), "integers.length");
    let [x, z] = ["x", "z"].map(|name| encrypt(name, &[1, 2, 3, 4]).unwrap());
    let refused = |inputs: &[_]| small.run(&server, inputs).map(|_| ()).unwrap_err();
    assert!(refused(std::slice::from_ref(&z)).to_string().contains("argument x is missing"));
    assert!(refused(&[x.clone(), x.clone()]).to_string().contains("given twice"));
    let IntegerValue::Column(column) = &x.1 else { panic!("a column") };
    let sum = server.integers().unwrap().add(column, column).unwrap();
    let error = refused(&[("x".into(), sum.into()), z]);
    assert_eq!(error.code(), "integers.parts");
    assert!(error.to_string().contains("the plan is for"), "{error}");
}
