//! Models: their shape, and bounds on their results that hold for every image.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use everlevel_scheme::AffineForm;
use serde_json::Value;

use super::protocol::{CLASSES, HIDDEN, INPUTS, LARGEST_LEVEL, TERMS, spec};
use crate::error::SuiteError;
use crate::numbers::{Words, to_bytes};
use crate::output::Output;

/// The model that stages use, made by train.py.
const TRAINED: &str = include_str!("model.json");
/// The longest text of a model.
const LONGEST: u64 = 1 << 24;
/// Constants that multiply are below this in magnitude, and constants that are added below its
/// cube, so that no bound of what follows is 2^127.
const LARGEST: i64 = 1 << 15;
/// Words of a stored model.
const WORDS: usize = HIDDEN * (INPUTS + 1) + CLASSES * (HIDDEN + 1);

/// Forms of pixels, and forms of the squares of these: a result for each digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    hidden: Vec<AffineForm>,
    results: Vec<AffineForm>,
}

fn wrong(expected: impl Into<String>, found: impl ToString) -> SuiteError {
    SuiteError::Model { expected: expected.into(), found: found.to_string() }
}

impl Model {
    /// A model of these forms.
    ///
    /// # Errors
    /// Another shape, constants of 2^15 (if they multiply) or 2^45 or more, results that could
    /// exceed half of the plaintext modulus on an image, or whose noise could exceed the modulus.
    pub fn new(hidden: Vec<AffineForm>, results: Vec<AffineForm>) -> Result<Self, SuiteError> {
        for (forms, count, values) in [(&hidden, HIDDEN, INPUTS), (&results, CLASSES, HIDDEN)] {
            let found = forms.iter().find(|form| form.weights.len() != values);
            if forms.len() != count || found.is_some() {
                let found = found.map_or(values, |form| form.weights.len());
                return Err(wrong(
                    format!("{count} forms of {values} values"),
                    format!("{} of {found}", forms.len()),
                ));
            }
            let weights = forms.iter().flat_map(|form| &form.weights);
            if let Some(large) = weights.clone().find(|w| w.unsigned_abs() >= LARGEST as u64) {
                return Err(wrong(format!("weights below {LARGEST} in magnitude"), large));
            }
            let most = LARGEST.pow(3);
            let constants = forms.iter().map(|form| form.constant);
            if let Some(large) = constants.clone().find(|c| c.unsigned_abs() >= most as u64) {
                return Err(wrong(format!("constants below {most} in magnitude"), large));
            }
        }
        let out = Model { hidden, results };
        out.check_results()?;
        out.check_noise()?;
        Ok(out)
    }

    /// The model that train.py made.
    ///
    /// # Errors
    /// As [`Model::from_json`].
    pub fn trained() -> Result<Self, SuiteError> {
        Self::from_json(TRAINED.as_bytes())
    }

    /// From what train.py writes: `hidden` and `results`, each a list of lists whose first number
    /// is what is added, before the weights.
    ///
    /// # Errors
    /// As [`Model::new`]; what is no such text.
    pub fn from_json(text: &[u8]) -> Result<Self, SuiteError> {
        let value: Value = serde_json::from_slice(text).map_err(|e| wrong("JSON", e))?;
        let layer = |name: &str| -> Option<Vec<AffineForm>> {
            let form = |row: &Value| {
                let numbers = row.as_array()?.iter().map(Value::as_i64);
                let numbers = numbers.collect::<Option<Vec<_>>>()?;
                let (&constant, weights) = numbers.split_first()?;
                Some(AffineForm { weights: weights.to_vec(), constant })
            };
            value.get(name)?.as_array()?.iter().map(form).collect()
        };
        let layer = |name: &str| {
            layer(name).ok_or_else(|| wrong(format!("lists of integers as `{name}`"), "others"))
        };
        Self::new(layer("hidden")?, layer("results")?)
    }

    /// The same from a file.
    ///
    /// # Errors
    /// As [`Model::from_json`], a file of 16 MiB or more.
    pub fn read_json(path: &Path) -> Result<Self, SuiteError> {
        let failed = |e: std::io::Error| SuiteError::io(path, &e);
        let (file, mut text) = (File::open(path).map_err(failed)?, Vec::new());
        // Whatever length the system states: that of a device is 0.
        file.take(LONGEST).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 == LONGEST {
            return Err(wrong(format!("less than {LONGEST} bytes"), "more"));
        }
        Self::from_json(&text)
    }

