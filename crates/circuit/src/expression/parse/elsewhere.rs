//! Operators as other languages write them.

use crate::expression::token::Token;

/// What to write instead of a word, if it is an operator elsewhere.
pub(super) fn instead(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "and" => "write &, as in (x > 1) & (x < 5)",
        "or" => "write |, as in (x < 1) | (x > 5)",
        "not" => "write !, as in !(x > 1)",
        _ => return None,
    })
}

/// The end of a sentence about a token that does not belong there: what to write instead.
pub(super) fn advice(found: &Token, before: Option<&Token>) -> String {
    match found {
        Token::Name(word) => instead(word).map_or_else(String::new, |way| format!(": {way}")),
        Token::Sign("&" | "|") if before == Some(found) => ": write it once".into(),
        _ => String::new(),
    }
}
