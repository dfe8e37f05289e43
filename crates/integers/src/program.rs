//! Programs of text on columns.

use std::collections::BTreeMap;

use everlevel_circuit::CircuitError;
use everlevel_circuit::expression::{
    Function, Kind, NamedFunction, Node, Operator, Program, TypedFunction,
};

use crate::column::{Column, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::Order;
use crate::parts::Encrypted;

/// Columns, and what a program gives, by name.
pub type NamedValues<C> = BTreeMap<String, Encrypted<C>>;

/// What is wrong with a program on columns, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("column {column}: {error}")]
pub struct ProgramError {
    /// Where in the text: characters from its beginning, from 1.
    pub column: usize,
    /// What is wrong.
    pub error: IntegersError,
}

impl ProgramError {
    /// The code of the error.
    pub fn code(&self) -> &'static str {
        self.error.code()
    }
}

/// A part's value.
enum Value<C> {
    Public(i128),
    Column(Column<C>),
    /// A sum, which nothing can be computed on.
    Total(crate::total::Total<C>),
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
            // Arguments are no totals: see `Run::argument`.
            Value::Total(x) => Operand::Public(x.constant),
        }
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Runs a program on columns, with public tables, each with an entry for each integer of the
    /// interval that is looked up in it. `progress` is called after each statement with the number
    /// of those done.
    ///
    /// `+ - * / % << >> < <= > >= == != & | !` and the functions of [`TypedFunction`] and
    /// [`NamedFunction`] are the operations of these names here, `total` is
    /// [`Integers::sum_of_each`]; `&`, `|` and `xor` of truth values are logic, of others they are
    /// done bit by bit. `/` rounds down, and `%` has the sign of the
    /// divisor. Types follow from the inputs.
    ///
    /// # Errors
    /// A missing input or table; what is no operation of columns; errors of the operations; all
    /// with the place in the text.
    pub fn run(
        &self,
        program: &Program,
        inputs: &BTreeMap<String, Column<S::Ciphertext>>,
        tables: &BTreeMap<String, Vec<i128>>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<NamedValues<S::Ciphertext>, ProgramError> {
        let values = inputs.iter().map(|(name, x)| (name.clone(), Value::Column(x.clone())));
        let mut run = Run { ints: self, values: values.collect(), tables };
        for (done, statement) in program.statements().iter().enumerate() {
            let value = run.value(&statement.value)?;
            run.values.insert(statement.name.clone(), value);
            progress(done + 1);
        }
        let output = |name: &str| {
            let value = match run.values.remove(name)? {
                Value::Public(v) => {
                    Encrypted::Column(Column::public(v, Interval { low: v, high: v }, None))
                }
                Value::Column(x) => x.into(),
                Value::Total(x) => x.into(),
            };
            Some((name.to_string(), value))
        };
        Ok(program.outputs().filter_map(output).collect())
    }
}

struct Run<'a, 's, S: IntegerScheme> {
    ints: &'a Integers<'s, S>,
    values: BTreeMap<String, Value<S::Ciphertext>>,
    tables: &'a BTreeMap<String, Vec<i128>>,
}

type Found<S> = Result<Value<<S as everlevel_scheme::Scheme>::Ciphertext>, IntegersError>;

/// What an operation refuses, at its place.
fn at<T>(node: &Node, found: Result<T, IntegersError>) -> Result<T, ProgramError> {
    found.map_err(|error| ProgramError { column: node.column, error })
}

fn refused<T>(
    operation: &'static str,
    found: Interval,
    expected: &'static str,
) -> Result<T, IntegersError> {
    Err(IntegersError::Type { operation, found, expected })
}

/// A public integer that says which entry.
fn place(v: i128) -> Result<usize, IntegersError> {
    usize::try_from(v).map_err(|_| IntegersError::Value {
        value: v,
        position: 0,
        expected: "a number of entries".into(),
    })
}

impl<C> Value<C> {
    fn interval(&self) -> Interval {
        match self {
            Value::Public(v) => Interval { low: *v, high: *v },
            Value::Column(x) => x.interval(),
            Value::Total(x) => x.interval(),
        }
    }

    fn is_bit(&self) -> bool {
        matches!(self, Value::Column(_)) && Interval::BOOL.holds(self.interval())
    }
}

