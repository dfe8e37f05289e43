//! The operands of expressions, and the evaluation of their operators.

use everlevel_bgv::Ciphertext;
use everlevel_circuit::CircuitError;
use everlevel_integers::{Along, Integers, Operand as IntegerOperand, Operation, Orders};
use everlevel_scheme::SchemeError;

use crate::error::Error;
use crate::integers::IntegerColumn;
use crate::keys::ServerEvaluator;
use crate::server::{Server, Value};

/// The operands of [`Expr`](crate::Expr): values modulo p^r ([`Value`]), columns of typed integers
/// ([`IntegerColumn`]), and columns of a plan ([`PlannedColumn`](crate::PlannedColumn)). The trait
/// cannot be implemented for other types.
pub trait Operand: Arithmetic {}

impl Operand for Value {}
impl Operand for IntegerColumn {}

/// An operand during evaluation.
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

/// The operators, as values.
pub trait Arithmetic: Clone + Send + Sync + 'static {
    type Operation: Send + Sync;
    const NEGATIVE: Self::Operation;
    const ADD: Self::Operation;
    const SUBTRACT: Self::Operation;
    const MULTIPLY: Self::Operation;

    /// The role of an operation in a sum; `None` for other operations, and for operands whose sums
    /// are computed two by two.
    fn linear(_: &Self::Operation) -> Option<Linear> {
        None
    }

    /// The sum of its operands times these factors.
    fn multiples(_: Vec<i128>) -> Option<Self::Operation> {
        None
    }

    /// Whether an operation puts its only operand in order, and shares what that takes with others.
    fn is_order(_: &Self::Operation) -> bool {
        false
    }
}

/// An operation that can be part of a sum of multiples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linear {
    Negative,
    Add,
    Subtract,
    Multiply,
}

/// The role of an operation on typed integers in a sum.
pub(crate) fn linear(operation: &Operation) -> Option<Linear> {
    match operation {
        Operation::Negative => Some(Linear::Negative),
        Operation::Add => Some(Linear::Add),
        Operation::Subtract => Some(Linear::Subtract),
        Operation::Multiply => Some(Linear::Multiply),
        _ => None,
    }
}

/// Operands on which a server computes. At least one operand of an operation is encrypted.
pub trait Computed: Operand {
    type Engine<'s>: Sync;
    fn engine(server: &Server) -> Result<Self::Engine<'_>, Error>;
    /// Its ciphertexts ([`Value::address`]).
    fn addresses(&self) -> Vec<usize>;
    /// The result of an operation. `along` has all operations that put the same operand in order,
    /// if it does so.
    fn apply(
        engine: &Self::Engine<'_>,
        operation: &Self::Operation,
        operands: &[Argument<'_, Self>],
        along: Along<'_, Self::Operation>,
    ) -> Result<Self, Error>;
}

/// The error of an operation without an encrypted operand, which no expression contains.
pub(crate) fn no_value() -> Error {
    CircuitError::Empty { what: "the list of encrypted operands" }.into()
}

/// A public integer as an operand of values modulo p^r.
fn scalar(k: i128) -> Result<i64, Error> {
    i64::try_from(k).map_err(|_| {
        let expected = "a signed integer of 64 bits".into();
        SchemeError::BadArgument { what: "public operand", expected, found: k.to_string() }.into()
    })
}

/// An operation on values modulo p^r.
pub enum ValueOperation {
    Negative,
    Add,
    Subtract,
    Multiply,
    Sum,
    RotateColumns(i64),
    Polynomial(Vec<i64>),
}

impl Arithmetic for Value {
    type Operation = ValueOperation;
    const NEGATIVE: ValueOperation = ValueOperation::Negative;
    const ADD: ValueOperation = ValueOperation::Add;
    const SUBTRACT: ValueOperation = ValueOperation::Subtract;
    const MULTIPLY: ValueOperation = ValueOperation::Multiply;
}

impl Computed for Value {
    type Engine<'s> = &'s Server;

    fn engine(server: &Server) -> Result<&Server, Error> {
        Ok(server)
    }

    fn addresses(&self) -> Vec<usize> {
        vec![self.address()]
    }

    fn apply(
        server: &&Server,
        operation: &ValueOperation,
        operands: &[Argument<'_, Self>],
        _: Along<'_, ValueOperation>,
    ) -> Result<Self, Error> {
        use Argument::{Public, Value};
        match (operation, operands) {
            (ValueOperation::Negative, [Value(a)]) => server.neg(a),
            (ValueOperation::Sum, [Value(a)]) => server.sum(a),
            (ValueOperation::RotateColumns(k), [Value(a)]) => server.rotate_columns(a, *k),
            (ValueOperation::Polynomial(f), [Value(a)]) => server.polynomial(a, f),
            (ValueOperation::Add, [Value(a), Value(b)]) => server.add(a, b),
            (ValueOperation::Add, [Value(a), Public(k)] | [Public(k), Value(a)]) => {
                server.add_scalar(a, scalar(*k)?)
            }
            (ValueOperation::Subtract, [Value(a), Value(b)]) => server.sub(a, b),
            // -(-a + k) where -k has no 64 bits.
            (ValueOperation::Subtract, [Value(a), Public(k)]) => match scalar(-k) {
                Ok(k) => server.add_scalar(a, k),
                Err(_) => server.neg(&server.add_scalar(&server.neg(a)?, scalar(*k)?)?),
            },
            (ValueOperation::Subtract, [Public(k), Value(b)]) => {
                server.add_scalar(&server.neg(b)?, scalar(*k)?)
            }
            (ValueOperation::Multiply, [Value(a), Value(b)]) => server.mul(a, b),
            (ValueOperation::Multiply, [Value(a), Public(k)] | [Public(k), Value(a)]) => {
                server.mul_scalar(a, scalar(*k)?)
            }
            _ => Err(no_value()),
        }
    }
}

impl<'a, C> From<Argument<'a, everlevel_integers::Column<C>>> for IntegerOperand<'a, C> {
    fn from(x: Argument<'a, everlevel_integers::Column<C>>) -> Self {
        match x {
            Argument::Value(x) => IntegerOperand::Column(x),
            Argument::Public(k) => IntegerOperand::Public(k),
        }
    }
}

impl Arithmetic for IntegerColumn {
    type Operation = Operation;
    const NEGATIVE: Operation = Operation::Negative;
    const ADD: Operation = Operation::Add;
    const SUBTRACT: Operation = Operation::Subtract;
    const MULTIPLY: Operation = Operation::Multiply;

    fn linear(operation: &Operation) -> Option<Linear> {
        linear(operation)
    }

    fn multiples(factors: Vec<i128>) -> Option<Operation> {
        Some(Operation::WeightedSum(factors))
    }

    fn is_order(operation: &Operation) -> bool {
        operation.is_order()
    }
}

impl Computed for IntegerColumn {
    type Engine<'s> = (Integers<'s, ServerEvaluator>, Orders<Ciphertext>);

    fn engine(server: &Server) -> Result<Self::Engine<'_>, Error> {
        Ok((server.integers()?, Orders::default()))
    }

    fn addresses(&self) -> Vec<usize> {
        self.values().map(Value::address).collect()
    }

    fn apply(
        (ints, orders): &Self::Engine<'_>,
        operation: &Operation,
        operands: &[Argument<'_, Self>],
        along: Along<'_, Operation>,
    ) -> Result<Self, Error> {
        let operands: Vec<IntegerOperand<'_, Ciphertext>> =
            operands.iter().map(|x| (*x).into()).collect();
        Ok(ints.operate_sharing(operation, &operands, along, orders)?)
    }
}
