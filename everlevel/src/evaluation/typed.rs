//! Columns of typed integers of any length, with as many ciphertexts for each digit as necessary.

use std::collections::BTreeMap;

use everlevel_bgv::Ciphertext;
use everlevel_circuit::expression::Program;
use everlevel_integers::{Column, Encrypted, Interval, Type, integers_of};
use everlevel_ring::{Cpu, Engine};
use everlevel_scheme::{Level, Params, same_owner};
use everlevel_wire::columns::ColumnArray;
use everlevel_wire::{Metadata, WireError};

use super::error::EvaluationError;
use crate::columns::IntegerValue;
use crate::error::Error;
use crate::rehearsed::{alike, has_all_gadgets, rehearsal};
use crate::server::Server;

/// A column, or a total, of any length, of ciphertexts that are whole or cut to what decryption
/// needs.
#[derive(Clone)]
pub struct TypedArray<C = Ciphertext> {
    /// Its description in the file.
    pub array: ColumnArray,
    /// Its columns or totals, as many as the description states.
    pub blocks: Vec<Encrypted<C>>,
}

impl<C> TypedArray<C> {
    /// Assembles the columns that were read from a file into one or several arrays.
    ///
    /// # Errors
    /// Metadata that do not describe exactly these columns.
    pub fn joined(
        found: Vec<(String, Encrypted<C>)>,
        metadata: &Metadata,
        params: &Params,
    ) -> Result<Vec<Self>, Error> {
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let described = ColumnArray::all(metadata, params.slots(), &names)?;
        let own =
            |(name, x): &(String, Encrypted<C>)| ColumnArray::vector(name, 1, Self::length(x));
        let described = described.unwrap_or_else(|| found.iter().map(own).collect());
        let place = |name: &str| found.iter().find(|(column, _)| column == name);
        let joined = described.into_iter().map(|array| {
            let columns = (0..array.blocks).filter_map(|i| place(&array.column(i)));
            let blocks: Vec<Encrypted<C>> = columns.map(|(_, x)| x.clone()).collect();
            let lengths = array.lengths(params.slots());
            let fits = blocks.iter().enumerate().all(|(i, x)| match (x, &lengths) {
                (Encrypted::Total(_), None) => true,
                (Encrypted::Total(_), Some(_)) => false,
                (x, Some(lengths)) => Self::length(x).is_none_or(|n| n == lengths[i]),
                (x, None) => Self::length(x).is_none() && array.blocks == 1,
            });
            if !fits {
                let (name, problem) = (array.name, "its columns do not fit its shape".into());
                return Err(WireError::Columns { name, problem }.into());
            }
            Ok(TypedArray { array, blocks })
        });
        joined.collect()
    }

    /// The columns of arrays with their names in a file; `metadata` receives the description of the
    /// arrays.
    pub fn columns(arrays: Vec<Self>, metadata: &mut Metadata) -> Vec<(String, Encrypted<C>)> {
        let described: Vec<ColumnArray> = arrays.iter().map(|x| x.array.clone()).collect();
        ColumnArray::state(&described, metadata);
        let named = |TypedArray { array, blocks }| {
            let column = move |(i, block)| (ColumnArray::column(&array, i), block);
            blocks.into_iter().enumerate().map(column)
        };
        arrays.into_iter().flat_map(named).collect()
    }

    /// The number of entries of a column; none for totals and for public integers that stand for a
    /// column of any length.
    pub fn length(x: &Encrypted<C>) -> Option<usize> {
        match x {
            Encrypted::Column(x) => x.length(),
            Encrypted::Total(_) => None,
        }
    }

    /// Whether it stands for a column of any length.
    pub fn is_any_length(&self) -> bool {
        !self.is_total() && self.blocks.iter().all(|x| Self::length(x).is_none())
    }

    /// Whether it is a total.
    pub fn is_total(&self) -> bool {
        self.blocks.iter().any(|x| matches!(x, Encrypted::Total(_)))
    }

    /// The interval of its values, if it is within 127 bits.
    ///
    /// # Errors
    /// A total beyond 127 bits.
    pub fn interval(&self) -> Result<Interval, Error> {
        let parts = self.blocks.iter().map(Encrypted::interval);
        let total = self.is_total();
        let joined =
            parts.map(|part| (part.low(), part.high())).reduce(|(low, high), (l, h)| match total {
                true => (low.saturating_add(l), high.saturating_add(h)),
                false => (low.min(l), high.max(h)),
            });
        let (low, high) = joined.unwrap_or((0, 0));
        Ok(Interval::new(low, high)?)
    }

    /// The smallest named type that holds its values, if there is one: that of truth values only
    /// where its entries are no places, counts or sums.
    ///
    /// # Errors
    /// As [`TypedArray::interval`].
    pub fn smallest(&self) -> Result<Option<Type>, Error> {
        let interval = self.interval()?;
        Ok(match self.array.integers || self.is_total() {
            true => Type::smallest_of_integers(interval),
            false => Type::smallest(interval),
        })
    }

