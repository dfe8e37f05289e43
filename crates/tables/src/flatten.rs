//! Queries of several selects, each in the `from` of the next, as one select. Programs that write
//! SQL, such as Ibis, produce them for a filter, a group-by and a sort.
//!
//! An inner select is merged into the outer one if the rows of the outer select are the rows or the
//! groups of the inner one; other subqueries are refused. Names are those of the inner select, and
//! expressions are put in parentheses where they are inserted. No clause of a select is ignored,
//! because `only_select` has checked each of them.

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, OrderByKind, Query as Ast, Select, SelectItem,
    SetExpr, TableFactor,
};

use crate::error::TablesError;
use crate::from::only_table;
use crate::nearest::did_you_mean;
use crate::rewrite::rewritten;
use crate::schema::Schema;
use crate::select_list::{
    answers, calls, column, counted, expression, is_all, is_grouped, keys, place, shown,
};
use crate::spelling::spelled;
use crate::sql::{OPERATORS, QUERY_BYTES, only_select};

/// One equivalent select, in the spelling of queries, with names of columns as names of the answer.
///
/// # Errors
/// [`TablesError::Unsupported`] for subqueries whose rows are not those of the select around them;
/// [`TablesError::Name`] for names that the inner select does not have.
pub(crate) fn flattened(ast: &Ast, schema: &Schema) -> Result<Ast, TablesError> {
    let mut room = Room { operators: OPERATORS, leaves: QUERY_BYTES };
    flat(ast, schema, &mut room)
}

/// The remaining size of the resulting select: a name that is used twice doubles the expression
/// that it refers to.
struct Room {
    operators: usize,
    leaves: usize,
}

impl Room {
    fn take(&mut self, e: &Expr) -> Result<(), TablesError> {
        rewritten(e, &mut |part| {
            let left = match part {
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) => {
                    &mut self.leaves
                }
                _ => &mut self.operators,
            };
            *left = left.checked_sub(1).ok_or_else(|| TablesError::Syntax {
                problem: format!(
                    "written as one select it has more than {OPERATORS} operators, or \
                     {QUERY_BYTES} names and constants"
                ),
            })?;
            Ok(None)
        })
        .map(|_| ())
    }
}

fn flat(ast: &Ast, schema: &Schema, room: &mut Room) -> Result<Ast, TablesError> {
    let mut out = ast.clone();
    let SetExpr::Select(select) = &mut *out.body else { return Ok(out) };
    respelled(select)?;
    let inner = match &select.from[..] {
        [table] if table.joins.is_empty() => match &table.relation {
            TableFactor::Derived { lateral: false, subquery, alias, sample: None }
                if alias.as_ref().is_none_or(|a| a.columns.is_empty() && a.at.is_none()) =>
            {
                Some((flat(subquery, schema, room)?, alias.as_ref().map(|a| a.name.value.clone())))
            }
            _ => None,
        },
        _ => None,
    };
    if let Some((inner, alias)) = inner {
        return Merge::new(&inner, alias, schema, room)?.of(&out);
    }
    // Names of several tables are not those of columns.
    if only_table(&select.from).is_ok() {
        named(select);
        numbered(&mut out);
    }
    Ok(out)
}

/// Replaces other spellings, and positions of the select list in `group by`.
fn respelled(select: &mut Select) -> Result<(), TablesError> {
    let spell = |e: &mut Expr| -> Result<(), TablesError> {
        *e = rewritten(e, &mut spelled)?;
        Ok(())
    };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } = item {
            // A name that is told would be another one.
            let before = e.clone();
            spell(e)?;
            let (expr, alias) = (e.clone(), Ident::new(before.to_string()));
            if expr != before && matches!(item, SelectItem::UnnamedExpr(_)) {
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
        }
    }
    select.selection.iter_mut().chain(&mut select.having).try_for_each(spell)?;
    if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
        for key in keys {
            let item = place(key).and_then(|i| select.projection.get(i.checked_sub(1)?));
            if let Some(e) = item.and_then(expression) {
                *key = e.clone();
            }
        }
    }
    Ok(())
}

