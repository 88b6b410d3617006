//! What the bounds assume of scores and coins that were collected elsewhere, as far as it can be seen.
//!
//! Each test errs with probability at most 1e-6 for fair and independent coins, whatever the scores.
//! An error refutes nothing, so this is not taken from α. Exactly half of the canaries in is the one
//! exception: it occurs by chance, so a statement of the user overrules it.

use std::collections::{HashMap, HashSet};

use super::scores::{CanaryScores, ScoredTrial, nan};
use crate::model::number::grouped;
use crate::stats::binomial::upper_tail;

/// Fewer canaries than this show next to nothing.
pub(super) const LEAST_CANARIES: usize = 10;

/// How often a test may err.
const ERROR: f64 = 1e-6;

/// Each distinct score is as good as a coin flip against the suspicion that all are doubled.
const LEAST_GROUPS: usize = 20;

/// Checks scores and coins. `independent` says that the user has stated that each canary has a coin
/// of its own.
///
/// # Errors
/// What is wrong, and what to do about it.
pub fn check(scores: &CanaryScores, independent: bool) -> Result<(), String> {
    if scores.trials.is_empty() {
        return Err(too_few(0, ""));
    }
    for trial in &scores.trials {
        let ScoredTrial { name, scores: values, included } = trial;
        let at = if name.is_empty() { String::new() } else { format!("{name}: ") };
        if values.len() != included.len() {
            return Err(format!(
                "{at}there are {} scores and {} coins; give one of each for every canary",
                values.len(),
                included.len()
            ));
        }
        if included.len() < LEAST_CANARIES {
            return Err(too_few(included.len() as u64, &at));
        }
        if let Some(place) = values.iter().position(|score| score.is_nan()) {
            return Err(nan(&format!("{at}canary {}", place + 1)));
        }
        one_class(included, &at)?;
        doubled(trial, &at)?;
        normalised(trial, &at)?;
    }
    fair(scores)?;
    repeated_coins(scores)?;
    if independent { Ok(()) } else { halves(scores) }
}

pub(super) fn too_few(canaries: u64, at: &str) -> String {
    format!(
        "{at}there are {canaries} canaries, and at least {LEAST_CANARIES} are needed; \
         `dp-audit canaries --plan` says how many a claim needs"
    )
}

fn one_class(included: &[bool], at: &str) -> Result<(), String> {
    let inside = included.iter().filter(|coin| **coin).count();
    if inside > 0 && inside < included.len() {
        return Ok(());
    }
    let which = if inside == 0 { "out" } else { "in" };
    Err(format!(
        "{at}all {} canaries are {which}, so there is nothing to tell apart; put each canary in by \
         its own fair coin, and score those that stayed out, too",
        grouped(included.len() as u64)
    ))
}

/// The two-sided exact test of all coins together, and of each run.
fn fair(scores: &CanaryScores) -> Result<(), String> {
    let unfair = |included: u64, canaries: u64, tests: usize| {
        let far = included.max(canaries - included);
        2.0 * upper_tail(far, canaries, 0.5) <= ERROR / tests as f64
    };
    let tests = scores.trials.len() + 1;
    let count = |trial: &ScoredTrial| trial.included.iter().filter(|coin| **coin).count() as u64;
    let all = [("all runs".to_owned(), scores.trials.iter().map(count).sum(), scores.canaries())];
    let each = scores
        .trials
        .iter()
        .map(|trial| (trial.name.clone(), count(trial), trial.canaries() as u64));
    for (name, included, canaries) in each.chain(all) {
        if unfair(included, canaries, tests) {
            let at = if name.is_empty() { name } else { format!("{name}: ") };
            return Err(format!(
                "{at}{} of {} canaries are in, which fair coins give less than once in a million \
                 times; put each canary in with probability 1/2, and leave none out afterwards",
                grouped(included),
                grouped(canaries)
            ));
        }
    }
    Ok(())
}

/// Steps with the coins of the run are not fresh.
fn repeated_coins(scores: &CanaryScores) -> Result<(), String> {
    let mut seen: HashMap<&[bool], &str> = HashMap::new();
    for ScoredTrial { name, included, .. } in &scores.trials {
        // Twenty coins are equal by chance once in a million times.
        if included.len() >= 40
            && let Some(other) = seen.insert(included, name)
        {
            return Err(format!(
                "{other} and {name} have the same coins; flip new coins for each run and each step, \
                 or, if the canaries stay the same over the steps, give one score per canary for the \
                 whole run, for example the sum over its steps"
            ));
        }
    }
    Ok(())
}

