//! AVX-512 with its 52-bit integer multiply-add.

pub(super) mod ifma;
pub(super) mod lanes;

/// Proof that the processor has AVX-512 F, DQ, VL, BW and IFMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// [`Backend::Avx512`](crate::Backend::Avx512) must be available.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

/// Executes instructions on the strength of a token.
macro_rules! vouched {
    ($token:expr, $instructions:expr) => {{
        let _: $crate::arch::avx512::Avx512 = $token;
        // SAFETY: the token exists only on processors with these instructions, and they touch
        // registers only.
        unsafe { $instructions }
    }};
}

pub(crate) use vouched;
