//! The language of programs: what it computes, and what it says of mistakes.

use std::collections::BTreeMap;
use std::sync::Arc;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::expression::{MAX_NESTING, MAX_OPERATORS, Program};
use everlevel_circuit::{CircuitError, Session};
use everlevel_scheme::{Automorphisms, NoOp, OptIn, Params, Plaintext, Scheme};

const P: i64 = 257;

struct Fixture {
    params: Params,
    auto: Session<NoOp>,
}

impl Fixture {
    fn new() -> Self {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let scheme = Arc::new(NoOp::new(&params, 1));
        let bootstrapper =
            Arc::new(Bootstrapper::new(&*scheme, BootstrapPlan::balanced(params.slots())).unwrap());
        Fixture { auto: Session::new(scheme, bootstrapper), params }
    }

    fn run(
        &self,
        text: &str,
        inputs: &[(&str, &[u64])],
    ) -> Result<BTreeMap<String, Vec<i64>>, CircuitError> {
        let encrypt = |values: &[u64]| {
            let plain = Plaintext::encode(&self.params, values).unwrap();
            self.auto.share(self.auto.scheme().encrypt(&plain).unwrap())
        };
        let inputs =
            inputs.iter().map(|(name, values)| (name.to_string(), encrypt(values))).collect();
        let out = Program::parse(text).unwrap().run(&self.auto, &inputs, &mut |_| ())?;
        let open = |x: &<NoOp as Scheme>::Ciphertext| {
            let plain = self.auto.scheme().decrypt(x).unwrap().decode(&self.params).unwrap();
            plain.into_iter().map(|v| v as i64).collect()
        };
        Ok(out.into_iter().map(|(name, x)| (name, open(&x.get()))).collect())
    }
}

#[test]
fn programs_compute_what_they_say() {
    let f = Fixture::new();
    let x: Vec<u64> = (0..f.params.slots() as u64).map(|i| (i * i + 3) % P as u64).collect();
    let z: Vec<u64> = (0..f.params.slots() as u64).map(|i| (7 * i + 1) % P as u64).collect();
    let at = |v: &[u64], i: usize| v[i] as i64;
    let each = |g: &dyn Fn(i64, i64) -> i64| {
        (0..x.len()).map(|i| g(at(&x, i), at(&z, i)).rem_euclid(P)).collect::<Vec<_>>()
    };
    let power = |x: i64, k: u32| (0..k).fold(1, |out, _| out * x % P);
    for (text, expected) in [
        ("y = x", each(&|x, _| x)),
        ("y = 3*x*(1-x)", each(&|x, _| 3 * x * (1 - x))),
        ("y = -x - -z + 300 - 1 # a remark ; y = 2\n", each(&|x, z| z - x + 299)),
        ("y = --x*--2", each(&|x, _| 2 * x)),
        ("y = 2 - x*z*x*z*x", each(&|x, z| 2 - x * z % P * x % P * z % P * x)),
        ("y = x^7 + z^1 + x^0 - 2^10", each(&|x, z| power(x, 7) + z + 1 - 1024)),
        ("y = (x + z)^2 - x^2 - z^2 - 2*x*z", each(&|_, _| 0)),
        ("y = 5 + 0*x - 9223372036854775807", each(&|_, _| 5 - i64::MAX % P)),
        ("_t = x*z; y = _t*_t", each(&|x, z| x * z % P * x % P * z)),
        ("y = -(2)^2*x", each(&|x, _| -4 * x)),
        ("y = x^256", each(&|x, _| i64::from(x != 0))),
    ] {
        let out = f.run(text, &[("x", &x), ("z", &z)]).unwrap();
        assert_eq!(out.keys().collect::<Vec<_>>(), ["y"], "{text}");
        assert_eq!(out["y"], expected, "{text}");
    }
}

