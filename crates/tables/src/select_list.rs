//! Select lists, and the keys of `order by` and `group by` that are positions in them.

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, OrderBy, OrderByKind, Select, SelectItem, Value as Literal,
};

use crate::error::TablesError;
use crate::formula::Formula;
use crate::literal::mistyped;
use crate::query::Output;
use crate::rewrite::rewritten;

/// Whether a select forms groups, or one group of all rows.
pub(crate) fn is_grouped(select: &Select) -> bool {
    let none = matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    let sums = select.projection.iter().filter_map(expression).any(calls);
    !none || select.having.is_some() || sums
}

/// Whether an expression contains a function; all functions are aggregates.
pub(crate) fn calls(e: &Expr) -> bool {
    let mut calls = false;
    // Nothing is refused here.
    let _ = rewritten(e, &mut |part| {
        calls |= matches!(part, Expr::Function(_));
        Ok(None)
    });
    calls
}

/// Whether an item of the select list is `*`, and nothing else with it.
pub(crate) fn is_all(item: &SelectItem) -> bool {
    matches!(item, SelectItem::Wildcard(_)) && item.to_string() == "*"
}

/// The keys by which rows are ordered.
pub(crate) fn keys(order: &Option<OrderBy>) -> impl Iterator<Item = &Expr> {
    let keys = order.iter().filter_map(|order| match &order.kind {
        OrderByKind::Expressions(keys) => Some(keys),
        OrderByKind::All(_) => None,
    });
    keys.flatten().map(|key| &key.expr)
}

/// Whether a column of the answer has this name.
pub(crate) fn answers(projection: &[SelectItem], name: &str) -> bool {
    projection.iter().any(|item| {
        matches!(item, SelectItem::ExprWithAlias { alias, .. }
            if alias.value.eq_ignore_ascii_case(name))
    })
}

/// The key of `order by` for a column of the answer by what it shows, whatever its name.
pub(crate) fn shown(projection: &[SelectItem], source: &Expr) -> Option<Expr> {
    if let [item] = projection
        && is_all(item)
    {
        return column(source).map(|name| Expr::Identifier(Ident::new(&name.value)));
    }
    let listed = !projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_)));
    let name = column(source);
    let same = |e: &Expr| {
        let both = column(e).zip(name);
        e == source || both.is_some_and(|(a, b)| a.value.eq_ignore_ascii_case(&b.value))
    };
    let found = projection.iter().position(|item| expression(item).is_some_and(same));
    found.filter(|_| listed).map(counted)
}

/// A position in the select list, counted from 1, as a key.
pub(crate) fn counted(place: usize) -> Expr {
    Expr::Value(Literal::Number((place + 1).to_string(), false).into())
}

/// The expression of an item of the select list; `None` for `*`.
pub(crate) fn expression(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => Some(e),
        _ => None,
    }
}

/// The name of a column, without that of its table.
pub(crate) fn column(e: &Expr) -> Option<&Ident> {
    match e {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    }
}

/// A position in the select list, from 1.
pub(crate) fn place(e: &Expr) -> Option<usize> {
    match e {
        Expr::Value(value) => match &value.value {
            Literal::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// The columns of an answer: what is selected, what it is bound to, and the columns of groups.
pub(crate) type Answered<'a> = (&'a Select, &'a [Output], &'a [usize]);

/// The place, from 0, of the column of the answer that a key of `order by` counts, names, or is
/// written as; none if it does not have one.
///
/// # Errors
/// [`TablesError::Type`] for a name that different columns have.
pub(crate) fn place_of(
    e: &Expr,
    (select, outputs, groups): Answered<'_>,
) -> Result<Option<usize>, TablesError> {
    if let Some(place) = place(e) {
        return Ok(place.checked_sub(1).filter(|place| *place < outputs.len()));
    }
    let (text, name) = (e.to_string(), matches!(e, Expr::Identifier(_)));
    // There are as many unless a `*` stands for several.
    let items = &select.projection;
    let same = items.iter().position(|item| expression(item) == Some(e));
    if let Some(place) = same.filter(|_| !name && items.len() == outputs.len()) {
        return Ok(Some(place));
    }
    // An expression in quotation marks is a name, and means nothing.
    let quoted = |item: &SelectItem| {
        matches!(item, SelectItem::ExprWithAlias { alias, .. }
            if alias.quote_style.is_some() && alias.value.eq_ignore_ascii_case(&text))
    };
    if !name && items.iter().any(quoted) {
        return Ok(None);
    }
    let is = |output: &Output| match name {
        true => output.name.eq_ignore_ascii_case(&text),
        // Two apostrophes in a row are written for one, and for two.
        false => !text.contains("''") && reads_alike(&output.name, &text),
    };
    let mut found = (0..outputs.len()).filter(|i| is(&outputs[*i]));
    let Some(first) = found.next() else { return Ok(None) };
    let value = |i: usize| match &outputs[i].value {
        Formula::Group(group) => (groups.get(*group), None),
        formula => (None, Some(formula)),
    };
    match found.all(|other| value(other) == value(first)) {
        true => Ok(Some(first)),
        false => Err(mistyped(
            e,
            "several columns of the answer have this name: name them with as, or order by a place \
             in the select list, from 1",
        )),
    }
}

/// Whether two texts of SQL differ in the case of names and words alone.
fn reads_alike(a: &str, b: &str) -> bool {
    let mut within = None;
    a.len() == b.len()
        && a.chars().zip(b.chars()).all(|(x, y)| {
            let same = if within == Some('\'') { x == y } else { x.eq_ignore_ascii_case(&y) };
            within = match within {
                None => Some(x).filter(|x| ['\'', '"'].contains(x)),
                Some(mark) => Some(mark).filter(|mark| *mark != x),
            };
            same
        })
}
