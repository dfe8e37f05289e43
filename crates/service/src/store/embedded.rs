//! Records and queue of one process in one file.

use std::collections::{BTreeSet, HashMap};
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use everlevel_remote::{JobId, Tenant};
use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, Table, TableDefinition,
    WriteTransaction,
};
use serde::{Deserialize, Serialize};

use super::backend::{
    Backend, Claim, Counted, LIST_BYTES, Leases, Part, Progress, QueuedJob, Transaction, Work,
};
use crate::error::ServiceError;

type Definition = TableDefinition<'static, &'static str, &'static [u8]>;
type Open<'t> = Table<'t, &'static str, &'static [u8]>;

/// `kind/tenant/name` to JSON.
const RECORDS: Definition = TableDefinition::new("records");
/// `tenant/job` to a place in JSON.
const QUEUE: Definition = TableDefinition::new("queue");

/// Advice if the records are lost.
pub(crate) const RESTORE: &str = "restore it from a backup, or move objects, uploads and tables \
                                  out of the directory to begin anew";

/// A job in the queue.
#[derive(Serialize, Deserialize)]
struct Place {
    order: u64,
    fence: u64,
    attempts: u32,
    computed: bool,
    cancelled: bool,
}

impl Place {
    fn of(self, job: JobId) -> QueuedJob {
        let Place { fence, attempts, computed, cancelled, .. } = self;
        QueuedJob { job, fence, attempts, computed, cancelled, progress: Progress::default() }
    }
}

/// State that is lost when the process ends.
#[derive(Default)]
struct Turns {
    /// When a tenant had its last turn.
    last: HashMap<Tenant, u64>,
    turn: u64,
}

pub(crate) struct Embedded {
    database: Database,
    turns: Mutex<Turns>,
}

struct Changing<'t> {
    tenant: &'t Tenant,
    records: Open<'t>,
    queue: Open<'t>,
}

fn failed(e: impl Into<redb::Error>) -> ServiceError {
    ServiceError::internal("its store")(&e.into())
}

fn key(kind: &str, tenant: &Tenant, name: &str) -> String {
    format!("{kind}/{tenant}/{name}")
}

fn parsed(bytes: &[u8]) -> Result<Place, ServiceError> {
    serde_json::from_slice(bytes).map_err(|e| ServiceError::internal("its store")(&e))
}

/// The keys that begin with a prefix, without it.
fn under(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    prefix: &str,
) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
    let mut found = Vec::new();
    for entry in table.range(prefix..).map_err(failed)? {
        let (key, value) = entry.map_err(failed)?;
        let Some(rest) = key.value().strip_prefix(prefix) else { break };
        found.push((rest.to_string(), value.value().to_vec()));
    }
    Ok(found)
}

/// Some of the keys that begin with a prefix, without it: those after a name.
fn part_under(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    prefix: &str,
    after: &str,
    most: usize,
) -> Result<Part, ServiceError> {
    let (first, mut found, mut bytes) = (format!("{prefix}{after}"), Vec::new(), 0);
    for entry in table.range(first.as_str()..).map_err(failed)? {
        let (key, value) = entry.map_err(failed)?;
        let Some(rest) = key.value().strip_prefix(prefix) else { break };
        if rest == after {
            continue;
        }
        if found.len() >= most || bytes >= LIST_BYTES {
            return Ok((found, true));
        }
        let value = value.value().to_vec();
        bytes += value.len();
        found.push((rest.to_string(), value));
    }
    Ok((found, false))
}

fn queued(
    queue: &impl ReadableTable<&'static str, &'static [u8]>,
    tenant: &Tenant,
) -> Result<Vec<QueuedJob>, ServiceError> {
    let found = under(queue, &format!("{tenant}/"))?.into_iter();
    found.map(|(job, place)| Ok(parsed(&place)?.of(job.parse()?))).collect()
}

fn store(queue: &mut Open<'_>, key: &str, place: &Place) -> Result<(), ServiceError> {
    let text = serde_json::to_vec(place).map_err(|e| ServiceError::internal("its store")(&e))?;
    queue.insert(key, text.as_slice()).map_err(failed)?;
    Ok(())
}

