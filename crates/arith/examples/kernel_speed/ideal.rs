//! What kernels take on operands in near caches and on operands in memory, beside what the ports of
//! the processor and the bandwidth of memory allow.

use everlevel_arith::{
    Backend, NttTable, PACKED_BITS, Ports, kernels, pack, packed_words, primes, read_through,
    residue_bytes,
};
use std::hint::black_box;

use crate::{residues, time};

/// Words of a limb, and how many of them a call covers, as in the engine.
const LOG_LIMB: u32 = 15;
const LIMB: usize = 1 << LOG_LIMB;
const CHUNK: usize = 2048;
const CHUNKS: usize = LIMB / CHUNK;
/// Limbs of a buffer that caches do not hold: 256 MiB.
const LIMBS: usize = 1024;

/// A kernel, measured by its words or terms.
struct Row {
    name: String,
    /// Words or terms of a call.
    units: usize,
    /// Nanoseconds of one by the ports; none where it has no product.
    ports: Option<f64>,
    /// Bytes of one that come from memory or go there.
    bytes: f64,
    /// Calls that go once through the buffers.
    calls: usize,
}

impl Row {
    /// Prints nanoseconds a word or term. `work` gets the number of the call, which says what it
    /// works on.
    fn measure(&self, bandwidth_gb_s: f64, mut work: impl FnMut(usize)) {
        let ns = 1e3 / self.units as f64;
        let hot = time(64, |_| work(0)) * ns;
        let far = time(self.calls, &mut work) * ns;
        let ports = self.ports.map_or(String::from("-"), |ns| format!("{ns:.3}"));
        let bandwidth = self.bytes / bandwidth_gb_s;
        let name = &self.name;
        println!("{name:>34} {hot:>9.3} {ports:>9} {far:>9.3} {bandwidth:>9.3}");
    }
}

/// The limb of a stream of a call, and its place there: a call works on a chunk of `streams` limbs,
/// the next one on the next chunk.
fn place(call: usize, stream: usize, streams: usize) -> (usize, usize) {
    ((call / CHUNKS * streams + stream) % LIMBS, call % CHUNKS * CHUNK)
}

/// The words of a stream of a call.
fn chunk(buffer: &[u64], call: usize, stream: usize, streams: usize) -> &[u64] {
    let (limb, start) = place(call, stream, streams);
    &buffer[limb * LIMB + start..][..CHUNK]
}

/// As [`chunk`], to be written; of a single stream.
fn target(buffer: &mut [u64], call: usize) -> &mut [u64] {
    let (limb, start) = place(call, 0, 1);
    &mut buffer[limb * LIMB + start..][..CHUNK]
}

/// Several streams of a call, from one on.
fn chunks(buffer: &[u64], call: usize, from: usize, count: usize, streams: usize) -> Vec<&[u64]> {
    (from..from + count).map(|stream| chunk(buffer, call, stream, streams)).collect()
}

/// The packed limbs of several streams of a call.
fn packed_limbs(
    buffer: &[u64],
    call: usize,
    from: usize,
    count: usize,
    streams: usize,
) -> Vec<&[u64]> {
    let limb = |stream| &buffer[place(call, stream, streams).0 * LIMB..][..packed_words(LIMB)];
    (from..from + count).map(limb).collect()
}

