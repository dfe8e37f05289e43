//! The connection of a process to its database, and the check that its directory belongs to it.

use std::time::Duration;

use r2d2_postgres::postgres::config::Host;
use r2d2_postgres::postgres::{self, Config};

use super::paired::Paired;
use super::schema::Found;
use crate::database::Database;
use crate::error::ServiceError;

/// The time limit for connecting.
pub(super) const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Limits for a transaction of a process that stands still, and for waiting for its locks.
const OPTIONS: &str = "-c idle_in_transaction_session_timeout=60s -c lock_timeout=30s";

/// The text of an error without data of records, which details of database errors may contain.
pub(super) fn told(e: &postgres::Error) -> String {
    match (e.as_db_error(), std::error::Error::source(e)) {
        (Some(e), _) => e.message().into(),
        (None, Some(source)) => format!("{e}: {source}"),
        (None, None) => e.to_string(),
    }
}

/// Whether a query with this SQLSTATE may succeed later: class 57 is an operator's intervention,
/// such as a restart; the others are the two limits of [`OPTIONS`], which end what waits for a
/// process that stands still, and a deadlock.
fn passes(code: &str) -> bool {
    code.starts_with("57") || ["25P03", "40P01", "55P03"].contains(&code)
}

/// The error for a query that failed, because the database is not reachable or by an error of the
/// service.
pub(super) fn failed(e: postgres::Error) -> ServiceError {
    match e.as_db_error().is_none_or(|e| passes(e.code().code())) {
        true => unavailable(&told(&e)),
        false => ServiceError::internal("its database")(&told(&e)),
    }
}

/// Logs the reason for the operator of the service.
pub(super) fn unavailable(problem: &dyn std::fmt::Display) -> ServiceError {
    tracing::error!(%problem, "the database does not answer");
    ServiceError::Unavailable
}

pub(super) fn refused(problem: impl ToString) -> ServiceError {
    ServiceError::State { path: "the database".into(), problem: problem.to_string() }
}

/// Checks the address of the database: a socket of this machine, a loopback address, or any address
/// if this was requested.
pub(super) fn checked(database: &Database) -> Result<Config, ServiceError> {
    // The parser's message may quote a part of a password.
    let mut config: Config = database.connection.parse().map_err(|_| {
        refused(
            "expected a connection string of PostgreSQL, such as host=/run/postgresql \
             user=everlevel dbname=everlevel, found something else",
        )
    })?;
    let own = |host: &Host| match host {
        #[cfg(unix)]
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    };
    let reached = match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(own),
        addresses => addresses.iter().all(std::net::IpAddr::is_loopback),
    };
    if !reached && !database.unprotected {
        return Err(refused(
            "expected a socket or an address of this machine, found another machine, to which \
             nothing is encrypted: put a tunnel before it, or allow that if nobody else listens on \
             the way",
        ));
    }
    let options = match config.get_options() {
        Some(options) => format!("{options} {OPTIONS}"),
        None => OPTIONS.into(),
    };
    config.options(&options);
    if config.get_application_name().is_none() {
        config.application_name("everlevel");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIME);
    }
    Ok(config)
}

/// Checks that the storage for bytes and the database belong together. Bytes without records would
/// be removed as remains.
pub(super) fn pair(place: &dyn Paired, has_bytes: bool, found: &Found) -> Result<(), ServiceError> {
    let wrong =
        |problem: &str| Err(ServiceError::State { path: place.name(), problem: problem.into() });
    let known = place.read()?;
    if known.as_ref().is_some_and(|known| *known != *found.id.as_bytes()) {
        return wrong(
            "the records of this directory or bucket are in another database: give that one, or \
             another place",
        );
    }
    if known.is_none() && found.paired {
        return wrong(
            "expected what says that the records of this directory or bucket are in this database, \
             found nothing: give the place that the other processes share; it may not be mounted",
        );
    }
    if has_bytes && found.empty {
        return wrong(
            "expected a database with the records of what is in objects, found one without any: \
             restore it from a backup, give another one, or another place",
        );
    }
    match known {
        Some(_) => Ok(()),
        None => place.write(found.id.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::passes;

    #[test]
    fn what_only_has_to_wait_is_tried_again() {
        for code in ["57P01", "57014", "25P03", "40P01", "55P03"] {
            assert!(passes(code), "{code}");
        }
        for code in ["23505", "42P01", "53100", "55000"] {
            assert!(!passes(code), "{code}");
        }
    }
}
