//! Changes of the rows of a table, which the owner of the secret key makes.

use std::collections::BTreeSet;

use sqlparser::ast::{
    AssignmentTarget, Delete, Expr, FromTable, Statement, Update, Value as Literal,
};

use crate::bind::{Binder, scaled};
use crate::condition::{Condition, Number};
use crate::data::Data;
use crate::error::TablesError;
use crate::field::Field;
use crate::foreign::Carried;
use crate::from::only_table;
use crate::kind::Kind;
use crate::literal::{Value, mistyped};
use crate::notes::Notes;
use crate::schema::Schema;
use crate::scope::Scope;
use crate::sql::statements;

/// A change of the rows of a table, bound to its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    schema: Schema,
    edit: Edit,
    notes: Vec<String>,
}

/// The kind of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Rows are added after the last one.
    Insert(Data),
    /// The rows that meet a condition are removed; the others keep their order.
    Delete(Condition),
    /// Columns of the rows that meet a condition get new values.
    Update(Condition, Vec<Assignment>),
}

/// A new value of a column, computed from the row before the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The index of the column.
    pub column: usize,
    /// Its new code.
    pub value: Number,
    /// The rows in which there is a value; in the others the cell becomes empty.
    pub there: Condition,
}

impl Change {
    /// A change that adds rows.
    pub fn insert(schema: &Schema, data: Data) -> Self {
        Change { schema: schema.clone(), edit: Edit::Insert(data), notes: Vec::new() }
    }

    /// Reads `update t set column = …, … where …` or `delete from t where …`. An update of a table
    /// to which the schema has a foreign key changes the columns that rows carry from that table.
    ///
    /// # Errors
    /// [`TablesError::Syntax`] for text that is not SQL; [`TablesError::Unsupported`] for another
    /// statement or clause; [`TablesError::Name`], [`TablesError::Type`] and [`TablesError::Range`]
    /// for expressions that have no value, or a value that the column does not hold.
    pub fn parse(text: &str, schema: &Schema) -> Result<Self, TablesError> {
        let (mut all, notes) = (statements(text)?, Notes::default());
        let edit = match (all.pop(), all.is_empty()) {
            (Some(Statement::Delete(ast)), true) => delete(&ast, schema, &notes)?,
            (Some(Statement::Update(ast)), true) => update(&ast, schema, &notes)?,
            _ => {
                return Err(TablesError::unsupported(
                    "anything but one update or delete",
                    "write update t set COLUMN = … where …, or delete from t where …; rows are \
                     added from a table in the clear",
                ));
            }
        };
        Ok(Change { schema: schema.clone(), edit, notes: notes.told() })
    }

    /// The kind of the change.
    pub fn edit(&self) -> &Edit {
        &self.edit
    }

    /// Notes on comparisons that hold for no row, as [`Plan::notes`](crate::Plan::notes).
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The columns of the tables that the change is for.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

impl Assignment {
    /// The new code of the column in a row.
    ///
    /// # Errors
    /// [`TablesError::Change`] for a value that the column does not hold, in row `place` of the
    /// table.
    pub(crate) fn code(
        &self,
        field: &Field,
        row: &dyn Fn(usize) -> i128,
        place: usize,
    ) -> Result<i128, TablesError> {
        let refused = |found: String| TablesError::Change {
            row: place,
            column: field.name().into(),
            found,
            expected: field.expected(),
        };
        if !self.there.holds(row) {
            return field.null().ok_or_else(|| refused("no value".into()));
        }
        let (low, high) = field.values();
        let code = self.value.value(row);
        match (low..=high).contains(&code) {
            true => Ok(code),
            false => Err(refused(field.text(code))),
        }
    }

