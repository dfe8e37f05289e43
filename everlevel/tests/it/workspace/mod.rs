//! What the repository promises about itself.

mod circles;
mod facade;
mod untested;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The stack of crates, lowest first.
const STACK: [&str; 19] = [
    "everlevel-arith",
    "everlevel-ring",
    "everlevel-gpu",
    "everlevel-estimator",
    "everlevel-scheme",
    "everlevel-bgv",
    "everlevel-wire",
    "everlevel-remote",
    "everlevel-circuit",
    "everlevel-aes",
    "everlevel-integers",
    "everlevel",
    "everlevel-tables",
    "everlevel-service",
    "everlevel-web",
    "everlevel-ltv",
    "everlevel-cli",
    "everlevel-suite",
    "everlevel-papers",
];

/// What cargo knows of the workspace.
fn metadata(arguments: &[&str]) -> Vec<Value> {
    try_metadata(arguments).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The same, or what cargo says: packages of features that nobody has built are not there.
fn try_metadata(arguments: &[&str]) -> Result<Vec<Value>, String> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1", "--manifest-path", manifest])
        .args(arguments)
        .output()
        .expect("cargo metadata runs");
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
    Ok(metadata["packages"].as_array().unwrap().clone())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// (package, its dependencies inside the workspace) for dependencies that are not for development
/// only.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let inside = |p: &Value| {
        let dependencies = p["dependencies"].as_array().unwrap().iter();
        let wanted =
            dependencies.filter(|d| d["kind"].as_str() != Some("dev")).map(|d| text(&d["name"]));
        (text(&p["name"]), wanted.filter(|d| d.starts_with("everlevel")).collect())
    };
    metadata(&["--no-deps"]).iter().map(inside).collect()
}

/// The Rust files below a directory, as one text.
fn sources(directory: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(directory) else { return String::new() };
    let read = |path: PathBuf| match path.extension().is_some_and(|e| e == "rs") {
        true => std::fs::read_to_string(path).unwrap(),
        false => sources(&path),
    };
    entries.map(|e| read(e.unwrap().path())).collect()
}

#[test]
fn every_dependency_is_used() {
    for package in metadata(&["--no-deps"]) {
        let manifest = text(&package["manifest_path"]);
        let root = Path::new(&manifest).parent().unwrap();
        let library = sources(&root.join("src"));
        let tests: String =
            ["tests", "examples", "benches"].iter().map(|d| sources(&root.join(d))).collect();
        for dependency in package["dependencies"].as_array().unwrap() {
            let (name, development) = (
                text(&dependency["name"]).replace('-', "_"),
                dependency["kind"].as_str() == Some("dev"),
            );
            let used = |text: &str| {
                text.contains(&format!("{name}::")) || text.contains(&format!("use {name} "))
            };
            assert!(
                used(&library) || development && used(&tests),
                "{} does not use {name}",
                package["name"]
            );
        }
    }
}

/// The names of all packages that are compiled for a system.
fn built(host: &str, options: &[&str]) -> BTreeSet<String> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let out = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--workspace", "--edges", "all", "--prefix", "none"])
        .args(["--format", "{p}", "--target", host, "--manifest-path", manifest])
        .args(options)
        .output()
        .expect("cargo tree runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let lines = String::from_utf8(out.stdout).unwrap();
    lines.lines().filter_map(|line| line.split(' ').next()).map(String::from).collect()
}

