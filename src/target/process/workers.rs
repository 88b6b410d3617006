//! Processes that wait for their next pair.
//!
//! A program may take seconds to start. One that says in its hello that it is `reusable` gets
//! another greeting, with other parameters and datasets, and is not started again. The processes of
//! a pair serve both datasets in any order anyway, so their draws must not depend on what they did
//! before; another greeting asks for nothing else.

use std::sync::{Mutex, PoisonError};

use super::child::Child;
use super::command::CommandLine;

/// The waiting processes of one run. They all have the same command line, so they need no more
/// memory than the pair before.
#[derive(Default)]
pub struct Workers(Mutex<Option<(CommandLine, Vec<Child>)>>);

impl Workers {
    /// All waiting processes, if they have this command line. Otherwise they are ended.
    pub fn take(&self, command: &CommandLine) -> Vec<Child> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        waiting
            .filter(|(other, _)| other == command)
            .map(|(_, children)| children)
            .unwrap_or_default()
    }

    /// Lets processes wait. Those that accept no other greeting are ended, and so are those with
    /// another command line.
    pub fn put(&self, command: &CommandLine, mut children: Vec<Child>) {
        children.retain(Child::is_reusable);
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.as_mut().filter(|(other, _)| other == command) {
            Some((_, others)) => others.append(&mut children),
            None => *waiting = (!children.is_empty()).then(|| (command.clone(), children)),
        }
    }
}
