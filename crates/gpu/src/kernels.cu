// The kernels of the CUDA engine.
//
// Compiled by NVRTC when an engine is made, and by a C++ compiler for the emulated device of the
// tests. So that the latter needs no fibres, every kernel is a sequence of phases with barriers
// between them, and no variable of a thread lives across a barrier.
//
// Residues are words below q < 2^50. Products are reduced by Montgomery's method with R = 2^64: a
// factor "in Montgomery form" is multiplied by R modulo q, so that its product with a plain word is
// plain. Sums of products are 128 bits wide and reduced once: 2^14 terms of 2^100 stay below R q.
// Transforms compute on doubles.

#ifndef EVERLEVEL_EMULATED
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef long long i64;
#define DEVICE __device__ __forceinline__
#define KERNEL(name, Args) extern "C" __global__ void name(const __grid_constant__ Args a)
#define KERNEL_BOUND(name, Args, threads, blocks) \
    extern "C" __global__ void __launch_bounds__(threads, blocks) \
        name(const __grid_constant__ Args a)
#define PHASE
#define BARRIER __syncthreads();
#define SHARED(T, name) \
    extern __shared__ __align__(16) unsigned char name##_bytes[]; \
    T* name = (T*)name##_bytes;
#endif

typedef unsigned __int128 u128;

// A prime: its inverse modulo R, R and R^2 modulo q, and constants of the transforms.
struct Prime {
    u64 q;
    u64 inverse;         // q^-1 modulo R
    u64 one;             // R modulo q
    u64 square;          // R^2 modulo q
    double quarter;        // zeta_4, centered, as the other two
    double scale;          // 1/n
    double scale_quarter;  // 1/(n zeta_4)
    double reciprocal;     // 1/q
};

// Limbs in memory and the primes that they belong to, as a bit mask: the limb of a prime comes
// after those of all primes before it.
struct Operand {
    const u64* words;
    u64 mask[2];
};

DEVICE u32 rank_of(const u64* mask, u32 prime) {
    u32 low = prime < 64 ? (u32)__popcll(mask[0] & ((1ull << prime) - 1)) : (u32)__popcll(mask[0]);
    return prime < 64 ? low : low + (u32)__popcll(mask[1] & ((1ull << (prime - 64)) - 1));
}

DEVICE const u64* limb_of(const Operand& x, u32 prime, u32 n) {
    return x.words + (u64)rank_of(x.mask, prime) * n;
}

DEVICE u64 below(u64 x, u64 bound) { return x >= bound ? x - bound : x; }

// x / R modulo q, in (0, 2q), for x below R q.
DEVICE u64 reduce_lazy(u128 x, const Prime& p) {
    u64 m = (u64)x * p.inverse;
    return (u64)(x >> 64) - __umul64hi(m, p.q) + p.q;
}

DEVICE u64 reduce(u128 x, const Prime& p) { return below(reduce_lazy(x, p), p.q); }

// x w for any word x and w in Montgomery form, in (0, 2q).
DEVICE u64 times_lazy(u64 x, u64 w, const Prime& p) {
    u64 m = x * w * p.inverse;
    return __umul64hi(x, w) - __umul64hi(m, p.q) + p.q;
}

DEVICE u64 times(u64 x, u64 w, const Prime& p) { return below(times_lazy(x, w, p), p.q); }

DEVICE u64 plus(u64 x, u64 y, u64 q) { return below(x + y, q); }

DEVICE u64 minus(u64 x, u64 y, u64 q) { return x >= y ? x - y : x + q - y; }

// The place of a thread, where each has one in each limb.
DEVICE u32 place_of_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Writes a residue, or adds it to what is there.
DEVICE void put(u64* out, u64 x, u32 accumulate, const Prime& p) {
    *out = accumulate ? plus(*out, x, p.q) : x;
}

// ---------------------------------------------------------------------------------------------
// Transforms. A limb has two rows of h = n/2 places, in which the stage of distance d = 2^g pairs
// the places i and i + d; before the first one stage pairs the rows. Pass one is the stages of the
// low bits of the place, on tiles of both rows; pass two those of the high bits, on columns of one
// row.
//
// They compute on doubles, whose fused multiply-add gives both halves of a product of integers
// below 2^53: y w = h + l exactly, and y w - k q = (h - k q) + l for k = round(h / q). With |w| at
// most q/2 and |y| at most B q the result is at most (0.5 + 0.19 B) q, for q < 2^50 and B < 4.
// Words are reduced to at most q/2 before every three stages: then they end below 2.7 q forward, or
// 4.7 q where they begin at q, and below 4 q backward.

#define TILE_WORDS 2048
#define LIMBS_A_LAUNCH 256

