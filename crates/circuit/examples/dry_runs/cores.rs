//! A model of one bootstrapping on many cores, no measurement: the operations of a dry run become
//! parallel regions as the engine has them, and these are scheduled on cores that share a limited
//! memory bandwidth.
//!
//! `cores bgv-65537-n15 50 100 200`: a set, and the bandwidths of the machine in GB/s.

use std::error::Error;
use std::sync::Arc;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_scheme::{Level, NoOp, OptIn, Params, Plaintext, Recorded, Step};

/// Nanoseconds of one core (AMD EPYC, family 25, AVX-512): of a butterfly as the records of
/// `bench bootstrap` have it, of the others as the shares of 0.88 s of docs/benchmarks.md, divided
/// by the counted work; that of keys is 0.05 s less, which packed keys save (docs/adr/0068).
const BUTTERFLY: f64 = 0.25;
/// For a word of a digit times two words of a key.
const KEY: f64 = 1.7;
/// For a word of a diagonal times those of two components.
const DIAGONAL: f64 = 0.75;
/// For a term of a base conversion.
const CONVERSION: f64 = 0.2;
/// For a word of an element-wise operation.
const WORD: f64 = 0.5;
/// For a term of the rounded quotient of a base conversion.
const QUOTIENT: f64 = 0.2;
/// For a coefficient between the switch to q0 and the raised polynomials: by the recorded times of
/// stages it is 180 in the bypass mode and 480 in the thin mode.
const RAISED: f64 = 300.0;

/// Bytes of two residues of a key, packed, and of two components of an image or a sum.
const KEY_BYTES: f64 = 12.5;
const PAIR_BYTES: f64 = 16.0;

/// Primes that a base conversion computes in one task.
const LIMBS_AT_ONCE: usize = 6;
/// Seconds to start and to end a region on several cores, and for each of its tasks.
const REGION: f64 = 5e-6;
const TASK: f64 = 1e-6;
/// Up to as many cores the engine divides regions by primes alone.
const FEW_CORES: usize = 2;

/// Tasks that may run at the same time; the next region begins when all of them are done.
struct Region {
    /// Seconds of each.
    tasks: Vec<f64>,
    /// What is read from or written to memory by all together.
    bytes: f64,
    /// Whether its work can be divided by places as well: everything but transforms.
    divisible: bool,
}

impl Region {
    fn work(&self) -> f64 {
        self.tasks.iter().sum()
    }

    /// Seconds on some cores: the longest tasks first, each on the core that is free first, and no
    /// faster than memory allows. By places, work is divided evenly: the engine has blocks of at
    /// least 1,024 places, and about four tasks for each core.
    fn seconds(&self, cores: usize, bandwidth: f64, by_places: bool) -> f64 {
        if cores == 1 {
            return self.work().max(self.bytes / bandwidth);
        }
        let by_places = by_places && cores > FEW_CORES;
        let busy = if by_places && self.divisible {
            self.work() / cores as f64 + TASK
        } else {
            let mut tasks = self.tasks.clone();
            tasks.sort_by(|a, b| b.total_cmp(a));
            let mut loads = vec![0.0f64; cores];
            for task in tasks {
                if let Some(least) = loads.iter_mut().min_by(|a, b| a.total_cmp(b)) {
                    *least += task + TASK;
                }
            }
            loads.into_iter().fold(0.0, f64::max)
        };
        let start = if self.tasks.len() > 1 || by_places { REGION } else { 0.0 };
        start + busy.max(self.bytes / bandwidth)
    }
}

/// The regions of a circuit, in their order.
struct Program<'p> {
    params: &'p Params,
    regions: Vec<Region>,
}

/// What a key switch at a level works on.
struct Switch {
    /// Primes of the level, of its modulus with the special primes, and of each digit.
    limbs: usize,
    extended: usize,
    digits: Vec<usize>,
}

