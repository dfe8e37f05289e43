//! A small language of programs on encrypted vectors, slot by slot: `y = 3*x*(1-x); total =
//! sum(rotate(y, 5)^2)`.
//!
//! ```text
//! program   := statement { ";" statement } [ ";" ]
//! statement := name "=" sum
//! sum       := product { ( "+" | "-" ) product }
//! product   := factor { "*" factor }
//! factor    := { "-" } power
//! power     := atom [ "^" integer ]
//! atom      := integer | name | function "(" sum { "," [ "-" ] integer } ")" | "(" sum ")"
//! ```
//! Names are letters, digits and `_`, not a digit first. Integers are taken modulo p^r and stand in
//! every slot. Functions: `rotate(x, k)`, the columns by k to the left; `rotate(x, k, i)`, along
//! dimension i of the slots; `swap_rows(x)`; `sum(x)`, all slots, in every slot; `refresh(x)`, a
//! bootstrapping. White space and line ends mean nothing; `#` begins a comment that ends with the
//! line.
//!
//! A program is parsed ([`Program::parse`]), which finds every mistake that needs no ciphertext and
//! points at it, and then run on any scheme ([`Program::run`]), as deep as it is:
//! [`AutoRefresh`](crate::AutoRefresh) bootstraps. On the no-op scheme it shows which keys it
//! takes.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use everlevel_circuit::AutoRefresh;
//! use everlevel_circuit::expression::Program;
//! use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};
//!
//! let program = Program::parse("y = 3*x*(1 - x); z = rotate(y, 1) + x^5")?;
//! assert_eq!(program.inputs().collect::<Vec<_>>(), ["x"]);
//!
//! // Insecure: a toy ring.
//! let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch)?;
//! let auto = AutoRefresh::leveled(Arc::new(NoOp::new(&params, 1)));
//! let x = auto.share(auto.scheme().encrypt(&Plaintext::encode(&params, &[2, 7])?)?);
//! let out = program.run(&auto, &BTreeMap::from([("x".to_string(), x)]), &mut |_| ())?;
//! let z = auto.scheme().decrypt(&out["z"].get())?.decode(&params)?;
//! assert_eq!(z[0], (257 - 3 * 7 * 6 + 32) % 257);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod parse;
mod run;
mod token;

pub use error::ExpressionError;
pub use run::Values;

/// The longest text of a program, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// How deep parentheses may nest.
pub const MAX_NESTING: usize = 128;
/// The largest exponent of a power.
pub const MAX_EXPONENT: u64 = 1 << 32;

/// A parsed program: statements in order, each of which names a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    statements: Vec<Statement>,
    /// Names that no statement before their first use defines, in order of that use.
    inputs: Vec<String>,
}

/// `name = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Statement {
    name: String,
    column: usize,
    value: Node,
}

/// A part of an expression, and where it begins: characters from the beginning of the text, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    column: usize,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Constant(i64),
    Name(String),
    Negative(Box<Node>),
    /// Terms, each with whether it is subtracted.
    Sum(Vec<(bool, Node)>),
    Product(Vec<Node>),
    Power(Box<Node>, u64),
    Call(Function, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    /// Columns to the left.
    Rotate(i64),
    /// A dimension, and a step along it.
    RotateAlong(usize, i64),
    SwapRows,
    Sum,
    Refresh,
}

impl Program {
    /// What the program reads and does not define itself, in order of first use.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(String::as_str)
    }

    /// What it defines, in order; names that begin with `_` are its own and left out.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.statements.iter().map(|s| s.name.as_str()).filter(|name| !name.starts_with('_'))
    }

    /// Whether it moves values between slots: by a rotation, an exchange of rows, a sum.
    pub fn moves_slots(&self) -> bool {
        self.statements.iter().any(|s| s.value.moves_slots())
    }

    /// How many statements there are.
    pub fn len(&self) -> usize {
        self.statements.len()
    }

    /// Whether there is none: never, as an empty text is no program.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }
}

impl Node {
    /// Parentheses nest at most [`MAX_NESTING`] deep.
    fn moves_slots(&self) -> bool {
        match &self.kind {
            Kind::Constant(_) | Kind::Name(_) => false,
            Kind::Negative(x) | Kind::Power(x, _) | Kind::Call(Function::Refresh, x) => {
                x.moves_slots()
            }
            Kind::Sum(terms) => terms.iter().any(|(_, x)| x.moves_slots()),
            Kind::Product(factors) => factors.iter().any(Self::moves_slots),
            Kind::Call(
                Function::Rotate(_)
                | Function::RotateAlong(..)
                | Function::SwapRows
                | Function::Sum,
                _,
            ) => true,
        }
    }
}