/// Gives the columns of the select list the names of columns, without a table and quotation marks.
fn named(select: &mut Select) {
    for item in &mut select.projection {
        let SelectItem::UnnamedExpr(e) = &*item else { continue };
        if let Some(name) = column(e) {
            let (expr, alias) = (e.clone(), Ident::new(&name.value));
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
    }
}

/// Replaces the keys of `order by` by positions in the select list, if they name a column of the
/// answer or are equal to one.
fn numbered(ast: &mut Ast) {
    let SetExpr::Select(select) = &*ast.body else { return };
    let Some(order) = &mut ast.order_by else { return };
    let OrderByKind::Expressions(keys) = &mut order.kind else { return };
    let table = only_table(&select.from).ok().map(|table| table.called());
    let items = &select.projection;
    let all = matches!(&items[..], [item] if is_all(item));
    // Places behind a `*` are not those of the list.
    let listed = !items.iter().any(|item| matches!(item, SelectItem::Wildcard(_)));
    for key in keys {
        let (name, qualified) = match &key.expr {
            Expr::Identifier(name) => (Some(name), false),
            Expr::CompoundIdentifier(names) => match (&names[..], table) {
                ([of, name], Some(table)) if of.value.eq_ignore_ascii_case(table) => {
                    (Some(name), true)
                }
                _ => continue,
            },
            _ => (None, false),
        };
        let same =
            |other: &Ident| name.is_some_and(|name| other.value.eq_ignore_ascii_case(&name.value));
        let called = |item: &SelectItem| match item {
            SelectItem::ExprWithAlias { alias, .. } => !qualified && same(alias),
            _ => false,
        };
        let equal = |item: &SelectItem| {
            expression(item).is_some_and(|e| *e == key.expr || column(e).is_some_and(same))
        };
        let mut of_name = (0..items.len()).filter(|i| called(&items[*i]));
        let first = of_name.next();
        if let (Some(name), Some(a)) = (name, first)
            && of_name.any(|b| expression(&items[a]) != expression(&items[b]))
        {
            // The name of different columns is refused where keys are bound.
            key.expr = Expr::Identifier(Ident::new(&name.value));
            continue;
        }
        let found = first.or_else(|| items.iter().position(equal));
        if let Some(place) = found.filter(|_| listed) {
            key.expr = counted(place);
        } else if let Some(name) = name.filter(|_| all || !qualified) {
            key.expr = Expr::Identifier(Ident::new(&name.value));
        }
    }
}

/// A select and the one in its `from`.
struct Merge<'a> {
    inner: &'a Ast,
    select: &'a Select,
    alias: Option<String>,
    schema: &'a Schema,
    room: &'a mut Room,
}

impl<'a> Merge<'a> {
    fn new(
        inner: &'a Ast,
        alias: Option<String>,
        schema: &'a Schema,
        room: &'a mut Room,
    ) -> Result<Self, TablesError> {
        let select = only_select(inner)?;
        if only_table(&select.from).is_err() {
            return Err(refused("with a join"));
        }
        let other = |x: &&SelectItem| matches!(x, SelectItem::Wildcard(_)) && !is_all(x);
        if let Some(other) = select.projection.iter().find(other) {
            return Err(refused(&format!("with {other}")));
        }
        Ok(Merge { inner, select, alias, schema, room })
    }

