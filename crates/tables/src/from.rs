//! The tables of a statement: the encrypted table, and tables that are joined with it.

use sqlparser::ast::{
    BinaryOperator, Expr, JoinConstraint, JoinOperator, ObjectName, Select, TableFactor,
    TableWithJoins,
};

use crate::error::TablesError;
use crate::foreign::Carried;
use crate::schema::Schema;
use crate::scope::{Named, Scope, on};

/// A table as a statement names it: its name, and the prefix of its columns.
#[derive(Clone, Copy)]
pub(crate) struct Relation<'a> {
    name: &'a str,
    called: &'a str,
}

/// The tables of a query, and all conditions on its rows: those of joins, except those that a
/// foreign key states, and that of `where`.
pub(crate) fn tables<'a>(
    select: &'a Select,
    schema: &'a Schema,
) -> Result<(Scope<'a>, Vec<&'a Expr>), TablesError> {
    if let [TableWithJoins { relation, joins }] = &select.from[..]
        && joins.is_empty()
        && nested(relation).is_none()
    {
        let relation = Relation::of(relation)?;
        relation.check_own(schema)?;
        let scope = Scope::new(schema, relation.called, Vec::new());
        return Ok((scope, select.selection.iter().collect()));
    }
    let Joined { relations, mut conditions, using } = joined(&select.from)?;
    select.selection.iter().for_each(|e| conjuncts(e, &mut conditions));
    let partners: Vec<Option<&Carried>> = relations.iter().map(|r| r.partner(schema)).collect();
    let mut own = relations.iter().zip(&partners).filter(|(_, p)| p.is_none()).map(|(r, _)| *r);
    let own = match (own.next(), own.next()) {
        (Some(own), None) => own,
        (Some(_), Some(other)) => return Err(unknown(other)),
        (None, _) => return relations[0].check_own(schema).and(Err(no_table())),
    };
    let mut joined: Vec<(&Carried, &str)> = Vec::with_capacity(partners.len());
    for (relation, carried) in relations.iter().zip(&partners) {
        let Some(carried) = carried else { continue };
        if joined.iter().any(|(known, _)| known == carried) {
            return Err(TablesError::unsupported(
                &format!("a second join with {}", relation.name),
                "each row has one partner: state another foreign key, under another name",
            ));
        }
        joined.push((carried, relation.called));
    }
    let column = |c: &Carried| schema.fields()[c.column].name();
    let scope = Scope::new(schema, own.called, joined.clone());
    let mut met: Vec<&Carried> = Vec::new();
    for (place, name) in using {
        // The partner that this is a join with, or that the table itself is joined with.
        let mut before = partners[..place].iter().flatten();
        let alone = before.next().filter(|_| before.next().is_none());
        let carried = partners[place]
            .or(alone.copied())
            .filter(|c| name.eq_ignore_ascii_case(column(c)) && name.eq_ignore_ascii_case(&c.key));
        met.push(carried.ok_or_else(|| {
            let remedy = "write on, and the two columns of the foreign key";
            TablesError::unsupported(&format!("using ({name})"), remedy)
        })?);
    }
    for (i, (carried, called)) in joined.iter().enumerate() {
        if met.contains(carried) {
            continue;
        }
        let Some(place) = conditions.iter().position(|e| is_join(&scope, carried, i, e)) else {
            return Err(TablesError::unsupported(
                &format!("a join of {called} that is not on its declared key"),
                &format!("write join {} on {}", carried.table, on(schema, carried)),
            ));
        };
        conditions.remove(place);
    }
    Ok((scope, conditions))
}

fn unknown(other: Relation<'_>) -> TablesError {
    TablesError::unsupported(
        &format!("a join with {}", other.name),
        "state a foreign key to it in the schema and encrypt the rows together with it, which adds \
         its columns to each row: there has to be one partner for each row",
    )
}

fn no_table() -> TablesError {
    TablesError::unsupported("a query without from", "name the table")
}

/// The relations of a clause, the conditions of their joins, and the names of columns that a
/// relation, by its index, has in common with those before it.
#[derive(Default)]
struct Joined<'a> {
    relations: Vec<Relation<'a>>,
    conditions: Vec<&'a Expr>,
    using: Vec<(usize, &'a str)>,
}

fn joined(from: &[TableWithJoins]) -> Result<Joined<'_>, TablesError> {
    let mut found = Joined::default();
    from.iter().try_for_each(|table| found.add(table))?;
    if found.relations.is_empty() { Err(no_table()) } else { Ok(found) }
}

