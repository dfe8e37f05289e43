//! Schemas of random tables as JSON, and queries on them as SQL.

use crate::ask_random::{Asked, Column, Condition, Number, Output, Sum, Type};

pub(crate) fn decimal(units: i128, scale: u32) -> String {
    let (whole, part) = (units.abs() / 10i128.pow(scale), units.abs() % 10i128.pow(scale));
    let sign = if units < 0 { "-" } else { "" };
    match scale {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{part:0>0$}", scale as usize),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Type {
    pub(crate) fn json(columns: &[Column]) -> String {
        let column = |c: &Column| {
            let mut told = match &c.kind {
                Type::Integer(low, high) => {
                    format!(r#""type": "integer", "low": {low}, "high": {high}"#)
                }
                Type::Decimal(scale, low, high) => format!(
                    r#""type": "decimal", "scale": {scale}, "low": "{}", "high": "{}""#,
                    decimal(*low, *scale),
                    decimal(*high, *scale)
                ),
                Type::Date(days) => format!(
                    r#""type": "date", "low": "{}", "high": "{}""#,
                    days[0],
                    days[days.len() - 1]
                ),
                Type::Boolean => r#""type": "boolean""#.into(),
                Type::Category(values) => {
                    format!(r#""type": "category", "values": {values:?}"#)
                }
            };
            if c.nullable {
                told += r#", "nullable": true"#;
            }
            if c.index {
                told += r#", "index": true"#;
            }
            format!(r#"{{"name": "{}", {told}}}"#, c.name)
        };
        let columns: Vec<_> = columns.iter().map(column).collect();
        format!("{{\"columns\": [{}]}}", columns.join(", "))
    }
}

/// SQL, with parentheses around everything.
impl Number {
    fn sql(&self, columns: &[Column]) -> String {
        match self {
            Number::Column(place) => columns[*place].name.clone(),
            Number::Literal(units, scale) => decimal(*units, *scale),
            Number::Of(op, a, b) => format!("({} {op} {})", a.sql(columns), b.sql(columns)),
        }
    }
}

impl Condition {
    fn sql(&self, columns: &[Column]) -> String {
        let name = |place: &usize| columns[*place].name.clone();
        match self {
            Condition::Compare(op, a, b) => {
                format!("({} {op} {})", a.sql(columns), b.sql(columns))
            }
            Condition::Text(op, place, text) => match columns[*place].kind {
                Type::Date(_) => format!("({} {op} date {})", name(place), quoted(text)),
                _ => format!("({} {op} {})", name(place), quoted(text)),
            },
            Condition::Columns(op, a, b) => format!("({} {op} {})", name(a), name(b)),
            Condition::Truth(place) => name(place),
            Condition::Between(x, a, b) => format!(
                "({} between {} and {})",
                x.sql(columns),
                decimal(a.0, a.1),
                decimal(b.0, b.1)
            ),
            Condition::In(place, texts) => {
                let texts: Vec<_> = texts.iter().map(|t| quoted(t)).collect();
                format!("({} in ({}))", name(place), texts.join(", "))
            }
            Condition::Like(place, pattern) => {
                format!("({} like {})", name(place), quoted(pattern))
            }
            Condition::IsNull(place) => format!("({} is null)", name(place)),
            Condition::And(a, b) => format!("({} and {})", a.sql(columns), b.sql(columns)),
            Condition::Or(a, b) => format!("({} or {})", a.sql(columns), b.sql(columns)),
            Condition::Not(a) => format!("(not {})", a.sql(columns)),
        }
    }
}

impl Sum {
    fn sql(&self, columns: &[Column]) -> String {
        match self {
            Sum::Of(x) => x.sql(columns),
            Sum::Case(cases, otherwise) => {
                let case = |(when, x): &(Condition, Number)| {
                    format!("when {} then {} ", when.sql(columns), x.sql(columns))
                };
                let cases: String = cases.iter().map(case).collect();
                let rest = otherwise.as_ref().map(|x| format!("else {} ", x.sql(columns)));
                format!("case {cases}{}end", rest.unwrap_or_default())
            }
        }
    }
}

impl Asked {
    pub(crate) fn sql(&self, columns: &[Column]) -> String {
        let filtered = |call: String, when: &Option<Condition>| match when {
            Some(when) => format!("{call} filter (where {})", when.sql(columns)),
            None => call,
        };
        let output = |o: &Output| match o {
            Output::Rows(when) => filtered("count(*)".into(), when),
            Output::Count(place, when) => {
                filtered(format!("count({})", columns[*place].name), when)
            }
            Output::Sum(x, when) => filtered(format!("sum({})", x.sql(columns)), when),
            Output::Fold("distinct", x, when) => {
                filtered(format!("count(distinct {})", x.sql(columns)), when)
            }
            Output::Fold(name, x, when) => filtered(format!("{name}({})", x.sql(columns)), when),
            Output::Average(x, when) => filtered(format!("avg({})", x.sql(columns)), when),
        };
        let groups: Vec<_> = self.groups.iter().map(|place| columns[*place].name.clone()).collect();
        let shown: Vec<_> = groups.iter().cloned().chain(self.outputs.iter().map(output)).collect();
        let mut text = format!("select {} from t", shown.join(", "));
        if let Some(filter) = &self.filter {
            text += &format!(" where {}", filter.sql(columns));
        }
        let having = self.having.map(|(place, op, (units, scale))| {
            let x = decimal(units, scale);
            format!(" having {} {op} {x}", output(&self.outputs[place]))
        });
        if !groups.is_empty() {
            let order = if self.descending { " desc" } else { "" };
            let nulls = match self.nulls_first {
                None => "",
                Some(true) => " nulls first",
                Some(false) => " nulls last",
            };
            let keys: Vec<_> = groups.iter().map(|g| format!("{g}{order}{nulls}")).collect();
            let having = having.unwrap_or_default();
            text +=
                &format!(" group by {}{having} order by {}", groups.join(", "), keys.join(", "));
        } else if let Some(having) = having {
            text += &having;
        }
        if let Some(limit) = self.limit {
            text += &format!(" limit {limit}");
        }
        text
    }
}