impl Embedded {
    /// The store in a file, which is created if it does not exist. A second process is refused.
    pub(crate) fn open(path: &Path) -> Result<Self, ServiceError> {
        // The database panics on some files that were cut off.
        let opened = catch_unwind(|| Database::create(path));
        let problem = match opened {
            Ok(Ok(database)) => return Self::begin(database),
            Ok(Err(DatabaseError::DatabaseAlreadyOpen)) => {
                "another process has it open: a directory is for one service".to_string()
            }
            Ok(Err(e)) => format!("expected the records of a service, found {e}: {RESTORE}"),
            Err(_) => format!("expected the records of a service, found a part of them: {RESTORE}"),
        };
        Err(ServiceError::State { path: path.display().to_string(), problem })
    }

    /// Releases all jobs: whatever computed them has ended with the earlier process.
    fn begin(database: Database) -> Result<Self, ServiceError> {
        let transaction = database.begin_write().map_err(failed)?;
        {
            transaction.open_table(RECORDS).map_err(failed)?;
            let mut queue = transaction.open_table(QUEUE).map_err(failed)?;
            for (key, place) in under(&queue, "")? {
                let place = parsed(&place)?;
                if place.computed {
                    store(&mut queue, &key, &Place { computed: false, ..place })?;
                }
            }
        }
        transaction.commit().map_err(failed)?;
        Ok(Embedded { database, turns: Mutex::default() })
    }

    /// Claims a job in a transaction, which has to be committed if a job is found.
    fn claim_in(&self, transaction: &WriteTransaction) -> Result<Option<Claim>, ServiceError> {
        let mut queue = transaction.open_table(QUEUE).map_err(failed)?;
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = Vec::new();
        for (key, place) in under(&queue, "")? {
            let place = parsed(&place)?;
            let (tenant, job) = key.split_once('/').unwrap_or_default();
            let (tenant, job) = (tenant.parse::<Tenant>()?, job.parse::<JobId>()?);
            if !place.computed {
                let rank = (turns.last.get(&tenant).copied(), place.order);
                waiting.push((rank, key, tenant, job, place));
            }
        }
        let first = waiting.into_iter().min_by_key(|(rank, ..)| *rank);
        let Some((_, key, tenant, job, place)) = first else { return Ok(None) };
        let (fence, attempts) = (place.fence + 1, place.attempts + 1);
        store(&mut queue, &key, &Place { fence, attempts, computed: true, ..place })?;
        turns.turn += 1;
        let turn = turns.turn;
        turns.last.insert(tenant.clone(), turn);
        Ok(Some(Claim { tenant, job, fence, attempts, cancelled: place.cancelled }))
    }
}

impl Backend for Embedded {
    fn get(
        &self,
        kind: &str,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<Vec<u8>>, ServiceError> {
        let records = self.database.begin_read().map_err(failed)?;
        let records = records.open_table(RECORDS).map_err(failed)?;
        let found = records.get(key(kind, tenant, name).as_str()).map_err(failed)?;
        Ok(found.map(|value| value.value().to_vec()))
    }

    fn list(&self, kind: &str, tenant: &Tenant) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
        let records = self.database.begin_read().map_err(failed)?;
        under(&records.open_table(RECORDS).map_err(failed)?, &key(kind, tenant, ""))
    }

    fn list_after(
        &self,
        kind: &str,
        tenant: &Tenant,
        after: &str,
        most: usize,
    ) -> Result<Part, ServiceError> {
        let records = self.database.begin_read().map_err(failed)?;
        let records = records.open_table(RECORDS).map_err(failed)?;
        part_under(&records, &key(kind, tenant, ""), after, most)
    }

    fn tenants(&self) -> Result<Vec<Tenant>, ServiceError> {
        let records = self.database.begin_read().map_err(failed)?;
        let records = records.open_table(RECORDS).map_err(failed)?;
        let mut found = BTreeSet::new();
        for entry in records.iter().map_err(failed)? {
            let (key, _) = entry.map_err(failed)?;
            found.insert(key.value().split('/').nth(1).unwrap_or_default().parse()?);
        }
        Ok(found.into_iter().collect())
    }

    fn queued(&self, tenant: &Tenant) -> Result<Vec<QueuedJob>, ServiceError> {
        let queue = self.database.begin_read().map_err(failed)?;
        queued(&queue.open_table(QUEUE).map_err(failed)?, tenant)
    }

