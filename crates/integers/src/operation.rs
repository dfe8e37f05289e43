//! Operations as values, of which expressions and programs consist, over any scheme.

use crate::arrays::ArrayOperation;
use crate::column::{Column, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::{Of, Order, Request, Wanted};
use crate::types::Type;

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $(($($field:ty),+))? = $word:literal,)*) => {
        /// An operation on columns and public integers, with its public arguments.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Operation {
            $($(#[$doc])* $name $(($($field),+))?,)*
        }

        impl Operation {
            /// Its name, as plans state it: for what text programs have, that of their function.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Operation::$name { .. } => $word,)*
                }
            }
        }
    };
}

operations! {
    /// -x.
    Negative = "neg",
    /// a + b.
    Add = "add",
    /// a - b.
    Subtract = "sub",
    /// a b. For a column and itself it is a square, and for a truth value a selection.
    Multiply = "mul",
    /// The sum of the operands times these public integers, whose carries are computed once.
    WeightedSum(Vec<i128>) = "weighted_sum",
    /// Whether a < b.
    Less = "lt",
    /// Whether a <= b.
    LessOrEqual = "le",
    /// Whether a > b.
    Greater = "gt",
    /// Whether a >= b.
    GreaterOrEqual = "ge",
    /// Whether a = b.
    Equal = "eq",
    /// Whether a ≠ b.
    NotEqual = "ne",
    /// The lesser one.
    Minimum = "min",
    /// The greater one.
    Maximum = "max",
    /// For operands c, a and b: a where c is 1, and b elsewhere.
    Select = "if",
    /// 1 - x of truth values.
    Not = "not",
    /// Logic on truth values; bit by bit on other integers.
    And = "and",
    /// Logic on truth values; bit by bit on other integers.
    Or = "or",
    /// Logic on truth values; bit by bit on other integers.
    Xor = "xor",
    /// The quotient, rounded down.
    Divide = "div",
    /// The remainder of this division.
    Remainder = "rem",
    /// The first operand times 2 to the power of the second.
    ShiftLeft = "shift_left",
    /// The first operand divided by 2 to the power of the second, rounded down.
    ShiftRight = "shift_right",
    /// |x|.
    Absolute = "abs",
    /// -1, 0 or 1.
    Sign = "sign",
    /// The number of bits that are 1.
    Popcount = "popcount",
    /// x, or the nearer of two public bounds if x is outside of them.
    Clip(i128, i128) = "clip",
    /// The same value in a type that has to contain it.
    Cast(Type) = "cast",
    /// The value modulo 2^k, for the number k of bits of a type.
    Wrap(Type) = "wrap",
    /// The product of a and b modulo 2^k, likewise.
    MultiplyWrapped(Type) = "mul_wrapped",
    /// The entry of a public table.
    Lookup(Vec<i128>) = "table",
    /// The number of integers of a sorted public list that are less.
    SearchSorted(Vec<i128>) = "searchsorted",
    /// Whether the value is in a public list.
    IsIn(Vec<i128>) = "isin",
    /// Carries.
    Normalize = "normalized",
    /// The sum of all entries, in each entry.
    Total = "total",
    /// The sum of the entries up to each entry.
    CumulativeSum = "cumsum",
    /// The number of entries that come before each entry.
    Ranks(Order) = "ranks",
    /// The first entries in order.
    Sort(Order, usize) = "sort",
    /// The positions of the first entries in order.
    ArgSort(Order, usize) = "argsort",
    /// The entry of a rank.
    Nth(Order, usize) = "nth",
    /// The position of the entry of a rank.
    ArgNth(Order, usize) = "argnth",
    /// The quantile that is given by a numerator and a denominator.
    Quantile(u32, u32) = "quantile",
    /// An operation on each of the arrays of this length, one after the other.
    OfArrays(usize, ArrayOperation) = "of_arrays",
}

impl Operation {
    /// Whether an entry of its result depends on several entries of an operand; then it cannot be
    /// computed part by part for a column that is split into parts.
    pub fn takes_whole_columns(&self) -> bool {
        let along =
            matches!(self, Operation::Total | Operation::CumulativeSum | Operation::OfArrays(..));
        along || self.is_order()
    }

