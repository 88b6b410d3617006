//! Learns guess rules from exploration draws, in constant memory.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::attack::answer::Answer;
use crate::attack::clues::{self, Clues};
use crate::attack::family::Attack;
use crate::attack::fit::alike::are_alike;
use crate::attack::histogram::ScoreHistogram;
use crate::attack::learner::{Learner, Score, View};
use crate::attack::lesson::Lesson;
use crate::attack::role::Role;
use crate::attack::rule::gain::drop_late;
use crate::attack::rule::goal::{Caution, Goal};
use crate::attack::rule::guess::GuessRule;
use crate::attack::rule::judge::Tallies;
use crate::attack::rule::moment::{self, Grouped};
use crate::attack::rule::score_bins::{Hits, ScoreBins};
use crate::attack::rule::select::{Selected, select};
use crate::attack::rule::tail::{self, TailRule};
use crate::attack::tuning::explore::{KEPT, KEPT_CELLS, KEPT_PART, MAX_CANDIDATES, MIN_KEPT};
use crate::attack::tuning::tail::{CLEARLY, MORE_CAUTION, NEARLY};
use crate::attack::unread::unread;
use crate::model::{Claim, Limit, Side};
use crate::output::{Cell, Rows, Symbols};
use crate::sample::Sampler;
use crate::stats::binomial::normal_quantile;
use crate::stats::{Method, Rates};
use crate::target::TargetError;

/// How many draws are used for what.
#[derive(Clone, Copy, Debug)]
pub struct DrawBudget {
    /// Draws to learn from.
    pub explore: u64,
    /// Draws that the rules are certified on.
    pub certify: u64,
    /// The level of all certified limits together.
    pub alpha: f64,
}

/// A rule, and what is known about it before it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// What it is for.
    pub role: Role,
    /// The rule.
    pub rule: GuessRule,
    /// How often it should be correct and wrong.
    pub forecast: Rates,
    /// How its limits are computed.
    pub method: Method,
    /// The share of the claim that its limits should show.
    #[serde(with = "crate::model::exact::number")]
    pub promise: f64,
    /// The histogram that it was learned from, to explain it.
    #[serde(with = "shared")]
    pub histogram: Arc<ScoreHistogram>,
}

/// Collects exploration draws and learns rules from them.
pub struct Explorer<'a> {
    attacks: &'a [Attack],
    claim: &'a Claim,
    budget: DrawBudget,
    left: Rows,
    right: Rows,
    kept: u64,
    draws: f64,
    candidates: Vec<ScoreBins>,
}

impl DrawBudget {
    /// How pessimistic a promise to a rule with this role must be: as its limits will be.
    fn caution(self, role: Role) -> Caution {
        Caution {
            draws: self.certify as f64,
            z: normal_quantile((self.alpha * role.share()).min(0.5)),
        }
    }
}

impl<'a> Explorer<'a> {
    /// An explorer without any draws yet.
    #[must_use]
    pub fn new(width: usize, attacks: &'a [Attack], claim: &'a Claim, budget: DrawBudget) -> Self {
        let kept = if width == 1 {
            *KEPT.start()
        } else {
            (budget.explore / KEPT_PART).clamp(*KEPT.start(), *KEPT.end())
        };
        let kept = kept.min((KEPT_CELLS / width as u64).max(MIN_KEPT));
        Self {
            attacks,
            claim,
            budget,
            left: Rows::new(width),
            right: Rows::new(width),
            kept,
            draws: 0.0,
            candidates: Vec::new(),
        }
    }

    /// Changes how many draws are used for what, if there is less time than was thought.
    pub fn set_budget(&mut self, explore: u64, certify: u64) {
        self.budget = DrawBudget { explore, certify, ..self.budget };
    }

