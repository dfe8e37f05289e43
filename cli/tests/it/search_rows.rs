//! First rows in rounds on the command line, with keys for the plans of the rounds alone.

use std::fs;
use std::path::Path;

use crate::common::success_in as success;
use crate::tables::{encrypted_stays, json, refused};

#[test]
fn first_rows_that_are_searched_for() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    encrypted_stays(here);

    let start = |query: &'static str, rest: &[&'static str]| {
        let start = ["table", "search", "start", "--schema", "stays/schema.json", query];
        [&start[..], &["--out", "search"], rest].concat()
    };
    for query in [
        "select ward, days from stays order by ward limit 2",
        "select ward, days from stays order by days",
        "select ward, sum(days) as d from stays group by ward order by d limit 1",
    ] {
        refused(here, &start(query, &[]), "table.unsupported");
    }
    let query = "select ward, days, cost from stays where surgery = :surgery order by days desc \
                 limit 2";
    refused(here, &start(query, &[]), "table.constants");
    assert!(!here.join("search").exists());
    // 16 values are two digits to the base 4, and one round lists rows.
    assert_eq!(json(here, &start(query, &["surgery=true"]))["rounds"], 3);

    let keys = ["keys", "server", "--key", "keys/secret.key", "--rows", "5", "--out", "few.keys"];
    let plans = ["--plan", "search/rounds.plan", "--plan", "search/rows.plan"];
    success(here, &[&keys[..], &plans].concat());
    let next = ["table", "search", "next", "--key", "keys/secret.key", "search"];
    let run = |round: usize, plan: &str, keys: &str| {
        let [constants, out] = ["constants", "result"].map(|end| format!("search/{round}.{end}"));
        let run = ["table", "run", "--table", "stays", "--server-keys", keys, "--plan", plan];
        success(
            here,
            &[&run[..], &["--constants", constants.as_str(), "--out", out.as_str()]].concat(),
        );
    };
    for (round, plan) in [(1, "rounds.plan"), (2, "rounds.plan"), (3, "rows.plan")] {
        let plan = format!("search/{plan}");
        let told = json(here, &next);
        assert_eq!((&told["round"], &told["rounds"]), (&round.into(), &3.into()));
        assert_eq!(Path::new(told["plan_file"].as_str().unwrap()), Path::new(&plan));
        if round == 3 {
            // The result of the round before.
            fs::copy(here.join("search/2.result"), here.join("search/3.result")).unwrap();
            refused(here, &next, "table.other-result");
            fs::remove_file(here.join("search/3.result")).unwrap();
        }
        run(round, &plan, "few.keys");
    }
    assert_eq!(success(here, &next), "ward,days,cost\nwest,7,4400.00\nnorth,3,1200.50\n");
    let told = json(here, &next);
    assert_eq!((&told["rows"][1][0], &told["query"]), (&"north".into(), &query.into()));

    // Another constant of the query, for which nothing was asked.
    let state = fs::read_to_string(here.join("search/search.json")).unwrap();
    let other = state.replacen(r#"["surgery","true"]"#, r#"["surgery","false"]"#, 1);
    assert_ne!(other, state);
    fs::write(here.join("search/search.json"), other).unwrap();
    refused(here, &next, "table.result");
    fs::write(here.join("search/search.json"), state).unwrap();

    // The rows of the table after a change, which does not concern them.
    let change = ["table", "change", "--table", "stays", "--key", "keys/secret.key"];
    success(here, &[&change[..], &["delete from stays where not surgery"]].concat());
    fs::remove_file(here.join("search/3.result")).unwrap();
    run(3, "search/rows.plan", "keys/server.keys");
    refused(here, &next, "table.other-result");
}
