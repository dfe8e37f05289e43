//! Kinds of objects.

use std::fmt;

/// The kind of an object, whose number its header states.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKind(u16);

/// The names of the kinds, from number 1.
const NAMES: [&str; 18] = [
    "parameters",
    "a secret key",
    "a public key",
    "server keys",
    "plaintexts",
    "ciphertexts",
    "results for decryption",
    "parameters of LTV over prime powers",
    "a secret key of LTV over prime powers",
    "a public key of LTV over prime powers",
    "evaluation keys of LTV over prime powers",
    "ciphertexts of LTV over prime powers",
    "a manifest of noise bounds",
    "columns of integers",
    "an upload under AES",
    "products for decryption",
    "results of products",
    "columns for decryption",
];

impl ObjectKind {
    /// A parameter set.
    pub const PARAMS: Self = ObjectKind(1);
    /// A secret key.
    pub const SECRET_KEY: Self = ObjectKind(2);
    /// A public key.
    pub const PUBLIC_KEY: Self = ObjectKind(3);
    /// Server keys.
    pub const SERVER_KEYS: Self = ObjectKind(4);
    /// A vector of plaintexts.
    pub const PLAINTEXTS: Self = ObjectKind(5);
    /// A vector of ciphertexts.
    pub const CIPHERTEXTS: Self = ObjectKind(6);
    /// A vector of ciphertexts that can only be decrypted.
    pub const RESULTS: Self = ObjectKind(7);
    /// A parameter set of LTV over prime powers. Kinds 8 to 12 are reserved for the crate
    /// `everlevel-ltv`, which reads and writes them; here they have a name only.
    pub const LTV_PARAMS: Self = ObjectKind(8);
    /// A secret key of it.
    pub const LTV_SECRET_KEY: Self = ObjectKind(9);
    /// A public key of it.
    pub const LTV_PUBLIC_KEY: Self = ObjectKind(10);
    /// Evaluation keys of it.
    pub const LTV_EVAL_KEYS: Self = ObjectKind(11);
    /// A vector of its ciphertexts.
    pub const LTV_CIPHERTEXTS: Self = ObjectKind(12);
    /// Noise bounds of ciphertexts, authenticated.
    pub const MANIFEST: Self = ObjectKind(13);
    /// Columns of typed integers.
    pub const COLUMNS: Self = ObjectKind(14);
    /// Data under AES.
    pub const UPLOAD: Self = ObjectKind(15);
    /// A vector of products before relinearization.
    pub const PRODUCTS: Self = ObjectKind(16);
    /// A vector of products that can only be decrypted, cut.
    pub const PRODUCT_RESULTS: Self = ObjectKind(17);
    /// Columns of typed integers that can only be decrypted.
    pub const COLUMN_RESULTS: Self = ObjectKind(18);

    /// The kind of this number, if there is one.
    pub fn new(number: u16) -> Option<Self> {
        (1..=NAMES.len()).contains(&number.into()).then_some(ObjectKind(number))
    }

    /// The number in the header.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Whether objects of this kind belong to a secret key and state its id. Those of LTV over
    /// prime powers do not.
    pub(crate) fn has_owner(self) -> bool {
        let owned = [
            Self::SECRET_KEY,
            Self::PUBLIC_KEY,
            Self::SERVER_KEYS,
            Self::CIPHERTEXTS,
            Self::RESULTS,
            Self::COLUMNS,
            Self::UPLOAD,
            Self::PRODUCTS,
            Self::PRODUCT_RESULTS,
            Self::COLUMN_RESULTS,
        ];
        owned.contains(&self)
    }

    /// Whether objects of this kind hold ciphertexts with a noise bound each.
    pub(crate) fn has_bounds(self) -> bool {
        [Self::CIPHERTEXTS, Self::LTV_CIPHERTEXTS, Self::COLUMNS, Self::PRODUCTS].contains(&self)
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES[usize::from(self.0) - 1])
    }
}

impl fmt::Debug for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectKind({}: {self})", self.0)
    }
}