struct TransformArgs {
    const u64* in;
    u64* out;
    const u64* add;          // limbs that are added to the results; null for none
    const Prime* primes;
    const double* twiddles;  // for each prime, for each row: at 2^g + j the one of place j, stage g
    u32 log_rows;            // log2 h
    u32 low;                 // stages of pass one
    u16 in_limb[LIMBS_A_LAUNCH];
    u16 out_limb[LIMBS_A_LAUNCH];
    u16 add_limb[LIMBS_A_LAUNCH];   // 0xffff: none
    u8 prime[LIMBS_A_LAUNCH];
    double factor[LIMBS_A_LAUNCH];  // centered; backward only
};

// A prime for computation on doubles.
struct Field {
    double q;
    double reciprocal;
};

// Added and subtracted again, it rounds numbers below 2^51 to integers.
#define ROUNDING 6755399441055744.0

// A word below 2^52 as a double, and back.
DEVICE double to_double(u64 x) {
    return __longlong_as_double((i64)(x | 0x4330000000000000ull)) - 4503599627370496.0;
}

DEVICE u64 to_word(double x) {
    return (u64)__double_as_longlong(x + 4503599627370496.0) & 0xfffffffffffffull;
}

DEVICE Field field_of(const Prime& p) {
    Field f = {to_double(p.q), p.reciprocal};
    return f;
}

DEVICE double centered(double x, const Field& f) {
    double k = __fma_rn(x, f.reciprocal, ROUNDING) - ROUNDING;
    return __fma_rn(-k, f.q, x);
}

DEVICE u64 canonical(double x, const Field& f) {
    double r = centered(x, f);
    return to_word(r < 0 ? r + f.q : r);
}

DEVICE double product(double y, double w, const Field& f) {
    double high = y * w;
    double low = __fma_rn(y, w, -high);
    double k = __fma_rn(high, f.reciprocal, ROUNDING) - ROUNDING;
    return __fma_rn(-k, f.q, high) + low;
}

// Without padding, eight words apart is the same banks.
DEVICE u32 padded(u32 i) { return i + (i >> 4); }

// Where pass one has the place i of the storage order, which transposes groups of 64.
DEVICE u32 transposed(u32 i, u32 log_rows) {
    return log_rows < 6 ? i : (i & ~63u) | ((i & 7) << 3) | ((i >> 3) & 7);
}

DEVICE void forward_butterfly(double& x, double& y, double w, const Field& f) {
    double t = product(y, w, f);
    y = x - t;
    x = x + t;
}

DEVICE void backward_butterfly(double& x, double& y, double w, const Field& f) {
    double difference = x - y;
    x = x + y;
    y = product(difference, w, f);
}

// R stages at a time on 2^R words in registers; `twiddle(g, j)` is that of stage g.
template <int R, bool FORWARD, bool CENTER, class Load, class Store, class Twiddle>
DEVICE void stages(Load load, Store store, Twiddle twiddle, const Field& f) {
    double x[1 << R];
#pragma unroll
    for (u32 k = 0; k < (1u << R); k++) x[k] = load(k);
    if (CENTER) {
#pragma unroll
        for (u32 k = 0; k < (1u << R); k++) x[k] = centered(x[k], f);
    }
#pragma unroll
    for (u32 i = 0; i < R; i++) {
        u32 g = FORWARD ? i : R - 1 - i;
#pragma unroll
        for (u32 k = 0; k < (1u << R); k++) {
            if (k >> g & 1) continue;
            double w = twiddle(g, k & ((1u << g) - 1));
            if (FORWARD) {
                forward_butterfly(x[k], x[k | (1u << g)], w, f);
            } else {
                backward_butterfly(x[k], x[k | (1u << g)], w, f);
            }
        }
    }
#pragma unroll
    for (u32 k = 0; k < (1u << R); k++) store(k, x[k]);
}

// What the passes leave between them is doubles.
DEVICE double as_double(u64 bits) { return __longlong_as_double((i64)bits); }
DEVICE u64 as_bits(double x) { return (u64)__double_as_longlong(x); }

// The result of a transform, and what is added to it.
DEVICE u64 finished(double x, const u64* add, u32 at, const Field& f) {
    u64 word = canonical(x, f);
    return add ? plus(word, add[at], (u64)f.q) : word;
}

// Stages [s, s + R) of pass one on all words of a tile; the last ones forward go to `out`, the
// first ones backward come from `in`, which are words if the pass is the only one.
template <int R, bool FORWARD, bool CENTER>
DEVICE void low_stages(double* tile, const u64* in, u64* out, const u64* add,
                       const double* twiddles, u32 s, u32 log_tile, u32 h, u32 thread,
                       u32 threads, bool only, const Field& f) {
    for (u32 group = thread; group < (2u << log_tile) >> R; group += threads) {
        u32 low = group & ((1u << s) - 1);
        u32 base = (group >> s) << (s + R) | low;
        u32 row = base >> log_tile;
        const double* w = twiddles + (FORWARD ? row : 1 - row) * h;
        u32 place = row * h + (base & ((1u << log_tile) - 1));
        stages<R, FORWARD, CENTER>(
            [&](u32 k) {
                if (FORWARD || !in) return tile[padded(base + (k << s))];
                u64 x = in[place + (k << s)];
                return only ? to_double(x) : as_double(x);
            },
            [&](u32 k, double x) {
                u32 at = place + (k << s);
                if (FORWARD && out) {
                    out[at] = only ? finished(x, add, at, f) : as_bits(x);
                } else {
                    tile[padded(base + (k << s))] = x;
                }
            },
            [&](u32 g, u32 j) { return w[(1u << (s + g)) + low + (j << s)]; }, f);
    }
}

