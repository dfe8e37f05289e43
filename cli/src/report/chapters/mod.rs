//! The chapters of a report, from records.

mod aes;
mod bootstrapping;
mod chen_han;
mod ltv;
mod ma_et_al;
mod peers;
mod scaling;
mod security;

use std::collections::{BTreeMap, BTreeSet};

use super::model::{
    Cell, Chapter, Column, Figure, Kind, Machine, Part, Report, Summary, Table, Times,
};
use super::plan::{Job, Plan};
use super::store::{Origin, Store, Stored};
use crate::console::output::median;
use crate::plot::Plot;
use crate::plot::bars::{BarPlot, Bars};

/// The records of a plan.
pub struct Records<'a> {
    plan: &'a Plan,
    store: &'a Store,
    found: BTreeMap<&'a str, Stored>,
}

impl<'a> Records<'a> {
    /// Reads what is there.
    pub fn read(plan: &'a Plan, store: &'a Store) -> Self {
        let found = plan
            .jobs
            .iter()
            .filter_map(|job| Some((job.name.as_str(), store.find(&job.name)?)))
            .collect();
        Records { plan, store, found }
    }

    /// Whether the rings are small, so that no time compares with a paper's.
    fn quick(&self) -> bool {
        self.plan.quick
    }

    /// Those of a group, in the order of its jobs.
    fn of(&self, group: &'a str) -> impl Iterator<Item = (&'a Job, &Stored)> {
        self.plan.of(group).filter_map(|job| Some((job, self.found.get(job.name.as_str())?)))
    }

    /// A table of a group.
    fn table(
        &self,
        group: &'a str,
        title: &str,
        columns: &[Column],
        rows: Vec<Vec<Cell>>,
        notes: &[&str],
    ) -> Table {
        let origins: BTreeSet<_> =
            self.of(group).filter_map(|(_, stored)| stored.origin()).collect();
        Table {
            id: group.into(),
            title: title.into(),
            command: self.plan.command(group),
            columns: columns.to_vec(),
            rows,
            notes: notes.iter().map(|n| (*n).to_string()).collect(),
            missing: self
                .plan
                .of(group)
                .filter(|job| !self.found.contains_key(job.name.as_str()))
                .map(|job| job.name.clone())
                .collect(),
            origins: origins.into_iter().collect(),
        }
    }

    /// A note for figures that a small ring cannot share with the paper.
    fn not_comparable(&self) -> Vec<String> {
        let note = "small rings: times here do not compare with the paper's, and ratios are left \
                    out; --full has them";
        self.quick().then(|| note.to_string()).into_iter().collect()
    }

    /// The report.
    pub fn report(&self) -> Report {
        let chapters = [
            chen_han::chapter(self),
            ma_et_al::chapter(self),
            ltv::chapter(self),
            aes::chapter(self),
            bootstrapping::chapter(self),
            scaling::chapter(self),
            security::chapter(self),
        ];
        let chapters =
            chapters.into_iter().chain(peers::chapter(self.store)).filter(|c| !c.parts.is_empty());
        let chapters: Vec<Chapter> = chapters.collect();
        Report {
            quick: self.quick(),
            summary: Summary { times: times(&chapters), ..self.summary() },
            chapters,
        }
    }

    fn summary(&self) -> Summary {
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let mut machines: BTreeMap<(String, String), Vec<Origin>> = BTreeMap::new();
        let (mut checked, mut wrong) = (0, 0);
        for stored in self.found.values() {
            if let Some(directory) = &stored.elsewhere {
                *taken.entry(directory.clone()).or_default() += 1;
            }
            if let Some(origin) = stored.origin() {
                machines
                    .entry((origin.cpu.clone(), origin.cpu_flags.clone()))
                    .or_default()
                    .push(origin);
            }
            let (of_record, of_them_wrong) = verified(&stored.value);
            checked += of_record;
            wrong += of_them_wrong;
        }
        let machines = machines.into_iter().map(|((cpu, cpu_flags), origins)| {
            let all = |field: fn(&Origin) -> &str| {
                origins.iter().map(field).map(String::from).collect::<BTreeSet<_>>()
            };
            let days = all(|o| o.date.split('T').next().unwrap_or_default());
            Machine {
                cpu,
                cpu_flags,
                records: origins.len(),
                dates: [
                    days.first().cloned().unwrap_or_default(),
                    days.last().cloned().unwrap_or_default(),
                ],
                commits: all(|o| &o.commit).into_iter().collect(),
                versions: all(|o| &o.version).into_iter().collect(),
            }
        });
        // What was found wrong is told, though the record does not count.
        wrong += self
            .plan
            .jobs
            .iter()
            .filter_map(|job| self.store.find_failed(&job.name))
            .map(|v| verified(&v).1)
            .sum::<u64>();
        let missing =
            self.plan.jobs.iter().filter(|job| !self.found.contains_key(job.name.as_str()));
        let failed =
            |job: &Job| Some((job.name.clone(), self.store.journal.get(&job.name)?.error.clone()?));
        Summary {
            jobs: self.plan.jobs.len(),
            done: self.found.len(),
            taken: taken.into_iter().collect(),
            failed: missing.clone().filter_map(failed).collect(),
            missing: missing.map(|job| job.name.clone()).collect(),
            checked,
            wrong,
            times: Vec::new(),
            machines: machines.collect(),
        }
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

/// How many slots and blocks a record says were checked, and how many of them were wrong.
fn verified(record: &serde_json::Value) -> (u64, u64) {
    use super::model::Fields;
    let of = |v: &serde_json::Value, checked: &str, wrong: &str| {
        let wrong = v.at(wrong).and_then(serde_json::Value::as_u64);
        wrong.map(|w| (v.at(checked).and_then(serde_json::Value::as_u64).unwrap_or(0), w))
    };
    let whole = of(record, "verified_slots", "wrong_slots")
        .or_else(|| of(record, "blocks", "wrong_blocks"));
    whole.unwrap_or_else(|| {
        let slots = record.at("slots").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let methods = record.list("methods").iter().filter_map(|m| of(m, "", "wrong_slots"));
        methods.fold((0, 0), |(all, bad), (_, wrong)| (all + slots, bad + wrong))
    })
}

/// A plot of bars side by side, unless there is nothing in it.
fn bars(
    title: &str,
    description: &str,
    value_label: &str,
    groups: Vec<String>,
    series: Vec<Bars>,
) -> Option<BarPlot> {
    let something = series.iter().any(|s| s.values.iter().any(Option::is_some));
    something.then(|| BarPlot {
        title: title.into(),
        description: description.into(),
        value_label: value_label.into(),
        groups,
        series,
        stacked: false,
        log: false,
        marks: Vec::new(),
        totals: Vec::new(),
    })
}

/// A figure of bars.
fn figure(id: &str, command: String, notes: Vec<String>, plot: BarPlot) -> Figure {
    Figure { id: id.into(), notes, command, plot: Plot::Bars(plot) }
}

fn series(name: impl Into<String>, values: Vec<Option<f64>>) -> Bars {
    Bars { name: name.into(), values }
}

/// A count.
fn shown(number: Option<f64>) -> String {
    number.map_or_else(|| "–".into(), |n| n.to_string())
}

/// A table as a part.
fn add(chapter: &mut Chapter, table: Table) {
    chapter.parts.push(Part::Table(table));
}
