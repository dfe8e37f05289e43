use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{OptIn, ParamsSpec};

use super::*;
use crate::fetch::matches::{Layout, resolve, total};
use crate::fetch::protocol::{INSTANCES, STAND_IN, spec};
use crate::instance::Instance;

/// Every instance and task fits the set, with some capacity left, and not much.
#[test]
fn the_set_holds_every_instance() {
    let sizes = (0..INSTANCES.len()).map(|i| i.to_string()).chain([STAND_IN.name.into()]);
    for size in sizes {
        let workload = Workload::of(&[&size]).unwrap().0;
        let params = workload.params().unwrap();
        let search = Search::new(&params, &workload).unwrap();
        for task in [Task::Count, Task::Fetch] {
            let dry = NoOp::blank(&params);
            let found = search.rehearse(&dry, task).unwrap();
            let left = found.iter().map(|x| dry.capacity_bits(x)).fold(f64::MAX, f64::min);
            println!("{size} {task:?}: {left:.1} bits left, {:?}", dry.cost());
            assert!(left > 4.0, "{size} {task:?}: {left} bits");
            assert!(size == STAND_IN.name || left < 50.0, "{size} {task:?}: {left} bits");
            // What the client can do with it.
            assert!(found.iter().all(|x| dry.decrypt(x).is_ok()));
        }
    }
}

/// Key switches, products and transforms for payloads, instance by instance, as they are in the
/// README of the submission.
#[test]
fn work_is_what_the_readme_says() {
    let wanted = [(96, 201), (170, 402), (2_354, 10_199), (42_050, 357_435)];
    let readme = include_str!("../../../fetch-by-similarity/README.md");
    let row = |name: &str| -> Vec<u64> {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        let cells = row.split('|').map(|cell| cell.trim().replace(',', ""));
        cells.filter_map(|cell| cell.parse().ok()).collect()
    };
    let [switches, products, transforms] =
        ["key switches", "products of two ciphertexts", "transforms of 2^15 words"].map(row);
    for (i, wanted) in wanted.into_iter().enumerate() {
        let workload = Workload::of(&[&i.to_string()]).unwrap().0;
        let params = workload.params().unwrap();
        let dry = NoOp::blank(&params);
        Search::new(&params, &workload).unwrap().rehearse(&dry, Task::Fetch).unwrap();
        let cost = dry.cost();
        println!("{i}: {cost:?}");
        assert_eq!((cost.key_switches, cost.products), wanted, "{i}");
        assert_eq!((switches[i], products[i]), wanted, "{i}");
        assert_eq!(cost.transforms, transforms[i], "{i}");
    }
}

/// A database without values that notes what it is asked for.
struct Asked {
    blank: Blank<NoOpCiphertext>,
    rows: Vec<(usize, Range<usize>)>,
    payloads: Vec<usize>,
}

impl Database<NoOp> for Asked {
    type Row = NoOpCiphertext;

    fn sums(
        scheme: &NoOp,
        pairs: &[&[(&NoOpCiphertext, &NoOpCiphertext)]],
    ) -> Result<Vec<<NoOp as Arithmetic>::Product>, SchemeError> {
        scheme.sums_of_products(pairs)
    }

    fn rows(&mut self, c: usize, ranks: Range<usize>) -> Result<Vec<NoOpCiphertext>, SuiteError> {
        self.rows.push((c, ranks.clone()));
        Database::<NoOp>::rows(&mut self.blank, c, ranks)
    }

    fn payloads(&mut self, c: usize) -> Result<Vec<NoOpCiphertext>, SuiteError> {
        self.payloads.push(c);
        Database::<NoOp>::payloads(&mut self.blank, c)
    }
}

/// The database is asked for everything once, in the order in which it is read ahead.
#[test]
fn parts_are_asked_for_in_the_order_that_is_announced() {
    let stand_in = Workload::of(&[STAND_IN.name]).unwrap().0;
    let params = stand_in.params().unwrap();
    // Few chunks, whose sums have four parts, and many.
    let many = Instance { name: "of this test", count: 17_000 };
    for (instance, dimension, chunks) in [(STAND_IN, 8, 3), (STAND_IN, 128, 3), (many, 32, 9)] {
        let workload = Workload { instance, dimension };
        let search = Search::new(&params, &workload).unwrap();
        let dry = NoOp::blank(&params);
        let zero = Plaintext::encode(&params, &[]).unwrap();
        let row = dry.encrypt(&zero).unwrap();
        let payload = dry.encrypt_at(&zero, Level(PAYLOAD_LEVEL)).unwrap();
        let blank = Blank { row: row.clone(), payload };
        let mut asked = Asked { blank, rows: Vec::new(), payloads: Vec::new() };
        search.run(&dry, row, &mut asked, Task::Fetch).unwrap();
        assert!(asked.rows.iter().cloned().eq(search.row_order()));
        assert!(asked.payloads.iter().copied().eq(search.payload_order()));
        let places = asked.rows.iter();
        let mut places: Vec<(usize, usize)> =
            places.flat_map(|(c, ranks)| ranks.clone().map(|rank| (*c, rank))).collect();
        places.sort_unstable();
        let all = (0..chunks).flat_map(|c| (0..dimension).map(move |rank| (c, rank)));
        assert!(places.into_iter().eq(all), "{dimension}");
        assert!(asked.payloads.into_iter().eq((0..chunks).rev()));
    }
}

