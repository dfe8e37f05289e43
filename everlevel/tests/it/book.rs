//! The book in `docs/`: every page is listed, every link leads somewhere, every block of code is
//! tested somewhere, and the numbers of the worked example and the digit polynomials are those that
//! arithmetic and the library give. Numbers are read out of the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use everlevel::lab::{DigitRemoval, NoOp};
use everlevel::{NextUse, OptIn, Params, Plaintext};
use everlevel_circuit::PrimePower;
use everlevel_circuit::digits::{
    DigitKind, DigitMethod, DigitProblem, digit_polynomial, lifting_polynomial, lowest_digit_retain,
};
use everlevel_circuit::poly::Polynomial;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every page below `docs/`, sorted.
fn pages() -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![root().join("docs")], Vec::new());
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => open.push(path),
                Some(extension) if extension == "md" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    assert!(found.len() > 40, "{} pages", found.len());
    found
}

/// The fenced blocks of a page, with the language of each, and the text without them.
fn parts(text: &str) -> (Vec<(String, String)>, String) {
    let (mut blocks, mut prose) = (Vec::new(), String::new());
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => open = Some((language.trim().into(), String::new())),
            (None, Some((_, body))) => *body += &format!("{line}\n"),
            (None, None) => prose += &format!("{line}\n"),
        }
    }
    assert!(open.is_none(), "a block without an end");
    (blocks, prose)
}

/// What stands in round brackets after square ones.
fn links(prose: &str) -> Vec<&str> {
    prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// The anchors of the headings, as web sites make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let (_, prose) = parts(text);
    let slug = |heading: &str| -> String {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    prose.lines().filter(|line| line.starts_with('#')).map(slug).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    let others = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "python/README.md"]
        .map(|name| root().join(name));
    for page in pages().into_iter().chain(others) {
        let text = read(&page);
        let (_, prose) = parts(&text);
        for link in links(&prose).into_iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            let known = anchor.is_empty() || anchors(&read(&target)).contains(anchor);
            assert!(known, "{}: {link}: no such heading", page.display());
            checked += 1;
        }
    }
    assert!(checked > 150, "{checked} links");
}

/// Paths in the chapters, which people follow without a link.
#[test]
fn every_path_in_a_chapter_exists() {
    let mut checked = 0;
    for page in pages() {
        let chapter = page.strip_prefix(root().join("docs")).unwrap();
        if !["use", "choose", "how", "contribute"].iter().any(|part| chapter.starts_with(part)) {
            continue;
        }
        let (_, prose) = parts(&read(&page));
        for name in prose.split('`').skip(1).step_by(2) {
            let ours = ["crates/", "everlevel/", "cli/", "python/", "docs/", "papers/", ".ci/"]
                .iter()
                .any(|d| name.starts_with(d));
            if ours && !name.contains(' ') {
                assert!(root().join(name).exists(), "{}: {name}", chapter.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 60, "{checked} paths");
}

#[test]
fn the_summary_lists_every_page_once() {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    let listed = links(&summary);
    for name in &listed {
        assert!(docs.join(name).exists(), "docs/SUMMARY.md lists {name}, which does not exist");
        assert_eq!(
            listed.iter().filter(|other| *other == name).count(),
            1,
            "docs/SUMMARY.md lists {name} twice"
        );
    }
    for page in pages() {
        let name = page.strip_prefix(&docs).unwrap().to_str().unwrap().to_string();
        assert!(
            name == "SUMMARY.md" || listed.contains(&&*name),
            "docs/{name} is not in docs/SUMMARY.md"
        );
    }
}

/// Rust by doctests, shell by `.ci/book`, Python by python/tests/test_book.py; the rest is for
/// reading.
#[test]
fn every_block_of_code_is_tested_somewhere() {
    let list = include_str!("../../src/book.rs");
    let mut counts = BTreeMap::<String, usize>::new();
    for page in pages() {
        let name = page.strip_prefix(root()).unwrap().to_str().unwrap().to_string();
        let (blocks, _) = parts(&read(&page));
        for (language, body) in blocks {
            match &*language {
                "rust" => {
                    assert!(
                        list.contains(&format!("\"../../{name}\"")),
                        "{name} has Rust and is not in everlevel/src/book.rs"
                    )
                }
                "sh" => assert!(!body.trim().is_empty(), "{name}: an empty block"),
                "python" | "text" | "json" | "toml" => {}
                // What it looks like in another library.
                "cpp" | "go" if name.starts_with("docs/porting/") => {}
                other => panic!(
                    "{name}: a block of {other:?}: expected rust, sh, python, text, json or toml"
                ),
            }
            *counts.entry(language).or_default() += 1;
        }
    }
    assert!(["rust", "sh", "python"].iter().all(|language| counts[*language] >= 3), "{counts:?}");
}

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

/// The representative of least absolute value.
fn centered(x: i64, modulus: i64) -> i64 {
    let x = x.rem_euclid(modulus);
    if 2 * x > modulus { x - modulus } else { x }
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

/// The picture is an image by itself, and has words for those who do not see it.
#[test]
fn the_picture_is_complete() {
    let picture = read(&root().join("docs/how/bootstrapping.svg"));
    assert!(
        picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")
            && picture.trim_end().ends_with("</svg>")
    );
    assert!(["<title", "<desc", "role=\"img\""].iter().all(|part| picture.contains(part)));
    assert!(!picture.contains("<script") && !picture.contains("href="), "nothing is fetched");
    for tag in ["g", "rect", "text", "path", "defs", "marker", "title", "desc"] {
        let count = |text: &str| picture.matches(text).count();
        let opened = count(&format!("<{tag} ")) + count(&format!("<{tag}>"));
        let closed = count(&format!("</{tag}>"));
        assert!(opened >= closed && opened > 0, "{tag}");
    }
}
