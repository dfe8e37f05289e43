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

use crate::arch::residues::Residues;
use crate::axes::{Axes, Axis};
use crate::modulus::Modulus;
use crate::primes;

/// How a stage computes its transforms of length `radix`.
pub(super) enum Kind {
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
pub(super) struct Stage {
    pub(super) kind: Kind,
    pub(super) radix: usize,
    /// What is left of the order of the cyclic group after this stage.
    pub(super) lower: usize,
    /// The product of the orders of all later groups.
    pub(super) inner: usize,
    /// ω^(t k), k the frequency at place k of `radix`, t < `lower`; empty if `lower` is 1.
    pub(super) twiddles: Vec<[u64; 2]>,
    /// What [`Kind`] says.
    pub(super) constants: Vec<[u64; 2]>,
    /// 1, as a weight.
    pub(super) unit: u64,
    /// Whether the way back finds wide residues: the next stage leaves them there.
    pub(super) wide: bool,
}

/// What to do with a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    /// Forward, the product by the spectrum, and back.
    Turn,
    Back,
}

/// One sweep over a part of a line.
pub(super) struct Step {
    pub(super) stage: usize,
    pub(super) way: Way,
    pub(super) range: std::ops::Range<usize>,
}

/// How many vectors stay in the nearest cache.
const PIECE: usize = 512;

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

/// A stage of a cyclic group in plain numbers: `root` has order `radix * lower`.
struct Cyclic {
    radix: usize,
    lower: usize,
    inner: usize,
    root: u64,
}

/// One factor of a line: a cyclic group of prime-power order, or a dense axis (`prime` = 0).
struct Factor {
    axis: usize,
    prime: u64,
    order: usize,
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

impl Stage {
    /// The distance of neighbors in a transform.
    pub(super) fn distance(&self) -> usize {
        self.lower * self.inner
    }

    /// The length of the pieces that the stage works on.
    pub(super) fn block(&self) -> usize {
        self.radix * self.distance()
    }
}

impl Cyclic {
    /// The frequency at place k of the transform.
    fn frequency(&self, k: usize) -> usize {
        match self.radix {
            9 => k / 3 + k % 3 * 3,
            r if r.is_power_of_two() => k.reverse_bits() >> (usize::BITS - r.trailing_zeros()),
            _ => k,
        }
    }

    /// The primitive root of order `radix`.
    fn short_root(&self, q: Modulus) -> u64 {
        q.pow(self.root, self.lower as u64)
    }

    fn encode<A: Residues>(&self, q: Modulus) -> Stage {
        let (r, root) = (self.radix, self.short_root(q));
        let half = q.value().div_ceil(2) % q.value();
        let cosine =
            |e: usize| q.mul(half, q.add(q.pow(root, e as u64), q.pow(root, (r - e) as u64)));
        let sine =
            |e: usize| q.mul(half, q.sub(q.pow(root, e as u64), q.pow(root, (r - e) as u64)));
        let (kind, constants) = if r.is_power_of_two() {
            // Block b of a level is modulo X^2h - c², of the next one modulo X^h - c and X^h + c.
            let exponent = |b: usize| {
                if b == 0 { 0 } else { b.reverse_bits() >> (usize::BITS + 1 - r.trailing_zeros()) }
            };
            (
                Kind::Network,
                (0..r / 2).map(|b| A::encode(q, q.pow(root, exponent(b) as u64))).collect(),
            )
        } else if r == 3 || r == 9 {
            let (third, powers) = (r / 3, if r == 9 { &[1, 2, 4][..] } else { &[] });
            let constants = [cosine(third), sine(third)]
                .into_iter()
                .chain(powers.iter().map(|&e| q.pow(root, e)));
            (Kind::Network, constants.map(|c| A::encode(q, c)).collect())
        } else {
            let short = r <= 13;
            let units: Vec<usize> = if short {
                (0..r).collect()
            } else {
                powers(generator(r), r).take(r - 1).collect()
            };
            let weights = units
                .iter()
                .map(|&e| [cosine(e), sine(e)].map(|w| A::encode_weight(q, w)))
                .collect();
            (
                if short {
                    Kind::Short
                } else {
                    Kind::Long(units.into_iter().map(|u| u as u32).collect())
                },
                weights,
            )
        };
        let twiddle =
            |t: usize, k: usize| A::encode(q, q.pow(self.root, (t * self.frequency(k)) as u64));
        let rows = if self.lower == 1 { 0 } else { self.lower };
        let twiddles = (0..rows)
            .flat_map(|t| (0..r).map(move |k| (t, k)))
            .map(|(t, k)| twiddle(t, k))
            .collect();
        Stage {
            kind,
            radix: r,
            lower: self.lower,
            inner: self.inner,
            twiddles,
            constants,
            unit: A::encode_weight(q, 1),
            wide: true,
        }
    }

