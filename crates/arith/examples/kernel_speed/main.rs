//! Times transforms and kernels on every backend: `cargo run --release -p everlevel-arith --example
//! kernel_speed`.
//!
//! One thread, microseconds a call, the least of several runs; for rings of odd index, the median,
//! and the ratio to a power of two. "Hot" repeats one transform with one table; "cold" goes round
//! 18 tables and 18 polynomials, as a product over a chain of primes does.
//!
//! `-- ideal` prints only what kernels take beside what the ports of the processor and the
//! bandwidth of memory allow, in nanoseconds a word.

mod ideal;

use everlevel_arith::{Axes, Backend, Block, Modulus, NttTable, TensorTable, kernels, primes};
use std::hint::black_box;
use std::time::Instant;

const TABLES: usize = 18;

fn residues(q: u64, length: usize, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 8) % q
        })
        .collect()
}

/// Microseconds a call: the least over rounds of the mean over `calls`.
fn time(calls: usize, mut work: impl FnMut(usize)) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..12 {
        let start = Instant::now();
        for i in 0..calls {
            work(i);
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / calls as f64);
    }
    best
}

fn transforms(backend: Backend) {
    println!(
        "{:>10} {:>6} {:>22} {:>22}",
        backend.name(),
        "n",
        "forward hot / cold",
        "inverse hot / cold"
    );
    for log_n in 12..=17 {
        let tables: Vec<NttTable> = primes::primes_congruent_one(2 << log_n, 1 << 50)
            .take(TABLES)
            .map(|q| NttTable::for_prime(q, log_n, backend).expect("a prime for this length"))
            .collect();
        let n = 1 << log_n;
        let mut data: Vec<Vec<u64>> = tables
            .iter()
            .enumerate()
            .map(|(i, t)| residues(t.modulus().value(), n, i as u64 + 1))
            .collect();
        for (table, a) in tables.iter().zip(&mut data) {
            table.forward(a);
        }
        let calls = ((4usize << 17) / n).max(2);
        let forward_hot = time(calls, |_| tables[0].forward(&mut data[0]));
        let inverse_hot = time(calls, |_| tables[0].inverse(&mut data[0]));
        let forward_cold = time(2 * TABLES, |i| tables[i % TABLES].forward(&mut data[i % TABLES]));
        let inverse_cold = time(2 * TABLES, |i| tables[i % TABLES].inverse(&mut data[i % TABLES]));
        println!(
            "{:>10} {:>6} {:>10.1} / {:>9.1} {:>10.1} / {:>9.1}",
            "",
            format!("2^{log_n}"),
            forward_hot,
            forward_cold,
            inverse_hot,
            inverse_cold
        );
    }
}

/// Rings of odd index beside the power-of-two ring that is nearest in use; the median of rounds
/// that alternate.
fn odd_indices(backend: Backend) {
    println!(
        "{:>10} {:>6} {:>7} {:>22} {:>12}",
        backend.name(),
        "m",
        "n",
        "forward / inverse",
        "ratio"
    );
    for (index, log_n) in [
        (65535, 15),
        (38309, 16),
        (56647, 16),
        (55427, 16),
        (45193, 16),
        (50731, 16),
        (21845, 14),
        (32767, 15),
        (15709, 14),
    ] {
        let axes = Axes::new(index).expect("an odd index in range");
        let q = primes::primes_congruent_one(axes.transform_order(), 1 << 50)
            .next()
            .expect("there is such a prime");
        let root = primes::primitive_root_of_unity(q, index).expect("q is 1 modulo the index");
        let modulus = Modulus::new(q).expect("an odd prime");
        let table = TensorTable::new(modulus, &axes, root, backend)
            .expect("the prime was chosen for this index");
        let q = primes::primes_congruent_one(2 << log_n, 1 << 50)
            .next()
            .expect("there is such a prime");
        let other = NttTable::for_prime(q, log_n, backend).expect("a prime for this length");
        let mut a = block(&residues(modulus.value(), axes.degree(), index));
        let mut b = block(&residues(q, other.degree(), index));
        let mut times: [Vec<f64>; 3] = Default::default();
        for _ in 0..41 {
            times[0].push(once(4, || table.forward(black_box(&mut a))));
            times[1].push(once(4, || table.inverse(black_box(&mut a))));
            times[2].push(once(4, || other.forward(black_box(&mut b))));
        }
        let [forward, inverse, near] = times.map(|mut t| {
            t.sort_by(f64::total_cmp);
            t[t.len() / 2]
        });
        println!(
            "{:>10} {:>6} {:>7} {:>10.1} / {:>9.1} {:>6.2} of 2^{log_n} = {near:.1}",
            "",
            index,
            axes.degree(),
            forward,
            inverse,
            forward / near
        );
    }
}

