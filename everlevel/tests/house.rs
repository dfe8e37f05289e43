//! What the repository promises about itself.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// The stack of crates, lowest first.
const STACK: [&str; 8] = [
    "everlevel-arith",
    "everlevel-ring",
    "everlevel-security",
    "everlevel-scheme",
    "everlevel-wire",
    "everlevel-circuit",
    "everlevel",
    "everlevel-cli",
];

/// (package, its dependencies inside the workspace) for dependencies that are not for development only.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path", manifest])
        .output()
        .expect("cargo metadata runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
    let name = |v: &Value| v["name"].as_str().unwrap().to_string();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|p| {
            let dependencies = p["dependencies"].as_array().unwrap().iter();
            let inside =
                dependencies.filter(|d| d["kind"].as_str() != Some("dev")).map(name).filter(|d| d.starts_with("everlevel"));
            (name(p), inside.collect())
        })
        .collect()
}

#[test]
fn arrows_run_one_way() {
    let arrows = arrows();
    let height = |name: &str| STACK.iter().position(|s| *s == name);
    for (package, dependencies) in &arrows {
        if package == "everlevel-testing" {
            continue;
        }
        let own = height(package)
            .unwrap_or_else(|| panic!("{package} has no place in the stack: give it one here, and say why in an ADR"));
        for d in dependencies {
            assert!(height(d).is_some_and(|h| h < own), "{package} must not depend on {d}");
        }
    }
    assert!(STACK.iter().all(|s| arrows.contains_key(*s)), "the stack names a crate that is not there");
    assert!(arrows["everlevel-security"].is_empty(), "estimates are formulas: they need nothing of the library");
    assert!(arrows["everlevel-cli"].iter().eq(["everlevel"]), "the program goes through the facade");
}

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../README.md");
    let code = include_str!("../examples/01_hello.rs");
    let program: Vec<&str> = code.lines().skip_while(|line| line.starts_with("//!")).collect();
    assert!(readme.contains(program.join("\n").trim()), "the README's program differs from examples/01_hello.rs");
}

#[test]
fn notation_and_decisions_are_linked() {
    let index = include_str!("../../docs/adr/README.md");
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/adr");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || index.contains(&name), "docs/adr/README.md does not list {name}");
    }
}