    /// Whether it puts its only operand in order: several of these that read the same column share
    /// its ranks ([`Integers::operate_sharing`]).
    pub fn is_order(&self) -> bool {
        matches!(
            self,
            Operation::Ranks(_)
                | Operation::Sort(..)
                | Operation::ArgSort(..)
                | Operation::Nth(..)
                | Operation::ArgNth(..)
                | Operation::Quantile(..)
        )
    }

    /// The result of an operation along a column of `n` entries; `None` for other operations, and
    /// for those that are refused.
    pub(crate) fn request(&self, n: usize) -> Option<Request> {
        let (order, wanted) = match self {
            Operation::Ranks(order) => (*order, Wanted::Ranks),
            Operation::Sort(order, take) => (*order, Wanted::First(*take, Of::Entries)),
            Operation::ArgSort(order, take) => (*order, Wanted::First(*take, Of::Places)),
            Operation::Nth(order, rank) => (*order, Wanted::Nth(*rank, Of::Entries)),
            Operation::ArgNth(order, rank) => (*order, Wanted::Nth(*rank, Of::Places)),
            Operation::Quantile(a, b) if *b > 0 && a <= b => {
                let rank = (n as u64 - 1) * u64::from(*a) / u64::from(*b);
                (Order::Ascending, Wanted::Nth(rank as usize, Of::Entries))
            }
            _ => return None,
        };
        match wanted {
            Wanted::Ranks => Some((order, wanted)),
            Wanted::First(take, _) => (1..=n).contains(&take).then_some((order, wanted)),
            Wanted::Nth(rank, _) => (rank < n).then_some((order, wanted)),
        }
    }
}

