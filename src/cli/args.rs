//! Defines the command line. The doc comments of commands and options are their help texts.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;

use crate::attack::Attack;
use crate::audit::{Audit, Statement};
use crate::audit::{CanaryCount, CanaryCounts};
use crate::calibrate::{self, Repetition};
use crate::model::checked::{NonNegative, Positive, Share};
use crate::model::claim::Spelling;
use crate::model::{
    AskedReach, Claim, Confidence, Delta, Error, MAX_DRAWS, MAX_THREADS, Settings, Until,
};
use crate::report::ci::code_quality::CodeQuality;
use crate::report::ci::origin::Origin;
use crate::report::formats::html::Html;
use crate::report::formats::json::{Json, JsonReport};
use crate::report::formats::junit::JUnit;
use crate::report::formats::markdown::Markdown;
use crate::report::formats::plots::Plots;
use crate::report::gate::baseline::FailOnChange;
use crate::report::gate::problem::{DEFAULT_WITNESSES, ProblemFinder};
use crate::report::gate::{FailOn, Gate};
use crate::report::persistence::evidence_file::EvidenceOptions;
use crate::report::persistence::files::{Format, ReportFiles};
use crate::report::persistence::journal::Start;
use crate::report::persistence::shard::ShardChoice;
use crate::report::persistence::shard_file::Selection;
use crate::report::persistence::store::{Destination, OutputPath};
use crate::stats::canary::Sides;
use crate::suite;
use crate::target::recorded::{HeaderRow, RowOrder, Separator};

/// Does a differentially private mechanism leak more than it claims?
#[derive(Parser)]
#[command(version, about, after_help = EXIT_CODES, max_term_width = HELP_WIDTH)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

// The groups of options in the help texts.
const WHAT: &str = "What";
const HOW_MUCH: &str = "How much";
const REPORTS: &str = "Reports";
const GATES: &str = "What fails the run";
const SHARDS: &str = "Shards";

/// The widest lines of help texts.
const HELP_WIDTH: usize = 100;

/// The most worker threads, for the parser of options.
const MOST_THREADS: i64 = MAX_THREADS as i64;

/// Where audits are, unless something else is given.
pub const AUDITS: &str = "audits";

const EXIT_CODES: &str = "Exit codes: 0 every verdict is as expected, or a replay confirmed its witness; \
1 wrong usage, an invalid audit file or witness, an audit that starts a program with --no-programs, \
or a result file or standard output that cannot be written; \
2 a verdict is not as expected, something is worse than in the baseline, a claim is refuted with --fail-on violated, \
or a replay did not confirm its witness; 3 an audit is inconclusive; \
5 a mechanism could not be run; 70 internal error; 128 + N ended by signal N.";

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Run audits and compare the verdicts with the expected ones
    Run(RunArgs),
    /// Search for a pair of neighbours that refutes a claim
    ///
    /// What is found is made as small as possible. Exit code 0: none was found, or one was expected;
    /// 2: one was found.
    Search(SearchArgs),
    /// Audit outputs that were collected before: two CSV files, one for each dataset
    Samples(SamplesArgs),
    /// Measure how much is leaked, without a claim
    ///
    /// Lower bounds on ε at every δ, on μ and on ρ, which hold together; there is no verdict. Exit
    /// code 0, or 5: something could not be run.
    Measure(MeasureArgs),
    /// Audit a training run from the scores of canaries, or plan such an audit
    ///
    /// Each canary was in the training data by its own fair coin.
    Canaries(CanariesArgs),
    /// Show the audits, one audit in full or in plain words, or the mechanisms
    Show(ShowArgs),
    /// Make the reports of a finished run, in every format
    ///
    /// Nothing is drawn, and nothing is written but what is asked for. The exit code is that of the
    /// run with the same options; 5 if the run was interrupted.
    Report(FinishedArgs),
    /// Compare two runs: verdicts, bounds, what is new or gone, seconds
    ///
    /// A bound has changed if it moved by more than chance explains.
    Compare(CompareArgs),
    /// Merge the shards of a run
    ///
    /// All reports, gates and exit codes are those of a run on one machine.
    Merge(MergeArgs),
    /// Check a refuted claim with fresh draws
    ///
    /// Exit code 0: confirmed, 2: not confirmed, 1: the witness does not fit the audit.
    Replay(ReplayArgs),
    /// Measure the auditor itself: false alarms, or power
    ///
    /// False alarms for mechanisms that leak exactly as much as they claim, power against too little
    /// noise.
    Calibrate(CalibrateArgs),
    /// Write a first audit file with a [search] section, and a mechanism to replace by your own
    Init(InitArgs),
    /// Write the built-in audits and the Python worker to a folder
    Export(ExportArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(ManArgs),
}

impl Command {
    /// What to say if a signal ends the command.
    #[must_use]
    pub fn farewell(&self) -> Option<&'static str> {
        let resumable = matches!(
            self,
            Self::Run(args) if !args.smoke && !args.search && !args.output.shown.quiet
        );
        // The bar ends without a line break.
        resumable.then_some(
            "\nInterrupted. What has ended is kept: the same command with --resume continues.",
        )
    }
}

/// More canaries than this are rejected as a typo.
const MOST_CANARIES: u64 = 1_000_000_000;

/// Arguments of `init`.
#[derive(Args)]
pub struct InitArgs {
    /// The folder; existing files are not changed
    #[arg(default_value = ".")]
    pub folder: PathBuf,
    /// A mechanism in Rust (default: in Python)
    #[arg(long)]
    pub rust: bool,
}

/// Arguments of `export`.
#[derive(Args)]
pub struct ExportArgs {
    /// The folder; existing files are not changed
    #[arg(default_value = ".")]
    pub folder: PathBuf,
}

