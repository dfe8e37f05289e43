//! The functions and operators of expressions of typed integers.

use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use everlevel_integers::{ArrayOperation, Operation, Order, Type};

use crate::expression::{Expr, Input};
use crate::operand::Operand;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($operation:expr);)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> Self {
            self.then($operation, [])
        }
    )*};
}

macro_rules! functions_of_two {
    ($($(#[$doc:meta])* $name:ident($operation:expr);)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self, other: impl Into<Input<T>>) -> Self {
            self.then($operation, [other.into()])
        }
    )*};
}

/// Operations on columns of typed integers, encrypted or planned.
impl<T: Operand<Operation = Operation>> Expr<T> {
    functions_of_two! {
        /// 1 where this < the other, else 0.
        lt(Operation::Less);
        /// 1 where this <= the other, else 0.
        le(Operation::LessOrEqual);
        /// 1 where this > the other, else 0.
        gt(Operation::Greater);
        /// 1 where this >= the other, else 0.
        ge(Operation::GreaterOrEqual);
        /// 1 where this == the other, else 0.
        eq(Operation::Equal);
        /// 1 where this != the other, else 0.
        ne(Operation::NotEqual);
        /// The smaller of both.
        min(Operation::Minimum);
        /// The greater of both.
        max(Operation::Maximum);
        /// The quotient, rounded down (Rust's operator `/` would round towards zero).
        div_floor(Operation::Divide);
        /// The remainder of [`Expr::div_floor`], which has the sign of the divisor.
        rem_floor(Operation::Remainder);
    }

    functions! {
        /// |x|.
        abs(Operation::Absolute);
        /// -1, 0 or 1.
        sign(Operation::Sign);
        /// The number of bits that are 1, of integers that are not negative
        /// ([`Integers::popcount`](crate::Integers::popcount)).
        popcount(Operation::Popcount);
        /// The same integers, whose carries are computed: whoever decrypts them sees nothing else
        /// ([`Integers::normalized`](crate::Integers::normalized)).
        normalized(Operation::Normalize);
        /// The sum of all entries, in each entry
        /// ([`Integers::sum_of_each`](crate::Integers::sum_of_each)).
        sum_of_each(Operation::Total);
        /// The sum of all entries up to and including each
        /// ([`Integers::cumsum`](crate::Integers::cumsum)).
        cumsum(Operation::CumulativeSum);
        /// The least entry ([`Integers::minimum`](crate::Integers::minimum)).
        minimum(Operation::Nth(Order::Ascending, 0));
        /// The position of the least entry ([`Integers::argmin`](crate::Integers::argmin)).
        argmin(Operation::ArgNth(Order::Ascending, 0));
        /// The greatest entry ([`Integers::maximum`](crate::Integers::maximum)).
        maximum(Operation::Nth(Order::Descending, 0));
        /// The position of the greatest entry ([`Integers::argmax`](crate::Integers::argmax)).
        argmax(Operation::ArgNth(Order::Descending, 0));
        /// The median ([`Integers::median`](crate::Integers::median)).
        median(Operation::Quantile(1, 2));
    }

    /// Selection by truth values: `then` where this is 1, `otherwise` where it is 0.
    #[must_use]
    pub fn select(&self, then: impl Into<Input<T>>, otherwise: impl Into<Input<T>>) -> Self {
        self.then(Operation::Select, [then.into(), otherwise.into()])
    }

    /// This, or the nearer of two public bounds where it is outside of them
    /// ([`Integers::clip`](crate::Integers::clip)).
    #[must_use]
    pub fn clip(&self, low: i128, high: i128) -> Self {
        self.then(Operation::Clip(low, high), [])
    }

    /// The entry of a public table for each value; the first entry belongs to the least value that
    /// the column can have ([`Integers::lookup`](crate::Integers::lookup)). Several tables of one
    /// column take fewer products by [`Integers::lookup_all`](crate::Integers::lookup_all).
    #[must_use]
    pub fn lookup(&self, table: &[i128]) -> Self {
        self.then(Operation::Lookup(table.to_vec()), [])
    }

    /// The number of integers of a sorted public list that are less than each value
    /// ([`Integers::searchsorted`](crate::Integers::searchsorted)).
    #[must_use]
    pub fn searchsorted(&self, sorted: &[i128]) -> Self {
        self.then(Operation::SearchSorted(sorted.to_vec()), [])
    }

