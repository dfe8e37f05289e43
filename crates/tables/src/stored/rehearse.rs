//! Answers by the computation of a server, on the no-op scheme.

use std::sync::Arc;

use everlevel::lab::NoOp;
use everlevel::{Integers, Params, Plaintext};
use everlevel_integers::{Column, Encoded, no_op_session};

use crate::answer::Answer;
use crate::data::Data;
use crate::error::TablesError;
use crate::field::Field;
use crate::plan::Plan;
use crate::stored::compute::{Cells, Rows, evaluate};

/// A ciphertext of the no-op scheme.
type Pretended = <NoOp as everlevel::lab::Scheme>::Ciphertext;

/// A table whose columns are encrypted, by the no-op scheme, when they are read.
struct Rehearsed<'a> {
    scheme: &'a NoOp,
    plan: &'a Plan,
    data: &'a Data,
}

impl Rehearsed<'_> {
    /// A column encrypted modulo p^2, like the columns of tables and encrypted constants.
    fn encrypted(&self, field: &Field, entries: &[i128]) -> Result<Column<Pretended>, TablesError> {
        let params = self.scheme.params();
        let encoded = Encoded::new(entries, field.integer_type()?, params.slots())?;
        encoded.encrypt(|slots| {
            Ok(self.scheme.encrypt(&Plaintext::encode_modulo(params, slots, 2)?)?)
        })
    }
}

impl Rows<NoOp> for Rehearsed<'_> {
    fn rows(&self) -> usize {
        self.data.rows()
    }

    fn knows(&self, place: usize) -> bool {
        self.plan.schema().fields()[place].is_public()
    }

    fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, Pretended>, TablesError> {
        let slots = self.scheme.params().slots();
        let (start, codes) = (block * slots, self.data.column(place));
        let codes = &codes[start..codes.len().min(start + slots)];
        Ok(match self.knows(place) {
            true => Cells::Known(codes.into()),
            false => Cells::Encrypted(self.encrypted(&self.plan.schema().fields()[place], codes)?),
        })
    }
}

impl Plan {
    /// The answer for a table in the clear, by the same operations that a server performs, on the
    /// no-op scheme. It needs no keys and provides no security, but has all limits of the real
    /// scheme on levels, noise and ranges. `constants` are those of [`Plan::codes`].
    ///
    /// # Errors
    /// Those of [`EncryptedTable::run`](crate::EncryptedTable::run) and
    /// [`TableResult::read`](crate::TableResult::read); [`TablesError::Data`] for a table of
    /// another number of columns; [`TablesError::Constants`] unless there is a code for each
    /// constant.
    pub fn rehearse(
        &self,
        params: &Params,
        data: &Data,
        constants: &[i128],
    ) -> Result<Answer, TablesError> {
        let whole = self.query().rows(self.schema())?;
        let (fields, width) = (whole.fields(), self.schema().fields().len());
        data.check_width(width)?;
        self.query().check_constants(constants)?;
        let scheme = Arc::new(NoOp::new(params, 1));
        let bootstraps = params.spec().bootstrap.is_some();
        let session = no_op_session(params, scheme.clone(), bootstraps)?;
        let ints = Integers::new(&session, params)?;
        let table = Rehearsed { scheme: &scheme, plan: self, data };
        let bound = fields[width..].iter().zip(constants);
        let bound = bound.map(|(field, code)| table.encrypted(field, &vec![*code; params.slots()]));
        let bound = bound.collect::<Result<Vec<_>, _>>()?;
        let quiet = |_, _| Ok::<_, TablesError>(());
        let blocks = 0..data.rows().div_ceil(params.slots());
        let sums = evaluate(&table, &ints, params, self, &bound, blocks, quiet)?;
        let opened = sums.iter().map(|x| scheme.decrypt(x)).collect::<Result<Vec<_>, _>>()?;
        let (_, layout) = self.layout(params, data.rows())?;
        Answer::new(self.query(), self.schema(), &layout.read(params, &opened)?)
    }
}
