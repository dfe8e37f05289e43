//! One job, from stored inputs to stored results.

use std::collections::BTreeMap;
use std::sync::Arc;

use everlevel::files::{Bounds, Bytes, state_ranges};
use everlevel::{Ciphertext, IntegerColumn, IntegerValue, Program, Server, Value};
use everlevel_circuit::expression::Rows;
use everlevel_scheme::same_owner;
use everlevel_tables::{Constants, EncryptedTable, Plan};
use everlevel_wire::arrays::{Array, Rest};
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, inspect};

use crate::api::{JobRequest, ObjectInfo};
use crate::error::ServiceError;
use crate::keys::{KeyCache, Stop};
use crate::name::{ObjectId, Tenant};
use crate::objects::Objects;
use crate::tables::Tables;

/// What jobs are computed with and on.
pub(crate) struct Data {
    pub(crate) objects: Arc<Objects>,
    pub(crate) tables: Tables,
    pub(crate) keys: KeyCache,
}

/// What a job has brought.
pub(crate) struct Outcome {
    pub(crate) results: BTreeMap<String, ObjectId>,
    pub(crate) refreshes: u64,
}

/// Told of stages and steps.
pub(crate) type Progress<'a> = &'a dyn Fn(&str, u64, u64);

/// Bytes of named inputs.
pub(crate) enum Inputs {
    /// Columns of typed integers.
    Columns(BTreeMap<String, IntegerColumn>),
    /// Ciphertexts, and what is known of the rows in them.
    Ciphertexts(BTreeMap<String, Value>, BTreeMap<String, Array>),
}

fn wrong(problem: impl ToString) -> ServiceError {
    ServiceError::malformed("the inputs of a job", problem)
}

/// What jobs of this service have computed states true bounds; what was sent has to be fresh.
fn bounds(info: &ObjectInfo) -> Bounds {
    match info.computed {
        true => Bounds::Stated,
        false => Bounds::Fresh,
    }
}

fn plan(plan: &serde_json::Value) -> Result<Plan, ServiceError> {
    Ok(Plan::from_json(&plan.to_string())?)
}

impl Data {
    /// Passes a job whose parts are there and go together, before it waits for its turn.
    pub(crate) fn check(&self, tenant: &Tenant, request: &JobRequest) -> Result<(), ServiceError> {
        let keys = self.objects.info(tenant, request.server_keys())?;
        if keys.kind != ObjectKind::SERVER_KEYS.to_string() {
            return Err(wrong(format!("expected server keys, found {}", keys.kind)));
        }
        self.keys.memory(tenant, &keys.id)?;
        let goes = |what: &str, params: &str, owner: Option<&String>| {
            if params != keys.params {
                let set = &keys.params;
                return Err(wrong(format!("{what} is of {params}, and the server keys of {set}")));
            }
            match owner.zip(keys.owner.as_ref()) {
                Some((found, expected)) if found != expected => Err(ServiceError::Computation {
                    code: "scheme.wrong-key".into(),
                    message: format!(
                        "{what} belongs to the secret key {found}, and the server keys to \
                             {expected}: encrypt it for that one"
                    ),
                }),
                _ => Ok(()),
            }
        };
        let object = |id: &ObjectId| {
            let info = self.objects.info(tenant, id)?;
            goes(&format!("object {id}"), &info.params, info.owner.as_ref()).map(|()| info.kind)
        };
        match request {
            JobRequest::Program { program, inputs, columns, .. } => {
                let program = Program::parse(program)?;
                if let Some(name) = inputs.keys().find(|name| !program.inputs().any(|i| i == *name))
                {
                    return Err(wrong(format!("the program does not read {name:?}")));
                }
                let mut kinds =
                    inputs.values().chain(columns).map(object).collect::<Result<Vec<_>, _>>()?;
                kinds.dedup();
                let possible =
                    [ObjectKind::COLUMNS, ObjectKind::CIPHERTEXTS].map(|kind| kind.to_string());
                match &kinds[..] {
                    [kind] if possible.contains(kind) => Ok(()),
                    _ => Err(wrong(format!(
                        "expected one or more of one kind, {} or {}, found {kinds:?}",
                        possible[0], possible[1]
                    ))),
                }
            }
            JobRequest::Table { table, plan: asked, constants, .. } => {
                let asked = plan(asked)?;
                let info = self.tables.info(tenant, table)?;
                goes(&format!("table {table}"), &info.params, info.owner.as_ref())?;
                constants.as_ref().map(object).transpose()?;
                asked.check_schema(self.tables.open(tenant, table, false)?.schema())?;
                Ok(())
            }
        }
    }