impl<S: IntegerScheme> Run<'_, '_, S> {
    fn value(&self, node: &Node) -> Result<Value<S::Ciphertext>, ProgramError> {
        let missing = |given: Vec<&String>, name: &str| {
            let given: Vec<&str> = given.into_iter().map(String::as_str).collect();
            let (name, given) = (name.to_string(), given.join(", "));
            at(node, Err(CircuitError::MissingInput { name, given }.into()))
        };
        match &node.kind {
            Kind::Constant(c) => Ok(Value::Public((*c).into())),
            Kind::Name(name) => match self.values.get(name) {
                Some(value) => Ok(value.clone()),
                None => missing(self.values.keys().collect(), name),
            },
            Kind::Negative(x) => {
                let x = self.argument(x)?;
                at(node, self.negated(&x))
            }
            Kind::Sum(terms) => {
                let mut sum: Option<Value<S::Ciphertext>> = None;
                for (subtracted, term) in terms {
                    let x = self.argument(term)?;
                    let found = match sum {
                        None if *subtracted => self.negated(&x),
                        None => Ok(x),
                        Some(sum) if *subtracted => self.joined(&sum, &x, |s, a, b| s.sub(a, b)),
                        Some(sum) => self.joined(&sum, &x, |s, a, b| s.add(a, b)),
                    };
                    sum = Some(at(term, found)?);
                }
                Ok(sum.unwrap_or(Value::Public(0)))
            }
            Kind::Product(factors) => {
                let mut product = Value::Public(1);
                for factor in factors {
                    let x = self.argument(factor)?;
                    product = at(factor, self.product(&product, &x))?;
                }
                Ok(product)
            }
            Kind::Power(x, exponent) => {
                let x = self.argument(x)?;
                at(node, self.power(&x, *exponent))
            }
            Kind::Call(function, x) => {
                let x = self.argument(x)?;
                at(node, self.call(*function, &x))
            }
            Kind::Binary(operator, a, b) => {
                let (a, b) = (self.argument(a)?, self.argument(b)?);
                at(node, self.binary(*operator, &a, &b))
            }
            Kind::Not(x) => {
                let x = self.argument(x)?;
                at(node, self.ints.column((&x).into()).and_then(|x| self.ints.not(&x)))
                    .map(Value::Column)
            }
            Kind::Typed(function, arguments) => {
                let arguments =
                    arguments.iter().map(|x| self.argument(x)).collect::<Result<Vec<_>, _>>()?;
                at(node, self.typed(*function, &arguments))
            }
            Kind::Named(function, arguments, name) => {
                let x =
                    arguments.iter().map(|x| self.argument(x)).collect::<Result<Vec<_>, _>>()?;
                let columns = x.iter().map(|x| self.ints.column(x.into()));
                let columns = at(node, columns.collect::<Result<Vec<_>, _>>())?;
                if let NamedFunction::Cast | NamedFunction::Wrap = function {
                    return at(node, self.converted(*function, &columns[0], name));
                }
                let Some(list) = self.tables.get(name) else {
                    return missing(self.tables.keys().collect(), name);
                };
                at(node, self.with_list(*function, &columns, list))
            }
        }
    }

    /// A column in another type.
    fn converted(
        &self,
        function: NamedFunction,
        x: &Column<S::Ciphertext>,
        name: &str,
    ) -> Found<S> {
        let kind = name.parse()?;
        Ok(Value::Column(match function {
            NamedFunction::Cast => self.ints.cast(x, kind)?,
            _ => self.ints.wrapped(x, kind)?,
        }))
    }

