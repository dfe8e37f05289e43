//! Records and queue of several processes in a PostgreSQL database.
//!
//! The database alone decides the state: its clock ends leases, its locks serialize the changes of
//! a tenant, and a claim is a number that it increases.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use everlevel_remote::{JobId, Tenant};
use r2d2_postgres::postgres::fallible_iterator::FallibleIterator;
use r2d2_postgres::postgres::{self, Client, Config, GenericClient, NoTls, Row};
use r2d2_postgres::r2d2::{self, NopErrorHandler};
use r2d2_postgres::{PostgresConnectionManager, postgres::types::ToSql};

use super::backend::{
    Backend, Claim, Counted, Kept, LIST_BYTES, Leases, Part, Progress, QueuedJob, Transaction, Work,
};
use super::connection::{CONNECT_TIME, checked, failed, pair, refused, told, unavailable};
use super::paired::Paired;
use super::schema::{Unusable, prepare};
use crate::database::Database;
use crate::error::ServiceError;

/// The largest number of connections of a process, in addition to one that listens.
const CONNECTIONS: u32 = 8;
/// The longest time between two checks of claims and of changes.
const PERIOD: Duration = Duration::from_secs(1);
/// A number that distinguishes the locks of tenants from those of other programs in the same
/// database.
const SEED: i64 = 0x65_76_65_72_6c_65_76;

type Manager = PostgresConnectionManager<NoTls>;
type Pooled = r2d2::PooledConnection<Manager>;

pub(super) struct Postgres {
    pool: r2d2::Pool<Manager>,
    config: Config,
    lease: Duration,
    listener: Mutex<Option<Client>>,
}

struct Changing<'t> {
    tenant: &'t str,
    transaction: postgres::Transaction<'t>,
    /// Whether other processes have to check the queue.
    queue_changed: bool,
}

impl Postgres {
    /// Connects, creates the tables if they do not exist, and checks that the database belongs to
    /// the storage of the bytes.
    pub(super) fn open(
        database: &Database,
        place: &dyn Paired,
        has_bytes: bool,
    ) -> Result<Self, ServiceError> {
        let config = checked(database)?;
        let mut client = config.connect(NoTls).map_err(|e| {
            refused(format!("cannot connect: {}: look at the connection string", told(&e)))
        })?;
        prepare(&mut client, |found| pair(place, has_bytes, found)).map_err(|e| match e {
            Unusable::Database(e) => refused(format!("its tables cannot be made: {}", told(&e))),
            Unusable::Refused(problem) => refused(problem),
            Unusable::Service(e) => e,
        })?;
        let pool = r2d2::Pool::builder()
            .max_size(CONNECTIONS)
            .min_idle(Some(0))
            .connection_timeout(CONNECT_TIME)
            .error_handler(Box::new(NopErrorHandler))
            .build(Manager::new(config.clone(), NoTls))
            .map_err(|e| ServiceError::internal("its database")(&e))?;
        Ok(Postgres { pool, config, lease: database.lease, listener: Mutex::default() })
    }

    fn client(&self) -> Result<Pooled, ServiceError> {
        self.pool.get().map_err(|e| unavailable(&e))
    }

    fn lease_seconds(&self) -> f64 {
        self.lease.as_secs_f64()
    }

    fn listening(&self) -> Result<Client, postgres::Error> {
        let mut client = self.config.connect(NoTls)?;
        client.batch_execute("LISTEN everlevel_queue")?;
        Ok(client)
    }
}

fn get(
    client: &mut impl GenericClient,
    kind: &str,
    tenant: &str,
    name: &str,
) -> Result<Option<Vec<u8>>, ServiceError> {
    const QUERY: &str =
        "SELECT value FROM everlevel_records WHERE kind = $1 AND tenant = $2 AND name = $3";
    let found = client.query_opt(QUERY, &[&kind, &tenant, &name]).map_err(failed)?;
    Ok(found.map(|row| row.get(0)))
}

