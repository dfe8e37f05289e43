//! From program to values.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use everlevel_scheme::{Bootstrappable, ExactScheme, Scheme};

use super::syntax::{Function, Kind, Node, Program};
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::range::ValueRange;
use crate::session::{Session, Value};

/// Encrypted values by name.
pub type Values<S> = BTreeMap<String, Value<<S as Scheme>::Ciphertext>>;

/// Arrays of encrypted values by name: as many values, the blocks, of each name.
pub type Blocks<S> = BTreeMap<String, Vec<Value<<S as Scheme>::Ciphertext>>>;

/// A constant part of a program.
#[derive(Clone, Copy)]
struct Constant {
    /// Modulo p^e.
    residue: u64,
    /// The integer that it is, unless that is too large.
    integer: Option<ValueRange>,
}

/// A part's value.
#[derive(Clone)]
enum Operand<S: ExactScheme> {
    Constant(Constant),
    /// A value for each block.
    Encrypted(Vec<Value<S::Ciphertext>>),
}

impl Program {
    /// Runs the program on `inputs` of one plaintext modulus and returns its outputs. `progress` is
    /// called after each statement with the number of those done.
    ///
    /// Costs a product for each `*` of encrypted values, at least depth in products and powers of
    /// one level, a key switch for each rotation with a key of its own
    /// ([`Session::rotate_columns`]), and what bootstrappings the depth asks for.
    ///
    /// # Errors
    /// [`CircuitError::MissingInput`], [`CircuitError::Empty`] without input;
    /// [`CircuitError::ProgramExponent`] for inputs of several plaintext moduli; errors of the
    /// operations.
    pub fn run<S: Bootstrappable>(
        &self,
        auto: &Session<S>,
        inputs: &Values<S>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Values<S>, CircuitError> {
        let one = |(name, x): (&String, &Value<S::Ciphertext>)| (name.clone(), vec![x.clone()]);
        let found = self.run_blocks(auto, &inputs.iter().map(one).collect(), progress)?;
        Ok(found.into_iter().filter_map(|(name, mut x)| Some((name, x.pop()?))).collect())
    }

    /// The same on arrays, of which all have one number of blocks: block by block, except that
    /// `sum` adds up the slots of all blocks. Rotations, exchanges of rows and whatever else moves
    /// slots stay within each block. A statement costs as many operations as there are blocks, but
    /// for `sum`, the key switches of which are those of one.
    ///
    /// # Errors
    /// As [`Program::run`]; [`CircuitError::Empty`] for arrays of no block, and
    /// [`CircuitError::BlockCount`] for arrays of different numbers of them.
    pub fn run_blocks<S: Bootstrappable>(
        &self,
        auto: &Session<S>,
        inputs: &Blocks<S>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Blocks<S>, CircuitError> {
        if let Some(name) = self.inputs().find(|&name| !inputs.contains_key(name)) {
            let given: Vec<&str> = inputs.keys().map(String::as_str).collect();
            return Err(CircuitError::MissingInput { name: name.into(), given: given.join(", ") });
        }
        let scheme = auto.scheme();
        // Constants are modulo the modulus of what is read, so there has to be one.
        let read = self.inputs().filter_map(|name| inputs.get(name)).flatten();
        let mut exponents = read.map(|x| scheme.plain_exponent(&x.get()));
        let exponent = exponents.next();
        let exponent = exponent.ok_or(CircuitError::Empty { what: "the list of inputs" })?;
        if let Some(found) = exponents.find(|found| *found != exponent) {
            return Err(CircuitError::ProgramExponent { expected: exponent, found });
        }
        let mut counts = inputs.values().map(Vec::len);
        let blocks = counts.next().unwrap_or_default();
        if let Some(found) = counts.find(|count| *count != blocks) {
            return Err(CircuitError::BlockCount { expected: blocks, found });
        }
        let modulus = PrimePower::new(scheme.plain_prime(), exponent)?;
        let mut run = Run { auto, modulus, values: inputs.clone() };
        for (done, statement) in self.statements.iter().enumerate() {
            // The parser has seen that it is no constant.
            if let Operand::Encrypted(value) = run.value(&statement.value)? {
                run.values.insert(statement.name.clone(), value);
            }
            progress(done + 1);
        }
        Ok(self
            .outputs()
            .filter_map(|name| Some((name.to_string(), run.values.remove(name)?)))
            .collect())
    }
}

fn typed(node: &Node, operation: &'static str) -> CircuitError {
    CircuitError::TypedOnly { column: node.column, operation }
}

struct Run<'a, S: Bootstrappable> {
    auto: &'a Session<S>,
    modulus: PrimePower,
    values: Blocks<S>,
}

type Block<S> = Value<<S as Scheme>::Ciphertext>;

/// An operation on each block.
fn each<T>(
    x: &[T],
    operation: impl Fn(&T) -> Result<T, CircuitError>,
) -> Result<Vec<T>, CircuitError> {
    x.iter().map(operation).collect()
}

/// An operation on the blocks in the same place.
fn both<T>(
    x: &[T],
    y: &[T],
    operation: impl Fn(&T, &T) -> Result<T, CircuitError>,
) -> Result<Vec<T>, CircuitError> {
    x.iter().zip(y).map(|(x, y)| operation(x, y)).collect()
}

impl<S: Bootstrappable> Run<'_, S> {
    fn constant(&self, c: i64) -> Constant {
        Constant { residue: self.modulus.reduce_i64(c), integer: Some(ValueRange::point(c)) }
    }

