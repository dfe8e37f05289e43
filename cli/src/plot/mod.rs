//! Plots as SVG, without scripts or fonts of their own, readable on light and on dark ground: alone
//! in a file, or as a part of a page.

mod axis;
pub mod bars;
pub mod line;
pub mod noise;

use std::fmt::Write;

use serde::Serialize;

use axis::Axis;
pub use bars::BarPlot;
pub use line::{Join, LinePlot, Series};

/// How many series are told apart by colour.
pub const COLOURS: usize = 8;
const WIDTH: f64 = 960.0;
/// Where a plot in a page begins: the page has its title.
const BELOW_TITLE: f64 = 34.0;
/// Colours that colour-blind readers tell apart (after Okabe and Ito 2008), on light ground and on
/// dark: of the ground, text and frame, the grid, the series.
const COLOURS_OF: [[&str; 3 + COLOURS]; 2] = [
    [
        "#fff", "#222", "#ddd", "#555", "#c04a00", "#0072b2", "#00805f", "#9a4a7c", "#d99a00",
        "#6bb8e8", "#8c8c2e",
    ],
    [
        "#16181c", "#ddd", "#3a3d42", "#aaa", "#ff9a4d", "#56b4e9", "#2fd0a5", "#e39bc4",
        "#f0d442", "#3f7fc4", "#a8a860",
    ],
];
const SHAPES: &str = "text{font:13px \
                      sans-serif}.title{font-size:17px;font-weight:bold}.small{font-size:11px}.\
                      frame,.line{fill:none}.line{stroke-width:1.8;stroke-linejoin:round}.\
                      mark{stroke-width:1.5;stroke-dasharray:5 4;fill:none}";

/// A plot of either kind.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Plot {
    /// Points over a common horizontal axis.
    Line(LinePlot),
    /// Bars from the left.
    Bars(BarPlot),
}

impl Plot {
    /// As a part of a page that has [`page_style`].
    pub fn inline(&self, id: &str) -> String {
        match self {
            Plot::Line(plot) => {
                inline(id, &plot.title, &plot.description, plot.height(), &plot.body())
            }
            Plot::Bars(plot) => {
                inline(id, &plot.title, &plot.description, plot.height(), &plot.body())
            }
        }
    }
}

fn inline(id: &str, title: &str, description: &str, height: f64, body: &str) -> String {
    let (id, title, description) = (escaped(id), escaped(title), escaped(description));
    format!(
        "<svg class=\"plot\" id=\"{id}\" viewBox=\"0 {BELOW_TITLE} {WIDTH} {}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\">\n<title \
         id=\"{id}-title\">{title}</title>\n<desc \
         id=\"{id}-desc\">{description}</desc>\n{body}</svg>\n",
        height - BELOW_TITLE
    )
}

/// A file of its own.
fn file(title: &str, description: &str, height: f64, body: &str) -> String {
    let (title, description, style) = (escaped(title), escaped(description), style());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n<style>{style}</\
         style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n<text \
         class=\"title\" x=\"{}\" y=\"24\">{title}</text>\n{body}</svg>\n",
        line::FRAME[0]
    )
}

/// Classes with their colours, since not all that draws SVG files knows variables.
fn style() -> String {
    let colours = |[ground, ink, faint, series @ ..]: &[&str; 3 + COLOURS]| {
        let mut out = format!(
            ".ground{{fill:{ground}}}text{{fill:{ink}}}.frame,.mark{{stroke:{ink}}}.grid{{stroke:\
             {faint}}}"
        );
        for (i, colour) in series.iter().enumerate() {
            let _ = write!(out, ".line{i}{{stroke:{colour}}}.dot{i}{{fill:{colour}}}");
        }
        out
    };
    let [light, dark] = COLOURS_OF.each_ref().map(colours);
    format!("{SHAPES}{light}@media(prefers-color-scheme:dark){{{dark}}}")
}

/// The variables `--ground`, `--ink`, `--faint`, `--series-0` and so on of a page, on light ground
/// and on dark.
pub fn page_variables() -> [String; 2] {
    COLOURS_OF.each_ref().map(|[ground, ink, faint, series @ ..]| {
        let series = series.iter().enumerate().map(|(i, colour)| format!("--series-{i}:{colour};"));
        format!("--ground:{ground};--ink:{ink};--faint:{faint};{}", series.collect::<String>())
    })
}

/// The rules of plots in a page that has [`page_variables`].
pub fn page_style() -> String {
    let mut out = String::from(
        ".plot text{fill:var(--ink)}.frame,.mark{stroke:var(--ink)}.grid{stroke:var(--faint)}",
    );
    for rule in SHAPES.split_inclusive('}') {
        let _ = write!(out, ".plot {}", rule.replace(',', ",.plot "));
    }
    for i in 0..COLOURS {
        let _ =
            write!(out, ".line{i}{{stroke:var(--series-{i})}}.dot{i}{{fill:var(--series-{i})}}");
    }
    out
}

/// Text as HTML and SVG take it, between tags and in attributes.
pub fn escaped(text: &str) -> String {
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

/// Names of series with their colours, on as many lines as they take; returns the lines.
fn legend(out: &mut String, left: f64, top: f64, names: &[(&str, Join)]) -> usize {
    let (mut x, mut y, mut lines) = (left, top, 1);
    for (i, (name, join)) in names.iter().enumerate() {
        let (colour, width) = (i % COLOURS, 28.0 + width_of(name) + 24.0);
        if x > left && x + width > WIDTH {
            (x, y, lines) = (left, y + 18.0, lines + 1);
        }
        let middle = y - 4.0;
        let _ = match join {
            Join::Dots => writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"3\" class=\"dot{colour}\"/>",
                x + 11.0
            ),
            Join::Bar => {
                writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"22\" height=\"11\" \
                     class=\"dot{colour}\"/>",
                    y - 10.0
                )
            }
            Join::Straight | Join::Steps => {
                writeln!(out, "<path class=\"line line{colour}\" d=\"M{x:.1} {middle:.1}h22\"/>")
            }
        };
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x + 28.0, escaped(name));
        x += width;
    }
    lines
}

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
    fn text_is_escaped_and_numbers_are_short() {
        assert_eq!(escaped("<a b='c' d=\"e\">&"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;");
        let shown = [0.0, 46203.0, 21.04, 6.75, 0.2655, 0.00012, 2.5e7, f64::NAN].map(short);
        assert_eq!(shown, ["0", "46203", "21.0", "6.75", "0.266", "1.20e-4", "2.50e7", "–"]);
    }

    #[test]
    fn rules_of_a_page_reach_plots_only() {
        let style = page_style();
        assert!(
            style.contains(".plot text{font")
                && style.contains(".plot .frame,.plot .line{fill:none}"),
            "{style}"
        );
    }
}
