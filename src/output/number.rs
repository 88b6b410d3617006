//! The numbers in a text, how they are spelled, and the digits that a double does not have.

use std::ops::Range;

use num_bigint::BigInt;

/// A double has at most this many significant digits.
const DOUBLE_DIGITS: usize = 17;
/// Whole numbers up to this are doubles.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// What a comma between two digits means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comma {
    /// It separates two numbers.
    Separates,
    /// It is the decimal mark; dots may separate groups of three digits.
    IsDecimal,
    /// It separates groups of three digits.
    Groups,
}

/// What was found in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// A number.
    Number(f64),
    /// Hexadecimal digits, such as `3f2a` or `0x1f`. They are a word, not several numbers.
    Token,
}

/// Finds the numbers of a text: digits with an optional sign, fraction and exponent. After a letter
/// or a digit, `-` and `+` are no signs.
pub fn numbers(text: &str, comma: Comma, mut sink: impl FnMut(Range<usize>, Found)) {
    let bytes = text.as_bytes();
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let after_digits =
        |at: usize| (at..bytes.len()).find(|at| !digit(*at)).unwrap_or(bytes.len().max(at));
    // A separator and exactly three digits.
    let group = |at: usize, separator: u8| is(at, separator) && after_digits(at + 1) == at + 4;
    let (mut at, mut begin) = (0, 0);
    while at < bytes.len() {
        // The beginning of the letters and digits around this place.
        if !bytes[at].is_ascii_alphanumeric() {
            begin = at + 1;
        }
        if !(digit(at) || is(at, b'.') && digit(at + 1)) {
            at += 1;
            continue;
        }
        if let Some(length) = token_length(&bytes[begin.min(at)..]) {
            sink(begin..begin + length, Found::Token);
            at = begin + length;
            continue;
        }
        let mut end = after_digits(at);
        match comma {
            Comma::Separates => {}
            Comma::Groups => {
                while group(end, b',') {
                    end += 4;
                }
            }
            Comma::IsDecimal => {
                let mut whole = end;
                while group(whole, b'.') {
                    whole += 4;
                }
                if is(whole, b',') && digit(whole + 1) {
                    end = after_digits(whole + 1);
                }
            }
        }
        let has_decimal_comma = comma == Comma::IsDecimal && text[at..end].contains(',');
        if !has_decimal_comma && is(end, b'.') && digit(end + 1) {
            end = after_digits(end + 1);
        }
        if is(end, b'e') || is(end, b'E') {
            let exponent = end + 1 + usize::from(is(end + 1, b'-') || is(end + 1, b'+'));
            end = if digit(exponent) { after_digits(exponent) } else { end };
        }
        let written = &text[at..end];
        let number = match comma {
            _ if !written.contains(',') => written.parse(),
            Comma::IsDecimal => written.replace('.', "").replace(',', ".").parse(),
            _ => written.replace(',', "").parse(),
        };
        let before = &text[..at];
        let sign = ["-", "−", "+"].into_iter().find(|sign| before.ends_with(sign));
        let sign = sign.filter(|sign| !before[..at - sign.len()].ends_with(char::is_alphanumeric));
        let number: f64 = number.unwrap_or(f64::NAN);
        let number = if sign.is_some_and(|sign| sign != "+") { -number } else { number };
        sink(at - sign.map_or(0, str::len)..end, Found::Number(number));
        at = end;
        begin = end;
    }
}

/// The length of the hexadecimal digits at the beginning, if they are a token: after `0x`, or if
/// letters and digits alternate at least twice and no exponent explains it.
fn token_length(bytes: &[u8]) -> Option<usize> {
    let alphanumeric = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let token = &bytes[..alphanumeric];
    // A number may begin with its point.
    let first = token.first()?;
    if let [b'0', b'x' | b'X', rest @ ..] = token {
        return (!rest.is_empty() && rest.iter().all(u8::is_ascii_hexdigit))
            .then_some(alphanumeric);
    }
    let changes =
        token.windows(2).filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit()).count();
    let is_exponent = first.is_ascii_digit()
        && token.iter().filter(|byte| !byte.is_ascii_digit()).all(|byte| b"eE".contains(byte))
        && changes == 2;
    (changes >= 2 && !is_exponent && token.iter().all(u8::is_ascii_hexdigit))
        .then_some(alphanumeric)
}

/// What is unusual about the spelling of a number, with `#` for its digits: `+#`, `0#`, `#.0`,
/// `#.#0`, `.#`, `#e+0#`. None if it is the usual one.
pub fn spelling(written: &str) -> Option<String> {
    let (mantissa, exponent) = match written.find(['e', 'E']) {
        Some(at) => written.split_at(at),
        None => (written, ""),
    };
    let unsigned = mantissa.trim_start_matches(['-', '+', '−']);
    let sign = mantissa[..mantissa.len() - unsigned.len()].trim_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let whole_part = match whole {
        "" => "",
        whole if whole.len() > 1 && whole.starts_with('0') => "0#",
        _ => "#",
    };
    let fraction_part = match fraction {
        "" if unsigned.contains('.') => ".",
        "" => "",
        fraction if fraction.bytes().all(|byte| byte == b'0') => ".0",
        fraction if fraction.ends_with('0') => ".#0",
        _ => ".#",
    };
    let mut exponent_part = String::new();
    if !exponent.is_empty() {
        let digits = exponent.trim_start_matches(['e', 'E', '+', '-']);
        exponent_part.push_str(exponent[..exponent.len() - digits.len()].trim_end_matches('-'));
        exponent_part.push_str(if digits.starts_with('0') { "0#" } else { "#" });
    }
    let is_usual = sign.is_empty()
        && whole_part == "#"
        && matches!(fraction_part, "" | ".#")
        && exponent_part.is_empty();
    (!is_usual).then(|| format!("{sign}{whole_part}{fraction_part}{exponent_part}"))
}

