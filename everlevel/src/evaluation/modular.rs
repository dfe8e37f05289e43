//! Arrays of values modulo p^r, each in as many ciphertexts as necessary.

use std::collections::BTreeMap;

use everlevel_bgv::Ciphertext;
use everlevel_circuit::ValueRange;
use everlevel_circuit::expression::{Program, Rows};
use everlevel_ring::{Cpu, Engine};
use everlevel_scheme::{Params, same_owner};
use everlevel_wire::Metadata;
use everlevel_wire::arrays::{Array, Rest};

use super::error::EvaluationError;
use crate::error::Error;
use crate::server::{Server, Value, ValueOn};
use crate::stored::{ranges_of, state_ranges};

/// Metadata of ciphertexts: that slots hold whole elements.
const ELEMENTS: &str = "elements";

/// The input arrays of a program, by their names in the program, in the memory of an engine.
pub struct ModularInputs<E: Engine = Cpu> {
    arrays: BTreeMap<String, Vec<ValueOn<E>>>,
    /// The metadata of their files.
    known: BTreeMap<String, Array>,
}

impl<E: Engine> Default for ModularInputs<E> {
    fn default() -> Self {
        ModularInputs { arrays: BTreeMap::new(), known: BTreeMap::new() }
    }
}

/// An array that a program has computed.
pub struct ModularResult {
    /// Its name.
    pub name: String,
    /// Its ciphertexts.
    pub values: Vec<Value>,
    /// Its metadata, as for a file.
    pub metadata: Metadata,
}

impl ModularInputs {
    /// The ciphertexts of a file with their ranges, for computation; they must hold integers, and
    /// there must be at least one.
    ///
    /// # Errors
    /// No ciphertext, whole elements in slots, malformed ranges.
    pub fn integers(
        params: &Params,
        ciphertexts: Vec<Ciphertext>,
        metadata: &Metadata,
    ) -> Result<Vec<Value>, EvaluationError> {
        if ciphertexts.is_empty() {
            return Err(EvaluationError::inputs("expected a ciphertext, found none"));
        }
        let elements = metadata.get(ELEMENTS).is_some_and(|stated| stated == "true");
        if elements && params.slot_shape().degree_of_slot() > 1 {
            let problem = "slots hold whole elements, which Python computes on";
            return Err(EvaluationError::inputs(problem));
        }
        let ranges = ranges_of(metadata, ciphertexts.len())?;
        let own = |(x, range)| Value::from(x).within(range);
        Ok(ciphertexts.into_iter().zip(ranges).map(own).collect())
    }
}

impl<E: Engine> ModularInputs<E> {
    /// Adds the array of a file, which has to belong to the owner of the server keys, and copies it
    /// into the memory of the server's engine.
    ///
    /// # Errors
    /// As [`ModularInputs::integers`]; `scheme.wrong-key` for another owner; a name that exists
    /// already; a fault of the engine.
    pub fn add(
        &mut self,
        server: &Server<E>,
        name: &str,
        ciphertexts: Vec<Ciphertext>,
        metadata: &Metadata,
    ) -> Result<(), EvaluationError> {
        let (owner, params) = (server.keys().owner(), server.params());
        let array = Array::of(metadata, params.slots(), ciphertexts.len())?;
        let values = ModularInputs::integers(params, ciphertexts, metadata)?;
        values.iter().try_for_each(|x| same_owner(x.get().owner(), owner, "evaluation"))?;
        let values = values.into_iter().map(|x| server.upload(&x));
        let values = values.collect::<Result<Vec<_>, Error>>()?;
        self.known.extend(array.map(|array| (name.to_string(), array)));
        match self.arrays.insert(name.to_string(), values) {
            Some(_) => Err(EvaluationError::inputs(format!("{name} is given twice"))),
            None => Ok(()),
        }
    }

    /// The same inputs with equal numbers of ciphertexts: arrays must have equal lengths; with
    /// `pad`, shorter ones are extended by zeros.
    ///
    /// # Errors
    /// Arrays of different lengths; with `pad`, arrays whose unused slots are not known to be 0.
    pub fn aligned(mut self, server: &Server<E>, pad: bool) -> Result<Self, EvaluationError> {
        self.check(pad)?;
        self.fill_up(server)?;
        Ok(self)
    }

    /// The longest array among those of known length, and its name.
    fn longest(&self) -> Option<(&String, &Array)> {
        self.known.iter().max_by_key(|(_, array)| array.values())
    }

    fn check(&self, pad: bool) -> Result<(), EvaluationError> {
        let Some((longest, most)) = self.longest() else { return Ok(()) };
        for (name, array) in self.known.iter().filter(|(_, x)| x.values() < most.values()) {
            if !pad {
                return Err(EvaluationError::Lengths {
                    name: name.clone(),
                    values: array.values(),
                    longest: longest.clone(),
                    most: most.values(),
                });
            }
            if array.rest != Rest::Zero {
                return Err(EvaluationError::inputs(format!(
                    "{name} cannot be filled up, as its slots after its values are not known to \
                     hold 0: encrypt it in the length of {longest}"
                )));
            }
        }
        Ok(())
    }

