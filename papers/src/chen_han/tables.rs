//! Chen–Han 2018: the rows of the tables, as the paper has them.

/// What the paper reports for a row of tables 4 and 5.
#[derive(Clone, Copy, serde::Serialize)]
pub struct Reported {
    /// Depth of a circuit on a fresh ciphertext.
    pub fresh_level: u32,
    /// Depth of a circuit on a bootstrapped one.
    pub after_level: u32,
    /// Seconds for one bootstrapping.
    pub seconds: f64,
    /// Seconds for the tables.
    pub init_seconds: f64,
    /// Gigabytes.
    pub memory_gb: f64,
}

/// A row of tables 4 and 5.
#[derive(Clone, Copy)]
pub struct Row {
    /// log2 of the degree.
    pub log_degree: u32,
    /// log2 of q.
    pub log_q: u32,
    /// p.
    pub p: u64,
    /// r.
    pub r: u32,
    /// Security as the paper estimated it.
    pub security: f64,
    /// The result.
    pub reported: Reported,
}

const fn row(
    log_degree: u32,
    log_q: u32,
    p: u64,
    r: u32,
    security: f64,
    result: (u32, u32, f64, f64, f64),
) -> Row {
    let (fresh_level, after_level, seconds, memory_gb, init_seconds) = result;
    Row {
        log_degree,
        log_q,
        p,
        r,
        security,
        reported: Reported { fresh_level, after_level, seconds, init_seconds, memory_gb },
    }
}

/// Table 4, full mode. Its last two rings are R(127^2, 512) and R(257^2, 256): the paper halves the
/// degrees of the slots.
pub const TABLE_4: [Row; 4] = [
    row(14, 558, 127, 1, 92.9, (24, 7, 2027.0, 8.9, 193.0)),
    row(14, 558, 257, 1, 92.9, (22, 4, 1381.0, 7.5, 242.0)),
    row(15, 806, 127, 2, 126.2, (32, 12, 21295.0, 27.6, 658.0)),
    row(15, 806, 257, 2, 126.2, (23, 6, 11753.0, 26.6, 732.0)),
];

/// Its keys: (log2 n, log2 q, security as the paper has it).
pub const KEYS: [(u32, f64, f64); 2] = [(14, 558.0, 92.9), (15, 806.0, 126.2)];

/// Table 5, slim mode.
pub const TABLE_5: [Row; 6] = [
    row(14, 558, 127, 1, 92.9, (23, 10, 6.75, 2.0, 57.0)),
    row(15, 806, 127, 2, 126.2, (25, 11, 30.2, 2.0, 59.0)),
    row(15, 806, 127, 3, 126.2, (20, 6, 34.5, 8.9, 257.0)),
    row(14, 558, 257, 1, 92.9, (22, 7, 10.8, 2.0, 59.0)),
    row(15, 806, 257, 1, 126.2, (31, 15, 36.8, 7.4, 207.0)),
    row(15, 806, 257, 2, 126.2, (23, 7, 42.1, 7.4, 196.0)),
];

/// Bits of the modulus that HElib counted as a level in 2018: its primes have 44 and count twice.
pub const LEVEL_BITS: u32 = 22;

/// A row of table 3: (p, e, v), the ring, the seconds and levels (before, after) of the paper for
/// Halevi–Shoup and for its own method, and the CPU seconds of HElib 3e337a6 for both, measured on
/// two cores of an AMD EPYC (Zen 4), n = 2^14, log2 Q = 910.
#[derive(Clone, Copy, serde::Serialize)]
pub struct RemovalRow {
    /// p.
    pub p: u64,
    /// e.
    pub e: u32,
    /// v.
    pub v: u32,
    /// Index of the ring here, and of that for quick runs.
    #[serde(skip)]
    pub index: [u64; 2],
    /// Halevi–Shoup in the paper: seconds, levels before and after.
    pub halevi_shoup: (f64, u32, u32),
    /// The paper's method: seconds, levels before and after.
    pub chen_han: (f64, u32, u32),
    /// HElib: seconds for either (absent where it was not measured).
    pub helib: Option<(f64, f64)>,
}

impl RemovalRow {
    /// log2 of the paper's own modulus: that of its levels before, which are those of both methods.
    pub const fn own_log_q(&self) -> u32 {
        LEVEL_BITS * self.chen_han.1
    }
}

const fn removal(
    p: u64,
    e: u32,
    v: u32,
    halevi_shoup: (f64, u32, u32),
    chen_han: (f64, u32, u32),
    helib: Option<(f64, f64)>,
) -> RemovalRow {
    // 2 divides powers of two: 5 · 17 · 257 and 5 · 257 instead, with slots of degree 16.
    let index = if p == 2 { [21845, 1285] } else { [1 << 15, 1 << 11] };
    RemovalRow { p, e, v, index, halevi_shoup, chen_han, helib }
}

/// Table 3.
pub const TABLE_3: [RemovalRow; 6] = [
    removal(2, 11, 5, (15.0, 23, 3), (16.0, 23, 10), Some((13.8, 16.9))),
    removal(2, 21, 13, (264.0, 56, 16), (239.0, 56, 22), None),
    removal(5, 6, 3, (49.5, 39, 5), (30.0, 39, 13), Some((8.8, 6.1))),
    removal(17, 4, 2, (61.2, 38, 5), (35.5, 38, 14), Some((8.4, 6.0))),
    removal(31, 3, 1, (26.3, 32, 8), (12.13, 32, 18), Some((5.1, 2.4))),
    removal(127, 3, 1, (73.2, 42, 3), (38.0, 42, 20), Some((9.4, 5.9))),
];
