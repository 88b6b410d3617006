//! What must be true of every input: counts, levels, audit files, outputs. A failing case is shrunk and kept in `tests/regressions`.
//!
//! One module per thing that reads or computes; a new one (a protocol, a sample file) is a module with its generators beside its properties.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// So many cases, and failures kept in a file of this property's own group.
fn cases(cases: u32, file: &'static str) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))), ..ProptestConfig::default() }
}

mod statistics {
    use dp_audit::attack::Answers;
    use dp_audit::evidence::binomial::{lower_limit, upper_tail};
    use dp_audit::evidence::fixed::Limits;
    use dp_audit::evidence::power::detectable_epsilon;
    use dp_audit::evidence::wealth::{Bet, Forecast, Ledger};
    use dp_audit::evidence::{Bounds, Certified, Level};
    use dp_audit::mechanism::Side;
    use dp_audit::sample::{Tallies, Tally};
    use dp_audit::spec::{Claim, Delta, Epsilon};
    use dp_audit::verdict::Verdict;

    use super::*;

    /// Counts of every order of magnitude.
    fn count() -> impl Strategy<Value = u64> {
        prop_oneof![0..4_u64, 0..1_000_u64, 0..1_000_000_u64]
    }

    fn tally() -> impl Strategy<Value = Tally> {
        (count(), count(), count()).prop_map(|(correct, wrong, abstained)| Tally { correct, wrong, abstained })
    }

    fn level() -> impl Strategy<Value = f64> {
        (-20.0..-0.7_f64).prop_map(f64::exp)
    }

    fn epsilon() -> impl Strategy<Value = f64> {
        (-14.0..3.5_f64).prop_map(f64::exp)
    }

