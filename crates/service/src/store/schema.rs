//! The tables of a database, and what makes them of those of an earlier version.

use r2d2_postgres::postgres::{self, Client};

use crate::error::ServiceError;
use crate::name::random_hex;

/// Held while the tables are made or changed: `everlev` in ASCII.
const LOCK: i64 = 0x65_76_65_72_6c_65_76;

/// What leads from each version to the next; what is new is added at the end. `everlevel_store`
/// stays as it is, so that every version can tell which one it has found.
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

/// A database, and whether a directory has been made known to it.
pub(super) struct Found {
    pub(super) id: String,
    pub(super) paired: bool,
}

/// Why tables cannot be used.
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

/// Makes the tables, or brings them to this version, and passes what was found to `pair`, whose
/// success is noted. There is one at a time.
pub(super) fn prepare(
    client: &mut Client,
    pair: impl FnOnce(&Found) -> Result<(), ServiceError>,
) -> Result<(), Unusable> {
    let mut transaction = client.transaction()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    let known = transaction.query_one("SELECT to_regclass('everlevel_store') IS NOT NULL", &[])?;
    if !known.get::<_, bool>(0) {
        let id = random_hex::<16>().map_err(Unusable::Service)?;
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
    let row = transaction.query_one("SELECT version, id, paired FROM everlevel_store", &[])?;
    let version = usize::try_from(row.get::<_, i32>(0)).unwrap_or(usize::MAX);
    let found = Found { id: row.get(1), paired: row.get(2) };
    let Some(missing) = MIGRATIONS.get(version..) else {
        let newest = MIGRATIONS.len();
        return Err(Unusable::Refused(format!(
            "expected tables of version {newest} or older, found {version}: update this program"
        )));
    };
    for migration in missing {
        transaction.batch_execute(migration)?;
    }
    pair(&found).map_err(Unusable::Service)?;
    let newest = MIGRATIONS.len() as i32;
    transaction.execute("UPDATE everlevel_store SET version = $1, paired = true", &[&newest])?;
    transaction.commit()?;
    Ok(())
}
