//! One job, from stored inputs to stored results.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use everlevel::files::{Bounds, Bytes};
use everlevel::lab::{ModularInputs, TypedArray, TypedInputs};
use everlevel::{Ciphertext, Params, Program, Server, Value};
use everlevel_remote::api::{JobRequest, ObjectInfo};
use everlevel_remote::{ObjectId, RemoteError, Tenant, Told};
use everlevel_ring::{Cpu, Engine};
use everlevel_tables::{Constants, EncryptedTable, Plan};
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, inspect};

use crate::device::DeviceJobs;
use crate::error::ServiceError;
use crate::keys::KeyCache;
use crate::objects::Objects;
use crate::outcomes::Outcome;
use crate::ready::{Found, Work};
use crate::stop::Stop;
use crate::tables::Tables;

/// What jobs are computed with and on.
pub(crate) struct Data {
    pub(crate) objects: Arc<Objects>,
    pub(crate) tables: Tables,
    pub(crate) keys: KeyCache,
    /// None where the processor computes.
    pub(crate) device: Option<DeviceJobs>,
}

/// Told of stages and steps.
pub(crate) type Progress<'a> = &'a dyn Fn(&str, u64, u64);

/// The inputs of a program, in the memory of an engine.
pub(crate) enum Inputs<E: Engine = Cpu> {
    /// Columns of typed integers.
    Columns(TypedInputs<E>),
    /// Arrays of ciphertexts.
    Ciphertexts(ModularInputs<E>),
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
        if let Some(device) = &self.device {
            device.check(&self.keys.peek(tenant, &keys.id)?)?;
        }
        self.check_inputs(tenant, request)?;
        let goes = |what: &str, params: &str, owner: Option<&String>| {
            if params != keys.params {
                let set = &keys.params;
                return Err(wrong(format!("{what} is of {params}, and the server keys of {set}")));
            }
            match owner.zip(keys.owner.as_ref()) {
                Some((found, expected)) if found != expected => Err(Told {
                    code: "scheme.wrong-key".into(),
                    message: format!(
                        "{what} belongs to the secret key {found}, and the server keys to \
                             {expected}: encrypt it for that one"
                    ),
                }
                .into()),
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
                // There may be tens of thousands of both.
                let read: HashSet<&str> = program.inputs().collect();
                if let Some(name) = inputs.keys().find(|name| !read.contains(name.as_str())) {
                    return Err(wrong(format!("the program does not read {name:?}")));
                }
                // Equal ones are one object, and stand in the record of the job all the same.
                let (results, limit) =
                    (program.outputs().count() as u64, self.objects.quota.objects);
                if results > limit {
                    return Err(wrong(format!(
                        "expected at most {limit} results, as many as a tenant may have objects, \
                         found {results}"
                    )));
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

    /// Passes inputs that are not larger than what there is memory for keys. One that is named
    /// again is read again.
    fn check_inputs(&self, tenant: &Tenant, request: &JobRequest) -> Result<(), ServiceError> {
        let (mut bytes, limit) = (0u64, self.keys.usage().1);
        for id in request.objects().skip(1) {
            bytes = bytes.saturating_add(self.objects.info(tenant, id)?.bytes);
        }
        if bytes > limit {
            let what = "bytes of the inputs of a job";
            return Err(RemoteError::TooLarge { what, limit }.into());
        }
        Ok(())
    }

    /// Computes a job: on the device if there is one that does not fail, else on the processor.
    pub(crate) fn run(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
        stop: &Arc<Stop>,
        progress: Progress<'_>,
    ) -> Result<Outcome, ServiceError> {
        progress("keys", 0, 0);
        let work = Computation { data: self, tenant, request, stop, progress };
        let of = (tenant.clone(), request.server_keys().clone());
        let computed = match &self.device {
            Some(device) => device.run(&self.keys, &of, stop, &work)?,
            None => None,
        };
        let Found { results, refreshes } = match computed {
            Some(found) => found,
            None => work.on(self.keys.lease(tenant, &of.1, stop)?.server())?,
        };
        stop.check()?;
        progress("results", 0, results.len() as u64);
        Ok(Outcome { results: self.objects.stage(tenant, results)?, refreshes })
    }

    /// Removes server keys from memory that are deleted.
    pub(crate) fn forget(&self, tenant: &Tenant, id: &ObjectId) {
        self.keys.forget(tenant, id);
        if let Some(device) = &self.device {
            device.forget(&(tenant.clone(), id.clone()));
        }
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
    pub(crate) fn inputs<E: Engine>(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
        server: &Server<E>,
    ) -> Result<Inputs<E>, ServiceError> {
        let JobRequest::Program { inputs, columns, tables, pad, .. } = request else {
            return Err(wrong("expected those of a program"));
        };
        let named = inputs.iter().map(|(name, id)| (Some(name), id));
        let all = named.chain(columns.iter().map(|id| (None, id)));
        let (mut typed, mut modular) = (TypedInputs::default(), ModularInputs::default());
        let params = server.params();
        for (name, id) in all {
            let (info, bytes) = self.objects.read(tenant, id)?;
            if info.kind == ObjectKind::COLUMNS.to_string() {
                let (found, metadata) = received(params, &bytes, &info)?;
                let found = TypedArray::joined(found, &metadata, params)?;
                typed.add(server, name.map(String::as_str), found)?;
            } else {
                let name = name.ok_or_else(|| wrong("a ciphertext needs the name of an input"))?;
                let (found, metadata) = received(params, &bytes, &info)?;
                modular.add(server, name, found, &metadata)?;
            }
        }
        match (typed.blocks() > 0, modular.blocks() > 0) {
            (true, false) if *pad => Err(wrong(
                "columns of typed integers in one operation have to have one length: pad is for \
                 values modulo p^r",
            )),
            (true, false) => Ok(Inputs::Columns(typed)),
            (false, true) if !tables.is_empty() => Err(wrong("tables are for columns of integers")),
            (false, true) => Ok(Inputs::Ciphertexts(modular.aligned(server, *pad)?)),
            _ => Err(wrong("expected columns of integers or ciphertexts, found both or neither")),
        }
    }

    fn program<E: Engine>(
        &self,
        server: &Server<E>,
        program: &Program,
        inputs: Inputs<E>,
        tables: &BTreeMap<String, Vec<i64>>,
        progress: Progress<'_>,
    ) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
        let steps = match &inputs {
            Inputs::Columns(columns) => columns.blocks() * program.len(),
            Inputs::Ciphertexts(_) => program.len(),
        };
        let mut step = |done: usize| progress("computing", done as u64, steps as u64);
        step(0);
        let params = server.params();
        match inputs {
            Inputs::Columns(columns) => {
                let results = columns.run(server, program, &integers(tables), &mut step)?;
                let written = results.into_iter().map(|x| {
                    let (name, mut metadata) = (x.array.name.clone(), Metadata::new());
                    let columns = TypedArray::columns(vec![x], &mut metadata);
                    Ok((name, columns.to_bytes_with(params, &metadata)?))
                });
                written.collect()
            }
            Inputs::Ciphertexts(arrays) => {
                let results = arrays.run(server, program, &mut step)?;
                let written = results.into_iter().map(|x| {
                    let copied = |x: &Value| Ciphertext::clone(&x.get());
                    let ciphertexts: Vec<Ciphertext> = x.values.iter().map(copied).collect();
                    Ok((x.name, ciphertexts.to_bytes_with(params, &x.metadata)?))
                });
                written.collect()
            }
        }
    }
}

/// A job, to be computed on any engine.
struct Computation<'a> {
    data: &'a Data,
    tenant: &'a Tenant,
    request: &'a JobRequest,
    stop: &'a Stop,
    progress: Progress<'a>,
}

impl Work for Computation<'_> {
    fn on<E: Engine>(&self, server: &Server<E>) -> Result<Found, ServiceError> {
        let Computation { data, tenant, request, stop, progress } = *self;
        let before = server.bootstraps();
        progress("inputs", 0, 0);
        let results = match request {
            JobRequest::Program { program, tables, .. } => {
                let program = Program::parse(program)?;
                let inputs = data.inputs(tenant, request, server)?;
                stop.check()?;
                data.program(server, &program, inputs, tables, progress)?
            }
            JobRequest::Table { table, plan: asked, constants, .. } => {
                let (asked, table) = (plan(asked)?, data.tables.open(tenant, table, true)?);
                let constants = data.constants(tenant, constants.as_ref())?;
                stop.check()?;
                vec![(
                    "result".into(),
                    answer(server, &table, &asked, constants.as_ref(), stop, progress)?,
                )]
            }
        };
        Ok(Found { results, refreshes: (server.bootstraps() - before) as u64 })
    }
}

/// Public tables, in the integers that columns are computed in.
pub(crate) fn integers(tables: &BTreeMap<String, Vec<i64>>) -> BTreeMap<String, Vec<i128>> {
    let wide = |(name, entries): (&String, &Vec<i64>)| {
        (name.clone(), entries.iter().map(|entry| i128::from(*entry)).collect())
    };
    tables.iter().map(wide).collect()
}

/// What an object holds, and its metadata.
fn received<T: Bytes>(
    params: &Params,
    bytes: &[u8],
    info: &ObjectInfo,
) -> Result<(T, Metadata), ServiceError> {
    let any = ReadOptions::default().limited_to(bytes.len() as u64);
    let policy = bounds(info).policy(&inspect(bytes, &any)?.metadata);
    Ok(T::from_bytes_with(params, bytes, &any.believing(policy))?)
}

fn answer(
    server: &Server<impl Engine>,
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
