//! What people can act on: the simplest rule that should still refute the claim, what each column
//! shows by itself, and outputs that betray the dataset.
//!
//! All of it comes from exploration. The simplest rule is frozen like the others and judged on
//! fresh draws; what is said about it is in `audit/statement/privacy/conclude.rs`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::attack::answer::Answer;
use crate::attack::bins::{Bins, Counts};
use crate::attack::learner::coordinate::Coordinate;
use crate::attack::learner::preselect::preselect;
use crate::attack::learner::{Score, View};
use crate::attack::lesson::Lesson;
use crate::attack::rule::goal::{Caution, Goal};
use crate::attack::rule::guess::{Event, GuessRule};
use crate::attack::rule::score_bins::ScoreBins;
use crate::attack::rule::select::select;
use crate::attack::tuning::clues::{
    CELLS, COLUMNS, EXAMPLES, FEWEST_ROWS, NEARLY, OF_ONE_SIDE, ROWS, SHOWN_CELLS,
};
use crate::model::exact::Exact;
use crate::model::{Claim, Limit, Side};
use crate::output::{Cell, Rows, Symbols};
use crate::stats::{Method, Rates};

/// What exploration leaves to people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clues {
    /// The simplest rule that should refute the claim, if the others are not as simple.
    #[serde(default)]
    pub simplest: Option<Simplest>,
    /// What each column shows by itself, the largest first. Empty for a single column.
    pub contributions: Vec<Contribution>,
    /// Outputs that are far more likely on one side.
    pub examples: Vec<Example>,
}

/// A rule about one column with one threshold, one value or one symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simplest {
    /// The rule. It guesses one side only.
    pub rule: GuessRule,
    /// How its limits are computed.
    pub method: Method,
}

/// What one column shows by itself: an estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// The name of the column.
    pub column: String,
    /// The bound in the unit of the claim that is to be expected from this column alone.
    pub estimate: Exact,
    /// Its part of the bound that is to be expected from the strongest rule.
    pub share: f64,
}

/// An output that betrays the dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Its cells, each with its column.
    pub output: Vec<(String, ExampleCell)>,
    /// How many cells are left out, beside what columns say about texts as a whole.
    #[serde(default)]
    pub left_out: usize,
    /// The side on which it is more likely.
    pub guess: Side,
    /// How often exploration saw outputs like it on D: those that the score of the strongest rule
    /// does not tell from it.
    pub left: u64,
    /// The same on D'.
    pub right: u64,
}

/// A cell as people read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ExampleCell {
    /// A number.
    Number(Exact),
    /// A symbol.
    Text(String),
}

/// One column of the outputs.
struct Column<'a> {
    index: usize,
    hits: Cow<'a, ScoreBins>,
}

/// What clues are found in.
pub struct Evidence<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// Draws that rules are certified on.
    pub certify: u64,
    /// How pessimistic promises for the main limit and for that of δ are.
    pub cautions: [Caution; 2],
    /// The scores that later draws were counted on.
    pub candidates: &'a [ScoreBins],
    /// The rows that were kept.
    pub rows: [&'a Rows; 2],
    /// The names of columns and symbols.
    pub symbols: &'a Symbols,
}

