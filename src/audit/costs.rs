//! What the statements of a run cost: as an earlier run measured them, or as their draws say.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::divide::{Plans, estimate};
use super::{Audit, Plan};
use crate::model::Settings;

/// How long a statement took in an earlier run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Seconds.
    pub seconds: f64,
    /// The draws that it made, if it makes any.
    pub draws: Option<u64>,
}

/// The microseconds that statements take, by their places in the run; `None` where nothing was
/// measured. Without any, all costs are estimates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs(Vec<Vec<Option<u64>>>);

impl Costs {
    /// What these statements took in an earlier run, by the names of audit and statement. If it
    /// made fewer draws or more, the time is taken to be proportional.
    #[must_use]
    pub fn measured(
        audits: &[Audit],
        settings: Settings,
        measured: &HashMap<(String, String), Measured>,
    ) -> Self {
        let plans = Plans::new(audits, settings);
        let micros = |plan: Plan| {
            let key = (plan.pair().audit.clone(), plan.name().to_owned());
            let Measured { seconds, draws } = *measured.get(&key)?;
            let factor = draws
                .filter(|draws| *draws > 0)
                .map_or(1.0, |draws| plan.draws() as f64 / draws as f64);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
            Some(((seconds * factor * 1e6).round() as u64).max(1))
        };
        let of_audit = |audit| plans.statements(audit).into_iter().map(micros).collect();
        Self((0..audits.len()).map(of_audit).collect())
    }

    /// Whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().flatten().flatten().next().is_none()
    }

    fn of(&self, audit: usize, statement: usize) -> Option<u64> {
        *self.0.get(audit)?.get(statement)?
    }
}

/// The costs of all statements of a run in one unit: microseconds if any were measured, otherwise
/// that of the estimate. Integers only, so that all machines compute the same.
pub struct Prices<'a> {
    costs: &'a Costs,
    /// All that was measured, and the estimate of the same statements.
    rate: Price,
}

/// What a statement costs, and what its estimate is: parts of it are estimated and converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    cost: u64,
    estimate: u64,
}

impl Price {
    /// A part that is estimated to cost so much.
    pub fn of(self, estimate: u64) -> u64 {
        proportion(estimate, self.cost, self.estimate)
    }

    /// The estimate of a part that costs so much.
    pub fn estimate_of(self, cost: u64) -> u64 {
        proportion(cost, self.estimate, self.cost)
    }
}

impl<'a> Prices<'a> {
    /// The prices of the statements of all audits.
    pub fn new(costs: &'a Costs, plans: &Plans) -> Self {
        let mut rate = Price { cost: 0, estimate: 0 };
        for (audit, known) in costs.0.iter().enumerate() {
            for (plan, cost) in plans.statements(audit).iter().zip(known) {
                if let Some(cost) = cost {
                    rate.cost = rate.cost.saturating_add(*cost);
                    rate.estimate = rate.estimate.saturating_add(estimate(plan));
                }
            }
        }
        if costs.is_empty() {
            rate = Price { cost: 1, estimate: 1 };
        }
        Self { costs, rate }
    }

    /// The price of a statement.
    pub fn of(&self, audit: usize, statement: usize, plan: &Plan) -> Price {
        let estimate = estimate(plan);
        let cost = self.costs.of(audit, statement);
        Price { cost: cost.unwrap_or_else(|| self.rate.of(estimate)), estimate }
    }
}

/// `value · times / by`, rounded down, but at least 1.
fn proportion(value: u64, times: u64, by: u64) -> u64 {
    let exact = u128::from(value) * u128::from(times) / u128::from(by.max(1));
    u64::try_from(exact).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Params;
    use crate::target::Subject;

    /// An audit with pairs of these names.
    fn audit(name: &str, draws: u64, pairs: &[&str]) -> Audit {
        let claim = serde_json::from_str(r#"{ "epsilon": 1.0 }"#).unwrap();
        let subject =
            Subject::Registered { mechanism: "laplace".to_owned(), params: Params::new() };
        let names = pairs.iter().map(|name| (*name).to_owned());
        Audit { draws: Some(draws), subject, ..Audit::given(name, "", claim, names) }
    }

    #[test]
    fn times_are_those_of_the_same_statements_and_grow_with_the_draws() {
        let audits = [audit("a", 2_000_000, &["one", "two"]), audit("b", 1_000_000, &["one"])];
        let settings = Settings::default();
        let row = |audit: &str, pair: &str, seconds, draws| {
            ((audit.to_owned(), pair.to_owned()), Measured { seconds, draws })
        };
        let measured = HashMap::from([
            row("a", "one", 0.5, Some(1_000_000)),
            row("b", "one", 0.25, None),
            row("other", "one", 9.0, Some(1)),
        ]);
        let costs = Costs::measured(&audits, settings, &measured);
        assert_eq!(costs, Costs(vec![vec![Some(1_000_000), None], vec![Some(250_000)]]));
        assert!(!costs.is_empty());
        assert!(Costs::measured(&audits, settings, &HashMap::new()).is_empty());
    }

    #[test]
    fn what_was_not_measured_costs_as_much_as_what_was_by_its_estimate() {
        let audits = [audit("a", 1_800_000, &["one", "two"]), audit("b", 3_800_000, &["one"])];
        let plans = Plans::new(&audits, Settings::default());
        let costs = Costs(vec![vec![Some(3_000_000), None], vec![None]]);
        let prices = Prices::new(&costs, &plans);
        let price =
            |audit: usize, pair: usize| prices.of(audit, pair, &plans.statements(audit)[pair]);
        // The estimates are 2 and 4 millions: draws, and 200,000 each.
        assert_eq!(price(0, 0), Price { cost: 3_000_000, estimate: 2_000_000 });
        assert_eq!(price(0, 1), Price { cost: 3_000_000, estimate: 2_000_000 });
        assert_eq!(price(1, 0), Price { cost: 6_000_000, estimate: 4_000_000 });
        assert_eq!((price(1, 0).of(1_000_000), price(1, 0).estimate_of(3)), (1_500_000, 2));
        let none = Costs::default();
        let estimated = Prices::new(&none, &plans).of(1, 0, &plans.statements(1)[0]);
        assert_eq!(estimated, Price { cost: 4_000_000, estimate: 4_000_000 });
    }
}
