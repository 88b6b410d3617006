//! Texts from outside, made safe to show.

/// The text with each control character replaced: on a terminal these could move the cursor, change
/// colours, and more.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_and_nothing_else_is() {
        assert_eq!(printable("a\u{1b}[31m⊥\n\u{9b}"), "a\u{fffd}[31m⊥\u{fffd}\u{fffd}");
        assert_eq!(printable("noisy ε = 1"), "noisy ε = 1");
    }
}
