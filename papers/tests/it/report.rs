//! `papers all`: the plan, resumption, and the page, also as a browser sees it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{SOURCES, papers, papers_in, read_records, usage};
use serde_json::{Value, json};

fn records(path: &str) -> String {
    format!("{SOURCES}/{path}")
}

/// Runs `papers all` into a directory; returns the exit code and what was printed.
fn all(out: &Path, args: &[&str]) -> (Option<i32>, String) {
    let out = out.to_str().unwrap();
    let run = papers(&[&["all", "--out", out], args].concat());
    let text =
        String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    (run.status.code(), text)
}

fn report(out: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(out.join("report.json")).unwrap()).unwrap()
}

/// The page that `papers/report/page.py` makes of a report; none where Python is missing.
fn page(out: &Path) -> Option<String> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let script = records("papers/report/page.py");
    // Without leaving compiled files in the sources.
    let run = match Command::new(python).arg("-B").arg(script).arg(out).output() {
        Ok(run) => run,
        Err(e) => {
            println!("skipped: no page, python3 does not start: {e}");
            return None;
        }
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(std::fs::read_to_string(out.join("index.html")).unwrap())
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(usage(&["all", "--full", "--quick", "--list"]).contains("one of them"));
    assert!(usage(&["all", "--row", "1", "--list"]).contains("--row"));
    assert!(
        usage(&["all", "--records", "no/such/directory", "--list"]).contains("no such directory")
    );
    let out = tempfile::tempdir().unwrap();
    assert_eq!(all(out.path(), &["--only", "nothing-of-that-name"]).0, Some(2));
}

#[test]
fn runs_resume_where_they_ended() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    let journal = || -> Value {
        serde_json::from_str(&std::fs::read_to_string(out.join("journal.json")).unwrap()).unwrap()
    };
    let entered = || journal().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    // As if interrupted after two of nine.
    for row in ["1", "2"] {
        assert_eq!(all(out, &["--only", &format!("chen-han-table-2-row-{row}")]).0, Some(0));
    }
    assert_eq!(entered(), ["chen-han-table-2-row-1", "chen-han-table-2-row-2"]);
    let (code, text) = all(out, &["--only", "chen-han-table-2"]);
    assert_eq!(code, Some(0), "{text}");
    let first = "[1/7] chen-han-table-2-row-3, about";
    assert!(text.contains(first) && text.contains("left") && !text.contains("/9]"), "{text}");
    assert_eq!(entered().len(), 9);
    // Nothing is left.
    assert!(all(out, &["--only", "chen-han-table-2"]).1.contains(" 0 to run"));
    // A record that is gone, and one of another version, are made again.
    let file = out.join("records/chen-han.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let (gone, rest): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains("\"chen-han-table-2-row-4\""));
    assert_eq!((gone.len(), rest.len()), (1, 8));
    std::fs::write(&file, rest.join("\n")).unwrap();
    let mut old = journal();
    old["chen-han-table-2-row-5"]["version"] = "0.0.1".into();
    std::fs::write(out.join("journal.json"), old.to_string()).unwrap();
    let (code, text) = all(out, &["--only", "chen-han-table-2"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(" 2 to run"), "{text}");
    assert_eq!(read_records(&out.join("records"))["chen-han-table-2-row-4"][0]["row"], 4);
    // A file of records that is broken is told, and not written over.
    std::fs::write(&file, "{\"name\": ").unwrap();
    let (code, text) = all(out, &["--only", "chen-han-table-2"]);
    assert!(code == Some(2) && text.contains("chen-han.jsonl, line 1"), "{text}");
    let shown = report(out);
    assert_eq!(
        (shown["summary"]["done"].as_u64(), shown["summary"]["failed"].as_array().map(Vec::len)),
        (Some(9), Some(0))
    );
}

