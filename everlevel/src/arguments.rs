//! Arguments and results of plans, each in as many columns as its number of entries requires.

use everlevel_integers::{Encrypted, IntegersError};
use everlevel_wire::columns::ColumnArray;
use rand_core::CryptoRng;

use crate::client::Client;
use crate::columns::NamedIntegers;
use crate::error::Error;
use crate::plan::Plan;
use crate::plan::levels::level_of;

impl Client {
    /// Encrypts an argument of a plan, by its name, with the type, at the level, and with the index
    /// that the plan requires.
    ///
    /// # Errors
    /// A name that the plan does not have, a wrong number of entries, or an argument that takes
    /// several columns; as [`Client::encrypt_integers`] and [`Plan::explain`].
    pub fn encrypt_for<T: Copy + Into<i128>>(
        &self,
        plan: &Plan,
        name: &str,
        values: &[T],
        rng: &mut impl CryptoRng,
    ) -> Result<NamedIntegers, Error> {
        let mut parts = self.encrypt_parts_for(plan, name, values, rng)?;
        match (parts.pop(), parts.len()) {
            (Some(only), 0) => Ok(only),
            (_, others) => {
                let expected = format!(
                    "at most {}, the slots of this set; encrypt_parts_for makes {} columns",
                    self.params().slots(),
                    others + 1
                );
                Err(IntegersError::Length { found: values.len(), expected }.into())
            }
        }
    }

    /// Encrypts an argument of a plan that may have more entries than there are slots, in as many
    /// columns as necessary: `NAME#0`, `NAME#1` and so on, or only `NAME`.
    ///
    /// # Errors
    /// As [`Client::encrypt_for`].
    pub fn encrypt_parts_for<T: Copy + Into<i128>>(
        &self,
        plan: &Plan,
        name: &str,
        values: &[T],
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<NamedIntegers>, Error> {
        let planned = plan.input(name)?;
        if values.len() != planned.length {
            let (found, expected) = (values.len(), planned.length.to_string());
            return Err(IntegersError::Length { found, expected }.into());
        }
        let (estimate, slots) = (plan.known_on(self.params())?, self.params().slots());
        let levels = (level_of(&estimate, name), planned.index_level(self.params())?);
        let array = ColumnArray::vector(name, values.len().div_ceil(slots), Some(values.len()));
        let column = |(i, part): (usize, &[T])| {
            let column = self.encrypt_column_at(part, planned.kind, levels, rng)?;
            Ok((array.column(i), column.into()))
        };
        values.chunks(slots).enumerate().map(column).collect()
    }

    /// Decrypts a result of a plan by its name: the entries of all its columns, or the sum of its
    /// totals.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] if a part of the result is missing, or if the sum of totals is past
    /// 127 bits; [`IntegersError::Value`] for a value that `T` cannot hold; as
    /// [`Client::decrypt_column`].
    pub fn decrypt_parts_for<T: TryFrom<i128>>(
        &self,
        plan: &Plan,
        name: &str,
        results: &[NamedIntegers],
    ) -> Result<Vec<T>, Error> {
        let array = ColumnArray::vector(name, plan.blocks(self.params().slots())?, None);
        let part = |i: usize| {
            let column = array.column(i);
            let found = results.iter().find(|(own, _)| *own == column);
            found.map(|(_, x)| x).ok_or_else(|| {
                let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
                let problem =
                    format!("no result is named {column}: there are {}", names.join(", "));
                IntegersError::Parts { problem }
            })
        };
        let parts = (0..array.blocks).map(part).collect::<Result<Vec<_>, _>>()?;
        let mut values: Vec<i128> = Vec::new();
        let mut sum: Option<i128> = None;
        for part in parts {
            match part {
                Encrypted::Column(x) => values.extend(self.decrypt_integers::<i128>(x)?),
                // Of each at most 2^126.
                Encrypted::Total(x) => {
                    let added = sum.unwrap_or(0).checked_add(self.decrypt_total::<i128>(x)?);
                    let wide = || IntegersError::Parts {
                        problem: format!("the total {name} is past 127 bits"),
                    };
                    sum = Some(added.ok_or_else(wide)?);
                }
            }
        }
        values.extend(sum);
        let held = |(position, v)| crate::integers::held(v, position);
        values.into_iter().enumerate().map(held).collect()
    }
}
