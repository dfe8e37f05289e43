//! Worked examples, which stand at the end of the help of each command.

use clap::{Command, CommandFactory};

use crate::commands::args::Cli;

/// What is typed for each command, in the order of the help.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("demo", &["everlevel demo", "everlevel demo --in sales.csv --column price --steps 20"]),
    ("demo integers", &["everlevel demo integers"]),
    ("params list", &["everlevel params list", "everlevel params list --json"]),
    (
        "params show",
        &[
            "everlevel params show bgv-65537-n15",
            "everlevel params show bgv-65537-n15-s1024 --json",
        ],
    ),
    ("params datasheet", &["everlevel params datasheet bgv-65537-n15"]),
    (
        "params plan",
        &[
            "everlevel params plan --max-value 1e6 --signed --rows 100000 --ops compare,sum",
            "everlevel params plan --plain-modulus 65537 --slots 1000 --depth 4 --out set.json",
            "everlevel params plan --keyless --max-value 100 --signed --terms 784 --out set.json",
        ],
    ),
    ("params rings", &["everlevel params rings --prime 17 --slots 1000"]),
    (
        "plan",
        &[
            "everlevel plan 'rich = income > 50000 & age < 30; n = count(rich)' --types \
             age=u8,income=u32:0..5000000 --rows 100000",
            "everlevel plan 'm = median(pay)' --types pay=u16 --rows 100 --memory 2048 --json",
            "everlevel plan 'adult = age >= 18' --types age=u8 --index age --rows 100000",
        ],
    ),
    (
        "keygen",
        &[
            "everlevel keygen --out keys",
            "everlevel keygen --program 'm = median(pay)' --types pay=u16 --rows 100 --out keys",
            "everlevel keygen --params bgv-65537-n15 --plan query.plan --rows 100000 --out keys",
        ],
    ),
    (
        "encrypt",
        &[
            "everlevel encrypt --key keys/public.key --in people.csv --column income --out \
             income.ct",
            "everlevel encrypt --key keys/secret.key --in people.csv --types \
             age=u8,income=u32:0..5000000 --index age --levels income=90 --out people.ct",
            "everlevel encrypt --key keys/public.key --in - --format csv --out - --range 0..100",
        ],
    ),
    (
        "eval",
        &[
            "everlevel eval --server-keys keys/server.keys 'y = x^3 + 1; s = sum(x)' x=x.ct --out \
             results",
            "everlevel eval --server-keys keys/server.keys 'rich = income > 50000 & age < 30; n = \
             count(rich)' people.ct --out results",
            #[cfg(feature = "service")]
            "everlevel eval --remote https://everlevel.example.org --server-keys keys/server.keys \
             'least = sort(income, 3)' people.ct --out results",
        ],
    ),
    ("bootstrap", &["everlevel bootstrap --server-keys keys/server.keys --in y.ct --out fresh.ct"]),
    (
        "explain",
        &[
            "everlevel explain --server-keys keys/server.keys 'y = 3*x*(1-x)' x=x.ct",
            "everlevel explain bootstrap --svg noise.svg",
        ],
    ),
    ("explain bootstrap", &["everlevel explain bootstrap --svg noise.svg"]),
    ("compact", &["everlevel compact --in results/y.ct --out y.small"]),
    (
        "decrypt",
        &[
            "everlevel decrypt --key keys/secret.key --in results/y.ct",
            "everlevel decrypt --key keys/secret.key --in people.ct --column age --out age.npy",
        ],
    ),
    ("inspect", &["everlevel inspect people.ct"]),
    ("change-key", &["everlevel change-key --keys change.keys --in old.ct --out new.ct"]),
    (
        "keys size-report",
        &[
            "everlevel keys size-report --params bgv-65537-n15",
            "everlevel keys size-report --server-keys keys/server.keys",
            "everlevel keys size-report --plan query.plan --rows 100000 --small-keys",
        ],
    ),
    (
        "keys server",
        &["everlevel keys server --key keys/secret.key --plan query.plan --rows 100000 --out \
             query.keys"],
    ),
    (
        "keys change",
        &["everlevel keys change --old-key old/secret.key --new-key new/secret.key --out \
             change.keys"],
    ),
    ("keys manifest-key", &["everlevel keys manifest-key --out manifest.key"]),
    ("security estimate", &["everlevel security estimate --n 32768 --log-qp 880 --secret ternary"]),
    (
        "bench bootstrap",
        &[
            "everlevel bench bootstrap --params bgv-65537-n15 --runs 3",
            "everlevel bench bootstrap --params bgv-65537-n15 --threads 1 --profile",
            "everlevel bench bootstrap --params bgv-65537-n15 --slots 1024 --batch 4",
        ],
    ),
    ("bench primitives", &["everlevel bench primitives --runs 10"]),
    (
        "bench integers",
        &[
            "everlevel bench integers --op table --type u8 --planned --threads 2",
            "everlevel bench integers --op lt --type u32 --values 2048 --side-by-side",
            "everlevel bench integers --op add --type u32 --exhausted --threads 2 --json",
        ],
    ),
    ("aes keygen", &["everlevel aes keygen --out aes-keys"]),
    (
        "aes encrypt-key",
        &["everlevel aes encrypt-key --key aes-keys/public.key --aes-key-file aes.hex --out \
             aes-key.ct"],
    ),
    (
        "aes upload",
        &["everlevel aes upload --key aes-keys/public.key --aes-key-file aes.hex --in data.bin \
             --out data.upload"],
    ),
    (
        "aes transcipher",
        &["everlevel aes transcipher --server-keys aes-keys/server.keys --aes-key aes-key.ct \
             --in data.upload --out data.ct"],
    ),
    (
        "aes decrypt",
        &["everlevel aes decrypt --key aes-keys/secret.key --in data.ct --out data.bin"],
    ),
    (
        "table encrypt",
        &["everlevel table encrypt --schema schema.json --in stays.csv --key keys/secret.key \
             --out stays"],
    ),
    (
        "table ask",
        &["everlevel table ask --schema stays/schema.json 'select sum(cost) from t where days > \
             7' --out query.plan"],
    ),
    (
        "table bind",
        &[
            "everlevel table bind --plan query.plan --key keys/public.key day=12 --out \
             constants",
            "everlevel table bind --plan query.plan --key keys/public.key --from values.json \
             --out constants",
        ],
    ),
    (
        "table run",
        &[
            "everlevel table run --table stays --server-keys keys/server.keys --plan \
             query.plan --out query.result",
            #[cfg(feature = "service")]
            "everlevel table run --remote https://everlevel.example.org --table stays \
             --server-keys keys/server.keys --plan query.plan --out query.result",
            #[cfg(feature = "cuda")]
            "everlevel table run --table stays --server-keys keys/server.keys --plan query.plan \
             --out query.result --device cuda",
        ],
    ),
    (
        "table read",
        &[
            "everlevel table read --key keys/secret.key --in query.result --plan query.plan",
            "everlevel table read --key keys/secret.key --in query.result --format json --out -",
            "everlevel table read --key keys/secret.key --in query.result --out answer.parquet",
        ],
    ),
    (
        "table change",
        &[
            "everlevel table change --table stays --key keys/secret.key --insert more.csv",
            "everlevel table change --table stays --key keys/secret.key 'delete from t where days \
             > 90'",
        ],
    ),
    (
        "table decrypt",
        &["everlevel table decrypt --table stays --key keys/secret.key --out stays.csv"],
    ),
    ("table inspect", &["everlevel table inspect stays"]),
    (
        "table explain",
        &["everlevel table explain --plan query.plan --params bgv-65537-n15 --rows 100000"],
    ),
    (
        "table search start",
        &[
            "everlevel table search start --schema stays/schema.json 'select median(cost) from t \
             where ward = :ward' ward=west --out search",
            "everlevel table search start --schema stays/schema.json 'select ward, cost from t \
             order by cost desc limit 3' --out search",
        ],
    ),
    ("table search next", &["everlevel table search next --key keys/secret.key search"]),
    (
        "table schema infer",
        &[
            "everlevel table schema infer --in stays.csv --out schema.json",
            "everlevel table schema infer --in stays.csv --index admitted --index cost --out \
             schema.json",
        ],
    ),
    ("table demo", &["everlevel table demo --only Q6"]),
    (
        "table query",
        &[
            "everlevel table query --schema schema.json --in stays.csv 'select ward, avg(cost) \
             from t group by ward'",
            "everlevel table query --schema schema.json --in stays.csv --ordered-by server \
             'select max(cost) from t where ward = 7'",
        ],
    ),
    (
        "serve",
        &[
            "everlevel serve --demo",
            "everlevel serve --dir service",
            "everlevel serve --dir service --quota-gib 10 --jobs 2",
        ],
    ),
    ("serve token add", &["everlevel serve token add --dir service --tenant acme"]),
    ("serve token list", &["everlevel serve token list --dir service"]),
    ("serve token revoke", &["everlevel serve token revoke --dir service 3f9a0c517d2be860"]),
    ("remote push", &["everlevel remote push --token-file token keys/server.keys people.ct"]),
    (
        "remote run",
        &["everlevel remote run --token-file token --server-keys keys/server.keys 'rich = income \
             > 50000' people.ct --out results"],
    ),
    (
        "remote table",
        &["everlevel remote table --token-file token --server-keys keys/server.keys --table \
             stays --plan query.plan --out query.result"],
    ),
    ("remote list", &["everlevel remote list --token-file token"]),
    (
        "remote pull",
        &["everlevel remote pull --token-file token \
             1c53f0d2a96b7e84402bd1f5c7390ae8d4f6b12097c83e5a6fd0412b9e7c8a35 --out people.ct"],
    ),
    (
        "remote delete",
        &["everlevel remote delete --token-file token \
             1c53f0d2a96b7e84402bd1f5c7390ae8d4f6b12097c83e5a6fd0412b9e7c8a35"],
    ),
    (
        "remote cancel",
        &["everlevel remote cancel --token-file token 5e0b93d7a41c6f280f9e3b7c1d24a685"],
    ),
    ("selftest", &["everlevel selftest", "everlevel selftest --mistakes"]),
    (
        "completions",
        &["everlevel completions bash > ~/.local/share/bash-completion/completions/everlevel"],
    ),
    ("man", &["everlevel man --out ~/.local/share/man/man1"]),
    ("version", &["everlevel version --verbose"]),
];

/// The command line, with examples at the end of the help of each command.
pub fn command() -> Command {
    with(Cli::command(), "")
}

fn with(command: Command, path: &str) -> Command {
    let below: Vec<String> = command.get_subcommands().map(|c| c.get_name().into()).collect();
    let command = below.iter().fold(command, |command, name| {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command.mut_subcommand(name, |below| with(below, &path))
    });
    let Some((_, lines)) = EXAMPLES.iter().find(|(of, _)| *of == path) else { return command };
    let examples = if lines.len() == 1 { "Example:" } else { "Examples:" };
    let text = lines.iter().fold(examples.to_string(), |text, line| text + "\n  " + line);
    // What there is to say before them is said in the long help only.
    let before = command.get_after_long_help().map(|before| format!("{before}\n"));
    match before {
        Some(before) => command.after_help(text.clone()).after_long_help(before + &text),
        None => command.after_help(text),
    }
}
