//! Columns at lower levels, where operations cost less.

use everlevel_circuit::Value;
use everlevel_scheme::Level;
use rayon::prelude::*;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The column modulo p, at a level or at the lower one where it is already. What is
    /// bootstrapped in place later leaves the ciphertexts of `x` as they are.
    ///
    /// Noise of fresh encryptions vanishes in that of the switch, so this takes no capacity but
    /// the bits between the levels.
    ///
    /// # Errors
    /// Those of the scheme, above all too little capacity.
    pub fn lowered(
        &self,
        x: &Column<S::Ciphertext>,
        level: Level,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let scheme = self.session().scheme();
        let lower = |value: &Value<S::Ciphertext>| -> Result<_, IntegersError> {
            let now = self.operand(value)?;
            let level = level.min(scheme.level(&now));
            Ok(self.session().share(scheme.mod_switch_to(&now, level)?))
        };
        let digit = |d: &Digit<S::Ciphertext>| -> Result<_, IntegersError> {
            let cipher = d.cipher.as_ref().map(lower).transpose()?;
            // What its owner encrypted in unary begins low already.
            Ok(Digit { cipher, ..d.clone() })
        };
        let digits = x.digits.par_iter().map(digit).collect::<Result<_, IntegersError>>()?;
        Ok(Column { digits, ..*x })
    }
}
