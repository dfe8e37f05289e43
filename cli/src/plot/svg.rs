//! What plots share: colors, text, legends, the frame of a file.

use std::fmt::Write;

/// How many series are told apart by color.
pub const COLORS: usize = 8;
/// How wide a plot is, in units of its own.
const WIDTH: f64 = 960.0;

/// Colors that color-blind readers tell apart (after Okabe and Ito 2008), on light ground and on
/// dark: of the ground, text and frame, the grid, the series.
const COLORS_OF: [[&str; 3 + COLORS]; 2] = [
    [
        "#fff", "#222", "#ddd", "#555", "#c04a00", "#0072b2", "#00805f", "#9a4a7c", "#d99a00",
        "#6bb8e8", "#8c8c2e",
    ],
    [
        "#16181c", "#ddd", "#3a3d42", "#aaa", "#ff9a4d", "#56b4e9", "#2fd0a5", "#e39bc4",
        "#f0d442", "#3f7fc4", "#a8a860",
    ],
];
/// The rules of all classes but for colors.
const SHAPES: &str = "text{font:13px \
                      sans-serif}.title{font-size:17px;font-weight:bold}.small{font-size:11px}.\
                      frame,.line{fill:none}.line{stroke-width:1.8;stroke-linejoin:round}.\
                      mark{stroke-width:1.5;stroke-dasharray:5 4;fill:none}";

/// A file of its own; `left` is where its title begins.
pub(super) fn file(title: &str, description: &str, left: f64, height: f64, body: &str) -> String {
    let (title, description, style) = (escaped(title), escaped(description), style());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n<style>{style}</\
         style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n<text \
         class=\"title\" x=\"{left}\" y=\"24\">{title}</text>\n{body}</svg>\n"
    )
}

/// Classes with their colors, since not all that draws SVG files knows variables.
fn style() -> String {
    let colors = |[ground, ink, faint, series @ ..]: &[&str; 3 + COLORS]| {
        let mut out = format!(
            ".ground{{fill:{ground}}}text{{fill:{ink}}}.frame,.mark{{stroke:{ink}}}.grid{{stroke:\
             {faint}}}"
        );
        for (i, color) in series.iter().enumerate() {
            let _ = write!(out, ".line{i}{{stroke:{color}}}.dot{i}{{fill:{color}}}");
        }
        out
    };
    let [light, dark] = COLORS_OF.each_ref().map(colors);
    format!("{SHAPES}{light}@media(prefers-color-scheme:dark){{{dark}}}")
}

/// Text as HTML and SVG take it, between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// About how wide a text of the ordinary size is.
fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * 7.0
}

/// How a legend shows a series.
#[derive(Clone, Copy)]
pub(super) enum Sample {
    /// By a dot.
    Dot,
    /// By a piece of a line.
    Line,
}

/// Names of series with their colors, on as many lines as they take; returns the lines.
pub(super) fn legend(out: &mut String, left: f64, top: f64, names: &[(&str, Sample)]) -> usize {
    let (mut x, mut y, mut lines) = (left, top, 1);
    for (i, (name, sample)) in names.iter().enumerate() {
        let (color, width) = (i % COLORS, 28.0 + width_of(name) + 24.0);
        if x > left && x + width > WIDTH {
            (x, y, lines) = (left, y + 18.0, lines + 1);
        }
        let middle = y - 4.0;
        let _ = match sample {
            Sample::Dot => writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"3\" class=\"dot{color}\"/>",
                x + 11.0
            ),
            Sample::Line => {
                writeln!(out, "<path class=\"line line{color}\" d=\"M{x:.1} {middle:.1}h22\"/>")
            }
        };
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x + 28.0, escaped(name));
        x += width;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("<a b='c' d=\"e\">&"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;");
    }
}
