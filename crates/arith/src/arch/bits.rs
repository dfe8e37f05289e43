//! Residues from as many bits as their modulus has, over vectors: see [`crate::bits`].

use core::arch::x86_64::*;

use super::avx2::Avx2;
use super::avx512::Avx512;
use super::lanes::Lanes;
use super::portable_bits::unpack_residues_from;
use super::vector::put;
use crate::modulus::Modulus;

/// Residues that take whole bytes together, whatever their width: as many bytes as one has bits.
const GROUP: usize = 8;
/// The bytes that may be read for a group.
const WINDOW: usize = 64;
/// How many bytes ahead of their use others are asked for, as one of many streams from far.
const AHEAD: usize = 1024;

/// How a group of residues is taken out of its bytes, in parts of a vector each.
pub(crate) trait Windows: Lanes {
    /// Where the residues are, and the bits ahead of them there.
    type Window: Copy;

    /// For residues of `width` bits, at most 50, of which the first begins at a byte.
    fn window(self, width: usize) -> Self::Window;

    /// A part of a group.
    ///
    /// # Safety
    /// [`WINDOW`] bytes must be readable; no alignment is needed.
    unsafe fn load_window(self, source: *const u8, part: usize, window: &Self::Window) -> Self::U;
}

impl Windows for Avx2 {
    /// For each pair of residues the byte from which on sixteen are read; for each half of the
    /// group the eight bytes that each residue is among, and the bits ahead of it there; and the
    /// bits of a residue.
    type Window = ([usize; 4], [[__m256i; 2]; 2], __m256i);

    #[inline(always)]
    fn window(self, width: usize) -> Self::Window {
        // Two residues take at most 7 + 2 * 50 bits from their byte on, 14 bytes.
        let places: [usize; 4] = std::array::from_fn(|pair| 2 * pair * width / 8);
        let halves: [[__m256i; 2]; 2] = std::array::from_fn(|half| {
            let bit = |k: usize| ((4 * half + k) * width - 8 * places[2 * half + k / 2]) as u64;
            let bytes: [u64; 4] =
                std::array::from_fn(|k| bit(k) / 8 * 0x0101_0101_0101_0101 + 0x0706_0504_0302_0100);
            let shifts: [u64; 4] = std::array::from_fn(|k| bit(k) % 8);
            // SAFETY: arrays of four words.
            unsafe { [self.load(bytes.as_ptr()), self.load(shifts.as_ptr())] }
        });
        (places, halves, self.splat((1 << width) - 1))
    }

    #[inline(always)]
    unsafe fn load_window(self, source: *const u8, part: usize, window: &Self::Window) -> __m256i {
        let (places, halves, mask) = window;
        let [bytes, shifts] = halves[part];
        // SAFETY: the last sixteen bytes begin at 6 * 50 / 8 at most, and end within the window;
        // the token exists only on processors with these instructions.
        unsafe {
            let low = _mm_loadu_si128(source.add(places[2 * part]).cast());
            let high = _mm_loadu_si128(source.add(places[2 * part + 1]).cast());
            let words = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), bytes);
            _mm256_and_si256(_mm256_srlv_epi64(words, shifts), *mask)
        }
    }
}

impl Windows for Avx512 {
    /// For each residue the four half words that it is among, and the bits ahead of it there; and
    /// the bits of a residue.
    type Window = [__m512i; 3];

    #[inline(always)]
    fn window(self, width: usize) -> [__m512i; 3] {
        let bit = |k: usize| (width * k) as u64;
        let halves: [u64; 8] =
            std::array::from_fn(|k| bit(k) / 16 * 0x0001_0001_0001_0001 + 0x0003_0002_0001_0000);
        let shifts: [u64; 8] = std::array::from_fn(|k| bit(k) % 16);
        // SAFETY: arrays of eight words.
        let [halves, shifts] = unsafe { [self.load(halves.as_ptr()), self.load(shifts.as_ptr())] };
        [halves, shifts, self.splat((1 << width) - 1)]
    }

    #[inline(always)]
    unsafe fn load_window(self, source: *const u8, _: usize, window: &[__m512i; 3]) -> __m512i {
        let [halves, shifts, mask] = *window;
        // A shift is below 16, and even for 50 bits: up to 49 bits, or 50, are left of 64.
        // SAFETY: the caller promises 64 readable bytes; the token exists only on processors with
        // these instructions.
        unsafe {
            let words = _mm512_permutexvar_epi16(halves, _mm512_loadu_si512(source.cast()));
            _mm512_and_si512(_mm512_srlv_epi64(words, shifts), mask)
        }
    }
}

#[inline(always)]
pub(crate) fn unpack_residues<L: Windows>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    bytes: &[u8],
    below: &mut bool,
) {
    let width = q.bits() as usize;
    // Groups behind which a whole window is there.
    let there = bytes.len().checked_sub(WINDOW).map_or(0, |last| last / width + 1);
    let groups = there.min(out.len() / GROUP);
    let (window, modulus) = (l.window(width), l.splat(q.value()));
    // The differences are negative where residues are below q.
    let mut negative = l.splat(u64::MAX);
    for group in 0..groups {
        // SAFETY: (groups - 1) width + WINDOW bytes are there at most.
        let source = unsafe { bytes.as_ptr().add(group * width) };
        // SAFETY: a hint: any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(source.wrapping_add(AHEAD).cast()) };
        for part in 0..GROUP / L::WIDTH {
            // SAFETY: a whole window is there from the first byte of the group on.
            let residues = unsafe { l.load_window(source, part, &window) };
            put(l, out, GROUP * group + part * L::WIDTH, residues);
            negative = l.and(negative, l.sub(residues, modulus));
        }
    }
    let mut signs = [0; GROUP];
    put(l, &mut signs, 0, negative);
    unpack_residues_from(q, GROUP * groups, out, bytes, below);
    *below &= signs[..L::WIDTH].iter().all(|sign| sign >> 63 == 1);
}