    fn change(&self, tenant: &Tenant, work: Work<'_>) -> Result<(), ServiceError> {
        let transaction = self.database.begin_write().map_err(failed)?;
        {
            let records = transaction.open_table(RECORDS).map_err(failed)?;
            let queue = transaction.open_table(QUEUE).map_err(failed)?;
            work(&mut Changing { tenant, records, queue })?;
        }
        transaction.commit().map_err(failed)
    }

    fn claim(&self) -> Result<Option<Claim>, ServiceError> {
        let transaction = self.database.begin_write().map_err(failed)?;
        let found = self.claim_in(&transaction)?;
        match found {
            Some(_) => transaction.commit().map_err(failed)?,
            // Nothing has to go to the disk.
            None => transaction.abort().map_err(failed)?,
        }
        Ok(found)
    }

    fn counted(&self) -> Result<Counted, ServiceError> {
        let queue = self.database.begin_read().map_err(failed)?;
        let places = under(&queue.open_table(QUEUE).map_err(failed)?, "")?;
        let mut counted = Counted::default();
        for (_, place) in places {
            match parsed(&place)?.computed {
                true => counted.computed += 1,
                false => counted.waiting += 1,
            }
        }
        Ok(counted)
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}

impl Changing<'_> {
    /// Changes a place in the queue, if it exists.
    fn place(
        &mut self,
        job: &JobId,
        change: impl FnOnce(&Place) -> Option<Place>,
    ) -> Result<(), ServiceError> {
        let key = format!("{}/{job}", self.tenant);
        let found = self.queue.get(key.as_str()).map_err(failed)?;
        let found = found.map(|value| parsed(value.value())).transpose()?;
        match found.as_ref().and_then(change) {
            Some(place) => store(&mut self.queue, &key, &place),
            None => Ok(()),
        }
    }
}

impl Transaction for Changing<'_> {
    fn get(&mut self, kind: &str, name: &str) -> Result<Option<Vec<u8>>, ServiceError> {
        let found = self.records.get(key(kind, self.tenant, name).as_str()).map_err(failed)?;
        Ok(found.map(|value| value.value().to_vec()))
    }

    fn list(&mut self, kind: &str) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
        under(&self.records, &key(kind, self.tenant, ""))
    }

    fn list_after(&mut self, kind: &str, after: &str, most: usize) -> Result<Part, ServiceError> {
        part_under(&self.records, &key(kind, self.tenant, ""), after, most)
    }

    fn put(&mut self, kind: &str, name: &str, value: &[u8]) -> Result<(), ServiceError> {
        self.records.insert(key(kind, self.tenant, name).as_str(), value).map_err(failed)?;
        Ok(())
    }

    fn remove(&mut self, kind: &str, name: &str) -> Result<(), ServiceError> {
        self.records.remove(key(kind, self.tenant, name).as_str()).map_err(failed)?;
        Ok(())
    }

    fn queued(&mut self) -> Result<Vec<QueuedJob>, ServiceError> {
        queued(&self.queue, self.tenant)
    }

    fn enqueue(&mut self, job: &JobId) -> Result<(), ServiceError> {
        let mut order = 0;
        for (_, place) in under(&self.queue, "")? {
            order = order.max(parsed(&place)?.order + 1);
        }
        let place = Place { order, fence: 0, attempts: 0, computed: false, cancelled: false };
        store(&mut self.queue, &format!("{}/{job}", self.tenant), &place)
    }

    fn dequeue(&mut self, job: &JobId, fence: u64) -> Result<bool, ServiceError> {
        let key = format!("{}/{job}", self.tenant);
        let found = self.queue.get(key.as_str()).map_err(failed)?;
        let found = found.map(|value| parsed(value.value())).transpose()?;
        if found.is_none_or(|place| place.fence != fence) {
            return Ok(false);
        }
        self.queue.remove(key.as_str()).map_err(failed)?;
        Ok(true)
    }

    fn give_back(&mut self, job: &JobId, fence: u64) -> Result<(), ServiceError> {
        self.place(job, |place| {
            let Place { order, attempts, cancelled, .. } = *place;
            let attempts = attempts.saturating_sub(1);
            let back = Place { order, fence, attempts, computed: false, cancelled };
            Some(back).filter(|_| place.fence == fence)
        })
    }

    fn cancel(&mut self, job: &JobId) -> Result<(), ServiceError> {
        self.place(job, |place| {
            let Place { order, fence, attempts, computed, .. } = *place;
            Some(Place { order, fence, attempts, computed, cancelled: true })
        })
    }
}
