//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;

use crate::attack::Attack;
use crate::audit::Audit;
use crate::calibrate::{self, Repetition};
use crate::model::{Claim, Confidence, Delta, Epsilon, Error, MAX_DRAWS, Settings, Until};
use crate::report::files::{Format, ReportFiles};
use crate::report::gate::{FailOn, Gate};
use crate::report::html::Html;
use crate::report::journal::Start;
use crate::report::json::Json;
use crate::report::junit::JUnit;
use crate::report::markdown::Markdown;
use crate::report::store::Destination;
use crate::suite;
use crate::target::recorded::{HeaderRow, RowOrder};

/// Does a differentially private mechanism leak more than it claims?
#[derive(Parser)]
#[command(version, about, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 every verdict as expected, or a replay confirmed; 1 wrong usage, a bad audit file or witness, or an unwritable result or standard output; \
2 a verdict differs from what was expected, something is worse than the baseline, --fail-on violated, or a replay could not confirm; \
3 inconclusive with --fail-on inconclusive or --require-power; 5 a mechanism could not be run; 70 internal error; 128 + N ended by signal N.";

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Run audits and compare the verdicts with what they should be
    Run(RunArgs),
    /// Audit outputs that were collected elsewhere: two CSV files, one of each dataset
    Samples(SamplesArgs),
    /// List the audits, or the mechanisms that audit files can name
    List(ListArgs),
    /// Show one audit: claim, parameters, pairs
    Show(ShowArgs),
    /// Explain one audit in plain words: the claim, the pairs, the attacker, the verdict
    Explain(ExplainArgs),
    /// Check a refutation with fresh draws (exit code 0: confirmed, 2: could not confirm, 1: the witness is about something else)
    Replay(ReplayArgs),
    /// Measure the auditor: false alarms on mechanisms that sit exactly on their claims, and power against too little noise
    Calibrate(CalibrateArgs),
    /// Write the built-in audits and the Python worker to a folder, to run and to copy from
    Export(ExportArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one page for each command to a folder
    Man(ManArgs),
}

/// Arguments of `export`.
#[derive(Args)]
pub struct ExportArgs {
    /// The folder; files that are there already are left alone
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
    /// Write dp-audit.1, dp-audit-run.1 and so on to this folder
    pub folder: Option<PathBuf>,
}

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArgs {
    /// Audit files, or folders that hold some
    #[arg(default_value = "audits")]
    pub paths: Vec<PathBuf>,
    /// Draws per pair, instead of what the audit files say (10,000,000 if they say nothing)
    #[arg(long, value_name = "N", value_parser = draws)]
    pub draws: Option<u64>,
    /// The seed of all random streams; the same seed gives the same report
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The confidence with which all bounds of the run hold together
    #[arg(long, value_name = "P", default_value = "0.999")]
    pub confidence: Confidence,
    /// Spend the whole budget for the tightest bounds, or stop as soon as a claim is refuted
    #[arg(long, value_enum, default_value_t)]
    pub until: Until,
    /// Worker threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Where the CSV report goes; - is standard output, as for all reports
    #[arg(long, value_name = "FILE", default_value = "results/audit.csv")]
    pub csv: PathBuf,
    /// Only audits whose name, mechanism or file contains this text
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Only pairs whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub pair: Option<String>,
    /// Continue an interrupted run of the same audits and settings; from the start if there is none
    #[arg(long)]
    pub resume: bool,
    /// Which reports to write, besides the CSV
    #[command(flatten)]
    pub reports: ReportArgs,
    /// The folder for witnesses of refuted claims; `dp-audit replay` checks them
    #[arg(long, value_name = "DIR", default_value = "results/witnesses")]
    pub witnesses: PathBuf,
    /// What fails the run
    #[command(flatten)]
    pub gate: GateArgs,
    /// No progress and no table; only the report file and the exit code
    #[arg(long, short)]
    pub quiet: bool,
}

impl RunArgs {
    /// The settings of the run.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings { draws: self.draws, seed: self.seed, confidence: self.confidence, until: self.until }
    }

    /// Whether an interrupted run is continued.
    #[must_use]
    pub fn start(&self) -> Start {
        if self.resume { Start::Resumed } else { Start::Anew }
    }
}

