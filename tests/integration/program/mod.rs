//! The command line: exit codes, messages, interruptions.

mod accuracy;
mod bad_audits;
mod calibrate;
mod canaries;
mod cli;
mod controls;
mod evidence;
mod finished;
#[cfg(unix)]
mod measure;
mod resume;
#[cfg(unix)]
mod safety;
mod search;
mod several;
#[cfg(unix)]
mod shards;
mod stability;
#[cfg(unix)]
mod time_limits;
