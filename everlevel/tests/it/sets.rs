//! What one parameter set refuses and another one allows: the refusal names one that does.

use everlevel::lab::{CircuitError, SchemeError};
use everlevel::{Client, Error, IntegersError, OptIn, Params, bootstrap_plan, system_rng};
use everlevel_aes::AesError;
use everlevel_scheme::params::names;

fn toy(name: &str) -> Params {
    Params::named(name, OptIn::InsecureResearch).unwrap()
}

/// Refusals by set: where little is computed as users meet them, else as they are built.
fn refusals() -> Vec<Error> {
    let mut rng = system_rng().unwrap();
    let small = Client::new(&toy("insecure_bgv-257-n8"), &mut rng);
    let square = Client::new(&toy("insecure_bfv-127e2-n8"), &mut rng);
    let mut out = vec![
        small.encrypt_modular(&[1; 129], &mut rng).unwrap_err(),
        small.encrypt_modular(&[257], &mut rng).unwrap_err(),
        bootstrap_plan(&toy("insecure_aes-m4947")).unwrap_err(),
        square.server(&mut rng).unwrap().integers().err().unwrap(),
        Params::named("insecure_bgv-257-n8", OptIn::SecureOnly).err().unwrap().into(),
    ];
    out.push(Error::from(SchemeError::NoiseOverflow {
        operation: "multiplication",
        level: everlevel::Level(0),
        noise_bits: 50.0,
        modulus_bits: 40.0,
    }));
    let circuit = [
        CircuitError::UnsupportedShape { columns: 3 },
        CircuitError::UnsupportedIndex { index: 12 },
        CircuitError::TypedOnly { column: 1, operation: "comparison" },
        CircuitError::NoBootstrapping,
        CircuitError::NotEnoughCapacity { left: 1.0, needed: 2.0 },
        CircuitError::Range { operation: "x", found: "y".into(), allowed: "z".into() },
    ];
    out.extend(circuit.map(Error::from));
    let aes = [
        AesError::NoBytes { degree: 7 },
        AesError::NoLine { sizes: vec![3] },
        AesError::PlainModulus { found: 257 },
    ];
    out.extend(aes.map(Error::from));
    let depth = IntegersError::Depth { depth: 3, left: 1.0, needed: 2.0, bootstraps: false };
    out.push(depth.into());
    out
}

#[test]
fn a_refusal_by_set_names_a_set_that_allows_it() {
    let page = include_str!("../../../docs/errors.md");
    let section = page.split("\n## Refusals by set\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut listed: Vec<[&str; 2]> = Vec::new();
    for line in section.lines().filter(|line| line.starts_with('|')).skip(2) {
        let cells: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let [code, set] = cells[..] else { panic!("{line}") };
        listed.push([code, set]);
    }
    let mut found = Vec::new();
    for refusal in refusals() {
        let told = refusal.to_string();
        let secure = names().filter(|name| !name.starts_with("insecure_"));
        let named: Vec<&str> = secure.filter(|name| told.contains(name)).collect();
        let [set] = named[..] else { panic!("{} names {named:?}: {told}", refusal.code()) };
        found.push([refusal.code(), set]);
    }
    listed.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, listed, "docs/errors.md, Refusals by set");
    // What a message says of the set that it names.
    assert_eq!(toy("bgv-786433-n16").slots(), 65536);
}
