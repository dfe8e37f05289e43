//! The files of the page, as far as they can be looked at without a browser.

use std::collections::BTreeSet;
use std::path::Path;

/// The files of the page whose names end so, with their texts.
fn files(end: &str) -> Vec<(String, String)> {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/page"));
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), path));
    let found: Vec<_> = named
        .filter(|(name, _)| name.ends_with(end))
        .map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()))
        .collect();
    assert!(!found.is_empty(), "{end}");
    found
}

/// The texts in quotation marks that begin so.
fn quoted<'a>(text: &'a str, start: &str) -> BTreeSet<&'a str> {
    text.split('"').filter(|part| part.starts_with(start)).collect()
}

#[test]
fn codes_of_the_page_are_documented() {
    let errors = include_str!("../../../../docs/errors.md");
    let rows = errors.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<&str> = rows.filter(|code| code.starts_with("web.")).collect();
    let scripts: String = files(".js").into_iter().map(|(_, text)| text).collect();
    assert_eq!(quoted(&scripts, "web."), listed);
}

/// What the policy of the page forbids, and what would be loaded from elsewhere.
#[test]
fn nothing_is_inline_or_from_elsewhere() {
    let mut pages = files(".html");
    pages.extend(files(".js"));
    pages.extend(files(".css"));
    for (name, text) in &pages {
        for forbidden in [
            " style=",
            " onclick=",
            "<style",
            "innerHTML",
            "eval(",
            "http://",
            "https://",
            "@import",
        ] {
            // The name space of SVG is no address that is loaded.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains(forbidden), "{name}: {forbidden}");
        }
    }
    let index = &pages.iter().find(|(name, _)| name == "index.html").unwrap().1;
    assert!(index.matches("<script").count() == 1 && index.contains("src=\"page/app.js\""));
}

/// A type that the page does not know would be left out of a table without a word.
#[test]
fn the_page_knows_every_inferred_type() {
    let csv = b"n,cost,day,seen,ok,kind\n\
        1,1.5,2026-01-31,2026-01-31T12:00:00Z,true,a\n\
        2,2.5,2026-02-01,2026-01-31T12:00:01Z,false,b\n";
    let schema = everlevel_web::infer(csv).unwrap()["schema"].clone();
    let columns = schema["columns"].as_array().unwrap();
    let types: Vec<&str> = columns.iter().map(|column| column["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["integer", "decimal", "date", "timestamp", "boolean", "category"]);
    let scripts = files(".js");
    let fields = &scripts.iter().find(|(name, _)| name == "fields.js").unwrap().1;
    for kind in types {
        let (name, states) = (format!("\n  {kind}: \""), format!("\n  {kind}: {{"));
        assert!(fields.contains(&name) && fields.contains(&states), "{kind}");
    }
}

#[test]
fn modules_import_what_is_there() {
    let scripts = files(".js");
    for (name, text) in &scripts {
        for module in quoted(text, "./") {
            let module = &module[2..];
            // That one is made by wasm-bindgen.
            let there = module == "everlevel_web.js" || scripts.iter().any(|(n, _)| n == module);
            assert!(there, "{name} imports {module}");
        }
    }
}
