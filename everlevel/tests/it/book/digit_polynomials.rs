//! The polynomials of docs/how/digit-polynomials.md.

use std::collections::BTreeSet;

use everlevel::lab::DigitRemoval;
use everlevel_circuit::PrimePower;
use everlevel_circuit::digits::{
    DigitKind, DigitProblem, digit_polynomial, lifting_polynomial, lowest_digit_retain,
};
use everlevel_circuit::poly::Polynomial;

use super::{centered, parts, read, root};

const SUPERSCRIPTS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/// As on the page: highest power first, coefficients of least absolute value.
fn shown(f: &Polynomial) -> String {
    let mut out = String::new();
    for (k, c) in f.coefficients().iter().enumerate().rev().filter(|(_, c)| **c != 0) {
        let c = f.modulus().centered(*c);
        let sign = match (out.is_empty(), c < 0) {
            (true, false) => "",
            (true, true) => "−",
            (false, false) => " + ",
            (false, true) => " − ",
        };
        let size = if c.abs() == 1 && k > 0 { String::new() } else { c.abs().to_string() };
        let exponent: String = k
            .to_string()
            .bytes()
            .map(|d| SUPERSCRIPTS.chars().nth((d - b'0') as usize).unwrap())
            .collect();
        let power = match k {
            0 => String::new(),
            1 => "x".into(),
            _ => format!("x{exponent}"),
        };
        out += &format!("{sign}{size}{power}");
    }
    out
}

/// The coefficients of a polynomial as it is printed: (exponent, coefficient).
fn parsed(text: &str) -> Vec<(u32, i64)> {
    let text = text.replace(" + ", " ").replace(" − ", " −");
    let term = |term: &str| {
        let (sign, rest) = term.strip_prefix('−').map_or((1, term), |rest| (-1, rest));
        let (size, exponent) = match rest.split_once('x') {
            None => (rest, 0),
            Some((size, "")) => (size, 1),
            Some((size, power)) => {
                let digits = power
                    .chars()
                    .map(|c| SUPERSCRIPTS.chars().position(|s| s == c).unwrap() as u32);
                (size, digits.fold(0, |n, d| 10 * n + d))
            }
        };
        (exponent, sign * if size.is_empty() { 1 } else { size.parse::<i64>().unwrap() })
    };
    text.split(' ').map(term).collect()
}

#[test]
fn the_digit_polynomials_are_those_of_the_library() {
    let [t, square, bits] = [(5, 3), (5, 2), (2, 4)].map(|(p, e)| PrimePower::new(p, e).unwrap());
    let fifth = PrimePower::new(5, 1).unwrap();
    let [one, minus] = [square.reduce_i64(1), square.reduce_i64(-1)];
    let inverses = [0, 1, 4].map(|l| fifth.inv(fifth.sub(fifth.mul(3, l * l), 1)).unwrap());
    let expected = [
        ("F", lifting_polynomial(t).unwrap()),
        ("G", lowest_digit_retain(t).unwrap()),
        ("D", digit_polynomial(t, 1, 2).unwrap()),
        ("L", digit_polynomial(t, 1, 1).unwrap()),
        ("N", Polynomial::from_roots(square, [0, one, minus])),
        ("b", Polynomial::interpolate(fifth, &[0, 1, 4], &inverses).unwrap()),
        ("D", digit_polynomial(bits, 1, 1).unwrap()),
    ];
    let lines: Vec<String> = expected
        .iter()
        .map(|(name, f)| format!("{name}(x) = {}   modulo {}", shown(f), f.modulus().value()))
        .collect();
    let page = read(&root().join("docs/how/digit-polynomials.md"));
    let (blocks, _) = parts(&page);
    let printed: Vec<&str> = blocks
        .iter()
        .filter(|(language, _)| language == "text")
        .flat_map(|(_, body)| body.lines())
        .collect();
    assert_eq!(printed, lines, "\nexpected:\n{}", lines.join("\n"));

    // What the page claims, on all numbers, with nothing of the library's.
    let value = |line: &str, x: i64| -> i64 {
        let (_, rest) = line.split_once(" = ").unwrap();
        let (polynomial, modulus) = rest.split_once("   modulo ").unwrap();
        let modulus: i128 = modulus.parse().unwrap();
        let power = |k: u32| (0..k).fold(1, |p, _| p * i128::from(x) % modulus);
        let sum: i128 = parsed(polynomial).into_iter().map(|(k, c)| power(k) * i128::from(c)).sum();
        sum.rem_euclid(modulus) as i64
    };
    for x in 0..125i64 {
        let z = centered(x, 5);
        assert_eq!(value(printed[0], value(printed[0], x)), z.rem_euclid(125), "F twice");
        assert_eq!((value(printed[0], x) - z).rem_euclid(25), 0, "F once");
        assert_eq!([1, 2].map(|i| value(printed[i], x)), [z.rem_euclid(125); 2], "G and D");
        if z.abs() <= 1 {
            assert_eq!(value(printed[3], x), z.rem_euclid(125), "L");
            let y = (x - z) / 5;
            assert_eq!(
                (value(printed[4], x) / 5 * value(printed[5], x) - y).rem_euclid(5),
                0,
                "N and b"
            );
        }
    }
    assert!((0..16).all(|x| value(printed[6], x) == x % 2), "bits");
    let null = |x: i64| {
        (x.pow(5) - x) % 5 == 0 && (0..15).fold(1, |p, i| p * (x - i).rem_euclid(125) % 125) == 0
    };
    assert!((0..125).all(null), "null polynomials");

    // The table has every kind, and the README counts them.
    let rows = page.lines().skip_while(|line| !line.starts_with("| method |")).skip(2);
    let listed: BTreeSet<&str> = rows
        .map_while(|line| line.strip_prefix("| ")?.split(" | ").next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(listed, DigitKind::ALL.iter().map(|kind| kind.name()).collect());
    let number = ["seven", "eight", "nine", "ten", "eleven", "twelve"][DigitKind::ALL.len() - 7];
    let counted = format!("and {number} digit removals");
    assert!(read(&root().join("README.md")).contains(&counted), "README.md: {counted}");
    for method in ["halevi_shoup", "chen_han", "geelen", "geelen_composed"] {
        let removal =
            DigitRemoval::for_problem(DigitProblem::all_digits(17, 4, 2), method.parse().unwrap())
                .unwrap();
        let row = page.lines().find(|line| line.starts_with(&format!("| `{method}`"))).unwrap();
        let costs = removal.costs();
        assert!(row.ends_with(&format!("| {} | {} |", costs.depth, costs.products)), "{row}");
    }
    let ma = digit_polynomial(PrimePower::new(65537, 2).unwrap(), 1, 23).unwrap();
    assert!(page.contains(&format!("{} for B = 23", ma.degree())));
}