/// Arguments of `completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Args)]
pub struct ManArgs {
    /// Write dp-audit.1, dp-audit-run.1 and the other pages to this folder
    pub folder: Option<PathBuf>,
}

/// What has no meaning in a smoke test, which judges nothing and writes nothing.
const WITHOUT_SMOKE: [&str; 13] = [
    "csv",
    "html",
    "json",
    "junit",
    "code_quality",
    "markdown",
    "plots",
    "witnesses",
    "baseline",
    "update_baseline",
    "fail_on",
    "controls",
    "resume",
];

/// What is run: which audits, and how.
#[derive(Args)]
pub struct PlanArgs {
    /// Audit files, or folders that contain some
    #[arg(default_value = AUDITS)]
    pub paths: Vec<PathBuf>,
    /// Only audits whose name, mechanism or file contains this text
    #[arg(long, value_name = "TEXT", help_heading = WHAT)]
    pub filter: Option<String>,
    /// Only pairs whose name contains this text
    #[arg(long, value_name = "TEXT", help_heading = WHAT)]
    pub pair: Option<String>,
    /// Also audit the controls: mechanisms that leak more than is claimed; an audit whose control
    /// is not refuted is inconclusive
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub controls: bool,
    /// Refuse audits that start programs (exit code 1): an audit file of somebody else can name any
    /// program (docs/security.md)
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub no_programs: bool,
    /// Draws per pair; overrides the audit files (default: as in the audit file, or 10,000,000)
    #[arg(long, value_name = "N", value_parser = draws, help_heading = HOW_MUCH)]
    pub draws: Option<u64>,
    /// When to stop: after all draws (`budget`), or as soon as the claim is refuted
    ///
    /// `refuted` keeps nearly all of the error rate for the bounds of a claim that is not refuted;
    /// `decided` spends it on the refutation, which then takes fewer draws. A program makes few
    /// draws before a refutation, so the tests of independence may miss dependence that they would
    /// see in more.
    #[arg(long, value_enum, default_value_t, help_heading = HOW_MUCH)]
    pub until: Until,
    /// The time that each pair may take, in seconds (default: as in the audit file, or unlimited)
    ///
    /// The start of programs counts. Slow mechanisms make fewer draws, but about ten in any case.
    /// With a limit, the report depends on the speed of the machine.
    #[arg(long, value_name = "S", help_heading = HOW_MUCH)]
    pub max_seconds: Option<Positive>,
    /// The seed of all random streams; the same seed gives the same report
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = HOW_MUCH, hide_short_help = true)]
    pub seed: u64,
    /// The confidence of all bounds of the run together
    #[arg(long, value_name = "P", default_value = "0.999", help_heading = HOW_MUCH, hide_short_help = true)]
    pub confidence: Confidence,
    /// The number of worker threads, and of busy processes of a program (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS), help_heading = HOW_MUCH)]
    pub threads: Option<u16>,
}

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArgs {
    /// What is run
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Only check that everything can be run: a few draws of each pair
    ///
    /// No judgement, no reports, no baseline; each cause of failure is shown once. Exit code 0: all
    /// can be run, 5: something cannot.
    #[arg(long, conflicts_with_all = WITHOUT_SMOKE, help_heading = WHAT)]
    pub smoke: bool,
    /// First search for more pairs in audits with a [search] section; what refutes a claim is
    /// reported like the pairs of the file
    #[arg(long, conflicts_with_all = ["resume", "smoke", "pair", "shard"], help_heading = WHAT, hide_short_help = true)]
    pub search: bool,
    /// Continue an interrupted run
    ///
    /// It must be of the same audits with the same settings. If there is none, the run starts from
    /// the beginning.
    #[arg(long, help_heading = WHAT)]
    pub resume: bool,
    /// The time that the whole run may take, in seconds
    ///
    /// What is left is divided over the pairs that are left. About ten draws of each pair are made
    /// in any case.
    #[arg(long, value_name = "S", help_heading = HOW_MUCH, hide_short_help = true)]
    pub max_seconds_total: Option<Positive>,
    /// Add what this run finds to the evidence of earlier runs, in this file
    ///
    /// A leak that no run shows is refuted by all together. Half of the error rate is for this, half
    /// for the run itself. Every run needs a new --seed (docs/how-to/evidence.md).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "smoke", "search", "shard"], help_heading = WHAT, hide_short_help = true)]
    pub evidence: Option<PathBuf>,
    /// Count evidence from this version on, and keep what came before in the file (default: as in
    /// the last run)
    #[arg(long, value_name = "VERSION", requires = "evidence", help_heading = WHAT, hide_short_help = true)]
    pub since: Option<String>,
    /// What is written and what fails the run
    #[command(flatten)]
    pub output: OutputArgs,
    /// Run one of several shards, for example 3/16, and write its results to the folder of --out
    ///
    /// `dp-audit merge` makes the reports. With auto, or auto/16, the number comes from Slurm,
    /// Kubernetes or GitLab
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with_all = ["smoke", "max_seconds_total", "csv", "html", "json", "junit",
        "code_quality", "markdown", "plots", "witnesses", "fail_on", "allow_inconclusive", "baseline", "update_baseline", "report_only",
        "verbose"])]
    #[arg(help_heading = SHARDS, hide_short_help = true)]
    pub shard: Option<ShardChoice>,
    /// The folder for the results of a shard
    #[arg(long, value_name = "DIR", requires = "shard", help_heading = SHARDS, hide_short_help = true)]
    pub out: Option<PathBuf>,
    /// Divide the run by the seconds in the CSV report of an earlier one, which may have had fewer
    /// draws; give all shards the same file (default: by the number of draws)
    #[arg(long, value_name = "RUN.csv", requires = "shard", help_heading = SHARDS, hide_short_help = true)]
    pub costs: Option<PathBuf>,
}

