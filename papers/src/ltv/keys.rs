//! Tables 6 and 7: sizes of evaluation keys, and products for one relinearization.

use std::path::Path;

use everlevel::{KeyPlan, OptIn, Params};
use everlevel_cli::console::errors::CliError;
use everlevel_estimator::ntru;
use everlevel_ltv::analysis::keys::{
    digits, of_every_level, reduced_by_level, transform_growth, windowed, yashe_digits,
};
use everlevel_ltv::{Gadget, KeyForm, LtvParams, LtvSpec};

use super::chapter::{Chapter, Figure};
use super::parameters::VARIANCE;
use super::runs::{BITS, name_of, recorded, speed_up_of_transformed_keys};
use super::sets::ntru_sets;
use super::timing;

const BITS_OF_A_GIB: f64 = (8u64 << 30) as f64;
const BITS_OF_A_MIB: f64 = (8u64 << 20) as f64;

/// (n, log q, log p, GBytes: original and optimized as polynomials, original and optimized
/// transformed).
const TABLE_6: [(usize, f64, f64, [&str; 4]); 2] = [
    (27000, 1230.0, 30.0, ["67", "4.75", "172", "12.2"]),
    (32768, 1271.0, 31.0, ["87", "6.13", "184", "13.1"]),
];
/// The column of AES speed-ups: with keys as polynomials, and transformed.
const SPEED_UPS: [&str; 2] = ["1", "2.5"];
/// How its figures are called.
const FASTER_AES: &str = "times that AES is faster with";
/// Section 7: the share of relinearizations in the time of AES, and how many times faster they are
/// with transformed keys.
const SHARE: f64 = 0.7;
const FASTER: f64 = 3.0;
/// Moduli of a depth of 40.
const MODULI: u32 = 41;
/// Windows that keys are shown for.
const WINDOWS: [u32; 3] = [8, 16, 32];

/// Table 6, with the times of AES in the source tree and in a directory of new records.
pub fn table_6(new: Option<&Path>) -> Result<Chapter, CliError> {
    let mut figures = Vec::new();
    for (i, (n, log2_q, log2_p, printed)) in TABLE_6.into_iter().enumerate() {
        let row = i + 1;
        let at = |what: &str| format!("n = {n}: GiB {what}");
        let growth = transform_growth(n, log2_q);
        let original = of_every_level(n, log2_p, MODULI) / BITS_OF_A_GIB;
        let optimized = reduced_by_level(n, log2_q) / BITS_OF_A_GIB;
        figures.extend([
            Figure::new(row, at("with a key for each level, polynomials"))
                .paper(printed[0])
                .formula(original),
            Figure::new(row, at("with one key, polynomials")).paper(printed[1]).formula(optimized),
            Figure::new(row, at("with a key for each level, transformed"))
                .paper(printed[2])
                .formula(original * growth),
            Figure::new(row, at("with one key, transformed"))
                .paper(printed[3])
                .formula(optimized * growth),
        ]);
        figures.extend(WINDOWS.map(|w| {
            let size = windowed(n, log2_q, w) / BITS_OF_A_GIB;
            Figure::new(row, at(&format!("with one key, windows of {w} bits, polynomials")))
                .digits(2)
                .today(size)
        }));
        // The sets of this library, whose keys are larger by the special modulus.
        let name = format!("ltv-{n}");
        let spec = LtvSpec::named(&name)?;
        let gadget = spec.gadget;
        let params = LtvParams::new(spec, OptIn::InsecureResearch)?;
        let size = |bytes: u64| bytes as f64 * 8.0 / BITS_OF_A_GIB;
        for (form, what) in
            [(KeyForm::Polynomial, "polynomials"), (KeyForm::Evaluations, "transformed")]
        {
            let what = at(&format!("with one key, {}, {what}", name_of(gadget)));
            figures.push(Figure::new(row, what).digits(2).today(size(params.key_bytes(form))));
        }
        let set = ntru_sets().into_iter().find(|set| set.name == name);
        let set = set.ok_or_else(|| CliError::failure(format!("{name}: no such set")))?;
        let params = Params::new(set, OptIn::InsecureResearch)?;
        let keys = KeyPlan::relinearization(&params).seeded_bytes(&params);
        figures.push(
            Figure::new(row, at("over distinct primes, digits by level, transformed"))
                .digits(2)
                .today(size(keys)),
        );
        let runs = recorded(n, new)?;
        figures.extend([BITS, gadget].map(|digits| {
            let what = format!("n = {n}: {FASTER_AES} transformed keys, {}", name_of(digits));
            let figure = Figure::new(row, what).digits(2);
            match speed_up_of_transformed_keys(&runs, digits) {
                Some(times) => figure.recorded(Some(times)),
                None => figure.note("none recorded"),
            }
        }));
    }
    let row = TABLE_6.len() + 1;
    let speed_up = |what: &str| format!("{FASTER_AES} {what}, a digit for each bit");
    figures.extend([
        Figure::new(row, speed_up("keys as polynomials")).paper(SPEED_UPS[0]).formula(1.0),
        Figure::new(row, speed_up("transformed keys"))
            .paper(SPEED_UPS[1])
            .formula(1.0 - SHARE + SHARE * FASTER)
            .digits(1)
            .note(format!(
                "70 % of the time with transformed keys; of the time without, {:.1}",
                1.0 / (1.0 - SHARE + SHARE / FASTER)
            )),
    ]);
    Ok(Chapter {
        table: "ltv table-6",
        title: "Table 6: evaluation keys for 40 levels: Σ n (log q_i)² with a key for each, n \
                (log q)² with one",
        figures,
        remarks: vec![
            "the paper's GBytes are 2^30 bytes; its text has 6.15 for 6.13".into(),
            "transformed: 2^16 points, primes of 60 bits in words of 64 for exact sums; the \
             paper's are 3 to 5 % smaller"
                .into(),
            "today: digits to base 2^w, ⌈log q / w⌉ polynomials instead of log q; digits to the \
             base of a power of p, and of products of distinct primes, with a special modulus as \
             large as a digit: the sets that `papers aes` runs"
                .into(),
            "times that AES is faster: by the text, as relinearizations are 70 % of the time and \
             become 3 times faster; recorded in earlier runs of `papers aes --chain prime-power` \
             with `--keys polynomials` and without. Digits to base p^6 are those of the sets \
             here, not the paper's, so their ratio does not stand beside its 2.5"
                .into(),
        ],
    })
}

