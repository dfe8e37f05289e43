//! What a transform along one line is made of.
//!
//! A line is one axis, or several axes in row-major order. Along a prime axis l, coefficients and
//! values are indexed by the cyclic group Z/(l - 1), and the transform is a correlation with K(i) =
//! ζ^(γ^i): A(i) = Σ_j a(j) K(i + j). With the Fourier transform F of the group, a symmetric
//! matrix, and n = l - 1,
//!
//! ```text
//! A = F D F a,   D(k) = (F K)(-k) / n,     and back   a = F E F A,   E(k) = 1 / (n (F K)(k)):
//! ```
//!
//! the entries of F K are Gauss sums, units modulo q. All of this holds for the product of several
//! such groups, which is a product of cyclic groups of prime-power order: places are stored by
//! their residues modulo these orders (Good and Thomas), so that only stages of one prime have
//! twiddles between them. Half of a correlation is B, the stages of F without the permutation that
//! makes their output natural; F D F is Bᵀ D' B with D' = B(K reversed) / n, and nothing is ever
//! permuted back. E' is 1 / (n B K).
//!
//! An axis of a prime power l^k, k > 1, l = 2 included, is a dense matrix, one more stage that has
//! no way back.

mod cyclic;
mod factors;
mod spectra;
mod stage;

use crate::arch::residues::Residues;
use crate::axes::Axes;
use crate::modulus::Modulus;
use crate::operations::Operations;
use crate::primes;

use cyclic::Cyclic;
use factors::{factors, radices};
use spectra::{kernels, matrices, spectra};
use stage::steps;
pub(super) use stage::{Kind, Stage, Step, Way};

/// The transform along a line.
pub(super) struct Line {
    /// Where each place of the line is stored.
    pub(super) positions: Vec<u32>,
    /// The stages on the way there; dense ones come first.
    pub(super) stages: Vec<Stage>,
    /// What to do in which order.
    pub(super) steps: Vec<Step>,
    /// D' and E', by position. If the last stage is of a prime r > 3, it is not needed: every r
    /// places are correlated with the transform of their part of D', and its r weights are here
    /// twice.
    pub(super) spectra: [Vec<[u64; 2]>; 2],
}

impl Line {
    /// The line of the axes `range` for ζ = `root`, in the words of the arithmetic A.
    pub(super) fn new<A: Residues>(
        q: Modulus,
        root: u64,
        axes: &Axes,
        range: std::ops::Range<usize>,
    ) -> Self {
        let own = &axes.all()[range.clone()];
        let length: usize = own.iter().map(|a| a.degree).product();
        let factors = factors(own);
        let mut inner = length;
        let (mut stages, mut cyclic, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        for f in &factors {
            inner /= f.order;
            strides.push(inner);
            if f.prime == 0 {
                let dense = matrices(q, root, axes, range.start + f.axis)
                    .map(|m| m.iter().map(|&w| A::encode_weight(q, w)).collect());
                let (twiddles, constants) = (Vec::new(), Vec::new());
                stages.push(Stage {
                    kind: Kind::Dense(dense),
                    radix: f.order,
                    lower: 1,
                    inner,
                    twiddles,
                    constants,
                    unit: A::encode_weight(q, 1),
                    wide: true,
                });
                continue;
            }
            let mut root = primes::primitive_root_of_unity(q.value(), f.order as u64).unwrap_or(1);
            let mut lower = f.order;
            for radix in radices(f, A::LOG_RADIX) {
                lower /= radix;
                let stage = Cyclic { radix, lower, inner, root };
                stages.push(stage.encode::<A>(q));
                cyclic.push(stage);
                root = q.pow(root, radix as u64);
            }
        }
        let place = |indices: &[usize]| -> usize {
            factors.iter().zip(&strides).map(|(f, stride)| indices[f.axis] % f.order * stride).sum()
        };
        let (positions, kernels) = kernels(q, root, own, place);
        let direct =
            stages.last().is_some_and(|s: &Stage| matches!(s.kind, Kind::Short | Kind::Long(_)));
        let spectra = spectra::<A>(q, own, kernels, &cyclic, direct);
        let reduced: Vec<bool> =
            stages.iter().map(|s: &Stage| !matches!(s.kind, Kind::Network)).collect();
        stages
            .iter_mut()
            .zip(reduced.iter().skip(1))
            .for_each(|(stage, reduced)| stage.wide = !reduced);
        let steps = steps(&stages, length);
        Line { positions, stages, steps, spectra }
    }

    /// What a transform along the line computes.
    pub(super) fn operations(&self) -> Operations {
        let mut all = Operations::default();
        self.steps.iter().for_each(|step| all += self.stages[step.stage].operations(step));
        all
    }

    /// The number of places.
    pub(super) fn length(&self) -> usize {
        self.positions.len()
    }

    /// Whether the transform leaves wide residues.
    pub(super) fn is_wide(&self) -> bool {
        let outermost = self.stages.iter().find(|s| !matches!(s.kind, Kind::Dense(_)));
        outermost.is_some_and(|s| matches!(s.kind, Kind::Network))
    }

    /// How many vectors a stage needs to work in.
    pub(super) fn workspace(&self) -> usize {
        self.stages.iter().map(|s| 2 * s.radix).max().unwrap_or(0)
    }
}
