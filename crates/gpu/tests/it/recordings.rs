//! Recordings: what they keep, and what they refuse.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use everlevel_gpu::Gpu;
use everlevel_ring::cpu::fingerprint;
use everlevel_ring::{
    Backend, Basis, Constant, Cpu, Engine, Eval, Gadget, GaloisElement, KeyDigit, KeyPoly, Poly,
    Rest, RoundingScale, Source, Sum, Use, sample,
};

use crate::memory::push_out;
use crate::{device, ring};

fn basis() -> Basis {
    Basis::of(0..7)
}

fn operand(host: &Cpu, k: u8) -> Poly<Eval> {
    sample::expand(host, &[k; 32], 1, basis())
}

fn digest(gpu: &Gpu, x: &Poly<Eval, Gpu>) -> u64 {
    fingerprint(&[gpu.download(x).unwrap()])
}

#[test]
fn results_are_refused_before_the_first_launch() {
    let ring = ring(256, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let (x, y) = (operand(&host, 1), operand(&host, 2));
    let expected = fingerprint(&[host.mul(&x, &y)]);
    let (a, b) = (gpu.upload(&x), gpu.upload(&y));
    let leaked = Mutex::new(None);
    let recording = gpu
        .record(|| {
            let made = gpu.mul(&a, &b);
            *leaked.lock().unwrap() = Some(made.clone());
            made
        })
        .unwrap();
    let leaked = leaked.into_inner().unwrap().unwrap();
    assert_eq!(recording.result().err().unwrap().code(), "gpu.unlaunched");
    let error = gpu.download(&leaked).err().unwrap().to_string();
    assert!(error.contains("never launched"), "{error}");
    // Nothing is lost.
    gpu.status().unwrap();
    recording.launch().unwrap();
    assert_eq!(digest(&gpu, recording.result().unwrap()), expected);
    assert_eq!(digest(&gpu, &leaked), expected);
    let others = [gpu.record(|| gpu.mul(&b, &a)).unwrap(), gpu.record(|| gpu.mul(&a, &b)).unwrap()];
    assert!(others.iter().all(|recording| recording.result().is_err()));
    gpu.launch_together(&others).unwrap();
    for recording in &others {
        assert_eq!(digest(&gpu, recording.result().unwrap()), expected);
    }
}

/// Work that reads what a recording has not computed yet is a fault, recorded or not.
#[test]
fn results_are_no_operands_before_the_first_launch() {
    let ring = ring(32, 50);
    let Some(first) = device(&ring) else { return };
    drop(first);
    let host = Cpu::new(ring.clone(), Backend::detect()).unwrap();
    for recorded in [false, true] {
        let gpu = Gpu::new(ring.clone(), 0).unwrap();
        let x = gpu.upload(&operand(&host, 1));
        let leaked = Mutex::new(None);
        let recording = gpu
            .record(|| {
                let made = gpu.mul(&x, &x);
                *leaked.lock().unwrap() = Some(made.clone());
                made
            })
            .unwrap();
        let leaked = leaked.into_inner().unwrap().unwrap();
        let work = || gpu.mul(&leaked, &x);
        if recorded {
            assert_eq!(gpu.record(work).err().unwrap().code(), "gpu.fault");
        } else {
            assert!(gpu.download(&work()).is_err());
        }
        let error = gpu.status().err().unwrap().to_string();
        assert!(error.contains("never launched"), "{error}");
        assert_eq!(recording.launch().err().unwrap().code(), "gpu.fault");
    }
}

#[test]
fn errors_of_the_work_are_had_before_a_launch() {
    let ring = ring(32, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let x = gpu.upload(&operand(&host, 1));
    let failed = gpu.record(|| Err::<(), _>("no")).unwrap();
    assert_eq!(failed.transpose().err(), Some("no"));
    let done = gpu.record(|| Ok::<_, ()>(gpu.mul(&x, &x))).unwrap().transpose().unwrap();
    assert!(done.result().is_err());
    done.launch().unwrap();
    assert!(done.result().is_ok());
}

/// A linear map, a matrix, a conversion, and a key switch.
struct Work<E: Engine> {
    x: Poly<Eval, E>,
    y: Poly<Eval, E>,
    diagonal: E::Diagonal,
    key: E::Key,
    gadget: Gadget,
}

impl<E: Engine> Work<E> {
    fn new(engine: &E, host: &Cpu, seed: u8) -> Self {
        let poly = |k| KeyPoly::new(host, sample::expand(host, &[seed; 32], k, basis()));
        let digit = |group: usize| KeyDigit {
            group,
            components: vec![poly(2 * group as u32), poly(2 * group as u32 + 1)],
        };
        let values: Vec<i64> = (0..64).map(|k| k * k * 77 - i64::from(seed)).collect();
        Work {
            x: engine.upload(&operand(host, seed)),
            y: engine.upload(&operand(host, seed + 1)),
            diagonal: engine.diagonal(&values, basis()).unwrap(),
            key: engine.key(&[digit(0), digit(1)].into()),
            gadget: Gadget::new(Basis::of([5, 6]), vec![Basis::of(0..3), Basis::of(3..5)]),
        }
    }

    fn run(&self, engine: &E) -> Vec<Poly<Eval, E>> {
        let (x, y) = ([self.x.clone()], [self.y.clone()]);
        let inputs: [&[Poly<Eval, E>]; 2] = [&x, &y];
        let diagonal = Some(&self.diagonal);
        let mut made = engine.combine(&inputs, &[vec![diagonal, diagonal]]);
        let rows: [&[i64]; 1] = [&[12345, -678]];
        made.extend(engine.linear_combinations(&inputs, &rows));
        let level = Basis::of(0..5);
        let low = self.x.restricted(level);
        let digits = engine.decompose(&self.gadget, Source::Eval(&low, 1));
        let sum = Sum {
            basis: basis(),
            switched: Some((Use::Once(digits), &self.key)),
            rest: vec![Rest::Poly(&low), Rest::None],
            raise: self.gadget.special(),
            factor: Constant::ONE,
            automorphism: GaloisElement::IDENTITY,
        };
        made.push(engine.divide(sum, level, RoundingScale::plain_multiple(257)));
        made.into_iter().flatten().collect()
    }
}

/// What nobody else has any more is not given to others.
#[test]
fn recordings_keep_what_they_read() {
    let ring = ring(256, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let expected = Work::new(&host, &host, 3).run(&host);
    let expected: Vec<u64> = expected.into_iter().map(|x| fingerprint(&[x])).collect();
    let recording = {
        let work = Work::new(&gpu, &host, 3);
        work.run(&gpu);
        gpu.record(|| work.run(&gpu)).unwrap()
    };
    // Others would get its memory, and other constants push out its own.
    let others: Vec<Work<Gpu>> = (0..8).map(|k| Work::new(&gpu, &host, 10 + 2 * k)).collect();
    let made: Vec<_> = others.iter().map(|work| work.run(&gpu)).collect();
    push_out(&gpu, &host);
    let constants = gpu.constant_bytes();
    for _ in 0..2 {
        recording.launch().unwrap();
        let found: Vec<u64> = recording.result().unwrap().iter().map(|x| digest(&gpu, x)).collect();
        assert_eq!(found, expected);
    }
    drop(recording);
    assert!(gpu.constant_bytes() < constants);
    drop(made);
}

/// Work that may write an operand in place, when it is not recorded, leaves it as it is.
#[test]
fn recordings_leave_their_operands() {
    let ring = ring(256, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let x = operand(&host, 1);
    let mut expected = host.intt(x.clone());
    host.neg(&mut expected);
    let expected = fingerprint(&[expected]);
    let only = gpu.upload(&x);
    let recording = gpu
        .record(|| {
            let mut x = gpu.intt(only);
            gpu.neg(&mut x);
            x
        })
        .unwrap();
    for _ in 0..3 {
        recording.launch().unwrap();
        let found = gpu.download(recording.result().unwrap()).unwrap();
        assert_eq!(fingerprint(&[found]), expected);
    }
}

/// Polynomials and keys that recorded work copies to the device are those of that time.
#[test]
fn recordings_copy_what_they_are_given() {
    let ring = ring(256, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let expected = Work::new(&host, &host, 5).run(&host);
    let expected: Vec<u64> = expected.into_iter().map(|x| fingerprint(&[x])).collect();
    let recording = gpu.record(|| Work::new(&gpu, &host, 5).run(&gpu)).unwrap();
    // The memory of the processor is used again.
    drop(Work::new(&gpu, &host, 6).run(&gpu));
    recording.launch().unwrap();
    let found: Vec<u64> = recording.result().unwrap().iter().map(|x| digest(&gpu, x)).collect();
    assert_eq!(found, expected);
}

/// What cannot be recorded is a fault, which is permanent.
#[test]
fn what_cannot_be_recorded_is_a_fault() {
    let ring = ring(32, 50);
    let Some(first) = device(&ring) else { return };
    let host = Cpu::new(ring.clone(), Backend::detect()).unwrap();
    let source = operand(&host, 1);
    drop(first);
    type Misuse<'a> = &'a (dyn Fn(&Gpu, &Poly<Eval, Gpu>) + Sync);
    let misuses: [Misuse<'_>; 4] = [
        &|gpu, x| drop(gpu.download(x)),
        &|gpu, _| drop(gpu.synchronize()),
        &|gpu, x| drop(gpu.overwrite(x, &source)),
        &|gpu, x| {
            std::thread::scope(|scope| scope.spawn(|| drop(gpu.mul(x, x))).join().unwrap());
        },
    ];
    for misuse in misuses {
        let gpu = Gpu::new(ring.clone(), 0).unwrap();
        let x = gpu.upload(&source);
        let error = gpu.record(|| misuse(&gpu, &x)).err().unwrap();
        assert_eq!(error.code(), "gpu.fault", "{error}");
        assert!(error.to_string().contains("recorded"), "{error}");
        assert!(gpu.status().is_err() && gpu.download(&x).is_err());
    }
}

/// Work that panics is not recorded; the engine can be used.
#[test]
fn recordings_end_with_a_panic() {
    let ring = ring(32, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let source = operand(&host, 1);
    let x = gpu.upload(&source);
    let work = || -> Poly<Eval, Gpu> {
        drop(gpu.mul(&x, &x));
        panic!("as the test asks")
    };
    let caught = catch_unwind(AssertUnwindSafe(|| gpu.record(work).map(drop)));
    assert!(caught.is_err());
    let expected = fingerprint(&[host.mul(&source, &source)]);
    assert_eq!(digest(&gpu, &gpu.mul(&x, &x)), expected);
    let recording = gpu.record(|| gpu.mul(&x, &x)).unwrap();
    recording.launch().unwrap();
    assert_eq!(digest(&gpu, recording.result().unwrap()), expected);
}

/// A recording of another engine is refused, and nothing is lost.
#[test]
fn recordings_are_of_one_engine() {
    let ring = ring(32, 50);
    let Some(gpu) = device(&ring) else { return };
    let other = Gpu::new(ring.clone(), 0).unwrap();
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let x = gpu.upload(&operand(&host, 1));
    let recordings = [gpu.record(|| gpu.mul(&x, &x)).unwrap()];
    assert_eq!(other.launch_together(&recordings).err().unwrap().code(), "gpu.fault");
    assert!(other.status().is_ok() && recordings[0].result().is_err());
    gpu.launch_together(&recordings).unwrap();
    assert!(recordings[0].result().is_ok());
}
