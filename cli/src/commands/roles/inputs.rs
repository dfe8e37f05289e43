//! The columns of values modulo p^r that a program reads, each in as many ciphertexts as it takes:
//! what goes together.

use std::collections::BTreeMap;
use std::path::Path;

use everlevel::files::Bounds;
use everlevel::{Server, Value, ValueRange};
use everlevel_circuit::expression::{Program, Rows};
use everlevel_scheme::same_owner;
use everlevel_wire::Metadata;
use everlevel_wire::arrays::{Array, Rest};

use super::args::SetOfFile;
use super::files::{Column, state_range};
use crate::console::errors::CliError;

/// `NAME=FILE`.
fn named(text: &str) -> Result<(&str, &Path), CliError> {
    let parts = text.split_once('=').filter(|(name, file)| !name.is_empty() && !file.is_empty());
    let (name, file) = parts.ok_or_else(|| {
        CliError::usage(format!(
            "expected NAME=FILE for an input, or a file of typed columns, found {text:?}"
        ))
    })?;
    Ok((name, Path::new(file)))
}

/// The files that a program reads, by the names that it has for them.
pub struct Inputs<'a>(BTreeMap<&'a str, &'a Path>);

impl<'a> Inputs<'a> {
    /// From `NAME=FILE` each; names that the program does not read are refused.
    pub fn named(program: &Program, texts: &'a [String]) -> Result<Self, CliError> {
        let mut paths = BTreeMap::new();
        for (name, path) in texts.iter().map(|text| named(text)).collect::<Result<Vec<_>, _>>()? {
            if !program.inputs().any(|wanted| wanted == name) {
                let wanted: Vec<&str> = program.inputs().collect();
                return Err(CliError::usage(format!(
                    "the program does not read {name}: it reads {}",
                    wanted.join(", ")
                )));
            }
            if paths.insert(name, path).is_some() {
                return Err(CliError::usage(format!("{name} is given twice")));
            }
        }
        Ok(Inputs(paths))
    }

    /// Where they are.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.values().copied()
    }

    /// The ciphertexts, which have to belong to the owner of the server keys. Columns have to be of
    /// one length; with `pad` shorter ones are filled up with 0.
    pub fn read(
        &self,
        server: &Server,
        bounds: &Bounds,
        set: &SetOfFile,
        pad: bool,
    ) -> Result<Loaded, CliError> {
        let (owner, params) = (server.keys().owner(), server.params());
        let mut loaded = Loaded::default();
        for (name, path) in &self.0 {
            let column = Column::read(path, params, bounds, set)?;
            let array = column.array(path, params)?;
            let values = column.values(path, params)?;
            values
                .iter()
                .try_for_each(|x| same_owner(x.get().owner(), owner, "evaluation"))
                .map_err(|e| {
                    CliError::usage(format!("{}: {e}", path.display())).with_code(e.code())
                })?;
            loaded.known.extend(array.map(|array| ((*name).to_string(), array)));
            loaded.arrays.insert((*name).to_string(), values);
        }
        loaded.check(pad)?;
        loaded.fill_up(server)?;
        Ok(loaded)
    }
}

/// The inputs of a program, of one number of ciphertexts.
#[derive(Default)]
pub struct Loaded {
    /// The ciphertexts of each.
    pub arrays: BTreeMap<String, Vec<Value>>,
    /// What files say of them.
    known: BTreeMap<String, Array>,
}

impl Loaded {
    /// The longest array of those whose length is known, and its name.
    fn longest(&self) -> Option<(&String, &Array)> {
        self.known.iter().max_by_key(|(_, array)| array.values())
    }

    /// Refuses columns of several lengths, but for shorter ones that end in zeros, with `pad`.
    fn check(&self, pad: bool) -> Result<(), CliError> {
        let Some((longest, most)) = self.longest() else { return Ok(()) };
        for (name, array) in self.known.iter().filter(|(_, x)| x.values() < most.values()) {
            let told = if !pad {
                format!(
                    "{name} has {} values and {longest} has {}: rows would not belong together; \
                     --pad takes 0 for those that are missing at the end",
                    array.values(),
                    most.values()
                )
            } else if array.rest != Rest::Zero {
                format!(
                    "--pad: the slots of {name} after its values are not known to hold 0: encrypt \
                     it in the length of {longest}"
                )
            } else {
                continue;
            };
            return Err(CliError::usage(told));
        }
        Ok(())
    }

    /// Gives all columns as many ciphertexts as the longest one has: those of 0.
    fn fill_up(&mut self, server: &Server) -> Result<(), CliError> {
        let most = self.blocks();
        for (name, blocks) in &mut self.arrays {
            if blocks.len() < most && !self.known.contains_key(name) {
                return Err(CliError::usage(format!(
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

    /// How many ciphertexts each column has.
    pub fn blocks(&self) -> usize {
        self.arrays.values().map(Vec::len).max().unwrap_or(0)
    }

    /// Where a program leaves the rows of these columns, if they do not fill the slots. What it
    /// would answer wrongly is refused.
    pub fn rows<'p>(
        &self,
        program: &'p Program,
        slots: usize,
    ) -> Result<BTreeMap<&'p str, Rows>, CliError> {
        let blocks = self.blocks();
        if blocks > 1 && program.rotates() {
            return Err(CliError::usage(format!(
                "the program moves slots of columns of {blocks} ciphertexts, and would move each \
                 by itself: take a set with more slots, such as bgv-786433-n16, or arrays in \
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
        let held = |name: &str| zero(name).then_some(0);
        program.rows(held).map_err(|column| {
            CliError::usage(format!(
                "the program, column {column}: sum adds up all {whole} slots, and those without a \
                 value, of which there are {empty}, would not hold 0 there, or are not known to: \
                 add constants after sum, in one program"
            ))
        })
    }

    /// Metadata of a result, of which these are the rows.
    pub fn metadata(&self, rows: Option<&Rows>, result: &[Value], server: &Server) -> Metadata {
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
        state_range(&mut metadata, &ranges, server.params());
        metadata
    }
}
