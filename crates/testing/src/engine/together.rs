//! Several ciphertexts with the same keys.

use everlevel_ring::{
    Basis, Constant, Engine, GaloisElement, Hoist, Hoisted, Rest, Source, Sum, Use,
};

use super::Laws;
use super::sums::{gadget, level, special};

impl<E: Engine> Laws<'_, E> {
    /// Images of two ciphertexts at once, with and without a key.
    pub(super) fn hoisted_sums(&self) {
        let (engine, wide, g) = (self.engine, self.extended(), self.automorphism());
        let factor = Constant { numerator: -5, denominator: 9 };
        for (digits, expected) in self.every_source() {
            let other = self.random(level());
            let cut = engine.decompose(&gadget(), Source::Eval(&self.eval(&other), 1));
            let expected = [expected, self.digits(&other.coefficients, 1)];
            let known = [0; 2].map(|_| [0; 2].map(|_| self.random(level())));
            let components = known.each_ref().map(|x| x.each_ref().map(|c| self.eval(c)));
            let host = [0; 2].map(|_| self.random_key());
            let keys = host.each_ref().map(|key| engine.key(key));
            let one = GaloisElement::IDENTITY;
            let images = vec![(g, Some(&keys[0])), (one, None), (one, Some(&keys[1]))];
            let sources = [digits, cut].into_iter().zip(&components);
            let sources = sources
                .map(|(digits, components)| Hoisted { digits: Some(digits), components })
                .collect();
            let hoist = Hoist { basis: wide, images, sources, raise: special(), factor };
            let all = engine.hoist(hoist);
            assert_eq!(all.len(), 2, "hoist: images of each ciphertext");
            for ((results, known), expected) in all.iter().zip(&known).zip(&expected) {
                let rests = known.each_ref().map(|x| self.plain(x));
                for (image, (g, key)) in
                    results.iter().zip([(g, Some(&host[0])), (one, None), (one, Some(&host[1]))])
                {
                    for (k, component) in image.iter().enumerate() {
                        let switched = key.map(|key| (expected, &key[..], k));
                        let rest = if k == 1 && key.is_some() { &None } else { &rests[k] };
                        let values = self.component(switched, rest, special(), factor, g);
                        self.assert_is(component, wide, &values, "hoist");
                    }
                    assert_eq!(image.len(), 2, "hoist: as many components as the ciphertext");
                }
                assert_eq!(results.len(), 3, "hoist: an image for each automorphism");
            }
        }
        let known = self.random(level());
        let components = &[self.eval(&known)];
        let hoist = Hoist {
            basis: wide,
            images: vec![(GaloisElement::IDENTITY, None)],
            sources: vec![Hoisted { digits: None, components }],
            raise: special(),
            factor,
        };
        let values =
            self.component(None, &self.plain(&known), special(), factor, GaloisElement::IDENTITY);
        self.assert_is(&engine.hoist(hoist)[0][0][0], wide, &values, "hoist without digits");
    }

    /// Sums with one key for two accumulators at once, and sums with two keys.
    pub(super) fn accumulated_together(&self) {
        let (engine, wide, g) = (self.engine, self.extended(), self.automorphism());
        let ring = &self.definitions.ring;
        let host = [0; 2].map(|_| self.random_key());
        let keys = host.each_ref().map(|key| engine.key(key));
        for choice in [[0, 0], [0, 1], [1, 1]] {
            let cut = [0; 2].map(|_| self.random(level()));
            let digits =
                cut.each_ref().map(|x| engine.decompose(&gadget(), Source::Eval(&self.eval(x), 1)));
            let known = [0; 2].map(|_| self.random(wide));
            let rests = known.each_ref().map(|x| self.eval(x));
            let before = [0; 2].map(|_| [0; 2].map(|_| self.random(wide)));
            let mut accs = before.each_ref().map(|x| x.each_ref().map(|c| self.eval(c)));
            let sums = accs.iter_mut().zip(digits).zip(&rests).zip(choice);
            let sums = sums.map(|(((acc, digits), rest), key)| {
                let sum = Sum {
                    switched: Some((Use::Once(digits), &keys[key])),
                    automorphism: g,
                    ..Sum::of_rests(wide, vec![Rest::Poly(rest), Rest::None])
                };
                (&mut acc[..], sum)
            });
            engine.accumulate(sums.collect());
            for (n, acc) in accs.iter().enumerate() {
                let expected = self.digits(&cut[n].coefficients, 1);
                for (k, after) in acc.iter().enumerate() {
                    let rest = if k == 0 { self.plain(&known[n]) } else { None };
                    let switched = Some((&expected, &host[choice[n]][..], k));
                    let added = self.component(switched, &rest, Basis::EMPTY, Constant::ONE, g);
                    let values = self.words(wide, |i, j| {
                        let added = added[wide.limb_of(i).expect("a prime")][j];
                        ring.modulus(i).add(before[n][k].values(i)[j], added)
                    });
                    self.assert_is(after, wide, &values, "accumulate for two");
                }
            }
        }
    }
}
