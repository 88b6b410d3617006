//! The words of a problem, for people who may not know dp-audit.

use std::fmt::Write as _;
use std::path::Path;

use crate::audit::{Audit, AuditReport, Judged, RunReport, Words};
use crate::model::number::percent;
use crate::model::{Expectation, Settings};
use crate::report::commands::{quoted, selected};
use crate::report::gate::FailOn;
use crate::report::gate::problem::{DEFAULT_WITNESSES, ProblemFinder, ProblemKind, kind};
use crate::report::persistence::witness::Witness;

/// What to do if something is worse than in the baseline.
pub const ADVICE_ON_WORSE: &str = "If this is intended, run once with --update-baseline and commit the new baseline; otherwise undo what made it worse.";

/// What was found and what to do. `same` other statements of the audit have the same
/// kind of problem.
pub fn lines(
    finder: &ProblemFinder,
    report: &RunReport,
    worst: Judged<'_>,
    same: usize,
) -> Vec<String> {
    let (audit, kind) = (worst.report, kind(worst));
    let mut lines = found(report.settings, worst, kind);
    if same > 0 {
        let total = audit.results.len();
        lines.push(format!(
            "In all, {} of the {total} checks of this audit end like this.",
            same + 1
        ));
    }
    lines.push(advice(finder, worst, kind));
    lines.extend(commands(finder, report.settings, audit, kind));
    lines
}

/// What is wrong with an audit that is only worse than in the baseline.
pub fn lines_of_worse(report: &RunReport, audit: &AuditReport) -> Vec<String> {
    let repeat = command_to_repeat(report.settings, &audit.audit, None);
    [ADVICE_ON_WORSE.to_owned()]
        .into_iter()
        .chain(repeat.map(|command| format!("Repeat it: {command}")))
        .collect()
}

/// What is claimed, what was measured, and on which data.
fn found(settings: Settings, worst: Judged<'_>, kind: ProblemKind) -> Vec<String> {
    let Words { claim, measured, truth, circumstances, .. } = worst.words();
    let mechanism = mechanism(&worst.report.audit);
    if let Some(error) = worst.error() {
        return vec![
            format!("{mechanism} could not be run, so its claim ({claim}) was not judged."),
            error.to_string(),
        ];
    }
    let sure = if worst.statement.is_uncertain() {
        format!(" (confidence {})", percent(settings.confidence.get()))
    } else {
        String::new()
    };
    let first = match kind {
        ProblemKind::LeakNotFound => format!(
            "{mechanism} claims {claim}. The audit file expects that this is refuted, but it is \
             not: {measured}{sure}."
        ),
        ProblemKind::TruthExceeded => {
            format!("{mechanism} claims {claim}. {truth}: {measured}{sure}.")
        }
        ProblemKind::Inconclusive => format!(
            "{mechanism} claims {claim}. This is neither refuted nor confirmed: {measured}{sure}."
        ),
        _ => format!("{mechanism} claims {claim}, but {measured}{sure}."),
    };
    vec![first, circumstances]
}

/// What makes the outputs.
fn mechanism(audit: &Audit) -> String {
    match audit.subject.command() {
        Some(command) => format!("The program `{command}`"),
        None if !audit.is_from_file() => "The mechanism that made these outputs".to_owned(),
        None => format!("The mechanism {}", audit.subject.mechanism()),
    }
}

fn advice(finder: &ProblemFinder, worst: Judged<'_>, kind: ProblemKind) -> String {
    let fails_anyway =
        worst.expected() == Expectation::Violated && finder.gate.fail_on == FailOn::Violated;
    match kind {
        ProblemKind::ClaimRefuted if fails_anyway => "The audit file expects this, but with \
            --fail-on violated every refuted claim fails the run."
            .to_owned(),
        ProblemKind::ClaimRefuted => format!("What to do: {}", worst.words().remedy),
        ProblemKind::LeakNotFound => "What to do: if the mechanism was corrected, remove expect = \
            \"violated\"; otherwise use more draws, or a pair on which more leaks."
            .to_owned(),
        ProblemKind::TruthExceeded => "What to do: check the stated truth, and whether the \
            mechanism is the one that it was computed for."
            .to_owned(),
        ProblemKind::Inconclusive => match worst.reason() {
            Some(reason) => format!("Why ({reason}): {}.", reason.advice()),
            None => "What to do: look at the other pairs of this audit.".to_owned(),
        },
        _ => "What to do: correct the cause. Until then nothing is known about this claim; it has \
              not passed."
            .to_owned(),
    }
}

/// The commands that repeat and check the result.
fn commands(
    finder: &ProblemFinder,
    settings: Settings,
    audit: &AuditReport,
    kind: ProblemKind,
) -> Vec<String> {
    let repeat = command_to_repeat(settings, &audit.audit, finder.witnesses.as_deref())
        .map(|command| format!("Repeat it: {command}"));
    let witness = finder
        .witnesses
        .as_ref()
        .filter(|_| kind == ProblemKind::ClaimRefuted)
        .zip(Witness::of(settings, audit));
    let replay = witness.map(|(folder, witness)| {
        format!(
            "Check it with fresh draws: dp-audit replay {}",
            quoted(&folder.join(witness.file_name()).display().to_string())
        )
    });
    repeat.into_iter().chain(replay).collect()
}

/// The command that runs the audit again with the same draws; `None` without an audit file.
fn command_to_repeat(
    settings: Settings,
    audit: &Audit,
    witnesses: Option<&Path>,
) -> Option<String> {
    let mut command = audit.is_from_file().then(|| format!("dp-audit run {}", selected(audit)))?;
    let default = Settings::default();
    if let Some(draws) = settings.draws {
        let _ = write!(command, " --draws {draws}");
    }
    if settings.seed != default.seed {
        let _ = write!(command, " --seed {}", settings.seed);
    }
    if settings.confidence != default.confidence {
        let _ = write!(command, " --confidence {}", settings.confidence);
    }
    if settings.controls {
        command += " --controls";
    }
    if let Some(folder) = witnesses.filter(|folder| *folder != Path::new(DEFAULT_WITNESSES)) {
        let _ = write!(command, " --witnesses {}", quoted(&folder.display().to_string()));
    }
    Some(command)
}
