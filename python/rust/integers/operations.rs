//! The operations of the library by their names.

use everlevel::{Integers, Interval, Params, Plaintext, Type};
use everlevel_circuit::Value;
use everlevel_integers::{
    Along, ArrayOperation, Column as Digits, Encoded, Operand, Operation, Order, Total as Parts,
};
use pyo3::prelude::*;

use super::column::{Column, Held, Home, Shared};
use crate::errors::{Result, refusal};

/// An operand from Python.
#[derive(FromPyObject)]
pub(super) enum Given<'py> {
    Column(Bound<'py, Column>),
    Public(i128),
}

/// The same without the interpreter's lock.
pub(super) enum Entry {
    Column(Held),
    Public(i128),
}

impl Entry {
    pub(super) fn of(given: &Given<'_>) -> Self {
        match given {
            Given::Column(x) => Entry::Column(x.get().held.clone()),
            Given::Public(k) => Entry::Public(*k),
        }
    }
}

/// The operands of an operation.
pub(super) struct Operands<'a>(pub(super) &'a [Entry], pub(super) &'a [i128]);

impl<'a> Operands<'a> {
    /// A column or a public integer.
    fn at<S: Home>(&self, i: usize) -> Result<Operand<'a, S::Ciphertext>> {
        match self.0.get(i) {
            Some(Entry::Public(k)) => Ok(Operand::Public(*k)),
            _ => Ok(Operand::Column(self.column::<S>(i)?)),
        }
    }

    /// A column.
    pub(super) fn column<S: Home>(&self, i: usize) -> Result<&'a Digits<S::Ciphertext>> {
        let found = match self.0.get(i) {
            Some(Entry::Column(held)) => S::of(held),
            _ => None,
        };
        found.ok_or_else(|| {
            let problem = "arrays of a plan and of a server do not mix: give both from one of them";
            refusal("ParameterError", "python.traced", problem)
        })
    }

    fn number(&self, i: usize) -> i128 {
        self.1.get(i).copied().unwrap_or_default()
    }

    /// In which order the first entries are taken.
    fn order(&self) -> Order {
        if self.number(1) == 0 { Order::Ascending } else { Order::Descending }
    }

    /// An operation on arrays of as many entries as the first number says, in this order, and for
    /// an entry of a rank the third number.
    fn of_arrays(&self, name: &str) -> Option<ArrayOperation> {
        let rank = || self.number(2) as usize;
        Some(match name {
            "arrays_sum" => ArrayOperation::Sum,
            "arrays_nth" => ArrayOperation::Nth(self.order(), rank()),
            "arrays_argnth" => ArrayOperation::ArgNth(self.order(), rank()),
            "arrays_sort" => ArrayOperation::Sort(self.order()),
            "arrays_argsort" => ArrayOperation::ArgSort(self.order()),
            "arrays_cumsum" => ArrayOperation::CumulativeSum,
            _ => return None,
        })
    }

    /// The type that has just these values.
    fn kind(&self) -> Result<Type> {
        let interval = Interval::new(self.number(0), self.number(1))?;
        Ok(Type::smallest(interval)
            .filter(|kind| kind.interval() == interval)
            .unwrap_or(Type::Ranged(interval)))
    }
}

/// The operation of a name that puts a column in order; `None` for other names.
fn in_order(name: &str, x: &Operands<'_>) -> Option<Operation> {
    let first = x.number(0) as usize;
    Some(match name {
        "sort" => Operation::Sort(x.order(), first),
        "argsort" => Operation::ArgSort(x.order(), first),
        "maximum" => Operation::Nth(Order::Descending, 0),
        "minimum" => Operation::Nth(Order::Ascending, 0),
        "argmax" => Operation::ArgNth(Order::Descending, 0),
        "argmin" => Operation::ArgNth(Order::Ascending, 0),
        "nth" => Operation::Nth(Order::Ascending, first),
        _ => return None,
    })
}

