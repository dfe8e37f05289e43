//! The plot of a history: modulus and noise after each operation.

use serde::Deserialize;

use super::line::{Join, LinePlot, Series};

/// What an operation left, as `everlevel explain --json` has it.
#[derive(Deserialize)]
pub struct NoisePoint {
    /// Its number.
    pub row: usize,
    /// The stage of the circuit that it belongs to.
    pub stage: Option<String>,
    /// log2 of the modulus.
    pub modulus_bits: f64,
    /// log2 of the bound on the noise.
    pub bound_bits: f64,
    /// That of the noise on average, where there is a model of it.
    pub estimate_bits: Option<f64>,
    /// That of the noise, where it was measured.
    pub measured_bits: Option<f64>,
}

/// The plot, with the stages named above it.
pub fn noise_plot(params: &str, points: &[NoisePoint]) -> LinePlot {
    let line = |name: &str, join, value: &dyn Fn(&NoisePoint) -> Option<f64>| {
        let points: Vec<_> =
            points.iter().filter_map(|p| Some((p.row as f64, value(p)?))).collect();
        (!points.is_empty()).then(|| Series { name: name.into(), points, join })
    };
    let series = [
        line("modulus", Join::Steps, &|p| Some(p.modulus_bits)),
        line("bound on the noise", Join::Straight, &|p| Some(p.bound_bits)),
        line("measured noise", Join::Dots, &|p| p.measured_bits),
        line("average estimate", Join::Straight, &|p| p.estimate_bits),
    ];
    let mut spans: Vec<(f64, String)> = Vec::new();
    for point in points {
        let Some(stage) = &point.stage else { continue };
        match spans.last_mut().filter(|(_, name)| name == stage) {
            Some((end, _)) => *end = point.row as f64,
            None => spans.push((point.row as f64, stage.clone())),
        }
    }
    LinePlot {
        title: format!("Noise, {params}"),
        description: "log2 of the modulus, of the proved bound on the noise, and of the noise \
                      itself, after each operation; between modulus and noise is what is left to \
                      compute with"
            .into(),
        x_label: "operation".into(),
        y_label: "bits (log2)".into(),
        log: [false; 2],
        series: series.into_iter().flatten().collect(),
        spans,
    }
}