/// Constants are reduced by the plaintext modulus of the inputs, in which these have to agree.
#[test]
fn inputs_of_several_moduli_are_refused() {
    let f = Fixture::new();
    let input = |exponent: u32| {
        let plain = Plaintext::encode_modulo(&f.params, &[5], exponent).unwrap();
        f.auto.share(f.auto.scheme().encrypt(&plain).unwrap())
    };
    let inputs = BTreeMap::from([("a".to_string(), input(1)), ("x".to_string(), input(2))]);
    let run = |text: &str| Program::parse(text).unwrap().run(&f.auto, &inputs, &mut |_| ());
    let error = run("y = a + 1; z = x + 300").map(|_| ()).unwrap_err();
    assert_eq!(error, CircuitError::ProgramExponent { expected: 1, found: 2 });
    // Those that a program does not read do not matter.
    let z = run("z = x + 300").unwrap()["z"].get();
    assert_eq!(f.auto.scheme().decrypt(&z).unwrap().decode(&f.params).unwrap()[0], 305);
}

#[test]
fn slots_move_and_add_up() {
    let f = Fixture::new();
    let x: Vec<u64> = (0..f.params.slots() as u64).collect();
    let columns = f.params.slot_shape().columns();
    let out = f.run(
        "a = rotate(x, 5); b = rotate(x, -3); c = swap_rows(x); d = sum(x); e = rotate(x, 1, 0); \
         f = refresh(x)",
        &[("x", &x)],
    );
    let out = out.unwrap();
    let expected = |place: &dyn Fn(usize, usize) -> (usize, usize)| {
        let slot = |i: usize| {
            let (row, column) = place(i / columns, i % columns);
            x[row * columns + column % columns] as i64
        };
        (0..x.len()).map(slot).collect::<Vec<_>>()
    };
    assert_eq!(out["a"], expected(&|r, c| (r, c + 5)));
    assert_eq!(out["b"], expected(&|r, c| (r, c + columns - 3)));
    assert_eq!(out["c"], expected(&|r, c| (1 - r, c)));
    assert_eq!(out["e"], out["c"]);
    assert_eq!(out["f"], expected(&|r, c| (r, c)));
    let total = x.iter().sum::<u64>() as i64 % P;
    assert!(out["d"].iter().all(|&v| v == total));
}

#[test]
fn depth_is_no_limit_and_powers_are_shallow() {
    let f = Fixture::new();
    // Sixty logistic maps in one program.
    let text: String = (0..60).map(|i| format!("x{} = 3*x{i}*(1 - x{i});\n", i + 1)).collect();
    let out = f.run(&text, &[("x0", &[2, 5, 100])]).unwrap();
    let expected = |start: i64| (0..60).fold(start, |x, _| (3 * x * (1 - x)).rem_euclid(P));
    assert_eq!(out["x60"][..3], [2, 5, 100].map(expected));
    assert_eq!(out.len(), 60);
    assert!(f.auto.bootstraps() > 5);

    let auto = Session::leveled(Arc::new(NoOp::new(&f.params, 1)));
    let x =
        auto.share(auto.scheme().encrypt(&Plaintext::encode(&f.params, &[3]).unwrap()).unwrap());
    for (exponent, depth) in [(1, 0), (2, 1), (5, 3), (7, 3), (8, 3), (15, 4)] {
        let program = Program::parse(&format!("y = x^{exponent}")).unwrap();
        let out =
            program.run(&auto, &BTreeMap::from([("x".into(), x.clone())]), &mut |_| ()).unwrap();
        assert_eq!(out["y"].get().meta().depth, depth, "x^{exponent}");
    }
    // Without bootstrapping, too deep a program is refused.
    let program = Program::parse(&text).unwrap();
    let error = program
        .run(&auto, &BTreeMap::from([("x0".into(), x.clone())]), &mut |_| ())
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(error, CircuitError::Scheme(everlevel_scheme::SchemeError::NoiseOverflow { .. })),
        "{error}"
    );
    let error = Program::parse("y = refresh(x)").unwrap().run(
        &auto,
        &BTreeMap::from([("x".into(), x)]),
        &mut |_| (),
    );
    assert!(matches!(error.map(|_| ()).unwrap_err(), CircuitError::NoBootstrapping));
}

#[test]
fn rotations_ask_for_keys() {
    let f = Fixture::new();
    f.run("y = rotate(x, 5) + sum(x)", &[("x", &[1, 2])]).unwrap();
    let plan = f.auto.scheme().key_plan();
    let wanted = f.params.slot_shape().rotation(5);
    assert!(plan.galois.keys().any(|(g, _)| *g == wanted));
    assert!(
        f.auto.scheme().galois_level(wanted, f.params.chain().top())
            == Some(f.params.chain().top())
    );
}

