//! Panics of a mechanism are outputs: they are caught, and nothing is printed.

use std::any::Any;
use std::cell::Cell as Flag;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is running a mechanism. If so, panics are outputs and are not printed.
    static QUIET: Flag<bool> = const { Flag::new(false) };
}

static HOOK: Once = Once::new();

/// Runs the code. If it panics, returns the panic message. Panics of other threads are printed as
/// usual.
pub fn catch_panic<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    // Unwind safety: the code can only leave a generator, which is valid in any state, and a row,
    // which the caller overwrites.
    let outcome = panic::catch_unwind(AssertUnwindSafe(code));
    QUIET.set(before);
    outcome.map_err(|payload| message(payload.as_ref()))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}