/// Exactly half in, half out. One run hits it by chance; several do not.
fn halves(scores: &CanaryScores) -> Result<(), String> {
    let is_half = |trial: &ScoredTrial| {
        2 * trial.included.iter().filter(|coin| **coin).count() == trial.canaries()
    };
    if !scores.trials.iter().all(is_half) {
        return Ok(());
    }
    Err("exactly half of the canaries are in. If half of them was put in on purpose, the coins depend \
         on each other: whoever knows some of them knows more about the others, and no bound holds. \
         Put each canary in by its own fair coin. If that is what you did, and the half is chance, \
         say so with --independent-coins, or independent_coins = true in an audit file"
        .to_owned())
}

/// Every canary is there several times: every score occurs an even number of times, always with the
/// same coin. By chance this has probability at most ½ for each distinct score.
fn doubled(trial: &ScoredTrial, at: &str) -> Result<(), String> {
    let mut groups: HashMap<u64, (usize, bool, bool)> = HashMap::new();
    for (score, coin) in trial.scores.iter().zip(&trial.included) {
        let group = groups.entry(score.to_bits()).or_insert((0, *coin, true));
        group.0 += 1;
        group.2 &= group.1 == *coin;
    }
    let doubled = groups.values().all(|(size, _, same)| size % 2 == 0 && *same);
    if doubled && groups.len() >= LEAST_GROUPS {
        return Err(format!(
            "{at}every score is there at least twice, with the same coin, so canaries seem to be \
             repeated; each canary must have its own coin, so keep one line for each, and make \
             canaries different from each other"
        ));
    }
    Ok(())
}