/// Rows of one coordinate, by chunks, in the clear.
struct Plain<'a> {
    dry: &'a NoOp,
    rows: &'a [bool],
}

fn payload(row: usize) -> [u16; PAYLOAD] {
    std::array::from_fn(|k| (row * 7 + k) as u16 % 5000)
}

impl Plain<'_> {
    fn encrypt(&self, chunk: usize, value: impl Fn(usize) -> u64) -> NoOpCiphertext {
        let slots = self.dry.params().slots();
        let rows = (slots * chunk..slots * (chunk + 1)).take_while(|row| *row < self.rows.len());
        let values: Vec<u64> = rows.map(value).collect();
        let message = Plaintext::encode(self.dry.params(), &values).unwrap();
        self.dry.encrypt(&message).unwrap()
    }
}

impl Database<NoOp> for Plain<'_> {
    type Row = NoOpCiphertext;

    fn sums(
        scheme: &NoOp,
        pairs: &[&[(&NoOpCiphertext, &NoOpCiphertext)]],
    ) -> Result<Vec<<NoOp as Arithmetic>::Product>, SchemeError> {
        scheme.sums_of_products(pairs)
    }

    fn rows(&mut self, c: usize, _: Range<usize>) -> Result<Vec<NoOpCiphertext>, SuiteError> {
        Ok(vec![self.encrypt(c, |row| 22 * u64::from(self.rows[row]))])
    }

    fn payloads(&mut self, c: usize) -> Result<Vec<NoOpCiphertext>, SuiteError> {
        let number = |k: usize| self.encrypt(c, |row| payload(row)[k].into());
        Ok((0..PAYLOAD).map(number).collect())
    }
}

/// Four hundred chunks of 32 rows, more than the plaintext modulus in all: they are counted,
/// and their payloads found, from one to the other end.
#[test]
fn many_chunks_neither_wrap_nor_mix() {
    let name = "insecure_fetch-12289-n5".into();
    let spec = ParamsSpec { name, index: 64, plain_prime: 12_289, ..spec(11) };
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let count = 12_795;
    let instance = Instance { name: "of this test", count };
    let workload = Workload { instance, dimension: 1 };
    let search = Search::new(&params, &workload).unwrap();
    let (slots, columns) = (params.slots(), params.slot_shape().columns());
    let chunks = workload.chunks(slots);
    assert_eq!((slots, columns, chunks), (32, 16, 400));
    // 400 · 16 is more than half of the modulus, 400 · 32 would wrap.
    assert_eq!(folds(&params, &workload), 4);
    let layout = Layout {
        columns,
        slots,
        chunks,
        rows: count,
        stride: stride(columns),
        modulus: params.plain_modulus(),
    };
    let run = |rows: &[bool], task: Task| -> Vec<Vec<u64>> {
        let dry = NoOp::new(&params, 1);
        let query = Plaintext::encode(&params, &vec![22; slots]).unwrap();
        let query = dry.encrypt(&query).unwrap();
        let found = search.run(&dry, query, &mut Plain { dry: &dry, rows }, task).unwrap();
        let open = |x| dry.decrypt(x).unwrap().decode(&params).unwrap();
        found.iter().map(open).collect()
    };
    let all = vec![true; count as usize];
    let few: Vec<usize> = vec![0, 1, 31, 32, 64, 100, 4_000, 4_032, 12_768, 12_794];
    let chosen: Vec<bool> = (0..all.len()).map(|row| few.contains(&row)).collect();
    for (rows, matches) in [(&all, count), (&chosen, few.len() as u64)] {
        let sums = run(rows, Task::Count);
        assert_eq!(total(&sums[0], &layout, 16).unwrap(), matches);
    }
    let sums = run(&chosen, Task::Fetch);
    let sums = sums.chunks(BESIDE + PAYLOAD).map(<[_]>::to_vec).collect();
    let mut found = resolve(sums, &layout).unwrap();
    let mut wanted: Vec<_> = few.iter().map(|row| payload(*row)).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn the_set_is_secure() {
    let params = Workload::of(&["1"]).unwrap().0.params().unwrap();
    assert_eq!(params.slots(), params.degree());
    assert!(params.security().bits() >= 128.0, "{}", params.security().weakest());
    println!("{:.1} bits", params.security().bits());
}
