//! A simulator of BKZ 2.0 after Chen–Nguyen (2011): which root Hermite factor a number of nodes of
//! enumeration buys.
//!
//! Estimates before 2016 counted the nodes that an attacker's enumerations visit, and asked for the
//! best δ that 2^k of them give in dimension d (van de Pol–Smart 2013, Lepoint–Naehrig 2014). Here
//! the model is: an LLL-reduced basis of δ = 1.0219; whole tours with one block size; every
//! enumeration finds a vector of the length of the Gaussian heuristic; it visits the nodes of
//! Chen–Nguyen's table 4. Sieving and dimensions for free are not in it:
//! [`everlevel_estimator::reduction`] is for what holds today.

use everlevel_estimator::SecurityError;
use everlevel_estimator::reduction::{ln_gaussian_heuristic, root_hermite};

/// (β, log2 nodes) of one enumeration with extreme pruning in dimension β: upper bounds of the full
/// version of Chen–Nguyen (2012), table 4.
const NODES: [(u32, f64); 16] = [
    (100, 39.0),
    (110, 44.0),
    (120, 49.0),
    (130, 54.0),
    (140, 60.0),
    (150, 66.0),
    (160, 72.0),
    (170, 78.0),
    (180, 84.0),
    (190, 96.0),
    (200, 99.0),
    (210, 105.0),
    (220, 111.0),
    (230, 120.0),
    (240, 127.0),
    (250, 134.0),
];

/// The block sizes that are tried. Below the table its first three entries are extrapolated, which
/// lie on a line.
const MIN_BLOCK: u32 = 60;
const MAX_BLOCK: u32 = 250;

/// log2 of the nodes of one enumeration in dimension β, quadratic through the nearest three entries
/// of the table as Lepoint–Naehrig have it; `None` outside 60 to 250.
pub fn log2_nodes(block_size: u32) -> Option<f64> {
    if !(MIN_BLOCK..=MAX_BLOCK).contains(&block_size) {
        return None;
    }
    let first = (block_size.saturating_sub(105) / 10) as usize;
    let points = &NODES[first.min(NODES.len() - 3)..][..3];
    let x = f64::from(block_size);
    let term = |i: usize| {
        let others = points.iter().enumerate().filter(|(j, _)| *j != i);
        let basis = |at: f64| others.clone().map(|(_, p)| at - f64::from(p.0)).product::<f64>();
        points[i].1 * basis(x) / basis(f64::from(points[i].0))
    };
    Some((0..3).map(term).sum())
}

/// A basis under reduction: ln of its Gram–Schmidt lengths, of sum 0.
struct Basis(Vec<f64>);

impl Basis {
    /// LLL-reduced.
    fn lll(dimension: usize) -> Self {
        let step = 2.0 * root_hermite(2).ln();
        Basis((0..dimension).map(|i| step * ((dimension as f64 - 1.0) / 2.0 - i as f64)).collect())
    }

    fn root_hermite(&self) -> f64 {
        (self.0[0] / self.0.len() as f64).exp()
    }

    /// One tour; whether it changed anything. `heuristic[b]` is ln of the Gaussian heuristic in
    /// dimension b.
    fn tour(&mut self, heuristic: &[f64]) -> bool {
        let (d, beta) = (self.0.len(), heuristic.len() - 1);
        // ln of the volume of the block from k on, of the old lengths as far as they stand plus
        // what insertions pushed to the right.
        let mut volume: f64 = self.0[..beta.min(d)].iter().sum();
        let mut changed = false;
        for k in 0..d {
            let size = beta.min(d - k);
            let shortest = heuristic[size] + volume / size as f64;
            // The first insertion must be shorter than what stands there; after it the rest of the
            // block is another basis.
            if changed || shortest < self.0[k] - 1e-9 {
                changed = true;
                self.0[k] = shortest;
            }
            volume -= self.0[k];
            volume += self.0.get(k + beta).unwrap_or(&0.0);
        }
        changed
    }
}

/// What BKZ reaches.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// β.
    pub block_size: u32,
    /// How many tours.
    pub tours: f64,
    /// δ: the first vector is δ^d · vol^(1/d) long.
    pub root_hermite: f64,
}

/// How many smaller block sizes in a row must be worse before the search ends.
const PATIENCE: u32 = 8;

