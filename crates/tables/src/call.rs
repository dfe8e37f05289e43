//! Calls of functions: sums, counts, averages, and what readers compute from listed rows.

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
};

use crate::bind::Binder;
use crate::condition::{Condition, Number};
use crate::error::TablesError;
use crate::formula::{Formula, Operator};
use crate::literal::Value;
use crate::quantile::Quantile;
use crate::query::{Aggregate, Fold};

impl Binder<'_> {
    /// A sum, a count, an average, or a function that the reader computes from listed rows.
    pub(crate) fn call(&mut self, e: &Expr, function: &Function) -> Result<Formula, TablesError> {
        let name = function.name.to_string().to_lowercase();
        let remedy = "there are sum, count, avg, min, max, median, quantile_cont (x, q) and count \
                      (distinct …), with filter (where …)";
        let FunctionArguments::List(list) = &function.args else {
            return Err(TablesError::unsupported(&e.to_string(), remedy));
        };
        // What it may hold is taken out of it; nothing else may be left.
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        let plain = (list.duplicate_treatment.is_none() || (distinct && name == "count"))
            && list.clauses.is_empty()
            && function.over.is_none()
            && function.within_group.is_empty()
            && function.null_treatment.is_none()
            && function.parameters == FunctionArguments::None;
        let when = match &function.filter {
            Some(filter) => self.condition(filter)?,
            None => Condition::Constant(true),
        };
        match (&name[..], &list.args[..], plain) {
            ("count", [FunctionArg::Unnamed(FunctionArgExpr::Expr(x))], true) if distinct => {
                Ok(self.folded(Fold::Distinct, x, when)?.0)
            }
            ("count", [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)], true) if !distinct => {
                Ok(self.count(when))
            }
            ("count", [FunctionArg::Unnamed(FunctionArgExpr::Expr(x))], true) => {
                let there = self.there(x)?;
                Ok(self.count(Condition::And(vec![when, there])))
            }
            ("sum", [FunctionArg::Unnamed(FunctionArgExpr::Expr(x))], true) => {
                let (sum, count) = self.sum(x, &when)?;
                Ok(Formula::Over(Box::new(count), Box::new(sum)))
            }
            ("avg", [FunctionArg::Unnamed(FunctionArgExpr::Expr(x))], true) => {
                let (sum, count) = self.sum(x, &when)?;
                Ok(Formula::Of(Operator::Divide, Box::new(sum), Box::new(count)))
            }
            ("min" | "max" | "median", [FunctionArg::Unnamed(FunctionArgExpr::Expr(x))], true) => {
                let fold = match &name[..] {
                    "min" => Fold::Least,
                    "max" => Fold::Greatest,
                    _ => Fold::Quantile(Quantile::MEDIAN),
                };
                let (value, when) = self.folded(fold, x, when)?;
                Ok(Formula::Over(Box::new(self.count(when)), Box::new(value)))
            }
            (
                "quantile_cont",
                [
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(x)),
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(quantile)),
                ],
                true,
            ) => {
                let fold = Fold::Quantile(self.quantile(e, quantile)?);
                let (value, when) = self.folded(fold, x, when)?;
                Ok(Formula::Over(Box::new(self.count(when)), Box::new(value)))
            }
            _ => Err(TablesError::unsupported(&e.to_string(), remedy)),
        }
    }

    /// The second operand of `quantile_cont`.
    fn quantile(&self, e: &Expr, quantile: &Expr) -> Result<Quantile, TablesError> {
        let found = match self.value(quantile)? {
            Value::Number(Number::Constant(units), scale) => Quantile::new(units, scale),
            _ => None,
        };
        let remedy = "state a quantile as a number from 0 to 1 with up to 4 decimal places";
        found.ok_or_else(|| TablesError::unsupported(&e.to_string(), remedy))
    }

    /// A function that the reader computes from the rows that meet a condition and have a value,
    /// and these rows.
    fn folded(
        &mut self,
        fold: Fold,
        e: &Expr,
        when: Condition,
    ) -> Result<(Formula, Condition), TablesError> {
        let when = Condition::And(vec![when, self.there(e)?]).simplified(self.schema);
        let (value, column, scale) = match self.value(e)? {
            Value::Coded(column) if !matches!(fold, Fold::Quantile(_)) => {
                self.check_text(e, column)?;
                (Number::Column(column), Some(column), 0)
            }
            _ => {
                let (value, scale) = self.number(e)?;
                (value, None, scale)
            }
        };
        let place = self.aggregate(Aggregate { fold, value, when: when.clone() });
        let value = match (fold, column) {
            (Fold::Distinct, _) => Formula::Aggregate { place, scale: 0 },
            (Fold::Quantile(quantile), _) => {
                let multiple = Formula::Aggregate { place, scale };
                let of = Formula::Constant { units: quantile.denominator(), scale: 0 };
                Formula::Of(Operator::Divide, Box::new(multiple), Box::new(of))
            }
            (_, Some(column)) => Formula::Code { place, column },
            (_, None) => Formula::Aggregate { place, scale },
        };
        Ok((value, when))
    }

    pub(crate) fn count(&mut self, when: Condition) -> Formula {
        let when = when.simplified(self.schema);
        let (fold, value) = (Fold::Sum, Number::Constant(1));
        let place = self.aggregate(Aggregate { fold, value, when });
        Formula::Aggregate { place, scale: 0 }
    }
}
