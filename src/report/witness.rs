//! A witness: a refutation that anybody can check. It contains the frozen rule, what was audited, and the counts.

use serde::{Deserialize, Serialize};

use crate::attack::GuessRule;
use crate::audit::{Audit, AuditReport, Pair, behaviour};
use crate::model::{Claim, Confidence, Settings, Tally, Verdict, check_draws};
use crate::output::{Symbols, fingerprint};
use crate::target::{Subject, Target};

/// The name and version of the file format.
const SCHEMA: &str = "dp-audit-witness/2";

/// The maximum number of characters in the readable part of a file name.
const MAX_NAME_CHARS: usize = 80;

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
    /// A hash of the mechanism's first outputs on a fixed stream. Different code has a different hash. Absent for a program that does not follow
    /// seeds.
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
    /// The witness of an audit's most significant pair, if this pair refutes the claim. `None` for an audit without a file, because a replay could
    /// not find it again.
    #[must_use]
    pub fn of(settings: Settings, report: &AuditReport) -> Option<Self> {
        let audit = &report.audit;
        let (result, evidence) = report.most_significant()?;
        let pair = audit.pairs.iter().find(|pair| pair.name == result.pair)?;
        let rule = evidence.rule.clone().filter(|_| evidence.verdict == Verdict::Violated && audit.is_from_file())?;
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            audit: audit.name.clone(),
            file: audit.file.to_string_lossy().into_owned(),
            pair: pair.name.clone(),
            claim: audit.claim,
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

    /// The content of the file: the witness and its checksum. The checksum detects changes. It is not a signature and does not have to be one,
    /// because a replay judges the claim by its own draws.
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
        let file: WitnessFile = serde_json::from_str(text).map_err(|error| format!("is no witness: {error}"))?;
        if file.schema != SCHEMA {
            return Err(format!("has the schema \"{}\", must be \"{SCHEMA}\"", file.schema));
        }
        let checksum = checksum(&file.witness);
        if checksum != file.checksum {
            return Err(format!("was changed after it was written: its checksum is {checksum}, must be {}", file.checksum));
        }
        let witness: Self = serde_json::from_value(file.witness).map_err(|error| format!("is no witness: {error}"))?;
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
            return Err(format!("was written by dp-audit {}, and this is dp-audit {version}", self.version));
        }
        if self.fingerprint != identity(audit, pair) {
            return Err(format!(
                "is about another audit: in {}, the name, mechanism, command, parameters, claim, relation or data have changed",
                audit.file.display()
            ));
        }
        if self.claim != audit.claim {
            return Err(format!("is about the claim {}, but {} claims {}", self.claim, audit.file.display(), audit.claim));
        }
        let not_run = |error| format!("cannot be checked, because the mechanism could not be run: {error}");
        let width = target.open().map_err(not_run)?;
        self.rule.check(width).map_err(|problem| format!("has no rule for these outputs: {problem}"))?;
        let Some(earlier) = &self.behaviour else { return Ok(()) };
        let now = behaviour(target).map_err(not_run)?;
        if *earlier == now { Ok(()) } else { Err("is about another version of the mechanism: its outputs have changed".to_owned()) }
    }

    /// The name of its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        let replaced = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
        let words: String = self.audit.chars().map(replaced).collect();
        let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
        let words: String = words.join("-").to_lowercase().chars().take(MAX_NAME_CHARS).collect();
        // The hash is needed because different names can have the same readable part.
        format!("{words}-{}.json", &self.fingerprint[..8])
    }
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

/// A hash of what was audited: the names of audit and pair, mechanism, command line, parameters, claim, relation, both datasets.
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
