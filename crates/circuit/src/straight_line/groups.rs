//! Which sums of a program are computed together, because they have terms in common.

use std::collections::{BTreeMap, BTreeSet};

use super::steps::{Circuit, Groups, Node, NodeId};

/// The most sums that are computed in one pass over their terms: each of them but the first is in
/// memory before its turn.
const ROWS: usize = 8;

impl Circuit {
    /// The sums that are computed together, found once.
    pub(super) fn groups(&self) -> &Groups {
        self.groups.0.get_or_init(|| Groups::of(&self.nodes))
    }
}

impl Groups {
    /// A sum is computed with an earlier one if everything that it is made of is there before that
    /// one, and if half of the terms of both are the same. Sums that have a term twice are computed
    /// by themselves.
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut uses = vec![0; nodes.len()];
        for x in nodes.iter().filter_map(distinct_terms).flatten() {
            uses[x.0] += 1;
        }
        let mut open = OpenGroups::new(uses);
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, node) in nodes.iter().enumerate() {
            let Some(terms) = distinct_terms(node) else { continue };
            let latest = node.operands().iter().map(|x| x.0).max();
            let Some(at) = open.find(&terms, latest) else {
                open.push(i, terms);
                continue;
            };
            open.groups[at].rows.push(i);
            if open.groups[at].rows.len() == ROWS {
                let full = open.remove(at);
                rows.insert(full.first, full.rows);
            }
        }
        rows.extend(open.groups.into_iter().map(|group| (group.first, group.rows)));
        rows.retain(|_, rows| rows.len() > 1);
        Groups { rows }
    }
}

/// The terms of a sum that has several, each of them once.
fn distinct_terms(node: &Node) -> Option<BTreeSet<NodeId>> {
    let Node::Combine { terms, .. } = node else { return None };
    let distinct: BTreeSet<NodeId> = terms.iter().map(|(x, _)| *x).collect();
    (distinct.len() >= 2 && distinct.len() == terms.len()).then_some(distinct)
}

/// A group that may grow.
struct Open {
    first: usize,
    /// The terms of the first sum.
    terms: BTreeSet<NodeId>,
    rows: Vec<usize>,
}

/// The groups that may grow, and where to look for those that have terms in common with a sum.
struct OpenGroups {
    groups: Vec<Open>,
    /// The place in `groups` of the group that begins with this sum.
    places: Vec<usize>,
    /// The first sums of the groups that have this node among their rare terms, in their order.
    by_rare_term: Vec<Vec<usize>>,
    /// The sums that have this node as a term.
    uses: Vec<usize>,
}

impl OpenGroups {
    fn new(uses: Vec<usize>) -> Self {
        let (places, by_rare_term) = (vec![0; uses.len()], vec![Vec::new(); uses.len()]);
        OpenGroups { groups: Vec::new(), places, by_rare_term, uses }
    }

    /// The terms that the fewest sums have, one more than half of all. If half of the terms of two
    /// sums are the same, the rarest term that they have in common is among these for both of them.
    fn rare(&self, terms: &BTreeSet<NodeId>) -> Vec<NodeId> {
        let mut rare: Vec<NodeId> = terms.iter().copied().collect();
        rare.sort_by_key(|x| (self.uses[x.0], x.0));
        rare.truncate(terms.len() / 2 + 1);
        rare
    }

    /// The first place of a group that begins after the node `latest` and has half of these terms.
    fn find(&self, terms: &BTreeSet<NodeId>, latest: Option<usize>) -> Option<usize> {
        let mut near = BTreeSet::new();
        for x in self.rare(terms) {
            let firsts = &self.by_rare_term[x.0];
            let begun = firsts.partition_point(|first| Some(*first) <= latest);
            near.extend(firsts[begun..].iter().map(|first| self.places[*first]));
        }
        near.into_iter().find(|at| {
            let other = &self.groups[*at].terms;
            2 * terms.intersection(other).count() >= terms.len().max(other.len())
        })
    }

