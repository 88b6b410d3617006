//! What happens in a run, told to whoever listens.

use std::sync::Arc;

use super::{Audit, AuditReport};

/// Something that happened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An audit begins.
    AuditStarted {
        /// Which.
        audit: &'a Audit,
        /// How many draws it may make for each pair.
        draws: u64,
    },
    /// More draws are done.
    Drawn {
        /// How many more.
        draws: u64,
    },
    /// The evidence was looked at.
    Looked {
        /// The ε bound so far.
        epsilon_lower: f64,
    },
    /// An audit has ended.
    AuditFinished {
        /// What it found.
        report: &'a Arc<AuditReport>,
    },
}

/// Hears what happens in a run, from several threads.
pub trait Listener: Sync {
    /// Something happened.
    fn hear(&self, event: Event<'_>);

    /// Whether anybody listens. Small audits are faster if nobody does.
    fn is_listening(&self) -> bool {
        true
    }
}

/// Nobody listens.
impl Listener for () {
    fn hear(&self, _: Event<'_>) {}

    fn is_listening(&self) -> bool {
        false
    }
}

/// Several listeners hear in their order.
impl Listener for [&dyn Listener] {
    fn hear(&self, event: Event<'_>) {
        self.iter().for_each(|listener| listener.hear(event));
    }

    fn is_listening(&self) -> bool {
        self.iter().any(|listener| listener.is_listening())
    }
}
