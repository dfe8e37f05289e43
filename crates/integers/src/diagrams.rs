//! Long lists of ranges, decided in parts by diagrams of bounded size.
//!
//! Each range may have two nodes of its own in each layer of a diagram, and the ciphertexts of two
//! layers are in memory at the same time. So a list whose diagram would be large is decided one
//! half after the other, and what is found is added up, at the depth of a range. A list of integers
//! takes a product for each of them and each digit but one at most, as it does without an index.

use crate::column::Digit;
use crate::context::{IntegerScheme, Integers};
use crate::diagram::Layer;
use crate::error::IntegersError;

/// The most ranges of which a diagram is made: its sets are compared with each other.
const RANGES: usize = 1 << 12;
/// The most nodes of a layer, whose ciphertexts are in memory with those of the next one: those of
/// 64 ranges. A layer has at most twice as many tables.
const NODES: usize = 128;

/// A diagram that decides about some ranges of a list.
pub(crate) struct Diagram {
    pub(crate) layers: Vec<Layer>,
    /// Whether it decides about a single integer.
    pub(crate) alone: bool,
}

/// The diagrams of a list of ranges, each of which is made when it is asked for.
pub(crate) struct Diagrams<'a, F> {
    /// Parts of the list of which there is no diagram yet, the first one last.
    rest: Vec<&'a [(i128, i128)]>,
    layers: F,
}

impl<'a, F: Fn(&[(i128, i128)], usize) -> Option<Vec<Layer>>> Diagrams<'a, F> {
    /// Those of ranges in order that do not touch. `layers` makes the layers of the diagram of some
    /// of them, unless there are more than a number of nodes in a layer.
    pub(crate) fn new(ranges: &'a [(i128, i128)], layers: F) -> Self {
        Diagrams { rest: vec![ranges], layers }
    }
}

impl<F: Fn(&[(i128, i128)], usize) -> Option<Vec<Layer>>> Iterator for Diagrams<'_, F> {
    type Item = Diagram;

    fn next(&mut self) -> Option<Diagram> {
        loop {
            let some = self.rest.pop()?;
            // A single range has a few nodes.
            let most = if some.len() > 1 { NODES } else { usize::MAX };
            let layers = if some.len() > RANGES { None } else { (self.layers)(some, most) };
            let few = |layer: &Layer| layer.tables.len() <= most.saturating_mul(2);
            if let Some(layers) = layers.filter(|layers| layers.iter().all(few)) {
                return Some(Diagram { layers, alone: matches!(some, [(a, b)] if a == b) });
            }
            let (lower, upper) = some.split_at(some.len() / 2);
            self.rest.extend([upper, lower]);
        }
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The sum of two truth values of which one at most is 1, as those of two parts of a list.
    pub(crate) fn either_part(
        &self,
        a: &Digit<S::Ciphertext>,
        b: &Digit<S::Ciphertext>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        Ok(self.combine(&[(a, 1), (b, 1)], 0)?.within(0, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::{decides, layers_within};
    use crate::ranges::apart;

    /// All integers of three digits, for a list of about half of them.
    #[test]
    fn long_lists_have_several_diagrams() {
        let listed: Vec<i128> = (0..4096i128).filter(|v| v.pow(3) % 4093 % 2 == 1).collect();
        let points: Vec<(i128, i128)> = listed.iter().map(|v| (*v, *v)).collect();
        let (windows, ranges) = ([(0, 15); 3], apart(&points, (0, 4095)));
        assert!(layers_within(&windows, &ranges, NODES).is_none());
        let of = |some: &[(i128, i128)], most: usize| layers_within(&windows, some, most);
        let diagrams: Vec<Diagram> = Diagrams::new(&ranges, of).collect();
        assert!((2..=4).contains(&diagrams.len()), "{}", diagrams.len());
        for diagram in &diagrams {
            let sizes: Vec<(usize, usize)> =
                diagram.layers.iter().map(|layer| (layer.nodes(), layer.tables.len())).collect();
            assert!(sizes.iter().all(|(n, t)| *n <= NODES && *t <= 2 * NODES), "{sizes:?}");
        }
        for value in 0..4096usize {
            let digit = |i: usize| (value >> (4 * i)) & 15;
            let holds = |diagram: &&Diagram| {
                let layers = &diagram.layers;
                decides(layers, &|i, table| layers[i].tables[table][digit(i)])
            };
            let expected = usize::from(listed.binary_search(&(value as i128)).is_ok());
            assert_eq!(diagrams.iter().filter(holds).count(), expected, "{value}");
        }
    }

    #[test]
    fn short_lists_have_one_diagram() {
        let cases: [(&[(i128, i128)], bool); 4] =
            [(&[], false), (&[(70, 70)], true), (&[(70, 71)], false), (&[(1, 1), (9, 9)], false)];
        for (ranges, alone) in cases {
            let of = |some: &[(i128, i128)], most: usize| layers_within(&[(0, 15); 2], some, most);
            let found: Vec<bool> = Diagrams::new(ranges, of).map(|d| d.alone).collect();
            assert_eq!(found, [alone], "{ranges:?}");
        }
    }
}
