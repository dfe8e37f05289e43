//! Operations as values: what expressions and programs ask for, over any scheme.

use crate::column::{Column, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::Order;
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
            /// Its name, as programs of text write it.
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
    /// a b; of one column with itself its square, of a truth value a selection.
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
    /// Whether they differ.
    NotEqual = "ne",
    /// The lesser one.
    Minimum = "min",
    /// The greater one.
    Maximum = "max",
    /// Of c, a and b: a where c is 1, else b.
    Select = "if",
    /// 1 - x of truth values.
    Not = "not",
    /// Logic of truth values, else bit by bit.
    And = "and",
    /// Logic of truth values, else bit by bit.
    Or = "or",
    /// Logic of truth values, else bit by bit.
    Xor = "xor",
    /// The quotient, rounded down.
    Divide = "div",
    /// What is left by it.
    Remainder = "rem",
    /// Times 2 to the power of the second operand.
    ShiftLeft = "shift_left",
    /// Divided by 2 to the power of the second operand, rounded down.
    ShiftRight = "shift_right",
    /// |x|.
    Absolute = "abs",
    /// -1, 0 or 1.
    Sign = "sign",
    /// How many bits are 1.
    Popcount = "popcount",
    /// x, or the nearer one of two public bounds.
    Clip(i128, i128) = "clip",
    /// The same in a type that has to hold it.
    Cast(Type) = "cast",
    /// Modulo 2^k of a type.
    Wrap(Type) = "wrap",
    /// The entry of a public table.
    Lookup(Vec<i128>) = "table",
    /// How many of a sorted public list are less.
    SearchSorted(Vec<i128>) = "searchsorted",
    /// Whether it is in a public list.
    IsIn(Vec<i128>) = "isin",
    /// Carries.
    Normalize = "normalized",
    /// The sum of all entries, in each.
    Total = "total",
    /// The sum of those up to an entry.
    CumulativeSum = "cumsum",
    /// How many entries come before each.
    Ranks(Order) = "ranks",
    /// The first entries in order.
    Sort(Order, usize) = "sort",
    /// Their places.
    ArgSort(Order, usize) = "argsort",
    /// The entry of a rank.
    Nth(Order, usize) = "nth",
    /// Its place.
    ArgNth(Order, usize) = "argnth",
    /// The entry that a part of the others do not exceed.
    Quantile(u32, u32) = "quantile",
}

impl Operation {
    /// Whether an entry of its result depends on other entries: what is asked of a column that is
    /// cut to parts cannot be computed part by part.
    pub fn takes_whole_columns(&self) -> bool {
        matches!(
            self,
            Operation::Total
                | Operation::CumulativeSum
                | Operation::Ranks(_)
                | Operation::Sort(..)
                | Operation::ArgSort(..)
                | Operation::Nth(..)
                | Operation::ArgNth(..)
                | Operation::Quantile(..)
        )
    }
}

fn is_truth<C>(x: &Column<C>) -> bool {
    Interval::BOOL.holds(x.interval())
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// An operation on its operands. Those of which it needs a column may be public integers, too.
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

    /// A product, in the cheapest way that its operands allow.
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

    /// Logic where both are encrypted truth values, else the operation on bits.
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