    fn push(&mut self, first: usize, terms: BTreeSet<NodeId>) {
        for x in self.rare(&terms) {
            self.by_rare_term[x.0].push(first);
        }
        self.places[first] = self.groups.len();
        self.groups.push(Open { first, terms, rows: vec![first] });
    }

    fn remove(&mut self, at: usize) -> Open {
        let group = self.groups.swap_remove(at);
        if let Some(moved) = self.groups.get(at) {
            self.places[moved.first] = at;
        }
        for x in self.rare(&group.terms) {
            let firsts = &mut self.by_rare_term[x.0];
            if let Ok(k) = firsts.binary_search(&group.first) {
                firsts.remove(k);
            }
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use everlevel_scheme::NextUse;
    use everlevel_testing::{ResidueScheme, SplitMix};

    use super::*;
    use crate::straight_line::CircuitBuilder;

    /// Twenty combinations of x and x², between which there is one in another order, and one with a
    /// product of what was computed.
    #[test]
    fn sums_of_the_same_values_are_computed_together() {
        let mut builder = CircuitBuilder::new();
        let x = builder.input(1);
        let square = builder.mul(x, x).unwrap();
        let mut outputs = Vec::new();
        for c in 0..20 {
            outputs.push(builder.combine(vec![], vec![(x, c), (square, c - 7)], c * c).unwrap());
            if c == 3 {
                let last = outputs[3];
                let (other, with_product) = (vec![(square, 2), (x, 3)], vec![(square, 5), (x, 1)]);
                outputs.push(builder.combine(vec![], other, 4).unwrap());
                outputs.push(builder.combine(vec![(last, x)], with_product, 6).unwrap());
            }
        }
        // A term alone, and one that is there twice.
        outputs.push(builder.combine(vec![], vec![(x, 2)], 1).unwrap());
        outputs.push(builder.combine(vec![], vec![(x, 2), (square, 1), (x, 1)], 1).unwrap());
        let circuit = builder.finish(&outputs).unwrap();
        let groups = circuit.groups();
        let nodes: Vec<usize> = circuit.outputs.iter().map(|node| node.0).collect();
        let rows = |output: usize| groups.rows(nodes[output]);
        assert_eq!(rows(0), [0, 1, 2, 3, 4, 6, 7, 8].map(|output| nodes[output]));
        // What the product is of is not there before the first sum.
        assert_eq!(rows(5), [5, 9, 10, 11, 12, 13, 14, 15].map(|output| nodes[output]));
        assert_eq!(rows(16), [16, 17, 18, 19, 20, 21].map(|output| nodes[output]));
        assert!([1, 9, 22, 23].iter().all(|output| rows(*output).is_empty()));

        let scheme = ResidueScheme::new(257);
        let xs: Vec<u64> = (0..257).collect();
        let found = circuit.run(&scheme, &[&scheme.encrypt(xs, 1)], NextUse::Keep).unwrap();
        let line = |c: i64, x: i64| c * x + (c - 7) * x * x + c * c;
        for (i, x) in (0i64..257).enumerate() {
            let mut expected: Vec<i64> = (0..20).map(|c| line(c, x)).collect();
            let between = [2 * x * x + 3 * x + 4, line(3, x) * x + 5 * x * x + x + 6];
            expected.splice(4..4, between);
            expected.extend([2 * x + 1, x * x + 3 * x + 1]);
            for (y, expected) in found.iter().zip(expected) {
                assert_eq!(y.values[i], expected.rem_euclid(257) as u64);
            }
        }
    }

    /// Sums of which each lacks some of the values of the first one.
    #[test]
    fn half_of_the_terms_suffice() {
        let mut builder = CircuitBuilder::new();
        let xs: Vec<NodeId> = (0..6).map(|_| builder.input(1)).collect();
        let mut sum = |places: &[usize]| {
            let terms = places.iter().map(|i| (xs[*i], 1 + *i as i64)).collect();
            builder.combine(vec![], terms, 0).unwrap()
        };
        let outputs = [sum(&[0, 1, 2, 3, 4, 5]), sum(&[0, 2, 4]), sum(&[1, 5]), sum(&[1, 3, 4, 5])];
        let circuit = builder.finish(&outputs).unwrap();
        let nodes: Vec<usize> = circuit.outputs.iter().map(|node| node.0).collect();
        let groups = circuit.groups();
        assert_eq!(groups.rows(nodes[0]), [nodes[0], nodes[1], nodes[3]]);
        assert!(groups.rows(nodes[2]).is_empty());
        let scheme = ResidueScheme::new(257);
        let inputs: Vec<_> = (1..7).map(|x| scheme.encrypt(vec![x], 1)).collect();
        let inputs: Vec<_> = inputs.iter().collect();
        let found = circuit.run(&scheme, &inputs, NextUse::Keep).unwrap();
        let found: Vec<u64> = found.iter().map(|y| y.values[0]).collect();
        assert_eq!(found, [91, 1 + 9 + 25, 4 + 36, 4 + 16 + 25 + 36]);
    }

    /// The definition: each sum is compared with all groups that there are before it.
    fn by_comparing_all(nodes: &[Node]) -> Groups {
        let mut open: Vec<Open> = Vec::new();
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, node) in nodes.iter().enumerate() {
            let Some(terms) = distinct_terms(node) else { continue };
            let latest = node.operands().iter().map(|x| x.0).max();
            let joins = |group: &Open| {
                let common = terms.intersection(&group.terms).count();
                latest < Some(group.first) && 2 * common >= terms.len().max(group.terms.len())
            };
            let Some(at) = open.iter().position(joins) else {
                open.push(Open { first: i, terms, rows: vec![i] });
                continue;
            };
            open[at].rows.push(i);
            if open[at].rows.len() == ROWS {
                let full = open.swap_remove(at);
                rows.insert(full.first, full.rows);
            }
        }
        rows.extend(open.into_iter().map(|group| (group.first, group.rows)));
        rows.retain(|_, rows| rows.len() > 1);
        Groups { rows }
    }

    /// Sums of one to six terms, mostly of the inputs, and else of anything that is known.
    #[test]
    fn groups_are_those_that_comparing_all_sums_finds() {
        let mut rng = SplitMix(5);
        let (mut several, mut full) = (0, 0);
        for inputs in [2, 3, 5, 8, 20] {
            for _ in 0..20 {
                let mut builder = CircuitBuilder::new();
                let mut known: Vec<NodeId> = (0..inputs).map(|_| builder.input(1)).collect();
                for _ in 0..150 {
                    let among = if rng.below(8) > 0 { inputs } else { known.len() as u64 };
                    let count = 1 + rng.below(6);
                    let terms = (0..count).map(|_| (known[rng.below(among) as usize], 1)).collect();
                    known.push(builder.combine(vec![], terms, 0).unwrap());
                }
                let circuit = builder.finish(&known).unwrap();
                let groups = circuit.groups();
                assert_eq!(*groups, by_comparing_all(&circuit.nodes));
                several += groups.rows.len();
                full += groups.rows.values().filter(|rows| rows.len() == ROWS).count();
            }
        }
        assert!(several > 500 && full > 100, "{several} groups, {full} of them full");
    }

    /// Comparing each of these sums with all others would take minutes.
    #[test]
    fn a_term_of_all_sums_makes_no_group() {
        let count = 20_000;
        let mut builder = CircuitBuilder::new();
        let xs: Vec<NodeId> = (0..=2 * count).map(|_| builder.input(1)).collect();
        let mut outputs = Vec::new();
        for constant in [0, 1] {
            for own in xs[1..].chunks(2) {
                let terms = vec![(xs[0], 1), (own[0], 1), (own[1], 1)];
                outputs.push(builder.combine(vec![], terms, constant).unwrap());
            }
        }
        let circuit = builder.finish(&outputs).unwrap();
        let groups = circuit.groups();
        assert_eq!(groups.rows.len(), count);
        for (first, second) in circuit.outputs[..count].iter().zip(&circuit.outputs[count..]) {
            assert_eq!(groups.rows(first.0), [first.0, second.0]);
        }
    }
}
