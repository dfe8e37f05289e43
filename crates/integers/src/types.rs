//! Types of columns.

use std::fmt;
use std::str::FromStr;

use crate::error::IntegersError;
use crate::interval::Interval;

/// The type of a column of integers, which states the values that it may hold when it is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Type {
    /// 0 and 1.
    Bool,
    /// 0 to 2^8 - 1.
    U8,
    /// 0 to 2^16 - 1.
    U16,
    /// 0 to 2^32 - 1.
    U32,
    /// 0 to 2^64 - 1.
    U64,
    /// -2^7 to 2^7 - 1.
    I8,
    /// -2^15 to 2^15 - 1.
    I16,
    /// -2^31 to 2^31 - 1.
    I32,
    /// -2^63 to 2^63 - 1.
    I64,
    /// The integers of a stated interval; a narrower interval has fewer digits and cheaper
    /// operations.
    Ranged(Interval),
}

/// The types with names, smallest first.
const NAMED: [(&str, Type); 9] = [
    ("bool", Type::Bool),
    ("u8", Type::U8),
    ("i8", Type::I8),
    ("u16", Type::U16),
    ("i16", Type::I16),
    ("u32", Type::U32),
    ("i32", Type::I32),
    ("u64", Type::U64),
    ("i64", Type::I64),
];

impl Type {
    /// The integers from `low` to `high`.
    ///
    /// # Errors
    /// [`IntegersError::Range`] if there are none.
    pub fn ranged(low: i128, high: i128) -> Result<Self, IntegersError> {
        Ok(Type::Ranged(Interval::new(low, high)?))
    }

    /// The smallest named type that contains an interval, if there is one.
    pub fn smallest(interval: Interval) -> Option<Type> {
        NAMED.into_iter().map(|(_, t)| t).find(|t| t.interval().holds(interval))
    }

    /// The smallest named type that contains an interval, if there is one, of entries that are
    /// integers even where they can only be 0 and 1, such as places: not that of truth values.
    pub fn smallest_of_integers(interval: Interval) -> Option<Type> {
        let smallest = Self::smallest(interval);
        smallest.map(|t| if t == Type::Bool { Type::U8 } else { t })
    }

    /// The values of the type.
    pub fn interval(self) -> Interval {
        let unsigned = |bits: u32| (0, (1i128 << bits) - 1);
        let signed = |bits: u32| (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
        let (low, high) = match self {
            Type::Bool => return Interval::BOOL,
            Type::Ranged(interval) => return interval,
            Type::U8 => unsigned(8),
            Type::U16 => unsigned(16),
            Type::U32 => unsigned(32),
            Type::U64 => unsigned(64),
            Type::I8 => signed(8),
            Type::I16 => signed(16),
            Type::I32 => signed(32),
            Type::I64 => signed(64),
        };
        // The ends of 64 bits are far below 2^126.
        Interval::new(low, high).unwrap_or(Interval::WIDEST)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, NAMED.iter().find(|(_, t)| t == self)) {
            (Type::Ranged(interval), _) => interval.fmt(f),
            (_, Some((name, _))) => f.write_str(name),
            (_, None) => self.interval().fmt(f),
        }
    }
}

/// Parses `bool`, `u8` to `i64`, or `LOW..HIGH` with both ends included.
impl FromStr for Type {
    type Err = IntegersError;

    fn from_str(text: &str) -> Result<Self, IntegersError> {
        // As NumPy writes them, too: uint8 for u8.
        let short = text.replacen("uint", "u", 1).replacen("int", "i", 1);
        if let Some((_, t)) = NAMED.iter().find(|(name, _)| *name == text || *name == short) {
            return Ok(*t);
        }
        let ends = text.split_once("..").map(|(low, high)| (low.parse(), high.parse()));
        match ends {
            Some((Ok(low), Ok(high))) => Self::ranged(low, high),
            _ => Err(IntegersError::Name { name: text.into() }),
        }
    }
}