/// Both classes have mean 0, or run from 0 to 1: the scores were normalised within each class, so
/// with the coins. Scores of few values have such means by chance, so they are not looked at.
fn normalised(trial: &ScoredTrial, at: &str) -> Result<(), String> {
    let class = |side: bool| -> Vec<f64> {
        let of = trial.scores.iter().zip(&trial.included);
        of.filter(|(_, coin)| **coin == side).map(|(score, _)| *score).collect()
    };
    let described = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let fractions = values.iter().any(|value| value.fract() != 0.0);
        (mean.abs() <= 1e-9 * spread, least == 0.0 && most == 1.0 && fractions)
    };
    let (inside, outside) = (class(true), class(false));
    let [one, other] = [described(&inside), described(&outside)];
    let centred = one.0 && other.0;
    let stretched = one.1 && other.1;
    let many = |values: &[f64]| {
        values.iter().map(|value| value.abs().to_bits()).collect::<HashSet<_>>().len()
            >= LEAST_GROUPS
    };
    if (centred || stretched) && many(&inside) && many(&outside) {
        let how = if centred { "mean 0" } else { "least 0 and largest 1" };
        return Err(format!(
            "{at}the scores of the canaries that are in and of those that are out both have {how}: they \
             were normalised for each class, so with the coins; normalise all scores together, or not at \
             all"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Generator, gaussian};
    use rand::{RngExt, SeedableRng};

    fn trial(m: usize, seed: u64) -> ScoredTrial {
        let mut rng = Generator::seed_from_u64(seed);
        let included: Vec<bool> = (0..m).map(|_| rng.random()).collect();
        let scores = included
            .iter()
            .map(|coin| f64::from(u8::from(*coin)) + gaussian(&mut rng, 1.0))
            .collect();
        ScoredTrial::new(String::new(), scores, included)
    }

    fn of(trials: Vec<ScoredTrial>) -> CanaryScores {
        CanaryScores { trials, ..CanaryScores::default() }
    }

    fn error(trial: ScoredTrial) -> String {
        check(&of(vec![trial]), false).unwrap_err()
    }

    /// The first `inside` of `m` canaries are in.
    fn with_inside(m: usize, inside: usize) -> ScoredTrial {
        let mut trial = trial(m, 3);
        trial.included = (0..m).map(|i| i < inside).collect();
        trial
    }

    #[test]
    fn honest_scores_pass_in_any_order_and_with_ties() {
        for seed in 0..200 {
            let mut one = trial(501, seed);
            assert_eq!(check(&of(vec![one.clone()]), false), Ok(()));
            // Sorted by the coin: the order means nothing.
            let mut order: Vec<usize> = (0..501).collect();
            order.sort_by_key(|i| one.included[*i]);
            let scores = order.iter().map(|i| one.scores[*i]).collect();
            let included = order.iter().map(|i| one.included[*i]).collect();
            assert_eq!(
                check(&of(vec![ScoredTrial { scores, included, ..one.clone() }]), false),
                Ok(())
            );
            one.scores.iter_mut().for_each(|score| *score = score.round());
            assert_eq!(check(&of(vec![one]), false), Ok(()));
        }
        // Two values, each as often as the other in both classes: the means are 0 by chance.
        let mut one = with_inside(61, 30);
        one.scores = (0..61).map(|i| [1.0, -1.0][i % 2]).chain([]).collect();
        one.scores[60] = 0.0;
        one.included[60] = true;
        assert_eq!(check(&of(vec![one]), false), Ok(()));
    }

    #[test]
    fn a_half_is_refused_unless_the_coins_are_stated_to_be_independent() {
        let half = of(vec![with_inside(100, 50)]);
        assert!(check(&half, false).unwrap_err().contains("exactly half"));
        assert_eq!(check(&half, true), Ok(()));
        // One run of several may be a half by chance.
        assert_eq!(check(&of(vec![with_inside(100, 50), trial(101, 9)]), false), Ok(()));
    }

    #[test]
    fn unfair_coins_are_refused_at_one_in_a_million() {
        // Binomial(1000, ½) has standard deviation 15.8: 580 is 5.1 of them away, 570 is 4.4.
        assert!(error(with_inside(1000, 585)).contains("585 of 1,000 canaries are in"));
        assert!(error(with_inside(1000, 415)).contains("fair coins"));
        assert_eq!(check(&of(vec![with_inside(1000, 570)]), false), Ok(()));
    }

    #[test]
    fn empty_classes_and_few_canaries_are_refused() {
        assert!(error(with_inside(50, 0)).contains("all 50 canaries are out"));
        assert!(error(with_inside(50, 50)).contains("all 50 canaries are in"));
        assert!(error(with_inside(9, 4)).contains("there are 9 canaries"));
        assert!(check(&of(Vec::new()), false).unwrap_err().contains("there are 0 canaries"));
        assert_eq!(check(&of(vec![with_inside(10, 4)]), false), Ok(()));
    }

    #[test]
    fn nan_and_lists_of_different_lengths_are_refused() {
        let mut one = trial(60, 1);
        one.scores[4] = f64::NAN;
        assert!(error(one.clone()).contains("canary 5: a score is NaN"));
        one.scores.pop();
        assert!(error(one).contains("59 scores and 60 coins"));
    }

    #[test]
    fn canaries_that_are_there_twice_are_refused() {
        let once = trial(81, 1);
        let twice = ScoredTrial {
            scores: once.scores.iter().chain(&once.scores).copied().collect(),
            included: once.included.iter().chain(&once.included).copied().collect(),
            ..once
        };
        assert!(error(twice).contains("seem to be repeated"));
    }

    #[test]
    fn scores_that_were_normalised_with_the_coins_are_refused() {
        let plain = trial(300, 2);
        let apply = |change: &dyn Fn(&[f64], f64) -> f64| {
            let mut one = plain.clone();
            for side in [true, false] {
                let class: Vec<f64> = plain
                    .scores
                    .iter()
                    .zip(&plain.included)
                    .filter(|(_, coin)| **coin == side)
                    .map(|(score, _)| *score)
                    .collect();
                for (score, coin) in one.scores.iter_mut().zip(&plain.included) {
                    if *coin == side {
                        *score = change(&class, *score);
                    }
                }
            }
            one
        };
        let mean = |class: &[f64]| class.iter().sum::<f64>() / class.len() as f64;
        assert!(error(apply(&|class, score| score - mean(class))).contains("mean 0"));
        let ends = |class: &[f64]| {
            class.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)))
        };
        let stretched = apply(&|class, score| {
            let (least, most) = ends(class);
            (score - least) / (most - least)
        });
        assert!(error(stretched).contains("least 0 and largest 1"));
        // All together is fine.
        let all = mean(&plain.scores);
        let mut one = plain;
        one.scores.iter_mut().for_each(|score| *score -= all);
        assert_eq!(check(&of(vec![one]), false), Ok(()));
    }

    #[test]
    fn steps_with_the_same_coins_are_refused() {
        let (mut one, mut other) = (trial(100, 1), trial(100, 2));
        (one.name, other.name) = ("step 1".to_owned(), "step 2".to_owned());
        assert_eq!(check(&of(vec![one.clone(), other.clone()]), false), Ok(()));
        other.included.clone_from(&one.included);
        let error = check(&of(vec![one, other]), false).unwrap_err();
        assert!(error.contains("step 1 and step 2 have the same coins"), "{error}");
    }
}
