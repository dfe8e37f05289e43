//! The sets that have names.

use crate::error::SchemeError;
use crate::spec::{ParamsSpec, ntru_sets, sets};

/// The names of all sets except those over NTRU ([`ntru_names`]). Behind the name of a set that
/// bootstraps, `-sK` is the number of used slots ([`spec`]).
pub fn names() -> impl Iterator<Item = &'static str> {
    sets::names()
}

/// The names of the NTRU sets.
pub fn ntru_names() -> impl Iterator<Item = &'static str> {
    ntru_sets::names()
}

impl ParamsSpec {
    /// The specification of a named set, to change it before it becomes [`crate::Params`].
    ///
    /// # Errors
    /// As [`spec`].
    pub fn named(name: &str) -> Result<Self, SchemeError> {
        spec(name)
    }
}

/// The specification of a named set, or of one over NTRU ([`ntru_names`]). `NAME-sK` is the set
/// NAME with K used slots ([`ParamsSpec::with_used_slots`]), such as `bgv-65537-n15-s1024`.
///
/// # Errors
/// An unknown name; the error lists the known ones. A number of used slots for a set without
/// bootstrapping.
pub fn spec(name: &str) -> Result<ParamsSpec, SchemeError> {
    if let Some(spec) = listed(name) {
        return Ok(spec);
    }
    if let Some((all, slots)) = used_slots(name)
        && let Some(spec) = listed(all)
    {
        return spec.with_used_slots(slots);
    }
    Err(SchemeError::UnknownParams {
        name: name.into(),
        known: names().collect::<Vec<_>>().join(", "),
    })
}

/// The specifications of all sets that have a name: those of [`names`] and [`ntru_names`], then
/// those with fewer used slots.
pub fn specs() -> impl Iterator<Item = ParamsSpec> {
    let all = || names().chain(ntru_names()).filter_map(listed);
    all().chain(all().flat_map(with_fewer_slots))
}

fn listed(name: &str) -> Option<ParamsSpec> {
    ntru_sets::spec(name).or_else(|| sets::spec(name))
}

/// NAME and K of `NAME-sK`, if K is written as [`ParamsSpec::with_used_slots`] writes it.
fn used_slots(name: &str) -> Option<(&str, usize)> {
    let (all, digits) = name.rsplit_once("-s")?;
    let slots: usize = digits.parse().ok()?;
    (slots.to_string() == digits).then_some((all, slots))
}

/// The set with each number of used slots that it may have, and with some more, which
/// [`Params::new`](crate::Params::new) refuses: the order of p is not computed here.
fn with_fewer_slots(spec: ParamsSpec) -> impl Iterator<Item = ParamsSpec> {
    let repeats = spec.index.is_power_of_two() && spec.plain_prime % 4 == 1;
    let most = if repeats { spec.index / 2 } else { 0 };
    let powers = (2..u64::BITS).map(|k| 1u64 << k).take_while(move |slots| *slots <= most);
    powers.filter_map(move |slots| spec.clone().with_used_slots(slots as usize).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OptIn, Params};

    #[test]
    fn names_state_the_used_slots() {
        let spec = ParamsSpec::named("bgv-65537-n15-s1024").unwrap();
        let all = ParamsSpec::named("bgv-65537-n15").unwrap();
        assert_eq!(spec, all.with_used_slots(1024).unwrap());
        let toy = Params::named("insecure_bgv-65537-n11-s64", OptIn::InsecureResearch).unwrap();
        assert_eq!((toy.name(), toy.slots()), ("insecure_bgv-65537-n11-s64", 64));
        // Of the number, one spelling; of the set, what has a name.
        for name in [
            "bgv-65537-n15-s01024",
            "bgv-65537-n15-s+64",
            "bgv-65537-n15-s",
            "bgv-65537-n15-1024",
            "bgv-65537-n15-s64-s32",
            "nothing-s64",
            "-s64",
        ] {
            assert_eq!(spec_code(name), Err("scheme.unknown-params"), "{name}");
        }
        assert_eq!(spec_code("aes-bgv-leveled-s64"), Err("scheme.bad-params"));
        for name in ["bgv-65537-n15-s1000", "bgv-65537-n15-s65536", "bgv-127-n14-s4"] {
            assert_eq!(spec_code(name), Ok(()), "{name}");
            let refused = Params::named(name, OptIn::SecureOnly).unwrap_err();
            assert_eq!(refused.code(), "scheme.bad-params", "{name}: {refused}");
        }
    }

    fn spec_code(name: &str) -> Result<(), &'static str> {
        spec(name).map(|_| ()).map_err(|e| e.code())
    }

    #[test]
    fn every_name_is_found_once() {
        let found: Vec<String> = specs().map(|spec| spec.name).collect();
        let different: std::collections::BTreeSet<&String> = found.iter().collect();
        assert_eq!(different.len(), found.len());
        for name in &found {
            assert_eq!(&spec(name).unwrap().name, name);
        }
        let has = |name: &str| found.iter().any(|found| found == name);
        assert!(has("bgv-65537-n15") && has("bgv-65537-n15-s4") && has("bgv-65537-n15-s16384"));
        assert!(has("insecure_ltv-257-n8") && !has("insecure_ltv-257-n8-s4"));
        assert!(!has("bgv-127-n14-s4") && !has("bgv-65537-m50731-s4"));
    }
}
