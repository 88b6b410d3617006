//! The command line: exit codes, messages, interruptions.

mod accuracy;
mod bad_audits;
mod calibrate;
mod cli;
mod controls;
#[cfg(unix)]
mod resume;
mod search;
mod several;
#[cfg(unix)]
mod shards;
mod stability;
#[cfg(unix)]
mod time_limits;
