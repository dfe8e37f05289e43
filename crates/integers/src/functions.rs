//! The functions and operators of text programs.

use everlevel_circuit::expression::{Function, NamedFunction, Operator, TypedFunction};

use crate::column::{Column, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::operation::Operation;
use crate::order::Order;
use crate::orders::{Along, Orders};
use crate::total::Total;

/// The value of a part of a program.
pub(crate) enum Value<C> {
    Public(i128),
    Column(Column<C>),
    /// A sum, which cannot be computed on.
    Total(Total<C>),
}

impl<C> Clone for Value<C> {
    fn clone(&self) -> Self {
        match self {
            Value::Public(v) => Value::Public(*v),
            Value::Column(x) => Value::Column(x.clone()),
            Value::Total(x) => Value::Total(x.clone()),
        }
    }
}

impl<'a, C> From<&'a Value<C>> for Operand<'a, C> {
    fn from(x: &'a Value<C>) -> Self {
        match x {
            Value::Column(x) => Operand::Column(x),
            Value::Public(v) => Operand::Public(*v),
            // Arguments are no totals: see `Run::argument` of programs.
            Value::Total(x) => Operand::Public(x.constant),
        }
    }
}

/// The result of an operation.
pub(crate) type Found<S> =
    Result<Value<<S as everlevel_scheme::Scheme>::Ciphertext>, IntegersError>;

/// The error for operands that the operation does not support.
pub(crate) fn refused<T>(
    operation: &'static str,
    found: Interval,
    expected: &'static str,
) -> Result<T, IntegersError> {
    Err(IntegersError::Type { operation, found, expected })
}

impl<C> Value<C> {
    pub(crate) fn interval(&self) -> Interval {
        match self {
            Value::Public(v) => Interval { low: *v, high: *v },
            Value::Column(x) => x.interval(),
            Value::Total(x) => x.interval(),
        }
    }

    pub(crate) fn is_bit(&self) -> bool {
        matches!(self, Value::Column(_)) && Interval::BOOL.holds(self.interval())
    }
}

/// A public integer that says which entry.
fn place(v: i128) -> Result<usize, IntegersError> {
    usize::try_from(v).map_err(|_| IntegersError::Value {
        value: v,
        position: 0,
        expected: "a number of entries".into(),
    })
}

/// A public integer of the two that say which part of the entries.
fn part(v: i128) -> Result<u32, IntegersError> {
    u32::try_from(v).map_err(|_| IntegersError::Value {
        value: v,
        position: 0,
        expected: format!("0 to {}: reduce the fraction", u32::MAX),
    })
}

/// The operation of an operator.
pub(crate) fn of_operator(operator: Operator) -> Operation {
    match operator {
        Operator::Less => Operation::Less,
        Operator::LessOrEqual => Operation::LessOrEqual,
        Operator::Greater => Operation::Greater,
        Operator::GreaterOrEqual => Operation::GreaterOrEqual,
        Operator::Equal => Operation::Equal,
        Operator::NotEqual => Operation::NotEqual,
        Operator::And => Operation::And,
        Operator::Or => Operation::Or,
        Operator::ShiftLeft => Operation::ShiftLeft,
        Operator::ShiftRight => Operation::ShiftRight,
        Operator::Divide => Operation::Divide,
        Operator::Remainder => Operation::Remainder,
    }
}

/// Whether a function puts its first argument in order.
pub(crate) fn is_order(function: TypedFunction) -> bool {
    matches!(
        function,
        TypedFunction::Median
            | TypedFunction::Argmax
            | TypedFunction::Argmin
            | TypedFunction::Sort
            | TypedFunction::Argsort
            | TypedFunction::Maximum
            | TypedFunction::Minimum
            | TypedFunction::Ranks
            | TypedFunction::Nth
            | TypedFunction::Argnth
            | TypedFunction::Quantile
    )
}

/// The operation that puts a column of a number of entries in order, with public integers that say
/// which of these; `None` for other functions and other integers.
pub(crate) fn in_order(
    function: TypedFunction,
    length: usize,
    numbers: &[i128],
) -> Result<Option<Operation>, IntegersError> {
    let up = Order::Ascending;
    Ok(Some(match (function, numbers) {
        (TypedFunction::Median, []) => Operation::Quantile(1, 2),
        (TypedFunction::Argmax, []) => Operation::ArgNth(Order::Descending, 0),
        (TypedFunction::Argmin, []) => Operation::ArgNth(up, 0),
        (TypedFunction::Maximum, []) => Operation::Nth(Order::Descending, 0),
        (TypedFunction::Minimum, []) => Operation::Nth(up, 0),
        (TypedFunction::Ranks, []) => Operation::Ranks(up),
        (TypedFunction::Sort, []) => Operation::Sort(up, length),
        (TypedFunction::Argsort, []) => Operation::ArgSort(up, length),
        (TypedFunction::Sort, [k]) => Operation::Sort(up, place(*k)?),
        (TypedFunction::Argsort, [k]) => Operation::ArgSort(up, place(*k)?),
        (TypedFunction::Nth, [k]) => Operation::Nth(up, place(*k)?),
        (TypedFunction::Argnth, [k]) => Operation::ArgNth(up, place(*k)?),
        (TypedFunction::Quantile, [a, b]) => Operation::Quantile(part(*a)?, part(*b)?),
        _ => return Ok(None),
    }))
}

