//! Evaluation of expressions by a server.

use std::collections::{HashMap, HashSet};

use everlevel_integers::Along;
use everlevel_wire::WireError;
use rayon::prelude::*;

use crate::error::Error;
use crate::expression::{Expr, Node, Term};
use crate::operand::{Argument, Arithmetic, Computed, Operand, no_value};
use crate::server::{Server, Value};
use crate::stored::Bounds;
use crate::sums::Sums;

/// These nodes and all nodes that they depend on, each once, and after its operands.
pub(crate) fn ordered<'a, T: Operand>(roots: &[&'a Node<T>]) -> Vec<&'a Node<T>> {
    let (mut order, mut done) = (Vec::new(), HashSet::new());
    let mut open: Vec<(&Node<T>, bool)> = roots.iter().rev().map(|&node| (node, false)).collect();
    while let Some((node, expanded)) = open.pop() {
        if done.contains(&std::ptr::from_ref(node)) {
            continue;
        }
        if expanded {
            done.insert(std::ptr::from_ref(node));
            order.push(node);
        } else {
            open.push((node, true));
            open.extend(node.inputs().rev().map(|input| (input, false)));
        }
    }
    order
}

/// The operations of these nodes and of all nodes that they depend on.
pub(crate) fn operations<'a, T: Operand>(
    roots: &[&'a Node<T>],
) -> impl Iterator<Item = &'a T::Operation> {
    ordered(roots).into_iter().filter_map(|node| match node {
        Node::Value(_) => None,
        Node::Result { operation, .. } => Some(operation),
    })
}

/// The ciphertexts that an operation reads; `None` if an operand is not known yet.
fn reads<T: Operand, V>(
    inputs: &[&Node<T>],
    known: &HashMap<*const Node<T>, V>,
    addresses: &impl Fn(&V) -> Vec<usize>,
) -> Option<HashSet<usize>> {
    let mut found = HashSet::new();
    for input in inputs {
        found.extend(addresses(known.get(&std::ptr::from_ref(*input))?));
    }
    Some(found)
}

/// The operation of a node that puts another node in order, and that one.
fn order_of<T: Operand>(node: &Node<T>) -> Option<(&T::Operation, *const Node<T>)> {
    let Node::Result { operation, inputs } = node else { return None };
    match &inputs[..] {
        [Term::Expr(x)] if T::is_order(operation) => Some((operation, std::ptr::from_ref(&*x.0))),
        _ => None,
    }
}

/// The operations among some nodes that put a node in order, by that node.
type Lists<'a, T> = HashMap<*const Node<T>, Vec<&'a <T as Arithmetic>::Operation>>;

fn lists<'a, T: Operand>(order: &[&'a Node<T>]) -> Lists<'a, T> {
    let mut found: Lists<'a, T> = HashMap::new();
    for &node in order {
        if let Some((operation, x)) = order_of(node) {
            found.entry(x).or_default().push(operation);
        }
    }
    found
}

/// An operation and its operands.
pub(crate) struct Call<'a, O, V> {
    pub(crate) operation: &'a O,
    pub(crate) operands: Vec<Argument<'a, V>>,
    /// All operations that put the same node in order, if it does so: itself among them.
    pub(crate) along: Along<'a, O>,
}

