//! Estimates against what is then done.

use std::collections::BTreeMap;

use everlevel_circuit::expression::Program;
use everlevel_integers::{
    Column, Counted, Estimate, EstimatedInput, IntegersError, Operation, Order, Rehearsal,
    TablePlans, Type, best_estimate,
};
use everlevel_scheme::noop::{NoOpCiphertext, memory_of_ciphertext};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{OptIn, Params, ParamsSpec};

use crate::common::Bench;

const SET: &str = "insecure_bgv-65537-n11";
const TEXT: &str = "rich = income > 50000 & age < 30; _fee = income / 7; fee = if(rich, _fee, 5); \
                    n = count(rich); top = sort(fee)";

type Columns<C> = BTreeMap<String, Column<C>>;

fn program(text: &str) -> Program {
    Program::parse(text).unwrap()
}

/// Six people, of whom the ages are results of an addition.
fn people(bench: &Bench) -> Columns<NoOpCiphertext> {
    let ages = bench.encrypt(&[20, 29, 30, 64, 18, 22], Type::U8);
    let incomes = [60_000, 4_000_000, 70_000, 10, 50_001, 50_000];
    let age = bench.integers().add(&ages, 1).unwrap();
    let income = bench.encrypt(&incomes, Type::ranged(0, 5_000_000).unwrap());
    BTreeMap::from([("age".into(), age), ("income".into(), income)])
}

/// What stands for them in a rehearsal.
fn pretended(rehearsal: &Rehearsal, x: &Columns<NoOpCiphertext>) -> Columns<NoOpCiphertext> {
    let like = |(name, x): (&String, _)| {
        (name.clone(), rehearsal.like(x, |c: &NoOpCiphertext| *c.meta()).unwrap())
    };
    x.iter().map(like).collect()
}

/// Products, switches and refreshes are those of the run on values, statement by statement, and so
/// are the intervals.
#[test]
fn an_estimate_is_what_is_done() {
    let (bench, none) = (Bench::new(SET), BTreeMap::new());
    let inputs = people(&bench);
    let rehearsal = Rehearsal::new(&bench.params, true).unwrap();
    let given = pretended(&rehearsal, &inputs);
    let program = program(TEXT);
    let found = Estimate::of_program(&rehearsal, &program, &given, &none, 3).unwrap();
    let level = |x: &Column<NoOpCiphertext>| x.values().map(|v| v.get().meta().level).max();
    let levels = ["age", "income"].map(|name| level(&inputs[name]));
    let top = bench.params.chain().top();
    assert_eq!(levels[1], Some(top));
    let before = bench.scheme.cost();
    let results = bench.integers().run(&program, &inputs, &none, &mut |_| ()).unwrap();
    let cost = bench.scheme.cost() - before;
    let refreshes = bench.session.bootstraps() as u64;
    assert!(refreshes > 0);
    let Counted { products, key_switches, refreshes: estimated, seconds, .. } = found.total();
    assert_eq!(
        (products, key_switches, estimated),
        (3 * cost.products, 3 * cost.key_switches, 3 * refreshes)
    );
    assert!(seconds > 0.0);
    let steps: Vec<_> = found.steps.iter().map(|s| (s.name.as_str(), s.interval)).collect();
    let interval = |name: &str| results.get(name).map(|x| x.interval());
    assert_eq!(steps, ["rich", "_fee", "fee", "n", "top"].map(|name| (name, interval(name))));
    let ciphertexts: usize = inputs.values().map(Column::ciphertexts).sum();
    assert_eq!(found.input_ciphertexts, 3 * ciphertexts as u64);
    let given: Vec<_> = found.inputs.iter().map(|x| (x.name.as_str(), x.level)).collect();
    assert_eq!(given, [("age", levels[0]), ("income", levels[1])]);
    let bytes: u64 = found.inputs.iter().map(|x| x.bytes).sum();
    assert_eq!((bytes, found.inputs[0].index_level), (found.input_bytes, None));
    assert_eq!(found.keys, bench.scheme.key_plan());
    let shown = found.to_string();
    let levels = format!("levels of the arguments, of 0 to {top}: age {} (", levels[0].unwrap());
    for part in
        [format!("{products} products"), format!("{estimated} refreshes"), "MiB".into(), levels]
    {
        assert!(shown.contains(&part), "{shown}");
    }
}

