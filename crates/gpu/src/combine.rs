//! Plaintexts whose evaluations repeat, and linear combinations with them.

use everlevel_arith::{NttTable, kernels, scatter_natural};
use everlevel_ring::{Basis, Eval, Poly, RingError};

use crate::arguments::{COMBINED_A_LAUNCH, Combine, Operand, ROWS_A_LAUNCH, mask, positions};
use crate::constants::bytes;
use crate::gpu::Gpu;
use crate::library::Address;
use crate::memory::Limbs;

/// A plaintext in evaluations that are periodic along both rows: for each prime a period of each.
pub struct Diagonal {
    limbs: Limbs,
    period: usize,
    basis: Basis,
}

impl Diagonal {
    pub(crate) fn memory_bytes(&self) -> u64 {
        (2 * self.period * self.basis.len() * size_of::<u64>()) as u64
    }

    /// As the kernel has it.
    fn entry(&self) -> [u64; 4] {
        let [low, high] = mask(self.basis);
        [self.limbs.address(), low, high, self.period as u64]
    }
}

impl Gpu {
    pub(crate) fn periodic(
        &self,
        coefficients: &[i64],
        basis: Basis,
    ) -> Result<Diagonal, RingError> {
        let (ring, length) = (&self.ring, coefficients.len());
        let degree = ring.degree();
        if !length.is_power_of_two() || !(16..=degree).contains(&length) {
            return Err(RingError::ResidueCount { found: length, expected: degree });
        }
        let log = length.trailing_zeros();
        let mut stored = vec![0i64; length];
        scatter_natural(log, coefficients, &mut stored);
        let backend = self.host.backend();
        let mut words = Vec::with_capacity(length * basis.len());
        for i in basis.iter() {
            let (q, at) = (ring.modulus(i), words.len());
            words.resize(at + length, 0);
            kernels::on(backend)?.from_signed(q, &mut words[at..], &stored);
            let root = q.pow(ring.root(i), (degree / length) as u64);
            NttTable::new(q, log, root, backend)?.forward(&mut words[at..]);
        }
        let slab = self.lasting_slab(&words);
        Ok(Diagonal { limbs: Limbs { slab, offset: 0, whole: basis }, period: length / 2, basis })
    }

    pub(crate) fn combined(
        &self,
        inputs: &[&[Poly<Eval, Gpu>]],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Vec<Vec<Poly<Eval, Gpu>>> {
        let Some(first) = inputs.first() else { return rows.iter().map(|_| Vec::new()).collect() };
        let Some(component) = first.first() else { return vec![Vec::new(); rows.len()] };
        let (basis, count) = (component.basis(), first.len());
        let entry = |d: &Option<&Diagonal>| d.map_or([0; 4], Diagonal::entry);
        // Kept to the end, whatever other threads keep meanwhile.
        let table = self.kept_constant(&bytes(rows.iter().flatten().flat_map(entry)));
        let outs: Vec<Vec<Limbs>> =
            rows.iter().map(|_| (0..count).map(|_| self.limbs(basis)).collect()).collect();
        let stride = inputs.len();
        for components in (0..count).step_by(2).map(|k| k..(k + 2).min(count)) {
            for (block, outs) in outs.chunks(ROWS_A_LAUNCH).enumerate() {
                for (part, some) in inputs.chunks(COMBINED_A_LAUNCH).enumerate() {
                    let at = block * ROWS_A_LAUNCH * stride + part * COMBINED_A_LAUNCH;
                    let mut arguments = Combine {
                        outputs: [[0; 2]; ROWS_A_LAUNCH],
                        table: table.address() + (at * 32) as Address,
                        primes: self.primes,
                        n: self.ring.degree() as u32,
                        count: some.len() as u32,
                        rows: outs.len() as u32,
                        stride: stride as u32,
                        components: components.len() as u32,
                        accumulate: u32::from(part > 0),
                        prime: positions(basis),
                        inputs: [[Operand::default(); 2]; COMBINED_A_LAUNCH],
                    };
                    for (to, out) in arguments.outputs.iter_mut().zip(outs) {
                        let outs = to.iter_mut().zip(&out[components.clone()]);
                        outs.for_each(|(to, out)| *to = out.address());
                    }
                    for (to, x) in arguments.inputs.iter_mut().zip(some) {
                        let operands = to.iter_mut().zip(&x[components.clone()]);
                        operands.for_each(|(to, x)| *to = x.limbs().operand());
                    }
                    self.over(&arguments, basis);
                }
            }
        }
        let poly = |out| self.poly(basis, out);
        outs.into_iter().map(|row| row.into_iter().map(poly).collect()).collect()
    }
}