    fn delta() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), (-28.0..-0.7_f64).prop_map(f64::exp)]
    }

    fn regions() -> impl Strategy<Value = u8> {
        1..=2_u8
    }

    fn claim() -> impl Strategy<Value = Claim> {
        (epsilon(), delta())
            .prop_map(|(epsilon, delta)| Claim { epsilon: Epsilon::try_from(epsilon).unwrap(), delta: Delta::try_from(delta).unwrap() })
    }

    fn judged() -> impl Strategy<Value = [(Tally, u8); 2]> {
        [(tally(), regions()), (tally(), regions())]
    }

    fn certified(judged: &[(Tally, u8); 2], level: Level) -> [Certified; 2] {
        let [first, second] = *judged;
        [(first, 0.9), (second, 0.1)].map(|((tally, regions), share)| Certified::new(tally, regions, level.fixed(share)))
    }

    fn bet() -> impl Strategy<Value = Bet> {
        (0.0..1.0_f64, 0.0..1.0_f64, 1.0..1e9_f64, regions(), tally()).prop_map(|(guessed, right, draws, regions, tally)| Bet {
            forecast: Forecast { correct: guessed * right, wrong: guessed * (1.0 - right), draws },
            regions,
            tally,
        })
    }

    fn ledger() -> impl Strategy<Value = Vec<[Bet; 2]>> {
        prop::collection::vec([bet(), bet()], 0..6)
    }

    fn ledger_of(looks: &[[Bet; 2]]) -> Ledger {
        let mut ledger = Ledger::default();
        looks.iter().for_each(|bets| ledger.push(bets.to_vec()));
        ledger
    }

    proptest! {
        #![proptest_config(cases(512, "tests/regressions/statistics.txt"))]

        #[test]
        fn limits_lie_on_their_sides_of_the_observed_frequency(n in 1..2_000_000_u64, millionths in 0..=1_000_000_u64, alpha in level()) {
            let k = n * millionths / 1_000_000;
            let (low, high) = (lower_limit(k, n, alpha), 1.0 - lower_limit(n - k, n, alpha));
            let observed = k as f64 / n as f64;
            prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
            prop_assert!(low <= observed + 1e-15 && observed <= high + 1e-15, "{low} {observed} {high}");
            // The limit is what it says: so many are no more likely than α there.
            prop_assert!(upper_tail(k, n, low) <= alpha || k == 0);
        }

        #[test]
        fn limits_grow_with_hits_and_level_and_fall_with_misses(k in count(), misses in count(), alpha in level(), more in 1.0..10.0_f64) {
            let n = k + misses;
            let at = lower_limit(k, n, alpha);
            prop_assert!(lower_limit(k + 1, n + 1, alpha) >= at);
            prop_assert!(lower_limit(k, n + 1, alpha) <= at);
            prop_assert!(lower_limit(k, n, (alpha * more).min(0.5)) >= at * (1.0 - 1e-9));
        }

        #[test]
        fn swapping_the_sides_changes_nothing(left in count(), right in count(), abstained in count()) {
            let of_left = Tally::of(Side::Left, Answers { left, right, abstained });
            let of_right = Tally::of(Side::Right, Answers { left: right, right: left, abstained });
            prop_assert_eq!(of_left, of_right);
            prop_assert_eq!(of_left.draws(), left + right + abstained);
            prop_assert_eq!(of_left.guesses() + of_left.abstained, of_left.draws());
        }

        #[test]
        fn merging_tallies_is_adding_their_counts(a in prop::collection::vec(tally(), 3), b in prop::collection::vec(tally(), 3)) {
            let (mut ab, mut ba) = (Tallies(a.clone()), Tallies(b.clone()));
            ab.add(&Tallies(b.clone()));
            ba.add(&Tallies(a.clone()));
            prop_assert_eq!(&ab, &ba);
            for ((sum, a), b) in ab.0.iter().zip(&a).zip(&b) {
                let expected = Tally { correct: a.correct + b.correct, wrong: a.wrong + b.wrong, abstained: a.abstained + b.abstained };
                prop_assert_eq!(*sum, expected);
            }
        }

        #[test]
        fn bounds_are_in_range_and_below_what_was_seen(tally in tally(), regions in regions(), alpha in level(), epsilon in epsilon(), delta in delta()) {
            let limits = Limits::new(tally, regions, alpha);
            let (e, d) = (limits.epsilon_lower(delta), limits.delta_lower(epsilon));
            prop_assert!(e >= 0.0 && e.is_finite() && (0.0..=1.0).contains(&d), "{e} {d}");
            // With the observed frequencies in place of their limits.
            let n = tally.draws().max(1) as f64;
            let (correct, wrong) = (tally.correct as f64 / n, tally.wrong as f64 / n);
            let spent = delta * f64::from(regions) / 2.0;
            prop_assert!(e == 0.0 || e <= ((correct - spent) / wrong).ln() + 1e-9, "{e}");
            prop_assert!(d <= ((correct - epsilon.exp() * wrong) * 2.0 / f64::from(regions)).max(0.0) + 1e-12, "{d}");
        }

        #[test]
        fn allowing_more_never_leaves_a_larger_bound(
            tally in tally(), regions in regions(), alpha in level(), epsilon in epsilon(), delta in delta(), factor in 1.0..3.0_f64,
        ) {
            let limits = Limits::new(tally, regions, alpha);
            prop_assert!(limits.epsilon_lower(delta * factor) <= limits.epsilon_lower(delta));
            prop_assert!(limits.delta_lower(epsilon * factor) <= limits.delta_lower(epsilon));
        }

        #[test]
        fn epsilon_and_delta_bounds_refute_the_same_claims(tally in tally(), regions in regions(), alpha in level(), epsilon in epsilon(), delta in delta()) {
            // Both solve one inequality, so but for rounding they stand on the same side of a claim.
            let limits = Limits::new(tally, regions, alpha);
            let (e, d) = (limits.epsilon_lower(delta), limits.delta_lower(epsilon));
            prop_assert!(!(e > epsilon * (1.0 + 1e-9) + 1e-12 && d < delta * (1.0 - 1e-9)), "ε {e} refutes, δ {d} does not");
            prop_assert!(!(d > delta * (1.0 + 1e-9) + 1e-12 && e < epsilon * (1.0 - 1e-9)), "δ {d} refutes, ε {e} does not");
        }

        #[test]
        fn a_verdict_is_violated_exactly_when_a_bound_exceeds_the_claim(judged in judged(), looks in ledger(), claim in claim(), resolution in 0.0..5.0_f64) {
            let level = Level::of_pair(0.95, 1);
            let bounds = Bounds::new(&ledger_of(&looks), &certified(&judged, level), claim, level);
            let refuted = bounds.epsilon_lower > claim.epsilon.get() || bounds.delta_lower > claim.delta.get();
            let verdict = Verdict::new(&bounds, claim, resolution);
            prop_assert_eq!(verdict == Verdict::Violated, refuted);
            prop_assert!(verdict != Verdict::Consistent || bounds.detectable_epsilon <= claim.epsilon.get() + resolution);
        }

        #[test]
        fn bounds_fall_as_the_confidence_rises(judged in judged(), looks in ledger(), claim in claim(), low in 0.51..0.99_f64, pairs in 1..50_usize) {
            let ledger = ledger_of(&looks);
            let at = |confidence: f64, pairs| {
                let level = Level::of_pair(confidence, pairs);
                Bounds::new(&ledger, &certified(&judged, level), claim, level)
            };
            for (easy, hard) in [(at(low, 1), at(1.0 - (1.0 - low) / 7.0, 1)), (at(low, 1), at(low, pairs))] {
                prop_assert!(hard.epsilon_lower <= easy.epsilon_lower * (1.0 + 1e-9));
                prop_assert!(hard.delta_lower <= easy.delta_lower * (1.0 + 1e-9) + 1e-12);
                prop_assert!(hard.detectable_epsilon >= easy.detectable_epsilon - 1e-9);
            }
        }

        #[test]
        fn nothing_smaller_than_the_claim_is_called_detectable(tally in tally(), regions in regions(), claim in claim(), alpha in level()) {
            // Flagging with probability 0.9 > α what the claim allows would be a false alarm.
            let found = detectable_epsilon(&Certified::new(tally, regions, alpha), claim.epsilon.get(), claim.delta.get());
            prop_assert!(found >= claim.epsilon.get() * (1.0 - 1e-9), "{found}");
        }

        #[test]
        fn the_greatest_wealth_never_falls(looks in ledger(), epsilon in epsilon(), delta in delta()) {
            let mut ledger = Ledger::default();
            let mut greatest = 0.0;
            for bets in &looks {
                ledger.push(bets.to_vec());
                let wealth = ledger.log_wealth(epsilon, delta);
                prop_assert!(wealth >= greatest, "{wealth} after {greatest}");
                greatest = wealth;
            }
        }

        #[test]
        fn a_bet_is_fair_at_best_under_the_claim(bet in bet(), epsilon in epsilon(), delta in delta(), guess in 0.0..1.0_f64, at_claim in 0.0..1.0_f64) {
            // What one more correct, wrong or missing guess multiplies the wealth by, read off a purse that is well ahead.
            let ahead = Tally { correct: 200_000, wrong: 0, abstained: 0 };
            let wealth = |tally: Tally| {
                let mut ledger = Ledger::default();
                ledger.push(vec![Bet { tally, ..bet }]);
                ledger.log_wealth(epsilon, delta)
            };
            let start = wealth(ahead);
            let pays = |more: Tally| (wealth(ahead + more) - start).exp();
            let one = Tally::default();
            let [correct, wrong, none] =
                [Tally { correct: 1, ..one }, Tally { wrong: 1, ..one }, Tally { abstained: 1, ..one }].map(pays);
            // Any distribution that the claim allows: correct ≤ e^ε·wrong + δ·r/2.
            let spent = delta * f64::from(bet.regions) / 2.0;
            let p_wrong = guess * (1.0 - spent) / (1.0 + epsilon.exp());
            let p_correct = at_claim * (epsilon.exp() * p_wrong + spent);
            let mean = p_correct * correct + p_wrong * wrong + (1.0 - p_correct - p_wrong) * none;
            // The logarithms are differences of numbers up to 2e5: eleven digits are left of sixteen.
            prop_assert!(mean <= 1.0 + 1e-8, "{mean}");
        }
    }
}