    /// Merges the two selects.
    fn of(mut self, outer: &Ast) -> Result<Ast, TablesError> {
        let (mut out, inner) = (outer.clone(), self.select);
        let SetExpr::Select(select) = &mut *out.body else { return Ok(out) };
        let all = matches!(&select.projection[..], [item] if is_all(item));
        let grouped = is_grouped(inner);
        let plain = all
            && select.selection.is_none()
            && select.having.is_none()
            && select.distinct.is_none()
            && !is_grouped(select);
        // What chooses among the rows of the inner select leaves nothing to do but to sort them,
        // and what sorts or counts them nothing at all.
        let sorted = self.inner.order_by.is_some() || self.inner.limit_clause.is_some();
        let last = out.order_by.is_none() && out.limit_clause.is_none();
        if (sorted && !(plain && last)) || (inner.distinct.is_some() && !plain) {
            return Err(refused("with distinct, order by or limit"));
        }
        if grouped && (is_grouped(select) || select.distinct.is_some()) {
            return Err(refused("with sums or group by, of which sums are asked for,"));
        }
        if grouped && select.selection.iter().chain(keys(&out.order_by)).any(calls) {
            return Err(refused("with sums or group by, of which sums are asked for,"));
        }
        if sorted {
            out.order_by = self.inner.order_by.clone();
            out.limit_clause = self.inner.limit_clause.clone();
        }
        let mut projection = Vec::new();
        for item in &select.projection {
            match item {
                item if is_all(item) => projection.extend(inner.projection.iter().cloned()),
                SelectItem::UnnamedExpr(e) => {
                    let name = column(e).map_or_else(|| e.to_string(), |name| name.value.clone());
                    let (expr, alias) = (self.put(e)?, Ident::new(name));
                    projection.push(SelectItem::ExprWithAlias { expr, alias });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let (expr, alias) = (self.put(expr)?, alias.clone());
                    projection.push(SelectItem::ExprWithAlias { expr, alias });
                }
                other => return Err(refused(&format!("of which {other} is asked for"))),
            }
        }
        let selection = select.selection.as_ref().map(|e| self.put(e)).transpose()?;
        let having = select.having.as_ref().map(|e| self.put(e)).transpose()?;
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            for key in keys {
                *key = self.put(key)?;
            }
        }
        // A condition on groups stands in having.
        (select.selection, select.having) = match grouped {
            true => (inner.selection.clone(), both(inner.having.clone(), selection)),
            false => (both(inner.selection.clone(), selection), having),
        };
        if grouped {
            select.group_by = inner.group_by.clone();
        }
        select.distinct = select.distinct.take().or(inner.distinct.clone());
        select.from = inner.from.clone();
        select.projection = projection;
        named(select);
        let projection = select.projection.clone();
        if let Some(order) = &mut out.order_by
            && let OrderByKind::Expressions(keys) = &mut order.kind
        {
            for key in keys {
                // A name of the answer goes before a name of its source.
                let of_answer = matches!(&key.expr, Expr::Identifier(name)
                    if answers(&projection, &name.value));
                if !of_answer && place(&key.expr).is_none() {
                    let source = self.put(&key.expr)?;
                    key.expr = shown(&projection, &source).ok_or_else(|| {
                        let found = format!("order by {}", key.expr);
                        TablesError::unsupported(&found, "order by a column of the answer")
                    })?;
                }
            }
        }
        numbered(&mut out);
        Ok(out)
    }

    /// An expression with the columns of the inner select replaced by their definitions.
    fn put(&mut self, e: &Expr) -> Result<Expr, TablesError> {
        let (select, alias, schema) = (self.select, self.alias.as_deref(), self.schema);
        let found = rewritten(e, &mut |part| match part {
            Expr::Identifier(name) => inside(select, name, schema).map(Some),
            Expr::CompoundIdentifier(names) => match (&names[..], alias) {
                ([table, name], Some(alias)) if table.value.eq_ignore_ascii_case(alias) => {
                    inside(select, name, schema).map(Some)
                }
                _ => Err(TablesError::Type {
                    expression: part.to_string(),
                    problem: "expected a column of the select in from".into(),
                }),
            },
            _ => Ok(None),
        })?;
        self.room.take(&found)?;
        Ok(found)
    }
}

/// The expression that a name refers to in the answer of a select.
fn inside(select: &Select, name: &Ident, schema: &Schema) -> Result<Expr, TablesError> {
    let same = |other: &str| other.eq_ignore_ascii_case(&name.value);
    let (mut found, mut known) = (Vec::new(), Vec::new());
    for item in &select.projection {
        match item {
            SelectItem::Wildcard(_) => {
                known.extend(schema.columns().map(|f| f.name().to_string()));
                if schema.place(&name.value).is_ok() {
                    found.push(Expr::Identifier(name.clone()));
                }
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                known.push(alias.value.clone());
                if same(&alias.value) {
                    found.push(expr.clone());
                }
            }
            _ => {}
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some(e), true) if matches!(e, Expr::Function(_) | Expr::Value(_)) => Ok(e),
        (Some(e), true) if column(&e).is_some() => Ok(e),
        (Some(e), true) => Ok(Expr::Nested(Box::new(e))),
        (Some(_), false) => Err(TablesError::Type {
            expression: name.to_string(),
            problem: "two columns of the select in from have this name".into(),
        }),
        (None, _) => Err(TablesError::Name {
            name: name.value.clone(),
            meant: did_you_mean(&name.value, known.iter().map(String::as_str)),
            known: known.join(", "),
        }),
    }
}

fn refused(which: &str) -> TablesError {
    TablesError::unsupported(
        &format!("a select in from {which}"),
        "ask in one select, with having for conditions on sums",
    )
}

pub(crate) fn both(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    let nested = |e| Box::new(Expr::Nested(Box::new(e)));
    match (a, b) {
        (Some(a), Some(b)) => {
            Some(Expr::BinaryOp { left: nested(a), op: BinaryOperator::And, right: nested(b) })
        }
        (a, b) => a.or(b),
    }
}
