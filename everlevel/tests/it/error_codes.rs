//! docs/errors.md has every code, in the order of the code, and each is there once.

use std::collections::BTreeSet;

use everlevel::lab::SchemeError;
use everlevel::{Error, IntegersError, OptIn, Params};
use everlevel_aes::AesError;
use everlevel_circuit::CircuitError;
use everlevel_circuit::expression::{ExpressionError, Program};
use everlevel_estimator::SecurityError;
use everlevel_ring::{PrimePower, RingError};
use everlevel_wire::WireError;

/// The codes that the program gives what has none.
const PROGRAM: &[&str] = &["cli.usage", "cli.failure"];

fn all() -> Vec<&'static str> {
    let layers = [
        everlevel_arith::ArithError::CODES,
        RingError::CODES,
        SecurityError::CODES,
        SchemeError::CODES,
        CircuitError::CODES,
        AesError::CODES,
        IntegersError::CODES,
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
    assert_eq!(listed, all());
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
