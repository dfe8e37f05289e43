//! Doröz–Hu–Sunar 2014: tables 1 to 7.

mod aes;
mod bkz;
mod chapter;
mod experiment;
mod keys;
mod noise;
mod parameters;
mod runs;
pub mod sets;
mod timing;

use everlevel_cli::console::args::{Common, value_name};
use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::{emit, emit_json};
use serde::Serialize;

use crate::args::{LtvTable, TableArgs};
use crate::{record, rows};
pub use aes::{log2_q_of_paper, seconds_by_windows, seconds_of_paper};
use chapter::Chapter;
pub use runs::degree;

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    chapter: &'a Chapter,
    circumstances: Circumstances,
}

/// Prints a table, and writes it to `--out`.
pub fn run(which: LtvTable, args: &TableArgs, common: &Common) -> Result<(), CliError> {
    let mut chapter = match which {
        LtvTable::Table1 => parameters::table_1(),
        LtvTable::Table2 => parameters::table_2()?,
        LtvTable::Table3 => parameters::table_3()?,
        LtvTable::Table4 => noise::table_4(),
        LtvTable::Table5 => aes::table_5(args.out.as_deref())?,
        LtvTable::Table6 => keys::table_6(args.out.as_deref())?,
        LtvTable::Table7 => keys::table_7()?,
    };
    if args.row.is_some() {
        let count = chapter.figures.iter().map(|f| f.row).max().unwrap_or(0);
        let wanted = rows::rows(args, count)?;
        chapter.figures.retain(|f| wanted.contains(&(f.row - 1)));
    }
    if let Some(directory) = &args.out {
        let row = args.row.map_or_else(String::new, |row| format!("-row-{row}"));
        let record = Record { chapter: &chapter, circumstances: Circumstances::now() };
        record::write(directory, &format!("ltv-{}{row}", value_name(&which)), &record)?;
    }
    if common.json { emit_json(&chapter) } else { emit(&chapter::text(&chapter)) }
}
