//! Operations that put the same column in order, and share its ranks.

use std::collections::BTreeMap;

use everlevel_circuit::expression::Program;
use everlevel_integers::{
    Along, Column, Encrypted, Estimate, Integers, Operation, Order, Orders, Rehearsal, Type,
};
use everlevel_scheme::Cost;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::order::places;
use crate::wide::values;

const SET: &str = "insecure_bgv-65537-n11";
const UP: Order = Order::Ascending;
const DOWN: Order = Order::Descending;

/// The result of an operation on integers that are known.
fn expected(operation: &Operation, xs: &[i128]) -> Vec<i128> {
    let entries =
        |places: &[i128]| -> Vec<i128> { places.iter().map(|place| xs[*place as usize]).collect() };
    match operation {
        Operation::Ranks(order) => {
            let mut ranks = vec![0; xs.len()];
            for (rank, place) in places(xs, *order).into_iter().enumerate() {
                ranks[place as usize] = rank as i128;
            }
            ranks
        }
        Operation::Sort(order, take) => entries(&places(xs, *order)[..*take]),
        Operation::ArgSort(order, take) => places(xs, *order)[..*take].to_vec(),
        Operation::Nth(order, rank) => entries(&places(xs, *order)[*rank..=*rank]),
        Operation::ArgNth(order, rank) => places(xs, *order)[*rank..=*rank].to_vec(),
        Operation::Quantile(a, b) => {
            let rank = (xs.len() - 1) * *a as usize / *b as usize;
            entries(&places(xs, UP)[rank..=rank])
        }
        other => panic!("{other:?} puts nothing in order"),
    }
}

/// All operations of columns of n entries, with some numbers of entries and some ranks.
fn all(n: usize) -> Vec<Operation> {
    let mut found = vec![Operation::Quantile(1, 2), Operation::Quantile(0, 1)];
    for order in [DOWN, UP] {
        for k in [1, n.div_ceil(2), n] {
            found.extend([Operation::Sort(order, k), Operation::ArgSort(order, k)]);
            found.extend([Operation::Nth(order, k - 1), Operation::ArgNth(order, k - 1)]);
        }
        found.push(Operation::Ranks(order));
    }
    found
}

/// Compares the results of operations that share with those of plain sorts.
fn check(bench: &Bench, kind: Type, xs: &[i128], operations: &[Operation]) {
    let (ints, x) = (bench.integers(), bench.encrypt(xs, kind));
    let all: Vec<&Operation> = operations.iter().collect();
    // Known before, and only when they are called.
    let listed = Along { column: 0, operations: &all };
    for (along, orders) in [(listed, Orders::default()), (Along::default(), Orders::as_called())] {
        for operation in operations {
            assert!(operation.is_order() && operation.takes_whole_columns());
            let found = ints.operate_sharing(operation, &[(&x).into()], along, &orders).unwrap();
            let wanted = expected(operation, xs);
            assert_eq!(bench.decrypt(&found), wanted, "{operation:?} of {xs:?}: {all:?}");
        }
    }
}

/// The maximum, its position and the median, and the second entry from the end.
fn few(n: usize) -> [Operation; 4] {
    let (position, second) = (Operation::ArgNth(DOWN, 0), Operation::Sort(UP, n.min(2)));
    [Operation::Nth(DOWN, 0), position, Operation::Quantile(1, 2), second]
}

/// All columns of three integers from -1 to 1: every way in which entries can be equal.
#[test]
fn all_short_columns() {
    let bench = Bench::new(SET);
    for code in 0..27 {
        let xs = [code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1];
        check(&bench, Type::ranged(-1, 1).unwrap(), &xs, &few(3));
        // Positions in both orders.
        let both = [
            Operation::Sort(DOWN, 3),
            Operation::ArgNth(UP, 0),
            Operation::ArgNth(DOWN, 0),
            Operation::ArgSort(DOWN, 3),
            Operation::Nth(DOWN, 0),
        ];
        check(&bench, Type::ranged(-1, 1).unwrap(), &xs, &both);
    }
}

/// Some of all operations, in any sequence and some of them twice, on columns whose pairs are
/// arranged in each of the ways.
#[test]
fn any_operations_in_any_sequence() {
    let bench = Bench::new(SET);
    let mut state = 12_345u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let leveled = Bench::leveled("insecure_bgv-257-n8");
    for (bench, kind, n) in [
        (&bench, Type::U8, 9),
        (&bench, Type::I8, 20),
        (&bench, Type::Bool, 33),
        (&bench, Type::U8, 2),
        (&bench, Type::U16, 1),
        (&leveled, Type::U8, 5),
        (&leveled, Type::Bool, 7),
        (&leveled, Type::ranged(-9, 3).unwrap(), 8),
    ] {
        for round in 0..2 {
            let from = all(n);
            let some: Vec<_> = (0..6).map(|_| from[random(from.len())].clone()).collect();
            check(bench, kind, &values(kind, n, 1 + round + n as u64), &some);
        }
    }
    check(&bench, Type::U8, &[200; 8], &all(8));
}

