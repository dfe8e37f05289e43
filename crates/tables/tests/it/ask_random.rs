//! Random tables and queries.

/// A value of SQL; a truth value that is none is unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Null,
    Number(i128, u32),
    Text(String),
    Truth(bool),
}

/// A generator of numbers that is the same everywhere (splitmix64).
pub(crate) struct Random(pub(crate) u64);

#[derive(Clone, Debug)]
pub(crate) enum Type {
    Integer(i128, i128),
    Decimal(u32, i128, i128),
    Date(Vec<String>),
    Boolean,
    Category(Vec<String>),
}

impl Type {
    /// The number of values.
    fn count(&self) -> i128 {
        match self {
            Type::Integer(low, high) | Type::Decimal(_, low, high) => high - low + 1,
            Type::Boolean => 2,
            Type::Date(texts) | Type::Category(texts) => texts.len() as i128,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) nullable: bool,
    /// Whether conditions on it are decided by an index.
    pub(crate) index: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Number {
    Column(usize),
    Literal(i128, u32),
    Of(char, Box<Number>, Box<Number>),
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Compare(&'static str, Number, Number),
    Text(&'static str, usize, String),
    Columns(&'static str, usize, usize),
    Truth(usize),
    Between(Number, (i128, u32), (i128, u32)),
    In(usize, Vec<String>),
    Like(usize, String),
    IsNull(usize),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

#[derive(Clone, Debug)]
pub(crate) enum Sum {
    Of(Number),
    Case(Vec<(Condition, Number)>, Option<Number>),
}

#[derive(Clone, Debug)]
pub(crate) enum Output {
    Rows(Option<Condition>),
    Count(usize, Option<Condition>),
    Sum(Sum, Option<Condition>),
    Average(Sum, Option<Condition>),
    /// `min`, `max`, `median`, or `count (distinct ..)` of a number or a column.
    Fold(&'static str, Number, Option<Condition>),
}

#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) outputs: Vec<Output>,
    pub(crate) filter: Option<Condition>,
    pub(crate) groups: Vec<usize>,
    /// A comparison of an output with a number.
    pub(crate) having: Option<(usize, &'static str, (i128, u32))>,
    pub(crate) descending: bool,
    /// Where what is missing comes, if the query says it.
    pub(crate) nulls_first: Option<bool>,
    pub(crate) limit: Option<usize>,
}

/// Whether columns may hold nothing.
const NULLS: bool = true;

const OPS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn between(&mut self, low: i128, high: i128) -> i128 {
        match self.below(6) {
            0 => low,
            1 => high,
            _ => low + i128::from(self.next()) % (high - low + 1),
        }
    }

    /// A column of each type, and some more.
    pub(crate) fn columns(&mut self) -> Vec<Column> {
        let days = ["1899-12-31", "1970-01-01", "1999-12-31", "2000-02-29", "2024-03-01"];
        let mut kinds = vec![
            self.of(&[Type::Integer(0, 1), Type::Integer(-3, 7), Type::Integer(5, 5)]),
            self.of(&[
                Type::Integer(-300, 500),
                Type::Integer(0, 65_535),
                Type::Integer(-70_000, 1),
            ]),
            self.of(&[
                Type::Decimal(2, 5, 99_999),
                Type::Decimal(1, -40, 40),
                Type::Decimal(3, -5, 0),
            ]),
            Type::Boolean,
            Type::Date(days.map(String::from).to_vec()),
            Type::Date(days[1..4].iter().map(ToString::to_string).collect()),
            Type::Category(["tea", "cake", "it's", "Tea"].map(String::from).to_vec()),
            Type::Category((0..40).map(|i| format!("k{}", i * 7 % 40)).collect()),
        ];
        kinds.push(Type::Integer(0, 9));
        let column = |(i, kind): (usize, Type)| Column {
            name: format!("c{i}"),
            nullable: NULLS && self.below(2) == 0,
            index: kind.count() > 2 && self.below(3) == 0,
            kind,
        };
        kinds.into_iter().enumerate().map(column).collect()
    }

    pub(crate) fn cell(&mut self, column: &Column) -> Value {
        if column.nullable && self.below(4) == 0 {
            return Value::Null;
        }
        match &column.kind {
            Type::Integer(low, high) => Value::Number(self.between(*low, *high), 0),
            Type::Decimal(scale, low, high) => Value::Number(self.between(*low, *high), *scale),
            Type::Date(texts) | Type::Category(texts) => Value::Text(self.of(texts)),
            Type::Boolean => Value::Truth(self.below(2) == 0),
        }
    }

    /// A number near the values of a column.
    fn literal(&mut self, column: &Column) -> (i128, u32) {
        let (scale, low, high) = match &column.kind {
            Type::Decimal(scale, low, high) => (*scale, *low, *high),
            Type::Integer(low, high) => (0, *low, *high),
            _ => (0, 0, 1),
        };
        let x = self.between(low - 2, high + 2);
        match self.below(4) {
            0 => (x * 10 + [1, 5, -5][self.below(3)], scale + 1),
            _ => (x, scale),
        }
    }

    fn number(&mut self, columns: &[Column], depth: usize) -> Number {
        let place = self.below(3);
        match self.below(8) {
            0..=2 if depth > 0 => {
                let op = self.of(&['+', '-', '*']);
                let a = self.number(columns, depth - 1);
                Number::Of(op, Box::new(a), Box::new(self.number(columns, depth - 1)))
            }
            3 if depth < 2 => {
                let (units, scale) = self.literal(&columns[place]);
                Number::Literal(units, scale)
            }
            _ => Number::Column(place),
        }
    }

    fn condition(&mut self, columns: &[Column], depth: usize) -> Condition {
        let both = |r: &mut Self| {
            let a = Box::new(r.condition(columns, depth - 1));
            (a, Box::new(r.condition(columns, depth - 1)))
        };
        let op = self.of(&OPS);
        let text = 4 + self.below(4);
        let (Type::Date(texts) | Type::Category(texts)) = columns[text].kind.clone() else {
            unreachable!("columns 4 to 7 hold texts")
        };
        let place = self.of(&[0, 1, 2, 8]);
        match self.below(16) {
            0 | 1 if depth > 0 => {
                let (a, b) = both(self);
                Condition::And(a, b)
            }
            2 | 3 if depth > 0 => {
                let (a, b) = both(self);
                Condition::Or(a, b)
            }
            4 | 5 if depth > 0 => Condition::Not(Box::new(self.condition(columns, depth - 1))),
            6 => Condition::Truth(3),
            7 | 8 => Condition::Text(op, text, self.of(&texts)),
            9 => Condition::Columns(op, 4, 5),
            10 => {
                let (a, b) = (self.literal(&columns[place]), self.literal(&columns[place]));
                Condition::Between(Number::Column(place), a, b)
            }
            11 => {
                let texts = (0..=self.below(3)).map(|_| self.of(&texts)).collect();
                Condition::In(text, texts)
            }
            12 => Condition::Like(6, self.of(&["%e%", "t__", "%", "_ea%", "it'%"]).to_string()),
            13 => Condition::IsNull(self.below(columns.len())),
            14 if depth > 0 => {
                let a = self.number(columns, 1);
                Condition::Compare(op, a, self.number(columns, 1))
            }
            _ => {
                let (units, scale) = self.literal(&columns[place]);
                let (a, b) = (Number::Column(place), Number::Literal(units, scale));
                if self.below(2) == 0 {
                    Condition::Compare(op, a, b)
                } else {
                    Condition::Compare(op, b, a)
                }
            }
        }
    }

    fn sum(&mut self, columns: &[Column]) -> Sum {
        if self.below(3) > 0 {
            return Sum::Of(self.number(columns, 2));
        }
        let case = |r: &mut Self| (r.condition(columns, 0), r.number(columns, 1));
        let cases = (0..=self.below(2)).map(|_| case(self)).collect();
        let none = NULLS && self.below(3) == 0;
        Sum::Case(cases, (!none).then(|| self.number(columns, 1)))
    }

    pub(crate) fn query(&mut self, columns: &[Column]) -> Asked {
        let outputs: Vec<Output> = (0..=self.below(3))
            .map(|_| {
                let when = (self.below(4) == 0).then(|| self.condition(columns, 1));
                match self.below(6) {
                    5 => {
                        let name = self.of(&["min", "max", "median", "distinct"]);
                        let x = match self.below(2) {
                            0 if name != "median" => Number::Column(self.below(columns.len())),
                            _ => self.number(columns, 1),
                        };
                        Output::Fold(name, x, when)
                    }
                    0 => Output::Rows(when),
                    1 => Output::Count(self.below(columns.len()), when),
                    2 => Output::Average(self.sum(columns), when),
                    _ => Output::Sum(self.sum(columns), when),
                }
            })
            .collect();
        let number = |o: &Output| match o {
            Output::Fold(name, Number::Column(place), _) => *name == "distinct" || *place < 3,
            _ => true,
        };
        let numbers: Vec<usize> = (0..outputs.len()).filter(|i| number(&outputs[*i])).collect();
        let having = (self.below(4) == 0 && !numbers.is_empty()).then(|| {
            let x = (self.between(-9, 20), self.below(2) as u32);
            (self.of(&numbers), self.of(&OPS), x)
        });
        let groups =
            self.of(&[vec![], vec![], vec![3], vec![6], vec![6, 3], vec![8], vec![0], vec![4, 7]]);
        Asked {
            outputs,
            having,
            filter: (self.below(4) > 0).then(|| self.condition(columns, 2)),
            descending: self.below(2) == 0,
            nulls_first: self.of(&[None, Some(false), Some(true)]),
            limit: (self.below(4) == 0).then(|| self.below(4)),
            groups,
        }
    }
}