/// The licenses that a user of everlevel can live with, and nothing that builds or links C.
#[test]
fn dependencies_are_permissive_and_rust() {
    const ALLOWED: [&str; 11] = [
        "MIT",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "Unlicense",
        "CC0-1.0",
        "MIT-0",
        "Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ];
    let version = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let version = String::from_utf8(version.stdout).unwrap();
    let host =
        version.lines().find_map(|l| l.strip_prefix("host: ")).expect("rustc names its host");
    let on_host = ["--filter-platform", host];
    // The metadata also have what a feature that nothing enables would bring.
    let checked = |packages: Vec<Value>, built: &BTreeSet<String>| {
        packages.into_iter().filter(|p| built.contains(&text(&p["name"]))).collect::<Vec<_>>()
    };
    let default = built(host, &[]);
    assert!(default.len() > 50, "dependencies are listed");
    let mut packages = checked(metadata(&on_host), &default);
    for (feature, package) in [("cluster", "postgres"), ("parquet", "parquet")] {
        assert!(!default.contains(package), "{package} is for a feature");
        let name = format!("everlevel-cli/{feature}");
        let options = ["--features", &name];
        match try_metadata(&[&on_host[..], &options].concat()) {
            Ok(more) => {
                let with_feature = built(host, &options);
                assert!(with_feature.contains(package));
                packages.extend(checked(more, &with_feature));
            }
            Err(_) => eprintln!("skipped: packages of the feature {feature} were not fetched"),
        }
    }
    for package in packages {
        let license = text(&package["license"])
            .replace(['(', ')'], "")
            .replace(" / ", " OR ")
            .replace('/', " OR ");
        // Each part that AND joins needs one choice that is allowed.
        let allowed =
            license.split(" AND ").all(|part| part.split(" OR ").any(|l| ALLOWED.contains(&l)));
        assert!(allowed, "{} is under {license}", package["name"]);
        let builds_c = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .any(|d| d["name"] == "cc" && d["kind"] == "build");
        // BLAKE3 is used in its pure form, which does not call the compiler; rayon-core links
        // nothing, it claims to be there once.
        assert!(!builds_c || package["name"] == "blake3", "{} builds C", package["name"]);
        assert!(
            package["links"].is_null() || package["name"] == "rayon-core",
            "{} links {}",
            package["name"],
            package["links"]
        );
    }
}

#[test]
fn arrows_run_one_way() {
    let arrows = arrows();
    let height = |name: &str| STACK.iter().position(|s| *s == name);
    for (package, dependencies) in &arrows {
        if package == "everlevel-testing" {
            continue;
        }
        let own = height(package).unwrap_or_else(|| {
            panic!("{package} has no place in the stack: give it one here, and say why in an ADR")
        });
        for d in dependencies {
            assert!(height(d).is_some_and(|h| h < own), "{package} must not depend on {d}");
        }
    }
    assert!(
        STACK.iter().all(|s| arrows.contains_key(*s)),
        "the stack names a crate that is not there"
    );
    assert!(
        arrows["everlevel-estimator"].is_empty(),
        "estimates are formulas: they need nothing of the library"
    );
    assert!(
        arrows["everlevel-cli"]
            .is_disjoint(&["everlevel-bgv", "everlevel-ltv"].map(String::from).into()),
        "the program reaches schemes through the facade"
    );
    assert!(
        ["everlevel-circuit", "everlevel-aes", "everlevel-integers"]
            .iter()
            .all(|c| !arrows[*c].contains("everlevel-bgv")),
        "circuits are written against traits: they know no scheme"
    );
    assert!(
        ["everlevel-scheme", "everlevel-bgv", "everlevel-circuit", "everlevel-aes"]
            .iter()
            .all(|c| !arrows[*c].contains("everlevel-arith")),
        "schemes and circuits compute through engines, not through kernels"
    );
    assert_eq!(
        arrows["everlevel-remote"],
        ["everlevel-ring", "everlevel-wire"].map(String::from).into(),
        "the client of a service knows bytes, and neither schemes nor values"
    );
    assert!(
        ["everlevel", "everlevel-circuit"].iter().all(|d| !arrows["everlevel-ltv"].contains(*d)),
        "LTV over prime powers is a scheme: it does not know what is computed on it"
    );
    // Being highest, papers are no dependency of what ships; tests and examples leave them alone.
    for package in metadata(&["--no-deps"]) {
        let dependencies = package["dependencies"].as_array().unwrap();
        assert!(
            dependencies.iter().all(|d| d["name"] != "everlevel-papers"),
            "{} depends on papers",
            package["name"]
        );
        assert!(
            dependencies.iter().all(|d| d["name"] != "everlevel-suite"),
            "{} depends on the submissions to the benchmarking suite",
            package["name"]
        );
        let published =
            package["publish"].as_array().is_none_or(|registries| !registries.is_empty());
        let ours = ["everlevel-papers", "everlevel-suite"].iter().any(|n| package["name"] == *n);
        assert!(!ours || !published, "{} is not published", package["name"]);
    }
}

/// Engines compute on polynomials. Above them only `wire`, which stores limbs, and `ltv`, which has
/// arithmetic of its own, touch limbs or call kernels.
#[test]
fn limbs_and_kernels_stay_in_engines() {
    const TOUCHES: [&str; 10] = [
        ".limbs()",
        "limbs_mut(",
        "into_limbs(",
        "from_limbs(",
        "expand_limb(",
        "forward_limb(",
        "inverse_limb(",
        "cpu::limb",
        ".kernels()",
        "kernels::",
    ];
    const MAY: [&str; 6] = [
        "everlevel-arith",
        "everlevel-ring",
        "everlevel-gpu",
        "everlevel-wire",
        "everlevel-ltv",
        "everlevel-testing",
    ];
    let mut found = BTreeSet::new();
    for package in metadata(&["--no-deps"]) {
        let name = text(&package["name"]);
        let manifest = text(&package["manifest_path"]);
        let code = sources(&Path::new(&manifest).parent().unwrap().join("src"));
        for touch in TOUCHES.into_iter().filter(|touch| code.contains(touch)) {
            assert!(MAY.contains(&name.as_str()), "{name} touches limbs or kernels by `{touch}`");
            found.insert(touch);
        }
    }
    assert!(found.iter().eq(&BTreeSet::from(TOUCHES)), "what nobody uses finds nothing: {found:?}");
}

/// Within a crate and its tests, too, files lie one above the other: no two need each other.
#[test]
fn no_import_circles() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).canonicalize().unwrap();
    let mut found = Vec::new();
    // Neither of these two is a member of the workspace.
    let mut crates = vec![root.join("python/rust"), root.join("fuzz/src")];
    assert!(crates.iter().all(|sources| sources.join("lib.rs").exists()), "{crates:?}");
    for package in metadata(&["--no-deps"]) {
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        crates.extend(["src", "tests/it"].map(|sources| manifest.with_file_name(sources)));
    }
    for sources in crates {
        let name =
            |file: PathBuf| file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        for circle in circles::circles(&sources) {
            found.push(circle.into_iter().map(name).collect::<BTreeSet<String>>());
        }
    }
    assert!(
        found.is_empty(),
        "files that need each other: import from the file that defines a name, or move what both \
         need below them: {found:#?}"
    );
}

