//! What digits to the base 256, and digits side by side in one ciphertext, would take beside those
//! that columns have, by the model of time (docs/adr/0058-one-base.md).

use std::sync::Arc;

use everlevel_circuit::{CircuitError, PrimePower, Session, Value, rotate_by_keys};
use everlevel_integers::{Column, Integers, IntegersError, Rehearsal, TablePlan, Type};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{
    Arithmetic, Level, NextUse, NoOp, OptIn, Params, Plaintext, Scheme, SchemeError,
};

type Cipher = Value<NoOpCiphertext>;
type Found = Result<Vec<NoOpCiphertext>, CircuitError>;
type Work<'a> = &'a dyn Fn(&NoOp, &[&NoOpCiphertext], usize) -> Found;

/// Bits that a step leaves above what bootstrapping needs.
const MARGIN: f64 = 6.0;

/// A set, and operands that are fresh, or have nothing left but what bootstrapping needs.
struct Trial {
    rehearsal: Rehearsal,
    /// Where a step is tried, uncounted.
    dry: NoOp,
    zero: Plaintext,
    ones: Plaintext,
    modulus: PrimePower,
    worn: bool,
}

impl Trial {
    fn new(name: &str, worn: bool) -> Self {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        Trial {
            rehearsal: Rehearsal::new(&params, true).unwrap(),
            dry: NoOp::blank(&params),
            zero: Plaintext::encode(&params, &[]).unwrap(),
            ones: Plaintext::encode(&params, &[1]).unwrap(),
            modulus: PrimePower::new(params.plain_modulus(), 1).unwrap(),
            worn,
        }
    }

    fn session(&self) -> &Session<NoOp> {
        self.rehearsal.session()
    }

    fn encrypt(&self, plain: &Plaintext) -> Result<NoOpCiphertext, SchemeError> {
        let (scheme, needed) = (self.session().scheme(), self.session().minimum_capacity());
        if !self.worn {
            return scheme.encrypt(plain);
        }
        // Above the noise of switches of the modulus.
        let room = |level: &Level| scheme.params().modulus_bits(*level) > needed + 45.0;
        let lowest = (1..).map(Level).find(room).unwrap();
        scheme.encrypt_exhausted(plain, lowest, needed)
    }

    fn ciphers(&self, count: usize) -> Vec<Cipher> {
        (0..count).map(|_| self.session().share(self.encrypt(&self.zero).unwrap())).collect()
    }

    fn column(&self, kind: Type) -> Column<NoOpCiphertext> {
        self.rehearsal.column(kind, 9, |_, plain| self.encrypt(plain)).unwrap()
    }

    /// A step in the first of its ways that fits, its inputs bootstrapped as far as it needs that;
    /// none if that is not enough.
    fn step(&self, inputs: &[&Cipher], ways: usize, work: Work<'_>) -> Option<Vec<Cipher>> {
        let scheme = self.session().scheme();
        let needed = self.session().minimum_capacity() + MARGIN;
        let mut stale: Vec<&Cipher> = inputs.to_vec();
        loop {
            let now: Vec<_> = inputs.iter().map(|x| x.get()).collect();
            let pretended = now.iter().map(|x| {
                let (level, capacity) = (scheme.level(x), scheme.capacity_bits(x));
                self.dry.encrypt_exhausted(&self.zero, level, capacity).unwrap()
            });
            let pretended: Vec<_> = pretended.collect();
            let pretended: Vec<_> = pretended.iter().collect();
            let fits = |way: &usize| {
                let enough = |y: &NoOpCiphertext| self.dry.capacity_bits(y) >= needed;
                work(&self.dry, &pretended, *way).is_ok_and(|y| y.iter().all(enough))
            };
            if let Some(way) = (0..ways).find(fits) {
                let now: Vec<_> = now.iter().map(Arc::as_ref).collect();
                let found = work(scheme, &now, way).unwrap();
                return Some(found.into_iter().map(|y| self.session().share(y)).collect());
            }
            stale.sort_by(|x, y| {
                scheme.capacity_bits(&y.get()).total_cmp(&scheme.capacity_bits(&x.get()))
            });
            self.session().refresh_in_place(stale.pop()?).unwrap();
        }
    }

    /// A function of one digit.
    fn table(&self, x: &Cipher, low: i64, high: i64, f: impl Fn(i64) -> i64) -> Option<Cipher> {
        let table = (low..=high).map(f).collect();
        let plan = TablePlan::new(self.modulus, low, high, &[table]).unwrap();
        let work = |scheme: &NoOp, x: &[&NoOpCiphertext], way: usize| {
            Ok(plan.evaluate(scheme, x[0], way)?.into_iter().flatten().collect())
        };
        self.step(&[x], plan.ways(), &work)?.pop()
    }

