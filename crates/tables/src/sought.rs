//! What is searched for in rounds, and the plans of the rounds, made of the text of a query.

use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, OrderByKind, Query as Ast,
    Select, SelectItem, SetExpr,
};

use crate::condition::Number;
use crate::error::TablesError;
use crate::flatten::{both, flattened};
use crate::from::tables;
use crate::kind::Kind;
use crate::parameter::NAME;
use crate::plan::Plan;
use crate::query::{Fold, OrderKey, Query};
use crate::schema::Schema;
use crate::select_list::{counted, expression};
use crate::sql::{ast_of, only_select};

/// What a search is for.
const REMEDY: &str = "write select min(COLUMN) from TABLE where …, or max, median or \
                      quantile_cont, and nothing else; or columns, with order by COLUMN limit N";

/// What is found in a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// A value.
    Value(Fold),
    /// This number of first rows, of whose order this is the first key.
    Rows(usize, OrderKey),
}

/// A query that is answered in rounds.
pub(crate) struct Sought<'a> {
    text: &'a str,
    schema: &'a Schema,
    ast: Ast,
    query: Query,
    pub(crate) wanted: Wanted,
    /// The column in whose values there is a search.
    pub(crate) column: usize,
    /// The column as the query writes it.
    written: String,
}

pub(crate) fn refused<T>(found: &str, remedy: &str) -> Result<T, TablesError> {
    Err(TablesError::unsupported(found, remedy))
}

impl<'a> Sought<'a> {
    /// Reads a query.
    ///
    /// # Errors
    /// Those of [`Query::parse`]; [`TablesError::Unsupported`] for queries that are not answered in
    /// rounds.
    pub(crate) fn new(text: &'a str, schema: &'a Schema) -> Result<Self, TablesError> {
        let (ast, query) = (flattened(&ast_of(text)?, schema)?, Query::parse(text, schema)?);
        if query.parameters.iter().any(|p| p.name.starts_with(NAME)) {
            return refused(&format!("a constant called :{NAME}…"), "give it another name");
        }
        let select = only_select(&ast)?;
        let (wanted, column, written) = match query.aggregates.is_empty() {
            true => first_rows(&query, select, schema)?,
            false => value(text, &query, select)?,
        };
        let field = &schema.fields()[column];
        if matches!(field.kind(), Kind::Boolean | Kind::Category { .. } | Kind::Text { .. }) {
            let remedy = match wanted {
                Wanted::Value(_) => "group by it, and take the first group that has rows",
                Wanted::Rows(..) => "ask without a search: the reader orders by any column",
            };
            return refused(
                &format!("a search in {:?}, which is not compared with < in secret", field.name()),
                remedy,
            );
        }
        Ok(Sought { text, schema, ast, query, wanted, column, written })
    }

    /// The plan of the rounds that count: rows with a value below each of `parts` - 1 constants,
    /// and all rows with a value.
    pub(crate) fn counts(&self, parts: usize) -> Result<Plan, TablesError> {
        let x = &self.written;
        let names = (1..parts).map(|i| format!("count(*) filter (where {x} < :{NAME}{i})"));
        let counts = format!("select {}, count({x}) from t", names.collect::<Vec<_>>().join(", "));
        let counts = ast_of(&counts)?;
        let mut round = self.ast.clone();
        (round.order_by, round.limit_clause) = (None, None);
        if let SetExpr::Select(round) = &mut *round.body {
            round.projection = only_select(&counts)?.projection.clone();
        }
        self.planned(&round, |again| again.filter == self.query.filter)
    }

    /// The plan of the round that lists rows: the query itself, of those rows only whose value is
    /// one constant or comes before it, and of those without a value.
    ///
    /// If the constant is the k-th value in the order, these are the first k rows and more, so that
    /// the query has the same answer. A row with a value after the k-th one comes after k rows at
    /// least, whatever the further keys are. Empty cells are all listed, wherever they come: no
    /// encrypted constant stands for them, and a plan that depended on how many there are would
    /// tell the server of them.
    pub(crate) fn rows(&self, key: &OrderKey) -> Result<Plan, TablesError> {
        let (x, query) = (&self.written, &self.query);
        let sign = if key.descending { ">=" } else { "<=" };
        let mut reached = format!("{x} {sign} :{NAME}1");
        if self.schema.fields()[self.column].null().is_some() {
            reached = format!("{x} is null or {reached}");
        }
        let reached = ast_of(&format!("select 1 from t where {reached}"))?;
        let mut rows = self.ast.clone();
        if let SetExpr::Select(select) = &mut *rows.body {
            select.selection =
                both(select.selection.take(), only_select(&reached)?.selection.clone());
            quoted(&mut select.projection);
        }
        if let Some(order) = &mut rows.order_by
            && let OrderByKind::Expressions(keys) = &mut order.kind
        {
            // Names are written without quotation marks here.
            for (key, known) in keys.iter_mut().zip(&query.order) {
                key.expr = counted(known.output);
            }
        }
        self.planned(&rows, |again| {
            (&again.groups, &again.outputs, &again.order, again.limit)
                == (&query.groups, &query.outputs, &query.order, query.limit)
        })
    }

