//! Exact binomial limits that hold up for rare events and billions of draws.
//!
//! Library versions of the incomplete beta function are no ground to stand on here: continued fractions that stop after a fixed number of terms have not
//! converged near the mean of 10^8 draws and err on the unsafe side, and inverses do not return for rare events. So the tail is summed: Loader's
//! saddle-point form gives the first term to full precision, and each next term is the last one times a ratio below one. All terms are positive, nothing cancels.

use std::f64::consts::TAU;

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

/// `P(X = k)`, after Loader (2000): Stirling's series and deviances instead of differences of huge logarithms.
fn point(k: u64, n: u64, p: f64, q: f64) -> f64 {
    let (x, m, total) = (k as f64, (n - k) as f64, n as f64);
    if k == n {
        // p^n, through the smaller of p and q.
        return (total * if p < 0.5 { p.ln() } else { (-q).ln_1p() }).exp();
    }
    if k == 0 {
        return (total * if q < 0.5 { q.ln() } else { (-p).ln_1p() }).exp();
    }
    let exponent = stirling_error(n) - stirling_error(k) - stirling_error(n - k) - deviance(x, total * p) - deviance(m, total * q);
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

/// `x·ln(x/m) + m − x`, by its series where the terms would cancel.
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

/// The Clopper–Pearson lower limit of `p`, as log-odds: if `P(X ≥ k) = α` at `p = L`, then `P(L(X) > p) ≤ α` whatever `p` is.
///
/// Returns `ln(L/(1 − L))`; −∞ for `k = 0`, and when no α is left to spend.
#[must_use]
pub fn lower_log_odds(k: u64, n: u64, alpha: f64) -> f64 {
    let alpha = alpha * SPENT;
    if k == 0 || n == 0 || alpha <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if k >= n {
        // All of n: P(X ≥ n) = p^n = α.
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

/// The log-odds at which `P(X ≥ k)` is `level` (`0 < level < 1`), from below; for `0 < k ≤ n`.
///
/// The tail grows with p. An interval that holds the solution is found by doubling and narrowed by false position on the logarithm of
/// the tail, which is nearly straight; the end that is known to lie below is returned.
#[must_use]
pub fn solve(k: u64, n: u64, level: f64) -> f64 {
    let excess = |log_odds: f64| upper_tail(k, n, logistic(log_odds)).ln() - level.ln();
    let start = (k as f64 / (n - k).max(1) as f64).ln();
    // One standard error of the log-odds.
    let mut step = (1.0 / k as f64 + 1.0 / (n - k).max(1) as f64).sqrt();
    let (mut low, mut high) = (start, start);
    let (mut below, mut above) = (excess(low), excess(high));
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
    // The Illinois variant: an end that stays put twice counts half, so that both ends close in.
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

/// `1/(1 + e^-t)`.
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

    #[test]
    fn small_tails_agree_with_the_definition() {
        // Σ C(n, j) p^j q^(n−j), with binomial coefficients from Pascal's triangle.
        for n in 1..=30_u64 {
            let mut row = vec![1.0_f64];
            for _ in 0..n {
                row = (0..=row.len()).map(|j| row.get(j).unwrap_or(&0.0) + if j > 0 { row[j - 1] } else { 0.0 }).collect();
            }
            for p in [1e-6_f64, 0.1, 0.5, 0.73, 0.999] {
                for k in 0..=n {
                    let terms = row.iter().zip(0_u64..).filter(|(_, j)| *j >= k);
                    let exact: f64 = terms.map(|(ways, j)| ways * p.powf(j as f64) * (1.0 - p).powf((n - j) as f64)).sum();
                    let found = upper_tail(k, n, p);
                    assert!((found / exact - 1.0).abs() < 1e-11, "P(X ≥ {k}), n = {n}, p = {p}: {found} against {exact}");
                }
            }
        }
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
    fn nothing_is_bounded_without_evidence_or_level() {
        assert_eq!(lower_limit(0, 100, 0.05), 0.0);
        assert_eq!(lower_limit(0, 0, 0.05), 0.0);
        assert_eq!(lower_limit(5, 100, 0.0), 0.0);
    }
}
