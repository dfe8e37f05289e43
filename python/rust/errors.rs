//! Errors of the library as the exceptions of `everlevel.errors`.

use everlevel::Error;
use everlevel::lab::{CircuitError, SchemeError};
use everlevel_aes::AesError;
use everlevel_circuit::expression::ExpressionError;
use everlevel_integers::IntegersError;
use everlevel_wire::WireError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The problem of keys that are not given out any more, as Ctrl-C was pressed.
pub const INTERRUPTED: &str = "interrupted";

/// Any error on its way to Python.
pub struct Failure(PyErr);

/// What everything here returns.
pub type Result<T> = std::result::Result<T, Failure>;

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        // A computation that Ctrl-C ended in another thread.
        use SchemeError::Cancelled;
        if matches!(
            &error,
            Error::Scheme(Cancelled) | Error::Circuit(CircuitError::Scheme(Cancelled))
        ) {
            return refusal("Error", "python.interrupted", INTERRUPTED);
        }
        let (class, fields) = described(&error);
        raised(class, error.code(), &error.to_string(), &fields)
    }
}

impl From<ExpressionError> for Failure {
    fn from(error: ExpressionError) -> Self {
        raised(
            "ProgramError",
            error.code(),
            &error.to_string(),
            &[("column", Field::Number(error.column as f64))],
        )
    }
}

macro_rules! through_error {
    ($($error:ty),*) => { $(impl From<$error> for Failure {
        fn from(error: $error) -> Self {
            Error::from(error).into()
        }
    })* };
}
through_error!(SchemeError, CircuitError, WireError, AesError, IntegersError);

/// A value of an exception's field.
enum Field {
    Text(String),
    Number(f64),
}

type Fields = Vec<(&'static str, Field)>;

fn text(x: impl ToString) -> Field {
    Field::Text(x.to_string())
}

/// A refusal of this package's own.
pub fn refusal(class: &str, code: &str, message: &str) -> Failure {
    raised(class, code, message, &[])
}

fn raised(class: &str, code: &str, message: &str, fields: &[(&'static str, Field)]) -> Failure {
    Failure(Python::attach(|py| {
        let make = || -> PyResult<PyErr> {
            let kwargs = PyDict::new(py);
            kwargs.set_item("code", code)?;
            for (name, value) in fields {
                match value {
                    Field::Text(text) => kwargs.set_item(name, text)?,
                    Field::Number(number) => kwargs.set_item(name, number)?,
                }
            }
            let class = py.import("everlevel.errors")?.getattr(class)?;
            Ok(PyErr::from_value(class.call((message,), Some(&kwargs))?))
        };
        make().unwrap_or_else(|error| error)
    }))
}

/// The class and the fields of an error.
fn described(error: &Error) -> (&'static str, Fields) {
    match error {
        Error::Scheme(e) => of_scheme(e),
        Error::Circuit(e) => of_circuit(e),
        Error::Aes(_) => ("AesError", vec![]),
        Error::Wire(e) => of_wire(e),
        Error::Integers(e) => of_integers(e),
        _ => ("RangeError", vec![]),
    }
}

fn of_scheme(error: &SchemeError) -> (&'static str, Fields) {
    match error {
        SchemeError::BadParams { name, .. } | SchemeError::UnknownParams { name, .. } => {
            ("ParameterError", vec![("params", text(name))])
        }
        SchemeError::Insecure { name, bits } => {
            ("InsecureError", vec![("params", text(name)), ("bits", Field::Number(*bits))])
        }
        SchemeError::FrequentFailures { name, failure_log2 } => (
            "FrequentFailuresError",
            vec![("params", text(name)), ("failure_log2", Field::Number(*failure_log2))],
        ),
        SchemeError::NoiseOverflow { operation, noise_bits, modulus_bits, level } => {
            let fields = vec![
                ("operation", text(operation)),
                ("noise_bits", Field::Number(*noise_bits)),
                ("modulus_bits", Field::Number(*modulus_bits)),
                ("level", Field::Number(level.0 as f64)),
            ];
            ("NoiseError", fields)
        }
        SchemeError::PlainModulusMismatch { operation, .. }
        | SchemeError::FormMismatch { operation, .. } => {
            ("ParameterError", vec![("operation", text(operation))])
        }
        SchemeError::WrongKey { operation, left, right } => (
            "WrongKeyError",
            vec![("operation", text(operation)), ("left", text(left)), ("right", text(right))],
        ),
        SchemeError::NotDecryptable => ("DecryptionError", vec![]),
        SchemeError::UnknownOwner { operation, .. } => {
            ("DecryptionError", vec![("operation", text(operation))])
        }
        SchemeError::MissingKey { operation, key }
        | SchemeError::KeyTooShort { operation, key, .. } => {
            ("KeyMissingError", vec![("operation", text(operation)), ("key", text(key))])
        }
        SchemeError::UnreadableKey { key, .. } => ("FileError", vec![("key", text(key))]),
        SchemeError::WrongParams { name, .. } => {
            ("OtherParametersError", vec![("params", text(name))])
        }
        SchemeError::BadArgument { what, expected, found } => (
            "RangeError",
            vec![("what", text(what)), ("expected", text(expected)), ("found", text(found))],
        ),
        _ => ("RangeError", vec![]),
    }
}

fn of_circuit(error: &CircuitError) -> (&'static str, Fields) {
    match error {
        CircuitError::Scheme(e) => of_scheme(e),
        CircuitError::NoRoute { steps } => {
            ("KeyMissingError", vec![("steps", Field::Number(*steps as f64))])
        }
        CircuitError::NoBootstrapping => ("KeyMissingError", vec![]),
        CircuitError::NotEnoughCapacity { left, needed } => {
            ("NoiseError", vec![("left", Field::Number(*left)), ("needed", Field::Number(*needed))])
        }
        CircuitError::MissingInput { name, .. } => ("ProgramError", vec![("name", text(name))]),
        CircuitError::Ring(_) | CircuitError::UnknownDimension { .. } => ("RangeError", vec![]),
        _ => ("ParameterError", vec![]),
    }
}

fn of_integers(error: &IntegersError) -> (&'static str, Fields) {
    match error {
        IntegersError::Type { operation, .. } => {
            ("DtypeError", vec![("operation", text(operation))])
        }
        IntegersError::Value { value, position, .. } => {
            let fields =
                vec![("value", text(value)), ("position", Field::Number(*position as f64))];
            ("RangeError", fields)
        }
        IntegersError::Length { .. } => ("ShapeError", vec![]),
        IntegersError::Depth { left, needed, .. } => {
            ("NoiseError", vec![("left", Field::Number(*left)), ("needed", Field::Number(*needed))])
        }
        IntegersError::Set { name, .. } => ("ParameterError", vec![("params", text(name))]),
        _ => ("RangeError", vec![]),
    }
}

fn of_wire(error: &WireError) -> (&'static str, Fields) {
    match error {
        WireError::Scheme(e) => of_scheme(e),
        WireError::OtherParams { name, .. } => {
            ("OtherParametersError", vec![("params", text(name))])
        }
        WireError::Exists { path }
        | WireError::Interrupted { path, .. }
        | WireError::Io { path, .. } => ("FileError", vec![("path", text(path))]),
        _ => ("FormatError", vec![]),
    }
}
