//! What `--force` does not replace, what a full disk is, and options that do not apply.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A directory in which commands run, words with spaces between them.
struct Place(tempfile::TempDir);

impl Place {
    /// With keys and two ciphertexts of a set.
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        place.write("v.csv", "v\n3\n5\n200\n");
        place.told("keygen --params insecure_bgv-257-n8 --out k");
        place.told("keygen --params insecure_bgv-257-n8 --program y=x+1 --out l");
        place.told("encrypt --key k/public.key --in v.csv --out x.ct");
        place.told("encrypt --key k/secret.key --in v.csv --out w.ct");
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    /// Runs a command after some of the shell's.
    fn run_after(&self, shell: &str, command: &str) -> (Option<i32>, Value, String) {
        let args = command.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let out = Command::new("sh")
            .args(["-c", &format!("{shell}; exec \"$0\" {args} --insecure-research --json")])
            .arg(env!("CARGO_BIN_EXE_everlevel"))
            .current_dir(self.path())
            .output()
            .unwrap();
        let bytes = if out.status.success() { &out.stdout } else { &out.stderr };
        let told = serde_json::from_slice(bytes).unwrap_or_default();
        (out.status.code(), told, String::from_utf8_lossy(&out.stderr).into_owned())
    }

    fn told(&self, command: &str) -> Value {
        let (status, told, text) = self.run_after(":", command);
        assert_eq!(status, Some(0), "{command}: {text}");
        told
    }

    /// Refused with exit code 2 and this code, and all files stay as they are; what is said.
    fn refused(&self, command: &str, code: &str) -> String {
        let before = self.files();
        let (status, told, text) = self.run_after(":", command);
        let found = (status, told["error"]["code"].as_str());
        assert_eq!(found, (Some(2), Some(code)), "{command}: {text}");
        assert!(self.files() == before, "{command}: a file is not what it was");
        told["error"]["message"].as_str().unwrap().into()
    }

    /// All files with their bytes.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        fn within(directory: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    within(&path, out);
                } else {
                    out.insert(path.display().to_string(), fs::read(&path).unwrap());
                }
            }
        }
        let mut out = BTreeMap::new();
        within(self.path(), &mut out);
        out
    }
}

/// What a set is described by beside its keys is as good as a key: without it they cannot be used.
#[test]
fn parameter_files_are_not_replaced() {
    let place = Place::new();
    fs::copy(place.path().join("k/params.json"), place.path().join("pj.json")).unwrap();
    let decrypt = "decrypt --key k/secret.key --in x.ct --force --out";
    for file in ["k/params.json", "pj.json"] {
        let why = place.refused(&format!("{decrypt} {file}"), "wire.exists");
        assert!(why.contains("parameter set"), "{why}");
    }
    // Another JSON file is.
    place.write("old.json", "[1, 2]");
    place.told(&format!("{decrypt} old.json"));
    place.write("t.csv", "ward,days\nnorth,3\nsouth,5\n");
    place.told("table schema infer --in t.csv --out schema.json");
    let infer = "table schema infer --in t.csv --out pj.json --force";
    place.refused(infer, "wire.exists");
    let ask = [
        "table",
        "ask",
        "--schema",
        "schema.json",
        "select sum(days) from t",
        "--out",
        "pj.json",
        "--force",
    ];
    let out = Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .args(ask)
        .current_dir(place.path())
        .output()
        .unwrap();
    let why = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.code() == Some(2) && why.contains("[wire.exists]"), "{why}");
    // Only new keys replace it.
    place.told("keygen --params insecure_bgv-257-n8 --program y=x+1 --out k --force");
}

