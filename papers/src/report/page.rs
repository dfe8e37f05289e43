//! The page: one file without anything from elsewhere.

use std::collections::BTreeMap;
use std::fmt::Write;

use everlevel_cli::plot::svg::escaped;

use super::model::{
    Cell, Chapter, Column, Figure, Kind, Machine, Part, Report, Summary, Table, Times, column,
};
use super::runner::grouped;
use super::store::Origin;
use crate::plot::{page_style, page_variables};

/// Texts longer than this may be broken.
const LONG: usize = 44;

/// The page of a report.
pub fn page(report: &Report) -> String {
    let [light, dark] = page_variables();
    let dark = format!(
        "{dark}--panel:#20242a;--soft:#9aa0a8;--link:#7ab8ff;--better:#17412f;--worse:#54301a;\
         --bad:#5c1f1f;--paper:#1c2430"
    );
    let style = format!(
        ":root{{{light}}}{}@media(prefers-color-scheme:dark){{:root:\
         not([data-theme=light]){{{dark}}}}}:root[data-theme=dark]{{{dark};color-scheme:dark}}:\
         root[data-theme=light]{{color-scheme:light}}{}",
        include_str!("page.css"),
        page_style()
    );
    let size = if report.quick { "small rings" } else { "the papers' parameters" };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>everlevel: \
         three papers, \
         reproduced</title>\n<style>{style}</style>\n<script>{}</script>\n</head>\n\
         <body>\n<header><h1>everlevel: three papers, reproduced</h1>\n<p>Every table of three \
         papers on homomorphic encryption, theirs beside what this library finds, at {size}. \
         Ratios are <b>here ÷ paper</b>: below 1 is less than in the paper, green where less is \
         better. Blue columns are the papers'. <code>papers all{}</code> makes this \
         page; each table says how to run it alone, and a click on a head sorts \
         it.</p></header>\n",
        include_str!("page.js"),
        if report.quick { "" } else { " --full" }
    );
    navigation(&mut out, report);
    summary(&mut out, &report.summary);
    for c in &report.chapters {
        chapter(&mut out, c);
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn navigation(out: &mut String, report: &Report) {
    out.push_str("<nav aria-label=\"Chapters\"><a href=\"#summary\">Summary</a>");
    for c in &report.chapters {
        let _ = write!(out, "<a href=\"#{}\">{}</a>", escaped(&c.id), escaped(c.short));
    }
    out.push_str("</nav>\n");
}

fn summary(out: &mut String, s: &Summary) {
    out.push_str("<section id=\"summary\">\n<div class=\"facts\">");
    let mut fact = |bad: bool, value: String, what: &str| {
        let class = if bad { "fact bad" } else { "fact" };
        let _ = write!(
            out,
            "<div class=\"{class}\"><b>{}</b><span>{}</span></div>",
            escaped(&value),
            escaped(what)
        );
    };
    fact(false, format!("{} of {}", s.done, s.jobs), "jobs have a record");
    fact(s.wrong > 0, s.wrong.to_string(), "wrong slots and blocks");
    fact(false, grouped(s.checked), "slots and blocks decrypted and compared");
    fact(!s.failed.is_empty(), s.failed.len().to_string(), "jobs failed");
    out.push_str("</div>\n");
    ratios(out, &s.times);
    for (name, error) in &s.failed {
        let _ = writeln!(
            out,
            "<p class=\"missing\"><b>{}</b> failed: {}</p>",
            escaped(name),
            escaped(error)
        );
    }
    if !s.taken.is_empty() {
        let taken: Vec<String> = s
            .taken
            .iter()
            .map(|(from, count)| format!("{count} from <code>{}</code>", escaped(from)))
            .collect();
        let _ = writeln!(
            out,
            "<p>Records taken as they are, with dates and machines of their own: {}.</p>",
            taken.join(", ")
        );
    }
    if !s.machines.is_empty() {
        out.push_str(
            "<div class=\"box\"><table id=\"machines\"><thead><tr><th \
             class=\"text\">machine</th><th class=\"text\">instructions</th><th>records</th><th \
             class=\"text\">dates</th><th class=\"text\">version</th><th class=\"text\">commits \
             (+: with changes)</th></tr></thead><tbody>",
        );
        s.machines.iter().for_each(|m| machine(out, m));
        out.push_str("</tbody></table></div>\n");
    }
    if !s.missing.is_empty() {
        let _ = writeln!(
            out,
            "<details><summary>{} jobs without record</summary><p>{}</p></details>",
            s.missing.len(),
            s.missing
                .iter()
                .map(|name| format!("<code>{}</code>", escaped(name)))
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
    out.push_str("</section>\n");
}

/// The times of all tables on one look.
fn ratios(out: &mut String, times: &[Times]) {
    if times.is_empty() {
        return;
    }
    out.push_str(
        "<h3 id=\"times-head\">Time, here ÷ paper (or peer)</h3>\n<div class=\"box\"><table \
         id=\"times\" aria-labelledby=\"times-head\"><thead><tr><th class=\"text\">table</th><th \
         class=\"text\">of</th><th>rows</th><th>least</th><th>median</th><th>largest</th></tr></\
         thead><tbody>",
    );
    let ratio = column("", "", Kind::Ratio);
    for t in times {
        let (id, what, of) = (escaped(&t.id), escaped(&t.what), escaped(&t.of));
        let _ = write!(
            out,
            "<tr><td class=\"text\"><a href=\"#{id}-head\">{what}</a></td><td \
             class=\"text\">{of}</td><td>{}</td>",
            t.count
        );
        t.ratios.iter().for_each(|r| write_cell(out, &Cell::ratio(Some(*r), Some(1.0)), &ratio));
        out.push_str("</tr>\n");
    }
    out.push_str(
        "</tbody></table></div>\n<p class=\"how\">On other machines than the paper's, years \
         later: a part of every ratio is the processor.</p>\n",
    );
}

fn machine(out: &mut String, m: &Machine) {
    let [first, last] = &m.dates;
    let dates = if first == last { first.clone() } else { format!("{first} to {last}") };
    let cells = [
        (m.cpu.clone(), ""),
        (m.cpu_flags.clone(), " wide"),
        (m.records.to_string(), ""),
        (dates, ""),
        (m.versions.join(", "), ""),
        (m.commits.join(", "), " wide"),
    ];
    out.push_str("<tr>");
    for (i, (text, class)) in cells.iter().enumerate() {
        let text_class = if i == 2 { "" } else { "text" };
        let _ = write!(out, "<td class=\"{text_class}{class}\">{}</td>", escaped(text));
    }
    out.push_str("</tr>");
}

fn chapter(out: &mut String, c: &Chapter) {
    let _ = writeln!(out, "<section>\n<h2 id=\"{}\">{}</h2>", escaped(&c.id), escaped(&c.title));
    for paragraph in &c.intro {
        let _ = writeln!(out, "<p>{}</p>", marked(paragraph));
    }
    for part in &c.parts {
        match part {
            Part::Table(t) => table(out, t),
            Part::Figure(f) => figure(out, f),
        }
    }
    out.push_str("</section>\n");
}

/// Text in which `code` and **strong words** are marked.
fn marked(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        if i % 2 == 1 {
            let _ = write!(out, "<code>{}</code>", escaped(part));
            continue;
        }
        for (k, words) in part.split("**").enumerate() {
            let _ = if k % 2 == 1 {
                write!(out, "<b>{}</b>", escaped(words))
            } else {
                write!(out, "{}", escaped(words))
            };
        }
    }
    out
}

fn figure(out: &mut String, f: &Figure) {
    let title = match &f.plot {
        crate::plot::Plot::Line(plot) => &plot.title,
        crate::plot::Plot::Bars(plot) => &plot.title,
    };
    let _ = writeln!(
        out,
        "<figure>\n<figcaption>{}</figcaption>\n<div class=\"drawing\" tabindex=\"0\">{}</div>",
        escaped(title),
        f.plot.inline(&f.id)
    );
    notes(out, &f.notes);
    how(out, &f.command);
    out.push_str("</figure>\n");
}

fn notes(out: &mut String, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    out.push_str("<ul class=\"notes\">");
    for note in notes {
        let _ = write!(out, "<li>{}</li>", marked(note));
    }
    out.push_str("</ul>\n");
}

fn how(out: &mut String, command: &str) {
    if !command.is_empty() {
        let _ = writeln!(out, "<p class=\"how\">Again: <code>{}</code></p>", escaped(command));
    }
}

fn table(out: &mut String, t: &Table) {
    let id = escaped(&t.id);
    let _ = writeln!(out, "<div class=\"table\">\n<h3 id=\"{id}-head\">{}</h3>", escaped(&t.title));
    if t.rows.is_empty() {
        out.push_str("<p class=\"missing\">No record.</p>\n");
    } else {
        let _ = write!(
            out,
            "<div class=\"box\" role=\"region\" aria-labelledby=\"{id}-head\" \
             tabindex=\"0\"><table id=\"{id}\"><thead>"
        );
        heads(out, &t.columns);
        out.push_str("</thead><tbody>");
        for row in &t.rows {
            out.push_str("<tr>");
            row.iter().zip(&t.columns).for_each(|(cell, column)| write_cell(out, cell, column));
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
    }
    how(out, &t.command);
    notes(out, &t.notes);
    if !t.missing.is_empty() {
        let names: Vec<String> =
            t.missing.iter().map(|name| format!("<code>{}</code>", escaped(name))).collect();
        let _ = writeln!(out, "<p class=\"how missing\">Not run: {}</p>", names.join(" "));
    }
    origins(out, &t.origins);
    out.push_str("</div>\n");
}

/// Two lines: what columns have in common, and what each is.
fn heads(out: &mut String, columns: &[Column]) {
    let mut below = String::new();
    out.push_str("<tr>");
    let mut at = 0;
    for run in columns.chunk_by(|a, b| !a.group.is_empty() && a.group == b.group) {
        if run[0].group.is_empty() {
            let class = if run[0].kind == Kind::Text { " class=\"text\"" } else { "" };
            let _ = write!(
                out,
                "<th rowspan=\"2\" scope=\"col\" data-column=\"{at}\"{class}>{}</th>",
                escaped(run[0].label)
            );
        } else {
            let _ = write!(
                out,
                "<th colspan=\"{}\" scope=\"colgroup\">{}</th>",
                run.len(),
                escaped(run[0].group)
            );
            for (i, c) in run.iter().enumerate() {
                let _ = write!(
                    below,
                    "<th scope=\"col\" data-column=\"{}\">{}</th>",
                    at + i,
                    escaped(c.label)
                );
            }
        }
        at += run.len();
    }
    let _ = write!(out, "</tr><tr>{below}</tr>");
}

fn write_cell(out: &mut String, cell: &Cell, column: &Column) {
    let value = cell.value.filter(|v| v.is_finite());
    let wrong = column.kind == Kind::Wrong
        && !cell.text.is_empty()
        && !cell.text.starts_with("0 of")
        && cell.text != "0";
    let class = match (column.kind, value) {
        _ if wrong => "bad",
        (Kind::Text, _) if cell.text.chars().count() > LONG => "text wide",
        (Kind::Text, _) => "text",
        (Kind::Paper, _) => "paper",
        (Kind::Ratio, Some(r)) if r < 0.95 => "ratio better",
        (Kind::Ratio, Some(r)) if r > 1.05 => "ratio worse",
        (Kind::Ratio | Kind::Relation, _) => "ratio",
        _ => "",
    };
    let times = value.filter(|_| column.kind == Kind::Ratio).map(|r| {
        if r < 1.0 {
            format!(" title=\"{:.1} times less\"", 1.0 / r)
        } else {
            format!(" title=\"{r:.1} times as much\"")
        }
    });
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let sorted = value
        .filter(|v| cell.text.parse() != Ok(*v))
        .map_or_else(String::new, |v| format!(" data-v=\"{v}\""));
    let _ =
        write!(out, "<td{class}{sorted}{}>{}</td>", times.unwrap_or_default(), escaped(&cell.text));
}

fn origins(out: &mut String, origins: &[Origin]) {
    let mut runs: BTreeMap<(String, u64, &str), Vec<&str>> = BTreeMap::new();
    for o in origins {
        let day = o.date.split('T').next().unwrap_or_default().to_string();
        let commits = runs.entry((day, o.threads, &o.cpu)).or_default();
        let commit = if o.commit.is_empty() { "unknown" } else { &o.commit };
        if !commits.contains(&commit) {
            commits.push(commit);
        }
    }
    let told = runs.iter().map(|((day, threads, cpu), commits)| {
        let threads = if *threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
        format!("{day}, {threads} of {cpu}, commit {}", commits.join(", "))
    });
    let told: Vec<String> = told.collect();
    if !told.is_empty() {
        let _ = writeln!(out, "<p class=\"from\">Run: {}.</p>", escaped(&told.join("; ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Summary {
        Summary {
            jobs: 1,
            done: 0,
            taken: vec![],
            missing: vec![],
            failed: vec![],
            checked: 0,
            wrong: 0,
            times: vec![],
            machines: vec![],
        }
    }

    #[test]
    fn everything_is_escaped() {
        let evil = "</td><script>alert('x')</script>\"&";
        let table = Table {
            id: evil.into(),
            title: evil.into(),
            command: evil.into(),
            columns: vec![column("", "a", Kind::Text), column("", "wrong", Kind::Wrong)],
            rows: vec![vec![Cell::text(evil), Cell::text(evil)]],
            notes: vec![format!("`{evil}` **{evil}** {evil}")],
            missing: vec![evil.into()],
            origins: vec![Origin {
                date: evil.into(),
                commit: evil.into(),
                cpu: evil.into(),
                ..Origin::default()
            }],
        };
        let chapter = Chapter {
            id: evil.into(),
            short: "a",
            title: evil.into(),
            intro: vec![evil.into()],
            parts: vec![Part::Table(table)],
        };
        let machine = Machine {
            cpu: evil.into(),
            cpu_flags: evil.into(),
            records: 1,
            dates: [evil.into(), String::new()],
            commits: vec![evil.into()],
            versions: vec![evil.into()],
        };
        let summary = Summary {
            failed: vec![(evil.into(), evil.into())],
            missing: vec![evil.into()],
            taken: vec![(evil.into(), 1)],
            machines: vec![machine],
            times: vec![Times {
                id: evil.into(),
                what: evil.into(),
                of: evil.into(),
                count: 1,
                ratios: [1.0; 3],
            }],
            ..empty()
        };
        let page = page(&Report { quick: true, summary, chapters: vec![chapter] });
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert!(!page.contains("alert('x')") && page.contains("&lt;script&gt;"));
    }

    #[test]
    fn wrong_slots_and_ratios_are_marked() {
        let cell = |cell: Cell, kind| {
            let mut out = String::new();
            write_cell(&mut out, &cell, &column("", "", kind));
            out
        };
        assert!(
            cell(Cell::text("1 of 64"), Kind::Wrong).contains("bad")
                && !cell(Cell::text("0 of 64"), Kind::Wrong).contains("bad")
        );
        assert!(cell(Cell::ratio(Some(1.0), Some(4.0)), Kind::Ratio).contains("better"));
        assert!(cell(Cell::ratio(Some(5.0), Some(4.0)), Kind::Ratio).contains("worse"));
        assert!(!cell(Cell::ratio(Some(5.0), None), Kind::Ratio).contains("data-v"));
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        let page = page(&Report { quick: false, summary: empty(), chapters: vec![] });
        assert!(
            !page.contains("http") && !page.contains("url(") && !page.contains(" src="),
            "{page}"
        );
    }
}
