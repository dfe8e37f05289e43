//! Every operation on columns of typed integers, as `bench integers` runs and checks it.

use std::marker::PhantomData;

use everlevel_integers::{
    Column, Encrypted, IntegerScheme, Integers, IntegersError, Order, Total, Type,
};
use everlevel_scheme::Scheme;

/// A column and results by a scheme.
type ColumnOf<S> = Column<<S as Scheme>::Ciphertext>;
type Run<S> = fn(&Integers<'_, S>, Type, [&ColumnOf<S>; 3]) -> Found<S>;
type Found<S> = Result<Vec<Encrypted<<S as Scheme>::Ciphertext>>, IntegersError>;

/// Stands for all operations.
pub const ALL: &str = "all";

/// The public divisor, and the public bits of shifts.
const DIVISOR: i128 = 10;
const BITS: u32 = 3;

/// An operation on up to three columns, by a scheme.
pub struct Operation<S: IntegerScheme> {
    /// As it is named on the command line.
    pub name: &'static str,
    /// What the columns hold.
    pub operands: Operands,
    /// Which of them it reads.
    pub reads: [bool; 3],
    /// How long they can be.
    pub longest: Longest,
    /// On encrypted columns.
    pub run: Run<S>,
    /// On integers: what is decrypted of all results, one after the other.
    pub plain: fn(Type, &[Vec<i128>; 3]) -> Vec<i128>,
}

/// The types of the three columns.
#[derive(Clone, Copy)]
pub enum Operands {
    /// Two of the type that is measured, and truth values.
    Values,
    /// Truth values.
    Bits,
    /// Two of the type that is measured, and integers from 0 to 7.
    Amounts,
}

impl Operands {
    /// The type of each column, where `kind` is measured.
    pub fn types(self, kind: Type) -> Result<[Type; 3], IntegersError> {
        Ok(match self {
            Operands::Values => [kind, kind, Type::Bool],
            Operands::Bits => [Type::Bool; 3],
            Operands::Amounts => [kind, kind, Type::ranged(0, 7)?],
        })
    }
}

/// The longest columns.
#[derive(Clone, Copy)]
pub enum Longest {
    /// As many entries as there are slots.
    Slots,
    /// As many as have ranks.
    Ranked,
}

impl Longest {
    /// The number of entries.
    pub fn entries(self, ints: &Integers<'_, impl IntegerScheme>) -> usize {
        match self {
            Longest::Slots => ints.slots(),
            Longest::Ranked => ints.longest_ranked(),
        }
    }
}

/// The operation of a name.
pub fn named<S: IntegerScheme + 'static>(name: &str) -> Option<&'static Operation<S>> {
    Operations::<S>::ALL.iter().find(|operation| operation.name == name)
}

/// A function of entries at the same place.
fn each(x: &[Vec<i128>; 3], f: impl Fn(i128, i128, i128) -> i128) -> Vec<i128> {
    x[0].iter().zip(&x[1]).zip(&x[2]).map(|((a, b), c)| f(*a, *b, *c)).collect()
}

fn bit(x: bool) -> i128 {
    i128::from(x)
}

/// As Python rounds and signs them; 0 for the divisor 0.
fn floored(a: i128, b: i128) -> (i128, i128) {
    let rest = a.checked_rem(b).map_or(0, |_| ((a % b) + b) % b);
    ((a - rest).checked_div(b).unwrap_or(0), if b == 0 { 0 } else { rest })
}

fn wrapped(kind: Type, v: i128) -> i128 {
    let (low, points) = (kind.interval().low(), kind.interval().points() as i128);
    v.wrapping_sub(low).rem_euclid(points) + low
}

/// Four integers of a type, in order.
fn limits(kind: Type) -> [i128; 4] {
    let (low, points) = (kind.interval().low(), kind.interval().points() as i128);
    [1, 2, 3, 4].map(|i| low + points / 5 * i)
}

/// The entry for a value: a quadratic polynomial of it, wrapped.
fn entry(kind: Type, value: i128) -> i128 {
    let v = value.wrapping_sub(kind.interval().low()) % 65_536;
    wrapped(kind, 73 * v * v + 41 * v + 7)
}

/// The entries for all values, of which 65,536 are taken and one more is refused.
fn table(kind: Type) -> Vec<i128> {
    let interval = kind.interval();
    (interval.low()..=interval.high()).take(65_537).map(|v| entry(kind, v)).collect()
}

/// The same of pairs, of which 256 times 256 are taken.
fn pairs(kind: Type) -> Vec<Vec<i128>> {
    let interval = kind.interval();
    let values = || (interval.low()..=interval.high()).take(257);
    values().map(|a| values().map(|b| entry(kind, wrapped(kind, 3 * a + b))).collect()).collect()
}

/// A public weight for each entry.
fn weights(count: usize) -> Vec<i128> {
    (0..count as i128).map(|i| i * 37 % 11 - 5).collect()
}

fn positive_weights(count: usize) -> Vec<i128> {
    weights(count).into_iter().map(|w| w + 6).collect()
}

fn sorted(x: &[i128]) -> Vec<i128> {
    let mut x = x.to_vec();
    x.sort_unstable();
    x
}

/// The places of the entries in order, of equal ones the first one first.
fn places(x: &[i128]) -> Vec<i128> {
    let mut places: Vec<usize> = (0..x.len()).collect();
    places.sort_by_key(|i| x[*i]);
    places.into_iter().map(|i| i as i128).collect()
}

fn length<C>(x: &Column<C>) -> usize {
    x.length().unwrap_or(1)
}

/// What an operation gives.
struct Results<C>(Vec<Encrypted<C>>);

macro_rules! results {
    ($($from:ty: $name:pat => $list:expr;)*) => {
        $(impl<C> From<$from> for Results<C> {
            fn from($name: $from) -> Self {
                Results($list)
            }
        })*
    };
}

results! {
    Column<C>: x => vec![x.into()];
    Total<C>: x => vec![x.into()];
    (Column<C>, Column<C>): (x, y) => vec![x.into(), y.into()];
    Vec<Column<C>>: x => x.into_iter().map(Encrypted::from).collect();
    Vec<Total<C>>: x => x.into_iter().map(Encrypted::from).collect();
}

/// Which of the three columns are read, by the names that they have.
macro_rules! reads {
    ([a, ..]) => {
        [true, false, false]
    };
    ([a, b, _]) => {
        [true, true, false]
    };
    ([a, _, c]) => {
        [true, false, true]
    };
    ([.., c]) => {
        [false, false, true]
    };
    ([a, b, c]) => {
        [true, true, true]
    };
}

/// For each operation its name, operands and length, what it does on columns and on integers.
macro_rules! operations {
    ($(
        $name:literal $operands:ident $longest:ident,
        |$s:tt, $t:tt, $columns:tt| $run:expr,
        $plain:expr;
    )*) => {
        &[$(Operation {
            name: $name,
            operands: Operands::$operands,
            reads: reads!($columns),
            longest: Longest::$longest,
            run: |s, t, x| {
                let run: fn(
                    &Integers<'_, S>,
                    Type,
                    [&ColumnOf<S>; 3],
                ) -> Result<_, IntegersError> = |$s, $t, $columns| $run;
                Ok(Results::from(run(s, t, x)?).0)
            },
            plain: $plain,
        }),*]
    };
}

/// All operations, by a scheme.
pub struct Operations<S>(PhantomData<S>);

impl<S: IntegerScheme + 'static> Operations<S> {
    /// In the order in which they are measured.
    pub const ALL: &'static [Operation<S>] = operations! {
        "add" Values Slots, |s, _, [a, b, _]| s.normalized(&s.add(a, b)?),
            |_, x| each(x, |a, b, _| a + b);
        "sub" Values Slots, |s, _, [a, b, _]| s.normalized(&s.sub(a, b)?),
            |_, x| each(x, |a, b, _| a - b);
        "neg" Values Slots, |s, _, [a, ..]| s.normalized(&s.neg(a)?), |_, x| each(x, |a, _, _| -a);
        "normalized" Values Slots, |s, _, [a, b, c]| s.normalized(&s.sub(&s.add(a, b)?, c)?),
            |_, x| each(x, |a, b, c| a + b - c);
        "mul" Values Slots, |s, _, [a, b, _]| s.mul(a, b), |_, x| each(x, |a, b, _| a * b);
        "mul-public" Values Slots, |s, _, [a, ..]| s.normalized(&s.mul_public(a, DIVISOR)?),
            |_, x| each(x, |a, _, _| DIVISOR * a);
        "weighted-sum" Values Slots, |s, _, [a, b, c]| {
            s.normalized(&s.weighted_sum(&[(a, 3), (b, -2), (c, DIVISOR)])?)
        }, |_, x| each(x, |a, b, c| 3 * a - 2 * b + DIVISOR * c);
        "mul-wrapped" Values Slots, |s, t, [a, b, _]| s.mul_wrapped(a, b, t),
            |t, x| each(x, |a, b, _| wrapped(t, a.wrapping_mul(b)));
        "square" Values Slots, |s, _, [a, ..]| s.square(a), |_, x| each(x, |a, _, _| a * a);
        "div" Values Slots, |s, _, [a, b, _]| s.div(a, b),
            |_, x| each(x, |a, b, _| floored(a, b).0);
        "rem" Values Slots, |s, _, [a, b, _]| s.rem(a, b),
            |_, x| each(x, |a, b, _| floored(a, b).1);
        "div-rem" Values Slots, |s, _, [a, b, _]| s.div_rem(a, b),
            |_, x| {
                let quotients = each(x, |a, b, _| floored(a, b).0);
                [quotients, each(x, |a, b, _| floored(a, b).1)].concat()
            };
        "div-public" Values Slots, |s, _, [a, ..]| s.div_public(a, DIVISOR),
            |_, x| each(x, |a, _, _| a.div_euclid(DIVISOR));
        "rem-public" Values Slots, |s, _, [a, ..]| s.rem_public(a, DIVISOR),
            |_, x| each(x, |a, _, _| a.rem_euclid(DIVISOR));
        "lt" Values Slots, |s, _, [a, b, _]| s.lt(a, b), |_, x| each(x, |a, b, _| bit(a < b));
        "le" Values Slots, |s, _, [a, b, _]| s.le(a, b), |_, x| each(x, |a, b, _| bit(a <= b));
        "gt" Values Slots, |s, _, [a, b, _]| s.gt(a, b), |_, x| each(x, |a, b, _| bit(a > b));
        "ge" Values Slots, |s, _, [a, b, _]| s.ge(a, b), |_, x| each(x, |a, b, _| bit(a >= b));
        "eq" Values Slots, |s, _, [a, b, _]| s.eq(a, b), |_, x| each(x, |a, b, _| bit(a == b));
        "ne" Values Slots, |s, _, [a, b, _]| s.ne(a, b), |_, x| each(x, |a, b, _| bit(a != b));
        "ge-public" Values Slots, |s, t, [a, ..]| s.ge(a, limits(t)[1]),
            |t, x| each(x, |a, _, _| bit(a >= limits(t)[1]));
        "eq-public" Values Slots, |s, t, [a, ..]| s.eq(a, limits(t)[1]),
            |t, x| each(x, |a, _, _| bit(a == limits(t)[1]));
        "sign" Values Slots, |s, _, [a, ..]| s.sign(a), |_, x| each(x, |a, _, _| a.signum());
        "abs" Values Slots, |s, _, [a, ..]| s.abs(a), |_, x| each(x, |a, _, _| a.abs());
        "min" Values Slots, |s, _, [a, b, _]| s.min(a, b), |_, x| each(x, |a, b, _| a.min(b));
        "max" Values Slots, |s, _, [a, b, _]| s.max(a, b), |_, x| each(x, |a, b, _| a.max(b));
        "clip" Values Slots, |s, t, [a, ..]| s.clip(a, limits(t)[0], limits(t)[3]),
            |t, x| each(x, |a, _, _| a.clamp(limits(t)[0], limits(t)[3]));
        "select" Values Slots, |s, _, [a, b, c]| s.select(c, a, b),
            |_, x| each(x, |a, b, c| if c == 1 { a } else { b });
        "not" Bits Slots, |s, _, [a, ..]| s.not(a), |_, x| each(x, |a, _, _| 1 - a);
        "and" Bits Slots, |s, _, [a, b, _]| s.and(a, b), |_, x| each(x, |a, b, _| a & b);
        "or" Bits Slots, |s, _, [a, b, _]| s.or(a, b), |_, x| each(x, |a, b, _| a | b);
        "xor" Bits Slots, |s, _, [a, b, _]| s.xor(a, b), |_, x| each(x, |a, b, _| a ^ b);
        "bit-and" Values Slots, |s, _, [a, b, _]| s.bit_and(a, b), |_, x| each(x, |a, b, _| a & b);
        "bit-or" Values Slots, |s, _, [a, b, _]| s.bit_or(a, b), |_, x| each(x, |a, b, _| a | b);
        "bit-xor" Values Slots, |s, _, [a, b, _]| s.bit_xor(a, b), |_, x| each(x, |a, b, _| a ^ b);
        "shift-left-public" Values Slots, |s, _, [a, ..]| s.shift_left(a, BITS),
            |_, x| each(x, |a, _, _| a << BITS);
        "shift-right-public" Values Slots, |s, _, [a, ..]| s.shift_right(a, BITS),
            |_, x| each(x, |a, _, _| a >> BITS);
        "shift-left" Amounts Slots, |s, _, [a, _, c]| s.shift_left_by(a, c),
            |_, x| each(x, |a, _, c| a << c);
        "shift-right" Amounts Slots, |s, _, [a, _, c]| s.shift_right_by(a, c),
            |_, x| each(x, |a, _, c| a >> c);
        "popcount" Values Slots, |s, _, [a, ..]| s.popcount(a),
            |_, x| each(x, |a, _, _| a.count_ones().into());
        "cast" Values Slots, |s, t, [a, ..]| {
            s.cast(a, Type::ranged(t.interval().low() - 1, t.interval().high())?)
        }, |_, x| x[0].clone();
        "wrapped" Values Slots, |s, _, [a, ..]| s.wrapped(a, Type::I8),
            |_, x| each(x, |a, _, _| wrapped(Type::I8, a));
        "table" Values Slots, |s, t, [a, ..]| s.lookup(a, &table(t)),
            |t, x| each(x, |a, _, _| entry(t, a));
        "tables" Values Slots, |s, t, [a, ..]| {
            let second: Vec<i128> = table(t).iter().map(|v| v / 2).collect();
            s.lookup_all(a, &[&table(t), &second])
        }, |t, x| [each(x, |a, _, _| entry(t, a)), each(x, |a, _, _| entry(t, a) / 2)].concat();
        "table-pair" Values Slots, |s, t, [a, b, _]| s.lookup_pair(a, b, &pairs(t)),
            |t, x| each(x, |a, b, _| entry(t, wrapped(t, 3 * a + b)));
        "searchsorted" Values Slots, |s, t, [a, ..]| s.searchsorted(&limits(t), a, false),
            |t, x| each(x, |a, _, _| limits(t).iter().map(|v| bit(*v < a)).sum());
        "isin" Values Slots, |s, t, [a, ..]| s.isin(a, &limits(t)),
            |t, x| each(x, |a, _, _| bit(limits(t).contains(&a)));
        "sum" Values Slots, |s, _, [a, ..]| s.sum(a), |_, x| vec![x[0].iter().sum()];
        "sum-where" Values Slots, |s, _, [a, _, c]| s.sum_where(c, a),
            |_, x| vec![each(x, |a, _, c| a * c).iter().sum()];
        "sum-of-products" Values Slots, |s, _, [a, b, _]| s.sum_of_products(a, b),
            |_, x| vec![each(x, |a, b, _| a * b).iter().sum()];
        "mean-of-products" Values Slots, |s, _, [a, b, _]| s.mean_of_products(a, b),
            |_, x| {
                let sum = each(x, |a, b, _| a * b).iter().sum::<i128>();
                vec![sum.div_euclid(x[0].len() as i128)]
            };
        "sum-of-each" Values Slots, |s, _, [a, ..]| s.sum_of_each(a),
            |_, x| vec![x[0].iter().sum(); x[0].len()];
        "count" Values Slots, |s, _, [.., c]| s.count(c), |_, x| vec![x[2].iter().sum()];
        "mean" Values Slots, |s, _, [a, ..]| s.mean(a),
            |_, x| vec![x[0].iter().sum::<i128>().div_euclid(x[0].len() as i128)];
        "average" Values Slots, |s, _, [a, ..]| s.average(a, &positive_weights(length(a))),
            |_, x| {
                let weights = positive_weights(x[0].len());
                let sum = x[0].iter().zip(&weights).map(|(a, w)| a * w).sum::<i128>();
                vec![sum.div_euclid(weights.iter().sum())]
            };
        "dot" Values Slots, |s, _, [a, ..]| s.dot(a, &weights(length(a))),
            |_, x| vec![x[0].iter().zip(weights(x[0].len())).map(|(a, w)| a * w).sum()];
        "matrix" Values Slots, |s, _, [a, ..]| {
            s.matrix(&[weights(length(a)), vec![1; length(a)]], a)
        },
            |_, x| vec![
                x[0].iter().zip(weights(x[0].len())).map(|(a, w)| a * w).sum(),
                x[0].iter().sum(),
            ];
        "bincount" Amounts Slots, |s, _, [.., c]| s.bincount(c),
            |_, x| (0..8).map(|v| x[2].iter().map(|c| bit(*c == v)).sum()).collect();
        "cumsum" Values Slots, |s, _, [a, ..]| s.cumsum(a),
            |_, x| x[0].iter().scan(0, |sum, a| { *sum += a; Some(*sum) }).collect();
        "ranks" Values Ranked, |s, _, [a, ..]| s.ranks(a, Order::Ascending),
            |_, x| places(&places(&x[0]));
        "sort" Values Ranked, |s, _, [a, ..]| s.sorted(a, Order::Ascending, length(a)),
            |_, x| sorted(&x[0]);
        "argsort" Values Ranked, |s, _, [a, ..]| s.argsorted(a, Order::Ascending, length(a)),
            |_, x| places(&x[0]);
        "nth" Values Ranked, |s, _, [a, ..]| s.nth(a, Order::Ascending, length(a) / 3),
            |_, x| vec![sorted(&x[0])[x[0].len() / 3]];
        "arg-nth" Values Ranked, |s, _, [a, ..]| s.arg_nth(a, Order::Ascending, length(a) / 3),
            |_, x| vec![places(&x[0])[x[0].len() / 3]];
        "maximum" Values Ranked, |s, _, [a, ..]| s.maximum(a),
            |_, x| x[0].iter().max().copied().into_iter().collect();
        "minimum" Values Ranked, |s, _, [a, ..]| s.minimum(a),
            |_, x| x[0].iter().min().copied().into_iter().collect();
        "argmax" Values Ranked, |s, _, [a, ..]| s.argmax(a), |_, x| {
            let greatest = x[0].iter().max();
            x[0].iter().position(|v| Some(v) == greatest).map(|i| i as i128).into_iter().collect()
        };
        "argmin" Values Ranked, |s, _, [a, ..]| s.argmin(a), |_, x| vec![places(&x[0])[0]];
        "median" Values Ranked, |s, _, [a, ..]| s.median(a),
            |_, x| vec![sorted(&x[0])[(x[0].len() - 1) / 2]];
        "quantile" Values Ranked, |s, _, [a, ..]| s.quantile(a, 1, 4),
            |_, x| vec![sorted(&x[0])[(x[0].len() - 1) / 4]];
    };
}
