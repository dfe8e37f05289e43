//! The commands to run next, and notes on them.

use super::query::{CATEGORIES, TableQuery};
use super::recommendation::Recommendation;
use super::request::Workload;

/// Whether the text of an operation names the column.
fn names(found: &Recommendation, column: &str) -> bool {
    let is_word = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == column)
    };
    found.operations.iter().any(|cost| is_word(&cost.rehearsed))
}

fn columns(found: &Recommendation) -> Vec<&'static str> {
    ["x", "y"].into_iter().filter(|column| names(found, column)).collect()
}

/// The option that a set below 128 bits requires, in commands and in Python.
fn opt_in(found: &Recommendation) -> (&'static str, &'static str) {
    match found.security_bits < 128.0 {
        true => (" --insecure-research", ", insecure_research=True"),
        false => ("", ""),
    }
}

fn head(found: &Recommendation) -> Vec<String> {
    vec![
        "import everlevel, numpy as np".into(),
        format!("params = everlevel.Params(\"{}\"{})", found.params.name(), opt_in(found).1),
        "client = everlevel.Client(params)".into(),
    ]
}

/// The program of all operations, one statement each.
fn program(found: &Recommendation) -> String {
    let lines: Vec<&str> = found.operations.iter().map(|cost| cost.rehearsed.as_str()).collect();
    lines.join("; ")
}

/// Whether the program computes all operations on columns of several ciphertexts.
fn in_parts(found: &Recommendation) -> bool {
    everlevel::Program::parse(&program(found)).is_ok_and(|program| program.in_parts().is_ok())
}

/// Adds lines in Python that decrypt every result, and the notes that both methods without tables
/// share.
fn results(workload: &Workload, found: &mut Recommendation) {
    let largest = workload.bounds().1;
    for operation in &workload.operations {
        let (name, text) = (operation.result(), operation.python(largest));
        found.python.push(format!("{name} = client.decrypt({text})"));
    }
    if workload.rows > found.slots as u64 && !in_parts(found) {
        found.notes.push(format!(
            "the program refuses the mean of more than {} rows: let it compute the sum, and \
             divide after decryption; in Python arrays have any length",
            found.slots
        ));
    }
    found.notes.push(
        "each operation was rehearsed once, on columns as they are encrypted; results are \
         computed on as well, and their bounds say how large they can be"
            .into(),
    );
}

fn keygen(found: &Recommendation) -> String {
    format!("everlevel keygen --params {}{} --out keys", found.params.name(), opt_in(found).0)
}

/// The note on a set that uses `used` of `all` slots.
pub(super) fn few_slots(used: usize, all: usize) -> String {
    format!(
        "the set uses {used} of the {all} slots of its ring, for which bootstrapping takes less; \
         more than {used} rows take several ciphertexts in place of each, so plan for the most \
         rows that there will be"
    )
}

pub(super) fn typed(workload: &Workload, found: &mut Recommendation) {
    let (low, high, opt) = (found.low.clone(), found.high.clone(), opt_in(found).0);
    let columns = columns(found);
    let kind = found.kind.map_or(String::new(), |kind| match kind {
        everlevel::Type::Ranged(interval) => match everlevel::Type::smallest(interval) {
            Some(named) => format!("{named}:{low}..{high}"),
            None => format!("{low}..{high}"),
        },
        named => named.to_string(),
    });
    let types: Vec<String> = columns.iter().map(|name| format!("{name}={kind}")).collect();
    let with_table = found.operations.iter().any(|cost| cost.operation == "table");
    let tables = if with_table { " --lookup t=t.csv" } else { "" };
    let first = found.operations.first().map_or("", |cost| cost.rehearsed.as_str());
    let first = first.split(' ').next().unwrap_or_default();
    found.commands = vec![
        keygen(found),
        format!(
            "everlevel encrypt{opt} --key keys/public.key --in data.csv --types {} --out data.ct",
            types.join(",")
        ),
        format!(
            "everlevel eval{opt} --server-keys keys/server.keys '{}'{tables} data.ct --out out",
            program(found)
        ),
        format!(
            "everlevel decrypt{opt} --key keys/secret.key --in out/{first}.ct --out {first}.csv"
        ),
    ];
    found.python = head(found);
    found.python.push("server = client.server()".into());
    for name in columns {
        found.python.push(format!(
            "{name} = server.load(client.encrypt({name}_values, bounds=({low}, {high})))"
        ));
    }
    results(workload, found);
    found.notes.push(format!(
        "data.csv has a header with the names of the columns; bounds are public, and other \
         values than {low} to {high} are refused"
    ));
    if with_table {
        found.notes.push(format!("t has an entry for each integer from {low} to {high}"));
    }
}