impl Program<'_> {
    /// Seconds for `count` words of each place.
    fn words(&self, nanoseconds: f64, count: f64) -> f64 {
        nanoseconds * 1e-9 * self.params.degree() as f64 * count
    }

    fn transform(&self) -> f64 {
        let degree = self.params.degree() as f64;
        self.words(BUTTERFLY, degree.log2() / 2.0)
    }

    fn region(&mut self, tasks: Vec<f64>, bytes: f64, divisible: bool) {
        if !tasks.is_empty() {
            self.regions.push(Region { tasks, bytes, divisible });
        }
    }

    fn transforms(&mut self, count: usize) {
        self.region(vec![self.transform(); count], 0.0, false);
    }

    /// An element-wise operation on a number of words of each place and prime.
    fn elementwise(&mut self, limbs: usize, words: f64) {
        self.region(vec![self.words(WORD, words); limbs], 0.0, true);
    }

    /// Base conversions of polynomials over the same primes, after their rounded quotients.
    fn convert(&mut self, polynomials: usize, terms: usize, targets: usize) {
        let quotient = self.words(QUOTIENT, (terms * polynomials) as f64);
        self.region(vec![quotient], 0.0, true);
        let at_once = (LIMBS_AT_ONCE / polynomials).max(1);
        let one = self.words(CONVERSION, (polynomials * (terms + 1)) as f64);
        let left = targets % at_once;
        let mut tasks = vec![one * at_once as f64; targets / at_once];
        tasks.extend((left > 0).then_some(one * left as f64));
        self.region(tasks, 0.0, true);
    }

    fn switch(&self, level: Level) -> Switch {
        let chain = self.params.chain();
        let basis = chain.basis(level);
        let digits = chain.gadget(level).digits(basis).map(|(_, primes)| primes.len()).collect();
        Switch { limbs: basis.len(), extended: chain.extended(level).len(), digits }
    }

    /// Digits modulo all primes: inverse transforms, then all digits at the same time.
    fn decompose(&mut self, s: &Switch, own_known: bool) {
        self.transforms(s.limbs);
        let of = |primes: &usize| s.extended - if own_known { *primes } else { 0 };
        let quotients = s.digits.iter().map(|&d| self.words(QUOTIENT, d as f64)).collect();
        self.region(quotients, 0.0, true);
        let mut tasks = Vec::new();
        for primes in &s.digits {
            let one = self.words(CONVERSION, (primes + 1) as f64);
            let (full, left) = (of(primes) / LIMBS_AT_ONCE, of(primes) % LIMBS_AT_ONCE);
            tasks.extend(vec![one * LIMBS_AT_ONCE as f64; full]);
            tasks.extend((left > 0).then_some(one * left as f64));
        }
        self.region(tasks, 0.0, true);
        self.transforms(s.digits.iter().map(of).sum());
    }

    /// Products of digits with `keys` keys, a task a prime.
    fn key_products(&mut self, s: &Switch, keys: usize) {
        let terms = (keys * s.digits.len()) as f64;
        let bytes = KEY_BYTES * terms * (s.extended * self.params.degree()) as f64;
        self.region(vec![self.words(KEY, terms); s.extended], bytes, true);
    }

    /// Division by the primes from `from` to `to`, of polynomials together: inverse transforms,
    /// conversion, forward transforms.
    fn divide(&mut self, polynomials: usize, from: usize, to: usize) {
        let dropped = from.saturating_sub(to);
        if dropped == 0 {
            return;
        }
        let each = self.transform() * polynomials as f64;
        self.region(vec![each; dropped], 0.0, false);
        self.convert(polynomials, dropped, to);
        let after = each + self.words(WORD, 3.0 * polynomials as f64);
        self.region(vec![after; to], 0.0, false);
    }

    /// Component by component, as after sums of giant steps and between levels.
    fn divide_each(&mut self, from: usize, to: usize) {
        (0..self.params.components()).for_each(|_| self.divide(1, from, to));
    }

    fn limbs(&self, level: Level) -> usize {
        self.params.chain().basis(level).len()
    }

    fn linear_map(&mut self, from: Level, to: Level, diagonals: usize) {
        let s = self.switch(from);
        // About as many babies as giants.
        let log = diagonals.next_power_of_two().trailing_zeros();
        let (babies, giants) = (1usize << log.div_ceil(2), 1usize << (log / 2));
        let bytes = PAIR_BYTES * (s.extended * self.params.degree()) as f64;
        self.decompose(&s, true);
        self.key_products(&s, babies - 1);
        let products = self.words(DIAGONAL, diagonals as f64);
        let moved = bytes * (babies + giants) as f64;
        self.region(vec![products; s.extended], moved, true);
        for _ in 1..giants {
            let special = s.extended - s.limbs;
            self.transforms(special);
            self.convert(1, special, s.limbs);
            self.decompose(&s, false);
            self.key_products(&s, 1);
        }
        self.divide_each(s.extended, self.limbs(to));
    }

    fn automorphism(&mut self, from: Level, to: Level) {
        let s = self.switch(from);
        self.decompose(&s, true);
        self.key_products(&s, 1);
        self.divide(2, s.extended, self.limbs(to));
    }

    /// Products of ciphertexts at levels, added and relinearized.
    fn product(&mut self, operands: &[Level], to: Level) {
        let Some(&low) = operands.iter().min() else { return };
        let s = self.switch(low);
        for &operand in operands.iter().filter(|&&level| level > low) {
            self.divide_each(self.limbs(operand), s.limbs);
        }
        // Four passes: two products, and a sum of two.
        (0..4).for_each(|_| self.elementwise(s.limbs, 3.0));
        self.automorphism(low, to);
    }

    /// Raising: coefficients one after the other, then a constant part and two digits.
    fn raise(&mut self, to: Level) {
        self.region(vec![self.words(RAISED, 1.0)], 0.0, true);
        let limbs = self.limbs(to);
        for _ in 0..3 {
            self.transforms(limbs);
            self.elementwise(limbs, 6.0);
        }
    }

    fn step(&mut self, step: &Step, operands: &[Level]) {
        let to = Level(step.level);
        let from = operands.iter().min().copied().unwrap_or(to);
        match step.operation {
            "input" | "enter" => {}
            "raise" => self.raise(to),
            "linear map" => {
                let number = |word: &str| word.parse::<usize>().ok();
                let diagonals = step.detail.split(' ').find_map(number).unwrap_or(1);
                self.linear_map(from, to, diagonals);
            }
            "automorphism" => self.automorphism(from, to),
            "product" | "sum of products" => self.product(operands, to),
            "modulus switch" => self.divide_each(self.limbs(from), self.limbs(to)),
            _ => self.elementwise(self.limbs(to), 6.0),
        }
    }

    fn seconds(&self, cores: usize, bandwidth: f64, by_places: bool) -> f64 {
        self.regions.iter().map(|region| region.seconds(cores, bandwidth, by_places)).sum()
    }
}

