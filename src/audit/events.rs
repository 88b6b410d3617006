//! Events of a run, for listeners.

use std::sync::Arc;

use super::{Audit, AuditReport};

/// An event of a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An audit has started. Others may be running.
    AuditStarted {
        /// The audit.
        audit: &'a Audit,
        /// All draws that it may make.
        draws: u64,
    },
    /// More draws were made.
    Drawn {
        /// The number of new draws.
        draws: u64,
    },
    /// Some of the draws will not be made, because a time limit does not allow them.
    Cut {
        /// The number of these draws.
        draws: u64,
    },
    /// The evidence was evaluated (one look).
    Looked {
        /// The ε bound so far.
        epsilon_lower: f64,
    },
    /// An audit has finished, and so have all that started before it.
    AuditFinished {
        /// What it found.
        report: &'a Arc<AuditReport>,
    },
}

/// Receives the events of a run, from several threads.
pub trait Listener: Sync {
    /// Called for every event.
    fn hear(&self, event: Event<'_>);

    /// Whether events are used. Small audits are faster if they are not.
    fn is_listening(&self) -> bool {
        true
    }
}

/// Ignores all events.
impl Listener for () {
    fn hear(&self, _: Event<'_>) {}

    fn is_listening(&self) -> bool {
        false
    }
}

/// A borrowed listener is a listener.
impl<L: Listener + ?Sized> Listener for &L {
    fn hear(&self, event: Event<'_>) {
        (**self).hear(event);
    }

    fn is_listening(&self) -> bool {
        (**self).is_listening()
    }
}

/// Several listeners, called in order.
impl Listener for [&dyn Listener] {
    fn hear(&self, event: Event<'_>) {
        self.iter().for_each(|listener| listener.hear(event));
    }

    fn is_listening(&self) -> bool {
        self.iter().any(Listener::is_listening)
    }
}