    /// Writes it as the server keeps it.
    pub(super) fn write(&self, path: &Path) -> Result<(), SuiteError> {
        let mut out = Output::create(path.into())?;
        for form in self.hidden.iter().chain(&self.results) {
            let all = std::iter::once(&form.constant).chain(&form.weights);
            out.write(&to_bytes(&all.map(|&w| w as u64).collect::<Vec<_>>()))?;
        }
        out.finish()
    }

    /// What [`Model::write`] wrote, checked again.
    pub(super) fn read(path: &Path) -> Result<Self, SuiteError> {
        let words = Words::open(path, WORDS as u64)?.read(WORDS)?;
        let (hidden, results) = words.split_at(HIDDEN * (INPUTS + 1));
        let forms = |words: &[u64], values: usize| {
            let form = |words: &[u64]| AffineForm {
                constant: words[0] as i64,
                weights: words[1..].iter().map(|&w| w as i64).collect(),
            };
            words.chunks(values + 1).map(form).collect()
        };
        Self::new(forms(hidden, INPUTS), forms(results, HIDDEN))
    }

    /// The forms of pixels.
    pub fn hidden(&self) -> &[AffineForm] {
        &self.hidden
    }

    /// The forms of their squares.
    pub fn results(&self) -> &[AffineForm] {
        &self.results
    }

    /// The results for an image, in the clear.
    pub fn evaluate(&self, levels: &[u8]) -> Vec<i128> {
        let of = |form: &AffineForm, values: &[i128]| {
            let terms = form.weights.iter().zip(values).map(|(&w, x)| i128::from(w) * x);
            i128::from(form.constant) + terms.sum::<i128>()
        };
        let levels: Vec<i128> = levels.iter().map(|&x| x.into()).collect();
        let square = |form| of(form, &levels).pow(2);
        let squares: Vec<i128> = self.hidden.iter().map(square).collect();
        self.results.iter().map(|form| of(form, &squares)).collect()
    }

    /// Sums of the positive and of the negative weights of a form.
    fn sums(form: &AffineForm) -> [i128; 2] {
        let sum = |positive: bool| {
            let weights = form.weights.iter().filter(|w| (**w > 0) == positive);
            weights.map(|&w| i128::from(w)).sum()
        };
        [sum(true), sum(false)]
    }

    /// Whether no image has a result of half of the plaintext modulus or more.
    fn check_results(&self) -> Result<(), SuiteError> {
        let square = |form: &AffineForm| -> i128 {
            let most =
                |sum: i128| (i128::from(form.constant) + i128::from(LARGEST_LEVEL) * sum).pow(2);
            Self::sums(form).map(most).into_iter().max().unwrap_or_default()
        };
        let squares: Vec<i128> = self.hidden.iter().map(square).collect();
        let half = i128::from((spec().plain_prime - 1) / 2);
        for form in &self.results {
            let end = |positive: bool| {
                let terms =
                    form.weights.iter().zip(&squares).filter(|(w, _)| (**w > 0) == positive);
                i128::from(form.constant) + terms.map(|(&w, x)| i128::from(w) * x).sum::<i128>()
            };
            for end in [end(true), end(false)] {
                if end.abs() > half {
                    return Err(wrong(format!("results from -{half} to {half}"), end));
                }
            }
        }
        Ok(())
    }

    /// Whether the parameter set holds the noise of the results: that of a form is the sum of its
    /// weights times that of a pixel, and what is added takes less than one more.
    fn check_noise(&self) -> Result<(), SuiteError> {
        let magnitude = |form: &AffineForm| {
            let [above, below] = Self::sums(form);
            above - below + 1
        };
        let squares: Vec<i128> = self.hidden.iter().map(|form| magnitude(form).pow(2)).collect();
        for form in &self.results {
            let terms = form.weights.iter().zip(&squares).map(|(w, x)| i128::from(w.abs()) * x);
            let sum = terms.sum::<i128>() + 1;
            if sum > TERMS.into() {
                let expected = "weights whose noise is at most that of";
                return Err(wrong(format!("{expected} {TERMS} products"), sum));
            }
        }
        Ok(())
    }
}
