//! From program to values.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use everlevel_scheme::{Bootstrappable, ExactScheme, NextUse, Scheme};

use super::syntax::{Function, Kind, Node, Program};
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::rotate::rotate_along;
use crate::session::{Session, Value};

/// Encrypted values by name.
pub type Values<S> = BTreeMap<String, Value<<S as Scheme>::Ciphertext>>;

/// A part's value.
#[derive(Clone)]
enum Operand<S: ExactScheme> {
    /// Modulo p^e.
    Constant(u64),
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

struct Run<'a, S: Bootstrappable> {
    auto: &'a Session<S>,
    modulus: PrimePower,
    values: Values<S>,
}

impl<S: Bootstrappable> Run<'_, S> {
    fn value(&self, node: &Node) -> Result<Operand<S>, CircuitError> {
        Ok(match &node.kind {
            Kind::Constant(c) => Operand::Constant(self.modulus.reduce_i64(*c)),
            Kind::Name(name) => Operand::Encrypted(self.named(name)?),
            Kind::Negative(x) => match self.value(x)? {
                Operand::Constant(c) => Operand::Constant(self.modulus.neg(c)),
                Operand::Encrypted(x) => Operand::Encrypted(self.auto.neg(&x)?),
            },
            Kind::Sum(terms) => self.sum(terms)?,
            Kind::Product(factors) => self.product(factors)?,
            Kind::Power(x, exponent) => match (self.value(x)?, NonZeroU64::new(*exponent)) {
                (_, None) => Operand::Constant(self.modulus.reduce_u64(1)),
                (Operand::Constant(c), Some(exponent)) => {
                    Operand::Constant(self.modulus.pow(c, exponent.get()))
                }
                (Operand::Encrypted(x), Some(exponent)) => {
                    Operand::Encrypted(self.auto.pow(&x, exponent)?)
                }
            },
            Kind::Call(function, x) => match self.value(x)? {
                // As long as only powers are constants that the parser did not see to be ones.
                Operand::Constant(c) => Operand::Constant(c),
                Operand::Encrypted(x) => Operand::Encrypted(self.call(*function, &x)?),
            },
        })
    }

    fn named(&self, name: &str) -> Result<Value<S::Ciphertext>, CircuitError> {
        let missing = || CircuitError::MissingInput { name: name.into(), given: String::new() };
        self.values.get(name).cloned().ok_or_else(missing)
    }

    fn sum(&self, terms: &[(bool, Node)]) -> Result<Operand<S>, CircuitError> {
        let mut constant = 0;
        let mut sum: Option<Value<S::Ciphertext>> = None;
        for (subtracted, term) in terms {
            match self.value(term)? {
                Operand::Constant(c) if *subtracted => constant = self.modulus.sub(constant, c),
                Operand::Constant(c) => constant = self.modulus.add(constant, c),
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
        Ok(match sum {
            None => Operand::Constant(constant),
            Some(sum) if constant == 0 => Operand::Encrypted(sum),
            Some(sum) => {
                Operand::Encrypted(self.auto.add_scalar(&sum, self.modulus.centered(constant))?)
            }
        })
    }

    fn product(&self, factors: &[Node]) -> Result<Operand<S>, CircuitError> {
        let mut constant = self.modulus.reduce_u64(1);
        let mut encrypted = Vec::new();
        for factor in factors {
            match self.value(factor)? {
                Operand::Constant(c) => constant = self.modulus.mul(constant, c),
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
        Ok(match encrypted.pop() {
            None => Operand::Constant(constant),
            Some(x) if constant == 1 => Operand::Encrypted(x),
            Some(x) => {
                Operand::Encrypted(self.auto.mul_scalar(&x, self.modulus.centered(constant))?)
            }
        })
    }

    fn call(
        &self,
        function: Function,
        x: &Value<S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        match function {
            Function::Rotate(k) => self.auto.rotate_columns(x, k),
            Function::RotateAlong(dimension, k) => {
                self.auto.apply(x, |s, x| rotate_along(s, x, dimension, k, NextUse::LinearMap))
            }
            Function::SwapRows => self.auto.swap_rows(x),
            Function::Sum => self.auto.sum(x),
            Function::Refresh => self.auto.refresh(x),
        }
    }
}
