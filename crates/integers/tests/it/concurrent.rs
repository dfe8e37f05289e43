//! Programs whose parts are computed at the same time, by pools of different sizes.

use std::collections::BTreeMap;

use everlevel_circuit::expression::Program;
use everlevel_integers::{Encrypted, IntegersError, NamedValues, ProgramError, Type};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, Scheme};

use crate::common::Bench;

const SET: &str = "insecure_bgv-65537-n11";
/// Numbers of threads with which no parts, those of one ciphertext, some, and all are computed at
/// the same time.
const THREADS: [usize; 4] = [1, 2, 6, 40];

/// A program on three columns, by a pool with this number of threads.
fn run(
    bench: &Bench,
    text: &str,
    threads: usize,
) -> Result<NamedValues<NoOpCiphertext>, ProgramError> {
    let program = Program::parse(text).unwrap();
    let incomes = [60_000, 4_000_000, 70_000, 10, 50_001, 50_000];
    let inputs = BTreeMap::from([
        ("age".to_string(), bench.encrypt(&[20, 29, 30, 64, 18, 22], Type::U8)),
        ("income".to_string(), bench.encrypt(&incomes, Type::ranged(0, 5_000_000).unwrap())),
        ("member".to_string(), bench.encrypt(&[1, 0, 0, 1, 1, 1], Type::Bool)),
    ]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut seen = Vec::new();
        let mut note = |done| seen.push(done);
        let found = bench.integers().run(&program, &inputs, &BTreeMap::new(), &mut note)?;
        assert_eq!(seen, (1..=program.len()).collect::<Vec<_>>(), "{threads} threads: {text}");
        Ok(found)
    })
}

fn opened(bench: &Bench, x: &Encrypted<NoOpCiphertext>) -> Vec<i128> {
    let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    match x {
        Encrypted::Column(x) => bench.decrypt(x),
        Encrypted::Total(x) => vec![x.decrypt(bench.modulus(), open).unwrap()],
    }
}

/// Values, levels, noise bounds and costs are those of one operation after the other, also where
/// parts read the same ciphertexts, as they may without bootstrapping.
#[test]
fn results_do_not_depend_on_threads() {
    let text = "young = age < 30; rich = income > 50000; _b = young & member; n = count(_b); \
                y = if(_b, age, 7); s = sum(income); m = (age < 20) + 3*(age > 60) + member; \
                z = (income < 60000)*(age > 18)*age; l = max(age, 25); \
                k = (age == 64) | (income == 10)";
    let found = THREADS.map(|threads| {
        let bench = Bench::leveled(SET);
        let results = run(&bench, text, threads).unwrap();
        let public = |x: &Encrypted<NoOpCiphertext>| -> Vec<(Level, f64)> {
            let of = |c: &NoOpCiphertext| (bench.scheme.level(c), bench.scheme.capacity_bits(c));
            x.values().map(|value| of(&value.get())).collect()
        };
        let all = results.iter().map(|(name, x)| (name.clone(), opened(&bench, x), public(x)));
        (all.collect::<Vec<_>>(), bench.scheme.cost())
    });
    let [first, others @ ..] = &found;
    for (name, expected) in [
        ("young", vec![1, 1, 0, 0, 1, 1]),
        ("rich", vec![1, 1, 1, 0, 1, 0]),
        ("n", vec![3]),
        ("y", vec![20, 7, 7, 7, 18, 22]),
        ("s", vec![4_230_011]),
        ("m", vec![1, 0, 0, 4, 2, 1]),
        ("z", vec![0, 0, 0, 64, 0, 22]),
        ("l", vec![25, 29, 30, 64, 25, 25]),
        ("k", vec![0, 0, 0, 1, 0, 0]),
    ] {
        let (_, values, _) = first.0.iter().find(|x| x.0 == name).unwrap();
        assert_eq!(*values, expected, "{name}");
    }
    for other in others {
        assert_eq!(other, first);
    }
}

/// A ciphertext that is refreshed in place is refreshed once, for all that read it later.
#[test]
fn bootstrappings_do_not_depend_on_threads() {
    let text = "_a = age < 30; _u = income > 50000; _b = if(_a, age, 60) < 25; \
                _v = if(_u, income, 10) < 60000; c = if(_b, age, 60) < 20; \
                d = if(_v, income, 7) == 7";
    let refreshes = THREADS.map(|threads| {
        let bench = Bench::new(SET);
        let results = run(&bench, text, threads).unwrap();
        assert_eq!(results.keys().collect::<Vec<_>>(), ["c", "d"]);
        assert_eq!(opened(&bench, &results["c"]), [0, 0, 0, 0, 1, 0]);
        assert_eq!(opened(&bench, &results["d"]), [1, 1, 1, 0, 0, 0]);
        bench.session.bootstraps()
    });
    assert!(refreshes[0] > 0);
    assert_eq!(refreshes, [refreshes[0]; 4]);
}

/// Of several errors the first one in the program, whichever comes first.
#[test]
fn the_first_error_is_reported() {
    for (text, column) in [
        ("a = sum(income); y = count(age); z = if(member, 1, 2) + (income << 200)", 22),
        ("y = count(age) * !age", 5),
        ("y = member * !age + isin(income, many)", 14),
    ] {
        for threads in THREADS {
            for bench in [Bench::leveled(SET), Bench::new(SET)] {
                let error = run(&bench, text, threads).map(|_| ()).unwrap_err();
                assert_eq!((error.column, error.code()), (column, "integers.type"), "{text}");
            }
        }
    }
}
