//! The chapters of a report, from records.

mod aes;
mod bootstrapping;
mod chen_han;
mod history;
mod ltv;
mod ma_et_al;
mod methods;
mod peers;
mod scaling;
mod security;
mod soak;

use everlevel_cli::console::output::median;

use super::model::{Chapter, Kind, Part, Report, Summary, Times};
use super::records::Records;

/// The report on some records.
pub fn report(records: &Records<'_>) -> Report {
    let chapters = [
        chen_han::chapter(records),
        ma_et_al::chapter(records),
        ltv::chapter(records),
        aes::chapter(records),
        bootstrapping::chapter(records),
        scaling::chapter(records),
        history::chapter(),
        soak::chapter(records),
        security::chapter(records),
    ];
    let chapters = chapters.into_iter().chain(peers::chapter(records.store));
    let chapters: Vec<Chapter> = chapters.filter(|c| !c.parts.is_empty()).collect();
    Report {
        quick: records.quick(),
        summary: Summary { times: times(&chapters), ..records.summary() },
        chapters,
    }
}

/// The ratios of time in tables.
fn times(chapters: &[Chapter]) -> Vec<Times> {
    let tables = chapters.iter().flat_map(|c| {
        let tables = c
            .parts
            .iter()
            .filter_map(|part| if let Part::Table(table) = part { Some(table) } else { None });
        tables.map(move |table| (c, table))
    });
    let mut found = Vec::new();
    for (chapter, table) in tables {
        for (i, column) in table
            .columns
            .iter()
            .enumerate()
            .filter(|(_, c)| c.kind == Kind::Ratio && c.group.contains("seconds"))
        {
            let mut ratios: Vec<f64> = table.rows.iter().filter_map(|row| row[i].value).collect();
            ratios.sort_by(f64::total_cmp);
            if let (Some(least), Some(most)) = (ratios.first(), ratios.last()) {
                found.push(Times {
                    id: table.id.clone(),
                    what: format!("{}, {}", chapter.short, table.title),
                    of: format!("{}, {}", column.group, column.label),
                    count: ratios.len(),
                    ratios: [*least, median(&ratios), *most],
                });
            }
        }
    }
    found
}
