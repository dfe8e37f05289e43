//! One name for one thing on the command line, and help that shows how it is used.

use std::collections::{BTreeMap, BTreeSet};

use clap::Command;
use everlevel_cli::commands::command;

use crate::common::{page_rows, success};

/// All commands, each with the names that lead to it.
fn commands() -> Vec<(String, Command)> {
    fn walk(command: &Command, path: &str, out: &mut Vec<(String, Command)>) {
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            let path = format!("{path} {}", below.get_name()).trim().to_string();
            out.push((path.clone(), below.clone()));
            walk(below, &path, out);
        }
    }
    // So that commands know the options that all of them have.
    let mut root = command();
    root.build();
    let mut out = vec![(String::new(), root.clone())];
    walk(&root, "", &mut out);
    out
}

/// The commands that do something by themselves.
pub fn runnable() -> Vec<(String, Command)> {
    let runs = |of: &Command| !of.has_subcommands() || of.is_args_conflicts_with_subcommands_set();
    commands().into_iter().filter(|(_, of)| runs(of)).collect()
}

#[test]
fn an_option_has_one_name_one_value_and_one_meaning() {
    let page = include_str!("../../../docs/use/command-line.md");
    let mut listed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in page_rows(page, "\n## Options\n") {
        let row: Vec<String> = row.iter().map(|cell| cell.replace('`', "")).collect();
        let option = row[0].trim_start_matches("--").to_string();
        let values = row[1].split(", ").filter(|v| !v.is_empty()).map(String::from).collect();
        assert!(listed.insert(option, values).is_none(), "{} has two rows", row[0]);
        assert!(!row[2].is_empty(), "{} has no meaning", row[0]);
    }
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, command) in commands() {
        for argument in command.get_arguments() {
            let Some(long) = argument.get_long() else { continue };
            if ["help", "version"].contains(&long) {
                continue;
            }
            let values = found.entry(long.into()).or_default();
            if argument.get_action().takes_values() {
                values.extend(argument.get_value_names().unwrap_or_default().iter().map(|name| {
                    assert!(!name.is_empty(), "{path} --{long}");
                    name.to_string()
                }));
            }
        }
    }
    assert_eq!(found, listed, "docs/use/command-line.md, Options");
}

/// The words of a line of a shell, in which only single quotes quote.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        match i % 2 {
            0 => out.extend(part.split_whitespace().map(String::from)),
            _ => out.push(part.into()),
        }
    }
    out
}

#[test]
fn help_ends_with_examples_that_are_commands() {
    let runnable: BTreeSet<String> = runnable().into_iter().map(|(path, _)| path).collect();
    for (path, of) in commands() {
        let runs = runnable.contains(&path);
        for long in [false, true] {
            let mut of = of.clone();
            let help = if long { of.render_long_help() } else { of.render_help() }.to_string();
            let Some((_, examples)) = help.rsplit_once("\nExample") else {
                assert!(!runs, "{path}: its help has no example");
                continue;
            };
            let examples: Vec<&str> = examples.lines().skip(1).map(str::trim).collect();
            assert!((1..=3).contains(&examples.len()), "{path}: {examples:?}");
            for example in examples {
                let mut words = words(example);
                words.truncate(words.iter().position(|w| w == ">").unwrap_or(words.len()));
                assert!(
                    words.join(" ").starts_with(&format!("everlevel {path}")),
                    "{path}: {example}"
                );
                if let Err(e) = command().try_get_matches_from(&words) {
                    panic!("{example}: {e}");
                }
            }
        }
    }
}

#[test]
fn shells_and_manuals_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(success(&["completions", shell]).contains("transcipher"), "{shell}");
    }
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("man");
    success(&["man", "--out", pages.to_str().unwrap()]);
    let page = std::fs::read_to_string(pages.join("everlevel-aes-transcipher.1")).unwrap();
    assert!(page.contains("first counter block"), "{page}");
}
