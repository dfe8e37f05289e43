//! The tables of a database, and their migration from earlier versions.

use everlevel_remote::random_hex;
use r2d2_postgres::postgres::{self, Client};

use crate::error::ServiceError;

/// The lock that is held while the tables are created or changed: `everlev` in ASCII.
const LOCK: i64 = 0x65_76_65_72_6c_65_76;

/// The migrations from each version to the next; new ones are added at the end. `everlevel_store`
/// does not change, so that every version can tell which one it has found.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE everlevel_records (
        kind text NOT NULL,
        tenant text NOT NULL,
        name text NOT NULL,
        value bytea NOT NULL,
        PRIMARY KEY (kind, tenant, name)
    );
    CREATE TABLE everlevel_queue (
        place bigint GENERATED ALWAYS AS IDENTITY,
        tenant text NOT NULL,
        job text NOT NULL,
        fence bigint NOT NULL DEFAULT 0,
        attempts integer NOT NULL DEFAULT 0,
        leased_until timestamptz,
        cancelled boolean NOT NULL DEFAULT false,
        stage text NOT NULL DEFAULT '',
        done bigint NOT NULL DEFAULT 0,
        total bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (tenant, job)
    );
    CREATE TABLE everlevel_turns (tenant text PRIMARY KEY, turn bigint NOT NULL);
    CREATE SEQUENCE everlevel_turn;
"];

/// The state of a database.
pub(super) struct Found {
    pub(super) id: String,
    /// Whether it is linked to a directory.
    pub(super) paired: bool,
    /// Whether it has no records, because nothing was stored or because they are lost.
    pub(super) empty: bool,
}

/// The reason why tables cannot be used.
pub(super) enum Unusable {
    Database(postgres::Error),
    Refused(String),
    Service(ServiceError),
}

impl From<postgres::Error> for Unusable {
    fn from(e: postgres::Error) -> Self {
        Unusable::Database(e)
    }
}

/// Creates the tables, or migrates them to this version; only one process does so at a time.
fn make(client: &mut Client) -> Result<(), Unusable> {
    let mut transaction = client.transaction()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    let known = transaction.query_one("SELECT to_regclass('everlevel_store') IS NOT NULL", &[])?;
    if !known.get::<_, bool>(0) {
        let id = random_hex::<16>().map_err(|e| Unusable::Service(e.into()))?;
        transaction.batch_execute(
            "CREATE TABLE everlevel_store (
                one boolean PRIMARY KEY DEFAULT true CHECK (one),
                version integer NOT NULL,
                id text NOT NULL,
                paired boolean NOT NULL DEFAULT false
            )",
        )?;
        transaction.execute("INSERT INTO everlevel_store (version, id) VALUES (0, $1)", &[&id])?;
    }
    let row = transaction.query_one("SELECT version FROM everlevel_store", &[])?;
    let version = usize::try_from(row.get::<_, i32>(0)).unwrap_or(usize::MAX);
    let newest = MIGRATIONS.len();
    let Some(missing) = MIGRATIONS.get(version..) else {
        return Err(Unusable::Refused(format!(
            "expected tables of version {newest} or older, found {version}: update this program"
        )));
    };
    for migration in missing {
        transaction.batch_execute(migration)?;
    }
    transaction.execute("UPDATE everlevel_store SET version = $1", &[&(newest as i32)])?;
    Ok(transaction.commit()?)
}

/// Creates the tables, and passes the state to `pair`, whose success is stored.
pub(super) fn prepare(
    client: &mut Client,
    pair: impl FnOnce(&Found) -> Result<(), ServiceError>,
) -> Result<(), Unusable> {
    // On the disk before a directory names it.
    make(client)?;
    let mut transaction = client.transaction()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    let row = transaction.query_one(
        "SELECT id, paired, NOT EXISTS (SELECT FROM everlevel_records) FROM everlevel_store",
        &[],
    )?;
    let found = Found { id: row.get(0), paired: row.get(1), empty: row.get(2) };
    pair(&found).map_err(Unusable::Service)?;
    transaction.execute("UPDATE everlevel_store SET paired = true", &[])?;
    Ok(transaction.commit()?)
}
