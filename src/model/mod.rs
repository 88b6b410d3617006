//! Data types that all other modules use: claims, datasets, tallies, verdicts, settings.

mod accuracy;
mod bounds;
pub mod checked;
pub mod claim;
mod dataset;
mod domain;
mod error;
pub mod exact;
pub mod file;
pub mod number;
mod reach;
mod relation;
mod settings;
mod side;
mod tally;
pub mod text;
#[cfg(feature = "cli")]
pub(crate) mod toml_place;
mod truth;
mod verdict;
mod whole;

pub use accuracy::{AccuracyClaim, FailureLimits};
pub use bounds::{Bounds, RuleEstimate};
pub use checked::{Confidence, Delta};
pub use claim::{Claim, Limit, Measure, Metric};
pub use dataset::{Dataset, Record};
pub use domain::{Domain, Kind, Nasty, RecordDomain, SearchRequest};
pub use error::{Error, FileProblem};
pub use reach::AskedReach;
pub use relation::Relation;
pub use settings::{DEFAULT_DRAWS, MAX_DRAWS, MAX_THREADS, Settings, Until, check_draws};
pub use side::Side;
pub use tally::Tally;
pub use truth::Truth;
pub use verdict::{Agreement, Conclusion, ControlResult, Expectation, Grounds, Reason, Verdict};
pub use whole::Whole;

/// The parameters of a mechanism, as an audit gives them.
pub type Params = serde_json::Map<String, serde_json::Value>;
