//! Plots as parts of a page.

use std::fmt::Write;

use everlevel_cli::plot::LinePlot;
use everlevel_cli::plot::svg::{COLOURS, COLOURS_OF, SHAPES, WIDTH, escaped};
use serde::Serialize;

use super::bars::BarPlot;

/// Where a plot in a page begins: the page has its title.
const BELOW_TITLE: f64 = 34.0;

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

#[cfg(test)]
mod tests {
    use super::*;

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
