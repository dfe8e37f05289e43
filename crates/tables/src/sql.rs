//! Queries in SQL: which are supported, and which are refused.

use std::collections::BTreeSet;

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, LimitClause, OrderByKind, OrderBySort, Query as Ast, Select,
    SelectItem, SetExpr, Statement, Value as Literal,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::bind::Binder;
use crate::condition::Condition;
use crate::error::TablesError;
use crate::formula::{Formula, Having};
use crate::from::tables;
use crate::notes::Notes;
use crate::order::{Key, orderable};
use crate::parameter::Parameter;
use crate::query::{Fold, MOST_GROUPS, OrderKey, OrderedBy, Output, Query};
use crate::schema::Schema;
use crate::select_list::{Answered, is_grouped, place_of};

/// The largest depth of nested expressions.
const DEPTH: usize = 50;
/// The longest query, in bytes.
pub(crate) const QUERY_BYTES: usize = 1 << 16;
/// The largest number of operators and parentheses of a query, which bounds its depth.
pub(crate) const OPERATORS: usize = 500;
/// The largest number of words that are not operators.
const WORDS: usize = 2000;
/// Words that join selects, each of which takes as much stack as many operators.
const SETS: [Keyword; 4] = [Keyword::UNION, Keyword::INTERSECT, Keyword::EXCEPT, Keyword::MINUS];
/// The number of operators as which each of them counts.
const SET: usize = 50;
/// Words that join expressions.
const JOINS: [Keyword; 17] = [
    Keyword::AND,
    Keyword::OR,
    Keyword::NOT,
    Keyword::XOR,
    Keyword::IS,
    Keyword::NOTNULL,
    Keyword::IN,
    Keyword::BETWEEN,
    Keyword::LIKE,
    Keyword::ILIKE,
    Keyword::SIMILAR,
    Keyword::REGEXP,
    Keyword::RLIKE,
    Keyword::OVERLAPS,
    Keyword::AT,
    Keyword::COLLATE,
    Keyword::JOIN,
];

impl Query {
    /// Binds a query to the schema of its rows, which the encrypted constants end.
    pub(crate) fn bound(
        ast: &Ast,
        schema: &Schema,
        parameters: &[Parameter],
        ordered_by: OrderedBy,
        notes: &Notes,
    ) -> Result<Self, TablesError> {
        let select = only_select(ast)?;
        let (scope, conditions) = tables(select, schema)?;
        let mut binder = Binder::new(schema, scope, parameters, notes);
        let conditions = conditions.into_iter().map(|e| binder.condition(e));
        let filter = Condition::And(conditions.collect::<Result<_, _>>()?).simplified(schema);
        let GroupByExpr::Expressions(grouped, modifiers) = &select.group_by else {
            return Err(TablesError::unsupported("group by all", "name the columns"));
        };
        if !modifiers.is_empty() {
            return Err(TablesError::unsupported(
                "grouping sets, or another clause of group by",
                "name the columns of one set, and ask about the others one by one",
            ));
        }
        let mut groups = grouped.iter().map(|e| binder.column(e)).collect::<Result<Vec<_>, _>>()?;
        binder.check_groups(&groups)?;
        if groups.is_empty() && select.having.is_none() && select.projection.iter().all(is_column) {
            let rows = Self::listing(ast, select, &binder, filter, ordered_by)?;
            if select.distinct.is_none() {
                if !ordered_by.is_reader() && rows.limit.is_some() {
                    Key::of_order(&rows, schema)?;
                }
                return Ok(rows);
            }
            // Different rows are groups.
            let Query { filter, outputs, order, limit, .. } = rows;
            groups = rows.groups;
            binder.check_groups(&groups)?;
            let grouped = Grouped { filter, groups, having: None, outputs, order, limit };
            return grouped.query(&mut binder, ordered_by);
        }
        if select.distinct.is_some() {
            return Err(TablesError::unsupported(
                "distinct with sums or group by",
                "select distinct names columns and nothing else",
            ));
        }
        // The rows of each group are always counted: a sum over none is no value.
        binder.count(Condition::Constant(true));
        let mut outputs = Vec::new();
        for item in &select.projection {
            let (expression, name) = named(item)?;
            outputs.push(Output { name, value: binder.formula(expression, &groups)? });
        }
        // One row would be answered where SQL has one for each row of the table.
        if !is_grouped(select) {
            return Err(TablesError::unsupported(
                "constants for each row",
                "select columns of the rows, or count them: count(*)",
            ));
        }
        let having = select.having.as_ref().map(|e| binder.having(e, &groups)).transpose()?;
        let (order, limit) = (order(ast, (select, &outputs[..], &groups[..]))?, limit(ast)?);
        Grouped { filter, groups, having, outputs, order, limit }.query(&mut binder, ordered_by)
    }