    /// Extends all arrays by ciphertexts of 0 to the number of ciphertexts of the longest one.
    fn fill_up(&mut self, server: &Server<E>) -> Result<(), EvaluationError> {
        let most = self.blocks();
        for (name, blocks) in &mut self.arrays {
            if blocks.len() < most && !self.known.contains_key(name) {
                return Err(EvaluationError::inputs(format!(
                    "{name} has {} ciphertexts and another input has {most}: give columns of one \
                     length",
                    blocks.len()
                )));
            }
            if let (true, Some(x)) = (blocks.len() < most, blocks.first()) {
                let zero = server.sub(x, x)?.within(ValueRange::new(0, 0));
                blocks.resize(most, zero);
            }
        }
        Ok(())
    }

    /// The ciphertexts of each array.
    pub fn arrays(&self) -> &BTreeMap<String, Vec<everlevel_circuit::Value<Ciphertext<E>>>> {
        &self.arrays
    }

    /// The number of ciphertexts of each array.
    pub fn blocks(&self) -> usize {
        self.arrays.values().map(Vec::len).max().unwrap_or(0)
    }

    /// Arrays of another scheme with the same names and numbers of ciphertexts, for a rehearsal.
    ///
    /// # Errors
    /// Those of `fresh`.
    pub fn alike<C, X>(
        &self,
        fresh: impl Fn() -> Result<C, X>,
    ) -> Result<BTreeMap<String, Vec<everlevel_circuit::Value<C>>>, X> {
        let one = |x: &ValueOn<E>| Ok(everlevel_circuit::Value::from(fresh()?).within(x.range()));
        let all = |(name, blocks): (&String, &Vec<ValueOn<E>>)| {
            Ok((name.clone(), blocks.iter().map(one).collect::<Result<_, X>>()?))
        };
        self.arrays.iter().map(all).collect()
    }

    /// The slots in which a program leaves the rows of these arrays, if they do not fill all slots.
    ///
    /// # Errors
    /// Programs whose results would be wrong: rotations within each of several ciphertexts, and
    /// sums over slots without a value.
    pub fn rows<'p>(
        &self,
        program: &'p Program,
        slots: usize,
    ) -> Result<BTreeMap<&'p str, Rows>, EvaluationError> {
        let blocks = self.blocks();
        if blocks > 1 && program.rotates() {
            return Err(EvaluationError::inputs(format!(
                "the program moves slots of columns of {blocks} ciphertexts, and would move each \
                 by itself: use a set with more slots, such as bgv-786433-n16, or arrays in \
                 Python, which move as a whole"
            )));
        }
        let whole = slots * blocks;
        let values = self.longest().map_or(whole, |(_, array)| array.values());
        let empty = whole.saturating_sub(values);
        if empty == 0 {
            return Ok(BTreeMap::new());
        }
        let zero = |name: &str| self.known.get(name).is_some_and(|x| x.rest == Rest::Zero);
        program.rows(|name| zero(name).then_some(0)).map_err(|column| {
            EvaluationError::inputs(format!(
                "the program, column {column}: sum adds up all {whole} slots, and those without a \
                 value, of which there are {empty}, would not hold 0 there, or are not known to: \
                 add constants after sum, in one program"
            ))
        })
    }

    /// The results of a program, in its order, in the memory of the processor. `progress` is called
    /// with the number of statements done.
    ///
    /// # Errors
    /// As [`ModularInputs::rows`] and [`Program::run_blocks`]; a fault of the engine.
    pub fn run(
        &self,
        server: &Server<E>,
        program: &Program,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<ModularResult>, EvaluationError> {
        let rows = self.rows(program, server.params().slots())?;
        let found = program.run_blocks(&server.session, &self.arrays, progress);
        let mut found = found.map_err(Error::from)?;
        let named = program.outputs().filter_map(|name| Some((name, found.remove(name)?)));
        let results = named.map(|(name, values)| {
            let values = values.iter().map(|x| server.download(x));
            let values = values.collect::<Result<Vec<_>, Error>>()?;
            let metadata = self.metadata(rows.get(name), &values);
            Ok(ModularResult { name: name.into(), values, metadata })
        });
        results.collect()
    }

    /// The metadata of a result with these rows.
    fn metadata(&self, rows: Option<&Rows>, result: &[Value]) -> Metadata {
        let mut metadata = Metadata::new();
        // Rows that are in other slots now are all shown.
        let longest = self.longest().filter(|_| !rows.is_some_and(|rows| rows.moved));
        if let Some((_, longest)) = longest {
            let mut alike = self.known.values().filter(|x| x.values() == longest.values());
            let one = alike.all(|x| x.shape == longest.shape);
            let shape = if one { longest.shape.clone() } else { vec![longest.values()] };
            let zero = rows.is_none_or(|rows| rows.empty == Some(0));
            let rest = if zero { Rest::Zero } else { Rest::Unknown };
            Array { shape, rest }.state(&mut metadata);
        }
        let ranges: Vec<Option<ValueRange>> = result.iter().map(Value::range).collect();
        state_ranges(&mut metadata, &ranges);
        metadata
    }
}