/// The joins in parentheses in the place of a table.
fn nested(table: &TableFactor) -> Option<&TableWithJoins> {
    match table {
        TableFactor::NestedJoin { table_with_joins, alias: None } => Some(table_with_joins),
        _ => None,
    }
}

impl<'a> Joined<'a> {
    /// Adds a relation, or those in parentheses: every row has exactly one partner, so the order of
    /// joins does not matter.
    fn relate(&mut self, table: &'a TableFactor) -> Result<(), TablesError> {
        match nested(table) {
            Some(inner) => self.add(inner),
            None => {
                self.relations.push(Relation::of(table)?);
                Ok(())
            }
        }
    }

    fn add(&mut self, table: &'a TableWithJoins) -> Result<(), TablesError> {
        self.relate(&table.relation)?;
        for join in &table.joins {
            self.relate(&join.relation)?;
            let refused = || {
                TablesError::unsupported(
                    join.to_string().trim(),
                    "every row has its one partner: write join TABLE on COLUMN = KEY",
                )
            };
            let constraint = match &join.join_operator {
                JoinOperator::Join(c) | JoinOperator::Inner(c) if !join.global => c,
                _ => return Err(refused()),
            };
            match constraint {
                JoinConstraint::On(e) => conjuncts(e, &mut self.conditions),
                JoinConstraint::Using(_) if nested(&join.relation).is_some() => {
                    return Err(refused());
                }
                JoinConstraint::Using(names) => {
                    let place = self.relations.len() - 1;
                    let name = match &names[..] {
                        [name] => column_of(name).ok_or_else(refused)?,
                        _ => return Err(refused()),
                    };
                    self.using.push((place, name));
                }
                JoinConstraint::Natural | JoinConstraint::None => return Err(refused()),
            }
        }
        Ok(())
    }
}

fn column_of(name: &ObjectName) -> Option<&str> {
    match &name.0[..] {
        [part] => part.as_ident().map(|name| &name.value[..]),
        _ => None,
    }
}

/// The parts of a condition all of which have to be met.
fn conjuncts<'a>(e: &'a Expr, out: &mut Vec<&'a Expr>) {
    match e {
        Expr::Nested(inner) => conjuncts(inner, out),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            conjuncts(left, out);
            conjuncts(right, out);
        }
        e => out.push(e),
    }
}

/// Whether a condition is that the column of a row equals the key of its partner.
fn is_join(scope: &Scope<'_>, carried: &Carried, joined: usize, e: &Expr) -> bool {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = e else { return false };
    let (Ok(a), Ok(b)) = (scope.find(left), scope.find(right)) else { return false };
    let column = |named: Named| named.place == carried.column && named.key_of.is_none();
    let key = |named: Named| named.key_of == Some(joined);
    (column(a) && key(b)) || (key(a) && column(b))
}

impl<'a> Relation<'a> {
    fn of(table: &'a TableFactor) -> Result<Self, TablesError> {
        let named = |table: &'a TableFactor| {
            let TableFactor::Table { name, alias, .. } = table else { return None };
            let last = &name.0.last()?.as_ident()?.value[..];
            let (written, called) = match alias {
                Some(alias) => {
                    let with = if alias.explicit { "AS " } else { "" };
                    (format!("{name} {with}{}", alias.name), &alias.name.value[..])
                }
                None => (name.to_string(), last),
            };
            // The table by its name and alias, and nothing else, such as a sample of it.
            (table.to_string() == written).then_some(Relation { name: last, called })
        };
        named(table).ok_or_else(|| {
            TablesError::unsupported(
                &table.to_string(),
                "ask about the table itself: from and its name",
            )
        })
    }

    /// The foreign key to the table of this name.
    pub(crate) fn partner(self, schema: &Schema) -> Option<&Carried> {
        schema.carried().iter().find(|c| c.is_called(self.name))
    }

    /// The prefix of the columns of the table.
    pub(crate) fn called(self) -> &'a str {
        self.called
    }

    /// Refuses a table that is not stored itself, but only carried by the rows of another one.
    fn check_own(self, schema: &Schema) -> Result<(), TablesError> {
        let Some(carried) = self.partner(schema) else { return Ok(()) };
        Err(TablesError::unsupported(
            &format!("{} alone, which is not stored but carried by rows of the table", self.name),
            &format!("write from TABLE join {} on {}", carried.table, on(schema, carried)),
        ))
    }
}

/// The only table of a change.
pub(crate) fn only_table(from: &[TableWithJoins]) -> Result<Relation<'_>, TablesError> {
    match from {
        [table] if table.joins.is_empty() => Relation::of(&table.relation),
        [] => Err(no_table()),
        _ => Err(TablesError::unsupported("a change of several tables", "change one at a time")),
    }
}
