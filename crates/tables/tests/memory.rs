//! Tables that are larger than memory are encrypted and asked block by block.

use std::io::Read;

use everlevel::files::{Existing, OpenOptions};
use everlevel::{Client, KeyPlanner, OptIn, Params};
use everlevel_tables::{CsvRecords, EncryptedTable, Plan, Schema, TableKey, TablesError};

/// Allocations above the limit that is set below are refused, which ends the test. The only test of
/// its process, so that nobody else allocates.
#[global_allocator]
static HEAP: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

/// How many blocks of 2,048 rows there are.
const BLOCKS: usize = 96;
/// Columns of truth values.
const COLUMNS: usize = 12;

/// The text of a table that is nowhere as a whole.
struct Lines {
    row: usize,
    rest: Vec<u8>,
}

fn records() -> Result<CsvRecords<Lines>, TablesError> {
    let names: Vec<String> = (0..COLUMNS).map(|i| format!("x{i}")).collect();
    CsvRecords::new(Lines { row: 0, rest: (names.join(",") + "\n").into_bytes() })
}

fn cell(row: usize, column: usize) -> bool {
    (row * 7 + column * 3) % 5 < 2
}

impl Read for Lines {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() && self.row < BLOCKS * 2048 {
            let cells: Vec<_> = (0..COLUMNS).map(|i| cell(self.row, i).to_string()).collect();
            self.rest = (cells.join(",") + "\n").into_bytes();
            self.row += 1;
        }
        let count = self.rest.len().min(bytes.len());
        bytes[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

#[test]
fn a_block_is_held_at_a_time() {
    // Each thread has some memory of its own, which is not what is counted here.
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("t");
    let columns = (0..COLUMNS).map(|i| format!(r#"{{"name": "x{i}", "type": "boolean"}}"#));
    let columns = columns.collect::<Vec<_>>().join(", ");
    let schema = Schema::from_json(&format!(r#"{{"columns": [{columns}]}}"#)).unwrap();
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let mut rng = everlevel::system_rng().unwrap();
    let client = Client::new(&params, &mut rng);
    let rows = BLOCKS * 2048;
    let sql = "select count(*) from t where x0 and x11";
    let plan = Plan::new(sql, &schema).unwrap();
    let keys = plan.keys(&params, rows).unwrap();
    let planner = KeyPlanner::new(&params).unwrap();
    let server = client.server_for(&keys, planner.bootstrap_plan(), &mut rng, |_, _| ()).unwrap();

    // The codes of all cells take 38 MB.
    const BUDGET: usize = 6 << 20;
    assert!(rows * COLUMNS * size_of::<i128>() > 5 * BUDGET);
    HEAP.set_limit(HEAP.allocated() + BUDGET).unwrap();
    let mut steps = Vec::new();
    let table = EncryptedTable::create_from(
        &directory,
        Existing::Keep,
        TableKey::Secret(client.secret()),
        (&schema, &[]),
        records,
        &mut rng,
        |done, of| {
            steps.push((done, of));
            Ok::<_, TablesError>(())
        },
    )
    .unwrap();
    assert_eq!(steps.len(), 2 * BLOCKS);
    assert_eq!((steps[0], steps[2 * BLOCKS - 1]), ((1, None), (BLOCKS, Some(BLOCKS))));
    // Two columns of it are read, of more bytes than there is room for.
    let read = 2 * table.bytes() / COLUMNS as u64;
    HEAP.set_limit(usize::MAX).unwrap();
    assert!(read > 4 * BUDGET as u64, "{read}");
    HEAP.set_limit(HEAP.allocated() + BUDGET).unwrap();
    drop(table);
    let options = OpenOptions::default().accepting(OptIn::InsecureResearch);
    let table = EncryptedTable::open(&directory, &options).unwrap();
    let result = table.run_whole(&server, &plan).unwrap();
    let answer = result.read(client.secret()).unwrap();
    HEAP.set_limit(usize::MAX).unwrap();
    let expected = (0..rows).filter(|row| cell(*row, 0) && cell(*row, 11)).count();
    assert_eq!(answer.rows[0][0].to_string(), expected.to_string());
}
