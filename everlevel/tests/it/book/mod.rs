//! The book in `docs/`: every page is listed, every path exists, every block of code is tested
//! somewhere, and the numbers of the worked example and the digit polynomials are those that
//! arithmetic and the library give. Numbers are read out of the pages; `.ci/links` follows links.

mod digit_polynomials;
mod worked_example;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// The representative of least absolute value.
fn centered(x: i64, modulus: i64) -> i64 {
    let x = x.rem_euclid(modulus);
    if 2 * x > modulus { x - modulus } else { x }
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
    let list = include_str!("../../../src/book.rs");
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