/// What a run writes and shows, and what fails it.
#[derive(Args)]
pub struct OutputArgs {
    /// The CSV report; use - for standard output, as for all reports (default: results/audit.csv,
    /// or results/audit-part.csv with --filter or --pair). Without --json, the JSON report is
    /// beside it
    #[arg(long, value_name = "FILE", help_heading = REPORTS, hide_short_help = true)]
    pub csv: Option<PathBuf>,
    /// The folder for the witnesses of refuted claims; `dp-audit replay` checks them (default:
    /// results/witnesses)
    #[arg(long, value_name = "DIR", help_heading = REPORTS, hide_short_help = true)]
    pub witnesses: Option<PathBuf>,
    /// The reports to write in addition to the CSV
    #[command(flatten)]
    pub reports: ReportArgs,
    /// What fails the run
    #[command(flatten)]
    pub gate: GateArgs,
    /// What is shown
    #[command(flatten)]
    pub shown: ShownArgs,
}

/// Arguments of `merge`.
#[derive(Args)]
pub struct MergeArgs {
    /// Folders with the files of all shards, or these files
    #[arg(required = true)]
    pub shards: Vec<PathBuf>,
    /// What is written and what fails the run
    #[command(flatten)]
    pub output: OutputArgs,
}

impl PlanArgs {
    /// The audits that are selected.
    ///
    /// # Errors
    /// When a file is not a valid audit, or when nothing is selected.
    pub fn audits(&self) -> Result<Vec<Audit>, Error> {
        let audits = suite::filter(suite::load(&self.paths)?, self.filter.as_deref())?;
        let audits = suite::filter_pairs(audits, self.pair.as_deref())?;
        if self.no_programs {
            suite::refuse_programs(&audits)?;
        }
        suite::check(&audits)?;
        Ok(audits)
    }

    /// How they are selected.
    #[must_use]
    pub fn selection(&self) -> Selection {
        Selection { filter: self.filter.clone(), pair: self.pair.clone() }
    }

    /// The settings of the run.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            draws: self.draws,
            seed: self.seed,
            confidence: self.confidence,
            until: self.until,
            controls: self.controls,
            max_seconds: self.max_seconds,
            max_seconds_total: None,
            evidence: false,
        }
    }
}

impl OutputArgs {
    /// The CSV report. A part of the audits does not replace the report on all of them.
    #[must_use]
    pub fn csv(&self, selection: &Selection) -> OutputPath {
        let is_part = selection.filter.is_some() || selection.pair.is_some();
        let chosen = if is_part { "results/audit-part.csv" } else { "results/audit.csv" };
        OutputPath::new(self.csv.as_deref(), chosen)
    }

    /// Where the JSON report goes if nobody says where: beside the CSV, if that is a file.
    ///
    /// # Errors
    /// When it cannot be written, or when something else is there.
    pub fn json(&self, csv: &OutputPath) -> Result<Option<Destination>, Error> {
        if self.reports.json.is_some() || Destination::at(csv)?.file().is_none() {
            return Ok(None);
        }
        let beside = Destination::beside(csv, "json")?;
        let refused = |reason: &str| {
            let source = std::io::Error::other(format!("{reason}; name another file with --json"));
            Err(Error::Write { path: beside.path().to_owned(), source })
        };
        let baseline = self.gate.baseline.as_deref().filter(|_| !self.gate.update_baseline);
        if baseline.is_some_and(|baseline| beside.is_file_at(baseline)) {
            return refused("it is the --baseline, which this run would replace");
        }
        if beside.file().is_some_and(|file| !JsonReport::may_be_at(file)) {
            return refused("a file is there that is no report of dp-audit");
        }
        Ok(Some(beside))
    }

    /// The folder for witnesses.
    #[must_use]
    pub fn witnesses(&self) -> OutputPath {
        OutputPath::new(self.witnesses.as_deref(), DEFAULT_WITNESSES)
    }
}

/// Arguments of `report`.
#[derive(Args)]
pub struct FinishedArgs {
    /// What a run has left: results/audit.json, or the file of its --json
    pub result: PathBuf,
    /// Write a CSV report; use - for standard output, as for all reports
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub csv: Option<PathBuf>,
    /// The reports to write
    #[command(flatten)]
    pub reports: ReportArgs,
    /// The folder with the witnesses of the run, which reports name (default: results/witnesses)
    #[arg(long, value_name = "DIR", help_heading = REPORTS, hide_short_help = true)]
    pub witnesses: Option<PathBuf>,
    /// What fails the run
    #[command(flatten)]
    pub gate: GateArgs,
    /// What is shown
    #[command(flatten)]
    pub shown: ShownArgs,
}

/// Arguments of `compare`.
#[derive(Args)]
pub struct CompareArgs {
    /// The JSON report of the earlier run
    pub old: PathBuf,
    /// The JSON report of the later run
    pub new: PathBuf,
    /// Exit with code 2 if something is worse (a verdict, a bound, an audit that is gone), or if
    /// anything has changed but seconds (default: exit code 0)
    #[arg(long, value_enum)]
    pub fail_on: Option<FailOnChange>,
    /// Show all audits that are new, gone, faster or slower
    #[arg(long, short)]
    pub verbose: bool,
}

impl RunArgs {
    /// The settings of the run.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            max_seconds_total: self.max_seconds_total,
            evidence: self.evidence.is_some(),
            ..self.plan.settings()
        }
    }

    /// Where evidence over many runs is collected.
    #[must_use]
    pub fn evidence(&self) -> Option<EvidenceOptions> {
        self.evidence.clone().map(|path| EvidenceOptions {
            path,
            since: self.since.clone(),
            confidence: self.plan.confidence,
            seed: self.plan.seed,
        })
    }

    /// Whether to continue an interrupted run.
    #[must_use]
    pub fn start(&self) -> Start {
        Start::of(self.resume)
    }
}