/// No command replaces what it reads, by whatever name.
#[test]
fn inputs_are_not_replaced() {
    let place = Place::new();
    fs::create_dir(place.path().join("in")).unwrap();
    fs::copy(place.path().join("x.ct"), place.path().join("in/y.ct")).unwrap();
    place.told("keys change --old-key k/secret.key --new-key l/secret.key --out kl.keys");
    place.told("keys manifest-key --out shared.key");
    place.write("t.csv", "ward,days\nnorth,3\nsouth,5\n");
    place.told("table schema infer --in t.csv --out schema.json");
    place.write("prices.csv", "7\n8\n");
    let server = "--server-keys k/server.keys";
    let shared = "--manifest-key shared.key";
    let listed = format!("--out shared.key --write-manifest m {shared}");
    for command in [
        "compact --in x.ct --out x.ct".into(),
        "compact --in x.ct --out k/../x.ct".into(),
        format!("bootstrap {server} --in x.ct --out ./x.ct"),
        "change-key --keys kl.keys --in x.ct --out x.ct".into(),
        format!("eval {server} y=x+1 x=in/y.ct --out in"),
        format!("eval {server} y=x+w w=x.ct x=in/y.ct --out in"),
        format!("bootstrap {server} --in x.ct --out f.ct --write-manifest x.ct {shared}"),
        format!("eval {server} y=x+1 x=in/y.ct --out z --write-manifest shared.key {shared}"),
        format!("encrypt --key k/public.key --in v.csv --out z.ct --write-manifest v.csv {shared}"),
        "encrypt --key k/public.key --in v.csv --out v.csv".into(),
        format!("encrypt --key k/public.key --in v.csv {listed}"),
        format!("encrypt --key k/public.key --in v.csv --types v=u8 {listed}"),
        "keys server --key k/secret.key --program y=table(v,P) --types v=bool --rows 2 --lookup \
         P=prices.csv --out prices.csv"
            .into(),
        format!("explain {server} y=x+1 x=x.ct --svg x.ct"),
        format!(
            "explain {server} y=x+1 x=x.ct --bounds manifest --manifest m {shared} --svg shared.key"
        ),
        format!(
            "aes transcipher {server} --aes-key a.ct --in v.csv --bounds manifest --manifest m \
             {shared} --out shared.key"
        ),
        "table schema infer --in t.csv --out t.csv".into(),
    ] {
        let why = place.refused(&format!("{command} --force"), "wire.exists");
        assert!(why.contains("another name"), "{command}: {why}");
    }
    // A manifest in the place of another output.
    let both = format!("eval {server} y=x+1 x=x.ct --out z --write-manifest z/y.ct {shared}");
    assert!(place.refused(&both, "cli.usage").contains("another output"));
    for out in ["n.ct", "./n.ct", "k/../n.ct"] {
        let both = format!(
            "encrypt --key k/public.key --in v.csv --out n.ct --write-manifest {out} {shared} \
             --force"
        );
        assert!(place.refused(&both, "cli.usage").contains("another output"), "{out}");
    }
    // What it does not read is replaced.
    place.told("compact --in x.ct --out w.ct --force");
}

/// What is not written to standard output makes no file that is called `-`.
#[test]
fn standard_output_is_not_the_name_of_a_file() {
    let place = Place::new();
    let (server, secret) = ("--server-keys k/server.keys", "--key k/secret.key");
    for command in [
        "keys change --old-key k/secret.key --new-key l/secret.key --out -".into(),
        "keys manifest-key --out -".into(),
        format!("keys server {secret} --program y=x*x --out -"),
        format!("bootstrap {server} --in x.ct --out f.ct --write-manifest - --manifest-key m"),
        format!("explain {server} y=x+1 x=x.ct --svg -"),
        "aes encrypt-key --key k/public.key --aes-key-file a.hex --out -".into(),
        "aes upload --key k/public.key --aes-key-file a.hex --in v.csv --out -".into(),
        format!("aes transcipher {server} --aes-key a.ct --in up --out -"),
        format!("aes decrypt {secret} --in x.ct --out -"),
        "table schema infer --in v.csv --out -".into(),
        "table ask --schema s.json q --out -".into(),
        "table bind --plan q --key k/public.key a=30 --out -".into(),
        format!("table run --table t {server} --plan q --out -"),
        "params plan --plain-modulus 257 --depth 2 --out -".into(),
        "bench bootstrap --params insecure_bgv-257-n8 --record -".into(),
    ] {
        let why = place.refused(&command, "cli.usage");
        assert!(why.contains("not standard output"), "{command}: {why}");
    }
    // It can be called so, and others write to standard output.
    place.told("keys manifest-key --out ./-");
    assert!(place.path().join("-").exists());
}

/// If one output of several cannot be written, none of the others is replaced.
#[test]
fn several_outputs_are_replaced_together() {
    let place = Place::new();
    place.write("two.csv", "a,b\n1,2\n3,4\n");
    place.write("people.csv", "u,v\n1,2\n3,4\n");
    place.told("keys manifest-key --out shared.key");
    let columns = "encrypt --key k/public.key --in two.csv --column a --column b --out d --force";
    let types = "encrypt --types u=u8,v=u8 --key k/public.key --in people.csv --out people --force";
    let results = "eval --server-keys k/server.keys a=x+1;b=x+2 x=x.ct --out d --force";
    let typed = "eval --server-keys k/server.keys a=u+1;b=v+1 people --out d --force";
    let fresh = "bootstrap --server-keys k/server.keys --in x.ct --out w.ct --force";
    place.told(types);
    for command in [columns, results, typed] {
        place.told(command);
        // A directory in the place of the second one.
        fs::remove_file(place.path().join("d/b.ct")).unwrap();
        fs::create_dir(place.path().join("d/b.ct")).unwrap();
        let why = place.refused(command, "wire.io");
        assert!(why.contains("b.ct") && why.contains("directory"), "{why}");
        fs::remove_dir(place.path().join("d/b.ct")).unwrap();
        let before = fs::read(place.path().join("d/a.ct")).unwrap();
        place.told(command);
        assert!(place.path().join("d/b.ct").exists(), "{command}");
        let after = fs::read(place.path().join("d/a.ct")).unwrap();
        // Encryptions are other ones each time, and results are the same.
        assert_eq!(before == after, command != columns, "{command}");
    }
    // A manifest in a directory that is not there.
    for command in [columns, types, results, typed, fresh] {
        let command = format!("{command} --write-manifest no/m --manifest-key shared.key");
        let why = place.refused(&command, "wire.io");
        assert!(why.contains("no/m"), "{why}");
    }
}

