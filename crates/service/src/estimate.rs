//! The cost of a job, determined by a run on the no-op scheme.

use std::collections::BTreeMap;
use std::sync::Arc;

use everlevel::lab::{Bootstrapper, NoOp, Scheme, Session};
use everlevel::{
    Ciphertext, Integers, Level, Params, Plaintext, Program, Server, TimeModel, bootstrap_plan,
};
use everlevel_circuit::Value;
use everlevel_integers::{Encrypted, no_op_column};
use everlevel_remote::Tenant;
use everlevel_remote::api::{Estimate, JobRequest};
use everlevel_tables::Plan;

use crate::error::ServiceError;
use crate::evaluate::{Data, Inputs, integers};
use crate::stop::Stop;

/// The largest ratio of the size of a result to that of an input: a result may have two polynomials
/// for one and 32 digits for one, with a margin for inputs at lower levels.
const GROWTH: u64 = 256;
/// The largest number of results that is assumed for a query on a table.
const TABLE_RESULTS: usize = 16;
/// The bytes of a record in addition to its polynomials.
const RECORD_BYTES: u64 = 256;

/// A session that counts operations until it is stopped, and bootstraps if the keys allow it.
fn rehearsal(
    params: &Params,
    bootstraps: bool,
    stop: &Arc<Stop>,
) -> Result<Session<NoOp>, ServiceError> {
    let stop = stop.clone();
    let scheme = Arc::new(NoOp::blank(params).cancelled_by(move || stop.check().is_err()));
    if !bootstraps {
        return Ok(Session::leveled(scheme));
    }
    let bootstrapper = Bootstrapper::new(&*scheme, bootstrap_plan(params)?)?;
    Ok(Session::new(scheme, Arc::new(bootstrapper)))
}

impl Data {
    /// The cost of a job, if it is found before `stop` ends the estimate. Columns count with the
    /// digits, levels and indexes that they have, values modulo p^r as fresh.
    pub(crate) fn estimate(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
        stop: &Arc<Stop>,
    ) -> Result<Estimate, ServiceError> {
        // What ended work says depends on where it was.
        self.estimated(tenant, request, stop).map_err(|e| match stop.check() {
            Err(stopped) if e.code() == "scheme.cancelled" => stopped,
            _ => e,
        })
    }

    fn estimated(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
        stop: &Arc<Stop>,
    ) -> Result<Estimate, ServiceError> {
        self.check(tenant, request)?;
        let key_memory_bytes = self.keys.memory(tenant, request.server_keys())?;
        let keys = self.keys.peek(tenant, request.server_keys())?;
        let params = keys.params().clone();
        let top = params.chain().top();
        let mut estimate = Estimate::of_keys(key_memory_bytes);
        match request {
            JobRequest::Table { table, plan, .. } => {
                let plan = Plan::from_json(&plan.to_string())?;
                let (rows, stop) = (self.tables.info(tenant, table)?.rows, stop.clone());
                let cost = plan.cost_unless(&params, rows, move || stop.check().is_err())?;
                let bytes = ciphertext_bytes(&params, top);
                estimate.seconds = cost.seconds;
                estimate.products = cost.products;
                estimate.key_switches = cost.key_switches;
                estimate.refreshes = cost.refreshes as u64;
                estimate.result_bytes = cost.result_ciphertexts as u64 * bytes;
            }
            JobRequest::Program { program, tables, .. } => {
                let (program, bootstraps) = (Program::parse(program)?, keys.plan().bootstrap);
                // Reading takes parameters and owner of the keys, and none of them.
                let inputs = self.inputs(tenant, request, &Server::leveled(keys))?;
                let session = rehearsal(&params, bootstraps, stop)?;
                let before = session.scheme().cost();
                let (parts, result_bytes) = counted(&session, &params, &program, &inputs, tables)?;
                let cost = session.scheme().cost() - before;
                let model = TimeModel::typical(params.degree());
                estimate.seconds = parts as f64 * model.seconds_with_combinations(&cost);
                estimate.products = parts * cost.products;
                estimate.key_switches = parts * cost.key_switches;
                estimate.refreshes = parts * session.bootstraps() as u64;
                estimate.result_bytes = result_bytes;
            }
        }
        Ok(estimate)
    }

