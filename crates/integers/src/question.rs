//! Questions about a difference, and how its digits decide them.

use crate::column::Digit;

/// The question about a - b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Sign,
}

impl Question {
    pub(crate) fn answer(self, difference: i64) -> i64 {
        match self {
            Question::Less => i64::from(difference < 0),
            Question::LessOrEqual => i64::from(difference <= 0),
            Question::Greater => i64::from(difference > 0),
            Question::GreaterOrEqual => i64::from(difference >= 0),
            Question::Sign => difference.signum(),
        }
    }

    /// The differences for which the answer is 1; `None` if there are three answers.
    pub(crate) fn range(self) -> Option<(i128, i128)> {
        match self {
            Question::Less => Some((i128::MIN, -1)),
            Question::LessOrEqual => Some((i128::MIN, 0)),
            Question::Greater => Some((1, i128::MAX)),
            Question::GreaterOrEqual => Some((0, i128::MAX)),
            Question::Sign => None,
        }
    }

    /// Where a digit keeps the answer of those below; `None` if there are three answers.
    pub(crate) fn kept(self) -> Option<Kept> {
        match self {
            Question::Less | Question::LessOrEqual => Some(Kept { at: 0, side: -1 }),
            Question::Greater | Question::GreaterOrEqual => Some(Kept { at: 0, side: 1 }),
            Question::Sign => None,
        }
    }

    /// Whether a digit of this window below others does not matter, whatever it is.
    pub(crate) fn ignores<C>(self, lowest: &Digit<C>) -> bool {
        match self {
            Question::Less | Question::GreaterOrEqual => lowest.low >= 0,
            Question::LessOrEqual | Question::Greater => lowest.high <= 0,
            Question::Sign => lowest.low == 0 && lowest.high == 0,
        }
    }
}

/// Where digits keep a truth value, and on which side of that they set it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) at: i64,
    /// 1 if larger digits set it, and -1 if smaller ones do.
    pub(crate) side: i64,
}

impl Kept {
    /// 1 for digits that set it, -1 for those that clear it, 0 for those that keep it.
    pub(crate) fn sign(self, digit: i64) -> i64 {
        self.side * (digit - self.at).signum()
    }

    /// Whether a digit can both set and clear it.
    pub(crate) fn does_both<C>(self, digit: &Digit<C>) -> bool {
        digit.low < self.at && self.at < digit.high
    }
}
