//! What is done element by element, and sums of products.

use everlevel_ring::{Basis, Coeff, Eval, Pair, Poly, Representation};

use crate::arguments::{
    Elements, INPUTS_A_LAUNCH, Matrix, Operand, Operation, PAIRS_A_LAUNCH, Products, ROWS_A_LAUNCH,
    Unit, for_each, mask, positions,
};
use crate::constants::bytes;
use crate::gpu::Gpu;
use crate::library::Address;
use crate::memory::Limbs;
use crate::tables::montgomery;

impl Gpu {
    /// Writes limbs of the primes of `basis` at `output`, which has room for those of `whole`.
    pub(crate) fn elements(
        &self,
        operation: Operation,
        (output, whole): (Address, Basis),
        basis: Basis,
        operands: [Operand; 3],
        constant: impl FnMut(usize) -> u64,
    ) {
        if basis.is_empty() {
            return;
        }
        let [x, y, z] = operands;
        let arguments = Elements {
            output,
            x,
            y,
            z,
            primes: self.primes,
            output_mask: mask(whole),
            operation: operation as u32,
            n: self.ring.degree() as u32,
            prime: positions(basis),
            constant: for_each(basis, constant),
        };
        self.over(&arguments, basis);
    }

    /// x = operation(x, y, z), in place where nobody shares x.
    pub(crate) fn change<R: Representation>(
        &self,
        operation: Operation,
        x: &mut Poly<R, Gpu>,
        [y, z]: [Operand; 2],
        constant: impl FnMut(usize) -> u64,
    ) {
        let (basis, source) = (x.basis(), x.limbs().operand());
        if !x.limbs().own(basis) {
            let fresh = self.limbs(basis);
            self.elements(operation, (fresh.address(), basis), basis, [source, y, z], constant);
            *x.limbs_mut() = fresh;
        } else {
            let output = (x.limbs().address(), basis);
            self.elements(operation, output, basis, [source, y, z], constant);
        }
    }

    /// A constant modulo a prime, in Montgomery form.
    pub(crate) fn constant_of(&self, position: usize, x: u64) -> u64 {
        montgomery(self.ring.modulus(position), x)
    }

    /// x y.
    pub(crate) fn product(&self, x: &Poly<Eval, Gpu>, y: &Poly<Eval, Gpu>) -> Poly<Eval, Gpu> {
        let (basis, out) = (x.basis(), self.limbs(x.basis()));
        let operands = [x.limbs().operand(), y.limbs().operand(), Operand::default()];
        self.elements(Operation::Mul, (out.address(), basis), basis, operands, |_| 0);
        self.poly(basis, out)
    }

    /// Sums of products, each of as many launches as it has too many terms for one.
    pub(crate) fn sum_products(&self, basis: Basis, pairs: &[Pair<'_, Gpu>]) -> Poly<Eval, Gpu> {
        let out = self.limbs(basis);
        if pairs.is_empty() {
            self.clear(&out, basis);
        }
        for (part, pairs) in pairs.chunks(PAIRS_A_LAUNCH).enumerate() {
            let mut arguments = Products {
                output: out.address(),
                primes: self.primes,
                n: self.ring.degree() as u32,
                count: pairs.len() as u32,
                accumulate: u32::from(part > 0),
                prime: positions(basis),
                pairs: [[Operand::default(); 2]; PAIRS_A_LAUNCH],
            };
            for (to, (x, y)) in arguments.pairs.iter_mut().zip(pairs) {
                *to = [x.limbs().operand(), y.limbs().operand()];
            }
            self.over(&arguments, basis);
        }
        self.poly(basis, out)
    }

    /// Rows of a matrix of constants times polynomials.
    pub(crate) fn matrix_times(
        &self,
        inputs: &[&[Poly<Eval, Gpu>]],
        rows: &[&[i64]],
    ) -> Vec<Vec<Poly<Eval, Gpu>>> {
        let Some(first) = inputs.first() else { return rows.iter().map(|_| Vec::new()).collect() };
        let Some(component) = first.first() else { return vec![Vec::new(); rows.len()] };
        let basis = component.basis();
        // Kept to the end, whatever other threads keep meanwhile.
        let matrix = self.kept_constant(&bytes(rows.iter().flat_map(|row| *row).copied()));
        let outs: Vec<Vec<Limbs>> =
            rows.iter().map(|_| first.iter().map(|_| self.limbs(basis)).collect()).collect();
        let stride = inputs.len();
        for k in 0..first.len() {
            for (block, outs) in outs.chunks(ROWS_A_LAUNCH).enumerate() {
                for (part, some) in inputs.chunks(INPUTS_A_LAUNCH).enumerate() {
                    let at = block * ROWS_A_LAUNCH * stride + part * INPUTS_A_LAUNCH;
                    let mut arguments = Matrix {
                        outputs: [0; ROWS_A_LAUNCH],
                        matrix: matrix.address() + (at * size_of::<i64>()) as u64,
                        primes: self.primes,
                        n: self.ring.degree() as u32,
                        count: some.len() as u32,
                        rows: outs.len() as u32,
                        stride: stride as u32,
                        accumulate: u32::from(part > 0),
                        prime: positions(basis),
                        inputs: [Operand::default(); INPUTS_A_LAUNCH],
                    };
                    let outputs = arguments.outputs.iter_mut().zip(outs);
                    outputs.for_each(|(to, out)| *to = out[k].address());
                    let operands = arguments.inputs.iter_mut().zip(some);
                    operands.for_each(|(to, x)| *to = x[k].limbs().operand());
                    let (blocks, threads) = self.places();
                    let shared = (outs.len() * some.len() * 8) as u32;
                    self.launch(&arguments, [blocks, basis.len() as u32, 1], threads, shared);
                }
            }
        }
        let poly = |out| self.poly(basis, out);
        outs.into_iter().map(|row| row.into_iter().map(poly).collect()).collect()
    }

    /// X^k in coefficients.
    pub(crate) fn unit(&self, basis: Basis, k: i64) -> Poly<Coeff, Gpu> {
        let (n, m) = (self.ring.degree(), self.ring.index());
        let k = k.rem_euclid(m as i64) as usize;
        let place = everlevel_arith::coefficient_position(n.trailing_zeros(), k % n);
        let out = self.limbs(basis);
        let arguments = Unit {
            output: out.address(),
            primes: self.primes,
            n: n as u32,
            place: place as u32,
            negative: u32::from(k >= n),
            prime: positions(basis),
        };
        self.over(&arguments, basis);
        self.poly(basis, out)
    }
}