    /// Whether the size of the results of a job has to be estimated, because there is less room
    /// than this number of results of such inputs could need.
    pub(crate) fn is_tight(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
    ) -> Result<bool, ServiceError> {
        let (used, limit) = (self.objects.store.usage(tenant)?.bytes, self.objects.quota.bytes);
        let room = limit.saturating_sub(used);
        let results = match request {
            JobRequest::Program { program, .. } => Program::parse(program)?.outputs().count(),
            JobRequest::Table { .. } => TABLE_RESULTS,
        };
        let table = request.table().map(|id| self.tables.info(tenant, id)).transpose()?;
        let blocks = table.iter().flat_map(|table| table.blocks.values());
        let mut largest = 0;
        for id in request.objects().skip(1).chain(blocks) {
            largest = largest.max(self.objects.info(tenant, id)?.bytes);
        }
        Ok(largest.saturating_mul(GROWTH * results as u64) > room)
    }

    /// Checks that the tenant has room for the estimated results of a job.
    pub(crate) fn check_room(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
        estimates: &rayon::ThreadPool,
        stop: &Arc<Stop>,
    ) -> Result<(), ServiceError> {
        // Where it cannot be counted, the job itself tells why.
        let estimate = estimates.install(|| self.estimate(tenant, request, stop));
        let Ok(estimate) = estimate else { return Ok(()) };
        let (used, limit) = (self.objects.store.usage(tenant)?.bytes, self.objects.quota.bytes);
        match estimate.result_bytes > limit.saturating_sub(used) {
            true => Err(ServiceError::Quota { what: "bytes of results", used, limit }),
            false => Ok(()),
        }
    }
}

/// The bytes of a ciphertext at a level: residues packed to the width of their primes.
fn ciphertext_bytes(params: &Params, level: Level) -> u64 {
    let bits = 1.05 * params.modulus_bits(level);
    (2.0 * params.degree() as f64 * bits / 8.0) as u64 + RECORD_BYTES
}

type Counted = <NoOp as Scheme>::Ciphertext;

/// Runs a program on values like its inputs, and on only one part of columns that are divided.
/// Returns the number of parts, and the size in bytes of all results.
fn counted(
    session: &Session<NoOp>,
    params: &Params,
    program: &Program,
    inputs: &Inputs,
    tables: &BTreeMap<String, Vec<i64>>,
) -> Result<(u64, u64), ServiceError> {
    let scheme = session.scheme();
    let bytes = |x: &Value<Counted>| ciphertext_bytes(params, scheme.level(&x.get()));
    match inputs {
        Inputs::Columns(columns) => {
            columns.shape(program)?;
            let mut alike = BTreeMap::new();
            for (name, column) in columns.part(0) {
                let column = no_op_column(session, &column, |x: &Ciphertext| *x.meta())?;
                alike.insert(name, column);
            }
            let ints = Integers::new(session, params)?;
            let found = ints.run(program, &alike, &integers(tables), &mut |_| ())?;
            let part: u64 = found.values().flat_map(Encrypted::values).map(bytes).sum();
            let parts = columns.blocks() as u64;
            Ok((parts, parts * part))
        }
        Inputs::Ciphertexts(arrays) => {
            arrays.rows(program, params.slots())?;
            let zero = Plaintext::encode(params, &[])?;
            let alike = arrays.alike(|| scheme.encrypt(&zero))?;
            let found = program.run_blocks(session, &alike, &mut |_| ())?;
            Ok((1, found.values().flatten().map(bytes).sum()))
        }
    }
}