    fn sum(&self, terms: &[(&Cipher, i64)]) -> Option<Cipher> {
        let (x, k): (Vec<&Cipher>, Vec<i64>) = terms.iter().copied().unzip();
        let work = |scheme: &NoOp, x: &[&NoOpCiphertext], _: usize| {
            let terms: Vec<_> = x.iter().copied().zip(k.iter().copied()).collect();
            Ok(vec![scheme.linear_combination(&terms, 0)?])
        };
        self.step(&x, 1, &work)?.pop()
    }

    /// x + k (x rotated), of which some slots are kept if it is masked.
    fn with_next(&self, x: &Cipher, steps: i64, k: i64, masked: bool) -> Option<Cipher> {
        let work = |scheme: &NoOp, x: &[&NoOpCiphertext], _: usize| {
            let moved = rotate_by_keys(scheme, x[0], steps)?;
            let moved = if masked { scheme.mul_plain(&moved, &self.ones)? } else { moved };
            Ok(vec![scheme.linear_combination(&[(x[0], 1), (&moved, k)], 0)?])
        };
        self.step(&[x], 1, &work)?.pop()
    }

    /// Whether Σ base^i d_i < 0 for digits of a window, each in a ciphertext of its own: the sign
    /// of each, joined by fours.
    fn negative(&self, digits: &[Cipher], (low, high): (i64, i64)) -> Option<Cipher> {
        let (mut low, mut high) = (low, high);
        let mut signs = digits.to_vec();
        while signs.len() > 1 {
            let leaves = signs.iter().map(|d| self.table(d, low, high, i64::signum));
            let leaves = leaves.collect::<Option<Vec<_>>>()?;
            let joined =
                |four: &[Cipher]| self.sum(&four.iter().zip([1, 2, 4, 8]).collect::<Vec<_>>());
            signs = leaves.chunks(4).map(joined).collect::<Option<_>>()?;
            high = (1 << leaves.len().min(4)) - 1;
            low = -high;
        }
        self.table(&signs[0], low, high, |d| i64::from(d < 0))
    }

    /// a < b of digits to the base 256.
    fn less_planar(&self, digits: usize) -> Option<Cipher> {
        let (a, b) = (self.ciphers(digits), self.ciphers(digits));
        let differences = a.iter().zip(&b).map(|(a, b)| self.sum(&[(a, 1), (b, -1)]));
        self.negative(&differences.collect::<Option<Vec<_>>>()?, (-255, 255))
    }

    fn product(&self, x: &Cipher, y: &Cipher) -> Option<Cipher> {
        let work = |scheme: &NoOp, x: &[&NoOpCiphertext], _: usize| {
            Ok(vec![scheme.mul(x[0], x[1], NextUse::Keep)?])
        };
        self.step(&[x, y], 1, &work)?.pop()
    }

    /// 18 <= age < 65 of bytes.
    fn filter(&self) -> Option<Cipher> {
        let age = &self.ciphers(1)[0];
        let adult = self.table(age, 0, 255, |v| i64::from(v >= 18))?;
        self.product(&adult, &self.table(age, 0, 255, |v| i64::from(v < 65))?)
    }

    /// 12 below 1,000, else 5 below 50,000, of two bytes.
    fn fee(&self) -> Option<Cipher> {
        let balance = self.ciphers(2);
        let limits = [0, 0].map(|_| self.negative(&balance, (-128, 127)));
        let [first, second] = limits;
        let (first, second) = (first?, second?);
        let both = self.product(&first, &second)?;
        self.sum(&[(&first, 12), (&second, 5), (&both, -5)])
    }

    /// limit // 2 where age < 25 and income < 30,000, else limit: of one, four and three bytes.
    fn risk(&self) -> Option<Vec<Cipher>> {
        let (age, income, limit) = (self.ciphers(1), self.ciphers(4), self.ciphers(3));
        let young = self.table(&age[0], 0, 255, |v| i64::from(v < 25))?;
        let poor = self.negative(&income, (-128, 127))?;
        let condition = self.product(&young, &poor)?;
        let halves = limit.iter().map(|d| self.table(d, 0, 255, |v| v >> 1));
        let halves = halves.collect::<Option<Vec<_>>>()?;
        // The upper neighbour's lowest bit comes into a digit.
        let whole = |i: usize| match (limit.get(i + 1), halves.get(i + 1)) {
            (Some(d), Some(half)) => self.sum(&[(&halves[i], 1), (d, 128), (half, -256)]),
            _ => Some(halves[i].clone()),
        };
        let halves = (0..limit.len()).map(whole).collect::<Option<Vec<_>>>()?;
        limit
            .iter()
            .zip(&halves)
            .map(|(own, half)| {
                let change = self.sum(&[(half, 1), (own, -1)])?;
                self.sum(&[(own, 1), (&self.product(&condition, &change)?, 1)])
            })
            .collect()
    }

