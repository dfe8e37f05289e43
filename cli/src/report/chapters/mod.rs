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

use super::model::{Cell, Chapter, Column, Figure, Machine, Part, Report, Summary, Table};
use super::plan::{Job, Plan};
use super::store::{Store, Stored};
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
        let found = plan.jobs.iter().filter_map(|job| Some((job.name.as_str(), store.find(&job.name)?))).collect();
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
    fn table(&self, group: &'a str, title: &str, columns: &[Column], rows: Vec<Vec<Cell>>, notes: &[&str]) -> Table {
        let origins: BTreeSet<_> = self.of(group).filter_map(|(_, stored)| stored.origin()).collect();
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
        let note = "small rings: times here do not compare with the paper's, and ratios are left out; --full has them";
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
        let chapters = chapters.into_iter().chain(peers::chapter(self.store)).filter(|c| !c.parts.is_empty());
        Report { quick: self.quick(), summary: self.summary(), chapters: chapters.collect() }
    }

    fn summary(&self) -> Summary {
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let mut machines: BTreeMap<(String, String), (usize, BTreeSet<String>, BTreeSet<String>, BTreeSet<String>)> =
            BTreeMap::new();
        let (mut checked, mut wrong) = (0, 0);
        for stored in self.found.values() {
            if let Some(directory) = &stored.elsewhere {
                *taken.entry(directory.clone()).or_default() += 1;
            }
            if let Some(origin) = stored.origin() {
                let machine = machines.entry((origin.cpu, origin.cpu_flags)).or_default();
                machine.0 += 1;
                machine.1.insert(origin.date.chars().take(10).collect());
                machine.2.insert(origin.commit);
                machine.3.insert(origin.version);
            }
            let (of_record, of_them_wrong) = verified(&stored.value);
            checked += of_record;
            wrong += of_them_wrong;
        }
        let machines = machines.into_iter().map(|((cpu, cpu_flags), (records, dates, commits, versions))| Machine {
            cpu,
            cpu_flags,
            records,
            dates: [dates.first().cloned().unwrap_or_default(), dates.last().cloned().unwrap_or_default()],
            commits: commits.into_iter().collect(),
            versions: versions.into_iter().collect(),
        });
        let missing = self.plan.jobs.iter().filter(|job| !self.found.contains_key(job.name.as_str()));
        let failed = |job: &Job| Some((job.name.clone(), self.store.journal.get(&job.name)?.error.clone()?));
        Summary {
            jobs: self.plan.jobs.len(),
            done: self.found.len(),
            taken: taken.into_iter().collect(),
            failed: missing.clone().filter_map(failed).collect(),
            missing: missing.map(|job| job.name.clone()).collect(),
            checked,
            wrong,
            machines: machines.collect(),
        }
    }
}

/// How many slots and blocks a record says were checked, and how many of them were wrong.
fn verified(record: &serde_json::Value) -> (u64, u64) {
    use super::model::Fields;
    let of = |v: &serde_json::Value, checked: &str, wrong: &str| {
        let wrong = v.at(wrong).and_then(serde_json::Value::as_u64);
        wrong.map(|w| (v.at(checked).and_then(serde_json::Value::as_u64).unwrap_or(0), w))
    };
    let whole = of(record, "verified_slots", "wrong_slots").or_else(|| of(record, "blocks", "wrong_blocks"));
    whole.unwrap_or_else(|| {
        let slots = record.at("slots").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let methods = record.list("methods").iter().filter_map(|m| of(m, "", "wrong_slots"));
        methods.fold((0, 0), |(all, bad), (_, wrong)| (all + slots, bad + wrong))
    })
}

/// A plot of bars side by side, unless there is nothing in it.
fn bars(title: &str, description: &str, value_label: &str, groups: Vec<String>, series: Vec<Bars>) -> Option<BarPlot> {
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

/// A table as a part.
fn add(chapter: &mut Chapter, table: Table) {
    chapter.parts.push(Part::Table(table));
}
