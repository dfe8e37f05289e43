//! The text of a program as words and signs.

use super::error::ExpressionError;
use super::syntax::MAX_BYTES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Integer(u64),
    Sign(char),
    End,
}

impl Token {
    /// As it is told to the user.
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Name(name) => format!("'{}'", name.chars().take(40).collect::<String>()),
            Token::Integer(value) => value.to_string(),
            Token::Sign(sign) => format!("'{sign}'"),
            Token::End => "the end".into(),
        }
    }
}

/// The tokens, each with its column, an end last.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    if text.len() > MAX_BYTES {
        return Err(ExpressionError::new(
            1,
            format!("expected a program of at most {MAX_BYTES} bytes, found {}", text.len()),
        ));
    }
    let mut out = Vec::new();
    let mut rest = text.chars().enumerate().map(|(i, c)| (i + 1, c)).peekable();
    while let Some((column, c)) = rest.next() {
        let mut word = |first: char| {
            let mut word = String::from(first);
            while let Some((_, c)) = rest.next_if(|(_, c)| c.is_ascii_alphanumeric() || *c == '_') {
                word.push(c);
            }
            word
        };
        match c {
            _ if c.is_whitespace() => {}
            '#' => while rest.next_if(|(_, c)| *c != '\n').is_some() {},
            '=' | '+' | '-' | '*' | '^' | '(' | ')' | ',' | ';' => {
                out.push((column, Token::Sign(c)))
            }
            _ if c.is_ascii_digit() => {
                out.push((column, Token::Integer(integer(column, &word(c))?)))
            }
            _ if c.is_ascii_alphabetic() || c == '_' => out.push((column, Token::Name(word(c)))),
            '/' => {
                let hint = "there is no division: multiply by the inverse modulo p^r";
                return Err(ExpressionError::new(column, hint));
            }
            _ => return Err(ExpressionError::new(column, format!("{:?} means nothing here", c))),
        }
    }
    out.push((text.chars().count() + 1, Token::End));
    Ok(out)
}

fn integer(column: usize, word: &str) -> Result<u64, ExpressionError> {
    let limit = i64::MAX;
    let value: Option<u64> = word.parse().ok().filter(|&v: &u64| v <= limit as u64);
    value.ok_or_else(|| {
        let shown: String = word.chars().take(40).collect();
        ExpressionError::new(
            column,
            format!("expected an integer of at most {limit}, found {shown}"),
        )
    })
}
