//! Functions of three and four digits. Truth values state which value each digit has; those of the
//! two lowest digits are multiplied, and sums of these products are multiplied by those of the
//! other digits.
//!
//! In blocks only some of these products are in memory at a time. A function is the sum of its
//! parts by the values of the second digit: each product of truth values is computed once, used for
//! its part of all functions, and dropped. What the further digits take is computed for each block.

use everlevel_circuit::straight_line::{Circuit, CircuitBuilder, NodeId};
use everlevel_circuit::{CircuitError, Value};

use crate::column::{Digit, value};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::stage::Stage;

/// In how many blocks the values of the second digit are taken where memory is to be saved.
const BLOCKS: usize = 4;

/// A value that a digit, or a few digits, can have, with the node of the truth value that says
/// whether they have it; `None` if there is only one value.
type Choice = (i64, Option<NodeId>);

/// A function of some digits: the same integer everywhere, or a node.
#[derive(Clone, Copy)]
enum Part {
    Constant(i64),
    Node(NodeId),
}

/// The circuit of functions of digits, from the truth values of all of them.
struct Functions<'a> {
    builder: CircuitBuilder,
    /// Of the two lowest digits together, in one block, then of each further one.
    choices: Vec<Vec<Choice>>,
    entry: &'a (dyn Fn(usize, i64) -> i64 + Sync),
}

