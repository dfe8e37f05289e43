//! How the main figures changed from commit to commit, on each machine.

use std::collections::BTreeMap;

use everlevel_cli::plot::{Join, LinePlot, Series};
use serde::Deserialize;

use crate::report::model::{Cell, Chapter, Figure, Kind, Part, Table, column};
use crate::report::parts::add;
use crate::report::plot::Plot;

const DATA: &str = include_str!("../../../data/history.json");

#[derive(Deserialize)]
struct History {
    releases: Vec<Release>,
    figures: Vec<Measured>,
}

#[derive(Deserialize)]
struct Release {
    name: String,
    date: String,
}

/// A figure over time.
#[derive(Deserialize)]
struct Measured {
    id: String,
    title: String,
    /// How it is measured today.
    command: String,
    points: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    machine: String,
    /// Of the commit.
    date: String,
    commit: String,
    seconds: f64,
    /// Where it is recorded.
    source: String,
}

pub fn chapter() -> Chapter {
    let mut chapter = Chapter::new(
        "history",
        "History",
        "History of the main figures",
        &["What the repository recorded of its main figures, on one thread. Lines join \
           measurements on one machine: those of different machines do not compare, and single \
           figures vary by a tenth."],
    );
    // A test reads the file.
    let Ok(history) = serde_json::from_str::<History>(DATA) else { return chapter };
    chapter.parts.extend(history.figures.iter().map(|m| Part::Figure(figure(&history, m))));
    add(&mut chapter, table(&history));
    chapter
}

/// Days since 1970-01-01 of a date such as 2026-11-20, by the calendar of 400 years.
fn day(date: &str) -> Option<i64> {
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    // Years begin in March, so that leap days are at their ends.
    let year = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

fn first_date(history: &History) -> &str {
    let dates = history.figures.iter().flat_map(|m| &m.points).map(|p| p.date.as_str());
    dates.min().unwrap_or_default()
}

fn figure(history: &History, measured: &Measured) -> Figure {
    let first = first_date(history);
    let start = day(first).unwrap_or_default();
    let x = |date: &str| day(date).map_or(f64::NAN, |day| (day - start) as f64);
    let mut machines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for point in &measured.points {
        machines.entry(&point.machine).or_default().push((x(&point.date), point.seconds));
    }
    let series = machines.into_iter().map(|(name, points)| Series {
        name: name.into(),
        points,
        join: Join::Straight,
    });
    let plot = LinePlot {
        title: measured.title.clone(),
        description: format!("seconds on one thread by the day of the commit, from {first} on"),
        x_label: format!("days since {first}, by the date of the commit"),
        y_label: "seconds".into(),
        log: [false, false],
        series: series.collect(),
        spans: history.releases.iter().map(|r| (x(&r.date), format!("to {}", r.name))).collect(),
    };
    Figure {
        id: format!("fig-history-{}", measured.id),
        notes: Vec::new(),
        command: measured.command.clone(),
        plot: Plot::Line(plot),
    }
}

fn table(history: &History) -> Table {
    let row = |(title, point): (&str, &Point)| {
        vec![
            Cell::text(title),
            Cell::text(point.machine.as_str()),
            Cell::text(point.date.as_str()),
            Cell::text(point.commit.as_str()),
            Cell::number(Some(point.seconds)),
            Cell::text(point.source.as_str()),
        ]
    };
    let points =
        history.figures.iter().flat_map(|m| m.points.iter().map(|point| (m.title.as_str(), point)));
    Table {
        id: "history-points".into(),
        title: "Every point and where it is recorded".into(),
        command: String::new(),
        columns: vec![
            column("", "what", Kind::Text),
            column("", "machine", Kind::Text),
            column("", "commit of", Kind::Text),
            column("", "commit", Kind::Text),
            column("", "seconds", Kind::Here),
            column("", "source", Kind::Text),
        ],
        rows: points.map(row).collect(),
        notes: vec!["The points are in papers/data/history.json.".into()],
        missing: Vec::new(),
        origins: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        serde_json::from_str(DATA).expect("papers/data/history.json is readable")
    }

    #[test]
    fn dates_are_days() {
        assert_eq!(day("1970-01-01"), Some(0));
        assert_eq!(day("2000-03-01"), Some(11_017));
        assert_eq!(day("2024-02-29"), Some(19_782));
        let days = day("2026-12-01").zip(day("2026-11-20"));
        assert_eq!(days.map(|(a, b)| a - b), Some(11));
        assert_eq!((day("2026-11"), day("today")), (None, None));
    }

    #[test]
    fn points_name_machine_commit_and_source_in_the_order_of_time() {
        let history = history();
        for figure in &history.figures {
            assert!(figure.points.len() > 1 && !figure.command.is_empty(), "{}", figure.id);
            let mut last: BTreeMap<&str, i64> = BTreeMap::new();
            for point in &figure.points {
                let date = day(&point.date).expect(&point.date);
                let before = last.insert(&point.machine, date);
                assert!(
                    before.is_none_or(|before| before <= date),
                    "{}: {}",
                    figure.id,
                    point.date
                );
                let hex = point.commit.chars().all(|c| c.is_ascii_hexdigit());
                assert!(hex && point.commit.len() >= 7, "{}", point.commit);
                assert!(point.seconds > 0.0 && !point.source.is_empty(), "{}", figure.id);
            }
        }
        let releases = history.releases.windows(2);
        assert!(releases.map(|r| (day(&r[0].date), day(&r[1].date))).all(|(a, b)| a < b));
    }

    #[test]
    fn each_point_is_drawn_and_listed() {
        let history = history();
        let points: usize = history.figures.iter().map(|m| m.points.len()).sum();
        let chapter = chapter();
        let (mut drawn, mut listed) = (0, 0);
        for part in &chapter.parts {
            match part {
                Part::Figure(Figure { plot: Plot::Line(plot), .. }) => {
                    let finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
                    drawn += plot.series.iter().flat_map(|s| &s.points).filter(finite).count();
                }
                Part::Figure(_) => panic!("bars"),
                Part::Table(table) => listed += table.rows.len(),
            }
        }
        assert_eq!((drawn, listed), (points, points));
        assert_eq!(chapter.parts.len(), history.figures.len() + 1);
    }
}