    /// The number of its ciphertexts, with those of an index.
    pub fn ciphertexts(&self) -> usize {
        self.blocks.iter().map(|x| x.values().chain(x.index_values()).count()).sum()
    }
}

impl TypedArray {
    /// A result, in the shape of the inputs if it has the same entries; `integers` are no truth
    /// values.
    fn of_result(
        name: String,
        blocks: Vec<IntegerValue>,
        like: Option<&ColumnArray>,
        integers: bool,
    ) -> Self {
        let lengths: Option<Vec<usize>> = blocks.iter().map(Self::length).collect();
        let total = blocks.iter().any(|x| matches!(x, IntegerValue::Total(_)));
        let whole = lengths.map(|lengths| lengths.into_iter().sum::<usize>());
        let vector = ColumnArray::vector(&name, blocks.len(), whole.filter(|_| !total));
        let array = match like.filter(|like| !total && like.blocks == blocks.len()) {
            Some(like) => ColumnArray { shape: like.shape.clone(), runs: like.runs, ..vector },
            None => vector,
        };
        // Public integers that stand for columns of any length, and totals, are not described.
        let integers = integers && array.shape.is_some();
        TypedArray { array: ColumnArray { integers, ..array }, blocks }
    }
}

/// The input columns of a program, by their names in the program, in the memory of an engine.
pub struct TypedInputs<E: Engine = Cpu>(BTreeMap<String, TypedArray<Ciphertext<E>>>);

impl<E: Engine> Default for TypedInputs<E> {
    fn default() -> Self {
        TypedInputs(BTreeMap::new())
    }
}

impl<E: Engine> TypedInputs<E> {
    /// Adds the columns of a file, which have to belong to the owner of the server keys, and copies
    /// them into the memory of the server's engine; with a name, the only one by that name.
    ///
    /// # Errors
    /// `scheme.wrong-key` for another owner; totals, which cannot be used in computation; one name
    /// for several columns, or a name that exists already; a fault of the engine.
    pub fn add(
        &mut self,
        server: &Server<E>,
        name: Option<&str>,
        found: Vec<TypedArray>,
    ) -> Result<(), EvaluationError> {
        let owner = server.keys().owner();
        if name.is_some() && found.len() != 1 {
            return Err(EvaluationError::inputs(format!(
                "expected one column for a name, found {}: give them by the names that they have",
                found.len()
            )));
        }
        for mut x in found {
            let values = x.blocks.iter().flat_map(|x| x.values().chain(x.index_values()));
            let owners: Vec<_> = values.map(|v| v.get().owner()).collect();
            owners.into_iter().try_for_each(|x| same_owner(x, owner, "evaluation"))?;
            let name = name.map_or_else(|| x.array.name.clone(), str::to_string);
            if x.is_total() {
                let problem = format!("{name} is a total, which can only be decrypted");
                return Err(EvaluationError::inputs(problem));
            }
            x.array.name.clone_from(&name);
            let blocks = x.blocks.iter().map(|block| server.upload_integers(block));
            let mut blocks = blocks.collect::<Result<Vec<_>, Error>>()?;
            // What is public has as many entries as the array is said to have.
            let lengths = x.array.lengths(server.params().slots()).unwrap_or_default();
            for (block, length) in blocks.iter_mut().zip(lengths) {
                if let Encrypted::Column(column) = block {
                    *column = column.of_length(length);
                }
            }
            let x = TypedArray { array: x.array, blocks };
            if self.0.insert(name.clone(), x).is_some() {
                return Err(EvaluationError::inputs(format!("column {name} is given twice")));
            }
        }
        Ok(())
    }

    /// The number of parts into which the columns are divided.
    pub fn blocks(&self) -> usize {
        self.0.values().map(|x| x.blocks.len()).max().unwrap_or(0)
    }

    /// A part of all columns.
    pub fn part(&self, block: usize) -> BTreeMap<String, Column<Ciphertext<E>>> {
        let part = |(name, x): (&String, &TypedArray<Ciphertext<E>>)| {
            let found = x.blocks.get(block).or(x.blocks.first());
            match found {
                Some(Encrypted::Column(x)) => Some((name.clone(), x.clone())),
                _ => None,
            }
        };
        self.0.iter().filter_map(part).collect()
    }

    /// The shape of results, if these columns are computed on part by part, and if they have one.
    ///
    /// # Errors
    /// Programs whose results would be wrong: operations on whole columns if columns are divided
    /// into parts, and columns that are divided differently.
    pub fn shape(&self, program: &Program) -> Result<Option<&ColumnArray>, EvaluationError> {
        let (parts, blocks) = (program.in_parts(), self.blocks());
        if let (true, Err(column)) = (blocks > 1, parts) {
            return Err(EvaluationError::inputs(format!(
                "the program, column {column}: columns in {blocks} ciphertexts a digit are \
                 computed on part by part, and this takes a column as a whole: only sum and count \
                 do, as results by themselves; use a set with more slots, such as bgv-786433-n16, \
                 or a table"
            )));
        }
        Ok(self.cut()?.filter(|_| parts.is_ok()))
    }

