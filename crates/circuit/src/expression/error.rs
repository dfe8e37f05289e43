//! Errors of programs.

/// What is wrong with the text of a program, and where: `column` counts characters from the
/// beginning of the text, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {problem}")]
pub struct ExpressionError {
    /// Where.
    pub column: usize,
    /// What was expected and what was found.
    pub problem: String,
}

impl ExpressionError {
    /// The only code of this type.
    pub const CODES: &'static [&'static str] = &["expression.syntax"];
    /// A name for programs, which does not change when messages do.
    pub fn code(&self) -> &'static str {
        Self::CODES[0]
    }

    pub(super) fn new(column: usize, problem: impl Into<String>) -> Self {
        ExpressionError { column, problem: problem.into() }
    }

    /// The line of `text` with the mistake, and a second line with a mark below it. Long lines are
    /// cut around the mark.
    pub fn pointer(&self, text: &str) -> String {
        const AROUND: usize = 60;
        let before: Vec<char> = text.chars().take(self.column.saturating_sub(1)).collect();
        let start = before.iter().rposition(|&c| c == '\n').map_or(0, |at| at + 1);
        let offset = before.len() - start;
        let skipped = offset.saturating_sub(AROUND);
        let line = text.chars().skip(start + skipped).take_while(|&c| c != '\n').take(2 * AROUND);
        let shown: String = line.map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("{shown}\n{}^", " ".repeat(offset - skipped))
    }
}
