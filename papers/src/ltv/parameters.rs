//! Tables 1 to 3: parameters by Hermite factors, by extrapolated experiments, by a simulator of
//! BKZ; and the security of NTRU keys today.

use everlevel_cli::console::errors::CliError;
use everlevel_estimator::{hermite, ntru};

use super::bkz;
use super::chapter::{Chapter, Figure};
use super::experiment::{self, LAST_DEGREE_OF_LLL};
use crate::record::COMMITTED;

/// The variance of a coefficient of χ as the library samples it: a Gaussian of deviation 1.55, cut
/// at B = 2.
const VARIANCE_OF_CHI: f64 = 1.461;
/// Of f = 2u + 1 and g, balanced: the geometric mean of four times the variance and once.
pub const VARIANCE: f64 = 2.0 * VARIANCE_OF_CHI;

/// (log2 n, δ for log q = 512, 1024, 2048).
const TABLE_1: [(u32, [&str; 3]); 4] = [
    (13, ["1.0108", "1.0218", "1.0441"]),
    (14, ["1.0053", "1.0108", "1.0218"]),
    (15, ["1.0027", "1.0054", "1.0108"]),
    (16, ["1.0013", "1.0027", "1.0054"]),
];
/// (n, bits) at log q = 1024.
const TABLE_2: [(usize, &str); 5] =
    [(28340, "70"), (28940, "80"), (30140, "100"), (31300, "120"), (32768, "144")];
/// (dimension, δ for 64, 80, 128 bits).
const TABLE_3: [(usize, [&str; 3]); 10] = [
    (1000, ["1.00851", "1.00763", "1.00592"]),
    (5000, ["1.00896", "1.00799", "1.00609"]),
    (10000, ["1.00918", "1.00811", "1.00619"]),
    (15000, ["1.00931", "1.00826", "1.00624"]),
    (20000, ["1.00940", "1.00833", "1.00628"]),
    (25000, ["1.00948", "1.00839", "1.00629"]),
    (30000, ["1.00954", "1.00846", "1.00634"]),
    (40000, ["1.00964", "1.00851", "1.00638"]),
    (50000, ["1.00972", "1.00857", "1.00641"]),
    (60000, ["1.00979", "1.00862", "1.00644"]),
];

/// Table 1, and the figures of section 3 around it.
pub fn table_1() -> Chapter {
    let mut figures = Vec::new();
    for (i, (log_n, printed)) in TABLE_1.into_iter().enumerate() {
        for (log_q, paper) in [512.0, 1024.0, 2048.0].into_iter().zip(printed) {
            let what = format!("δ at n = 2^{log_n}, log q = {log_q}");
            figures.push(
                Figure::new(i + 1, what)
                    .paper(paper)
                    .formula(hermite::delta(1 << log_n, log_q))
                    .digits(1),
            );
        }
    }
    figures.extend([
        Figure::new(5, "n for 80 bits at log q = 256")
            .paper("6756")
            .formula(hermite::least_degree(256.0, 80.0)),
        Figure::new(5, "bits at δ = 1.0066")
            .paper("80")
            .formula(hermite::lindner_peikert_bits(1.0066)),
        Figure::new(5, "δ at n = 28940, log q = 1024")
            .paper("1.0061")
            .formula(hermite::delta(28940, 1024.0))
            .digits(1),
    ]);
    Chapter {
        table: "ltv table-1",
        title: "Table 1: Hermite factor δ = (√q/4)^(1/2n) of the longest useful vector",
        figures,
        remarks: vec![
            "four entries are cut off and the others rounded".into(),
            "the factor is that of a random lattice; an NTRU lattice has a sublattice of small \
             volume, and no δ of this table keeps it from being found: see table 2"
                .into(),
        ],
    }
}

/// Table 2.
pub fn table_2() -> Result<Chapter, CliError> {
    let mut figures = Vec::new();
    for (i, (n, printed)) in TABLE_2.into_iter().enumerate() {
        let today = ntru::estimate(n, 1024.0, VARIANCE)?;
        let best = today.best();
        let by_delta = hermite::lindner_peikert_bits(hermite::delta(n, 1024.0));
        figures.push(
            Figure::new(i + 1, format!("bits at n = {n}, log q = 1024"))
                .paper(printed)
                .formula(by_delta)
                .today(best.bits)
                .note(format!(
                    "β = {} in dimension {} ({}): LLL",
                    best.block_size,
                    best.dimension,
                    best.name.as_str()
                )),
        );
    }
    let by_lll = ntru::degree_broken_by_lll(1024.0, VARIANCE);
    figures.push(
        Figure::new(6, "degree up to which LLL is enough, log q = 1024")
            .paper(LAST_DEGREE_OF_LLL)
            .today(by_lll),
    );
    let mut remarks = vec![
        "formula: Lindner–Peikert's bits at the δ of table 1; the paper's are extrapolated from \
         reduced keys of small dimension"
            .into(),
        "today: the cheapest of secret key, dense sublattice and subfields, in gates; where β = 2 \
         a key is broken by LLL, whatever that costs"
            .into(),
        "the paper's line, 1022 bits over 26777 degrees, is a growth of 1.0268^n from a short \
         key, not of δ^(2n) from √q: the line of multiples of the key, which reveal f however \
         long they are"
            .into(),
    ];
    match experiment::read()? {
        Some(found) => {
            figures.extend(found.figures(7));
            remarks.extend(found.remarks());
        }
        None => remarks.push(format!(
            "no experiment found: run papers/ltv/attack.py (see its README) in the source tree, \
             which enters {} in {}",
            experiment::NAME,
            COMMITTED
        )),
    }
    Ok(Chapter {
        table: "ltv table-2",
        title: "Table 2: security of LTV keys at log q = 1024, as extrapolated in 2014 and as \
                estimated today",
        figures,
        remarks,
    })
}

/// Table 3.
pub fn table_3() -> Result<Chapter, CliError> {
    let mut figures = Vec::new();
    for (i, (dimension, printed)) in TABLE_3.into_iter().enumerate() {
        for (bits, paper) in [64.0, 80.0, 128.0].into_iter().zip(printed) {
            let reached = bkz::best_reduction(dimension, bits)?;
            figures.push(
                Figure::new(i + 1, format!("δ in dimension {dimension} for 2^{bits} nodes"))
                    .paper(paper)
                    .recomputed(reached.root_hermite)
                    .note(format!(
                        "β = {}, 2^{:.1} tours",
                        reached.block_size,
                        reached.tours.log2()
                    )),
            );
        }
    }
    Ok(Chapter {
        table: "ltv table-3",
        title: "Table 3: Hermite factor that 2^k nodes of enumeration buy (cited there from \
                Lepoint–Naehrig 2014; formula: recomputed)",
        figures,
        remarks: vec![
            "model: Chen–Nguyen's simulator from an LLL-reduced basis (δ = 1.0219), whole tours \
             with one block size, nodes of their table 4 interpolated, the best block size for \
             the budget; beyond dimension 1024 by scaling"
                .into(),
            "for 64 bits the best block sizes in large dimensions are below 100, where their \
             table ends: extrapolated, and up to 0.0006 higher than cited"
                .into(),
            "section 7 reads from it more than 128 bits for δ = 1.0067; δ = 1.0067 is larger than \
             every entry for 128 bits, so it is less"
                .into(),
        ],
    })
}