/// Arguments of `samples`.
#[derive(Args)]
#[command(
    after_help = "One row an output, made by a run of its own with randomness of its own. Cells are numbers or symbols; an empty cell is an absent value. \
The claim is expected to hold: exit code 2 when it is refuted, 5 when the rows are not independent."
)]
pub struct SamplesArgs {
    /// Outputs on the dataset D: CSV, one row an output
    #[arg(long, value_name = "FILE")]
    pub left: PathBuf,
    /// Outputs on its neighbour D'
    #[arg(long, value_name = "FILE")]
    pub right: PathBuf,
    /// The claimed ε
    #[arg(long, value_name = "E")]
    pub claim_epsilon: Epsilon,
    /// The claimed δ
    #[arg(long, value_name = "D", default_value = "0")]
    pub claim_delta: Delta,
    /// The confidence with which all bounds hold together
    #[arg(long, value_name = "P", default_value = "0.999")]
    pub confidence: Confidence,
    /// The seed of the coin and of the order in which rows are taken; the same seed gives the same report
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The attacks to try, separated by commas (default: all)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = attack)]
    pub attacks: Vec<Attack>,
    /// Whether the first row names the columns
    #[arg(long, value_enum, default_value_t)]
    pub header: HeaderRow,
    /// The order of the rows means nothing (they were sorted, say): do not look for dependence in it
    #[arg(long)]
    pub unordered: bool,
    /// Worker threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Where the CSV report goes; - is standard output, as for all reports
    #[arg(long, value_name = "FILE", default_value = "results/samples.csv")]
    pub csv: PathBuf,
    /// Which reports to write, besides the CSV
    #[command(flatten)]
    pub reports: ReportArgs,
    /// Fail (exit code 3) when the audit is inconclusive
    #[arg(long)]
    pub require_power: bool,
    /// No progress and no table; only the report file and the exit code
    #[arg(long, short)]
    pub quiet: bool,
}

impl SamplesArgs {
    /// What is claimed.
    #[must_use]
    pub fn claim(&self) -> Claim {
        Claim { epsilon: self.claim_epsilon, delta: self.claim_delta }
    }

    /// What fails the run.
    #[must_use]
    pub fn gate(&self) -> Gate {
        Gate { fail_on: self.require_power.then_some(FailOn::Inconclusive).into_iter().collect(), report_only: false }
    }

    /// What the order of the rows means.
    #[must_use]
    pub fn order(&self) -> RowOrder {
        if self.unordered { RowOrder::Any } else { RowOrder::AsDrawn }
    }

    /// The settings of the run; it makes as many draws as the files allow.
    #[must_use]
    pub fn settings(&self, draws: u64) -> Settings {
        Settings { draws: Some(draws), seed: self.seed, confidence: self.confidence, until: Until::Budget }
    }
}

/// Reports besides the CSV.
#[derive(Args)]
pub struct ReportArgs {
    /// A report to look at: one HTML file, with pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// A report for programs, and for --baseline
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// A report for CI servers, as test cases
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// A summary as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

impl ReportArgs {
    /// The report files, checked and ready to be written.
    ///
    /// # Errors
    /// When one cannot be written, or two are the same.
    pub fn open(&self, csv: Destination, gate: &Gate) -> Result<Reports, Error> {
        let formats: [(&Option<PathBuf>, Box<dyn Format>); 4] = [
            (&self.html, Box::new(Html)),
            (&self.json, Box::new(Json)),
            (&self.junit, Box::new(JUnit { gate: gate.clone() })),
            (&self.markdown, Box::new(Markdown)),
        ];
        let mut others: Vec<(Destination, Box<dyn Format>)> = Vec::new();
        for (path, format) in formats {
            let Some(path) = path else { continue };
            let place = Destination::open(path)?;
            if place.is_same(&csv) || others.iter().any(|(other, _)| place.is_same(other)) {
                return Err(Error::Write { path: path.clone(), source: std::io::Error::other("two reports cannot share a file") });
            }
            others.push((place, format));
        }
        Ok(Reports { csv, others })
    }
}

/// Report files that can be written.
pub struct Reports {
    csv: Destination,
    others: Vec<(Destination, Box<dyn Format>)>,
}

impl Reports {
    /// All places.
    pub fn places(&self) -> impl Iterator<Item = &Destination> {
        std::iter::once(&self.csv).chain(self.others.iter().map(|(place, _)| place))
    }

    /// Whether one of them is standard output.
    #[must_use]
    pub fn take_standard_output(&self) -> bool {
        self.places().any(Destination::is_standard_output)
    }

