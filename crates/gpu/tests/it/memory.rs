//! The memory of the device, and threads that share an engine.

use everlevel_gpu::Gpu;
use everlevel_ring::cpu::fingerprint;
use everlevel_ring::{Backend, Basis, Cpu, Engine, Eval, Poly, sample};

use crate::{device, ring};

/// What matrices and tables of linear maps may take together.
const MOST: u64 = 16 << 20;

/// The product of a row of 2^16 constants, half a mebibyte, by copies of a polynomial.
fn combination<E: Engine>(engine: &E, x: &Poly<Eval, E>, first: i64) -> Poly<Eval, E> {
    let inputs = vec![std::slice::from_ref(x); 1 << 16];
    let row: Vec<i64> = (first..).take(inputs.len()).collect();
    engine.linear_combinations(&inputs, &[&row[..]]).remove(0).remove(0)
}

/// Makes constants until all earlier ones are dropped, except for those that something uses.
pub(crate) fn push_out(gpu: &Gpu, host: &Cpu) {
    let x = gpu.upload(&sample::expand(host, &[77; 32], 1, Basis::of([0])));
    (1..=34).for_each(|k| drop(combination(gpu, &x, k << 40)));
}

#[test]
fn constants_take_no_more_than_their_share() {
    let ring = ring(32, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let x = sample::expand(&host, &[1; 32], 1, Basis::of([0]));
    let (y, tables) = (gpu.upload(&x), gpu.constant_bytes());
    assert!(tables > 0);
    let first = gpu.download(&combination(&gpu, &y, -5)).unwrap();
    assert!(gpu.constant_bytes() >= tables + (1 << 19));
    let others = gpu.memory_bytes();
    push_out(&gpu, &host);
    let held = gpu.constant_bytes() - tables;
    assert!((MOST - (1 << 20)..=MOST).contains(&held), "{held} bytes");
    // Constants are none of the memory of polynomials, which is used again.
    assert!(gpu.memory_bytes() < others + (1 << 16));
    // The first matrix, which was dropped, is made again.
    let again = gpu.download(&combination(&gpu, &y, -5)).unwrap();
    let expected = fingerprint(&[combination(&host, &x, -5)]);
    assert_eq!([fingerprint(&[first]), fingerprint(&[again])], [expected; 2]);
}

/// Each thread gets what it computes, although memory that one gives back goes to another.
#[test]
fn threads_share_an_engine() {
    let ring = ring(1 << 12, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let basis = Basis::of(0..7);
    let operand = |k: u8| sample::expand(&host, &[k; 32], 1, basis);
    let (gpu, host, operand) = (&gpu, &host, &operand);
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            scope.spawn(move || {
                for round in 0..8u8 {
                    let (x, y) = (operand(2 * thread), operand(2 * round + 1));
                    let (a, b) = (gpu.upload(&x), gpu.upload(&y));
                    let made = gpu.mul(&gpu.ntt(gpu.intt(gpu.mul(&a, &b))), &b);
                    let found = gpu.download(&made).unwrap();
                    let expected = host.mul(&host.mul(&x, &y), &y);
                    assert_eq!(fingerprint(&[found]), fingerprint(&[expected]), "{thread}");
                }
            });
        }
    });
}
