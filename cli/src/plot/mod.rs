//! Line plots as SVG, without scripts or fonts of their own, readable on light and on dark ground.

mod axis;
mod line;
mod noise;
pub mod svg;

pub use line::{Join, LinePlot, Series};
pub use noise::{NoisePoint, noise_plot};