/// The operation of a node, or of the sum at it, and its operands; `None` if one is not known.
fn call<'v, T: Operand, V>(
    node: &'v Node<T>,
    sums: &'v Sums<'_, T>,
    orders: &'v Lists<'v, T>,
    known: &'v HashMap<*const Node<T>, V>,
) -> Option<Call<'v, T::Operation, V>> {
    let argument = |x: &Node<T>| known.get(&std::ptr::from_ref(x)).map(Argument::Value);
    if let Some(sum) = sums.of.get(&std::ptr::from_ref(node)) {
        let arguments = sum.terms.iter().map(|&x| argument(x));
        let mut arguments = arguments.collect::<Option<Vec<_>>>()?;
        if sum.constant != 0 {
            arguments.push(Argument::Public(sum.constant));
        }
        return Some(Call {
            operation: &sum.operation,
            operands: arguments,
            along: Along::default(),
        });
    }
    let Node::Result { operation, inputs } = node else { return None };
    let arguments = inputs.iter().map(|term| match term {
        Term::Public(k) => Some(Argument::Public(*k)),
        Term::Expr(Expr(x)) => argument(x.as_ref()),
    });
    let along = order_of(node).and_then(|(_, x)| {
        // Nodes stay where they are during an evaluation.
        Some(Along { column: x.addr(), operations: orders.get(&x)?.as_slice() })
    });
    Some(Call {
        operation,
        operands: arguments.collect::<Option<_>>()?,
        along: along.unwrap_or_default(),
    })
}

/// The limits of what is computed at the same time, by the rules of text programs: operations that
/// need no result of each other, as long as they read at most this number of ciphertexts.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) ciphertexts: usize,
    /// Whether they may read no ciphertext in common.
    pub(crate) apart: bool,
}

impl Room {
    /// For one operation after the other.
    pub(crate) const ONE: Room = Room { ciphertexts: 1, apart: true };

    /// As many ciphertexts as there are threads. Two operations would both bootstrap a ciphertext
    /// that they read in common.
    pub(crate) fn of(server: &Server) -> Self {
        let (ciphertexts, apart) = (rayon::current_num_threads(), server.session.can_bootstrap());
        Room { ciphertexts, apart }
    }
}