mod audit_files {
    use std::path::Path;
    use std::sync::LazyLock;

    use dp_audit::run::{self, Settings, Until};
    use dp_audit::spec;

    use super::*;

    const NAME: &str = "some-file.toml";

    /// The text is a valid audit, which then runs, or an error that names the file. Anything but a panic.
    fn accepted_or_named(text: &str) -> Result<(), TestCaseError> {
        match spec::parse(Path::new(NAME), text) {
            Ok(audit) => {
                prop_assert!(!audit.pairs.is_empty() && audit.resolution > 0.0 && !audit.attacks.is_empty());
                let settings = Settings { draws: Some(40), seed: 1, confidence: spec::Confidence::default(), until: Until::Budget };
                let pairs = audit.pairs.len();
                let report = run::run(&[audit], settings, &[]);
                prop_assert_eq!(report.audits[0].pairs.len(), pairs);
            }
            Err(error) => {
                let message = error.to_string();
                prop_assert!(message.lines().any(|line| line.starts_with(NAME) && line.len() > NAME.len() + 2), "{message}");
            }
        }
        Ok(())
    }

    /// All audit files of the repository: what mutations start from.
    static FILES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut texts = Vec::new();
        let mut folders = vec![root.join("audits"), root.join("src/calibrate/boundary")];
        while let Some(folder) = folders.pop() {
            let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            for path in paths {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "toml") {
                    texts.push(std::fs::read_to_string(path).unwrap());
                }
            }
        }
        texts
    });

    /// What is written over a file or between its characters.
    fn scrap() -> impl Strategy<Value = String> {
        let numbers = [
            "-1",
            "0",
            "0.0",
            "-0.0",
            "1e-320",
            "1e308",
            "1e400",
            "inf",
            "-inf",
            "nan",
            "1.5",
            "100000",
            "4294967296",
            "9223372036854775807",
        ];
        let syntax =
            ["[", "]", "{", "}", "=", ",", "\"", "'''", "#", "\n", "\u{0}", "ε", "[[pair]]\n", "true", "1979-05-27", "[]", "{}", "\"\""];
        prop_oneof![
            prop::sample::select(numbers.to_vec()).prop_map(str::to_owned),
            prop::sample::select(syntax.to_vec()).prop_map(str::to_owned),
            prop::string::string_regex("\\PC{0,4}").unwrap(),
        ]
    }

    #[derive(Clone, Debug)]
    enum Change {
        Overwrite(usize, usize, String),
        Number(usize, String),
        CopyLine(usize, usize),
        CutLine(usize),
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            (any::<usize>(), 0..12_usize, scrap()).prop_map(|(at, length, scrap)| Change::Overwrite(at, length, scrap)),
            (any::<usize>(), scrap()).prop_map(|(at, scrap)| Change::Number(at, scrap)),
            (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Change::CopyLine(from, to)),
            any::<usize>().prop_map(Change::CutLine),
        ]
    }

    impl Change {
        fn apply(&self, text: &str) -> String {
            let mut lines: Vec<&str> = text.lines().collect();
            match self {
                Self::Overwrite(at, length, scrap) => {
                    let characters: Vec<char> = text.chars().collect();
                    let at = at % (characters.len() + 1);
                    let end = (at + length).min(characters.len());
                    characters[..at].iter().copied().chain(scrap.chars()).chain(characters[end..].iter().copied()).collect()
                }
                Self::Number(at, scrap) => {
                    // The runs of digits, dots and underscores.
                    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
                    let starts: Vec<usize> = text.match_indices(is_digit).map(|(at, _)| at).collect();
                    let Some(&start) = starts.get(at % starts.len().max(1)) else { return text.to_owned() };
                    let end = text[start..].find(|c| !is_digit(c)).map_or(text.len(), |length| start + length);
                    format!("{}{scrap}{}", &text[..start], &text[end..])
                }
                Self::CopyLine(from, to) => {
                    if let Some(&line) = lines.get(from % lines.len().max(1)) {
                        lines.insert(to % lines.len(), line);
                    }
                    lines.join("\n")
                }
                Self::CutLine(at) => {
                    if !lines.is_empty() {
                        lines.remove(at % lines.len());
                    }
                    lines.join("\n")
                }
            }
        }
    }

    /// Random values under the keys that the format knows.
    fn keyed() -> impl Strategy<Value = String> {
        let keys = [
            "name",
            "mechanism",
            "params",
            "claim",
            "relation",
            "reason",
            "expect",
            "source",
            "truth",
            "draws",
            "resolution",
            "attacks",
            "pairs",
            "pair",
            "epsilon",
            "delta",
            "left",
            "right",
            "value",
            "times",
            "patterns",
            "components",
        ];
        let key = move || prop::sample::select(keys.to_vec());
        let words = ["laplace", "gaussian", "add-remove", "custom", "component-wise", "violated", "count", "pairs", "x"];
        let leaf = prop_oneof![
            prop::sample::select(words.to_vec()).prop_map(|word| toml::Value::String(word.to_owned())),
            (-1000..1000_i64).prop_map(toml::Value::Integer),
            any::<f64>().prop_map(toml::Value::Float),
            any::<bool>().prop_map(toml::Value::Boolean),
        ];
        let tree = leaf.prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(toml::Value::Array),
                prop::collection::btree_map(key().prop_map(str::to_owned), inner, 0..4)
                    .prop_map(|table| toml::Value::Table(table.into_iter().collect())),
            ]
        });
        prop::collection::btree_map(key().prop_map(str::to_owned), tree, 0..10)
            .prop_map(|table| table.into_iter().collect::<toml::Table>().to_string())
    }

    #[test]
    fn kept_files_are_accepted_or_named() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/audits");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            accepted_or_named(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }

    proptest! {
        #![proptest_config(cases(1024, "tests/regressions/audit_files.txt"))]

        #[test]
        fn any_text_is_accepted_or_named(text in "\\PC{0,200}|[a-z\\[\\]{}=\"',.#\n 0-9-]{0,200}") {
            accepted_or_named(&text)?;
        }

        #[test]
        fn any_toml_with_known_keys_is_accepted_or_named(text in keyed()) {
            accepted_or_named(&text)?;
        }

        #[test]
        fn changed_files_are_accepted_or_named(file in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..5)) {
            let text = changes.iter().fold(file.get(&FILES).clone(), |text, change| change.apply(&text));
            accepted_or_named(&text)?;
        }
    }
}

