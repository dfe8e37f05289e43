//! Programs of text on columns.

use std::collections::BTreeMap;

use everlevel_circuit::expression::Program;
use everlevel_integers::{Encrypted, IntegersError, NamedValues, ProgramError, Type};
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;

const AGES: [i128; 6] = [17, 18, 44, 65, 90, 255];
const LIMITS: [i128; 6] = [-5, 70_000, 0, 12, -32, 31];

fn run(bench: &Bench, text: &str) -> Result<NamedValues<NoOpCiphertext>, ProgramError> {
    let inputs = BTreeMap::from([
        ("age".to_string(), bench.encrypt(&AGES, Type::U8)),
        ("limit".to_string(), bench.encrypt(&LIMITS, Type::I32)),
    ]);
    let tables = BTreeMap::from([
        ("squares".to_string(), (0..256).map(|v| v * v).collect()),
        ("few".to_string(), vec![17, 44, 90]),
        ("weights".to_string(), vec![1, 0, -2, 0, 0, 3]),
    ]);
    bench.integers().run(&Program::parse(text).unwrap(), &inputs, &tables, &mut |_| ())
}

fn opened(bench: &Bench, x: &Encrypted<NoOpCiphertext>) -> Vec<i128> {
    let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    match x {
        Encrypted::Column(x) => bench.decrypt(x),
        Encrypted::Total(x) => vec![x.decrypt(bench.modulus(), open).unwrap()],
    }
}

/// As Python rounds it, 0 for the divisor 0.
fn floored(a: i128, b: i128) -> i128 {
    let quotient = a.checked_div(b).unwrap_or(0);
    quotient - i128::from(quotient * b != a && b != 0 && (a < 0) != (b < 0))
}

#[test]
fn programs_compute_what_they_say() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    type Case = (&'static str, fn(i128, i128) -> i128);
    let cases: [Case; 50] = [
        ("y = 7*age - 100*limit + age - 5 + 2*3", |a, l| 8 * a - 100 * l + 1),
        ("y = 3 - age - age*2*(age < 50) - -limit", |a, l| 3 - a - 2 * a * i128::from(a < 50) + l),
        ("y = age + age + age + age + (0 - 4)*age", |_, _| 0),
        ("y = 5 - 2*age", |a, _| 5 - 2 * a),
        ("y = age + limit - 3", |a, l| a + l - 3),
        ("y = -age*3 + 2*limit", |a, l| -3 * a + 2 * l),
        ("y = age >= 18 & age < 65", |a, _| i128::from((18..65).contains(&a))),
        ("y = age == 17 | limit != 0", |a, l| i128::from(a == 17 || l != 0)),
        ("y = !(age > 44)", |a, _| i128::from(a <= 44)),
        ("y = if(1000 <= 255, age, 16)", |_, _| 16),
        ("y = if(age <= 255, 16, age)", |_, _| 16),
        ("y = if(2 > 1, age, 16)", |a, _| a),
        ("y = if(age <= 18, limit, 1000)", |a, l| if a <= 18 { l } else { 1000 }),
        ("y = (age < 50)*limit + limit*(age < 50)", |a, l| 2 * l * i128::from(a < 50)),
        ("y = min(age, limit)", |a, l| a.min(l)),
        ("y = max(age, 60)", |a, _| a.max(60)),
        ("y = abs(limit)", |_, l| l.abs()),
        ("y = clip(limit, 0, 50)", |_, l| l.clamp(0, 50)),
        ("y = clip(age, limit, 20)", |a, l| a.max(l).min(20)),
        ("y = age*5 + 15*(limit % 16)", |a, l| 5 * a + 15 * l.rem_euclid(16)),
        ("y = table(age, squares)", |a, _| a * a),
        ("y = age & 15", |a, _| a & 15),
        ("y = xor(age, limit)", |a, l| a ^ l),
        ("y = limit >> 3", |_, l| l >> 3),
        ("y = age << 5", |a, _| a << 5),
        ("y = limit / 4 + 7/2", |_, l| l.div_euclid(4) + 3),
        ("y = limit % 8", |_, l| l.rem_euclid(8)),
        ("y = limit / 7", |_, l| l.div_euclid(7)),
        ("y = age % 10 + age / -3", |a, _| a % 10 + (-a).div_euclid(3)),
        ("y = age*limit", |a, l| a * l),
        ("y = age^3 + age^2", |a, _| a * a * a + a * a),
        ("y = age / (age & 3 | 4)", |a, _| a / (a & 3 | 4)),
        ("y = limit >> (age % 4)", |a, l| l >> (a & 3)),
        ("y = age << (age % 4)", |a, _| a << (a & 3)),
        ("y = limit / (age - 44)", |a, l| floored(l, a - 44)),
        ("y = sign(limit) + sign(-3)", |_, l| l.signum() - 1),
        ("y = popcount(age)", |a, _| a.count_ones().into()),
        ("y = cast(clip(limit, 0, 9), u8)", |_, l| l.clamp(0, 9)),
        ("y = wrap(limit, u16) + wrap(age, i8)", |a, l| (l as u16) as i128 + (a as i8) as i128),
        ("y = table(age/16, age & 15, squares)", |a, _| a * a),
        ("y = isin(age, few)", |a, _| i128::from([17, 44, 90].contains(&a))),
        ("y = searchsorted(age, few)", |a, _| [17, 44, 90].iter().filter(|v| **v < a).count() as _),
        ("y = total(age)", |_, _| AGES.iter().sum()),
        ("y = total(limit) > 70005 & age > 20", |a, _| i128::from(a > 20)),
        ("y = if(total(age) >= 490, age, 7)", |_, _| 7),
        ("y = ranks(age)", |a, _| AGES.iter().filter(|v| **v < a).count() as i128),
        ("y = limit - limit*(limit > 9)", |_, l| if l > 9 { 0 } else { l }),
        ("y = age - 2*cast(3, u8)*cast(4, u8)", |a, _| a - 24),
        ("y = limit + cast(3, u8)*cast(4, u8)*age", |a, l| l + 12 * a),
        ("y = table(age, squares) + cast(5, u8)*cast(1, u8) - 5", |a, _| a * a),
    ];
    for (text, f) in cases {
        let out = run(&bench, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let expected: Vec<i128> = AGES.iter().zip(LIMITS).map(|(a, l)| f(*a, l)).collect();
        assert_eq!(opened(&bench, &out["y"]), expected, "{text}");
    }
    let out =
        run(&bench, "_a = age > 20; n = count(_a); t = sum(limit*_a); k = 0*age + 2^5").unwrap();
    assert_eq!(out.keys().collect::<Vec<_>>(), ["k", "n", "t"]);
    let order = "m = mean(limit); d = median(age); a = argmax(limit); i = argmin(limit); \
                 s = sort(limit); p = argsort(limit); c = cumsum(age); \
                 q = quantile(age, 3, 4); n = nth(limit, 1); o = argnth(limit, 1); \
                 h = maximum(limit); l = minimum(limit); w = dot(age, weights); \
                 f = sort(limit, 2); g = argsort(limit, 1 + 2)";
    let along = run(&bench, order).unwrap();
    for (name, expected) in [
        ("m", vec![11_667]),
        ("d", vec![44]),
        ("a", vec![1]),
        ("i", vec![4]),
        ("s", vec![-32, -5, 0, 12, 31, 70_000]),
        ("p", vec![4, 0, 2, 3, 5, 1]),
        ("c", vec![17, 35, 79, 144, 234, 489]),
        ("q", vec![65]),
        ("n", vec![-5]),
        ("o", vec![0]),
        ("h", vec![70_000]),
        ("l", vec![-32]),
        ("w", vec![694]),
        ("f", vec![-32, -5]),
        ("g", vec![4, 0, 2]),
    ] {
        assert_eq!(opened(&bench, &along[name]), expected, "{name}");
    }
    assert_eq!(opened(&bench, &out["n"]), [4]);
    assert_eq!(opened(&bench, &out["t"]), [11]);
    assert!(opened(&bench, &out["k"]).iter().all(|v| *v == 32));
}

/// Results of public integers alone, which have any length, are integers where they are inputs.
#[test]
fn inputs_of_any_length() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let inputs = BTreeMap::from([
        ("age".to_string(), bench.encrypt(&AGES, Type::U8)),
        ("five".to_string(), ints.add(2, 3).unwrap()),
    ]);
    let run = |text: &str| {
        ints.run(&Program::parse(text).unwrap(), &inputs, &BTreeMap::new(), &mut |_| ())
    };
    let out = run("y = five*age; s = sum(y); k = five + 1").unwrap();
    assert_eq!(opened(&bench, &out["y"]), AGES.map(|age| 5 * age));
    assert_eq!(opened(&bench, &out["s"]), [5 * AGES.iter().sum::<i128>()]);
    assert_eq!(opened(&bench, &out["k"]), [6]);
    // There is no number of entries to add up.
    for text in ["s = sum(five)", "s = mean(five)", "s = total(five)", "s = count(five > 3)"] {
        let error = run(text).map(|_| ()).unwrap_err();
        assert_eq!((error.column, error.code()), (5, "integers.type"), "{text}: {error}");
    }
}

