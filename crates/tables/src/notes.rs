//! Notes on comparisons that hold for no row, whatever is in the table.

use std::cell::RefCell;

use sqlparser::ast::Expr;

use crate::condition::Condition;
use crate::kind::Kind;
use crate::literal::text_of;
use crate::nearest::did_you_mean;
use crate::ranges::Ranges;
use crate::schema::Schema;

/// The largest number of notes; the others are counted.
const MOST: usize = 8;

/// The notes on a statement, each of them once.
#[derive(Default)]
pub(crate) struct Notes(RefCell<Vec<String>>);

impl Notes {
    /// Notes a comparison whose rows are none by the bounds or the categories of its columns.
    pub(crate) fn impossible(
        &self,
        schema: &Schema,
        rows: &Condition,
        (left, operator, right): (&Expr, &str, &Expr),
    ) {
        let why = match rows {
            Condition::Within { column, codes } => {
                let field = &schema.fields()[*column];
                let (low, high) = field.values();
                if codes.and(&Ranges::between(low, high)) != Ranges::of([]) {
                    return;
                }
                let typed = text(right).or_else(|| text(left)).filter(|_| operator == "=");
                let meant = match (field.kind(), typed) {
                    (Kind::Category { values }, Some(typed)) => {
                        did_you_mean(typed, values.iter().map(String::as_str))
                    }
                    _ => String::new(),
                };
                format!("{} is {}{meant}", field.name(), field.expected_value())
            }
            Condition::Compare(..)
                if rows.clone().simplified(schema) == Condition::Constant(false) =>
            {
                "the bounds of the columns exclude it".into()
            }
            _ => return,
        };
        let note = format!("{left} {operator} {right} holds for no row: {why}");
        // A query is anybody's.
        let note: String = note.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut notes = self.0.borrow_mut();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// What is to be told.
    pub(crate) fn told(self) -> Vec<String> {
        let mut notes = self.0.into_inner();
        let more = notes.len().saturating_sub(MOST);
        notes.truncate(MOST);
        if more > 0 {
            notes.push(format!("comparisons that hold for no row and are not listed: {more}"));
        }
        notes
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
