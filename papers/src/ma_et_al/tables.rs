//! Ma, Huang, Wang, Wang 2024: the parameter sets, and what the paper says of them.

use serde::Serialize;

use super::sets::{PaperSet, Variant, paper_sets};

/// A ring of table 4, with its row of the table of degrees.
#[derive(Clone, Copy)]
pub struct Set {
    /// The Roman number.
    pub id: &'static str,
    /// p.
    pub p: u64,
    /// r.
    pub r: u32,
    /// v: Δ = p^v for type A, and the number of digits that are removed of e = r + v.
    pub v: u32,
    /// B for Δ = p^v.
    pub bound: u64,
    /// B for a Δ without p, where there is one.
    pub bound_on_grid: Option<u64>,
    /// The degrees of HElib, of Δ = p^v and of the other Δ, as printed: commas between the
    /// polynomials of a digit, semicolons between digits.
    pub degrees: [Option<&'static str>; 3],
}

/// The table of degrees. The paper prints 65536 for the degree 65537.
const DEGREES: [(&str, [Option<&str>; 3]); 5] = [
    ("I", [Some("17,81;65"), Some("17,81;14"), None]),
    ("II", [Some("253"), Some("134"), None]),
    ("III", [Some("513"), Some("134"), None]),
    ("IV", [Some("8191"), Some("93"), Some("2024")]),
    ("V", [Some("65536"), Some("93"), Some("2208")]),
];

/// The rings, in the order of the table of degrees.
pub fn sets() -> Vec<Set> {
    let of = |id: &str, variant| {
        paper_sets().find(|set| set.ring == id && set.variant == variant && !set.braced)
    };
    let ring = |(id, degrees)| {
        let PaperSet { p, r, digits, bound, .. } = of(id, Variant::A)?;
        Some(Set {
            id,
            p,
            r,
            v: digits,
            bound,
            bound_on_grid: of(id, Variant::B).map(|set| set.bound),
            degrees,
        })
    };
    DEGREES.into_iter().filter_map(ring).collect()
}

/// A row of table 6.
#[derive(Clone, Copy, Serialize)]
pub struct Measured {
    /// The set, without `ma-`.
    pub set: &'static str,
    /// Bits of capacity: at first, for linear maps, for digits, and what remains.
    pub capacity: [u32; 4],
    /// Seconds: linear maps, digits, in all.
    pub seconds: [f64; 3],
    /// Remaining bits a second.
    pub throughput: f64,
    /// Over the baseline of the same ring.
    pub speedup: f64,
}

const fn measured(
    set: &'static str,
    capacity: [u32; 4],
    seconds: [f64; 3],
    throughput: f64,
    speedup: f64,
) -> Measured {
    Measured { set, capacity, seconds, throughput, speedup }
}

/// Table 6: general bootstrapping.
pub const TABLE_6: [Measured; 12] = [
    measured("I", [1003, 207, 446, 344], [93.0, 953.0, 1046.0], 0.329, 1.0),
    measured("I-A", [1019, 241, 341, 434], [93.0, 568.0, 662.0], 0.656, 2.0),
    measured("II", [1573, 194, 298, 1070], [285.0, 3176.0, 3462.0], 0.309, 1.0),
    measured("II-A", [1594, 219, 293, 1080], [277.0, 2148.0, 2427.0], 0.445, 1.44),
    measured("III", [1542, 208, 400, 927], [319.0, 3010.0, 3330.0], 0.278, 1.0),
    measured("III-A", [1558, 241, 316, 998], [319.0, 1224.0, 1545.0], 0.646, 2.32),
    measured("IV", [1253, 199, 559, 484], [113.0, 4535.0, 4648.0], 0.104, 1.0),
    measured("IV-A", [1266, 243, 288, 732], [115.0, 363.0, 479.0], 1.527, 14.7),
    measured("IV-B", [1287, 158, 329, 791], [113.0, 2095.0, 2209.0], 0.358, 3.44),
    measured("V", [1415, 225, 812, 363], [115.0, 46088.0, 46203.0], 0.008, 1.0),
    measured("V-A", [1431, 277, 331, 820], [112.0, 574.0, 688.0], 1.191, 151.0),
    measured("V-B", [1457, 171, 389, 889], [115.0, 3471.0, 3589.0], 0.248, 31.5),
];

/// Thin bootstrapping of HElib 3e337a6 on the plaintexts of rings I, II and IV: seconds of
/// processor time on a machine of the kind that the records here are from.
pub const HELIB_THIN: [(&str, f64); 3] = [("I", 63.9), ("II", 150.7), ("IV", 156.7)];
