//! What comes from outside: mechanisms that are programs, and outputs that were collected
//! elsewhere.

mod forms;
mod large_inputs;
#[cfg(unix)]
mod processes;
mod python_worker;
mod samples;
