//! Exact binomial limits that hold up for rare events and billions of draws.
//!
//! Library versions of the incomplete beta function cannot be used here. A continued fraction that
//! stops after a fixed number of terms has not converged near the mean of 10^8 draws, and its error
//! is on the unsafe side. Inverse functions do not return for rare events. So the tail is summed:
//! Loader's saddle-point form gives the first term to full precision, and each next term is the
//! previous one times a ratio below one. All terms are positive, so nothing cancels.

use std::f64::consts::{SQRT_2, TAU};

use statrs::function::erf::{erfc, erfc_inv};

/// The share of α that is spent; the rest absorbs rounding errors, which are below 1e-9.
const SPENT: f64 = 1.0 - 1e-6;

/// `P(X ≥ k)` for `X ~ Binomial(n, p)`. Takes about as many steps as the standard deviation of X.
#[must_use]
pub fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        1.0
    } else if k > n || p <= 0.0 {
        0.0
    } else if p >= 1.0 {
        1.0
    } else if k as f64 >= n as f64 * p {
        sum_from(k, n, p, 1.0 - p)
    } else {
        // P(X ≤ k − 1) is the upper tail of the failures.
        1.0 - sum_from(n - k + 1, n, 1.0 - p, p)
    }
}

/// `Σ_{j ≥ k} P(X = j)` for `k` at or above the mean; `q = 1 − p`.
fn sum_from(k: u64, n: u64, p: f64, q: f64) -> f64 {
    let (first, odds) = (point(k, n, p, q), p / q);
    let (mut sum, mut term) = (1.0, 1.0);
    let (mut j, n) = (k as f64, n as f64);
    while j < n && term > 1e-17 * sum {
        term *= (n - j) / (j + 1.0) * odds;
        sum += term;
        j += 1.0;
    }
    (first * sum).min(1.0)
}

/// `P(X = k)`, after Loader (2000): Stirling's series and deviances instead of differences of huge
/// logarithms.
#[must_use]
pub fn point(k: u64, n: u64, p: f64, q: f64) -> f64 {
    let (x, m, total) = (k as f64, (n - k) as f64, n as f64);
    if k == n {
        // p^n, computed from the smaller of p and q.
        return (total * if p < 0.5 { p.ln() } else { (-q).ln_1p() }).exp();
    }
    if k == 0 {
        return (total * if q < 0.5 { q.ln() } else { (-p).ln_1p() }).exp();
    }
    let exponent = stirling_error(n)
        - stirling_error(k)
        - stirling_error(n - k)
        - deviance(x, total * p)
        - deviance(m, total * q);
    exponent.exp() * (total / (TAU * x * m)).sqrt()
}

/// `ln n! − ln(√(2πn)·(n/e)^n)`.
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n < 16 {
        let factorial: f64 = (2..=n).map(|j| j as f64).product();
        return factorial.ln() - (x + 0.5) * x.ln() + x - 0.5 * TAU.ln();
    }
    let r = 1.0 / (x * x);
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - r / 1188.0) * r) * r) * r) / x
}