    /// The query without its condition, from which the answer is computed.
    pub(crate) fn alone(&self) -> Result<Query, TablesError> {
        let mut alone = self.ast.clone();
        if let SetExpr::Select(alone) = &mut *alone.body {
            alone.selection = None;
            quoted(&mut alone.projection);
        }
        Query::parse(&alone.to_string(), self.schema)
    }

    /// The plan of a round, which is checked: its constants are compared with the column that is
    /// meant, and what is the `same` as in the query is so.
    fn planned(&self, round: &Ast, same: impl Fn(&Query) -> bool) -> Result<Plan, TablesError> {
        // The parser writes two quotation marks in a row, of a text or a name, as it writes one.
        let plan = Plan::new(&round.to_string(), self.schema)?;
        let mut added = plan.query().parameters.iter().filter(|p| p.name.starts_with(NAME));
        if added.all(|p| p.column == self.column) && same(plan.query()) {
            return Ok(plan);
        }
        refused(
            &format!("a search for {}", self.text),
            "leave out texts and names with two quotation marks in a row: list the others",
        )
    }
}

/// The value that a query asks for: its column, as the query writes it.
fn value(
    text: &str,
    query: &Query,
    select: &Select,
) -> Result<(Wanted, usize, String), TablesError> {
    if !query.order.is_empty() || query.limit.is_some() {
        return refused(
            "a search for groups or sums with order by or limit",
            "ask without a search: the reader orders them; or search for rows: select columns from \
             TABLE where … order by COLUMN limit N",
        );
    }
    let plain = query.outputs.len() == 1 && query.groups.is_empty() && query.having.is_none();
    let mut folds = query.aggregates.iter().filter(|a| a.fold != Fold::Sum);
    let (fold, column) = match (folds.next(), folds.next()) {
        (Some(a), None) if plain && a.fold != Fold::Distinct => match a.value {
            Number::Column(column) => (a.fold, column),
            _ => return refused("a search for an expression", "search for a column"),
        },
        _ => return refused(&format!("a search for {text}"), REMEDY),
    };
    match argument(&select.projection[0]) {
        Some(x) if is_column(x) => Ok((Wanted::Value(fold), column, x.to_string())),
        // A tenth of a column has its digits, and is another number.
        Some(_) => refused("a search for an expression", "search for a column"),
        None => refused(&format!("a search for {text}"), REMEDY),
    }
}

/// The first rows that a query asks for: the column of the first key, as the query writes it.
fn first_rows(
    query: &Query,
    select: &Select,
    schema: &Schema,
) -> Result<(Wanted, usize, String), TablesError> {
    let (Some(key), Some(limit)) = (query.order.first(), query.limit) else {
        return refused(
            "a search for rows without order by … limit",
            "write order by COLUMN limit N; or ask without a search, for all rows that meet the \
             condition",
        );
    };
    if limit == 0 {
        return refused("a search for no rows", "write a limit of at least 1");
    }
    let Some(column) = query.column_of(&query.outputs[key.output].value) else {
        return refused("a search in an order by what is no column", "order by a column");
    };
    // In a join it may have to be written with its table; of a `*` it is the name of one column.
    let items: Option<Vec<&Expr>> = select.projection.iter().map(expression).collect();
    let written = match items {
        Some(items) => items[key.output].to_string(),
        None => {
            let name = Expr::Identifier(Ident::with_quote('"', schema.fields()[column].name()));
            let (scope, _) = tables(select, schema)?;
            if scope.place(&name) != Ok(column) {
                return refused(
                    &format!("a search in {name} of a *, as several tables have such a column"),
                    "name the columns in place of *, that of order by with its table",
                );
            }
            name.to_string()
        }
    };
    Ok((Wanted::Rows(limit, *key), column, written))
}

/// Puts the names of a select list into quotation marks: one may read as an expression, because
/// what is spelled in another way is called as before.
fn quoted(projection: &mut [SelectItem]) {
    for item in projection {
        if let SelectItem::ExprWithAlias { alias, .. } = item {
            alias.quote_style = Some('"');
        }
    }
}

/// Whether an expression is a column as it is.
fn is_column(x: &Expr) -> bool {
    match x {
        Expr::Nested(inner) => is_column(inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        _ => false,
    }
}

/// The first argument of the function in an item of a select list.
fn argument(item: &SelectItem) -> Option<&Expr> {
    let (SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. }) = item else {
        return None;
    };
    let mut e = e;
    while let Expr::Nested(inner) = e {
        e = inner;
    }
    let Expr::Function(function) = e else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    match (&list.args[..], &function.filter) {
        ([FunctionArg::Unnamed(FunctionArgExpr::Expr(x)), ..], None) => Some(x),
        _ => None,
    }
}
