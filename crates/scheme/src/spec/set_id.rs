//! Which parameter set something belongs to.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::params::ParamsSpec;

/// Which parameter set something belongs to, while a program runs: equal specifications have equal
/// ids, however often they were read or built. It is a hash of 64 bits, compared before every
/// operation and stored nowhere; another version of the library may give other ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SetId(u64);

impl SetId {
    /// The id of a specification.
    pub fn of(spec: &ParamsSpec) -> Self {
        let mut hasher = DefaultHasher::new();
        spec.hash(&mut hasher);
        SetId(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_specifications_have_equal_ids() {
        let spec = ParamsSpec::new("insecure_one", 512, 257);
        assert_eq!(SetId::of(&spec), SetId::of(&spec.clone()));
        let others = [
            ParamsSpec { name: "insecure_two".into(), ..spec.clone() },
            ParamsSpec { index: 257, ..spec.clone() },
            ParamsSpec { plain_prime: 17, ..spec.clone() },
            ParamsSpec { plain_exponent: spec.plain_exponent + 1, ..spec.clone() },
            ParamsSpec { word_bits: spec.word_bits - 1, ..spec.clone() },
        ];
        for other in &others {
            assert_ne!(SetId::of(&spec), SetId::of(other), "{other:?}");
        }
    }
}
