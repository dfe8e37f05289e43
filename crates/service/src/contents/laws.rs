//! Laws that hold for every storage of bytes: a directory that two processes share, and an object
//! store with a directory for each process.

use std::io::Read;
use std::sync::Arc;

use everlevel::{Client, NamedIntegers, OptIn, Params, Type};
use everlevel_remote::api::{NewUpload, PART_BYTES};
use everlevel_remote::{ObjectId, Tenant};
use object_store::memory::InMemory;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use tempfile::TempDir;

use super::bucket::InBucket;
use super::depot::Depot;
use super::{Contents, Directory};
use crate::config::Quota;
use crate::error::ServiceError;
use crate::files::entries;
use crate::objects::Objects;
use crate::store::Store;

/// Bytes of a column that a service accepts, in more than one part.
fn column() -> Vec<u8> {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let client = Client::new(&params, &mut rng);
    let mut columns: Vec<NamedIntegers> = Vec::new();
    for i in 0..40 {
        let values: Vec<u32> = (0..2048).collect();
        let column = client.encrypt_integers(&values, Type::U32, &mut rng).unwrap();
        columns.push((format!("x{i}"), column.into()));
    }
    let bytes = client.upload_columns(&columns).unwrap();
    assert!(bytes.len() as u64 > 2 * PART_BYTES && bytes.len() < 200 << 20);
    bytes
}

/// A process with records that it shares with others.
fn process(
    store: &Arc<Store>,
    bucket: Option<&Arc<InMemory>>,
    directories: &[TempDir; 3],
    i: usize,
) -> Objects {
    let contents: Arc<dyn Contents> = match bucket {
        Some(bucket) => {
            let depot = Depot::new(Box::new(bucket.clone()), "a/b").unwrap();
            Arc::new(InBucket::with(depot, directories[i].path(), 1 << 30).unwrap())
        }
        None => Arc::new(Directory::new(directories[0].path())),
    };
    Objects::new(store.clone(), contents, OptIn::InsecureResearch, Quota::default())
}

/// Two processes with the same records.
struct Processes {
    bytes: Vec<u8>,
    id: ObjectId,
    tenant: Tenant,
    here: Objects,
    there: Objects,
    bucket: Option<Arc<InMemory>>,
    directories: [TempDir; 3],
}

impl Processes {
    fn new(bytes: &[u8], in_bucket: bool) -> Self {
        let directories = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let store = Arc::new(Store::open(directories[0].path(), None, None, false).unwrap());
        let bucket = in_bucket.then(Arc::<InMemory>::default);
        let objects = |i| process(&store, bucket.as_ref(), &directories, i);
        let (here, there, tenant) = (objects(0), objects(1), "acme".parse().unwrap());
        let id = ObjectId::of_hash(blake3::hash(bytes));
        Processes { bytes: bytes.into(), id, tenant, here, there, bucket, directories }
    }

    /// A third process, without copies.
    fn third(&self) -> Objects {
        process(&self.here.store, self.bucket.as_ref(), &self.directories, 2)
    }

    fn begin(&self) {
        let new = NewUpload { id: self.id.clone(), bytes: self.bytes.len() as u64 };
        self.here.begin(&self.tenant, &new).unwrap();
    }

    /// Adds the part from an offset.
    fn append(&self, to: &Objects, offset: u64) -> Result<u64, ServiceError> {
        let end = (offset + PART_BYTES).min(self.bytes.len() as u64);
        self.append_bytes(to, offset, &self.bytes[offset as usize..end as usize])
    }

    fn append_bytes(&self, to: &Objects, at: u64, bytes: &[u8]) -> Result<u64, ServiceError> {
        to.append(&self.tenant, &self.id, at, bytes).map(|state| state.offset)
    }

    /// Sends all missing parts, alternating between the processes.
    fn send(&self) {
        let mut offset = self.here.upload(&self.tenant, &self.id).unwrap().offset;
        let mut turn = [&self.here, &self.there].into_iter().cycle();
        while offset < self.bytes.len() as u64 {
            offset = self.append(turn.next().unwrap(), offset).unwrap();
        }
    }