impl Evidence<'_> {
    /// The clues to what the strongest of the rules sees, which promises this part of the claim.
    pub fn clues(&self, strongest: &GuessRule, promise: f64) -> Clues {
        let width = self.rows[0].width();
        let count = ROWS.min(CELLS / width).max(FEWEST_ROWS);
        let brief = self.rows.map(|rows| first(rows, count));
        let columns = self.columns(&brief);
        let simplest = self.simplest(&columns);
        let examples = self.examples(strongest, &brief);
        let mut contributions =
            if width > 1 { self.contributions(&columns, promise) } else { Vec::new() };
        contributions.sort_by(|a, b| b.share.total_cmp(&a.share));
        Clues { simplest, contributions, examples }
    }

    /// The most significant columns with their hits: those of all draws if they were counted on
    /// them, otherwise those of the first rows.
    fn columns(&self, brief: &[Rows; 2]) -> Vec<Column<'_>> {
        let width = brief[0].width();
        let [left, right] = brief.each_ref().map(|rows| rows.iter().collect::<Vec<&[Cell]>>());
        let all = (0..width).map(Coordinate).collect();
        let best = preselect(Lesson::new(width, &left, &right), all, COLUMNS);
        let counted = |score: &Score| self.candidates.iter().find(|one| one.score() == score);
        let of = |Coordinate(index): Coordinate| {
            let score =
                if width == 1 { Score::Output } else { Score::Coordinate(Coordinate(index)) };
            let hits = counted(&score).map(Cow::Borrowed);
            let hits =
                hits.unwrap_or_else(|| Cow::Owned(ScoreBins::new(score, &brief[0], &brief[1])));
            Column { index, hits }
        };
        best.into_iter().map(of).collect()
    }

    /// The event of one column that promises most, if it promises to refute the claim: the main
    /// limit if it can, otherwise the one of δ. Of those that promise nearly as much, it is the one
    /// with the shortest text.
    fn simplest(&self, columns: &[Column<'_>]) -> Option<Simplest> {
        let mut limits = self.cautions.into_iter().zip(self.claim.limits());
        limits.find_map(|(caution, limit)| {
            let events =
                columns.iter().flat_map(|column| self.events(&column.hits, caution, limit));
            let events: Vec<(f64, Simplest)> = events.collect();
            let most = events.iter().map(|(promise, _)| *promise).reduce(f64::max)?;
            let good = events.into_iter().filter(|(promise, _)| *promise >= NEARLY * most);
            let length = |rule: &GuessRule| rule.guesses(self.symbols).chars().count();
            let good = good.map(|(promise, simplest)| (length(&simplest.rule), promise, simplest));
            good.reduce(|best, next| {
                let shorter = next.0 < best.0 || next.0 == best.0 && next.1 > best.1;
                if shorter { next } else { best }
            })
            .map(|(.., simplest)| simplest)
        })
    }

    /// The events of a column that promise to refute a limit, each with its promise. It is as
    /// pessimistic as limits from the counts of exploration, because many events are tried.
    fn events(&self, hits: &ScoreBins, caution: Caution, limit: &Limit) -> Vec<(f64, Simplest)> {
        let (goal, counts) = (Goal::new(&limit.measure), hits.counts());
        let draws = counts.draws().max(1.0);
        let caution = Caution { draws, ..caution };
        let mut promising = Vec::new();
        for (event, [left, right]) in events(hits.bins(), &counts) {
            for (answer, correct, wrong) in
                [(Answer::Left, left, right), (Answer::Right, right, left)]
            {
                let rates =
                    Rates { correct: correct as f64 / draws, wrong: wrong as f64 / draws, draws };
                let promise = goal.bound(goal.value(rates, 1, caution));
                if promise > limit.value {
                    let rule = GuessRule::of_event(hits.score().clone(), event, answer);
                    let method = Method::new(&limit.measure, rates, 1, self.certify);
                    promising.push((promise, Simplest { rule, method }));
                }
            }
        }
        promising
    }

    /// What each column should show by itself, with the best rule about it.
    fn contributions(&self, columns: &[Column<'_>], promise: f64) -> Vec<Contribution> {
        let main = self.claim.main();
        let goal = Goal::new(&main.measure);
        let [caution, _] = self.cautions;
        let of = |Column { index, hits }: &Column<'_>| {
            let best = select(hits, &[goal], hits.draws(), caution).into_iter().next()?;
            let gives = |answer| u8::from(best.answers.contains(&answer));
            let regions = gives(Answer::Left) + gives(Answer::Right);
            let estimate = goal.bound(goal.value(best.forecast, regions, caution)).max(0.0);
            let share = estimate / (promise * main.value).max(f64::MIN_POSITIVE);
            Some(Contribution {
                column: self.symbols.column(*index),
                estimate: Exact(estimate),
                share: share.clamp(0.0, 1.0),
            })
        };
        columns.iter().filter_map(of).collect()
    }

    /// Outputs from the bins of the strongest rule's score where one side is most likely, at most
    /// `OF_ONE_SIDE` of either side.
    fn examples(&self, strongest: &GuessRule, brief: &[Rows; 2]) -> Vec<Example> {
        let Some(candidate) = self.candidates.iter().find(|one| one.score() == strongest.score())
        else {
            return Vec::new();
        };
        let (bins, counts) = (candidate.bins(), candidate.counts());
        let log_ratio =
            |bin: usize| ((counts.left[bin] as f64 + 0.5) / (counts.right[bin] as f64 + 0.5)).ln();
        let mut ranked: Vec<(usize, f64)> = (0..bins.len())
            .map(|bin| (bin, log_ratio(bin)))
            .filter(|(_, ratio)| ratio.abs() > self.claim.epsilon())
            .collect();
        ranked.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let found: [Vec<usize>; 2] = brief
            .each_ref()
            .map(|rows| candidate.score().of(rows).iter().map(|cell| bins.index(*cell)).collect());
        let own = self.own_columns(brief[0].width());
        let mut examples: Vec<Example> = Vec::new();
        for (bin, ratio) in ranked {
            let guess = if ratio > 0.0 { Side::Left } else { Side::Right };
            let of_side = examples.iter().filter(|example| example.guess == guess).count();
            if examples.len() == EXAMPLES || of_side == OF_ONE_SIDE {
                continue;
            }
            let Some(place) = found[guess as usize].iter().position(|found| *found == bin) else {
                continue;
            };
            let row = brief[guess as usize].row(place);
            let cells = own.iter().take(SHOWN_CELLS).map(|column| (*column, &row[*column]));
            let output: Vec<(String, ExampleCell)> = cells
                .map(|(column, cell)| (self.column(column, row.len()), self.cell(*cell)))
                .collect();
            if examples.iter().all(|example| example.output != output) {
                examples.push(Example {
                    left_out: own.len() - output.len(),
                    output,
                    guess,
                    left: counts.left[bin],
                    right: counts.right[bin],
                });
            }
        }
        examples
    }

    /// The columns of an output without those that say something about a text that another column
    /// has as a whole: its length, its shape, a number in it.
    fn own_columns(&self, width: usize) -> Vec<usize> {
        let texts = (0..width).filter(|column| self.symbols.is_covered(*column));
        let texts: Vec<String> = texts.map(|column| self.symbols.column(column) + " ").collect();
        let own = |column: &usize| {
            let name = self.symbols.column(*column);
            !texts.iter().any(|text| name.starts_with(text))
        };
        (0..width).filter(own).collect()
    }

    fn column(&self, column: usize, width: usize) -> String {
        if width == 1 { "y".to_owned() } else { self.symbols.column(column) }
    }

    fn cell(&self, cell: Cell) -> ExampleCell {
        match cell.as_number() {
            // A cell has −0 as the negative number that is closest to it.
            Some(number) if number == -f64::from_bits(1) => ExampleCell::Number(Exact(-0.0)),
            Some(number) => ExampleCell::Number(Exact(number)),
            None => ExampleCell::Text(self.symbols.text(cell)),
        }
    }
}