/// The digits of a number that its double does not have.
#[derive(Debug, PartialEq)]
pub struct Rest<'a> {
    /// For a whole number what is missing; otherwise the further digits as a fraction.
    pub number: f64,
    /// The further digits.
    pub digits: &'a str,
}

/// The digits of a number that its double does not have; None if a double can have them all.
pub fn rest(written: &str) -> Option<Rest<'_>> {
    let mantissa = written.split(['e', 'E']).next().unwrap_or(written);
    let unsigned = mantissa.trim_start_matches(['-', '+', '−']);
    let is_whole = unsigned.len() >= 16
        && mantissa.len() == written.len()
        && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    let significant = unsigned.trim_start_matches(['0', '.']);
    let mut digits_before = 0;
    let beyond = significant.char_indices().find(|(_, c)| {
        digits_before += usize::from(c.is_ascii_digit());
        digits_before > DOUBLE_DIGITS
    });
    let digits = beyond.map_or("", |(at, _)| &significant[at..]);
    if is_whole {
        let value: f64 = unsigned.parse().unwrap_or(f64::INFINITY);
        if value < MAX_WHOLE {
            return None;
        }
        let exact: BigInt = unsigned.parse().ok()?;
        // Whole doubles of this size are written without a fraction or an exponent.
        let double: BigInt =
            if value.is_finite() { format!("{value:.0}").parse().ok()? } else { BigInt::ZERO };
        let number: f64 = (exact - double).to_string().parse().unwrap_or(f64::INFINITY);
        return Some(Rest { number, digits });
    }
    if digits.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let number = format!("0.{}", digits.replace('.', "")).parse().unwrap_or(0.0);
    Some(Rest { number, digits })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers_of(text: &str, comma: Comma) -> Vec<f64> {
        let mut found = Vec::new();
        numbers(text, comma, |_, what| {
            if let Found::Number(number) = what {
                found.push(number);
            }
        });
        found
    }

    fn tokens_of(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        numbers(text, Comma::Separates, |range, what| {
            if what == Found::Token {
                found.push(&text[range]);
            }
        });
        found
    }

    #[test]
    fn numbers_have_signs_fractions_and_exponents() {
        let of = |text: &str| numbers_of(text, Comma::Separates);
        assert_eq!(of("12 people, -3.5e-2 or +.25 (−7)."), [12.0, -0.035, 0.25, -7.0]);
        assert_eq!(of("2024-01-05 x-1 1e 1e+ 1.2.3"), [2024.0, 1.0, 5.0, 1.0, 1.0, 1.0, 1.2, 0.3]);
        assert_eq!(of("no number."), [0.0; 0]);
        assert_eq!(of("1e999 5kg x7"), [f64::INFINITY, 5.0, 7.0]);
        assert!(of("-0")[0].is_sign_negative());
    }

    #[test]
    fn a_comma_has_three_meanings() {
        let text = "1,234.5 and -12,75";
        assert_eq!(numbers_of(text, Comma::Separates), [1.0, 234.5, -12.0, 75.0]);
        assert_eq!(numbers_of(text, Comma::Groups), [1234.5, -12.0, 75.0]);
        assert_eq!(numbers_of("1.234.567,5 and 1.5", Comma::IsDecimal), [1_234_567.5, 1.5]);
        assert_eq!(numbers_of("12,75; 1,2,3", Comma::IsDecimal), [12.75, 1.2, 3.0]);
    }

    #[test]
    fn hexadecimal_tokens_are_words() {
        assert_eq!(tokens_of("id 3f2a, 0x1F; a1b2c3: 7"), ["3f2a", "0x1F", "a1b2c3"]);
        assert_eq!(numbers_of("id 3f2a, 0x1F; a1b2c3: 7", Comma::Separates), [7.0]);
        assert!(tokens_of("5kg x7 1e5 2E10 10:05T12 bin3 12ab 0x").is_empty());
    }

    #[test]
    fn spellings_differ_from_the_usual_one() {
        for usual in ["5", "-5", "0", "0.5", "12.25", "-0.125"] {
            assert_eq!(spelling(usual), None, "{usual}");
        }
        for (written, style) in [
            ("1e5", "#e#"),
            ("1E5", "#E#"),
            ("-1.5e-07", "#.#e0#"),
            ("1e+05", "#e+0#"),
            ("+5", "+#"),
            ("−5", "−#"),
            ("007", "0#"),
            ("5.0", "#.0"),
            (".5", ".#"),
            ("1.50", "#.#0"),
        ] {
            assert_eq!(spelling(written).as_deref(), Some(style), "{written}");
        }
    }

    #[test]
    fn digits_beyond_a_double_are_not_lost() {
        assert_eq!(rest("9007199254740993"), Some(Rest { number: 1.0, digits: "" }));
        assert_eq!(rest("-9007199254740993").unwrap().number, 1.0);
        // The double nearest to 2^70 + 3 is 2^70.
        let digits = Some(Rest { number: 3.0, digits: "03427" });
        assert_eq!(rest("1180591620717411303427"), digits);
        assert_eq!(rest("0.100000000000000000012"), Some(Rest { number: 0.0012, digits: "0012" }));
        for usual in
            ["5", "9007199254740991", "0.1", "0.30000000000000004", "1.7976931348623157e308"]
        {
            assert_eq!(rest(usual), None, "{usual}");
        }
    }
}
