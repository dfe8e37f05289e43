//! One question of an encrypted table, all parties on this machine.

use std::time::Instant;

use everlevel::{Client, IntegerColumn, Server};
use everlevel_tables::{Answer, Data, Layout, Query, Runner, Schema, TablesError};

use crate::console::errors::CliError;

/// An answer, and what it took to compute its sums.
pub struct Asked {
    pub answer: Answer,
    pub exact: bool,
    pub seconds: f64,
    pub refreshes: usize,
}

/// The columns of a table under encryption, block by block of as many rows as there are slots.
pub fn encrypted(
    client: &Client,
    schema: &Schema,
    data: &Data,
) -> Result<Vec<Vec<IntegerColumn>>, CliError> {
    let (slots, rows) = (client.params().slots(), data.rows());
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let mut blocks = Vec::new();
    for start in (0..rows).step_by(slots) {
        let mut columns = Vec::with_capacity(schema.fields().len());
        for (place, field) in schema.fields().iter().enumerate() {
            let entries = &data.column(place)[start..rows.min(start + slots)];
            let kind = field.integer_type().map_err(refused)?;
            columns.push(client.encrypt_table_column(entries, kind, &mut rng)?);
        }
        blocks.push(columns);
    }
    Ok(blocks)
}

/// Asks a question of encrypted blocks, decrypts the sums, and compares with the answer in the
/// clear.
pub fn ask(
    (client, server): (&Client, &Server),
    (schema, data): (&Schema, &Data),
    blocks: &[Vec<IntegerColumn>],
    question: &str,
) -> Result<Asked, CliError> {
    let query = Query::parse(question, schema).map_err(refused)?;
    let ints = server.integers()?;
    let (before, started) = (server.bootstraps(), Instant::now());
    let shape = client.params().slot_shape();
    let layout = Layout::new(&query, schema, shape, data.rows()).map_err(refused)?;
    let mut runner = Runner::new(&ints, schema, &layout);
    for columns in blocks {
        runner.add(columns).map_err(refused)?;
    }
    let sums = runner.finish().map_err(refused)?;
    let (seconds, refreshes) = (started.elapsed().as_secs_f64(), server.bootstraps() - before);
    let opened = sums.iter().map(|x| client.decrypt_coefficients(x));
    let sums = layout.read(&opened.collect::<Result<Vec<_>, _>>()?).map_err(refused)?;
    let answer = Answer::new(&query, schema, &sums).map_err(refused)?;
    let exact = answer == Answer::plain(&query, schema, data).map_err(refused)?;
    Ok(Asked { answer, exact, seconds, refreshes })
}

/// Schemas, tables and questions are the user's.
pub fn refused(e: TablesError) -> CliError {
    let code = e.code();
    CliError::usage(e.to_string()).with_code(code)
}
