//! Decryption of an encrypted table with the secret key.

use everlevel::SecretKey;
use everlevel_ring::PrimePower;
use everlevel_scheme::same_owner;
use everlevel_wire::ParamsId;
use zeroize::Zeroizing;

use crate::data::Data;
use crate::error::TablesError;
use crate::stored::encrypt::Place;
use crate::stored::files::same_set;
use crate::stored::table::EncryptedTable;

/// A column of a block, decrypted.
pub(crate) type Codes = Zeroizing<Vec<i128>>;

impl EncryptedTable {
    /// Decrypts all rows, in order, but no indexes, which follow from their columns.
    /// `progress(done, blocks)` is called after each block; an error that it returns ends the work.
    ///
    /// # Errors
    /// Another secret key or parameter set; a block that is damaged, missing or of another table;
    /// those of `progress`.
    pub fn decrypt<E: From<TablesError>>(
        &self,
        key: &SecretKey,
        mut progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<Data, E> {
        self.check_key(key)?;
        let (blocks, places) = (self.blocks(), self.schema().values().collect::<Vec<_>>());
        let mut columns = vec![Vec::with_capacity(self.rows()); places.len()];
        for block in 0..blocks {
            for (place, entries) in places.iter().zip(&mut columns) {
                entries.extend_from_slice(&self.codes(key, (block, *place))?);
            }
            progress(block + 1, blocks)?;
        }
        Ok(Data::from_columns(columns, self.schema())?)
    }

    /// Checks that this is the secret key of the owner.
    pub(crate) fn check_key(&self, key: &SecretKey) -> Result<(), TablesError> {
        same_set(ParamsId::of(self.params()), key.params())?;
        Ok(same_owner(self.owner(), Some(key.id()), "decryption")?)
    }

    /// The codes of a column of a block.
    pub(crate) fn codes(&self, key: &SecretKey, place: Place) -> Result<Codes, TablesError> {
        let field = &self.schema().fields()[place.1];
        if field.is_public() {
            return Ok(Zeroizing::new(self.public_codes(place)?));
        }
        let params = self.params();
        let modulus = PrimePower::new(params.spec().plain_prime, field.plain_exponent());
        let modulus = modulus.map_err(everlevel::Error::from)?;
        self.column(place)?.decrypt(modulus, |x| Ok(key.decrypt(x)?.decode_decrypted(params)?))
    }
}
