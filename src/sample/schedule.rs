//! How a budget of draws is divided: explore in doubling rounds, then certify in doubling looks.

/// Draws of the first round.
const FIRST_ROUND: u64 = 512;

/// The sizes of the explore rounds and of the certify looks; together they are the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Draws of each explore round.
    pub rounds: Vec<u64>,
    /// Draws of each certify look.
    pub looks: Vec<u64>,
}

impl Schedule {
    /// One eighth of the budget explores, the rest certifies.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        let explore = budget / 8;
        let rounds = doubling(FIRST_ROUND, explore);
        let looks = doubling(explore.max(FIRST_ROUND), budget - explore);
        Self { rounds, looks }
    }

    /// The number of certify draws.
    #[must_use]
    pub fn certify(&self) -> u64 {
        self.looks.iter().sum()
    }
}

/// Splits a total into `first, first, 2·first, 4·first, …`, so that the sum doubles each time; the last part takes the rest.
fn doubling(first: u64, total: u64) -> Vec<u64> {
    let mut parts = Vec::new();
    let mut spent = 0;
    while spent < total {
        let part = if spent == 0 { first } else { spent };
        let left = total - spent;
        // If less than another `part` would remain, this part takes the rest too.
        let part = if left < 2 * part { left } else { part };
        parts.push(part);
        spent += part;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_draws_are_spent_and_an_eighth_explores() {
        for budget in [1, 7, 8, 100, 4095, 4096, 20_000, 200_000, 10_000_000, 1_000_000_000] {
            let schedule = Schedule::new(budget);
            assert_eq!(schedule.rounds.iter().sum::<u64>(), budget / 8);
            assert_eq!(schedule.rounds.iter().sum::<u64>() + schedule.certify(), budget);
            assert!(schedule.rounds.iter().chain(&schedule.looks).all(|part| *part > 0));
        }
    }

    #[test]
    fn rounds_double() {
        assert_eq!(Schedule::new(65_536).rounds, [512, 512, 1024, 2048, 4096]);
        assert_eq!(Schedule::new(65_536).looks, [8192, 8192, 16_384, 24_576]);
    }
}