    /// All names in the store.
    fn stored(&self) -> Vec<String> {
        let bucket = self.bucket.clone().unwrap();
        Depot::new(Box::new(bucket), "").unwrap().below("a/b").unwrap()
    }

    /// Whether no bytes are stored for any process.
    fn is_empty(&self) -> bool {
        match &self.bucket {
            Some(_) => self.stored().is_empty(),
            None => ["objects/acme", "uploads/acme"]
                .iter()
                .all(|kind| entries(&self.directories[0].path().join(kind)).unwrap().is_empty()),
        }
    }
}

fn code<T>(found: Result<T, ServiceError>) -> String {
    found.err().map(|e| e.code().to_string()).unwrap_or_default()
}

#[test]
fn uploads_go_on_in_another_process() {
    let bytes = column();
    for in_bucket in [false, true] {
        let two = Processes::new(&bytes, in_bucket);
        let (here, there, tenant, id) = (&two.here, &two.there, &two.tenant, &two.id);
        two.begin();
        assert_eq!(code(two.append(there, PART_BYTES)), "service.offset");
        assert_eq!(two.append(here, 0).unwrap(), PART_BYTES);
        // The same part once more, and one too long.
        assert_eq!(code(two.append(there, 0)), "service.offset");
        let long = vec![0; bytes.len()];
        assert_eq!(code(two.append_bytes(here, PART_BYTES, &long)), "service.too-large");
        let short = two.append_bytes(here, PART_BYTES, &bytes[..10]);
        assert_eq!(code(short), if in_bucket { "service.malformed" } else { "" });
        if !in_bucket {
            here.abandon(tenant, id).unwrap();
            two.begin();
        }
        two.send();
        assert!(there.upload(tenant, id).unwrap().complete);
        assert_eq!(there.read(tenant, id).unwrap().1, bytes);
        here.verify(tenant, id).unwrap();
        // Parts from a process that has no copy, and from one that has.
        let fresh = two.third();
        for objects in [&fresh, here] {
            for offset in [5, bytes.len() - 7, bytes.len()] {
                let (file, length) = objects.part_of(tenant, id, offset as u64).unwrap();
                let mut part = Vec::new();
                file.take(length).read_to_end(&mut part).unwrap();
                let end = bytes.len().min(offset + PART_BYTES as usize);
                assert!(part == bytes[offset..end], "{offset}");
            }
            let past = objects.part_of(tenant, id, bytes.len() as u64 + 1);
            assert_eq!(code(past), "service.offset");
        }
        // Nothing else is there, for another tenant neither.
        if in_bucket {
            assert_eq!(two.stored(), [format!("objects/acme/{id}")]);
        }
        assert_eq!(code(there.read(&"rival".parse().unwrap(), id)), "service.not-found");
        there.delete(tenant, id).unwrap();
        assert_eq!(code(here.read(tenant, id)), "service.not-found");
        assert!(two.is_empty());
        assert_eq!(here.store.usage(tenant).unwrap().bytes, 0);
    }
}

#[test]
fn other_bytes_than_were_announced_leave_nothing() {
    let bytes = column();
    for in_bucket in [false, true] {
        let two = Processes::new(&bytes, in_bucket);
        two.begin();
        let mut wrong = bytes[..PART_BYTES as usize].to_vec();
        wrong[99] ^= 1;
        let mut offset = two.append_bytes(&two.here, 0, &wrong).unwrap();
        let refused = loop {
            match two.append(&two.there, offset) {
                Ok(next) => offset = next,
                Err(e) => break e,
            }
        };
        assert_eq!(refused.code(), "service.checksum");
        assert!(two.is_empty());
        assert_eq!(code(two.here.upload(&two.tenant, &two.id)), "service.not-found");
        // From the beginning it goes well.
        two.begin();
        two.send();
        two.here.verify(&two.tenant, &two.id).unwrap();
    }
}

