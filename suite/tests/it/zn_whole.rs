//! `Zn-multiplication` with results that can be computed on, from text to text and further.

use std::fs;

use everlevel_suite::Instance;
use everlevel_suite::zn::INSTANCES;
use everlevel_suite::zn::whole::{
    Client, INPUT_BITS, MODULI, Server, WholeNumbers, WholeReader, WholeWriter,
};
use everlevel_wire::{BoundPolicy, Encryption, ReadOptions};

use crate::stand_in::{StandIn, Workload, failure};
use crate::zn::{self, pairs, products, result, stand_in_of};

pub static WHOLE: Workload = zn::workload(program);

/// The stages that have programs of their own, in the order of `pins.json`.
pub const WHOLE_STAGES: [&str; 4] = [
    "client_key_generation",
    "client_encode_encrypt_input",
    "server_encrypted_compute",
    "client_decrypt_decode",
];

fn program(stage: &str) -> &'static str {
    match stage {
        "client_key_generation" => env!("CARGO_BIN_EXE_zn_whole_client_key_generation"),
        "client_encode_encrypt_input" => env!("CARGO_BIN_EXE_zn_whole_client_encode_encrypt_input"),
        "server_encrypted_compute" => env!("CARGO_BIN_EXE_zn_whole_server_encrypted_compute"),
        "client_decrypt_decode" => env!("CARGO_BIN_EXE_zn_whole_client_decrypt_decode"),
        other => zn::program(other),
    }
}

/// An instance whose stages ran up to this one.
pub fn run_until(instance: &'static str, count: usize, last: &str) -> StandIn {
    let harness = stand_in_of(&WHOLE, instance, &pairs(count));
    harness.run_until(last);
    harness
}

/// What is in the files of an instance.
fn read(
    server: &Server,
    harness: &StandIn,
    path: &str,
    (instance, bits, count): (&Instance, u32, usize),
    bounds: BoundPolicy,
) -> Vec<WholeNumbers> {
    let options = ReadOptions::with_bounds(bounds);
    let path = harness.io(path);
    let reader = WholeReader::open(server.params(), &path, instance, bits, count, &options);
    reader.unwrap().read_range(0..count).unwrap()
}

/// One pair, and several blocks, of which the last is not full; the next test has part of a block.
#[test]
fn products_are_those_of_the_numbers() {
    for (instance, count) in [("single", 1), ("medium", 100_000)] {
        let harness = run_until(instance, count, "client_postprocess");
        assert!(result(&harness) == products(&pairs(count)), "{instance}");
        harness.assert_measured();
    }
}

/// The server has no secret key, and its runs are repeated over the files of the one before.
#[test]
fn the_server_needs_the_upload_and_its_keys_only() {
    let harness = run_until("small", 1_000, "client_encode_encrypt_input");
    let (kept, away) = (harness.io("secret_key"), harness.root().join("away"));
    fs::rename(&kept, &away).unwrap();
    fs::remove_dir_all(harness.io("preprocessed")).unwrap();
    for _ in 0..2 {
        assert!(harness.stage("server_encrypted_compute").status.success());
    }
    fs::rename(&away, &kept).unwrap();
    for stage in ["client_decrypt_decode", "client_postprocess"] {
        assert!(harness.stage(stage).status.success(), "{stage}");
    }
    assert!(result(&harness) == products(&pairs(1_000)));
    harness.assert_measured();
}

/// The largest instance, whose files take 6 GB: how long its steps take.
#[test]
#[ignore = "6 GB of files and minutes"]
fn ten_million_pairs() {
    let pairs = pairs(10_000_000);
    let harness = stand_in_of(&WHOLE, "large", &pairs);
    harness.run_until("client_postprocess");
    assert!(result(&harness) == products(&pairs));
    println!("{}", fs::read_to_string(harness.io("server_reported_steps.json")).unwrap());
}