    /// Makes the next draws and learns from them. The same draws judge `rules`, which were learned
    /// from earlier ones.
    ///
    /// # Errors
    /// When the mechanism could not be run.
    pub fn absorb(
        &mut self,
        sampler: &mut Sampler,
        draws: u64,
        rules: &[GuessRule],
    ) -> Result<Tallies, TargetError> {
        let room = self.kept - (self.left.len() + self.right.len()) as u64;
        let kept = draws.min(room);
        self.draws += kept as f64;
        let mut tallies = Tallies::new(rules.len());
        if kept > 0 {
            self.candidates.clear();
            tallies.add(&self.keep(sampler, kept, rules)?);
        }
        if draws > kept {
            self.make_candidates();
            self.keep_best_candidates();
            self.relearn();
            self.draws += (draws - kept) as f64;
            tallies.add(&self.count(sampler, draws - kept, rules)?);
        }
        Ok(tallies)
    }

    /// How many rows of each side are kept.
    #[must_use]
    pub fn kept_rows(&self) -> [usize; 2] {
        [self.left.len(), self.right.len()]
    }

    /// The rows that were kept after so many of each side.
    #[must_use]
    pub fn kept_after(&self, before: [usize; 2]) -> [Rows; 2] {
        let [left, right] = before;
        [self.left.from(left), self.right.from(right)]
    }

    /// Makes draws whose rows are kept.
    fn keep(
        &mut self,
        sampler: &mut Sampler,
        draws: u64,
        rules: &[GuessRule],
    ) -> Result<Tallies, TargetError> {
        let width = self.left.width();
        let (left, right, tallies) = sampler.fold(
            draws,
            || (Rows::new(width), Rows::new(width), Tallies::new(rules.len())),
            |(left, right, tallies), side, rows| {
                match side {
                    Side::Left => left.append(rows),
                    Side::Right => right.append(rows),
                }
                tallies.judge(rules, side, rows);
            },
            |(left, right, tallies), (more_left, more_right, more)| {
                left.append(&more_left);
                right.append(&more_right);
                tallies.add(&more);
            },
        )?;
        self.left.append(&left);
        self.right.append(&right);
        Ok(tallies)
    }

    /// Makes draws that are only counted in the bins.
    fn count(
        &mut self,
        sampler: &mut Sampler,
        draws: u64,
        rules: &[GuessRule],
    ) -> Result<Tallies, TargetError> {
        let candidates = &self.candidates;
        let (hits, tallies) = sampler.fold(
            draws,
            || {
                (
                    candidates.iter().map(ScoreBins::no_hits).collect::<Vec<Hits>>(),
                    Tallies::new(rules.len()),
                )
            },
            |(hits, tallies), side, rows| {
                for (candidate, hits) in candidates.iter().zip(hits) {
                    candidate.count_rows(hits, side, rows);
                }
                tallies.judge(rules, side, rows);
            },
            |(hits, tallies), (more_hits, more)| {
                hits.iter_mut().zip(more_hits).for_each(|(hits, more)| hits.add(more));
                tallies.add(&more);
            },
        )?;
        self.candidates.iter_mut().zip(hits).for_each(|(candidate, hits)| candidate.add_hits(hits));
        Ok(tallies)
    }

    /// Makes scores and bins for the rows kept so far, unless this is already done. Skips scores
    /// with the same hits as an earlier one.
    fn make_candidates(&mut self) {
        if self.candidates.is_empty() {
            let candidates: Vec<ScoreBins> = self
                .scores()
                .into_par_iter()
                .map(|score| ScoreBins::new(score, &self.left, &self.right))
                .collect();
            let alike = are_alike(&self.left, &self.right);
            for candidate in drop_late(candidates, self.claim, alike) {
                if !self.candidates.iter().any(|known| known.has_same_hits(&candidate)) {
                    self.candidates.push(candidate);
                }
            }
        }
    }

    /// Learns a score again if the draws counted so far are a better sample than the rows kept.
    fn relearn(&mut self) {
        for candidate in &mut self.candidates {
            if let Some(better) = candidate.relearned(&self.left, &self.right) {
                *candidate = better;
            }
        }
    }