    /// A function of columns and a public list.
    fn with_list(
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

    /// What can be computed on.
    fn argument(&self, node: &Node) -> Result<Value<S::Ciphertext>, ProgramError> {
        match self.value(node)? {
            Value::Total(x) => at(
                node,
                refused(
                    "an operation",
                    x.interval(),
                    "a column: a sum can be decrypted only, and total(x) is one to be computed on",
                ),
            ),
            value => Ok(value),
        }
    }

    /// An operation on two operands; of public integers alone it is public, too.
    fn joined(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
        operation: impl Fn(
            &Integers<'_, S>,
            Operand<'_, S::Ciphertext>,
            Operand<'_, S::Ciphertext>,
        ) -> Result<Column<S::Ciphertext>, IntegersError>,
    ) -> Found<S> {
        let found = operation(self.ints, a.into(), b.into())?;
        Ok(match (found.length(), found.public_value()) {
            (None, Some(value)) => Value::Public(value),
            _ => Value::Column(found),
        })
    }

    fn negated(&self, x: &Value<S::Ciphertext>) -> Found<S> {
        self.joined(&Value::Public(0), x, |s, a, b| s.sub(a, b))
    }

    fn product(&self, a: &Value<S::Ciphertext>, b: &Value<S::Ciphertext>) -> Found<S> {
        match (a, b) {
            (Value::Public(k), x) | (x, Value::Public(k)) => {
                self.joined(x, &Value::Public(0), |s, x, _| s.mul_public(&s.column(x)?, *k))
            }
            (Value::Column(c), x) | (x, Value::Column(c)) if Interval::BOOL.holds(c.interval()) => {
                self.joined(x, &Value::Public(0), |s, x, zero| s.select(c, x, zero))
            }
            _ if b.is_bit() => self.product(b, a),
            _ => self.joined(a, b, |s, a, b| s.mul(a, b)),
        }
    }

    fn power(&self, x: &Value<S::Ciphertext>, exponent: u64) -> Found<S> {
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

    fn call(&self, function: Function, x: &Value<S::Ciphertext>) -> Found<S> {
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

    fn binary(
        &self,
        operator: Operator,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
    ) -> Found<S> {
        let logic = a.is_bit() && b.is_bit();
        match operator {
            Operator::Less => self.joined(a, b, |s, a, b| s.lt(a, b)),
            Operator::LessOrEqual => self.joined(a, b, |s, a, b| s.le(a, b)),
            Operator::Greater => self.joined(a, b, |s, a, b| s.gt(a, b)),
            Operator::GreaterOrEqual => self.joined(a, b, |s, a, b| s.ge(a, b)),
            Operator::Equal => self.joined(a, b, |s, a, b| s.eq(a, b)),
            Operator::NotEqual => self.joined(a, b, |s, a, b| s.ne(a, b)),
            Operator::And if logic => {
                self.joined(a, b, |s, a, b| s.and(&s.column(a)?, &s.column(b)?))
            }
            Operator::Or if logic => {
                self.joined(a, b, |s, a, b| s.or(&s.column(a)?, &s.column(b)?))
            }
            Operator::And => self.joined(a, b, |s, a, b| s.bit_and(a, b)),
            Operator::Or => self.joined(a, b, |s, a, b| s.bit_or(a, b)),
            Operator::ShiftLeft => self.shift(a, b, true),
            Operator::ShiftRight => self.shift(a, b, false),
            Operator::Divide | Operator::Remainder => {
                let whole = operator == Operator::Divide;
                self.joined(a, b, |s, a, b| match (b, whole) {
                    (Operand::Public(b), true) => s.div_public(&s.column(a)?, b),
                    (Operand::Public(b), false) => s.rem_public(&s.column(a)?, b),
                    (b, true) => s.div(a, b),
                    (b, false) => s.rem(a, b),
                })
            }
        }
    }

    fn shift(&self, a: &Value<S::Ciphertext>, b: &Value<S::Ciphertext>, left: bool) -> Found<S> {
        self.joined(a, b, |s, x, amount| {
            let x = s.column(x)?;
            match (amount, left) {
                (Operand::Column(amount), true) => s.shift_left_by(&x, amount),
                (Operand::Column(amount), false) => s.shift_right_by(&x, amount),
                (Operand::Public(bits @ 0..=126), true) => s.shift_left(&x, bits as u32),
                (Operand::Public(bits @ 0..=126), false) => s.shift_right(&x, bits as u32),
                (Operand::Public(_), _) => {
                    refused("a shift", b.interval(), "a number of bits from 0 to 126")
                }
            }
        })
    }

    fn typed(&self, function: TypedFunction, x: &[Value<S::Ciphertext>]) -> Found<S> {
        match (function, x) {
            (TypedFunction::If, [Value::Column(c), a, b]) => {
                self.joined(a, b, |s, a, b| s.select(c, a, b))
            }
            // As long as the other one, too.
            (TypedFunction::If, [Value::Public(c), a, b]) => self.joined(a, b, |s, a, b| {
                let (a, b) = (s.column(a)?, s.column(b)?);
                let length = s.common_length(&[&a, &b])?;
                Ok(Column { length, ..if *c == 0 { b } else { a } })
            }),
            (TypedFunction::Min, [a, b]) => self.joined(a, b, |s, a, b| s.min(a, b)),
            (TypedFunction::Max, [a, b]) => self.joined(a, b, |s, a, b| s.max(a, b)),
            (TypedFunction::Xor, [a, b]) if a.is_bit() && b.is_bit() => {
                self.joined(a, b, |s, a, b| s.xor(&s.column(a)?, &s.column(b)?))
            }
            (TypedFunction::Xor, [a, b]) => self.joined(a, b, |s, a, b| s.bit_xor(a, b)),
            (TypedFunction::Abs, [x]) => {
                self.joined(x, &Value::Public(0), |s, x, _| s.abs(&s.column(x)?))
            }
            (TypedFunction::Clip, [x, Value::Public(low), Value::Public(high)]) => {
                self.joined(x, &Value::Public(0), |s, x, _| s.clip(&s.column(x)?, *low, *high))
            }
            (TypedFunction::Clip, [x, low, high]) => {
                let found = self.joined(x, high, |s, a, b| s.min(a, b))?;
                self.joined(&found, low, |s, a, b| s.max(a, b))
            }
            (TypedFunction::Sign, [x]) => {
                self.joined(x, &Value::Public(0), |s, x, _| s.sign(&s.column(x)?))
            }
            (TypedFunction::Popcount, [x]) => {
                self.joined(x, &Value::Public(0), |s, x, _| s.popcount(&s.column(x)?))
            }
            (TypedFunction::Nth, [Value::Column(x), Value::Public(k)]) => {
                Ok(Value::Column(self.ints.nth(x, Order::Ascending, place(*k)?)?))
            }
            (TypedFunction::Argnth, [Value::Column(x), Value::Public(k)]) => {
                Ok(Value::Column(self.ints.arg_nth(x, Order::Ascending, place(*k)?)?))
            }
            (TypedFunction::Quantile, [Value::Column(x), Value::Public(a), Value::Public(b)]) => {
                let [a, b] = [place(*a)?, place(*b)?].map(|v| u32::try_from(v).unwrap_or(u32::MAX));
                Ok(Value::Column(self.ints.quantile(x, a, b)?))
            }
            (TypedFunction::Nth | TypedFunction::Argnth | TypedFunction::Quantile, x) => refused(
                "an entry in order",
                x.last().map_or(Interval::BOOL, Value::interval),
                "a column, and public integers that say which entry",
            ),
            (TypedFunction::Mean, [Value::Column(x)]) => Ok(Value::Total(self.ints.mean(x)?)),
            (_, [Value::Column(x)]) if function != TypedFunction::Count => self.along(function, x),
            (TypedFunction::Count, [Value::Column(x)]) if x.interval().high() <= 1 => {
                self.ints.bit("count", x)?;
                Ok(Value::Total(self.ints.sum(x)?))
            }
            _ => refused(
                "a count or a choice",
                x.first().map_or(Interval::BOOL, Value::interval),
                "a column of truth values, 0 or 1: compare first",
            ),
        }
    }

    /// A function along a column that gives a column.
    fn along(&self, function: TypedFunction, x: &Column<S::Ciphertext>) -> Found<S> {
        let all = x.length().unwrap_or(1);
        let found = match function {
            TypedFunction::Median => self.ints.median(x)?,
            TypedFunction::Argmax => self.ints.argmax(x)?,
            TypedFunction::Argmin => self.ints.argmin(x)?,
            TypedFunction::Sort => self.ints.sorted(x, Order::Ascending, all)?,
            TypedFunction::Argsort => self.ints.argsorted(x, Order::Ascending, all)?,
            TypedFunction::Cumsum => self.ints.cumsum(x)?,
            TypedFunction::Total => self.ints.sum_of_each(x)?,
            TypedFunction::Maximum => self.ints.maximum(x)?,
            TypedFunction::Minimum => self.ints.minimum(x)?,
            TypedFunction::Ranks => self.ints.ranks(x, Order::Ascending)?,
            _ => return refused("this function", x.interval(), "other arguments"),
        };
        Ok(Value::Column(found))
    }
}
