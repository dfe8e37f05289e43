//! Stages, and in which order lines go through them.

use crate::operations::Operations;

/// How a stage computes its transforms of length `radix`.
pub(in crate::ntt::tensor) enum Kind {
    /// A power of two, at most 16, frequencies in bit-reversed order: the levels x ± c y, a block b
    /// of each with c = `constants[b]`. Or 3, with the cosine and the sine of a third of a turn, or
    /// 9, as 3 by 3, with these and the powers 1, 2 and 4 of a ninth.
    Network,
    /// A prime from 5 to 13: cosines and sines of e/r, as weights, in `constants`.
    Short,
    /// A larger prime with a generator g of its units: cosines and sines of g^e / r, as weights, in
    /// `constants`, and here g^e, e < r - 1.
    Long(Vec<u32>),
    /// A matrix, row-major, as weights, and its inverse.
    Dense([Vec<u64>; 2]),
}

/// Transforms of length `radix` between places that are `lower * inner` apart, and multiplications
/// by twiddles.
pub(in crate::ntt::tensor) struct Stage {
    pub(in crate::ntt::tensor) kind: Kind,
    pub(in crate::ntt::tensor) radix: usize,
    /// What is left of the order of the cyclic group after this stage.
    pub(in crate::ntt::tensor) lower: usize,
    /// The product of the orders of all later groups.
    pub(in crate::ntt::tensor) inner: usize,
    /// ω^(t k), k the frequency at place k of `radix`, t < `lower`; empty if `lower` is 1.
    pub(in crate::ntt::tensor) twiddles: Vec<[u64; 2]>,
    /// What [`Kind`] says.
    pub(in crate::ntt::tensor) constants: Vec<[u64; 2]>,
    /// 1, as a weight.
    pub(in crate::ntt::tensor) unit: u64,
    /// Whether the way back finds wide residues: the next stage leaves them there.
    pub(in crate::ntt::tensor) wide: bool,
}

/// What to do with a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::ntt::tensor) enum Way {
    Forward,
    /// Forward, the product by the spectrum, and back.
    Turn,
    Back,
}

/// One sweep over a part of a line.
pub(in crate::ntt::tensor) struct Step {
    pub(in crate::ntt::tensor) stage: usize,
    pub(in crate::ntt::tensor) way: Way,
    pub(in crate::ntt::tensor) range: std::ops::Range<usize>,
}

/// How many vectors stay in the nearest cache.
const PIECE: usize = 512;

impl Stage {
    /// The distance of neighbors in a transform.
    pub(in crate::ntt::tensor) fn distance(&self) -> usize {
        self.lower * self.inner
    }

    /// The length of the pieces that the stage works on.
    pub(in crate::ntt::tensor) fn block(&self) -> usize {
        self.radix * self.distance()
    }

    /// What a step of this stage computes. Two products by constants that no sum follows count as
    /// a butterfly, which has one, a sum and a difference.
    pub(in crate::ntt::tensor) fn operations(&self, step: &Step) -> Operations {
        let radix = self.radix as u64;
        let transforms = (step.range.len() / self.radix) as u64;
        let half = radix / 2;
        // By twiddles, or by the spectrum.
        let twiddled = transforms / self.lower as u64 * (self.lower as u64 - 1) * (radix - 1);
        // One transform: its butterflies, and the products that it adds up.
        let (butterflies, products) = match (&self.kind, step.way) {
            (Kind::Network, _) => (network_butterflies(radix), 0),
            (Kind::Short | Kind::Long(_), Way::Forward | Way::Back) => (0, half + 2 * half * half),
            (Kind::Short | Kind::Long(_), Way::Turn) | (Kind::Dense(_), _) => (0, radix * radix),
        };
        let (times, multiplied) = match (&self.kind, step.way) {
            (Kind::Network, Way::Turn) => (2, transforms * radix),
            (Kind::Dense(_), _) | (_, Way::Turn) => (1, 0),
            _ => (1, twiddled),
        };
        Operations {
            butterflies: times * transforms * butterflies + multiplied / 2,
            products: transforms * products,
        }
    }
}

/// The butterflies of a transform whose length is 3, 9 or a power of two. One of length three has
/// two products by constants; nine is six of these and four twiddles.
fn network_butterflies(radix: u64) -> u64 {
    match radix {
        3 => 2,
        9 => 6 * 2 + 2,
        _ => radix / 2 * u64::from(radix.trailing_zeros()),
    }
}

/// Stages forward, piece by piece once pieces are short, and back.
pub(super) fn steps(stages: &[Stage], length: usize) -> Vec<Step> {
    let Some((leaf, rest)) = stages.split_last() else { return Vec::new() };
    let long = rest.iter().take_while(|s| s.block() > PIECE).count();
    let piece = stages[long].block();
    let dense = |stage: usize| matches!(stages[stage].kind, Kind::Dense(_));
    let mut steps = Vec::new();
    let mut push = |stage, way, range: &std::ops::Range<usize>| {
        steps.push(Step { stage, way, range: range.clone() })
    };
    (0..long).for_each(|stage| push(stage, Way::Forward, &(0..length)));
    for start in (0..length).step_by(piece) {
        let piece = start..start + piece;
        (long..rest.len()).for_each(|stage| push(stage, Way::Forward, &piece));
        push(rest.len(), if dense(rest.len()) { Way::Forward } else { Way::Turn }, &piece);
        (long..rest.len())
            .rev()
            .filter(|&stage| !dense(stage))
            .for_each(|stage| push(stage, Way::Back, &piece));
    }
    (0..long)
        .rev()
        .filter(|&stage| !dense(stage))
        .for_each(|stage| push(stage, Way::Back, &(0..length)));
    debug_assert_eq!(leaf.distance(), 1);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(kind: Kind, radix: usize, lower: usize, way: Way) -> (u64, u64) {
        let (twiddles, constants) = (Vec::new(), Vec::new());
        let stage =
            Stage { kind, radix, lower, inner: 1, twiddles, constants, unit: 1, wide: true };
        let step = Step { stage: 0, way, range: 0..2 * radix * lower };
        let Operations { butterflies, products } = stage.operations(&step);
        (butterflies, products)
    }

    #[test]
    fn operations_of_stages_are_counted() {
        // Two blocks of three transforms, two of which have seven twiddles.
        let eight = 2 * (3 * 12 + 2 * 7 / 2);
        assert_eq!(operations(Kind::Network, 8, 3, Way::Forward), (eight, 0));
        assert_eq!(operations(Kind::Network, 8, 3, Way::Back), (eight, 0));
        assert_eq!(operations(Kind::Network, 4, 1, Way::Turn), (2 * (2 * 4 + 4 / 2), 0));
        assert_eq!(operations(Kind::Network, 9, 1, Way::Forward), (2 * 14, 0));
        assert_eq!(operations(Kind::Short, 5, 1, Way::Back), (0, 2 * (2 + 8)));
        assert_eq!(operations(Kind::Long(Vec::new()), 17, 1, Way::Turn), (0, 2 * 17 * 17));
        let matrices = [Vec::new(), Vec::new()];
        assert_eq!(operations(Kind::Dense(matrices), 6, 1, Way::Forward), (0, 2 * 36));
    }
}
