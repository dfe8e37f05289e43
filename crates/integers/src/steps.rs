//! The truth values of a digit that its owner encrypted in unary, too.

use std::sync::Arc;

use everlevel_circuit::Value;

/// Whether a digit is at least each of some successive integers.
pub(crate) struct Steps<C> {
    /// The least value that the digit had when it was encrypted. Truth value i says whether it is
    /// at least `least + 1 + i`.
    least: i64,
    pub(crate) bits: Arc<[Value<C>]>,
}

impl<C> Clone for Steps<C> {
    fn clone(&self) -> Self {
        Steps { least: self.least, bits: self.bits.clone() }
    }
}

impl<C> Steps<C> {
    /// Truth values for the integers above `least`, in order.
    pub(crate) fn new(least: i64, bits: Vec<Value<C>>) -> Self {
        Steps { least, bits: bits.into() }
    }

    /// The truth value that says whether the digit is at least `value`.
    pub(crate) fn at(&self, value: i64) -> Option<&Value<C>> {
        let place = value.checked_sub(self.least)?.checked_sub(1)?;
        self.bits.get(usize::try_from(place).ok()?)
    }

    /// Whether they are truth values for the same integers, and `same` holds for all of them.
    pub(crate) fn is_like<D>(
        &self,
        other: &Steps<D>,
        same: impl Fn(&Value<C>, &Value<D>) -> bool,
    ) -> bool {
        (self.least, self.bits.len()) == (other.least, other.bits.len())
            && self.bits.iter().zip(other.bits.iter()).all(|(x, y)| same(x, y))
    }

    /// The same with what `convert` makes of the ciphertexts.
    pub(crate) fn try_map<D, E>(
        &self,
        convert: impl FnMut(&Value<C>) -> Result<Value<D>, E>,
    ) -> Result<Steps<D>, E> {
        let bits = self.bits.iter().map(convert).collect::<Result<Vec<_>, E>>()?;
        Ok(Steps::new(self.least, bits))
    }
}