#[test]
fn a_start_removes_what_nothing_names() {
    let bytes = column();
    for in_bucket in [false, true] {
        let two = Processes::new(&bytes, in_bucket);
        let (here, tenant) = (&two.here, &two.tenant);
        two.begin();
        two.append(here, 0).unwrap();
        let other = ObjectId::of_hash(blake3::hash(b"other"));
        here.contents.store(tenant, &other, b"other").unwrap();
        here.contents.store(&"gone".parse().unwrap(), &other, b"other").unwrap();
        two.there.recover().unwrap();
        assert!(!here.contents.has(tenant, &other).unwrap());
        assert!(!here.contents.has(&"gone".parse().unwrap(), &other).unwrap());
        // What was joined, and did not become an object, goes with its upload.
        let joined = two.directories[1].path().join("joined");
        std::fs::write(&joined, b"joined").unwrap();
        here.contents.prepare(tenant, &two.id, &joined).unwrap();
        here.abandon(tenant, &two.id).unwrap();
        assert!(two.is_empty());
        two.begin();
        // The upload goes on, and what is joined of it is not removed before it is an object.
        two.send();
        two.there.recover().unwrap();
        two.there.verify(tenant, &two.id).unwrap();
    }
}

#[test]
fn an_upload_of_what_is_an_object_by_now_ends_without_it() {
    let bytes = column();
    for in_bucket in [false, true] {
        let two = Processes::new(&bytes, in_bucket);
        let (here, tenant, id) = (&two.here, &two.tenant, &two.id);
        two.begin();
        // As the end of a job does it.
        let staged = here.stage(tenant, vec![("y".into(), bytes.clone())]).unwrap();
        here.store.change(tenant, |change| here.keep(change, tenant, &staged["y"])).unwrap();
        two.append(here, 0).unwrap();
        here.abandon(tenant, id).unwrap();
        assert!(here.info(tenant, id).unwrap().computed);
        two.third().verify(tenant, id).unwrap();
        let used = here.store.usage(tenant).unwrap();
        assert_eq!((used.bytes, used.objects), (bytes.len() as u64, 1));
    }
}

#[test]
fn a_damaged_copy_is_fetched_again() {
    let bytes = column();
    let two = Processes::new(&bytes, true);
    two.begin();
    two.send();
    two.here.verify(&two.tenant, &two.id).unwrap();
    let copy = two.here.file(&two.tenant, &two.id).unwrap();
    for damage in [&b"short"[..], b""] {
        std::fs::write(&copy, damage).unwrap();
        assert_eq!(two.here.read(&two.tenant, &two.id).unwrap().1, bytes);
    }
    // What is damaged in the store is named, and so is what is missing there.
    let depot = Depot::new(Box::new(two.bucket.clone().unwrap()), "a/b").unwrap();
    let name = format!("objects/acme/{}", two.id);
    depot.put(&name, b"damaged").unwrap();
    two.here.read(&two.tenant, &two.id).unwrap();
    std::fs::write(&copy, b"").unwrap();
    let told = two.here.verify(&two.tenant, &two.id).unwrap_err();
    assert!(told.code() == "service.damaged" && told.to_string().contains(two.id.as_ref()));
    depot.remove(&name).unwrap();
    assert_eq!(code(two.there.verify(&two.tenant, &two.id)), "service.damaged");
}

/// Pieces of more than one request in both directions.
#[test]
fn large_objects_go_in_pieces() {
    let bucket = Arc::<InMemory>::default();
    let depot = Depot::new(Box::new(bucket), "").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large");
    for length in [0, 8 << 20, (8 << 20) + 1, 20 << 20] {
        let bytes: Vec<u8> = (0..length).map(|i: u32| (i / 7 + i / 1001) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        depot.put_file("x", &path).unwrap();
        let mut copy = std::fs::File::create(directory.path().join("copy")).unwrap();
        assert_eq!(depot.fetch("x", &mut copy).unwrap(), Some(length.into()));
        assert_eq!(std::fs::read(directory.path().join("copy")).unwrap(), bytes);
    }
    let mut none = std::fs::File::create(directory.path().join("none")).unwrap();
    assert_eq!(depot.fetch("y", &mut none).unwrap(), None);
    depot.remove("y").unwrap();
}