fn is_truth<C>(x: &Column<C>) -> bool {
    Interval::BOOL.holds(x.interval())
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Computes an operation on its operands. Where it needs a column, the operand may also be a
    /// public integer.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] for another number of operands than it has; those of the operation.
    pub fn operate(
        &self,
        operation: &Operation,
        operands: &[Operand<'_, S::Ciphertext>],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if let Operation::WeightedSum(factors) = operation {
            return self.multiples(operation, factors, operands);
        }
        match operands {
            [x] => self.operate_one(operation, &self.column(*x)?),
            [a, b] => self.operate_two(operation, *a, *b),
            [condition, a, b] if *operation == Operation::Select => {
                self.select(&self.column(*condition)?, *a, *b)
            }
            _ => Err(wrong_count(operation, operands.len())),
        }
    }

    fn multiples(
        &self,
        operation: &Operation,
        factors: &[i128],
        operands: &[Operand<'_, S::Ciphertext>],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if operands.is_empty() || factors.len() != operands.len() {
            return Err(wrong_count(operation, operands.len()));
        }
        let columns = operands.iter().map(|x| self.column(*x));
        let columns = columns.collect::<Result<Vec<_>, IntegersError>>()?;
        let terms: Vec<_> = columns.iter().zip(factors.iter().copied()).collect();
        self.weighted_sum(&terms)
    }

    fn operate_one(
        &self,
        operation: &Operation,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        match operation {
            Operation::Negative => self.neg(x),
            Operation::Not => self.not(x),
            Operation::Absolute => self.abs(x),
            Operation::Sign => self.sign(x),
            Operation::Popcount => self.popcount(x),
            Operation::Clip(low, high) => self.clip(x, *low, *high),
            Operation::Cast(kind) => self.cast(x, *kind),
            Operation::Wrap(kind) => self.wrapped(x, *kind),
            Operation::Lookup(table) => self.lookup(x, table),
            Operation::SearchSorted(list) => self.searchsorted(list, x, false),
            Operation::IsIn(list) => self.isin(x, list),
            Operation::Normalize => self.normalized(x),
            Operation::Total => self.sum_of_each(x),
            Operation::CumulativeSum => self.cumsum(x),
            Operation::Ranks(order) => self.ranks(x, *order),
            Operation::Sort(order, take) => self.sorted(x, *order, *take),
            Operation::ArgSort(order, take) => self.argsorted(x, *order, *take),
            Operation::Nth(order, rank) => self.nth(x, *order, *rank),
            Operation::ArgNth(order, rank) => self.arg_nth(x, *order, *rank),
            Operation::Quantile(a, b) => self.quantile(x, *a, *b),
            Operation::OfArrays(n, own) => self.of_arrays(x, *n, *own),
            _ => Err(wrong_count(operation, 1)),
        }
    }

    fn operate_two(
        &self,
        operation: &Operation,
        a: Operand<'_, S::Ciphertext>,
        b: Operand<'_, S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        match operation {
            Operation::Add => self.add(a, b),
            Operation::Subtract => self.sub(a, b),
            Operation::Multiply => self.multiplied(a, b),
            Operation::MultiplyWrapped(kind) => self.mul_wrapped(a, b, *kind),
            Operation::Less => self.lt(a, b),
            Operation::LessOrEqual => self.le(a, b),
            Operation::Greater => self.gt(a, b),
            Operation::GreaterOrEqual => self.ge(a, b),
            Operation::Equal => self.eq(a, b),
            Operation::NotEqual => self.ne(a, b),
            Operation::Minimum => self.min(a, b),
            Operation::Maximum => self.max(a, b),
            Operation::And | Operation::Or | Operation::Xor => self.combined(operation, a, b),
            Operation::Divide => match b {
                Operand::Public(b) => self.div_public(&self.column(a)?, b),
                b => self.div(a, b),
            },
            Operation::Remainder => match b {
                Operand::Public(b) => self.rem_public(&self.column(a)?, b),
                b => self.rem(a, b),
            },
            Operation::ShiftLeft | Operation::ShiftRight => self.shifted(operation, a, b),
            _ => Err(wrong_count(operation, 2)),
        }
    }

    /// A product, by the cheapest method that its operands allow.
    fn multiplied(
        &self,
        a: Operand<'_, S::Ciphertext>,
        b: Operand<'_, S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        match (a, b) {
            (Operand::Public(k), x) | (x, Operand::Public(k)) => {
                self.mul_public(&self.column(x)?, k)
            }
            (Operand::Column(a), Operand::Column(b)) if std::ptr::eq(a, b) => self.square(a),
            (Operand::Column(bit), x) | (x, Operand::Column(bit)) if is_truth(bit) => {
                self.select(bit, x, 0)
            }
            (a, b) => self.mul(a, b),
        }
    }

    /// The logical operation if both operands are encrypted truth values, otherwise the bitwise
    /// one.
    fn combined(
        &self,
        operation: &Operation,
        a: Operand<'_, S::Ciphertext>,
        b: Operand<'_, S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        match (a, b) {
            (Operand::Column(x), Operand::Column(y)) if is_truth(x) && is_truth(y) => {
                match operation {
                    Operation::And => self.and(x, y),
                    Operation::Or => self.or(x, y),
                    _ => self.xor(x, y),
                }
            }
            (a, b) => match operation {
                Operation::And => self.bit_and(a, b),
                Operation::Or => self.bit_or(a, b),
                _ => self.bit_xor(a, b),
            },
        }
    }

    fn shifted(
        &self,
        operation: &Operation,
        x: Operand<'_, S::Ciphertext>,
        amount: Operand<'_, S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (x, left) = (self.column(x)?, *operation == Operation::ShiftLeft);
        match amount {
            Operand::Column(amount) if left => self.shift_left_by(&x, amount),
            Operand::Column(amount) => self.shift_right_by(&x, amount),
            Operand::Public(bits @ 0..=126) if left => self.shift_left(&x, bits as u32),
            Operand::Public(bits @ 0..=126) => self.shift_right(&x, bits as u32),
            Operand::Public(bits) => Err(IntegersError::Type {
                operation: "a shift",
                found: Interval { low: bits, high: bits },
                expected: "a number of bits from 0 to 126",
            }),
        }
    }
}

fn wrong_count(operation: &Operation, found: usize) -> IntegersError {
    IntegersError::Parts { problem: format!("{} of {found} operands", operation.name()) }
}
