//! The numbered examples run, on toy rings where they can choose. The first one is the README's,
//! which runs with the documentation; the 19th needs a service, with whose tests it runs.

#[path = "../../examples/07_researchers_corner.rs"]
mod a_researchers_corner;
#[path = "../../examples/06_aes_upload.rs"]
mod an_aes_upload;
#[path = "../../examples/05_comparison_and_truncation.rs"]
mod comparison_and_truncation;
#[path = "../../examples/04_encrypted_lookup.rs"]
mod encrypted_lookup;
#[path = "../../examples/16_expressions.rs"]
mod expressions;
#[path = "../../examples/02_levels_and_refresh.rs"]
mod levels_and_refresh;
#[path = "../../examples/18_planned.rs"]
mod planned;
#[path = "../../examples/03_private_statistics.rs"]
mod private_statistics;
#[path = "../../examples/17_tables_and_bits.rs"]
mod tables_and_bits;
#[path = "../../examples/08_typed_integers.rs"]
mod typed_integers;

#[test]
fn example_02() {
    levels_and_refresh::main().unwrap();
}

#[test]
fn example_03() {
    private_statistics::main().unwrap();
}

#[test]
fn example_04() {
    encrypted_lookup::main().unwrap();
}

#[test]
fn example_05() {
    comparison_and_truncation::main().unwrap();
}

#[test]
fn example_06() {
    an_aes_upload::main().unwrap();
}

#[test]
fn example_07() {
    a_researchers_corner::main().unwrap();
}

#[test]
fn example_08() {
    typed_integers::main().unwrap();
}

#[test]
fn example_16() {
    expressions::main().unwrap();
}

#[test]
fn example_17() {
    tables_and_bits::main().unwrap();
}

#[test]
fn example_18() {
    planned::main().unwrap();
}

/// Each says in its first lines what it shows and how to run it.
#[test]
fn examples_have_headers() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    // 9 to 15 are in Python only.
    let numbers: Vec<u32> = (1..=8).chain(16..=19).collect();
    assert_eq!(names.len(), numbers.len());
    for (number, name) in numbers.into_iter().zip(&names) {
        let code = std::fs::read_to_string(format!("{directory}/{name}")).unwrap();
        let header: String = code.lines().take_while(|line| line.starts_with("//!")).collect();
        let stem = name.strip_suffix(".rs").unwrap();
        assert!(
            name.starts_with(&format!("{number:02}_"))
                && header.starts_with(&format!("//! Example {number}. ")),
            "{name}"
        );
        assert!(header.contains(&format!("`cargo run --release --example {stem}`")), "{name}");
        assert!(
            include_str!("examples.rs").contains(name) || [1, 19].contains(&number),
            "{name} is not run"
        );
    }
}
