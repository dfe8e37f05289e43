//! What a mistake is.

/// A mistake.
pub struct Case {
    /// What is wrong.
    pub name: &'static str,
    /// What makes the files for it.
    pub before: &'static [Step],
    /// The command that has to be refused, in words with spaces between them.
    pub command: &'static str,
    /// The code of the error (docs/errors.md).
    pub code: &'static str,
}

/// A mistake in short.
pub(super) const fn case(
    name: &'static str,
    before: &'static [Step],
    command: &'static str,
    code: &'static str,
) -> Case {
    Case { name, before, command, code }
}

/// What makes files for a mistake.
pub enum Step {
    /// A command that has to succeed.
    Run(&'static str),
    /// A file with these bytes, and the directories above it.
    Write(&'static str, &'static [u8]),
    /// A copy of a file.
    Copy(&'static str, &'static str),
    /// A copy of the first half of a file.
    Cut(&'static str, &'static str),
    /// A copy of a file with its last byte changed.
    Change(&'static str, &'static str),
    /// A copy of a file with a byte more.
    Lengthen(&'static str, &'static str),
    /// A copy of a file of ciphertexts that does not say whose they are, as those of version 1 of
    /// the format do not.
    Disown(&'static str, &'static str),
}
