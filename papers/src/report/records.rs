//! The records of a plan, and what they say together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::job::Job;
use super::model::{Cell, Column, Fields, Machine, Summary, Table};
use super::plan::Plan;
use super::store::{Origin, Store, Stored};

/// The records of a plan.
pub struct Records<'a> {
    /// The jobs.
    pub plan: &'a Plan,
    /// What is there.
    pub store: &'a Store,
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
    pub fn quick(&self) -> bool {
        self.plan.quick
    }

    /// Those of a group, in the order of its jobs.
    pub fn of(&self, group: &'a str) -> impl Iterator<Item = (&'a Job, &Stored)> {
        self.plan.of(group).filter_map(|job| Some((job, self.found.get(job.name.as_str())?)))
    }

    /// A table of a group.
    pub fn table(
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
    pub fn not_comparable(&self) -> Vec<String> {
        let note = "small rings: times here do not compare with the paper's, and ratios are left \
                    out; --full has them";
        self.quick().then(|| note.to_string()).into_iter().collect()
    }

    /// What was done; the ratios of tables are not among it.
    pub fn summary(&self) -> Summary {
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
            .map(|v| verified(v).1)
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

/// How many slots and blocks a record says were checked, and how many of them were wrong.
fn verified(record: &Value) -> (u64, u64) {
    let of = |v: &Value, checked: &str, wrong: &str| {
        let wrong = v.at(wrong).and_then(Value::as_u64);
        wrong.map(|w| (v.at(checked).and_then(Value::as_u64).unwrap_or(0), w))
    };
    let whole = of(record, "verified_slots", "wrong_slots")
        .or_else(|| of(record, "blocks", "wrong_blocks"));
    whole.unwrap_or_else(|| {
        let slots = record.at("slots").and_then(Value::as_u64).unwrap_or(0);
        let methods = record.list("methods").iter().filter_map(|m| of(m, "", "wrong_slots"));
        methods.fold((0, 0), |(all, bad), (_, wrong)| (all + slots, bad + wrong))
    })
}