impl Functions<'_> {
    /// Begins a block: the products of the truth values of the lowest digit with those of
    /// some values of the second one.
    fn choose(&mut self, next: &[Choice], lowest: &[Choice]) -> Result<(), CircuitError> {
        let mut both = Vec::with_capacity(next.len() * lowest.len());
        for (a, x) in next {
            for (b, y) in lowest {
                let node = match (x, y) {
                    (Some(x), Some(y)) => Some(self.builder.mul(*x, *y)?),
                    (one, other) => one.or(*other),
                };
                both.push((a + b, node));
            }
        }
        self.choices[0] = both;
        Ok(())
    }

    /// The sum of two parts.
    fn sum(&mut self, a: Part, b: Part) -> Result<Part, CircuitError> {
        Ok(match (a, b) {
            (Part::Constant(a), Part::Constant(b)) => Part::Constant(a + b),
            (Part::Constant(0), x) | (x, Part::Constant(0)) => x,
            (Part::Constant(c), Part::Node(x)) | (Part::Node(x), Part::Constant(c)) => {
                Part::Node(self.builder.add_scalar(x, c)?)
            }
            (Part::Node(x), Part::Node(y)) => {
                Part::Node(self.builder.combine(vec![], vec![(x, 1), (y, 1)], 0)?)
            }
        })
    }

    /// A function where the digits above the first `levels` choices make up `base`.
    fn part(&mut self, function: usize, levels: usize, base: i64) -> Result<Part, CircuitError> {
        let (mut pairs, mut terms) = (Vec::new(), Vec::new());
        for (own, chosen) in self.choices[levels - 1].clone() {
            let below = match levels {
                1 => Part::Constant((self.entry)(function, base + own)),
                _ => self.part(function, levels - 1, base + own)?,
            };
            match (chosen, below) {
                (None, below) => return Ok(below),
                (Some(_), Part::Constant(0)) => {}
                (Some(chosen), Part::Constant(c)) => terms.push((chosen, c)),
                (Some(chosen), Part::Node(x)) => pairs.push((chosen, x)),
            }
        }
        match pairs.is_empty() && terms.is_empty() {
            true => Ok(Part::Constant(0)),
            false => Ok(Part::Node(self.builder.combine(pairs, terms, 0)?)),
        }
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Functions of Σ 16^i d_i, given by their entries, for three or four digits. The truth values
    /// of all digits have depth 4, and what follows 2 or 3; the truth values are bootstrapped in
    /// between if necessary. In blocks each block but one takes as many products again as further
    /// digits take: 16 for each function of three digits and 272 for each of four, and 1 and 17
    /// relinearizations.
    pub(crate) fn look_up_digits(
        &self,
        digits: &[Digit<S::Ciphertext>],
        functions: usize,
        entry: &(dyn Fn(usize, i64) -> i64 + Sync),
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let varies = |d: &Digit<S::Ciphertext>| d.cipher.is_some() && d.low < d.high;
        let requests = digits.iter().filter(|d| varies(d)).map(|d| {
            let is = |v: i64| (d.low..=d.high).map(move |x| i64::from(x == v)).collect();
            Ok((d.clone(), self.plan(d.low, d.high, (d.low..=d.high).map(is).collect())?))
        });
        let truths = self.tables(requests.collect::<Result<_, IntegersError>>()?)?;
        let truths: Vec<Value<S::Ciphertext>> =
            truths.into_iter().flatten().filter_map(|d| d.cipher).collect();

        let mut builder = CircuitBuilder::new();
        let choices = digits.iter().enumerate().map(|(i, d)| {
            let chosen = |v: i64| (v << (4 * i), varies(d).then(|| builder.input(1)));
            (d.low..=d.high).map(chosen).collect()
        });
        let mut choices: Vec<Vec<Choice>> = choices.collect();
        let [lowest, next] = [0, 1].map(|i| std::mem::take(&mut choices[i]));
        choices.remove(0);
        let levels = choices.len();
        let mut circuit = Functions { builder, choices, entry };
        let mut parts = vec![Part::Constant(0); functions];
        // What a block holds is dropped before the next one: a circuit runs in the order in which
        // it is built.
        let blocks = if self.is_in_blocks() { BLOCKS } else { 1 };
        for block in next.chunks(next.len().div_ceil(blocks).max(1)) {
            circuit.choose(block, &lowest)?;
            for (function, sum) in parts.iter_mut().enumerate() {
                let part = circuit.part(function, levels, 0)?;
                *sum = circuit.sum(*sum, part)?;
            }
        }
        let outputs: Vec<NodeId> = parts
            .iter()
            .filter_map(|p| if let Part::Node(x) = p { Some(*x) } else { None })
            .collect();
        let found = match outputs.is_empty() {
            true => Vec::new(),
            false => self.chosen_sums(&truths, &circuit.builder.finish(&outputs)?)?,
        };

        let mut found = found.into_iter();
        let pad = value(digits.iter().map(|d| d.pad)) as i64;
        let ends = [0, 1].map(|i| digits.iter().map(move |d| if i == 0 { d.low } else { d.high }));
        let [least, most] = ends.map(|ends| value(ends) as i64);
        let digit = |(function, part): (usize, Part)| {
            if let Part::Constant(c) = part {
                return Digit::public(c);
            }
            let entries = || (least..=most).map(|v| entry(function, v));
            Digit {
                cipher: found.next().map(|c| self.session().share(c)),
                low: entries().min().unwrap_or(0),
                high: entries().max().unwrap_or(0),
                pad: entry(function, pad),
                steps: None,
            }
        };
        Ok(parts.into_iter().enumerate().map(digit).collect())
    }

    /// Runs a circuit on truth values. If it does not fit, all of them are bootstrapped; there are
    /// so many that a rehearsal after each one would take longer.
    fn chosen_sums(
        &self,
        truths: &[Value<S::Ciphertext>],
        circuit: &Circuit,
    ) -> Result<Vec<S::Ciphertext>, IntegersError> {
        let inputs: Vec<&Value<S::Ciphertext>> = truths.iter().collect();
        let stage = Stage::Circuit(circuit);
        let now = inputs.iter().map(|x| self.operand(x)).collect::<Result<Vec<_>, _>>()?;
        let now: Vec<&S::Ciphertext> = now.iter().map(AsRef::as_ref).collect();
        if self.session().can_bootstrap() && !self.fits(&stage, &now) {
            self.refresh_all(&inputs)?;
        }
        let found = self.staged(&inputs, &stage, &vec![(0, 1); inputs.len()])?;
        Ok(found.into_iter().flatten().collect())
    }
}
