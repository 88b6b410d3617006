//! Prints text: results to standard output, everything else to standard error.
//!
//! Everything that a command prints goes through `shown`. Names, keys, outputs and messages come
//! from audit files and programs that somebody else may have written: their control characters must
//! not reach a terminal, and their lines must not be taken for commands by a CI server.

use std::fmt::{self, Display};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write};
use std::sync::LazyLock;

use crate::model::Error;
use crate::model::text::is_deceptive;

/// Where a command prints its text for people: to standard error if a report uses standard output,
/// nowhere with `--quiet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// To standard output.
    Stdout,
    /// To standard error.
    Stderr,
    /// Nowhere.
    Quiet,
}

impl Screen {
    /// Where to print, given `--quiet` and whether a report uses standard output.
    #[must_use]
    pub fn new(quiet: bool, stdout_is_used: bool) -> Self {
        match (quiet, stdout_is_used) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Stderr,
            (false, false) => Self::Stdout,
        }
    }

    /// Prints a text.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn print(self, text: impl Display) -> Result<(), Error> {
        self.write(&without_commands(&shown(&text.to_string())))
    }

    /// Prints commands to a CI server, which dp-audit has put together itself.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn print_commands(self, text: &str) -> Result<(), Error> {
        self.write(&shown(text))
    }

    fn write(self, text: &str) -> Result<(), Error> {
        match self {
            Self::Stdout => print_own(text),
            Self::Stderr => {
                let _ = write!(io::stderr(), "{text}");
                Ok(())
            }
            Self::Quiet => Ok(()),
        }
    }
}

/// Prints to standard output. A reader that closes the pipe early (`| head`) is not an error:
/// reports are still written, and the exit code does not change.
///
/// # Errors
/// When standard output cannot be written for any other reason.
pub fn print(text: impl Display) -> Result<(), Error> {
    Screen::Stdout.print(text)
}

/// Prints a text that nobody else had a part in, as it is.
///
/// # Errors
/// As for [`print`].
pub fn print_own(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::StandardOutput { source })
        }
        _ => Ok(()),
    }
}

/// Prints a line to standard error. Errors are ignored, because there is nowhere else to report
/// them.
pub fn print_error(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", without_commands(&shown(&line.to_string())));
}

/// A text in a colour or in bold, if standard output is a terminal.
pub struct Styled<T> {
    text: T,
    code: u8,
}

/// The styles that texts have.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// Bold letters.
    Bold = 1,
    /// As expected.
    Green = 32,
    /// Not decided.
    Yellow = 33,
    /// Not as expected.
    Red = 31,
}

/// A text with a style.
pub fn styled<T: Display>(text: T, look: Look) -> Styled<T> {
    Styled { text, code: look as u8 }
}

impl<T: Display> Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.to_string();
        let blanks = f.width().unwrap_or(0).saturating_sub(text.chars().count());
        if console::colors_enabled() {
            write!(f, "{}{}m{text}{}0m", *OWN, self.code, *OWN)?;
        } else {
            f.write_str(&text)?;
        }
        write!(f, "{:blanks$}", "")
    }
}

/// How dp-audit's own styles begin: an escape sequence with a number that no text from outside can
/// know. It has no width, like every escape sequence, and `shown` leaves the number out.
static OWN: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}[{};", RandomState::new().build_hasher().finish()));

/// The text with its own styles, and all other characters replaced that change how a terminal shows
/// the rest.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(style) = rest.strip_prefix(OWN.as_str()) {
            shown.push_str("\u{1b}[");
            rest = style;
            continue;
        }
        let keeps = !is_deceptive(first) || first == '\n' || first == '\t';
        shown.push(if keeps { first } else { char::REPLACEMENT_CHARACTER });
        rest = &rest[first.len_utf8()..];
    }
    shown
}

/// The text with a backslash in whatever a CI server would take for a command: `::name::` at the
/// beginning of a line, `##[name]` and `##name[` anywhere.
fn without_commands(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let body = line.trim_start();
        let (blanks, mut rest) = line.split_at(line.len() - body.len());
        let mut plain = blanks.to_owned();
        if rest.starts_with("::") {
            plain.push('\\');
        }
        while let Some(at) = rest.find("##") {
            let after = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            plain.push_str(&rest[..=at]);
            if after.starts_with('[') {
                plain.push('\\');
            }
            rest = &rest[at + 1..];
        }
        plain.push_str(rest);
        lines.push(plain);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_styles_reach_the_terminal() {
        let own = format!("{}32mgood{}0m", *OWN, *OWN);
        let text = format!("{own} \u{1b}[2J\u{1b}[32mgood\u{1b}[0m\u{7}\r\u{202e}\n\tend");
        assert_eq!(
            shown(&text),
            "\u{1b}[32mgood\u{1b}[0m \u{fffd}[2J\u{fffd}[32mgood\u{fffd}[0m\u{fffd}\u{fffd}\u{fffd}\n\tend"
        );
    }

    #[test]
    fn no_line_is_a_command() {
        for (text, expected) in [
            ("::error::x", "\\::error::x"),
            ("a\n  ::stop-commands::t\nb ::x::", "a\n  \\::stop-commands::t\nb ::x::"),
            ("a ##[error]b ###[x]", "a #\\#[error]b ##\\#[x]"),
            ("##vso[task.x]y", "#\\#vso[task.x]y"),
            ("## heading", "## heading"),
        ] {
            assert_eq!(without_commands(text), expected);
        }
    }

    #[test]
    fn a_style_has_no_width() {
        let text = format!("{:<8}|", styled("good", Look::Green));
        assert_eq!(console::measure_text_width(&text), 9, "{text:?}");
    }
}
