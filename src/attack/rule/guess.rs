//! A guess rule: for which outputs the attacker guesses D, for which D', and for which there is no
//! guess.

use serde::{Deserialize, Serialize};

use crate::attack::answer::{Answer, AnswerCounts};
use crate::attack::bins::Bins;
use crate::attack::learner::{Score, View};
use crate::model::number::Brief;
use crate::output::{Cell, Rows, Symbols};

/// A frozen rule on one score. Neighbouring bins with the same answer are merged, so that the rule
/// is fast to judge and easy to read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuessRule {
    score: Score,
    /// Where the answer to numbers changes; `answers` has one more entry.
    #[serde(with = "crate::model::exact::list")]
    edges: Vec<f64>,
    answers: Vec<Answer>,
    /// The answers to known symbols, sorted by key.
    symbols: Vec<(Cell, Answer)>,
    /// The answer to all other symbols.
    other: Answer,
}

/// A set of outputs that can be named in a few words, by the value of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// Numbers below this one.
    Below(f64),
    /// This number and larger ones.
    From(f64),
    /// This number.
    Value(f64),
    /// This symbol.
    Symbol(Cell),
}

impl GuessRule {
    /// The rule that gives this answer to an event, and no guess otherwise.
    #[must_use]
    pub fn of_event(score: Score, event: Event, answer: Answer) -> Self {
        let none = Answer::Abstain;
        let (edges, answers) = match event {
            Event::Below(edge) => (vec![edge], vec![answer, none]),
            Event::From(edge) => (vec![edge], vec![none, answer]),
            Event::Value(value) => (vec![value, value.next_up()], vec![none, answer, none]),
            Event::Symbol(_) => (Vec::new(), vec![none]),
        };
        let symbols =
            if let Event::Symbol(symbol) = event { vec![(symbol, answer)] } else { Vec::new() };
        Self { score, edges, answers, symbols, other: none }
    }

