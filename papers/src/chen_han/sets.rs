//! Chen–Han 2018: the parameter sets that the rows of its tables are run with.

use clap::ValueEnum;
use everlevel::{Form, ParamsSpec};
use everlevel_cli::console::args::value_name;
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec, SecretKind};

use super::tables::{RemovalRow, Row, TABLE_3, TABLE_5};
use crate::args::{Arithmetic, Variant};

/// log2 of the modulus of table 3 here: that of the HElib runs.
pub const REMOVAL_LOG_Q: u32 = 910;
/// log2 of the degree of quick runs of tables 4 and 5.
pub const QUICK_LOG_DEGREE: u32 = 10;

/// Sizes of primes with the sum `log_q`: the lowest modulus, words of 50 bits, and three smaller
/// ones, or four where one of three would be larger than a word.
fn split(log_q: u32, base: u32) -> (usize, Vec<u32>) {
    let rest = log_q - base;
    let words = (rest - 96) / 50;
    let fine = rest - 50 * words;
    let (third, fourth) = (fine / 3, fine / 4);
    let largest = fine - 2 * third + 4;
    let fine_bits = if largest <= 50 {
        vec![largest, third, third - 4]
    } else {
        vec![fine - 3 * fourth + 2, fourth + 1, fourth - 1, fourth - 2]
    };
    (words as usize, fine_bits)
}

/// Weight of the encapsulated secret: 128 bits at q0 with one special prime.
fn encapsulated_weight(log_degree: u32) -> usize {
    if log_degree == 15 { 28 } else { 40 }
}

/// The parameter set of a row: log2 q of the paper as the modulus of ciphertexts, with the special
/// modulus on top.
pub fn recrypt_spec(
    row: &Row,
    variant: Variant,
    arithmetic: Arithmetic,
    mode: BootstrapMode,
    quick: bool,
) -> ParamsSpec {
    let log_degree = if quick { QUICK_LOG_DEGREE } else { row.log_degree };
    let bits = (row.p as f64).log2();
    // p^v times a phase of r log2 p + 16 bits, and some.
    let base_bits = (((row.r + 1) as f64 * bits) as u32 + 20).max(34);
    let (words, fine_bits) = split(row.log_q, base_bits);
    let (secret, bootstrap) = match variant {
        Variant::Main64 => sparse(64, 27),
        Variant::Main128 => sparse(128, 42),
        Variant::Encapsulated => (
            SecretKind::UniformTernary,
            BootstrapSpec::encapsulated(encapsulated_weight(row.log_degree)),
        ),
    };
    let (form, through_bgv) = match arithmetic {
        Arithmetic::Bfv | Arithmetic::Mixed => (Form::Bfv, false),
        Arithmetic::ThroughBgv => (Form::Bfv, true),
        Arithmetic::Bgv => (Form::Bgv, false),
    };
    let digit_form = if arithmetic == Arithmetic::Bfv { Form::Bfv } else { Form::Bgv };
    ParamsSpec {
        plain_exponent: row.r,
        base_bits,
        words,
        fine_bits,
        special: 3,
        digit_size: 3,
        form,
        through_bgv,
        secret,
        bootstrap: Some(BootstrapSpec { mode: Some(mode), digit_form, ..bootstrap }),
        ..ParamsSpec::new(
            format!(
                "chen-han-{}e{}-n{log_degree}-{}-{}",
                row.p,
                row.r,
                value_name(&variant),
                value_name(&arithmetic)
            ),
            2 << log_degree,
            row.p,
        )
    }
}

/// A sparse main secret as the paper has it, no encapsulation; the bound on the overflow fails with
/// probability 2^-128 at most.
fn sparse(weight: usize, bound: u64) -> (SecretKind, BootstrapSpec) {
    let raised = BootstrapSpec {
        overflow_bound: Some(bound),
        under_main_key: true,
        ..BootstrapSpec::encapsulated(weight)
    };
    (SecretKind::Sparse(weight), raised)
}

/// The parameter set for the removal of digits alone, in BGV, with a modulus of `log_q` bits:
/// [`REMOVAL_LOG_Q`], or [`RemovalRow::own_log_q`].
pub fn removal_spec(row: &RemovalRow, log_q: u32, quick: bool) -> ParamsSpec {
    let index = row.index[usize::from(quick)];
    let (words, fine_bits) = split(log_q, 40);
    let modulus = if log_q == REMOVAL_LOG_Q { String::new() } else { format!("-q{log_q}") };
    ParamsSpec {
        plain_exponent: row.e,
        base_bits: 40,
        words,
        fine_bits,
        special: 4,
        digit_size: 4,
        ..ParamsSpec::new(
            format!("chen-han-removal-{}-{}-{}{modulus}-m{index}", row.p, row.e, row.v),
            index,
            row.p,
        )
    }
}

/// Every set of the tables at the paper's sizes, for slim bootstrapping; those of table 4 differ in
/// the mode only.
pub fn all() -> impl Iterator<Item = ParamsSpec> {
    let ways = Variant::value_variants()
        .iter()
        .flat_map(|variant| Arithmetic::value_variants().iter().map(|way| (*variant, *way)));
    let of = move |row| {
        ways.clone().map(move |(variant, arithmetic)| {
            recrypt_spec(row, variant, arithmetic, BootstrapMode::Thin, false)
        })
    };
    let removals = TABLE_3.iter().flat_map(|row| {
        [REMOVAL_LOG_Q, row.own_log_q()].map(|log_q| removal_spec(row, log_q, false))
    });
    TABLE_5.iter().flat_map(of).chain(removals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chen_han::tables::TABLE_4;
    use everlevel::{OptIn, Params};

    #[test]
    fn sizes_add_up_to_the_modulus_and_none_is_above_a_word() {
        for log_q in 300..1400 {
            for base in [34, 36, 40, 44, 47] {
                let (words, fine) = split(log_q, base);
                assert_eq!(base + 50 * words as u32 + fine.iter().sum::<u32>(), log_q);
                assert!(fine.iter().all(|bits| (28..=50).contains(bits)), "{log_q}: {fine:?}");
            }
        }
        // The paper's largest: 56 and 42 levels of 22 bits.
        assert_eq!([1, 5].map(|i: usize| TABLE_3[i].own_log_q()), [1232, 924]);
    }

    #[test]
    fn the_moduli_have_the_sizes_of_the_paper() {
        for row in TABLE_4.iter().chain(&TABLE_5) {
            let spec = recrypt_spec(
                row,
                Variant::Encapsulated,
                Arithmetic::ThroughBgv,
                BootstrapMode::Thin,
                true,
            );
            let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
            let log_q = params.modulus_bits(params.chain().top());
            assert!(
                log_q <= f64::from(row.log_q) && log_q > f64::from(row.log_q) - 8.0,
                "{log_q} against {}",
                row.log_q
            );
        }
    }
}