/// n, log q and log w of section 8.
const DEGREE: usize = 4096;
const LOG2_Q: f64 = 127.0;
const WORD: u32 = 32;

/// Table 7.
pub fn table_7() -> Result<Chapter, CliError> {
    let l = yashe_digits(LOG2_Q, WORD);
    let (cube, polynomial) = (l.powi(3), DEGREE as f64 * LOG2_Q / BITS_OF_A_MIB);
    let today = ntru::estimate(DEGREE, LOG2_Q, VARIANCE)?;
    let size = |count: f64| count * polynomial;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let mut times = |gadget: Gadget, form: KeyForm| timing::ltv(gadget, form, &mut rng);
    let binary = times(Gadget::Windows { bits: 1 }, KeyForm::Evaluations)?;
    let polynomial_form = times(Gadget::Windows { bits: 1 }, KeyForm::Polynomial)?;
    let windows = times(Gadget::Windows { bits: 16 }, KeyForm::Evaluations)?;
    let hybrid = times(Gadget::Hybrid { rows: 2 }, KeyForm::Evaluations)?;
    let yashe = timing::yashe(&mut rng)?;
    let largest = |times: &[f64]| times.first().copied().unwrap_or(f64::NAN);
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let time = |what: &str, paper: &str, value: f64| {
        Figure::new(3, what).paper(paper).digits(2).measured(value)
    };
    let figures = vec![
        Figure::new(1, "products, YASHE")
            .formula(l)
            .corrected(cube)
            .note("printed ℓ; ℓ³ by the text"),
        Figure::new(1, "products, YASHE'")
            .formula(cube)
            .corrected(l)
            .note("printed ℓ³; ℓ by the text"),
        Figure::new(1, "products, LTV with binary digits").formula(digits(LOG2_Q, 1)),
        Figure::new(1, "products, LTV with windows of 32 bits").today(digits(LOG2_Q, WORD)),
        Figure::new(2, "MiB of keys, YASHE").digits(2).formula(size(l)).corrected(size(cube)),
        Figure::new(2, "MiB of keys, YASHE'").digits(2).formula(size(cube)).corrected(size(l)),
        Figure::new(2, "MiB of keys, LTV with binary digits")
            .digits(2)
            .formula(reduced_by_level(DEGREE, LOG2_Q) / BITS_OF_A_MIB),
        Figure::new(2, "MiB of keys, LTV with windows of 32 bits")
            .digits(2)
            .today(windowed(DEGREE, LOG2_Q, WORD) / BITS_OF_A_MIB),
        time("ms to switch keys, YASHE', log q = 127", "31", yashe),
        time("ms to relinearize, LTV, log q = 125", "139", largest(&binary)),
        time("ms to relinearize, LTV, mean over the levels", "80", mean(&binary))
            .formula((139.0 + 20.0) / 2.0),
        time(
            "ms to relinearize, LTV, log q = 25",
            "20",
            binary.last().copied().unwrap_or(f64::NAN),
        ),
        time(
            "times that transformed keys are faster",
            "3",
            largest(&polynomial_form) / largest(&binary),
        )
        .note("section 7"),
        time("ms to relinearize, LTV with windows of 16 bits, log q = 125", "", largest(&windows)),
        time("ms to relinearize, LTV with digits of two primes, log q = 125", "", largest(&hybrid)),
        Figure::new(4, "bits of security of n = 4096, log q = 127").today(today.bits()).note(
            format!(
                "β = {} in dimension {} ({})",
                today.best().block_size,
                today.best().dimension,
                today.best().name.as_str()
            ),
        ),
    ];
    Ok(Chapter {
        table: "ltv table-7",
        title: "Table 7: YASHE, YASHE' and LTV at n = 4096, log q = 127, words of 32 bits (ℓ = 6)",
        figures,
        remarks: vec![
            "the first two columns are swapped: by the text YASHE's key is in R^(ℓ³) and YASHE' \
             needs ℓ products"
                .into(),
            "the mean is that of the largest and the smallest modulus; the papers' milliseconds \
             are those of their machines"
                .into(),
            "milliseconds here: over prime powers p^1 to p^5 of 25 bits; YASHE' with t = 257 and \
             RNS digits"
                .into(),
        ],
    })
}
