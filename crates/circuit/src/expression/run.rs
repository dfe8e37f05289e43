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
    Encrypted(Value<S::Ciphertext>),
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
    /// [`CircuitError::MissingInput`], [`CircuitError::Empty`] without input; errors of the
    /// operations.
    pub fn run<S: Bootstrappable>(
        &self,
        auto: &Session<S>,
        inputs: &Values<S>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Values<S>, CircuitError> {
        if let Some(name) = self.inputs().find(|&name| !inputs.contains_key(name)) {
            let given: Vec<&str> = inputs.keys().map(String::as_str).collect();
            return Err(CircuitError::MissingInput { name: name.into(), given: given.join(", ") });
        }
        let first =
            inputs.values().next().ok_or(CircuitError::Empty { what: "the list of inputs" })?;
        let scheme = auto.scheme();
        let modulus = PrimePower::new(scheme.plain_prime(), scheme.plain_exponent(&first.get()))?;
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
    values: Values<S>,
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
                Operand::Encrypted(x) => Operand::Encrypted(self.auto.neg(&x)?),
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
                    Operand::Encrypted(self.auto.pow(&x, exponent)?)
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

    fn named(&self, name: &str) -> Result<Value<S::Ciphertext>, CircuitError> {
        let missing = || CircuitError::MissingInput { name: name.into(), given: String::new() };
        self.values.get(name).cloned().ok_or_else(missing)
    }

    fn sum(&self, terms: &[(bool, Node)]) -> Result<Operand<S>, CircuitError> {
        let mut constant = self.constant(0);
        let mut sum: Option<Value<S::Ciphertext>> = None;
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
                        None if *subtracted => self.auto.neg(&x)?,
                        None => x,
                        Some(sum) if *subtracted => self.auto.sub(&sum, &x)?,
                        Some(sum) => self.auto.add(&sum, &x)?,
                    });
                }
            }
        }
        let Some(sum) = sum else { return Ok(Operand::Constant(constant)) };
        // As integers: what is 0 modulo p^e need not be 0.
        let range = sum.range().zip(constant.integer).and_then(|(x, y)| x.plus(y));
        let total = match self.modulus.centered(constant.residue) {
            0 => sum,
            c => self.auto.add_scalar(&sum, c)?,
        };
        Ok(Operand::Encrypted(total.within(range)))
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
            let pair = |pair: &[Value<S::Ciphertext>]| match pair {
                [x, y] => self.auto.mul(x, y),
                rest => Ok(rest[0].clone()),
            };
            encrypted = encrypted.chunks(2).map(pair).collect::<Result<_, _>>()?;
        }
        let Some(x) = encrypted.pop() else { return Ok(Operand::Constant(constant)) };
        let range = x.range().zip(constant.integer).and_then(|(x, y)| x.times(y));
        let product = match self.modulus.centered(constant.residue) {
            1 => x,
            c => self.auto.mul_scalar(&x, c)?,
        };
        Ok(Operand::Encrypted(product.within(range)))
    }

    fn call(
        &self,
        function: Function,
        x: &Value<S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        match function {
            Function::Rotate(k) => self.auto.rotate_columns(x, k),
            Function::RotateAlong(dimension, k) => self.auto.rotate_along(x, dimension, k),
            Function::SwapRows => self.auto.swap_rows(x),
            Function::Sum => self.auto.sum(x),
            Function::Refresh => self.auto.refresh(x),
        }
    }
}
