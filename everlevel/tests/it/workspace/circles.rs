//! Circles of imports: files of one crate each of which needs the others.
//!
//! This reads text, not types. A file needs the file of the longest existing module path at the
//! start of each path that begins with `crate`, `super`, `self` or one of its own submodules, in a
//! `use` or in code; the module that re-exports an item counts, the one behind it does not. What
//! only tests need is left out, and so is `mod` itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The circles among the Rust files below `src`: each with its files in order.
pub fn circles(src: &Path) -> Vec<Vec<PathBuf>> {
    let files = rust_files(src);
    let library = files.contains(&src.join("lib.rs"));
    // The root of a program beside a library is a crate by itself.
    let files = files.into_iter().filter(|file| !(library && *file == src.join("main.rs")));
    let modules: BTreeMap<Vec<String>, PathBuf> =
        files.map(|file| (module_path(file.strip_prefix(src).unwrap()), file)).collect();
    let needs: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        modules.iter().map(|(module, file)| (file, needed(module, file, &modules))).collect();
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        needs.keys().map(|&file| (file, reachable(file, &needs))).collect();
    let circle = |file: &&PathBuf| -> Vec<PathBuf> {
        let both = |other: &&&PathBuf| reached[**other].contains(*file);
        reached[*file].iter().filter(both).map(|&other| other.clone()).collect()
    };
    let found: BTreeSet<Vec<PathBuf>> = needs.keys().map(circle).filter(|c| c.len() > 1).collect();
    found.into_iter().collect()
}

/// The Rust files below a directory.
fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let below = |path: PathBuf| match path.extension().is_some_and(|e| e == "rs") {
        true => vec![path],
        false => rust_files(&path),
    };
    paths.into_iter().flat_map(below).collect()
}

/// The module that a file relative to `src` holds: none for the root of the crate.
fn module_path(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        file.with_extension("").iter().map(|part| part.to_str().unwrap().to_string()).collect();
    let root = parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str());
    if root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// The files that a module needs.
fn needed<'m>(
    module: &[String],
    file: &Path,
    modules: &'m BTreeMap<Vec<String>, PathBuf>,
) -> BTreeSet<&'m PathBuf> {
    let text = std::fs::read_to_string(file).unwrap();
    let tokens = without_visibility(without_tests(tokens(&text)));
    let owns = |name: &str| modules.contains_key(&[module, &[name.to_string()]].concat());
    let mut needed = BTreeSet::new();
    for (inline, path) in paths(&tokens, owns) {
        let mut at = [module, &inline].concat();
        for part in &path {
            match part.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => {
                    at.pop();
                }
                name => {
                    at.push(name.to_string());
                    if !modules.contains_key(&at) {
                        break;
                    }
                }
            }
        }
        while !modules.contains_key(&at) && at.pop().is_some() {}
        needed.extend(modules.get(&at).filter(|other| *other != file));
    }
    needed
}

/// The tokens but for `in` and the path of a visibility, which is no import.
fn without_visibility(tokens: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::with_capacity(tokens.len());
    let mut skipping = false;
    for token in tokens {
        let opens = token == "in" && out.ends_with(&["pub".to_string(), "(".to_string()]);
        skipping = opens || skipping && token != ")";
        if !skipping {
            out.push(token);
        }
    }
    out
}

