//! The stage of the server, and what else it can compute.

use std::path::Path;
use std::sync::mpsc::SyncSender;

use everlevel_bgv::{Ciphertext, EvalKeys, Evaluator};
use everlevel_ring::Cpu;
use everlevel_scheme::{Arithmetic, NextUse, Params, SchemeError};
use everlevel_wire::FileKeys;
use rayon::prelude::*;

use super::protocol::{Files, INPUT_BITS, MODULI, params, part};
use super::vector::{WholeNumbers, WholeReader, WholeWriter};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{batches, blocks, fresh};
use crate::output::{make_place_for, write_meanwhile};
use crate::stage::usage;
use crate::steps::Steps;
use crate::zn::INSTANCES;

/// Bytes of expanded keys that are kept for each modulus: more than there are.
const KEY_CACHE: u64 = 1 << 24;

/// Multiplies and adds up encrypted whole numbers. It has no secret.
pub struct Server {
    params: Vec<Params>,
    evaluators: Vec<Evaluator<Cpu, FileKeys>>,
}

impl Server {
    /// A server with the keys in files, one for each modulus, that begin with this path.
    ///
    /// # Errors
    /// Files that are not of these keys; what the system refuses.
    pub fn open(path: &Path) -> Result<Self, SuiteError> {
        let evaluator = |params: &Params| {
            let keys = FileKeys::open(params, &part(path, params.plain_modulus()), KEY_CACHE)?;
            // Read now, so that this is not part of the time of the first product.
            keys.relin(params.chain().gadget_id(params.chain().top()))?;
            Ok::<_, SuiteError>(Evaluator::new(keys))
        };
        let params = params()?;
        let evaluators = params.par_iter().map(evaluator).collect::<Result<_, _>>()?;
        Ok(Server { params, evaluators })
    }

    /// The parameters for each modulus.
    pub fn params(&self) -> &[Params] {
        &self.params
    }

    /// Numbers of a block.
    pub fn slots(&self) -> usize {
        self.params[0].slots()
    }

    /// The product, slot by slot, as factor of a further product. It has as many bits as both
    /// factors together.
    ///
    /// # Errors
    /// More bits than residues hold (`suite.range`), too much noise for the levels that are left,
    /// numbers under another key.
    pub fn multiply(&self, a: &WholeNumbers, b: &WholeNumbers) -> Result<WholeNumbers, SuiteError> {
        let product = |evaluator: &Evaluator<Cpu, FileKeys>, x: &Ciphertext, y: &Ciphertext| {
            evaluator.mul(x, y, NextUse::Product)
        };
        self.each(a, b, a.bits + b.bits, product)
    }

    /// The sum, slot by slot. It has one bit more than the longer of the two.
    ///
    /// # Errors
    /// As [`Server::multiply`].
    pub fn add(&self, a: &WholeNumbers, b: &WholeNumbers) -> Result<WholeNumbers, SuiteError> {
        let sum = |evaluator: &Evaluator<Cpu, FileKeys>, x: &Ciphertext, y: &Ciphertext| {
            evaluator.add(x, y)
        };
        self.each(a, b, a.bits.max(b.bits) + 1, sum)
    }

    /// The same operation on the residues for each modulus, whose result has `bits` bits.
    fn each(
        &self,
        a: &WholeNumbers,
        b: &WholeNumbers,
        bits: u32,
        operation: impl Fn(
            &Evaluator<Cpu, FileKeys>,
            &Ciphertext,
            &Ciphertext,
        ) -> Result<Ciphertext, SchemeError>
        + Sync,
    ) -> Result<WholeNumbers, SuiteError> {
        WholeNumbers::check_bits(bits)?;
        let evaluators = self.evaluators.par_iter().enumerate();
        let residues =
            evaluators.map(|(i, evaluator)| operation(evaluator, &a.residues[i], &b.residues[i]));
        WholeNumbers::new(residues.collect::<Result<_, _>>()?, bits)
    }
}

/// `server_encrypted_compute INSTANCE COUNT`: the products of all pairs.
///
/// # Errors
/// What is not an upload for this instance, not fresh from a secret key, or not at its place;
/// missing keys.
pub fn compute(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name, count] = arguments else { return Err(usage("INSTANCE COUNT", arguments)) };
    let mut steps = Steps::start();
    let instance = Instance::with_count(&INSTANCES, name, count)?;
    let files = Files::of(&instance);
    // What an earlier run left is not taken for the result of this one.
    MODULI.iter().try_for_each(|&modulus| make_place_for(&part(&files.download, modulus)))?;
    let server = steps.time("Load keys", || Server::open(&files.server_keys))?;
    let blocks = blocks(&instance, server.slots());
    let (path, operands) = (&files.upload, 2 * blocks);
    let mut upload = steps.time("Read inputs", || {
        WholeReader::open(server.params(), path, &instance, INPUT_BITS, operands, &fresh())?
            .in_places()
    })?;
    let (path, bits) = (&files.download, 2 * INPUT_BITS);
    let mut download = WholeWriter::create(server.params(), path, &instance, bits, blocks)?;
    let spent = write_meanwhile(
        |products| download.push_all(products),
        |results| compute_all(&mut steps, &server, blocks, &mut upload, results),
    )?;
    steps.add("Write outputs", spent);
    steps.time("Write outputs", || download.finish_without_sync())?;
    steps.write(&instance)
}

/// Reads and multiplies batch by batch, and passes the products on.
fn compute_all(
    steps: &mut Steps,
    server: &Server,
    blocks: usize,
    upload: &mut WholeReader,
    results: SyncSender<Vec<WholeNumbers>>,
) -> Result<(), SuiteError> {
    // As many blocks at a time as there are threads.
    for batch in batches(blocks, 1) {
        let places = 2 * batch.start..2 * batch.end;
        let operands = steps.time("Read inputs", || upload.read_range(places))?;
        let products = steps.time("Encrypted computation", || {
            let pairs = operands.par_chunks(2);
            let products = pairs.map(|pair| server.multiply(&pair[0], &pair[1]));
            products.collect::<Result<Vec<_>, _>>()
        })?;
        if results.send(products).is_err() {
            // The writer failed, and says why.
            break;
        }
    }
    Ok(())
}