#[test]
fn failures_are_told_and_the_rest_is_run() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    // A directory where the records of LTV should go.
    std::fs::create_dir_all(out.join("records/ltv.jsonl/x")).unwrap();
    // Nine rows of Chen and Han, and LTV's.
    let (code, text) = all(out, &["--only", "table-2"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("failed: "), "{text}");
    let summary = report(out)["summary"].clone();
    assert_eq!(
        (summary["done"].as_u64(), summary["failed"][0][0].as_str()),
        (Some(9), Some("ltv-table-2"))
    );
    if let Some(page) = page(out) {
        assert!(page.contains("<b>ltv-table-2</b> failed"));
    }
}

#[test]
fn peers_are_shown_where_they_were_measured() {
    let (out, peers) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let row = json!({
        "what": "multiply <and> relinearize",
        "params": {"n": 32768},
        "seconds": 0.029,
        "ours_seconds": 0.012,
        "ratio": 0.41,
        "note": "",
    });
    let peer = json!({
        "name": "x",
        "peer": "Peer",
        "version": "1.2",
        "rows": [row],
        "circumstances": {"date": "2026-01-01", "cpu": "a processor"},
    });
    let line = json!({ "name": "compare-x", "record": peer });
    std::fs::write(peers.path().join("compare.jsonl"), line.to_string()).unwrap();
    let (code, text) = all(out.path(), &["--no-run", "--records", peers.path().to_str().unwrap()]);
    assert_eq!(code, Some(0), "{text}");
    let shown = report(out.path());
    let chapters = shown["chapters"].as_array().unwrap();
    let table = &chapters.iter().find(|c| c["id"] == "peers").unwrap()["parts"][0];
    assert_eq!(
        (table["title"].as_str(), table["rows"][0][4]["text"].as_str()),
        (Some("Peer 1.2"), Some("0.414"))
    );
    if let Some(page) = page(out.path()) {
        assert!(
            page.contains("Peer 1.2")
                && page.contains("multiply &lt;and&gt; relinearize")
                && page.contains("0.414")
        );
    }
}

