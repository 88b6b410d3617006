//! Breaks text into lines between words.

use console::measure_text_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm, fill};

/// The width of text that does not go to a terminal.
const DEFAULT_WIDTH: usize = 80;
/// Longer lines are hard to read.
const MAX_WIDTH: usize = 100;
/// In a narrower window, lines are this long.
const MIN_WIDTH: usize = 40;

/// How many characters a line has.
#[must_use]
pub fn width() -> usize {
    let columns = console::Term::stdout()
        .size_checked()
        .map_or(DEFAULT_WIDTH, |(_, columns)| usize::from(columns));
    columns.clamp(MIN_WIDTH, MAX_WIDTH)
}

/// The text in lines of at most `width` characters, the first after `first` and all others after
/// `rest`, each with a line break at its end. No word is broken: a longer word has its own line.
/// Numbers stay with their signs and units, as in `ε = 1` and `73.1 %`.
#[must_use]
pub fn wrapped(text: &str, first: &str, rest: &str, width: usize) -> String {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    fill(&bound(text), options).replace(BOUND, " ") + "\n"
}

/// Each line of the text, wrapped. Lines that fit and lines that begin with a blank are not
/// changed: the latter are commands and tables.
#[must_use]
pub fn wrapped_lines(text: &str, width: usize) -> String {
    let fits = |line: &str| measure_text_width(line) <= width || line.starts_with(' ');
    text.lines()
        .map(|line| if fits(line) { format!("{line}\n") } else { wrapped(line, "", "  ", width) })
        .collect()
}

/// Each line of a text with indented lines, wrapped. What follows a line has its indentation. If a
/// line begins with a word and at least two blanks, as in a list of names and values, its text
/// stays to the right of them.
#[must_use]
pub fn wrapped_list(text: &str, width: usize) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        if measure_text_width(line) <= width {
            lines.push_str(line);
            lines.push('\n');
            continue;
        }
        let body = line.trim_start();
        let gap = body.find("  ").map_or(0, |gap| body.len() - body[gap..].trim_start().len());
        let (first, text) = line.split_at(line.len() - body.len() + gap);
        // Beside a long name there is no room.
        let rest = " ".repeat(measure_text_width(first).min(width / 2));
        lines.push_str(&wrapped(text, first, &rest, width));
    }
    lines
}

/// A blank where no line ends.
const BOUND: char = '\u{a0}';

/// The text with single blanks between its words, bound where a line may not end.
fn bound(text: &str) -> String {
    let binds_both = |word: &str| ["=", "≥", "≤", "<", ">", "×"].contains(&word);
    let mut bound = String::new();
    let mut before = "";
    for word in text.split_whitespace() {
        // A full stop or comma may follow the sign of percent.
        let binds = binds_both(before) || binds_both(word) || word.starts_with('%');
        if !before.is_empty() {
            bound.push(if binds { BOUND } else { ' ' });
        }
        bound.push_str(word);
        before = word;
    }
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_with_their_units_are_not_broken() {
        let text = "the attacker guessed right 77.7 % of the time; ε = 1 allows 73.1 %.";
        for width in 10..90 {
            let lines = wrapped(text, "- ", "  ", width);
            assert!(lines.starts_with("- the") && lines.ends_with(".\n"), "{lines}");
            for line in lines.lines() {
                let one_word = !bound(line.trim_start_matches("- ")).contains(' ');
                assert!(measure_text_width(line) <= width || one_word, "{width}: {line}");
                assert!(
                    !line.trim_start().starts_with(['%', '=']) && !line.ends_with('='),
                    "{width}: {line}"
                );
            }
            assert_eq!(lines.split_whitespace().skip(1).collect::<Vec<_>>().join(" "), text);
        }
    }

    #[test]
    fn long_words_short_lines_and_commands_are_unchanged() {
        let long = "x".repeat(50);
        assert_eq!(wrapped(&format!("a {long} b"), "", "", 20), format!("a\n{long}\nb\n"));
        let kept = format!("short\n    {long} {long}\n");
        assert_eq!(wrapped_lines(&kept, 60), kept);
        assert_eq!(wrapped_lines("one two three", 8), "one two\n  three\n");
        let list = "title\n  name    one two three\n    one two three four five\n";
        assert_eq!(
            wrapped_list(list, 20),
            "title\n  name    one two\n          three\n    one two three\n    four five\n"
        );
        // Colours have no width.
        let coloured = "\u{1b}[31mone\u{1b}[0m two";
        assert_eq!(wrapped(coloured, "", "", 7), format!("{coloured}\n"));
    }
}
