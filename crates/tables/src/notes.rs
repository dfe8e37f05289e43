//! Notes on comparisons that hold for no row, whatever is in the table.

use std::cell::RefCell;
use std::collections::HashSet;

use sqlparser::ast::Expr;

use crate::condition::Condition;
use crate::kind::Kind;
use crate::literal::text_of;
use crate::nearest::did_you_mean;
use crate::parameter::NAME;
use crate::ranges::Ranges;
use crate::rows::SHOWN;
use crate::schema::Schema;

/// The largest number of notes; the others are counted.
const MOST: usize = 8;

/// The notes on a statement, each of them once.
#[derive(Default)]
pub(crate) struct Notes(RefCell<Noted>);

#[derive(Default)]
struct Noted {
    /// The comparisons, as they are shown.
    comparisons: HashSet<String>,
    notes: Vec<String>,
}

impl Notes {
    /// Notes a comparison whose rows are none by the bounds or the categories of its columns.
    pub(crate) fn impossible(
        &self,
        schema: &Schema,
        rows: &Condition,
        (left, operator, right): (&Expr, &str, &Expr),
    ) {
        let none = match rows {
            Condition::Within { column, codes } => {
                let (low, high) = schema.fields()[*column].values();
                codes.and(&Ranges::between(low, high)) == Ranges::of([])
            }
            Condition::Compare(..) => rows.clone().simplified(schema) == Condition::Constant(false),
            _ => false,
        };
        // Of a column with one value no row is below a constant of a search, which nobody wrote.
        let searched =
            |e: &Expr| e.to_string().strip_prefix(':').is_some_and(|x| x.starts_with(NAME));
        if !none || searched(left) || searched(right) {
            return;
        }
        let comparison = format!("{} {operator} {}", shown(left), shown(right));
        let mut noted = self.0.borrow_mut();
        let new = !noted.comparisons.contains(&comparison);
        // What is not listed needs no reason, which may be long.
        if new && noted.notes.len() < MOST {
            let why = why(schema, rows, (left, operator, right));
            let note = format!("{comparison} holds for no row: {why}");
            // A query is anybody's.
            let note = note.chars().map(|c| if c.is_control() { ' ' } else { c });
            noted.notes.push(note.collect());
        }
        noted.comparisons.insert(comparison);
    }

    /// What is to be told.
    pub(crate) fn told(self) -> Vec<String> {
        let Noted { comparisons, mut notes } = self.0.into_inner();
        let more = comparisons.len() - notes.len();
        if more > 0 {
            notes.push(format!("comparisons that hold for no row and are not listed: {more}"));
        }
        notes
    }
}

/// Why a comparison with these rows holds for none, and what may be meant.
fn why(schema: &Schema, rows: &Condition, (left, operator, right): (&Expr, &str, &Expr)) -> String {
    let Condition::Within { column, .. } = rows else {
        return "the bounds of the columns exclude it".into();
    };
    let field = &schema.fields()[*column];
    let typed = text(right).or_else(|| text(left)).filter(|_| operator == "=");
    let meant = match (field.kind(), typed) {
        (Kind::Category { values }, Some(typed)) => {
            did_you_mean(typed, values.iter().map(String::as_str))
        }
        _ => String::new(),
    };
    format!("{} is {}{meant}", field.name(), field.expected_value())
}

/// An expression, or its beginning.
fn shown(e: &Expr) -> String {
    let whole = e.to_string();
    match whole.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

/// A literal text.
fn text(e: &Expr) -> Option<&str> {
    match e {
        Expr::Nested(inner) => text(inner),
        Expr::Value(literal) => text_of(&literal.value),
        _ => None,
    }
}
