//! A mechanism that panics has put something out: the panic is caught, and nothing is printed.

use std::any::Any;
use std::cell::Cell as Flag;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs a mechanism, whose panics are outputs.
    static QUIET: Flag<bool> = const { Flag::new(false) };
}

static HOOK: Once = Once::new();

/// Runs the code; if it panics, returns what it said. Other threads' panics are printed as ever.
pub fn caught<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                earlier(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    // What the code leaves half done is a generator, which is sound in any state, and a row, which the caller overwrites.
    let outcome = panic::catch_unwind(AssertUnwindSafe(code));
    QUIET.set(before);
    outcome.map_err(|payload| message(payload.as_ref()))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}
