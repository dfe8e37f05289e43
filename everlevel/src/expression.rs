//! Expressions of encrypted values: written with operators, computed by a server.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Neg, Not, Sub};
use std::sync::Arc;

use crate::error::Error;
use crate::integers::IntegerColumn;
use crate::operand::{Argument, Arithmetic, Operand, no_value};
use crate::server::Value;

/// What is to be computed on encrypted values: `3 * &income - 2 * &debt`.
///
/// Operators cannot return errors, so nothing is computed by them: an expression only holds its
/// operands, and [`Server::compute`](crate::Server::compute) computes all of it, or returns the
/// first error. The same rules hold as for the methods of the server: values modulo p^r
/// ([`Value`]) wrap, columns of typed integers ([`IntegerColumn`]) do not, and what could be wrong
/// is refused. Clones share what they stand for: in `let y = &x * &x; &y + &y` there is one
/// product.
///
/// A public integer stands for a value that has it in every slot. On the left it is an `i64`.
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

pub(crate) type Operation<T> =
    dyn Fn(&<T as Arithmetic>::Engine<'_>, &[Argument<'_, T>]) -> Result<T, Error> + Send + Sync;

/// A value, or an operation and its operands.
pub(crate) enum Node<T: Operand> {
    Value(T),
    Result { operation: Box<Operation<T>>, inputs: Vec<Term<T>> },
}

impl<T: Operand> Clone for Expr<T> {
    fn clone(&self) -> Self {
        Expr(self.0.clone())
    }
}

/// Without recursion: an expression may be as long as a loop made it.
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

    fn unary(
        &self,
        f: impl Fn(&T::Engine<'_>, &T) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Self {
        let operation: Box<Operation<T>> = Box::new(move |engine, x| match x {
            [Argument::Value(x)] => f(engine, x),
            _ => Err(no_value()),
        });
        Expr(Arc::new(Node::Result { operation, inputs: vec![Term::Expr(self.clone())] }))
    }

    fn binary(
        a: impl Into<Input<T>>,
        b: impl Into<Input<T>>,
        f: impl Fn(&T::Engine<'_>, Argument<'_, T>, Argument<'_, T>) -> Result<T, Error>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let operation: Box<Operation<T>> = Box::new(move |engine, x| match x {
            [a, b] => f(engine, *a, *b),
            _ => Err(no_value()),
        });
        Expr(Arc::new(Node::Result { operation, inputs: vec![a.into().0, b.into().0] }))
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident;)*) => {$(
        impl<T: Operand, R: Into<Input<T>>> $operator<R> for &Expr<T> {
            type Output = Expr<T>;

            fn $method(self, other: R) -> Expr<T> {
                Expr::binary(self, other, |engine, a, b| T::$method(engine, a, b))
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
                Expr::binary(self, other, |engine, a, b| T::$method(engine, a, b))
            }
        }
    )*};
}

operators! { Add add; Sub sub; Mul mul; }

impl<T: Operand> Neg for &Expr<T> {
    type Output = Expr<T>;

    fn neg(self) -> Expr<T> {
        self.unary(|engine, x| T::neg(engine, x))
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
        self.unary(|server, x| server.sum(x))
    }

    /// The columns of every row, rotated by `k` to the left
    /// ([`Server::rotate_columns`](crate::Server::rotate_columns)).
    #[must_use]
    pub fn rotate_columns(&self, k: i64) -> Self {
        self.unary(move |server, x| server.rotate_columns(x, k))
    }

    /// A polynomial of every slot, coefficients lowest first
    /// ([`Server::polynomial`](crate::Server::polynomial)).
    #[must_use]
    pub fn polynomial(&self, coefficients: &[i64]) -> Self {
        let coefficients = coefficients.to_vec();
        self.unary(move |server, x| server.polynomial(x, &coefficients))
    }
}

macro_rules! comparisons {
    ($($name:ident $symbol:literal;)*) => {$(
        #[doc = concat!("1 where this ", $symbol, " the other, else 0.")]
        #[must_use]
        pub fn $name(&self, other: impl Into<Input<IntegerColumn>>) -> Self {
            Self::binary(self, other, |ints, a, b| Ok(ints.$name(a, b)?))
        }
    )*};
}

impl Expr<IntegerColumn> {
    comparisons! { lt "<"; le "<="; gt ">"; ge ">="; eq "=="; ne "!="; }

    /// The smaller of both.
    #[must_use]
    pub fn min(&self, other: impl Into<Input<IntegerColumn>>) -> Self {
        Self::binary(self, other, |ints, a, b| Ok(ints.min(a, b)?))
    }

    /// The greater of both.
    #[must_use]
    pub fn max(&self, other: impl Into<Input<IntegerColumn>>) -> Self {
        Self::binary(self, other, |ints, a, b| Ok(ints.max(a, b)?))
    }

    /// Of truth values: `then` where this is 1, `otherwise` where it is 0.
    #[must_use]
    pub fn select(
        &self,
        then: impl Into<Input<IntegerColumn>>,
        otherwise: impl Into<Input<IntegerColumn>>,
    ) -> Self {
        let operation: Box<Operation<IntegerColumn>> = Box::new(move |ints, x| match x {
            [Argument::Value(condition), a, b] => Ok(ints.select(condition, *a, *b)?),
            _ => Err(no_value()),
        });
        let inputs = vec![Term::Expr(self.clone()), then.into().0, otherwise.into().0];
        Expr(Arc::new(Node::Result { operation, inputs }))
    }

    /// The entry of a public table for each value, the first one for the least value that the
    /// column can have ([`Integers::lookup`](crate::Integers::lookup)).
    #[must_use]
    pub fn lookup(&self, table: &[i128]) -> Self {
        let table = table.to_vec();
        self.unary(move |ints, x| Ok(ints.lookup(x, &table)?))
    }
}

/// Logic of truth values; of other integers the operation on their bits.
macro_rules! bit_operators {
    ($($operator:ident $method:ident $truth:ident $bits:ident;)*) => {$(
        impl<R: Into<Input<IntegerColumn>>> $operator<R> for &Expr<IntegerColumn> {
            type Output = Expr<IntegerColumn>;

            fn $method(self, other: R) -> Expr<IntegerColumn> {
                Expr::binary(self, other, |ints, a, b| match (a, b) {
                    (Argument::Value(a), Argument::Value(b)) if is_truth(a) && is_truth(b) => {
                        Ok(ints.$truth(a, b)?)
                    }
                    _ => Ok(ints.$bits(a, b)?),
                })
            }
        }

        impl<R: Into<Input<IntegerColumn>>> $operator<R> for Expr<IntegerColumn> {
            type Output = Expr<IntegerColumn>;

            fn $method(self, other: R) -> Expr<IntegerColumn> {
                (&self).$method(other)
            }
        }
    )*};
}

bit_operators! {
    BitAnd bitand and bit_and;
    BitOr bitor or bit_or;
    BitXor bitxor xor bit_xor;
}

fn is_truth(x: &IntegerColumn) -> bool {
    x.interval().low() >= 0 && x.interval().high() <= 1
}

/// Of truth values only: other integers are refused.
impl Not for &Expr<IntegerColumn> {
    type Output = Expr<IntegerColumn>;

    fn not(self) -> Expr<IntegerColumn> {
        self.unary(|ints, x| Ok(ints.not(x)?))
    }
}

impl Not for Expr<IntegerColumn> {
    type Output = Expr<IntegerColumn>;

    fn not(self) -> Expr<IntegerColumn> {
        !&self
    }
}
