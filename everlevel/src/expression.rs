//! Expressions of encrypted values, written with operators and computed by a server.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Neg, Not, Sub};
use std::sync::Arc;

use everlevel_integers::{Operation, Order, Type};

use crate::operand::{Operand, ValueOperation};
use crate::server::Value;

/// A computation on encrypted values that is written with operators: `3 * &income - 2 * &debt`.
///
/// Operators cannot return errors, so they compute nothing: an expression only holds its operands,
/// and [`Server::compute`](crate::Server::compute) computes its value, or returns the first error.
/// The rules are those of the methods of the server: values modulo p^r ([`Value`]) wrap, columns of
/// typed integers ([`IntegerColumn`](crate::IntegerColumn)) do not, and operations whose results
/// could be wrong are refused. Clones share their value: `let y = &x * &x; &y + &y` takes one
/// product.
///
/// A public integer stands for a value with this integer in every slot. As the left operand it must
/// be an `i64`.
///
/// ```
/// use everlevel::{Client, Expr, OptIn, Params, Type};
///
/// let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?; // a toy
/// let mut rng = everlevel::system_rng()?;
/// let client = Client::new(&params, &mut rng);
/// let server = client.server(&mut rng)?;
/// let income = Expr::new(client.encrypt_integers(&[60u8, 20, 90], Type::U8, &mut rng)?);
/// let debt = Expr::new(client.encrypt_integers(&[5u8, 9, 70], Type::U8, &mut rng)?);
///
/// let good = (3 * &income - 2 * &debt).ge(100) & debt.lt(50);
/// let limit = server.compute(&good.select(1000, 0))?;
/// assert_eq!(client.decrypt_integers::<u16>(&limit)?, [1000, 0, 0]);
/// # Ok::<(), everlevel::Error>(())
/// ```
pub struct Expr<T: Operand>(pub(crate) Arc<Node<T>>);

/// An operand of an operation: an expression, or a public integer.
pub struct Input<T: Operand>(Term<T>);

/// The same, without a promise.
#[derive(Clone)]
pub(crate) enum Term<T: Operand> {
    Expr(Expr<T>),
    Public(i128),
}

/// A value, or an operation and its operands.
pub(crate) enum Node<T: Operand> {
    Value(T),
    Result { operation: T::Operation, inputs: Vec<Term<T>> },
}

impl<T: Operand> Clone for Expr<T> {
    fn clone(&self) -> Self {
        Expr(self.0.clone())
    }
}

/// Without recursion, as an expression that a loop has built may be very long.
impl<T: Operand> Drop for Node<T> {
    fn drop(&mut self) {
        let mut open = self.take_inputs();
        while let Some(term) = open.pop() {
            if let Term::Expr(Expr(node)) = term {
                open.extend(
                    Arc::into_inner(node).map(|mut node| node.take_inputs()).into_iter().flatten(),
                );
            }
        }
    }
}

impl<T: Operand> Node<T> {
    fn take_inputs(&mut self) -> Vec<Term<T>> {
        match self {
            Node::Value(_) => Vec::new(),
            Node::Result { inputs, .. } => std::mem::take(inputs),
        }
    }

    pub(crate) fn inputs(&self) -> impl DoubleEndedIterator<Item = &Node<T>> {
        let terms: &[Term<T>] = match self {
            Node::Value(_) => &[],
            Node::Result { inputs, .. } => inputs,
        };
        terms.iter().filter_map(|term| match term {
            Term::Expr(x) => Some(&*x.0),
            Term::Public(_) => None,
        })
    }
}

impl<T: Operand> From<Expr<T>> for Input<T> {
    fn from(x: Expr<T>) -> Self {
        Input(Term::Expr(x))
    }
}

impl<T: Operand> From<&Expr<T>> for Input<T> {
    fn from(x: &Expr<T>) -> Self {
        Input(Term::Expr(x.clone()))
    }
}

macro_rules! public_inputs {
    ($($integer:ty)*) => {
        $(impl<T: Operand> From<$integer> for Input<T> {
            fn from(x: $integer) -> Self {
                Input(Term::Public(i128::from(x)))
            }
        })*
    };
}

public_inputs!(i8 i16 i32 i64 u8 u16 u32);

impl<T: Operand> Expr<T> {
    /// A value as it is.
    pub fn new(value: T) -> Self {
        Expr(Arc::new(Node::Value(value)))
    }