    /// The columns that it is computed from.
    pub(crate) fn columns(&self, out: &mut BTreeSet<usize>) {
        self.value.columns(out);
        self.there.columns(out);
    }
}

/// The statement without the parts that are read; a statement that differs from it has a clause
/// that would be ignored.
fn plain(text: &str) -> Result<Statement, TablesError> {
    statements(text)?.pop().ok_or_else(|| TablesError::Syntax { problem: "no statement".into() })
}

fn delete(ast: &Delete, schema: &Schema, notes: &Notes) -> Result<Edit, TablesError> {
    let Statement::Delete(empty) = plain("delete from t")? else {
        return Err(TablesError::Syntax { problem: "no delete".into() });
    };
    if (Delete { from: empty.from.clone(), selection: None, ..ast.clone() }) != empty {
        return Err(TablesError::unsupported(
            "a clause of delete such as using, returning or limit",
            "only delete from and where are",
        ));
    }
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &ast.from;
    let table = only_table(from)?;
    if let Some(carried) = table.partner(schema) {
        let column = schema.fields()[carried.column].name();
        return Err(TablesError::unsupported(
            &format!("a deletion from {}, whose rows are partners of others", carried.table),
            &format!("delete the rows that carry them: delete from TABLE where {column} = …"),
        ));
    }
    let binder = Binder::new(schema, Scope::of_rows(schema, table.called()), &[], notes);
    Ok(Edit::Delete(condition(&binder, ast.selection.as_ref())?))
}

fn update(ast: &Update, schema: &Schema, notes: &Notes) -> Result<Edit, TablesError> {
    let Statement::Update(empty) = plain("update t set a = 1")? else {
        return Err(TablesError::Syntax { problem: "no update".into() });
    };
    let (table, assignments) = (empty.table.clone(), empty.assignments.clone());
    if (Update { table, assignments, selection: None, ..ast.clone() }) != empty {
        return Err(TablesError::unsupported(
            "a clause of update such as from, returning or limit",
            "only update, set and where are",
        ));
    }
    let table = only_table(std::slice::from_ref(&ast.table))?;
    let partner = table.partner(schema);
    let scope = match partner {
        Some(carried) => Scope::of_partner(schema, carried, table.called()),
        None => Scope::of_rows(schema, table.called()),
    };
    let binder = Binder::new(schema, scope, &[], notes);
    let mut columns: Vec<Assignment> = Vec::new();
    for assignment in &ast.assignments {
        let target = match &assignment.target {
            AssignmentTarget::ColumnName(name) => name.0.last().and_then(|part| part.as_ident()),
            AssignmentTarget::Tuple(_) => None,
        };
        let name = target.filter(|name| assignment.target.to_string() == name.to_string());
        let name = name.ok_or_else(|| {
            let found = format!("set {}", assignment.target);
            TablesError::unsupported(&found, "name one column of the table")
        })?;
        let column = schema.place(&name.value)?;
        if columns.iter().any(|a| a.column == column) {
            return Err(mistyped(&assignment.value, &format!("{name} is set twice")));
        }
        check_assigned(schema, column, partner)?;
        match schema.fields()[column].is_text() {
            true => columns.extend(assigned_text(&binder, column, &assignment.value)?),
            false => columns.push(assigned(&binder, column, &assignment.value)?),
        }
    }
    let rows = condition(&binder, ast.selection.as_ref())?;
    Ok(Edit::Update(rows, columns))
}

/// Refuses to set a column so that rows of one partner would carry different values.
fn check_assigned(
    schema: &Schema,
    column: usize,
    partner: Option<&Carried>,
) -> Result<(), TablesError> {
    let found = format!("set {}", schema.fields()[column].name());
    if schema.carried().iter().any(|c| c.column == column) {
        let remedy = "it names the partner of a row: delete the row, and insert it again";
        return Err(TablesError::unsupported(&found, remedy));
    }
    match (schema.carries(column), partner) {
        (Some(carried), other) if other != Some(carried) => {
            let remedy = format!("all rows of a partner carry it: update {} set …", carried.table);
            Err(TablesError::unsupported(&found, &remedy))
        }
        (None, Some(partner)) => {
            let remedy = format!("it is no column of {}: update the table itself", partner.table);
            Err(TablesError::unsupported(&found, &remedy))
        }
        _ => Ok(()),
    }
}

/// The condition on the rows.
fn condition(binder: &Binder<'_>, selection: Option<&Expr>) -> Result<Condition, TablesError> {
    let rows = match selection {
        Some(expression) => binder.condition(expression)?,
        None => Condition::Constant(true),
    };
    match binder.parameters().first() {
        None => Ok(rows.simplified(binder.schema)),
        Some(constant) => Err(TablesError::unsupported(
            &format!(":{} in a change", constant.name),
            "write its value: a change is made where the secret key is",
        )),
    }
}

/// The new values of the parts of a text: those of a literal text, or of another column of texts.
fn assigned_text(
    binder: &Binder<'_>,
    column: usize,
    e: &Expr,
) -> Result<Vec<Assignment>, TablesError> {
    let field = &binder.schema.fields()[column];
    let wrong = || mistyped(e, &format!("column {:?} holds {}", field.name(), field.expected()));
    let null = matches!(e, Expr::Value(value) if value.value == Literal::Null);
    let values: Vec<Number> = match if null { None } else { Some(binder.value(e)?) } {
        None if field.null().is_none() => return Err(wrong()),
        None => vec![Number::Constant(0); field.count()],
        Some(Value::Text(text)) => {
            let codes = field.codes(&text).ok_or_else(wrong)?;
            codes.into_iter().map(Number::Constant).collect()
        }
        Some(Value::Coded(other)) if binder.schema.fields()[other].kind() == field.kind() => {
            binder.schema.cell_places(other).map(Number::Column).collect()
        }
        Some(_) => return Err(wrong()),
    };
    let there = if null { Condition::Constant(false) } else { binder.there(e)? };
    let there = there.simplified(binder.schema);
    let parts = binder.schema.cell_places(column).zip(values);
    // The first part alone tells whether there is a text.
    Ok(parts
        .map(|(place, value)| {
            let first = place == column;
            let there = if first { there.clone() } else { Condition::Constant(true) };
            Assignment { column: place, value, there }
        })
        .collect())
}

/// The new value of a column.
fn assigned(binder: &Binder<'_>, column: usize, e: &Expr) -> Result<Assignment, TablesError> {
    let field = &binder.schema.fields()[column];
    let wrong = || mistyped(e, &format!("column {:?} holds {}", field.name(), field.expected()));
    if matches!(e, Expr::Value(value) if value.value == Literal::Null) {
        let (value, there) = (Number::Constant(0), Condition::Constant(false));
        return field.null().map(|_| Assignment { column, value, there }).ok_or_else(wrong);
    }
    let value = match (binder.value(e)?, field.scale()) {
        (Value::Number(..), Some(scale)) => {
            let (value, places) = binder.number(e)?;
            rescaled(value, places, scale).ok_or_else(wrong)?
        }
        (Value::Coded(other), None)
            if binder.schema.fields()[other].kind().is_like(field.kind()) =>
        {
            Number::Column(other)
        }
        (Value::Timestamp(at), None) => {
            Number::Constant(field.kind().code_of(at).ok_or_else(wrong)?)
        }
        (Value::Date(days), None) if matches!(field.kind(), Kind::Date { .. }) => {
            Number::Constant(days)
        }
        (Value::Text(text), None) => Number::Constant(field.code(&text).ok_or_else(wrong)?),
        (Value::Condition(Condition::Constant(value)), None) => match field.kind() {
            Kind::Boolean => Number::Constant(value.into()),
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    let (low, high) = field.values();
    match value {
        Number::Constant(code) if !(low..=high).contains(&code) => Err(wrong()),
        value => {
            let there = binder.there(e)?.simplified(binder.schema);
            Ok(Assignment { column, value, there })
        }
    }
}

/// A number of `places` decimal places in units of `scale`; none if places could be lost.
fn rescaled(value: Number, places: u32, scale: u32) -> Option<Number> {
    match (value, places.checked_sub(scale)) {
        (value, None | Some(0)) => Some(scaled(value, scale - places)),
        (Number::Constant(units), Some(more)) => {
            let divisor = 10i128.pow(more);
            (units % divisor == 0).then(|| Number::Constant(units / divisor))
        }
        _ => None,
    }
}
