//! Errors of the program: one line each, with a stable code, and an exit code.

use std::fmt;

use everlevel::lab::SchemeError;
use everlevel_aes::AesError;
use everlevel_arith as arith;
use everlevel_circuit::CircuitError;
use everlevel_circuit::expression::ExpressionError;
use everlevel_estimator::SecurityError;
use everlevel_ring as ring;

/// Why the program stops.
#[derive(Debug)]
pub enum CliError {
    /// The user asked for something that cannot be: exit code 2.
    Usage(Message),
    /// The work failed: exit code 1.
    Failure(Message),
    /// Nobody reads the output any more: exit code 0.
    OutputClosed,
}

/// What is told, and its code (docs/errors.md).
#[derive(Debug)]
pub struct Message {
    /// One line, of a program's mistake followed by two that point at it.
    pub text: String,
    /// The code of the error that it comes from, if that has one.
    pub code: Option<&'static str>,
}

impl Message {
    fn new(told: &impl Told) -> Self {
        let text = told.to_string();
        let joined =
            text.split('\n').map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
        Message { text: joined.chars().filter(|c| !c.is_control()).collect(), code: told.code() }
    }
}

/// What can be the reason of an error.
pub trait Told: fmt::Display {
    /// Its stable code, if it has one.
    fn code(&self) -> Option<&'static str> {
        None
    }
}

impl Told for str {}
impl Told for &str {}
impl Told for String {}
impl Told for std::io::Error {}
impl Told for serde_json::Error {}

/// Errors of the library have codes of their own, and without anything more are failures, but for
/// those about what does not belong together.
macro_rules! of_the_library {
    ($($error:ty),*) => {
        $(impl Told for $error {
            fn code(&self) -> Option<&'static str> {
                Some(self.code())
            }
        }
        impl From<$error> for CliError {
            fn from(e: $error) -> Self {
                match e.code() {
                    // Another file is what it takes.
                    "scheme.wrong-key" | "scheme.not-decryptable" | "scheme.unknown-owner"
                    | "scheme.unreadable-key" | "aes.wrong-key" | "aes.unknown-key"
                    | "circuit.range" => CliError::usage(e),
                    _ => CliError::failure(e),
                }
            }
        })*
    };
}
of_the_library!(
    everlevel::Error,
    everlevel::IntegersError,
    SchemeError,
    CircuitError,
    AesError,
    ring::RingError,
    arith::ArithError,
    SecurityError
);
#[cfg(feature = "cuda")]
of_the_library!(everlevel_gpu::GpuError);

impl CliError {
    /// A usage error.
    pub fn usage(told: impl Told) -> Self {
        CliError::Usage(Message::new(&told))
    }

    /// A failure.
    pub fn failure(told: impl Told) -> Self {
        CliError::Failure(Message::new(&told))
    }

    /// A mistake in the text of a program, with the line and a mark below it.
    pub fn program(e: &ExpressionError, text: &str) -> Self {
        CliError::Usage(Message {
            text: format!("the program, {e}\n{}", e.pointer(text)),
            code: Some(e.code()),
        })
    }

    /// The same with a code for what is told by another error's words.
    pub fn with_code(mut self, code: &'static str) -> Self {
        if let CliError::Usage(message) | CliError::Failure(message) = &mut self {
            message.code = Some(code);
        }
        self
    }

    /// The exit code, the error's code and its message; none if the output was closed.
    pub fn told(self) -> Option<(u8, &'static str, String)> {
        match self {
            CliError::Usage(message) => {
                Some((2, message.code.unwrap_or("cli.usage"), message.text))
            }
            CliError::Failure(message) => {
                Some((1, message.code.unwrap_or("cli.failure"), message.text))
            }
            CliError::OutputClosed => None,
        }
    }
}

/// An error of a service or of its client, with its code.
#[cfg(feature = "service")]
pub fn of_service(e: impl Into<everlevel_service::ServiceError>) -> CliError {
    let e: everlevel_service::ServiceError = e.into();
    // It may be one that another machine has sent, and would steer a terminal. The program ends
    // with it, so that it is leaked once.
    let code: String = e.code().chars().filter(char::is_ascii_graphic).take(100).collect();
    let code: &'static str = Box::leak(code.into_boxed_str());
    match code {
        "service.internal" | "service.unreachable" | "service.unavailable" => {
            CliError::failure(e.to_string()).with_code(code)
        }
        _ if code.starts_with("gpu.") => CliError::failure(e.to_string()).with_code(code),
        _ => CliError::usage(e.to_string()).with_code(code),
    }
}