/// The results of operations that are computed at the same time.
pub(crate) fn computed<O: Sync, V: Send + Sync>(
    calls: &[Call<'_, O, V>],
    apply: impl Fn(&Call<'_, O, V>) -> Result<V, Error> + Sync,
) -> Vec<Result<V, Error>> {
    match calls {
        [call] => vec![apply(call)],
        _ => calls.par_iter().map(&apply).collect(),
    }
}

/// The values of expressions. For each node, `value` returns the value that it holds, and `apply`
/// the results of operations that are computed at the same time; `addresses` returns the
/// ciphertexts of a value. A value that several nodes need is computed once, and dropped after its
/// last use. Operations that put the same ciphertexts in order, and share what that takes, are
/// computed one after the other.
pub(crate) fn evaluate<T: Operand, V: Clone>(
    roots: &[&Node<T>],
    room: Room,
    mut value: impl FnMut(&T) -> Result<V, Error>,
    addresses: impl Fn(&V) -> Vec<usize>,
    mut apply: impl FnMut(&[Call<'_, T::Operation, V>]) -> Vec<Result<V, Error>>,
) -> Result<Vec<V>, Error> {
    let order = ordered(roots);
    let mut uses: HashMap<*const Node<T>, usize> = HashMap::new();
    for &node in roots {
        *uses.entry(node).or_default() += 1;
    }
    for input in order.iter().flat_map(|node| node.inputs()) {
        *uses.entry(input).or_default() += 1;
    }
    let (sums, orders) = (Sums::new(&order, &uses), lists(&order));
    let mut known: HashMap<*const Node<T>, V> = HashMap::new();
    let mut next = 0;
    while next < order.len() {
        let (mut group, mut taken, mut total) = (Vec::new(), HashSet::new(), 0);
        let mut ordered: HashSet<usize> = HashSet::new();
        for &node in &order[next..] {
            if sums.within.contains(&std::ptr::from_ref(node)) {
                next += 1;
                continue;
            }
            if let Node::Value(x) = node {
                match value(x) {
                    Ok(x) => {
                        known.insert(node, x);
                    }
                    Err(error) if group.is_empty() => return Err(error),
                    // After the operations that come before it.
                    Err(_) => break,
                }
                next += 1;
                continue;
            }
            let reads = reads(&sums.inputs(node), &known, &addresses);
            total += reads.as_ref().map_or(0, HashSet::len);
            let shares = order_of(node).is_some_and(|(_, x)| {
                orders.get(&x).is_some_and(|operations| operations.len() > 1)
            });
            let fits = |reads: &HashSet<usize>| {
                let in_common = (room.apart && !taken.is_disjoint(reads))
                    || (shares && !ordered.is_disjoint(reads));
                room.ciphertexts > 1 && total <= room.ciphertexts && !in_common
            };
            if !group.is_empty() && !reads.as_ref().is_some_and(fits) {
                break;
            }
            if shares {
                ordered.extend(reads.iter().flatten());
            }
            taken.extend(reads.into_iter().flatten());
            group.push(node);
            next += 1;
        }
        let found = {
            let calls = group.iter().map(|&node| call(node, &sums, &orders, &known));
            let calls = calls.collect::<Option<Vec<_>>>().ok_or_else(no_value)?;
            apply(&calls)
        };
        for (node, x) in group.into_iter().zip(found) {
            known.insert(node, x?);
            for input in sums.inputs(node) {
                let left = uses.entry(input).or_default();
                *left = left.saturating_sub(1);
                if *left == 0 {
                    known.remove(&std::ptr::from_ref(input));
                }
            }
        }
    }
    let found = |node: &&Node<T>| known.get(&std::ptr::from_ref(*node)).cloned();
    roots.iter().map(found).collect::<Option<_>>().ok_or_else(no_value)
}

impl Server {
    /// Computes an expression, with automatic bootstrapping where necessary.
    ///
    /// # Errors
    /// The first error of one of its operations.
    pub fn compute<T: Computed>(&self, x: &Expr<T>) -> Result<T, Error> {
        self.compute_all([x])?.pop().ok_or_else(no_value)
    }

    /// Computes several expressions; subexpressions that they share are computed once, and so are
    /// the ranks of a column of typed integers that several operations put in order. Intermediate
    /// results are dropped after their last use.
    ///
    /// Operations that need no result of each other are computed at the same time as long as they
    /// read at most as many ciphertexts as there are threads and, if the server bootstraps, none in
    /// common. Results and errors do not depend on this.
    ///
    /// # Errors
    /// As [`Server::compute`].
    pub fn compute_all<'x, T: Computed>(
        &self,
        expressions: impl IntoIterator<Item = &'x Expr<T>>,
    ) -> Result<Vec<T>, Error> {
        let engine = T::engine(self)?;
        let roots: Vec<&Node<T>> = expressions.into_iter().map(|x| &*x.0).collect();
        evaluate(
            &roots,
            Room::of(self),
            |x| Ok(x.clone()),
            T::addresses,
            |calls| computed(calls, |x| T::apply(&engine, x.operation, &x.operands, x.along)),
        )
    }

    /// As [`Server::compute_all`], for an array of expressions.
    ///
    /// # Errors
    /// As [`Server::compute`].
    pub fn compute_each<T: Computed, const N: usize>(
        &self,
        expressions: [&Expr<T>; N],
    ) -> Result<[T; N], Error> {
        self.compute_all(expressions)?.try_into().map_err(|_| no_value())
    }

    /// Exactly `N` ciphertexts from bytes ([`Server::receive`]), as expressions.
    ///
    /// # Errors
    /// As [`Server::receive`]; a number of ciphertexts other than `N`.
    pub fn receive_exprs<const N: usize>(
        &self,
        bytes: &[u8],
        bounds: &Bounds,
    ) -> Result<[Expr<Value>; N], Error> {
        let found = self.receive(bytes, bounds)?.into_iter().map(Expr::new);
        <[_; N]>::try_from(found.collect::<Vec<_>>()).map_err(|found| {
            let expected = format!("{N} of them");
            WireError::malformed("ciphertexts", &expected, found.len()).into()
        })
    }
}
