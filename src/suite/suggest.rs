//! "Did you mean …?" for names that are not known.

/// Names that are less alike than this are not suggested.
const ALIKE: f64 = 0.8;

/// The known name that is most like this one, if one is.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored =
        known.into_iter().map(|known| (strsim::jaro_winkler(&name.to_lowercase(), known), known));
    scored
        .filter(|(score, _)| *score >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known)
}

/// The message with a suggestion, if it is about an unknown key or value and lists those that are
/// known.
#[must_use]
pub fn with_suggestion(message: &str) -> String {
    const EXPECTED: &str = "`, expected ";
    let unknown = ["unknown field `", "unknown variant `"]
        .into_iter()
        .find_map(|start| Some(message.find(start)? + start.len()));
    let suggestion = unknown.and_then(|start| {
        let end = start + message[start..].find(EXPECTED)?;
        // Every second part is between two marks.
        let near = nearest(
            &message[start..end],
            message[end + EXPECTED.len()..].split('`').skip(1).step_by(2),
        )?;
        Some(format!(
            "{}`; did you mean `{near}`? Expected {}",
            &message[..end],
            &message[end + EXPECTED.len()..]
        ))
    });
    suggestion.unwrap_or_else(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_is_recognised() {
        let known = ["epsilon", "delta", "draws", "laplace", "discrete-laplace"];
        for (typed, meant) in [
            ("epsilom", "epsilon"),
            ("eps", "epsilon"),
            ("draw", "draws"),
            ("Laplace", "laplace"),
            ("lapalce", "laplace"),
        ] {
            assert_eq!(nearest(typed, known), Some(meant), "{typed}");
        }
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn messages_about_unknown_keys_get_a_suggestion() {
        let suggested = "params: unknown field `epsilom`; did you mean `epsilon`? Expected one of `query`, `epsilon`";
        assert_eq!(
            with_suggestion("params: unknown field `epsilom`, expected one of `query`, `epsilon`"),
            suggested
        );
        assert_eq!(
            with_suggestion("unknown variant `add`, expected `add-remove` or `custom`")
                .find("did you mean `add-remove`?"),
            Some(23)
        );
        for unchanged in [
            "unknown field `colour`, expected `name`",
            "unknown field `x`, there are no fields",
            "missing field `name`",
            "unknown field `a",
        ] {
            assert_eq!(with_suggestion(unchanged), unchanged);
        }
    }
}