/// The public integers of arguments; `None` where one is no public integer.
fn publics<C>(arguments: &[Value<C>]) -> Option<Vec<i128>> {
    let public = |x: &Value<C>| match x {
        Value::Public(v) => Some(*v),
        Value::Column(_) | Value::Total(_) => None,
    };
    arguments.iter().map(public).collect()
}

/// A function that puts a column in order, and the public integers that say which entries.
pub(crate) type InOrder = (TypedFunction, Vec<i128>);

/// All functions of a program that put a column in order, with a number of the column; none if they
/// share nothing.
pub(crate) type Listed = (usize, Vec<InOrder>);

/// Applies functions and operators to arguments that were computed.
pub(crate) struct Functions<'a, 's, S: IntegerScheme> {
    pub(crate) ints: &'a Integers<'s, S>,
    /// What functions share that put the same columns in order.
    pub(crate) orders: Orders<S::Ciphertext>,
}

impl<S: IntegerScheme> Functions<'_, '_, S> {
    /// Computes an operation; if all operands are public integers, the result is public, too.
    pub(crate) fn operated(
        &self,
        operation: &Operation,
        arguments: &[&Value<S::Ciphertext>],
    ) -> Found<S> {
        let operands: Vec<Operand<'_, _>> = arguments.iter().map(|x| (*x).into()).collect();
        let found = self.ints.operate(operation, &operands)?;
        Ok(match (found.length(), found.public_value()) {
            (None, Some(value)) => Value::Public(value),
            _ => Value::Column(found),
        })
    }

    pub(crate) fn negated(&self, x: &Value<S::Ciphertext>) -> Found<S> {
        self.operated(&Operation::Subtract, &[&Value::Public(0), x])
    }

    /// A column in another type.
    pub(crate) fn converted(
        &self,
        function: NamedFunction,
        x: &Column<S::Ciphertext>,
        name: &str,
    ) -> Found<S> {
        let kind = name.parse()?;
        let operation = match function {
            NamedFunction::Cast => Operation::Cast(kind),
            _ => Operation::Wrap(kind),
        };
        Ok(Value::Column(self.ints.operate(&operation, &[x.into()])?))
    }

    /// A function of columns and a public list.
    pub(crate) fn with_list(
        &self,
        function: NamedFunction,
        x: &[Column<S::Ciphertext>],
        list: &[i128],
    ) -> Found<S> {
        Ok(Value::Column(match (function, x) {
            (NamedFunction::Isin, [x]) => self.ints.isin(x, list)?,
            (NamedFunction::Searchsorted, [x]) => self.ints.searchsorted(list, x, false)?,
            (NamedFunction::Dot, [x]) => return Ok(Value::Total(self.ints.dot(x, list)?)),
            (_, [x, y]) => {
                // Row by row; a list that does not end with a row is refused.
                let columns = usize::try_from(y.interval().points()).unwrap_or(usize::MAX);
                let rows: Vec<Vec<i128>> = list.chunks(columns).map(<[i128]>::to_vec).collect();
                self.ints.lookup_pair(x, y, &rows)?
            }
            (_, x) => self.ints.lookup(&x[0], list)?,
        }))
    }

    pub(crate) fn power(&self, x: &Value<S::Ciphertext>, exponent: u64) -> Found<S> {
        match (x, exponent) {
            (_, 0) => Ok(Value::Public(1)),
            (x, 1) => Ok(x.clone()),
            (Value::Public(v), _) => {
                let power = u32::try_from(exponent).ok().and_then(|e| v.checked_pow(e));
                let value = Interval::point(power.unwrap_or(i128::MAX))?.low();
                Ok(Value::Public(value))
            }
            (x, _) if x.is_bit() => Ok(x.clone()),
            (Value::Column(base), _) => {
                // By bits of the exponent, highest first; ranges end it soon.
                let mut power = base.clone();
                for bit in (0..exponent.ilog2()).rev() {
                    power = self.ints.square(&power)?;
                    if exponent >> bit & 1 == 1 {
                        power = self.ints.mul(&power, base)?;
                    }
                }
                Ok(Value::Column(power))
            }
            (Value::Total(_), _) => Ok(x.clone()),
        }
    }

    /// The sum of the products of two columns, or their mean, without these products.
    pub(crate) fn summed_products(
        &self,
        mean: bool,
        x: &Column<S::Ciphertext>,
        y: &Column<S::Ciphertext>,
    ) -> Found<S> {
        Ok(Value::Total(match mean {
            false => self.ints.sum_of_products(x, y)?,
            true => self.ints.mean_of_products(x, y)?,
        }))
    }

