//! `fetch-by-similarity` from vectors to payloads and counts, on a small ring.

use std::fs;
use std::sync::LazyLock;

use everlevel_suite::fetch::{LARGEST_SCORE, STAND_IN, threshold};

use crate::stand_in::{Kept, StandIn, Workload, failure};

pub static FETCH: Workload = Workload {
    name: "fetch-by-similarity",
    stages: &[
        ("client_preprocess_dataset", ARGUMENTS),
        ("client_key_generation", ARGUMENTS),
        ("client_encode_encrypt_db", ARGUMENTS),
        ("client_preprocess_query", ARGUMENTS),
        ("client_encode_encrypt_query", ARGUMENTS),
        ("server_encrypted_compute", ARGUMENTS),
        ("client_decrypt_decode", ARGUMENTS),
        ("client_postprocess", ARGUMENTS),
    ],
    program,
    measured: MEASURED,
};

/// The same with a server that stays.
pub static RESIDENT: Workload = Workload {
    name: "fetch-by-similarity",
    stages: &[
        ("client_preprocess_dataset", ARGUMENTS),
        ("client_key_generation", ARGUMENTS),
        ("client_encode_encrypt_db", ARGUMENTS),
        ("server_preprocess_dataset", ARGUMENTS),
        ("client_preprocess_query", ARGUMENTS),
        ("client_encode_encrypt_query", ARGUMENTS),
        ("server_encrypted_compute", ARGUMENTS),
        ("client_decrypt_decode", ARGUMENTS),
        ("client_postprocess", ARGUMENTS),
    ],
    program: resident_program,
    measured: MEASURED,
};

const ARGUMENTS: &[&str] = &["SIZE", "OPTIONS"];
const MEASURED: &[&str] = &[
    "keys",
    "ciphertexts_upload",
    "ciphertexts_upload/query.bin",
    "ciphertexts_download/results.bin",
];

fn program(stage: &str) -> &'static str {
    match stage {
        "client_preprocess_dataset" => env!("CARGO_BIN_EXE_fetch_client_preprocess_dataset"),
        "client_key_generation" => env!("CARGO_BIN_EXE_fetch_client_key_generation"),
        "client_encode_encrypt_db" => env!("CARGO_BIN_EXE_fetch_client_encode_encrypt_db"),
        "client_preprocess_query" => env!("CARGO_BIN_EXE_fetch_client_preprocess_query"),
        "client_encode_encrypt_query" => env!("CARGO_BIN_EXE_fetch_client_encode_encrypt_query"),
        "server_encrypted_compute" => env!("CARGO_BIN_EXE_fetch_server_encrypted_compute"),
        "client_decrypt_decode" => env!("CARGO_BIN_EXE_fetch_client_decrypt_decode"),
        "client_postprocess" => env!("CARGO_BIN_EXE_fetch_client_postprocess"),
        other => panic!("no stage: {other}"),
    }
}

fn resident_program(stage: &str) -> &'static str {
    match stage {
        "server_preprocess_dataset" => {
            env!("CARGO_BIN_EXE_fetch_resident_server_preprocess_dataset")
        }
        "server_encrypted_compute" => env!("CARGO_BIN_EXE_fetch_resident_server_encrypted_compute"),
        other => program(other),
    }
}

pub const ROWS: usize = STAND_IN.count as usize;
pub const DIMENSION: usize = 16;
/// Rows of a chunk, and by how many of its columns a chunk is moved more than the one before.
pub const SLOTS: usize = 1 << 11;
pub const STRIDE: usize = 641;