template <bool FORWARD, bool CENTER>
DEVICE void low_stages_of(u32 r, double* tile, const u64* in, u64* out, const u64* add,
                          const double* twiddles, u32 s, u32 log_tile, u32 h, u32 thread,
                          u32 threads, bool only, const Field& f) {
    if (r == 3) {
        low_stages<3, FORWARD, CENTER>(tile, in, out, add, twiddles, s, log_tile, h, thread,
                                       threads, only, f);
    } else if (r == 2) {
        low_stages<2, FORWARD, CENTER>(tile, in, out, add, twiddles, s, log_tile, h, thread,
                                       threads, only, f);
    } else {
        low_stages<1, FORWARD, CENTER>(tile, in, out, add, twiddles, s, log_tile, h, thread,
                                       threads, only, f);
    }
}

// The limb that is added to the result; null for none.
DEVICE const u64* added(const TransformArgs& a, u32 limb) {
    if (!a.add || a.add_limb[limb] == 0xffff) return nullptr;
    return a.add + ((u64)a.add_limb[limb] << (a.log_rows + 1));
}

DEVICE u32 log_tile_of(u32 log_rows) { return log_rows < 10 ? log_rows : 10; }

KERNEL_BOUND(forward_low, TransformArgs, 256, 4) {
    SHARED(double, tile)
    u32 limb = blockIdx.y, h = 1u << a.log_rows, log_tile = log_tile_of(a.log_rows);
    u32 first = blockIdx.x << log_tile, count = 1u << log_tile, prime = a.prime[limb];
    const u64* in = a.in + (u64)a.in_limb[limb] * 2 * h + first;
    u64* out = a.out + (u64)a.out_limb[limb] * 2 * h + first;
    const double* twiddles = a.twiddles + (u64)prime * 2 * h;
    bool only = a.low == a.log_rows;
    PHASE {
        Field f = field_of(a.primes[prime]);
        double quarter = a.primes[prime].quarter;
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            double x = to_double(in[i]), y = to_double(in[h + i]);
            forward_butterfly(x, y, quarter, f);
            u32 at = transposed(i, a.log_rows);
            tile[padded(at)] = x;
            tile[padded(count + at)] = y;
        }
    }
    for (u32 s = 0; s < a.low; s += 3) {
        BARRIER
        PHASE {
            Field f = field_of(a.primes[prime]);
            u32 r = a.low - s < 3 ? a.low - s : 3;
            u64* to = s + r == a.low ? out : nullptr;
            const u64* add = only ? added(a, limb) : nullptr;
            if (add) add += first;
            if (s == 0) {
                low_stages_of<true, false>(r, tile, nullptr, to, add, twiddles, s, log_tile, h,
                                           threadIdx.x, blockDim.x, only, f);
            } else {
                low_stages_of<true, true>(r, tile, nullptr, to, add, twiddles, s, log_tile, h,
                                          threadIdx.x, blockDim.x, only, f);
            }
        }
    }
}

KERNEL_BOUND(backward_low, TransformArgs, 256, 4) {
    SHARED(double, tile)
    u32 limb = blockIdx.y, h = 1u << a.log_rows, log_tile = log_tile_of(a.log_rows);
    u32 first = blockIdx.x << log_tile, count = 1u << log_tile, prime = a.prime[limb];
    const u64* in = a.in + (u64)a.in_limb[limb] * 2 * h + first;
    u64* out = a.out + (u64)a.out_limb[limb] * 2 * h + first;
    const double* twiddles = a.twiddles + (u64)prime * 2 * h;
    bool only = a.low == a.log_rows;
    u32 s = a.low;
    while (s > 0) {
        u32 r = s == a.low && s % 3 ? s % 3 : 3;
        s -= r;
        PHASE {
            Field f = field_of(a.primes[prime]);
            const u64* from = s + r == a.low ? in : nullptr;
            low_stages_of<false, true>(r, tile, from, nullptr, nullptr, twiddles, s, log_tile, h,
                                       threadIdx.x, blockDim.x, only, f);
        }
        BARRIER
    }
    PHASE {
        Prime p = a.primes[prime];
        Field f = field_of(p);
        double factor = a.factor[limb];
        double even = centered(product(p.scale, factor, f), f);
        double odd = centered(product(p.scale_quarter, factor, f), f);
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            u32 at = transposed(i, a.log_rows);
            double x = centered(tile[padded(at)], f), y = centered(tile[padded(count + at)], f);
            out[i] = canonical(product(x + y, even, f), f);
            out[h + i] = canonical(product(x - y, odd, f), f);
        }
    }
}

