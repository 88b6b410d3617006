//! The Rust snippets of the README and the tutorial, to the word.

#[test]
fn the_noisy_sum_keeps_its_promise() {
    use dp_audit::noise::laplace;
    dp_audit::audit(|ages: &Vec<f64>, rng| ages.iter().sum::<f64>() + laplace(rng, 100.0))
        .claim(1.0, 0.0)                                        // ε, δ
        .pair(vec![34.0, 51.0], vec![34.0, 51.0, 100.0])        // neighbours; several pairs may follow
        .draws(1_000_000)
        .seed(7)                                                // the same draws in every run of the test
        .run()
        .assert_consistent();                                   // or assert_violated() for a broken twin
}

#[test]
fn a_sum_without_clamping_is_caught() {
    use dp_audit::noise::laplace;
    dp_audit::audit(|ages: &Vec<f64>, rng| ages.iter().sum::<f64>() + laplace(rng, 100.0))
        .claim(1.0, 0.0)
        .pair(vec![34.0], vec![34.0, 200.0])
        .draws(1_000_000)
        .seed(7)
        .run()
        .assert_violated();
}
