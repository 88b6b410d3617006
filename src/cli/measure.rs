//! The command `dp-audit measure`.

use super::args::MeasureArgs;
use super::progress::Progress;
use super::screen::Screen;
use super::wrap::{width, wrapped_lines};
use crate::audit::{self, Audit, AuditReport, DELTAS, Event, Listener, Measurement, Preparer};
use crate::model::{Error, FileProblem, Settings};
use crate::report::formats::measurement::{csv, json, picture, text};
use crate::report::gate::exit_code::ExitCode;
use crate::report::persistence::store::{Destination, unwritable};
use crate::suite;

/// Measures lower bounds on the privacy profile of each pair. There is no verdict.
pub fn measure(args: &MeasureArgs) -> Result<ExitCode, Error> {
    let audits = suite::filter(suite::load_unclaimed(&args.paths)?, args.filter.as_deref())?;
    let audits = suite::filter_pairs(audits, args.pair.as_deref())?;
    if args.no_programs {
        suite::refuse_programs(&audits)?;
    }
    suite::check(&audits)?;
    let open =
        |path: &Option<std::path::PathBuf>| path.as_deref().map(Destination::open).transpose();
    let [to_csv, to_json, to_svg] = [open(&args.csv)?, open(&args.json)?, open(&args.svg)?];
    let pairs = audits.iter().map(|audit| audit.pairs.len()).sum::<usize>();
    if to_svg.is_some() && pairs > 1 {
        let problem = format!(
            "--svg draws one pair, and {pairs} are measured; choose one with --filter or --pair"
        );
        return Err(Error::Input(vec![FileProblem::new(&audits[0].file, problem)]));
    }
    let lenses = lenses(&audits, args.settings())?;
    let taken =
        [&to_csv, &to_json, &to_svg].into_iter().flatten().any(Destination::is_standard_output);
    let screen = Screen::new(args.quiet, taken);
    let progress = Progress::new(lenses.len(), screen == Screen::Quiet);
    let run = audit::run(
        &lenses,
        Settings { draws: None, ..args.settings() },
        &Preparer::default(),
        &Silent(&progress),
    );
    let mut deltas = DELTAS.to_vec();
    deltas.extend(args.delta.iter().map(|delta| delta.get()));
    deltas.sort_by(f64::total_cmp);
    deltas.dedup();
    let measured = Measurement::all(&audits, &run, &deltas);
    let write = |destination: Option<Destination>, content: Vec<u8>| match destination {
        Some(place) => place.replace(&content).map_err(|source| unwritable(place.path(), source)),
        None => Ok(()),
    };
    write(to_csv, csv(&measured))?;
    write(to_json, json(&measured))?;
    if let Some(one) = measured.first() {
        write(to_svg, picture(one).into_bytes())?;
    }
    screen.print(wrapped_lines(&text(&measured), width()))?;
    let failed = measured.iter().any(|one| one.error.is_some());
    Ok(if failed { ExitCode::NotRun } else { ExitCode::AsExpected })
}

/// The audits that measure these, each with its part of the draws.
fn lenses(audits: &[Audit], settings: Settings) -> Result<Vec<Audit>, Error> {
    let mut all = Vec::new();
    for audit in audits {
        let draws = audit.lens_draws(settings);
        let lenses = audit
            .lenses()
            .map_err(|problem| Error::Input(vec![FileProblem::new(&audit.file, problem)]))?;
        all.extend(lenses.into_iter().map(|lens| Audit { draws: Some(draws), ..lens }));
    }
    Ok(all)
}

/// Progress without verdicts: a lens has none.
struct Silent<'a>(&'a Progress);

impl Listener for Silent<'_> {
    fn hear(&self, event: Event<'_>) {
        match event {
            Event::AuditFinished { report } => {
                let AuditReport { audit, .. } = report.as_ref();
                self.0.item_finished(&audit.name);
            }
            other => self.0.hear(other),
        }
    }

    fn is_listening(&self) -> bool {
        self.0.is_listening()
    }
}
