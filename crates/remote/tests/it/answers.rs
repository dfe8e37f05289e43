//! What becomes of answers that break off, are lost, or are false.

use everlevel_remote::api::{JobInfo, JobRequest, JobState, ObjectInfo, UploadState};
use everlevel_remote::{
    Client, Connecting, Exposure, IdempotencyKey, JobId, ObjectId, RemoteError, Token, Told,
};
use everlevel_wire::ObjectKind;
use everlevel_wire::file::Existing;

use crate::script::{Answer, Scripted, answer, broken_off, refusal};

fn json(value: &impl serde::Serialize) -> Answer {
    answer(200, &serde_json::to_vec(value).unwrap())
}

fn id_of(bytes: &[u8]) -> ObjectId {
    ObjectId::of_hash(blake3::hash(bytes))
}

fn info(id: &ObjectId, bytes: u64) -> ObjectInfo {
    ObjectInfo::new(id.clone(), ObjectKind::COLUMNS, "set", None, bytes)
}

fn queued() -> JobInfo {
    JobInfo::queued("0".repeat(32).parse().unwrap())
}

#[test]
fn a_download_that_breaks_off_goes_on() {
    let bytes: Vec<u8> = (0..=255).collect();
    let id = id_of(&bytes);
    let service = Scripted::new(vec![
        Vec::new(),
        json(&info(&id, 256)),
        broken_off(200, &bytes[..100], 40),
        answer(200, &bytes[..100]),
        answer(503, b""),
        answer(200, &bytes[100..]),
    ]);
    assert_eq!(service.client().fetch(&id, |_, _| ()).unwrap(), bytes);
    let asked = service.asked();
    assert!(asked[3].contains("offset=0 ") && asked[5].contains("offset=100 "), "{asked:?}");
}

#[test]
fn other_bytes_are_not_believed() {
    let id = id_of(b"what was asked for");
    for part in [&b"another"[..], b""] {
        let answers = vec![json(&info(&id, 7)), answer(200, part)];
        let refused = Scripted::new(answers).client().fetch(&id, |_, _| ()).unwrap_err();
        assert!(matches!(refused, RemoteError::Checksum { .. }), "{refused:?}");
    }
    // A part is not longer than all parts are, and is not asked for again.
    let service = Scripted::new(vec![json(&info(&id, 1 << 31)), answer(200, &[0; (4 << 20) + 1])]);
    assert_eq!(service.client().fetch(&id, |_, _| ()).unwrap_err().code(), "service.malformed");
    // More than there is memory for is not asked for, whatever the service says.
    let service = Scripted::new(vec![json(&info(&id, (4 << 30) + 1))]);
    assert_eq!(service.client().fetch(&id, |_, _| ()).unwrap_err().code(), "service.too-large");
    assert_eq!(service.asked().len(), 1);
}

#[test]
fn files_are_fetched_part_by_part() {
    let bytes: Vec<u8> = (0..=255).collect();
    let id = id_of(&bytes);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("result");
    let parts =
        |last: &[u8]| vec![json(&info(&id, 256)), answer(200, &bytes[..100]), answer(200, last)];
    let false_end = Scripted::new(parts(&[7; 156]));
    let refused = false_end.client().pull(&id, &path, Existing::Keep, |_, _| ()).unwrap_err();
    assert!(matches!(refused, RemoteError::Checksum { .. }), "{refused:?}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left of it");
    let service = Scripted::new(parts(&bytes[100..]));
    assert_eq!(service.client().pull(&id, &path, Existing::Keep, |_, _| ()), Ok(256));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // Nothing is asked for a file that would be refused.
    let service = Scripted::new(vec![]);
    assert!(service.client().pull(&id, &path, Existing::Keep, |_, _| ()).is_err());
    assert!(service.asked().is_empty());
}

#[test]
fn a_job_is_started_once_under_its_name() {
    let service = Scripted::new(vec![Vec::new(), json(&queued())]);
    let id = id_of(b"keys");
    let request = JobRequest::program(&id, "y = x", &[&id]);
    let key: IdempotencyKey = "the-name".parse().unwrap();
    assert_eq!(service.client().start(&request, &key).unwrap(), queued());
    let asked = service.asked();
    let named =
        |head: &&String| head.to_ascii_lowercase().contains("idempotency-key: the-name\r\n");
    assert_eq!(asked.iter().filter(named).count(), 2, "{asked:?}");
}

/// It is gone if it was there when it was asked for first.
#[test]
fn a_removal_whose_answer_was_lost_has_happened() {
    let (id, gone) = (id_of(b"object"), refusal(404, "service.not-found"));
    Scripted::new(vec![Vec::new(), gone.clone()]).client().delete_object(&id).unwrap();
    let refused = Scripted::new(vec![gone]).client().delete_object(&id).unwrap_err();
    assert_eq!(refused.code(), "service.not-found");
    let in_use = vec![Vec::new(), refusal(409, "service.in-use")];
    let refused = Scripted::new(in_use).client().delete_object(&id).unwrap_err();
    assert_eq!(refused.code(), "service.in-use");
}