fn list(
    client: &mut impl GenericClient,
    kind: &str,
    tenant: &str,
) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
    const QUERY: &str = "SELECT name, value FROM everlevel_records WHERE kind = $1 AND tenant = $2
        ORDER BY name COLLATE \"C\"";
    let found = client.query(QUERY, &[&kind, &tenant]).map_err(failed)?;
    Ok(found.iter().map(|row| (row.get(0), row.get(1))).collect())
}

fn list_after(
    client: &mut impl GenericClient,
    kind: &str,
    tenant: &str,
    after: &str,
    most: usize,
) -> Result<Part, ServiceError> {
    // Records are in it whose predecessors have fewer bytes than end it.
    const QUERY: &str = "SELECT name, value FROM (
            SELECT name, value, sum(length(value)) OVER (ORDER BY name COLLATE \"C\") AS bytes
            FROM everlevel_records
            WHERE kind = $1 AND tenant = $2 AND name COLLATE \"C\" > $3
        ) AS records
        WHERE bytes - length(value) < $4 ORDER BY name COLLATE \"C\" LIMIT $5";
    // One more tells whether there are more.
    let limit = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
    let found = client
        .query(QUERY, &[&kind, &tenant, &after, &(LIST_BYTES as i64), &limit])
        .map_err(failed)?;
    let mut found: Vec<(String, Vec<u8>)> =
        found.iter().map(|row| (row.get(0), row.get(1))).collect();
    let bytes: usize = found.iter().map(|(_, value)| value.len()).sum();
    let more = found.len() > most || bytes >= LIST_BYTES;
    found.truncate(most);
    Ok((found, more))
}

fn queued(client: &mut impl GenericClient, tenant: &str) -> Result<Vec<QueuedJob>, ServiceError> {
    const QUERY: &str = "SELECT job, fence, attempts,
            leased_until IS NOT NULL AND leased_until >= clock_timestamp(), cancelled,
            stage, done, total
        FROM everlevel_queue WHERE tenant = $1 ORDER BY job COLLATE \"C\"";
    let found = client.query(QUERY, &[&tenant]).map_err(failed)?;
    found.iter().map(queued_job).collect()
}

fn queued_job(row: &Row) -> Result<QueuedJob, ServiceError> {
    Ok(QueuedJob {
        job: row.get::<_, &str>(0).parse()?,
        fence: row.get::<_, i64>(1) as u64,
        attempts: row.get::<_, i32>(2) as u32,
        computed: row.get(3),
        cancelled: row.get(4),
        progress: Progress {
            stage: row.get(5),
            done: row.get::<_, i64>(6) as u64,
            total: row.get::<_, i64>(7) as u64,
        },
    })
}

impl Backend for Postgres {
    fn get(
        &self,
        kind: &str,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<Vec<u8>>, ServiceError> {
        get(&mut *self.client()?, kind, tenant.as_ref(), name)
    }

    fn list(&self, kind: &str, tenant: &Tenant) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
        list(&mut *self.client()?, kind, tenant.as_ref())
    }

    fn list_after(
        &self,
        kind: &str,
        tenant: &Tenant,
        after: &str,
        most: usize,
    ) -> Result<Part, ServiceError> {
        list_after(&mut *self.client()?, kind, tenant.as_ref(), after, most)
    }

    fn tenants(&self) -> Result<Vec<Tenant>, ServiceError> {
        const QUERY: &str = "SELECT DISTINCT tenant FROM everlevel_records";
        let found = self.client()?.query(QUERY, &[]).map_err(failed)?;
        found.iter().map(|row| Ok(row.get::<_, &str>(0).parse()?)).collect()
    }

    fn queued(&self, tenant: &Tenant) -> Result<Vec<QueuedJob>, ServiceError> {
        queued(&mut *self.client()?, tenant.as_ref())
    }

