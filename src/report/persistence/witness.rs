//! A witness: a refutation that anybody can check. It contains the frozen rule, what was audited,
//! and the counts.

use serde::{Deserialize, Serialize};

use crate::attack::GuessRule;
use crate::audit::{Audit, AuditReport, Pair, behaviour};
use crate::model::{Claim, Confidence, Settings, Tally, Verdict, check_draws};
use crate::output::{Symbols, fingerprint};
use crate::target::{Subject, Target};

/// The name and version of the file format.
const SCHEMA: &str = "dp-audit-witness/2";

/// The maximum number of characters in the readable part of a file name: 240 bytes at most, and
/// file systems allow 255 for a name.
const MAX_NAME_CHARS: usize = 60;

/// What refuted a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// The version of dp-audit that wrote it.
    pub version: String,
    /// The audit's name.
    pub audit: String,
    /// Its file.
    pub file: String,
    /// The pair's name.
    pub pair: String,
    /// What was claimed.
    pub claim: Claim,
    /// A hash of what was audited, see [`identity`].
    pub fingerprint: String,
    /// A hash of the mechanism's first outputs on a fixed stream. Different code has a different
    /// hash. Absent for a program that does not follow seeds.
    pub behaviour: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// The run's confidence, for all of its bounds together.
    pub confidence: Confidence,
    /// All draws of the pair, including exploration.
    pub draws: u64,
    /// The counts of the rule on the draws it was judged on.
    pub tally: Tally,
    /// The mechanism's ε at the claimed δ is at least this.
    pub epsilon_lower: f64,
    /// Its δ at the claimed ε is at least this.
    pub delta_lower: f64,
    /// The rule.
    pub rule: GuessRule,
    /// The names of the symbols that it uses.
    pub symbols: Symbols,
}

impl Witness {
    /// The witness of an audit's most significant pair, if this pair refutes the claim. `None` for
    /// an audit without a file, because a replay could not find it again.
    #[must_use]
    pub fn of(settings: Settings, report: &AuditReport) -> Option<Self> {
        if report.audit.is_from_file() { Self::of_given(settings, report) } else { None }
    }