/// The page and the tables of papers/report show the records of papers/results.
/// EVERLEVEL_UPDATE_REPORT=1 writes them anew.
#[test]
fn the_page_in_the_sources_is_current() {
    let out = tempfile::tempdir().unwrap();
    let made = out.path().to_str().unwrap();
    let run = papers_in(
        Path::new(SOURCES),
        &["all", "--full", "--no-run", "--records", "papers/results", "--out", made],
    );
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    // Records are told as such, whatever was measured when they were made.
    let shown = report(out.path());
    let ltv = shown["chapters"].as_array().unwrap().iter().find(|c| c["id"] == "ltv").unwrap();
    let told = ltv.to_string();
    assert!(told.contains("\"recorded\"") && !told.contains("measured"), "{told}");
    // Table 3 of Chen and Han, (31, 3, 1): what their method gains over the earlier one.
    let parts = shown["chapters"].as_array().unwrap().iter().map(|c| &c["parts"]);
    let part = |id: &str| {
        let mut parts = parts.clone().flat_map(|parts| parts.as_array().unwrap());
        parts.find(|part| part["id"] == id).unwrap_or_else(|| panic!("no part {id}"))
    };
    let gains = part("chen-han-table-3-gains");
    let of = |i: usize| gains["rows"][4][i]["value"].as_f64().unwrap();
    assert_eq!(gains["rows"][4][0]["text"], "(31, 3, 1)");
    assert!((of(7) - 12.13 / 26.3).abs() < 1e-12 && (of(9) - 14.0 / 24.0).abs() < 1e-12);
    assert!((of(8) - of(5) / of(2)).abs() < 1e-12 && of(10) < 1.0);
    // Table 6 of Ma et al.: of ring V the same set is the fastest in the paper and here.
    let of_ring = &part("ma-et-al-table-6-rings")["rows"][4];
    let texts = [0, 1, 3].map(|i: usize| of_ring[i]["text"].as_str().unwrap());
    assert_eq!(texts, ["V", "ma-V-A", "ma-V-A"]);
    let ratio = of_ring[5]["value"].as_f64().unwrap() / 688.0;
    assert!((of_ring[7]["value"].as_f64().unwrap() - ratio).abs() < 1e-12 && ratio < 1.0);
    // The paper, its method here and the best here, of every row; a baseline of Ma et al. has the
    // best of its ring.
    for id in ["chen-han-table-4-methods", "chen-han-table-5-methods", "ma-et-al-table-6-methods"] {
        for row in part(id)["rows"].as_array().unwrap() {
            assert!((1..=3).all(|i: usize| row[i]["value"].as_f64().is_some()), "{id}: {row}");
        }
    }
    let sets = part("ma-et-al-table-6-methods")["rows"].as_array().unwrap();
    let baseline = sets.iter().find(|row| row[0]["text"] == "ma-II").expect("the baseline");
    assert!(baseline[8]["text"].as_str().unwrap().starts_with("ma-II-A, "), "{baseline}");
    assert!(baseline[3]["value"].as_f64() < baseline[2]["value"].as_f64(), "{baseline}");
    // The plots of the first page say what is gained by machine and code, and what by the method.
    for id in ["fig-chen-han-seconds", "fig-ma-et-al-seconds", "fig-aes-seconds"] {
        let notes = part(id)["notes"].to_string();
        assert!(notes.contains("× as fast as the paper, which is what machine"), "{id}: {notes}");
    }
    let Some(page) = page(out.path()) else { return };
    assert!(page.contains("Recorded: ") && !page.contains(">Run: "));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    let tables = std::fs::read_to_string(out.path().join("tables.md")).unwrap();
    for (name, made) in [("index.html", page), ("tables.md", tables)] {
        let kept = records(&format!("papers/report/{name}"));
        if std::env::var_os("EVERLEVEL_UPDATE_REPORT").is_some() {
            std::fs::write(&kept, &made).unwrap();
        }
        assert!(
            std::fs::read_to_string(&kept).unwrap_or_default() == made,
            "{kept} does not show what is in papers/results: run this test with \
             EVERLEVEL_UPDATE_REPORT=1"
        );
    }
}

/// A Chromium: EVERLEVEL_CHROMIUM, or one in PATH.
fn chromium() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("EVERLEVEL_CHROMIUM") {
        return Some(given.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path).flat_map(|d| names.map(|n| d.join(n))).find(|p| p.is_file())
}

/// What the page's own script found out after it was loaded.
fn opened(chromium: &Path, url: &str) -> Vec<(String, String)> {
    let profile = tempfile::tempdir().unwrap();
    let run = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(["--window-size=1280,800", url])
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&run.stdout).into_owned();
    let tag = dom.split("<html").nth(1).and_then(|t| t.split('>').next());
    let tag = tag.unwrap_or_else(|| panic!("no page: {}", String::from_utf8_lossy(&run.stderr)));
    let attributes = tag.split("data-").skip(1).filter_map(|a| a.split_once("=\""));
    attributes
        .map(|(k, v)| (k.to_string(), v.split('"').next().unwrap_or_default().to_string()))
        .collect()
}

/// The page as on a phone: windows have a least width, frames have none. What the page found out
/// becomes the outer one's.
fn framed(page: &str) -> String {
    let inner = page.replace('&', "&amp;").replace('"', "&quot;");
    let copy = "Object.assign(document.documentElement.dataset, \
                this.contentDocument.documentElement.dataset)";
    format!(
        "<!doctype html><html><body><iframe style=\"width:390px;height:800px;border:0\" \
         onload=\"{copy}\" srcdoc=\"{inner}\"></iframe></body></html>"
    )
}

/// The page of the records in the sources, for which nothing is run: every job of the full plan has
/// one.
#[test]
fn a_browser_shows_every_table_and_plot() {
    shown_by_a_browser(&["--full", "--no-run"]);
}

