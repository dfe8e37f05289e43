//! The worked example of docs/how/bootstrapping.md, number by number.

use std::collections::{BTreeMap, BTreeSet};

use everlevel::lab::{DigitRemoval, NoOp};
use everlevel::{NextUse, OptIn, Params, Plaintext};
use everlevel_circuit::PrimePower;
use everlevel_circuit::digits::{DigitKind, DigitMethod};

use super::{centered, parts, read, root};

/// `name = value` or `name = [a, b, ..]` in the text blocks of the worked example, and the rows of
/// its table.
struct Worked {
    values: BTreeMap<String, Vec<i64>>,
    page: String,
}

impl Worked {
    fn read() -> Self {
        let page = read(&root().join("docs/how/bootstrapping.md"));
        let mut values = BTreeMap::new();
        for (_, body) in parts(&page).0.into_iter().filter(|(language, _)| language == "text") {
            for line in body.lines() {
                let (name, value) =
                    line.split_once('=').unwrap_or_else(|| panic!("no number: {line}"));
                let numbers = value
                    .trim()
                    .trim_matches(['[', ']'])
                    .split(',')
                    .map(|x| x.trim().parse().unwrap())
                    .collect();
                assert!(values.insert(name.trim().to_string(), numbers).is_none(), "{name} twice");
            }
        }
        Worked { values, page }
    }

    fn list(&self, name: &str) -> &[i64] {
        self.values.get(name).unwrap_or_else(|| panic!("the page has no {name}"))
    }

    fn number(&self, name: &str) -> i64 {
        let [number] = self.list(name) else { panic!("{name} is no number") };
        *number
    }

    /// The rows of numbers in the tables.
    fn rows(&self) -> Vec<Vec<i64>> {
        let row = |line: &str| {
            line.trim_matches('|')
                .split('|')
                .map(|x| x.trim().parse().ok())
                .collect::<Option<Vec<i64>>>()
        };
        self.page.lines().filter(|line| line.starts_with('|')).filter_map(row).collect()
    }
}

/// a b modulo X^n + 1.
fn product(a: &[i64], b: &[i64]) -> Vec<i64> {
    let n = a.len();
    let mut out = vec![0; n];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            out[(i + j) % n] += if i + j < n { x * y } else { -x * y };
        }
    }
    out
}

fn zip(a: &[i64], b: &[i64], f: impl Fn(i64, i64) -> i64) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// The values at ζ^g for g = 1, 5, 7, 3, modulo `modulus`.
fn slots(a: &[i64], zeta: i64, modulus: i64) -> Vec<i64> {
    let power = |k: u32| (0..k).fold(1, |x, _| x * zeta % modulus);
    let value =
        |g: u32| a.iter().zip(0..).map(|(c, i)| c * power(g * i)).sum::<i64>().rem_euclid(modulus);
    [1, 5, 7, 3].map(value).to_vec()
}

