//! Numbers as labels.

/// A number as a label: no more digits than help.
pub fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "–".into(),
        _ if value.fract() == 0.0 && size < 1e6 => format!("{value:.0}"),
        _ if (100.0..1e6).contains(&size) => format!("{value:.0}"),
        _ if size >= 1e6 => format!("{value:.2e}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 1.0 => format!("{value:.2}"),
        _ if size >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 46203.0, 21.04, 6.75, 0.2655, 0.00012, 2.5e7, f64::NAN].map(short);
        assert_eq!(shown, ["0", "46203", "21.0", "6.75", "0.266", "1.20e-4", "2.50e7", "–"]);
    }
}