/// Arguments of `search`.
#[derive(Args)]
#[command(
    after_help = "The audit file says in [search] what a dataset may be: docs/search.md. Only the best pairs are frozen and judged, on \
draws that the search has not seen, so the confidence holds however many candidates were tried. That no pair is found is no proof."
)]
pub struct SearchArgs {
    /// An audit file, a folder, or the name of an audit
    pub audit: String,
    /// Where to look for an audit by its name
    #[arg(default_value = AUDITS)]
    pub paths: Vec<PathBuf>,
    /// All draws of the search, those that certify included (default: as in the audit file, or
    /// 20,000,000)
    #[arg(long, value_name = "N", value_parser = draws, help_heading = HOW_MUCH)]
    pub draws: Option<u64>,
    /// The time that the search may take, in seconds (default: as in the audit file, or 60)
    #[arg(long, value_name = "S", help_heading = HOW_MUCH)]
    pub seconds: Option<Positive>,
    /// The seed of all random streams
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = HOW_MUCH, hide_short_help = true)]
    pub seed: u64,
    /// The confidence of all bounds together
    #[arg(long, value_name = "P", default_value = "0.999", help_heading = HOW_MUCH, hide_short_help = true)]
    pub confidence: Confidence,
    /// Add the smallest pair that refutes the claim to the audit file, and write its witness
    #[arg(long, help_heading = WHAT)]
    pub add: bool,
    /// The folder for the witness of a pair that is added; `dp-audit replay` checks it (default:
    /// results/witnesses)
    #[arg(long, value_name = "DIR", help_heading = REPORTS, hide_short_help = true)]
    pub witnesses: Option<PathBuf>,
    /// Refuse audits that start programs (exit code 1): an audit file of somebody else can name any
    /// program (docs/security.md)
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub no_programs: bool,
    /// The number of worker threads, and of busy processes of a program (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS), help_heading = HOW_MUCH)]
    pub threads: Option<u16>,
    /// The CSV report on the pairs that were certified; use - for standard output, as for all
    /// reports (default: results/search.csv)
    #[arg(long, value_name = "FILE", help_heading = REPORTS, hide_short_help = true)]
    pub csv: Option<PathBuf>,
    /// The reports to write in addition to the CSV
    #[command(flatten)]
    pub reports: ReportArgs,
    /// What is shown
    #[command(flatten)]
    pub shown: ShownArgs,
}

/// What a search may cost, if that differs from the audit file.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchEffort {
    /// All draws.
    pub draws: Option<u64>,
    /// All seconds.
    pub seconds: Option<Positive>,
}

impl SearchArgs {
    /// The CSV report.
    #[must_use]
    pub fn csv(&self) -> OutputPath {
        OutputPath::new(self.csv.as_deref(), "results/search.csv")
    }

    /// The folder for the witness.
    #[must_use]
    pub fn witnesses(&self) -> OutputPath {
        OutputPath::new(self.witnesses.as_deref(), DEFAULT_WITNESSES)
    }

    /// The settings of the search.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings { seed: self.seed, confidence: self.confidence, ..Settings::default() }
    }

    /// What it may cost.
    #[must_use]
    pub fn effort(&self) -> SearchEffort {
        SearchEffort { draws: self.draws, seconds: self.seconds }
    }
}

/// Arguments of `samples`.
#[derive(Args)]
#[command(
    after_help = "Each row is one output, from a separate run of the mechanism with fresh randomness. Cells are numbers or symbols; an empty cell is an absent value. \
The claim is expected to hold: the exit code is 2 if it is refuted, and 5 if the rows are not independent."
)]
pub struct SamplesArgs {
    /// The outputs on the dataset D: a CSV file with one row per output
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub left: PathBuf,
    /// The outputs on its neighbour D'
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub right: PathBuf,
    /// The claimed ε
    #[arg(long, value_name = "E", required_unless_present = "claim", help_heading = WHAT)]
    pub claim_epsilon: Option<NonNegative>,
    /// The claimed δ
    #[arg(long, value_name = "D", default_value = "0", help_heading = WHAT)]
    pub claim_delta: Delta,
    /// A claim in another unit, as in an audit file: "mu = 1", "rho = 0.5", "renyi = { order = 8,
    /// epsilon = 4 }", "profile = 'file.csv'"
    #[arg(long, value_name = "CLAIM", value_parser = parse_claim, conflicts_with_all = ["claim_epsilon", "claim_delta"], help_heading = WHAT)]
    pub claim: Option<Claim>,
    /// The confidence of all bounds together
    #[arg(long, value_name = "P", default_value = "0.999", help_heading = HOW_MUCH, hide_short_help = true)]
    pub confidence: Confidence,
    /// The seed of the coin and of the order in which the rows are used; the same seed gives the
    /// same report
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = HOW_MUCH, hide_short_help = true)]
    pub seed: u64,
    /// The attacks to try, separated by commas (default: all except float-bits)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = attack, help_heading = HOW_MUCH, hide_short_help = true)]
    pub attacks: Vec<Attack>,
    /// Whether the first row contains the column names
    #[arg(long, value_enum, default_value_t, help_heading = WHAT, hide_short_help = true)]
    pub header: HeaderRow,
    /// What separates the cells of a row; where it is not a comma, numbers may have decimal commas
    /// (default: what the first rows show)
    #[arg(long, value_enum, help_heading = WHAT, hide_short_help = true)]
    pub separator: Option<Separator>,
    /// Do not look for dependence in the order of the rows; use this if the order has no meaning,
    /// for example because the rows were sorted
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub unordered: bool,
    /// The number of worker threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS), help_heading = HOW_MUCH)]
    pub threads: Option<u16>,
    /// The CSV report; use - for standard output, as for all reports (default:
    /// results/samples.csv)
    #[arg(long, value_name = "FILE", help_heading = REPORTS, hide_short_help = true)]
    pub csv: Option<PathBuf>,
    /// The reports to write in addition to the CSV
    #[command(flatten)]
    pub reports: ReportArgs,
    /// The part of the claim that the attack must be seen to reach, or the audit is inconclusive
    #[arg(long, value_name = "SHARE", default_value = "0.5", help_heading = HOW_MUCH, hide_short_help = true)]
    pub reach: Share,
    /// A column that need not be read, and why it cannot leak; may be given several times
    #[arg(long, value_name = "COLUMN=WHY", value_parser = ignored_column, help_heading = WHAT, hide_short_help = true)]
    pub ignore: Vec<(String, String)>,
    /// Exit with code 0 also if the audit is inconclusive (default: exit code 3)
    #[arg(long, help_heading = GATES)]
    pub allow_inconclusive: bool,
    /// What is shown
    #[command(flatten)]
    pub shown: ShownArgs,
}

