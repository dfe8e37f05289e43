//! Text programs on columns.

mod summed;

use std::collections::BTreeMap;

use everlevel_circuit::CircuitError;
use everlevel_circuit::expression::{Function, Kind, NamedFunction, Node, Program, TypedFunction};
use everlevel_scheme::Scheme;

use crate::column::Column;
use crate::concurrent::{Room, names};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::functions::{Functions, InOrder, Listed, Value, is_order, of_operator, refused};
use crate::interval::Interval;
use crate::operation::Operation;
use crate::orders::Orders;
use crate::parts::Encrypted;

/// Columns, or the results of a program, by name.
pub type NamedValues<C> = BTreeMap<String, Encrypted<C>>;

/// An error in a program on columns, with its place in the text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("column {column}: {error}")]
pub struct ProgramError {
    /// The position in the text, in characters from 1.
    pub column: usize,
    /// The error.
    pub error: IntegersError,
}

impl ProgramError {
    /// The code of the error.
    pub fn code(&self) -> &'static str {
        self.error.code()
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Runs a program on columns, with public tables, each with an entry for each integer of the
    /// interval that is looked up in it. `progress` is called with the number of statements done.
    ///
    /// Statements, and operands within one, that do not need each other are computed at the same
    /// time as long as they read at most as many ciphertexts as there are threads and, if the
    /// session bootstraps, none in common. Results, bootstrappings and errors do not depend on
    /// this. Values whose names begin with `_` are dropped after their last use. Functions that put
    /// the same column in order share its ranks ([`Integers::operate_sharing`]); the column has to
    /// be given by its name, and integers that say which entries as they are. Sums and means of a
    /// product of columns, as `sum(x * y)`, are [`Integers::sum_of_products`] of these; the product
    /// has to be written within the sum.
    ///
    /// `+ - * / % << >> < <= > >= == != & | !` and the functions of
    /// [`TypedFunction`](everlevel_circuit::expression::TypedFunction) and [`NamedFunction`] are the operations of these names here, `total` is
    /// [`Integers::sum_of_each`]; `&`, `|` and `xor` of truth values are logic, of others they are
    /// done bit by bit. `/` rounds down, and `%` has the sign of the
    /// divisor. Types follow from the inputs.
    ///
    /// # Errors
    /// A missing input or table, an operation that columns do not support, and the errors of the
    /// operations, all with the position in the text; of several errors the first one in the
    /// program.
    pub fn run(
        &self,
        program: &Program,
        inputs: &BTreeMap<String, Column<S::Ciphertext>>,
        tables: &BTreeMap<String, Vec<i128>>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<NamedValues<S::Ciphertext>, ProgramError> {
        self.run_within(rayon::current_num_threads(), program, inputs, tables, progress)
    }

    /// As [`Integers::run`], with this number of ciphertexts that are read at the same time. If it
    /// is below 2, one operation is computed after the other, and `progress` is called after each
    /// statement.
    pub(crate) fn run_within(
        &self,
        ciphertexts: usize,
        program: &Program,
        inputs: &BTreeMap<String, Column<S::Ciphertext>>,
        tables: &BTreeMap<String, Vec<i128>>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<NamedValues<S::Ciphertext>, ProgramError> {
        // What is public and has any length is an integer, which has no number of entries.
        let value = |x: &Column<S::Ciphertext>| match (x.length(), x.public_value()) {
            (None, Some(value)) => Value::Public(value),
            _ => Value::Column(x.clone()),
        };
        let values = inputs.iter().map(|(name, x)| (name.clone(), value(x)));
        let functions = Functions { ints: self, orders: Orders::default() };
        let beside = all_in_order(program);
        let mut run = Run { functions, values: values.collect(), tables, beside };
        let room = Room { ciphertexts, apart: self.session().can_bootstrap() };
        let statements = program.statements();
        let mut last_uses: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, statement) in statements.iter().enumerate() {
            last_uses.extend(names(&statement.value).into_iter().map(|name| (name, at)));
        }
        let mut done = 0;
        while done < statements.len() {
            let rest = &statements[done..];
            let ready = &rest[..room.independent(rest)];
            let parts: Vec<&Node> = ready.iter().map(|statement| &statement.value).collect();
            let group = room.group(&parts, &run.values);
            let compute = |part: &Node, room: Room| run.value(part, room);
            let found = room.computed(group, &parts, &compute);
            for (statement, value) in ready.iter().zip(found) {
                run.values.insert(statement.name.clone(), value?);
                done += 1;
                progress(done);
            }
            for name in rest[..group.parts].iter().flat_map(|x| names(&x.value)) {
                if name.starts_with('_') && last_uses.get(name).is_some_and(|last| *last < done) {
                    run.values.remove(name);
                }
            }
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
    functions: Functions<'a, 's, S>,
    values: BTreeMap<String, Value<S::Ciphertext>>,
    tables: &'a BTreeMap<String, Vec<i128>>,
    /// The functions that put a column in order, by its name.
    beside: BTreeMap<&'a str, Listed>,
}

/// The name of the column that a part of a program puts in order, and the function with public
/// integers that stand in the program; `None` for other parts.
fn in_order(part: &Node) -> Option<(&str, InOrder)> {
    let Kind::Typed(function, arguments) = &part.kind else { return None };
    let (first, rest) = arguments.split_first().filter(|_| is_order(*function))?;
    let Kind::Name(name) = &first.kind else { return None };
    let constant = |x: &Node| match x.kind {
        Kind::Constant(k) => Some(i128::from(k)),
        _ => None,
    };
    let numbers = rest.iter().map(constant).collect::<Option<Vec<i128>>>()?;
    Some((name.as_str(), (*function, numbers)))
}

/// All of these of a program, by the name of the column.
fn all_in_order(program: &Program) -> BTreeMap<&str, Listed> {
    let mut found: BTreeMap<&str, Listed> = BTreeMap::new();
    let mut open: Vec<&Node> = program.statements().iter().map(|x| &x.value).collect();
    while let Some(node) = open.pop() {
        open.extend(node.parts());
        if let Some((name, function)) = in_order(node) {
            let number = found.len();
            found.entry(name).or_insert_with(|| (number, Vec::new())).1.push(function);
        }
    }
    found
}

/// A public factor, and the column that it multiplies, unless this is public as well.
type Multiple<C> = (Value<C>, Option<Value<C>>);

/// An argument that was computed, or why it was not.
type Argued<S> = Result<Value<<S as Scheme>::Ciphertext>, ProgramError>;

/// Adds the position in the text to the error of an operation.
fn at<T>(node: &Node, found: Result<T, IntegersError>) -> Result<T, ProgramError> {
    found.map_err(|error| ProgramError { column: node.column, error })
}

impl<S: IntegerScheme> Run<'_, '_, S> {
    fn value(&self, node: &Node, room: Room) -> Result<Value<S::Ciphertext>, ProgramError> {
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
                let x = self.argument(x, room)?;
                at(node, self.functions.negated(&x))
            }
            Kind::Sum(terms) => self.sum(node, terms, room),
            Kind::Product(_) => {
                let (k, x) = self.multiple(node, room)?;
                match x {
                    None => Ok(k),
                    Some(x) => at(node, self.functions.operated(&Operation::Multiply, &[&k, &x])),
                }
            }
            Kind::Power(x, exponent) => {
                let x = self.argument(x, room)?;
                at(node, self.functions.power(&x, *exponent))
            }
            Kind::Call(Function::Sum, x) => self.summed(node, x, false, room),
            Kind::Call(function, x) => {
                let x = self.argument(x, room)?;
                at(node, self.functions.call(*function, &x))
            }
            Kind::Binary(operator, a, b) => {
                let x = self.arguments(&[a.as_ref(), b.as_ref()], room)?;
                let x: Vec<_> = x.iter().collect();
                at(node, self.functions.operated(&of_operator(*operator), &x))
            }
            Kind::Not(x) => {
                let x = self.argument(x, room)?;
                at(node, self.functions.operated(&Operation::Not, &[&x]))
            }
            Kind::Typed(TypedFunction::Mean, arguments) if arguments.len() == 1 => {
                self.summed(node, &arguments[0], true, room)
            }
            Kind::Typed(function, arguments) => {
                let x = self.arguments(&arguments.iter().collect::<Vec<_>>(), room)?;
                let beside = in_order(node).and_then(|(name, _)| self.beside.get(name));
                at(node, self.functions.typed(*function, &x, beside))
            }
            Kind::Named(function, arguments, name) => {
                let x = self.arguments(&arguments.iter().collect::<Vec<_>>(), room)?;
                let columns = x.iter().map(|x| self.functions.ints.column(x.into()));
                let columns = at(node, columns.collect::<Result<Vec<_>, _>>())?;
                if let NamedFunction::Cast | NamedFunction::Wrap = function {
                    return at(node, self.functions.converted(*function, &columns[0], name));
                }
                let Some(list) = self.tables.get(name) else {
                    return missing(self.tables.keys().collect(), name);
                };
                at(node, self.functions.with_list(*function, &columns, list))
            }
        }
    }

    /// A sum: of two columns, or of multiples of any number of them, whose carries are computed
    /// once.
    fn sum(
        &self,
        node: &Node,
        terms: &[(bool, Node)],
        room: Room,
    ) -> Result<Value<S::Ciphertext>, ProgramError> {
        let mut constant = Value::Public(0);
        let mut columns = Vec::with_capacity(terms.len());
        let parts: Vec<&Node> = terms.iter().map(|(_, term)| term).collect();
        let found = room.each(&parts, &self.values, |term, room| self.multiple(term, room));
        for ((subtracted, term), found) in terms.iter().zip(found) {
            let (k, x) = found?;
            let k = if *subtracted { at(term, self.functions.negated(&k))? } else { k };
            match (x, k) {
                (Some(Value::Column(x)), Value::Public(k)) => columns.push((x, k)),
                (_, k) => {
                    let sum = self.functions.operated(&Operation::Add, &[&constant, &k]);
                    constant = at(term, sum)?;
                }
            }
        }
        let sum = match &columns[..] {
            [] => return Ok(constant),
            [(x, 1), (y, sign @ (1 | -1))] => {
                let operation = if *sign == 1 { Operation::Add } else { Operation::Subtract };
                let [x, y] = [x, y].map(|x| Value::Column(x.clone()));
                self.functions.operated(&operation, &[&x, &y])
            }
            _ => {
                let terms: Vec<_> = columns.iter().map(|(x, k)| (x, *k)).collect();
                self.functions.ints.weighted_sum(&terms).map(Value::Column)
            }
        };
        match constant {
            Value::Public(0) => at(node, sum),
            _ => {
                let sum = at(node, sum)?;
                at(node, self.functions.operated(&Operation::Add, &[&sum, &constant]))
            }
        }
    }

    /// A term of a sum: a public factor, and the column that is multiplied, if there is one.
    fn multiple(&self, node: &Node, room: Room) -> Result<Multiple<S::Ciphertext>, ProgramError> {
        let factors = match &node.kind {
            Kind::Product(factors) => &factors[..],
            _ => std::slice::from_ref(node),
        };
        let parts: Vec<&Node> = factors.iter().collect();
        let found = room.each(&parts, &self.values, |factor, room| self.argument(factor, room));
        self.multiplied(node, parts.into_iter().zip(found))
    }

    /// The product of factors that were computed, to the first error among them.
    fn multiplied<'n>(
        &self,
        node: &Node,
        factors: impl IntoIterator<Item = (&'n Node, Argued<S>)>,
    ) -> Result<Multiple<S::Ciphertext>, ProgramError> {
        let (mut k, mut product) = (Value::Public(1), None);
        for (factor, x) in factors {
            let x = x?;
            let multiplied = |a: &Value<S::Ciphertext>| {
                at(factor, self.functions.operated(&Operation::Multiply, &[a, &x]))
            };
            match (&x, &product) {
                (Value::Public(_), _) => k = multiplied(&k)?,
                (_, Some(y)) => product = Some(multiplied(y)?),
                (_, None) => product = Some(x),
            }
        }
        // A product of columns that are public constants is an integer.
        if let Some(x @ Value::Public(_)) = &product {
            k = at(node, self.functions.operated(&Operation::Multiply, &[&k, x]))?;
            product = None;
        }
        Ok((k, product))
    }

    /// Arguments that can be computed on.
    fn arguments(
        &self,
        nodes: &[&Node],
        room: Room,
    ) -> Result<Vec<Value<S::Ciphertext>>, ProgramError> {
        let found = room.each(nodes, &self.values, |node, room| self.argument(node, room));
        found.into_iter().collect()
    }

    /// An argument that can be computed on.
    fn argument(&self, node: &Node, room: Room) -> Result<Value<S::Ciphertext>, ProgramError> {
        match self.value(node, room)? {
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
}