    /// The same for an audit that only the caller can find again: of a function, or of recorded
    /// outputs.
    #[must_use]
    pub fn of_given(settings: Settings, report: &AuditReport) -> Option<Self> {
        let audit = &report.audit;
        let judged = report.most_significant()?;
        let evidence = judged.evidence()?.privacy()?;
        let pair = audit.pairs.iter().find(|pair| pair.name == judged.name())?;
        // Groups of outputs have no single rule that could be judged again.
        let refuted = judged.verdict() == Some(Verdict::Violated) && !evidence.by_groups;
        let rule = evidence.rule.clone().filter(|_| refuted)?;
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            audit: audit.name.clone(),
            file: audit.file.to_string_lossy().into_owned(),
            pair: pair.name.clone(),
            claim: audit.claim.clone(),
            fingerprint: identity(audit, pair),
            behaviour: evidence.behaviour.clone(),
            seed: settings.seed,
            confidence: settings.confidence,
            draws: evidence.draws,
            tally: evidence.tally,
            epsilon_lower: evidence.bounds.epsilon_lower,
            delta_lower: evidence.bounds.delta_lower,
            rule,
            symbols: evidence.symbols.clone(),
        })
    }

    /// The content of the file: the witness and its checksum. The checksum detects changes. It is
    /// not a signature and does not have to be one, because a replay judges the claim by its own
    /// draws.
    #[must_use]
    pub fn sealed(&self) -> serde_json::Value {
        let witness = serde_json::to_value(self).unwrap_or_default();
        let checksum = checksum(&witness);
        serde_json::json!({ "schema": SCHEMA, "checksum": checksum, "witness": witness })
    }

    /// Parses the content of a file.
    ///
    /// # Errors
    /// When it is not a witness, or was changed after it was written.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let file: WitnessFile =
            serde_json::from_str(text).map_err(|error| format!("is no witness: {error}"))?;
        if file.schema != SCHEMA {
            return Err(format!("has the schema \"{}\", must be \"{SCHEMA}\"", file.schema));
        }
        let checksum = checksum(&file.witness);
        if checksum != file.checksum {
            return Err(format!(
                "was changed after it was written: its checksum is {checksum}, must be {}",
                file.checksum
            ));
        }
        let witness: Self = serde_json::from_value(file.witness)
            .map_err(|error| format!("is no witness: {error}"))?;
        check_draws(witness.draws).map_err(|problem| format!("is no witness: draws {problem}"))?;
        Ok(witness)
    }

    /// Checks that the audit is still the one that the witness was written for.
    ///
    /// # Errors
    /// When it is not. The error says what has changed.
    pub fn check(&self, audit: &Audit, pair: &Pair, target: &dyn Target) -> Result<(), String> {
        let version = env!("CARGO_PKG_VERSION");
        if self.version != version {
            return Err(format!(
                "was written by dp-audit {}, and this is dp-audit {version}",
                self.version
            ));
        }
        if self.fingerprint != identity(audit, pair) {
            return Err(format!(
                "is about another audit: in {}, the name, mechanism, command, parameters, claim, relation or data have changed",
                audit.file.display()
            ));
        }
        if self.claim != audit.claim {
            return Err(format!(
                "is about the claim {}, but {} claims {}",
                self.claim,
                audit.file.display(),
                audit.claim
            ));
        }
        let not_run =
            |error| format!("cannot be checked, because the mechanism could not be run: {error}");
        let width = target.open().map_err(not_run)?;
        self.rule
            .check(width)
            .map_err(|problem| format!("has no rule for these outputs: {problem}"))?;
        let Some(earlier) = &self.behaviour else { return Ok(()) };
        let now = behaviour(target).map_err(not_run)?;
        if *earlier == now {
            Ok(())
        } else {
            Err("is about another version of the mechanism: its outputs have changed".to_owned())
        }
    }

    /// The name of its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        let words = file_words(&self.audit);
        // The hash is needed because different names can have the same readable part.
        format!("{words}-{}.json", &self.fingerprint[..8])
    }
}