impl SamplesArgs {
    /// The CSV report.
    #[must_use]
    pub fn csv(&self) -> OutputPath {
        OutputPath::new(self.csv.as_deref(), "results/samples.csv")
    }

    /// What is claimed. Where there is no claim in another unit, there is an ε.
    #[must_use]
    pub fn claim(&self) -> Claim {
        stated_claim(self.claim.as_ref(), self.claim_epsilon, self.claim_delta)
    }

    /// How much of the claim the attack must be seen to reach.
    #[must_use]
    pub fn asked_reach(&self) -> AskedReach {
        AskedReach::new(self.reach, Some("as --reach says".to_owned())).unwrap_or_default()
    }

    /// What fails the run.
    #[must_use]
    pub fn gate(&self) -> Gate {
        Gate { allow_inconclusive: self.allow_inconclusive, ..Gate::default() }
    }

    /// What the order of the rows means.
    #[must_use]
    pub fn order(&self) -> RowOrder {
        if self.unordered { RowOrder::Any } else { RowOrder::AsDrawn }
    }

    /// The settings of the run. It makes as many draws as the files allow.
    #[must_use]
    pub fn settings(&self, draws: u64) -> Settings {
        Settings {
            draws: Some(draws),
            seed: self.seed,
            confidence: self.confidence,
            until: Until::Budget,
            controls: false,
            ..Settings::default()
        }
    }
}

/// Arguments of `measure`.
#[derive(Args)]
#[command(
    after_help = "An audit file for a measurement needs no claim: name, mechanism, relation and pairs are enough. Claims of a file are not read. \
The true values are at least what is shown, for all δ and all pairs together, with the confidence of the run; another pair or a better attack may show more."
)]
pub struct MeasureArgs {
    /// Audit files, or folders that contain some; they need not claim anything
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Draws per pair; overrides the audit files (default: as in the audit file, or 10,000,000)
    #[arg(long, value_name = "N", value_parser = draws, help_heading = HOW_MUCH)]
    pub draws: Option<u64>,
    /// The seed of all random streams; the same seed gives the same report
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = HOW_MUCH, hide_short_help = true)]
    pub seed: u64,
    /// The confidence of all bounds together
    #[arg(long, value_name = "P", default_value = "0.999", help_heading = HOW_MUCH, hide_short_help = true)]
    pub confidence: Confidence,
    /// More δ for the table, separated by commas
    #[arg(long, value_name = "D", value_delimiter = ',', help_heading = HOW_MUCH)]
    pub delta: Vec<Delta>,
    /// Only audits whose name, mechanism or file contains this text
    #[arg(long, value_name = "TEXT", help_heading = WHAT)]
    pub filter: Option<String>,
    /// Only pairs whose name contains this text
    #[arg(long, value_name = "TEXT", help_heading = WHAT)]
    pub pair: Option<String>,
    /// Refuse audits that start programs (exit code 1): an audit file of somebody else can name any
    /// program (docs/security.md)
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub no_programs: bool,
    /// The number of worker threads, and of busy processes of a program (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS), help_heading = HOW_MUCH)]
    pub threads: Option<u16>,
    /// Write the bounds as a CSV file; use - for standard output, as for all reports
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub csv: Option<PathBuf>,
    /// Write the bounds as JSON, with the profile as a curve
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub json: Option<PathBuf>,
    /// Draw the privacy profile of a pair, as an SVG file
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub svg: Option<PathBuf>,
    /// Show no progress and no table
    #[arg(long, short)]
    pub quiet: bool,
}

impl MeasureArgs {
    /// The settings of the run.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            draws: self.draws,
            seed: self.seed,
            confidence: self.confidence,
            ..Settings::default()
        }
    }
}