/// A disk that is full is a failure of whatever writes, and leaves nothing behind.
#[cfg(unix)]
#[test]
fn a_full_disk_is_a_failure_of_every_command() {
    let place = Place::new();
    place.write("people.csv", "age,income\n30,200\n5,7\n");
    place.write("t.csv", "ward,days\nnorth,3\nsouth,5\n");
    let types = "encrypt --types age=u8,income=u16 --key k/public.key --in people.csv --out";
    place.told(&format!("{types} people"));
    place.told("keys change --old-key k/secret.key --new-key l/secret.key --out kl.keys");
    let server = "--server-keys k/server.keys";
    for command in [
        "keygen --params insecure_bgv-257-n8 --program y=x*x --out full/keys".into(),
        "keys server --key k/secret.key --program y=x*x --out full/server.keys".into(),
        "keys change --old-key k/secret.key --new-key l/secret.key --out full/kl.keys".into(),
        "encrypt --key k/public.key --in v.csv --out full/x.ct".into(),
        format!("{types} full/people"),
        format!("eval {server} y=x+1 x=x.ct --out full"),
        format!("eval {server} y=age<income people --out full"),
        format!("bootstrap {server} --in x.ct --out full/x.ct"),
        "change-key --keys kl.keys --in x.ct --out full/x.ct".into(),
        "compact --in x.ct --out full/x.small".into(),
        format!("explain {server} y=x*x+x*x*x x=x.ct --svg full/plot.svg"),
        "decrypt --key k/secret.key --in x.ct --out full/v.csv".into(),
        "params plan --plain-modulus 257 --depth 2 --out full/params.json".into(),
        "table schema infer --in t.csv --out full/schema.json".into(),
    ] {
        fs::create_dir(place.path().join("full")).unwrap();
        // The least that fails all of them: no file may have a byte.
        let (status, told, text) = place.run_after("trap '' XFSZ; ulimit -f 0", &command);
        assert_eq!(status, Some(1), "{command}: {text}");
        assert_eq!(told["error"]["code"], "wire.io", "{command}: {text}");
        let left = fs::read_dir(place.path().join("full")).unwrap();
        let left: Vec<_> =
            left.map(|entry| entry.unwrap().path()).filter(|p| p.is_file()).collect();
        assert!(left.is_empty(), "{command}: {left:?}");
        fs::remove_dir_all(place.path().join("full")).unwrap();
    }
}

/// An option that a file of another kind has no use for is not passed over.
#[test]
fn options_that_do_not_apply_are_refused() {
    let place = Place::new();
    place.write("people.csv", "age,income\n30,200\n5,7\n");
    let encrypt = "encrypt --key k/public.key --in people.csv";
    place.told(&format!("{encrypt} --types age=u8,income=u16 --out people"));
    for option in ["--wrapping", "--signed", "--all", "--for-sharing"] {
        let decrypt = format!("decrypt --key k/secret.key --in people {option}");
        let why = place.refused(&decrypt, "cli.usage");
        assert!(why.contains(option) && why.contains("typed integers"), "{why}");
    }
    let eval = "eval --server-keys k/server.keys y=age<income people --pad --out no";
    assert!(place.refused(eval, "cli.usage").contains("--pad"));
    assert!(!place.path().join("no").exists());
}

/// A manifest says whose ciphertexts it lists.
#[test]
fn manifests_name_the_owners_of_what_they_list() {
    let place = Place::new();
    place.told("keys manifest-key --out shared.key");
    for owner in ["k", "l"] {
        place.told(&format!(
            "encrypt --key {owner}/public.key --in v.csv --out {owner}.ct --write-manifest \
             {owner}.manifest --manifest-key shared.key"
        ));
        let [manifest, key] = [format!("{owner}.manifest"), format!("{owner}/secret.key")]
            .map(|file| place.told(&format!("inspect {file}")));
        assert_eq!(manifest["kind"], "a manifest of noise bounds");
        assert_eq!(manifest["key_id"], key["key_id"]);
        assert_eq!(manifest["key_ids"], serde_json::json!([key["key_id"]]));
    }
}
