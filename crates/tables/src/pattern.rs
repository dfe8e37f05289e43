//! Patterns of `like`.

/// Whether a text matches a pattern in which `%` stands for any text and `_` for any character.
pub(crate) fn matches(text: &[char], pattern: &[char]) -> bool {
    // reached[i]: the first i letters are of the pattern so far.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for p in pattern {
        if *p == '%' {
            let first = reached.iter().position(|r| *r).unwrap_or(text.len() + 1);
            reached.iter_mut().enumerate().for_each(|(i, r)| *r = i >= first);
        } else {
            for i in (1..=text.len()).rev() {
                reached[i] = reached[i - 1] && (*p == '_' || *p == text[i - 1]);
            }
            reached[0] = false;
        }
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns() {
        let matches = |text: &str, pattern: &str| {
            let chars = |s: &str| s.chars().collect::<Vec<_>>();
            super::matches(&chars(text), &chars(pattern))
        };
        assert!(matches("PROMO BRUSHED", "PROMO%"));
        assert!(matches("abc", "%b%") && matches("abc", "a_c") && matches("", "%"));
        assert!(matches("abab", "%ab") && matches("aXbXc", "a%b%c"));
        assert!(!matches("abc", "b%") && !matches("abc", "ab") && !matches("", "_"));
    }
}