    /// What it looks at.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// Whether it is about a single column, with a single condition for each answer that it gives.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let one_column = matches!(self.score, Score::Output | Score::Coordinate(_));
        let conditions = |answer| self.conditions(answer, &Symbols::default()).len();
        one_column && conditions(Answer::Left) <= 1 && conditions(Answer::Right) <= 1
    }

    /// The rule that gives these answers to the bins of a score.
    #[must_use]
    pub fn new(score: Score, bins: &Bins, answers: &[Answer]) -> Self {
        let (mut edges, mut merged) = (Vec::new(), vec![answers[0]]);
        for (edge, answer) in bins.edges().iter().zip(&answers[1..]) {
            if merged.last() != Some(answer) {
                edges.push(*edge);
                merged.push(*answer);
            }
        }
        let other = answers[bins.len() - 1];
        let of_symbols =
            bins.symbols().iter().copied().zip(answers[bins.numeric()..].iter().copied());
        let symbols = of_symbols.filter(|(_, answer)| *answer != other).collect();
        Self { score, edges, answers: merged, symbols, other }
    }

    /// `r`: how many of the two answers the rule ever gives.
    #[must_use]
    pub fn regions(&self) -> u8 {
        let gives = |wanted| {
            self.other == wanted
                || self.answers.contains(&wanted)
                || self.symbols.iter().any(|(_, answer)| *answer == wanted)
        };
        u8::from(gives(Answer::Left)) + u8::from(gives(Answer::Right))
    }

    /// Checks that a rule that was read from a file has exactly one answer to every output of this
    /// width.
    ///
    /// # Errors
    /// When it does not. The error says why.
    pub fn check(&self, width: usize) -> Result<(), String> {
        self.score.check(width)?;
        let increasing = self.edges.is_sorted_by(|a, b| a < b)
            && self.symbols.is_sorted_by(|a, b| a.0.key() < b.0.key());
        // Numbers are judged by the edges. One among the symbols would be counted twice.
        let only_symbols = self.symbols.iter().all(|(symbol, _)| symbol.as_number().is_none());
        if increasing && only_symbols && self.answers.len() == self.edges.len() + 1 {
            Ok(())
        } else {
            Err("its edges, answers or symbols are not in order".to_owned())
        }
    }

    /// Counts the answers to all rows.
    #[must_use]
    pub fn answers(&self, rows: &Rows) -> AnswerCounts {
        self.answers_to(&self.score.of(rows))
    }

    fn answers_to(&self, scores: &[Cell]) -> AnswerCounts {
        /// The number of edges that are counted in one pass.
        const GROUP: usize = 3;
        /// With more groups than this, looking up each score is faster.
        const GROUPS: usize = 4;
        let mut answers = AnswerCounts::default();
        let mut numbers = 0;
        if self.edges.len() < GROUP * GROUPS {
            // Counting has no branches and uses the widest instructions of the processor. Symbols
            // are NaN and reach no edge; unused edges are NaN and are reached by no score.
            let mut edges = [f64::NAN; GROUP * GROUPS];
            edges[0] = f64::NEG_INFINITY;
            edges[1..=self.edges.len()].copy_from_slice(&self.edges);
            let mut reached = [0; GROUP * GROUPS + 1];
            let arch = pulp::Arch::new();
            for (edges, reached) in edges
                .as_chunks::<GROUP>()
                .0
                .iter()
                .zip(reached.as_chunks_mut::<GROUP>().0)
                .take(1 + self.edges.len() / GROUP)
            {
                *reached = arch.dispatch(
                    #[inline(always)]
                    || {
                        let reaches =
                            |score: &Cell| edges.map(|edge| u64::from(score.raw() >= edge));
                        scores
                            .iter()
                            .map(reaches)
                            .fold([0; GROUP], |[a, b, c], [x, y, z]| [a + x, b + y, c + z])
                    },
                );
            }
            numbers = reached[0];
            self.answers
                .iter()
                .zip(reached.windows(2))
                .for_each(|(answer, reached)| answers.add(*answer, reached[0] - reached[1]));
        } else {
            for number in scores.iter().filter_map(|score| score.as_number()) {
                answers.add(self.answers[self.edges.partition_point(|edge| *edge <= number)], 1);
                numbers += 1;
            }
        }
        if numbers < scores.len() as u64 {
            self.add_answers_to_symbols(scores, scores.len() as u64 - numbers, &mut answers);
        }
        answers
    }

    /// Adds the answers to the symbols among the scores, of which there are `symbols`.
    fn add_answers_to_symbols(&self, scores: &[Cell], symbols: u64, answers: &mut AnswerCounts) {
        /// With more symbols than this, looking each score up is faster than counting them one
        /// symbol at a time.
        const FEW: usize = 4;
        if self.symbols.len() <= FEW {
            // Counting has no branches and uses the widest instructions.
            let arch = pulp::Arch::new();
            let mut others = symbols;
            for (symbol, answer) in &self.symbols {
                let key = symbol.key();
                let times = arch.dispatch(
                    #[inline(always)]
                    || scores.iter().map(|score| u64::from(score.key() == key)).sum::<u64>(),
                );
                answers.add(*answer, times);
                others -= times;
            }
            answers.add(self.other, others);
        } else {
            for score in scores.iter().filter(|score| score.as_number().is_none()) {
                let index =
                    self.symbols.binary_search_by_key(&score.key(), |(symbol, _)| symbol.key());
                answers.add(index.map_or(self.other, |index| self.symbols[index].1), 1);
            }
        }
    }

    /// The conditions for one answer, in words.
    fn conditions(&self, wanted: Answer, names: &Symbols) -> Vec<String> {
        let score = self.score.describe(names);
        let mut conditions = Vec::new();
        for (index, answer) in self.answers.iter().enumerate() {
            if *answer != wanted {
                continue;
            }
            let from = index.checked_sub(1).and_then(|below| self.edges.get(below)).copied();
            let to = self.edges.get(index).copied();
            conditions.push(match (from, to) {
                (None, None) => format!("{score} is any number"),
                (None, Some(to)) => format!("{score} {}", below(to)),
                (Some(from), None) => match atom_before(from) {
                    Some(atom) => format!("{score} > {}", Brief(atom)),
                    None => format!("{score} ≥ {}", Brief(from)),
                },
                (Some(from), Some(to)) if from.next_up() == to => {
                    format!("{score} = {}", Brief(from))
                }
                (Some(from), Some(to)) => match atom_before(from) {
                    Some(atom) => format!("{} < {score} {}", Brief(atom), below(to)),
                    None => format!("{} ≤ {score} {}", Brief(from), below(to)),
                },
            });
        }
        let symbols = self.symbols.iter().filter(|(_, answer)| *answer == wanted);
        conditions.extend(symbols.map(|(symbol, _)| format!("{score} is {}", names.text(*symbol))));
        if self.other == wanted {
            conditions.push(format!("{score} is any other symbol"));
        }
        conditions
    }
}