/// What the stage of the server wrote is multiplied and added again, at 128 bits: by itself, by
/// what was uploaded, and as a product of sums.
#[test]
fn results_can_be_computed_on() {
    let harness = run_until("small", 1_000, "server_encrypted_compute");
    let instance = &INSTANCES[1];
    let server = Server::open(&harness.io("public_keys/relinearization")).unwrap();
    let client = Client::open(&harness.io("secret_key/secret")).unwrap();
    // The server's own files, and those of the client.
    let (path, what) = ("ciphertexts_download/products", (instance, 2 * INPUT_BITS, 1));
    let results = read(&server, &harness, path, what, BoundPolicy::Stated);
    let (path, what) = ("ciphertexts_upload/operands", (instance, INPUT_BITS, 2));
    let fresh = BoundPolicy::Fresh(Encryption::Secret);
    let operands = read(&server, &harness, path, what, fresh);
    let (left, right, product) = (&operands[0], &operands[1], &results[0]);

    let pairs = pairs(1_000);
    let check = |numbers: &WholeNumbers, bits: u32, expected: fn(u64, u64) -> u64| {
        assert_eq!(numbers.bits(), bits);
        let found = client.decrypt(numbers, 0, pairs.len()).unwrap();
        let expected: Vec<u64> = pairs.iter().map(|&(a, b)| expected(a, b)).collect();
        assert!(*found == expected, "{bits} bits");
    };
    check(product, 128, |a, b| a.wrapping_mul(b));
    let square = server.multiply(product, product).unwrap();
    check(&square, 256, |a, b| a.wrapping_mul(b).wrapping_pow(2));
    check(&server.multiply(product, left).unwrap(), 192, |a, b| a.wrapping_mul(b).wrapping_mul(a));
    check(&server.add(product, right).unwrap(), 129, |a, b| a.wrapping_mul(b).wrapping_add(b));
    // (a b + a b) (a^2 + b^2), and what is left of it: a sum with itself that fits no more.
    let squares = [left, right].map(|x| server.multiply(x, x).unwrap());
    let sums =
        [server.add(product, product).unwrap(), server.add(&squares[0], &squares[1]).unwrap()];
    let last = server.multiply(&sums[0], &sums[1]).unwrap();
    check(&last, 258, |a, b| {
        let squares = a.wrapping_mul(a).wrapping_add(b.wrapping_mul(b));
        a.wrapping_mul(b).wrapping_mul(2).wrapping_mul(squares)
    });
    for refused in [
        server.add(&last, &last),
        server.add(&last, left),
        server.multiply(&last, left),
        server.multiply(&square, left),
    ] {
        assert_eq!(refused.unwrap_err().code(), "suite.range");
    }
    // Within the range, but not within the noise.
    let more = server.add(product, &sums[1]).unwrap();
    let more = server.add(&more, &sums[0]).unwrap();
    assert_eq!(more.bits(), 131);
    let wide = server.add(&more, &more).unwrap();
    assert_eq!(wide.bits(), 132);
    let many = (0..4).fold(wide, |sum, _| server.add(&sum, &sum).unwrap());
    let refused = server.multiply(&many, left).unwrap_err();
    assert_eq!(refused.code(), "scheme.noise-overflow");

    // A file of what was computed is one that a server can read and multiply.
    let path = harness.io("ciphertexts_upload/sums");
    let mut writer = WholeWriter::create(server.params(), &path, instance, 129, 2).unwrap();
    writer.push_all(sums.to_vec()).unwrap();
    assert!(writer.push_all(vec![product.clone()]).is_err());
    writer.finish_without_sync().unwrap();
    let path = "ciphertexts_upload/sums";
    let sums = read(&server, &harness, path, (instance, 129, 2), BoundPolicy::Stated);
    let again = server.multiply(&sums[0], &sums[1]).unwrap();
    assert!(*client.decrypt(&again, 0, 9).unwrap() == client.decrypt(&last, 0, 9).unwrap()[..]);
}

#[test]
fn files_that_are_not_as_they_should_be() {
    let harness = run_until("single", 1, "client_encode_encrypt_input");
    let part = |path: &str, i: usize| harness.io(&format!("{path}-{}", MODULI[i]));
    let compute = || failure(&harness.stage("server_encrypted_compute"));
    let upload = part("ciphertexts_upload/operands", 5);
    let bytes = fs::read(&upload).unwrap();
    let download = part("ciphertexts_download/products", 5);
    fs::create_dir_all(download.parent().unwrap()).unwrap();
    fs::write(&download, "a result").unwrap();
    fs::write(&upload, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(compute(), "wire.truncated");
    // What an earlier run left is not taken for the result of this one.
    assert!(!download.exists());
    let mut changed = bytes.clone();
    changed[bytes.len() - 10_000] ^= 4;
    fs::write(&upload, changed).unwrap();
    assert_eq!(compute(), "wire.checksum");
    // Residues for another modulus.
    fs::copy(part("ciphertexts_upload/operands", 4), &upload).unwrap();
    assert_eq!(compute(), "wire.other-params");
    fs::write(&upload, &bytes).unwrap();
    let keys = part("public_keys/relinearization", 2);
    let kept = fs::read(&keys).unwrap();
    fs::remove_file(&keys).unwrap();
    assert_eq!(compute(), "wire.io");
    fs::write(&keys, kept).unwrap();
    assert_eq!(
        failure(&harness.start("server_encrypted_compute", &["single", "1000"])),
        "suite.instance"
    );
    assert!(harness.stage("server_encrypted_compute").status.success());

    // Other numbers for one modulus: the residues are those of no product.
    let results: Vec<Vec<u8>> = (0..MODULI.len())
        .map(|i| fs::read(part("ciphertexts_download/products", i)).unwrap())
        .collect();
    harness.write_data("lhs.txt", "5\n");
    for stage in ["client_preprocess_input", "client_encode_encrypt_input"] {
        assert!(harness.stage(stage).status.success());
    }
    assert!(harness.stage("server_encrypted_compute").status.success());
    fs::write(part("ciphertexts_download/products", 3), &results[3]).unwrap();
    assert_eq!(failure(&harness.stage("client_decrypt_decode")), "suite.result");
    assert_eq!(fs::read_dir(harness.io("decrypted")).unwrap().count(), 0);

    // A new key does not open what was encrypted under the one before.
    assert!(harness.stage("client_key_generation").status.success());
    assert_eq!(failure(&harness.stage("client_decrypt_decode")), "scheme.wrong-key");
    assert_eq!(compute(), "scheme.wrong-key");
    // Nothing of a run without result stays.
    assert_eq!(fs::read_dir(harness.io("ciphertexts_download")).unwrap().count(), 0);
    let products = harness.io("decrypted/products.bin");
    fs::write(&products, [0; 8]).unwrap();
    let key = part("secret_key/secret", 6);
    let bytes = fs::read(&key).unwrap();
    fs::write(&key, &bytes[..bytes.len() - 1]).unwrap();
    for stage in ["client_encode_encrypt_input", "client_decrypt_decode"] {
        assert_eq!(failure(&harness.stage(stage)), "wire.truncated", "{stage}");
    }
    assert_eq!(fs::read_dir(harness.io("ciphertexts_upload")).unwrap().count(), 0);
    assert!(!products.exists());
}
