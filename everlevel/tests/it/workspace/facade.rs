//! What the facade promises.

use std::path::{Path, PathBuf};

/// The names that the `pub use` of a text hand on, those that need the feature `unstable` left out.
fn handed_on(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = text.split("pub use ").collect();
    let promised = |pair: &&[&str]| {
        let line = pair[0].trim_end().lines().next_back().unwrap_or_default();
        !line.contains("feature = \"unstable\"")
    };
    let uses = parts.windows(2).filter(promised).filter_map(|pair| pair[1].split_once(';'));
    let names = uses.flat_map(|(path, _)| match path.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}').split(',').map(str::trim).collect(),
        None => path.rsplit("::").take(1).collect::<Vec<_>>(),
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// How many functions a text promises: public ones that do not need the feature `unstable`, alone
/// or with their whole block, whose type is handed on, or that are handed on themselves. What a
/// macro writes for several operations counts once.
fn promised_functions(text: &str, handed_on: &[&str]) -> usize {
    let (mut unstable, mut unstable_block) = (false, false);
    let mut of_type = true;
    let mut count = 0;
    let outside = |line: &str| {
        let name = line.strip_prefix("pub fn ")?.split(['(', '<']).next()?;
        Some(!handed_on.contains(&name))
    };
    for whole in text.lines() {
        let line = whole.trim_start();
        if line.starts_with("#[") {
            unstable |= line.contains("feature = \"unstable\"");
            continue;
        }
        if let Some(name) = whole.strip_prefix("impl ") {
            of_type = handed_on.contains(&name.split([' ', '<']).next().unwrap_or_default());
        } else if whole.starts_with("impl<") {
            of_type = true;
        }
        match whole {
            "}" => unstable_block = false,
            _ if whole.starts_with("impl") => unstable_block = unstable,
            _ => {}
        }
        let internal = outside(whole).unwrap_or(!of_type) || unstable_block;
        count += usize::from(!unstable && !internal && line.starts_with("pub fn "));
        unstable = false;
    }
    count
}

/// Its functions are few; those of lower crates, whose types it hands on, are not counted.
#[test]
fn the_facade_promises_few_functions() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    let root = include_str!("../../../src/lib.rs");
    let names = [handed_on(root), handed_on(include_str!("../../../src/files.rs"))].concat();
    let mut found = 0;
    let entries = |path: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    // Whether a module that is declared in a text needs the feature.
    let unstable = |text: &str, path: &Path| {
        let module = format!("mod {};", path.file_stem().unwrap().to_str().unwrap());
        text.contains(&format!("#[cfg(feature = \"unstable\")]\n{module}"))
    };
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    for path in entries(directory).into_iter().filter(|path| !unstable(root, path)) {
        let files = match path.is_dir() {
            true => {
                let parent = read(&path.join("mod.rs"));
                let own = entries(&path).into_iter();
                own.filter(|file| !unstable(&parent, file)).collect()
            }
            false => vec![path],
        };
        found += files.iter().map(|file| promised_functions(&read(file), &names)).sum::<usize>();
    }
    assert!((120..=142).contains(&found), "the facade promises {found} functions");
    let text =
        "pub fn a() {\n #[cfg(feature = \"unstable\")]\n pub fn b\n pub(crate) fn c\n pub fn d";
    assert_eq!(promised_functions(text, &["a"]), 2);
    let text = "#[must_use]\npub fn a()\npub fn c()";
    assert_eq!(promised_functions(text, &["a"]), 1);
    let text = "impl A {\n pub fn a()\n}\nimpl B {\n pub fn b()\n}\nimpl<T> C<T> {\n pub fn c()";
    assert_eq!(promised_functions(text, &["A"]), 2);
    let text = "#[cfg(feature = \"unstable\")]\nimpl A {\n pub fn a()\n}\npub fn b()";
    assert_eq!(promised_functions(text, &["A", "b"]), 1);
}

/// The facade promises little (docs/adr/0050-what-the-facade-promises.md): who needs more enables
/// `unstable` or depends on a lower crate.
#[test]
fn the_facade_stays_small() {
    let root = include_str!("../../../src/lib.rs");
    let (root, lab) = root.split_once("pub mod lab {").expect("the root has a module for research");
    for (place, text, most) in [
        ("the root", root, 60),
        ("lab", lab, 42),
        ("files", include_str!("../../../src/files.rs"), 18),
        ("remote", include_str!("../../../src/remote.rs"), 20),
    ] {
        let names = handed_on(text);
        assert!(names.len() > most / 2, "{place} has more than these: {names:?}");
        assert!(names.len() <= most, "{place} promises {} names: {names:?}", names.len());
        assert!(!names.contains(&"*"), "{place} promises all that a lower crate has");
    }
    assert_eq!(
        handed_on(
            "pub use a::b;\n#[cfg(feature = \"unstable\")]\npub use no::not;\n pub use crate::{\n \
             c, d as e,\n};"
        ),
        ["b", "c", "d as e"]
    );
}

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../../../README.md");
    let code = include_str!("../../../examples/01_hello.rs");
    let program: Vec<&str> = code.lines().skip_while(|line| line.starts_with("//!")).collect();
    assert!(
        readme.contains(program.join("\n").trim()),
        "the README's program differs from examples/01_hello.rs"
    );
}