mod rules {
    use dp_audit::attack::{Attack, Explorer, GuessRule, Plan};
    use dp_audit::cell::{Cell, Rows};
    use dp_audit::error::TargetError;
    use dp_audit::mechanism::{Side, Target};
    use dp_audit::noise::Generator;
    use dp_audit::sample::{PairStream, Phase, Sampler, StreamSeed};
    use dp_audit::spec::{Claim, Delta, Epsilon};
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Puts out cells of a palette; D prefers its beginning, D' its end.
    #[derive(Clone, Debug)]
    struct Palette {
        width: usize,
        cells: Vec<Cell>,
        /// Adds noise to the numbers, so that no two are alike.
        noisy: bool,
    }

    impl Palette {
        fn rows(&self, side: Side, count: usize, rng: &mut Generator) -> Rows {
            let mut rows = Rows::new(self.width);
            rows.resize(count);
            for cell in rows.iter_mut().flatten() {
                let (a, b) = (rng.random_range(0..self.cells.len()), rng.random_range(0..self.cells.len()));
                let chosen = self.cells[if side == Side::Left { a.min(b) } else { a.max(b) }];
                *cell = match chosen.as_number() {
                    Some(number) if self.noisy => Cell::number(number + rng.random::<f64>()),
                    _ => chosen,
                };
            }
            rows
        }
    }

