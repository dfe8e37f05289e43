//! Ma, Huang, Wang, Wang 2024: the parameter sets, and what the paper says of them.

/// A parameter set of table 4, with its row of the table of degrees.
#[derive(Clone, Copy)]
pub struct Set {
    /// The Roman number.
    pub id: &'static str,
    /// p.
    pub p: u64,
    /// r.
    pub r: u32,
    /// v: Δ = p^v for type A, and so many digits are removed of e = r + v.
    pub v: u32,
    /// B for Δ = p^v.
    pub bound: u64,
    /// B for a Δ without p, where there is one.
    pub bound_on_grid: Option<u64>,
    /// The degrees of HElib, of Δ = p^v and of the other Δ, as printed: commas between the polynomials of a digit, semicolons between digits.
    pub degrees: [Option<&'static str>; 3],
}

/// Table 4 and the table of degrees. The paper prints 65536 for the degree 65537.
pub const SETS: [Set; 5] = [
    Set { id: "I", p: 17, r: 4, v: 2, bound: 23, bound_on_grid: None, degrees: [Some("17,81;65"), Some("17,81;14"), None] },
    Set { id: "II", p: 127, r: 2, v: 1, bound: 22, bound_on_grid: None, degrees: [Some("253"), Some("134"), None] },
    Set { id: "III", p: 257, r: 2, v: 1, bound: 22, bound_on_grid: None, degrees: [Some("513"), Some("134"), None] },
    Set { id: "IV", p: 8191, r: 1, v: 1, bound: 23, bound_on_grid: Some(22), degrees: [Some("8191"), Some("93"), Some("2024")] },
    Set { id: "V", p: 65537, r: 1, v: 1, bound: 23, bound_on_grid: Some(23), degrees: [Some("65536"), Some("93"), Some("2208")] },
];
