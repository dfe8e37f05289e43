//! The arguments of the kernels, as `kernels.cu` declares them.

use everlevel_ring::Basis;

use crate::library::Address;

/// The kernels.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    ForwardLow,
    ForwardHigh,
    BackwardLow,
    BackwardHigh,
    Convert,
    Elements,
    Unit,
    SumOfProducts,
    Matrix,
    Combine,
    Sum,
    Hoist,
    Integers,
}

impl Kernel {
    pub(crate) const ALL: [Kernel; 13] = [
        Kernel::ForwardLow,
        Kernel::ForwardHigh,
        Kernel::BackwardLow,
        Kernel::BackwardHigh,
        Kernel::Convert,
        Kernel::Elements,
        Kernel::Unit,
        Kernel::SumOfProducts,
        Kernel::Matrix,
        Kernel::Combine,
        Kernel::Sum,
        Kernel::Hoist,
        Kernel::Integers,
    ];

    /// Its name in the source.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kernel::ForwardLow => "forward_low",
            Kernel::ForwardHigh => "forward_high",
            Kernel::BackwardLow => "backward_low",
            Kernel::BackwardHigh => "backward_high",
            Kernel::Convert => "convert",
            Kernel::Elements => "elements",
            Kernel::Unit => "unit",
            Kernel::SumOfProducts => "sum_of_products",
            Kernel::Matrix => "matrix",
            Kernel::Combine => "combine",
            Kernel::Sum => "sum",
            Kernel::Hoist => "hoist",
            Kernel::Integers => "integers",
        }
    }
}

/// Arguments of one kernel.
pub(crate) trait Arguments {
    const KERNEL: Kernel;
}

/// Declares the arguments of a kernel, and checks their size, which the compiler of the kernels
/// has, too.
macro_rules! arguments {
    ($(#[$doc:meta])* $name:ident of $kernel:ident, $size:literal bytes {
        $($field:ident: $type:ty,)*
    }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }

        impl Arguments for $name {
            const KERNEL: Kernel = Kernel::$kernel;
        }

        const _: () = assert!(size_of::<$name>() == $size);
    };
}

pub(crate) const LIMBS_A_LAUNCH: usize = 256;
pub(crate) const TARGETS_A_TILE: usize = 8;
pub(crate) const PRIMES: usize = 128;
pub(crate) const PAIRS_A_LAUNCH: usize = 64;
pub(crate) const INPUTS_A_LAUNCH: usize = 64;
pub(crate) const ROWS_A_LAUNCH: usize = 4;
pub(crate) const COMBINED_A_LAUNCH: usize = 32;
pub(crate) const DIGITS: usize = 32;
pub(crate) const COMPONENTS: usize = 3;
pub(crate) const REST_PAIRS: usize = 6;
pub(crate) const IMAGES_A_LAUNCH: usize = 16;
pub(crate) const HOISTED_DIGITS: usize = 12;
/// No limb.
pub(crate) const NONE: u16 = 0xffff;

/// A set of primes as the kernels have it.
pub(crate) fn mask(basis: Basis) -> [u64; 2] {
    [basis.bits() as u64, (basis.bits() >> 64) as u64]
}

/// The positions of the primes of a basis.
pub(crate) fn positions(basis: Basis) -> [u8; PRIMES] {
    let mut positions = [0; PRIMES];
    positions.iter_mut().zip(basis.iter()).for_each(|(to, i)| *to = i as u8);
    positions
}

/// A number for each prime of a basis.
pub(crate) fn for_each(basis: Basis, f: impl FnMut(usize) -> u64) -> [u64; PRIMES] {
    let mut numbers = [0; PRIMES];
    numbers.iter_mut().zip(basis.iter().map(f)).for_each(|(to, x)| *to = x);
    numbers
}

/// Limbs in memory and the primes that they belong to.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Operand {
    pub(crate) words: Address,
    pub(crate) mask: [u64; 2],
}

arguments! {
    /// Of all four kernels of transforms: the others have names of their own.
    Transform of ForwardLow, 3888 bytes {
        input: Address,
        output: Address,
        add: Address,
        primes: Address,
        twiddles: Address,
        log_rows: u32,
        low: u32,
        input_limb: [u16; LIMBS_A_LAUNCH],
        output_limb: [u16; LIMBS_A_LAUNCH],
        add_limb: [u16; LIMBS_A_LAUNCH],
        prime: [u8; LIMBS_A_LAUNCH],
        factor: [f64; LIMBS_A_LAUNCH],
    }
}

/// The same arguments for another kernel.
macro_rules! transforms {
    ($($name:ident of $kernel:ident;)*) => {
        $(
            #[repr(transparent)]
            pub(crate) struct $name(pub(crate) Transform);

            impl Arguments for $name {
                const KERNEL: Kernel = Kernel::$kernel;
            }
        )*
    };
}

transforms! {
    ForwardHigh of ForwardHigh;
    BackwardLow of BackwardLow;
    BackwardHigh of BackwardHigh;
}