pub(super) fn modular(workload: &Workload, found: &mut Recommendation) {
    let (low, high, opt) = (found.low.clone(), found.high.clone(), opt_in(found).0);
    let columns = columns(found);
    found.commands = vec![keygen(found)];
    for name in &columns {
        found.commands.push(format!(
            "everlevel encrypt{opt} --key keys/public.key --in {name}.csv --range {low}..{high} \
             --out {name}.ct"
        ));
    }
    let inputs: Vec<String> = columns.iter().map(|name| format!("{name}={name}.ct")).collect();
    let first = found.operations.first().map_or("", |cost| cost.rehearsed.as_str());
    let first = first.split(' ').next().unwrap_or_default();
    found.commands.push(format!(
        "everlevel eval{opt} --server-keys keys/server.keys '{}' {} --out out",
        program(found),
        inputs.join(" ")
    ));
    found.commands.push(format!(
        "everlevel decrypt{opt} --key keys/secret.key --in out/{first}.ct --out {first}.csv"
    ));
    found.python = head(found);
    found.python.push("server = client.server()".into());
    for name in columns {
        found.python.push(format!(
            "{name} = server.load(client.encrypt_modular({name}_values, bounds=({low}, {high})))"
        ));
    }
    results(workload, found);
    found.notes.push(format!(
        "all is computed modulo {}, and no result of these operations can reach it; a result that \
         could is refused at decryption",
        found.params.wide_modulus()
    ));
}

pub(super) fn table(
    workload: &Workload,
    query: &TableQuery,
    own_keys: bool,
    found: &mut Recommendation,
) {
    let (opt, TableQuery { schema, text }) = (opt_in(found).0, query);
    let (low, high, rows) = (found.low.clone(), found.high.clone(), workload.rows);
    found.commands = vec![
        format!("printf '%s' '{schema}' > schema.json"),
        format!("everlevel table ask --schema schema.json \"{text}\" --out query.plan"),
        match own_keys {
            true => format!("{} --plan query.plan --rows {rows}", keygen(found)),
            false => keygen(found),
        },
        format!(
            "everlevel table encrypt{opt} --schema schema.json --in data.csv --key \
             keys/secret.key --out table"
        ),
        format!(
            "everlevel table run{opt} --table table --server-keys keys/server.keys --plan \
             query.plan --out query.result"
        ),
        format!(
            "everlevel table read{opt} --key keys/secret.key --in query.result --plan \
             query.plan --out answer.csv"
        ),
    ];
    found.python = vec![
        "import everlevel".into(),
        "from everlevel import tables".into(),
        head(found)[1].clone(),
        head(found)[2].clone(),
        format!("schema = tables.Schema('{schema}')"),
        format!("query = tables.Plan(\"{text}\", schema)"),
        "table = tables.encrypt(client, \"data.csv\", schema)".into(),
        match own_keys {
            true => format!("server = query.server(client, rows={rows})"),
            false => "server = client.server()".into(),
        },
        "answer = table.run(server, query).read(client, plan=query, arrow=False)".into(),
    ];
    found.notes.push(format!(
        "data.csv has a header with the names of the columns; bounds are public, and other \
         values than {low} to {high} are refused"
    ));
    if own_keys {
        found.notes.push(
            "the server keys are those of this query; keygen without --plan makes keys \
             for all queries"
                .into(),
        );
    }
    if text.contains("group by") {
        found.notes.push(format!("planned for {CATEGORIES} categories"));
    }
}
