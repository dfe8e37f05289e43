//! The split into baby and giant steps where the index has axes: each span of a box into a short
//! one and a coarse one.

use std::collections::BTreeSet;

use everlevel_scheme::DiagonalValues;

use super::axis_map::{AxisMap, Span, galois_element, points};
use super::plan::MOST_BABIES;
use super::{GiantSteps, LinearMapPlan, StepCosts};
use crate::error::CircuitError;

impl LinearMapPlan {
    /// The cheapest split under `costs` of a map along axes, one width for each span: power
    /// k of a span is a baby among its first `width` ones and a giant that is a multiple of the
    /// width. Giants are chained, so that they need a key for each span.
    ///
    /// # Errors
    /// [`CircuitError::TooManyKeys`] if no split stays within the number of keys.
    pub fn along_axes(map: &AxisMap, costs: &StepCosts) -> Result<Self, CircuitError> {
        let mut best: Option<(f64, Vec<usize>)> = None;
        for widths in all_widths(map.spans()) {
            let count = Counts::new(map, &widths);
            let decompositions = map.inputs() * usize::from(count.babies > 0);
            let cost = costs.baby * (map.inputs() * count.babies) as f64
                + costs.giant * count.giants as f64
                + costs.key * count.keys as f64
                // Babies have a decomposition in common, which giants have each.
                + (costs.giant - costs.baby) * decompositions as f64;
            let held = map.inputs() * widths.iter().product::<usize>();
            let fits = count.keys <= costs.max_keys && held <= MOST_BABIES.max(map.inputs());
            if fits && best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, widths));
            }
        }
        let diagonals = map.points().len();
        let (cost, widths) =
            best.ok_or(CircuitError::TooManyKeys { diagonals, max_keys: costs.max_keys })?;
        Ok(Self::with_widths(map, &widths, cost))
    }

    fn with_widths(map: &AxisMap, widths: &[usize], cost: f64) -> Self {
        let (babies, giants) =
            (points(&short(map.spans(), widths)), descending(map.spans(), widths));
        let all = map.points();
        let mut rows = Vec::with_capacity(giants.len());
        for giant in &giants {
            let back: Vec<i64> = giant.iter().map(|k| -k).collect();
            let mut row = Vec::with_capacity(map.inputs() * babies.len());
            for input in 0..map.inputs() {
                row.extend(babies.iter().map(|baby| {
                    let point: Vec<i64> = baby.iter().zip(giant).map(|(b, g)| b + g).collect();
                    let place = all.binary_search(&point).ok()?;
                    Some(DiagonalValues::LastDimensions(
                        map.moved(&map.diagonals(input)[place], &back),
                    ))
                }));
            }
            rows.push(row);
        }
        // From one giant to the next one in the chain, which ends at the identity.
        let nexts = giants[1..].iter().cloned().chain([vec![0; widths.len()]]);
        let chain = giants.iter().zip(nexts).map(|(giant, next)| {
            let powers = map
                .spans()
                .iter()
                .zip(giant.iter().zip(&next))
                .map(|(s, (g, n))| (s.direction, g - n));
            galois_element(map.shape(), powers)
        });
        LinearMapPlan {
            modulus: map.modulus(),
            shape: map.shape().clone(),
            inputs: map.inputs(),
            babies: babies.iter().map(|baby| map.galois_element(baby)).collect(),
            giants: GiantSteps::Chain(chain.collect()),
            rows,
            cost,
        }
    }
}

/// Steps that are not the identity, and their keys.
struct Counts {
    babies: usize,
    giants: usize,
    keys: usize,
}

impl Counts {
    fn new(map: &AxisMap, widths: &[usize]) -> Self {
        let babies = points(&short(map.spans(), widths))
            .iter()
            .map(|b| map.galois_element(b))
            .filter(|g| !g.is_identity())
            .count();
        let giants = descending(map.spans(), widths);
        let spans = map.spans().iter().zip(widths).filter(|(s, w)| s.count > **w).count();
        Counts { babies, giants: giants.len() - 1, keys: babies + spans }
    }
}

/// The babies of each span.
fn short(spans: &[Span], widths: &[usize]) -> Vec<Span> {
    spans.iter().zip(widths).map(|(s, w)| Span { count: *w, ..*s }).collect()
}

/// All widths that differ in their numbers of giants, the babies of one input being few enough.
fn all_widths(spans: &[Span]) -> Vec<Vec<usize>> {
    spans.iter().fold(vec![Vec::new()], |all, span| {
        let widths: BTreeSet<usize> =
            (1..=span.count).map(|giants| span.count.div_ceil(giants)).collect();
        all.iter()
            .flat_map(|prefix: &Vec<usize>| {
                widths.iter().map(move |w| [&prefix[..], &[*w]].concat())
            })
            .filter(|widths| widths.iter().product::<usize>() <= MOST_BABIES)
            .collect()
    })
}

/// The giants in the order of a chain, the identity last: from one to the next, a span goes down by
/// its width and those after it start again at their ends, so that there is one automorphism for
/// each span.
fn descending(spans: &[Span], widths: &[usize]) -> Vec<Vec<i64>> {
    let coarse: Vec<Span> = spans
        .iter()
        .zip(widths)
        .map(|(s, w)| Span { from: 0, step: s.step * *w as i64, count: s.count.div_ceil(*w), ..*s })
        .collect();
    points(&coarse).into_iter().rev().collect()
}