/// The float just below an edge, if it has fewer digits: then it is an atom, and the edge is its
/// upper end.
fn atom_before(edge: f64) -> Option<f64> {
    let before = edge.next_down();
    (before.to_string().len() < edge.to_string().len()).then_some(before)
}

/// `< edge`, or `≤ atom` if the edge is the upper end of an atom.
fn below(edge: f64) -> String {
    atom_before(edge)
        .map_or_else(|| format!("< {}", Brief(edge)), |atom| format!("≤ {}", Brief(atom)))
}

impl GuessRule {
    /// The symbols that have their own answer.
    pub fn symbols(&self) -> impl Iterator<Item = Cell> {
        self.symbols.iter().map(|(symbol, _)| *symbol)
    }

    /// The rule in words: `left if y < 0; right if y ≥ 1 or y is ⊥; otherwise no guess`.
    #[must_use]
    pub fn describe(&self, names: &Symbols) -> String {
        match self.guesses(names) {
            guesses if guesses.is_empty() => "never guesses".to_owned(),
            guesses => format!("{guesses}; otherwise no guess"),
        }
    }

    /// When it guesses, in words: `left if y < 0; right if y ≥ 1 or y is ⊥`.
    #[must_use]
    pub fn guesses(&self, names: &Symbols) -> String {
        const SHOWN: usize = 4;
        let mut parts = Vec::new();
        for (answer, name) in [(Answer::Left, "left"), (Answer::Right, "right")] {
            let conditions = self.conditions(answer, names);
            if conditions.is_empty() {
                continue;
            }
            let mut text = conditions.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(" or ");
            if conditions.len() > SHOWN {
                text = format!("{text} or in {} more cases", conditions.len() - SHOWN);
            }
            parts.push(format!("{name} if {text}"));
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::learner::coordinate::Coordinate;

    fn rows(cells: &[Cell]) -> Rows {
        let mut rows = Rows::new(1);
        rows.resize(cells.len());
        for (row, cell) in rows.iter_mut().zip(cells) {
            row[0] = *cell;
        }
        rows
    }

    fn rule(many_edges: bool) -> (GuessRule, Vec<Cell>) {
        let bottom = Cell::symbol("⊥");
        let mut sample: Vec<Cell> = (0..4000).map(|i| Cell::number(f64::from(i))).collect();
        sample.extend([bottom; 50]);
        let bins = Bins::learn(&sample);
        let answers: Vec<Answer> = (0..bins.len())
            .map(|bin| match bin {
                _ if bin == bins.numeric() => Answer::Right,
                _ if many_edges && bin % 3 == 0 => Answer::Left,
                _ if !many_edges && bin < 10 => Answer::Left,
                _ if !many_edges && bin > 100 && bin < bins.numeric() => Answer::Right,
                _ => Answer::Abstain,
            })
            .collect();
        let expected = GuessRule::new(Score::Output, &bins, &answers);
        sample.push(Cell::symbol("unknown"));
        (expected, sample)
    }

    #[test]
    fn fast_and_simple_counting_agree() {
        for many in [false, true] {
            let (rule, sample) = rule(many);
            let simple = |cell: &Cell| match cell.as_number() {
                Some(x) => rule.answers[rule.edges.iter().filter(|edge| **edge <= x).count()],
                None => rule
                    .symbols
                    .iter()
                    .find(|(symbol, _)| symbol == cell)
                    .map_or(rule.other, |(_, answer)| *answer),
            };
            assert_eq!(
                rule.answers(&rows(&sample)),
                times(&sample.iter().map(simple).collect::<Vec<_>>())
            );
            assert_eq!(rule.edges.len() > 12, many);
            assert_eq!(rule.regions(), 2);
        }
    }

    #[test]
    fn a_rule_is_described_in_a_sentence() {
        let bins = Bins::learn(&(0..64).map(|i| Cell::number(f64::from(i))).collect::<Vec<_>>());
        let mut answers = vec![Answer::Abstain; bins.len()];
        answers[0] = Answer::Left;
        let text = GuessRule::new(Score::Output, &bins, &answers).describe(&Symbols::default());
        assert_eq!(text, "left if y < 8; otherwise no guess");
        let atoms = Bins::learn(&[[Cell::number(0.0); 9], [Cell::number(3.0); 9]].concat());
        let answer = |bin: usize| if bin < 2 { Answer::Left } else { Answer::Right };
        let text = GuessRule::new(
            Score::Output,
            &atoms,
            &(0..atoms.len()).map(answer).collect::<Vec<_>>(),
        )
        .describe(&Symbols::default());
        assert_eq!(
            text,
            "left if y ≤ 0; right if y > 0 or y is any other symbol; otherwise no guess"
        );
        let silent = GuessRule::new(Score::WholeRow, &bins, &vec![Answer::Abstain; bins.len()]);
        assert_eq!(silent.describe(&Symbols::default()), "never guesses");
        assert_eq!(silent.regions(), 0);
    }

    fn times(answers: &[Answer]) -> AnswerCounts {
        let times = |wanted| answers.iter().filter(|answer| **answer == wanted).count() as u64;
        AnswerCounts {
            left: times(Answer::Left),
            right: times(Answer::Right),
            abstained: times(Answer::Abstain),
        }
    }

    #[test]
    fn a_rule_gives_each_cell_the_answer_of_its_bin() {
        let (known, unknown) = (["⊥", "⊤", "!"].map(Cell::symbol), Cell::symbol("never seen"));
        let mut sample: Vec<Cell> =
            (0..800).map(|i| Cell::number(f64::from(i % 400) / 8.0)).collect();
        sample.extend([Cell::number(7.0); 9].into_iter().chain(known.repeat(9)));
        let bins = Bins::learn(&sample);
        let around = |edge: &f64| [edge.next_down(), *edge, edge.next_up()].map(Cell::number);
        let ends = [f64::NEG_INFINITY, -0.0, 0.0, f64::INFINITY].map(Cell::number);
        let cells: Vec<Cell> = bins
            .edges()
            .iter()
            .flat_map(around)
            .chain(ends)
            .chain(known)
            .chain([unknown])
            .collect();
        // Short and long runs of the same answer, so that there are many or few edges.
        for run in [1, 2, 5, 17, 1000] {
            for turn in 0..3 {
                let answer = |bin: usize| {
                    [Answer::Left, Answer::Abstain, Answer::Right][(bin / run + turn) % 3]
                };
                let answers: Vec<Answer> = (0..bins.len()).map(answer).collect();
                let rule = GuessRule::new(Score::Output, &bins, &answers);
                let second = GuessRule::new(Score::Coordinate(Coordinate(1)), &bins, &answers);
                assert_eq!(rule.check(1), Ok(()));
                for cell in &cells {
                    let expected = answers[bins.index(*cell)];
                    assert_eq!(
                        rule.answers(&rows(&[*cell])),
                        times(&[expected]),
                        "{cell:?} in runs of {run}"
                    );
                    let mut two_cells = Rows::new(2);
                    two_cells.push(&[unknown, *cell]);
                    assert_eq!(second.answers(&two_cells), times(&[expected]));
                }
                let all: Vec<Answer> =
                    cells.iter().map(|cell| answers[bins.index(*cell)]).collect();
                assert_eq!(rule.answers(&rows(&cells)), times(&all));
            }
        }
    }

    #[test]
    fn a_rule_may_have_any_number_of_edges() {
        let numbers: Vec<Cell> = (0..40)
            .map(|i| Cell::number(f64::from(i) / 2.0 - 1.0))
            .chain([Cell::symbol("⊥")])
            .collect();
        for count in 0..=16_u8 {
            let edges: Vec<f64> = (0..count).map(f64::from).collect();
            let answer = |index: usize| {
                [Answer::Left, Answer::Right, Answer::Abstain, Answer::Right][index % 4]
            };
            let rule = of(
                &edges,
                &(0..=edges.len()).map(answer).collect::<Vec<_>>(),
                &[],
                Answer::Abstain,
            );
            let expected = |cell: &Cell| {
                cell.as_number().map_or(Answer::Abstain, |x| {
                    answer(edges.iter().filter(|edge| **edge <= x).count())
                })
            };
            assert_eq!(
                rule.answers(&rows(&numbers)),
                times(&numbers.iter().map(expected).collect::<Vec<_>>()),
                "{count} edges"
            );
        }
    }

    #[test]
    fn a_rule_out_of_order_is_rejected() {
        use Answer::{Abstain, Left, Right};
        let mut symbols = [(Cell::symbol("a"), Left), (Cell::symbol("b"), Right)].to_vec();
        symbols.sort_by_key(|(symbol, _)| symbol.key());
        let valid = GuessRule {
            score: Score::Coordinate(Coordinate(1)),
            edges: vec![1.0, 2.0],
            answers: vec![Left, Abstain, Right],
            symbols,
            other: Abstain,
        };
        assert_eq!(valid.check(2), Ok(()));
        assert!(valid.check(1).is_err(), "there is no second cell");
        let reversed = |rule: &GuessRule| rule.symbols.iter().rev().copied().collect();
        assert!(GuessRule { edges: vec![2.0, 1.0], ..valid.clone() }.check(2).is_err());
        assert!(GuessRule { edges: vec![1.0, 1.0], ..valid.clone() }.check(2).is_err());
        assert!(GuessRule { edges: vec![1.0], ..valid.clone() }.check(2).is_err());
        assert!(GuessRule { answers: vec![Left, Right], ..valid.clone() }.check(2).is_err());
        assert!(GuessRule { symbols: reversed(&valid), ..valid.clone() }.check(2).is_err());
        assert!(GuessRule { symbols: [valid.symbols[0]; 2].to_vec(), ..valid }.check(2).is_err());
    }

    /// A rule with these edges, answers and symbols.
    fn of(
        edges: &[f64],
        answers: &[Answer],
        symbols: &[(Cell, Answer)],
        other: Answer,
    ) -> GuessRule {
        GuessRule {
            score: Score::Output,
            edges: edges.to_vec(),
            answers: answers.to_vec(),
            symbols: symbols.to_vec(),
            other,
        }
    }

    #[test]
    fn the_regions_are_the_different_guesses_of_a_rule() {
        use Answer::{Abstain, Left, Right};
        let bottom = Cell::symbol("⊥");
        assert_eq!(of(&[], &[Left], &[], Abstain).regions(), 1);
        assert_eq!(of(&[], &[Abstain], &[(bottom, Left)], Abstain).regions(), 1);
        assert_eq!(of(&[], &[Abstain], &[], Right).regions(), 1);
        assert_eq!(of(&[], &[Left], &[(bottom, Right)], Abstain).regions(), 2);
        assert_eq!(of(&[0.0], &[Left, Right], &[], Abstain).regions(), 2);
        assert_eq!(of(&[], &[Right], &[], Left).regions(), 2);
    }

    #[test]
    fn all_kinds_of_conditions_are_described() {
        use Answer::{Abstain, Left, Right};
        let rule = of(
            &[-2.0, 1.0, 1_f64.next_up(), 3.0],
            &[Left, Abstain, Left, Right, Left],
            &[(Cell::symbol("⊥"), Right)],
            Abstain,
        );
        assert_eq!(
            rule.describe(&Symbols::default()),
            "left if y < -2 or y = 1 or y ≥ 3; right if 1 < y < 3 or y is ⊥; otherwise no guess"
        );
        assert_eq!(
            of(&[], &[Left], &[], Left).describe(&Symbols::default()),
            "left if y is any number or y is any other symbol; otherwise no guess"
        );
        // This edge has as many digits as the float below it.
        let edge = 12.345_678_901_234_567_f64;
        assert_eq!(edge.to_string().len(), edge.next_down().to_string().len());
        assert_eq!(
            of(&[2.0, edge], &[Abstain, Left, Abstain], &[], Abstain).describe(&Symbols::default()),
            "left if 2 ≤ y < 12.346; otherwise no guess"
        );
        let alternating = |edges: i32| {
            let edges: Vec<f64> = (1..=edges).map(f64::from).collect();
            let answers: Vec<Answer> =
                (0..=edges.len()).map(|bin| if bin % 2 == 0 { Left } else { Abstain }).collect();
            of(&edges, &answers, &[], Abstain).describe(&Symbols::default())
        };
        assert_eq!(
            alternating(7),
            "left if y < 1 or 2 ≤ y < 3 or 4 ≤ y < 5 or 6 ≤ y < 7; otherwise no guess"
        );
        assert_eq!(
            alternating(11),
            "left if y < 1 or 2 ≤ y < 3 or 4 ≤ y < 5 or 6 ≤ y < 7 or in 2 more cases; otherwise no guess"
        );
    }
}
