//! The levels at which typed columns are encrypted.

use std::collections::BTreeMap;

use everlevel::{Level, Params, Type};
use everlevel_tables::did_you_mean;

use crate::console::errors::CliError;

/// `age=120,income=64`: the levels of columns that are among those of these types; none for an
/// empty text.
pub fn parsed(text: &str, types: &[(String, Type)]) -> Result<BTreeMap<String, Level>, CliError> {
    let names = || types.iter().map(|(name, _)| name.as_str());
    let mut out = BTreeMap::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let found = part.split_once('=');
        let found = found.map(|(name, level)| (name.trim(), level.trim().parse::<usize>()));
        let Some((name, Ok(level))) = found else {
            return Err(CliError::usage(format!(
                "--levels: expected NAME=LEVEL, as `plan` prints it, separated by commas, found \
                 {part:?}"
            )));
        };
        if !names().any(|known| known == name) {
            return Err(CliError::usage(format!(
                "--levels: --types has no column {name}{}",
                did_you_mean(name, names())
            )));
        }
        if out.insert(name.to_string(), Level(level)).is_some() {
            return Err(CliError::usage(format!("--levels: {name} is given twice")));
        }
    }
    Ok(out)
}

/// Refuses levels that a set does not have.
pub fn check(levels: &BTreeMap<String, Level>, params: &Params) -> Result<(), CliError> {
    let top = params.chain().top();
    match levels.iter().find(|(_, level)| **level > top) {
        None => Ok(()),
        Some((name, level)) => Err(CliError::usage(format!(
            "--levels: {name}={level}: {} has the levels 0 to {top}",
            params.name()
        ))
        .with_code("scheme.bad-level")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::typed;

    #[test]
    fn levels_are_read() {
        let types = typed::types("age=u8,pay=u16").unwrap();
        let found = parsed("pay=7, age = 0", &types).unwrap();
        let expected = [("age", Level(0)), ("pay", Level(7))];
        let expected = expected.map(|(name, level)| (name.to_string(), level));
        assert_eq!(found, BTreeMap::from(expected));
        assert!(parsed("", &types).unwrap().is_empty());
        for text in ["age", "age=", "age=-1", "age=x", "pays=1", "age=1,age=1", "age=1,"] {
            assert!(parsed(text, &types).is_err(), "{text}");
        }
    }
}
