//! Arrays of ciphertexts: the number of values, their shape, and the content of unused slots, as
//! the metadata of a file state them. Value i is in slot i mod s of ciphertext ⌊i / s⌋, where s is
//! the number of slots.

use crate::error::WireError;
use crate::summary::Metadata;

/// Metadata: the number of values in all ciphertexts together.
pub const VALUES: &str = "values";
/// Metadata: the dimensions of an array of several, or of none.
pub const SHAPE: &str = "shape";
/// Metadata: the content of the slots after the last value.
pub const SLOTS: &str = "slots";

/// The most dimensions.
const DIMENSIONS: usize = 32;
const ZERO: &str = "zero-padded";
const REPEATED: &str = "repeated";

/// What the slots after the last value hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// 0, or there is no such slot.
    Zero,
    /// The only value, in every slot.
    Repeated,
    /// Unknown.
    Unknown,
}

/// The array that ciphertexts hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The dimensions, in row-major order; empty for a single value.
    pub shape: Vec<usize>,
    /// The content of the slots after the last value.
    pub rest: Rest,
}

impl Array {
    /// The array that the metadata describe for `count` ciphertexts of `slots` slots each; none if
    /// they do not state the number of values. Slots after the values of a fresh encryption hold 0.
    ///
    /// # Errors
    /// [`WireError::Malformed`] for a number of values that needs another number of ciphertexts, or
    /// is not that of the dimensions.
    pub fn of(metadata: &Metadata, slots: usize, count: usize) -> Result<Option<Self>, WireError> {
        let stated = metadata.get(SHAPE).map(|text| (text, dimensions(text)));
        let stated = stated.or_else(|| {
            metadata.get(VALUES).map(|text| (text, text.parse().ok().map(|n| vec![n])))
        });
        let Some((text, shape)) = stated else { return Ok(None) };
        let whole = slots.saturating_mul(count);
        let fits = |values: usize| values <= whole && values > whole - slots.min(whole);
        let values = |shape: &Vec<usize>| shape.iter().try_fold(1, |n: usize, d| n.checked_mul(*d));
        // Readers that know no dimensions go by the number.
        let number = metadata.get(VALUES);
        let agrees = |n: usize| number.is_none_or(|number| number.parse::<usize>() == Ok(n));
        let good = |shape: &Vec<usize>| values(shape).is_some_and(|n| fits(n) && agrees(n));
        let shape = shape.filter(good).ok_or_else(|| {
            let found: String = text.chars().filter(|c| !c.is_control()).take(100).collect();
            let expected = format!("as many as {count} ciphertexts of {slots} slots hold");
            WireError::malformed("values of an array", expected, found)
        })?;
        let full = values(&shape) == Some(whole);
        let rest = match metadata.get(SLOTS).map(String::as_str) {
            _ if full => Rest::Zero,
            Some(ZERO) => Rest::Zero,
            Some(REPEATED) if values(&shape) == Some(1) => Rest::Repeated,
            None if metadata.contains_key("encryption") => Rest::Zero,
            _ => Rest::Unknown,
        };
        Ok(Some(Array { shape, rest }))
    }

    /// The number of values.
    pub fn values(&self) -> usize {
        self.shape.iter().product()
    }

    /// Writes the description to metadata.
    pub fn state(&self, metadata: &mut Metadata) {
        metadata.insert(VALUES.into(), self.values().to_string());
        // What was stated of another array goes.
        metadata.remove(SHAPE);
        if self.shape.len() != 1 {
            let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
            metadata.insert(SHAPE.into(), shape.join(","));
        }
        match self.rest {
            Rest::Zero => metadata.insert(SLOTS.into(), ZERO.into()),
            Rest::Repeated => metadata.insert(SLOTS.into(), REPEATED.into()),
            Rest::Unknown => metadata.remove(SLOTS),
        };
    }
}

fn dimensions(text: &str) -> Option<Vec<usize>> {
    let parts: Vec<&str> = text.split(',').filter(|_| !text.is_empty()).collect();
    let one = |part: &&str| part.parse().ok().filter(|n| *n > 0);
    (parts.len() <= DIMENSIONS).then(|| parts.iter().map(one).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[(&str, &str)], count: usize) -> Result<Option<Array>, WireError> {
        let metadata = entries.iter().map(|(name, v)| ((*name).into(), (*v).into())).collect();
        Array::of(&metadata, 128, count)
    }

    fn array(shape: &[usize], rest: Rest) -> Result<Option<Array>, WireError> {
        Ok(Some(Array { shape: shape.to_vec(), rest }))
    }

    #[test]
    fn what_is_stated_is_read() {
        assert_eq!(of(&[], 2), Ok(None));
        assert_eq!(of(&[("values", "129")], 2), array(&[129], Rest::Unknown));
        assert_eq!(of(&[("values", "256")], 2), array(&[256], Rest::Zero));
        let fresh = [("values", "300"), ("shape", "20,15"), ("encryption", "public")];
        assert_eq!(of(&fresh, 3), array(&[20, 15], Rest::Zero));
        let one = [("shape", ""), ("values", "1"), ("slots", "repeated")];
        assert_eq!(of(&one, 1), array(&[], Rest::Repeated));
        for stated in [array(&[300], Rest::Zero), array(&[20, 15], Rest::Unknown)] {
            let (mut metadata, stated) = (Metadata::new(), stated.unwrap().unwrap());
            stated.state(&mut metadata);
            assert_eq!(Array::of(&metadata, 128, 3), Ok(Some(stated)));
        }
        // Over what another array had stated.
        let mut metadata = Metadata::from([(SHAPE.into(), "20,15".into())]);
        let vector = Array { shape: vec![280], rest: Rest::Zero };
        vector.state(&mut metadata);
        assert_eq!(Array::of(&metadata, 128, 3), Ok(Some(vector)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (entry, text, count) in [
            ("values", "128", 2),
            ("values", "257", 2),
            ("values", "0", 1),
            ("values", "-1", 1),
            ("values", "99999999999999999999999", 1),
            ("values", "1", 0),
            ("shape", "20,16", 2),
            ("shape", "0,3", 1),
            ("shape", "18446744073709551615,18446744073709551615", 1),
            ("shape", "1,,2", 1),
        ] {
            let refused = of(&[(entry, text)], count).unwrap_err();
            assert_eq!(refused.code(), "wire.malformed", "{entry} = {text}");
        }
        // 300 and 280 take three ciphertexts both.
        for number in ["280", "-300", ""] {
            let refused = of(&[("values", number), ("shape", "20,15")], 3).unwrap_err();
            assert_eq!(refused.code(), "wire.malformed", "{number}");
        }
        assert_eq!(of(&[("shape", "20,15")], 3), array(&[20, 15], Rest::Unknown));
        let deep = ["1"; 33].join(",");
        assert!(of(&[("shape", &deep)], 1).is_err());
    }
}