    /// The stage by its definition.
    fn apply(&self, q: Modulus, x: &mut [u64]) {
        let distance = self.lower * self.inner;
        let root = self.short_root(q);
        let powers: Vec<u64> =
            std::iter::successors(Some(1), |x| Some(q.mul(*x, root))).take(self.radix).collect();
        for block in x.chunks_exact_mut(self.radix * distance) {
            for j in 0..distance {
                let inputs: Vec<u64> = (0..self.radix).map(|i| block[i * distance + j]).collect();
                for k in 0..self.radix {
                    let f = self.frequency(k);
                    let sum = inputs
                        .iter()
                        .enumerate()
                        .fold(0, |s, (i, x)| q.mul_add(*x, powers[i * f % self.radix], s));
                    block[k * distance + j] =
                        q.mul(sum, q.pow(self.root, (j / self.inner * f) as u64));
                }
            }
        }
    }
}

/// The powers of g modulo r.
fn powers(g: usize, r: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), move |x| Some(x * g % r))
}

/// The least generator of the units modulo the prime r.
fn generator(r: usize) -> usize {
    (2..r).find(|&g| powers(g, r).skip(1).position(|x| x == 1) == Some(r - 2)).unwrap_or(1)
}

/// Stages forward, piece by piece once pieces are short, and back.
fn steps(stages: &[Stage], length: usize) -> Vec<Step> {
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

/// Whether the transform along an axis is a correlation.
fn is_cyclic(axis: &Axis) -> bool {
    axis.index == axis.prime
}

/// The factors of a line: dense ones first, then large primes before small ones, so that the line
/// falls into pieces early. Last is the one that turns: the largest prime, because a correlation by
/// its definition costs less than two transforms and their reductions; or the longest power of two
/// or three.
fn factors(axes: &[Axis]) -> Vec<Factor> {
    let mut all = Vec::new();
    for (axis, a) in axes.iter().enumerate() {
        if is_cyclic(a) {
            let orders = primes::factor(a.degree as u64).into_iter();
            all.extend(orders.map(|(prime, k)| Factor {
                axis,
                prime,
                order: prime.pow(k) as usize,
            }));
        } else {
            all.push(Factor { axis, prime: 0, order: a.degree });
        }
    }
    all.sort_by_key(|f| (f.prime != 0, std::cmp::Reverse(f.prime.max(3)), f.order));
    let dense = all.iter().take_while(|f| f.prime == 0).count();
    if all.get(dense).is_some_and(|f| f.prime > 3) {
        all[dense..].rotate_left(1);
    }
    all
}

/// The lengths of the stages of a cyclic group: powers of two in equal shares, threes in pairs,
/// other primes one by one.
fn radices(f: &Factor, log_radix: u32) -> Vec<usize> {
    let most = match f.prime {
        2 => log_radix,
        3 => 2,
        _ => 1,
    };
    let mut rest = f.order.ilog(f.prime as usize);
    let mut all = Vec::new();
    while rest > 0 {
        let log = rest.div_ceil(rest.div_ceil(most));
        all.push((f.prime as usize).pow(log));
        rest -= log;
    }
    all
}

/// Where the places of a line are stored, and its kernel K in that order: first with all indices
/// reversed, then as it is.
fn kernels(
    q: Modulus,
    root: u64,
    own: &[Axis],
    place: impl Fn(&[usize]) -> usize,
) -> (Vec<u32>, [Vec<u64>; 2]) {
    let length = own.iter().map(|a| a.degree).product();
    let mut positions = vec![0; length];
    let mut kernels = [vec![0; length], vec![0; length]];
    let roots: Vec<Vec<u64>> = own.iter().map(|a| kernel(q, root, a)).collect();
    for (i, position) in positions.iter_mut().enumerate() {
        let mut rest = i;
        let mut indices = vec![0; own.len()];
        for (index, axis) in indices.iter_mut().zip(own).rev() {
            *index = rest % axis.degree;
            rest /= axis.degree;
        }
        let reversed: Vec<usize> = indices
            .iter()
            .zip(own)
            .map(|(i, a)| if is_cyclic(a) { (a.degree - i) % a.degree } else { *i })
            .collect();
        let value = indices.iter().zip(&roots).fold(1, |x, (&i, powers)| q.mul(x, powers[i]));
        *position = place(&indices) as u32;
        kernels[0][place(&reversed)] = value;
        kernels[1][*position as usize] = value;
    }
    (positions, kernels)
}

/// D' and E' in the words of the arithmetic A; `direct` if the last group is correlated directly.
fn spectra<A: Residues>(
    q: Modulus,
    own: &[Axis],
    kernels: [Vec<u64>; 2],
    cyclic: &[Cyclic],
    direct: bool,
) -> [Vec<[u64; 2]>; 2] {
    let group: usize = own.iter().filter(|a| is_cyclic(a)).map(|a| a.degree).product();
    let scale = q.inv(q.reduce_u64(group as u64)).unwrap_or(0);
    let [mut forward, mut inverse] = kernels;
    cyclic
        .iter()
        .for_each(|stage| [&mut forward, &mut inverse].into_iter().for_each(|x| stage.apply(q, x)));
    inverse.iter_mut().for_each(|x| *x = q.inv(*x).unwrap_or(0));
    [forward, inverse].map(|mut d| {
        d.iter_mut().for_each(|x| *x = q.mul(*x, scale));
        match cyclic.last() {
            Some(leaf) if direct => {
                // (F D F)(i, j) = (F D)(i + j) for the last group by itself.
                leaf.apply(q, &mut d);
                let weights: Vec<u64> = d.into_iter().map(|x| A::encode_weight(q, x)).collect();
                let twice =
                    weights.chunks_exact(leaf.radix).flat_map(|w| w.iter().chain(w).copied());
                twice.collect::<Vec<u64>>().chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
            }
            _ => d.into_iter().map(|x| A::encode(q, x)).collect(),
        }
    })
}

/// The powers ζ_a^(γ^i) of an axis, or ones if it is dense.
fn kernel(q: Modulus, root: u64, axis: &Axis) -> Vec<u64> {
    if !is_cyclic(axis) {
        return vec![1; axis.degree];
    }
    let zeta = q.pow(root, axis.exponent);
    let mut unit = 1;
    (0..axis.degree)
        .map(|_| {
            let power = q.pow(zeta, unit);
            unit = unit * axis.generator % axis.index;
            power
        })
        .collect()
}

/// The matrix of a dense axis and its inverse, row-major: value at place i, coefficient at place j.
fn matrices(modulus: Modulus, root: u64, axes: &Axes, a: usize) -> [Vec<u64>; 2] {
    let axis = &axes.all()[a];
    let zeta = modulus.pow(root, axis.exponent);
    let powers: Vec<u64> = std::iter::successors(Some(1), |x| Some(modulus.mul(*x, zeta)))
        .take(axis.index as usize)
        .collect();
    let units = axes.units_along(a);
    let exponents: Vec<u64> = (0..axis.degree).map(|j| axes.coefficient_exponent(a, j)).collect();
    let at = |e: u64| powers[(e % axis.index) as usize];
    let forward = units.iter().flat_map(|u| exponents.iter().map(move |e| at(u * e))).collect();
    // The coefficient of X^e is the sum of a(ζ^u) (ζ^(-u e) - ζ^(-u f)) over all u, divided by N, f
    // being e reduced modulo N / l: a power that is not in the basis.
    let scale = modulus.inv(modulus.reduce_u64(axis.index)).unwrap_or(0);
    let low = axis.index / axis.prime;
    let inverse = exponents
        .iter()
        .flat_map(|e| {
            units.iter().map(move |u| {
                let x = modulus.sub(
                    at(axis.index - u * e % axis.index),
                    at(axis.index - u * (e % low) % axis.index),
                );
                modulus.mul(scale, x)
            })
        })
        .collect();
    [forward, inverse]
}