/// Identifiers, `::` and single characters of a text, without comments and literals.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        if c == '/' && at(i + 1) == '/' {
            while i < chars.len() && chars[i] != '\n' {
                i += 1;
            }
        } else if c == '"' {
            i += 1;
            while i < chars.len() && chars[i] != '"' {
                i += if chars[i] == '\\' { 2 } else { 1 };
            }
            i += 1;
        } else if c == '\'' && (at(i + 1) == '\\' || at(i + 2) == '\'') {
            // A character, not a lifetime.
            i += if at(i + 1) == '\\' { 3 } else { 2 };
            while i < chars.len() && chars[i] != '\'' {
                i += 1;
            }
            i += 1;
        } else if c.is_alphanumeric() || c == '_' {
            let start = i;
            while at(i).is_alphanumeric() || at(i) == '_' {
                i += 1;
            }
            let word: String = chars[start..i].iter().collect();
            let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
            if ["r", "br"].contains(&word.as_str()) && at(i + hashes) == '"' {
                // A raw string ends where a quote has as many hashes.
                i += hashes + 1;
                let end = |i: usize| (1..=hashes).all(|k| at(i + k) == '#');
                while i < chars.len() && !(chars[i] == '"' && end(i)) {
                    i += 1;
                }
                i += hashes + 1;
            } else {
                tokens.push(word);
            }
        } else {
            let pair = c == ':' && at(i + 1) == ':';
            if !c.is_whitespace() {
                tokens.push(if pair { "::".into() } else { c.to_string() });
            }
            i += if pair { 2 } else { 1 };
        }
    }
    tokens
}

/// Leaves out what stands under `#[cfg(test)]`: up to a semicolon, or to the end of a block.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut i = 0;
    while i < tokens.len() {
        if !tokens[i..].iter().take(TEST.len()).eq(TEST) {
            kept.push(tokens[i].clone());
            i += 1;
            continue;
        }
        let mut depth = 0;
        while i < tokens.len() {
            match tokens[i].as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            let end = depth == 0 && [";", "}"].contains(&tokens[i].as_str());
            i += 1;
            if end {
                break;
            }
        }
    }
    kept
}

/// The paths that lead somewhere in the crate, each with the modules in braces around it; groups
/// give one path for each member.
fn paths(tokens: &[String], owns: impl Fn(&str) -> bool) -> Vec<(Vec<String>, Vec<String>)> {
    let mut paths = Vec::new();
    let (mut depth, mut inline) = (0, Vec::<(usize, String)>::new());
    for (i, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => {
                depth += 1;
                if i > 1 && tokens[i - 2] == "mod" {
                    inline.push((depth, tokens[i - 1].clone()));
                }
            }
            "}" => {
                inline.pop_if(|(opened, _)| *opened == depth);
                depth -= 1;
            }
            _ => {}
        }
        let starts = i == 0 || !["::", "."].contains(&tokens[i - 1].as_str());
        let leads = ["crate", "super", "self"].contains(&token.as_str()) || owns(token);
        if starts && leads && tokens.get(i + 1).is_some_and(|next| next == "::") {
            let names: Vec<String> = inline.iter().map(|(_, name)| name.clone()).collect();
            let mut found = Vec::new();
            tree(tokens, i, &[], &mut found);
            paths.extend(found.into_iter().map(|path| (names.clone(), path)));
        }
    }
    paths
}

/// Reads one path or group after `prefix`; returns where it ends.
fn tree(tokens: &[String], mut i: usize, prefix: &[String], paths: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(i) {
        match token.as_str() {
            "{" => {
                i += 1;
                while tokens.get(i).is_some_and(|t| t != "}") {
                    i = tree(tokens, i, &path, paths).max(i + 1);
                    while tokens.get(i).is_some_and(|t| t != "," && t != "}") {
                        i += 1;
                    }
                    i += usize::from(tokens.get(i).is_some_and(|t| t == ","));
                }
                return i + 1;
            }
            name if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                path.push(name.to_string());
                i += 1;
                if tokens.get(i).is_none_or(|t| t != "::") {
                    break;
                }
                i += 1;
            }
            _ => break,
        }
    }
    paths.push(path);
    i
}

/// What a file leads to, over any number of others.
fn reachable<'m>(
    file: &'m PathBuf,
    needs: &BTreeMap<&'m PathBuf, BTreeSet<&'m PathBuf>>,
) -> BTreeSet<&'m PathBuf> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        open.extend(needs[file].iter().copied().filter(|next| reached.insert(*next)));
    }
    reached
}