/// Arguments of `canaries`.
#[derive(Args)]
#[allow(clippy::struct_excessive_bools)] // each is an option without a value
pub struct CanariesArgs {
    /// A CSV file with the columns score (or guess: in, out, or empty) and included, and optionally
    /// run, step (with fresh coins at each) and canary
    #[arg(value_name = "SCORES", required_unless_present_any = ["plan", "counts"])]
    pub scores: Option<PathBuf>,
    /// Counts in place of a file: all canaries, guesses, right guesses. Several times for several runs
    #[arg(long, value_names = ["CANARIES", "GUESSES", "RIGHT"], num_args = 3, action = clap::ArgAction::Append, value_parser = clap::value_parser!(u64).range(..=MOST_CANARIES), conflicts_with_all = ["scores", "plan"], help_heading = WHAT)]
    pub counts: Vec<u64>,
    /// State that the number of guesses was fixed before the scores were seen, for guesses and counts
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub fixed_guesses: bool,
    /// Audit nothing: say how many canaries the claim needs, and what they can show at most
    #[arg(long, conflicts_with = "scores", help_heading = WHAT)]
    pub plan: bool,
    /// With --plan: the number of runs
    #[arg(long, value_name = "N", requires = "plan", value_parser = clap::value_parser!(u16).range(1..), help_heading = WHAT, hide_short_help = true)]
    pub runs: Option<u16>,
    /// The claimed ε
    #[arg(long, value_name = "E", required_unless_present = "claim", help_heading = WHAT)]
    pub claim_epsilon: Option<NonNegative>,
    /// The claimed δ
    #[arg(long, value_name = "D", default_value = "0", help_heading = WHAT)]
    pub claim_delta: Delta,
    /// A claim in another unit, as in an audit file: "mu = 1", "rho = 0.5", "renyi = { order = 8,
    /// epsilon = 4 }", "profile = 'file.csv'"
    #[arg(long, value_name = "CLAIM", value_parser = parse_claim, conflicts_with_all = ["claim_epsilon", "claim_delta"], help_heading = WHAT)]
    pub claim: Option<Claim>,
    /// The confidence of the bound
    #[arg(long, value_name = "P", default_value = "0.95", help_heading = HOW_MUCH)]
    pub confidence: Confidence,
    /// Which answers are guessed: high scores in and low scores out, or only one of them. Choose it
    /// before you look at the scores
    #[arg(long, value_enum, default_value_t, help_heading = WHAT)]
    pub sides: Sides,
    /// State that each canary had a coin of its own although exactly half of them are in
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub independent_coins: bool,
    /// The seed that breaks ties between equal scores; the same seed gives the same report
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = HOW_MUCH, hide_short_help = true)]
    pub seed: u64,
    /// The CSV report; use - for standard output, as for all reports
    #[arg(long, value_name = "FILE", default_value = "results/canaries.csv", help_heading = REPORTS, hide_short_help = true)]
    pub csv: PathBuf,
    /// The reports to write in addition to the CSV
    #[command(flatten)]
    pub reports: ReportArgs,
    /// The part of the claim that must be shown, or the audit is inconclusive
    #[arg(long, value_name = "SHARE", default_value = "0.5", help_heading = HOW_MUCH, hide_short_help = true)]
    pub reach: Share,
    /// Exit with code 0 also if the audit is inconclusive (default: exit code 3)
    #[arg(long, help_heading = GATES)]
    pub allow_inconclusive: bool,
    /// What is shown
    #[command(flatten)]
    pub shown: ShownArgs,
}

impl CanariesArgs {
    /// What is claimed. Where there is no claim in another unit, there is an ε.
    #[must_use]
    pub fn claim(&self) -> Claim {
        stated_claim(self.claim.as_ref(), self.claim_epsilon, self.claim_delta)
    }

    /// How much of the claim must be shown.
    #[must_use]
    pub fn asked_reach(&self) -> AskedReach {
        AskedReach::new(self.reach, Some("as --reach says".to_owned())).unwrap_or_default()
    }

    /// The counts, one for each run.
    #[must_use]
    pub fn counted(&self) -> CanaryCounts {
        let runs = self.counts.chunks_exact(3).map(|three| CanaryCount {
            canaries: three[0],
            guesses: three[1],
            correct: three[2],
        });
        CanaryCounts { runs: runs.collect(), fixed: self.fixed_guesses }
    }

    /// The number of runs of a plan.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs.map_or(1, usize::from)
    }

    /// What fails the run.
    #[must_use]
    pub fn gate(&self) -> Gate {
        Gate { allow_inconclusive: self.allow_inconclusive, ..Gate::default() }
    }

    /// The settings of the run.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings { seed: self.seed, confidence: self.confidence, ..Settings::default() }
    }
}

/// The claim in another unit, or (ε, δ).
fn stated_claim(claim: Option<&Claim>, epsilon: Option<NonNegative>, delta: Delta) -> Claim {
    claim.cloned().unwrap_or_else(|| (epsilon.unwrap_or_default(), delta).into())
}

/// What a command shows.
#[derive(Args)]
pub struct ShownArgs {
    /// Show every pair and why each claim is refuted
    ///
    /// Also where the time of programs went: starting, preparing, drawing.
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Show nothing; only write the reports and set the exit code
    #[arg(long, short)]
    pub quiet: bool,
}

/// The reports in addition to the CSV.
#[derive(Args)]
pub struct ReportArgs {
    /// Write an HTML report: one file for people, with pictures
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub html: Option<PathBuf>,
    /// Write a JSON report: for programs, --baseline, `dp-audit report` and `dp-audit compare`
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub json: Option<PathBuf>,
    /// Write an XML report with test cases, for CI servers
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub junit: Option<PathBuf>,
    /// Write the problems as a Code Quality report, for GitLab
    #[arg(long, value_name = "FILE", help_heading = REPORTS, hide_short_help = true)]
    pub code_quality: Option<PathBuf>,
    /// Write a Markdown summary
    #[arg(long, value_name = "FILE", help_heading = REPORTS, hide_short_help = true)]
    pub markdown: Option<PathBuf>,
    /// Write the pictures of each pair to this folder, as SVG files for papers
    #[arg(long, value_name = "DIR", help_heading = REPORTS, hide_short_help = true)]
    pub plots: Option<PathBuf>,
}