/// The best root Hermite factor that BKZ reaches in dimension d by visiting 2^`log2_budget` nodes:
/// over all block sizes, with as many tours as they pay for. Takes some tens of milliseconds.
///
/// # Errors
/// A dimension outside 512 to 2^20, or a budget that does not pay for one tour with the smallest
/// block size, or pays for one with the largest.
pub fn best_reduction(dimension: usize, log2_budget: f64) -> Result<Reduction, SecurityError> {
    if !(512..=1 << 20).contains(&dimension) {
        return Err(SecurityError::OutOfRange {
            name: "dimension",
            value: dimension as f64,
            expected: "512 to 2^20",
        });
    }
    let calls = |beta: u32| ((dimension - beta as usize) as f64).log2();
    let tours =
        |beta: u32| (log2_budget - log2_nodes(beta).unwrap_or(f64::INFINITY) - calls(beta)).exp2();
    let mut best: Option<Reduction> = None;
    for beta in (MIN_BLOCK..=MAX_BLOCK).rev().skip_while(|beta| tours(*beta) < 1.0) {
        let reached = simulate(dimension, beta, tours(beta));
        if best.is_none_or(|b| reached.root_hermite < b.root_hermite) {
            best = Some(reached);
        } else if best.is_some_and(|b| beta + PATIENCE < b.block_size) {
            break;
        }
    }
    let expected = "one tour with a block size from 60 to 249";
    best.filter(|b| b.block_size < MAX_BLOCK).ok_or(SecurityError::OutOfRange {
        name: "log2_budget",
        value: log2_budget,
        expected,
    })
}

/// The largest dimension that is simulated as it is.
const MODEL_DIMENSION: usize = 1024;

/// At most `tours` tours with block size β on an LLL-reduced basis.
///
/// What insertions take from the front diffuses through the basis: a basis s times as long takes s²
/// times the tours to the same δ, up to a term in 1/d. Beyond [`MODEL_DIMENSION`] two smaller bases
/// are reduced and δ is extrapolated linearly in 1/d, within 2 · 10^-4 while β is below d/5.
fn simulate(dimension: usize, block_size: u32, tours: f64) -> Reduction {
    let scaled = |to: usize| tour(to, block_size, tours * (to as f64 / dimension as f64).powi(2));
    let root_hermite = if dimension <= MODEL_DIMENSION {
        scaled(dimension)
    } else {
        let (whole, half) = (scaled(MODEL_DIMENSION), scaled(MODEL_DIMENSION / 2));
        whole - (half - whole) * (1.0 - MODEL_DIMENSION as f64 / dimension as f64)
    };
    Reduction { block_size, tours, root_hermite }
}

/// δ after `tours` tours; linear between whole numbers of them.
fn tour(dimension: usize, block_size: u32, tours: f64) -> f64 {
    let heuristic: Vec<f64> = (0..=block_size as usize).map(ln_gaussian_heuristic).collect();
    let mut basis = Basis::lll(dimension);
    let whole = tours.floor();
    for _ in 0..whole.min(1e6) as u32 {
        if !basis.tour(&heuristic) {
            break;
        }
    }
    let before = basis.root_hermite();
    basis.tour(&heuristic);
    before + (basis.root_hermite() - before) * (tours - whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lepoint–Naehrig's values as the paper cites them in table 3.
    #[test]
    fn budgets_of_80_and_128_bits_buy_what_table_3_says() {
        let rows = [
            (1000, 1.00763, 1.00592),
            (5000, 1.00799, 1.00609),
            (10000, 1.00811, 1.00619),
            (30000, 1.00846, 1.00634),
        ];
        for (dimension, at_80, at_128) in rows.into_iter().chain([(60000, 1.00862, 1.00644)]) {
            for (bits, paper) in [(80.0, at_80), (128.0, at_128)] {
                let reached = best_reduction(dimension, bits).unwrap();
                assert!(
                    (reached.root_hermite - paper).abs() < 1e-4,
                    "d = {dimension}, 2^{bits}: {reached:?}"
                );
            }
        }
    }

    #[test]
    fn long_bases_behave_as_short_ones_after_fewer_tours() {
        for (block_size, tours) in [(130, 1024.0), (200, 400.0), (200, 1600.0)] {
            let exact = tour(5000, block_size, tours);
            let scaled = simulate(5000, block_size, tours).root_hermite;
            assert!((exact - scaled).abs() < 2e-4, "beta = {block_size}: {exact} {scaled}");
        }
    }

    /// Where tours change nothing any more the slope is that of the formula for BKZ.
    #[test]
    fn tours_end_at_the_factor_of_the_block_size() {
        for block_size in [80, 120, 180] {
            assert!(
                (tour(1500, block_size, 1e4) - root_hermite(block_size)).abs() < 1e-4,
                "{block_size}"
            );
        }
    }

    #[test]
    fn nodes_are_those_of_the_table() {
        assert!(
            NODES.iter().all(|(beta, nodes)| (log2_nodes(*beta).unwrap() - nodes).abs() < 1e-9)
        );
        let all: Vec<f64> = (MIN_BLOCK..=MAX_BLOCK).filter_map(log2_nodes).collect();
        // The table has a bump at 190, and so has the curve around it.
        assert!(all[..=110].windows(2).all(|w| w[0] < w[1]) && all.len() == 191);
        assert_eq!((log2_nodes(59), log2_nodes(251)), (None, None));
        assert!((log2_nodes(90).unwrap() - 34.0).abs() < 1e-9);
    }

    #[test]
    fn budgets_outside_the_table_are_refused() {
        assert!(best_reduction(1000, 20.0).is_err() && best_reduction(1000, 200.0).is_err());
        assert!(best_reduction(100, 80.0).is_err() && best_reduction(1000, f64::NAN).is_err());
    }
}