    /// The files of a run with so many pairs.
    #[must_use]
    pub fn into_files(self, settings: Settings, pairs: usize) -> ReportFiles {
        ReportFiles::new(settings, pairs, self.csv, self.others)
    }
}

/// What fails a `run`.
#[derive(Args)]
pub struct GateArgs {
    /// What fails the run: verdicts that were not expected (always), refuted claims even if expected, audits that cannot tell
    #[arg(long, value_enum, value_delimiter = ',', default_value = "surprise")]
    pub fail_on: Vec<FailOn>,
    /// The same as --fail-on inconclusive (exit code 3)
    #[arg(long)]
    pub require_power: bool,
    /// An earlier --json report; fail (exit code 2) when a verdict is worse or a bound rose beyond chance
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// End with 0 whatever the verdicts; errors still fail
    #[arg(long)]
    pub report_only: bool,
}

impl GateArgs {
    /// As the gate wants it.
    #[must_use]
    pub fn gate(&self) -> Gate {
        let power = self.require_power.then_some(FailOn::Inconclusive);
        Gate { fail_on: self.fail_on.iter().copied().chain(power).collect(), report_only: self.report_only }
    }
}

/// Arguments of `list`.
#[derive(Args)]
pub struct ListArgs {
    /// Audit files, or folders that hold some
    #[arg(default_value = "audits")]
    pub paths: Vec<PathBuf>,
    /// Only audits whose name, mechanism or file contains this text
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// List the registered mechanisms instead
    #[arg(long)]
    pub mechanisms: bool,
}

/// Arguments of `show`.
#[derive(Args)]
pub struct ShowArgs {
    /// The audit's name, a part of it, or its file
    pub audit: String,
    /// Where to look for audits
    #[arg(default_value = "audits")]
    pub paths: Vec<PathBuf>,
}

/// Arguments of `explain`.
#[derive(Args)]
pub struct ExplainArgs {
    /// Which audit, and where to look for it
    #[command(flatten)]
    pub which: ShowArgs,
    /// A --json report: explains what that run found as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Arguments of `replay`.
#[derive(Args)]
pub struct ReplayArgs {
    /// The witness that a run wrote
    pub witness: PathBuf,
    /// Where to look for its audit; the file that the witness names if absent
    pub paths: Vec<PathBuf>,
    /// Fresh draws; as many as the audit made if absent
    #[arg(long, value_name = "N", value_parser = draws)]
    pub draws: Option<u64>,
    /// The seed of the fresh draws, which are others than the audit's whatever the seed; the audit's seed if absent
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The confidence with which the claim must be refuted again
    #[arg(long, value_name = "P", default_value = "0.999")]
    pub confidence: Confidence,
    /// Worker threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// Arguments of `calibrate`.
#[derive(Args)]
pub struct CalibrateArgs {
    /// Audit files to repeat, instead of the built-in mechanisms; those that expect `violated` show power, all others false alarms
    #[arg(conflicts_with = "power")]
    pub paths: Vec<PathBuf>,
    /// Power curves of Laplace noise that is 1.01 to 2 times too small, instead of false alarms
    #[arg(long)]
    pub power: bool,
    /// Runs of each audit (2,000, or 200 with --power)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: Option<u64>,
    /// Draws per pair; several, separated by commas, make a curve (20,000, or 1,000 to 3,000,000 with --power)
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = draws)]
    pub draws: Vec<u64>,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The confidence of each run
    #[arg(long, value_name = "P", default_value = "0.95")]
    pub confidence: Confidence,
    /// Where the rates go (results/calibration.csv, or results/power.csv with --power)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// A folder for pictures: false-alarms.svg or power.svg
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// Worker threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// No progress and no table; only the files and the exit code
    #[arg(long, short)]
    pub quiet: bool,
}

impl CalibrateArgs {
    /// The audits to repeat.
    ///
    /// # Errors
    /// When a named file is no valid audit.
    pub fn audits(&self) -> Result<Vec<Audit>, Error> {
        match (self.power, self.paths.as_slice()) {
            (true, _) => calibrate::all_short(),
            (false, []) => calibrate::boundary(),
            (false, paths) => suite::load(paths),
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
        let seeds = self.seeds.unwrap_or(if self.power { calibrate::POWER_SEEDS } else { calibrate::FALSE_ALARM_SEEDS });
        Repetition { first_seed: self.seed, seeds, confidence: self.confidence }
    }

    /// Where the rates go.
    #[must_use]
    pub fn csv(&self) -> PathBuf {
        let default = if self.power { "results/power.csv" } else { "results/calibration.csv" };
        self.csv.clone().unwrap_or_else(|| default.into())
    }
}

/// A number of draws: plain, with underscores, or like `2e7`.
fn draws(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    let number: f64 = plain.parse().map_err(|_| "must be a whole number like 20000 or 2e7".to_owned())?;
    if number.fract() != 0.0 || !(1.0..=MAX_DRAWS as f64).contains(&number) {
        return Err(format!("must be a whole number from 1 to {MAX_DRAWS:e}"));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
    Ok(number as u64)
}

/// An attack by the name that audit files use.
fn attack(name: &str) -> Result<Attack, String> {
    let name: StrDeserializer<serde::de::value::Error> = name.into_deserializer();
    Attack::deserialize(name).map_err(|error| error.to_string())
}