/// What is not recorded is run: bootstrappings, AES and soak tests of small rings.
#[test]
#[ignore = "a minute: the jobs of small rings, which `.ci/run papers` runs, too"]
fn a_browser_shows_the_page_of_small_rings_in_full() {
    shown_by_a_browser(&["--quick"]);
}

/// In windows of a screen and of a phone, light and dark: all of what the report has.
fn shown_by_a_browser(args: &[&str]) {
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium");
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let papers = records("papers/results");
    let (code, text) = all(out.path(), &[args, &["--records", papers.as_str()]].concat());
    assert_eq!(code, Some(0), "{text}");
    let shown = report(out.path());
    let (mut plots, mut tables) = (BTreeSet::new(), BTreeSet::new());
    for part in
        shown["chapters"].as_array().unwrap().iter().flat_map(|c| c["parts"].as_array().unwrap())
    {
        let kind = if part["part"] == "table" { &mut tables } else { &mut plots };
        assert!(kind.insert(part["id"].as_str().unwrap().to_string()), "{} twice", part["id"]);
    }
    // All threads are as many as one on a machine with one core.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for id in EXPECTED_PLOTS.into_iter().filter(|id| threads > 1 || *id != "fig-scaling-threads") {
        assert!(plots.contains(id), "{id} is missing: {plots:?}");
    }
    assert!(
        shown["summary"]["missing"].as_array().unwrap().is_empty()
            && shown["summary"]["wrong"] == 0,
        "{}",
        shown["summary"]
    );
    tables.insert("machines".into());
    // Ratios of small rings are left out; those of recorded peers are there.
    if !shown["summary"]["times"].as_array().unwrap().is_empty() {
        tables.insert("times".into());
    }
    let mut grounds = BTreeSet::new();
    let Some(text) = page(out.path()) else { return };
    let page = out.path().join("index.html");
    let phone = out.path().join("phone.html");
    std::fs::write(&phone, framed(&text)).unwrap();
    let dark_phone = out.path().join("dark-phone.html");
    std::fs::write(&dark_phone, framed(&text.replacen("<html ", "<html data-theme=\"dark\" ", 1)))
        .unwrap();
    for (page, query, width) in [
        (&page, "", "1280"),
        (&page, "?theme=dark", "1280"),
        (&phone, "", "390"),
        (&dark_phone, "", "390"),
    ] {
        let found = opened(&chromium, &format!("file://{}{query}", page.display()));
        let of = |key: &str| found.iter().find(|(k, _)| k == key).map_or("", |(_, v)| v.as_str());
        let ids = |key: &str| {
            of(key)
                .split(' ')
                .filter(|id| !id.is_empty())
                .map(String::from)
                .collect::<BTreeSet<_>>()
        };
        assert_eq!(of("width"), width, "{query}: the window is not as wide as it should be");
        assert_eq!(of("errors"), "0", "{query} {width}: {found:?}");
        assert_eq!(ids("plots"), plots, "{query} {width}");
        assert_eq!(ids("tables"), tables, "{query} {width}");
        assert_eq!(of("overflow"), "0", "{query} {width}: the page is wider than its window");
        if width == "390" {
            assert_eq!(of("cut"), "", "{query}: tables that are wider than a phone");
        }
        grounds.insert(of("ground").to_string());
    }
    assert_eq!(grounds.len(), 2, "light and dark: {grounds:?}");
}

/// Of both plans.
const EXPECTED_PLOTS: [&str; 18] = [
    "fig-products",
    "fig-depth",
    "fig-degrees",
    "fig-ma-et-al-capacity",
    "fig-ma-et-al-time",
    "fig-aes-modulus",
    "fig-aes-noise-bgv",
    "fig-aes-noise-ltv",
    "fig-stages",
    "fig-pipeline-1",
    "fig-pipeline-2",
    "fig-noise-1",
    "fig-noise-2",
    "fig-scaling-n",
    "fig-scaling-r",
    "fig-scaling-threads",
    "fig-security",
    "fig-security-papers",
];
