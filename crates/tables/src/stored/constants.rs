//! Encrypted constants of a query on their way to the server.

use everlevel::files::{Bounds, Bytes};
use everlevel::{IntegerColumn, IntegerValue, KeyId, NamedIntegers, Params, Plaintext};
use everlevel_integers::Encoded;
use everlevel_wire::{ObjectKind, ParamsId, ReadOptions, inspect};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::error::TablesError;
use crate::plan::Plan;
use crate::stored::encrypt::TableKey;
use crate::stored::header::{ConstantsHeader, TableId};

/// The largest file, in bytes.
const FILE_BYTES: u64 = 1 << 30;

/// The encrypted constants of a plan, which it names `:name`; the asker gives them to the server
/// with the plan.
///
/// They state the plan that they are for. Their types are those of the columns that they are
/// compared with, so their size reveals nothing but their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    header: ConstantsHeader,
    params: ParamsId,
    owner: Option<KeyId>,
    bytes: Vec<u8>,
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, TablesError> {
    Err(TablesError::Constants { problem: problem.into() })
}

impl Plan {
    /// The codes of constants, each with its name, in the order of the plan.
    ///
    /// # Errors
    /// [`TablesError::Constants`] for a text that is not a value of the column that the constant is
    /// compared with, or no prefix that is followed by `%`, and for constants that are missing,
    /// given twice, or not in the plan.
    pub fn codes(
        &self,
        constants: &[(impl AsRef<str>, impl AsRef<str>)],
    ) -> Result<Zeroizing<Vec<i128>>, TablesError> {
        let parameters = &self.query().parameters;
        let unknown =
            constants.iter().find(|(n, _)| !parameters.iter().any(|p| p.name == n.as_ref()));
        if let Some((name, _)) = unknown {
            let known: Vec<String> =
                self.query().constants().map(|p| format!(":{}", p.name)).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return wrong(format!("the query has no :{}: it has {known}", name.as_ref()));
        }
        let mut codes = Zeroizing::new(Vec::with_capacity(parameters.len()));
        for parameter in parameters {
            let name = &parameter.name;
            let mut given = constants.iter().filter(|(n, _)| n.as_ref() == name);
            let text = match (given.next(), given.next()) {
                (Some((_, text)), None) => text.as_ref(),
                (None, _) => return wrong(format!("no value is given for :{name}")),
                _ => return wrong(format!("two values are given for :{name}")),
            };
            let Some(code) = parameter.code(text, self.schema()) else {
                let column = self.schema().fields()[parameter.column].name();
                let expected = parameter.expected(self.schema());
                return wrong(format!(
                    ":{name} is {text:?}: expected {expected}, as in column {column:?}"
                ));
            };
            codes.push(code);
        }
        Ok(codes)
    }
}

impl Constants {
    /// Encrypts the constants of a plan, given as `(name, text)`, where the text is as in a cell of
    /// the column that the constant is compared with. The asker needs only the public key.
    ///
    /// # Errors
    /// Those of [`Plan::codes`], of typed integers and of encryption.
    pub fn encrypt(
        key: TableKey<'_>,
        plan: &Plan,
        constants: &[(impl AsRef<str>, impl AsRef<str>)],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, TablesError> {
        let (codes, params) = (plan.codes(constants)?, key.params());
        let rows = plan.query().rows(plan.schema())?;
        let fields = &rows.fields()[plan.schema().fields().len()..];
        let mut named: Vec<NamedIntegers> = Vec::with_capacity(codes.len());
        let top = params.chain().top();
        for ((field, parameter), code) in
            fields.iter().zip(&plan.query().parameters).zip(codes.iter())
        {
            let entries = Zeroizing::new(vec![*code; params.slots()]);
            let encoded = Encoded::new(&entries, field.integer_type()?, params.slots())?;
            let value: IntegerColumn = encoded.encrypt(|slots| -> Result<_, TablesError> {
                // As the columns of tables are.
                Ok(key.encrypt(&Plaintext::encode_modulo(params, slots, 2)?, top, rng)?)
            })?;
            named.push((parameter.label(), value.into()));
        }
        let mut metadata = key.metadata();
        ConstantsHeader { id: TableId::random(rng), plan: plan.id()? }.state(&mut metadata);
        Self::from_bytes(named.to_bytes_with(params, &metadata)?)
    }

    /// Constants from bytes. Only the header is read here; the constants are read when they are
    /// used.
    ///
    /// # Errors
    /// [`TablesError::Constants`] for an object of another kind; truncated or damaged bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, TablesError> {
        let summary = inspect(&bytes, &ReadOptions::default().limited_to(FILE_BYTES))?;
        let header = ConstantsHeader::of(&summary.metadata);
        let Some(header) = header.filter(|_| summary.kind == ObjectKind::COLUMNS) else {
            return wrong(format!("expected what `bind` wrote, found {}", summary.kind));
        };
        Ok(Constants { header, params: summary.params, owner: summary.owner, bytes })
    }

    /// The bytes, for [`Constants::from_bytes`].
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The id of this encryption, which its results state.
    pub fn id(&self) -> TableId {
        self.header.id
    }

    /// The id of the plan that they are for.
    pub fn plan(&self) -> &str {
        &self.header.plan
    }

    /// The id of the secret key that decrypts them; `None` if each has only one possible value.
    pub fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    /// The id of their parameter set.
    pub(crate) fn params(&self) -> ParamsId {
        self.params
    }

    /// A column for each constant of a plan, in its order.
    pub(crate) fn columns(
        &self,
        params: &Params,
        plan: &Plan,
    ) -> Result<Vec<IntegerColumn>, TablesError> {
        let (expected, found) = (plan.id()?, self.plan());
        if expected != found {
            return wrong(format!("they are for plan {found}, and the query is plan {expected}"));
        }
        let options = ReadOptions::default().limited_to(FILE_BYTES);
        let summary = inspect(&self.bytes, &options)?;
        let options = options.believing(Bounds::Fresh.policy(&summary.metadata));
        let options = options.allowing_unknown_owner(summary.records == 0);
        let (found, _) = Vec::<NamedIntegers>::from_bytes_with(params, &self.bytes, &options)?;
        let rows = plan.query().rows(plan.schema())?;
        let fields = &rows.fields()[plan.schema().fields().len()..];
        let parameters = &plan.query().parameters;
        if found.len() != parameters.len() {
            return wrong(format!("{} constants, and the plan has {}", found.len(), fields.len()));
        }
        let mut columns = Vec::with_capacity(found.len());
        for ((name, value), (parameter, field)) in
            found.into_iter().zip(parameters.iter().zip(fields))
        {
            let column = match value {
                IntegerValue::Column(x) if name == parameter.label() => x,
                _ => return wrong(format!("{name:?} in the place of {:?}", parameter.label())),
            };
            let interval = column.interval();
            let fits = (interval.low(), interval.high()) == field.bounds();
            if !fits || column.length() != Some(params.slots()) {
                return wrong(format!(":{name} is not of the type of its column"));
            }
            columns.push(column);
        }
        Ok(columns)
    }
}