    /// The common shape of columns with several ciphertexts for each digit; columns of any length
    /// fit any shape. None if there are several shapes.
    fn cut(&self) -> Result<Option<&ColumnArray>, EvaluationError> {
        let of_a_length =
            |x: &&TypedArray<Ciphertext<E>>| x.array.shape.is_some() && !x.is_any_length();
        let mut arrays = self.0.values().filter(of_a_length).map(|x| &x.array);
        let Some(first) = arrays.next() else { return Ok(None) };
        let mut shapes = Some(first);
        for array in arrays {
            let alike = (array.shape == first.shape) && array.runs == first.runs;
            if !alike {
                shapes = None;
            }
            if !alike && (array.blocks > 1 || first.blocks > 1) {
                return Err(EvaluationError::inputs(format!(
                    "{} and {} are columns of several lengths or shapes, in {} and {} ciphertexts \
                     a digit: give columns of one length",
                    first.name, array.name, first.blocks, array.blocks
                )));
            }
        }
        Ok(shapes)
    }

    /// Refuses a program that keys of one program do not suffice for, or that does not fit, before
    /// anything is computed. Columns at the top are not checked on a server that bootstraps: keys
    /// of a program that bootstraps are made for these. They are checked for smaller keys, which
    /// make other noise.
    fn check(
        &self,
        server: &Server<E>,
        program: &Program,
        tables: &BTreeMap<String, Vec<i128>>,
    ) -> Result<(), EvaluationError> {
        if has_all_gadgets(server) {
            return Ok(());
        }
        let made = server.bootstrapper.is_some() && has_own_gadgets(server);
        let top = server.params().chain().top();
        let at_top = |x: &Column<Ciphertext<E>>| x.values().all(|v| v.get().level() == top);
        let mut checked: Vec<BTreeMap<String, Column<Ciphertext<E>>>> = Vec::new();
        for part in (0..self.blocks()).map(|i| self.part(i)) {
            let passed = made && part.values().all(at_top);
            // The parts of most columns are alike.
            if passed || checked.iter().any(|known| alike(known, &part)) {
                continue;
            }
            let rehearsal = rehearsal(server)?;
            let mut pretended = BTreeMap::new();
            for (name, x) in &part {
                let like = rehearsal.like(x, |c: &Ciphertext<E>| *c.meta());
                pretended.insert(name.clone(), like.map_err(Error::from)?);
            }
            let ints = rehearsal.integers().map_err(Error::from)?;
            let found = ints.run(program, &pretended, tables, &mut |_| ());
            found.map_err(EvaluationError::Program)?;
            checked.push(part);
        }
        Ok(())
    }

    /// The results of a program with public tables, in the memory of the processor; columns in
    /// several parts are computed part by part. `progress` is called with the number of statements
    /// done, over all parts.
    ///
    /// # Errors
    /// As [`TypedInputs::shape`]; operations of the program that are impossible, a missing key and
    /// too little capacity, which are refused before anything is computed where keys are for some
    /// programs only; a fault of the engine.
    pub fn run(
        &self,
        server: &Server<E>,
        program: &Program,
        tables: &BTreeMap<String, Vec<i128>>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<TypedArray>, EvaluationError> {
        let shape = self.shape(program)?;
        self.check(server, program, tables)?;
        let given = self.0.iter().map(|(name, x)| (name.clone(), x.array.integers)).collect();
        let integers = integers_of(program, &given);
        let ints = server.integers()?;
        let mut results: Vec<(String, Vec<Encrypted<Ciphertext<E>>>)> = Vec::new();
        for i in 0..self.blocks() {
            let step = &mut |done| progress(i * program.len() + done);
            let found = ints.run(program, &self.part(i), tables, step);
            for (name, value) in found.map_err(EvaluationError::Program)? {
                match results.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, values)) => values.push(value),
                    None => results.push((name, vec![value])),
                }
            }
        }
        // Not before the end, as later parts may bootstrap in place what earlier ones have left.
        let results = results.into_iter().map(|(name, blocks)| {
            let blocks = blocks.iter().map(|block| server.download_integers(block));
            let blocks = blocks.collect::<Result<Vec<_>, Error>>()?;
            let integers = integers.get(&name).copied().unwrap_or(false);
            Ok(TypedArray::of_result(name, blocks, shape, integers))
        });
        results.collect()
    }
}

/// Whether a server relinearizes wherever it does by the gadget of the level: it does not if it has
/// keys for fewer gadgets ([`KeyPlan::smaller`]), whose noise a plan for all of them does not know.
fn has_own_gadgets<E: Engine>(server: &Server<E>) -> bool {
    let (params, keys) = (server.params(), server.keys().planned());
    let chain = params.chain();
    (0..=chain.top().0)
        .map(Level)
        .all(|level| keys.relin_gadget(params, level).is_none_or(|id| id == chain.gadget_id(level)))
}
