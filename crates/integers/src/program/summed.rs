//! Sums and means of products, which are computed from the factors.

use everlevel_circuit::CircuitError;
use everlevel_circuit::expression::{Function, Kind, Node, TypedFunction};

use super::{ProgramError, Run, at};
use crate::concurrent::Room;
use crate::context::IntegerScheme;
use crate::functions::Value;
use crate::operation::Operation;

impl<S: IntegerScheme> Run<'_, '_, S> {
    /// The sum or the mean of a part of a program. Of a product it is computed from the factors:
    /// the last one that is no constant, and the product of the others.
    pub(super) fn summed(
        &self,
        node: &Node,
        of: &Node,
        mean: bool,
        room: Room,
    ) -> Result<Value<S::Ciphertext>, ProgramError> {
        let whole = match &of.kind {
            Kind::Power(x, 2) => {
                let x = self.argument(x, room)?;
                match &x {
                    Value::Column(own) if !x.is_bit() => {
                        return at(node, self.functions.summed_products(mean, own, own));
                    }
                    _ => at(of, self.functions.power(&x, 2))?,
                }
            }
            Kind::Product(factors) => {
                let parts: Vec<&Node> = factors.iter().collect();
                let constant = |x: &&Node| matches!(x.kind, Kind::Constant(_));
                let last = parts.iter().rposition(|x| !constant(x)).unwrap_or(0);
                let found =
                    room.each(&parts, &self.values, |factor, room| self.argument(factor, room));
                let (mut held, mut others) = (None, Vec::with_capacity(parts.len()));
                for (i, factor) in parts.into_iter().zip(found).enumerate() {
                    match i == last {
                        true => held = Some(factor),
                        false => others.push(factor),
                    }
                }
                // An error among the others comes first, and then there may be none held.
                let (k, x) = self.multiplied(of, others)?;
                let Some((factor, y)) = held else {
                    return at(of, Err(CircuitError::Empty { what: "a factor" }.into()));
                };
                let y = y?;
                let times = |a: &Value<S::Ciphertext>, b: &Value<S::Ciphertext>| {
                    self.functions.operated(&Operation::Multiply, &[a, b])
                };
                match (k, x, &y) {
                    (k, Some(x), Value::Column(b)) => {
                        let x = match k {
                            Value::Public(1) => x,
                            k => at(of, times(&k, &x))?,
                        };
                        match &x {
                            Value::Column(a) => {
                                return at(node, self.functions.summed_products(mean, a, b));
                            }
                            x => at(factor, times(x, &y))?,
                        }
                    }
                    (k, None, _) => at(factor, times(&k, &y))?,
                    (k, Some(x), _) => at(of, times(&at(factor, times(&k, &y))?, &x))?,
                }
            }
            _ => self.argument(of, room)?,
        };
        let found = match mean {
            false => self.functions.call(Function::Sum, &whole),
            true => self.functions.typed(TypedFunction::Mean, &[whole], None),
        };
        at(node, found)
    }
}
