//! Parsed programs.

/// The longest text of a program, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// How deep parentheses may nest.
pub const MAX_NESTING: usize = 128;
/// The largest exponent of a power.
pub const MAX_EXPONENT: u64 = 1 << 32;

/// A parsed program: statements in order, each of which names a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(super) statements: Vec<Statement>,
    /// Names that no statement before their first use defines, in order of that use.
    pub(super) inputs: Vec<String>,
}

/// `name = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) name: String,
    pub(super) column: usize,
    pub(super) value: Node,
}

/// A part of an expression, and where it begins: characters from the beginning of the text, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) column: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) enum Function {
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