/// The events with one threshold, one value or one symbol, each with its hits.
fn events(bins: &Bins, Counts { left, right }: &Counts) -> Vec<(Event, [u64; 2])> {
    let numeric = bins.numeric();
    let all = [left, right].map(|side| side[..numeric].iter().sum::<u64>());
    let mut below = [0, 0];
    let mut found = Vec::new();
    for bin in 0..numeric {
        let hits = [left[bin], right[bin]];
        if bin > 0 {
            let threshold = short_threshold(bins.edges(), bin - 1);
            found.push((Event::Below(threshold), below));
            let rest = [all[0] - below[0], all[1] - below[1]];
            found.push((Event::From(threshold), rest));
        }
        if bins.is_atom(bin) {
            found.push((Event::Value(bins.edges()[bin - 1]), hits));
        }
        below = [below[0] + hits[0], below[1] + hits[1]];
    }
    for (index, symbol) in bins.symbols().iter().enumerate() {
        let hits = [left[numeric + index], right[numeric + index]];
        found.push((Event::Symbol(*symbol), hits));
    }
    found
}

/// The shortest number that is nearer to an edge than half the way to its neighbours: people read
/// `3.2` more easily than `3.2174839`. An edge beside an atom stays where it is.
fn short_threshold(edges: &[f64], index: usize) -> f64 {
    let edge = edges[index];
    let gap = |other: Option<&f64>| other.map_or(f64::INFINITY, |other| (other - edge).abs());
    let room = gap(index.checked_sub(1).and_then(|below| edges.get(below)))
        .min(gap(edges.get(index + 1)))
        / 2.0;
    if !room.is_finite() {
        return edge;
    }
    let rounded = (0..17).filter_map(|digits| format!("{edge:.digits$e}").parse::<f64>().ok());
    rounded.into_iter().find(|number| (number - edge).abs() < room).unwrap_or(edge)
}