    /// The canonical digits of a + b to the base 256, of up to four of them.
    fn add_planar(&self, digits: usize) -> Option<Vec<Cipher>> {
        let (a, b) = (self.ciphers(digits), self.ciphers(digits));
        let sums = a.iter().zip(&b).map(|(a, b)| self.sum(&[(a, 1), (b, 1)]));
        let sums = sums.collect::<Option<Vec<_>>>()?;
        let states = sums.iter().map(|s| self.table(s, 0, 510, |s| (s - 255).signum()));
        let states = states.collect::<Option<Vec<_>>>()?;
        let mut carries = Vec::new();
        for i in 0..digits {
            let joined: Vec<_> = states[..=i].iter().zip([1, 2, 4, 8]).collect();
            let most = (1 << joined.len()) - 1;
            let joined = self.sum(&joined)?;
            carries.push(self.table(&joined, -most, most, |t| i64::from(t > 0))?);
        }
        let mut out = vec![self.sum(&[(&sums[0], 1), (&carries[0], -256)])?];
        for i in 1..digits {
            out.push(self.sum(&[(&sums[i], 1), (&carries[i - 1], 1), (&carries[i], -256)])?);
        }
        out.push(carries.pop()?);
        Some(out)
    }

    /// a < b of digits to the base 16, side by side in one ciphertext.
    fn less_beside(&self, digits: usize) -> Option<Cipher> {
        let x = self.ciphers(2);
        let mut sign = self.sum(&[(&x[0], 1), (&x[1], -1)])?;
        let (mut left, mut step) = (digits, 1);
        while left > 1 {
            sign = self.table(&sign, -15, 15, i64::signum)?;
            // Four neighbours with the weights 1, 2, 4 and 8.
            sign = self.with_next(&sign, step, 2, false)?;
            if left > 2 {
                sign = self.with_next(&sign, 2 * step, 4, false)?;
            }
            (left, step) = (left.div_ceil(4), 4 * step);
        }
        self.table(&sign, -15, 15, |d| i64::from(d < 0))
    }

    /// The canonical digits of a + b, side by side.
    fn add_beside(&self, digits: usize) -> Option<Cipher> {
        let x = self.ciphers(2);
        let sum = self.sum(&[(&x[0], 1), (&x[1], 1)])?;
        let mut state = self.table(&sum, 0, 30, |s| (s - 15).signum())?;
        let (mut span, mut step) = (1, 1);
        while span < digits {
            if span > 1 {
                state = self.table(&state, -15, 15, i64::signum)?;
            }
            // That of a digit counts more than those below it, of the same value.
            for (moved, weight) in [(step, 2), (2 * step, 4)] {
                if span < digits {
                    let work = |scheme: &NoOp, x: &[&NoOpCiphertext], _: usize| {
                        let next = rotate_by_keys(scheme, x[0], -moved)?;
                        let next = scheme.mul_plain(&next, &self.ones)?;
                        Ok(vec![scheme.linear_combination(&[(x[0], weight), (&next, 1)], 0)?])
                    };
                    state = self.step(&[&state], 1, &work)?.pop()?;
                    span *= 2;
                }
            }
            step *= 4;
        }
        let carry = self.table(&state, -15, 15, |t| i64::from(t > 0))?;
        let work = |scheme: &NoOp, x: &[&NoOpCiphertext], _: usize| {
            let below = scheme.mul_plain(&rotate_by_keys(scheme, x[1], -1)?, &self.ones)?;
            Ok(vec![scheme.linear_combination(&[(x[0], 1), (&below, 1), (x[1], -16)], 0)?])
        };
        self.step(&[&sum, &carry], 1, &work)?.pop()
    }

    /// Seconds for 32,768 values, of work that is done for as many as one of `parts` equal parts of
    /// a ciphertext holds; none if it does not fit.
    fn seconds<T>(&self, parts: usize, work: impl FnOnce(&Self) -> Option<T>) -> Option<f64> {
        let before = self.rehearsal.so_far();
        work(self)?;
        let values = self.rehearsal.params().slots() / parts;
        Some((self.rehearsal.so_far() - before).seconds * 32_768.0 / values as f64)
    }