    /// Computes a job.
    pub(crate) fn run(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
        stop: &Arc<Stop>,
        progress: Progress<'_>,
    ) -> Result<Outcome, ServiceError> {
        progress("keys", 0, 0);
        let lease = self.keys.lease(tenant, request.server_keys(), stop)?;
        let server = lease.server();
        let before = server.bootstraps();
        progress("inputs", 0, 0);
        let results = match request {
            JobRequest::Program { program, tables, .. } => {
                let program = Program::parse(program)?;
                let inputs = self.inputs(tenant, request, server)?;
                stop.check()?;
                self.program(server, &program, inputs, tables, progress)?
            }
            JobRequest::Table { table, plan: asked, constants, .. } => {
                let (asked, table) = (plan(asked)?, self.tables.open(tenant, table, true)?);
                let constants = self.constants(tenant, constants.as_ref())?;
                stop.check()?;
                vec![(
                    "result".into(),
                    answer(server, &table, &asked, constants.as_ref(), stop, progress)?,
                )]
            }
        };
        stop.check()?;
        progress("results", 0, results.len() as u64);
        let mut stored = BTreeMap::new();
        for (name, bytes) in results {
            stored.insert(name, self.objects.add_computed(tenant, &bytes)?);
        }
        let refreshes = (server.bootstraps() - before) as u64;
        Ok(Outcome { results: stored, refreshes })
    }

    fn constants(
        &self,
        tenant: &Tenant,
        id: Option<&ObjectId>,
    ) -> Result<Option<Constants>, ServiceError> {
        let Some(id) = id else { return Ok(None) };
        let (_, bytes) = self.objects.read(tenant, id)?;
        Ok(Some(Constants::from_bytes(bytes)?))
    }

    /// The inputs of a program, which belong to the owner of the server keys.
    pub(crate) fn inputs(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
        server: &Server,
    ) -> Result<Inputs, ServiceError> {
        let JobRequest::Program { inputs, columns, .. } = request else {
            return Err(wrong("expected those of a program"));
        };
        let named = inputs.iter().map(|(name, id)| (Some(name), id));
        let all = named.chain(columns.iter().map(|id| (None, id)));
        let (mut typed, mut ciphertexts, mut arrays) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (name, id) in all {
            let (info, bytes) = self.objects.read(tenant, id)?;
            if info.kind == ObjectKind::COLUMNS.to_string() {
                for (name, column) in typed_columns(server, name, &bytes, &bounds(&info))? {
                    if typed.insert(name.clone(), column).is_some() {
                        return Err(wrong(format!("column {name:?} is there twice")));
                    }
                }
            } else {
                let name = name.ok_or_else(|| wrong("a ciphertext needs the name of an input"))?;
                let (value, array) = ciphertext(server, &bytes, &bounds(&info))?;
                arrays.extend(array.map(|array| (name.clone(), array)));
                ciphertexts.insert(name.clone(), value);
            }
        }
        match (typed.is_empty(), ciphertexts.is_empty()) {
            (false, true) => Ok(Inputs::Columns(typed)),
            (true, false) => Ok(Inputs::Ciphertexts(ciphertexts, arrays)),
            _ => Err(wrong("expected columns of integers or ciphertexts, found both or neither")),
        }
    }

    fn program(
        &self,
        server: &Server,
        program: &Program,
        inputs: Inputs,
        tables: &BTreeMap<String, Vec<i64>>,
        progress: Progress<'_>,
    ) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
        let total = program.len() as u64;
        progress("computing", 0, total);
        let mut step = |done: usize| progress("computing", done as u64, total);
        match inputs {
            Inputs::Columns(columns) => {
                let results =
                    server.integers()?.run(program, &columns, &integers(tables), &mut step)?;
                let written = results.into_iter().map(|(name, value)| {
                    Ok((name.clone(), server.answer_columns(&[(name, value)])?))
                });
                written.collect()
            }
            Inputs::Ciphertexts(..) if !tables.is_empty() => {
                Err(wrong("tables are for columns of integers"))
            }
            Inputs::Ciphertexts(values, arrays) => {
                let rows = rows(program, &arrays, server.params().slots())?;
                let results = server.run(program, &values, &mut step)?;
                let written = results.into_iter().map(|(name, value)| {
                    let mut metadata = Metadata::new();
                    if let Some(array) = result_array(&arrays, rows.get(name.as_str())) {
                        array.state(&mut metadata);
                    }
                    state_ranges(&mut metadata, &[value.range()]);
                    let ciphertexts = vec![Ciphertext::clone(&value.get())];
                    Ok((name, ciphertexts.to_bytes_with(server.params(), &metadata)?))
                });
                written.collect()
            }
        }
    }
}