/// Of columns whose pairs do not fit a row, some results may come from a network.
#[test]
fn longer_columns() {
    let bench = Bench::new(SET);
    check(&bench, Type::I8, &values(Type::I8, 70, 3), &few(70));
    let many = [Operation::Sort(DOWN, 60), Operation::ArgSort(DOWN, 60), Operation::Nth(UP, 30)];
    check(&bench, Type::Bool, &values(Type::Bool, 60, 4), &many);
}

/// The cost of operations on a fresh column of n bytes that share, or do not.
fn cost(n: usize, operations: &[Operation], shared: bool) -> Cost {
    cost_with(n, operations, shared, &Orders::default())
}

fn cost_with(
    n: usize,
    operations: &[Operation],
    shared: bool,
    orders: &Orders<NoOpCiphertext>,
) -> Cost {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let x = bench.encrypt(&vec![7; n], Type::U8);
    let along: Vec<&Operation> = if shared { operations.iter().collect() } else { Vec::new() };
    let before = bench.scheme.cost();
    for operation in operations {
        let along = Along { column: 0, operations: &along };
        ints.operate_sharing(operation, &[(&x).into()], along, orders).unwrap();
    }
    bench.scheme.cost() - before
}

/// A maximum, its position and a median take one ranking, and for each of two ranks a table and a
/// product for each digit.
#[test]
fn one_ranking_for_all() {
    let [maximum, position, median, _] = few(15);
    let own = |operation: &Operation| cost(15, std::slice::from_ref(operation), false);
    let ranks = own(&Operation::Ranks(DOWN)).products;
    let together = cost(15, &[maximum.clone(), position.clone(), median.clone()], true);
    let (first, second) = (own(&maximum), own(&median));
    // Which entry is the largest is known to its position.
    assert!(together.products <= first.products + second.products - ranks);
    assert!(together.products <= ranks + 30, "{} and {ranks}", together.products);
    let apart = first.key_switches + own(&position).key_switches + second.key_switches;
    assert!(together.key_switches < apart);
    // In any sequence: the order of the position is that of the ranks.
    let other = cost(15, &[median.clone(), maximum.clone(), position.clone()], true);
    assert_eq!(other.products, together.products);
    // Operations that are only known when they are called take what is there.
    let called = [maximum.clone(), position.clone(), median.clone()];
    assert_eq!(cost_with(15, &called, false, &Orders::as_called()).products, together.products);
    // A sort and the positions of its entries take the same comparisons with positions.
    let sorts = [Operation::Sort(UP, 15), Operation::ArgSort(UP, 15)];
    assert_eq!(cost(15, &sorts, true).products, own(&sorts[0]).products);
    // What is the same is computed once.
    let twice = [Operation::Quantile(1, 2), Operation::Nth(UP, 7)];
    assert_eq!(cost(15, &twice, true).products, second.products);
    // Positions in both orders take two rankings.
    let both = [Operation::ArgNth(UP, 0), Operation::ArgNth(DOWN, 0)];
    assert!(cost(15, &both, true).products >= 2 * ranks);
}

/// One operation costs what it costs by itself.
#[test]
fn one_operation_shares_nothing() {
    for operation in few(15) {
        let alone = std::slice::from_ref(&operation);
        let own = cost(15, alone, false);
        assert_eq!(cost(15, alone, true), own, "{operation:?}");
        assert_eq!(cost_with(15, alone, false, &Orders::as_called()), own, "{operation:?}");
    }
}

/// Columns of the same ciphertexts are told apart by what these mean, and operations that are
/// refused leave the others as they are.
#[test]
fn columns_and_refusals_are_told_apart() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let xs = [30i128, -2, 77, 5, 77, -2];
    let x = bench.encrypt(&xs, Type::I8);
    let y = ints.add(&x, 1_000).unwrap();
    let [maximum, position, median, _] = few(6);
    let refused = Operation::Nth(UP, 6);
    let (along, orders) = ([&maximum, &refused, &position, &median], Orders::default());
    let of = |operation: &Operation, x: &Column<NoOpCiphertext>| {
        let along = Along { column: 0, operations: &along };
        ints.operate_sharing(operation, &[x.into()], along, &orders)
    };
    for operation in [&maximum, &median, &position] {
        let wanted = expected(operation, &xs);
        assert_eq!(bench.decrypt(&of(operation, &x).unwrap()), wanted);
        let added = if *operation == position { 0 } else { 1_000 };
        let wanted: Vec<i128> = wanted.into_iter().map(|v| v + added).collect();
        assert_eq!(bench.decrypt(&of(operation, &y).unwrap()), wanted);
        let error = of(&refused, &x).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "integers.length");
    }
    // One that nobody has announced.
    let other = Operation::ArgNth(UP, 0);
    assert_eq!(bench.decrypt(&of(&maximum, &x).unwrap()), [77]);
    assert_eq!(bench.decrypt(&of(&other, &x).unwrap()), [1]);
}