#[test]
fn mistakes_are_pointed_at() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    for (text, column, code) in [
        ("y = age + pay", 11, "circuit.missing-input"),
        ("y = table(age, cubes)", 5, "circuit.missing-input"),
        ("y = table(limit, squares)", 5, "integers.table"),
        ("y = age << -1", 9, "integers.type"),
        ("y = age >> 200", 9, "integers.type"),
        ("y = rotate(age, 1)", 5, "integers.type"),
        ("y = count(age)", 5, "integers.type"),
        ("y = if(age, 1, 2)", 5, "integers.type"),
        ("y = !age", 5, "integers.type"),
        ("s = sum(age); y = 1 + s", 23, "integers.type"),
        ("y = age + (limit << 100)", 18, "integers.range"),
        ("y = 1 + cast(limit, u8)", 9, "integers.type"),
        ("y = wrap(age, u9)", 5, "integers.name"),
        ("y = popcount(limit)", 5, "integers.type"),
        ("y = table(age, age, squares)", 5, "integers.table"),
        ("y = isin(age, many)", 5, "circuit.missing-input"),
        ("y = searchsorted(age, weights)", 5, "integers.value"),
        ("y = dot(age, few)", 5, "integers.length"),
        ("y = nth(age, age)", 5, "integers.type"),
        ("y = nth(age, 0 - 1)", 5, "integers.value"),
        ("y = nth(age, 6)", 5, "integers.length"),
        ("y = quantile(age, 3, 2)", 5, "integers.value"),
        ("y = quantile(age, 0 - 1, 2)", 5, "integers.value"),
        ("y = quantile(age, 8589934592, 17179869184)", 5, "integers.value"),
        ("y = sort(age, age)", 5, "integers.type"),
        ("y = argsort(3, age)", 5, "integers.type"),
        ("y = sort(age, 0 - 1)", 5, "integers.value"),
        ("y = sort(age, 0)", 5, "integers.length"),
        ("y = argsort(age, 7)", 5, "integers.length"),
    ] {
        let error = run(&bench, text).map(|_| ()).unwrap_err();
        assert_eq!((error.column, error.code()), (column, code), "{text}: {error}");
    }
}