    fn change(&self, tenant: &Tenant, work: Work<'_>) -> Result<(), ServiceError> {
        const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, $2))";
        let (mut client, tenant) = (self.client()?, tenant.as_ref());
        let mut transaction = client.transaction().map_err(failed)?;
        transaction.execute(LOCK, &[&tenant, &SEED]).map_err(failed)?;
        let mut changing = Changing { tenant, transaction, queue_changed: false };
        work(&mut changing)?;
        if changing.queue_changed {
            changing.execute("SELECT pg_notify('everlevel_queue', '')", &[])?;
        }
        changing.transaction.commit().map_err(failed)
    }

    fn claim(&self) -> Result<Option<Claim>, ServiceError> {
        const CLAIM: &str = "WITH first AS (
                SELECT q.tenant, q.job
                FROM everlevel_queue q LEFT JOIN everlevel_turns t ON t.tenant = q.tenant
                WHERE q.leased_until IS NULL OR q.leased_until < clock_timestamp()
                ORDER BY coalesce(t.turn, 0), q.place LIMIT 1
                FOR UPDATE OF q SKIP LOCKED
            ), turn AS (
                INSERT INTO everlevel_turns (tenant, turn)
                SELECT tenant, nextval('everlevel_turn') FROM first
                ON CONFLICT (tenant) DO UPDATE SET turn = excluded.turn
            )
            UPDATE everlevel_queue q
            SET fence = q.fence + 1, attempts = q.attempts + 1,
                leased_until = clock_timestamp() + $1::float8 * interval '1 second',
                stage = '', done = 0, total = 0
            FROM first WHERE q.tenant = first.tenant AND q.job = first.job
            RETURNING q.tenant, q.job, q.fence, q.attempts, q.cancelled";
        let found = self.client()?.query_opt(CLAIM, &[&self.lease_seconds()]).map_err(failed)?;
        let claim = |row: Row| {
            Ok(Claim {
                tenant: row.get::<_, &str>(0).parse()?,
                job: row.get::<_, &str>(1).parse()?,
                fence: row.get::<_, i64>(2) as u64,
                attempts: row.get::<_, i32>(3) as u32,
                cancelled: row.get(4),
            })
        };
        found.map(claim).transpose()
    }

    fn counted(&self) -> Result<Counted, ServiceError> {
        const QUERY: &str = "SELECT count(*) FILTER (WHERE leased_until >= clock_timestamp()),
                count(*)
            FROM everlevel_queue";
        let row = self.client()?.query_one(QUERY, &[]).map_err(failed)?;
        let (computed, all) = (row.get::<_, i64>(0) as u64, row.get::<_, i64>(1) as u64);
        Ok(Counted { waiting: all - computed, computed })
    }

    fn leases(&self) -> Option<&dyn Leases> {
        Some(self)
    }
}

impl Leases for Postgres {
    fn period(&self) -> Duration {
        PERIOD.min(self.lease / 4)
    }

    fn keep(&self, claim: &Claim, progress: &Progress) -> Result<Kept, ServiceError> {
        const KEEP: &str = "UPDATE everlevel_queue
            SET leased_until = clock_timestamp() + $1::float8 * interval '1 second',
                stage = $2, done = $3, total = $4
            WHERE tenant = $5 AND job = $6 AND fence = $7
            RETURNING cancelled";
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let (tenant, job): (&str, &str) = (claim.tenant.as_ref(), claim.job.as_ref());
        let (done, total) = (whole(progress.done), whole(progress.total));
        let (seconds, fence) = (self.lease_seconds(), whole(claim.fence));
        let values: [&(dyn ToSql + Sync); 7] =
            [&seconds, &progress.stage, &done, &total, &tenant, &job, &fence];
        let found = self.client()?.query_opt(KEEP, &values).map_err(failed)?;
        Ok(match found.map(|row| row.get(0)) {
            None => Kept::Lost,
            Some(true) => Kept::Cancelled,
            Some(false) => Kept::Yes,
        })
    }