    /// Keeps the candidates that are best for some goal, compared as if all draws had been counted
    /// on them. Learned scores are counted on only half of the rows, so they are compared among
    /// themselves.
    fn keep_best_candidates(&mut self) {
        if self.candidates.len() <= MAX_CANDIDATES {
            return;
        }
        let selected = self.select(self.draws.max(self.budget.explore as f64));
        let mut best: Vec<usize> = (0..self.candidates.len())
            .filter(|candidate| self.candidates[*candidate].distinguishes_all())
            .collect();
        for goal in 0..self.goals().len() {
            let value = |candidate: usize| {
                let Selected { value, sure, .. } = selected[candidate][goal];
                // What may be luck comes after what is sure.
                (sure.max(0.0), value)
            };
            for learned in [false, true] {
                let mut order: Vec<usize> = (0..selected.len())
                    .filter(|candidate| self.candidates[*candidate].score().is_learned() == learned)
                    .collect();
                order.sort_by(|a, b| {
                    let ((sure, promised), (other_sure, other)) = (value(*b), value(*a));
                    sure.total_cmp(&other_sure).then(promised.total_cmp(&other))
                });
                best.extend(order.into_iter().take(MAX_CANDIDATES));
            }
        }
        let mut index = 0..;
        self.candidates.retain(|_| index.next().is_some_and(|index| best.contains(&index)));
    }

