//! Formats numbers for people.

use std::fmt;

/// Displays a number with at most five significant digits and no trailing zeros. Cells store −0 as
/// the negative number closest to zero, so that number is written as `-0`, and both zeros as `0`.
pub struct Brief(pub f64);

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 || self.0 == 0_f64.next_down() {
            return f.write_str(if self.0 < 0.0 { "-0" } else { "0" });
        }
        let magnitude = self.0.abs();
        if magnitude != 0.0 && !(1e-4..1e7).contains(&magnitude) && magnitude.is_finite() {
            let text = format!("{:.3e}", self.0);
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            return write!(f, "{digits}e{exponent}");
        }
        let decimals = if magnitude >= 10_000.0 || magnitude == 0.0 {
            0
        } else {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // 1e-4 ≤ magnitude < 1e4
            {
                (4.0 - magnitude.log10().floor()).clamp(0.0, 8.0) as usize
            }
        };
        let text = format!("{:.decimals$}", self.0);
        if text.contains('.') {
            f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
        } else {
            f.write_str(&text)
        }
    }
}

/// Rounds to `digits` significant digits, towards −∞: rounding must never make a bound larger.
#[must_use]
pub fn round_down(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    #[allow(clippy::cast_possible_truncation)] // the exponent of a finite float
    let scale = 10_f64.powi(digits - 1 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).floor() / scale;
    // Not all powers of ten are exact, so the direction is checked.
    if rounded.is_finite() && rounded <= value { rounded } else { value }
}

/// A share in per cent: `73.1 %`, with more digits near 0 and 100.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let distance = percent.min(100.0 - percent);
    if distance <= 0.0 {
        return format!("{percent:.0} %");
    }
    let mut decimals = 1;
    while decimals < 8 && distance * 1.000_001 < 10_f64.powi(-decimals) {
        decimals += 1;
    }
    format!("{percent:.*} %", usize::try_from(decimals).unwrap_or(1))
}

/// How many of something there are: `1 audit`, `1,234 draws`, `2 processes`.
#[must_use]
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = match count {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{plural}", grouped(count))
}

/// A count with commas: `1,234,567`.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_briefly() {
        let brief = |x: f64| Brief(x).to_string();
        assert_eq!(brief(0.0), "0");
        assert_eq!(brief(-1.5), "-1.5");
        assert_eq!(brief(1e6), "1000000");
        assert_eq!(brief(123_456.7), "123457");
        assert_eq!(brief(2.5e-9), "2.5e-9");
        assert_eq!(brief(0.731_058_6), "0.73106");
        assert_eq!(brief(f64::INFINITY), "inf");
    }

    #[test]
    fn counts_have_commas() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn rounding_is_downwards() {
        assert_eq!(round_down(0.998_765_49, 6), 0.998_765);
        assert_eq!(round_down(1_234_567.9, 6), 1_234_560.0);
        assert_eq!(round_down(1.234_567_9e-9, 6), 1.234_56e-9);
        assert_eq!(-round_down(-1.000_001_1, 6), 1.000_01);
        assert_eq!(round_down(1.9975, 4), 1.997);
        assert_eq!(round_down(f64::INFINITY, 6), f64::INFINITY);
        assert_eq!(round_down(0.0, 6), 0.0);
    }

    #[test]
    fn shares_have_enough_digits() {
        assert_eq!(percent(0.731_058), "73.1 %");
        assert_eq!(percent(0.999), "99.9 %");
        assert_eq!(percent(0.999_95), "99.995 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(2.5e-5), "0.003 %");
    }
}
