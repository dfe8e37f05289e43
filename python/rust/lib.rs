//! The compiled half of the Python package: thin classes over the library. What users see is in
//! `src/everlevel`.
#![forbid(unsafe_code)]

mod aes;
mod arrays;
mod ciphertext;
mod errors;
mod integers;
mod keys;
mod manifest;
mod params;
mod plan;
mod program;
mod runtime;
mod server;
mod tables;
mod values;

use pyo3::prelude::*;

/// The version of the library, and the instruction set that it runs on.
#[pyfunction]
fn build() -> (&'static str, &'static str, u16) {
    (env!("CARGO_PKG_VERSION"), everlevel::Backend::detect().name(), everlevel_wire::FORMAT_VERSION)
}

#[pymodule]
fn _everlevel(m: &Bound<'_, PyModule>) -> PyResult<()> {
    runtime::listen();
    m.add_class::<params::Params>()?;
    m.add_class::<keys::SecretKey>()?;
    m.add_class::<keys::PublicKey>()?;
    m.add_class::<keys::Plan>()?;
    m.add_class::<keys::Keys>()?;
    m.add_class::<ciphertext::Ciphertext>()?;
    m.add_class::<server::Server>()?;
    m.add_class::<integers::Column>()?;
    m.add_class::<integers::Total>()?;
    m.add_class::<integers::IntegerServer>()?;
    m.add_class::<integers::Trace>()?;
    m.add_class::<aes::AesServer>()?;
    m.add_class::<aes::AesUpload>()?;
    m.add_class::<tables::Table>()?;
    m.add_class::<tables::KnownTable>()?;
    m.add_class::<tables::TableSearch>()?;
    m.add_class::<manifest::ManifestKey>()?;
    m.add_class::<manifest::Manifest>()?;
    m.add_function(wrap_pyfunction!(build, m)?)?;
    m.add_function(wrap_pyfunction!(params::names, m)?)?;
    m.add_function(wrap_pyfunction!(params::named_spec, m)?)?;
    m.add_function(wrap_pyfunction!(params::inspect, m)?)?;
    m.add_function(wrap_pyfunction!(params::inspect_file, m)?)?;
    m.add_function(wrap_pyfunction!(keys::recover_keys, m)?)?;
    m.add_function(wrap_pyfunction!(plan::candidates, m)?)?;
    m.add_function(wrap_pyfunction!(plan::workload_plan, m)?)?;
    m.add_function(wrap_pyfunction!(plan::workload_operations, m)?)?;
    m.add_function(wrap_pyfunction!(plan::rings, m)?)?;
    m.add_function(wrap_pyfunction!(plan::tuned, m)?)?;
    m.add_function(wrap_pyfunction!(plan::estimate_security, m)?)?;
    m.add_function(wrap_pyfunction!(program::program, m)?)?;
    m.add_function(wrap_pyfunction!(runtime::set_num_threads, m)?)?;
    m.add_function(wrap_pyfunction!(runtime::num_threads, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::state_array, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::stated_array, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::column_names, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::describe_columns, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::described_columns, m)?)?;
    m.add_function(wrap_pyfunction!(ciphertext::ciphertexts_to_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(ciphertext::compact_to_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(ciphertext::ciphertexts_from_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(ciphertext::write_file, m)?)?;
    m.add_function(wrap_pyfunction!(server::program_facts, m)?)?;
    m.add_function(wrap_pyfunction!(server::program_made_of, m)?)?;
    m.add_function(wrap_pyfunction!(server::time_bootstraps, m)?)?;
    m.add_function(wrap_pyfunction!(integers::encrypt_column, m)?)?;
    m.add_function(wrap_pyfunction!(integers::columns_to_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(integers::columns_from_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(integers::compact_columns_to_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(integers::decrypt_column, m)?)?;
    m.add_function(wrap_pyfunction!(integers::decrypt_compact_columns, m)?)?;
    m.add_function(wrap_pyfunction!(integers::decrypt_total, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_schema, m)?)?;
    m.add_function(wrap_pyfunction!(tables::infer_table_schema, m)?)?;
    m.add_function(wrap_pyfunction!(tables::index_table_schema, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_plan, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_plan_facts, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_plan_notes, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_plan_parameters, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_plan_keys, m)?)?;
    m.add_function(wrap_pyfunction!(tables::encrypt_table_constants, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_constants_facts, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_plan_cost, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_plan_explain, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_plan_answer, m)?)?;
    m.add_function(wrap_pyfunction!(tables::join_table_parts, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_part_result, m)?)?;
    m.add_function(wrap_pyfunction!(tables::table_result_facts, m)?)?;
    m.add_function(wrap_pyfunction!(tables::read_table_result, m)?)?;
    m.add_function(wrap_pyfunction!(aes::aes_plan, m)?)?;
    m.add_function(wrap_pyfunction!(aes::aes_key_id, m)?)?;
    m.add_function(wrap_pyfunction!(aes::encrypt_aes_key, m)?)?;
    m.add_function(wrap_pyfunction!(aes::decrypt_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(aes::aes_method, m)?)?;
    Ok(())
}