/// Results have ciphertexts of their own, so that nobody bootstraps in place what others share:
/// ranks of few entries are a result as they are.
#[test]
fn results_are_nobody_elses() {
    let bench = Bench::new(SET);
    let (ints, x) = (bench.integers(), bench.encrypt(&[5, 1, 4, 1], Type::U8));
    let operations = [Operation::Ranks(UP), Operation::Sort(UP, 4), Operation::Ranks(UP)];
    let all: Vec<&Operation> = operations.iter().collect();
    let listed = Along { column: 0, operations: &all };
    for (along, orders) in [(listed, Orders::default()), (Along::default(), Orders::as_called())] {
        let found = operations.each_ref().map(|operation| {
            ints.operate_sharing(operation, &[(&x).into()], along, &orders).unwrap()
        });
        let values = found.iter().chain([&x]).flat_map(|x| x.values());
        let mut addresses: Vec<usize> = values.map(|value| value.address()).collect();
        let count = addresses.len();
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), count);
    }
}

/// Two columns of a program that are the same ciphertexts cost what two others cost.
#[test]
fn columns_of_a_program_are_told_apart() {
    let operations = [
        [Operation::Nth(DOWN, 0), Operation::Quantile(1, 2)],
        [few(15)[1].clone(), few(15)[0].clone()],
    ];
    let found = [true, false].map(|same| {
        let bench = Bench::blank_leveled("bgv-65537-n15");
        let ints = Integers::new(&bench.session, &bench.params).unwrap();
        let x = bench.encrypt(&[7; 15], Type::U8);
        let y = if same { x.clone() } else { bench.encrypt(&[7; 15], Type::U8) };
        let (orders, before) = (Orders::default(), bench.scheme.cost());
        let lists = operations.each_ref().map(|list| list.iter().collect::<Vec<_>>());
        // The first operation of each column, and then the second ones.
        for (column, place) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let along = Along { column, operations: &lists[column] };
            let (operation, x) = (&operations[column][place], [&x, &y][column]);
            ints.operate_sharing(operation, &[x.into()], along, &orders).unwrap();
        }
        bench.scheme.cost() - before
    });
    assert_eq!(found[0], found[1]);
}

const PROGRAM: &str = "top = maximum(x); best = argmax(x); middle = median(x) + 1; \
                       low = sort(x, 2); spread = maximum(x) - minimum(x)";

fn inputs(bench: &Bench) -> BTreeMap<String, Column<NoOpCiphertext>> {
    BTreeMap::from([("x".into(), bench.encrypt(&[9, 200, 31, 200, 7, 31], Type::U8))])
}

/// Text programs share, whatever is computed at the same time, and cost the same then.
#[test]
fn programs_share_ranks() {
    let program = Program::parse(PROGRAM).unwrap();
    let found = [1, 2, 6, 40].map(|threads| {
        let bench = Bench::leveled("insecure_bgv-257-n8");
        let (inputs, before) = (inputs(&bench), bench.scheme.cost());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let results = pool.install(|| {
            bench.integers().run(&program, &inputs, &BTreeMap::new(), &mut |_| ()).unwrap()
        });
        let cost = bench.scheme.cost() - before;
        let opened = results.into_iter().map(|(name, x)| match x {
            Encrypted::Column(x) => (name, bench.decrypt(&x)),
            Encrypted::Total(_) => panic!("{name} is a total"),
        });
        (opened.collect::<BTreeMap<_, _>>(), cost)
    });
    for (name, wanted) in [
        ("top", vec![200]),
        ("best", vec![1]),
        ("middle", vec![32]),
        ("low", vec![7, 9]),
        ("spread", vec![193]),
    ] {
        assert_eq!(found[0].0[name], wanted, "{name}");
    }
    for other in &found {
        assert_eq!(other, &found[0]);
    }
}

/// Estimates count what is shared at the statement that computes it.
#[test]
fn estimates_share_ranks() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let rehearsal = Rehearsal::new(&bench.params, false).unwrap();
    let products = |text: &str| -> Vec<u64> {
        let program = Program::parse(text).unwrap();
        let rehearsal = rehearsal.again();
        let x = rehearsal.column(Type::U8, 15, |s, zero| s.encrypt(zero)).unwrap();
        let inputs = BTreeMap::from([("x".to_string(), x)]);
        let tables = BTreeMap::new();
        let found = Estimate::of_program(&rehearsal, &program, &inputs, &tables, 1).unwrap();
        found.steps.iter().map(|step| step.counted.products).collect()
    };
    let [top, best, middle] = products("top = maximum(x); best = argmax(x); m = median(x)")[..]
    else {
        panic!("expected three statements");
    };
    assert_eq!(products("top = maximum(x)"), [top]);
    assert_eq!(best, 0);
    let alone = products("m = median(x)")[0];
    assert!(middle < alone / 2, "{middle} instead of {alone}");
    let found = products("a = nth(x, 3); b = minimum(x); c = argmin(x)");
    assert!(found[1] < found[0] / 2 && found[2] == 0, "{found:?}");
}