arguments! {
    /// Conversion between bases.
    Convert of Convert, 80 bytes {
        terms: Address,
        output: Address,
        primes: Address,
        tiles: Address,
        index: Address,
        inverses: Address,
        weights: Address,
        terms_stride: u64,
        output_stride: u64,
        n: u32,
    }
}

/// Operations element by element.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Add,
    Sub,
    Neg,
    Scale,
    ScaleAdd,
    AddConstant,
    Mul,
    MulAdd,
    SubScale,
    Copy,
}

arguments! {
    /// Element by element.
    Elements of Elements, 1264 bytes {
        output: Address,
        x: Operand,
        y: Operand,
        z: Operand,
        primes: Address,
        output_mask: [u64; 2],
        operation: u32,
        n: u32,
        prime: [u8; PRIMES],
        constant: [u64; PRIMES],
    }
}

arguments! {
    /// One coefficient and zeros.
    Unit of Unit, 160 bytes {
        output: Address,
        primes: Address,
        n: u32,
        place: u32,
        negative: u32,
        prime: [u8; PRIMES],
    }
}

arguments! {
    /// Sums of products.
    Products of SumOfProducts, 3232 bytes {
        output: Address,
        primes: Address,
        n: u32,
        count: u32,
        accumulate: u32,
        prime: [u8; PRIMES],
        pairs: [[Operand; 2]; PAIRS_A_LAUNCH],
    }
}

arguments! {
    /// Linear combinations with small constants.
    Matrix of Matrix, 1736 bytes {
        outputs: [Address; ROWS_A_LAUNCH],
        matrix: Address,
        primes: Address,
        n: u32,
        count: u32,
        rows: u32,
        stride: u32,
        accumulate: u32,
        prime: [u8; PRIMES],
        inputs: [Operand; INPUTS_A_LAUNCH],
    }
}

arguments! {
    /// Linear combinations with periodic plaintexts.
    Combine of Combine, 1768 bytes {
        outputs: [[Address; 2]; ROWS_A_LAUNCH],
        table: Address,
        primes: Address,
        n: u32,
        count: u32,
        rows: u32,
        stride: u32,
        components: u32,
        accumulate: u32,
        prime: [u8; PRIMES],
        inputs: [[Operand; 2]; COMBINED_A_LAUNCH],
    }
}

/// What is added to a component of a sum.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct RestArguments {
    pub(crate) count: u32,
    pub(crate) plain: u32,
    pub(crate) pairs: [[Operand; 2]; REST_PAIRS],
}

/// A key.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct KeyArguments {
    pub(crate) words: Address,
    pub(crate) mask: [u64; 2],
    pub(crate) limbs: u32,
    pub(crate) components: u32,
    pub(crate) digit: [u8; DIGITS],
}

arguments! {
    /// Digits times keys, and rests.
    SumOf of Sum, 3232 bytes {
        outputs: [Address; COMPONENTS],
        primes: Address,
        output_mask: [u64; 2],
        digits: Operand,
        digit_stride: u64,
        key: KeyArguments,
        n: u32,
        count: u32,
        components: u32,
        accumulate: u32,
        flip: u32,
        shift: u32,
        rest: [RestArguments; COMPONENTS],
        prime: [u8; PRIMES],
        factor: [u64; PRIMES],
        rest_factor: [u64; PRIMES],
    }
}

/// An automorphism of which an image is made.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct ImageArguments {
    pub(crate) key: KeyArguments,
    pub(crate) output: Address,
    pub(crate) flip: u32,
    pub(crate) shift: u32,
}

arguments! {
    /// Automorphisms from one decomposition.
    HoistOf of Hoist, 2544 bytes {
        primes: Address,
        digits: Operand,
        digit_stride: u64,
        output_stride: u64,
        rest: [Operand; COMPONENTS - 1],
        n: u32,
        count: u32,
        components: u32,
        images: u32,
        prime: [u8; PRIMES],
        rest_factor: [u64; PRIMES],
        image: [ImageArguments; IMAGES_A_LAUNCH],
    }
}

/// The primes of a polynomial that integers are made of.
pub(crate) const LIFTED: usize = 3;

/// Multiplication modulo an odd number: its constants, as those of a prime, and the factor.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct UnitArguments {
    pub(crate) modulus: [u64; 8],
    pub(crate) unit: u64,
    pub(crate) there: u64,
}

arguments! {
    /// Integers and their digits.
    Integers of Integers, 464 bytes {
        output: Address,
        primes: Address,
        x: Operand,
        weight: [[u64; 2]; LIFTED],
        inverse: [u64; LIFTED],
        product: [u64; 2],
        delta: u64,
        map: UnitArguments,
        times: UnitArguments,
        n: u32,
        lifted: u32,
        kind: u32,
        digits: u32,
        base: i64,
        stride: u64,
        source: [u8; 8],
        prime: [u8; PRIMES],
    }
}