/// The memory of two columns `x` and `y` of a type and of all that a program computes.
fn worked(text: &str, kind: Type, blocks: u64) -> Estimate {
    let params = Params::named(SET, OptIn::InsecureResearch).unwrap();
    let rehearsal = Rehearsal::new(&params, false).unwrap();
    let column = |name: &str| {
        let column = rehearsal.column(kind, 40, |s, zero| s.encrypt(zero));
        (name.to_string(), column.unwrap())
    };
    let inputs = BTreeMap::from(["x", "y"].map(column));
    let none = BTreeMap::new();
    Estimate::of_program(&rehearsal, &program(text), &inputs, &none, blocks).unwrap()
}

/// Sums of columns of one digit, which lie at the top: each has one ciphertext.
#[test]
fn ciphertexts_count_as_long_as_they_are_there() {
    let params = Params::named(SET, OptIn::InsecureResearch).unwrap();
    let one = memory_of_ciphertext(&params, params.chain().top());
    let digit = Type::ranged(0, 3).unwrap();
    for (text, blocks, expected) in [
        ("z = x + y", 1, 3),
        // Arguments and results of all blocks, and the rest of one of them.
        ("z = x + y", 3, 9),
        ("a = x + y; b = a + x; z = b + y", 1, 5),
        // What is not used any more is dropped.
        ("_a = x + y; _b = _a + x; z = _b + y", 1, 4),
        ("_a = x + y; _b = _a + x; z = _b + y", 3, 4 + 2 * 3),
    ] {
        let found = worked(text, digit, blocks);
        assert_eq!(found.working_bytes(), expected * one, "{text}");
        assert_eq!(found.inputs[0].memory_bytes, blocks * one);
        let keys = found.keys.memory_bytes(&found.params);
        assert_eq!(found.memory_bytes(), keys + found.working_bytes());
        assert!(found.clone().within(found.memory_bytes()).is_ok());
        assert!(found.clone().within(found.memory_bytes() - 1).is_err());
        assert!(found.to_string().contains("for ciphertexts while it computes"), "{found}");
    }
}

/// An estimate is the same on any number of threads.
#[test]
fn memory_does_not_depend_on_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| worked("z = x < y", Type::U16, 1).working_bytes())
    };
    let found = on(1);
    assert!((2..4).all(|threads| on(threads) == found && on(threads) == found));
    // More than arguments and results: the powers of a digit.
    let params = Params::named(SET, OptIn::InsecureResearch).unwrap();
    assert!(found > 12 * memory_of_ciphertext(&params, params.chain().top()));
}

