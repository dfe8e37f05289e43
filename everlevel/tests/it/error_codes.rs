//! docs/errors.md has every code, in the order of the code, and each is there once.

use std::collections::BTreeSet;
use std::path::Path;

use everlevel::lab::SchemeError;
use everlevel::{Error, IntegersError, OptIn, Params};
use everlevel_aes::AesError;
use everlevel_circuit::CircuitError;
use everlevel_circuit::expression::{ExpressionError, Program};
use everlevel_estimator::SecurityError;
use everlevel_ring::{PrimePower, RingError};
use everlevel_wire::WireError;

/// How codes of the Python package begin.
const PYTHON: [&str; 2] = ["python.", "cluster."];
/// The codes that the program gives what has none, and that of a device it was not built for.
const PROGRAM: &[&str] = &["cli.usage", "cli.failure", "cli.no-cuda"];

fn all() -> Vec<&'static str> {
    let layers = [
        everlevel_arith::ArithError::CODES,
        RingError::CODES,
        SecurityError::CODES,
        SchemeError::CODES,
        CircuitError::CODES,
        AesError::CODES,
        IntegersError::CODES,
        everlevel_tables::TablesError::CODES,
        everlevel_tables::WorkloadError::CODES,
        ExpressionError::CODES,
        WireError::CODES,
        PROGRAM,
    ];
    layers.concat()
}

#[test]
fn the_documentation_lists_all_codes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/errors.md");
    let text = std::fs::read_to_string(path).unwrap();
    let listed: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let (python, listed): (Vec<&str>, Vec<&str>) =
        listed.into_iter().partition(|code| PYTHON.iter().any(|start| code.starts_with(start)));
    // Those of the service, of stages, of the page and of devices, which their own tests compare:
    // nothing here depends on them.
    let above = ["service.", "suite.", "web.", "gpu."];
    let own = |code: &&str| !above.iter().any(|start| code.starts_with(start));
    let listed: Vec<&str> = listed.into_iter().filter(own).collect();
    assert_eq!(listed, all());
    // Those of the Python package, wherever its sources raise one.
    let python: BTreeSet<String> = python.into_iter().map(String::from).collect();
    assert_eq!(python, python_codes());
}

/// Options are the program's: the library does not know them.
#[test]
fn errors_of_the_library_name_no_options_of_the_program() {
    let insecure = Params::named("insecure_bgv-257-n8", OptIn::SecureOnly).err().unwrap();
    let no_set = everlevel::files::parse_spec("{").unwrap_err();
    for told in [insecure.to_string(), no_set.to_string()] {
        assert!(!told.contains("--") && !told.contains("`everlevel"), "{told}");
    }
    // Whatever it says, wherever: no line of code has one.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    crate::mistakes::sources(&root.join("everlevel/src"), &[".rs"], &mut files);
    for layer in std::fs::read_dir(root.join("crates")).unwrap() {
        crate::mistakes::sources(&layer.unwrap().path().join("src"), &[".rs"], &mut files);
    }
    assert!(files.len() > 200, "{}", files.len());
    // These write command lines, and options of a compiler.
    let writes =
        |path: &Path| path.ends_with("workload/lines.rs") || path.ends_with("gpu/src/compile.rs");
    for path in files.iter().filter(|path| !writes(path)) {
        let text = std::fs::read_to_string(path).unwrap();
        for (line, number) in text.lines().zip(1..) {
            let code = if line.trim_start().starts_with("//") { "" } else { line };
            let option = code.match_indices("--").any(|(at, _)| {
                let before = code[..at].chars().next_back();
                before != Some('-') && code[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
            });
            let program = code.contains("`everlevel ");
            assert!(!option && !program, "{}, line {number}: {line}", path.display());
        }
    }
}

/// The codes in the sources of the Python package.
fn python_codes() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python");
    let (mut files, mut found) = (Vec::new(), BTreeSet::new());
    for directory in ["rust", "src/everlevel"] {
        crate::mistakes::sources(&root.join(directory), &[".rs", ".py"], &mut files);
    }
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        for start in PYTHON {
            let quoted = format!("\"{start}");
            let codes = text.split(&quoted).skip(1);
            let codes = codes.filter_map(|rest| rest.split('"').next());
            found.extend(codes.map(|code| format!("{start}{code}")));
        }
    }
    found
}

#[test]
fn codes_are_words_and_differ() {
    let all = all();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    for code in all {
        let (layer, name) = code.split_once('.').unwrap();
        let words = [layer].into_iter().chain(name.split('-'));
        assert!(
            words.clone().count() >= 2
                && words
                    .into_iter()
                    .all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase())),
            "{code}"
        );
    }
}

/// What another set would allow names one, and it is there.
#[test]
fn refusals_that_are_a_sets_fault_name_another() {
    let deep = |bootstraps| {
        IntegersError::Depth { depth: 5, left: 1.0, needed: 2.0, bootstraps }.to_string()
    };
    // A server that bootstraps is the way out for one that does not.
    assert!(deep(false).contains("a server that bootstraps"), "{}", deep(false));
    assert!(!deep(true).contains("a server that bootstraps"), "{}", deep(true));
    let told = [
        deep(false),
        deep(true),
        CircuitError::NoBootstrapping.to_string(),
        CircuitError::NotEnoughCapacity { left: 1.0, needed: 2.0 }.to_string(),
        CircuitError::TypedOnly { column: 1, operation: "comparison" }.to_string(),
    ];
    for told in told {
        let words = || told.split(|c: char| c != '-' && !c.is_alphanumeric());
        assert!(words().any(|word| Params::named(word, OptIn::SecureOnly).is_ok()), "{told}");
    }
}

/// An error keeps its code on its way up.
#[test]
fn codes_are_passed_on() {
    let unknown = Params::named("none", OptIn::SecureOnly).unwrap_err();
    assert_eq!(unknown.code(), "scheme.unknown-params");
    assert_eq!(CircuitError::from(unknown.clone()).code(), "scheme.unknown-params");
    assert_eq!(WireError::from(unknown.clone()).code(), "scheme.unknown-params");
    assert_eq!(Error::from(CircuitError::from(unknown.clone())).code(), "scheme.unknown-params");
    assert_eq!(AesError::from(CircuitError::from(unknown.clone())).code(), "scheme.unknown-params");
    assert_eq!(Error::from(AesError::KeyLength { found: 3 }).code(), "aes.key-length");
    let ring = PrimePower::new(3, 0).unwrap_err();
    assert_eq!(Error::from(SchemeError::from(ring.clone())).code(), ring.code());
    assert_eq!(Program::parse("y = ").unwrap_err().code(), "expression.syntax");
}
