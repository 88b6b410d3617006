//! Leaks that are hidden in rare draws, in values that hardly repeat, in digits, in parities and in
//! orders; each beside an honest twin.

use dp_audit::rand::RngExt;
use dp_audit::{Cell, Side, Verdict};
use dp_audit::{noise::Generator, noise::bernoulli, noise::gaussian, noise::laplace};

use crate::harness::{Outputs, audit_of, report, sure};

type Draw = fn(f64, &mut Generator) -> Vec<f64>;

/// The verdict on this mechanism, whose answer is 0 on the left and 1 on the right.
fn verdict(width: usize, epsilon: f64, delta: f64, draw: Draw) -> Verdict {
    let draw = move |side, rng: &mut Generator, row: &mut [Cell]| {
        let answer = f64::from(u8::from(side == Side::Right));
        row.iter_mut().zip(draw(answer, rng)).for_each(|(cell, value)| *cell = Cell::number(value));
    };
    report(&audit_of(epsilon, delta, Outputs { width, draw }), sure(500_000)).verdict
}

/// Whether the answer of randomized response with ε = 2 is yes.
fn yes(answer: f64, rng: &mut Generator) -> bool {
    (answer == 1.0) ^ bernoulli(rng, 1.0 / (1.0 + 2.0_f64.exp()))
}

/// The leak is found, and its twin is not flagged, which it is by chance once in a million times.
fn assert_found(width: usize, delta: f64, leak: Draw, honest: Draw) {
    assert_eq!(verdict(width, 1.0, delta, leak), Verdict::Violated);
    assert_ne!(verdict(width, 1.0, delta, honest), Verdict::Violated);
}

/// Laplace noise with ε = 1 from so many random bits.
fn from_bits(bits: i32, rng: &mut Generator) -> f64 {
    let values = 2_f64.powi(bits);
    let uniform = ((rng.random::<f64>() * values).floor() + 0.5) / values - 0.5;
    -(1.0 - 2.0 * uniform.abs()).ln().copysign(uniform)
}

#[test]
fn noise_from_few_random_bits_is_remembered() {
    assert_found(
        2,
        0.0,
        |answer, rng| vec![answer + from_bits(17, rng), gaussian(rng, 1.0)],
        |answer, rng| vec![answer + laplace(rng, 1.0), gaussian(rng, 1.0)],
    );
}

#[test]
fn values_with_hardly_any_noise_are_found_in_a_few_draws_of_a_thousand() {
    assert_found(
        1,
        0.0,
        |answer, rng| {
            let scale = if bernoulli(rng, 0.003) { 1e-7 } else { 1.0 };
            vec![answer + laplace(rng, scale)]
        },
        |answer, rng| vec![answer + laplace(rng, 1.0)],
    );
}

#[test]
fn a_slice_of_one_draw_in_a_thousand_is_found() {
    assert_found(
        3,
        1e-5,
        |answer, rng| {
            let mark = gaussian(rng, 1.0);
            // Beyond 3.09 standard deviations: 1e-3.
            let scale = if mark < -3.09 { 1e-3 } else { 1.0 };
            vec![answer + laplace(rng, scale), gaussian(rng, 1.0), mark]
        },
        |answer, rng| vec![answer + laplace(rng, 1.0), gaussian(rng, 1.0), gaussian(rng, 1.0)],
    );
}

#[test]
fn the_last_digit_is_read() {
    assert_found(
        1,
        0.0,
        |answer, rng| {
            vec![gaussian(rng, 1e4).round() * 2.0 + f64::from(u8::from(yes(answer, rng)))]
        },
        |answer, rng| vec![gaussian(rng, 1e4).round() * 2.0 + 2.0 * answer],
    );
}

#[test]
fn the_parity_of_six_bits_beside_a_number_is_found() {
    assert_found(
        13,
        0.0,
        |answer, rng| {
            let mut bits: [bool; 12] = std::array::from_fn(|_| rng.random());
            bits[11] = bits[..10].iter().step_by(2).fold(yes(answer, rng), |odd, bit| odd ^ bit);
            let bits = bits.into_iter().map(|bit| f64::from(u8::from(bit)));
            bits.chain([answer + laplace(rng, 1.0)]).collect()
        },
        |answer, rng| {
            let bits = (0..12).map(|_| f64::from(u8::from(rng.random::<bool>())));
            let mut row: Vec<f64> = bits.collect();
            row.push(answer + laplace(rng, 1.0));
            row
        },
    );
}

/// Nine items in random order.
fn shuffled(rng: &mut Generator) -> Vec<f64> {
    let mut items: Vec<f64> = (0..9).map(f64::from).collect();
    (1..9).rev().for_each(|last| items.swap(last, rng.random_range(0..=last)));
    items
}

#[test]
fn the_place_of_an_item_is_found() {
    assert_found(
        10,
        0.0,
        |answer, rng| {
            let mut items = shuffled(rng);
            let place = rng.random_range(0..5) + if yes(answer, rng) { 5 } else { 0 };
            items.insert(place, 9.0);
            items
        },
        |_, rng| {
            let mut items = shuffled(rng);
            items.insert(rng.random_range(0..10), 9.0);
            items
        },
    );
}