#[test]
fn what_stays_away_is_unreachable() {
    let service = Scripted::new(vec![answer(502, b"a proxy"); 5]);
    let refused = service.client().usage().unwrap_err();
    assert_eq!(refused.code(), "service.unreachable");
    assert!(refused.to_string().contains("502"), "{refused}");
    assert_eq!(service.asked().len(), 5);
    // A refusal is not tried again.
    let service = Scripted::new(vec![refusal(401, "service.unauthorized")]);
    assert_eq!(service.client().usage().unwrap_err().code(), "service.unauthorized");
    let service = Scripted::new(vec![answer(200, b"{}")]);
    assert_eq!(service.client().usage().unwrap_err().code(), "service.malformed");
}

#[test]
fn a_job_that_failed_says_why() {
    let told = Told { code: "circuit.missing-input".into(), message: "no z".into() };
    let mut failed = queued();
    (failed.state, failed.error) = (JobState::Failed, Some(told.clone()));
    let service = Scripted::new(vec![json(&queued()), json(&failed)]);
    let mut seen = 0;
    let id: JobId = queued().id;
    let refused = service.client().wait(&id, |_| seen += 1).unwrap_err();
    assert_eq!((refused, seen), (RemoteError::Refused(told), 1));
    let missing = queued().result("y").unwrap_err();
    assert_eq!(missing.code(), "service.malformed");
}

const CIPHERTEXTS: &[u8] =
    include_bytes!("../../../wire/tests/golden/v2/insecure_bgv-257-n8.ciphertexts");

/// The service is not done with a part when it is sent again.
#[test]
fn a_part_that_is_being_stored_is_waited_for() {
    let (id, length) = (id_of(CIPHERTEXTS), CIPHERTEXTS.len() as u64);
    let state =
        |offset, complete| json(&UploadState { id: id.clone(), bytes: length, offset, complete });
    let service = Scripted::new(vec![
        state(0, false),
        refusal(408, "service.timeout"),
        state(length, false),
        refusal(409, "service.conflict"),
        state(length, false),
        state(length, true),
    ]);
    assert_eq!(service.client().push_bytes(CIPHERTEXTS, |_, _| ()).unwrap(), id);
    let asked = service.asked();
    let at = |offset: u64| format!("PUT /v1/uploads/{id}?offset={offset} ");
    for (place, offset) in [(1, 0), (3, length), (5, length)] {
        assert!(asked[place].starts_with(&at(offset)), "{asked:?}");
    }
}

#[test]
fn what_is_no_object_is_not_sent() {
    let directory = tempfile::tempdir().unwrap();
    // Nothing is asked of this one.
    let service = Scripted::new(Vec::new());
    let client = service.client();
    let refused = client.push_bytes(b"no object", |_, _| ()).unwrap_err();
    assert!(refused.code().starts_with("wire."), "{refused:?}");
    let file = directory.path().join("none");
    assert_eq!(client.push(&file, |_, _| ()).unwrap_err().code(), "wire.io");
    let refused = client.push_table(directory.path(), |_, _| ()).unwrap_err();
    assert!(refused.to_string().contains("nothing was sent"), "{refused}");
    std::fs::write(directory.path().join("schema.json"), "{}").unwrap();
    std::fs::write(directory.path().join("0.columns"), "no columns").unwrap();
    let refused = client.push_table(directory.path(), |_, _| ()).unwrap_err();
    assert!(refused.code().starts_with("wire."), "{refused:?}");
    assert!(service.asked().is_empty());
}

#[test]
fn addresses_and_tokens_that_are_none() {
    let token = Token::random().unwrap();
    assert!(!format!("{token:?}").contains(&token.reveal()[20..]));
    let refused = |url: &str, token: &str, connecting: Connecting| {
        Client::new(url, token, connecting).err().map(|e| e.code().to_string())
    };
    let here = Connecting::default;
    let wrong = Some("service.malformed".to_string());
    for url in ["", "here", "ftp://127.0.0.1", "http://127.0.0.1/path", "http://192.0.2.1"] {
        assert_eq!(refused(url, token.reveal(), here()), wrong, "{url}");
    }
    assert_eq!(refused("http://127.0.0.1", "everlevel_0", here()), wrong);
    assert_eq!(refused("http://127.0.0.1", token.reveal(), here()), None);
    assert_eq!(refused("http://192.0.2.1", token.reveal(), Exposure::Anywhere.into()), None);
}
