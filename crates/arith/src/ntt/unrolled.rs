//! Loops that are written out.

/// Writes a body out for each number: a loop that cannot fail to unroll, so that register arrays
/// stay in registers.
macro_rules! unrolled {
    ($i:ident in [$($value:literal)*] $body:block) => {
        $({
            let $i: usize = $value;
            $body
        })*
    };
    (for $i:ident in 0..3 $body:block) => { unrolled!($i in [0 1 2] $body) };
    (for $i:ident in 2..=0 $body:block) => { unrolled!($i in [2 1 0] $body) };
    (for $i:ident in 0..4 $body:block) => { unrolled!($i in [0 1 2 3] $body) };
    (for $i:ident in 3..=0 $body:block) => { unrolled!($i in [3 2 1 0] $body) };
    (for $i:ident in 0..8 $body:block) => { unrolled!($i in [0 1 2 3 4 5 6 7] $body) };
    (for $i:ident in 0..16 $body:block) => {
        unrolled!($i in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] $body)
    };
}

pub(super) use unrolled;
