//! Suggestions for mistyped names.

/// Names below this similarity are not suggested; equal names have similarity 1.
const ALIKE: f64 = 0.78;
/// The longest names that are compared, in bytes: queries and schemas, which may be anybody's, may
/// have long ones, of which each pair takes the product of their lengths.
const LONGEST: usize = 128;

/// The most similar name, if one is similar enough; the first of several.
fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.trim().to_lowercase();
    if typed.len() > LONGEST {
        return None;
    }
    let typed = plain(typed);
    let mut best: Option<(f64, &str)> = None;
    for name in names.into_iter().filter(|name| name.len() <= LONGEST) {
        let alike = strsim::jaro_winkler(&typed, &plain(name));
        if alike >= ALIKE && best.is_none_or(|(found, _)| alike > found) {
            best = Some((alike, name));
        }
    }
    best.map(|(_, name)| name)
}

/// `: did you mean NAME?` for the end of a sentence, or nothing.
pub fn did_you_mean<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, names).map_or_else(String::new, |name| format!(": did you mean {name}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_found() {
        let names = ["income", "age", "Zip Code", "bgv-65537-n15", "bgv-65537-n16"];
        for (typed, expected) in [
            ("incone", Some("income")),
            ("Age", Some("age")),
            ("zipcode", Some("Zip Code")),
            ("bgv-65537-n-16", Some("bgv-65537-n16")),
            ("bgv-65536-n15", Some("bgv-65537-n15")),
            ("height", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), expected, "{typed}");
        }
        assert_eq!(did_you_mean("agee", names), ": did you mean age?");
        assert_eq!(did_you_mean("x", []), "");
        let long = ["a".repeat(128), "a".repeat(129)];
        for typed in &long {
            let found = nearest(typed, [&long[1][..], &long[0][..]]);
            assert_eq!(found, Some(&long[0][..]).filter(|_| typed.len() == 128));
        }
    }
}
