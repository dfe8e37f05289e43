//! What expressions are made of, and what their operators do to it.

use everlevel_bgv::Ciphertext;
use everlevel_circuit::CircuitError;
use everlevel_integers::{Integers, Operand as IntegerOperand};
use everlevel_scheme::SchemeError;

use crate::error::Error;
use crate::integers::IntegerColumn;
use crate::keys::ServerEvaluator;
use crate::server::{Server, Value};

/// What [`Expr`](crate::Expr)s are made of: values modulo p^r ([`Value`]), and columns of typed
/// integers ([`IntegerColumn`]). No other type can be one.
pub trait Operand: Arithmetic {}

impl Operand for Value {}
impl Operand for IntegerColumn {}

/// An operand when it is computed with.
pub enum Argument<'a, T> {
    /// An encrypted value.
    Value(&'a T),
    /// A public integer.
    Public(i128),
}

impl<T> Clone for Argument<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Argument<'_, T> {}

/// The operators. Of the operands of each, one at least is encrypted.
pub trait Arithmetic: Clone + Send + Sync + 'static {
    /// What computes with them.
    type Engine<'s>;
    fn engine(server: &Server) -> Result<Self::Engine<'_>, Error>;
    fn neg(engine: &Self::Engine<'_>, a: &Self) -> Result<Self, Error>;
    fn add(
        engine: &Self::Engine<'_>,
        a: Argument<'_, Self>,
        b: Argument<'_, Self>,
    ) -> Result<Self, Error>;
    fn sub(
        engine: &Self::Engine<'_>,
        a: Argument<'_, Self>,
        b: Argument<'_, Self>,
    ) -> Result<Self, Error>;
    fn mul(
        engine: &Self::Engine<'_>,
        a: Argument<'_, Self>,
        b: Argument<'_, Self>,
    ) -> Result<Self, Error>;
}

/// The error of an operation without an encrypted operand, which no expression has.
pub(crate) fn no_value() -> Error {
    CircuitError::Empty { what: "the list of encrypted operands" }.into()
}

/// A public integer as an operand of values modulo p^r.
fn scalar(k: i128) -> Result<i64, Error> {
    i64::try_from(k).map_err(|_| {
        let expected = "an integer of 64 bits with a sign".into();
        SchemeError::BadArgument { what: "public operand", expected, found: k.to_string() }.into()
    })
}

impl Arithmetic for Value {
    type Engine<'s> = &'s Server;

    fn engine(server: &Server) -> Result<&Server, Error> {
        Ok(server)
    }

    fn neg(server: &&Server, a: &Self) -> Result<Self, Error> {
        server.neg(a)
    }

    fn add(server: &&Server, a: Argument<'_, Self>, b: Argument<'_, Self>) -> Result<Self, Error> {
        match (a, b) {
            (Argument::Value(a), Argument::Value(b)) => server.add(a, b),
            (Argument::Value(a), Argument::Public(k))
            | (Argument::Public(k), Argument::Value(a)) => server.add_scalar(a, scalar(k)?),
            (Argument::Public(_), Argument::Public(_)) => Err(no_value()),
        }
    }

    fn sub(server: &&Server, a: Argument<'_, Self>, b: Argument<'_, Self>) -> Result<Self, Error> {
        match (a, b) {
            (Argument::Value(a), Argument::Value(b)) => server.sub(a, b),
            // -(-a + k) where -k has no 64 bits.
            (Argument::Value(a), Argument::Public(k)) => match scalar(-k) {
                Ok(k) => server.add_scalar(a, k),
                Err(_) => server.neg(&server.add_scalar(&server.neg(a)?, scalar(k)?)?),
            },
            (Argument::Public(k), Argument::Value(b)) => {
                server.add_scalar(&server.neg(b)?, scalar(k)?)
            }
            (Argument::Public(_), Argument::Public(_)) => Err(no_value()),
        }
    }

    fn mul(server: &&Server, a: Argument<'_, Self>, b: Argument<'_, Self>) -> Result<Self, Error> {
        match (a, b) {
            (Argument::Value(a), Argument::Value(b)) => server.mul(a, b),
            (Argument::Value(a), Argument::Public(k))
            | (Argument::Public(k), Argument::Value(a)) => server.mul_scalar(a, scalar(k)?),
            (Argument::Public(_), Argument::Public(_)) => Err(no_value()),
        }
    }
}

impl<'a> From<Argument<'a, IntegerColumn>> for IntegerOperand<'a, Ciphertext> {
    fn from(x: Argument<'a, IntegerColumn>) -> Self {
        match x {
            Argument::Value(x) => IntegerOperand::Column(x),
            Argument::Public(k) => IntegerOperand::Public(k),
        }
    }
}

impl Arithmetic for IntegerColumn {
    type Engine<'s> = Integers<'s, ServerEvaluator>;

    fn engine(server: &Server) -> Result<Integers<'_, ServerEvaluator>, Error> {
        server.integers()
    }

    fn neg(ints: &Integers<'_, ServerEvaluator>, a: &Self) -> Result<Self, Error> {
        Ok(ints.neg(a)?)
    }

    fn add(
        ints: &Integers<'_, ServerEvaluator>,
        a: Argument<'_, Self>,
        b: Argument<'_, Self>,
    ) -> Result<Self, Error> {
        Ok(ints.add(a, b)?)
    }

    fn sub(
        ints: &Integers<'_, ServerEvaluator>,
        a: Argument<'_, Self>,
        b: Argument<'_, Self>,
    ) -> Result<Self, Error> {
        Ok(ints.sub(a, b)?)
    }

    fn mul(
        ints: &Integers<'_, ServerEvaluator>,
        a: Argument<'_, Self>,
        b: Argument<'_, Self>,
    ) -> Result<Self, Error> {
        match (a, b) {
            (Argument::Value(a), Argument::Value(b)) if std::ptr::eq(a, b) => Ok(ints.square(a)?),
            (Argument::Value(a), Argument::Public(k))
            | (Argument::Public(k), Argument::Value(a)) => Ok(ints.mul_public(a, k)?),
            (a, b) => Ok(ints.mul(a, b)?),
        }
    }
}
