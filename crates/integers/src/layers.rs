//! Layers of sorting networks: the exchanges of pairs of entries at the same distance, in public.

/// Exchanges of entries that are as far apart as `distance`: a power of two, but within arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) distance: usize,
    /// The length of the lists that are put in alternating orders; `None` if the entries that come
    /// first move to the lower positions in all of them.
    lists: Option<usize>,
    /// The exchanges within arrays; `None` for those of one list.
    within: Option<Within>,
}

/// The lower positions of pairs within arrays of n entries that are one after the other: those
/// whose bit `bit`, a power of two, is `is`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Within {
    n: usize,
    bit: usize,
    is: usize,
}

impl Layer {
    /// For the lower position of a pair, 1 if the pair is exchanged when the upper entry comes
    /// first, and -1 if it is exchanged otherwise; 0 for positions that are none.
    fn factor(&self, place: usize) -> i64 {
        if let Some(Within { n, bit, is }) = self.within {
            let own = place % n;
            return i64::from(own + self.distance < n && own & bit == is);
        }
        match self.lists {
            _ if place & self.distance != 0 => 0,
            Some(length) if place & length != 0 => -1,
            _ => 1,
        }
    }

    /// The factor of what is in each slot, in rows of `columns` that have moved to the left. Where
    /// the number of columns is no power of two, the last slots of a row have no upper position in
    /// it: what comes round is the first entries.
    pub(crate) fn factors(&self, (slots, columns): (usize, usize), moved: usize) -> Vec<i64> {
        let factor = |slot: usize| {
            let column = (slot % columns + moved) % columns;
            match self.distance < columns && column + self.distance >= columns {
                true => 0,
                false => self.factor(slot / columns * columns + column),
            }
        };
        (0..slots).map(factor).collect()
    }
}

/// The layers that bring the first `kept` of `count` entries, both powers of two, to the first
/// positions.
pub(crate) fn layers(count: usize, kept: usize) -> Vec<Layer> {
    let powers = |below: usize| (0..usize::BITS).map(|k| 1 << k).take_while(move |p| *p < below);
    let mut out = Vec::new();
    for half in powers(count) {
        let lists = Some(2 * half);
        out.push(Layer { distance: half, lists: lists.filter(|_| half < kept), within: None });
        let mut below: Vec<usize> = powers(half.min(kept)).collect();
        below.reverse();
        out.extend(below.into_iter().map(|distance| Layer { distance, lists, within: None }));
    }
    out
}

/// The layers that sort all arrays of `n` entries each, at least two, that are one after the other:
/// Batcher's merging by exchanges (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M).
/// All of its exchanges are in the same order, for any n, and those of a layer are at the same
/// distance. For up to 2^m entries there are m (m + 1) / 2 layers, as in the bitonic network.
pub(crate) fn layers_in_arrays(n: usize) -> Vec<Layer> {
    let top = n.next_power_of_two() / 2;
    let (mut out, mut bit) = (Vec::new(), top);
    while bit > 0 {
        let (mut upper, mut is, mut distance) = (top, 0, bit);
        loop {
            out.push(Layer { distance, lists: None, within: Some(Within { n, bit, is }) });
            if upper == bit {
                break;
            }
            (distance, upper, is) = (upper - bit, upper / 2, bit);
        }
        bit /= 2;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(mut x: Vec<usize>, layers: &[Layer]) -> Vec<usize> {
        for layer in layers {
            for i in 0..x.len() {
                let j = i + layer.distance;
                match layer.factor(i) {
                    1 if x[j] < x[i] => x.swap(i, j),
                    -1 if x[j] >= x[i] => x.swap(i, j),
                    _ => {}
                }
            }
        }
        x
    }

    /// By the zero-one principle: a network that sorts all columns of zeros and ones sorts all
    /// columns.
    #[test]
    fn first_entries_come_first() {
        for count in [1usize, 2, 4, 8, 16] {
            for kept in (0..=count.ilog2()).map(|k| 1 << k) {
                let layers = layers(count, kept);
                let rounds = |n: usize| n.ilog2() as usize;
                let sorted = rounds(kept) * (rounds(kept) + 1) / 2;
                let merged = (rounds(count) - rounds(kept)) * (rounds(kept) + 1);
                assert_eq!(layers.len(), sorted + merged);
                for code in 0..1usize << count {
                    let x: Vec<usize> = (0..count).map(|i| code >> i & 1).collect();
                    let mut expected = x.clone();
                    expected.sort_unstable();
                    assert_eq!(run(x, &layers)[..kept], expected[..kept], "{kept} of {count}");
                }
            }
        }
    }

    /// All arrays of zeros and ones, one after the other.
    #[test]
    fn arrays_are_sorted() {
        for n in 2usize..10 {
            let layers = layers_in_arrays(n);
            let rounds = n.next_power_of_two().ilog2() as usize;
            assert_eq!(layers.len(), rounds * (rounds + 1) / 2, "{n}");
            let arrays = (0..1usize << n).map(|code| (0..n).map(move |i| code >> i & 1));
            let arrays: Vec<Vec<usize>> = arrays.map(Iterator::collect).collect();
            let found = run(arrays.concat(), &layers);
            for (array, found) in arrays.iter().zip(found.chunks(n)) {
                let mut expected = array.clone();
                expected.sort_unstable();
                assert_eq!(found, expected, "{array:?}");
            }
        }
    }

    /// In rows that move and are cyclic, as slots are, whatever their length is.
    #[test]
    fn rows_of_any_length() {
        for (columns, n) in [(5usize, 3usize), (5, 4), (8, 7), (12, 5), (12, 8), (29, 9), (29, 16)]
        {
            let entry = |i: usize| if i < n { (7 * i + 3) as i64 % 11 } else { 99 };
            let mut expected: Vec<i64> = (0..n).map(entry).collect();
            expected.sort_unstable();
            for kept in [1, 2, n].map(usize::next_power_of_two) {
                let mut slots: Vec<i64> = (0..columns).map(entry).collect();
                let mut moved = 0;
                for layer in layers(n.next_power_of_two(), kept) {
                    let ahead = |x: &[i64]| [&x[layer.distance..], &x[..layer.distance]].concat();
                    let upper = ahead(&slots);
                    let factors = layer.factors((columns, columns), moved);
                    let change = |(i, factor): (usize, &i64)| {
                        let first = i64::from(upper[i] < slots[i]);
                        let swap = if *factor < 0 { 1 - first } else { factor * first };
                        swap * (upper[i] - slots[i])
                    };
                    let change: Vec<i64> = factors.iter().enumerate().map(change).collect();
                    let back = ahead(&change);
                    slots = (0..columns).map(|i| upper[i] - change[i] + back[i]).collect();
                    moved = (moved + layer.distance) % columns;
                }
                let found = (0..kept.min(n)).map(|i| slots[(i + columns - moved) % columns]);
                assert_eq!(found.collect::<Vec<_>>(), expected[..kept.min(n)], "{n} of {columns}");
            }
        }
    }
}
