//! Parsed programs.

/// The longest text of a program, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// How deep parentheses may nest.
pub const MAX_NESTING: usize = 128;
/// How many operators of typed integers a statement may have.
pub const MAX_OPERATORS: usize = 256;
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
pub struct Statement {
    /// The name.
    pub name: String,
    /// Where the statement begins.
    pub column: usize,
    /// The value.
    pub value: Node,
}

/// A part of an expression, and where it begins: characters from the beginning of the text, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where it begins; of two operands the operator.
    pub column: usize,
    /// What it is.
    pub kind: Kind,
}

/// What a part of an expression is. Those of typed integers mean nothing to
/// [`Program::run`], which says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer.
    Constant(i64),
    /// A value by its name.
    Name(String),
    /// -x.
    Negative(Box<Node>),
    /// Terms, each with whether it is subtracted.
    Sum(Vec<(bool, Node)>),
    /// Factors.
    Product(Vec<Node>),
    /// A power with a public exponent.
    Power(Box<Node>, u64),
    /// A function of one value.
    Call(Function, Box<Node>),
    /// Of typed integers: two operands.
    Binary(Operator, Box<Node>, Box<Node>),
    /// Of typed integers: 1 - x.
    Not(Box<Node>),
    /// Of typed integers: a function.
    Typed(TypedFunction, Vec<Node>),
    /// Of typed integers: a function with a public argument by its name, which is the last one.
    Named(NamedFunction, Vec<Node>, String),
}

/// A function of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Columns to the left.
    Rotate(i64),
    /// A dimension, and a step along it.
    RotateAlong(usize, i64),
    /// The two rows exchanged.
    SwapRows,
    /// The sum of all slots; of typed integers that of a column.
    Sum,
    /// A bootstrapping.
    Refresh,
}

macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($(#[$of:meta])* $name:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$of])* $name,)*
        }

        impl $type {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// As it is written.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

words! {
    /// An operator of typed integers.
    Operator {
        /// Whether the left one is less.
        Less = "<",
        /// Whether it is less or equal.
        LessOrEqual = "<=",
        /// Whether it is greater.
        Greater = ">",
        /// Whether it is greater or equal.
        GreaterOrEqual = ">=",
        /// Whether they are equal.
        Equal = "==",
        /// Whether they differ.
        NotEqual = "!=",
        /// Of truth values whether both are 1; of others the bits that are 1 in both.
        And = "&",
        /// Of truth values whether one is 1; of others the bits that are 1 in one at least.
        Or = "|",
        /// Times a power of two.
        ShiftLeft = "<<",
        /// Divided by a power of two, rounded down.
        ShiftRight = ">>",
        /// Quotient, rounded down.
        Divide = "/",
        /// What is left by it.
        Remainder = "%",
    }
}

words! {
    /// A function of typed integers.
    TypedFunction {
        /// `if(c, a, b)`: a where c is 1, else b.
        If = "if",
        /// The lesser one.
        Min = "min",
        /// The greater one.
        Max = "max",
        /// Without its sign.
        Abs = "abs",
        /// `clip(x, low, high)`.
        Clip = "clip",
        /// How many entries of truth values are 1.
        Count = "count",
        /// The bits in which two integers differ.
        Xor = "xor",
        /// The mean of a column, rounded down.
        Mean = "mean",
        /// The lower median of a column.
        Median = "median",
        /// Where the largest entry is.
        Argmax = "argmax",
        /// Where the least entry is.
        Argmin = "argmin",
        /// `sort(x)`: the entries in order, or with `sort(x, k)` the first k of them.
        Sort = "sort",
        /// `argsort(x)`, `argsort(x, k)`: where these are.
        Argsort = "argsort",
        /// Prefix sums.
        Cumsum = "cumsum",
        /// -1, 0 or 1.
        Sign = "sign",
        /// How many bits are 1.
        Popcount = "popcount",
        /// The sum of a column in each of its entries, to be computed on.
        Total = "total",
        /// The largest entry of a column.
        Maximum = "maximum",
        /// The least entry of a column.
        Minimum = "minimum",
        /// How many entries come before each entry, in order.
        Ranks = "ranks",
        /// `nth(x, k)`: the entry with k entries before it, in order.
        Nth = "nth",
        /// `argnth(x, k)`: where that is.
        Argnth = "argnth",
        /// `quantile(x, a, b)`: the entry that a of b others do not exceed.
        Quantile = "quantile",
        /// The same column without its index, so that its digits are computed on.
        WithoutIndex = "without_index",
    }
}

words! {
    /// A function of typed integers with a public argument by its name.
    NamedFunction {
        /// `table(x, NAME)`, or `table(x, y, NAME)` row by row: an entry of a public table.
        Table = "table",
        /// `isin(x, NAME)`: whether an entry is one of a public list.
        Isin = "isin",
        /// `searchsorted(x, NAME)`: how many of a public list in order are below an entry.
        Searchsorted = "searchsorted",
        /// `dot(x, NAME)`: the sum of the entries, each with a public weight.
        Dot = "dot",
        /// `cast(x, TYPE)`: the same, refused unless all values are of the type.
        Cast = "cast",
        /// `wrap(x, TYPE)`: modulo 2^bits.
        Wrap = "wrap",
    }
}

impl NamedFunction {
    /// How many arguments it can have before the name.
    pub fn arguments(self) -> std::ops::RangeInclusive<usize> {
        if self == Self::Table { 1..=2 } else { 1..=1 }
    }
}

impl TypedFunction {
    /// Whether it is one along a column.
    fn along(self) -> bool {
        !matches!(
            self,
            Self::If
                | Self::Min
                | Self::Max
                | Self::Abs
                | Self::Clip
                | Self::Xor
                | Self::Sign
                | Self::Popcount
                | Self::WithoutIndex
        )
    }

    /// How many arguments it can have.
    pub fn arguments(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Self::Min | Self::Max | Self::Xor | Self::Nth | Self::Argnth => 2..=2,
            Self::If | Self::Clip | Self::Quantile => 3..=3,
            Self::Sort | Self::Argsort => 1..=2,
            _ => 1..=1,
        }
    }
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

    /// Its statements, in order.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
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
    /// The parts that it is made of; parentheses nest at most [`MAX_NESTING`] deep.
    pub fn parts(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::Constant(_) | Kind::Name(_) => Vec::new(),
            Kind::Negative(x) | Kind::Power(x, _) | Kind::Call(_, x) | Kind::Not(x) => vec![x],
            Kind::Binary(_, x, y) => vec![x, y],
            Kind::Sum(terms) => terms.iter().map(|(_, x)| x).collect(),
            Kind::Product(parts) | Kind::Typed(_, parts) | Kind::Named(_, parts, _) => {
                parts.iter().collect()
            }
        }
    }

    /// Whether it takes a column as a whole by itself, whatever its parts do.
    pub(super) fn is_along(&self) -> bool {
        match &self.kind {
            Kind::Call(function, _) => *function != Function::Refresh,
            Kind::Typed(function, _) => function.along(),
            Kind::Named(function, ..) => *function == NamedFunction::Dot,
            _ => false,
        }
    }

    fn moves_slots(&self) -> bool {
        self.is_along() || self.parts().into_iter().any(Self::moves_slots)
    }
}
