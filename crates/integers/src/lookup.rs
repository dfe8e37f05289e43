//! Tables of one variable.

use everlevel_circuit::CircuitError;
use everlevel_circuit::poly::Polynomial;
use everlevel_circuit::straight_line::{Circuit, CircuitBuilder, NodeId};
use everlevel_ring::PrimePower;

use crate::column::{BASE, Column, Digit, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::split::digits_of;
use crate::stage::Stage;

/// Entries of the largest table: two digits.
const ENTRIES: u128 = 256;

impl<S: IntegerScheme> Integers<'_, S> {
    /// table[x - low] for the interval `low..=high` of x, of at most 256 integers.
    ///
    /// Cost for up to 31 entries: 7 to 12 products of depth 5, and 2 for each further digit of the
    /// results; up to 256: 28 products and 15 for each digit of the results, depth 5. Carries of x
    /// are computed first.
    ///
    /// # Errors
    /// [`IntegersError::Table`] unless there is an entry for each integer of the interval;
    /// [`IntegersError::Range`] for entries past 2^126; those of carries.
    pub fn lookup(
        &self,
        x: &Column<S::Ciphertext>,
        table: &[i128],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let points = x.interval.points();
        if points > ENTRIES || table.len() as u128 != points {
            let expected = match points > ENTRIES {
                true => format!("values of at most {ENTRIES} integers: clip them first"),
                false => format!("{points}, one for each of them"),
            };
            let entries = table.len();
            return Err(IntegersError::Table { entries, interval: x.interval, expected });
        }
        let lowest = table.iter().copied().min().unwrap_or(0);
        let highest = table.iter().copied().max().unwrap_or(0);
        let interval = Interval::new(lowest, highest)?;
        let at = |v: i128| table[(v - x.interval.low()).clamp(0, points as i128 - 1) as usize];
        if let Some(value) = x.public_value() {
            return Ok(Column::public(at(value), Interval::point(at(value))?, x.length));
        }
        let outputs = digits_of((highest - lowest).unsigned_abs());
        let part = |v: i128, i: usize| ((at(v) - lowest) >> (4 * i) & 15) as i64;
        let digits = if points <= POINTS as u128 {
            let digit = self.residue(x)?;
            let tables =
                (0..outputs).map(|i| (digit.low..=digit.high).map(|v| part(v.into(), i)).collect());
            let plan = self.plan(digit.low, digit.high, tables.collect())?;
            self.tables(vec![(digit, plan)])?.pop().unwrap_or_default()
        } else {
            let mut x = x.clone();
            if !x.is_canonical() || x.digits.len() > 2 {
                x = self.normalised_to(&x, (x.interval.low(), 2))?;
            }
            let (a, b) = (x.digit(1), x.digit(0));
            let row = |i: usize, a: i64| {
                let entry = |b| part(x.anchor + i128::from(BASE * a + b), i);
                (b.low..=b.high).map(entry).collect()
            };
            let tables: Vec<Vec<Vec<i64>>> =
                (0..outputs).map(|i| (a.low..=a.high).map(|a| row(i, a)).collect()).collect();
            self.look_up_pair(&a, &b, &tables)?
        };
        Ok(Column { interval, anchor: lowest, digits, length: x.length })
    }

    /// Functions of two digits: tables[output][a - low of a][b - low of b].
    pub(crate) fn look_up_pair(
        &self,
        a: &Digit<S::Ciphertext>,
        b: &Digit<S::Ciphertext>,
        tables: &[Vec<Vec<i64>>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let plan = pair_circuit(self.modulus(), (a.low, b.low), tables)?;
        let (Some(x), Some(y)) = (&a.cipher, &b.cipher) else {
            return Err(CircuitError::Empty { what: "a digit of a table of two" }.into());
        };
        let found =
            self.staged(&[x, y], &Stage::Circuit(&plan), &[(a.low, a.high), (b.low, b.high)])?;
        let digit = |(cipher, table): (Option<S::Ciphertext>, &Vec<Vec<i64>>)| {
            let entries = || table.iter().flatten().copied();
            Digit {
                cipher: cipher.map(|c| self.session().share(c)),
                low: entries().min().unwrap_or(0),
                high: entries().max().unwrap_or(0),
                pad: table[(a.pad - a.low) as usize][(b.pad - b.low) as usize],
            }
        };
        Ok(found.into_iter().zip(tables).map(digit).collect())
    }
}

/// x^1 .. x^count, each at least depth.
fn powers(
    builder: &mut CircuitBuilder,
    x: NodeId,
    count: usize,
) -> Result<Vec<NodeId>, CircuitError> {
    let mut out = vec![x];
    for n in 2..=count {
        let half = n.next_power_of_two() / 2;
        out.push(builder.mul(out[half - 1], out[n - half - 1])?);
    }
    Ok(out)
}

/// The functions Σ_i a^i P_i(b) of two digits: powers of both, and for each function a product for
/// each power of a and one relinearization. Depth 5 for 16 values of each.
fn pair_circuit(
    t: PrimePower,
    (first_a, first_b): (i64, i64),
    tables: &[Vec<Vec<i64>>],
) -> Result<Circuit, CircuitError> {
    let points = |first: i64, count: usize| -> Vec<u64> {
        (first..).take(count).map(|x| t.reduce_i64(x)).collect()
    };
    let rows = tables.first().map_or(0, Vec::len);
    let columns = tables.first().and_then(|t| t.first()).map_or(0, Vec::len);
    let interpolate = |first: i64, values: &[u64]| {
        let f = Polynomial::interpolate(t, &points(first, values.len()), values)?;
        let mut coefficients = f.coefficients().to_vec();
        coefficients.resize(values.len(), 0);
        Ok::<_, CircuitError>(coefficients)
    };
    let mut builder = CircuitBuilder::new();
    let (a, b) = (builder.input(1), builder.input(1));
    let powers_of_a = powers(&mut builder, a, rows - 1)?;
    let powers_of_b = powers(&mut builder, b, columns - 1)?;
    let mut outputs = Vec::with_capacity(tables.len());
    for table in tables {
        // First in b for each a, then each coefficient in a.
        let mut by_b = Vec::with_capacity(rows);
        for row in table {
            let row: Vec<u64> = row.iter().map(|v| t.reduce_i64(*v)).collect();
            by_b.push(interpolate(first_b, &row)?);
        }
        let mut coefficients = vec![vec![0i64; columns]; rows];
        for j in 0..columns {
            let column: Vec<u64> = by_b.iter().map(|row| row[j]).collect();
            for (i, c) in interpolate(first_a, &column)?.into_iter().enumerate() {
                coefficients[i][j] = t.centered(c);
            }
        }
        let combined = |row: &[i64]| -> Vec<(NodeId, i64)> {
            let terms = powers_of_b.iter().copied().zip(row[1..].iter().copied());
            terms.filter(|(_, c)| *c != 0).collect()
        };
        let (mut pairs, mut terms) = (Vec::new(), combined(&coefficients[0]));
        for (power, row) in powers_of_a.iter().zip(&coefficients[1..]) {
            match &combined(row)[..] {
                [] if row[0] == 0 => {}
                [] => terms.push((*power, row[0])),
                factor => pairs.push((*power, builder.combine(vec![], factor.to_vec(), row[0])?)),
            }
        }
        if pairs.is_empty() && terms.is_empty() {
            terms.push((a, 0));
        }
        outputs.push(builder.combine(pairs, terms, coefficients[0][0])?);
    }
    builder.finish(&outputs)
}
