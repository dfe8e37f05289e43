//! The levels at which the columns of a table are encrypted.
//!
//! They follow from the schema and the parameter set alone, so that tables of one schema have files
//! of equal sizes, and plans equal operations.

use everlevel::{Level, Params};

use crate::field::Field;

/// The products in sequence for which the modulus of an index has room, with 2.5 times the bits of
/// p for each. Conditions on indexed columns take one for each digit of the largest but one, or one
/// more for a comparison of two of them, and the depth of their conjunction; a mask of a group, the
/// lift to modulo p², pieces of columns and the packing of the sums take what is 6 or 7 of them.
const PRODUCTS: f64 = 12.0;
/// The bits that a product takes, for each bit of p.
const BITS: f64 = 2.5;

impl Field {
    /// The level at which the column is encrypted: the top, or for a column of an index the lowest
    /// one, of those at which a key switch costs less than at all levels above, that has room for
    /// 12 products in sequence. So 39 ciphertexts of dates take less room, and a query drops less
    /// of each when it begins. Without bootstrapping all columns are at the top: what is too deep
    /// for a lower level could not be computed there.
    pub(crate) fn level(&self, params: &Params) -> Level {
        let chain = params.chain();
        if !self.is_of_index() || params.spec().bootstrap.is_none() {
            return chain.top();
        }
        let bits = PRODUCTS * BITS * (params.spec().plain_prime as f64).log2();
        let room = |level: &Level| chain.bits(*level) >= bits;
        chain.cheaper_levels().into_iter().take_while(room).last().unwrap_or(chain.top())
    }

    /// The exponent of p in the plaintext modulus of its ciphertexts: 2 for what may be added up,
    /// and 1 for an index, which only conditions read.
    pub(crate) fn plain_exponent(&self) -> u32 {
        if self.is_of_index() { 1 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use everlevel::{OptIn, ParamsSpec};

    use super::*;
    use crate::kind::Kind;
    use crate::schema::Schema;

    #[test]
    fn indexes_are_lower_than_what_they_are_of() {
        let kind = Kind::Integer { low: 0, high: 999 };
        let field = Field::new("n", kind, true).unwrap().indexed().unwrap();
        let schema = Schema::of(vec![field]).unwrap();
        let (head, bits) = schema.fields().split_first().unwrap();
        for name in ["bgv-65537-n15", "insecure_bgv-65537-n11"] {
            let params = Params::named(name, OptIn::InsecureResearch).unwrap();
            let chain = params.chain();
            assert_eq!((head.level(&params), head.plain_exponent()), (chain.top(), 2), "{name}");
            let level = bits[0].level(&params);
            assert!(
                bits.iter().all(|bit| (bit.level(&params), bit.plain_exponent()) == (level, 1))
            );
            let (least, most) = (480.0, 0.9 * chain.bits(chain.top()));
            assert!((least..most).contains(&chain.bits(level)), "{name}: {}", chain.bits(level));
        }
    }

    #[test]
    fn all_columns_are_at_the_top_where_nothing_is_bootstrapped() {
        let kind = Kind::Integer { low: 0, high: 999 };
        let field = Field::new("n", kind, false).unwrap().indexed().unwrap();
        let schema = Schema::of(vec![field]).unwrap();
        let research = OptIn::InsecureResearch;
        let params = Params::named("insecure_bgv-65537-n11", research).unwrap();
        let spec = ParamsSpec { bootstrap: None, ..params.spec().clone() };
        let leveled = Params::new(spec, research).unwrap();
        let top = leveled.chain().top();
        assert!(schema.fields().iter().all(|field| field.level(&leveled) == top));
    }
}