pub fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let name = args.next().unwrap_or_else(|| "bgv-65537-n15".into());
    let mut bandwidths = args.map(|text| text.parse()).collect::<Result<Vec<f64>, _>>()?;
    if bandwidths.is_empty() {
        bandwidths = vec![50.0, 100.0, 200.0];
    }
    let params = Params::named(&name, OptIn::InsecureResearch)?;
    let scheme = Recorded::new(Arc::new(NoOp::blank(&params)), &params);
    let bootstrapper = Bootstrapper::new(&scheme, BootstrapPlan::for_set(&params)?)?;
    let x = scheme.inner().encrypt(&Plaintext::encode(&params, &[])?)?;
    let fresh = bootstrapper.bootstrap(&scheme, &scheme.input(x, "x"))?;
    let steps = scheme.explain(&fresh).steps;

    let mut program = Program { params: &params, regions: Vec::new() };
    for step in &steps {
        let level = |row: &usize| steps.iter().find(|s| s.row == *row).map(|s| Level(s.level));
        let operands: Vec<Level> = step.inputs.iter().filter_map(level).collect();
        program.step(step, &operands);
    }
    print(&name, &program, &bandwidths);
    Ok(())
}

fn print(name: &str, program: &Program<'_>, bandwidths: &[f64]) {
    let regions = &program.regions;
    let work: f64 = regions.iter().map(Region::work).sum();
    let bytes: f64 = regions.iter().map(|r| r.bytes).sum();
    let serial: f64 = regions.iter().filter(|r| r.tasks.len() == 1).map(Region::work).sum();
    let mut tasks: Vec<f64> = regions.iter().flat_map(|r| r.tasks.iter().copied()).collect();
    tasks.sort_by(f64::total_cmp);
    let mut sizes: Vec<usize> = regions.iter().map(|r| r.tasks.len()).collect();
    sizes.sort_unstable();
    println!(
        "{name}: {work:.2} s of one core, {:.1} GB, {} regions of {} tasks (median), {} tasks of \
         {:.0} µs (median), {:.1} % of the work in regions of one task\n",
        bytes / 1e9,
        sizes.len(),
        sizes[sizes.len() / 2],
        tasks.len(),
        tasks[tasks.len() / 2] * 1e6,
        100.0 * serial / work
    );
    println!(
        "| cores | GB/s | s, by primes | speed | s, by places | speed | s each, a ciphertext a \
         core |"
    );
    println!("|---|---|---|---|---|---|---|");
    for cores in [1, 2, 4, 16, 64] {
        for bandwidth in bandwidths {
            let limit = bandwidth * 1e9;
            let [now, split] = [false, true].map(|split| program.seconds(cores, limit, split));
            let side_by_side = (work / cores as f64).max(bytes / limit);
            println!(
                "| {cores} | {bandwidth} | {now:.3} | {:.1} | {split:.3} | {:.1} | \
                 {side_by_side:.3} |",
                work / now,
                work / split
            );
        }
    }
}