/// The first rows, at most so many.
fn first(rows: &Rows, count: usize) -> Rows {
    let mut first = Rows::new(rows.width());
    rows.iter().take(count).for_each(|row| first.push(row));
    first
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    const CERTIFY: u64 = 1 << 20;
    /// At the level 0.001.
    const CAUTION: Caution = Caution { draws: CERTIFY as f64, z: 3.1 };

    /// Outputs with four columns. The third is below 0.3 in 60 % of the outputs on D and in 2 % on
    /// D'. The others are noise.
    fn rows() -> [Rows; 2] {
        let mut rng = Pcg64Mcg::seed_from_u64(5);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        [0.6, 0.02].map(|low| {
            let mut rows = Rows::new(4);
            for _ in 0..1 << 15 {
                let leak = if uniform() < low { 0.3 * uniform() } else { 0.3 + 0.7 * uniform() };
                let symbol = if uniform() < 0.03 { "rare" } else { "usual" };
                rows.push(&[
                    Cell::number(uniform()),
                    Cell::number(uniform()),
                    Cell::number(leak),
                    Cell::symbol(symbol),
                ]);
            }
            rows
        })
    }

    fn clues(rows: &[Rows; 2], claim: &str) -> (Clues, Symbols) {
        let claim: Claim = toml::from_str(claim).unwrap();
        let mut symbols = Symbols::default();
        for name in ["rare", "usual"] {
            symbols.symbol(name);
        }
        let leak = ScoreBins::new(Score::Coordinate(Coordinate(2)), &rows[0], &rows[1]);
        let strongest = GuessRule::of_event(leak.score().clone(), Event::Below(0.3), Answer::Left);
        let evidence = Evidence {
            claim: &claim,
            certify: CERTIFY,
            cautions: [CAUTION; 2],
            candidates: &[leak],
            rows: [&rows[0], &rows[1]],
            symbols: &symbols,
        };
        let clues = evidence.clues(&strongest, 3.0);
        (clues, symbols)
    }

    #[test]
    fn the_leaking_column_is_named_with_a_short_threshold() {
        let (clues, symbols) = clues(&rows(), "epsilon = 1.0\ndelta = 0.0");
        let simplest = clues.simplest.expect("30 times as likely is more than e");
        let text = simplest.rule.guesses(&symbols);
        let threshold: f64 = text.strip_prefix("left if y[3] < ").expect(&text).parse().unwrap();
        // Below the boundary the odds are 30 to 1; a quantile bin beside it holds 1/1000 or so.
        assert!((threshold - 0.3).abs() < 0.02 && text.len() < 24, "{text}");
        assert_eq!(simplest.rule.regions(), 1);
        let names: Vec<&str> =
            clues.contributions.iter().map(|column| column.column.as_str()).collect();
        assert_eq!((names.len(), names[0]), (4, "y[3]"));
        // ln 30 = 3.4, and pessimistic estimates are below it; noise shows nothing near it.
        let estimates: Vec<f64> =
            clues.contributions.iter().map(|column| column.estimate.0).collect();
        assert!(estimates[0] > 2.5 && estimates[0] < 3.6, "{estimates:?}");
        assert!(estimates[3] < 0.5, "{estimates:?}");
    }

    #[test]
    fn examples_are_outputs_of_the_side_that_they_betray() {
        let rows = rows();
        let (clues, _) = clues(&rows, "epsilon = 1.0\ndelta = 0.0");
        assert!((1..=EXAMPLES).contains(&clues.examples.len()));
        for example in clues.examples {
            let seen = rows[example.guess as usize].iter().any(|row| {
                row.iter().zip(&example.output).all(|(cell, (_, shown))| match shown {
                    ExampleCell::Number(number) => cell.as_number() == Some(number.0),
                    ExampleCell::Text(name) => *cell == Cell::symbol(name),
                })
            });
            assert!(seen, "{example:?} was drawn");
            let (more, less) = match example.guess {
                Side::Left => (example.left, example.right),
                Side::Right => (example.right, example.left),
            };
            assert!(more as f64 > 1.0_f64.exp() * less as f64, "{example:?}");
        }
    }

    #[test]
    fn what_promises_no_refutation_is_no_rule() {
        let (clues, _) = clues(&rows(), "epsilon = 8.0\ndelta = 0.0");
        assert_eq!((clues.simplest, clues.examples), (None, Vec::new()));
    }

    #[test]
    fn an_event_that_only_one_side_has_is_found_by_its_symbol() {
        let of = |name: &str| {
            let mut rows = Rows::new(1);
            (0..1 << 14).for_each(|index| {
                rows.push(&[if index % 8 == 0 { Cell::symbol(name) } else { Cell::number(1.0) }]);
            });
            rows
        };
        let rows = [of("⊥"), of("⊤")];
        let claim: Claim = toml::from_str("epsilon = 1.0\ndelta = 0.0").unwrap();
        let output = ScoreBins::new(Score::Output, &rows[0], &rows[1]);
        let strongest = GuessRule::of_event(Score::Output, Event::Value(1.0), Answer::Left);
        let evidence = Evidence {
            claim: &claim,
            certify: CERTIFY,
            cautions: [CAUTION; 2],
            candidates: &[output],
            rows: [&rows[0], &rows[1]],
            symbols: &Symbols::default(),
        };
        let clues = evidence.clues(&strongest, 3.0);
        let text = clues.simplest.unwrap().rule.guesses(&Symbols::default());
        assert!(text == "left if y is ⊥" || text.starts_with("right if y is "), "{text}");
        assert!(clues.contributions.is_empty(), "there is one column");
    }

    #[test]
    fn a_threshold_is_as_short_as_its_neighbours_allow() {
        let edges = [3.12, 3.217_483_9, 3.3, 4.0, 4.0_f64.next_up(), 1000.0];
        assert_eq!(short_threshold(&edges, 1), 3.2);
        assert_eq!(short_threshold(&edges, 3), 4.0, "an atom stays");
        assert_eq!(short_threshold(&edges, 4), 4.0_f64.next_up());
        assert_eq!(short_threshold(&[0.123_456], 0), 0.123_456, "no neighbour says how far");
    }
}
