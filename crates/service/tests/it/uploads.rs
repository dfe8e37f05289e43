//! Uploads that are cut, sent twice, at the same time, too long, or of something else.

use everlevel_service::Scope;
use everlevel_service::api::NewUpload;
use serde_json::Value;

use crate::support::{Owner, Running, program, push, start};

/// A tenant that sends by hand.
struct Sender<'a> {
    service: &'a Running,
    token: String,
}

impl Sender<'_> {
    fn announce(&self, bytes: &[u8], length: u64) -> (String, u16, Value) {
        let id = blake3::hash(bytes).to_hex().to_string();
        let new = NewUpload { id: id.parse().unwrap(), bytes: length };
        let new = serde_json::to_vec(&new).unwrap();
        let (status, told) = self.service.call("POST", "/v1/uploads", &self.token, &new);
        (id, status, told)
    }

    fn part(&self, id: &str, offset: usize, bytes: &[u8]) -> (u16, Value) {
        let path = format!("/v1/uploads/{id}?offset={offset}");
        self.service.call("PUT", &path, &self.token, bytes)
    }
}

fn code(told: &Value) -> &str {
    told["error"]["code"].as_str().unwrap_or("none")
}

#[test]
fn an_upload_goes_on_where_it_broke_off() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let bytes = std::fs::read(owner.columns("x", &[("x", &[1, 2])])).unwrap();
    let scopes = [Scope::Read, Scope::Write];
    let half = bytes.len() / 2;
    let (id, token) = {
        let service = Running::start(directory.path(), |_| ());
        let sender = Sender { service: &service, token: service.token("acme", &scopes) };
        let (id, status, state) = sender.announce(&bytes, bytes.len() as u64);
        assert_eq!((status, state["offset"].as_u64()), (200, Some(0)));
        assert_eq!(sender.part(&id, 0, &bytes[..half]).1["offset"].as_u64(), Some(half as u64));
        // A part again, one from further on, and none of what was announced.
        for offset in [0, half - 1, half + 1, usize::MAX / 2] {
            let (status, told) = sender.part(&id, offset, &bytes[half..half + 1]);
            assert_eq!((status, code(&told)), (409, "service.offset"), "{offset}");
        }
        let (status, told) = sender.part(&id, half, &[&bytes[half..], b"more"].concat());
        assert_eq!((status, code(&told)), (413, "service.too-large"));
        let (_, status, told) = sender.announce(&bytes, 1 + bytes.len() as u64);
        assert_eq!((status, code(&told)), (409, "service.conflict"));
        (id, sender.token)
    };
    // The process has ended meanwhile.
    let service = Running::start(directory.path(), |_| ());
    let sender = Sender { service: &service, token };
    assert_eq!(sender.announce(&bytes, bytes.len() as u64).2["offset"].as_u64(), Some(half as u64));
    let (status, state) = sender.part(&id, half, &bytes[half..]);
    assert_eq!((status, state["complete"].as_bool()), (200, Some(true)));
    // Whoever did not get the answer sends it again.
    assert_eq!(sender.part(&id, half, &bytes[half..]).1["complete"].as_bool(), Some(true));
}

#[test]
fn a_part_that_breaks_off_is_not_stored() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let bytes = std::fs::read(owner.columns("x", &[("x", &[1, 2])])).unwrap();
    let service = Running::start(directory.path(), |_| ());
    let sender = Sender { service: &service, token: service.token("acme", &[Scope::Write]) };
    let (id, ..) = sender.announce(&bytes, bytes.len() as u64);
    let head = format!(
        "PUT /v1/uploads/{id}?offset=0 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {}\r\n\
         Content-Length: {}\r\n\r\n",
        sender.token,
        bytes.len()
    );
    service.raw(&[head.as_bytes(), &bytes[..bytes.len() - 1]].concat());
    assert_eq!(sender.announce(&bytes, bytes.len() as u64).2["offset"].as_u64(), Some(0));
}

