//! A refutation that anybody can check: the frozen rule, what it was judged on, and what it counted.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::attack::GuessRule;
use crate::cell::Mix;
use crate::error::TargetError;
use crate::evidence::Bounds;
use crate::mechanism::{Side, Target};
use crate::run::check_draws;
use crate::sample::{PairStream, Phase, Tally};
use crate::spec::{Audit, Claim, Confidence, Pair};

/// The name and version of the file format.
const SCHEMA: &str = "dp-audit-witness/1";

/// Outputs of each side that identify a mechanism.
const IDENTIFYING: usize = 512;

/// What refuted a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// The version of dp-audit that wrote it.
    pub version: String,
    /// The audit's name.
    pub audit: String,
    /// Its file.
    pub file: PathBuf,
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
}

/// What the refuting part of a run knows, besides the audit itself.
pub struct Found<'a> {
    /// The run's seed.
    pub seed: u64,
    /// The run's confidence.
    pub confidence: Confidence,
    /// The draws of the pair.
    pub draws: u64,
    /// How the rule did.
    pub tally: Tally,
    /// The bounds.
    pub bounds: Bounds,
    /// The rule.
    pub rule: &'a GuessRule,
}

impl Witness {
    /// The witness of a refutation.
    #[must_use]
    pub fn new(audit: &Audit, pair: &Pair, found: &Found) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            audit: audit.name.clone(),
            file: audit.file.clone(),
            pair: pair.name.clone(),
            claim: audit.claim,
            fingerprint: fingerprint(audit, pair),
            behaviour: if pair.target.reproducible() { behaviour(pair.target.as_ref()).ok() } else { None },
            seed: found.seed,
            confidence: found.confidence,
            draws: found.draws,
            tally: found.tally,
            epsilon_lower: found.bounds.epsilon_lower,
            delta_lower: found.bounds.delta_lower,
            rule: found.rule.clone(),
        }
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
    pub fn check(&self, audit: &Audit, pair: &Pair) -> Result<(), String> {
        let version = env!("CARGO_PKG_VERSION");
        if self.version != version {
            return Err(format!("was written by dp-audit {}, this is {version}", self.version));
        }
        if self.fingerprint != fingerprint(audit, pair) {
            return Err(format!(
                "is about another audit than {} is now: mechanism, command, parameters, claim, relation or data have changed",
                audit.file.display()
            ));
        }
        if self.claim != audit.claim {
            return Err(format!("is about the claim {}, and {} claims {}", self.claim, audit.file.display(), audit.claim));
        }
        let not_run = |error| format!("cannot be checked, the mechanism could not be run: {error}");
        let width = pair.target.open().map_err(not_run)?;
        self.rule.check(width).map_err(|problem| format!("has no rule for these outputs: {problem}"))?;
        let Some(then) = &self.behaviour else { return Ok(()) };
        let now = behaviour(pair.target.as_ref()).map_err(not_run)?;
        if *then == now { Ok(()) } else { Err("is about another version of the mechanism: its outputs have changed".to_owned()) }
    }

    /// A name for its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
        let words: String = self.audit.chars().map(plain).collect();
        let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
        // Names are unique in a run, their readable parts need not be.
        format!("{}-{}.json", words.join("-").to_lowercase(), &self.fingerprint[..8])
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
    hash(&[&witness.to_string()])
}

/// What was audited.
pub(crate) fn fingerprint(audit: &Audit, pair: &Pair) -> String {
    let data = |data: &crate::spec::Dataset| format!("{:?}", data.records());
    let relation = format!("{:?}", audit.relation);
    hash(&[
        &audit.name,
        &audit.mechanism,
        &audit.command.as_ref().map_or_else(String::new, ToString::to_string),
        &audit.params.to_string(),
        &audit.claim.to_string(),
        &relation,
        &pair.name,
        &data(&pair.left),
        &data(&pair.right),
    ])
}

/// The first outputs on a stream that no audit uses. Numbers are rounded, so that another platform's logarithm makes no other mechanism.
fn behaviour(target: &dyn Target) -> Result<String, TargetError> {
    let stream = PairStream::new(0, "", "");
    let mut outputs = String::new();
    for side in [Side::Left, Side::Right] {
        target.draw(side, IDENTIFYING, stream.side(Phase::Replay, 0, side), &mut |rows| {
            for cell in rows.cells() {
                #[allow(clippy::cast_possible_truncation)] // that is what it is for
                match cell.as_number() {
                    Some(number) => outputs.push_str(&(number as f32).to_string()),
                    None => outputs.push_str(&cell.to_string()),
                }
                outputs.push(' ');
            }
        })?;
    }
    Ok(hash(&[&outputs]))
}

/// 128 bits in hexadecimal.
pub(crate) fn hash(parts: &[&str]) -> String {
    let half = |salt| parts.iter().fold(Mix::new().word(salt), |mix, part| mix.text(part)).end();
    format!("{:016x}{:016x}", half(3), half(4))
}