// Pass two: 2^(high) rows of the columns [first, first + width).
template <int R, bool FORWARD, bool FIRST>
DEVICE void high_stages(double* tile, const u64* in, u64* out, const u64* add,
                        const double* twiddles, u32 s, u32 log_width, u32 low_bits, u32 first,
                        u32 thread, u32 threads, const Field& f) {
    u32 shift = log_width + s;
    for (u32 group = thread; group < TILE_WORDS >> R; group += threads) {
        u32 low = group & ((1u << shift) - 1);
        u32 base = (group >> shift) << (shift + R) | low;
        u32 column = first + (base & ((1u << log_width) - 1));
        u32 high = base >> log_width;
        u32 before = (low >> log_width) << low_bits;
        stages<R, FORWARD, true>(
            [&](u32 k) {
                if (!FIRST) return tile[base + (k << shift)];
                u64 x = in[((high + (k << s)) << low_bits) + column];
                return FORWARD ? as_double(x) : to_double(x);
            },
            [&](u32 k, double x) {
                if (FIRST) {
                    tile[base + (k << shift)] = x;
                } else {
                    u32 at = ((high + (k << s)) << low_bits) + column;
                    out[at] = FORWARD ? finished(x, add, at, f) : as_bits(x);
                }
            },
            [&](u32 g, u32 j) {
                return twiddles[(1u << (low_bits + s + g)) + before + (j << (s + low_bits)) +
                                column];
            },
            f);
    }
}

// The second pass: three stages of the low ones of its bits, and the two or three above.
template <bool FORWARD, bool FIRST>
DEVICE void high_pass(const TransformArgs& a, double* tile, u32 thread, u32 threads) {
    u32 limb = blockIdx.y, h = 1u << a.log_rows, high = a.log_rows - a.low;
    u32 log_width = 11 - high, tiles = h / TILE_WORDS;
    u32 row = blockIdx.x / tiles, first = (blockIdx.x % tiles) << log_width;
    u32 prime = a.prime[limb];
    const u64* in = a.in + (u64)a.in_limb[limb] * 2 * h + row * h;
    u64* out = a.out + (u64)a.out_limb[limb] * 2 * h + row * h;
    const u64* add = FORWARD ? added(a, limb) : nullptr;
    if (add) add += row * h;
    const double* twiddles = a.twiddles + ((u64)prime * 2 + (FORWARD ? row : 1 - row)) * h;
    Field f = field_of(a.primes[prime]);
    if (FORWARD == FIRST) {
        high_stages<3, FORWARD, FIRST>(tile, in, out, add, twiddles, 0, log_width, a.low, first,
                                       thread, threads, f);
    } else if (high == 6) {
        high_stages<3, FORWARD, FIRST>(tile, in, out, add, twiddles, 3, log_width, a.low, first,
                                       thread, threads, f);
    } else {
        high_stages<2, FORWARD, FIRST>(tile, in, out, add, twiddles, 3, log_width, a.low, first,
                                       thread, threads, f);
    }
}

KERNEL_BOUND(forward_high, TransformArgs, 256, 4) {
    SHARED(double, tile)
    PHASE { high_pass<true, true>(a, tile, threadIdx.x, blockDim.x); }
    BARRIER
    PHASE { high_pass<true, false>(a, tile, threadIdx.x, blockDim.x); }
}

KERNEL_BOUND(backward_high, TransformArgs, 256, 4) {
    SHARED(double, tile)
    PHASE { high_pass<false, true>(a, tile, threadIdx.x, blockDim.x); }
    BARRIER
    PHASE { high_pass<false, false>(a, tile, threadIdx.x, blockDim.x); }
}

// ---------------------------------------------------------------------------------------------
// Conversion between bases: for each coefficient, with the terms y_i, the rounded sum v of
// y_i / d_i and then, for each target, the sum of y_i w_i and v w.

// Targets that one block computes.
struct Tile {
    u32 count;     // terms
    u32 sources;   // where the limbs of the terms and the inverses of their primes are listed
    u32 targets;   // where limb and prime of each target are listed
    u32 width;     // targets
    u32 weights;   // where the weights are: for each target those of the terms and of v
};

#define TARGETS_A_TILE 8

struct ConvertArgs {
    const u64* terms;
    u64* out;
    const Prime* primes;
    const Tile* tiles;
    const u32* index;
    const double* inverses;
    const u64* weights;
    u64 terms_stride;  // from one polynomial to the next
    u64 out_stride;
    u32 n;
};

