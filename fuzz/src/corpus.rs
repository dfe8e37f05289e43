//! Stored inputs: a file for each corpus, with a line for each input, its name and its bytes in
//! hexadecimal.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// An input with its name.
pub type Input = (String, Vec<u8>);

fn path(corpus: &str) -> PathBuf {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut places = above.map(|directory| directory.join("fuzz/corpus"));
    let root = places.find(|place| place.is_dir()).expect("the corpora, above the tests' crate");
    root.join(format!("{corpus}.hex"))
}

fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let digit = |c: &u8| char::from(*c).to_digit(16);
    let pairs = hexadecimal.as_bytes().chunks(2);
    pairs.map(|pair| u8::try_from(digit(&pair[0])? << 4 | digit(pair.get(1)?)?).ok()).collect()
}

/// The inputs of a corpus, by name.
pub fn read(corpus: &str) -> Vec<Input> {
    let path = path(corpus);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let input = |line: &str| {
        let (name, hexadecimal) = line.split_once(' ')?;
        Some((name.to_string(), bytes(hexadecimal)?))
    };
    let inputs = text.lines().map(|line| {
        input(line).unwrap_or_else(|| panic!("{}: no name and bytes: {line}", path.display()))
    });
    let mut inputs: Vec<Input> = inputs.collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    inputs
}

/// Stores the inputs of a corpus.
pub fn write(corpus: &str, inputs: &[Input]) {
    let mut lines: Vec<String> = inputs
        .iter()
        .map(|(name, bytes)| {
            let hexadecimal = bytes.iter().fold(String::new(), |mut text, byte| {
                write!(text, "{byte:02x}").unwrap();
                text
            });
            format!("{name} {hexadecimal}\n")
        })
        .collect();
    lines.sort();
    fs::write(path(corpus), lines.concat()).unwrap();
}