    fn wait(&self, most: Duration) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if listener.is_none() {
            *listener = self.listening().ok();
        }
        let told = listener.as_mut().map(|client| {
            let mut notifications = client.notifications();
            let first = notifications.timeout_iter(most).next()?;
            // One look is enough for all that has come.
            while notifications.iter().next()?.is_some() {}
            Ok::<_, postgres::Error>(first)
        });
        if !matches!(told, Some(Ok(_))) {
            // The next one connects anew.
            *listener = None;
            std::thread::sleep(most);
        }
    }
}

impl Changing<'_> {
    fn execute(
        &mut self,
        query: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, ServiceError> {
        self.transaction.execute(query, values).map_err(failed)
    }
}

impl Transaction for Changing<'_> {
    fn get(&mut self, kind: &str, name: &str) -> Result<Option<Vec<u8>>, ServiceError> {
        get(&mut self.transaction, kind, self.tenant, name)
    }

    fn list(&mut self, kind: &str) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
        list(&mut self.transaction, kind, self.tenant)
    }

    fn list_after(&mut self, kind: &str, after: &str, most: usize) -> Result<Part, ServiceError> {
        list_after(&mut self.transaction, kind, self.tenant, after, most)
    }

    fn put(&mut self, kind: &str, name: &str, value: &[u8]) -> Result<(), ServiceError> {
        const PUT: &str = "INSERT INTO everlevel_records (kind, tenant, name, value)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, tenant, name) DO UPDATE SET value = excluded.value";
        let tenant = self.tenant;
        self.execute(PUT, &[&kind, &tenant, &name, &value]).map(drop)
    }

    fn remove(&mut self, kind: &str, name: &str) -> Result<(), ServiceError> {
        const REMOVE: &str =
            "DELETE FROM everlevel_records WHERE kind = $1 AND tenant = $2 AND name = $3";
        let tenant = self.tenant;
        self.execute(REMOVE, &[&kind, &tenant, &name]).map(drop)
    }

    fn queued(&mut self) -> Result<Vec<QueuedJob>, ServiceError> {
        queued(&mut self.transaction, self.tenant)
    }

    fn enqueue(&mut self, job: &JobId) -> Result<(), ServiceError> {
        const ENQUEUE: &str = "INSERT INTO everlevel_queue (tenant, job) VALUES ($1, $2)";
        let (tenant, job): (&str, &str) = (self.tenant, job.as_ref());
        self.queue_changed = true;
        self.execute(ENQUEUE, &[&tenant, &job]).map(drop)
    }

    fn dequeue(&mut self, job: &JobId, fence: u64) -> Result<bool, ServiceError> {
        const DEQUEUE: &str =
            "DELETE FROM everlevel_queue WHERE tenant = $1 AND job = $2 AND fence = $3";
        let (tenant, job): (&str, &str) = (self.tenant, job.as_ref());
        self.queue_changed = true;
        Ok(self.execute(DEQUEUE, &[&tenant, &job, &(fence as i64)])? == 1)
    }

    fn give_back(&mut self, job: &JobId, fence: u64) -> Result<(), ServiceError> {
        const GIVE_BACK: &str = "UPDATE everlevel_queue
            SET leased_until = NULL, attempts = greatest(attempts - 1, 0)
            WHERE tenant = $1 AND job = $2 AND fence = $3";
        let (tenant, job): (&str, &str) = (self.tenant, job.as_ref());
        self.queue_changed = true;
        self.execute(GIVE_BACK, &[&tenant, &job, &(fence as i64)]).map(drop)
    }

    fn cancel(&mut self, job: &JobId) -> Result<(), ServiceError> {
        const CANCEL: &str =
            "UPDATE everlevel_queue SET cancelled = true WHERE tenant = $1 AND job = $2";
        let (tenant, job): (&str, &str) = (self.tenant, job.as_ref());
        self.queue_changed = true;
        self.execute(CANCEL, &[&tenant, &job]).map(drop)
    }
}
