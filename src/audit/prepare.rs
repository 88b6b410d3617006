//! Creates the targets of plans.

use std::sync::Arc;
use std::time::Duration;

use super::{PairPlan, TargetSource};
use crate::catalogue::registry;
use crate::target::process::{ChildProcess, Workers};
use crate::target::{PrepareError, Stop, Stoppable, Subject, Target};

/// The part of a pair's time limit that the first outputs of a program may take. They show which
/// columns there are and are not judged.
const PROBE_PART: f64 = 1.0 / 16.0;

/// Makes the targets of a run. Processes of programs that can serve several pairs wait here for the
/// next pair with the same command line. Dropping it ends them.
#[derive(Default)]
pub struct Preparer {
    workers: Arc<Workers>,
    stop: Stop,
}

impl Preparer {
    /// The same, whose targets make no more draws after an interruption.
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }
}

impl TargetSource for Preparer {
    fn target(&self, plan: &PairPlan) -> Result<Box<dyn Target>, PrepareError> {
        let (left, right) = (&plan.pair.left, &plan.pair.right);
        let stop = self.stop.clone();
        if let Some(target) = registry::prepare(&plan.subject, left, right)? {
            return Ok(Box::new(Stoppable::new(target, stop)));
        }
        let Subject::Program { command, params } = &plan.subject else {
            return Err(PrepareError::Given(plan.subject.mechanism().to_owned()));
        };
        let mut program = ChildProcess::prepare(command.clone(), params, left, right)
            .with_workers(Arc::clone(&self.workers))
            .with_view(plan.view.clone())
            .with_stop(stop);
        if let Some(limit) = plan.max_seconds {
            program = program.with_probe_limit(
                Duration::try_from_secs_f64(PROBE_PART * limit.get()).unwrap_or(Duration::MAX),
            );
        }
        Ok(Box::new(program))
    }
}
