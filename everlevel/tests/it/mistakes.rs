//! The tables of docs/security.md name tests, and sources cite decisions: all of them exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a directory with one of these endings, build outputs left out.
pub fn sources(directory: &Path, endings: &[&str], out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules", "shared"].contains(&&*name) {
                sources(&path, endings, out);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            out.push(path);
        }
    }
}

#[test]
fn every_mistake_has_a_test() {
    let mut files = Vec::new();
    sources(&root(), &[".rs", ".py"], &mut files);
    let mut tests = BTreeSet::new();
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        for line in text.lines().map(str::trim_start) {
            let name = line.strip_prefix("fn ").or_else(|| line.strip_prefix("def test_"));
            let end = |c: char| !c.is_alphanumeric() && c != '_';
            tests.extend(name.and_then(|name| name.split(end).next()).map(String::from));
        }
    }
    let page = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let table = page.split("\n## ").find(|part| part.starts_with("Mistakes")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .map(|line| line.trim_matches('|').split(" | ").collect())
        .collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let codes = fs::read_to_string(root().join("docs/errors.md")).unwrap();
    for row in rows {
        assert_eq!(row.len(), 4, "{row:?}");
        let names: Vec<&str> = row[3].split('`').skip(1).step_by(2).collect();
        let named: Vec<&&str> = names.iter().filter(|name| !name.contains('/')).collect();
        assert!(!named.is_empty(), "no test: {row:?}");
        for name in named {
            let name = name.strip_prefix("test_").unwrap_or(name);
            assert!(tests.contains(name), "no test is called {name}: {row:?}");
        }
        // What is said has a code, unless it is no error.
        for code in row[2].split('`').skip(1).step_by(2).filter(|code| code.contains('.')) {
            let is_code = code.split('.').count() == 2 && !code.contains([' ', '/', '(']);
            assert!(!is_code || codes.contains(&format!("| `{code}` |")), "{code}: {row:?}");
        }
    }
}

#[test]
fn every_cited_decision_exists() {
    let decisions: Vec<String> = fs::read_dir(root().join("docs/adr"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let mut files = Vec::new();
    sources(&root(), &[".rs", ".py", ".md", ".toml", ".yml"], &mut files);
    let mut cited = 0;
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        for (at, mark) in ["adr/", "ADR "].iter().flat_map(|mark| text.match_indices(mark)) {
            let rest = &text[at + mark.len()..];
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if number.len() == 4 {
                cited += 1;
                assert!(
                    decisions.iter().any(|name| name.starts_with(&number)),
                    "{}: decision {number} does not exist",
                    path.display()
                );
            }
        }
    }
    assert!(cited > 50, "{cited} citations");
}
