//! Noise bounds that are stated, and believed, by a shared key.

use std::fs;

use super::{Places, refused, run, told};

/// Noise bounds that parties with a shared key state to each other, across carriers who change what
/// they carry.
#[test]
fn bounds_of_manifests() {
    let places = Places::new();
    let (owner, server) = (places.of("owner"), places.of("server"));
    told(&owner, &["keygen", "--params", "insecure_bgv-257-n8", "--out", "keys"]);
    told(&owner, &["keys", "manifest-key", "--out", "shared.key"]);
    told(&owner, &["keys", "manifest-key", "--out", "other.key"]);
    assert!(
        refused(&owner, &["keys", "manifest-key", "--out", "shared.key"]).contains("wire.exists")
    );
    assert_eq!(fs::read(owner.join("shared.key")).unwrap().len(), 32);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(owner.join("shared.key")).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    fs::write(owner.join("x.csv"), "v\n3\n5\n").unwrap();
    let encrypt = |name: &str| {
        let (ct, manifest) = (format!("{name}.ct"), format!("{name}.manifest"));
        let args = [
            "encrypt",
            "--key",
            "keys/public.key",
            "--in",
            "x.csv",
            "--out",
            &ct,
            "--write-manifest",
            &manifest,
        ];
        told(&owner, &[&args[..], &["--manifest-key", "shared.key"]].concat());
        [ct, manifest].iter().for_each(|file| places.send(file, "owner", "server"));
    };
    ["x", "w"].iter().for_each(|name| encrypt(name));
    ["keys/server.keys", "shared.key", "other.key"]
        .iter()
        .for_each(|file| places.send(file, "owner", "server"));
    assert_eq!(told(&server, &["inspect", "x.manifest"])["kind"], "a manifest of noise bounds");

    // Two inputs, a manifest each; both results in one.
    let eval = ["eval", "--server-keys", "server.keys", "y = x*w; z = x + w", "x=x.ct", "w=w.ct"];
    let believed = ["--bounds", "manifest", "--manifest", "x.manifest", "--manifest-key"];
    let both = [&eval[..], &believed, &["shared.key", "--manifest", "w.manifest"]].concat();
    told(&server, &[&both[..], &["--out", "out", "--write-manifest", "out.manifest"]].concat());
    assert!(
        refused(
            &server,
            &[&both[..], &["--out", "no", "--write-manifest", "out.manifest"]].concat()
        )
        .contains("wire.exists")
    );
    let not_listed =
        refused(&server, &[&eval[..], &believed, &["shared.key", "--out", "no"]].concat());
    assert!(
        not_listed.contains("w.ct") && not_listed.contains("wire.not-in-manifest"),
        "{not_listed}"
    );
    let other = refused(&server, &[&eval[..], &believed, &["other.key", "--out", "no"]].concat());
    assert!(other.contains("x.manifest") && other.contains("wire.not-authentic"), "{other}");
    assert!(
        refused(&server, &[&eval[..], &["--out", "no", "--bounds", "manifest"]].concat())
            .contains("--manifest FILE")
    );
    let unused = ["--out", "no", "--manifest", "x.manifest", "--manifest-key", "shared.key"];
    assert!(refused(&server, &[&eval[..], &unused].concat()).contains("--bounds manifest"));
    let keyless = ["--out", "no", "--write-manifest", "no.manifest"];
    assert!(refused(&server, &[&eval[..], &keyless].concat()).contains("--manifest-key"));
    assert!(
        !server.join("no").exists() && !server.join("no.manifest").exists(),
        "nothing is written for what was refused"
    );

    // A bootstrapping of what the same server lists, and decryption of nothing but what is listed.
    let listed =
        ["--bounds", "manifest", "--manifest", "out.manifest", "--manifest-key", "shared.key"];
    let bootstrap =
        ["bootstrap", "--server-keys", "server.keys", "--in", "out/y.ct", "--out", "y2.ct"];
    told(&server, &[&bootstrap[..], &listed, &["--write-manifest", "y2.manifest"]].concat());
    ["out/y.ct", "out/z.ct", "out.manifest", "y2.ct", "y2.manifest"]
        .iter()
        .for_each(|file| places.send(file, "server", "owner"));
    let decrypt = |file: &str, manifest: &str, rest: &[&str]| {
        let args = [
            "decrypt",
            "--wrapping",
            "--key",
            "keys/secret.key",
            "--in",
            file,
            "--bounds",
            "manifest",
            "--manifest",
            manifest,
        ];
        run(&owner, &[&args[..], &["--manifest-key", "shared.key"], rest].concat())
    };
    for (file, manifest, values) in [
        ("y.ct", "out.manifest", "9\n25"),
        ("z.ct", "out.manifest", "6\n10"),
        ("y2.ct", "y2.manifest", "9\n25"),
    ] {
        for rest in [&[][..], &["--for-sharing"]] {
            let out = decrypt(file, manifest, rest);
            assert!(out.status.success(), "{file}: {}", String::from_utf8_lossy(&out.stderr));
            assert!(String::from_utf8_lossy(&out.stdout).contains(values), "{file}");
        }
    }
    let out = decrypt("y2.ct", "out.manifest", &[]);
    assert!(
        !out.status.success()
            && String::from_utf8_lossy(&out.stderr).contains("wire.not-in-manifest")
    );
    // A ciphertext whose carrier put another one in its place.
    fs::copy(owner.join("x.ct"), owner.join("y.ct")).unwrap();
    let out = decrypt("y.ct", "out.manifest", &[]);
    assert!(
        !out.status.success()
            && String::from_utf8_lossy(&out.stderr).contains("wire.not-in-manifest")
    );
}