/// `x·ln(x/m) + m − x`. Where these terms would cancel, its series is used instead.
fn deviance(x: f64, m: f64) -> f64 {
    let d = x - m;
    if d.abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let v = d / (x + m);
    let mut sum = d * v;
    let mut power = 2.0 * x * v;
    let mut j = 1.0;
    loop {
        power *= v * v;
        j += 2.0;
        let next = sum + power / j;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

/// The Clopper–Pearson lower limit `L` of `p`, as log-odds. `L` is the `p` at which `P(X ≥ k) = α`;
/// then `P(L(X) > p) ≤ α` for every `p`.
///
/// Returns `ln(L/(1 − L))`; −∞ for `k = 0`, and when there is no α to spend.
#[must_use]
pub fn lower_log_odds(k: u64, n: u64, alpha: f64) -> f64 {
    let alpha = alpha * SPENT;
    if k == 0 || n == 0 || alpha <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if k >= n {
        // All n draws: P(X ≥ n) = p^n = α.
        let log_p = alpha.ln() / n as f64;
        return log_p - (-log_p.exp_m1()).ln();
    }
    solve(k, n, alpha)
}

/// The Clopper–Pearson lower limit of `p`.
#[must_use]
pub fn lower_limit(k: u64, n: u64, alpha: f64) -> f64 {
    logistic(lower_log_odds(k, n, alpha))
}

/// The log-odds at which `P(X ≥ k)` is `level` (`0 < level < 1`), approximated from below; for `0 <
/// k ≤ n`.
///
/// The tail grows with p. The search starts at the normal approximation and finds an interval that
/// contains the solution. It narrows the interval by false position on the logarithm of the tail,
/// which is nearly a straight line, and returns the lower end of the interval.
#[must_use]
pub fn solve(k: u64, n: u64, level: f64) -> f64 {
    let excess = |log_odds: f64| upper_tail(k, n, logistic(log_odds)).ln() - level.ln();
    let failures = (n - k).max(1) as f64;
    let error = (1.0 / k as f64 + 1.0 / failures).sqrt();
    let start = (k as f64 / failures).ln() - normal_quantile(level) * error;
    let mut step = error / 16.0;
    let (mut low, mut high) = (start, start);
    let mut below = excess(low);
    let mut above = below;
    while below >= 0.0 {
        (high, above) = (low, below);
        low -= step;
        below = excess(low);
        step *= 2.0;
    }
    while above < 0.0 {
        (low, below) = (high, above);
        high += step;
        above = excess(high);
        step *= 2.0;
    }
    // The Illinois variant of false position: each step halves the weight of the end that stays, so
    // that both ends converge.
    let (mut weight_below, mut weight_above) = (below, above);
    for _ in 0..200 {
        if high - low <= 1e-11 * low.abs().max(1e-3) {
            break;
        }
        let guess = (low * weight_above - high * weight_below) / (weight_above - weight_below);
        let middle = if guess > low && guess < high { guess } else { f64::midpoint(low, high) };
        if middle <= low || middle >= high {
            break;
        }
        let value = excess(middle);
        if value < 0.0 {
            (low, weight_below) = (middle, value);
            weight_above /= 2.0;
        } else {
            (high, weight_above) = (middle, value);
            weight_below /= 2.0;
        }
    }
    low
}

/// The value that a standard normal variable exceeds with this probability.
#[must_use]
pub fn normal_quantile(probability: f64) -> f64 {
    SQRT_2 * erfc_inv(2.0 * probability.clamp(1e-300, 1.0 - f64::EPSILON))
}

/// The probability that a standard normal variable exceeds this value.
#[must_use]
pub fn normal_tail(value: f64) -> f64 {
    erfc(value / SQRT_2) / 2.0
}

/// The logarithm of the mean of the exponentials, computed without overflow.
#[must_use]
pub fn log_mean_exp(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return f64::NEG_INFINITY;
    }
    largest + (logs.iter().map(|log| (log - largest).exp()).sum::<f64>() / logs.len() as f64).ln()
}

/// The logistic function `1/(1 + e^-t)`: the probability with these log-odds.
#[must_use]
pub fn logistic(log_odds: f64) -> f64 {
    if log_odds >= 0.0 {
        1.0 / (1.0 + (-log_odds).exp())
    } else {
        let odds = log_odds.exp();
        odds / (1.0 + odds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The binomial coefficients of `n`, from Pascal's triangle. They are exact, because they are
    /// below 2^53.
    fn coefficients(n: u64) -> Vec<f64> {
        let mut row = vec![1.0_f64];
        for _ in 0..n {
            row = (0..=row.len())
                .map(|j| row.get(j).unwrap_or(&0.0) + if j > 0 { row[j - 1] } else { 0.0 })
                .collect();
        }
        row
    }

    /// `P(X ≥ k)`: Σ C(n, j) p^j q^(n−j).
    fn tail_by_definition(k: u64, n: u64, p: f64) -> f64 {
        let terms = coefficients(n).into_iter().zip(0_u64..).filter(|(_, j)| *j >= k);
        terms
            .map(|(coefficient, j)| coefficient * p.powf(j as f64) * (1.0 - p).powf((n - j) as f64))
            .sum()
    }

    fn close(found: f64, exact: f64, tolerance: f64) -> bool {
        (found / exact - 1.0).abs() <= tolerance
    }

    #[test]
    fn small_tails_agree_with_the_definition() {
        for n in 1..=30 {
            for p in [1e-6, 0.1, 0.5, 0.73, 0.999] {
                for k in 0..=n {
                    let (found, exact) = (upper_tail(k, n, p), tail_by_definition(k, n, p));
                    assert!(
                        close(found, exact, 1e-11),
                        "P(X ≥ {k}), n = {n}, p = {p}: {found} against {exact}"
                    );
                }
            }
        }
        assert_eq!(
            [upper_tail(6, 5, 0.3), upper_tail(3, 5, 0.0), upper_tail(3, 5, 1.0)],
            [0.0, 0.0, 1.0]
        );
    }

    #[test]
    fn point_probabilities_agree_with_the_definition_and_are_symmetric() {
        for (p, q) in [(1e-9_f64, 1.0 - 1e-9_f64), (0.25, 0.75), (0.5, 0.5)] {
            for (coefficient, k) in coefficients(30).into_iter().zip(0_u64..) {
                let exact = coefficient * p.powf(k as f64) * q.powf((30 - k) as f64);
                for found in [point(k, 30, p, q), point(30 - k, 30, q, p)] {
                    assert!(
                        close(found, exact, 1e-12),
                        "k = {k}, p = {p}: {found} against {exact}"
                    );
                }
            }
        }
        // (1 − 1/n)^n = exp(−1 − 1/2n − …). The result is wrong if 1 − 1/n is rounded first.
        let exact = (-1.0 - 0.5e-9_f64).exp();
        let n = 1_000_000_000;
        for found in [point(0, n, 1e-9, 1.0 - 1e-9), point(n, n, 1.0 - 1e-9, 1e-9)] {
            assert!(close(found, exact, 1e-12), "{found} against {exact}");
        }
    }

    #[test]
    fn stirling_errors_have_the_known_differences() {
        // S(n) − S(n + 1) = (n + ½)·ln(1 + 1/n) − 1 = Σ_{j ≥ 1} 1/((2j + 1)(2n + 1)^2j); all terms
        // are positive.
        for n in [1, 2, 7, 14, 15, 16, 17, 25, 100] {
            let square = ((2 * n + 1) as f64).powi(2);
            let exact: f64 = (1..40).map(|j| 1.0 / (f64::from(2 * j + 1) * square.powi(j))).sum();
            let found = stirling_error(n) - stirling_error(n + 1);
            // Up to 15!, the logarithm of the factorial has a rounding error of 1e-14. The series
            // for larger n has an error of 1e-16.
            let tolerance = if n < 16 { 2e-14 } else { 1e-16 };
            assert!((found - exact).abs() < tolerance, "n = {n}: {found} against {exact}");
        }
    }

    #[test]
    fn deviances_agree_with_their_taylor_series() {
        // With x = m(1 + u): m·((1 + u)·ln(1 + u) − u) = m·Σ_{j ≥ 2} (−u)^j/(j(j − 1)).
        for (m, difference) in [
            (1e8, 10.0),
            (1e8, 1e4),
            (1e8, 1e6),
            (1000.0, 50.0),
            (1000.0, 170.0),
            (1000.0, 250.0),
            (1000.0, 500.0),
        ] {
            for difference in [difference, -difference] {
                let u: f64 = difference / m;
                let exact: f64 =
                    m * (2..80).map(|j| (-u).powi(j) / f64::from(j * (j - 1))).sum::<f64>();
                let found = deviance(m + difference, m);
                assert!(
                    close(found, exact, 1e-12),
                    "{difference} from {m}: {found} against {exact}"
                );
            }
        }
    }

    #[test]
    fn limits_agree_with_the_definition() {
        for n in [1, 2, 7, 40] {
            for k in 1..=n {
                for alpha in [1e-9, 0.05, 0.3, 0.8, 0.9999] {
                    let solved = tail_by_definition(k, n, logistic(solve(k, n, alpha)));
                    assert!(
                        solved <= alpha * (1.0 + 1e-12) && solved > alpha * (1.0 - 1e-8),
                        "{k} of {n} at {alpha}: {solved}"
                    );
                    // One millionth of α is held back.
                    let spent = tail_by_definition(k, n, lower_limit(k, n, alpha));
                    assert!(
                        (spent / alpha - 1.0 + 1e-6).abs() < 1e-7,
                        "{k} of {n} at {alpha}: {spent}"
                    );
                }
            }
        }
        // The search may also start exactly at the solution.
        let found = solve(5, 10, upper_tail(5, 10, 0.5));
        assert!(found <= 0.0 && found > -1e-12, "{found}");
    }

    #[test]
    fn limits_grow_with_the_count_and_with_alpha() {
        let mut last = 0.0;
        for k in 0..=200 {
            let limit = lower_limit(k, 200, 0.05);
            assert!(limit >= last && limit <= k as f64 / 200.0);
            assert!(lower_limit(k, 200, 0.01) <= limit);
            last = limit;
        }
    }

    #[test]
    fn without_successes_or_without_alpha_the_limit_is_zero() {
        assert_eq!(lower_limit(0, 100, 0.05), 0.0);
        assert_eq!(lower_limit(0, 0, 0.05), 0.0);
        assert_eq!(lower_limit(5, 100, 0.0), 0.0);
        assert_eq!(lower_limit(100, 100, 0.0), 0.0);
    }

    #[test]
    fn normal_quantiles_agree_with_tables() {
        let tables = [
            (0.05, 1.644_853_626_951),
            (0.025, 1.959_963_984_540),
            (1e-6, 4.753_424_308_823),
            (0.5, 0.0),
        ];
        let whole = [(0.158_655_253_931_457, 1.0), (0.022_750_131_948_179_2, 2.0)];
        for (probability, z) in tables.into_iter().chain(whole) {
            assert!(
                (normal_quantile(probability) - z).abs() < 1e-9,
                "{probability}: {}",
                normal_quantile(probability)
            );
            assert!((normal_quantile(1.0 - probability) + z).abs() < 1e-9);
        }
        // The result is finite for every argument.
        assert!(normal_quantile(0.0) > 30.0 && normal_quantile(0.0).is_finite());
        assert!(normal_quantile(1.0) < -8.0 && normal_quantile(1.0).is_finite());
    }

    /// Regions use the inverse of a library. A score that is wrong by Δ changes the level by the
    /// factor `1 + zΔ`; the part of α that `SPENT` leaves covers 1e-6, so `zΔ < 1e-7` is enough.
    #[test]
    #[allow(clippy::excessive_precision, clippy::unreadable_literal)] // as computed, in 40 digits
    fn normal_scores_agree_with_forty_digits() {
        // z with `erfc(z/√2)/2 = p`, solved with mpmath in 60 digits at the double p.
        let exact = [
            (0.4999, 0.0002506628300880074923888500767004841497067),
            (0.3, 0.5244005127080408159694543622639554364137),
            (0.1, 1.281551565544600435334517089681720560879),
            (0.025, 1.959963984540054211779584194227173967956),
            (0.001, 3.090232306167813535358004576258614768973),
            (2e-5, 4.107479654586249313125898160589300789767),
            (1e-8, 5.612001244174788727930120657078706402045),
            (1e-12, 7.034483825301131932614176004484282849855),
            (1e-20, 9.262340089798407579572094604282236104801),
            (1e-50, 14.93333753478848898065821148085252895836),
            (1e-100, 21.27345356096532429417951703536194580658),
            (1e-200, 30.20559417957964306312401366232726963559),
            (1e-300, 37.04709629936119923654704250489022234364),
        ];
        for (probability, z) in exact {
            let (score, tail): (f64, f64) = (normal_quantile(probability), normal_tail(z));
            assert!((score - z).abs() * z.max(1.0) < 1e-7, "{probability}: {score}");
            assert!((tail / probability - 1.0).abs() < 1e-7, "{probability}: {tail}");
        }
    }

    #[test]
    fn log_odds_of_any_size_become_probabilities() {
        assert_eq!(
            [f64::NEG_INFINITY, -800.0, 0.0, 800.0, f64::INFINITY].map(logistic),
            [0.0, 0.0, 0.5, 1.0, 1.0]
        );
        assert!(
            close(logistic(3.0_f64.ln()), 0.75, 1e-15)
                && close(logistic(-3.0_f64.ln()), 0.25, 1e-15)
        );
        // e^-740 is still positive, while e^740 overflows.
        assert_eq!(logistic(-740.0), (-740.0_f64).exp());
    }
}