#[test]
fn parts_at_the_same_time_do_not_mix() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let bytes = std::fs::read(owner.columns("x", &[("x", &[1, 2])])).unwrap();
    let service = Running::start(directory.path(), |_| ());
    let sender = Sender { service: &service, token: service.token("acme", &[Scope::Write]) };
    let (id, ..) = sender.announce(&bytes, bytes.len() as u64);
    let sent: Vec<u16> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| sender.part(&id, 0, &bytes[..bytes.len() / 2]).0))
            .collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    assert_eq!(sent.iter().filter(|status| **status == 200).count(), 1, "{sent:?}");
    assert!(sent.iter().all(|status| [200, 409].contains(status)), "{sent:?}");
    let rest = sender.part(&id, bytes.len() / 2, &bytes[bytes.len() / 2..]);
    assert_eq!(rest.1["complete"].as_bool(), Some(true), "{rest:?}");
}

#[test]
fn what_is_something_else_is_refused_and_forgotten() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let sender =
        Sender { service: &service, token: service.token("acme", &[Scope::Read, Scope::Write]) };
    // Other bytes than those of the name.
    let bytes = std::fs::read(owner.columns("x", &[("x", &[1, 2])])).unwrap();
    let (id, ..) = sender.announce(&bytes, bytes.len() as u64);
    let mut other = bytes.clone();
    *other.last_mut().unwrap() ^= 1;
    let (status, told) = sender.part(&id, 0, &other);
    assert_eq!((status, code(&told)), (422, "service.checksum"));
    // No object at all.
    let text = [b'x'; 500];
    let (id, ..) = sender.announce(&text, 500);
    assert_eq!(code(&sender.part(&id, 0, &text).1), "wire.not-ours");
    // A secret key: the client does not send it, and the service does not keep it.
    let path = owner.files.path().join("secret.key");
    let secret = owner.client.secret();
    let bytes = everlevel_wire::secret_key::expose_to_bytes(secret, &Default::default()).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let told = client.push(&path, |_, _| ()).unwrap_err();
    assert!(told.to_string().contains("nothing was sent"), "{told}");
    let (id, ..) = sender.announce(&bytes, bytes.len() as u64);
    assert_eq!(sender.part(&id, 0, &bytes).0, 400);
    for directory in ["uploads/acme", "objects/acme"] {
        let left = std::fs::read_dir(service.directory.join(directory));
        assert_eq!(left.map_or(0, Iterator::count), 0, "{directory}");
    }
    let used = client.usage().unwrap();
    assert_eq!((used.bytes, used.objects), (0, 0));
    // Sizes that cannot be.
    for length in [0, 1] {
        assert_eq!(sender.announce(b"", length).1, 400);
    }
}

#[test]
fn a_flipped_byte_in_the_store_is_found_and_named() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let good = push(&client, &owner.columns("xx", &[("x", &[1, 2])]));
    let bad = push(&client, &owner.columns("x", &[("x", &[1, 2])]));
    let keys = push(&client, &owner.keys);
    let flip = |id: &everlevel_service::ObjectId| {
        let path = directory.path().join("objects/acme").join(id.as_ref());
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    };
    flip(&bad);
    let told = client.wait(&start(&client, &program(&keys, &bad, "y = x + 1")), |_| ());
    let told = told.unwrap_err();
    assert_eq!(told.code(), "service.damaged");
    assert!(told.to_string().contains(bad.as_ref()), "{told}");
    assert_eq!(client.fetch(&bad, |_, _| ()).unwrap_err().code(), "service.checksum");
    // Nothing else is affected.
    let job = start(&client, &program(&keys, &good, "y = x + 1"));
    let done = client.wait(&job, |_| ()).unwrap();
    let bytes = client.fetch(&done.results["y"], |_, _| ()).unwrap();
    assert_eq!(owner.values(&bytes), [2, 3]);
    // Keys, too, before they are opened.
    let other = Owner::other();
    let (keys, columns) =
        (push(&client, &other.keys), push(&client, &other.columns("x", &[("x", &[7])])));
    flip(&keys);
    let told = client.wait(&start(&client, &program(&keys, &columns, "y = x + 1")), |_| ());
    let told = told.unwrap_err();
    assert_eq!(told.code(), "service.damaged");
    assert!(told.to_string().contains(keys.as_ref()), "{told}");
}