/// Public tables, in the integers that columns are computed in.
pub(crate) fn integers(tables: &BTreeMap<String, Vec<i64>>) -> BTreeMap<String, Vec<i128>> {
    let wide = |(name, entries): (&String, &Vec<i64>)| {
        (name.clone(), entries.iter().map(|entry| i128::from(*entry)).collect())
    };
    tables.iter().map(wide).collect()
}

/// The columns of an object, the only one by the name that the program has for it.
fn typed_columns(
    server: &Server,
    name: Option<&String>,
    bytes: &[u8],
    bounds: &Bounds,
) -> Result<Vec<(String, IntegerColumn)>, ServiceError> {
    let found = server.receive_columns(bytes, bounds)?;
    if name.is_some() && found.len() != 1 {
        let found = found.len();
        return Err(wrong(format!("expected one column for a name, found {found}")));
    }
    let mut columns = Vec::with_capacity(found.len());
    for (own, value) in found {
        for x in value.values() {
            same_owner(x.get().owner(), server.keys().owner(), "evaluation")?;
        }
        let IntegerValue::Column(column) = value else {
            return Err(wrong(format!("{own:?} is a total: it can be decrypted only")));
        };
        columns.push((name.cloned().unwrap_or(own), column));
    }
    Ok(columns)
}

/// The only ciphertext of an object, and what is known of its rows.
fn ciphertext(
    server: &Server,
    bytes: &[u8],
    bounds: &Bounds,
) -> Result<(Value, Option<Array>), ServiceError> {
    let found = server.receive(bytes, bounds)?;
    let count = found.len();
    let [x] = <[Value; 1]>::try_from(found)
        .map_err(|_| wrong(format!("expected one ciphertext in an object, found {count}")))?;
    same_owner(x.get().owner(), server.keys().owner(), "evaluation")?;
    let any = ReadOptions::default().limited_to(bytes.len() as u64);
    let array = Array::of(&inspect(bytes, &any)?.metadata, server.params().slots(), count)?;
    Ok((x, array))
}

/// Where a program leaves the rows of columns, if they leave slots empty.
fn rows<'p>(
    program: &'p Program,
    arrays: &BTreeMap<String, Array>,
    slots: usize,
) -> Result<BTreeMap<&'p str, Rows>, ServiceError> {
    let mut counts: Vec<usize> = arrays.values().map(Array::values).collect();
    counts.sort_unstable();
    counts.dedup();
    let count = match counts[..] {
        [] => return Ok(BTreeMap::new()),
        [count] => count,
        _ => {
            let problem =
                format!("the columns have {counts:?} values: rows would not belong together");
            return Err(wrong(problem));
        }
    };
    if count >= slots {
        return Ok(BTreeMap::new());
    }
    let zero = |name: &str| arrays.get(name).is_some_and(|array| array.rest == Rest::Zero);
    program.rows(|name| zero(name).then_some(0)).map_err(|column| {
        wrong(format!(
            "the program, column {column}: sum adds up all {slots} slots, of which {count} have a \
             value, and the others would not hold 0 there, or are not known to: add constants \
             after sum, in one program"
        ))
    })
}

/// What is known of the rows of a result. Rows that are in other slots now are all shown.
fn result_array(arrays: &BTreeMap<String, Array>, rows: Option<&Rows>) -> Option<Array> {
    let first = arrays.values().next().filter(|_| !rows.is_some_and(|rows| rows.moved))?;
    let alike = arrays.values().all(|array| array.shape == first.shape);
    let shape = if alike { first.shape.clone() } else { vec![first.values()] };
    let zero = rows.is_none_or(|rows| rows.empty == Some(0));
    Some(Array { shape, rest: if zero { Rest::Zero } else { Rest::Unknown } })
}

fn answer(
    server: &Server,
    table: &EncryptedTable,
    plan: &Plan,
    constants: Option<&Constants>,
    stop: &Stop,
    progress: Progress<'_>,
) -> Result<Vec<u8>, ServiceError> {
    progress("computing", 0, table.blocks() as u64);
    let result = table.run(server, plan, constants, |done, blocks| {
        progress("computing", done as u64, blocks as u64);
        stop.check()
    })?;
    Ok(result.as_bytes().to_vec())
}
