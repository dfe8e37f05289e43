//! From values to places, with ticks at round values.

/// An axis, linear or logarithmic.
pub struct Axis {
    from: f64,
    to: f64,
    places: [f64; 2],
    log: bool,
    step: f64,
}

impl Axis {
    /// Over all these values.
    pub fn over(values: impl Iterator<Item = f64>, places: [f64; 2]) -> Self {
        let (least, most) = ends(values);
        let (least, most) = if least.is_finite() {
            (least, most.max(least + 1e-9).max(least + least.abs() * 1e-9))
        } else {
            (0.0, 1.0)
        };
        // A step of 1, 2 or 5 times a power of ten that makes five to twelve ticks.
        let rough = (most - least) / 10.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|k| k * power)
            .find(|s| *s >= rough)
            .unwrap_or(rough);
        Axis { from: least, to: most, places, log: false, step }
    }

    /// With ticks at whole numbers only.
    pub fn whole(mut self) -> Self {
        self.step = self.step.max(1.0).round();
        self
    }

    /// Over the decades of all of these values that are positive.
    pub fn logarithmic(values: impl Iterator<Item = f64>, places: [f64; 2]) -> Self {
        let (least, most) = ends(values.filter(|v| *v > 0.0));
        let (least, most) = if least.is_finite() { (least, most) } else { (1.0, 10.0) };
        let from = least.log10().floor();
        Axis { from, to: most.log10().ceil().max(from + 1.0), places, log: true, step: 1.0 }
    }

    /// The place of a value; what is not positive goes to the beginning of a logarithmic axis.
    pub fn place(&self, value: f64) -> f64 {
        let value = match self.log {
            true if value > 0.0 => value.log10(),
            true => self.from,
            false => value,
        };
        self.places[0]
            + (value - self.from) / (self.to - self.from) * (self.places[1] - self.places[0])
    }

    /// Values and places.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, f64)> {
        let first = (self.from / self.step - 1e-9).ceil() as i64;
        let last = (self.to / self.step + 1e-9).floor() as i64;
        // Between powers of ten, where there are few of them.
        let within: &[f64] = if self.log && last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let value = move |i: i64| {
            if self.log { 10f64.powi(i as i32) } else { (i as f64 * self.step * 1e6).round() / 1e6 }
        };
        let values = (first..=last).flat_map(move |i| within.iter().map(move |k| k * value(i)));
        let end = if self.log { 10f64.powf(self.to) * (1.0 + 1e-9) } else { f64::INFINITY };
        values.filter(move |v| *v <= end).map(|v| (v, self.place(v)))
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ticks() {
        let axis = Axis::over([0.0, 95.0].into_iter(), [100.0, 290.0]);
        let ticks: Vec<(f64, f64)> = axis.ticks().collect();
        assert_eq!((ticks.len(), ticks[0], ticks[9]), (10, (0.0, 100.0), (90.0, 280.0)));
        let axis = Axis::logarithmic([0.2, 46203.0, 0.0].into_iter(), [0.0, 600.0]);
        let ticks: Vec<f64> = axis.ticks().map(|t| t.0).collect();
        assert_eq!(ticks, [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0]);
        assert!((axis.place(10.0) - 200.0).abs() < 1e-9 && axis.place(0.0) == 0.0);
        let ticks: Vec<f64> = Axis::logarithmic([2.0, 40.0].into_iter(), [0.0, 1.0])
            .ticks()
            .map(|t| t.0.round())
            .collect();
        assert_eq!(ticks, [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
    }
}