    /// What rules are learned for, with the limits of the claim that they are to break.
    fn goals(&self) -> Vec<(Role, Goal<'a>, &'a Limit)> {
        let main = self.claim.main();
        let steady = Goal::steady(&main.measure).map(|goal| (Role::Steady, goal, main));
        let delta =
            self.claim.second().map(|limit| (Role::Delta, Goal::new(&limit.measure), limit));
        [Some((Role::Main, Goal::new(&main.measure), main)), steady, delta]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The scores of all learners that the attacks ask for. They learn from every second row.
    fn scores(&self) -> Vec<Score> {
        let (left, right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (self.left.iter().step_by(2).collect(), self.right.iter().step_by(2).collect());
        let lesson = Lesson::new(self.left.width(), &left, &right);
        let learners: Vec<&Learner> = Learner::of(self.attacks).collect();
        let scores: Vec<Vec<Score>> =
            learners.par_iter().map(|learner| learner.learn(lesson)).collect();
        scores.into_iter().flatten().collect()
    }

    /// The best rules so far: for the ε bound, for a steady ε bound if that is another rule, and
    /// for the δ bound if a bound above zero is to be expected.
    #[must_use]
    pub fn learn(&mut self) -> Vec<Learned> {
        self.make_candidates();
        let selected = self.select(self.draws);
        let mut rules: Vec<Learned> = Vec::new();
        for (index, (role, goal, limit)) in self.goals().into_iter().enumerate() {
            let of_goal = self
                .candidates
                .iter()
                .zip(&selected)
                .map(|(candidate, selected)| (candidate, &selected[index]));
            // Among equal values the first wins.
            let better = |best: &Selected, next: &Selected| match role {
                // A sure promise comes before a larger one that may be luck.
                Role::Delta if best.sure.max(next.sure) > 0.0 => next.sure > best.sure,
                _ => next.value > best.value,
            };
            let best =
                of_goal.reduce(|best, next| if better(best.1, next.1) { next } else { best });
            let best = best.filter(|(_, best)| role != Role::Delta || best.value > 0.0);
            let learned = best.map(|(candidate, best)| {
                self.learned((role, goal, limit), candidate, &best.answers, best.forecast)
            });
            // A rule for δ stays although it equals another: its limits are computed in another
            // way.
            rules.extend(learned.filter(|learned| {
                role == Role::Delta || rules.iter().all(|rule| rule.rule != learned.rule)
            }));
        }
        rules
    }

    /// The best rule on each candidate for each goal, as pessimistic as after `explored` draws.
    fn select(&self, explored: f64) -> Vec<Vec<Selected>> {
        let goals: Vec<Goal> = self.goals().into_iter().map(|(_, goal, _)| goal).collect();
        self.candidates
            .par_iter()
            .map(|candidate| select(candidate, &goals, explored, self.budget.caution(Role::Delta)))
            .collect()
    }

    /// The columns that no learner can read.
    #[must_use]
    pub fn unread(&self, symbols: &Symbols) -> Vec<usize> {
        unread(&self.left, &self.right, |column| symbols.is_covered(column))
    }

    /// Names the whole rows that have their own bin, so that a rule about them can be read.
    pub fn name_rows(&self, symbols: &mut Symbols) {
        let whole = self.candidates.iter().find(|candidate| *candidate.score() == Score::WholeRow);
        if let Some(bins) = whole.map(ScoreBins::bins) {
            let known =
                self.left.iter().chain(&self.right).filter(|row| bins.knows(Cell::of_row(row)));
            known.for_each(|row| symbols.name_row(row));
        }
    }

    /// What people can act on, if one of the rules promises to refute the claim.
    #[must_use]
    pub fn clues(&self, learned: &[Learned], symbols: &Symbols) -> Clues {
        let strongest = learned
            .iter()
            .filter(|learned| learned.promise > 1.0)
            .reduce(|best, next| if next.promise > best.promise { next } else { best });
        let Some(Learned { rule, promise, .. }) = strongest else { return Clues::default() };
        let seen = clues::Evidence {
            claim: self.claim,
            certify: self.budget.certify,
            cautions: [Role::Main, Role::Delta].map(|role| self.budget.caution(role)),
            candidates: &self.candidates,
            rows: [&self.left, &self.right],
            symbols,
        };
        let found = seen.clues(rule, *promise);
        let plain = learned.iter().all(|learned| learned.rule.is_plain());
        Clues { simplest: found.simplest.filter(|_| !plain), ..found }
    }

    /// A rule for the tail of a learned score, if it promises a clearly larger ε bound than the
    /// rule `than`.
    #[must_use]
    pub fn tail_rule(&self, than: &Learned) -> Option<Learned> {
        let main = self.claim.main();
        let goal = Goal::new(&main.measure);
        if goal.is_delta() {
            return None;
        }
        let caution = self.budget.caution(Role::Tail);
        let caution = Caution { z: caution.z + MORE_CAUTION, ..caution };
        let candidates: Vec<&ScoreBins> =
            self.candidates.iter().filter(|candidate| candidate.has_curve()).collect();
        let selected: Vec<Option<TailRule>> =
            candidates.par_iter().map(|candidate| tail::select(candidate, goal, caution)).collect();
        let candidates: Vec<(&ScoreBins, TailRule)> = candidates
            .into_iter()
            .zip(selected)
            .filter_map(|(candidate, rule)| Some((candidate, rule?)))
            .collect();
        // A promise is worth nothing on a score that sees less than another one: its curve says
        // little about the tail.
        let most = candidates.iter().map(|(_, rule)| rule.gain).fold(0.0, f64::max);
        let candidates = candidates.into_iter().filter(|(_, rule)| rule.gain >= NEARLY * most);
        let (candidate, best) = candidates
            .reduce(|best, next| if next.1.value > best.1.value { next } else { best })?;
        let now = goal.value(than.forecast, than.rule.regions(), caution);
        (best.value.ln() > CLEARLY * now.ln().max(0.0)).then(|| {
            self.learned((Role::Tail, goal, main), candidate, &best.answers, best.forecast)
        })
    }

    /// Groups of outputs for a claim that limits a Rényi divergence, if they promise a larger bound
    /// than the rule `than`.
    #[must_use]
    pub fn groups(&self, than: &Learned) -> Option<Grouped> {
        let Limit { measure, value } = self.claim.main();
        if measure.moment_orders().is_empty() {
            return None;
        }
        let alpha = self.budget.alpha * Role::GROUPS_SHARE;
        moment::select(&self.candidates, measure, self.budget.certify as f64, alpha)
            .filter(|grouped| grouped.promise / value > than.promise)
    }

    /// The rule that gives these answers to the bins of a candidate.
    fn learned(
        &self,
        (role, goal, limit): (Role, Goal, &Limit),
        candidate: &ScoreBins,
        answers: &[Answer],
        forecast: Rates,
    ) -> Learned {
        let rule = GuessRule::new(candidate.score().clone(), candidate.bins(), answers);
        let method = Method::new(&limit.measure, forecast, rule.regions(), self.budget.certify);
        let value = goal.value(forecast, rule.regions(), self.budget.caution(role));
        let expected = goal.bound(value);
        let promise = if limit.value > 0.0 { expected / limit.value } else { 0.0 };
        Learned {
            role,
            rule,
            forecast,
            method,
            promise: promise.max(0.0),
            histogram: Arc::new(ScoreHistogram::new(candidate, answers)),
        }
    }
}

/// A shared value is written as the value.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().serialize(serializer)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::learner::coordinate::Coordinate;
    use crate::attack::learner::float_bits::{BitsUsed, LowBits, LowestBit};
    use crate::attack::learner::fraction::Fraction;
    use crate::model::Tally;
    use crate::target::{PairStream, Phase, StreamSeed, Target};

    /// The last component is `a` in 3 of 4 outputs of D and in 1 of 4 of D', otherwise `b`; all
    /// others are always 0.
    struct Response {
        width: usize,
    }

    impl Target for Response {
        fn open(&self) -> Result<usize, TargetError> {
            Ok(self.width)
        }

        fn draw(
            &self,
            side: Side,
            count: usize,
            _: StreamSeed,
            sink: &mut dyn FnMut(&Rows),
        ) -> Result<(), TargetError> {
            let (often, rarely) = if side == Side::Left { ("a", "b") } else { ("b", "a") };
            let cells = [often, rarely].map(Cell::symbol);
            let mut rows = Rows::new(self.width);
            let mut row = vec![Cell::number(0.0); self.width];
            for index in 0..count {
                row[self.width - 1] = cells[usize::from(index / 8 % 4 == 3)];
                rows.push(&row);
            }
            sink(&rows);
            Ok(())
        }
    }

    fn claim() -> Claim {
        toml::from_str("epsilon = 0.5\ndelta = 0.0").unwrap()
    }

    const BUDGET: DrawBudget = DrawBudget { explore: 1 << 21, certify: 1 << 20, alpha: 0.05 };

    #[test]
    fn every_draw_is_kept_or_counted_and_judges_the_rules_once() {
        let target = Response { width: 1 };
        let mut sampler =
            Sampler::open(&target, PairStream::new(1, "explore", ""), Phase::Explore, &|_| ())
                .unwrap();
        let claim = claim();
        let mut explorer = Explorer::new(1, &Attack::DEFAULT, &claim, BUDGET);
        assert_eq!(explorer.absorb(&mut sampler, 100_000, &[]).unwrap().0, []);
        let rules: Vec<GuessRule> =
            explorer.learn().into_iter().map(|learned| learned.rule).collect();
        let roles: Vec<Role> = explorer.learn().into_iter().map(|learned| learned.role).collect();
        assert_eq!((roles.first(), roles.last()), (Some(&Role::Main), Some(&Role::Delta)));
        // The first 2^18 rows are kept; the others are only counted.
        for (draws, kept, explored) in [
            (100_000, 200_000, 200_000.0),
            (100_000, 1 << 18, 300_000.0),
            (50_000, 1 << 18, 350_000.0),
        ] {
            let tallies = explorer.absorb(&mut sampler, draws, &rules).unwrap();
            assert_eq!(
                tallies.0.iter().map(|tally| tally.draws()).collect::<Vec<_>>(),
                vec![draws; rules.len()]
            );
            // A rule may guess one side only; then its odds vary with the coin by a factor of 1 ±
            // 2/√50,000. Five times this is allowed.
            assert!(
                tallies.0.iter().all(|Tally { correct, wrong, .. }| (*correct as f64
                    / *wrong as f64
                    - 3.0)
                    .abs()
                    < 0.14)
            );
            assert_eq!(
                (explorer.left.len() + explorer.right.len(), explorer.draws),
                (kept, explored)
            );
            let learned = explorer.learn();
            assert_eq!(
                explorer
                    .candidates
                    .iter()
                    .map(|candidate| candidate.counts().draws())
                    .collect::<Vec<_>>(),
                [explored]
            );
            for Learned { forecast, .. } in &learned {
                assert!((forecast.correct / forecast.wrong - 3.0).abs() < 0.14, "{forecast:?}");
            }
        }
    }

    #[test]
    fn fewer_rows_of_wide_outputs_are_kept_but_never_too_few() {
        let kept = |width: usize, explore: u64| {
            Explorer::new(width, &Attack::DEFAULT, &claim(), DrawBudget { explore, ..BUDGET }).kept
        };
        assert_eq!(
            (kept(1, 1 << 40), kept(2, 1 << 10), kept(2, 1 << 22), kept(2, 1 << 40)),
            (1 << 18, 1 << 18, 1 << 19, 1 << 20)
        );
        assert_eq!((kept(1 << 10, 1 << 40), kept(1 << 16, 1 << 40)), (1 << 15, 1 << 12));
    }

    #[test]
    fn attacks_have_their_scores_and_the_significant_ones_are_found() {
        let target = Response { width: 5 };
        let mut sampler =
            Sampler::open(&target, PairStream::new(1, "explore", ""), Phase::Explore, &|_| ())
                .unwrap();
        let attacks = [
            Attack::Coordinates,
            Attack::WholeRow,
            Attack::Aggregates,
            Attack::NaiveBayes,
            Attack::Pairs,
        ];
        let claim = claim();
        let mut explorer = Explorer::new(5, &attacks, &claim, BUDGET);
        explorer.absorb(&mut sampler, 20_000, &[]).unwrap();
        let scores = explorer.scores();
        let learned = scores.iter().filter(|score| score.is_learned()).count();
        // Three coordinates, the whole row, five aggregates, two tables, a difference and a joint
        // ratio.
        assert_eq!((scores.len(), learned), (3 + 1 + 5 + 2 + 2, 3));
        assert!(scores.contains(&Score::Coordinate(Coordinate(4))));
        let best = explorer.learn().swap_remove(0);
        // The tolerance is five times 2/√20,000, as above.
        assert!(
            (best.forecast.correct / best.forecast.wrong - 3.0).abs() < 0.21,
            "{:?}",
            best.forecast
        );
        // Three aggregates that never vary are one candidate.
        assert!(explorer.candidates.len() < scores.len());
        assert!(explorer.tail_rule(&best).is_none(), "there is no tail");
        let of_one = |attacks: &[Attack]| Explorer::new(1, attacks, &claim, BUDGET).scores();
        assert_eq!(of_one(&Attack::DEFAULT), [Score::Output, Score::Fraction(Fraction(0))]);
        assert_eq!(
            of_one(&[Attack::FloatBits]),
            [
                Score::LowestBit(LowestBit(0)),
                Score::BitsUsed(BitsUsed(0)),
                Score::LowBits(LowBits(0))
            ]
        );
        assert_eq!(
            of_one(&[Attack::Pairs, Attack::FloatBits]),
            [
                Score::Output,
                Score::LowestBit(LowestBit(0)),
                Score::BitsUsed(BitsUsed(0)),
                Score::LowBits(LowBits(0))
            ]
        );
    }
}