impl ReportArgs {
    /// The report files, checked and ready to be written. `json` is where the JSON report goes if
    /// its option is not given, and `selection` is what it says about the audits. `baseline` is
    /// what the run is compared with.
    ///
    /// # Errors
    /// When a file cannot be written, or when two reports have the same file.
    pub fn open(
        &self,
        csv: Option<Destination>,
        json: Option<Destination>,
        selection: &Selection,
        finder: &ProblemFinder,
        baseline: Option<&JsonReport>,
        html: Html,
    ) -> Result<ReportDestinations, Error> {
        let code_quality = CodeQuality { finder: finder.clone(), baseline: baseline.cloned() };
        let named = |path: &Option<PathBuf>| path.as_deref().map(Destination::open).transpose();
        let formats: [(Option<Destination>, Box<dyn Format>); 5] = [
            (named(&self.html)?, Box::new(html)),
            (named(&self.json)?.or(json), Box::new(Json { selection: selection.clone() })),
            (named(&self.junit)?, Box::new(JUnit { gate: finder.gate.clone() })),
            (named(&self.code_quality)?, Box::new(code_quality)),
            (named(&self.markdown)?, Box::new(Markdown)),
        ];
        let mut others: Vec<(Destination, Box<dyn Format>)> = Vec::new();
        for (destination, format) in formats {
            let Some(destination) = destination else { continue };
            if csv
                .iter()
                .chain(others.iter().map(|(other, _)| other))
                .any(|other| destination.is_same(other))
            {
                return Err(Error::Write {
                    path: destination.path().to_owned(),
                    source: std::io::Error::other("two reports cannot share a file"),
                });
            }
            others.push((destination, format));
        }
        let plots = self.plots.as_deref().map(Plots::open).transpose()?;
        Ok(ReportDestinations { csv, others, plots })
    }

    /// Date and commit for the HTML report. Without such a report, git is not asked.
    #[must_use]
    pub fn origin<'a>(&self, audits: impl IntoIterator<Item = &'a Audit>) -> Origin {
        let folder = audits.into_iter().find_map(|audit| audit.file.parent());
        let folder = folder.unwrap_or(Path::new(""));
        if self.html.is_some() { Origin::of(folder) } else { Origin::default() }
    }
}

/// Checked destinations of all reports.
pub struct ReportDestinations {
    csv: Option<Destination>,
    others: Vec<(Destination, Box<dyn Format>)>,
    plots: Option<Plots>,
}

impl ReportDestinations {
    /// All destinations.
    pub fn destinations(&self) -> impl Iterator<Item = &Destination> {
        self.csv.iter().chain(self.others.iter().map(|(destination, _)| destination))
    }

    /// Whether one of them is standard output.
    #[must_use]
    pub fn use_standard_output(&self) -> bool {
        self.destinations().any(Destination::is_standard_output)
    }

    /// The report files of a run with `pairs` pairs, and the folder of pictures.
    #[must_use]
    pub fn into_files(self, settings: Settings, pairs: usize) -> (ReportFiles, Option<Plots>) {
        (ReportFiles::new(settings, pairs, self.csv, self.others), self.plots)
    }
}

/// What fails a `run`.
#[derive(Args)]
pub struct GateArgs {
    /// What ends with exit code 2: unexpected verdicts, or refuted claims even if expected
    #[arg(long, value_enum, default_value = "surprise", help_heading = GATES, hide_short_help = true)]
    pub fail_on: FailOn,
    /// Exit with code 0 also if an audit is inconclusive (default: exit code 3)
    #[arg(long, help_heading = GATES)]
    pub allow_inconclusive: bool,
    /// An earlier JSON report: exit code 2 if anything is worse
    ///
    /// A verdict is worse, a bound has risen by more than chance explains, or an audit is missing.
    #[arg(long, value_name = "FILE", help_heading = GATES)]
    pub baseline: Option<PathBuf>,
    /// Write this run's report to the --baseline file, which need not exist yet; being worse than
    /// it does not fail the run
    #[arg(long, requires = "baseline", conflicts_with = "report_only", help_heading = GATES, hide_short_help = true)]
    pub update_baseline: bool,
    /// Exit with code 0 for all verdicts; errors still fail
    #[arg(long, help_heading = GATES, hide_short_help = true)]
    pub report_only: bool,
}

impl GateArgs {
    /// The gate with these options.
    #[must_use]
    pub fn gate(&self) -> Gate {
        Gate {
            fail_on: self.fail_on,
            allow_inconclusive: self.allow_inconclusive,
            report_only: self.report_only,
        }
    }
}

/// Arguments of `show`.
#[derive(Args)]
pub struct ShowArgs {
    /// Audit files, folders that contain some, or names of audits, in full or in part. Several
    /// audits are listed, one is shown in full [default: audits]
    #[arg(value_name = "FILE|FOLDER|NAME", conflicts_with = "mechanisms")]
    pub what: Vec<PathBuf>,
    /// Explain in plain words: the claim, the pairs, the attacker, the verdict
    #[arg(long, conflicts_with = "mechanisms")]
    pub plain: bool,
    /// A --json report: explain in plain words, also what that run found
    #[arg(long, value_name = "FILE", conflicts_with = "mechanisms")]
    pub report: Option<PathBuf>,
    /// List the built-in mechanisms instead
    #[arg(long)]
    pub mechanisms: bool,
}

/// Arguments of `replay`.
#[derive(Args)]
pub struct ReplayArgs {
    /// The witness file, which a run has written
    pub witness: PathBuf,
    /// Where to look for its audit (default: the file that the witness names)
    pub paths: Vec<PathBuf>,
    /// The number of fresh draws (default: as many as the audit made)
    #[arg(long, value_name = "N", value_parser = draws)]
    pub draws: Option<u64>,
    /// The seed of the fresh draws, to repeat a replay (default: a new one from the operating
    /// system, which is printed)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The confidence with which the claim must be refuted again
    #[arg(long, value_name = "P", default_value = "0.999")]
    pub confidence: Confidence,
    /// Refuse audits that start programs (exit code 1): an audit file of somebody else can name any
    /// program (docs/security.md)
    #[arg(long, hide_short_help = true)]
    pub no_programs: bool,
    /// The number of worker threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub threads: Option<u16>,
}