/// The bytes of vectors as data sets have them.
pub fn floats(vectors: &[f32]) -> Vec<u8> {
    vectors.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Numbers that say which row it is.
fn payload(row: usize) -> [i16; 7] {
    let row = row as i16;
    [row % 7, row, 4095, 0, 32767, row % 512, (row * 5) % 512]
}

pub fn payloads() -> Vec<u8> {
    (0..ROWS).flat_map(payload).flat_map(i16::to_le_bytes).collect()
}

/// The stand-in with this database and query, for fetching.
pub fn stand_in(rows: &[f32], query: &[f32]) -> StandIn {
    stand_in_of(&FETCH, rows, query)
}

/// The same for the programs of a variant.
pub fn stand_in_of(variant: &'static Workload, rows: &[f32], query: &[f32]) -> StandIn {
    let arguments = vec![("SIZE", STAND_IN.name.into()), ("OPTIONS", String::new())];
    let out = StandIn::new(variant, STAND_IN.name, arguments);
    out.write_data("db.bin", floats(rows));
    out.write_data("query.bin", floats(query));
    out.write_data("payloads.bin", payloads());
    out
}

/// A vector of its first coordinate alone, which is all that some tests need.
pub fn first() -> Vec<f32> {
    (0..DIMENSION).map(|i| f32::from(u8::from(i == 0))).collect()
}

/// Runs these stages, which have to succeed.
pub fn run(harness: &StandIn, stages: &[&str]) {
    for stage in stages {
        let out = harness.stage(stage);
        assert!(out.status.success(), "{stage}: {}", String::from_utf8_lossy(&out.stderr));
    }
}

pub const QUERY: [&str; 5] = [
    "client_preprocess_query",
    "client_encode_encrypt_query",
    "server_encrypted_compute",
    "client_decrypt_decode",
    "client_postprocess",
];

/// Keys for payloads, and those for counts: they do not depend on the data.
pub static KEYS: LazyLock<Kept> = LazyLock::new(|| keys(""));
pub static KEYS_FOR_COUNTS: LazyLock<Kept> = LazyLock::new(|| keys("--count_only"));

fn keys(options: &str) -> Kept {
    let mut harness = stand_in(&first(), &first());
    harness.set("OPTIONS", options);
    run(&harness, &["client_key_generation"]);
    harness.kept()
}

/// Runs the stages up to this one, but for the generation of keys, which are given.
pub fn run_with(keys: &Kept, harness: &StandIn, last: &str) {
    run(harness, &["client_preprocess_dataset"]);
    harness.begin_with(keys);
    harness.run_between("client_encode_encrypt_db", last);
}

/// The sorted payloads of these rows, as the harness writes them.
pub fn expected(rows: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let mut out: Vec<_> = rows.into_iter().map(payload).collect();
    out.sort_unstable();
    out.into_iter().flatten().flat_map(i16::to_le_bytes).collect()
}

pub fn result(harness: &StandIn) -> Vec<u8> {
    fs::read(harness.io("results.bin")).unwrap()
}

pub fn count(harness: &StandIn) -> u64 {
    u64::from_le_bytes(result(harness).try_into().unwrap())
}

/// Numbers that look random, from -1 to 1.
fn noise(k: u64) -> f64 {
    let z = k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn unit(x: Vec<f64>) -> Vec<f64> {
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.into_iter().map(|x| x / norm).collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Vectors as a harness has them: rows near the query are found, those that are not near are not,
/// by their cosines in the clear. Three that share a slot, in all chunks, the last row, none, and
/// then only their number, from the same directories.
#[test]
fn payloads_and_counts_are_those_in_the_clear() {
    let query = unit((0..DIMENSION as u64).map(noise).collect());
    let matching = [0, 3, 17, 3 + SLOTS, 3 + 2 * SLOTS, 2000, ROWS - 1];
    let mut rows = Vec::new();
    for row in 0..ROWS {
        let random = |k: u64| {
            let k = (row as u64) << 20 | k << 8;
            unit((0..DIMENSION as u64).map(|i| noise(k + i)).collect())
        };
        let vector = if matching.contains(&row) {
            let near = query.iter().zip(random(0)).map(|(x, e)| x + 0.3 * e);
            unit(near.collect())
        } else {
            (0..).map(random).find(|x| dot(x, &query).abs() < 0.6).unwrap()
        };
        assert_eq!(dot(&vector, &query) > 0.8, matching.contains(&row));
        rows.extend(vector);
    }
    let narrow = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<_>>();
    let mut harness = stand_in(&narrow(&rows), &narrow(&query));
    harness.run_until("client_postprocess");
    harness.assert_measured();
    assert!(result(&harness) == expected(matching));
    let steps = fs::read_to_string(harness.io("server_reported_steps.json")).unwrap();
    let steps: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&steps).unwrap();
    let names =
        ["Encrypted computation", "Load keys", "Plan", "Read inputs", "Total", "Write outputs"];
    assert!(steps.keys().eq(names), "{steps:?}");
    // Another query of the same database, which nothing is near to.
    let away: Vec<f64> = query.iter().map(|x| -x).collect();
    harness.write_data("query.bin", floats(&narrow(&away)));
    run(&harness, &QUERY);
    assert!(result(&harness).is_empty());
    // The harness adds a seed for each run to those before.
    harness.write_data("query.bin", floats(&narrow(&query)));
    harness.set("OPTIONS", "--count_only --seed 5 --seed 7");
    run_with(&KEYS_FOR_COUNTS, &harness, "client_postprocess");
    harness.assert_measured();
    assert_eq!(count(&harness), matching.len() as u64);
}

/// A query, and for every score that there is a row that has it.
fn scores() -> ([i8; DIMENSION], Vec<(i64, [i8; DIMENSION])>) {
    let mut query = [0; DIMENSION];
    query[..4].copy_from_slice(&[22, 4, 2, 1]);
    let row = |score: i64| {
        let near = score / 22;
        for a in near - 2..=near + 2 {
            for b in -7..=7 {
                for c in -4..=4 {
                    let d: i64 = score - 22 * a - 4 * b - 2 * c;
                    if a * a + b * b + c * c + d * d <= LARGEST_SCORE {
                        let mut out = [0; DIMENSION];
                        let values = [a, b, c, d].map(|x| x as i8);
                        out[..4].copy_from_slice(&values);
                        return Some((score, out));
                    }
                }
            }
        }
        None
    };
    (query, (-LARGEST_SCORE..=LARGEST_SCORE).filter_map(row).collect())
}

/// Puts rounded rows and a query where the stages before encryption would have put theirs.
fn write_rounded(harness: &StandIn, rows: &[[i8; DIMENSION]], query: &[i8]) {
    let bytes = |x: &[i8]| x.iter().map(|x| *x as u8).collect::<Vec<_>>();
    fs::create_dir_all(harness.io("preprocessed")).unwrap();
    fs::write(harness.io("preprocessed/rows.bin"), bytes(rows.as_flattened())).unwrap();
    fs::write(harness.io("preprocessed/query.bin"), bytes(query)).unwrap();
}

/// Every score of two rounded vectors, next to the threshold and far from it.
#[test]
fn scores_from_the_threshold_on_match() {
    let (query, scores) = scores();
    // Nearly all that there are: the square of the query's norm is 505.
    assert!(scores.len() >= 1011, "{}", scores.len());
    let mut rows = vec![[0; DIMENSION]; ROWS];
    let place = |i: usize| 4 * i + 1;
    scores.iter().enumerate().for_each(|(i, (_, row))| rows[place(i)] = *row);
    let matching =
        scores.iter().enumerate().filter(|(_, (score, _))| *score >= threshold(DIMENSION));
    let matching: Vec<usize> = matching.map(|(i, _)| place(i)).collect();
    assert!(scores.iter().any(|(score, _)| *score == threshold(DIMENSION)));
    assert!(scores.iter().any(|(score, _)| *score == threshold(DIMENSION) - 1));
    let mut harness = stand_in(&first(), &first());
    write_rounded(&harness, &rows, &query);
    harness.begin_with(&KEYS);
    run(&harness, &["client_encode_encrypt_db"]);
    run(&harness, &QUERY[1..]);
    assert!(result(&harness) == expected(matching.iter().copied()));
    harness.set("OPTIONS", "--count_only");
    harness.begin_with(&KEYS_FOR_COUNTS);
    run(&harness, &["client_encode_encrypt_db"]);
    run(&harness, &QUERY[1..]);
    assert_eq!(count(&harness), matching.len() as u64);
}

/// One match, thirty-three that share slots by threes, and four that cannot be told apart: these
/// are refused, and counted, as is no match.
#[test]
fn matches_are_told_apart_or_refused() {
    let mut harness = stand_in(&first(), &first());
    let mut row = [0; DIMENSION];
    row[5] = 22;
    let look_for = |harness: &StandIn, matching: &[usize]| {
        let mut rows = vec![[0; DIMENSION]; ROWS];
        matching.iter().for_each(|i| rows[*i] = row);
        write_rounded(harness, &rows, &row);
        run(harness, &["client_encode_encrypt_db"]);
        run(harness, &QUERY[1..4]);
    };
    harness.begin_with(&KEYS);
    let shared: Vec<usize> = (0..33).map(|i| i / 3 * 7 + i % 3 * SLOTS).collect();
    for matching in [&[4999][..], &shared] {
        look_for(&harness, matching);
        run(&harness, &["client_postprocess"]);
        assert!(result(&harness) == expected(matching.iter().copied()), "{matching:?}");
    }
    // Chunks 0 and 1 share slot 40, 1 and 2 slot 40 + 641, and both pairs a slot once more where
    // chunks are moved.
    let ring = [40, 40 + SLOTS, 40 + STRIDE + SLOTS, 40 + STRIDE + 2 * SLOTS];
    look_for(&harness, &ring);
    assert_eq!(failure(&harness.stage("client_postprocess")), "suite.collision");
    assert!(!harness.io("results.bin").exists());
    harness.set("OPTIONS", "--count_only");
    harness.begin_with(&KEYS_FOR_COUNTS);
    for matching in [&ring[..], &[]] {
        look_for(&harness, matching);
        run(&harness, &["client_postprocess"]);
        assert_eq!(count(&harness), matching.len() as u64);
    }
}