KERNEL(convert, ConvertArgs) {
    SHARED(u64, weights)
    const Tile tile = a.tiles[blockIdx.y];
    const u64* terms = a.terms + blockIdx.z * a.terms_stride;
    u64* out = a.out + blockIdx.z * a.out_stride;
    u32 row = tile.count + 1;
    PHASE {
        for (u32 i = threadIdx.x; i < tile.width * row; i += blockDim.x) {
            weights[i] = a.weights[tile.weights + i];
        }
    }
    BARRIER
    PHASE {
        u32 place = place_of_thread();
        if (place < a.n) {
            u128 sums[TARGETS_A_TILE];
#pragma unroll
            for (u32 t = 0; t < TARGETS_A_TILE; t++) sums[t] = 0;
            double quotient = 0.0;
            for (u32 i = 0; i < tile.count; i++) {
                u64 y = terms[(u64)a.index[tile.sources + i] * a.n + place];
                double part = __dmul_rn(__ull2double_rn(y), a.inverses[tile.sources + i]);
                quotient = __dadd_rn(quotient, part);
#pragma unroll
                for (u32 t = 0; t < TARGETS_A_TILE; t++) {
                    if (t < tile.width) sums[t] += (u128)y * weights[t * row + i];
                }
            }
            u64 v = __double2ull_rn(quotient);
#pragma unroll
            for (u32 t = 0; t < TARGETS_A_TILE; t++) {
                if (t < tile.width) {
                    u32 limb = a.index[tile.targets + 2 * t];
                    Prime p = a.primes[a.index[tile.targets + 2 * t + 1]];
                    u128 sum = sums[t] + (u128)v * weights[t * row + tile.count];
                    out[(u64)limb * a.n + place] = reduce(sum, p);
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Element by element.

#define PRIMES 128

enum Operation { ADD, SUB, NEG, SCALE, SCALE_ADD, ADD_CONSTANT, MUL, MUL_ADD, SUB_SCALE, COPY };

struct ElementArgs {
    u64* out;            // limbs by place in the list of primes, or by rank
    Operand x, y, z;
    const Prime* primes;
    u64 out_mask[2];     // the primes that `out` has limbs for
    u32 operation;
    u32 n;
    u8 prime[PRIMES];
    u64 constant[PRIMES];  // Montgomery form; ADD_CONSTANT: plain
};

KERNEL(elements, ElementArgs) {
    u32 limb = blockIdx.y, prime = a.prime[limb];
    u64* out = a.out + (u64)rank_of(a.out_mask, prime) * a.n;
    const u64* xs = limb_of(a.x, prime, a.n);
    const u64* ys = a.y.words ? limb_of(a.y, prime, a.n) : nullptr;
    const u64* zs = a.z.words ? limb_of(a.z, prime, a.n) : nullptr;
    PHASE {
        Prime p = a.primes[prime];
        u64 c = a.constant[limb];
        u32 place = place_of_thread();
        if (place < a.n) {
            u64 x = xs[place], y = ys ? ys[place] : 0, z = zs ? zs[place] : 0;
            switch (a.operation) {
                case ADD: x = plus(x, y, p.q); break;
                case SUB: x = minus(x, y, p.q); break;
                case NEG: x = minus(0, x, p.q); break;
                case SCALE: x = times(x, c, p); break;
                case SCALE_ADD: x = plus(x, times(y, c, p), p.q); break;
                case ADD_CONSTANT: x = plus(x, c, p.q); break;
                case MUL: x = times(reduce_lazy((u128)x * y, p), p.square, p); break;
                case MUL_ADD:
                    x = plus(x, times(reduce_lazy((u128)y * z, p), p.square, p), p.q);
                    break;
                case SUB_SCALE: x = times(minus(x, y, p.q), c, p); break;
                default: break;
            }
            out[place] = x;
        }
    }
}

// One coefficient or its negative, and zeros.
struct UnitArgs {
    u64* out;
    const Prime* primes;
    u32 n;
    u32 place;
    u32 negative;
    u8 prime[PRIMES];
};

KERNEL(unit, UnitArgs) {
    PHASE {
        u32 place = place_of_thread();
        u64 q = a.primes[a.prime[blockIdx.y]].q;
        if (place < a.n) {
            a.out[(u64)blockIdx.y * a.n + place] =
                place != a.place ? 0 : a.negative ? q - 1 : 1;
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Integers made of centered coefficients, cut into digits.

#define LIFTED 3

// What a coefficient c becomes: -round(d c / q); c u modulo t, centered; or d c modulo q, centered,
// and that.
enum IntegerMap { QUOTIENT, RESIDUE, SCALED };

// Multiplication by u modulo t, odd; `unit` is in Montgomery form.
struct Unit64 {
    Prime modulus;
    u64 unit;
    u64 there;
};

struct IntegerArgs {
    u64* out;                     // for each digit, a limb for each of the primes
    const Prime* primes;
    Operand x;
    u64 weight[LIFTED][2];        // the product of the primes before, low word first
    u64 inverse[LIFTED];          // its inverse modulo the prime, in Montgomery form
    u64 product[2];
    u64 delta;
    Unit64 map, times;
    u32 n, lifted, kind, digits;
    i64 base;
    u64 stride;                   // from one digit to the next
    u8 source[8];
    u8 prime[PRIMES];
};

// |x| modulo an odd number below 2^62, times the sign.
DEVICE u64 modulo(__int128 x, const Prime& p) {
    bool negative = x < 0;
    u128 size = negative ? (u128)0 - (u128)x : (u128)x;
    u64 r = plus(times((u64)(size >> 64), p.square, p), times((u64)size, p.one, p), p.q);
    return negative ? minus(0, r, p.q) : r;
}

DEVICE i64 times_unit(__int128 x, const Unit64& u) {
    u64 r = times(modulo(x, u.modulus), u.unit, u.modulus);
    return r > u.modulus.q / 2 ? (i64)r - (i64)u.modulus.q : (i64)r;
}

DEVICE double approximately(__int128 x) {
    return __dadd_rn(__dmul_rn((double)(i64)(x >> 64), 18446744073709551616.0),
                     __ull2double_rn((u64)x));
}

// round(x / q) for an odd q, where the quotient is below 2^50.
DEVICE i64 rounded(__int128 x, __int128 q) {
    i64 r = (i64)rint(approximately(x) / approximately(q));
    __int128 rest = x - (__int128)r * q;
    while (2 * rest >= q) {
        r += 1;
        rest -= q;
    }
    while (2 * rest < -q) {
        r -= 1;
        rest += q;
    }
    return r;
}

DEVICE i64 floor_quotient(i64 x, i64 w) {
    i64 r = x / w;
    return x % w < 0 ? r - 1 : r;
}

KERNEL(integers, IntegerArgs) {
    PHASE {
        u32 place = place_of_thread();
        if (place < a.n) {
            __int128 c = 0;
            __int128 q = (__int128)((u128)a.product[1] << 64 | a.product[0]);
            for (u32 i = 0; i < a.lifted; i++) {
                Prime p = a.primes[a.source[i]];
                u64 x = limb_of(a.x, a.source[i], a.n)[place];
                u64 digit = times(minus(x, modulo(c, p), p.q), a.inverse[i], p);
                c += (__int128)((u128)a.weight[i][1] << 64 | a.weight[i][0]) * digit;
            }
            if (2 * (u128)c > (u128)q) c -= q;
            i64 rest = 0;
            if (a.kind == QUOTIENT) {
                rest = -rounded((__int128)a.delta * c, q);
            } else {
                if (a.kind == SCALED) {
                    c *= a.delta;
                    c -= (__int128)rounded(c, q) * q;
                }
                rest = times_unit(c, a.map);
            }
            if (a.times.there) rest = times_unit(rest, a.times);
            Prime p = a.primes[a.prime[blockIdx.y]];
            for (u32 d = 0; d < a.digits; d++) {
                i64 next = d + 1 < a.digits ? floor_quotient(rest + (a.base >> 1), a.base) : 0;
                i64 digit = rest - next * a.base;
                u64 size = times(digit < 0 ? 0 - (u64)digit : (u64)digit, p.one, p);
                a.out[d * a.stride + (u64)blockIdx.y * a.n + place] =
                    digit < 0 ? minus(0, size, p.q) : size;
                rest = next;
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Sums of products.

#define PAIRS_A_LAUNCH 64

struct ProductsArgs {
    u64* out;
    const Prime* primes;
    u32 n;
    u32 count;
    u32 accumulate;
    u8 prime[PRIMES];
    Operand pairs[PAIRS_A_LAUNCH][2];
};

KERNEL(sum_of_products, ProductsArgs) {
    u32 prime = a.prime[blockIdx.y];
    PHASE {
        Prime p = a.primes[prime];
        u32 place = place_of_thread();
        if (place < a.n) {
            u128 sum = 0;
            for (u32 i = 0; i < a.count; i++) {
                u64 x = limb_of(a.pairs[i][0], prime, a.n)[place];
                sum += (u128)x * limb_of(a.pairs[i][1], prime, a.n)[place];
            }
            u64* out = a.out + (u64)blockIdx.y * a.n + place;
            u64 x = times(reduce_lazy(sum, p), p.square, p);
            put(out, x, a.accumulate, p);
        }
    }
}

// Linear combinations with small constants: rows of a matrix of signed words.

#define INPUTS_A_LAUNCH 64
#define ROWS_A_LAUNCH 4

struct MatrixArgs {
    u64* outs[ROWS_A_LAUNCH];
    const i64* matrix;    // from the first input of the first row on
    const Prime* primes;
    u32 n;
    u32 count;            // inputs
    u32 rows;
    u32 stride;           // from one row of the matrix to the next
    u32 accumulate;
    u8 prime[PRIMES];
    Operand inputs[INPUTS_A_LAUNCH];
};

KERNEL(matrix, MatrixArgs) {
    SHARED(u64, weights)
    u32 prime = a.prime[blockIdx.y];
    PHASE {
        Prime p = a.primes[prime];
        for (u32 i = threadIdx.x; i < a.rows * a.count; i += blockDim.x) {
            i64 c = a.matrix[i / a.count * a.stride + i % a.count];
            u64 size = times(c < 0 ? 0 - (u64)c : (u64)c, p.square, p);
            weights[i] = c < 0 ? minus(0, size, p.q) : size;
        }
    }
    BARRIER
    PHASE {
        Prime p = a.primes[prime];
        u32 place = place_of_thread();
        if (place < a.n) {
            u128 sums[ROWS_A_LAUNCH];
#pragma unroll
            for (u32 r = 0; r < ROWS_A_LAUNCH; r++) sums[r] = 0;
            for (u32 i = 0; i < a.count; i++) {
                u64 x = limb_of(a.inputs[i], prime, a.n)[place];
#pragma unroll
                for (u32 r = 0; r < ROWS_A_LAUNCH; r++) {
                    if (r < a.rows) sums[r] += (u128)x * weights[r * a.count + i];
                }
            }
#pragma unroll
            for (u32 r = 0; r < ROWS_A_LAUNCH; r++) {
                if (r < a.rows) {
                    u64* out = a.outs[r] + (u64)blockIdx.y * a.n + place;
                    u64 x = reduce(sums[r], p);
                    put(out, x, a.accumulate, p);
                }
            }
        }
    }
}

// Linear combinations with plaintexts whose evaluations repeat: in each row of a limb, those of a
// period.
struct Periodic {
    const u64* words;
    u64 mask[2];
    u64 period;
};

#define COMBINED_A_LAUNCH 32

struct CombineArgs {
    u64* outs[ROWS_A_LAUNCH][2];
    const Periodic* table;  // rows of `stride` entries, those without words are left out
    const Prime* primes;
    u32 n;
    u32 count;
    u32 rows;
    u32 stride;
    u32 components;         // one or two
    u32 accumulate;
    u8 prime[PRIMES];
    Operand inputs[COMBINED_A_LAUNCH][2];
};

KERNEL(combine, CombineArgs) {
    u32 prime = a.prime[blockIdx.y];
    PHASE {
        Prime p = a.primes[prime];
        u32 place = place_of_thread(), h = a.n / 2;
        if (place < a.n) {
            u32 row = place / h, column = place - row * h;
            u128 sums[ROWS_A_LAUNCH][2];
#pragma unroll
            for (u32 r = 0; r < ROWS_A_LAUNCH; r++) sums[r][0] = sums[r][1] = 0;
            for (u32 i = 0; i < a.count; i++) {
                u64 x = limb_of(a.inputs[i][0], prime, a.n)[place];
                u64 y = a.components == 2 ? limb_of(a.inputs[i][1], prime, a.n)[place] : 0;
#pragma unroll
                for (u32 r = 0; r < ROWS_A_LAUNCH; r++) {
                    if (r < a.rows) {
                        const Periodic* d = a.table + r * a.stride + i;
                        if (d->words) {
                            u32 period = (u32)d->period;
                            u64 at = ((u64)rank_of(d->mask, prime) * 2 + row) * period;
                            u64 w = d->words[at + (column & (period - 1))];
                            sums[r][0] += (u128)x * w;
                            sums[r][1] += (u128)y * w;
                        }
                    }
                }
            }
#pragma unroll
            for (u32 r = 0; r < ROWS_A_LAUNCH; r++) {
                if (r < a.rows) {
#pragma unroll
                    for (u32 c = 0; c < 2; c++) {
                        if (c < a.components) {
                            u64* out = a.outs[r][c] + (u64)blockIdx.y * a.n + place;
                            u64 x = times(reduce_lazy(sums[r][c], p), p.square, p);
                            put(out, x, a.accumulate, p);
                        }
                    }
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Digits times keys.

#define DIGITS 32
#define COMPONENTS 3
#define REST_PAIRS 6

struct Rest {
    u32 count;                      // pairs; 0 for nothing
    u32 plain;                      // the only pair is one polynomial
    Operand pairs[REST_PAIRS][2];
};

// A key: for each digit, for each component, a limb for each of its primes.
struct KeyArgs {
    const u64* words;
    u64 mask[2];
    u32 limbs;
    u32 components;
    u8 digit[DIGITS];               // the place in the key of each digit
};

struct SumArgs {
    u64* outs[COMPONENTS];          // a limb for each prime of `out_mask`
    const Prime* primes;
    u64 out_mask[2];
    Operand digits;                 // of the first digit
    u64 digit_stride;
    KeyArgs key;
    u32 n;
    u32 count;                      // digits
    u32 components;
    u32 accumulate;
    u32 flip;                       // the automorphism: rows are exchanged,
    u32 shift;                      // and columns shifted to the left
    Rest rest[COMPONENTS];
    u8 prime[PRIMES];
    u64 factor[PRIMES];             // of the whole, times R^2
    u64 rest_factor[PRIMES];        // of the rests, in plain form; 0 where they vanish
};

// Where the automorphism moves a place.
DEVICE u32 moved(u32 place, u32 h, u32 flip, u32 shift) {
    u32 row = place / h, column = place - row * h;
    column = column >= shift ? column - shift : column + h - shift;
    return (row ^ flip) * h + column;
}

KERNEL(sum, SumArgs) {
    u32 prime = a.prime[blockIdx.y];
    PHASE {
        Prime p = a.primes[prime];
        u32 place = place_of_thread();
        if (place < a.n) {
            u64 factor = a.factor[blockIdx.y], rest_factor = a.rest_factor[blockIdx.y];
            u32 target = moved(place, a.n / 2, a.flip, a.shift);
            u128 sums[COMPONENTS] = {0, 0, 0};
            if (a.count) {
                const u64* digits = limb_of(a.digits, prime, a.n) + place;
                const u64* key = a.key.words + (u64)rank_of(a.key.mask, prime) * a.n + place;
                u64 stride = (u64)a.key.limbs * a.n;
                for (u32 j = 0; j < a.count; j++) {
                    u64 digit = digits[j * a.digit_stride];
                    const u64* part = key + a.key.digit[j] * a.key.components * stride;
#pragma unroll
                    for (u32 k = 0; k < COMPONENTS; k++) {
                        if (k < a.components && k < a.key.components) {
                            sums[k] += (u128)digit * part[k * stride];
                        }
                    }
                }
            }
#pragma unroll
            for (u32 k = 0; k < COMPONENTS; k++) {
                if (k < a.components) {
                    u128 sum = sums[k];
                    if (rest_factor && a.rest[k].count) {
                        u64 x = limb_of(a.rest[k].pairs[0][0], prime, a.n)[place];
                        if (!a.rest[k].plain) {
                            u128 products = (u128)x * limb_of(a.rest[k].pairs[0][1], prime, a.n)[place];
                            for (u32 i = 1; i < a.rest[k].count; i++) {
                                u64 y = limb_of(a.rest[k].pairs[i][0], prime, a.n)[place];
                                u64 z = limb_of(a.rest[k].pairs[i][1], prime, a.n)[place];
                                products += (u128)y * z;
                            }
                            x = times_lazy(reduce_lazy(products, p), p.square, p);
                        }
                        sum += (u128)x * rest_factor;
                    }
                    u64* out = a.outs[k] + (u64)rank_of(a.out_mask, prime) * a.n + target;
                    u64 x = times(reduce_lazy(sum, p), factor, p);
                    put(out, x, a.accumulate, p);
                }
            }
        }
    }
}

// Several automorphisms of one ciphertext from one decomposition: digits are read once.

#define IMAGES_A_LAUNCH 16
#define HOISTED_DIGITS 12

struct Image {
    KeyArgs key;
    u64* out;
    u32 flip;
    u32 shift;
};

struct HoistArgs {
    const Prime* primes;
    Operand digits;
    u64 digit_stride;
    u64 out_stride;
    Operand rest[COMPONENTS - 1];   // of all components but the last one
    u32 n;
    u32 count;
    u32 components;
    u32 images;
    u8 prime[PRIMES];
    u64 rest_factor[PRIMES];
    Image image[IMAGES_A_LAUNCH];
};

KERNEL(hoist, HoistArgs) {
    u32 prime = a.prime[blockIdx.y];
    PHASE {
        Prime p = a.primes[prime];
        u32 place = place_of_thread();
        if (place < a.n) {
            u64 rest_factor = a.rest_factor[blockIdx.y];
            u64 digits[HOISTED_DIGITS], rest[COMPONENTS - 1];
            const u64* source = limb_of(a.digits, prime, a.n) + place;
#pragma unroll
            for (u32 j = 0; j < HOISTED_DIGITS; j++) {
                if (j < a.count) digits[j] = source[j * a.digit_stride];
            }
#pragma unroll
            for (u32 k = 0; k < COMPONENTS - 1; k++) {
                bool there = rest_factor && k + 1 < a.components;
                rest[k] = there ? limb_of(a.rest[k], prime, a.n)[place] : 0;
            }
            for (u32 m = 0; m < a.images; m++) {
                const Image& image = a.image[m];
                u32 target = moved(place, a.n / 2, image.flip, image.shift);
                const u64* key =
                    image.key.words + (u64)rank_of(image.key.mask, prime) * a.n + place;
                u64 stride = (u64)image.key.limbs * a.n;
#pragma unroll
                for (u32 k = 0; k < COMPONENTS; k++) {
                    if (k < a.components) {
                        u128 sum = 0;
#pragma unroll
                        for (u32 j = 0; j < HOISTED_DIGITS; j++) {
                            if (j < a.count) {
                                u32 part = image.key.digit[j] * image.key.components + k;
                                sum += (u128)digits[j] * key[part * stride];
                            }
                        }
                        if (k + 1 < COMPONENTS && k + 1 < a.components) {
                            sum += (u128)rest[k < COMPONENTS - 1 ? k : 0] * rest_factor;
                        }
                        image.out[k * a.out_stride + (u64)blockIdx.y * a.n + target] =
                            times(reduce_lazy(sum, p), p.square, p);
                    }
                }
            }
        }
    }
}