/// An operation of the library by its name: a line for each. Within a run of a program, those that
/// put the same column in order share what they can.
pub(super) fn operate<S: Home>(
    s: &Integers<'_, S>,
    shared: Option<&Shared>,
    name: &str,
    x: &Operands<'_>,
) -> Result<Vec<Digits<S::Ciphertext>>> {
    if let Some(operation) = in_order(name, x) {
        let column = [Operand::Column(x.column::<S>(0)?)];
        return Ok(vec![match shared {
            Some(shared) => {
                s.operate_sharing(&operation, &column, Along::default(), S::orders(shared))?
            }
            None => s.operate(&operation, &column)?,
        }]);
    }
    Ok(vec![match name {
        "add" => s.add(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "sub" => s.sub(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "neg" => s.neg(x.column::<S>(0)?)?,
        "mul_public" => s.mul_public(x.column::<S>(0)?, x.number(0))?,
        "mul" => s.mul(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "square" => s.square(x.column::<S>(0)?)?,
        "mul_wrapped" => s.mul_wrapped(x.at::<S>(0)?, x.at::<S>(1)?, x.kind()?)?,
        "weighted_sum" => {
            let columns = (0..x.0.len()).map(|i| x.column::<S>(i));
            let terms = columns.zip(x.1).map(|(column, k)| Ok((column?, *k)));
            s.weighted_sum(&terms.collect::<Result<Vec<_>>>()?)?
        }
        "sum_of_each" => s.sum_of_each(x.column::<S>(0)?)?,
        "cumsum" => s.cumsum(x.column::<S>(0)?)?,
        "searchsorted" => s.searchsorted(&x.1[1..], x.column::<S>(0)?, x.number(0) == 1)?,
        "isin" => s.isin(x.column::<S>(0)?, x.1)?,
        "div" => s.div(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "rem" => s.rem(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "divmod" => {
            let (quotient, remainder) = s.div_rem(x.at::<S>(0)?, x.at::<S>(1)?)?;
            return Ok(vec![quotient, remainder]);
        }
        "div_public" => s.div_public(x.column::<S>(0)?, x.number(0))?,
        "rem_public" => s.rem_public(x.column::<S>(0)?, x.number(0))?,
        "shift_left_by" => s.shift_left_by(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "shift_right_by" => s.shift_right_by(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "popcount" => s.popcount(x.column::<S>(0)?)?,
        "lt" => s.lt(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "le" => s.le(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "gt" => s.gt(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "ge" => s.ge(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "eq" => s.eq(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "ne" => s.ne(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "min" => s.min(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "max" => s.max(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "clip" => s.clip(x.column::<S>(0)?, x.number(0), x.number(1))?,
        "abs" => s.abs(x.column::<S>(0)?)?,
        "sign" => s.sign(x.column::<S>(0)?)?,
        "select" => s.select(x.column::<S>(0)?, x.at::<S>(1)?, x.at::<S>(2)?)?,
        "not" => s.not(x.column::<S>(0)?)?,
        "and" => s.and(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "or" => s.or(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "xor" => s.xor(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "bit_and" => s.bit_and(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "bit_or" => s.bit_or(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "bit_xor" => s.bit_xor(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "shift_right" => s.shift_right(x.column::<S>(0)?, x.number(0) as u32)?,
        "wrapped" => s.wrapped(x.column::<S>(0)?, x.kind()?)?,
        "lookup" => s.lookup(x.column::<S>(0)?, x.1)?,
        "lookup_all" => {
            // The number of tables, then their entries.
            let entries = x.1.get(1..).unwrap_or_default();
            let length = entries.len() / (x.number(0).max(1) as usize);
            let tables: Vec<&[i128]> = entries.chunks(length.max(1)).collect();
            return Ok(s.lookup_all(x.column::<S>(0)?, &tables)?);
        }
        "normalized" => s.normalized(x.column::<S>(0)?)?,
        "shortened" => s.shortened(x.column::<S>(0)?, x.number(0) as usize)?,
        _ => {
            if let Some(operation) = x.of_arrays(name) {
                let n = x.number(0) as usize;
                return Ok(vec![s.of_arrays(x.column::<S>(0)?, n, operation)?]);
            }
            let problem = format!("no operation is named {name:?}");
            return Err(refusal("ParameterError", "python.operation", &problem));
        }
    }])
}

/// What is decrypted only, by its name.
pub(super) fn totals<S: Home>(
    s: &Integers<'_, S>,
    name: &str,
    x: &Operands<'_>,
) -> Result<Vec<Parts<S::Ciphertext>>> {
    Ok(match name {
        "sum" => vec![s.sum(x.column::<S>(0)?)?],
        "mean" => vec![s.mean(x.column::<S>(0)?)?],
        "dot" => vec![s.dot(x.column::<S>(0)?, x.1)?],
        "sum_of_products" => vec![s.sum_of_products(x.column::<S>(0)?, x.column::<S>(1)?)?],
        "average" => vec![s.average(x.column::<S>(0)?, x.1)?],
        "bincount" => s.bincount(x.column::<S>(0)?)?,
        _ => {
            let problem = format!("no total is named {name:?}");
            return Err(refusal("ParameterError", "python.operation", &problem));
        }
    })
}

/// A column of public integers, one for each entry, beside an encrypted one, or beside one of which
/// all entries are public: anybody can read its ciphertexts.
pub(super) fn constant<S: Home>(
    s: &Integers<'_, S>,
    params: &Params,
    like: &Digits<S::Ciphertext>,
    values: &[i128],
) -> Result<Digits<S::Ciphertext>> {
    let scheme = s.session().scheme();
    let capacity = |v: &&Value<S::Ciphertext>| scheme.capacity_bits(&v.get());
    let freshest = like.values().max_by(|a, b| capacity(a).total_cmp(&capacity(b)));
    let low = values.iter().copied().min().unwrap_or(0);
    let high = values.iter().copied().max().unwrap_or(0);
    let encoded = Encoded::new(values, Type::ranged(low, high)?, s.slots())?;
    let Some(freshest) = freshest else {
        // There is none to take a level from.
        return Ok(s.transparent(&encoded, 1)?);
    };
    let zero = scheme.mul_scalar(&freshest.get(), 0)?;
    encoded.encrypt(|slots| Ok(scheme.add_plain(&zero, &Plaintext::encode(params, slots)?)?))
}