    /// A query for the rows themselves.
    fn listing(
        ast: &Ast,
        select: &Select,
        binder: &Binder<'_>,
        filter: Condition,
        ordered_by: OrderedBy,
    ) -> Result<Self, TablesError> {
        let (mut groups, mut outputs) = (Vec::new(), Vec::new());
        let mut column = |place: usize, name: String| {
            outputs.push(Output { name, value: Formula::Group(groups.len()) });
            groups.push(place);
        };
        for item in &select.projection {
            if let SelectItem::Wildcard(_) = item {
                let fields = binder.schema.fields();
                let all = binder.scope.all(binder.width()).into_iter();
                all.for_each(|place| column(place, fields[place].name().into()));
            } else {
                let (expression, name) = named(item)?;
                column(binder.column(expression)?, name);
            }
        }
        let listed = groups.iter().flat_map(|place| binder.schema.cell_places(*place));
        let listed: BTreeSet<usize> = listed.collect();
        let order = order(ast, (select, &outputs[..], &groups[..]))?;
        Ok(Query {
            filter,
            listed: Some(listed.into_iter().collect()),
            groups,
            aggregates: Vec::new(),
            having: None,
            order,
            outputs,
            limit: limit(ast)?,
            ordered_by,
            parameters: binder.parameters(),
        })
    }
}

/// A query for groups of rows, without its aggregates.
struct Grouped {
    filter: Condition,
    groups: Vec<usize>,
    having: Option<Having>,
    outputs: Vec<Output>,
    order: Vec<OrderKey>,
    limit: Option<usize>,
}

impl Grouped {
    /// The query: it is computed by the server if there are few groups and only sums, or values
    /// that the server is to order, are requested; otherwise rows are listed.
    fn query(self, binder: &mut Binder<'_>, ordered_by: OrderedBy) -> Result<Query, TablesError> {
        let Grouped { filter, groups, having, outputs, order, limit } = self;
        binder.count(Condition::Constant(true));
        let aggregates = binder.aggregates();
        let count = groups.iter().try_fold(1i128, |count, place| {
            let (low, high) = binder.schema.fields()[*place].bounds();
            count.checked_mul(high - low + 1).filter(|count| *count <= MOST_GROUPS)
        });
        let sums = match ordered_by {
            OrderedBy::Reader => aggregates.iter().all(|a| a.fold == Fold::Sum) && count.is_some(),
            OrderedBy::Server => {
                orderable(&aggregates, count.is_some(), binder.schema)?;
                true
            }
        };
        let mut listed: BTreeSet<usize> = groups.iter().copied().collect();
        for aggregate in aggregates.iter().filter(|_| !sums) {
            aggregate.value.columns(&mut listed);
            aggregate.when.columns(&mut listed);
        }
        if let Some(constant) = listed.range(binder.width()..).next() {
            return Err(TablesError::unsupported(
                &format!(
                    "{} outside of where, in an answer that is made of rows",
                    binder.schema.fields()[*constant].name()
                ),
                "compare encrypted constants in where; sums, counts and averages of at most 256 \
                 groups take them anywhere",
            ));
        }
        let listed = (!sums).then(|| listed.into_iter().collect());
        let parameters = binder.parameters();
        Ok(Query {
            filter,
            listed,
            groups,
            aggregates,
            having,
            outputs,
            order,
            limit,
            ordered_by,
            parameters,
        })
    }
}

/// Whether an item of the select list is a column, or all of them.
fn is_column(item: &SelectItem) -> bool {
    match item {
        SelectItem::Wildcard(_) => item.to_string() == "*",
        SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => {
            matches!(e, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        }
        _ => false,
    }
}

/// An item of the select list, and the name of its column in the answer.
fn named(item: &SelectItem) -> Result<(&Expr, String), TablesError> {
    match item {
        SelectItem::UnnamedExpr(e) => Ok((e, e.to_string())),
        SelectItem::ExprWithAlias { expr, alias } => Ok((expr, alias.value.clone())),
        other => Err(TablesError::unsupported(
            &other.to_string(),
            "name the sums and the grouped columns that you want",
        )),
    }
}

/// The one query of a text.
pub(crate) fn ast_of(text: &str) -> Result<Ast, TablesError> {
    let mut statements = statements(text)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(Statement::Query(ast)), true) => Ok(*ast),
        (None, _) => {
            Err(TablesError::Syntax { problem: "expected a query: select … from …".into() })
        }
        _ => Err(TablesError::unsupported("anything but one select", "ask one query at a time")),
    }
}

