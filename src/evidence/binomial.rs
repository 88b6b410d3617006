//! Exact binomial limits that hold up for rare events and billions of draws.
//!
//! The inverse beta function of the usual libraries does not return, or errs on the unsafe side, for rare events. The forward function
//! is accurate, so the limits are found by halving an interval of log-odds on it. A hundredth of a per cent of α is kept back for rounding errors.

use statrs::function::beta::beta_reg;

/// The share of α that is spent; the rest absorbs the error of the incomplete beta function (below 1e-5 up to a billion draws).
const SPENT: f64 = 1.0 - 1e-4;

/// `P(X ≥ k)` for `X ~ Binomial(n, p)`.
#[must_use]
pub fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        1.0
    } else if k > n || p <= 0.0 {
        0.0
    } else if p >= 1.0 {
        1.0
    } else {
        beta_reg(k as f64, (n - k) as f64 + 1.0, p)
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

/// The log-odds at which `P(X ≥ k)` is `level`, from below.
///
/// For `0 < k ≤ n`. The tail grows with p, so an interval that holds the solution is doubled downwards or upwards and then halved.
#[must_use]
pub fn solve(k: u64, n: u64, level: f64) -> f64 {
    let below = |log_odds: f64| upper_tail(k, n, logistic(log_odds)) < level;
    let start = (k as f64 / (n - k).max(1) as f64).ln();
    // One standard error of the log-odds.
    let mut step = (1.0 / k as f64 + 1.0 / (n - k).max(1) as f64).sqrt();
    let (mut low, mut high) = (start, start);
    while !below(low) {
        low -= step;
        step *= 2.0;
    }
    while below(high) {
        high += step;
        step *= 2.0;
    }
    while high - low > 1e-12 * low.abs().max(1e-3) {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if below(middle) { low = middle } else { high = middle }
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
