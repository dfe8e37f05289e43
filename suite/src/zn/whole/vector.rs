//! Encrypted whole numbers, and their files.

use std::ops::Range;
use std::path::Path;

use everlevel_bgv::Ciphertext;
use everlevel_scheme::Params;
use everlevel_wire::file::Existing;
use everlevel_wire::{CiphertextReader, CiphertextWriter, ReadOptions};

use super::protocol::{COUNT, LARGEST_BITS, metadata, part};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{check_file, same_upload};
use crate::output::make_place_for;
use crate::zn::protocol::PART;

/// A number in each slot, by its residues: a ciphertext for each modulus.
#[derive(Clone, Debug)]
pub struct WholeNumbers {
    /// In the order of the moduli.
    pub(super) residues: Vec<Ciphertext>,
    /// All numbers are below 2^bits.
    pub(super) bits: u32,
}

impl WholeNumbers {
    /// Numbers below 2^bits from their residues.
    ///
    /// # Errors
    /// More bits than residues hold (`suite.range`).
    pub(super) fn new(residues: Vec<Ciphertext>, bits: u32) -> Result<Self, SuiteError> {
        Self::check_bits(bits)?;
        Ok(WholeNumbers { residues, bits })
    }

    /// Refuses more bits than residues hold.
    pub(super) fn check_bits(bits: u32) -> Result<(), SuiteError> {
        if bits > LARGEST_BITS {
            return Err(SuiteError::Range { bits, limit: LARGEST_BITS });
        }
        Ok(())
    }

    /// The numbers are below 2^bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }
}

/// Numbers in files, one for each modulus, read a few ciphertexts at a time.
pub struct WholeReader {
    readers: Vec<CiphertextReader>,
    bits: u32,
}

impl WholeReader {
    /// Opens the files of `count` blocks of numbers of `bits` bits. Noise bounds are what
    /// `options` trusts.
    ///
    /// # Errors
    /// Files of something else, or of another instance; what the system refuses.
    pub fn open(
        params: &[Params],
        path: &Path,
        instance: &Instance,
        bits: u32,
        count: usize,
        options: &ReadOptions,
    ) -> Result<Self, SuiteError> {
        WholeNumbers::check_bits(bits)?;
        let wanted = metadata(instance, bits);
        let open = |params: &Params| {
            let reader = CiphertextReader::open(
                params,
                &part(path, params.plain_modulus()),
                options.clone(),
            )?;
            check_file(&wanted, reader.metadata(), reader.len(), count)?;
            Ok::<_, SuiteError>(reader)
        };
        let readers = params.iter().map(open).collect::<Result<_, _>>()?;
        Ok(WholeReader { readers, bits })
    }

    /// The same for the files of an upload, whose ciphertexts have to be at the places that they
    /// were encrypted for.
    ///
    /// # Errors
    /// Files that state no upload, or several. Ciphertexts at other places are refused when they
    /// are read.
    pub fn in_places(self) -> Result<Self, SuiteError> {
        let readers = self.readers.into_iter().map(|reader| reader.in_places(PART));
        let readers = readers.collect::<Result<Vec<_>, _>>()?;
        same_upload(&readers.iter().map(CiphertextReader::places).collect::<Vec<_>>())?;
        Ok(WholeReader { readers, bits: self.bits })
    }

    /// The numbers at some places that follow each other.
    ///
    /// # Errors
    /// As [`CiphertextReader::read_range`].
    pub fn read_range(&mut self, places: Range<usize>) -> Result<Vec<WholeNumbers>, SuiteError> {
        let mut out = Vec::new();
        for reader in &mut self.readers {
            let residues = reader.read_range(places.clone())?;
            out.resize_with(residues.len(), || WholeNumbers {
                residues: Vec::with_capacity(COUNT),
                bits: self.bits,
            });
            out.iter_mut().zip(residues).for_each(|(all, residue)| all.residues.push(residue));
        }
        Ok(out)
    }
}

/// Numbers that are written to files, one for each modulus, as they come.
pub struct WholeWriter {
    writers: Vec<CiphertextWriter>,
    bits: u32,
}

impl WholeWriter {
    /// Begins the files of `count` blocks of numbers of `bits` bits. What an earlier run left
    /// there is removed.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn create(
        params: &[Params],
        path: &Path,
        instance: &Instance,
        bits: u32,
        count: usize,
    ) -> Result<Self, SuiteError> {
        WholeNumbers::check_bits(bits)?;
        let metadata = metadata(instance, bits);
        let create = |params: &Params| {
            let path = part(path, params.plain_modulus());
            make_place_for(&path)?;
            let replace = Existing::Replace;
            let writer = CiphertextWriter::create(params, &path, replace, count, &metadata)?;
            Ok::<_, SuiteError>(writer)
        };
        let writers = params.iter().map(create).collect::<Result<_, _>>()?;
        Ok(WholeWriter { writers, bits })
    }

    /// Writes the next numbers.
    ///
    /// # Errors
    /// Numbers of another number of bits, of another key, or more than were announced; what the
    /// system refuses.
    pub fn push_all(&mut self, all: Vec<WholeNumbers>) -> Result<(), SuiteError> {
        let mut columns: Vec<Vec<Ciphertext>> = Vec::new();
        columns.resize_with(self.writers.len(), || Vec::with_capacity(all.len()));
        for numbers in all {
            if numbers.bits != self.bits {
                return Err(SuiteError::Instance {
                    expected: format!("numbers of {} bits", self.bits),
                    found: numbers.bits.to_string(),
                });
            }
            let places = columns.iter_mut().zip(numbers.residues);
            places.for_each(|(column, residue)| column.push(residue));
        }
        for (writer, column) in self.writers.iter_mut().zip(&columns) {
            writer.push_all(column)?;
        }
        Ok(())
    }

    /// Gives the files their names, without waiting for the disk.
    ///
    /// # Errors
    /// Fewer numbers than were announced; what the system refuses.
    pub fn finish_without_sync(self) -> Result<(), SuiteError> {
        for writer in self.writers {
            writer.finish_without_sync()?;
        }
        Ok(())
    }
}
