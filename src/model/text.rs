//! Texts from outside, made safe to show.

/// The text with each character replaced that is not shown itself: on a terminal, control
/// characters could move the cursor, change colours, and more, and others could hide or reorder
/// what is around them.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_deceptive(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether a character is not shown itself, but changes how others are shown: control characters,
/// the controls of bidirectional text, invisible characters without a use in words, and the
/// separators that some programs take for the end of a line.
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_itself_is_replaced_and_nothing_else_is() {
        assert_eq!(printable("a\u{1b}[31m⊥\n\u{9b}"), "a\u{fffd}[31m⊥\u{fffd}\u{fffd}");
        assert_eq!(printable("safe\u{202e}txt.\u{2066}"), "safe\u{fffd}txt.\u{fffd}");
        assert_eq!(printable("noisy ε = 1"), "noisy ε = 1");
        // Joiners are letters' business: they are needed in Persian, in Hindi and in emoji.
        assert_eq!(printable("می\u{200c}خواهم"), "می\u{200c}خواهم");
    }
}