    impl Target for Palette {
        fn open(&self) -> Result<usize, TargetError> {
            Ok(self.width)
        }

        fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
            sink(&self.rows(side, count, &mut Generator::from_seed(seed.bytes())));
            Ok(())
        }
    }

    fn cell() -> impl Strategy<Value = Cell> {
        prop_oneof![
            any::<f64>().prop_map(Cell::number),
            (-3..3_i32).prop_map(|number| Cell::number(f64::from(number))),
            prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN, 5e-324, -0.0]).prop_map(Cell::number),
            "[a-c⊥]{0,3}".prop_map(|name| Cell::symbol(&name)),
        ]
    }

    fn palette() -> impl Strategy<Value = Palette> {
        (1..4_usize, prop::collection::vec(cell(), 1..12), any::<bool>()).prop_map(|(width, cells, noisy)| Palette { width, cells, noisy })
    }

    proptest! {
        #![proptest_config(cases(96, "tests/regressions/rules.txt"))]

        #[test]
        fn a_rule_answers_every_row_once_and_survives_being_written(palette in palette(), seed in any::<u64>()) {
            let claim = Claim { epsilon: Epsilon::try_from(0.5).unwrap(), delta: Delta::default() };
            let mut explorer = Explorer::new(palette.width, &Attack::DEFAULT, claim, Plan { explore: 1000, certify: 7000, alpha: 0.05 });
            let mut sampler = Sampler::open(&palette, PairStream::new(seed, "palette", ""), Phase::Explore, &|_| ()).unwrap();
            explorer.absorb(&mut sampler, 1000, &[]).unwrap();
            let rows = palette.rows(Side::Left, 500, &mut Generator::seed_from_u64(seed));
            for learned in explorer.learn() {
                let answers = learned.rule.answers(&rows);
                prop_assert_eq!(answers.left + answers.right + answers.abstained, 500);
                prop_assert!(learned.rule.regions() > 0 || answers.abstained == 500);
                prop_assert!(learned.forecast.correct >= 0.0 && learned.forecast.wrong >= 0.0);
                prop_assert!(learned.forecast.correct + learned.forecast.wrong <= 1.0 + 1e-12);
                let written = serde_json::to_string(&learned.rule).unwrap();
                let read: GuessRule = serde_json::from_str(&written).map_err(|error| TestCaseError::fail(format!("{error}: {written}")))?;
                prop_assert_eq!(read.answers(&rows), answers);
                prop_assert_eq!(&read, &learned.rule);
                prop_assert_eq!(read.to_string(), learned.rule.to_string());
            }
        }
    }
}
