//! A refutation that anybody can check: the frozen rule, what it was judged on, and what it counted.

use serde::{Deserialize, Serialize};

use crate::attack::GuessRule;
use crate::audit::{Audit, AuditReport, Pair, behaviour};
use crate::model::{Claim, Confidence, Settings, Tally, Verdict, check_draws};
use crate::output::{Symbols, fingerprint};
use crate::target::{Subject, Target};

/// The name and version of the file format.
const SCHEMA: &str = "dp-audit-witness/2";

/// The longest readable part of a file name.
const MAX_WORDS: usize = 80;

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
    /// A hash of what was audited: mechanism, command line, parameters, claim, relation, both datasets.
    pub fingerprint: String,
    /// A hash of the mechanism's first outputs on a fixed stream: other code gives others. Absent for a program that does not follow seeds.
    pub behaviour: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// The run's confidence, for all of its bounds together.
    pub confidence: Confidence,
    /// The draws of the pair, exploration included.
    pub draws: u64,
    /// How the rule did on the draws it was judged on.
    pub tally: Tally,
    /// The mechanism's ε at the claimed δ is at least this.
    pub epsilon_lower: f64,
    /// Its δ at the claimed ε is at least this.
    pub delta_lower: f64,
    /// The rule.
    pub rule: GuessRule,
    /// The names of the symbols that it speaks of.
    pub symbols: Symbols,
}

impl Witness {
    /// The witness of an audit's most significant pair, if it refutes the claim. Without a file there is nothing to find the audit by.
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

    /// As a file: the witness and a checksum of it. The checksum reveals changes; it is no signature, and needs to be none, for a replay judges by draws of its own.
    #[must_use]
    pub fn sealed(&self) -> serde_json::Value {
        let witness = serde_json::to_value(self).unwrap_or_default();
        let checksum = checksum(&witness);
        serde_json::json!({ "schema": SCHEMA, "checksum": checksum, "witness": witness })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Why it is no witness, or no longer the one that was written.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let sealed: Sealed = serde_json::from_str(text).map_err(|error| format!("is no witness: {error}"))?;
        if sealed.schema != SCHEMA {
            return Err(format!("has schema \"{}\", this version reads \"{SCHEMA}\"", sealed.schema));
        }
        let found = checksum(&sealed.witness);
        if found != sealed.checksum {
            return Err(format!("was changed after it was written: its checksum is {found} and should be {}", sealed.checksum));
        }
        let witness: Self = serde_json::from_value(sealed.witness).map_err(|error| format!("is no witness: {error}"))?;
        check_draws(witness.draws).map_err(|problem| format!("is no witness: draws {problem}"))?;
        Ok(witness)
    }

    /// Checks that the audit is still what the witness was written for.
    ///
    /// # Errors
    /// What has changed.
    pub fn check(&self, audit: &Audit, pair: &Pair, target: &dyn Target) -> Result<(), String> {
        let version = env!("CARGO_PKG_VERSION");
        if self.version != version {
            return Err(format!("was written by dp-audit {}, this is {version}", self.version));
        }
        if self.fingerprint != identity(audit, pair) {
            return Err(format!(
                "is about another audit than {} is now: mechanism, command, parameters, claim, relation or data have changed",
                audit.file.display()
            ));
        }
        if self.claim != audit.claim {
            return Err(format!("is about the claim {}, and {} claims {}", self.claim, audit.file.display(), audit.claim));
        }
        let not_run = |error| format!("cannot be checked, the mechanism could not be run: {error}");
        let width = target.open().map_err(not_run)?;
        self.rule.check(width).map_err(|problem| format!("has no rule for these outputs: {problem}"))?;
        let Some(then) = &self.behaviour else { return Ok(()) };
        let now = behaviour(target).map_err(not_run)?;
        if *then == now { Ok(()) } else { Err("is about another version of the mechanism: its outputs have changed".to_owned()) }
    }

    /// A name for its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
        let words: String = self.audit.chars().map(plain).collect();
        let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
        let words: String = words.join("-").to_lowercase().chars().take(MAX_WORDS).collect();
        // Names are unique in a run, their readable parts need not be.
        format!("{words}-{}.json", &self.fingerprint[..8])
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    schema: String,
    checksum: String,
    witness: serde_json::Value,
}

fn checksum(witness: &serde_json::Value) -> String {
    fingerprint(&[&witness.to_string()])
}

/// A hash of what was audited: name, mechanism, command line, parameters, claim, relation, both datasets.
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
