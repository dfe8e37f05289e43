//! How stages are grouped into passes.

/// Calls the pass compiled for a number of stages, a phase and the presence of canonical words at
/// the far end.
macro_rules! passes {
    ($pass:ident $arguments:tt; $key:expr; $(($log:literal $phase:literal))*) => {
        match $key {
            $(
                ($log, $phase, false) => $pass::<B, $log, $phase, false> $arguments,
                ($log, $phase, true) => $pass::<B, $log, $phase, true> $arguments,
            )*
            _ => unreachable!("passes have one to three stages"),
        }
    };
}

pub(super) use passes;

/// How many of the next `remaining` stages to do in one pass: at most three, in equal shares.
#[inline(always)]
pub(super) fn radix(remaining: u32) -> u32 {
    remaining.div_ceil(remaining.div_ceil(3))
}
