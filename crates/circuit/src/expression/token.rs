//! The text of a program as words and signs.

use super::error::ExpressionError;
use super::syntax::MAX_BYTES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Integer(u64),
    Sign(&'static str),
    End,
}

impl Token {
    /// The token as messages show it.
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Name(name) => format!("'{}'", name.chars().take(40).collect::<String>()),
            Token::Integer(value) => value.to_string(),
            Token::Sign(sign) => format!("'{sign}'"),
            Token::End => "the end".into(),
        }
    }
}

/// Signs, the longer ones first.
const SIGNS: [&str; 21] = [
    "<=", ">=", "==", "!=", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%", "^", "&", "|", "!",
    "(", ")", ",",
];

/// The sign that a text begins with.
fn sign(first: char, second: Option<char>) -> Option<&'static str> {
    SIGNS.into_iter().chain([";"]).find(|sign| {
        let mut expected = sign.chars();
        expected.next() == Some(first) && expected.next().is_none_or(|c| second == Some(c))
    })
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
            _ if c.is_ascii_digit() => {
                out.push((column, Token::Integer(integer(column, &word(c))?)))
            }
            _ if c.is_ascii_alphabetic() || c == '_' => out.push((column, Token::Name(word(c)))),
            _ => {
                let Some(sign) = sign(c, rest.peek().map(|(_, c)| *c)) else {
                    let problem = match c {
                        '.' => "unexpected '.': there are only integers, so scale the numbers: in \
                                tenths, 20.5 is 205"
                            .into(),
                        _ => format!("unexpected character {c:?}"),
                    };
                    return Err(ExpressionError::new(column, problem));
                };
                if sign.len() > 1 {
                    rest.next();
                }
                out.push((column, Token::Sign(sign)));
            }
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
