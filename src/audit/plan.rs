//! What to audit: plain data that is complete and can be sent to another process.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Accuracy, Canaries, EarlierRuns};
use crate::attack::Attack;
use crate::model::checked::Positive;
use crate::model::number::Brief;
use crate::model::{
    AskedReach, Claim, DEFAULT_DRAWS, Dataset, Expectation, Limit, Params, Relation, SearchRequest,
    Settings, Truth, Until,
};
use crate::output::TextView;
use crate::stats::Level;
use crate::target::Subject;

/// An audit: one mechanism, one claim, one or more pairs of neighbours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The name, unique in a run; random streams are derived from it.
    pub name: String,
    /// The file it came from; empty if there is none.
    #[serde(with = "file")]
    pub file: PathBuf,
    /// Whether its file has other audits too.
    #[serde(default)]
    pub one_of_several: bool,
    /// What makes the outputs.
    pub subject: Subject,
    /// What is claimed.
    pub claim: Claim,
    /// The neighbour relation of the claim.
    pub relation: Relation,
    /// The expected verdict.
    pub expect: Expectation,
    /// Where the mechanism and its claim come from.
    pub source: Option<String>,
    /// Draws per pair, if the file sets them.
    pub draws: Option<u64>,
    /// Seconds per pair, if the file limits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<Positive>,
    /// The smallest excess of ε over the claim that the audit should be able to detect.
    pub resolution: f64,
    /// How much of the claim the attack must be seen to reach on the best pair.
    #[serde(default)]
    pub reach: AskedReach,
    /// Why it may be inconclusive without failing a run; absent if it must not be.
    #[serde(default)]
    pub allow_inconclusive: Option<String>,
    /// The columns that need not be read, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ignore: BTreeMap<String, String>,
    /// What must be refuted, to show that the audit can see a leak.
    #[serde(default)]
    pub control: Option<Control>,
    /// The attacks to try.
    pub attacks: Vec<Attack>,
    /// The neighbours.
    pub pairs: Vec<Pair>,
    /// What is claimed about accuracy.
    #[serde(default)]
    pub accuracy: Vec<Accuracy>,
    /// Training with canaries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub canaries: Vec<Canaries>,
    /// Where a search may look for more pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRequest>,
    /// Shares of the run's α that are kept for pairs that a search finds, or would have found.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved: usize,
    /// What earlier runs found about pairs, by their names, in a run with evidence over many runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub earlier: BTreeMap<String, EarlierRuns>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks for it
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Something that leaks more than an audit claims: the mutation test of the audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// The same mechanism with these parameters in place of its own.
    Params(Params),
    /// Another audit of the run, which is expected to be violated.
    Audit(String),
}

/// Two neighbouring datasets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The name, unique in its audit.
    pub name: String,
    /// The dataset D.
    pub left: Dataset,
    /// Its neighbour D'.
    pub right: Dataset,
    /// The expected verdict on this pair, if it differs from the audit's.
    pub expect: Option<Expectation>,
    /// The exact leakage on this pair, if it is known from theory.
    pub truth: Truth,
}

/// How the outputs on a pair are made and judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairPlan {
    /// The audit's name.
    pub audit: String,
    /// The pair.
    pub pair: Pair,
    /// What makes the outputs.
    pub subject: Subject,
    /// What is claimed.
    pub claim: Claim,
    /// The smallest excess of ε over the claim that should be detected.
    pub resolution: f64,
    /// How much of the claim the attack must be seen to reach.
    pub reach: f64,
    /// The attacks to try.
    pub attacks: Vec<Attack>,
    /// The seed from which all random streams are derived.
    pub seed: u64,
    /// The total number of draws.
    pub draws: u64,
    /// The seconds that it may take. Then the number of draws depends on the speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<Positive>,
    /// When to stop.
    pub until: Until,
    /// The pair's share of the run's α.
    pub level: Level,
    /// What earlier runs found, in a run with evidence over many runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<EarlierRuns>,
    /// What is looked at in outputs that are texts.
    #[serde(default, skip_serializing_if = "TextView::is_everything")]
    pub view: TextView,
}

impl Audit {
    /// An audit without a file: named pairs under one claim, which is expected to hold. The caller
    /// creates the targets and is responsible for using neighbours.
    #[must_use]
    pub fn given(
        name: &str,
        kind: &str,
        claim: Claim,
        pairs: impl IntoIterator<Item = String>,
    ) -> Self {
        let pair = |name| Pair {
            name,
            left: Dataset::default(),
            right: Dataset::default(),
            expect: None,
            truth: Truth::default(),
        };
        Self {
            name: name.to_owned(),
            file: PathBuf::new(),
            one_of_several: false,
            subject: Subject::Given { kind: kind.to_owned() },
            resolution: claim.resolution(),
            claim,
            relation: Relation::Custom { reason: "as the caller says".to_owned() },
            expect: Expectation::Consistent,
            source: None,
            draws: None,
            max_seconds: None,
            reach: AskedReach::default(),
            allow_inconclusive: None,
            ignore: BTreeMap::new(),
            control: None,
            attacks: Attack::DEFAULT.to_vec(),
            pairs: pairs.into_iter().map(pair).collect(),
            accuracy: Vec::new(),
            canaries: Vec::new(),
            search: None,
            reserved: 0,
            earlier: BTreeMap::new(),
        }
    }

    /// Whether it comes from a file.
    #[must_use]
    pub fn is_from_file(&self) -> bool {
        !self.file.as_os_str().is_empty()
    }

    /// The draws that it may make for each of its pairs.
    #[must_use]
    pub fn budget(&self, settings: Settings) -> u64 {
        settings.draws.or(self.draws).unwrap_or(DEFAULT_DRAWS)
    }

    /// The leak that it should detect, in words.
    #[must_use]
    pub fn detectable(&self) -> String {
        let Limit { measure, value } = self.claim.main();
        format!("{} = {}", measure.symbol(), Brief(value + self.resolution))
    }

    /// The plan of one pair.
    #[must_use]
    pub fn plan(&self, pair: &Pair, settings: Settings, uncertain: usize) -> PairPlan {
        let level = Level::of_pair(settings.own_alpha(), uncertain).until(settings.until);
        PairPlan {
            audit: self.name.clone(),
            pair: pair.clone(),
            subject: self.subject.clone(),
            claim: self.claim.clone(),
            resolution: self.resolution,
            reach: self.reach.at_least(),
            attacks: self.attacks.clone(),
            seed: settings.seed,
            draws: self.budget(settings),
            max_seconds: settings.max_seconds.or(self.max_seconds),
            until: settings.until,
            level,
            earlier: self.earlier.get(&pair.name).cloned(),
            view: TextView::Everything,
        }
    }
}

/// Paths are written as text. In a path that is not Unicode, invalid parts are replaced.
mod file {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&path.to_string_lossy())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(PathBuf::from(String::deserialize(deserializer)?))
    }
}