    /// The result of an operation on this and other operands.
    pub(crate) fn then<const N: usize>(
        &self,
        operation: T::Operation,
        others: [Input<T>; N],
    ) -> Self {
        let mut inputs = vec![Term::Expr(self.clone())];
        inputs.extend(others.map(|x| x.0));
        Expr(Arc::new(Node::Result { operation, inputs }))
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $operation:ident;)*) => {$(
        impl<T: Operand, R: Into<Input<T>>> $operator<R> for &Expr<T> {
            type Output = Expr<T>;

            fn $method(self, other: R) -> Expr<T> {
                self.then(T::$operation, [other.into()])
            }
        }

        impl<T: Operand, R: Into<Input<T>>> $operator<R> for Expr<T> {
            type Output = Expr<T>;

            fn $method(self, other: R) -> Expr<T> {
                (&self).$method(other)
            }
        }

        impl<T: Operand> $operator<Expr<T>> for i64 {
            type Output = Expr<T>;

            fn $method(self, other: Expr<T>) -> Expr<T> {
                self.$method(&other)
            }
        }

        impl<T: Operand> $operator<&Expr<T>> for i64 {
            type Output = Expr<T>;

            fn $method(self, other: &Expr<T>) -> Expr<T> {
                let inputs = vec![Term::Public(self.into()), Term::Expr(other.clone())];
                Expr(Arc::new(Node::Result { operation: T::$operation, inputs }))
            }
        }
    )*};
}

operators! { Add add ADD; Sub sub SUBTRACT; Mul mul MULTIPLY; }

impl<T: Operand> Neg for &Expr<T> {
    type Output = Expr<T>;

    fn neg(self) -> Expr<T> {
        self.then(T::NEGATIVE, [])
    }
}

impl<T: Operand> Neg for Expr<T> {
    type Output = Expr<T>;

    fn neg(self) -> Expr<T> {
        -&self
    }
}

impl Expr<Value> {
    /// The sum of all slots, in every slot ([`Server::sum`](crate::Server::sum)).
    #[must_use]
    pub fn sum(&self) -> Self {
        self.then(ValueOperation::Sum, [])
    }

    /// The value with the columns of every row rotated by `k` to the left
    /// ([`Server::rotate_columns`](crate::Server::rotate_columns)).
    #[must_use]
    pub fn rotate_columns(&self, k: i64) -> Self {
        self.then(ValueOperation::RotateColumns(k), [])
    }

    /// The value of a polynomial in every slot, with coefficients from the constant term on
    /// ([`Server::polynomial`](crate::Server::polynomial)).
    #[must_use]
    pub fn polynomial(&self, coefficients: &[i64]) -> Self {
        self.then(ValueOperation::Polynomial(coefficients.to_vec()), [])
    }
}

macro_rules! integer_operations {
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
    integer_operations! {
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

    /// Selection by truth values: `then` where this is 1, `otherwise` where it is 0.
    #[must_use]
    pub fn select(&self, then: impl Into<Input<T>>, otherwise: impl Into<Input<T>>) -> Self {
        self.then(Operation::Select, [then.into(), otherwise.into()])
    }

    /// The entry of a public table for each value; the first entry belongs to the least value that
    /// the column can have ([`Integers::lookup`](crate::Integers::lookup)).
    #[must_use]
    pub fn lookup(&self, table: &[i128]) -> Self {
        self.then(Operation::Lookup(table.to_vec()), [])
    }

    /// |x|.
    #[must_use]
    pub fn abs(&self) -> Self {
        self.then(Operation::Absolute, [])
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

    /// The sum of all entries up to and including each
    /// ([`Integers::cumsum`](crate::Integers::cumsum)).
    #[must_use]
    pub fn cumsum(&self) -> Self {
        self.then(Operation::CumulativeSum, [])
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

    /// The least entry ([`Integers::minimum`](crate::Integers::minimum)).
    #[must_use]
    pub fn minimum(&self) -> Self {
        self.then(Operation::Nth(Order::Ascending, 0), [])
    }

    /// The position of the least entry ([`Integers::argmin`](crate::Integers::argmin)).
    #[must_use]
    pub fn argmin(&self) -> Self {
        self.then(Operation::ArgNth(Order::Ascending, 0), [])
    }

    /// The greatest entry ([`Integers::maximum`](crate::Integers::maximum)).
    #[must_use]
    pub fn maximum(&self) -> Self {
        self.then(Operation::Nth(Order::Descending, 0), [])
    }

    /// The position of the greatest entry ([`Integers::argmax`](crate::Integers::argmax)).
    #[must_use]
    pub fn argmax(&self) -> Self {
        self.then(Operation::ArgNth(Order::Descending, 0), [])
    }

    /// The median ([`Integers::median`](crate::Integers::median)).
    #[must_use]
    pub fn median(&self) -> Self {
        self.then(Operation::Quantile(1, 2), [])
    }
}

/// Logic on truth values; on other integers the operation on their bits.
macro_rules! bit_operators {
    ($($operator:ident $method:ident $operation:ident;)*) => {$(
        impl<T: Operand<Operation = Operation>, R: Into<Input<T>>> $operator<R> for &Expr<T> {
            type Output = Expr<T>;

            fn $method(self, other: R) -> Expr<T> {
                self.then(Operation::$operation, [other.into()])
            }
        }

        impl<T: Operand<Operation = Operation>, R: Into<Input<T>>> $operator<R> for Expr<T> {
            type Output = Expr<T>;

            fn $method(self, other: R) -> Expr<T> {
                (&self).$method(other)
            }
        }
    )*};
}

bit_operators! {
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
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