#[test]
fn the_worked_example_adds_up() {
    let page = Worked::read();
    let [n, p, zeta, q0, q1] = ["n", "p", "zeta", "q0", "q1"].map(|name| page.number(name));
    let [message, s0, e] = ["m", "s0", "e"].map(|name| page.list(name));
    assert!(page.values.values().all(|list| list.len() == 1 || list.len() == n as usize));

    // 0, 1: the setting and a ciphertext.
    assert_eq!(zeta.pow(4).rem_euclid(p * p), p * p - 1);
    assert_eq!(slots(message, zeta, p), page.list("slots"));
    assert_eq!([q0 % p, q1 % p], [1, 1]);
    assert_eq!(s0.iter().map(|x| x.abs()).sum::<i64>(), 2, "h");
    let phase = |c: [&str; 2]| zip(page.list(c[0]), &product(page.list(c[1]), s0), |a, b| a + b);
    let found: Vec<i64> = phase(["c0", "c1"]).iter().map(|x| centered(*x, q0 * q1)).collect();
    assert_eq!(found, page.list("phase"));
    assert_eq!(found, zip(message, e, |m, e| m + p * e));

    // 2: the modulus switch.
    for (from, to) in [("c0", "d0"), ("c1", "d1")] {
        let switch = |x: &i64| {
            let residue = centered(*x, q1);
            // A multiple of q1 more, so that the sum is a multiple of p; q1 is 1 modulo p.
            let delta = residue - q1 * centered(residue, p);
            assert_eq!([(x - delta) % q1, delta % p], [0, 0]);
            (x - delta) / q1
        };
        assert_eq!(page.list(from).iter().map(switch).collect::<Vec<_>>(), page.list(to));
    }

    // 3: without the mask.
    let inner = phase(["d0", "d1"]);
    assert_eq!(inner, page.list("inner"));
    let w: Vec<i64> = inner.iter().map(|x| centered(*x, q0)).collect();
    let overflow = zip(&inner, &w, |a, b| (a - b) / q0);
    assert_eq!((&w[..], &overflow[..]), (page.list("w"), page.list("I")));
    assert!(
        zip(&w, message, |a, b| (a - b) % p).iter().all(|x| *x == 0),
        "w is the message modulo p"
    );
    assert!(w.iter().all(|x| 2 * p * x.abs() < q0), "room for u");

    // 4: the overflow by itself.
    for (from, to) in [("d0", "O0"), ("d1", "O1")] {
        let quotient = |x: &i64| (p * x - centered(p * x, q0)) / q0;
        assert_eq!(page.list(from).iter().map(quotient).collect::<Vec<_>>(), page.list(to));
        assert!(page.list(to).iter().all(|x| 2 * x.abs() < p));
    }
    let u: Vec<i64> = phase(["O0", "O1"]).iter().map(|x| -x).collect();
    assert_eq!(u, page.list("u"));
    assert_eq!(u, zip(page.list("I'"), &overflow, |low, high| low - p * high));
    assert!(overflow.iter().chain(page.list("I'")).all(|x| x.abs() <= 1), "B = 1");
    assert!(
        [&overflow[..], page.list("I'")].iter().all(|x| x.iter().any(|x| *x != 0)),
        "an example of something"
    );

    // 5: coefficients to slots.
    let square = p * p;
    assert_eq!(slots(&u, zeta, square), page.list("u_slots"));
    for (i, coefficient) in u.iter().enumerate() {
        let row = page.list(&format!("row_{i}"));
        assert_eq!(
            zip(row, page.list("u_slots"), |a, b| a * b).iter().sum::<i64>().rem_euclid(square),
            coefficient.rem_euclid(square)
        );
        // 4 times the row, moved back by ζ^(g i), is 1.
        let mut monomial = vec![0; n as usize];
        monomial[i] = 1;
        let ones = zip(row, &slots(&monomial, zeta, square), |a, b| (n * a * b).rem_euclid(square));
        assert_eq!(ones, vec![1; n as usize]);
    }

    // 6: digit removal, by the table and by the library.
    let remove = |u: i64| {
        let null = (u.pow(3) - u).rem_euclid(square);
        assert_eq!(null % p, 0);
        let b = (10 * u * u - 1).rem_euclid(p);
        [null, null / p, b, centered(null / p * b, p)]
    };
    let rows = page.rows();
    assert_eq!(rows.len(), 9);
    for (row, (low, high)) in
        rows.iter().zip((-1..=1).flat_map(|low| (-1..=1).map(move |high| (low, high))))
    {
        let u = low - p * high;
        let [null, quotient, b, found] = remove(u);
        assert_eq!(row[..], [low, high, u, null, quotient, b, found]);
        assert_eq!(found, -high);
    }
    let us: Vec<i64> = rows.iter().map(|row| row[2]).collect();
    assert_eq!(
        removed_by_the_library(p as u64, &us),
        rows.iter().map(|row| row[6]).collect::<Vec<_>>()
    );
    let h: Vec<i64> = u.iter().map(|u| remove(*u)[3]).collect();
    assert_eq!(h, page.list("h"));

    // 8: together.
    let answer: Vec<i64> = zip(&inner, &h, |inner, h| centered(inner + q0 * h, p));
    assert_eq!(answer, page.list("answer"));
    assert_eq!(answer, message);

    // Nothing on the page that was not looked at.
    let names = "n p zeta slots m q0 q1 s0 c0 c1 e phase d0 d1 inner w I O0 O1 u I' u_slots row_0 \
                 row_1 row_2 row_3 h answer";
    assert_eq!(
        page.values.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        names.split(' ').collect()
    );
}

/// -I from u = I' - p I by the closed form of the library, on the scheme without cryptography.
fn removed_by_the_library(p: u64, us: &[i64]) -> Vec<i64> {
    let mut spec = everlevel_scheme::params::spec("insecure_bgv-257-n8").unwrap();
    (spec.name, spec.plain_prime, spec.plain_exponent, spec.bootstrap) =
        ("insecure_worked-example".into(), p, 2, None);
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let scheme = NoOp::new(&params, 1);
    let removal = DigitRemoval::new(p, 1, DigitMethod::new(DigitKind::PatersonStockmeyer)).unwrap();
    assert_eq!(removal.degrees(), [[3, 2]]);
    let square = PrimePower::new(p, 2).unwrap();
    let mut found = Vec::new();
    for part in us.chunks(params.slots()) {
        let values: Vec<u64> = part.iter().map(|u| square.reduce_i64(*u)).collect();
        let x = scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap();
        let h = scheme.decrypt(&removal.remove(&scheme, &x, NextUse::Keep).unwrap()).unwrap();
        found.extend(h.decode_signed(&params).unwrap().into_iter().take(part.len()));
    }
    found
}

#[test]
fn the_worked_example_compares_with_the_default_set() {
    let params = everlevel_scheme::params::spec("bgv-65537-n15").unwrap();
    let bound = params.bootstrap.as_ref().unwrap().bound();
    let removal = DigitRemoval::new(
        params.plain_prime,
        bound,
        DigitMethod { kind: DigitKind::ProductTree, extra: 2 },
    )
    .unwrap();
    let values = (2 * bound + 1).pow(2);
    let weight = params.bootstrap.as_ref().unwrap().sparse_weight;
    let page = Worked::read().page;
    for row in [
        format!("| n, p | 4, 17 | {}, {} |", params.index / 2, params.plain_prime),
        format!("| h, B | 2, 1 | {weight}, {bound} |"),
        format!("| possible values of u | 9 | {values} |"),
        format!(
            "| degree of N, of b | 3, 2 | {}, {} |",
            removal.degrees()[0][0],
            removal.degrees()[0][1]
        ),
        format!("| q0 | 3469 | a prime of {} bits |", params.base_bits),
    ] {
        assert!(page.contains(&row), "{row}");
    }
}