/// The readable part of a file name: the beginning of a text, in small letters and without special
/// characters.
#[must_use]
pub fn file_words(text: &str) -> String {
    let replaced = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    let words: String = text.chars().map(replaced).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase().chars().take(MAX_NAME_CHARS).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WitnessFile {
    schema: String,
    checksum: String,
    witness: serde_json::Value,
}

fn checksum(witness: &serde_json::Value) -> String {
    fingerprint(&[&witness.to_string()])
}

/// A hash of what was audited: the names of audit and pair, mechanism, command line, parameters,
/// claim, relation, both datasets.
#[must_use]
pub fn identity(audit: &Audit, pair: &Pair) -> String {
    let subject = match &audit.subject {
        // The same program in another folder is the same program.
        Subject::Program { command, params } => format!("{command} {params:?}"),
        other => format!("{other:?}"),
    };
    fingerprint(&[
        &audit.name,
        &subject,
        &audit.claim.to_string(),
        &format!("{:?}", audit.relation),
        &pair.name,
        &format!("{:?}", pair.left.records()),
        &format!("{:?}", pair.right.records()),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::attack::Attack;
    use crate::model::{Dataset, Expectation, MAX_DRAWS, Params, Relation, Side};
    use crate::output::Rows;
    use crate::report::testing::{Ran, audit, pair, report_of, run};
    use crate::target::process::CommandLine;
    use crate::target::{StreamSeed, TargetError};

    /// The report of an audit with this name that refutes its claim.
    fn refuted(name: &str) -> AuditReport {
        report_of(audit(name), vec![pair(Verdict::Violated, Expectation::Violated)], vec![])
    }

    fn witness(name: &str) -> Witness {
        Witness::of(Settings::default(), &refuted(name)).expect("a refuted claim")
    }

    /// The readable part of the file name of a witness, which ends with eight characters of the
    /// fingerprint.
    fn readable(name: &str) -> String {
        let witness = witness(name);
        let end = format!("-{}.json", &witness.fingerprint[..8]);
        witness
            .file_name()
            .strip_suffix(&end)
            .unwrap_or_else(|| panic!("{}", witness.file_name()))
            .to_owned()
    }

    #[test]
    fn file_names_have_only_letters_digits_dots_and_hyphens() {
        assert_eq!(readable("count"), "count");
        assert_eq!(readable("Laplace count, noise 10 % short"), "laplace-count-noise-10-short");
        assert_eq!(readable("  ε = 0.5 / δ: \"x\" "), "ε-0.5-δ-x");
        assert_eq!(readable("../../etc/passwd"), "..-..-etc-passwd");
        assert_eq!(readable("C:\\results\n\u{1b}[31m"), "c-results-31m");
        assert_eq!(readable("*/?"), "");
    }

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let long = "x".repeat(300);
        assert_eq!(readable(&long), "x".repeat(MAX_NAME_CHARS));
        assert_eq!(readable(&"ä".repeat(300)), "ä".repeat(MAX_NAME_CHARS), "characters, not bytes");
        assert_ne!(witness(&long).file_name(), witness(&format!("{long}x")).file_name());
    }

    #[test]
    fn only_refuted_claims_with_a_rule_and_a_file_have_a_witness() {
        let violated = || pair(Verdict::Violated, Expectation::Violated);
        let of = |audit: Audit, ran: Vec<Ran>| {
            Witness::of(Settings::default(), &report_of(audit, ran, vec![]))
        };
        assert!(of(audit("count"), vec![violated()]).is_some());
        let consistent = pair(Verdict::Consistent, Expectation::Consistent);
        assert_eq!(of(audit("count"), vec![consistent]), None);
        let ruleless = violated().with(|evidence| evidence.rule = None);
        assert_eq!(of(audit("count"), vec![ruleless]), None);
        let elsewhere = Audit { file: std::path::PathBuf::new(), ..audit("count") };
        assert_eq!(of(elsewhere, vec![violated()]), None);
        assert_eq!(of(audit("count"), vec![]), None);
    }

    #[test]
    fn a_witness_is_read_as_it_was_written() {
        let witness = witness("count");
        assert_eq!(Witness::from_json(&witness.sealed().to_string()), Ok(witness));
    }

    #[test]
    fn a_changed_file_is_rejected() {
        let rejected = |pointer: &str, value: Value| {
            let mut file = witness("count").sealed();
            *file.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
            Witness::from_json(&file.to_string()).unwrap_err()
        };
        let cases = [
            ("/witness/tally/correct", json!(81)),
            ("/witness/claim/epsilon", json!(0.5)),
            ("/witness/rule/answers/0", json!("right")),
            ("/witness/audit", json!("another")),
            ("/checksum", json!("0")),
        ];
        for (pointer, value) in cases {
            assert!(
                rejected(pointer, value).starts_with("was changed after it was written"),
                "{pointer}"
            );
        }
        assert_eq!(
            rejected("/schema", json!("dp-audit-witness/1")),
            format!("has the schema \"dp-audit-witness/1\", must be \"{SCHEMA}\"")
        );
        for text in ["", "[]", "{}", "{\"schema\": 1}"] {
            assert!(Witness::from_json(text).unwrap_err().starts_with("is no witness"), "{text}");
        }
    }

    #[test]
    fn an_impossible_number_of_draws_is_rejected_in_spite_of_a_correct_checksum() {
        for (draws, valid) in [(0, false), (1, true), (MAX_DRAWS, true), (MAX_DRAWS + 1, false)] {
            let witness = Witness { draws, ..witness("count") };
            assert_eq!(Witness::from_json(&witness.sealed().to_string()).is_ok(), valid, "{draws}");
        }
    }

    /// The audit `count` of a program whose audit file is in this folder.
    fn program(folder: &str) -> Audit {
        let command = CommandLine::new(
            vec!["sh".to_owned(), "worker.sh".to_owned()],
            &std::path::Path::new(folder).join("a.toml"),
            None,
            None,
        );
        Audit {
            subject: Subject::Program { command: command.unwrap(), params: Params::new() },
            ..audit("count")
        }
    }

    fn laplace(epsilon: f64) -> Subject {
        let params = Params::from_iter([("epsilon".to_owned(), epsilon.into())]);
        Subject::Registered { mechanism: "laplace".to_owned(), params }
    }

    #[test]
    fn the_identity_depends_on_each_part_of_what_was_audited() {
        let changes: [fn(&mut Audit); 12] = [
            |_| (),
            |audit| audit.name = "count 2".to_owned(),
            |audit| audit.subject = laplace(1.0),
            |audit| audit.subject = laplace(2.0),
            |audit| audit.subject = program("/a").subject,
            |audit| audit.claim = Claim::new(2.0, 0.0).unwrap(),
            |audit| audit.claim = Claim::new(1.0, 0.1).unwrap(),
            |audit| audit.relation = Relation::AddRemove,
            |audit| audit.pairs[0].name = "one less".to_owned(),
            |audit| audit.pairs[0].left = Dataset::of_numbers(&[2.0]),
            |audit| audit.pairs[0].right = Dataset::of_numbers(&[1.0, 2.0]),
            |audit| {
                let pair = &mut audit.pairs[0];
                std::mem::swap(&mut pair.left, &mut pair.right);
            },
        ];
        let identities: std::collections::HashSet<String> = changes
            .iter()
            .map(|change| {
                let mut audit = audit("count");
                change(&mut audit);
                identity(&audit, &audit.pairs[0])
            })
            .collect();
        assert_eq!(identities.len(), changes.len());
    }

    #[test]
    fn the_identity_does_not_depend_on_how_it_was_audited() {
        let original = audit("count");
        let changed = Audit {
            file: "elsewhere.toml".into(),
            expect: Expectation::Violated,
            source: Some("a paper".to_owned()),
            draws: Some(1),
            resolution: 9.0,
            attacks: vec![Attack::Coordinates],
            ..original.clone()
        };
        assert_eq!(identity(&changed, &changed.pairs[0]), identity(&original, &original.pairs[0]));
        let [here, there] =
            ["/a", "/b"].map(|folder| identity(&program(folder), &audit("count").pairs[0]));
        assert_eq!(here, there, "the same program in another folder");
    }

    /// A target that cannot be run.
    struct Unavailable;

    impl Target for Unavailable {
        fn open(&self) -> Result<usize, TargetError> {
            Err(TargetError::AlwaysPanics { message: "no".to_owned() })
        }

        fn draw(
            &self,
            _: Side,
            _: usize,
            _: StreamSeed,
            _: &mut dyn FnMut(&Rows),
        ) -> Result<(), TargetError> {
            unreachable!("it cannot be opened")
        }
    }

    #[test]
    fn a_witness_of_another_version_audit_or_claim_does_not_fit() {
        let (original, run) =
            (audit("count"), run(vec![pair(Verdict::Violated, Expectation::Violated)]));
        let witness = Witness::of(run.settings, &run.audits[0]).unwrap();
        let problem = |witness: &Witness, audit: &Audit| {
            witness.check(audit, &audit.pairs[0], &Unavailable).unwrap_err()
        };
        let older = Witness { version: "0.0.9".to_owned(), ..witness.clone() };
        assert!(problem(&older, &original).starts_with("was written by dp-audit 0.0.9"));
        let mut changed = original.clone();
        changed.pairs[0].left = Dataset::of_numbers(&[2.0]);
        assert!(problem(&witness, &changed).starts_with("is about another audit"));
        // A forged witness: another claim under the same fingerprint.
        let mut forged = witness.clone();
        forged.claim = Claim::new(0.5, 0.0).unwrap();
        assert_eq!(
            problem(&forged, &original),
            "is about the claim ε = 0.5, but audits/count.toml claims ε = 1"
        );
        assert!(
            problem(&witness, &original)
                .starts_with("cannot be checked, because the mechanism could not be run")
        );
    }
}