#[test]
fn inputs_and_outputs_are_told() {
    let program = Program::parse("_s = a + b\n; y = _s * c; z = y - a;").unwrap();
    assert_eq!(program.inputs().collect::<Vec<_>>(), ["a", "b", "c"]);
    for (text, moves) in [
        ("y = 3*x*(1 - x) + refresh(x)^2", false),
        ("y = x; z = -(1 + 2*sum(x))", true),
        ("y = refresh(rotate(x, 1))", true),
        ("y = (x + rotate(x, 1, 0))^3", true),
        ("y = x*swap_rows(x)", true),
    ] {
        assert_eq!(Program::parse(text).unwrap().moves_slots(), moves, "{text}");
    }
    assert_eq!(program.outputs().collect::<Vec<_>>(), ["y", "z"]);
    assert_eq!(program.len(), 3);
    let f = Fixture::new();
    let error = f.run("y = x + w", &[("x", &[1]), ("u", &[1])]).unwrap_err().to_string();
    assert!(error.contains("reads w") && error.contains("u, x"), "{error}");
}

/// What is of typed integers only parses, and is refused for values modulo p^r where it stands.
#[test]
fn typed_operations_are_refused_here() {
    let f = Fixture::new();
    for (text, column, operation) in [
        ("y = x/2", 6, "/"),
        ("y = 2*x % 3", 9, "%"),
        ("y = x + (x <= 3)", 12, "<="),
        ("y = x == 3 | x != 4", 12, "|"),
        ("y = !x", 5, "!"),
        ("y = x << 1 >> 2", 12, ">>"),
        ("y = if(x, 1, 2)", 5, "if"),
        ("y = 1 + table(x, t)", 9, "table"),
        ("y = wrap(x, u8)", 5, "wrap"),
        ("y = table(x, x + 1, t)", 5, "table"),
        ("y = nth(x, 2)", 5, "nth"),
    ] {
        match f.run(text, &[("x", &[1])]).unwrap_err() {
            CircuitError::TypedOnly { column: found, operation: name } => {
                assert_eq!((found, name), (column, operation), "{text}");
            }
            error => panic!("{text}: {error}"),
        }
    }
    let program = Program::parse("y = a + b*c & d | table(e, t) << 1; z = count(y < 3)").unwrap();
    assert_eq!(program.inputs().collect::<Vec<_>>(), ["a", "b", "c", "d", "e"]);
    assert!(program.moves_slots());
    // Names of tables and types are no inputs.
    let program = Program::parse("y = table(a, b*2, t) + cast(c, u8); z = isin(a, list)").unwrap();
    assert_eq!(program.inputs().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(!program.moves_slots());
    assert!(Program::parse("y = dot(a, w)").unwrap().moves_slots());
}

#[test]
fn mistakes_are_pointed_at() {
    let chained = format!("y = x{}", "&x".repeat(MAX_OPERATORS + 1));
    let nested = format!("y = {}x{}", "(".repeat(MAX_NESTING + 1), ")".repeat(MAX_NESTING + 1));
    for (text, column, part) in [
        ("", 1, "expected a statement"),
        ("  # nothing", 1, "expected a statement"),
        ("3*x", 1, "expected the name of a result, as in y = 2*x, found 3"),
        ("y", 2, "expected '=', found the end"),
        ("y = ", 5, "expected a number, a name or '(', found the end"),
        ("y = 3*", 7, "expected a number"),
        ("y = x x", 7, "expected an operator, ';' or the end, found 'x'"),
        ("y = (x", 7, "expected ')'"),
        ("y = x)", 6, "expected an operator"),
        ("y = wrap(x, 8)", 13, "expected the name of a type, found 8"),
        ("y = wrap(x, x, u8)", 14, "expected ')'"),
        ("y = table(x, y, z, t)", 18, "expected ')'"),
        ("y = a < x < b", 11, "do not chain"),
        ("y = a == x != b", 12, "do not chain"),
        ("y = !!x", 6, "directly before"),
        ("y = -!x", 7, "directly before"),
        ("y = !-x", 6, "expected a value after"),
        ("y = x & ", 9, "expected a number"),
        ("y = min(x)", 5, "expected 2 arguments of min, found 1"),
        ("y = if(x, 1, 2, 3)", 5, "expected 3 arguments of if, found 4"),
        ("y = table(x, 3)", 14, "expected the name of a table, found 3"),
        ("y = table(x)", 12, "expected ','"),
        ("y = 3 < 4", 1, "y is a constant"),
        (&chained, 5 + 2 * MAX_OPERATORS + 1, "operators in a statement"),
        ("y = x^-1", 7, "expected an exponent"),
        ("y = x^z", 7, "expected an exponent"),
        ("y = x^5000000000", 7, "expected an exponent from 0 to 4294967296"),
        ("y = 9223372036854775808*x", 5, "at most 9223372036854775807"),
        ("y = 12ab*x", 5, "found 12ab"),
        ("y = x é", 7, "unexpected character"),
        ("é = x", 1, "unexpected character"),
        ("y = x > 20.5", 11, "there are only integers, so scale the numbers"),
        ("y = .5*x", 5, "there are only integers"),
        ("y = x > 1 and x < 5", 11, "found 'and': write &, as in (x > 1) & (x < 5)"),
        ("y = (x < 1 OR x > 5)", 12, "found 'OR': write |, as in (x < 1) | (x > 5)"),
        ("y = not x", 5, "'not' is no operator: write !"),
        ("y = x & not x", 9, "'not' is no operator: write !"),
        ("y = not (x > 1)", 5, "there is no function not: write !, as in !(x > 1)"),
        ("y = x && z", 8, "found '&': write it once"),
        ("y = x || z", 8, "found '|': write it once"),
        ("y = x & | z", 9, "found '|'"),
        ("y = 4", 1, "y is a constant"),
        ("y = x^0", 1, "y is a constant"),
        ("y = x; y = z", 8, "y is defined twice"),
        ("y = y + 1", 1, "y is read before it is defined"),
        ("y = x; x = y", 8, "x is read before it is defined"),
        ("y = turn(x, 1)", 5, "there is no function turn: there are rotate"),
        ("y = bincount(x, 5)", 5, "write n0 = count(x == 0); n1 = count(x == 1)"),
        ("y = histogram(x)", 5, "write n0 = count(x < 10)"),
        ("y = divmod(x, 3)", 5, "write q = x / y; r = x % y"),
        ("y = rotate(x)", 5, "expected rotate(x, steps)"),
        ("y = rotate(x, 1, 2, 3)", 5, "found 4 arguments"),
        ("y = rotate(x, z)", 15, "expected an integer"),
        ("y = rotate(x, 1, -1)", 18, "expected a dimension from 0, found -1"),
        ("y = sum(x, 1)", 5, "expected sum(x)"),
        ("y = sum(3)", 9, "sum of a constant"),
        ("y = rotate", 1, ""),
        (&nested, 5 + MAX_NESTING, "nest deeper"),
    ] {
        match Program::parse(text) {
            // A name like any other.
            Ok(program) => {
                assert!(part.is_empty() && program.inputs().eq(["rotate"]), "{text} is accepted")
            }
            Err(error) => {
                assert!(error.problem.contains(part) && !part.is_empty(), "{text}: {error}");
                assert_eq!(error.column, column, "{text}: {error}");
            }
        }
    }
    // Names like any others.
    assert!(Program::parse("y = and + or*not").unwrap().inputs().eq(["and", "or", "not"]));
    let deep = format!("y = {}x{}", "(".repeat(MAX_NESTING), ")".repeat(MAX_NESTING));
    assert!(Program::parse(&deep).is_ok());
    assert!(Program::parse(&format!("y = {}x", "-".repeat(100_000))).is_ok());
    assert!(Program::parse(&"y = x;".repeat(1 << 20)).unwrap_err().problem.contains("bytes"));

    let text = "y = x;\nz = 2*turn(x)";
    assert_eq!(Program::parse(text).unwrap_err().pointer(text), "z = 2*turn(x)\n      ^");
}
