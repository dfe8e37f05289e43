//! Table 4 and section 5: bits to cut, levels, stable noise, failure.

use everlevel_estimator::hermite;
use everlevel_ltv::analysis::log2_failure;
use everlevel_ltv::analysis::noise::{Recursion, depth, levels, log2_product_bound};

use super::chapter::{Chapter, Figure};

/// (log2 n, log q, worst case: bits to cut, levels; average case: the same).
const TABLE_4: [(u32, &str, [&str; 4]); 6] = [
    (12, "155", ["36", "3", "33", "3"]),
    (13, "311", ["37", "7", "33", "8"]),
    (14, "622", ["39", "14", "34", "17"]),
    (15, "1244", ["40", "30", "34", "35"]),
    (16, "2488", ["42", "58", "35", "70"]),
    (17, "4976", ["44", "112", "35", "141"]),
];
/// B, α of the table, the stable noise that it assumes, and its δ.
const BOUND: f64 = 2.0;
const ALPHA: f64 = 6.0;
const NOISE: f64 = 4096.0;
const DELTA: f64 = 1.0066;

/// Table 4.
pub fn table_4() -> Chapter {
    let mut figures = Vec::new();
    for (i, (log_n, log_q, printed)) in TABLE_4.into_iter().enumerate() {
        let (row, n) = (i + 1, 1usize << log_n);
        let exact = hermite::log2_q(n, DELTA);
        let digits: f64 = log_q.parse().unwrap_or(exact);
        let at = |what: &str| format!("n = 2^{log_n}: {what}");
        figures.push(
            Figure::new(row, at("log q at δ = 1.0066"))
                .paper(log_q)
                .formula(exact)
                .digits(1)
                .note(format!("{:.1} without the q/4", exact - 4.0)),
        );
        let worst: fn(usize, f64, f64, f64) -> Recursion = Recursion::worst;
        let cases = [
            ("worst", worst, 1.0, printed[0], printed[1]),
            ("average", Recursion::average, ALPHA, printed[2], printed[3]),
        ];
        for (case, recursion, margin, printed_cut, printed_levels) in cases {
            let cut = |digits| recursion(n, BOUND, 1.0, digits).log2_cut(NOISE, margin);
            let by_formula = cut(digits);
            figures.push(
                Figure::new(row, at(&format!("bits to cut, {case} case")))
                    .paper(printed_cut)
                    .formula(by_formula)
                    .digits(1)
                    .note(format!("{:.1} with log n for log q", cut(f64::from(log_n)))),
            );
            let paper_cut: f64 = printed_cut.parse().unwrap_or(by_formula);
            figures.push(
                Figure::new(row, at(&format!("levels, {case} case")))
                    .paper(printed_levels)
                    .formula(levels(digits, paper_cut))
                    .corrected(levels(exact, cut(exact).ceil())),
            );
        }
        let t = depth(n, DELTA, 1.0, NOISE);
        figures.push(
            Figure::new(row, at("depth t by p(n)"))
                .digits(1)
                .formula(t)
                .note(format!("t log n / n = {:.5}", t * f64::from(log_n) / n as f64)),
        );
        figures.push(
            Figure::new(row, at("bits without relinearization, one product"))
                .digits(1)
                .formula(log2_product_bound(n, BOUND) + 1.0),
        );
        figures.push(
            Figure::new(row, at("fewest bits to cut that keep the worst case stable"))
                .digits(1)
                .formula(Recursion::worst(n, BOUND, 1.0, exact).least_log2_cut()),
        );
    }
    figures.push(
        Figure::new(7, "log2 of failure at α = 7, n = 2^14")
            .paper("-60")
            .formula(log2_failure(1 << 14, 7.0))
            .digits(1),
    );
    Chapter {
        table: "ltv table-4",
        title: "Table 4: bits to cut and levels, B = 2, α = 6, noise 2^12, δ = 1.0066",
        figures,
        remarks: vec![
            "log q as printed leaves out the q/4 of its own formula: 4 bits less".into(),
            "bits to cut are log2 of the brackets of (2) and, times α, (4), at noise 2^12; what \
             is printed comes out to the bit if log q in them is read as log n"
                .into(),
            "levels: ⌊log q / cut⌋ − 1; corrected: with both corrections".into(),
            "n erfc(α/√2) is 2^-24.5 at α = 7, n = 2^14".into(),
            "(4) drops √n (2B + 1), which is nearly all of the stable noise: see table 5".into(),
        ],
    }
}