/// The words where polynomials live: aligned to cache lines.
fn block(words: &[u64]) -> Block {
    let mut block = Block::slab(words.len()).expect("there is memory").remove(0);
    block.copy_from_slice(words);
    block
}

/// Microseconds a call, over a few calls.
fn once(calls: usize, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        work();
    }
    start.elapsed().as_secs_f64() * 1e6 / calls as f64
}

fn element_wise(backend: Backend) {
    const N: usize = 1 << 15;
    let k = kernels::on(backend).expect("only available backends are timed");
    let q = Modulus::new((1 << 50) - 27).expect("odd and below 2^50");
    let streams: Vec<Vec<u64>> = (0..27).map(|i| residues(q.value(), N, i + 1)).collect();
    let views: Vec<&[u64]> = streams.iter().map(Vec::as_slice).collect();
    let signed: Vec<i64> = streams[0].iter().map(|&x| q.centered(x)).collect();
    let (mut out, mut other) = (streams[0].clone(), streams[1].clone());
    let (a, b) = (views[2], views[3]);
    println!("{:>10} kernels, n = 2^15", backend.name());
    let report = |name: &str, microseconds: f64| println!("{name:>32} {microseconds:>9.1}");
    report("add_assign", time(100, |_| k.add_assign(q, black_box(&mut out), a)));
    report("add", time(100, |_| k.add(q, black_box(&mut out), a, b)));
    report("mul", time(100, |_| k.mul(q, black_box(&mut out), a, b)));
    report("mul_add_assign", time(100, |_| k.mul_add_assign(q, black_box(&mut out), a, b)));
    report("scalar_mul_assign", time(100, |_| k.scalar_mul_assign(q, black_box(&mut out), 12345)));
    report("sub_scale", time(100, |_| k.sub_scale(q, black_box(&mut out), a, 12345)));
    report("scale_sub", time(100, |_| k.scale_sub(q, black_box(&mut out), a, 12345, b, 54321)));
    report("reduce_assign", time(100, |_| k.reduce_assign(q, black_box(&mut out))));
    report("from_signed", time(100, |_| k.from_signed(q, black_box(&mut out), &signed)));
    for terms in [3, 6, 9] {
        let name = |kernel: &str| format!("{kernel}, {terms} terms");
        let (x, y, z) = (&views[..terms], &views[9..9 + terms], &views[18..18 + terms]);
        report(&name("inner_product"), time(30, |_| k.inner_product(q, black_box(&mut out), x, y)));
        let two =
            time(30, |_| k.inner_product2(q, black_box(&mut out), black_box(&mut other), x, y, z));
        report(&name("inner_product2"), two);
        let weights = residues(q.value(), terms, 77);
        report(
            &name("weighted_sum"),
            time(30, |_| k.weighted_sum(q, black_box(&mut out), x, &weights)),
        );
        let inverses = vec![1.0 / q.value() as f64; terms];
        report(
            &name("rounded_quotient"),
            time(30, |_| k.rounded_quotient(black_box(&mut out), x, &inverses)),
        );
    }
}

fn main() {
    println!("detected {}, processor has {}", Backend::detect(), Backend::cpu_flags());
    let only_ideal = std::env::args().nth(1).is_some_and(|argument| argument == "ideal");
    for backend in Backend::available().into_iter().rev() {
        ideal::table(backend);
        if only_ideal {
            continue;
        }
        odd_indices(backend);
        transforms(backend);
        element_wise(backend);
    }
}