/// On a set with enough levels nothing is bootstrapped; what is too deep is, and is refused where
/// that cannot be.
#[test]
fn the_best_way_is_found() {
    let params = Params::named(SET, OptIn::InsecureResearch).unwrap();
    let plans = &TablePlans::default();
    let run = |depth: usize| {
        move |rehearsal: &Rehearsal| {
            let ints = rehearsal.integers()?;
            let x = rehearsal.column(Type::U8, 40, |s, zero| s.encrypt(zero))?;
            let given = vec![EstimatedInput::of(rehearsal.params(), "x", &x)];
            let y = rehearsal.alone(|| -> Result<_, IntegersError> {
                let mut y = ints.lt(&x, 9)?;
                for _ in 1..depth {
                    y =
                        ints.lt(&ints.operate(&Operation::Add, &[(&x).into(), (&y).into()])?, &x)?;
                }
                Ok(y)
            })?;
            Ok(Estimate::new(rehearsal, 1, given, Vec::new(), &[y.into()]))
        }
    };
    let on = |depth| best_estimate([params.clone()], plans, run(depth), |e| e.key_bytes() as f64);
    assert!(!on(1).unwrap().bootstraps);
    let deep = on(6).unwrap();
    assert!(deep.bootstraps && deep.keys.bootstrap);
    let refused = |memory| {
        let rehearse = |r: &Rehearsal| run(6)(r).and_then(|found: Estimate| found.within(memory));
        best_estimate([params.clone()], plans, rehearse, |e| e.key_bytes() as f64).map(|_| ())
    };
    assert_eq!(refused(deep.memory_bytes()), Ok(()));
    let error = refused(deep.memory_bytes() - 1).unwrap_err();
    assert_eq!(error.code(), "integers.memory");
    assert!(error.to_string().contains("MiB"), "{error}");
    // What no set could do is refused at once.
    let wide = |rehearsal: &Rehearsal| {
        rehearsal.column(Type::ranged(1, 0)?, 4, |s, zero| s.encrypt(zero))?;
        Err(IntegersError::Depth { depth: 0, left: 0.0, needed: 0.0, bootstraps: true })
    };
    let error = best_estimate([params.clone()], plans, wide, |e| e.key_bytes() as f64).unwrap_err();
    assert_eq!(error.code(), "integers.range");
    assert_eq!(
        best_estimate([], plans, run(1), |e| e.key_bytes() as f64).unwrap_err().code(),
        "integers.set"
    );
    let long = Rehearsal::new(&params, false).unwrap();
    let column = long.column(Type::U8, params.slots() + 1, |s, zero| s.encrypt(zero));
    assert_eq!(column.map(|_| ()).unwrap_err().code(), "integers.length");
}

/// The thin mode takes keys to be prepared, and a rehearsal that only borrows its tables names them
/// as well.
#[test]
fn another_rehearsal_has_the_same_keys() {
    let mut spec = ParamsSpec::named(SET).unwrap();
    spec.bootstrap.as_mut().unwrap().mode = Some(BootstrapMode::Thin);
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let first = Rehearsal::new(&params, true).unwrap();
    assert!(!first.keys().galois.is_empty());
    let other = first.again().again();
    assert_eq!(other.keys(), first.keys());
    let Counted { products, key_switches, refreshes, .. } = other.so_far();
    assert_eq!((products, key_switches, refreshes), (0, 0, 0));
    assert!(other.session().can_bootstrap());
    assert!(!Rehearsal::new(&params, false).unwrap().again().session().can_bootstrap());
}

/// The slots of a set of odd index lie in 96 rows of 29, of which no two are exchanged.
#[test]
fn other_rows_are_refused() {
    let params = Params::named("bgv-65537-m50731", OptIn::InsecureResearch).unwrap();
    let rehearsal = Rehearsal::new(&params, false).unwrap();
    let ints = rehearsal.integers().unwrap();
    let x = rehearsal.column(Type::U8, 100, |s, zero| s.encrypt(zero)).unwrap();
    for found in [ints.sum_of_each(&x), ints.cumsum(&x)] {
        assert_eq!(found.map(|_| ()).unwrap_err().code(), "integers.set");
    }
}

/// Another number of operands than an operation has.
#[test]
fn operands_are_counted() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let x = bench.encrypt(&[3, 1, 2], Type::U8);
    for (operation, count) in [
        (Operation::Add, 1),
        (Operation::Not, 2),
        (Operation::Select, 2),
        (Operation::Add, 3),
        (Operation::Less, 0),
        (Operation::WeightedSum(vec![1, -2]), 1),
        (Operation::WeightedSum(vec![]), 0),
    ] {
        let found = ints.operate(&operation, &vec![(&x).into(); count]);
        assert_eq!(found.map(|_| ()).unwrap_err().code(), "integers.parts", "{operation:?}");
    }
    let sorted = ints.operate(&Operation::Sort(Order::Descending, 2), &[(&x).into()]).unwrap();
    assert_eq!(bench.decrypt(&sorted), [3, 2]);
    // A column times itself is a square.
    let cost = |a: &Column<NoOpCiphertext>, b: &Column<NoOpCiphertext>| {
        let before = bench.scheme.cost();
        ints.operate(&Operation::Multiply, &[a.into(), b.into()]).unwrap();
        (bench.scheme.cost() - before).products
    };
    assert!(cost(&x, &x) < cost(&x, &x.clone()));
}
