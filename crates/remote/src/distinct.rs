//! Maps of requests, whose names have to differ.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

struct Distinct<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Distinct<V> {
    type Value = BTreeMap<String, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, V>()? {
            match found.entry(name) {
                Entry::Vacant(place) => place.insert(value),
                Entry::Occupied(place) => {
                    return Err(Error::custom(format!("{:?} occurs twice", place.key())));
                }
            };
        }
        Ok(found)
    }
}

/// A map, of which serde would keep the last of two values of the same name.
pub(crate) fn distinct<'de, D, V>(from: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    from.deserialize_map(Distinct(PhantomData))
}

#[cfg(test)]
mod tests {
    use crate::api::{JobRequest, NewTable};

    #[test]
    fn no_name_occurs_twice() {
        let id = "0".repeat(64);
        let job = |inputs: &str, tables: &str| {
            let text = format!(
                r#"{{"kind":"program","server_keys":"{id}","program":"y = x","inputs":{{{inputs}}},
                "tables":{{{tables}}}}}"#
            );
            serde_json::from_str::<JobRequest>(&text).map_err(|e| e.to_string())
        };
        let x = format!(r#""x":"{id}""#);
        let JobRequest::Program { inputs, tables, .. } =
            job(&format!("{x},{}", x.replace('x', "w")), r#""t":[1],"u":[1,-2]"#).unwrap()
        else {
            panic!("it is no program");
        };
        assert_eq!((inputs.len(), tables["t"].len(), tables["u"][1]), (2, 1, -2));
        assert!(job(&format!("{x},{x}"), "").unwrap_err().contains(r#""x" occurs twice"#));
        assert!(job(&x, r#""t":[1],"t":[2]"#).unwrap_err().contains(r#""t" occurs twice"#));
        let without = format!(r#"{{"kind":"program","server_keys":"{id}","program":""}}"#);
        assert!(serde_json::from_str::<JobRequest>(&without).is_ok());
        let table = |texts: &str, blocks: &str| {
            serde_json::from_str::<NewTable>(&format!(
                r#"{{"texts":{{{texts}}},"blocks":{{{blocks}}}}}"#
            ))
            .is_ok()
        };
        assert!(table(r#""a":"","b":"""#, &x));
        assert!(!table(r#""a":"","a":"""#, &x));
        assert!(!table("", &format!("{x},{x}")));
        assert!(serde_json::from_str::<NewTable>(r#"{"texts":{}}"#).is_err());
    }
}