/// The statements of a text of bounded length and depth.
pub(crate) fn statements(text: &str) -> Result<Vec<Statement>, TablesError> {
    let syntax = |problem: String| TablesError::Syntax { problem };
    if text.len() > QUERY_BYTES {
        let found = text.len();
        return Err(syntax(format!("{found} bytes, and {QUERY_BYTES} is the most")));
    }
    let dialect = PostgreSqlDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize_with_location();
    let tokens = tokens.map_err(|e| syntax(e.to_string()))?;
    let (mut operators, mut words) = (0, 0);
    for token in &tokens {
        match &token.token {
            Token::Comma | Token::Whitespace(_) | Token::Number(..) => {}
            Token::SingleQuotedString(_) => {}
            Token::Word(word) if SETS.contains(&word.keyword) => operators += SET,
            Token::Word(word) if !JOINS.contains(&word.keyword) => words += 1,
            _ => operators += 1,
        }
    }
    for (what, found, most) in [("operators", operators, OPERATORS), ("words", words, WORDS)] {
        if found > most {
            return Err(syntax(format!("{found} {what}, above the limit of {most}")));
        }
    }
    Parser::new(&dialect)
        .with_recursion_limit(DEPTH)
        .with_tokens_with_locations(tokens)
        .parse_statements()
        .map_err(|e| syntax(e.to_string()))
}

/// The select of a query. Its supported clauses are copied into an empty one, which then must equal
/// it, so that no clause is ignored silently.
pub(crate) fn only_select(ast: &Ast) -> Result<&Select, TablesError> {
    let plain = ast_of("select 1 from t")?;
    let rest = Ast { body: plain.body.clone(), order_by: None, limit_clause: None, ..ast.clone() };
    let (SetExpr::Select(select), SetExpr::Select(empty)) = (&*ast.body, &*plain.body) else {
        return Err(TablesError::unsupported(
            "a union or another query of several",
            "ask them one by one",
        ));
    };
    if rest != plain {
        return Err(TablesError::unsupported(
            "with, fetch, for or another clause around the select",
            "leave it",
        ));
    }
    let expected = Select {
        projection: select.projection.clone(),
        from: select.from.clone(),
        selection: select.selection.clone(),
        group_by: select.group_by.clone(),
        having: select.having.clone(),
        distinct: select.distinct.clone().filter(|d| *d == Distinct::Distinct),
        ..(**empty).clone()
    };
    if expected != **select {
        return Err(TablesError::unsupported(
            "a clause such as qualify or window",
            "only select, from, where, group by, having, order by and limit are",
        ));
    }
    Ok(select)
}

/// The order of rows. Missing values count as greater than all others, as in PostgreSQL.
fn order(ast: &Ast, answered: Answered<'_>) -> Result<Vec<OrderKey>, TablesError> {
    let Some(order) = &ast.order_by else { return Ok(Vec::new()) };
    let OrderByKind::Expressions(keys) = &order.kind else {
        return Err(TablesError::unsupported("order by all", "name the columns"));
    };
    let key = |key: &sqlparser::ast::OrderByExpr| {
        let known = place_of(&key.expr, answered)?.filter(|_| key.with_fill.is_none());
        let output = known.ok_or_else(|| {
            TablesError::unsupported(&format!("order by {key}"), "order by a column of the answer")
        })?;
        let descending = match key.options.sort {
            None | Some(OrderBySort::Asc) => false,
            Some(OrderBySort::Desc) => true,
            Some(OrderBySort::Using(_)) => {
                return Err(TablesError::unsupported("order by using", "write asc or desc"));
            }
        };
        let nulls_first = key.options.nulls_first.unwrap_or(descending);
        Ok(OrderKey { output, descending, nulls_first })
    };
    keys.iter().map(key).collect()
}

fn limit(ast: &Ast) -> Result<Option<usize>, TablesError> {
    match &ast.limit_clause {
        None => Ok(None),
        Some(LimitClause::LimitOffset { limit: Some(e), offset: None, limit_by })
            if limit_by.is_empty() && number(e).is_some() =>
        {
            Ok(number(e))
        }
        Some(other) => {
            Err(TablesError::unsupported(other.to_string().trim(), "write limit and a number"))
        }
    }
}

/// A literal number that is a count.
fn number(e: &Expr) -> Option<usize> {
    match e {
        Expr::Value(value) => match &value.value {
            Literal::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
