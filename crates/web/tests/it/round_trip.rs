//! Keys, tables, queries and columns, with the server in the same process.

use std::io::Cursor;

use everlevel::files::OpenOptions;
use everlevel::{OptIn, Server};
use everlevel_tables::{Constants, EncryptedTable, Plan};
use everlevel_web::{Owner, Query, Refused, check_table, distinct, infer, sets};
use zeroize::Zeroizing;

const SET: &str = "insecure_bgv-65537-n11";
const CSV: &[u8] = include_bytes!("../../../../cli/data/orders.csv");
const QUERY: &str = "select region, count(*) as orders, sum(amount) as total from orders \
    where paid = true and day >= date '2026-01-01' group by region order by total desc";

fn owner() -> Owner {
    Owner::draw(SET, OptIn::InsecureResearch).unwrap()
}

fn schema() -> String {
    infer(CSV).unwrap()["schema"].to_string()
}

/// What a server does with a table, a query and constants, each as the bytes that it gets.
fn served(
    files: &[(String, Vec<u8>)],
    text: &str,
    keys: &[u8],
    plan: &str,
    constants: Option<Vec<u8>>,
) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    std::fs::write(directory.path().join("schema.json"), text).unwrap();
    let options = OpenOptions::default().accepting(OptIn::InsecureResearch);
    let table = EncryptedTable::open(directory.path(), &options).unwrap();
    let path = directory.path().join("server.keys");
    std::fs::write(&path, keys).unwrap();
    let server = Server::open(&path, &options).unwrap();
    let constants = constants.map(|bytes| Constants::from_bytes(bytes).unwrap());
    let plan = Plan::from_json(plan).unwrap();
    let step = |_, _| Ok::<_, everlevel_tables::TablesError>(());
    table.run(&server, &plan, constants.as_ref(), step).unwrap().as_bytes().to_vec()
}

#[test]
fn a_table_is_asked() {
    let (owner, schema) = (owner(), schema());
    assert_eq!(check_table(CSV, &schema).unwrap(), 200);
    let mut files = Vec::new();
    let told = owner
        .encrypt_table(CSV, &schema, |name, bytes| {
            files.push((name.to_string(), bytes));
            Ok(())
        })
        .unwrap();
    assert_eq!((files.len(), &told["rows"]), (4, &200.into()));
    let (table, text) = (told["table"].as_str().unwrap(), told["text"].as_str().unwrap());

    let query = Query::new(owner.params(), QUERY, &schema, 200).unwrap();
    let (mut keys, mut steps) = (Cursor::new(Vec::new()), 0);
    let bytes = owner
        .draw_server_keys(&query, &mut keys, |done, total| {
            steps += 1;
            assert!(done == steps && done <= total);
            Ok(())
        })
        .unwrap();
    assert_eq!(query.told()["keyBytes"], bytes);
    let keys = keys.into_inner();
    assert!(keys.len() as u64 >= bytes && steps > 3);
    let plan = query.plan_json().unwrap();
    let result = served(&files, text, &keys, &plan, None);
    let answer = owner.read_result(result.clone(), &query, table, None).unwrap();
    let expected =
        [["west", "30", "149590.76"], ["south", "24", "126769.48"], ["north", "20", "83665.71"]];
    assert_eq!(answer["rows"], serde_json::json!(expected));
    assert_eq!(answer["names"], serde_json::json!(["region", "orders", "total"]));

    // Results of another query, another table, another key.
    let other = Query::new(owner.params(), "select count(*) from orders", &schema, 200).unwrap();
    let code = |found: Result<_, Refused>| found.err().unwrap().code;
    assert_eq!(code(owner.read_result(result.clone(), &other, table, None)), "table.other-result");
    let id = "0".repeat(32);
    assert_eq!(code(owner.read_result(result.clone(), &query, &id, None)), "table.other-result");
    let stranger = self::owner();
    assert_eq!(code(stranger.read_result(result, &query, table, None)), "scheme.wrong-key");

    // A query with fewer needs is answered with the same keys, and not the other way round.
    assert!(other.is_covered_by(&query) && !query.is_covered_by(&other));
    assert!(query.is_covered_by(&query));
}

/// What the progress of an upload counts to: an index has files of its own.
#[test]
fn files_of_a_table_are_counted_before_they_are_made() {
    let owner = owner();
    let mut schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let mut counts = Vec::new();
    for indexed in [false, true] {
        if indexed {
            let columns = schema["columns"].as_array_mut().unwrap();
            let day = columns.iter_mut().find(|column| column["name"] == "day").unwrap();
            day["index"] = true.into();
        }
        let (text, mut files) = (schema.to_string(), 0);
        let keep = |_: &str, _: Vec<u8>| {
            files += 1;
            Ok(())
        };
        owner.encrypt_table(CSV, &text, keep).unwrap();
        let rows = check_table(CSV, &text).unwrap();
        assert_eq!(owner.table_files(&text, rows).unwrap(), files, "{text}");
        counts.push(files);
    }
    assert!(counts[0] == 4 && counts[1] > 4, "{counts:?}");
    assert_eq!(owner.table_files("{", 1).unwrap_err().code, "table.data");
}