    /// The same of what columns do.
    fn ours(
        &self,
        work: impl FnOnce(&Integers<'_, NoOp>) -> Result<(), IntegersError>,
    ) -> Option<f64> {
        let ints = self.rehearsal.integers().unwrap();
        self.seconds(1, |_| work(&ints).ok())
    }

    /// Comparison and sum: as columns are, to the base 256, and side by side.
    fn of(&self, kind: Type, nibbles: usize) -> [[Option<f64>; 3]; 2] {
        let bytes = nibbles / 2;
        let less = [
            self.ours(|s| s.lt(&self.column(kind), &self.column(kind)).map(drop)),
            self.seconds(1, |t| t.less_planar(bytes)),
            self.seconds(nibbles, |t| t.less_beside(nibbles)),
        ];
        let add = [
            self.ours(|s| s.normalized(&s.add(&self.column(kind), &self.column(kind))?).map(drop)),
            (bytes <= 4).then(|| self.seconds(1, |t| t.add_planar(bytes))).flatten(),
            self.seconds(nibbles, |t| t.add_beside(nibbles)),
        ];
        [less, add]
    }

    /// A table of bytes, and three programs: as columns are, and to the base 256.
    fn programs(&self) -> [(&'static str, [Option<f64>; 2]); 4] {
        let table: Vec<i128> = (0..256).map(|v| v * 7 % 256).collect();
        let [age, balance] = [Type::U8, Type::U16];
        let (income, limit) = (Type::U32, Type::ranged(0, 1_000_000).unwrap());
        let ours = [
            self.ours(|s| s.lookup(&self.column(age), &table).map(drop)),
            self.ours(|s| {
                let x = self.column(age);
                s.and(&s.ge(&x, 18)?, &s.lt(&x, 65)?).map(drop)
            }),
            self.ours(|s| {
                let x = self.column(balance);
                let second = s.select(&s.lt(&x, 50_000)?, 5, 0)?;
                s.select(&s.lt(&x, 1000)?, 12, &second).map(drop)
            }),
            self.ours(|s| {
                let (x, y, z) = (self.column(age), self.column(income), self.column(limit));
                let condition = s.and(&s.lt(&x, 25)?, &s.lt(&y, 30_000)?)?;
                s.select(&condition, &s.div_public(&z, 2)?, &z).map(drop)
            }),
        ];
        let bytes = [
            self.seconds(1, |t| t.table(&t.ciphers(1)[0], 0, 255, |v| v * 7 % 256)),
            self.seconds(1, Self::filter),
            self.seconds(1, Self::fee),
            self.seconds(1, Self::risk),
        ];
        let names = ["table", "filter", "fee", "risk"];
        std::array::from_fn(|i| (names[i], [ours[i], bytes[i]]))
    }
}

fn shown(found: &[Option<f64>]) -> String {
    found.iter().map(|x| x.map_or("– | ".into(), |x| format!("{x:.2} | "))).collect()
}

#[test]
#[ignore = "prints the tables of docs/adr/0058-one-base.md"]
fn tables() {
    for (set, worn) in
        ["bgv-65537-n15", "bgv-786433-n16"].iter().flat_map(|set| [(set, false), (set, true)])
    {
        let trial = Trial::new(set, worn);
        for (kind, nibbles) in [(Type::U8, 2), (Type::U16, 4), (Type::U32, 8), (Type::U64, 16)] {
            let [less, add] = trial.of(kind, nibbles);
            println!("{set} {worn} | `<` {kind} | {}", shown(&less));
            println!("{set} {worn} | `+` {kind} | {}", shown(&add));
        }
        for (name, found) in trial.programs() {
            println!("{set} {worn} | {name} | {}", shown(&found));
        }
    }
}

/// The finding, where it is closest: fresh digits to the base 16 take less than bytes; bytes
/// without capacity do not fit the first set, and gain less than a third on the other one, which
/// takes twice as many slots; side by side, full columns take longer and short ones less.
#[test]
fn one_base_is_enough() {
    let [fresh, worn] = [false, true].map(|worn| Trial::new("bgv-65537-n15", worn));
    let seconds = |x: Option<f64>| x.unwrap_or(f64::INFINITY);
    for found in fresh.of(Type::U16, 4) {
        let [ours, bytes, beside] = found.map(seconds);
        assert!(ours < bytes && ours < beside && beside < 4.0 * ours, "{found:?}");
    }
    let worn_ours = worn.of(Type::U16, 4);
    assert!(worn_ours.iter().all(|found| found[1].is_none()), "{worn_ours:?}");
    let other = Trial::new("bgv-786433-n16", true).of(Type::U16, 4);
    for (ours, found) in worn_ours.iter().zip(other) {
        let (ours, bytes) = (seconds(ours[0]), seconds(found[1]));
        assert!(bytes > 0.67 * ours, "{ours} and {bytes}");
    }
}