/// The table of a backend.
pub fn table(backend: Backend) {
    let k = kernels::on(backend).expect("only available backends are timed");
    let prime = primes::primes_congruent_one(2 << LOG_LIMB, 1 << 50).next().expect("a prime");
    let ntt = NttTable::for_prime(prime, LOG_LIMB, backend).expect("a prime for this length");
    let q = ntt.modulus();
    let ports = Ports::measured(backend).expect("only available backends are timed");
    let far = residues(prime, LIMBS * LIMB, 1);
    let mut outs = residues(prime, LIMBS * LIMB, 2);
    let mut packed = vec![0; LIMBS * LIMB];
    for (limb, packed) in far.chunks_exact(LIMB).zip(packed.chunks_exact_mut(LIMB)) {
        pack(limb, packed);
    }
    let sweep = time(1, |_| {
        black_box(read_through(backend, black_box(&far)).expect("an available backend"));
    });
    let bandwidth = (8 * LIMBS * LIMB) as f64 / sweep / 1e3;
    println!(
        "{:>10} nanoseconds a word or term, n = 2^{LOG_LIMB}, memory read at {bandwidth:.1} GB/s",
        backend.name()
    );
    println!("{:>34} {:>9} {:>9} {:>9} {:>9}", "", "hot", "ports", "memory", "bandwidth");

    let transform = |name: &str, butterfly: f64| Row {
        name: name.into(),
        units: LIMB,
        ports: Some(butterfly * 1e9 * f64::from(LOG_LIMB) / 2.0),
        bytes: 16.0,
        calls: LIMBS,
    };
    let limb = |call: usize| call % LIMBS * LIMB;
    transform("forward transform", ports.forward)
        .measure(bandwidth, |i| ntt.forward(black_box(&mut outs[limb(i)..][..LIMB])));
    transform("inverse transform", ports.inverse)
        .measure(bandwidth, |i| ntt.inverse(black_box(&mut outs[limb(i)..][..LIMB])));

    let term = ports.product * 1e9;
    let (mut out0, mut out1) = (vec![0; CHUNK], vec![0; CHUNK]);
    for terms in [3, 8] {
        // As in a key switch: digits and results stay near, keys come from memory.
        let digits = chunks(&outs, 0, 0, terms, terms);
        let row = |name: &str, factors: usize, bits: usize| Row {
            name: format!("{name}, {terms} terms"),
            units: factors * terms * CHUNK,
            ports: Some(term),
            bytes: bits as f64 / 8.0,
            calls: LIMBS / (factors * terms) * CHUNKS,
        };
        row("inner_product", 1, 64).measure(bandwidth, |i| {
            let key = chunks(&far, i, 0, terms, terms);
            k.inner_product(q, black_box(&mut out0), &digits, &key);
        });
        row("packed_product", 1, PACKED_BITS).measure(bandwidth, |i| {
            let key = packed_limbs(&packed, i, 0, terms, terms);
            k.packed_product(q, black_box(&mut out0), &digits, &key, place(i, 0, 1).1);
        });
        row("inner_product2", 2, 64).measure(bandwidth, |i| {
            let b = chunks(&far, i, 0, terms, 2 * terms);
            let a = chunks(&far, i, terms, terms, 2 * terms);
            k.inner_product2(q, black_box(&mut out0), black_box(&mut out1), &digits, &b, &a);
        });
        row("packed_product2", 2, PACKED_BITS).measure(bandwidth, |i| {
            let b = packed_limbs(&packed, i, 0, terms, 2 * terms);
            let a = packed_limbs(&packed, i, terms, terms, 2 * terms);
            let (out0, out1) = (black_box(&mut out0), black_box(&mut out1));
            k.packed_product2(q, out0, out1, &digits, &b, &a, place(i, 0, 1).1);
        });
    }
    for terms in [4, 8] {
        let weights = residues(prime, terms, 77);
        let row = Row {
            name: format!("weighted_sum, {terms} terms"),
            units: terms * CHUNK,
            ports: Some(term),
            bytes: 8.0 * (terms + 1) as f64 / terms as f64,
            calls: LIMBS / terms * CHUNKS,
        };
        row.measure(bandwidth, |i| {
            let xs = chunks(&far, i, 0, terms, terms);
            k.weighted_sum(q, black_box(target(&mut outs, i)), &xs, &weights);
        });
    }
    let row = |name: &str, ports: Option<f64>, streams: usize| Row {
        name: name.into(),
        units: CHUNK,
        ports,
        bytes: 8.0 * streams as f64,
        calls: LIMBS / 2 * CHUNKS,
    };
    // A chunk at a time, as rows of a database that are multiplied.
    let width = q.bits() as usize;
    let bytes: Vec<u8> = (0..LIMBS * residue_bytes(q, LIMB)).map(|i| (i % 251) as u8).collect();
    let unpacking = Row {
        name: format!("unpack_residues, {width} bits"),
        units: CHUNK,
        ports: None,
        bytes: width as f64 / 8.0,
        calls: LIMBS * CHUNKS,
    };
    unpacking.measure(bandwidth, |i| {
        let part = &bytes[i * residue_bytes(q, CHUNK)..];
        black_box(k.unpack_residues(q, black_box(&mut out0), part));
    });
    row("scalar_mul_add_assign", Some(term), 3).measure(bandwidth, |i| {
        k.scalar_mul_add_assign(q, black_box(target(&mut outs, i)), chunk(&far, i, 0, 1), 12345);
    });
    row("sub_scale", Some(term), 3).measure(bandwidth, |i| {
        k.sub_scale(q, black_box(target(&mut outs, i)), chunk(&far, i, 0, 1), 12345);
    });
    row("mul", Some(term), 3).measure(bandwidth, |i| {
        let (a, b) = (chunk(&far, i, 0, 2), chunk(&far, i, 1, 2));
        k.mul(q, black_box(target(&mut outs, i)), a, b);
    });
    row("add", None, 3).measure(bandwidth, |i| {
        let (a, b) = (chunk(&far, i, 0, 2), chunk(&far, i, 1, 2));
        k.add(q, black_box(target(&mut outs, i)), a, b);
    });
    row("add_assign", None, 3).measure(bandwidth, |i| {
        k.add_assign(q, black_box(target(&mut outs, i)), chunk(&far, i, 0, 1));
    });
}