    fn value(&self, node: &Node) -> Result<Operand<S>, CircuitError> {
        Ok(match &node.kind {
            Kind::Constant(c) => Operand::Constant(self.constant(*c)),
            Kind::Name(name) => Operand::Encrypted(self.named(name)?),
            Kind::Negative(x) => match self.value(x)? {
                Operand::Constant(c) => Operand::Constant(self.negated(c)),
                Operand::Encrypted(x) => Operand::Encrypted(each(&x, |x| self.auto.neg(x))?),
            },
            Kind::Sum(terms) => self.sum(terms)?,
            Kind::Product(factors) => self.product(factors)?,
            Kind::Power(x, exponent) => match (self.value(x)?, NonZeroU64::new(*exponent)) {
                (_, None) => Operand::Constant(self.constant(1)),
                (Operand::Constant(c), Some(exponent)) => Operand::Constant(Constant {
                    residue: self.modulus.pow(c.residue, exponent.get()),
                    integer: c.integer.and_then(|c| c.power(exponent.get())),
                }),
                (Operand::Encrypted(x), Some(exponent)) => {
                    Operand::Encrypted(each(&x, |x| self.auto.pow(x, exponent))?)
                }
            },
            Kind::Binary(operator, ..) => return Err(typed(node, operator.word())),
            Kind::Not(_) => return Err(typed(node, "!")),
            Kind::Typed(function, _) => return Err(typed(node, function.word())),
            Kind::Named(function, ..) => return Err(typed(node, function.word())),
            Kind::Call(function, x) => match self.value(x)? {
                // As long as only powers are constants that the parser did not see to be ones.
                Operand::Constant(c) => Operand::Constant(c),
                Operand::Encrypted(x) => Operand::Encrypted(self.call(*function, &x)?),
            },
        })
    }

    fn negated(&self, c: Constant) -> Constant {
        Constant {
            residue: self.modulus.neg(c.residue),
            integer: c.integer.map(ValueRange::negated),
        }
    }

    fn named(&self, name: &str) -> Result<Vec<Block<S>>, CircuitError> {
        let missing = || CircuitError::MissingInput { name: name.into(), given: String::new() };
        self.values.get(name).cloned().ok_or_else(missing)
    }

    fn sum(&self, terms: &[(bool, Node)]) -> Result<Operand<S>, CircuitError> {
        let mut constant = self.constant(0);
        let mut sum: Option<Vec<Block<S>>> = None;
        for (subtracted, term) in terms {
            match self.value(term)? {
                Operand::Constant(c) => {
                    let c = if *subtracted { self.negated(c) } else { c };
                    constant = Constant {
                        residue: self.modulus.add(constant.residue, c.residue),
                        integer: constant.integer.zip(c.integer).and_then(|(x, y)| x.plus(y)),
                    };
                }
                Operand::Encrypted(x) => {
                    sum = Some(match sum {
                        None if *subtracted => each(&x, |x| self.auto.neg(x))?,
                        None => x,
                        Some(sum) if *subtracted => both(&sum, &x, |x, y| self.auto.sub(x, y))?,
                        Some(sum) => both(&sum, &x, |x, y| self.auto.add(x, y))?,
                    });
                }
            }
        }
        let Some(sum) = sum else { return Ok(Operand::Constant(constant)) };
        let total = |sum: &Block<S>| {
            // As integers: what is 0 modulo p^e need not be 0.
            let range = sum.range().zip(constant.integer).and_then(|(x, y)| x.plus(y));
            let total = match self.modulus.centered(constant.residue) {
                0 => sum.clone(),
                c => self.auto.add_scalar(sum, c)?,
            };
            Ok(total.within(range))
        };
        Ok(Operand::Encrypted(each(&sum, total)?))
    }

    fn product(&self, factors: &[Node]) -> Result<Operand<S>, CircuitError> {
        let mut constant = self.constant(1);
        let mut encrypted = Vec::new();
        for factor in factors {
            match self.value(factor)? {
                Operand::Constant(c) => {
                    constant = Constant {
                        residue: self.modulus.mul(constant.residue, c.residue),
                        integer: constant.integer.zip(c.integer).and_then(|(x, y)| x.times(y)),
                    };
                }
                Operand::Encrypted(x) => encrypted.push(x),
            }
        }
        // A tree of least depth.
        while encrypted.len() > 1 {
            let pair = |pair: &[Vec<Block<S>>]| match pair {
                [x, y] => both(x, y, |x, y| self.auto.mul(x, y)),
                rest => Ok(rest[0].clone()),
            };
            encrypted = encrypted.chunks(2).map(pair).collect::<Result<_, _>>()?;
        }
        let Some(x) = encrypted.pop() else { return Ok(Operand::Constant(constant)) };
        let product = |x: &Block<S>| {
            let range = x.range().zip(constant.integer).and_then(|(x, y)| x.times(y));
            let product = match self.modulus.centered(constant.residue) {
                1 => x.clone(),
                c => self.auto.mul_scalar(x, c)?,
            };
            Ok(product.within(range))
        };
        Ok(Operand::Encrypted(each(&x, product)?))
    }

    fn call(&self, function: Function, x: &[Block<S>]) -> Result<Vec<Block<S>>, CircuitError> {
        match function {
            Function::Rotate(k) => each(x, |x| self.auto.rotate_columns(x, k)),
            Function::RotateAlong(dimension, k) => {
                each(x, |x| self.auto.rotate_along(x, dimension, k))
            }
            Function::SwapRows => each(x, |x| self.auto.swap_rows(x)),
            Function::Sum => {
                let (first, others) =
                    x.split_first().ok_or(CircuitError::Empty { what: "an array" })?;
                let all = others.iter().try_fold(first.clone(), |sum, x| self.auto.add(&sum, x))?;
                Ok(vec![self.auto.sum(&all)?; x.len()])
            }
            Function::Refresh => each(x, |x| self.auto.refresh(x)),
        }
    }
}
