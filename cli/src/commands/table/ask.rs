//! One query on an encrypted table, all parties on this machine.

use std::time::Instant;

use everlevel::{Client, Server};
use everlevel_tables::{
    Answer, Constants, Data, EncryptedTable, Plan, Schema, TableKey, TablesError,
};
use indicatif::ProgressBar;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{progress, remark};

/// An answer, and what it took to compute its sums.
pub struct Asked {
    pub answer: Answer,
    pub exact: bool,
    pub seconds: f64,
    pub refreshes: usize,
}

/// A table under encryption, in memory.
pub fn encrypted(
    client: &Client,
    schema: &Schema,
    data: &Data,
    common: &Common,
) -> Result<EncryptedTable, CliError> {
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let key = TableKey::Secret(client.secret());
    let bar = progress(common, "encrypting", 1);
    let table = EncryptedTable::encrypt(key, schema, data, &mut rng, shown(&bar));
    bar.finish_and_clear();
    table.map_err(refused)
}

/// Blocks that are done, of how many.
fn shown(bar: &ProgressBar) -> impl Fn(usize, usize) -> Result<(), TablesError> + '_ {
    |done, blocks| {
        bar.set_length(blocks as u64);
        bar.set_position(done as u64);
        Ok(())
    }
}

/// Runs a query on an encrypted table, with the constants that it calls by name, decrypts the
/// answer, and compares it with the one in the clear. Reading the columns is part of the time,
/// decryption is not.
pub fn ask(
    (client, server): (&Client, &Server),
    (table, data): (&EncryptedTable, &Data),
    plan: &Plan,
    constants: &[(String, String)],
    common: &Common,
) -> Result<Asked, CliError> {
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let codes = plan.codes(constants).map_err(refused)?;
    let bound = (!constants.is_empty())
        .then(|| Constants::encrypt(TableKey::Secret(client.secret()), plan, constants, &mut rng));
    let bound = bound.transpose().map_err(refused)?;
    let (before, started) = (server.bootstraps(), Instant::now());
    let bar = progress(common, "computing", 1);
    let result = table.run(server, plan, bound.as_ref(), shown(&bar));
    bar.finish_and_clear();
    let result = result.map_err(refused)?;
    let (seconds, refreshes) = (started.elapsed().as_secs_f64(), server.bootstraps() - before);
    let answer = result.read(client.secret()).map_err(refused)?;
    let plain = Answer::plain_with(plan.query(), plan.schema(), data, &codes).map_err(refused)?;
    let exact = answer == plain;
    Ok(Asked { answer, exact, seconds, refreshes })
}

/// Tells on standard error what there is to note on a query or a change.
pub fn tell(notes: &[String]) {
    notes.iter().for_each(|note| remark(format_args!("note: {note}")));
}

/// Schemas, tables and queries are the user's.
pub fn refused(e: TablesError) -> CliError {
    let code = e.code();
    CliError::usage(e.to_string()).with_code(code)
}