/// Arguments of `calibrate`.
#[derive(Args)]
pub struct CalibrateArgs {
    /// Audit files to repeat instead of the built-in mechanisms; audits that expect `violated`
    /// measure power, all others false alarms
    #[arg(conflicts_with = "power")]
    pub paths: Vec<PathBuf>,
    /// Measure power instead of false alarms: Laplace noise that is 1.01 to 2 times too small
    #[arg(long, help_heading = WHAT)]
    pub power: bool,
    /// Runs of each audit, with one seed each (default: 2,000, or 200 with --power)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = HOW_MUCH)]
    pub seeds: Option<u64>,
    /// Draws per pair; several numbers, separated by commas, give a curve (default: 20,000, or
    /// 1,000 to 3,000,000 with --power)
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = draws, help_heading = HOW_MUCH)]
    pub draws: Vec<u64>,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = HOW_MUCH, hide_short_help = true)]
    pub seed: u64,
    /// The confidence of each run
    #[arg(long, value_name = "P", default_value = "0.95", help_heading = HOW_MUCH, hide_short_help = true)]
    pub confidence: Confidence,
    /// When each run ends: `budget`, or `refuted` or `decided`, which count what is concluded at
    /// any look
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, hide_possible_values = true, help_heading = HOW_MUCH)]
    pub until: Until,
    /// The CSV file for the rates (default: results/calibration.csv, or results/power.csv with
    /// --power)
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub csv: Option<PathBuf>,
    /// The folder for the pictures false-alarms.svg and power.svg (default: no pictures)
    #[arg(long, value_name = "DIR", help_heading = REPORTS)]
    pub pictures: Option<PathBuf>,
    /// Refuse audits that start programs (exit code 1): an audit file of somebody else can name any
    /// program (docs/security.md)
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub no_programs: bool,
    /// The number of worker threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS), help_heading = HOW_MUCH)]
    pub threads: Option<u16>,
    /// Show no progress and no table; only write the files and set the exit code
    #[arg(long, short)]
    pub quiet: bool,
}

impl CalibrateArgs {
    /// The audits to repeat.
    ///
    /// # Errors
    /// When a given file is not a valid audit.
    pub fn audits(&self) -> Result<Vec<Audit>, Error> {
        match (self.power, self.paths.as_slice()) {
            (true, _) => calibrate::power_audits(),
            (false, []) => calibrate::boundary_audits(),
            (false, paths) => {
                // What is calibrated is the attack on pairs. The limits of accuracy claims are
                // exact, and stability needs no statistics.
                let mut audits = suite::load(paths)?;
                if self.no_programs {
                    suite::refuse_programs(&audits)?;
                }
                audits.iter_mut().for_each(Audit::keep_own_claim);
                audits.retain(|audit| audit.statements().any(Statement::is_uncertain));
                if audits.is_empty() {
                    let paths: Vec<String> =
                        paths.iter().map(|path| path.display().to_string()).collect();
                    return Err(Error::NoAudits {
                        place: format!(
                            "{} with a [[pair]] and a claim about privacy",
                            paths.join(", ")
                        ),
                    });
                }
                Ok(audits)
            }
        }
    }

    /// The budgets of each audit.
    #[must_use]
    pub fn budgets(&self) -> Vec<u64> {
        match (self.power, self.draws.as_slice()) {
            (true, []) => calibrate::POWER_DRAWS.to_vec(),
            (false, []) => vec![calibrate::FALSE_ALARM_DRAWS],
            (_, draws) => draws.to_vec(),
        }
    }

    /// How each audit is repeated.
    #[must_use]
    pub fn repetition(&self) -> Repetition {
        let seeds = self.seeds.unwrap_or(if self.power {
            calibrate::POWER_SEEDS
        } else {
            calibrate::FALSE_ALARM_SEEDS
        });
        let until = self.until;
        Repetition { first_seed: self.seed, seeds, confidence: self.confidence, until }
    }

    /// The CSV file for the rates.
    #[must_use]
    pub fn csv(&self) -> OutputPath {
        let chosen = if self.power { "results/power.csv" } else { "results/calibration.csv" };
        OutputPath::new(self.csv.as_deref(), chosen)
    }
}

/// Parses a number of draws: plain, with underscores, or in the form `2e7`.
fn draws(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    let number: f64 =
        plain.parse().map_err(|_| "must be a whole number, for example 20000 or 2e7".to_owned())?;
    if number.fract() != 0.0 || !(1.0..=MAX_DRAWS as f64).contains(&number) {
        return Err(format!("must be a whole number from 1 to {MAX_DRAWS:e}"));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
    Ok(number as u64)
}

/// Parses the name of an attack, as in audit files.
fn attack(name: &str) -> Result<Attack, String> {
    let name: StrDeserializer<serde::de::value::Error> = name.into_deserializer();
    Attack::deserialize(name).map_err(|error| error.to_string())
}

/// Parses a column and the reason why it need not be read: `token = a random session`.
fn ignored_column(text: &str) -> Result<(String, String), String> {
    let (column, reason) = text.split_once('=').unwrap_or_default();
    let (column, reason) = (column.trim().to_owned(), reason.trim().to_owned());
    if column.is_empty() || reason.is_empty() {
        return Err("must be a column and a reason: --ignore 'token=a random session'".to_owned());
    }
    Ok((column, reason))
}

/// A claim as it is written in an audit file.
fn parse_claim(text: &str) -> Result<Claim, String> {
    let spelling: Spelling = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    spelling.with_points(Path::new("")).and_then(Claim::try_from)
}
