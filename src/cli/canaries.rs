//! The command `dp-audit canaries`.

use std::fmt::Write as _;
use std::sync::Arc;

use super::args::CanariesArgs;
use super::report::{RunInput, report_to_github};
use super::screen::{Screen, print};
use super::summary::View;
use super::wrap::{width, wrapped_lines};
use crate::audit::{Audit, Canaries, CanaryScores, Here, PairPlan, ScoreSource};
use crate::model::number::{Brief, counted, grouped, percent, round_down};
use crate::model::{Claim, Error, FileProblem, Measure, Truth};
use crate::report::formats::html::Html;
use crate::report::gate::exit_code::ExitCode;
use crate::report::gate::problem::ProblemFinder;
use crate::report::persistence::shard_file::Selection;
use crate::report::persistence::store::Destination;
use crate::stats::canary::{Sides, ceiling, needed_canaries, planned_guesses};
use crate::target::{PrepareError, Target};

/// Audits the scores of canaries, or plans such an audit.
pub fn canaries(args: &CanariesArgs) -> Result<ExitCode, Error> {
    let claim = args.claim();
    if args.plan {
        let alpha = 1.0 - args.confidence.get();
        print(wrapped_lines(&plan(&claim, args.sides, args.runs(), alpha), width()))?;
        return Ok(ExitCode::AsExpected);
    }
    let (source, mechanism, text) = given(args)?;
    let gate = args.gate();
    let html = Html { origin: args.reports.origin(&[]), ..Html::default() };
    let finder = ProblemFinder::from_environment(&gate, None);
    let csv = Destination::open(&args.csv)?;
    let reports = args.reports.open(Some(csv), None, &Selection::default(), &finder, None, html)?;
    let taken = reports.use_standard_output();
    let screen = Screen::new(args.shown.quiet, taken);
    screen.print(wrapped_lines(&text, width()))?;
    let mut audit = Audit::given("canaries", mechanism, claim, []);
    audit.reach = args.asked_reach();
    audit.canaries.push(Canaries {
        name: "scores".to_owned(),
        scores: source,
        sides: args.sides,
        independent_coins: args.independent_coins,
        fixed_guesses: args.fixed_guesses,
        expect: None,
        truth: Truth::default(),
    });
    // Scores are no draws: there is no target.
    let source = |plan: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
        Err(PrepareError::Given(plan.subject.mechanism().to_owned()))
    };
    let view = View { verbose: args.shown.verbose, width: width(), witnesses: None };
    let input = RunInput {
        audits: &[audit],
        settings: args.settings(),
        worker: &Here(&source),
        known: &|_| None,
        view,
    };
    let (report, mut text) = input.run_and_report(reports, &[], screen)?;
    text.extend(gate.closing_line(&report, false).map(|line| line + "\n"));
    screen.print(wrapped_lines(&text, view.width))?;
    report_to_github(&report, &finder, &[], taken)?;
    Ok(gate.exit_code(&report, false))
}

/// What there is to judge, what it is called in reports, and a line about it.
fn given(args: &CanariesArgs) -> Result<(ScoreSource, &'static str, String), Error> {
    let Some(path) = args.scores.as_deref() else {
        let counts = args.counted();
        let runs = counted(counts.runs.len(), "run");
        let text = format!("Counts: {} canaries in {runs}.", grouped(counts.canaries()));
        return Ok((ScoreSource::Counts(counts), "recorded counts", text));
    };
    let scores = CanaryScores::read(path)
        .map_err(|problem| Error::Input(vec![FileProblem::new(path, problem)]))?;
    let text = format!(
        "{}: {} canaries in {}.",
        path.display(),
        grouped(scores.canaries()),
        counted(scores.trials.len(), if scores.steps { "step" } else { "run" })
    );
    let mechanism = if scores.guesses { "recorded guesses" } else { "recorded scores" };
    Ok((ScoreSource::Given(Arc::new(scores)), mechanism, text))
}

/// What so many canaries can show at most, and how many the claim needs.
fn plan(claim: &Claim, sides: Sides, runs: usize, alpha: f64) -> String {
    let limit = claim.main();
    let symbol = limit.measure.symbol();
    let mut text = format!("Claim: {claim}; confidence {}.\n", percent(1.0 - alpha));
    match needed_canaries(limit.value, sides, limit, alpha) {
        Some(canaries) => {
            let _ = writeln!(
                text,
                "With fewer than about {} canaries in one run, even an attacker who is always right \
                 refutes nothing. Real attackers are not: plan for several times as many, or for \
                 several runs.",
                grouped(canaries)
            );
        }
        None => text.push_str(
            "No number of canaries up to 1,000,000,000 can refute this claim in one run; fresh \
             coins at every step audit the claim of one step instead.\n",
        ),
    }
    let in_runs =
        if runs > 1 { format!(" in each of {}", counted(runs, "run")) } else { String::new() };
    let _ = writeln!(text, "At most, with all guesses right, canaries{in_runs} can show:");
    for canaries in [100, 1_000, 10_000, 100_000_u64] {
        let most = Brief(round_down(ceiling(canaries, runs, sides, limit, alpha), 3));
        let _ = write!(text, "  {:>8} canaries: {symbol} = {most}", grouped(canaries));
        if !matches!(limit.measure, Measure::Epsilon { .. }) {
            let guesses = planned_guesses(canaries, sides, limit, alpha);
            let _ = write!(text, " from {} guesses", grouped(guesses));
        }
        text.push('\n');
    }
    text
}
