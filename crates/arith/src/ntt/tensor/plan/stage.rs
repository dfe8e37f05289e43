//! Stages, and in which order lines go through them.

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
