//! From text to program: recursive descent, of limited depth.

mod calls;
mod elsewhere;

use std::collections::BTreeSet;

use self::elsewhere::{advice, instead};
use super::error::ExpressionError;
use super::syntax::{
    Kind, MAX_EXPONENT, MAX_NESTING, MAX_OPERATORS, Node, Operator, Program, Statement,
};
use super::token::{Token, tokens};

type Result<T> = std::result::Result<T, ExpressionError>;

impl Program {
    /// Parses a program.
    ///
    /// # Errors
    /// The first mistake: a text that the grammar does not have, an unknown function, a wrong
    /// number of arguments, a name that is defined twice or after its use, a statement without
    /// ciphertext, parentheses nested deeper than [`MAX_NESTING`], a text above
    /// [`MAX_BYTES`](super::MAX_BYTES).
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser {
            tokens: tokens(text)?,
            at: 0,
            nesting: 0,
            operators: 0,
            inputs: Vec::new(),
            known: BTreeSet::new(),
        };
        let mut statements: Vec<Statement> = Vec::new();
        while *parser.peek() != Token::End {
            let statement = parser.statement()?;
            parser.known.insert(statement.name.clone());
            statements.push(statement);
            if !parser.accept(";") {
                parser.expect_end()?;
            }
        }
        if statements.is_empty() {
            return Err(ExpressionError::new(
                1,
                "expected a statement such as y = 3*x*(1 - x), found none",
            ));
        }
        Ok(Program { statements, inputs: parser.inputs })
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    nesting: usize,
    /// Of the statement.
    operators: usize,
    inputs: Vec<String>,
    /// Names that are defined, or were used and so are inputs.
    known: BTreeSet<String>,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].1
    }

    fn column(&self) -> usize {
        self.tokens[self.at].0
    }

    /// The next token; the end stays.
    fn next(&mut self) -> (usize, Token) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, sign: &'static str) -> bool {
        let found = *self.peek() == Token::Sign(sign);
        if found {
            self.next();
        }
        found
    }

    /// Whether one word or number is left between parentheses.
    fn is_last_word(&self) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|(_, token)| *token == Token::Sign(")"))
    }

    fn wrong<T>(&self, expected: &str) -> Result<T> {
        let (found, advice) = (self.peek().shown(), advice(self.peek(), None));
        Err(ExpressionError::new(
            self.column(),
            format!("expected {expected}, found {found}{advice}"),
        ))
    }

    fn expect(&mut self, sign: &'static str) -> Result<()> {
        if self.accept(sign) { Ok(()) } else { self.wrong(&format!("'{sign}'")) }
    }

    fn expect_end(&self) -> Result<()> {
        if *self.peek() == Token::End { Ok(()) } else { self.wrong("an operator, ';' or the end") }
    }

    fn statement(&mut self) -> Result<Statement> {
        let (column, name) = match self.next() {
            (column, Token::Name(name)) => (column, name),
            (column, found) => {
                let problem = format!(
                    "expected the name of a result, as in y = 2*x, found {}",
                    found.shown()
                );
                return Err(ExpressionError::new(column, problem));
            }
        };
        self.expect("=")?;
        self.operators = 0;
        let value = self.disjunction()?;
        if self.inputs.contains(&name) {
            return Err(ExpressionError::new(
                column,
                format!("{name} is read before it is defined here: choose another name"),
            ));
        }
        if self.known.contains(&name) {
            return Err(ExpressionError::new(
                column,
                format!("{name} is defined twice: choose another name"),
            ));
        }
        if !value.has_name() {
            return Err(ExpressionError::new(
                column,
                format!("{name} is a constant: nothing in it is encrypted"),
            ));
        }
        Ok(Statement { name, column, value })
    }

    /// One of these operators, if it comes next, and where it is.
    fn operator(&mut self, among: &[Operator]) -> Option<(usize, Operator)> {
        let found = among.iter().find(|o| *self.peek() == Token::Sign(o.word()))?;
        Some((self.next().0, *found))
    }

    /// Operands of operators of one rank, from the left.
    fn joined(
        &mut self,
        among: &[Operator],
        operand: fn(&mut Self) -> Result<Node>,
    ) -> Result<Node> {
        let mut left = operand(self)?;
        while let Some((column, operator)) = self.operator(among) {
            left = self.binary(column, operator, left, operand)?;
        }
        Ok(left)
    }

    /// An operation on `left` and what comes next.
    fn binary(
        &mut self,
        column: usize,
        operator: Operator,
        left: Node,
        operand: fn(&mut Self) -> Result<Node>,
    ) -> Result<Node> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            let problem = format!(
                "more than {MAX_OPERATORS} operators in a statement: name a part in a statement of \
                 its own"
            );
            return Err(ExpressionError::new(column, problem));
        }
        let right = Box::new(operand(self)?);
        Ok(Node { column, kind: Kind::Binary(operator, Box::new(left), right) })
    }

    fn disjunction(&mut self) -> Result<Node> {
        self.joined(&[Operator::Or], Self::conjunction)
    }

    fn conjunction(&mut self) -> Result<Node> {
        self.joined(&[Operator::And], Self::comparison)
    }

    fn comparison(&mut self) -> Result<Node> {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let among = [LessOrEqual, GreaterOrEqual, Equal, NotEqual, Less, Greater];
        let left = self.shift()?;
        let Some((column, operator)) = self.operator(&among) else { return Ok(left) };
        let found = self.binary(column, operator, left, Self::shift)?;
        if let Some((at, _)) = self.operator(&among) {
            let problem = "comparisons do not chain: write (a < b) & (b < c)";
            return Err(ExpressionError::new(at, problem));
        }
        Ok(found)
    }

    fn shift(&mut self) -> Result<Node> {
        self.joined(&[Operator::ShiftLeft, Operator::ShiftRight], Self::sum)
    }

    fn sum(&mut self) -> Result<Node> {
        let column = self.column();
        let mut terms = vec![(false, self.product()?)];
        loop {
            let subtracted = match self.peek() {
                Token::Sign("+") => false,
                Token::Sign("-") => true,
                _ => break,
            };
            self.next();
            terms.push((subtracted, self.product()?));
        }
        Ok(if terms.len() == 1 {
            terms.swap_remove(0).1
        } else {
            Node { column, kind: Kind::Sum(terms) }
        })
    }

    fn product(&mut self) -> Result<Node> {
        let column = self.column();
        let mut factors = vec![self.factor()?];
        let joined = |mut factors: Vec<Node>| match factors.len() {
            1 => factors.swap_remove(0),
            _ => Node { column, kind: Kind::Product(factors) },
        };
        loop {
            if self.accept("*") {
                factors.push(self.factor()?);
            } else if let Some((at, operator)) =
                self.operator(&[Operator::Divide, Operator::Remainder])
            {
                factors = vec![self.binary(at, operator, joined(factors), Self::factor)?];
            } else {
                return Ok(joined(factors));
            }
        }
    }

    fn factor(&mut self) -> Result<Node> {
        let column = self.column();
        let (mut negative, mut not) = (false, false);
        loop {
            if not && *self.peek() == Token::Sign("-") {
                // -(!x) is no !(-x).
                return self.wrong("a value after '!'");
            } else if self.accept("-") {
                negative = !negative;
            } else if self.accept("!") {
                not = !not;
                if negative || *self.peek() == Token::Sign("!") {
                    return self.wrong("a value: '!' stands directly before it");
                }
            } else {
                break;
            }
        }
        let value = self.power()?;
        let kind = match (negative, not) {
            (false, false) => return Ok(value),
            (true, _) => Kind::Negative(Box::new(value)),
            (false, true) => Kind::Not(Box::new(value)),
        };
        Ok(Node { column, kind })
    }

    fn power(&mut self) -> Result<Node> {
        let column = self.column();
        let base = self.atom()?;
        if !self.accept("^") {
            return Ok(base);
        }
        match self.next() {
            (_, Token::Integer(exponent)) if exponent <= MAX_EXPONENT => {
                Ok(Node { column, kind: Kind::Power(Box::new(base), exponent) })
            }
            (at, found) => {
                let problem = format!(
                    "expected an exponent from 0 to {MAX_EXPONENT}, found {}",
                    found.shown()
                );
                Err(ExpressionError::new(at, problem))
            }
        }
    }

    fn atom(&mut self) -> Result<Node> {
        let (column, token) = self.next();
        let kind = match token {
            // The tokens are at most i64::MAX.
            Token::Integer(value) => Kind::Constant(value as i64),
            Token::Name(name) if *self.peek() == Token::Sign("(") => self.call(column, &name)?,
            Token::Name(name) => {
                let followed = matches!(self.peek(), Token::Name(_) | Token::Integer(_));
                if let Some(way) = instead(&name).filter(|_| followed) {
                    let problem = format!("'{name}' is no operator: {way}");
                    return Err(ExpressionError::new(column, problem));
                }
                if self.known.insert(name.clone()) {
                    self.inputs.push(name.clone());
                }
                Kind::Name(name)
            }
            Token::Sign("(") => return self.nested(column),
            found => {
                let before = self.at.checked_sub(2).map(|at| &self.tokens[at].1);
                let (shown, advice) = (found.shown(), advice(&found, before));
                let problem = format!("expected a number, a name or '(', found {shown}{advice}");
                return Err(ExpressionError::new(column, problem));
            }
        };
        Ok(Node { column, kind })
    }

    /// What is between parentheses; the first one is read.
    fn nested(&mut self, column: usize) -> Result<Node> {
        let inner = self.deeper(column)?;
        self.expect(")")?;
        Ok(inner)
    }

    fn deeper(&mut self, column: usize) -> Result<Node> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            let problem = format!(
                "parentheses nest deeper than {MAX_NESTING}: name a part in a statement of its own"
            );
            return Err(ExpressionError::new(column, problem));
        }
        let inner = self.disjunction();
        self.nesting -= 1;
        inner
    }
}

impl Node {
    /// Whether it depends on a name; a zeroth power does not.
    fn has_name(&self) -> bool {
        match &self.kind {
            Kind::Name(_) | Kind::Call(..) => true,
            Kind::Power(_, 0) => false,
            _ => self.parts().into_iter().any(Node::has_name),
        }
    }
}