#[test]
fn a_constant_is_hidden() {
    let (owner, schema) = (owner(), schema());
    let mut files = Vec::new();
    let keep = |name: &str, bytes| {
        files.push((name.to_string(), bytes));
        Ok(())
    };
    let told = owner.encrypt_table(CSV, &schema, keep).unwrap();
    let sql = "select count(*) as orders from orders where region = :region";
    let query = Query::new(owner.params(), sql, &schema, 200).unwrap();
    assert_eq!(query.told()["parameters"][0]["column"], "region");
    let wrong = owner.encrypt_constants(&query, &[("region".into(), "east".into())]);
    assert_eq!(wrong.unwrap_err().code, "table.constants");
    let given = [("region".to_string(), "south".to_string())];
    let (bytes, id) = owner.encrypt_constants(&query, &given).unwrap();
    let mut keys = Cursor::new(Vec::new());
    owner.draw_server_keys(&query, &mut keys, |_, _| Ok(())).unwrap();
    let plan = query.plan_json().unwrap();
    assert!(!plan.contains("= 'south'"));
    let text = told["text"].as_str().unwrap();
    let result = served(&files, text, keys.get_ref(), &plan, Some(bytes));
    let table = told["table"].as_str().unwrap();
    let answer = owner.read_result(result.clone(), &query, table, Some(&id)).unwrap();
    let south = String::from_utf8_lossy(CSV).lines().filter(|l| l.starts_with("south,")).count();
    assert_eq!(answer["rows"], serde_json::json!([[south.to_string()]]));
    let other = "1".repeat(32);
    let refused = owner.read_result(result, &query, table, Some(&other)).unwrap_err();
    assert_eq!(refused.code, "table.other-result");
}

#[test]
fn a_key_is_kept_in_a_file() {
    let owner = owner();
    let file = owner.file().unwrap();
    let again = Owner::open(&file, OptIn::InsecureResearch).unwrap();
    assert_eq!(again.told(), owner.told());
    let columns = [("x".to_string(), "i16".to_string(), Zeroizing::new("-5,0,32767".to_string()))];
    let encrypted = again.encrypt_columns(&columns).unwrap();
    let expected = ["-5", "0", "32767"].map(String::from).to_vec();
    assert_eq!(owner.decrypt_columns(&encrypted).unwrap(), [("x".to_string(), expected)]);

    assert_eq!(Owner::open(&file, OptIn::SecureOnly).err().unwrap().code, "scheme.insecure");
    assert_eq!(
        Owner::open(&file[..99], OptIn::InsecureResearch).err().unwrap().code,
        "wire.truncated"
    );
    assert_eq!(
        Owner::open(&encrypted, OptIn::InsecureResearch).err().unwrap().code,
        "wire.wrong-kind"
    );
    let stranger = self::owner();
    assert!(stranger.decrypt_columns(&encrypted).is_err());
}

#[test]
fn what_is_wrong_is_told() {
    let owner = owner();
    let refused = |kind: &str, values: &str| {
        let column = ("x".to_string(), kind.to_string(), Zeroizing::new(values.to_string()));
        owner.encrypt_columns(&[column]).unwrap_err().code
    };
    assert_eq!(refused("u8", "1,256"), "integers.value");
    assert_eq!(refused("u8", "1,x"), "table.value");
    assert_eq!(refused("u8", ""), "table.value");
    assert_eq!(refused("float", "1"), "integers.name");
    assert_eq!(refused("u8", &vec!["1"; 2049].join(",")), "integers.length");
    let twice = ("x".to_string(), "u8".to_string(), Zeroizing::new("1".to_string()));
    assert!(owner.encrypt_columns(&[twice.clone(), twice]).is_err());
    let stopped = owner.encrypt_table(CSV, &schema(), |_, _| {
        Err(Refused { code: "wire.io", message: "full".into() })
    });
    assert_eq!(stopped.unwrap_err().message, "full");
    assert_eq!(infer(b"").unwrap_err().code, "table.data");
    assert_eq!(check_table(CSV, "{").unwrap_err().code, "table.data");
    assert_eq!(
        Owner::draw("no-such-set", OptIn::SecureOnly).err().unwrap().code,
        "scheme.unknown-params"
    );
}

#[test]
fn bounds_of_63_bits_survive_javascript() {
    let csv = b"id,n\n9223372036854775807,1\n-5,2\n";
    let schema = infer(csv).unwrap()["schema"].clone();
    let id = &schema["columns"][0];
    assert_eq!((&id["type"], &id["high"]), (&"integer".into(), &"9223372036854775807".into()));
    assert_eq!(check_table(csv, &schema.to_string()).unwrap(), 2);
}

#[test]
fn texts_of_a_column_are_listed() {
    assert_eq!(distinct(CSV, "region").unwrap(), ["north", "south", "west"]);
    assert_eq!(distinct(CSV, "amounts").unwrap_err().code, "table.data");
    let many: String = (0..300).map(|i| format!("{i}\n")).collect();
    assert_eq!(distinct(format!("n\n{many}").as_bytes(), "n").unwrap_err().code, "table.data");
}

#[test]
fn the_sets_that_are_offered_exist() {
    for set in sets().as_array().unwrap() {
        let name = set["name"].as_str().unwrap();
        let opt_in =
            if set["insecure"] == true { OptIn::InsecureResearch } else { OptIn::SecureOnly };
        assert!(everlevel::Params::named(name, opt_in).is_ok(), "{name}");
    }
}
