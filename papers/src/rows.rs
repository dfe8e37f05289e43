//! The rows that a table is asked for, the names of their records, and what is not the paper's.

use everlevel_cli::console::errors::CliError;

use crate::args::TableArgs;

/// The end of a record's name: what was asked for beside the row.
pub fn suffix(args: &TableArgs) -> String {
    let method = args.digit_removal.as_ref().map_or_else(String::new, |name| format!("-{name}"));
    let modulus = if args.own_modulus { "-own-modulus" } else { "" };
    method + modulus + if args.quick { "-quick" } else { "" }
}

/// A parameter as a table shows it: marked where the paper has another one.
pub fn marked(text: impl Into<String>, is_the_papers: bool) -> String {
    text.into() + if is_the_papers { "" } else { ", not the paper's" }
}

/// A number as a table shows it: marked where it does not round to what the paper prints.
pub fn marked_number(here: f64, paper: f64, digits: usize) -> String {
    let [here, paper] = [here, paper].map(|number| format!("{number:.digits$}"));
    let same = here == paper;
    marked(here, same)
}

/// The rows of a table of `count` that `--row` asks for, from 0.
pub fn rows(args: &TableArgs, count: usize) -> Result<Vec<usize>, CliError> {
    match args.row {
        None => Ok((0..count).collect()),
        Some(row) if (1..=count).contains(&row) => Ok(vec![row - 1]),
        Some(row) => Err(CliError::usage(format!("--row {row}: the table has rows 1 to {count}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::marked_number;

    #[test]
    fn numbers_are_marked_where_the_paper_prints_others() {
        assert_eq!(marked_number(1461.89, 1462.0, 0), "1462");
        assert_eq!(marked_number(2252.14, 2253.0, 0), "2252, not the paper's");
        assert_eq!(marked_number(63.84, 63.8, 1), "63.8");
        assert_eq!(marked_number(89.98, 63.8, 1), "90.0, not the paper's");
    }
}
