//! Expressions of encrypted values, written with operators and computed by a server.

use std::ops::{Add, Mul, Neg, Sub};
use std::sync::Arc;

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