    pub(crate) fn call(&self, function: Function, x: &Value<S::Ciphertext>) -> Found<S> {
        match (function, x) {
            (Function::Sum, Value::Column(x)) => Ok(Value::Total(self.ints.sum(x)?)),
            (Function::Sum, _) => {
                refused("the sum", x.interval(), "a column: a public integer has no length")
            }
            _ => refused(
                "a rotation or a bootstrapping",
                x.interval(),
                "values modulo p^r: columns of integers are bootstrapped by themselves",
            ),
        }
    }

    /// A function of columns and public integers. `beside` has all functions of the program that
    /// put its first argument in order, if it is one of them.
    pub(crate) fn typed(
        &self,
        function: TypedFunction,
        x: &[Value<S::Ciphertext>],
        beside: Option<&Listed>,
    ) -> Found<S> {
        if let [Value::Column(column), numbers @ ..] = x
            && let Some(numbers) = publics(numbers)
        {
            let length = column.length().unwrap_or(1);
            if let Some(operation) = in_order(function, length, &numbers)? {
                return self.ordered(&operation, column, beside);
            }
        }
        match (function, x) {
            (TypedFunction::If, [c @ Value::Column(_), a, b]) => {
                self.operated(&Operation::Select, &[c, a, b])
            }
            // As long as the other one, too.
            (TypedFunction::If, [Value::Public(c), a, b]) => {
                let (a, b) = (self.ints.column(a.into())?, self.ints.column(b.into())?);
                let length = self.ints.common_length(&[&a, &b])?;
                let found = Column { length, ..if *c == 0 { b } else { a } };
                Ok(match (length, found.public_value()) {
                    (None, Some(value)) => Value::Public(value),
                    _ => Value::Column(found),
                })
            }
            (TypedFunction::Min, [a, b]) => self.operated(&Operation::Minimum, &[a, b]),
            (TypedFunction::Max, [a, b]) => self.operated(&Operation::Maximum, &[a, b]),
            (TypedFunction::Xor, [a, b]) => self.operated(&Operation::Xor, &[a, b]),
            (TypedFunction::Abs, [x]) => self.operated(&Operation::Absolute, &[x]),
            (TypedFunction::Sign, [x]) => self.operated(&Operation::Sign, &[x]),
            (TypedFunction::Popcount, [x]) => self.operated(&Operation::Popcount, &[x]),
            (TypedFunction::WithoutIndex, [Value::Column(x)]) => {
                Ok(Value::Column(x.clone().without_index()))
            }
            (TypedFunction::WithoutIndex, [x @ Value::Public(_)]) => Ok(x.clone()),
            (TypedFunction::Clip, [x, Value::Public(low), Value::Public(high)]) => {
                self.operated(&Operation::Clip(*low, *high), &[x])
            }
            // The upper bound where it is below the lower one, as NumPy.
            (TypedFunction::Clip, [x, low, high]) => {
                let found = self.operated(&Operation::Maximum, &[x, low])?;
                self.operated(&Operation::Minimum, &[&found, high])
            }
            (TypedFunction::Nth | TypedFunction::Argnth | TypedFunction::Quantile, x)
            | (TypedFunction::Sort | TypedFunction::Argsort, x @ [_, _]) => refused(
                "an entry in order",
                x.last().map_or(Interval::BOOL, Value::interval),
                "a column, and public integers that say which entries",
            ),
            (TypedFunction::Mean, [Value::Column(x)]) => Ok(Value::Total(self.ints.mean(x)?)),
            (TypedFunction::Count, [Value::Column(x)]) if x.interval().high() <= 1 => {
                self.ints.bit("count", x)?;
                Ok(Value::Total(self.ints.sum(x)?))
            }
            (_, [Value::Column(x)]) if function != TypedFunction::Count => self.along(function, x),
            _ => refused(
                "a count or a choice",
                x.first().map_or(Interval::BOOL, Value::interval),
                "a column of truth values, 0 or 1: compare first",
            ),
        }
    }

    /// A result of the order of a column, which shares what it can with others.
    fn ordered(
        &self,
        operation: &Operation,
        x: &Column<S::Ciphertext>,
        beside: Option<&Listed>,
    ) -> Found<S> {
        let length = x.length().unwrap_or(1);
        let listed = beside.map(|(column, all)| (*column, &all[..]));
        let (column, beside) = listed.unwrap_or_default();
        let others = beside.iter().filter_map(|(function, numbers)| {
            // One that is refused is refused in its turn.
            in_order(*function, length, numbers).ok().flatten()
        });
        let others: Vec<Operation> = others.collect();
        let operations: Vec<&Operation> = others.iter().collect();
        let along = Along { column, operations: &operations };
        let found = self.ints.operate_sharing(operation, &[x.into()], along, &self.orders)?;
        Ok(Value::Column(found))
    }

    /// A function along a column that gives a column.
    fn along(&self, function: TypedFunction, x: &Column<S::Ciphertext>) -> Found<S> {
        let operation = match function {
            TypedFunction::Cumsum => Operation::CumulativeSum,
            TypedFunction::Total => Operation::Total,
            _ => return refused("this function", x.interval(), "other arguments"),
        };
        Ok(Value::Column(self.ints.operate(&operation, &[x.into()])?))
    }
}
