//! The words of a problem, for people who may not know dp-audit.

use std::fmt::Write as _;
use std::path::Path;

use crate::audit::{AccuracyResult, Audit, AuditReport, Evidence, PairResult, RunReport};
use crate::model::number::{Brief, percent, round_down};
use crate::model::{Claim, Expectation, Settings, Truth};
use crate::report::commands::{quoted, selected};
use crate::report::gate::FailOn;
use crate::report::gate::problem::{ProblemFinder, ProblemKind, kind};
use crate::report::persistence::witness::Witness;
use crate::report::statement::Statement;

/// What to do if something is worse than in the baseline.
pub const ADVICE_ON_WORSE: &str = "If this is intended, run once with --update-baseline and commit the new baseline; otherwise undo what made it worse.";

/// Where witnesses are written if nothing else is said.
const DEFAULT_WITNESSES: &str = "results/witnesses";

/// What was found and what to do. `same` other pairs or accuracy claims of the audit have the same
/// kind of problem.
pub fn lines(
    finder: &ProblemFinder,
    report: &RunReport,
    worst: Statement<'_>,
    same: usize,
) -> Vec<String> {
    let (audit, kind) = (worst.report(), kind(worst));
    let mut lines = match worst {
        Statement::Pair(_, result) => of_pair(report.settings, audit, result, kind),
        Statement::Accuracy(_, result) => of_accuracy(report.settings, audit, result, kind),
    };
    if same > 0 {
        let total = audit.results.len() + audit.accuracy.len();
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

fn of_pair(
    settings: Settings,
    audit: &AuditReport,
    result: &PairResult,
    kind: ProblemKind,
) -> Vec<String> {
    let (claim, mechanism) = (&audit.audit.claim, mechanism(&audit.audit));
    let evidence = match &result.outcome {
        Ok(evidence) => evidence,
        Err(error) => {
            return vec![
                format!("{mechanism} could not be run, so its claim ({claim}) was not judged."),
                format!("{error}"),
            ];
        }
    };
    let bound = bound(claim, evidence);
    let sure = if claim.metric().is_some() {
        String::new()
    } else {
        format!(" (confidence {})", percent(settings.confidence.get()))
    };
    let first = match kind {
        ProblemKind::LeakNotFound => {
            format!(
                "{mechanism} claims {claim}. The audit file expects that this is refuted, but it is not: {bound}{sure}."
            )
        }
        ProblemKind::TruthExceeded => {
            format!(
                "{mechanism} claims {claim}. A bound is above the truth that the audit file states, {}: {bound}{sure}.",
                truth(result.truth)
            )
        }
        ProblemKind::Inconclusive => format!(
            "{mechanism} claims {claim}. This is neither refuted nor confirmed: {bound}{sure}."
        ),
        _ => format!("{mechanism} claims {claim}, but {bound}{sure}."),
    };
    vec![first, on_pair(&audit.audit, result, evidence)]
}

fn of_accuracy(
    settings: Settings,
    audit: &AuditReport,
    result: &AccuracyResult,
    kind: ProblemKind,
) -> Vec<String> {
    let (name, probability) =
        (&result.accuracy.name, Brief(result.accuracy.claim.probability.get()));
    let claims = format!(
        "{} claims accuracy (“{name}”): “{}” with probability at least {probability}",
        mechanism(&audit.audit),
        result.accuracy.event
    );
    let first = match kind {
        ProblemKind::NotRun => format!("{claims}. This was not judged."),
        ProblemKind::LeakNotFound => {
            format!("{claims}. The audit file expects that this is refuted, but it is not.")
        }
        ProblemKind::TruthExceeded => {
            format!("{claims}. What was measured excludes the truth that the audit file states.")
        }
        ProblemKind::Inconclusive => format!("{claims}. This is neither refuted nor confirmed."),
        _ => format!(
            "{claims}, but it fails more often (confidence {}).",
            percent(settings.confidence.get())
        ),
    };
    let measured = match &result.outcome {
        Ok(_) => format!("Measured: {}.", result.sentence()),
        Err(error) => error.to_string(),
    };
    vec![first, measured]
}

/// The truth that an audit file states.
fn truth(truth: Truth) -> String {
    let stated = [("ε", truth.epsilon), ("δ", truth.delta)];
    let stated: Vec<String> = stated
        .iter()
        .filter_map(|(symbol, value)| value.map(|value| format!("{symbol} = {}", Brief(value))))
        .collect();
    stated.join(" and ")
}

/// What makes the outputs.
fn mechanism(audit: &Audit) -> String {
    match audit.subject.command() {
        Some(command) => format!("The program `{command}`"),
        None if !audit.is_from_file() => "The mechanism that made these outputs".to_owned(),
        None => format!("The mechanism {}", audit.subject.mechanism()),
    }
}

/// What was measured, in the unit of the claim. The bound that is farther above the claim speaks.
fn bound(claim: &Claim, evidence: &Evidence) -> String {
    let bounds = evidence.bounds;
    let brief = |value: f64| Brief(round_down(value, 4));
    if let Some(metric) = claim.metric() {
        return format!(
            "outputs on neighbouring datasets are {} apart ({metric} distance)",
            bounds.lower
        );
    }
    if claim.second().is_none() {
        return format!(
            "its {} is at least {}",
            claim.main().measure.symbol(),
            brief(bounds.lower)
        );
    }
    if bounds.refute(claim) && bounds.lower <= claim.main().value {
        return format!(
            "its δ at ε = {} is at least {}",
            Brief(claim.epsilon()),
            brief(bounds.delta_lower)
        );
    }
    let at = if claim.delta() > 0.0 {
        format!(" at δ = {}", Brief(claim.delta()))
    } else {
        String::new()
    };
    format!("its ε{at} is at least {}", brief(bounds.epsilon_lower))
}

/// On which data it was measured, and what an attacker could do there.
fn on_pair(audit: &Audit, result: &PairResult, evidence: &Evidence) -> String {
    let claim = &audit.claim;
    let PairResult { pair, left, right, .. } = result;
    let data =
        if audit.is_from_file() { format!(", D = {left} and D' = {right}") } else { String::new() };
    let attacker = if claim.metric().is_some() {
        "An attacker"
    } else {
        "An attacker who sees only the output, and says whether the data was D or D',"
    };
    format!("Measured on the pair “{pair}”{data}. {attacker} {}.", evidence.sentence(claim))
}

fn advice(finder: &ProblemFinder, worst: Statement<'_>, kind: ProblemKind) -> String {
    match (kind, worst) {
        (ProblemKind::ClaimRefuted, _) if worst.expected() == Expectation::Violated && finder.gate.fail_on == FailOn::Violated => {
            "The audit file expects this, but with --fail-on violated every refuted claim fails the run.".to_owned()
        }
        (ProblemKind::ClaimRefuted, Statement::Accuracy(..)) => {
            "What to do: make the mechanism more accurate, or claim less. If this is known, write expect = \"violated\" under this [[accuracy]].".to_owned()
        }
        (ProblemKind::ClaimRefuted, Statement::Pair(audit, _)) if audit.audit.claim.metric().is_some() => {
            "What to do: limit what one record can change, or claim a larger distance. If this is known, write expect = \"violated\" into the audit \
             file."
                .to_owned()
        }
        (ProblemKind::ClaimRefuted, Statement::Pair(audit, _)) => {
            let fix = "What to do: correct the mechanism (often its noise is too small, or one record can change more than was assumed), or claim less.";
            let known = if audit.audit.is_from_file() { " If this is known, write expect = \"violated\" into the audit file." } else { "" };
            format!("{fix}{known}")
        }
        (ProblemKind::LeakNotFound, _) => {
            "What to do: if the mechanism was corrected, remove expect = \"violated\"; otherwise use more draws, or a pair on which more leaks.".to_owned()
        }
        (ProblemKind::TruthExceeded, _) => "What to do: check the stated truth, and whether the mechanism is the one that it was computed for.".to_owned(),
        (ProblemKind::Inconclusive, _) => match worst.reason() {
            Some(reason) => format!("Why ({reason}): {}.", reason.advice()),
            None => "What to do: look at the other pairs of this audit.".to_owned(),
        },
        _ => "What to do: correct the cause. Until then nothing is known about this claim; it has not passed.".to_owned(),
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
