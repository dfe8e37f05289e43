//! Expressions of typed integers that compute modulo 2^k.

use std::ops::{Add, Mul, Neg, Sub};

use everlevel_integers::{Operation, Type};

use crate::expression::Expr;
use crate::operand::Operand;

/// The largest absolute value of a product by a public integer that is computed exactly first.
const EXACT: u128 = 1 << 122;

/// An expression of typed integers ([`Expr::wrapping`]) whose operators `+`, `-` and `*` compute
/// modulo 2^k, as [`std::num::Wrapping`] does.
///
/// The other operand is one of these or a public `i64`, which counts modulo 2^k. If both have a
/// type of their own, the result has that of the left one, and a right one whose type does not lie
/// in it is refused (`integers.type`) when it is computed, as are truth values and ranges, which
/// have no number of bits. Each operator reduces its result, which takes carries; the exact sum of
/// several terms that is reduced once takes less ([`Expr::wrapped`]).
///
/// ```
/// use everlevel::{Client, Expr, OptIn, Params, Type};
///
/// let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?; // a toy
/// let mut rng = everlevel::system_rng()?;
/// let client = Client::new(&params, &mut rng);
/// let server = client.server(&mut rng)?;
/// let counter = [250u8, 3, 77];
/// let x = Expr::new(client.encrypt_integers(&counter, Type::U8, &mut rng)?).wrapping(Type::U8);
///
/// let next = &x * 5 + 13;
/// let found = server.compute(&next.checked())?;
/// let expected = counter.map(|v| v.wrapping_mul(5).wrapping_add(13));
/// assert_eq!(client.decrypt_integers::<u8>(&found)?, expected);
/// # Ok::<(), everlevel::Error>(())
/// ```
#[derive(Clone)]
pub struct Wrapping<T: Operand> {
    /// Values of the type.
    value: Expr<T>,
    kind: Type,
}

impl<T: Operand<Operation = Operation>> Expr<T> {
    /// The same values, which have to be of a type (`u8` to `u64`, `i8` to `i64`), with operators
    /// that compute modulo 2^k. [`Expr::wrapped`] converts other values.
    #[must_use]
    pub fn wrapping(&self, kind: Type) -> Wrapping<T> {
        Wrapping { value: self.then(Operation::Cast(kind), []), kind }
    }
}

impl<T: Operand<Operation = Operation>> Wrapping<T> {
    /// The same values as an expression with exact operators, which servers compute.
    #[must_use]
    pub fn checked(&self) -> Expr<T> {
        self.value.clone()
    }

    /// Any integers as values of the type of this.
    fn reduced(&self, value: Expr<T>) -> Self {
        Wrapping { value: value.wrapped(self.kind), kind: self.kind }
    }

    /// The other operand of an operator, which has to be of the type of this.
    fn right(&self, other: &Self) -> Expr<T> {
        match self.kind == other.kind {
            true => other.value.clone(),
            false => other.value.then(Operation::Cast(self.kind), []),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        self.reduced(&self.value + self.right(other))
    }

    fn minus(&self, other: &Self) -> Self {
        self.reduced(&self.value - self.right(other))
    }

    fn times(&self, other: &Self) -> Self {
        let product = Operation::MultiplyWrapped(self.kind);
        let value = self.value.then(product, [self.right(other).into()]);
        Wrapping { value, kind: self.kind }
    }

    fn plus_public(&self, k: i64) -> Self {
        self.reduced(&self.value + k)
    }

    fn minus_public(&self, k: i64) -> Self {
        self.reduced(&self.value - k)
    }

    fn subtracted_from(&self, k: i64) -> Self {
        self.reduced(k - &self.value)
    }

    /// Exactly and then modulo 2^k, unless what is exact could be too large.
    fn times_public(&self, k: i64) -> Self {
        let interval = self.kind.interval();
        let most = interval.low().unsigned_abs().max(interval.high().unsigned_abs());
        if most.saturating_mul(k.unsigned_abs().into()) <= EXACT {
            return self.reduced(&self.value * k);
        }
        let value = self.value.then(Operation::MultiplyWrapped(self.kind), [k.into()]);
        Wrapping { value, kind: self.kind }
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident: $both:ident $right:ident $left:ident;)*) => {$(
        impl<T: Operand<Operation = Operation>> $operator<&Wrapping<T>> for &Wrapping<T> {
            type Output = Wrapping<T>;

            fn $method(self, other: &Wrapping<T>) -> Wrapping<T> {
                self.$both(other)
            }
        }

        impl<T: Operand<Operation = Operation>> $operator<Wrapping<T>> for &Wrapping<T> {
            type Output = Wrapping<T>;

            fn $method(self, other: Wrapping<T>) -> Wrapping<T> {
                self.$both(&other)
            }
        }

        impl<T: Operand<Operation = Operation>> $operator<&Wrapping<T>> for Wrapping<T> {
            type Output = Wrapping<T>;

            fn $method(self, other: &Wrapping<T>) -> Wrapping<T> {
                self.$both(other)
            }
        }

        impl<T: Operand<Operation = Operation>> $operator<Wrapping<T>> for Wrapping<T> {
            type Output = Wrapping<T>;

            fn $method(self, other: Wrapping<T>) -> Wrapping<T> {
                self.$both(&other)
            }
        }

        impl<T: Operand<Operation = Operation>> $operator<i64> for &Wrapping<T> {
            type Output = Wrapping<T>;

            fn $method(self, k: i64) -> Wrapping<T> {
                self.$right(k)
            }
        }

        impl<T: Operand<Operation = Operation>> $operator<i64> for Wrapping<T> {
            type Output = Wrapping<T>;

            fn $method(self, k: i64) -> Wrapping<T> {
                self.$right(k)
            }
        }

        impl<T: Operand<Operation = Operation>> $operator<&Wrapping<T>> for i64 {
            type Output = Wrapping<T>;

            fn $method(self, other: &Wrapping<T>) -> Wrapping<T> {
                other.$left(self)
            }
        }

        impl<T: Operand<Operation = Operation>> $operator<Wrapping<T>> for i64 {
            type Output = Wrapping<T>;

            fn $method(self, other: Wrapping<T>) -> Wrapping<T> {
                other.$left(self)
            }
        }
    )*};
}

operators! {
    Add add: plus plus_public plus_public;
    Sub sub: minus minus_public subtracted_from;
    Mul mul: times times_public times_public;
}

impl<T: Operand<Operation = Operation>> Neg for &Wrapping<T> {
    type Output = Wrapping<T>;

    fn neg(self) -> Wrapping<T> {
        self.reduced(-&self.value)
    }
}

impl<T: Operand<Operation = Operation>> Neg for Wrapping<T> {
    type Output = Wrapping<T>;

    fn neg(self) -> Wrapping<T> {
        -&self
    }
}