#[test]
fn circles_are_read_from_text() {
    let directory = tempfile::tempdir().unwrap();
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use c::One;"),
        ("a/mod.rs", "pub mod low; mod inline { use super::low::One; }"),
        ("a/low.rs", r#"use crate::{b::{self, Two}, c}; const TEXT: &str = "super::super::c";"#),
        ("b.rs", "// crate::c\npub fn one() -> crate::a::low::One { 'a'; crate::a::low::new() }"),
        ("c.rs", "#[cfg(test)] mod tests { use crate::a::low::One; } pub struct One<'a>(&'a u8);"),
    ];
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let circle = ["a/low.rs", "b.rs"].map(|name| directory.path().join(name));
    assert_eq!(circles::circles(directory.path()), [circle]);
}

#[test]
fn notation_and_decisions_are_linked() {
    let index = include_str!("../../../../docs/adr/README.md");
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/adr");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name == "README.md" || index.contains(&name),
            "docs/adr/README.md does not list {name}"
        );
    }
}

/// Every name in the tables of docs/NOTATION.md is one of the code.
#[test]
fn notation_names_what_exists() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let code: String = ["crates", "everlevel/src", "cli/src", "papers/src"]
        .iter()
        .map(|d| sources(&root.join(d)))
        .collect();
    let words: BTreeSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let notation = include_str!("../../../../docs/NOTATION.md");
    let mut names = 0;
    for row in notation.lines().filter(|l| l.starts_with("| ")) {
        let cell = row.split('|').nth(2).unwrap_or_default();
        // Names stand in backticks: `Type::member`, `function(arguments)`.
        for name in cell.split('`').skip(1).step_by(2) {
            let name = name.split_once('(').map_or(name, |(name, _)| name);
            for part in
                name.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| part.len() > 1)
            {
                assert!(words.contains(part), "docs/NOTATION.md: no `{part}` in the code");
                names += 1;
            }
        }
    }
    assert!(names > 80, "{names} names");
}