    /// 1 where the value is in a public list, else 0
    /// ([`Integers::isin`](crate::Integers::isin)).
    #[must_use]
    pub fn isin(&self, values: &[i128]) -> Self {
        self.then(Operation::IsIn(values.to_vec()), [])
    }

    /// The same values as those of a type, which has to contain all that they can be
    /// ([`Integers::cast`](crate::Integers::cast)).
    #[must_use]
    pub fn cast(&self, kind: Type) -> Self {
        self.then(Operation::Cast(kind), [])
    }

    /// The values modulo 2^k, as a type of k bits: the only cast that loses bits
    /// ([`Integers::wrapped`](crate::Integers::wrapped)).
    #[must_use]
    pub fn wrapped(&self, kind: Type) -> Self {
        self.then(Operation::Wrap(kind), [])
    }

    /// The first `take` entries in order ([`Integers::sorted`](crate::Integers::sorted)).
    #[must_use]
    pub fn sorted(&self, order: Order, take: usize) -> Self {
        self.then(Operation::Sort(order, take), [])
    }

    /// The positions of the first `take` entries in order
    /// ([`Integers::argsorted`](crate::Integers::argsorted)).
    #[must_use]
    pub fn argsorted(&self, order: Order, take: usize) -> Self {
        self.then(Operation::ArgSort(order, take), [])
    }

    /// The number of entries that come before each in order
    /// ([`Integers::ranks`](crate::Integers::ranks)).
    #[must_use]
    pub fn ranks(&self, order: Order) -> Self {
        self.then(Operation::Ranks(order), [])
    }

    /// The entry of rank `rank` in order ([`Integers::nth`](crate::Integers::nth)).
    #[must_use]
    pub fn nth(&self, order: Order, rank: usize) -> Self {
        self.then(Operation::Nth(order, rank), [])
    }

    /// The position of the entry of rank `rank` in order
    /// ([`Integers::arg_nth`](crate::Integers::arg_nth)).
    #[must_use]
    pub fn arg_nth(&self, order: Order, rank: usize) -> Self {
        self.then(Operation::ArgNth(order, rank), [])
    }

    /// The quantile `numerator / denominator`
    /// ([`Integers::quantile`](crate::Integers::quantile)).
    #[must_use]
    pub fn quantile(&self, numerator: u32, denominator: u32) -> Self {
        self.then(Operation::Quantile(numerator, denominator), [])
    }

    /// An operation on each of the arrays of `n` entries that the column consists of, one after the
    /// other ([`Integers::of_arrays`](crate::Integers::of_arrays)).
    #[must_use]
    pub fn of_arrays(&self, n: usize, operation: ArrayOperation) -> Self {
        self.then(Operation::OfArrays(n, operation), [])
    }
}

macro_rules! operators {
    ($($(#[$doc:meta])* $operator:ident $method:ident $operation:ident;)*) => {$(
        $(#[$doc])*
        impl<T: Operand<Operation = Operation>, R: Into<Input<T>>> $operator<R> for &Expr<T> {
            type Output = Expr<T>;

            fn $method(self, other: R) -> Expr<T> {
                self.then(Operation::$operation, [other.into()])
            }
        }

        $(#[$doc])*
        impl<T: Operand<Operation = Operation>, R: Into<Input<T>>> $operator<R> for Expr<T> {
            type Output = Expr<T>;

            fn $method(self, other: R) -> Expr<T> {
                (&self).$method(other)
            }
        }
    )*};
}

operators! {
    /// Logic on truth values; on other integers the operation on their bits.
    BitAnd bitand And;
    /// Logic on truth values; on other integers the operation on their bits.
    BitOr bitor Or;
    /// Logic on truth values; on other integers the operation on their bits.
    BitXor bitxor Xor;
    /// Times 2 to the power of the other, encrypted or public: exact, like all operations.
    Shl shl ShiftLeft;
    /// Divided by 2 to the power of the other, encrypted or public, rounded down.
    Shr shr ShiftRight;
}

/// Defined for truth values only: other integers are refused.
impl<T: Operand<Operation = Operation>> Not for &Expr<T> {
    type Output = Expr<T>;

    fn not(self) -> Expr<T> {
        self.then(Operation::Not, [])
    }
}

impl<T: Operand<Operation = Operation>> Not for Expr<T> {
    type Output = Expr<T>;

    fn not(self) -> Expr<T> {
        !&self
    }
}
