//! What cargo is told not to test has nothing to be tested.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::workspace::{metadata, sources, text};

/// The libraries of the workspace that cargo is told not to test in this way, with their sources.
fn untested(way: &str) -> Vec<(String, Value, String)> {
    let mut found = Vec::new();
    for package in metadata(&["--no-deps"]) {
        for target in package["targets"].as_array().unwrap() {
            let path = text(&target["src_path"]);
            if Path::new(&path).ends_with("src/lib.rs") && target[way] == false {
                let code = sources(Path::new(&path).parent().unwrap());
                found.push((text(&package["name"]), target.clone(), code));
            }
        }
    }
    found
}

/// Whether rustdoc would test a part of this code: a block in a comment of documentation that names
/// no other language than Rust, or one that is indented, or a page that is read as documentation.
fn has_examples(code: &str) -> bool {
    const OTHERS: [&str; 6] = ["csv", "json", "sh", "sql", "text", "toml"];
    // Whether the line before is one of a fenced block, and whether a paragraph can begin here.
    let (mut fenced, mut begins) = (false, true);
    for line in code.lines().map(str::trim_start) {
        if line.starts_with("#[doc = ") || line.starts_with("#![doc = ") {
            return true;
        }
        let Some(line) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            (fenced, begins) = (false, true);
            continue;
        };
        let words = line.trim();
        if words.starts_with("```") || words.starts_with("~~~") {
            fenced = !fenced;
            if fenced && !OTHERS.contains(&words.trim_start_matches(['`', '~']).trim()) {
                return true;
            }
        } else if !fenced && begins && !words.is_empty() && line.starts_with("     ") {
            return true;
        }
        begins = words.is_empty();
    }
    false
}

/// A library that is not compiled for tests of its own has none, which nobody would run; its
/// documentation is tested as others are.
#[test]
fn libraries_that_are_not_tested_have_no_tests() {
    let mut names = BTreeSet::new();
    for (name, library, code) in untested("test") {
        for test in ["#[cfg(test)]", "#[test]"] {
            assert!(!code.contains(test), "{name} has {test}, which is not compiled");
        }
        assert_eq!(library["doctest"], true, "{name}");
        names.insert(name);
    }
    assert!(names.contains("everlevel"), "{names:?}");
}

/// A library whose documentation is not tested has no examples there.
#[test]
fn libraries_without_tested_documentation_have_no_examples() {
    let mut names = BTreeSet::new();
    for (name, _, code) in untested("doctest") {
        assert!(
            !has_examples(&code),
            "the documentation of {name} has an example that nobody tests: leave `doctest = false` \
             out of its Cargo.toml, or name another language after the fence"
        );
        names.insert(name);
    }
    assert!(names.contains("everlevel-ring"), "{names:?}");
}

#[test]
fn examples_are_found_in_documentation() {
    for code in [
        "/// ```\n/// let x = 1;\n/// ```",
        "    //! ```no_run\n    //! x();\n    //! ```",
        "/// ~~~rust\n/// x();\n/// ~~~",
        "/// Text.\n///\n///     x();",
        "/// ```text\n/// a\n/// ```\n///\n/// ```\n/// x();\n/// ```",
        "#[doc = include_str!(\"page.md\")]",
    ] {
        assert!(has_examples(code), "{code}");
    }
    for code in [
        "/// ```text\n/// a\n///\n///     b\n/// ```\nfn x() {}",
        "/// - One,\n///     and more of it.",
        "// ```\n//     x();\nlet y = \"```\";",
    ] {
        assert!(!has_examples(code), "{code}");
    }
}
